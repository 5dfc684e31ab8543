"""The style *choices*: numbered places, a map, a history, and the letter of an option."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.agents.services.choices import ChoicesStyle, make_label, parse_label
from itinera.agents.services.prompts import Unparsable
from itinera.hearth.language.scene_description import DescribedCandidate, DescribedObject, SceneDescription
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.simulator import Candidates, Observation
from itinera.tasks import Instruction
from itinera.worlds import NavGraph, Pose, World

# b is north of a, c east of b:      b - c
#                                    |
#                                    a
GRAPH = NavGraph.from_edges({"a": (0, 0, 0), "b": (0, 2, 0), "c": (2, 2, 0)}, [("a", "b"), ("b", "c")])


def describe(node: str, room: str, *objects: DescribedObject) -> SceneDescription:
    candidates = tuple(
        DescribedCandidate(other, GRAPH.heading(node, other), 2.0, 0, "k", "door" if other == "b" else "")
        for other in GRAPH.neighbors(node)
    )
    return SceneDescription(node, room, objects, candidates, ())


DESCRIPTIONS = {
    "a": describe(
        "a",
        "h",
        DescribedObject("lamp", "red", "", math.pi / 2, 3.0, 1.0),
        DescribedObject("bed", "", "", 0.0, 1.0, 2.0),
    ),
    "b": describe("b", "k"),
    "c": describe("c", "k"),
}


@pytest.fixture
def simulator():
    made = GraphSimulator(descriptions={"house": DESCRIPTIONS})
    made.start = made.reset(World("house", GRAPH), Pose("a", math.pi / 2))
    return made


@pytest.fixture
def style():
    made = ChoicesStyle()
    made.reset()
    made.start_episode(Instruction("Go to the kitchen."))
    return made


def action(letter: str, **more: str) -> str:
    return json.dumps({"thought": "t", **more, "action": letter})


def test_a_question_numbers_places_and_tells_what_is_visible(style, simulator):
    text = style.ask(simulator.start).text
    assert "Instruction: Go to the kitchen." in text
    assert "Map: Place 0 leads to Place 1." in text
    assert "You are at Place 0, in the hallway. Around you: bed (1.0 m) 90° to the right." in text
    assert (
        "A. stop here\nB. go to Place 1, ahead, 2.0 m: through a door, to the kitchen; you see red lamp (3.0 m)" in text
    )
    assert "History: none" in text


def test_later_questions_have_map_history_and_plan(style, simulator):
    style.ask(simulator.start)
    assert style.parse(action("B", plan="enter the kitchen"), simulator.start) == [1]
    text = style.ask(simulator.step(1)).text
    assert "Map: Place 0 leads to Place 1. Place 1 leads to" in text
    assert "History: Step 1: at Place 0, go to Place 1, ahead, 2.0 m." in text
    assert "Your plan so far: enter the kitchen" in text
    assert "Place 2, 90° to the right" in text or "Place 2, ahead" in text
    assert "Place 0, behind, 2.0 m, visited before" in text
    assert "Step 2. You are at Place 1" in text


def test_places_keep_their_numbers_on_a_tour_and_the_history_does_not(style, simulator):
    style.ask(simulator.start)
    style.parse(action("B"), simulator.start)
    style.start_episode(Instruction("Go on."))
    style.observe(simulator.step(1))
    text = style.ask(simulator.step(2)).text
    assert "Map: Place 0 leads to Place 1. Place 1 leads to" in text
    assert "History: none" in text
    style.reset()
    assert "You are at Place 0" in style.ask(simulator.step(1)).text


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        (action("A"), 0),
        (action("b"), 1),
        (action("C. go to Place 2"), 2),
        (action("(C)"), 2),
        (action("Option B"), 1),
        (action("stop"), 0),
        (action("Stop here"), 0),
        ('```json\n{"Thought": "t", "Action": "B"}\n```', 1),
        ("<think>A or B?</think>B", 1),
        ("B", 1),
        ("**B.**", 1),
        ("Option C", 2),
        ("stop", 0),
        ("I go on to the kitchen.\nAction: C", 2),
    ],
)
def test_the_letter_of_an_option_is_found(style, simulator, answer, chosen):
    style.ask(simulator.start)
    style.ask(simulator.step(1))  # two candidates
    assert style.parse(answer, simulator.start) == [chosen]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "B or C",
        "A robot would go to the kitchen.",
        "I should stop.",
        "Do not stop",
        action("D"),
        action("AB"),
        action("go to Place 1"),
        action("a door"),
        action("I would say B"),
        action("unstoppable"),
        '{"action": null}',
        '{"action": 1}',
        '{"act": "B"}',
        "<html>Bad Gateway</html>",
        "B" * 50,
    ],
)
def test_other_answers_are_unparsable(style, simulator, answer):
    style.ask(simulator.step(1))
    with pytest.raises(Unparsable):
        style.parse(answer, simulator.start)


def test_an_unparsable_answer_is_not_remembered(style, simulator):
    first = style.ask(simulator.start)
    with pytest.raises(Unparsable):
        style.parse(action("X", plan="nonsense"), simulator.start)
    assert style.ask(simulator.start) == first


@given(st.integers(0, 701))
def test_labels_are_parsed_back(index):
    assert parse_label(make_label(index)) == index
    assert parse_label(make_label(index).lower()) == index


def test_rules_choose_the_candidate_ahead_or_any(style, simulator):
    here = simulator.step(1)  # from a to b, facing north: a is behind, c is to the right
    style.ask(here)
    ahead = style.fall_back("forward", here, np.random.default_rng(0))
    assert here.candidates.nodes[ahead - 1] == "c"
    rng = np.random.default_rng(0)
    assert {style.fall_back("random", here, rng) for _ in range(30)} == {1, 2}


def test_without_candidates_there_is_nothing_to_do_but_stop(style):
    none = np.empty(0)
    alone = Observation("house", "a", 0.0, 0.0, Candidates((), none, none, none, none.astype(np.int64)))
    assert "Place 0 leads to no other." in style.ask(alone).text
    assert style.fall_back("random", alone, np.random.default_rng(0)) == 0


def test_every_option_may_have_an_image(simulator):
    asked = []

    def render(world_id, node, heading):
        asked.append((world_id, node, round(math.degrees(heading))))
        return np.zeros((2, 2, 3), np.uint8)

    style = ChoicesStyle(render=render)
    style.start_episode(Instruction("x"))
    question = style.ask(simulator.start)
    assert asked == [("house", "a", 90)]
    assert len(question.images) == 1
    assert "B. go to Place 1, ahead, 2.0 m (image 1)" in question.text


def test_annotated_views_have_words_too():
    views = np.zeros((36, 4), np.float32)
    columns = ("sofa", "lamp", "in hallway", "to kitchen")
    here = GraphSimulator().reset(World("house", GRAPH), Pose("a", math.pi / 2))
    view = int(here.candidates.views[0])
    views[view] = [0.2, 0.5, 0, 1]
    views[:, 2] = 1
    views[(view + 1) % 36, 0] = 0.9  # in another direction
    style = ChoicesStyle(columns)
    text = style.ask(Observation("house", "a", here.heading, 0.0, here.candidates, views)).text
    assert "in the hallway" in text
    assert "B. go to Place 1, ahead, 2.0 m: to the kitchen; you see lamp, sofa" in text


def test_without_annotations_there_are_directions_only(style):
    here = GraphSimulator().reset(World("house", GRAPH), Pose("a", 0.0))
    assert "Options:\nA. stop here\nB. go to Place 1, 90° to the left, 2.0 m" in style.ask(here).text
