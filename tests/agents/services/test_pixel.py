"""The style *pixel*: a pixel becomes turns and steps by its depth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.agents.services.pixel import PixelStyle, locate_pixel
from itinera.agents.services.prompts import Unparsable
from itinera.errors import BadArgument
from itinera.rendering.camera import Camera, Frame
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.simulator import Observation
from itinera.tasks import PROTOCOLS, Instruction

WIDTH, HEIGHT = 201, 101  # the middle pixel is 100, 50
SENSOR = CameraSensor(Camera(WIDTH, HEIGHT, math.radians(90)), channels=("rgb", "depth"))
F, L, R, STOP = 1, 2, 3, 0


def observation(depth: float = 1.0) -> Observation:
    shape = HEIGHT, WIDTH
    frame = Frame(
        np.zeros((*shape, 3), np.uint8), np.full(shape, depth, np.float32), np.empty((0, 0, 0)), np.empty((0, 0, 0))
    )
    return Observation("room", np.zeros(3), 0.0, 0.0, frame=frame)


@pytest.fixture
def style():
    made = PixelStyle(PROTOCOLS["r2r-ce"], SENSOR, history=1)
    made.start_episode(Instruction("Go to the table."))
    return made


@pytest.mark.parametrize(
    "text", ["100, 50", "(100, 50)", "[100,50]", "x=100, y=50", "100 50", "Action: 100, 50.", "<100, 50>"]
)
def test_the_middle_is_straight_ahead(style, text):
    assert style.parse(text, observation(1.0)) == [F] * 4


def test_sides_are_turned_to_first(style):
    # Half of 90 degrees at the edge of the image: 3 turns of 15, and sqrt(2) m.
    assert style.parse("200, 50", observation(1.0)) == [R, R, R] + [F] * 6
    assert style.parse("0, 50", observation(1.0)) == [L, L, L] + [F] * 6


def test_the_way_is_limited_and_at_least_a_step(style):
    assert style.parse("100, 50", observation(30.0)) == [F] * 8
    assert style.parse("100, 50", observation(0.06)) == [F]


def test_json_and_words_are_understood(style):
    assert style.parse('{"thought": "t", "action": [100, 50]}', observation()) == [F] * 4
    assert style.parse("turn left 60 degrees", observation()) == [L] * 4
    assert style.parse("I am there.\nAction: stop", observation()) == [STOP]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("300, 50", "outside"),
        ("100, -1", "outside"),
        ("100", "moves"),
        ("100, 50, 30", "moves"),
        ("the door", "moves"),
        ("", "empty"),
        ("999999999, 50", "moves"),
        ("nan, nan", "moves"),
    ],
)
def test_other_answers_are_unparsable(style, answer, problem):
    with pytest.raises(Unparsable, match=problem):
        style.parse(answer, observation())


@pytest.mark.parametrize("depth", [math.inf, math.nan, 0.0])
def test_the_background_is_no_goal(style, depth):
    with pytest.raises(Unparsable, match="no surface"):
        style.parse("100, 50", observation(depth))


def test_questions_have_images_and_moves(style):
    style.ask(observation())
    style.parse("100, 50", observation())
    question = style.ask(observation())
    assert len(question.images) == 2
    assert "move forward 100 cm" in question.text
    assert "201 pixels wide and 101 pixels high" in style.system


def test_graphs_have_no_steps():
    with pytest.raises(BadArgument, match="step size"):
        PixelStyle(PROTOCOLS["r2r"], SENSOR, history=1)


@given(st.floats(-1.2, 1.2), st.floats(0.3, 10), st.floats(-1.2, 0.4))
def test_a_point_in_space_is_found_again(bearing, distance, elevation):
    """A point on the floor, 1.25 m below a camera, seen at an elevation."""
    ahead, left, up = distance * math.cos(bearing), distance * math.sin(bearing), -1.25
    depth = ahead * math.cos(elevation) + up * math.sin(elevation)
    if depth < 0.05:
        return  # behind the camera
    down = ahead * math.sin(elevation) - up * math.cos(elevation)
    found = locate_pixel(-left / depth * 80, down / depth * 80, depth, 80.0, elevation)
    assert found == pytest.approx((bearing, distance), abs=1e-9)
