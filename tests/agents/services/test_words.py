"""The style *words*: moves in words become primitive actions, and nothing else does."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.agents.services.prompts import Unparsable
from itinera.agents.services.words import MAX_ACTIONS, WordsStyle, describe_moves, parse_moves
from itinera.errors import BadArgument
from itinera.rendering.camera import Frame
from itinera.simulators.simulator import Observation
from itinera.tasks import PROTOCOLS, Instruction
from itinera.worlds import Euclidean, World
from itinera.worlds.world import Instance

R2R_CE = PROTOCOLS["r2r-ce"]  # steps of 25 cm, turns of 15 degrees
F, L, R, STOP = 1, 2, 3, 0


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        # NaVILA, NaVid, Uni-NaVid, StreamVLN and PoliFormer, as they answer
        ("The next action is move forward 75 cm.", [F, F, F]),
        ("The next action is turn left 30 degree.", [L, L]),
        ("The next action is stop.", [STOP]),
        ("I think I should stop because I have finished the instruction.", [STOP]),
        ("forward forward left stop", [F, F, L, STOP]),
        ("↑↑←STOP", [F, F, L, STOP]),
        ("→→", [R, R]),
        # others
        ("move forward 0.5 m, turn right 45 degrees, then stop.", [F, F, R, R, R, STOP]),
        ("Move Forward by 1 meter and turn left by 90°", [F] * 4 + [L] * 6),
        ("go straight ahead 60 cm", [F, F]),  # the nearest number of steps
        ("move forward 5 cm", [F]),  # at least one
        ("turn left 7 degrees", [L]),
        ("turn to the left", [L]),
        ("turn left 30", [L, L]),
        ('"move forward 25 cm"', [F]),
        ("`stop`", [STOP]),
    ],
)
def test_moves_become_actions(text, actions):
    assert parse_moves(text, R2R_CE) == actions


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "I should not stop here.",
        "I will stop at the door",
        "stopping",
        "stop stop-sign",
        "do not stop",
        "Stop! In the name of love",
        "step forward; stop; turn left",  # nothing can follow STOP
        "move forward 75",  # of what?
        "move forward 75 miles",
        "move backward 25 cm",
        "turn around",
        "turn left 30 centimeters",
        "move forward 0 cm",
        "forward, forward, and look",
        "The next action is",
        "move forward 100 m",
        "forwarding",
        "ahead of me is a table",
        "leftover",
        "move forward 1e3 cm",
        "move forward -25 cm",
        "75 cm",
    ],
)
def test_other_words_are_no_moves(text):
    with pytest.raises(Unparsable):
        parse_moves(text, R2R_CE)


def test_the_number_of_actions_is_limited():
    assert len(parse_moves("forward " * MAX_ACTIONS, R2R_CE)) == MAX_ACTIONS
    with pytest.raises(Unparsable, match="more than 100 actions"):
        parse_moves("forward " * (MAX_ACTIONS + 1), R2R_CE)


def test_steps_and_turns_are_those_of_the_protocol():
    other = replace(R2R_CE, step_size=0.5, turn_angle=math.radians(30))
    assert parse_moves("move forward 100 cm, turn left 60 degrees", other) == [F, F, L, L]


@given(st.lists(st.sampled_from([F, L, R]), min_size=1, max_size=40), st.booleans())
def test_described_moves_are_parsed_back(actions, stops):
    moves = [*actions, STOP] if stops else actions
    assert parse_moves(describe_moves(moves, R2R_CE), R2R_CE) == moves


@given(st.text(alphabet="forwadletigh stpcm0123456789.,;↑←→", max_size=60))
def test_any_text_is_moves_or_unparsable(text):
    with contextlib.suppress(Unparsable):
        assert set(parse_moves(text, R2R_CE)) <= {F, L, R, STOP}


def frame(rgb: bool = True) -> Frame:
    """6 x 12 pixels: a lamp at the left, a table ahead, an unnamed thing at the right."""
    instances = np.zeros((6, 12), np.int32)
    instances[2:4, 0:2], instances[2:5, 5:7], instances[2:5, 10:12] = 1, 2, 3
    depth = np.full((6, 12), 4.0, np.float32)
    depth[instances == 1], depth[instances == 2] = 1.5, 2.5
    color = np.full((6, 12, 3), 7, np.uint8) if rgb else np.empty((0, 6, 12, 3), np.uint8)
    return Frame(color, depth, np.zeros((6, 12), np.uint8), instances)


def observation(collided: bool = False, rgb: bool = True) -> Observation:
    return Observation("room", np.zeros(3), 0.0, 0.0, frame=frame(rgb), collided=collided)


@pytest.fixture
def style():
    instances = {1: Instance("lamp", "red"), 2: Instance("table", "", "round", "wooden"), 3: Instance("")}
    made = WordsStyle(R2R_CE, {"room": World("room", Euclidean(), instances=instances)}, history=2)
    made.start_episode(Instruction("Go to the table."))
    return made


def test_a_question_has_the_image_and_what_it_shows(style):
    question = style.ask(observation())
    assert "Instruction: Go to the table." in question.text
    assert "none, this is the start" in question.text
    assert "red lamp on the left (1.5 m), round wooden table ahead (2.5 m)" in question.text
    assert len(question.images) == 1
    assert "obstacle" not in question.text


def test_without_colors_there_are_words_only(style):
    question = style.ask(observation(rgb=False))
    assert "red lamp" in question.text
    assert question.images == ()


def test_later_questions_have_earlier_images_and_moves(style):
    for _ in range(4):
        style.ask(observation())
        assert style.parse("I see the table.\nAction: move forward 50 cm, turn left 15 degrees", observation()) == [
            F,
            F,
            L,
        ]
    question = style.ask(observation(collided=True))
    assert len(question.images) == 3
    assert "move forward 50 cm, turn left 15 degrees; move forward 50 cm" in question.text
    assert "hit an obstacle" in question.text


def test_an_episode_knows_nothing_of_the_one_before(style):
    style.ask(observation())
    style.parse("stop", observation())
    style.start_episode(Instruction("Go back."))
    question = style.ask(observation())
    assert "none, this is the start" in question.text
    assert len(question.images) == 1


def test_a_rule_moves_ahead_or_anywhere(style):
    rng = np.random.default_rng(0)
    assert style.fall_back("forward", observation(), rng) == F
    assert {style.fall_back("random", observation(), rng) for _ in range(50)} == {F, L, R}


def test_graphs_have_no_steps():
    with pytest.raises(BadArgument, match="step size"):
        WordsStyle(PROTOCOLS["r2r"], {}, history=2)
