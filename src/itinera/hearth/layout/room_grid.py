"""Rooms as unions of rectangles on a grid of decimetres: easy to place, compare and trace.

Everything before the conversion to metres in `generate.py` uses integers, so that nothing depends on rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rect = tuple[int, int, int, int]  # x0, y0, x1, y1 in decimetres, x0 < x1 and y0 < y1
Point = tuple[int, int]
Labels = NDArray[np.int16]  # (x, y) the room of each square decimetre, -1 outside

NO_ROOM = -1


class InvalidLayout(Exception):
    """This sketch is not a valid house; another one is drawn instead."""


@dataclass(frozen=True)
class RoomSketch:
    """A room on the grid."""

    kind: str
    rects: tuple[Rect, ...]
    owner: int = NO_ROOM  # the room it belongs to and opens to exclusively: for a bedroom's own bath or closet


@dataclass(frozen=True)
class RowFrame:
    """The frame of a row of rooms: `along` runs beside its hall, `away` from the hall to the facade."""

    origin: Point
    along: Point
    away: Point

    def place(self, rect: Rect) -> Rect:
        """A rectangle in this frame, converted to the grid's directions."""
        (ox, oy), (ax, ay), (bx, by) = self.origin, self.along, self.away
        s0, t0, s1, t1 = rect
        x0, y0, x1, y1 = ox + s0 * ax + t0 * bx, oy + s0 * ay + t0 * by, ox + s1 * ax + t1 * bx, oy + s1 * ay + t1 * by
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


@dataclass(frozen=True)
class Wall:
    """A straight section of wall between two rooms, or between a room and the outside."""

    rooms: Point  # rooms[1] lies on the side of larger x or y; -1 is outside
    upright: bool  # runs along y, at x = at; otherwise along x, at y = at
    at: int
    low: int
    high: int

    @property
    def length(self) -> int:
        return self.high - self.low


@dataclass(frozen=True, eq=False)
class StoreyLayout:
    """One floor of a house on the grid."""

    rooms: tuple[RoomSketch, ...]
    labels: Labels
    corner: Point  # the grid coordinates of labels[0, 0]

    def area(self, room: int) -> float:
        """Square metres between the center lines of its walls."""
        return float(np.count_nonzero(self.labels == room)) / 100


MARGIN = 30  # decimetres of outside around a storey


def rasterize_rooms(rooms: Sequence[RoomSketch]) -> StoreyLayout:
    """The storey made of these rooms, which must not overlap."""
    every = np.array([rect for room in rooms for rect in room.rects])
    corner = int(every[:, 0].min()) - MARGIN, int(every[:, 1].min()) - MARGIN
    shape = int(every[:, 2].max()) + MARGIN - corner[0], int(every[:, 3].max()) + MARGIN - corner[1]
    labels = np.full(shape, NO_ROOM, dtype=np.int16)
    for index, room in enumerate(rooms):
        for x0, y0, x1, y1 in room.rects:
            patch = labels[x0 - corner[0] : x1 - corner[0], y0 - corner[1] : y1 - corner[1]]
            if ((patch != NO_ROOM) & (patch != index)).any():
                raise InvalidLayout("rooms overlap")
            patch[:] = index
    return StoreyLayout(tuple(rooms), labels, corner)


def find_walls(storey: StoreyLayout) -> list[Wall]:
    """Every straight section of wall, ordered by rooms and position."""
    return _walls_across(storey, upright=True) + _walls_across(storey, upright=False)


def _walls_across(storey: StoreyLayout, *, upright: bool) -> list[Wall]:
    grid = storey.labels if upright else storey.labels.T
    corner = storey.corner if upright else storey.corner[::-1]
    at, along = np.nonzero(grid[:-1] != grid[1:])
    first, second = grid[at, along], grid[at + 1, along]
    order = np.lexsort((along, at, second, first))
    rows = np.column_stack([first, second, at, along])[order].astype(np.int64)
    if not len(rows):
        return []
    breaks = np.flatnonzero((np.diff(rows[:, :3], axis=0) != 0).any(axis=1) | (np.diff(rows[:, 3]) != 1)) + 1
    starts, ends = np.concatenate([[0], breaks]), np.concatenate([breaks, [len(rows)]]) - 1
    return [
        Wall(
            (int(rows[s, 0]), int(rows[s, 1])),
            upright,
            int(rows[s, 2]) + 1 + corner[0],
            int(rows[s, 3]) + corner[1],
            int(rows[e, 3]) + 1 + corner[1],
        )
        for s, e in zip(starts, ends, strict=True)
    ]


def trace_outline(room: int, pieces: Iterable[Wall]) -> list[Point]:
    """The corners of a room along the center lines of its walls, counter-clockwise from the lowest leftmost."""
    ahead: dict[Point, Point] = {}
    for wall in pieces:
        if room not in wall.rooms:
            continue
        low, high = (
            ((wall.at, wall.low), (wall.at, wall.high)) if wall.upright else ((wall.low, wall.at), (wall.high, wall.at))
        )
        # With the room on the left: up its right side, down its left side, rightwards below it, leftwards above it.
        forward = (wall.rooms[0] == room) == wall.upright
        start, end = (low, high) if forward else (high, low)
        if start in ahead:
            raise InvalidLayout("a room touches itself at a corner")
        ahead[start] = end
    return _drop_collinear(_follow_loop(ahead))


def _follow_loop(ahead: dict[Point, Point]) -> list[Point]:
    loop = [min(ahead, key=lambda point: (point[1], point[0]))]
    while (after := ahead[loop[-1]]) != loop[0]:
        loop.append(after)
    if len(loop) != len(ahead):
        raise InvalidLayout("a room lies in pieces or round another")
    return loop


def _drop_collinear(loop: list[Point]) -> list[Point]:
    """The loop without collinear corners."""
    before, after = [loop[-1], *loop[:-1]], [*loop[1:], loop[0]]
    return [
        b
        for a, b, c in zip(before, loop, after, strict=True)
        if (b[0] - a[0]) * (c[1] - b[1]) != (b[1] - a[1]) * (c[0] - b[0])
    ]
