"""The building: walls, floors, ceilings, doors, windows and stairs of a floor plan, as triangles.

Each room is a closed box seen from inside; the openings of two rooms are joined through the thickness of their wall.
What is seen from outside is in `facade.py`, what is outdoors in `fences.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from itinera.hearth.geometry.facade import OUTER_WALL, build_facades
from itinera.hearth.geometry.fences import build_outdoors
from itinera.hearth.geometry.finishes import Finish, Finishes, draw_finishes
from itinera.hearth.geometry.polygons import triangulate
from itinera.hearth.geometry.solids import Color, HouseObject, Solids
from itinera.hearth.geometry.stairs import build_stairs, open_areas, split_rectangle
from itinera.hearth.geometry.wall_face import Hole, Paint, WallFace
from itinera.hearth.layout.plan import OUTSIDE, FloorPlan, Passage, PlannedRoom, Window
from itinera.worlds import Array

DOOR_COLORS: Mapping[str, Color] = MappingProxyType(
    {"white": (240, 240, 238), "brown": (112, 72, 44), "grey": (142, 142, 144), "black": (46, 44, 44)}
)
FRONT_COLORS: Mapping[str, Color] = MappingProxyType(
    {"red": (158, 36, 36), "blue": (40, 66, 130), "green": (36, 92, 58), "brown": (96, 60, 36), "black": (40, 40, 42)}
)
CEILING: Color = (244, 243, 240)
WHITE: Color = (246, 246, 244)
GLASS: Color = (176, 208, 232)
BRASS: Color = (176, 148, 84)
RISERS: Color = (236, 232, 224)

CASING = 0.07, 0.015  # width and thickness of the boards around a door
SKIRT = 0.08, 0.012  # height and thickness of the skirting boards
REVEAL = 0.15  # from a wall's inner face to its panes
SHUT = 0.10  # from a wall's inner face to the front door
PANE = 0.01  # thickness of a pane
OUTER_REVEAL = 0.11  # from a wall's outer face to the front door
BAR = 0.05  # width of a window's frame


@dataclass(frozen=True)
class RoomWall:
    """One wall of a room, with its openings."""

    face: WallFace
    length: float
    holes: tuple[Hole, ...]
    boards: tuple[tuple[float, float], ...]  # the extents of doors with the boards around them, and of openings


def build_shell(plan: FloorPlan, rng: np.random.Generator, solids: Solids) -> tuple[HouseObject, ...]:
    """The doors, windows and stairs of a plan, numbered from 1; all triangles of the building go into `solids`."""
    finishes = draw_finishes(plan, rng)
    usual = _pick(rng, DOOR_COLORS)
    for room in plan.rooms:
        if not room.outdoor:
            _build_room(plan, room, solids, finishes.walls[room.index], finishes.floors[room.index])
    build_outdoors(plan, finishes, solids)
    build_facades(plan, finishes, solids)
    items: list[HouseObject] = []
    for passage in plan.passages:
        inner = _indoor_room(plan, passage)
        if inner == OUTSIDE:
            continue  # a terrace and a garden meet without a wall
        if passage.wide:
            _line_opening(passage, solids, finishes.walls[inner], finishes.floors[inner])
        else:
            word = usual if rng.random() < 0.85 else _pick(rng, DOOR_COLORS)
            word = _pick(rng, FRONT_COLORS) if OUTSIDE in passage.rooms else word
            items.append(_build_door(plan, passage, solids, len(items) + 1, word, finishes))
    for window in plan.windows:
        items.append(_build_window(window, solids, len(items) + 1, finishes))
    wood = (_paint("stairs", finishes.treads), Paint("stairs", 0, RISERS))
    for stairs in plan.staircases:
        items += build_stairs(plan, stairs, solids, len(items) + 1, Paint("wall", 0, CEILING, "plaster"), wood)
    return tuple(items)


def _paint(category: str, finish: Finish) -> Paint:
    return Paint(category, 0, finish.color, finish.material)


def _indoor_room(plan: FloorPlan, passage: Passage) -> int:
    """The first room of a passage that is indoors; OUTSIDE if there is none."""
    return next((k for k in passage.rooms if k != OUTSIDE and not plan.rooms[k].outdoor), OUTSIDE)


def _pick(rng: np.random.Generator, colors: Mapping[str, Color]) -> str:
    return list(colors)[int(rng.integers(len(colors)))]


def room_walls(plan: FloorPlan, room: PlannedRoom, solids: Solids) -> list[RoomWall]:
    """The walls of a room, each seen from inside."""
    holes = _holes(plan, room)
    found = []
    for a, b in zip(room.outline, np.roll(room.outline, -1, axis=0), strict=True):
        length = float(np.hypot(*(b - a)))
        ahead = (b - a) / length
        face = WallFace(solids, b, np.array([-ahead[1], ahead[0]]))
        mine = [(hole, place.cased) for place in holes if (hole := _hole_in_wall(face, length, place))]
        boards = [(s0 - wide, s1 + wide) for (s0, s1, z0, _), wide in mine if z0 < room.floor + SKIRT[0]]
        found.append(RoomWall(face, length, tuple(hole for hole, _ in mine), tuple(sorted(boards))))
    return found


@dataclass(frozen=True, eq=False)
class _WallHole:
    """An opening in some wall of a room."""

    middle: Array  # (2,) on the inner face
    width: float
    low: float
    high: float
    cased: float  # width of the boards beside it


def _holes(plan: FloorPlan, room: PlannedRoom) -> list[_WallHole]:
    holes = []
    for passage in plan.passages:
        for which, index in enumerate(passage.rooms):
            if index == room.index:
                middle = passage.center + passage.normal * passage.depth * (which - 0.5)
                cased = 0.0 if passage.wide else CASING[0]
                holes.append(_WallHole(middle, passage.width, passage.floor, passage.floor + passage.height, cased))
    holes += [_WallHole(w.center, w.width, w.sill, w.top, 0.0) for w in plan.windows if w.room == room.index]
    return holes


def _hole_in_wall(face: WallFace, length: float, place: _WallHole) -> Hole | None:
    """The opening in the coordinates of the face; None if it is in another wall."""
    s, d = face.measure(place.middle)
    if abs(d) > 1e-3 or not 0 < s < length:
        return None
    return s - place.width / 2, s + place.width / 2, place.low, place.high


def _build_room(plan: FloorPlan, room: PlannedRoom, solids: Solids, wall: Finish, floor: Finish) -> None:
    top = room.floor + room.height
    _add_level(plan, room, solids, room.floor, _paint("floor", floor))
    _add_level(plan, room, solids, top, Paint("ceiling", 0, CEILING, "plaster"))
    for edge in room_walls(plan, room, solids):
        edge.face.wall((0, edge.length), (room.floor, top), edge.holes, _paint("wall", wall))
        if room.kind != "s":  # where the undersides of stairs would meet it
            _build_skirting(edge, room.floor)


def _build_skirting(edge: RoomWall, floor: float) -> None:
    """Add a white board along the foot of a wall, between its doors."""
    start, paint = 0.0, Paint("wall", 0, WHITE)
    for s0, s1 in [*edge.boards, (edge.length, edge.length)]:
        if s0 - start > 0.02:
            edge.face.block((start, s0), (floor, floor + SKIRT[0]), (0, SKIRT[1]), paint, sides="t")
        start = s1


def _add_level(plan: FloorPlan, room: PlannedRoom, solids: Solids, z: float, paint: Paint) -> None:
    """Add the floor of a room, facing up, or its ceiling, facing down, without the opening for the stairs."""
    ceiling = paint.category == "ceiling"
    areas = open_areas(plan, room, above=ceiling)
    if areas:
        pieces = [_corners(box) for box in split_rectangle(room.outline, areas)]
    else:
        pieces = [room.outline]
    for outline in pieces:
        flat = triangulate(outline)
        flat = flat[:, ::-1] if ceiling else flat
        corners = np.concatenate([flat, np.full((*flat.shape[:2], 1), z)], axis=2)
        solids.triangles(corners, paint.category, 0, paint.color, paint.material)


def _corners(box: tuple[float, float, float, float]) -> Array:
    x0, y0, x1, y1 = box
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])


def _passage_face(passage: Passage, solids: Solids, which: int) -> WallFace:
    """The wall around a passage seen from one of its rooms, with s from the middle of the passage."""
    side = 1 - 2 * which
    return WallFace(solids, passage.center - side * passage.normal * passage.depth / 2, -side * passage.normal)


def _line_opening(passage: Passage, solids: Solids, wall: Finish, floor: Finish) -> None:
    face = _passage_face(passage, solids, 0)
    face.lining(_passage_hole(passage), (-passage.depth, 0), _paint("wall", wall), sill=_paint("floor", floor))


def _passage_hole(passage: Passage) -> Hole:
    half = passage.width / 2
    return -half, half, passage.floor, passage.floor + passage.height


def _build_door(
    plan: FloorPlan, passage: Passage, solids: Solids, index: int, word: str, finishes: Finishes
) -> HouseObject:
    front = OUTSIDE in passage.rooms
    paint = Paint("door", index, (FRONT_COLORS if front else DOOR_COLORS)[word], "wood")
    hole = _passage_hole(passage)
    sides = [_passage_face(passage, solids, which) for which in range(1 if front else 2)]
    sill = _paint("floor", finishes.floors[_indoor_room(plan, passage)])
    sides[0].lining(hole, (-SHUT if front else -passage.depth, 0), paint, sill=sill)
    for face in sides:
        _build_casing(face, hole, paint)
    garage = front and plan.rooms[passage.rooms[0]].kind == "g"
    if front:
        outer = _passage_face(passage, solids, 1)
        outer.lining(hole, (-OUTER_REVEAL, 0), _paint("wall", finishes.facade), sill=_paint("wall", finishes.facade))
        for face, depth in ((sides[0], SHUT), (outer, OUTER_REVEAL)):
            (_build_garage_leaf if garage else _build_closed_leaf)(face, hole, depth, paint)
    elif passage.leaf is not None:
        _build_open_leaf(passage, passage.leaf, solids, paint)
    center = [*passage.center, passage.floor + passage.height / 2]
    size = [passage.width, passage.depth, passage.height]
    heading = round(float(np.arctan2(passage.normal[1], passage.normal[0])), 6)
    name = "garage door" if garage else "door"
    return HouseObject(
        index, name, "door", passage.rooms[0], np.array(center), np.array(size), heading, word, blocks=front
    )


def _build_casing(face: WallFace, hole: Hole, paint: Paint) -> None:
    """Add boards around a door; their backs lie on the wall and are omitted."""
    (s0, s1, z0, z1), (wide, thick) = hole, CASING
    face.block((s0 - wide, s0), (z0, z1), (0, thick), paint, sides="lr")
    face.block((s1, s1 + wide), (z0, z1), (0, thick), paint, sides="lr")
    face.block((s0 - wide, s1 + wide), (z1, z1 + wide), (0, thick), paint, sides="lrtb")


def _build_closed_leaf(face: WallFace, hole: Hole, depth: float, paint: Paint) -> None:
    """Add one side of a closed leaf, with two panels and a knob."""
    s0, s1, z0, z1 = hole
    face.plate((s0, s1), (z0, z1), -depth, paint)
    for low, high in ((z0 + 0.2, z0 + 0.9), (z0 + 1.1, z1 - 0.2)):
        face.block((s0 + 0.15, s1 - 0.15), (low, high), (-depth, -depth + 0.015), paint)
    knob = Paint("door", paint.instance, BRASS, "metal")
    face.block((s0 + 0.05, s0 + 0.11), (z0 + 0.97, z0 + 1.03), (-depth, -depth + 0.06), knob)


def _build_garage_leaf(face: WallFace, hole: Hole, depth: float, paint: Paint) -> None:
    """Add one side of a garage door: horizontal panels."""
    s0, s1, z0, z1 = hole
    face.plate((s0, s1), (z0, z1), -depth, paint)
    for low in np.linspace(z0, z1, 6)[:-1].tolist():
        high = low + (z1 - z0) / 5
        face.block((s0 + 0.06, s1 - 0.06), (low + 0.05, high - 0.05), (-depth, -depth + 0.02), paint)


def _build_open_leaf(passage: Passage, leaf: Array, solids: Solids, paint: Paint) -> None:
    """Add an open leaf flat along the wall, with panels and a knob on the visible side."""
    corners = leaf.reshape(2, 2)
    which = int((corners.mean(axis=0) - passage.center) @ passage.normal > 0)
    face = _passage_face(passage, solids, which)
    (s0, d0), (s1, d1) = sorted(face.measure(corner) for corner in corners)
    back, front = sorted((d0, d1))
    low, high = passage.floor + 0.012, passage.floor + passage.height - 0.03
    face.block((s0, s1), (low, high), (back, front), paint, sides="lrtbk")
    for bottom, top in ((low + 0.2, low + 0.85), (low + 1.05, high - 0.2)):
        face.block((s0 + 0.14, s1 - 0.14), (bottom, top), (front, front + 0.012), paint)
    free = s1 - 0.09 if s0 > 0 else s0 + 0.04  # the knob is opposite the hinges
    knob = Paint(paint.category, paint.instance, BRASS, "metal")
    face.block((free, free + 0.05), (low + 0.96, low + 1.01), (front, front + 0.05), knob)


def _build_window(window: Window, solids: Solids, index: int, finishes: Finishes) -> HouseObject:
    face = WallFace(solids, window.center, -window.normal)
    outer = WallFace(solids, window.center + window.normal * OUTER_WALL, window.normal)
    s, z = (-window.width / 2, window.width / 2), (window.sill, window.top)
    sill = Paint("wall", 0, WHITE)
    face.lining((*s, *z), (-REVEAL, 0), _paint("wall", finishes.walls[window.room]), sill=sill)
    outer.lining((*s, *z), (REVEAL + PANE - OUTER_WALL, 0), _paint("wall", finishes.facade), sill=sill)
    pane = Paint("window", index, GLASS, "glass")
    face.plate(s, z, -REVEAL, pane)
    outer.plate(s, z, REVEAL + PANE - OUTER_WALL, pane)
    _build_sash(face, window, -REVEAL, Paint("window", index, WHITE))
    _build_sash(outer, window, REVEAL + PANE - OUTER_WALL, Paint("window", index, WHITE))
    center = [*(window.center + window.normal * REVEAL / 2), (window.sill + window.top) / 2]
    size = [window.width, REVEAL, window.top - window.sill]
    heading = round(float(np.arctan2(-window.normal[1], -window.normal[0])), 6)
    return HouseObject(
        index, "window", "window", window.room, np.round(center, 4), np.array(size), heading, blocks=False
    )


def _build_sash(face: WallFace, window: Window, back: float, frame: Paint) -> None:
    """Add the frame around the panes and the bars between them, on one side of the glass."""
    s, z, d = (-window.width / 2, window.width / 2), (window.sill, window.top), (back, back + 0.04)
    inner_s, inner_z = (s[0] + BAR, s[1] - BAR), (z[0] + BAR, z[1] - BAR)
    face.block((s[0], inner_s[0]), z, d, frame, sides="r")
    face.block((inner_s[1], s[1]), z, d, frame, sides="l")
    face.block(inner_s, (z[0], inner_z[0]), d, frame, sides="t")
    face.block(inner_s, (inner_z[1], z[1]), d, frame, sides="b")
    panes = max(1, round(window.width / 0.9))
    for k in range(1, panes):
        middle = s[0] + window.width * k / panes
        face.block((middle - BAR / 2, middle + BAR / 2), inner_z, (d[0], d[1] - 0.005), frame, sides="lr")
