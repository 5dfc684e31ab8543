"""Doors: which rooms are connected, and where in their walls.

Public rooms and halls are connected first, then private rooms (bedrooms, offices), last the dead ends behind them
(baths, closets), so that no route leads through a bath. Some extra openings make loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from itinera.hearth.layout.room_grid import NO_ROOM, InvalidLayout, RoomSketch, Wall

HALLS = "hes"
PUBLIC = HALLS + "ldkfn"
DEAD_ENDS = "atc"  # rooms that lead nowhere

DOOR_COSTS: Mapping[str, float] = MappingProxyType(
    {
        "hl": 1,
        "hd": 2,
        "hk": 3,
        "fh": 2,
        "hn": 2,
        "eh": 0,
        "hh": 0,
        "hs": 0,
        "el": 1.5,
        "de": 3,
        "ef": 3,
        "en": 2,
        "dl": 1,
        "dk": 1,
        "kl": 2,
        "fk": 1.5,
        "df": 1.5,
        "fl": 1.5,
        "ln": 1.5,
        "dn": 2,
        "fn": 2,
        "kn": 4,
        "jk": 2,
        "gj": 1,
        "gh": 2,
        "gk": 4,
        "gu": 2,
        "ku": 3,
        "Bl": 2,
        "Bf": 1,
        "Br": 1,
        "Sw": 1,
        "rv": 3,
        "fr": 2,
        "fv": 2,
    }
)
"""The cost of a door between two kinds of rooms, by their sorted letters; others cost `DEFAULT_COSTS`."""
DEFAULT_COSTS = {"h": 1.0, "e": 3.0, "f": 5.0, "l": 6.0, "n": 6.0, "d": 8.0, "k": 8.0, "s": 60.0}

LOOP_PROBABILITIES: Mapping[str, float] = MappingProxyType(
    {
        "dk": 1.0,
        "dl": 0.85,
        "fl": 0.6,
        "fk": 0.8,
        "df": 0.6,
        "el": 0.85,
        "de": 0.5,
        "hl": 0.8,
        "hd": 0.6,
        "hk": 0.6,
        "fh": 0.7,
        "kl": 0.5,
        "ef": 0.5,
        "eh": 1.0,
        "ln": 0.7,
        "fn": 0.6,
        "hn": 0.7,
        "hh": 1.0,
        "en": 0.5,
        "jk": 0.5,
        "gj": 0.8,
        "il": 0.4,
        "io": 0.4,
        "fv": 0.5,
        "lv": 0.3,
        "lo": 0.25,
        "fr": 0.5,
        "Bl": 0.6,
        "ei": 0.3,
        "eo": 0.2,
        "ab": 0.2,
        "bb": 0.0,
        "Sw": 0.6,
        "Sb": 0.2,
    }
)
"""The probability of an extra door between two kinds that share a wall, beyond those needed to reach them."""

CORNER_CLEARANCE = 0.23  # metres from the middle of a crossing wall to the edge of an opening: half the wall and 0.15 m
DOOR_WIDTHS = (0.8, 0.85, 0.9, 0.95)
LANE_OPENING = 1.0  # metres, from the hall to the lane beside a straight flight of stairs
STRAIGHT_WELL = 56, 30  # decimetres; a stairwell at least as deep and at most as wide has a straight flight
OPEN_PLAN_WIDTH = 6.0  # metres at most, of an opening between the rooms of an open plan
OPEN_PLAN = "kdl"  # kinds that an open plan joins
BEDROOM_NEIGHBORS = "hes"  # from where a bedroom is entered


@dataclass(frozen=True)
class DoorPlacement:
    """A planned opening in a wall."""

    wall: Wall
    center: float  # along the wall, metres
    width: float
    wide: bool


def pair_key(a: str, b: str) -> str:
    """The letters of two kinds of rooms, sorted, capitals first."""
    return "".join(sorted(a + b))


def place_doors(
    rng: np.random.Generator,
    rooms: Sequence[RoomSketch],
    walls: Sequence[Wall],
    *,
    lane_low: bool,
    open_plan: bool = False,
) -> list[DoorPlacement]:
    """The doorways of a storey: every room is reachable, mostly in more than one way.

    The lane beside straight stairs is on the side of smaller x or y if `lane_low`; there they open to the hall. In an
    open plan, kitchen, dining room and living room are joined wherever they touch.
    """
    contacts = _shared_walls(walls)
    chosen = _spanning_doors(rooms, contacts)
    chosen += _extra_doors(rng, rooms, contacts, chosen, open_plan=open_plan)
    _check_kitchen(rooms, chosen)
    return [_place_door(rng, rooms, contacts[ab], lane_low=lane_low, open_plan=open_plan) for ab in chosen]


def _check_kitchen(rooms: Sequence[RoomSketch], chosen: Sequence[tuple[int, int]]) -> None:
    """Raise InvalidLayout if there is a dining room and the kitchen has no door to it."""
    kinds = [room.kind for room in rooms]
    pairs = {pair_key(kinds[a], kinds[b]) for a, b in chosen}
    if "k" in kinds and "d" in kinds and "dk" not in pairs:
        raise InvalidLayout("the kitchen is far from the dining room")


def _shared_walls(walls: Sequence[Wall]) -> dict[tuple[int, int], Wall]:
    """The longest wall that each pair of rooms shares, if a door fits."""
    longest: dict[tuple[int, int], Wall] = {}
    for wall in walls:
        a, b = sorted(wall.rooms)
        if a == NO_ROOM or wall.length < 10 * (2 * CORNER_CLEARANCE + DOOR_WIDTHS[0]):
            continue
        if (a, b) not in longest or wall.length > longest[a, b].length:
            longest[a, b] = wall
    return dict(sorted(longest.items()))


def _privacy(room: RoomSketch) -> int:
    return 0 if room.kind in PUBLIC else 2 if room.kind in DEAD_ENDS else 1


def _spanning_doors(rooms: Sequence[RoomSketch], contacts: Mapping[tuple[int, int], Wall]) -> list[tuple[int, int]]:
    """A minimum spanning set of pairs that reaches every room."""
    group = list(range(len(rooms)))
    chosen: list[tuple[int, int]] = []
    ordered = sorted(contacts, key=lambda ab: (_pair_privacy(rooms, *ab), _cost(rooms, *ab), -contacts[ab].length, ab))
    for a, b in ordered:
        if group[a] == group[b] or not _may_join(rooms, a, b, chosen):
            continue
        chosen.append((a, b))
        old, new = group[b], group[a]
        group = [new if g == old else g for g in group]
    if len(set(group)) > 1:
        raise InvalidLayout("a room cannot be reached")
    return chosen


def _pair_privacy(rooms: Sequence[RoomSketch], a: int, b: int) -> int:
    return max(_privacy(rooms[a]), _privacy(rooms[b]))


def _cost(rooms: Sequence[RoomSketch], a: int, b: int) -> float:
    kinds = rooms[a].kind, rooms[b].kind
    if rooms[a].owner == b or rooms[b].owner == a:
        return -1.0
    return DOOR_COSTS.get(pair_key(*kinds), min(DEFAULT_COSTS.get(kind, 20.0) for kind in kinds))


def _may_join(rooms: Sequence[RoomSketch], a: int, b: int, chosen: Sequence[tuple[int, int]]) -> bool:
    """Whether a door between two rooms respects the privacy of both."""
    for this, other in ((a, b), (b, a)):
        tier = _privacy(rooms[this])
        if rooms[this].kind == "s" and rooms[other].kind != "h":
            return False
        if rooms[this].kind == "b" and _privacy(rooms[other]) < 2 and rooms[other].kind not in BEDROOM_NEIGHBORS:
            return False
        if rooms[this].owner not in (NO_ROOM, other):
            return False
        if tier == 2 and (_privacy(rooms[other]) == 2 or any(this in ab for ab in chosen)):
            return False
        if tier == 2 and rooms[this].owner == NO_ROOM and rooms[other].kind not in "heb":
            return False
        if (
            tier == 1
            and _privacy(rooms[other]) == 1
            and pair_key(rooms[this].kind, rooms[other].kind) not in DOOR_COSTS
        ):
            return False
    return True


def _extra_doors(
    rng: np.random.Generator,
    rooms: Sequence[RoomSketch],
    contacts: Mapping[tuple[int, int], Wall],
    chosen: Sequence[tuple[int, int]],
    *,
    open_plan: bool,
) -> list[tuple[int, int]]:
    """Extra pairs, at least one if any is possible, so that there are loops."""
    chances = {
        (a, b): 1.0
        if open_plan and rooms[a].kind in OPEN_PLAN and rooms[b].kind in OPEN_PLAN
        else LOOP_PROBABILITIES.get(pair_key(rooms[a].kind, rooms[b].kind), 0.0)
        for a, b in contacts
        if (a, b) not in chosen and rooms[a].owner == rooms[b].owner == NO_ROOM
    }
    more = [ab for ab, chance in chances.items() if rng.random() < chance]
    likely = max(chances, key=lambda ab: (chances[ab], contacts[ab].length, ab), default=None)
    return more or ([likely] if likely is not None and chances[likely] > 0 else [])


def _place_door(
    rng: np.random.Generator, rooms: Sequence[RoomSketch], wall: Wall, *, lane_low: bool, open_plan: bool
) -> DoorPlacement:
    """An opening of suitable width and position in this wall."""
    kinds = [rooms[k].kind for k in wall.rooms]
    low, high = wall.low / 10 + CORNER_CLEARANCE, wall.high / 10 - CORNER_CLEARANCE
    free = high - low
    if "s" in kinds:
        return _stairs_opening(rooms[wall.rooms[kinds.index("s")]], wall, lane_low=lane_low)
    wide = all(kind in PUBLIC for kind in kinds)
    if open_plan and all(kind in OPEN_PLAN for kind in kinds):
        width = round(min(OPEN_PLAN_WIDTH, free), 2)
    elif wide:
        width = round(min(float(rng.uniform(1.2, 2.4)), free), 2)
    else:
        width = max(w for w in DOOR_WIDTHS[: 1 + int(rng.integers(len(DOOR_WIDTHS)))] if w <= free + 1e-9)
    return DoorPlacement(wall, round(_center(rng, low + width / 2, high - width / 2, middle=wide), 2), width, wide)


def _stairs_opening(well: RoomSketch, wall: Wall, *, lane_low: bool) -> DoorPlacement:
    """The opening from the hall to the stairs: as wide as the stairwell, or to the lane beside a straight flight."""
    low, high = wall.low / 10 + CORNER_CLEARANCE, wall.high / 10 - CORNER_CLEARANCE
    (x0, y0, x1, y1) = well.rects[0]
    deep, wide = (x1 - x0, y1 - y0) if wall.upright else (y1 - y0, x1 - x0)
    if wall.length < wide:
        raise InvalidLayout("the stairs do not open to the hall")
    if deep < STRAIGHT_WELL[0] + 1.4 or wide > STRAIGHT_WELL[1]:
        return DoorPlacement(wall, round((low + high) / 2, 3), round(high - low, 3), True)
    center = low + LANE_OPENING / 2 if lane_low else high - LANE_OPENING / 2
    return DoorPlacement(wall, round(center, 3), LANE_OPENING, True)


def _center(rng: np.random.Generator, low: float, high: float, *, middle: bool) -> float:
    """The position of an opening: wide ones near the middle of their wall, doors mostly near one end."""
    where = float(rng.random())
    if middle:
        share = 0.35 + 0.3 * where
    elif rng.random() < 0.65:
        share = 0.0 if where < 0.5 else 1.0
    else:
        share = where
    return low + share * (high - low)
