"""Stairs: steps, landings, the opening in the floor above, and railings.

The stairs of the ground floor are solid down to the floor; those above them hang free, with a soffit of steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from itinera.hearth.geometry.solids import Color, HouseObject, Solids
from itinera.hearth.geometry.wall_face import Paint, WallFace
from itinera.hearth.layout.plan import Flight, FloorPlan, PlannedRoom, Staircase
from itinera.worlds import Array

RAIL: Color = (96, 66, 44)
RAIL_HEIGHT = 0.95
POST = 0.04
SOFFIT = 0.10  # metres of a hanging flight below its risers
LANDING_THICKNESS = 0.2

Box = tuple[float, float, float, float]  # x0, y0, x1, y1


def open_areas(plan: FloorPlan, room: PlannedRoom, *, above: bool) -> tuple[Array, ...]:
    """The rectangles, (4,) each, where stairs pass through a room's floor, or through the ceiling above it."""
    for stairs in plan.staircases:
        if room.index == stairs.rooms[0 if above else 1]:
            return stairs.areas
    return ()


def split_rectangle(outline: Array, areas: Sequence[Array]) -> list[Box]:
    """The rectangles that are left of a rectangular room without these areas."""
    cells = _cells(outline, areas)
    return [cell for cell in cells if not _is_inside(cell, areas)]


def _cells(outline: Array, areas: Sequence[Array]) -> list[Box]:
    """A rectangle cut along the sides of all areas, column by column."""
    edges = [*np.array(areas).reshape(-1, 2, 2).reshape(-1, 2), *outline]
    xs, ys = (np.unique(np.round([edge[axis] for edge in edges], 4)).tolist() for axis in (0, 1))
    return [(x0, y0, x1, y1) for x0, x1 in itertools.pairwise(xs) for y0, y1 in itertools.pairwise(ys)]


def _is_inside(cell: Box, areas: Sequence[Array]) -> bool:
    x, y = (cell[0] + cell[2]) / 2, (cell[1] + cell[3]) / 2
    return any(area[0] < x < area[2] and area[1] < y < area[3] for area in areas)


@dataclass(frozen=True)
class Rim:
    """A straight edge of the opening in a floor, seen from within the opening."""

    start: tuple[float, float]
    end: tuple[float, float]
    out: tuple[float, float]  # unit vector into the opening
    free: bool  # the floor continues behind it; otherwise there is a wall


def find_rims(outline: Array, areas: Sequence[Array]) -> list[Rim]:
    """The edges of an opening, each as long as possible."""
    cells = _cells(outline, areas)
    inside = {cell: _is_inside(cell, areas) for cell in cells}
    low, high = outline.min(axis=0), outline.max(axis=0)
    pieces: dict[tuple[int, float, float, bool], list[tuple[float, float]]] = {}
    for cell in (cell for cell in cells if inside[cell]):
        for axis in (0, 1):
            for which, sign in ((axis, 1.0), (axis + 2, -1.0)):
                at = cell[which]
                beyond = [other for other in cells if _touches(cell, other, axis, which)]
                if beyond and inside[beyond[0]]:
                    continue
                free = bool(low[axis] + 1e-6 < at < high[axis] - 1e-6)
                pieces.setdefault((axis, at, sign, free), []).append((cell[1 - axis], cell[3 - axis]))
    return [rim for key, spans in pieces.items() for rim in _join(key, spans)]


def _touches(cell: Box, other: Box, axis: int, which: int) -> bool:
    """Whether another cell lies beyond this side of a cell."""
    opposite = axis + 2 if which == axis else axis
    return cell[which] == other[opposite] and cell[1 - axis] == other[1 - axis]


def _join(key: tuple[int, float, float, bool], spans: list[tuple[float, float]]) -> Iterator[Rim]:
    axis, at, sign, free = key
    merged: list[tuple[float, float]] = []
    for low, high in sorted(spans):
        if merged and abs(merged[-1][1] - low) < 1e-6:
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    for low, high in merged:
        ends = ((at, low), (at, high)) if axis == 0 else ((low, at), (high, at))
        yield Rim(*ends, (sign, 0.0) if axis == 0 else (0.0, sign), free)


def build_stairs(
    plan: FloorPlan, stairs: Staircase, solids: Solids, index: int, edge: Paint, wood: tuple[Paint, Paint]
) -> list[HouseObject]:
    """The staircase and its railings. `edge` paints the cut floor, `wood` the treads and the risers."""
    low, high = (plan.rooms[k] for k in stairs.rooms)
    rims = find_rims(high.outline, stairs.areas)
    for rim in rims:
        face, length = _rim_face(solids, rim)
        face.plate((0, length), (low.floor + low.height, high.floor), 0.0, edge)
    tread, riser = (Paint("stairs", index, paint.color, paint.material) for paint in wood)
    rail = Paint("railing", index + 1, RAIL, "wood")
    for k, _flight in enumerate(stairs.flights):
        steps = _Steps.plan(plan, stairs, k, solids)
        _build_steps(steps, tread, riser)
        for side in (-1, 1):
            if steps.neighbors[side] == "floor" or (steps.neighbors[side] == "stairs" and k > 0):
                _build_banister(steps, side, rail)
    _build_landings(stairs, solids, tread, riser, solid=low.storey == 0)
    crossed = [stairs.flights[-1].head, *(s.flights[0].foot for s in plan.staircases if s.rooms[0] == high.index)]
    for rim in rims:
        if rim.free and not any(_is_crossed(rim, point[:2]) for point in crossed):
            face, length = _rim_face(solids, rim)
            _build_fence(face, (0.01, length - 0.01), high.floor, rail)
    return _objects(plan, stairs, index)


def _rim_face(solids: Solids, rim: Rim) -> tuple[WallFace, float]:
    """The face of a rim, seen from the opening, with s from its left end, and its length."""
    out = np.array(rim.out)
    along = np.array([-out[1], out[0]])
    start, end = np.array(rim.start), np.array(rim.end)
    first = start if float((end - start) @ along) > 0 else end
    return WallFace(solids, first, out), float(np.abs(end - start).sum())


def _is_crossed(rim: Rim, point: Array) -> bool:
    (x0, y0), (x1, y1) = rim.start, rim.end
    return bool(x0 - 1e-3 <= point[0] <= x1 + 1e-3 and y0 - 1e-3 <= point[1] <= y1 + 1e-3)


def _objects(plan: FloorPlan, stairs: Staircase, index: int) -> list[HouseObject]:
    low, high = (plan.rooms[k] for k in stairs.rooms)
    up = stairs.flights[0].up
    x0, y0, x1, y1 = stairs.stairwell
    extent = np.array([x1 - x0, y1 - y0])
    wide, deep = float(np.abs(up[::-1]) @ extent), float(np.abs(up) @ extent)
    middle = [(x0 + x1) / 2, (y0 + y1) / 2]
    heading = round(float(np.arctan2(-up[1], -up[0])), 6)
    tall = high.floor - low.floor
    return [
        HouseObject(
            index,
            "stairs",
            "stairs",
            low.index,
            np.round([*middle, low.floor + tall / 2], 4),
            np.round([wide, deep, tall], 4),
            heading,
            blocks=False,
        ),
        HouseObject(
            index + 1,
            "railing",
            "railing",
            high.index,
            np.round([*middle, high.floor + RAIL_HEIGHT / 2], 4),
            np.round([wide, deep, RAIL_HEIGHT], 4),
            heading,
            blocks=False,
        ),
    ]


@dataclass(frozen=True, eq=False)
class _Steps:
    """A flight in its own frame: s runs up along it, d to the left of its middle."""

    flight: Flight
    face: WallFace  # through the middle line, seen from the left of the climber
    floor: float | None  # z where solid steps end; None for a hanging flight
    base: float  # z of the floor of the lower room
    ceiling: float  # z of the ceiling that the flight passes
    last: bool  # whether it arrives on the upper floor
    neighbors: dict[int, str]  # what is to the right (-1) and to the left (1): "wall", "stairs" or "floor"

    @classmethod
    def plan(cls, plan: FloorPlan, stairs: Staircase, k: int, solids: Solids) -> _Steps:
        flight, low = stairs.flights[k], plan.rooms[stairs.rooms[0]]
        left = np.array([-flight.up[1], flight.up[0]])
        middle = (flight.foot + flight.head)[:2] / 2
        found = {
            side: _neighbor(low, stairs, middle + side * left * (flight.width / 2 + 0.05), flight) for side in (-1, 1)
        }
        # With its front to the left, the face's own s axis points down the flight: see `_s`.
        face = WallFace(solids, flight.foot[:2], left)
        floor = low.floor if low.storey == 0 else None
        return cls(flight, face, floor, low.floor, low.floor + low.height, k == len(stairs.flights) - 1, found)

    @property
    def rise(self) -> float:
        return float(self.flight.head[2] - self.flight.foot[2]) / self.flight.steps

    @property
    def run(self) -> float:
        return float(np.abs((self.flight.head - self.flight.foot)[:2]).sum())

    def tread(self, k: int) -> tuple[float, float, float]:
        """The start and end of a step along the flight, and its height."""
        going = self.run / (self.flight.steps - 1)
        return going * k, going * (k + 1), float(self.flight.foot[2]) + self.rise * (k + 1)

    def below(self, k: int) -> float:
        """The height of the underside of a step."""
        return self.tread(k)[2] - self.rise - SOFFIT if self.floor is None else self.floor


def _neighbor(room: PlannedRoom, stairs: Staircase, point: Array, flight: Flight) -> str:
    low, high = room.outline.min(axis=0), room.outline.max(axis=0)
    if not ((low < point).all() and (point < high).all()):
        return "wall"
    others = [area for area in stairs.areas if not np.array_equal(area, flight.area)]
    inside = any(area[0] < point[0] < area[2] and area[1] < point[1] < area[3] for area in others)
    return "stairs" if inside else "floor"


def _s(a: float, b: float) -> tuple[float, float]:
    """The s interval on the face of a stretch of the flight from a to b."""
    return -b, -a


def _build_steps(steps: _Steps, tread: Paint, riser: Paint) -> None:
    """Add the steps; sides along walls are omitted."""
    face, half, hanging = steps.face, steps.flight.width / 2, steps.floor is None
    d = -half, half
    before = float(steps.flight.foot[2])
    count = steps.flight.steps - 1
    for k in range(count):
        near, far, z = steps.tread(k)
        face.level(_s(near, far), z, d, tread, up=True)
        face.side(-near, (before, z), d, riser, right=True)
        for side in (-1, 1):
            _build_side(steps, k, side, riser)
        if hanging:
            face.level(_s(near, far), steps.below(k), d, riser, up=False)
            if k + 1 < count:
                face.side(-far, (steps.below(k), steps.below(k + 1)), d, riser, right=False)
        before = z
    top = float(steps.flight.head[2])
    if not steps.last:
        face.side(-steps.run, (before, top), d, riser, right=True)
        if hanging:
            face.side(-steps.run, (steps.below(count - 1), top - LANDING_THICKNESS), d, riser, right=False)
    else:
        # The top of the flight meets the edge of the upper floor; its back is visible from the lower room.
        face.side(-steps.run, (steps.below(count - 1), steps.ceiling), d, riser, right=False)


def _build_side(steps: _Steps, k: int, side: int, paint: Paint) -> None:
    near, far, z = steps.tread(k)
    if steps.neighbors[side] == "wall":
        return
    # Below and above, the edges of the floors are there.
    low, half = max(steps.below(k), steps.base), steps.flight.width / 2
    top = min(z, steps.ceiling) if steps.neighbors[side] == "floor" else z
    if side > 0:
        steps.face.plate(_s(near, far), (low, top), half, paint)
    elif top - low > 1e-6:
        s0, s1 = _s(near, far)
        steps.face.quad([(s0, low, -half), (s0, top, -half), (s1, top, -half), (s1, low, -half)], paint)


def _build_landings(stairs: Staircase, solids: Solids, tread: Paint, riser: Paint, *, solid: bool) -> None:
    """Add the tops of the landings and, where they hang, their undersides and the edge to the next flight."""
    for landing, after in zip(stairs.landings, stairs.flights[1:], strict=True):
        x0, y0, x1, y1 = landing.area
        corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
        z, low = landing.floor, landing.floor - LANDING_THICKNESS
        solids.polygon([(*p, z) for p in corners], "stairs", tread.instance, tread.color, tread.material)
        if not solid:
            solids.polygon([(*p, low) for p in corners[::-1]], "stairs", riser.instance, riser.color, riser.material)
            face = WallFace(solids, after.foot[:2], after.up)
            face.plate((-after.width / 2, after.width / 2), (low, z - SOFFIT), 0.0, riser)


def _build_fence(face: WallFace, s: tuple[float, float], floor: float, paint: Paint) -> None:
    """Add posts and a rail just behind the edge of an opening."""
    d = -0.02 - POST, -0.02
    face.block(s, (floor + RAIL_HEIGHT - 0.05, floor + RAIL_HEIGHT), d, paint, sides="lrtbk")
    posts = max(2, round((s[1] - s[0]) / 0.2) + 1)
    for at in np.linspace(s[0] + POST / 2, s[1] - POST / 2, posts).tolist():
        face.block((at - POST / 2, at + POST / 2), (floor, floor + RAIL_HEIGHT - 0.05), d, paint, sides="lrk")


def _build_banister(steps: _Steps, side: int, paint: Paint) -> None:
    """Add a post on every other step and a sloping rail over them, up to the end of the flight."""
    near, far = steps.flight.width / 2 - 0.02 - POST, steps.flight.width / 2 - 0.02
    d = (near, far) if side > 0 else (-far, -near)
    count = steps.flight.steps - 1
    ends: list[tuple[float, float]] = []
    for k in sorted({*range(0, count, 2), count - 1}):
        start, end, z = steps.tread(k)
        s = -(start + end) / 2
        steps.face.block((s - POST / 2, s + POST / 2), (z, z + RAIL_HEIGHT - 0.05), d, paint, sides="lrk")
        ends.append((s, z + RAIL_HEIGHT))
    (s0, z0), (s1, z1) = sorted((ends[0], ends[-1]))
    _add_sloping_bar(steps.face, (s0, s1), (z0, z1), d, paint)


def _add_sloping_bar(
    face: WallFace, s: tuple[float, float], z: tuple[float, float], d: tuple[float, float], paint: Paint
) -> None:
    """Add a bar five centimetres high whose top runs from one height to the other."""
    (s0, s1), (z0, z1), (d0, d1) = s, z, d
    y0, y1 = z0 - 0.05, z1 - 0.05
    face.quad([(s0, y0, d1), (s1, y1, d1), (s1, z1, d1), (s0, z0, d1)], paint)
    face.quad([(s0, y0, d0), (s0, z0, d0), (s1, z1, d0), (s1, y1, d0)], paint)
    face.quad([(s0, z0, d0), (s0, z0, d1), (s1, z1, d1), (s1, z1, d0)], paint)
    face.quad([(s0, y0, d0), (s1, y1, d0), (s1, y1, d1), (s0, y0, d1)], paint)
    face.quad([(s0, y0, d0), (s0, y0, d1), (s0, z0, d1), (s0, z0, d0)], paint)
    face.quad([(s1, y1, d0), (s1, z1, d0), (s1, z1, d1), (s1, y1, d1)], paint)
