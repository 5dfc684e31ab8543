"""What the styles of prompts share."""

from __future__ import annotations

import base64
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.agents.services.answers import LONGEST_ANSWER
from itinera.agents.services.prompts import (
    Unparsable,
    clean_answer,
    describe_turn,
    encode_image,
    find_action,
    find_field,
    sample_evenly,
)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ('{"thought": "t", "plan": "p", "action": "B"}', "B"),
        ('```json\n{"Thought": "t", "New Planning": "p", "Action": "C. go to Place 3"}\n```', "C. go to Place 3"),
        ('{"action": "A"} No, rather {"action": "D"}', "D"),  # the last one counts
        ('{"action": ["turn left", "stop"]}', "turn left stop"),
        ('{"thought": "no action here"} Action: B', " B"),
        ('{"thought": "a {brace}", "action": "B"}', ' "B"}'),  # not JSON for us, but it says so
        ("I am sure.\nAction: stop", " stop"),
        ("Action: A\nno\nAction: B", " B"),
        ("**Action**: B", " B"),
        ("no decision at all", None),
        ("the actions: none", None),
        ("{" * 5000, None),
    ],
)
def test_the_last_stated_action_counts(text, action):
    assert find_action(text) == action


def test_thoughts_before_an_answer_are_left_out():
    assert clean_answer("<think>Action: A</think>\nAction: B ") == "Action: B"
    assert clean_answer("Action: A, no.</think>Action: B") == "Action: B"  # a server that swallows the first tag


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("<think>Action: B", "finished thinking"),
        ("x" * LONGEST_ANSWER, "or more"),
    ],
)
def test_answers_without_words_are_unparsable(answer, problem):
    with pytest.raises(Unparsable, match=problem):
        clean_answer(answer)


def test_the_end_of_a_long_answer_counts():
    assert find_action(clean_answer("bla " * 20_000 + "Action: B")) == " B"


def test_a_field_is_found_by_any_case():
    assert find_field('{"Plan": "go on", "action": "A"}', "plan") == "go on"
    assert find_field('{"plan": 3}', "plan") == ""


@given(st.text(max_size=300))
def test_any_text_has_an_action_or_none(text):
    assert find_action(text) is None or isinstance(find_action(text), str)


@given(st.floats(-10, 10))
def test_opposite_turns_have_opposite_words(angle):
    swapped = describe_turn(angle).replace("left", "LEFT").replace("right", "left").replace("LEFT", "right")
    assert describe_turn(-angle) == swapped


def test_directions_have_words():
    assert describe_turn(math.radians(22)) == "ahead"
    assert describe_turn(math.radians(23)) == "23° to the left"
    assert describe_turn(math.radians(-158)) == "behind"


def test_images_are_sampled_from_the_first_on():
    assert sample_evenly("abc", 5) == ("a", "b", "c")
    assert sample_evenly("abcdefgh", 4) == ("a", "c", "e", "g")
    assert sample_evenly("abc", 0) == ()


def test_an_image_is_a_data_url_of_a_png():
    kind, _, content = encode_image(np.zeros((2, 3, 3), np.uint8)).partition(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(content).startswith(b"\x89PNG")
