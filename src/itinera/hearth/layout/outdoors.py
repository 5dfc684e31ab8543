"""Outdoors: terraces, gardens and courts on the ground, balconies and roof terraces upstairs, on the grid of a storey.

Each is a rectangle along an outside wall, entered from the room behind that wall; a garden is entered from a terrace.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from itinera.hearth.layout.plan import OUTDOOR
from itinera.hearth.layout.room_grid import NO_ROOM, Point, Rect, RoomSketch, StoreyLayout, Wall, find_walls

PAD = 140  # decimetres of outside added around a storey
TERRACE_KINDS = "ldkfn"  # kinds with a door to a terrace
BALCONY_KINDS = "borifhnw"
TERRACE_DEPTH, GARDEN_DEPTH = (26, 40), (50, 80)
TERRACE_LENGTH, BALCONY_LENGTH = (28, 76), (22, 44)
BALCONY_DEPTH, ROOF_TERRACE_DEPTH = (13, 17), (24, 40)
CLEAR = 6  # decimetres of free ground around what is outdoors

TERRACES = {"villa": 0.9, "row house": 1.0, "L-shaped house": 0.85, "courtyard house": 0.35, "flat": 0.7}
GARDENS = {"villa": 0.6, "row house": 0.9, "L-shaped house": 0.55, "courtyard house": 0.3, "flat": 0.15}
"""The probabilities of a terrace, and of a garden behind it, by family."""
BALCONIES = 0.65  # probability of a balcony on each upper floor

Doors = list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class OpenStorey:
    """A storey with its rooms outdoors, and the pairs of rooms that they connect."""

    storey: StoreyLayout
    doors: tuple[tuple[int, int], ...] = ()  # the index of a room outdoors, and of the room one enters it from

    @property
    def indoors(self) -> StoreyLayout:
        """The storey without its rooms outdoors."""
        outdoor = [k for k, room in enumerate(self.storey.rooms) if room.kind in OUTDOOR]
        labels = np.where(np.isin(self.storey.labels, outdoor), NO_ROOM, self.storey.labels)
        rooms = tuple(room for room in self.storey.rooms if room.kind not in OUTDOOR)
        return replace(self.storey, rooms=rooms, labels=labels.astype(np.int16))


def add_outdoors(
    rng: np.random.Generator,
    storeys: Sequence[StoreyLayout],
    family: str,
    *,
    court: Rect | None,
    blind: Sequence[Point],
) -> list[OpenStorey]:
    """The storeys with terraces, a garden or court, and balconies; none along the blind walls."""
    padded = [_pad(storey) for storey in storeys]
    opened = [_open_ground_floor(rng, padded[0], family, court, blind)]
    for below, storey in itertools.pairwise(padded):
        opened.append(_open_upper_floor(rng, storey, below, blind))
    return opened


def _pad(storey: StoreyLayout) -> StoreyLayout:
    labels = np.pad(storey.labels, PAD, constant_values=NO_ROOM)
    return replace(storey, labels=labels, corner=(storey.corner[0] - PAD, storey.corner[1] - PAD))


def _open_ground_floor(
    rng: np.random.Generator, storey: StoreyLayout, family: str, court: Rect | None, blind: Sequence[Point]
) -> OpenStorey:
    doors: Doors = []
    if court is not None:
        storey = _add(storey, "x", court)
        doors += _court_doors(rng, storey)
    if rng.random() >= TERRACES[family]:
        return OpenStorey(storey, tuple(doors))
    kinds = "kd" if family == "row house" else TERRACE_KINDS  # away from the street
    walls = [wall for wall in _outer_walls(storey, blind) if storey.rooms[max(wall.rooms)].kind in kinds]
    for wall in _shuffle(rng, walls, prefer="ld", storey=storey):
        rect = _beside(wall, _stretch(rng, wall, TERRACE_LENGTH), int(rng.integers(*TERRACE_DEPTH)))
        if wall.length < TERRACE_LENGTH[0] or not _is_clear(storey, _grow(rect, wall, CLEAR)):
            continue
        storey = _add(storey, "p", rect)
        terrace = len(storey.rooms) - 1
        doors.append((terrace, max(wall.rooms)))
        doors += _second_door(rng, storey, terrace, max(wall.rooms))
        if rng.random() < GARDENS[family]:
            storey, more = _add_garden(rng, storey, wall, rect, terrace, blind)
            doors += more
        break
    return OpenStorey(storey, tuple(doors))


def _court_doors(rng: np.random.Generator, storey: StoreyLayout) -> Doors:
    """Doors from the hall, and mostly from the living or dining room, into the court."""
    court = len(storey.rooms) - 1
    beside: dict[int, int] = {}
    for wall in find_walls(storey):
        if court in wall.rooms and min(wall.rooms) != NO_ROOM:
            other = sum(wall.rooms) - court
            beside[other] = max(beside.get(other, 0), wall.length)
    likely = {"h": 1.0, "l": 0.8, "d": 0.8}
    return [
        (court, k)
        for k, length in sorted(beside.items())
        if length >= 26 and rng.random() < likely.get(storey.rooms[k].kind, 0.0)
    ]


def _second_door(rng: np.random.Generator, storey: StoreyLayout, terrace: int, first: int) -> Doors:
    """Perhaps a door from another public room to the terrace."""
    pieces = [w for w in find_walls(storey) if terrace in w.rooms and w.length >= 24 and min(w.rooms) != NO_ROOM]
    others = sorted({sum(wall.rooms) - terrace for wall in pieces} - {first})
    public = [k for k in others if storey.rooms[k].kind in TERRACE_KINDS]
    return [(terrace, public[0])] if public and rng.random() < 0.6 else []


def _add_garden(
    rng: np.random.Generator,
    storey: StoreyLayout,
    wall: Wall,
    terrace_rect: Rect,
    terrace: int,
    blind: Sequence[Point],
) -> tuple[StoreyLayout, Doors]:
    """The storey with a garden beyond the terrace, as deep as there is room, between the neighbors on blind sides."""
    deep = int(rng.integers(*GARDEN_DEPTH))
    sides = [int(rng.integers(0, 28)), int(rng.integers(0, 28))]
    for low, high in (sides, (sides[0], 0), (0, sides[1]), (0, 0)):
        rect = _clip_to_plot(storey, _beyond(wall, terrace_rect, deep, low, high), blind)
        if _is_clear(storey, _grow(rect, wall, CLEAR)):
            storey = _add(storey, "x", rect)
            return storey, [(len(storey.rooms) - 1, terrace)]
    return storey, []


def _clip_to_plot(storey: StoreyLayout, rect: Rect, blind: Sequence[Point]) -> Rect:
    """The part of a rectangle that does not reach beyond the blind walls of the house, where neighbors have theirs."""
    x0, y0, x1, y1 = rect
    xs, ys = (indices + storey.corner[k] for k, indices in enumerate(np.nonzero(storey.labels != NO_ROOM)))
    return (
        max(x0, int(xs.min())) if (-1, 0) in blind else x0,
        max(y0, int(ys.min())) if (0, -1) in blind else y0,
        min(x1, int(xs.max()) + 1) if (1, 0) in blind else x1,
        min(y1, int(ys.max()) + 1) if (0, 1) in blind else y1,
    )


def _open_upper_floor(
    rng: np.random.Generator, storey: StoreyLayout, below: StoreyLayout, blind: Sequence[Point]
) -> OpenStorey:
    """The storey with a balcony, or a terrace on the roof of the storey below."""
    if rng.random() >= BALCONIES:
        return OpenStorey(storey)
    walls = [wall for wall in _outer_walls(storey, blind) if storey.rooms[max(wall.rooms)].kind in BALCONY_KINDS]
    for wall in _shuffle(rng, walls, prefer="b", storey=storey):
        if wall.length < BALCONY_LENGTH[0]:
            continue
        span = _stretch(rng, wall, BALCONY_LENGTH)
        on_roof = _beside(wall, span, int(rng.integers(*ROOF_TERRACE_DEPTH)))
        hanging = _beside(wall, span, int(rng.integers(*BALCONY_DEPTH)))
        rect = on_roof if _is_roof(below, on_roof) else hanging
        if _is_clear(storey, _grow(rect, wall, CLEAR)) and (rect is on_roof or _is_clear(below, hanging)):
            added = _add(storey, "y", rect)
            return OpenStorey(added, ((len(added.rooms) - 1, max(wall.rooms)),))
    return OpenStorey(storey)


def _add(storey: StoreyLayout, kind: str, rect: Rect) -> StoreyLayout:
    labels = storey.labels.copy()
    _patch(labels, storey.corner, rect)[:] = len(storey.rooms)
    return replace(storey, rooms=(*storey.rooms, RoomSketch(kind, (rect,))), labels=labels)


def _patch(labels: np.ndarray, corner: Point, rect: Rect) -> np.ndarray:
    x0, y0, x1, y1 = rect
    return labels[x0 - corner[0] : x1 - corner[0], y0 - corner[1] : y1 - corner[1]]


def _is_clear(storey: StoreyLayout, rect: Rect) -> bool:
    return bool((_patch(storey.labels, storey.corner, rect) == NO_ROOM).all())


def _is_roof(below: StoreyLayout, rect: Rect) -> bool:
    return bool((_patch(below.labels, below.corner, rect) != NO_ROOM).all())


def outward(wall: Wall) -> Point:
    """The direction from a room through an outer wall."""
    sign = 1 if wall.rooms[1] == NO_ROOM else -1
    return (sign, 0) if wall.upright else (0, sign)


def _outer_walls(storey: StoreyLayout, blind: Sequence[Point]) -> list[Wall]:
    walls = [wall for wall in find_walls(storey) if NO_ROOM in wall.rooms and outward(wall) not in blind]
    return [wall for wall in walls if storey.rooms[max(wall.rooms)].kind not in OUTDOOR]


def _shuffle(rng: np.random.Generator, walls: Sequence[Wall], *, prefer: str, storey: StoreyLayout) -> list[Wall]:
    """The walls in random order, those of the preferred kinds of rooms first."""
    order = [walls[int(k)] for k in rng.permutation(len(walls))]
    return sorted(order, key=lambda wall: storey.rooms[max(wall.rooms)].kind not in prefer)


def _stretch(rng: np.random.Generator, wall: Wall, lengths: tuple[int, int]) -> tuple[int, int]:
    """A stretch of a wall within these lengths."""
    length = min(wall.length, int(rng.integers(lengths[0], lengths[1] + 1)))
    length = max(length, min(wall.length, lengths[0]))
    start = wall.low + int(rng.integers(wall.length - length + 1))
    return start, start + length


def _beside(wall: Wall, span: tuple[int, int], deep: int) -> Rect:
    """The rectangle outside a stretch of a wall."""
    low, high = (wall.at, wall.at + deep) if wall.rooms[1] == NO_ROOM else (wall.at - deep, wall.at)
    return (low, span[0], high, span[1]) if wall.upright else (span[0], low, span[1], high)


def _beyond(wall: Wall, rect: Rect, deep: int, low_side: int, high_side: int) -> Rect:
    """The rectangle on the far side of one beside a wall, wider by these lengths."""
    x0, y0, x1, y1 = rect
    (dx, dy) = outward(wall)
    if dx:
        near, far = (x1, x1 + deep) if dx > 0 else (x0 - deep, x0)
        return near, y0 - low_side, far, y1 + high_side
    near, far = (y1, y1 + deep) if dy > 0 else (y0 - deep, y0)
    return x0 - low_side, near, x1 + high_side, far


def _grow(rect: Rect, wall: Wall, by: int) -> Rect:
    """The rectangle with a margin on all sides but that towards the wall."""
    x0, y0, x1, y1 = rect
    dx, dy = outward(wall)
    return (
        x0 - (by if dx <= 0 else 0),
        y0 - (by if dy <= 0 else 0),
        x1 + (by if dx >= 0 else 0),
        y1 + (by if dy >= 0 else 0),
    )
