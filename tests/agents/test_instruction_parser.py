from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.agents.instruction_parser import parse
from itinera.hearth.language.references import Reference
from itinera.hearth.language.semantics import Act, Clause

STOP = Clause(Act.STOP)


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("Turn left. Stop.", [Clause(Act.GO, "left"), STOP]),
        ("Turn left and walk forward. Stop.", [Clause(Act.GO, "left"), STOP]),
        ("Turn left and enter the kitchen.", [Clause(Act.ENTER, "left", room="k"), STOP]),
        ("Turn left, then enter the kitchen.", [Clause(Act.GO, "left"), Clause(Act.ENTER, room="k"), STOP]),
        ("Veer slightly right and stop.", [Clause(Act.GO, "slight right"), STOP]),
        ("Exit the bedroom and stop.", [Clause(Act.LEAVE, room="b"), STOP]),
        ("Walk through the hall. Stop.", [Clause(Act.LEAVE, room="h"), STOP]),
        ("Make your way to the other bedroom. Wait there.", [Clause(Act.ENTER, room="b"), STOP]),
        (
            "Take the second door on your left.",
            [Clause(Act.DOOR, side="left", rank=2), STOP],
        ),
        (
            "Go past the red sofa, keeping it on your left and stop.",
            [Clause(Act.PASS, landmark=Reference("sofa", "red"), side="left"), STOP],
        ),
        (
            "Turn right at the round table. Stop.",
            [Clause(Act.REACH, landmark=Reference("table", "", "round")), Clause(Act.GO, "right"), STOP],
        ),
        (
            "When you reach the couch, turn right. Stop.",
            [Clause(Act.REACH, landmark=Reference("sofa")), Clause(Act.GO, "right"), STOP],
        ),
        ("Stop and wait by the fridge.", [Clause(Act.STOP, landmark=Reference("refrigerator"))]),
        ("Stop at the top of the stairs.", [STOP]),
        ("Climb the stairs. Stop in the hallway.", [Clause(Act.UP), Clause(Act.STOP, room="h")]),
        (
            "Walk past the stairs on your left. Stop.",
            [Clause(Act.PASS, landmark=Reference("stairs"), side="left"), STOP],
        ),
        ("Walk to the kitchen counter. Stop.", [Clause(Act.REACH, landmark=Reference("kitchen counter")), STOP]),
        ("Turn left. This is your destination.", [Clause(Act.GO, "left"), STOP]),
        ("You reached your destination.", [STOP]),
        ("You are done.", [STOP]),
        ("Turn around and go to your right.", [Clause(Act.GO, "sharp left"), STOP]),
        ("Turn around and take a left, walk ahead.", [Clause(Act.GO, "sharp right"), Clause(Act.GO, "forward"), STOP]),
        (
            "Walk past the end table on the left.",
            [Clause(Act.PASS, landmark=Reference("side table"), side="left"), STOP],
        ),
        ("Walk to the thing. Stop.", [Clause(Act.GO), STOP]),
        ("", [STOP]),
    ],
)
def test_an_instruction_comes_apart_into_what_to_do(text, clauses):
    assert parse(text) == clauses


@given(st.text(st.sampled_from("abcdeh ,.") | st.characters(), max_size=80))
def test_any_text_ends_in_a_stop(text):
    assert parse(text)[-1].act is Act.STOP


WORDS = "turn left right the red sofa door kitchen and then , . stop past stairs up at of to its end first"


@given(st.lists(st.sampled_from(WORDS.split()), max_size=25))
def test_words_in_any_order_are_read_somehow(words):
    clauses = parse(" ".join(words))
    assert [clause.act for clause in clauses].count(Act.STOP) == 1
