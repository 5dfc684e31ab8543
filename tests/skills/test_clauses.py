from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.skills.clauses import CLAUSE_KINDS, InstructionClause, classify_clause, clause_at, split_clauses
from itinera.tasks import Alignment, Episode, Instruction
from text_worlds import episode


def spoken(text: str, places: list[int], nodes: str, language: str = "en") -> Episode:
    """An episode whose words are spoken at these places."""
    words, at = tuple(text.split()), np.array(places, dtype=np.int64)
    times = np.arange(float(len(words)))
    return episode(
        "1", nodes, alignment=Alignment(words, at, at, times, times + 0.5), instruction=Instruction(text, language)
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("stop next to the door", "stop"),
        ("wait by the bed on the left", "stop"),
        ("turn left at the stairs", "turn"),
        ("and make a slight right near the sofa", "turn"),
        ("go to the left", "turn"),
        ("left at the fridge", "turn"),
        ("go past the stairs on your left", "stairs"),
        ("go up the steps on the left", "stairs"),
        ("walk through the door at the bottom of the stairs", "door"),
        ("leave the kitchen", "room"),
        ("enter the laundry room", "room"),
        ("walk past the round coffee table", "object"),
        ("walk past the sofa into the kitchen", "object"),
        ("continue straight", "straight"),
        ("hm", "other"),
    ],
)
def test_a_clause_is_named_by_its_action_or_by_what_it_mentions_first(text, kind):
    assert classify_clause(text) == kind


def test_spanish_clauses_have_kinds_and_other_languages_do_not():
    spanish = {"gira a la derecha": "turn", "Sube las escaleras": "stairs", "entra en el baño": "room"}
    assert {text: classify_clause(text, "es") for text in spanish} == spanish
    assert classify_clause("detente aquí", "es") == "stop"
    assert classify_clause("turn left", "hi") == "other"


def test_spoken_words_are_split_where_a_new_action_begins():
    text = "Turn left and walk between the bed and the window, then stop."
    found = split_clauses(spoken(text, [0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 3], "abcd"[:4]))
    assert [clause.text for clause in found] == [
        "Turn left", "and walk between the bed and the window,", "then stop.",
    ]  # fmt: skip
    assert [(clause.first, clause.last) for clause in found] == [(0, 0), (0, 2), (2, 3)]


def test_words_that_ask_for_nothing_belong_to_a_neighbor():
    text = "After that, pass the sofa, which is on your left. Stop."
    found = split_clauses(spoken(text, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2], "abc"))
    assert [clause.text for clause in found] == ["After that, pass the sofa, which is on your left.", "Stop."]


def test_sub_instructions_are_the_clauses_of_fine_grained_r2r():
    words, first, last = ("go", "out", "turn", "left"), np.array([0, 0, 2, 2]), np.array([2, 2, 3, 3])
    one = episode("1", "abcd", alignment=Alignment(words, first, last))
    assert split_clauses(one) == (
        InstructionClause("go out", "straight", 0, 2),
        InstructionClause("turn left", "turn", 2, 3),
    )


def test_without_aligned_words_there_are_no_clauses():
    assert split_clauses(episode("1", "abc")) == ()
    unknown = np.array([-1, -1])
    assert split_clauses(episode("1", "abc", alignment=Alignment(("go", "on"), unknown, unknown))) == ()


def test_the_clause_that_leads_on_from_a_place_begins_at_or_before_it_and_ends_after_it():
    parts = [InstructionClause(name, "other", *span) for name, span in
             {"out": (0, 2), "turn": (2, 2), "on": (2, 4), "stop": (4, 4)}.items()]  # fmt: skip
    assert [parts[clause_at(parts, place, final=5)].text for place in range(6)] == [
        "out", "out", "on", "on", "stop", "stop",
    ]  # fmt: skip


@given(st.text("abc .,;y", max_size=60), st.sampled_from(["en", "es", "hi", ""]))
def test_no_word_is_lost_and_every_clause_has_a_kind(text, language):
    count = len(text.split())
    parts = split_clauses(spoken(text, [0] * count, "ab", language))
    assert " ".join(part.text for part in parts) == " ".join(text.split())
    assert all(part.kind in CLAUSE_KINDS for part in parts)
