"""A floor plan from a random generator: layouts are sketched on a grid until one is valid, then converted to metres."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from itinera.hearth.geometry.wall_details import cut_corners, place_door_leaf, wall_openings
from itinera.hearth.layout.doors import DoorPlacement, place_doors
from itinera.hearth.layout.facades import (
    HALF_WALL,
    OUTER_WALL,
    inset_outdoor,
    inset_outline,
    place_fences,
    trace_facade,
)
from itinera.hearth.layout.families import HouseSketch, HouseType, draw_house_type, sketch_house
from itinera.hearth.layout.outdoors import OpenStorey, add_outdoors, outward
from itinera.hearth.layout.plan import OUTDOOR, OUTSIDE, Facade, Fence, FloorPlan, Passage, PlannedRoom, Window
from itinera.hearth.layout.room_grid import (
    InvalidLayout,
    Point,
    Rect,
    RoomSketch,
    StoreyLayout,
    Wall,
    find_walls,
    rasterize_rooms,
    trace_outline,
)
from itinera.hearth.layout.room_shapes import check_outside, check_shapes, notch_rooms, total_area
from itinera.hearth.layout.stairs import plan_staircases
from itinera.hearth.layout.windows import insert_bays, place_sidelights, place_windows
from itinera.worlds import Array

ATTEMPTS = 20000
ATTEMPTS_PER_TYPE = 4000  # far more than any type of house needs
AREA = (110.0, 640.0)  # square metres, without what is outdoors
SLAB = 0.3  # between a ceiling and the floor above
DOOR_HEIGHT = 2.1
OPENING_HEIGHT = 2.3
FRONT_DOOR, GARAGE_DOOR = 0.95, 2.5  # metres wide
GLASS_DOORS = 1.5, 2.6  # metres wide, from a room to a terrace


def generate_floor_plan(rng: np.random.Generator, house: HouseType | None = None) -> FloorPlan:
    """The floor plan of a house of this type, or of any: a pure function of it and the state of the generator."""
    house = draw_house_type(rng) if house is None else house
    for attempt in range(1, ATTEMPTS):
        if attempt % ATTEMPTS_PER_TYPE == 0:
            house = draw_house_type(rng)
        try:
            sketch = sketch_house(rng, house)
            return _to_floor_plan(rng, _lay_out(rng, sketch), sketch.open_plan)
        except InvalidLayout:
            continue
    raise AssertionError("no sketch made a valid house")


@dataclass(frozen=True, eq=False)
class _House:
    """The storeys of a house on the grid, as they will stand."""

    storeys: Sequence[OpenStorey]
    blind: tuple[Point, ...]


def _lay_out(rng: np.random.Generator, sketch: HouseSketch) -> _House:
    """The storeys of a house on the grid, rotated or mirrored as a whole, with what is outdoors."""
    turn = int(rng.integers(8))
    storeys = [rasterize_rooms([_rotate(room, turn) for room in floor]) for floor in sketch.floors]
    if not AREA[0] <= total_area(storeys) <= AREA[1]:
        raise InvalidLayout("too small or too large")
    for storey in storeys:
        check_shapes(storey)
        check_outside(storey)
    for below, above in itertools.pairwise(storeys):
        _check_support(below, above)
    storeys = [notch_rooms(rng, storey, tries=8, max_notches=2) for storey in storeys]
    blind = tuple(_rotate_direction(direction, turn) for direction in sketch.blind)
    court = None if sketch.court is None else _rotate_rect(sketch.court, turn)
    return _House(add_outdoors(rng, storeys, sketch.family, court=court, blind=blind), blind)


def _check_support(below: StoreyLayout, above: StoreyLayout) -> None:
    """Raise InvalidLayout if a storey is not above the one below."""
    xs, ys = np.nonzero(above.labels >= 0)
    xs, ys = xs + above.corner[0] - below.corner[0], ys + above.corner[1] - below.corner[1]
    inside = (xs >= 0) & (ys >= 0) & (xs < below.labels.shape[0]) & (ys < below.labels.shape[1])
    if not inside.all() or (below.labels[xs, ys] < 0).any():
        raise InvalidLayout("the upper floor stands on nothing")


def _rotate(room: RoomSketch, turn: int) -> RoomSketch:
    return replace(room, rects=tuple(_rotate_rect(rect, turn) for rect in room.rects))


def _rotate_rect(rect: Rect, turn: int) -> Rect:
    x0, y0, x1, y1 = rect
    if turn & 1:
        x0, x1 = -x1, -x0
    if turn & 2:
        y0, y1 = -y1, -y0
    return (y0, x0, y1, x1) if turn & 4 else (x0, y0, x1, y1)


def _rotate_direction(direction: Point, turn: int) -> Point:
    x, y = direction
    x, y = -x if turn & 1 else x, -y if turn & 2 else y
    return (y, x) if turn & 4 else (x, y)


def _to_floor_plan(rng: np.random.Generator, house: _House, open_plan: bool) -> FloorPlan:
    """The floor plan in metres."""
    storeys = house.storeys
    height = round(float(rng.uniform(2.5, 2.65 if len(storeys) > 1 else 3.0)), 2)
    lane_low = bool(rng.random() < 0.5)
    rooms: list[PlannedRoom] = []
    passages: list[Passage] = []
    windows: list[Window] = []
    fences: list[Fence] = []
    facades: list[Facade] = []
    for level, opened in enumerate(storeys):
        floor = round(level * (height + SLAB), 2)
        part = _convert_storey(rng, opened, house.blind, lane_low=lane_low, open_plan=open_plan, ground=level == 0)
        base = len(rooms)
        for k, sketched in enumerate(opened.storey.rooms):
            rooms.append(PlannedRoom(base + k, level, sketched.kind, part.outlines[k], floor, height))
        for door in part.passages:
            numbers = (base + door.rooms[0], OUTSIDE if door.rooms[1] == OUTSIDE else base + door.rooms[1])
            passages.append(replace(door, index=len(passages), rooms=numbers, floor=floor))
        for light in part.windows:
            sill, top = round(light.sill + floor, 2), round(light.top + floor, 2)
            windows.append(replace(light, room=base + light.room, sill=sill, top=top))
        fences += [replace(fence, room=base + fence.room) for fence in part.fences]
        facades.append(part.facade)
    staircases = plan_staircases(rng, rooms, passages)
    return FloorPlan(tuple(rooms), tuple(passages), tuple(windows), staircases, tuple(facades), tuple(fences))


@dataclass(frozen=True, eq=False)
class _StoreyPlan:
    """A storey in metres, with its own room numbers and its floor at height 0."""

    outlines: dict[int, Array]
    passages: list[Passage]
    windows: list[Window]
    fences: list[Fence]
    facade: Facade


def _convert_storey(
    rng: np.random.Generator,
    opened: OpenStorey,
    blind: Sequence[Point],
    *,
    lane_low: bool,
    open_plan: bool,
    ground: bool,
) -> _StoreyPlan:
    storey, indoors = opened.storey, opened.indoors
    pieces, outer = find_walls(storey), find_walls(indoors)
    kinds = {k: room.kind for k, room in enumerate(storey.rooms)}
    outlines = {k: inset_outline(trace_outline(k, pieces)) for k in range(len(indoors.rooms))}
    for k in range(len(indoors.rooms), len(kinds)):
        outlines[k] = inset_outdoor(k, len(indoors.rooms), pieces)
    inner = [wall for wall in outer if OUTSIDE not in wall.rooms]
    passages = [_passage(way) for way in place_doors(rng, indoors.rooms, inner, lane_low=lane_low, open_plan=open_plan)]
    open_air = [_find_shared_wall(pieces, pair) for pair in opened.doors]
    ways = [_outdoor_passage(rng, storey, wall) for wall in open_air]
    passages += ways
    closed = [_front_wall(indoors, pieces, blind), *_garage_walls(indoors, pieces, blind)] if ground else []
    passages += [_closed_door(wall, kinds[max(wall.rooms)]) for wall in closed]
    taken_walls = [*closed, *(_without_outdoor(wall, len(indoors.rooms)) for wall in open_air)]
    beside = [part for wall, way in zip(open_air, ways, strict=True) for part in _beside_passage(wall, way)]
    outside = [_without_outdoor(wall, len(indoors.rooms)) for wall in (*pieces, *beside)]
    outside = [wall for wall in outside if sum(k >= 0 for k in wall.rooms) == 1 and outward(wall) not in blind]
    windows, bays = place_windows(
        rng,
        indoors,
        outside,
        half_wall=HALF_WALL,
        closed=taken_walls,
        for_bays=pieces if ground else (),
        all_rooms=storey,
    )
    if ground:
        windows += place_sidelights(closed[0], FRONT_DOOR, half_wall=HALF_WALL)
    facade = trace_facade(indoors, bays)
    outlines = insert_bays(outlines, bays)
    taken = wall_openings(list(kinds), passages, windows)
    for bay in bays:
        taken[bay.room].append((bay.corners[0], bay.corners[-1]))
    passages = [place_door_leaf(rng, passage, outlines, kinds, taken) for passage in passages]
    outlines = {k: cut_corners(rng, outlines[k], kinds[k], taken[k]) for k in kinds}
    return _StoreyPlan(outlines, passages, windows, place_fences(storey, pieces), facade)


def _without_outdoor(wall: Wall, indoor: int) -> Wall:
    """The wall with OUTSIDE in place of a room outdoors; rooms from index `indoor` on are outdoors."""
    first, second = (OUTSIDE if k >= indoor else k for k in wall.rooms)
    return replace(wall, rooms=(first, second))


def _beside_passage(wall: Wall, passage: Passage) -> list[Wall]:
    """The stretches of a wall on both sides of a passage in it."""
    along = float(passage.center[1 if wall.upright else 0])
    low, high = (math.floor(10 * (along - passage.width / 2)), math.ceil(10 * (along + passage.width / 2)))
    return [part for part in (replace(wall, high=low), replace(wall, low=high)) if part.length > 0]


def _find_shared_wall(pieces: Sequence[Wall], pair: tuple[int, int]) -> Wall:
    """The longest wall between two rooms."""
    shared = [wall for wall in pieces if set(wall.rooms) == set(pair)]
    if not shared or max(wall.length for wall in shared) < 16:
        raise InvalidLayout("no wall for a door outdoors")
    return max(shared, key=lambda wall: (wall.length, wall.at, wall.low))


def _passage(doorway: DoorPlacement) -> Passage:
    wall = doorway.wall
    center = [wall.at / 10, doorway.center] if wall.upright else [doorway.center, wall.at / 10]
    normal = [1.0, 0.0] if wall.upright else [0.0, 1.0]
    height = OPENING_HEIGHT if doorway.wide else DOOR_HEIGHT
    return Passage(
        0, wall.rooms, doorway.wide, np.array(center), np.array(normal), doorway.width, height, 2 * HALF_WALL, 0.0
    )


def _outdoor_passage(rng: np.random.Generator, storey: StoreyLayout, wall: Wall) -> Passage:
    """Glass doors to a terrace, a door to a balcony, or the open side between a terrace and a garden."""
    kinds = [storey.rooms[k].kind for k in wall.rooms]
    normal = np.array([1.0, 0.0] if wall.upright else [0.0, 1.0])
    along, length = (wall.low + wall.high) / 20, wall.length / 10
    if all(kind in OUTDOOR for kind in kinds):
        center = np.round([wall.at / 10, along] if wall.upright else [along, wall.at / 10], 4)
        return Passage(0, wall.rooms, True, center, normal, round(length - 0.6, 2), OPENING_HEIGHT, 0.0, 0.0)
    outwards = 1.0 if kinds[1] in OUTDOOR else -1.0
    across = wall.at / 10 + outwards * (OUTER_WALL / 2 - HALF_WALL)
    center = np.round([across, along] if wall.upright else [along, across], 4)
    wide = "y" not in kinds or bool(rng.random() < 0.4)
    width = round(min(float(rng.uniform(*GLASS_DOORS)), length - 0.7), 2) if wide else 0.9
    return Passage(0, wall.rooms, wide, center, normal, width, OPENING_HEIGHT if wide else DOOR_HEIGHT, OUTER_WALL, 0.0)


def _front_wall(storey: StoreyLayout, pieces: Sequence[Wall], blind: Sequence[Point]) -> Wall:
    """The longest outer wall of the entry."""
    entry = next(k for k, room in enumerate(storey.rooms) if room.kind == "e")
    return _longest_outer_wall(pieces, entry, blind, 16)


def _garage_walls(storey: StoreyLayout, pieces: Sequence[Wall], blind: Sequence[Point]) -> list[Wall]:
    """The longest outer wall of each garage."""
    garages = [k for k, room in enumerate(storey.rooms) if room.kind == "g"]
    return [_longest_outer_wall(pieces, k, blind, 34) for k in garages]


def _longest_outer_wall(pieces: Sequence[Wall], room: int, blind: Sequence[Point], least: int) -> Wall:
    outer = [wall for wall in pieces if sorted(wall.rooms) == [OUTSIDE, room] and wall.length >= least]
    outer = [wall for wall in outer if outward(wall) not in blind]
    if not outer:
        raise InvalidLayout("no outer wall for a door")
    return max(outer, key=lambda wall: (wall.length, wall.at, wall.low))


def _closed_door(wall: Wall, kind: str) -> Passage:
    """The front door, or the garage door."""
    dx, dy = outward(wall)
    across = wall.at / 10 + (dx + dy) * (OUTER_WALL / 2 - HALF_WALL)
    along = (wall.low + wall.high) / 20
    center = np.round([across, along] if wall.upright else [along, across], 4)
    normal = np.array([float(dx), float(dy)])
    width = GARAGE_DOOR if kind == "g" else FRONT_DOOR
    return Passage(0, (max(wall.rooms), OUTSIDE), False, center, normal, width, DOOR_HEIGHT, OUTER_WALL, 0.0)
