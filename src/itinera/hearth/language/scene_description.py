"""What someone standing at a viewpoint sees, as data: things, ways on, doors. Start with `outlooks`.

Those who write instructions and those who read them both see a place through these, and through nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from itinera.hearth.item import Item
from itinera.hearth.layout.plan import OUTSIDE, Passage, Plan, PlannedRoom
from itinera.worlds import Array, NavGraph, Room, SeenObject

if TYPE_CHECKING:  # a reader of outlooks need not load what builds houses
    from itinera.hearth.build import House

UNSPOKEN = frozenset({"wall", "floor", "ceiling", "door", "window", "railing", "void", "unlabeled"})
"""Categories of what belongs to the building, to which no one points as to a thing."""

OVERHEAD = 1.9  # metres above the floor; what hangs higher is no landmark to walk to
STEEP = 0.25  # metres of height that make a way one up or down
KNOWN_BEYOND = 7.0  # metres from which one can tell the room behind a door
ASKEW = math.radians(65)  # the most a door may be turned away for one to see what lies behind


@dataclass(frozen=True)
class Thing:
    """Something one can see and name."""

    name: str  # "coffee table"
    colour: str  # "red", or empty
    shape: str  # "round", or empty
    heading: float  # radians from +x
    distance: float  # metres along the floor, to its middle
    size: float  # metres, its longest side
    instance: int = 0  # which item of the house it is; 0 for those who may not know

    @cached_property
    def offset(self) -> tuple[float, float]:
        """Metres along x and y."""
        return self.distance * math.cos(self.heading), self.distance * math.sin(self.heading)


@dataclass(frozen=True)
class Way:
    """A next place to stand."""

    node: str  # a handle; empty for those who may not know
    heading: float  # radians from +x
    distance: float  # metres along the floor
    climb: int  # 1 up, -1 down, 0 level
    room: str  # the kind of room there, "k" for kitchen
    through: str  # "door" or "opening" where one leaves the room, else empty

    @cached_property
    def offset(self) -> tuple[float, float]:
        """Metres along x and y."""
        return self.distance * math.cos(self.heading), self.distance * math.sin(self.heading)


@dataclass(frozen=True)
class Doorway:
    """A way out of the room, seen from inside it."""

    heading: float  # radians from +x
    distance: float  # metres along the floor
    room: str  # the kind of room beyond; empty where one cannot tell
    colour: str  # of the door's frame; empty for an opening
    wide: bool  # an opening without a door

    @cached_property
    def offset(self) -> tuple[float, float]:
        """Metres along x and y."""
        return self.distance * math.cos(self.heading), self.distance * math.sin(self.heading)


@dataclass(frozen=True)
class Outlook:
    """All that is seen from one place."""

    node: str  # empty for those who may not know
    room: str  # the kind of room one stands in
    things: tuple[Thing, ...]
    candidates: tuple[Way, ...]
    doors: tuple[Doorway, ...]


class Annotated(Protocol):
    """What has been found out about the viewpoints of a house."""

    @property
    def rooms(self) -> Mapping[str, Room]: ...

    @property
    def objects(self) -> Mapping[str, Sequence[SeenObject]]: ...


def outlooks(house: House, graph: NavGraph, annotations: Annotated) -> dict[str, Outlook]:
    """What is seen from each viewpoint of the house."""
    gaps = _Gaps(house)
    seen = {}
    for node in graph.nodes:
        where = graph.positions[graph.index[node]]
        seen[node] = Outlook(
            node,
            annotations.rooms[node].label,
            tuple(_things(house, where, annotations.objects.get(node, ()))),
            tuple(_ways(graph, node, annotations.rooms, gaps)),
            tuple(gaps.seen_from(where, int(annotations.rooms[node].region_id))),
        )
    return seen


def stranger(outlook: Outlook) -> Outlook:
    """The same sight for someone who has no names for places and things: the order of the ways is all that is kept."""
    things = tuple(replace(thing, instance=0) for thing in outlook.things)
    candidates = tuple(replace(way, node="") for way in outlook.candidates)
    return replace(outlook, node="", things=things, candidates=candidates)


def _things(house: House, where: Array, objects: Sequence[SeenObject]) -> Iterator[Thing]:
    for object in objects:
        item = house.item(int(object.id))
        if item.category in UNSPOKEN or item.centre[2] - house.plan.rooms[item.room].floor > OVERHEAD:
            continue
        heading, distance = _towards(where, item.centre)
        yield Thing(item.name, item.colour, item.shape, heading, distance, float(item.size.max()), item.index)


EYE = 1.5  # metres, the height of a viewpoint above the floor


def _ways(graph: NavGraph, node: str, rooms: Mapping[str, Room], gaps: _Gaps) -> Iterator[Way]:
    where = graph.positions[graph.index[node]]
    for other in graph.neighbours(node):
        there = graph.positions[graph.index[other]]
        heading, distance = _towards(where, there)
        rise = float(there[2] - where[2])
        climb = 0 if abs(rise) < STEEP else int(math.copysign(1, rise))
        through = "" if rooms[node].region_id == rooms[other].region_id else gaps.crossed(where, there)
        yield Way(other, heading, distance, climb, rooms[other].label, through)


def _towards(a: Array, b: Array) -> tuple[float, float]:
    """Heading and distance along the floor, rounded so that the same words come out on every machine."""
    dx, dy = float(b[0] - a[0]), float(b[1] - a[1])
    return round(math.atan2(dy, dx), 6), round(math.hypot(dx, dy), 6)


class _Gaps:
    """The doors and openings of a house, and which of them one sees or walks through."""

    def __init__(self, house: House) -> None:
        self._plan: Plan = house.plan
        self._colours = [_colour(passage, house.items) for passage in house.plan.passages]

    def crossed(self, a: Array, b: Array) -> str:
        """What a step from a to b goes through: "door", "opening", or nothing."""
        for passage in self._plan.passages:
            level = abs(min(a[2], b[2]) - EYE - passage.floor) < 1.0
            if level and _crosses(a[:2], b[:2], passage):
                return "opening" if passage.wide else "door"
        return ""  # rooms that meet without a wall: a flight and the landing above it

    def seen_from(self, where: Array, room: int) -> Iterator[Doorway]:
        """The ways out of a room that are in sight, furniture aside."""
        outline = self._plan.rooms[room].outline
        eye = self._inside(where[:2], room)
        for passage in self._plan.passages:
            if room not in passage.rooms or not _in_sight(eye, _threshold(passage, room), outline):
                continue
            inward = 1.0 if passage.rooms[1] == room else -1.0
            heading, distance = _towards(where, passage.centre)
            beyond = passage.rooms[0] if inward > 0 else passage.rooms[1]
            kind = _known(where[:2], passage, distance, self._plan.rooms, beyond)
            yield Doorway(heading, distance, kind, self._colours[passage.index], passage.wide)

    def _inside(self, where: Array, room: int) -> Array:
        """The place, or one step into the room for someone who stands in one of its doorways."""
        for passage in self._plan.passages:
            if room in passage.rooms:
                across = abs(float((where - passage.centre) @ passage.normal))
                if across < passage.depth / 2 + 0.05 and float(np.hypot(*(where - passage.centre))) < passage.width:
                    return _threshold(passage, room)
        return where


def _threshold(passage: Passage, room: int) -> Array:
    """Where one stands in the room, just before the hole in its wall."""
    inward = 1.0 if passage.rooms[1] == room else -1.0
    return passage.centre + inward * (passage.depth / 2 + 0.05) * passage.normal


def _colour(passage: Passage, items: Sequence[Item]) -> str:
    if passage.wide:
        return ""
    near = [item for item in items if item.category == "door" and _on_it(item, passage)]
    return near[0].colour if near else ""


def _on_it(item: Item, passage: Passage) -> bool:
    apart = float(np.hypot(*(item.centre[:2] - passage.centre)))
    return apart < 0.8 and abs(item.centre[2] - passage.floor - passage.height / 2) < 1.0


def _known(where: Array, passage: Passage, distance: float, rooms: Sequence[PlannedRoom], beyond: int) -> str:
    if beyond == OUTSIDE or distance > KNOWN_BEYOND:
        return ""
    across = abs(float((passage.centre - where) @ passage.normal))
    return rooms[beyond].kind if across >= distance * math.cos(ASKEW) else ""


def _crosses(a: Array, b: Array, passage: Passage) -> bool:
    """Whether the segment runs through the hole, judged at the middle of the wall."""
    before, after = float((a - passage.centre) @ passage.normal), float((b - passage.centre) @ passage.normal)
    if before * after > 0 or before == after:
        return False
    at = a + before / (before - after) * (b - a)
    return float(np.hypot(*(at - passage.centre))) <= passage.width / 2 + 0.1


def _in_sight(a: Array, b: Array, outline: Array) -> bool:
    """Whether no edge of the outline lies between a and b."""
    corners, after = outline, np.roll(outline, -1, axis=0)

    def side(p: Array, q: Array, r: Array) -> Array:
        return np.asarray((q - p)[..., 0] * (r - p)[..., 1] - (q - p)[..., 1] * (r - p)[..., 0])

    apart = side(corners, after, a) * side(corners, after, b) < 0
    across = side(a, b, corners) * side(a, b, after) < 0
    return not bool((apart & across).any())
