"""Templates: many phrases for each kind of clause, sampled at random. Start with `Phraser`.

The length of a template takes part in its choice, so that renaming a placeholder changes the instructions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from itinera.hearth.language.semantics import Act, Clause, Reference
from itinera.hearth.language.vocabulary import ORDINALS, ROOM_WORDS, synonyms

GO_VERBS = ("walk", "go", "head", "move", "walk", "go")

TURN_PHRASES = {
    "forward": (
        "{go} forward",
        "{go} straight",
        "{go} straight ahead",
        "continue straight",
        "keep going straight",
        "continue forward",
        "keep walking straight ahead",
        "proceed straight ahead",
        "take a few steps forward",
        "carry straight on",
        "keep on straight ahead",
        "advance straight ahead",
    ),
    "slight": (
        "bear {side}",
        "veer {side}",
        "veer slightly {side}",
        "{go} slightly to the {side}",
        "turn slightly {side} and {walk_on}",
        "take a slight {side}",
        "make a slight {side}",
        "angle slightly to your {side}",
        "drift a bit to the {side}",
    ),
    "plain": (
        "turn {side}",
        "turn {side} and {walk_on}",
        "take a {side}",
        "make a {side}",
        "go {side}",
        "turn to your {side} and {walk_on}",
        "turn to the {side}",
        "{go} to your {side}",
        "take a {side} and {walk_on}",
        "hang a {side}",
        "pivot {side} and {walk_on}",
        "swing to the {side}",
    ),
    "sharp": (
        "make a sharp {side}",
        "turn sharply {side}",
        "take a hard {side}",
        "turn sharply to your {side} and {walk_on}",
        "take a sharp {side} turn",
        "make a hard {side} and {walk_on}",
        "double back to the {side}",
    ),
    "around": (
        "turn around",
        "turn around and {walk_on}",
        "turn all the way around and {walk_on}",
        "turn around and go the other way",
    ),
}

WALK_ON = ("walk forward", "go forward", "walk ahead", "go straight", "keep going", "continue")

STRIDES: Mapping[tuple[str, str | Act], tuple[str, ...]] = {
    ("short", "forward"): ("take a small step forward", "{go} forward just a little", "take just one step ahead"),
    ("long", "forward"): ("{go} straight ahead for a good stretch", "{go} a long way forward"),
    ("short", Act.GO): (
        "{turn} and take a small step",
        "{turn} and {go} just a little way",
        "{turn} and take just one step",
    ),
    ("long", Act.GO): ("{turn} and {go} a long way", "{turn} and {go} on for a good stretch"),
    ("short", Act.TOWARDS): ("take a small step towards {thing}", "{go} just a little way towards {thing}"),
    ("long", Act.TOWARDS): ("{go} a long way towards {thing}", "{go} for a good stretch towards {thing}"),
    ("short", Act.ENTER): ("step just inside {room}", "{go} just a little way into {room}"),
    ("long", Act.ENTER): ("{go} well into {room}", "{go} deep into {room}", "{go} a long way into {room}"),
    ("short", Act.LEAVE): ("step just outside {room}", "{go} just a little way out of {room}"),
    ("long", Act.LEAVE): ("{go} a long way out of {room}", "{go} for a good stretch out of {room}"),
    ("short", Act.DOOR): ("step just through {door}", "{go} just a little way through {door}"),
    ("short", Act.UP): ("{go} a few steps up the stairs", "{go} part of the way up the stairs", "start up the stairs"),
    ("short", Act.DOWN): (
        "{go} a few steps down the stairs",
        "{go} part of the way down the stairs",
        "start down the stairs",
    ),
    ("long", Act.DOOR): ("{go} a long way through {door}", "{go} for a good stretch through {door}"),
}

TURN_FIRST = {
    "forward": ("{go} straight ahead and", "continue straight and", "keep straight and"),
    "slight": ("turn slightly {side} and", "bear {side} and", "veer {side} and"),
    "plain": ("turn {side} and", "turn to your {side} and", "take a {side} and"),
    "sharp": ("turn sharply {side} and", "make a sharp {side} and", "turn hard {side} and"),
    "around": ("turn around and", "turn all the way around and"),
}

PHRASES = {
    Act.TOWARDS: (
        "{go} towards {thing}",
        "{go} toward {thing}",
        "{go} in the direction of {thing}",
        "take a few steps towards {thing}",
        "make for {thing}",
        "advance towards {thing}",
        "set out towards {thing}",
    ),
    Act.REACH: (
        "{go} to {thing}",
        "{go} up to {thing}",
        "{go} over to {thing}",
        "{go} until you reach {thing}",
        "continue until you get to {thing}",
        "make your way to {thing}",
        "{go} as far as {thing}",
        "keep going until you are at {thing}",
        "proceed to {thing}",
        "cross over to {thing}",
        "approach {thing}",
    ),
    Act.PASS: (
        "{go} past {thing} on your {side}",
        "pass {thing} on your {side}",
        "{go} by {thing} on your {side}",
        "{go} past {thing} on the {side}",
        "keep {thing} on your {side} as you pass",
        "{go} past {thing}, keeping {it} on your {side}",
        "leave {thing} behind on your {side}",
        "continue past {thing} on your {side}",
        "proceed past {thing} on the {side}",
    ),
    Act.ENTER: (
        "enter {room}",
        "{go} into {room}",
        "step into {room}",
        "{go} through into {room}",
        "make your way into {room}",
        "continue into {room}",
        "proceed into {room}",
        "cross into {room}",
    ),
    Act.LEAVE: (
        "leave {room}",
        "exit {room}",
        "{go} out of {room}",
        "step out of {room}",
        "make your way out of {room}",
        "come out of {room}",
    ),
    Act.DOOR: (
        "{go} through {door}",
        "take {door}",
        "pass through {door}",
        "{go} out through {door}",
        "step through {door}",
        "use {door}",
        "continue through {door}",
        "duck through {door}",
    ),
    Act.END: (
        "{go} to the end of {room}",
        "{go} to the far end of {room}",
        "{go} all the way across {room}",
        "continue to the end of {room}",
    ),
    Act.UP: (
        "go up the stairs",
        "walk up the stairs",
        "climb the stairs",
        "head upstairs",
        "take the stairs up",
        "go up the steps to the top",
        "climb to the top of the stairs",
    ),
    Act.DOWN: (
        "go down the stairs",
        "walk down the stairs",
        "descend the stairs",
        "head downstairs",
        "take the stairs down",
        "go down the steps to the bottom",
        "walk to the bottom of the stairs",
    ),
}

DOWN_A_HALL = ("{go} all the way down {room}", "follow {room} to its end", "{go} down {room} to the end")

STOP_AT = (
    "stop {near} {thing}",
    "wait {near} {thing}",
    "stop once you are {near} {thing}",
    "stop when you are {near} {thing}",
    "come to a stop {near} {thing}",
    "stop and wait {near} {thing}",
    "halt {near} {thing}",
    "finish {near} {thing}",
    "pause {near} {thing}",
)
STOP_IN = (
    "stop in {room}",
    "wait in {room}",
    "stop once you are in {room}",
    "finish in {room}",
)
STOP_JUST_IN = (
    "stop just inside {room}",
    "wait just inside {room}",
    "stop as soon as you are in {room}",
    "stop right after you enter",
    "stop once you are inside",
)
STOP_HERE = ("stop", "stop there", "wait there", "halt there", "stop right there", "stop and wait there")
STOP_ON_STAIRS = {
    (Act.UP, ""): ("stop at the top of the stairs", "wait at the top of the stairs", "stop at the top"),
    (Act.DOWN, ""): ("stop at the bottom of the stairs", "wait at the foot of the stairs", "stop at the bottom"),
    (Act.UP, "short"): ("stop on the stairs", "wait there on the stairs"),
    (Act.DOWN, "short"): ("stop on the stairs", "wait there on the stairs"),
}
AFTER_COLOR = ("corner", "double", "single")  # "a white corner sofa", but "a long white sofa"
PLURALS = (["stairs"], ["steps"], ["shelves"], ["books"], ["candles"], ["bottles"])
NEAR = ("by", "next to", "beside", "near")
OPPOSITE = ("in front of", "in front of", *NEAR)


class Phraser:
    """Samples phrases for clauses, brief or detailed."""

    def __init__(self, rng: np.random.Generator, *, instruction: bool) -> None:
        self._rng = rng
        self._brief = instruction
        self._template = ""  # the last one used

    def chance(self, share: float) -> bool:
        return bool(self._rng.random() < share)

    def pick(self, options: Sequence[str]) -> str:
        """The shorter (or longer) of two random options."""
        drawn: list[str] = [options[k] for k in self._rng.integers(len(options), size=2).tolist()]
        return min(drawn, key=len) if self._brief else max(drawn, key=len)

    def say(self, clause: Clause) -> str:
        """The clause as a request, without capital or full stop: "walk past the red sofa on your left"."""
        if clause.act is Act.GO:
            return self._stride(clause) if clause.stride else self._turn(clause)
        slots = {
            "thing": self.name_landmark(clause.landmark) if clause.landmark else "",
            "room": self.room(clause.room) if clause.room else "the room",
            "door": self.door(clause) if clause.act is Act.DOOR else "",
            "side": clause.side,
        }
        slots["it"] = "them" if slots["thing"].split()[-1:] in PLURALS else "it"
        first = ""
        if clause.turn:
            kind, side = _turn_parts(clause.turn)
            first = self._fill(TURN_FIRST[kind], side=side) + " "
        options = STRIDES[clause.stride, clause.act] if clause.stride else PHRASES[clause.act]
        if clause.act is Act.END and clause.room == "h":
            options = (*options, *DOWN_A_HALL)
        return first + self._fill(options, **slots)

    def say_turn_at(self, clause: Clause, spot: Reference) -> str:
        """A turn at a landmark: "turn left at the red sofa"."""
        template = self.any(
            ("{turn} at {spot}", "{turn} at {spot}", "at {spot}, {turn}", "when you reach {spot}, {turn}")
        )
        return template.format(turn=self._turn(clause, alone=True), spot=self.name_landmark(spot))

    def _turn(self, clause: Clause, *, alone: bool = False) -> str:
        kind, side = _turn_parts(clause.turn)
        options = TURN_PHRASES[kind]
        if alone:  # another phrase describes the walking
            options = tuple(
                phrase for phrase in options if not phrase.startswith(("{go}", "go")) and " and " not in phrase
            )
        return self._fill(options, side=side)

    def _stride(self, clause: Clause) -> str:
        options = STRIDES[clause.stride, "forward" if clause.turn == "forward" else Act.GO]
        return self._fill(options, turn=self._turn(clause, alone=True))

    def say_stop(self, clause: Clause, before: Clause, *, facing: bool, room: str, entering: bool) -> str:
        """The end of an instruction: at the clause's landmark if it has one, else according to the last act."""
        if clause.landmark is not None:
            near = self.pick(OPPOSITE if facing else NEAR)
            return self._fill(STOP_AT, near=near, thing=self.name_landmark(clause.landmark))
        if before.act in (Act.UP, Act.DOWN):
            return self.pick(STOP_ON_STAIRS[before.act, before.stride])
        if entering and self.chance(0.7):
            return self._fill(STOP_JUST_IN, room=self.room(room))
        return self._fill(STOP_IN, room=self.room(room)) if self.chance(0.5) else self.pick(STOP_HERE)

    def goal(self, room: str, *, other: bool) -> str:
        """The goal only: "make your way to the other bedroom"."""
        there = self.room(room).replace("the ", "the other ", 1) if other else self.room(room)
        return f"{self.any(('go', 'walk', 'head', 'make your way', 'find your way'))} to {there}"

    def name_landmark(self, reference: Reference) -> str:
        """The landmark with its article: "the round white table on your left"."""
        looks = [reference.shape, reference.color]
        if reference.shape in AFTER_COLOR:
            looks.reverse()
        words = ["the", *looks, self.any(synonyms(reference.name))]
        if reference.side:
            words += ["on", self.any(("your", "the")), reference.side]
        return " ".join(word for word in words if word)

    def door(self, clause: Clause) -> str:
        """The door with its article: "the second door on your left"."""
        noun = self.any(("opening", "archway", "opening") if clause.wide else ("door", "doorway", "door"))
        rank = ORDINALS[clause.rank - 1] if clause.rank else ""
        words = ["the", rank, noun]
        if clause.side == "ahead":
            words += [self.any(("ahead", "straight ahead", "in front of you"))]
        elif clause.side:
            words += ["on", self.any(("your", "the")), clause.side]
        return " ".join(word for word in words if word)

    def room(self, kind: str) -> str:
        words = ROOM_WORDS[kind]
        return f"the {words[0] if self.chance(0.6) else self.any(words)}"

    def any(self, options: Sequence[str]) -> str:
        """A random option."""
        return options[int(self._rng.integers(len(options)))]

    def _fill(self, options: Sequence[str], **slots: str) -> str:
        """A random template, filled in; never the last one used."""
        self._template = self.pick([option for option in options if option != self._template])
        return self._template.format(go=self.any(GO_VERBS), walk_on=self.any(WALK_ON), **slots)


def _turn_parts(turn: str) -> tuple[str, str]:
    """The kind of a turn and its side: ("slight", "left")."""
    if turn in ("forward", "around"):
        return turn, ""
    *kind, side = turn.split()
    return (kind[0] if kind else "plain"), side
