from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from itinera.agents.instruction_parser import parse
from itinera.hearth.language.english import EnglishSpeaker
from itinera.hearth.language.references import LAST, Reference
from itinera.hearth.language.semantics import STAIR_PARTS, Act, Clause
from itinera.hearth.language.templates import COURTESIES_FIRST, COURTESIES_LAST, FILLERS
from itinera.hearth.language.vocabulary import ROOM_WORDS, TURNS
from itinera.hearth.language.voices import VOICES
from itinera.seeding import generator

PLAIN = (
    Reference("sofa", "red"),
    Reference("coffee table", "", "round"),
    Reference("dresser"),
    Reference("kitchen counter"),
    Reference("stairs"),
    Reference("ping-pong table"),
    Reference("table", "brown", "large", "", "wooden"),
    Reference("bar stool", "red"),
    Reference("chair", count=2),
    Reference("bookshelf", count=3),
)
PLACED = (
    Reference("coat rack", far=True),
    Reference("bed", "blue", "double", "left"),
    Reference("office chair", "", "", "right"),
    Reference("chair", side="left", rank=2),
    Reference("window", rank=1),
    Reference("chair", rank=LAST),
    Reference("chair", side="right", rank=LAST),
)
RELATED = (
    Reference("lamp", relation="next to", anchors=(Reference("desk"),)),
    Reference("chair", relation="between", anchors=(Reference("bed"), Reference("window"))),
    Reference("chair", "red", relation="left of", anchors=(Reference("refrigerator"),)),
    Reference("plant", relation="right of", anchors=(Reference("tv", "black"),)),
    Reference("dining table", relation="with", anchors=(Reference("vase"),)),
    Reference("table lamp", relation="on", anchors=(Reference("desk", material="wooden"),)),
    Reference("picture", relation="above", anchors=(Reference("sofa"),)),
    Reference("chest", relation="below", anchors=(Reference("window"),)),
    Reference("plant", relation="behind", anchors=(Reference("sofa"),)),
)


def clauses() -> Iterator[Clause]:
    for turn in ("", *TURNS):
        for landmark in (*PLAIN, *PLACED, *RELATED):
            yield from (Clause(act, turn, landmark) for act in (Act.TOWARDS, Act.REACH))
            if not landmark.side:
                yield from (Clause(Act.PASS, turn, landmark, side=side) for side in ("left", "right"))
        for landmark in PLAIN:
            yield Clause(Act.ENTER, turn, landmark)
            yield Clause(Act.ENTER, turn, landmark, "b")
            yield Clause(Act.DOOR, turn, landmark)
        for room in ROOM_WORDS:
            yield from (Clause(act, turn, room=room) for act in (Act.ENTER, Act.LEAVE, Act.END))
        for wide in (False, True):
            for side, rank in (("", 0), ("left", 0), ("right", 2), ("ahead", 0), ("left", LAST)):
                yield Clause(Act.DOOR, turn, side=side, rank=rank, wide=wide)
            yield Clause(Act.DOOR, turn, wide=wide, avoid_side="left")
        yield Clause(Act.DOOR, turn, color="white")
        yield from (Clause(act, turn, stride=part) for act in (Act.UP, Act.DOWN) for part in STAIR_PARTS)
        yield from (Clause(act, turn, PLAIN[0], avoid="k") for act in (Act.TOWARDS, Act.REACH))
    yield from (Clause(Act.GO, turn, avoid=room) for turn in TURNS for room in ("", "b"))
    yield from (Clause(Act.SEE, landmark=landmark) for landmark in (*PLAIN, *RELATED))
    yield from (Clause(Act.SEE, room=room) for room in ROOM_WORDS)


def strode(clause: Clause) -> Iterator[Clause]:
    yield clause
    if clause.act in (Act.GO, Act.TOWARDS, Act.ENTER, Act.LEAVE, Act.DOOR):
        yield from (replace(clause, stride=stride) for stride in ("short", "long"))


@pytest.mark.parametrize("act", [act for act in Act if act not in (Act.STOP, Act.GOAL)])
def test_whatever_is_said_is_understood_as_it_was_meant(act):
    for number, plain in enumerate(clauses()):
        for clause in strode(plain) if plain.act is act else ():
            voice = VOICES[number % len(VOICES)]
            speaker = EnglishSpeaker(generator(number, "voice"), voice, brief=number % 2 == 0)
            said = speaker.say(clause, elliptic=number % 3 == 0)
            meant = replace(clause, room="") if act is Act.LEAVE and "the room" in said else clause
            assert parse(f"{said.capitalize()}. Stop.") == [meant, Clause(Act.STOP)], said


@pytest.mark.parametrize("floor", ["", "up", "down"])
def test_the_goal_is_stated_and_understood(floor):
    for k, room in enumerate(ROOM_WORDS):
        said = EnglishSpeaker(generator(k), VOICES[k % 5], brief=True).state_goal(room, floor=floor)
        assert parse(f"{said.capitalize()}. Stop.") == [Clause(Act.GOAL, room=room, floor=floor), Clause(Act.STOP)], (
            said
        )


@pytest.mark.parametrize(("floor", "stairs"), [("", []), ("up", [Clause(Act.UP)]), ("down", [Clause(Act.DOWN)])])
def test_a_goal_on_another_floor_is_reached_by_the_stairs(floor, stairs):
    for k, room in enumerate(ROOM_WORDS):
        said = EnglishSpeaker(generator(k), VOICES[k % 5], brief=True).say_goal(room, other=False, floor=floor)
        assert parse(f"{said.capitalize()}. Stop.") == [*stairs, Clause(Act.ENTER, room=room), Clause(Act.STOP)], said


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (
            Reference("chair", "red", "small", "left"),
            r"the \w+ (red|crimson|reddish|scarlet|ruby-colored|red-colored) (chair|seat) on (your|the) left",
        ),
        (
            Reference("sofa", "white", "corner"),
            "the (white|off-white|whitish|snow-white) (corner|l-shaped) (sofa|couch|settee)",
        ),
        (
            Reference("table", "black", "round", material="glass"),
            "the (round|circular) (black|jet-black|ebony|black-colored) glass table",
        ),
        (Reference("chair", count=3), "the three (chairs|seats)"),
        (Reference("bed", rank=1), "the (nearest|closest) bed"),
        (
            Reference("bench", relation="between", anchors=(Reference("bed"), Reference("table"))),
            "the bench (in )?between the bed and the table",
        ),
        (
            Reference("table", relation="with", anchors=(Reference("toaster"),)),
            "the table with the toaster on (it|top)",
        ),
        (Reference("bed"), "the bed"),
    ],
)
def test_things_are_named_with_their_looks_in_english_order(reference, said):
    for k in range(20):
        assert re.fullmatch(said, EnglishSpeaker(generator(k), brief=True).name_landmark(reference))


def test_stairs_are_many_and_a_staircase_is_one():
    clause = Clause(Act.PASS, landmark=Reference("stairs"), side="left")
    said = {EnglishSpeaker(generator(k), VOICES[2], brief=False).say(clause) for k in range(200)}
    kept = [text for text in said if "keeping" in text]
    assert kept
    assert all(("keeping it" in text) == ("staircase" in text or "stairway" in text) for text in kept)


def test_the_brief_say_less():
    words = {
        brief: sum(
            len(EnglishSpeaker(generator(k), brief=brief).say(clause).split()) for k, clause in enumerate(clauses())
        )
        for brief in (True, False)
    }
    assert words[True] < words[False]


@pytest.mark.parametrize("facing", [True, False])
def test_one_stands_in_front_only_of_what_one_faces(facing):
    clause = Clause(Act.STOP, landmark=Reference("sofa"))
    said = [
        EnglishSpeaker(generator(k), brief=True).say_stop(clause, clause, facing=facing, room="l", entering=False)
        for k in range(40)
    ]
    assert any("in front of" in text for text in said) is facing


def test_whoever_leaves_out_verbs_is_short():
    speaker = EnglishSpeaker(generator(0), VOICES[1], brief=True)
    assert speaker.say(Clause(Act.GO, "left"), elliptic=True) in ("left", "a left", "left turn")
    assert speaker.say(Clause(Act.DOOR, "right"), elliptic=True).startswith(("right through the", "right out the"))


def test_polite_remarks_ask_for_nothing():
    meant = [Clause(Act.GO, "left"), Clause(Act.STOP)]
    for remark in COURTESIES_FIRST:
        assert parse(f"{remark.capitalize()} Turn left. Stop.") == meant, remark
    for remark in COURTESIES_LAST:
        assert parse(f"Turn left. Stop. {remark.capitalize()}") == meant, remark


@pytest.mark.parametrize("filler", FILLERS)
def test_fillers_change_no_request(filler):
    assert parse(f"{filler.capitalize()} turn left, then {filler} enter the kitchen. Stop.") == [
        Clause(Act.GO, "left"),
        Clause(Act.ENTER, room="k"),
        Clause(Act.STOP),
    ]


def test_conditions_are_understood_as_requests():
    clauses = Clause(Act.PASS, landmark=Reference("sofa"), side="left"), Clause(Act.DOOR), Clause(Act.UP)
    said = set()
    for k in range(120):
        clause = clauses[k % len(clauses)]
        speaker = EnglishSpeaker(generator(k), brief=True)
        text = speaker.say(clause)
        if "," in text or " until " in text or text.startswith("keep"):
            continue
        said.add(speaker.subordinate(text))
        assert parse(f"{speaker.subordinate(text)} turn right. Stop.") == [
            clause,
            Clause(Act.GO, "right"),
            Clause(Act.STOP),
        ], text
    assert any("ing " in text for text in said)
