from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import episode
from itinera.skills.truncation import PAPER, RELEASED, Cuttings, cut, ended
from itinera.tasks import Alignment, Episode, Instruction

NODES = "abcdefghijklmnopqrstuvwxyz"


def spoken(last: list[int], nodes: int, *, language: str = "en-US", path_id: str = "1") -> Episode:
    """An episode whose words "w0", "w1" … end at these places of its path."""
    words = tuple(f"w{i}" for i in range(len(last)))
    places, times = np.array(last, dtype=np.int64), np.arange(float(len(last)))
    alignment = Alignment(words, places, places, times, times + 0.5)
    text = Instruction(" ".join(words), language)
    return episode("9", tuple(NODES[:nodes]), alignment=alignment, instruction=text, path_id=path_id)


def chunked(text: str, chunks: list[tuple[str, int, int]], nodes: int) -> Episode:
    """An episode of Fine-Grained R2R: sub-instructions with their first and last node."""
    words = tuple(word for words, _, _ in chunks for word in words.split())
    places = np.array([(a, b) for words, a, b in chunks for _ in words.split()], dtype=np.int64)
    return episode(
        "9", tuple(NODES[:nodes]), alignment=Alignment(words, places[:, 0], places[:, 1]), instruction=Instruction(text)
    )


def told(cuttings: Cuttings) -> list[tuple[str, str, str, int]]:
    return [("".join(cut.nodes), cut.text, cut.ahead, cut.edges) for cut in cuttings.cuts]


def test_spoken_words_are_cut_when_their_speaker_comes_to_a_node():
    # Over at a, at a; while w2 is said b is reached; c during w4, whose end is there.
    assert told(cut([spoken([0, 0, 1, 1, 2, 3], 4)])) == [
        ("ab", "w0 w1.", "w0 w1 w2 w3.", 1),
        ("abc", "w0 w1 w2 w3.", "w0 w1 w2 w3 w4.", 1),
    ]


def test_a_cut_is_named_by_its_episode_and_how_many_nodes_are_walked():
    assert [c.id for c in cut([spoken([0, 1, 2, 3], 4)]).cuts] == ["9_2", "9_3"]


def test_words_of_unknown_place_go_with_those_before():
    assert told(cut([spoken([0, -1, 1, 2], 3)])) == [("ab", "w0 w1.", "w0 w1 w2.", 1)]


def test_nodes_passed_without_a_word_share_their_text_and_have_nothing_ahead():
    assert told(cut([spoken([0, 2, 3], 4)])) == [("ab", "w0.", "", 0), ("abc", "w0.", "w0 w1.", 1)]


def test_after_the_last_interior_node_all_that_was_said_before_the_goal_lies_ahead():
    # Nobody speaks at the goal, so the whole text leads there.
    assert told(cut([spoken([0, 1, 1], 3)])) == [("ab", "w0.", "w0 w1 w2.", 1)]


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (spoken([1, 2], 3), "nothing said before it"),
        (spoken([0, 0], 3), "no word said there or beyond"),
        (spoken([-1, -1], 3), "words not tied to places"),
        (episode("9", "abc"), "words not tied to places"),
        (spoken([0, 1, 2], 3, language="hi-IN"), "not in English"),
    ],
)
def test_a_place_that_cannot_be_cut_is_counted_with_its_reason(one, reason):
    cuttings = cut([one])
    assert cuttings.cuts == ()
    assert dict(cuttings.tally.dropped) == {reason: 1}


@given(st.lists(st.integers(-1, 8), max_size=25), st.integers(1, 9))
def test_every_interior_node_is_cut_or_counted_and_agrees_with_a_plain_reading(last, nodes):
    cuttings = cut([spoken(last, nodes)])
    assert cuttings.tally.candidates == max(nodes - 2, 0)
    assert cuttings.tally.kept == len(cuttings.cuts)
    for one in cuttings.cuts:
        said = []
        for i, place in enumerate(last):
            if place >= len(one.nodes) - 1:
                break
            said.append(f"w{i}")
        assert one.text == " ".join(said) + "."
        assert one.ahead == "" or one.ahead.startswith(one.text[:-1] + " ")


def test_sub_instructions_are_cut_where_they_end_in_peoples_own_words():
    text = "Walking past the couches, turn left. Wait a bit; go out. Stop."
    chunks = [
        ("walk past the couch", 0, 2),
        ("turn left", 2, 3),
        ("wait a bit", 3, 3),
        ("go out", 3, 5),
        ("stop", 5, 6),
    ]
    assert told(cut([chunked(text, chunks, 7)])) == [
        ("abc", "Walking past the couches.", "Walking past the couches, turn left.", 1),
        # What is said without leaving the node comes after arriving there, so it belongs to what leads on.
        ("abcd", "Walking past the couches, turn left.", "Walking past the couches, turn left. Wait a bit; go out.", 2),
        ("abcdef", "Walking past the couches, turn left. Wait a bit; go out.", ended(text), 1),
    ]


def test_sub_instructions_at_the_start_and_at_the_goal_are_no_cuts():
    assert told(cut([chunked("Turn. Go on. Stop.", [("turn", 0, 0), ("go on", 0, 3), ("stop", 3, 3)], 4)])) == []


def test_lemmatised_words_that_are_not_in_the_text_are_counted():
    chunks = [("aaa bbb ccc", 0, 1), ("ddd eee", 1, 2)]
    assert cut([chunked("Quite another text altogether now here it stands.", chunks, 3)]).tally.dropped == {
        "words not found in the text": 1
    }


def test_the_released_scan_ends_one_cut_with_each_word_and_throws_the_last_away():
    # b and c are both reached during w1: from there on the scan is a word late, and takes the same words for what is
    # ahead of b. At the goal nobody speaks, so the last cut is the one before it.
    one = spoken([0, 2, 2, 3, 3], 5)
    assert told(cut([one])) == [
        ("ab", "w0.", "", 0),
        ("abc", "w0.", "w0 w1 w2.", 1),
        ("abcd", "w0 w1 w2.", "w0 w1 w2 w3 w4.", 1),
    ]
    released = cut([one], rule=RELEASED)
    assert told(released) == [("ab", "w0.", "w0.", 1), ("abc", "w0 w1.", "w0 w1 w2.", 1)]
    assert dict(released.tally.dropped) == {"last of its episode": 1}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"language": "en-IN"}, "not in en or en-US"),
        ({"path_id": "4721"}, "path left out by name"),
    ],
)
def test_the_released_rule_leaves_out_what_the_paper_keeps(fields, reason):
    one = spoken([0, 1, 2, 3, 4], 5, **fields)
    assert reason in cut([one], rule=RELEASED).tally.dropped
    assert cut([one], rule=PAPER).tally.kept == 3


def test_the_released_rule_leaves_out_long_walks():
    one = spoken(list(range(24)), 24)
    released = cut([one], rule=RELEASED)
    assert max(len(c.nodes) for c in released.cuts) == 20
    assert released.tally.dropped["more than 20 nodes"] == 3
    assert cut([one]).tally.kept == 22


def test_the_order_of_episodes_is_the_order_of_cuts():
    first, second = spoken([0, 1, 2], 3), replace(spoken([0, 1, 2], 3), id="8")
    assert [c.id for c in cut([first, second]).cuts] == ["9_2", "8_2"]


@pytest.mark.parametrize("text", ["Go on", "Go on.", "Go on, ", "Go on!?", "Go on –", "Go on..."])
def test_a_text_ends_in_one_full_stop(text):
    assert ended(text) == "Go on."
