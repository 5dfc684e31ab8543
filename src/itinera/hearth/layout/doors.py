"""Which rooms open to which, and where in their walls.

Public rooms and halls are joined first, then the rooms one goes to (bedrooms, offices), last the rooms one goes to
from there (baths, closets), so that nobody walks through a bath to get anywhere. Some further openings make loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from itinera.hearth.layout.room_grid import NOBODY, Sketched, Unbuildable, Wall

HALLS = "hes"
PUBLIC = HALLS + "ldkfn"
LAST = "atc"  # rooms that lead nowhere

COSTS: Mapping[str, float] = MappingProxyType(
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
"""How unwelcome a way between two kinds is, by their letters in order; any way not named here costs `PLAIN`."""
PLAIN = {"h": 1.0, "e": 3.0, "f": 5.0, "l": 6.0, "n": 6.0, "d": 8.0, "k": 8.0, "s": 60.0}

LOOPS: Mapping[str, float] = MappingProxyType(
    {
        "dk": 0.9,
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
"""How likely two kinds that share a wall are joined beyond what is needed to reach them."""

CLEAR = 0.23  # from the middle of a crossing wall to the edge of a hole: half the wall and 0.15 m
DOORS = (0.8, 0.85, 0.9, 0.95)
LANE_OPENING = 1.0  # from the hall to the lane beside the stairs


@dataclass(frozen=True)
class Doorway:
    """A hole to be in a wall."""

    wall: Wall
    centre: float  # along the wall, metres
    width: float
    wide: bool


def pair(a: str, b: str) -> str:
    """The letters of two kinds in order, capitals first."""
    return "".join(sorted(a + b))


def join_rooms(
    rng: np.random.Generator, rooms: Sequence[Sketched], walls: Sequence[Wall], *, lane_low: bool
) -> list[Doorway]:
    """The doorways of a storey: every room can be reached, and mostly in more than one way.

    Beside the stairs one walks along the side of smaller x or y if `lane_low`; there they open to the hall.
    """
    contacts = _contacts(walls)
    chosen = _needed(rooms, contacts)
    chosen += _loops(rng, rooms, contacts, chosen)
    return [_cut(rng, rooms, contacts[ab], lane_low=lane_low) for ab in chosen]


def _contacts(walls: Sequence[Wall]) -> dict[tuple[int, int], Wall]:
    """The longest wall two rooms share, where a door fits."""
    longest: dict[tuple[int, int], Wall] = {}
    for wall in walls:
        a, b = sorted(wall.rooms)
        if a == NOBODY or wall.length < 10 * (2 * CLEAR + DOORS[0]):
            continue
        if (a, b) not in longest or wall.length > longest[a, b].length:
            longest[a, b] = wall
    return dict(sorted(longest.items()))


def _tier(room: Sketched) -> int:
    return 0 if room.kind in PUBLIC else 2 if room.kind in LAST else 1


def _needed(rooms: Sequence[Sketched], contacts: Mapping[tuple[int, int], Wall]) -> list[tuple[int, int]]:
    """The fewest pairs that reach every room, each the most welcome."""
    group = list(range(len(rooms)))
    chosen: list[tuple[int, int]] = []
    ordered = sorted(contacts, key=lambda ab: (_stage(rooms, *ab), _cost(rooms, *ab), -contacts[ab].length, ab))
    for a, b in ordered:
        if group[a] == group[b] or not _may_join(rooms, a, b, chosen):
            continue
        chosen.append((a, b))
        old, new = group[b], group[a]
        group = [new if g == old else g for g in group]
    if len(set(group)) > 1:
        raise Unbuildable("a room cannot be reached")
    return chosen


def _stage(rooms: Sequence[Sketched], a: int, b: int) -> int:
    return max(_tier(rooms[a]), _tier(rooms[b]))


def _cost(rooms: Sequence[Sketched], a: int, b: int) -> float:
    kinds = rooms[a].kind, rooms[b].kind
    if rooms[a].owner == b or rooms[b].owner == a:
        return -1.0
    return COSTS.get(pair(*kinds), min(PLAIN.get(kind, 20.0) for kind in kinds))


def _may_join(rooms: Sequence[Sketched], a: int, b: int, chosen: Sequence[tuple[int, int]]) -> bool:
    """Whether a door between them leaves every room its privacy."""
    for this, other in ((a, b), (b, a)):
        tier = _tier(rooms[this])
        if rooms[this].owner not in (NOBODY, other):
            return False
        if tier == 2 and (_tier(rooms[other]) == 2 or any(this in ab for ab in chosen)):
            return False
        if tier == 2 and rooms[this].owner == NOBODY and rooms[other].kind not in "heb":
            return False
        if tier == 1 and _tier(rooms[other]) == 1 and pair(rooms[this].kind, rooms[other].kind) not in COSTS:
            return False
    return True


def _loops(
    rng: np.random.Generator,
    rooms: Sequence[Sketched],
    contacts: Mapping[tuple[int, int], Wall],
    chosen: Sequence[tuple[int, int]],
) -> list[tuple[int, int]]:
    """Further pairs, at least one if any will do, so that there is more than one way."""
    chances = {
        (a, b): LOOPS.get(pair(rooms[a].kind, rooms[b].kind), 0.0)
        for a, b in contacts
        if (a, b) not in chosen and rooms[a].owner == rooms[b].owner == NOBODY
    }
    more = [ab for ab, chance in chances.items() if rng.random() < chance]
    likely = max(chances, key=lambda ab: (chances[ab], contacts[ab].length, ab), default=None)
    return more or ([likely] if likely is not None and chances[likely] > 0 else [])


def _cut(rng: np.random.Generator, rooms: Sequence[Sketched], wall: Wall, *, lane_low: bool) -> Doorway:
    """A hole of fitting width at a fitting place in this wall."""
    kinds = [rooms[k].kind for k in wall.rooms]
    low, high = wall.low / 10 + CLEAR, wall.high / 10 - CLEAR
    free = high - low
    if "s" in kinds:
        centre = low + LANE_OPENING / 2 if lane_low else high - LANE_OPENING / 2
        return Doorway(wall, round(centre, 3), LANE_OPENING, True)
    wide = all(kind in PUBLIC for kind in kinds)
    if wide:
        width = round(min(float(rng.uniform(1.4, 3.0)), free), 2)
    else:
        width = max(w for w in DOORS[: 1 + int(rng.integers(len(DOORS)))] if w <= free + 1e-9)
    return Doorway(wall, round(_centre(rng, low + width / 2, high - width / 2, middle=wide), 2), width, wide)


def _centre(rng: np.random.Generator, low: float, high: float, *, middle: bool) -> float:
    """Openings lie about the middle of their wall, doors mostly near one end."""
    where = float(rng.random())
    if middle:
        share = 0.35 + 0.3 * where
    elif rng.random() < 0.65:
        share = 0.0 if where < 0.5 else 1.0
    else:
        share = where
    return low + share * (high - low)
