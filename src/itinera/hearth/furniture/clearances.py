"""What must stay free in a room before any furniture comes: boxes, (6,) low and high corner above the room's floor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from itinera.hearth.geometry.shapes import compass
from itinera.hearth.item import Item
from itinera.hearth.layout.plan import Passage, Plan, PlannedRoom, Window
from itinera.worlds import Array

PASSAGE_CLEAR = 0.9  # free floor before doors and stairs
RUG_TOP = 0.013  # rugs may lie before doors

Box = tuple[float, ...]


def half_size(width: float, depth: float, heading: float) -> tuple[float, float]:
    """Half the extent along x and y of something this wide and deep that looks this way."""
    cos, sin = compass(heading - np.pi / 2)
    return (abs(cos) * width + abs(sin) * depth) / 2, (abs(sin) * width + abs(cos) * depth) / 2


def kept_clear(plan: Plan, room: PlannedRoom, fixtures: Sequence[Item]) -> list[Box]:
    """Boxes no furniture may enter: before passages and stairs, and where the shell has put something."""
    passages = [passage for passage in plan.passages if room.index in passage.rooms]
    boxes = [_before_passage(passage, room.index) for passage in passages]
    boxes += [*stair_boxes(plan, room, clear=PASSAGE_CLEAR), *leaf_boxes(plan, room)]
    return boxes + [_fixture_box(fixture, room) for fixture in fixtures if _stands_in(fixture, room)]


def way_in(passage: Passage, room: int) -> Array:
    """(2,) the unit vector through a passage into a room."""
    way: Array = -passage.normal if passage.rooms[0] == room else passage.normal
    return way


def window_box(window: Window, floor: float) -> Box:
    """The air before a window that tall things stay out of."""
    along = np.abs(window.normal[::-1]) * (window.width / 2 + 0.08)
    ends = np.array([window.centre - along, window.centre + along])
    ends = np.concatenate([ends, ends - window.normal * 0.3])
    return (*ends.min(axis=0), window.sill - floor + 0.05, *ends.max(axis=0), window.top - floor + 0.05)


def leaf_boxes(plan: Plan, room: PlannedRoom) -> list[Box]:
    """The door leaves that stand open in a room."""
    leaves = [passage.leaf for passage in plan.passages if room.index in passage.rooms and passage.leaf is not None]
    return [(x0 - 0.03, y0 - 0.03, 0.0, x1 + 0.03, y1 + 0.03, 2.2) for x0, y0, x1, y1 in leaves]


def stair_boxes(plan: Plan, room: PlannedRoom, *, clear: float = 0.0) -> list[Box]:
    """The floor a flight takes in the rooms it joins, with what must be free before its foot and beyond its head."""
    boxes = []
    for flight in plan.flights:
        if room.index in flight.rooms:
            way = (flight.head - flight.foot)[:2]
            way = way / np.sqrt((way**2).sum())
            side = np.abs(way[::-1]) * (flight.width / 2 + 0.05)
            ends = np.array([flight.foot[:2] - way * clear, flight.head[:2] + way * clear])
            boxes.append((*(ends.min(axis=0) - side), 0.0, *(ends.max(axis=0) + side), room.height + 3.0))
    return boxes


def _before_passage(passage: Passage, room: int) -> Box:
    along = np.abs(passage.normal[::-1]) * (passage.width / 2 + 0.08)
    into = way_in(passage, room)
    face = passage.centre + into * passage.depth / 2
    ends = np.array([face - along, face + along])
    ends = np.concatenate([ends, ends + into * PASSAGE_CLEAR])
    return (*ends.min(axis=0), RUG_TOP, *ends.max(axis=0), passage.height + 0.05)


def _stands_in(fixture: Item, room: PlannedRoom) -> bool:
    """Whether a fixture may be in a room's way; windows stay within their walls."""
    low, high = (fixture.centre[2] + side * fixture.size[2] / 2 for side in (-1, 1))
    return fixture.category != "window" and high > room.floor and low < room.floor + room.height


def _fixture_box(fixture: Item, room: PlannedRoom) -> Box:
    width, depth, height = fixture.size
    half = np.array([*half_size(float(width), float(depth), fixture.heading), height / 2]) + 0.02
    middle = fixture.centre - (0, 0, room.floor)
    return (*(middle - half), *(middle + half))
