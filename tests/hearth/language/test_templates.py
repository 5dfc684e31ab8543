from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from itinera.agents.instruction_parser import parse
from itinera.hearth.language.semantics import Act, Clause, Reference
from itinera.hearth.language.templates import Phraser
from itinera.hearth.language.vocabulary import ROOM_WORDS, TURNS
from itinera.seeding import generator

THINGS = (
    Reference("sofa", "red"),
    Reference("coffee table", "", "round"),
    Reference("bed", "blue", "double", "left"),
    Reference("dresser"),
    Reference("kitchen counter"),
    Reference("office chair", "", "", "right"),
    Reference("stairs"),
    Reference("ping-pong table"),
)


def clauses() -> Iterator[Clause]:
    for turn in ("", *TURNS):
        for landmark in THINGS:
            yield from (Clause(act, turn, landmark=landmark) for act in (Act.TOWARDS, Act.REACH))
            if not landmark.side:
                yield from (Clause(Act.PASS, turn, landmark=landmark, side=side) for side in ("left", "right"))
        for room in ROOM_WORDS:
            yield from (Clause(act, turn, room=room) for act in (Act.ENTER, Act.LEAVE, Act.END))
        for wide in (False, True):
            for side, rank in (("", 0), ("left", 0), ("right", 2), ("ahead", 0)):
                yield Clause(Act.DOOR, turn, side=side, rank=rank, wide=wide)
        yield from (Clause(act, turn, stride=stride) for act in (Act.UP, Act.DOWN) for stride in ("", "short"))
    yield from (Clause(Act.GO, turn) for turn in TURNS)


def strode(clause: Clause) -> Iterator[Clause]:
    yield clause
    if clause.act in (Act.GO, Act.TOWARDS, Act.ENTER, Act.LEAVE, Act.DOOR):
        yield from (replace(clause, stride=stride) for stride in ("short", "long"))


@pytest.mark.parametrize("act", [act for act in Act if act is not Act.STOP])
def test_whatever_is_said_is_understood_as_it_was_meant(act):
    for plain in clauses():
        for clause in strode(plain) if plain.act is act else ():
            for k in range(6):
                said = Phraser(generator(k, "voice"), instruction=k % 2 == 0).say(clause)
                assert parse(f"{said.capitalize()}. Stop.") == [clause, Clause(Act.STOP)], said


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (Reference("chair", "red", "small", "left"), "the small red chair on (your|the) left"),
        (Reference("sofa", "white", "corner"), "the white corner (sofa|couch)"),
        (Reference("bed"), "the bed"),
    ],
)
def test_things_are_named_with_their_looks_in_english_order(reference, said):
    assert re.fullmatch(said, Phraser(generator(1), instruction=True).name_landmark(reference))


def test_stairs_are_many_and_a_staircase_is_one():
    clause = Clause(Act.PASS, landmark=Reference("stairs"), side="left")
    said = {Phraser(generator(k), instruction=False).say(clause) for k in range(80)}
    kept = [text for text in said if "keeping" in text]
    assert kept
    assert all(("keeping it" in text) == ("staircase" in text) for text in kept)


def test_the_brief_say_less():
    words = {
        instruction: sum(
            len(Phraser(generator(k), instruction=instruction).say(clause).split())
            for clause in clauses()
            for k in range(2)
        )
        for instruction in (True, False)
    }
    assert words[True] < words[False]


@pytest.mark.parametrize("facing", [True, False])
def test_one_stands_in_front_only_of_what_one_faces(facing):
    clause = Clause(Act.STOP, landmark=Reference("sofa"))
    said = [
        Phraser(generator(k), instruction=True).say_stop(clause, clause, facing=facing, room="l", entering=False)
        for k in range(40)
    ]
    assert any("in front of" in text for text in said) is facing
