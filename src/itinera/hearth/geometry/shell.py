"""Walls, floors, ceilings, doors, windows and stairs of a plan, as triangles.

Each room is a closed box seen from inside; the holes of two rooms are joined through the thickness of their wall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from itinera.hearth.geometry.polygons import triangulate
from itinera.hearth.geometry.solids import Colour, Solids
from itinera.hearth.geometry.stairs import build_stairs, with_stairwell
from itinera.hearth.geometry.wall_face import Facing, Hole, Paint
from itinera.hearth.item import Item
from itinera.hearth.layout.plan import OUTSIDE, Passage, Plan, PlannedRoom, Window
from itinera.worlds import Array

FLOORS: Mapping[str, str] = MappingProxyType(
    {**dict.fromkeys("bcv", "carpet"), **dict.fromkeys("atjkS", "tile"), **dict.fromkeys("guw", "concrete")}
)
"""What the floors of a kind are of; all others are of wood."""
FLOOR_COLOURS: Mapping[str, Sequence[Colour]] = MappingProxyType(
    {
        "wood": ((168, 124, 82), (142, 98, 62), (190, 150, 106), (120, 84, 58)),
        "carpet": ((196, 186, 170), (178, 172, 168), (172, 178, 186), (200, 190, 160)),
        "tile": ((206, 204, 198), (188, 192, 194), (214, 206, 190)),
        "concrete": ((150, 150, 148), (136, 136, 138)),
    }
)
WALL_COLOURS: Sequence[Colour] = (
    (238, 234, 226),
    (232, 226, 212),
    (226, 230, 232),
    (216, 226, 222),
    (234, 222, 210),
    (222, 224, 234),
    (236, 232, 206),
)
DOOR_COLOURS: Mapping[str, Colour] = MappingProxyType(
    {"white": (240, 240, 238), "brown": (112, 72, 44), "grey": (142, 142, 144), "black": (46, 44, 44)}
)
FRONT_COLOURS: Mapping[str, Colour] = MappingProxyType(
    {"red": (158, 36, 36), "blue": (40, 66, 130), "green": (36, 92, 58), "brown": (96, 60, 36), "black": (40, 40, 42)}
)
CEILING: Colour = (244, 243, 240)
WHITE: Colour = (246, 246, 244)
GLASS: Colour = (176, 208, 232)
BRASS: Colour = (176, 148, 84)

CASING = 0.07, 0.015  # width and thickness of the boards round a door
SKIRT = 0.08, 0.012  # height and thickness of the boards along the foot of a wall
REVEAL = 0.15  # from a wall's inner face to its panes
SHUT = 0.10  # from a wall's inner face to the front door
BAR = 0.05  # width of a window's frame


@dataclass(frozen=True)
class Edge:
    """One wall of a room, with the holes that are in it."""

    face: Facing
    length: float
    holes: tuple[Hole, ...]
    boards: tuple[tuple[float, float], ...]  # from where to where doors with the boards round them reach, openings too


def raise_shell(plan: Plan, rng: np.random.Generator, solids: Solids) -> tuple[Item, ...]:
    """The doors, windows and stairs of a plan, with index 1 and on; all triangles of the building go into `solids`."""
    walls = [WALL_COLOURS[int(rng.integers(len(WALL_COLOURS)))] for _ in plan.rooms]
    for flight in plan.flights:
        walls[flight.rooms[1]] = walls[flight.rooms[0]]  # one stairwell, one colour
    usual = _pick(rng, DOOR_COLOURS)
    floors = _floor_colours(plan, rng)
    for room in plan.rooms:
        _raise_room(plan, room, solids, walls[room.index], floors[room.index])
    items: list[Item] = []
    for passage in plan.passages:
        colour = walls[max(passage.rooms[0], 0)]
        if passage.wide:
            _line_opening(plan, passage, solids, colour, floors[passage.rooms[0]])
        else:
            word = usual if rng.random() < 0.85 else _pick(rng, DOOR_COLOURS)
            word = _pick(rng, FRONT_COLOURS) if OUTSIDE in passage.rooms else word
            items.append(_hang_door(plan, passage, solids, len(items) + 1, word, floors[passage.rooms[0]]))
    for window in plan.windows:
        items.append(_glaze(plan, window, solids, len(items) + 1, walls[window.room]))
    for flight in plan.flights:
        items += build_stairs(plan, flight, solids, len(items) + 1, CEILING)
    return tuple(items)


def _pick(rng: np.random.Generator, colours: Mapping[str, Colour]) -> str:
    return list(colours)[int(rng.integers(len(colours)))]


def _floor_colours(plan: Plan, rng: np.random.Generator) -> list[Colour]:
    """One colour of wood, of carpet, … for the whole house."""
    house = {stuff: shades[int(rng.integers(len(shades)))] for stuff, shades in FLOOR_COLOURS.items()}
    return [house[FLOORS.get(room.kind, "wood")] for room in plan.rooms]


def edges(plan: Plan, room: PlannedRoom, solids: Solids) -> list[Edge]:
    """The walls of a room, each seen from inside."""
    holes = _holes(plan, room)
    found = []
    for a, b in zip(room.outline, np.roll(room.outline, -1, axis=0), strict=True):
        length = float(np.hypot(*(b - a)))
        ahead = (b - a) / length
        face = Facing(solids, b, np.array([-ahead[1], ahead[0]]))
        mine = [(hole, place.cased) for place in holes if (hole := _on(face, length, place))]
        boards = [(s0 - wide, s1 + wide) for (s0, s1, z0, _), wide in mine if z0 < room.floor + SKIRT[0]]
        found.append(Edge(face, length, tuple(hole for hole, _ in mine), tuple(sorted(boards))))
    return found


@dataclass(frozen=True, eq=False)
class _Place:
    """A hole in some wall of a room."""

    middle: Array  # (2,) on the inner face
    width: float
    low: float
    high: float
    cased: float  # how wide the boards beside it are


def _holes(plan: Plan, room: PlannedRoom) -> list[_Place]:
    holes = []
    for passage in plan.passages:
        for which, index in enumerate(passage.rooms):
            if index == room.index:
                middle = passage.centre + passage.normal * passage.depth * (which - 0.5)
                cased = 0.0 if passage.wide else CASING[0]
                holes.append(_Place(middle, passage.width, passage.floor, passage.floor + passage.height, cased))
    holes += [_Place(w.centre, w.width, w.sill, w.top, 0.0) for w in plan.windows if w.room == room.index]
    return holes


def _on(face: Facing, length: float, place: _Place) -> Hole | None:
    """The hole as the face has it; none if it is in another wall."""
    s, d = face.measure(place.middle)
    if abs(d) > 1e-3 or not 0 < s < length:
        return None
    return s - place.width / 2, s + place.width / 2, place.low, place.high


def _raise_room(plan: Plan, room: PlannedRoom, solids: Solids, wall: Colour, floor: Colour) -> None:
    top = room.floor + room.height
    _lay(solids, with_stairwell(plan, room, above=False), room.floor, "floor", floor)
    _lay(solids, with_stairwell(plan, room, above=True)[::-1], top, "ceiling", CEILING)
    for edge in edges(plan, room, solids):
        edge.face.wall((0, edge.length), (room.floor, top), edge.holes, Paint("wall", 0, wall))
        _skirt(edge, room.floor)


def _skirt(edge: Edge, floor: float) -> None:
    """A white board along the foot of a wall, between its doors."""
    start, paint = 0.0, Paint("wall", 0, WHITE)
    for s0, s1 in [*edge.boards, (edge.length, edge.length)]:
        if s0 - start > 0.02:
            edge.face.block((start, s0), (floor, floor + SKIRT[0]), (0, SKIRT[1]), paint, sides="t")
        start = s1


def _lay(solids: Solids, outline: Array, z: float, category: str, colour: Colour) -> None:
    """A level polygon that looks up if its outline runs counter-clockwise, down otherwise."""
    clockwise = category == "ceiling"
    flat = triangulate(outline[::-1] if clockwise else outline)
    flat = flat[:, ::-1] if clockwise else flat
    solids.triangles(np.concatenate([flat, np.full((*flat.shape[:2], 1), z)], axis=2), category, 0, colour)


def _face_of(passage: Passage, solids: Solids, which: int) -> Facing:
    """The wall round a passage seen from one of its rooms, s from the passage's middle."""
    side = 1 - 2 * which
    return Facing(solids, passage.centre - side * passage.normal * passage.depth / 2, -side * passage.normal)


def _line_opening(plan: Plan, passage: Passage, solids: Solids, wall: Colour, floor: Colour) -> None:
    face = _face_of(passage, solids, 0)
    face.lining(_hole_of(passage), (-passage.depth, 0), Paint("wall", 0, wall), sill=Paint("floor", 0, floor))


def _hole_of(passage: Passage) -> Hole:
    half = passage.width / 2
    return -half, half, passage.floor, passage.floor + passage.height


def _hang_door(plan: Plan, passage: Passage, solids: Solids, index: int, word: str, floor: Colour) -> Item:
    front = OUTSIDE in passage.rooms
    paint = Paint("door", index, (FRONT_COLOURS if front else DOOR_COLOURS)[word])
    hole = _hole_of(passage)
    sides = [_face_of(passage, solids, which) for which in range(1 if front else 2)]
    sides[0].lining(hole, (-SHUT if front else -passage.depth, 0), paint, sill=Paint("floor", 0, floor))
    for face in sides:
        _case(face, hole, paint)
    if front:
        _shut(sides[0], hole, paint)
    elif passage.leaf is not None:
        _open_leaf(passage, passage.leaf, solids, paint)
    centre = [*passage.centre, passage.floor + passage.height / 2]
    size = [passage.width, passage.depth, passage.height]
    heading = round(float(np.arctan2(passage.normal[1], passage.normal[0])), 6)
    return Item(index, "door", "door", passage.rooms[0], np.array(centre), np.array(size), heading, word, blocks=front)


def _case(face: Facing, hole: Hole, paint: Paint) -> None:
    """Boards round a door; their backs lie on the wall and are left out."""
    (s0, s1, z0, z1), (wide, thick) = hole, CASING
    face.block((s0 - wide, s0), (z0, z1), (0, thick), paint, sides="lr")
    face.block((s1, s1 + wide), (z0, z1), (0, thick), paint, sides="lr")
    face.block((s0 - wide, s1 + wide), (z1, z1 + wide), (0, thick), paint, sides="lrtb")


def _shut(face: Facing, hole: Hole, paint: Paint) -> None:
    """A closed leaf with two panels and a knob."""
    s0, s1, z0, z1 = hole
    face.plate((s0, s1), (z0, z1), -SHUT, paint)
    for low, high in ((z0 + 0.2, z0 + 0.9), (z0 + 1.1, z1 - 0.2)):
        face.block((s0 + 0.15, s1 - 0.15), (low, high), (-SHUT, -SHUT + 0.015), paint)
    face.block(
        (s0 + 0.05, s0 + 0.11), (z0 + 0.97, z0 + 1.03), (-SHUT, -SHUT + 0.06), Paint("door", paint.instance, BRASS)
    )


def _open_leaf(passage: Passage, leaf: Array, solids: Solids, paint: Paint) -> None:
    """A leaf laid back before the wall, with panels and a knob on the side one sees."""
    corners = leaf.reshape(2, 2)
    which = int((corners.mean(axis=0) - passage.centre) @ passage.normal > 0)
    face = _face_of(passage, solids, which)
    (s0, d0), (s1, d1) = sorted(face.measure(corner) for corner in corners)
    back, front = sorted((d0, d1))
    low, high = passage.floor + 0.012, passage.floor + passage.height - 0.03
    face.block((s0, s1), (low, high), (back, front), paint, sides="lrtbk")
    for bottom, top in ((low + 0.2, low + 0.85), (low + 1.05, high - 0.2)):
        face.block((s0 + 0.14, s1 - 0.14), (bottom, top), (front, front + 0.012), paint)
    free = s1 - 0.09 if s0 > 0 else s0 + 0.04  # the knob is away from the hinges
    knob = Paint(paint.category, paint.instance, BRASS)
    face.block((free, free + 0.05), (low + 0.96, low + 1.01), (front, front + 0.05), knob)


def _glaze(plan: Plan, window: Window, solids: Solids, index: int, wall: Colour) -> Item:
    face = Facing(solids, window.centre, -window.normal)
    s, z = (-window.width / 2, window.width / 2), (window.sill, window.top)
    face.lining((*s, *z), (-REVEAL, 0), Paint("wall", 0, wall), sill=Paint("wall", 0, WHITE))
    face.plate(s, z, -REVEAL, Paint("window", index, GLASS))
    frame, d = Paint("window", index, WHITE), (-REVEAL, -REVEAL + 0.04)
    inner_s, inner_z = (s[0] + BAR, s[1] - BAR), (z[0] + BAR, z[1] - BAR)
    face.block((s[0], inner_s[0]), z, d, frame, sides="r")
    face.block((inner_s[1], s[1]), z, d, frame, sides="l")
    face.block(inner_s, (z[0], inner_z[0]), d, frame, sides="t")
    face.block(inner_s, (inner_z[1], z[1]), d, frame, sides="b")
    panes = max(1, round(window.width / 0.9))
    for k in range(1, panes):
        middle = s[0] + window.width * k / panes
        face.block((middle - BAR / 2, middle + BAR / 2), inner_z, (d[0], d[1] - 0.005), frame, sides="lr")
    centre = [*(window.centre + window.normal * REVEAL / 2), (window.sill + window.top) / 2]
    size = [window.width, REVEAL, window.top - window.sill]
    heading = round(float(np.arctan2(-window.normal[1], -window.normal[0])), 6)
    return Item(index, "window", "window", window.room, np.round(centre, 4), np.array(size), heading, blocks=False)
