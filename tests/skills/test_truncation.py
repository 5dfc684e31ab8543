from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.skills.truncation import PAPER, RELEASED, OriginalText, Truncations, end_sentence, truncate
from itinera.tasks import Alignment, Episode, Instruction
from text_worlds import episode

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


def summarize(truncations: Truncations) -> list[tuple[str, str, str, int]]:
    return [
        ("".join(truncation.nodes), truncation.text, truncation.text_ahead, truncation.edges_ahead)
        for truncation in truncations.items
    ]


def test_spoken_words_are_cut_when_their_speaker_comes_to_a_node():
    # Over at a, at a; while w2 is said b is reached; c during w4, whose end is there.
    assert summarize(truncate([spoken([0, 0, 1, 1, 2, 3], 4)])) == [
        ("ab", "w0 w1.", "w0 w1 w2 w3.", 1),
        ("abc", "w0 w1 w2 w3.", "w0 w1 w2 w3 w4.", 1),
    ]


def test_a_cut_is_named_by_its_episode_and_how_many_nodes_are_walked():
    assert [c.id for c in truncate([spoken([0, 1, 2, 3], 4)]).items] == ["9_2", "9_3"]


def test_words_of_unknown_place_go_with_those_before():
    assert summarize(truncate([spoken([0, -1, 1, 2], 3)])) == [("ab", "w0 w1.", "w0 w1 w2.", 1)]


def test_nodes_passed_without_a_word_share_their_text_and_have_nothing_ahead():
    assert summarize(truncate([spoken([0, 2, 3], 4)])) == [("ab", "w0.", "", 0), ("abc", "w0.", "w0 w1.", 1)]


def test_after_the_last_interior_node_all_that_was_said_before_the_goal_lies_ahead():
    # Nobody speaks at the goal, so the whole text leads there.
    assert summarize(truncate([spoken([0, 1, 1], 3)])) == [("ab", "w0.", "w0 w1 w2.", 1)]


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (spoken([1, 2], 3), "no words before the node"),
        (spoken([0, 0], 3), "no words at or after the node"),
        (spoken([-1, -1], 3), "words not aligned with places"),
        (episode("9", "abc"), "words not aligned with places"),
        (spoken([0, 1, 2], 3, language="hi-IN"), "not in English"),
    ],
)
def test_a_place_that_cannot_be_cut_is_counted_with_its_reason(one, reason):
    truncations = truncate([one])
    assert truncations.items == ()
    assert dict(truncations.counts.dropped) == {reason: 1}


@given(st.lists(st.integers(-1, 8), max_size=25), st.integers(1, 9))
def test_every_interior_node_is_cut_or_counted_and_agrees_with_a_plain_reading(last, nodes):
    truncations = truncate([spoken(last, nodes)])
    assert truncations.counts.candidates == max(nodes - 2, 0)
    assert truncations.counts.kept == len(truncations.items)
    for one in truncations.items:
        said = []
        for i, place in enumerate(last):
            if place >= len(one.nodes) - 1:
                break
            said.append(f"w{i}")
        assert one.text == " ".join(said) + "."
        assert one.text_ahead == "" or one.text_ahead.startswith(one.text[:-1] + " ")


def test_sub_instructions_are_cut_where_they_end_in_peoples_own_words():
    text = "Walking past the couches, turn left. Wait a bit; go out. Stop."
    chunks = [
        ("walk past the couch", 0, 2),
        ("turn left", 2, 3),
        ("wait a bit", 3, 3),
        ("go out", 3, 5),
        ("stop", 5, 6),
    ]
    assert summarize(truncate([chunked(text, chunks, 7)])) == [
        ("abc", "Walking past the couches.", "Walking past the couches, turn left.", 1),
        # What is said without leaving the node comes after arriving there, so it belongs to what leads on.
        ("abcd", "Walking past the couches, turn left.", "Walking past the couches, turn left. Wait a bit; go out.", 2),
        ("abcdef", "Walking past the couches, turn left. Wait a bit; go out.", end_sentence(text), 1),
    ]


def test_sub_instructions_at_the_start_and_at_the_goal_are_no_cuts():
    assert (
        summarize(truncate([chunked("Turn. Go on. Stop.", [("turn", 0, 0), ("go on", 0, 3), ("stop", 3, 3)], 4)])) == []
    )


def test_lemmatised_words_that_are_not_in_the_text_are_counted():
    chunks = [("aaa bbb ccc", 0, 1), ("ddd eee", 1, 2)]
    assert truncate([chunked("Quite another text altogether now here it stands.", chunks, 3)]).counts.dropped == {
        "words not found in the text": 1
    }


def test_the_released_scan_ends_one_cut_with_each_word_and_throws_the_last_away():
    # b and c are both reached during w1: from there on the scan is a word late, and takes the same words for what is
    # ahead of b. At the goal nobody speaks, so the last cut is the one before it.
    one = spoken([0, 2, 2, 3, 3], 5)
    assert summarize(truncate([one])) == [
        ("ab", "w0.", "", 0),
        ("abc", "w0.", "w0 w1 w2.", 1),
        ("abcd", "w0 w1 w2.", "w0 w1 w2 w3 w4.", 1),
    ]
    released = truncate([one], rule=RELEASED)
    assert summarize(released) == [("ab", "w0.", "w0.", 1), ("abc", "w0 w1.", "w0 w1 w2.", 1)]
    assert dict(released.counts.dropped) == {"last truncation of its episode": 1}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"language": "en-IN"}, "not in en or en-US"),
        ({"path_id": "4721"}, "path excluded by its id"),
    ],
)
def test_the_released_rule_leaves_out_what_the_paper_keeps(fields, reason):
    one = spoken([0, 1, 2, 3, 4], 5, **fields)
    assert reason in truncate([one], rule=RELEASED).counts.dropped
    assert truncate([one], rule=PAPER).counts.kept == 3


def test_the_released_rule_leaves_out_long_walks():
    one = spoken(list(range(24)), 24)
    released = truncate([one], rule=RELEASED)
    assert max(len(c.nodes) for c in released.items) == 20
    assert released.counts.dropped["more than 20 nodes"] == 3
    assert truncate([one]).counts.kept == 22


def test_the_order_of_episodes_is_the_order_of_cuts():
    first, second = spoken([0, 1, 2], 3), replace(spoken([0, 1, 2], 3), id="8")
    assert [c.id for c in truncate([first, second]).items] == ["9_2", "8_2"]


@pytest.mark.parametrize("text", ["Go on", "Go on.", "Go on, ", "Go on!?", "Go on –", "Go on..."])
def test_a_text_ends_in_one_full_stop(text):
    assert end_sentence(text) == "Go on."


@pytest.mark.parametrize(
    ("text", "words", "count", "prefix"),
    [
        ("Walk past the couches, then stop.", "walk past the couch then stop", 4, "Walk past the couches"),
        # What lemmatising changed altogether is known by its neighbours.
        ("The man is there. Go on.", "the man be there go on", 3, "The man is"),
        ("You'll see it. Go.", "you will see it go", 2, "You'll"),
        # Words that were left out are before the end or after it with the word they stand beside.
        ("Walk, uh, past it then stop.", "walk past it then stop", 1, "Walk"),
        # Punctuation among the words is no word, and a word may be of two.
        ("By the chairs/stool turn. Go.", "by the chair / stool turn go", 5, "By the chairs/stool"),
        ("Into the living-room. Go.", "into the living-room go", 3, "Into the living-room"),
        ("Go left. Go left. Go.", "go left go left go", 2, "Go left"),
        # The last word is not found, but the next is.
        ("Walk by qqq. Stop here now.", "walk by zzz yyy stop here now", 4, "Walk by qqq"),
        ("Go on. ", "go on", 2, "Go on."),
        ("Go on.", "go on", 0, ""),
    ],
)
def test_the_first_words_are_found_in_peoples_own_text(text, words, count, prefix):
    assert OriginalText(text, words.split()).prefix(count) == prefix


def test_where_neither_the_last_word_nor_the_next_is_found_there_is_no_prefix():
    words = ["walk", "by", "zzz", "yyy", "xxx", "stop", "here"]
    assert OriginalText("Walk by. Stop here.", words).prefix(4) is None
