"""A floor plan from a random generator: layouts are sketched on a grid until one is valid, then converted to metres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from itinera.hearth.geometry.wall_details import cut_corners, place_door_leaf, wall_openings
from itinera.hearth.layout.doors import DoorPlacement, place_doors
from itinera.hearth.layout.plan import OUTSIDE, Flight, FloorPlan, Passage, PlannedRoom, Window
from itinera.hearth.layout.room_grid import (
    InvalidLayout,
    Rect,
    RoomSketch,
    StoreyLayout,
    Wall,
    find_walls,
    rasterize_rooms,
    trace_outline,
)
from itinera.hearth.layout.room_shapes import check_outside, check_shapes, notch_rooms, total_area
from itinera.hearth.layout.storeys import Spine, sketch_ground_floor, sketch_upper_floor
from itinera.hearth.layout.windows import insert_bays, place_windows
from itinera.worlds import Array

ATTEMPTS = 4000
ATTEMPTS_PER_SIZE = 40  # attempts with one number of rooms
UPPER_TRIES = 12  # for each ground floor
TWO_STOREYS = 0.34  # fraction of houses
ONE_STOREY_ROOMS = (9, 20)  # minimum (inclusive) and maximum (exclusive) number of rooms
TWO_STOREY_ROOMS = (14, 21)
MAX_ROOMS = 20
AREA = (150.0, 640.0)  # square metres
HALF_WALL = 0.07
OUTER_WALL = 0.25
SLAB = 0.3  # between a ceiling and the floor above
DOOR_HEIGHT = 2.1
OPENING_HEIGHT = 2.3
RISE = 0.187  # of a step, metres, at most
GOING = 0.29  # of a step, metres, at most
FLIGHT_WIDTH = 1.05
SHORT_LANDING = 0.65  # metres, at the end towards the hall
LONG_LANDING = 1.05  # metres, at the other end


def generate_floor_plan(rng: np.random.Generator) -> FloorPlan:
    """The floor plan of a house: a pure function of the state of the generator."""
    two = bool(rng.random() < TWO_STOREYS)
    for attempt in range(ATTEMPTS):
        if attempt % ATTEMPTS_PER_SIZE == 0:
            rooms = int(rng.integers(*(TWO_STOREY_ROOMS if two else ONE_STOREY_ROOMS)))
        try:
            storeys = _sketch_storeys(rng, rooms, two=two)
            return _to_floor_plan(rng, storeys)
        except InvalidLayout:
            continue
    raise AssertionError("no sketch made a valid house")


def _sketch_storeys(rng: np.random.Generator, rooms: int, *, two: bool) -> list[StoreyLayout]:
    """The storeys of a house on the grid, rotated or mirrored as a whole."""
    ground, spine = sketch_ground_floor(rng, rooms=rooms, stairs=two)
    floors = [ground, _find_upper_floor(rng, rooms, spine, ground)] if two else [ground]
    _check_rooms([room.kind for floor in floors for room in floor], rooms)
    turn = int(rng.integers(8))
    storeys = [rasterize_rooms([_rotate(room, turn) for room in floor]) for floor in floors]
    if not AREA[0] <= total_area(storeys) <= AREA[1]:
        raise InvalidLayout("too small or too large")
    for storey in storeys:
        check_shapes(storey)
        check_outside(storey)
    return [notch_rooms(rng, storey, tries=8, max_notches=2) for storey in storeys]


def _find_upper_floor(
    rng: np.random.Generator, rooms: int, spine: Spine, ground: Sequence[RoomSketch]
) -> list[RoomSketch]:
    """An upper floor that suits the ground floor."""
    for _ in range(UPPER_TRIES):
        try:
            upper = sketch_upper_floor(rng, spine, [room.kind for room in ground], rooms=rooms - len(ground))
            kinds = [room.kind for room in upper]
            if kinds.count("b") < 2 or "a" not in kinds:
                raise InvalidLayout("nowhere to sleep or to wash upstairs")
            _check_rooms([room.kind for room in (*ground, *upper)], rooms)
        except InvalidLayout:
            continue
        return upper
    raise InvalidLayout("no upper floor")


def _check_rooms(kinds: Sequence[str], rooms: int) -> None:
    """Raise InvalidLayout for a house with unsuitable rooms, or a number of them far from the target."""
    beds, baths = kinds.count("b"), kinds.count("a")
    if abs(len(kinds) - rooms) > 1 or len(kinds) > MAX_ROOMS:
        raise InvalidLayout("too few or too many rooms")
    if not (beds >= 1 and 1 <= baths <= beds + 1 and beds <= 2 * baths + 1):
        raise InvalidLayout("bedrooms and baths do not match")


def _rotate(room: RoomSketch, turn: int) -> RoomSketch:
    return replace(room, rects=tuple(_rotate_rect(rect, turn) for rect in room.rects))


def _rotate_rect(rect: Rect, turn: int) -> Rect:
    x0, y0, x1, y1 = rect
    if turn & 1:
        x0, x1 = -x1, -x0
    if turn & 2:
        y0, y1 = -y1, -y0
    return (y0, x0, y1, x1) if turn & 4 else (x0, y0, x1, y1)


def _to_floor_plan(rng: np.random.Generator, storeys: Sequence[StoreyLayout]) -> FloorPlan:
    """The floor plan in metres."""
    height = round(float(rng.uniform(2.5, 2.65 if len(storeys) > 1 else 3.0)), 2)
    lane_low = bool(rng.random() < 0.5)
    rooms: list[PlannedRoom] = []
    passages: list[Passage] = []
    windows: list[Window] = []
    for level, storey in enumerate(storeys):
        floor = round(level * (height + SLAB), 2)
        outlines, doors, lights = _convert_storey(rng, storey, lane_low=lane_low, ground=level == 0)
        base = len(rooms)
        for k, sketched in enumerate(storey.rooms):
            rooms.append(PlannedRoom(base + k, level, sketched.kind, outlines[k], floor, height))
        for door in doors:
            numbers = (base + door.rooms[0], OUTSIDE if door.rooms[1] == OUTSIDE else base + door.rooms[1])
            passages.append(replace(door, index=len(passages), rooms=numbers, floor=floor))
        for light in lights:
            sill, top = round(light.sill + floor, 2), round(light.top + floor, 2)
            windows.append(replace(light, room=base + light.room, sill=sill, top=top))
    return FloorPlan(tuple(rooms), tuple(passages), tuple(windows), _flights(rng, rooms, passages))


def _convert_storey(
    rng: np.random.Generator, storey: StoreyLayout, *, lane_low: bool, ground: bool
) -> tuple[dict[int, Array], list[Passage], list[Window]]:
    """Outlines, passages and windows of a storey, with its own room numbers and its floor at height 0."""
    pieces = find_walls(storey)
    kinds = {k: room.kind for k, room in enumerate(storey.rooms)}
    outlines = {k: _inset(trace_outline(k, pieces)) for k in kinds}
    passages = [_passage(doorway) for doorway in place_doors(rng, storey.rooms, pieces, lane_low=lane_low)]
    closed = [_front_wall(storey, pieces)] if ground else []
    passages += [_front_door(wall) for wall in closed]
    windows, bays = place_windows(rng, storey, pieces, half_wall=HALF_WALL, closed=closed)
    outlines = insert_bays(outlines, bays)
    taken = wall_openings(list(kinds), passages, windows)
    for bay in bays:
        taken[bay.room].append((bay.corners[0], bay.corners[-1]))
    passages = [place_door_leaf(rng, passage, outlines, kinds, taken) for passage in passages]
    return {k: cut_corners(rng, outlines[k], kinds[k], taken[k]) for k in kinds}, passages, windows


def _inset(corners: Sequence[tuple[int, int]]) -> Array:
    """The outline between the inner faces of the walls, from the one along their center lines; metres."""
    points = np.array(corners, dtype=np.float64) / 10
    ahead = np.sign(np.roll(points, -1, axis=0) - points)
    behind = np.roll(ahead, 1, axis=0)
    inward = np.stack([-ahead[:, 1] - behind[:, 1], ahead[:, 0] + behind[:, 0]], axis=1)
    return np.round(points + HALF_WALL * inward, 2)


def _passage(doorway: DoorPlacement) -> Passage:
    wall = doorway.wall
    center = [wall.at / 10, doorway.center] if wall.upright else [doorway.center, wall.at / 10]
    normal = [1.0, 0.0] if wall.upright else [0.0, 1.0]
    height = OPENING_HEIGHT if doorway.wide else DOOR_HEIGHT
    return Passage(
        0, wall.rooms, doorway.wide, np.array(center), np.array(normal), doorway.width, height, 2 * HALF_WALL, 0.0
    )


def _front_wall(storey: StoreyLayout, pieces: Sequence[Wall]) -> Wall:
    """The longest outer wall of the entry."""
    entry = next(k for k, room in enumerate(storey.rooms) if room.kind == "e")
    outer = [wall for wall in pieces if sorted(wall.rooms) == [OUTSIDE, entry] and wall.length >= 16]
    if not outer:
        raise InvalidLayout("the entry has no outer wall")
    return max(outer, key=lambda wall: (wall.length, wall.at, wall.low))


def _front_door(wall: Wall) -> Passage:
    outwards = 1.0 if wall.rooms[1] == OUTSIDE else -1.0
    across = wall.at / 10 + outwards * (OUTER_WALL / 2 - HALF_WALL)
    along = (wall.low + wall.high) / 20
    center = np.round([across, along] if wall.upright else [along, across], 4)
    normal = np.array([outwards, 0.0] if wall.upright else [0.0, outwards])
    return Passage(0, (max(wall.rooms), OUTSIDE), False, center, normal, 0.95, DOOR_HEIGHT, OUTER_WALL, 0.0)


def _flights(rng: np.random.Generator, rooms: Sequence[PlannedRoom], passages: Sequence[Passage]) -> tuple[Flight, ...]:
    """The stairs between two rooms of kind "s", along the wall opposite the opening to the hall."""
    wells = [room for room in rooms if room.kind == "s"]
    if not wells:
        return ()
    low, high = wells
    opening = next(p for p in passages if low.index in p.rooms)
    inwards = opening.normal if opening.rooms[1] == low.index else -opening.normal
    corner, far = low.outline.min(axis=0), low.outline.max(axis=0)
    middle = (corner + far) / 2
    length = float(np.abs(inwards) @ (far - corner))
    aside = np.abs(inwards)[::-1] * np.sign(middle - opening.center)  # from the lane to the flight
    steps = int(np.ceil((high.floor - low.floor) / RISE))
    going = min(GOING, (length - SHORT_LANDING - LONG_LANDING) / (steps - 1))
    run = round(going * (steps - 1), 2)
    line = middle + aside * ((np.abs(aside) @ (far - corner)) - FLIGHT_WIDTH) / 2
    near = line - inwards * (length / 2 - SHORT_LANDING)
    ends = [near, near + inwards * run]
    foot, head = ends if rng.random() < 0.5 else ends[::-1]
    return (
        Flight(
            (low.index, high.index),
            np.round([*foot, low.floor], 4),
            np.round([*head, high.floor], 4),
            FLIGHT_WIDTH,
            steps,
        ),
    )
