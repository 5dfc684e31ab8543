"""Scene descriptions: what is visible from a viewpoint, as data: objects, candidates, doors.

Start with `describe_scenes`. The generator and the reader of instructions both know a scene only through these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from itinera.hearth.geometry.solids import HouseObject
from itinera.hearth.layout.plan import OUTSIDE, FloorPlan, Passage, PlannedRoom
from itinera.worlds import Array, NavGraph, Room, VisibleObject

if TYPE_CHECKING:  # readers of descriptions do not need to load the house generator
    from itinera.hearth.build import House

T = TypeVar("T")

BUILDING_CATEGORIES = frozenset({"wall", "floor", "ceiling", "door", "window", "railing", "void", "unlabeled"})
"""Categories that belong to the building and are not mentioned as objects."""

_UNNAMED_CATEGORIES = BUILDING_CATEGORIES - {"window"}  # people do mention windows

MAX_LANDMARK_HEIGHT = 1.9  # metres above the floor; objects that hang higher are no landmarks
MIN_CLIMB = 0.25  # metres of height difference that make a step up or down
ROOM_VISIBLE_DISTANCE = 7.0  # metres within which the room behind a door is recognizable
MAX_DOOR_ANGLE = math.radians(65)  # maximum angle of a door at which the room behind it is recognizable


@dataclass(frozen=True)
class DescribedObject:
    """A visible object with a name."""

    name: str  # "coffee table"
    color: str  # "red", or empty
    shape: str  # "round", or empty
    heading: float  # radians from +x
    distance: float  # metres along the floor, to its center
    size: float  # metres, its longest side
    instance: int = 0  # its index in the house; 0 for agents, which may not know it
    material: str = ""  # "wooden", or empty
    height: float = 0.0  # metres of its center above the floor
    inside: bool = True  # whether it is in the room of the viewpoint, not behind a door or an opening

    @cached_property
    def offset(self) -> tuple[float, float]:
        """Metres along x and y."""
        return self.distance * math.cos(self.heading), self.distance * math.sin(self.heading)


@dataclass(frozen=True)
class DescribedCandidate:
    """A navigable candidate viewpoint."""

    node: str  # its id; empty for agents, which may not know it
    heading: float  # radians from +x
    distance: float  # metres along the floor
    climb: int  # 1 up, -1 down, 0 level
    room: str  # the kind of room there, "k" for kitchen
    exit: str  # "door" or "opening" if the step leaves the room, else empty

    @cached_property
    def offset(self) -> tuple[float, float]:
        """Metres along x and y."""
        return self.distance * math.cos(self.heading), self.distance * math.sin(self.heading)


@dataclass(frozen=True)
class DescribedDoor:
    """A door or opening out of the room, seen from inside."""

    heading: float  # radians from +x
    distance: float  # metres along the floor
    room: str  # the kind of room beyond; empty if not recognizable
    color: str  # of the door's frame; empty for an opening
    wide: bool  # an opening without a door

    @cached_property
    def offset(self) -> tuple[float, float]:
        """Metres along x and y."""
        return self.distance * math.cos(self.heading), self.distance * math.sin(self.heading)


@dataclass(frozen=True)
class SceneDescription:
    """Everything that is visible from one viewpoint."""

    node: str  # empty for agents, which may not know it
    room: str  # the kind of room at the viewpoint
    objects: tuple[DescribedObject, ...]
    candidates: tuple[DescribedCandidate, ...]
    doors: tuple[DescribedDoor, ...]

    def objects_named(self, name: str) -> tuple[DescribedObject, ...]:
        """The visible objects whose name ends with this one: an office chair is a chair as well."""
        found = self._by_name.get(name)
        if found is None:
            found = tuple(thing for thing in self.objects if thing.name.endswith(name))
            self._by_name[name] = found
        return found

    def remember(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The result of a computation that depends on this description and the key only, computed once."""
        if key not in self._results:
            self._results[key] = compute()
        result: T = self._results[key]
        return result

    @cached_property
    def _by_name(self) -> dict[str, tuple[DescribedObject, ...]]:
        return {}

    @cached_property
    def _results(self) -> dict[Hashable, Any]:
        return {}


class AnnotatedViewpoints(Protocol):
    """Annotations of the viewpoints of a house."""

    @property
    def rooms(self) -> Mapping[str, Room]: ...

    @property
    def objects(self) -> Mapping[str, Sequence[VisibleObject]]: ...


def describe_scenes(house: House, graph: NavGraph, annotations: AnnotatedViewpoints) -> dict[str, SceneDescription]:
    """The scene description of each viewpoint of the house."""
    passages = _Passages(house)
    seen = {}
    for node in graph.nodes:
        where = graph.positions[graph.index[node]]
        seen[node] = SceneDescription(
            node,
            annotations.rooms[node].label,
            tuple(_objects(house, where, int(annotations.rooms[node].region_id), annotations.objects.get(node, ()))),
            tuple(_candidates(graph, node, annotations.rooms, passages)),
            tuple(passages.visible_doors(where, int(annotations.rooms[node].region_id))),
        )
    return seen


def anonymize(description: SceneDescription) -> SceneDescription:
    """The description without ids of nodes and objects, for agents; the order of the candidates is kept."""
    objects = tuple(replace(thing, instance=0) for thing in description.objects)
    candidates = tuple(replace(way, node="") for way in description.candidates)
    return replace(description, node="", objects=objects, candidates=candidates)


def _objects(house: House, where: Array, room: int, objects: Sequence[VisibleObject]) -> Iterator[DescribedObject]:
    for object in objects:
        item = house.object(int(object.id))
        height = round(float(item.center[2] - house.plan.rooms[item.room].floor), 4)
        if item.category in _UNNAMED_CATEGORIES or height > MAX_LANDMARK_HEIGHT:
            continue
        heading, distance = _direction(where, item.center)
        size, inside = float(item.size.max()), item.room == room
        looks = item.name, item.color, item.shape
        yield DescribedObject(*looks, heading, distance, size, item.index, item.material, height, inside)


EYE_HEIGHT = 1.5  # metres, the height of a viewpoint above the floor


def _candidates(
    graph: NavGraph, node: str, rooms: Mapping[str, Room], passages: _Passages
) -> Iterator[DescribedCandidate]:
    where = graph.positions[graph.index[node]]
    for other in graph.neighbors(node):
        there = graph.positions[graph.index[other]]
        heading, distance = _direction(where, there)
        rise = float(there[2] - where[2])
        climb = 0 if abs(rise) < MIN_CLIMB else int(math.copysign(1, rise))
        through = "" if rooms[node].region_id == rooms[other].region_id else passages.passage_between(where, there)
        yield DescribedCandidate(other, heading, distance, climb, rooms[other].label, through)


def _direction(a: Array, b: Array) -> tuple[float, float]:
    """Heading and distance along the floor, rounded so that the same words result on every machine."""
    dx, dy = float(b[0] - a[0]), float(b[1] - a[1])
    return round(math.atan2(dy, dx), 6), round(math.hypot(dx, dy), 6)


class _Passages:
    """The doors and openings of a house: their visibility, and steps through them."""

    def __init__(self, house: House) -> None:
        self._plan: FloorPlan = house.plan
        self._colors = [_color(passage, house.objects) for passage in house.plan.passages]

    def passage_between(self, a: Array, b: Array) -> str:
        """The passage of a step from a to b: "door", "opening", or empty."""
        for passage in self._plan.passages:
            level = abs(min(a[2], b[2]) - EYE_HEIGHT - passage.floor) < 1.0
            if level and _crosses(a[:2], b[:2], passage):
                return "opening" if passage.wide else "door"
        return ""  # rooms that meet without a wall: a flight and the landing above it

    def visible_doors(self, where: Array, room: int) -> Iterator[DescribedDoor]:
        """The visible doors and openings of a room, ignoring furniture."""
        outline = self._plan.rooms[room].outline
        eye = self._inside(where[:2], room)
        for passage in self._plan.passages:
            if room not in passage.rooms or not _is_visible(eye, _threshold(passage, room), outline):
                continue
            inward = 1.0 if passage.rooms[1] == room else -1.0
            heading, distance = _direction(where, passage.center)
            beyond = passage.rooms[0] if inward > 0 else passage.rooms[1]
            kind = _visible_room(where[:2], passage, distance, self._plan.rooms, beyond)
            yield DescribedDoor(heading, distance, kind, self._colors[passage.index], passage.wide)

    def _inside(self, where: Array, room: int) -> Array:
        """The position, or for a position in a doorway one step into the room."""
        for passage in self._plan.passages:
            if room in passage.rooms:
                across = abs(float((where - passage.center) @ passage.normal))
                if across < passage.depth / 2 + 0.05 and float(np.hypot(*(where - passage.center))) < passage.width:
                    return _threshold(passage, room)
        return where


def _threshold(passage: Passage, room: int) -> Array:
    """The position in the room, just in front of the opening."""
    inward = 1.0 if passage.rooms[1] == room else -1.0
    return passage.center + inward * (passage.depth / 2 + 0.05) * passage.normal


def _color(passage: Passage, items: Sequence[HouseObject]) -> str:
    if passage.wide:
        return ""
    near = [item for item in items if item.category == "door" and _is_at(item, passage)]
    return near[0].color if near else ""


def _is_at(item: HouseObject, passage: Passage) -> bool:
    apart = float(np.hypot(*(item.center[:2] - passage.center)))
    return apart < 0.8 and abs(item.center[2] - passage.floor - passage.height / 2) < 1.0


def _visible_room(where: Array, passage: Passage, distance: float, rooms: Sequence[PlannedRoom], beyond: int) -> str:
    if beyond == OUTSIDE or distance > ROOM_VISIBLE_DISTANCE:
        return ""
    across = abs(float((passage.center - where) @ passage.normal))
    return rooms[beyond].kind if across >= distance * math.cos(MAX_DOOR_ANGLE) else ""


def _crosses(a: Array, b: Array, passage: Passage) -> bool:
    """Whether the segment passes through the opening, judged at the middle of the wall."""
    before, after = float((a - passage.center) @ passage.normal), float((b - passage.center) @ passage.normal)
    if before * after > 0 or before == after:
        return False
    at = a + before / (before - after) * (b - a)
    return float(np.hypot(*(at - passage.center))) <= passage.width / 2 + 0.1


def _is_visible(a: Array, b: Array, outline: Array) -> bool:
    """Whether no edge of the outline lies between a and b."""
    corners, after = outline, np.roll(outline, -1, axis=0)

    def side(p: Array, q: Array, r: Array) -> Array:
        return np.asarray((q - p)[..., 0] * (r - p)[..., 1] - (q - p)[..., 1] * (r - p)[..., 0])

    apart = side(corners, after, a) * side(corners, after, b) < 0
    across = side(a, b, corners) * side(a, b, after) < 0
    return not bool((apart & across).any())
