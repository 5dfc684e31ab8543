"""What bounds the rooms outdoors: hedges, fences, garden walls, and the railings of terraces and balconies."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from itinera.hearth.geometry.finishes import Finish, Finishes
from itinera.hearth.geometry.polygons import triangulate
from itinera.hearth.geometry.solids import Solids
from itinera.hearth.geometry.wall_face import Paint, WallFace
from itinera.hearth.layout.plan import Fence, FloorPlan, PlannedRoom

HEDGE = Paint("plant", 0, (58, 98, 48), "leaves")
BOARDS = Paint("railing", 0, (146, 112, 80), "wood")
METAL = Paint("railing", 0, (70, 72, 76), "metal")
GLASS = Paint("railing", 0, (190, 214, 222), "glass")
SLAB = 0.18  # metres of a balcony's floor
EDGE = 0.3  # metres of the edge below a terrace or a garden
GAPS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"p": (0.0171, 0.0065), "x": (0.0237, 0.0135), "y": (0.0171, 0.0065)}
)
"""Metres between a room outdoors and what bounds it, and by which that is longer than the side of the room; uneven, so
that no two of their faces coincide."""

THICKNESSES: Mapping[str, float] = MappingProxyType({"hedge": 0.42, "wall": 0.2, "court": 0.2, "low wall": 0.2})
"""Metres, of what one cannot look through; panels of boards have posts at their corners."""
LAP = 0.0343  # metres by which one of two fences reaches into the other at a corner

Span = tuple[float, float]


def build_outdoors(plan: FloorPlan, finishes: Finishes, solids: Solids) -> None:
    """Add the ground of all rooms outdoors, and what bounds them."""
    for room in plan.rooms:
        if room.outdoor:
            _build_ground(room, finishes.floors[room.index], solids)
    for fence in plan.fences:
        room = plan.rooms[fence.room]
        face, length = _fence_face(fence, solids)
        _build_edge(face, length, room, finishes)
        enclosed = room.kind == "x" and not any(
            plan.rooms[k].kind == "p" for p in plan.passages if room.index in p.rooms for k in p.rooms if k >= 0
        )
        style = "court" if enclosed else finishes.fences[room.kind]
        behind = WallFace(solids, face.point(0.0, -GAPS[room.kind][0]), face.out)
        _STYLES[style](behind, _find_span(fence, plan, length, style), room.floor, finishes.facade)


def _find_span(fence: Fence, plan: FloorPlan, length: float, style: str) -> Span:
    """The stretch of its face that a fence takes.

    Where two fences meet at a corner, one continues as far as the other is thick and the other reaches into it: one
    could look through a slit between them otherwise.
    """
    gap, longer = GAPS[plan.rooms[fence.room].kind]
    if style not in THICKNESSES:
        return -longer, length + longer
    others = [other for other in plan.fences if other.room == fence.room]
    goes_on = any(np.allclose(fence.end, other.start) for other in others)
    laps = any(np.allclose(fence.start, other.end) for other in others)
    thickness = THICKNESSES[style]
    return -(gap + thickness + LAP) if goes_on else -longer, length + (gap + LAP if laps else longer)


def _fence_face(fence: Fence, solids: Solids) -> tuple[WallFace, float]:
    """The fence seen from the room it bounds, and its length."""
    length = float(np.abs(fence.end - fence.start).sum())
    ahead = (fence.end - fence.start) / length
    return WallFace(solids, fence.end, np.round(np.array([-ahead[1], ahead[0]]), 6)), length


def _build_ground(room: PlannedRoom, finish: Finish, solids: Solids) -> None:
    flat = triangulate(room.outline)
    labels = 0, finish.color, finish.material
    solids.triangles(np.concatenate([flat, np.full((*flat.shape[:2], 1), room.floor)], axis=2), "floor", *labels)
    if room.kind == "y":
        under = np.concatenate([flat[:, ::-1], np.full((*flat.shape[:2], 1), room.floor - SLAB)], axis=2)
        solids.triangles(under, "misc", 0, (206, 204, 198), "concrete")


def _build_edge(face: WallFace, length: float, room: PlannedRoom, finishes: Finishes) -> None:
    """Add the edge of the ground, seen from outside, below the fence."""
    deep = SLAB if room.kind == "y" else EDGE
    paint = Paint("misc", 0, (196, 190, 180), "concrete")
    low, high = room.floor - deep, room.floor
    face.quad([(0.0, low, 0.0), (0.0, high, 0.0), (length, high, 0.0), (length, low, 0.0)], paint)


def _hedge(face: WallFace, s: Span, floor: float, facade: Finish) -> None:
    """A hedge in pieces of different heights."""
    count = max(1, round((s[1] - s[0]) / 1.1))
    edges = np.linspace(s[0], s[1], count + 1).round(3).tolist()
    for k, (a, b) in enumerate(itertools.pairwise(edges)):
        high = floor + 1.55 + 0.08 * ((k * 7) % 3)
        deep = -0.42 - 0.06 * ((k * 5) % 3)
        face.block((a, b), (floor - EDGE, high), (deep, -0.0245), HEDGE, sides="lrtk")


def _boards(face: WallFace, s: Span, floor: float, facade: Finish) -> None:
    """Panels of boards between posts."""
    count = max(1, round((s[1] - s[0]) / 1.9))
    edges = np.linspace(s[0], s[1], count + 1).round(3).tolist()
    for a, b in itertools.pairwise(edges):
        face.block((a, b), (floor + 0.03, floor + 1.5), (-0.05, -0.01), BOARDS, sides="lrtbk")
    for at in edges:
        face.block((at - 0.05, at + 0.05), (floor - EDGE, floor + 1.6), (-0.09, 0.0), BOARDS, sides="lrtk")


def _masonry(face: WallFace, s: Span, floor: float, facade: Finish, *, height: float) -> None:
    body = Paint("wall", 0, facade.color, facade.material)
    coping = Paint("wall", 0, (190, 184, 172), "stone")
    face.block(s, (floor - EDGE, floor + height), (-0.2, 0.0), body, sides="lrk")
    top = floor + height
    face.block((s[0] - 0.02, s[1] + 0.02), (top, top + 0.06), (-0.23, 0.012), coping, sides="lrtbk")


def _wall(face: WallFace, s: Span, floor: float, facade: Finish) -> None:
    _masonry(face, s, floor, facade, height=1.35)


def _court_wall(face: WallFace, s: Span, floor: float, facade: Finish) -> None:
    _masonry(face, s, floor, facade, height=2.1)


def _low_wall(face: WallFace, s: Span, floor: float, facade: Finish) -> None:
    _masonry(face, s, floor, facade, height=0.8)


def _rails(face: WallFace, s: Span, floor: float, facade: Finish) -> None:
    """Wooden posts with three rails."""
    _posts(face, s, floor, 1.4, BOARDS, 0.07)
    for z in (0.3, 0.62, 0.92):
        face.block(s, (floor + z, floor + z + 0.07), (-0.05, -0.02), BOARDS, sides="lrtbk")


def _bars(face: WallFace, s: Span, floor: float, facade: Finish) -> None:
    """A metal railing with close bars."""
    _posts(face, s, floor, 0.13, METAL, 0.02)
    face.block(s, (floor + 0.98, floor + 1.02), (-0.05, 0.0), METAL, sides="lrtbk")


def _glass(face: WallFace, s: Span, floor: float, facade: Finish) -> None:
    """Panes between metal posts."""
    _posts(face, s, floor, 1.2, METAL, 0.04)
    face.block(s, (floor + 0.08, floor + 0.96), (-0.03, -0.015), GLASS, sides="lrtbk")
    face.block(s, (floor + 0.98, floor + 1.02), (-0.05, 0.0), METAL, sides="lrtbk")


def _posts(face: WallFace, s: Span, floor: float, apart: float, paint: Paint, thick: float) -> None:
    count = max(2, round((s[1] - s[0]) / apart) + 1)
    for at in np.linspace(s[0] + thick / 2, s[1] - thick / 2, count).round(4).tolist():
        block = (at - thick / 2, at + thick / 2), (floor - 0.05, floor + 0.98), (-thick - 0.01, -0.01)
        face.block(*block, paint, sides="lrk")


_STYLES = {
    "hedge": _hedge,
    "boards": _boards,
    "wall": _wall,
    "court": _court_wall,
    "low wall": _low_wall,
    "rails": _rails,
    "bars": _bars,
    "glass": _glass,
}
