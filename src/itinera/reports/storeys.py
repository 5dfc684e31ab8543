"""A storey of a Hearth house as plain shapes in painting order, for floor plans and replays. Start with `draw_storey`.

Metres in the house's own frame. Furniture is drawn from above: the faces of the mesh that point up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from itinera.hearth.layout.plan import OUTSIDE, Flight, FloorPlan, Passage, PlannedRoom, Staircase, Window
from itinera.worlds import Array
from itinera.worlds.labels import ROOM_NAMES
from itinera.worlds.regions import distance_to_polygon

if TYPE_CHECKING:
    from itinera.hearth.build import House

WALL = "#3b3a38"
DOOR, PANE, STAIR = "#a9743f", "#6fb1d6", "#8a7f6d"
TINTS = {
    **dict.fromkeys("eh", "#efe6d6"),  # circulation
    **dict.fromkeys("s", "#e3d9c6"),
    **dict.fromkeys("lfnvrB", "#f6e7c1"),  # living
    **dict.fromkeys("kd", "#f7d9c4"),  # kitchen and dining
    **dict.fromkeys("b", "#d9e4f2"),  # bedrooms
    **dict.fromkeys("oi", "#dcebd3"),  # study and library
    **dict.fromkeys("atS", "#cfe8ea"),  # bathrooms
    **dict.fromkeys("w", "#e6dbef"),
}
OTHER_TINT = "#e4e4e2"  # closets, storage, garages
ROOM_LABELS = {  # shorter than Matterport's names
    "e": "entry",
    "f": "family room",
    "j": "laundry",
    "r": "games room",
    "u": "utility room",
    "v": "TV room",
    "w": "gym",
    "S": "spa",
}
NOT_FURNITURE = ("door", "window", "stairs", "railing", "curtain")  # drawn with the plan
LOW, HIGH = 0.02, 1.95  # metres above the floor between which furniture is drawn
MIN_UPWARD = 0.3  # z of the unit normal of a face that is drawn from above


@dataclass(frozen=True, eq=False)
class Shape:
    """Polygons of one color, or lines of one width."""

    outlines: Sequence[Array]  # (k, 2) metres each
    fill: str = ""  # color; lines are not filled
    line: str = ""  # color; empty for no line
    width: float = 0.0  # of the line, metres


@dataclass(frozen=True, eq=False)
class RoomLabel:
    """A room's name, and the position on the floor with most space for it."""

    text: str
    position: Array  # (2,)
    width: float  # metres of floor there along x
    height: float  # and along y


def floor_heights(plan: FloorPlan) -> Array:
    """(storeys,) the height of each storey's floor."""
    return np.array([min(room.floor for room in _rooms(plan, k)) for k in range(plan.storeys)], dtype=np.float64)


def draw_storey(house: House, storey: int) -> list[Shape]:
    """The shapes of a storey in painting order, from walls to furniture."""
    plan, rooms = house.plan, _rooms(house.plan, storey)
    here = {room.index for room in rooms}
    # A thick dark line around every room: where rooms meet, the lines fill the wall between them.
    shapes = [Shape([_closed(room.outline) for room in rooms], line=WALL, width=0.3)]
    shapes += [Shape([room.outline], fill=_tint(room)) for room in rooms]
    shapes += [shape for one in plan.passages if here.intersection(one.rooms) for shape in _passage(plan, one)]
    shapes += [shape for one in plan.windows if one.room in here for shape in _window(one)]
    stairs = [one for one in plan.staircases if here.intersection(one.rooms)]
    shapes += [Shape(_stairs(one), line=STAIR, width=0.025) for one in stairs]
    return [*shapes, *_furniture(house, rooms)]


def label_rooms(plan: FloorPlan, storey: int) -> list[RoomLabel]:
    """The labels of the rooms of a storey."""
    return [
        RoomLabel(ROOM_LABELS.get(room.kind, ROOM_NAMES[room.kind]), *_widest_point(room.outline))
        for room in _rooms(plan, storey)
    ]


def _rooms(plan: FloorPlan, storey: int) -> list[PlannedRoom]:
    return [room for room in plan.rooms if room.storey == storey]


def _tint(room: PlannedRoom) -> str:
    return TINTS.get(room.kind, OTHER_TINT)


def _closed(outline: Array) -> Array:
    # Two sides more than needed, so that the corner where the line starts is as sharp as the others.
    return np.concatenate([outline, outline[:2]])


def _passage(plan: FloorPlan, passage: Passage) -> Iterator[Shape]:
    normal, along = passage.normal, np.array([-passage.normal[1], passage.normal[0]])
    closed = OUTSIDE in passage.rooms
    first = next(i for i in passage.rooms if i != OUTSIDE)
    across, half = normal * (passage.depth / 2 + 0.02), along * passage.width / 2
    corners = np.stack([passage.center + a * across + b * half for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    yield Shape([corners], fill=DOOR if closed else _tint(plan.rooms[first]))
    if not passage.wide and not closed:
        # Two thin lines across the threshold distinguish a door from an opening.
        yield Shape([corners[[0, 3]], corners[[1, 2]]], line=DOOR, width=0.033)


def _window(window: Window) -> Iterator[Shape]:
    along = np.array([-window.normal[1], window.normal[0]]) * window.width / 2
    middle = window.center + window.normal * 0.07
    pane = np.stack([middle - along, middle + along])
    yield Shape([pane], line="#ffffff", width=0.12)
    yield Shape([pane], line=PANE, width=0.05)


def _stairs(stairs: Staircase) -> list[Array]:
    """The edges of the steps and landings, and an arrow up."""
    lines = [line for flight in stairs.flights for line in _steps(flight)]
    for x0, y0, x1, y1 in (landing.area for landing in stairs.landings):
        lines.append(np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]))
    middles = [(landing.area[:2] + landing.area[2:]) / 2 for landing in stairs.landings]
    course = [stairs.foot[:2]]
    for k, flight in enumerate(stairs.flights):
        course += [flight.head[:2], *middles[k : k + 1], *(f.foot[:2] for f in stairs.flights[k + 1 : k + 2])]
    ahead, head = stairs.flights[-1].up, stairs.head[:2]
    aside = np.array([-ahead[1], ahead[0]])
    barbs = np.stack([head - 0.18 * ahead + 0.1 * aside, head, head - 0.18 * ahead - 0.1 * aside])
    return [*lines, np.stack(course), barbs]


def _steps(flight: Flight) -> list[Array]:
    run = (flight.head - flight.foot)[:2]
    edge = np.array([-flight.up[1], flight.up[0]]) * flight.width / 2
    middles = flight.foot[:2] + run * np.arange(flight.steps + 1)[:, None] / flight.steps
    return [np.stack([at - edge, at + edge]) for at in middles]


def _furniture(house: House, rooms: Sequence[PlannedRoom]) -> Iterator[Shape]:
    """The upward faces of the furniture of a storey, the lower ones first."""
    mesh, floor = house.mesh, min(room.floor for room in rooms)
    here = {room.index for room in rooms}
    visible = np.zeros(len(house.objects) + 1, dtype=bool)
    for item in house.objects:
        visible[item.index] = item.room in here and item.category not in NOT_FURNITURE
    corners = mesh.corners.astype(np.float64)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    steep = normals[:, 2] / np.maximum(np.linalg.norm(normals, axis=1), 1e-12)
    top = corners[:, :, 2].max(axis=1) - floor
    kept = np.flatnonzero(visible[mesh.instances] & (steep > MIN_UPWARD) & (top > LOW - 0.02) & (top < HIGH))
    # Higher faces are brighter, so that a table stands out from the rug below it.
    light = np.clip(0.82 + 0.16 * top[kept] / HIGH, 0.0, 1.0)[:, None] * (0.7 + 0.3 * steep[kept])[:, None]
    paint = (mesh.colors[kept] * light).round().astype(np.int64) @ (1 << 16, 1 << 8, 1)
    # Faces of one height do not overlap, so those of one color among them are one shape.
    order = np.lexsort((paint, top[kept].round(3)))
    kept, paint = kept[order], paint[order]
    cuts = np.flatnonzero(np.diff(paint)) + 1
    for rows, color in zip(np.split(kept, cuts), paint[np.append(0, cuts)] if len(paint) else (), strict=False):
        hex_color = f"#{color:06x}"
        yield Shape(list(corners[rows, :, :2]), fill=hex_color, line=hex_color, width=0.01)


def _widest_point(outline: Array) -> tuple[Array, float, float]:
    """The point of a polygon farthest from its sides, and the width and height of the polygon there."""
    low, high = outline.min(axis=0), outline.max(axis=0)
    grid = np.stack(np.meshgrid(*(np.linspace(a, b, 41)[1:-1] for a, b in zip(low, high, strict=True))), axis=-1)
    points = grid.reshape(-1, 2)
    starts, ends = outline, np.roll(outline, -1, axis=0)
    sides = ends - starts
    off = points[:, None] - starts
    along = np.clip((off * sides).sum(axis=2) / (sides**2).sum(axis=1), 0.0, 1.0)
    away = np.linalg.norm(off - along[..., None] * sides, axis=2).min(axis=1)
    inside = distance_to_polygon(outline, points) == 0
    # Of points equally far from the sides, as in a corridor, the one closest to the middle.
    middle = np.linalg.norm(points - (low + high) / 2, axis=1)
    best = points[np.argmax(np.where(inside, away.round(2) - 0.001 * middle, -1.0))]
    rows, columns = (points[:, 1] == best[1]) & inside, (points[:, 0] == best[0]) & inside
    return best, float(np.ptp(points[rows, 0])), float(np.ptp(points[columns, 1]))
