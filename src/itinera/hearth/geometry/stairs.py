"""Stairs: steps, the opening in the floor above, and railings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from itinera.hearth.geometry.solids import Color, HouseObject, Solids
from itinera.hearth.geometry.wall_face import Paint, WallFace
from itinera.hearth.layout.plan import Flight, FloorPlan, PlannedRoom
from itinera.worlds import Array

WOOD: Color = (150, 106, 70)
RISERS: Color = (236, 232, 224)
RAIL: Color = (96, 66, 44)
RAIL_HEIGHT = 0.95
POST = 0.04


def outline_without_stairwell(plan: FloorPlan, room: PlannedRoom, *, above: bool) -> Array:
    """The outline of a room's floor, or of the ceiling above it, without the opening for the stairs."""
    for flight in plan.flights:
        if room.index == flight.rooms[0 if above else 1]:
            return _notch(room.outline, flight.stairwell)
    return room.outline


def _notch(outline: Array, hole: Array) -> Array:
    """A rectangle without a smaller one along one of its sides, counter-clockwise."""
    corners = [tuple(p) for p in outline]
    inner = [(hole[0], hole[1]), (hole[2], hole[1]), (hole[2], hole[3]), (hole[0], hole[3])]
    points: list[tuple[float, float]] = []
    for a, b in zip(corners, [*corners[1:], corners[0]], strict=True):
        points.append(a)
        on = [p for p in inner if _on_line(a, b, p)]
        if len(on) == 2:
            first, last = sorted(on, key=lambda p: abs(p[0] - a[0]) + abs(p[1] - a[1]))
            away = [p for p in inner if p not in on]
            deep = sorted(away, key=lambda p: abs(p[0] - first[0]) + abs(p[1] - first[1]))
            points += [first, *deep, last]
    return np.array(points)


def _on_line(a: tuple[float, ...], b: tuple[float, ...], p: tuple[float, float]) -> bool:
    return abs((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])) < 1e-6


def build_stairs(plan: FloorPlan, flight: Flight, solids: Solids, index: int, edge: Color) -> list[HouseObject]:
    """The flight and its railing; the edges of the floor it passes through get color `edge`."""
    low, high = (plan.rooms[k] for k in flight.rooms)
    climb = _Climb.from_flight(flight, low, solids)
    _build_hole_edges(flight, solids, low.floor + low.height, high.floor, edge)
    _build_steps(climb, low.floor + low.height, Paint("stairs", index, WOOD), Paint("stairs", index, RISERS))
    _build_railing(climb, Paint("railing", index + 1, RAIL))
    heading = round(float(np.arctan2(-climb.up[1], -climb.up[0])), 6)
    size = np.array([flight.width, climb.run, climb.height])
    top = np.array([*climb.face.point(climb.forward * climb.run / 2, 0.0), high.floor + RAIL_HEIGHT / 2])
    return [
        HouseObject(index, "stairs", "stairs", low.index, (flight.foot + flight.head) / 2, size, heading, blocks=False),
        HouseObject(
            index + 1, "railing", "railing", high.index, top, np.array([POST, climb.run, RAIL_HEIGHT]), heading
        ),
    ]


@dataclass(frozen=True, eq=False)
class _Climb:
    """A flight seen from the side: s runs from its foot, forward or backward, and d from its open side."""

    flight: Flight
    face: WallFace
    up: Array  # (2,) unit vector, the direction of climbing
    forward: float  # 1 if s increases while climbing, -1 if it decreases
    run: float  # horizontal length
    height: float

    @classmethod
    def from_flight(cls, flight: Flight, low: PlannedRoom, solids: Solids) -> _Climb:
        direction = (flight.head - flight.foot)[:2]
        run = float(np.abs(direction).sum())
        up = np.round(direction / run, 6)
        middle = (flight.foot + flight.head)[:2] / 2
        center = (low.outline.min(axis=0) + low.outline.max(axis=0)) / 2
        aside = np.sign(center - middle) * np.abs(up[::-1])
        face = WallFace(solids, flight.foot[:2] + aside * flight.width / 2, aside)
        return cls(flight, face, up, float(np.sign(face.along @ up)), run, float(flight.head[2] - flight.foot[2]))

    def step(self, k: int) -> tuple[float, float, float]:
        """The start and end of a step along s, and its height."""
        going, rise = self.run / (self.flight.steps - 1), self.height / self.flight.steps
        return self.forward * going * k, self.forward * going * (k + 1), float(self.flight.foot[2]) + rise * (k + 1)


def _build_hole_edges(flight: Flight, solids: Solids, low: float, high: float, color: Color) -> None:
    """Add the cut edges of the floor around the stairwell."""
    x0, y0, x1, y1 = flight.stairwell
    corners = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        length = float(np.abs(b - a).sum())
        ahead = (b - a) / length
        face = WallFace(solids, b, np.array([-ahead[1], ahead[0]]))
        face.plate((0, length), (low, high), 0.0, Paint("wall", 0, color))


def _build_steps(climb: _Climb, ceiling: float, tread: Paint, riser: Paint) -> None:
    """Add solid steps down to the floor; the side along the wall is omitted."""
    face, floor, d = climb.face, float(climb.flight.foot[2]), (-climb.flight.width, 0.0)
    below = floor
    for k in range(climb.flight.steps - 1):
        near, far, z = climb.step(k)
        s = min(near, far), max(near, far)
        face.level(s, z, d, tread, up=True)
        face.side(near, (below, z), d, riser, right=climb.forward < 0)
        face.plate(s, (floor, min(z, ceiling)), 0.0, riser)
        below = z
    # The top of the flight meets the edge of the upper floor; its back is visible from the lower room.
    face.side(climb.forward * climb.run, (floor, ceiling), d, riser, right=climb.forward > 0)


def _build_railing(climb: _Climb, paint: Paint) -> None:
    """Add rails: up the open side of the flight, beside the stairwell above, and across the end over the foot."""
    face, upper = climb.face, float(climb.flight.head[2])
    _build_fence(face, (min(0.0, climb.forward * climb.run), max(0.0, climb.forward * climb.run)), upper, paint)
    across = WallFace(face.solids, face.point(0.0, 0.0), -climb.up)
    far = across.measure(face.point(0.0, -climb.flight.width))[0]
    _build_fence(across, (min(0.0, far), far - 0.01) if far > 0 else (far + 0.01, 0.0), upper, paint)
    _build_banister(climb, paint)


def _build_fence(face: WallFace, s: tuple[float, float], floor: float, paint: Paint) -> None:
    """Add posts and a rail just outside the edge of an opening."""
    d = 0.02, 0.02 + POST
    face.block(s, (floor + RAIL_HEIGHT - 0.05, floor + RAIL_HEIGHT), d, paint, sides="lrtbk")
    posts = max(2, round((s[1] - s[0]) / 0.2) + 1)
    for at in np.linspace(s[0] + POST / 2, s[1] - POST / 2, posts).tolist():
        face.block((at - POST / 2, at + POST / 2), (floor, floor + RAIL_HEIGHT - 0.05), d, paint, sides="lrk")


def _build_banister(climb: _Climb, paint: Paint) -> None:
    """Add a post on every other step and a sloping rail over them, up to the floor above."""
    d = -0.02 - POST, -0.02
    ends: list[tuple[float, float]] = []
    for k in range(0, climb.flight.steps - 1, 2):
        near, far, z = climb.step(k)
        s = (near + far) / 2
        climb.face.block((s - POST / 2, s + POST / 2), (z, z + RAIL_HEIGHT - 0.05), d, paint, sides="lrk")
        ends.append((s, z + RAIL_HEIGHT))
    (s0, z0), (s1, z1) = sorted((ends[0], ends[-1]))
    _add_sloping_bar(climb.face, (s0, s1), (z0, z1), d, paint)


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
