"""Clearances: boxes that must stay free of furniture, (6,) low and high corner above the room's floor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from itinera.hearth.geometry.shapes import rounded_cos_sin
from itinera.hearth.geometry.solids import HouseObject
from itinera.hearth.layout.plan import FloorPlan, Passage, PlannedRoom, Window
from itinera.worlds import Array

PASSAGE_CLEARANCE = 0.9  # metres of free floor in front of doors and stairs
STAIR_HEADROOM = 2.1  # metres above the free floor at the foot and head of stairs, below lamps
RUG_TOP = 0.013  # metres; rugs may lie in front of doors

OUTDOOR = frozenset("pxy")  # terraces, gardens and balconies: no ceiling, and walls only where the house is
OVERHANG = 0.3  # metres by which the walls of an upper storey extend beyond its rooms

Box = tuple[float, ...]


def half_size(width: float, depth: float, heading: float) -> tuple[float, float]:
    """Half the extent along x and y of an object of this width, depth and heading."""
    cos, sin = rounded_cos_sin(heading - np.pi / 2)
    return (abs(cos) * width + abs(sin) * depth) / 2, (abs(sin) * width + abs(cos) * depth) / 2


def clearance_boxes(plan: FloorPlan, room: PlannedRoom, fixtures: Sequence[HouseObject]) -> list[Box]:
    """Boxes that no furniture may enter: in front of passages and stairs, and around fixtures."""
    passages = [passage for passage in plan.passages if room.index in passage.rooms]
    boxes = [_passage_box(passage, room.index) for passage in passages]
    boxes += [*stair_boxes(plan, room, clear=PASSAGE_CLEARANCE), *leaf_boxes(plan, room)]
    if room.kind in OUTDOOR:
        boxes += overhang_boxes(plan, room)
    return boxes + [_fixture_box(fixture, room) for fixture in fixtures if _is_obstacle(fixture, room)]


def inward_direction(passage: Passage, room: int) -> Array:
    """(2,) the unit vector through a passage into a room."""
    direction: Array = -passage.normal if passage.rooms[0] == room else passage.normal
    return direction


def window_box(window: Window, floor: float) -> Box:
    """The space in front of a window, which tall objects keep clear."""
    along = np.abs(window.normal[::-1]) * (window.width / 2 + 0.08)
    ends = np.array([window.center - along, window.center + along])
    ends = np.concatenate([ends, ends - window.normal * 0.3])
    return (*ends.min(axis=0), window.sill - floor + 0.05, *ends.max(axis=0), window.top - floor + 0.05)


def leaf_boxes(plan: FloorPlan, room: PlannedRoom) -> list[Box]:
    """The open door leaves in a room."""
    leaves = [passage.leaf for passage in plan.passages if room.index in passage.rooms and passage.leaf is not None]
    return [(x0 - 0.03, y0 - 0.03, 0.0, x1 + 0.03, y1 + 0.03, 2.2) for x0, y0, x1, y1 in leaves]


def stair_boxes(plan: FloorPlan, room: PlannedRoom, *, clear: float = 0.0) -> list[Box]:
    """The floor covered by stairs in the rooms they connect, extended by `clear` metres at their foot and head."""
    boxes = []
    for stairs in plan.staircases:
        if room.index not in stairs.rooms:
            continue
        low, high = (np.array([area[k : k + 2] for area in stairs.areas]) for k in (0, 2))
        boxes += [(*(a - 0.05), 0.0, *(b + 0.05), room.height + 3.0) for a, b in zip(low, high, strict=True)]
        for end, flight, forward in ((stairs.foot, stairs.flights[0], -1.0), (stairs.head, stairs.flights[-1], 1.0)):
            side = np.abs(flight.up[::-1]) * (flight.width / 2 + 0.05)
            ends = np.array([end[:2], end[:2] + forward * flight.up * clear])
            boxes.append((*(ends.min(axis=0) - side), 0.0, *(ends.max(axis=0) + side), STAIR_HEADROOM))
    return boxes


def overhang_boxes(plan: FloorPlan, room: PlannedRoom) -> list[Box]:
    """The rooms of higher storeys, with the floor below them, so that no tree grows into a balcony."""
    boxes = []
    for other in plan.rooms:
        if other.floor > room.floor + 1.0:
            low, high = other.outline.min(axis=0) - OVERHANG, other.outline.max(axis=0) + OVERHANG
            above = other.floor - room.floor
            boxes.append((*low, above - 0.5, *high, above + other.height))
    return boxes


def _passage_box(passage: Passage, room: int) -> Box:
    along = np.abs(passage.normal[::-1]) * (passage.width / 2 + 0.08)
    into = inward_direction(passage, room)
    face = passage.center + into * passage.depth / 2
    ends = np.array([face - along, face + along])
    ends = np.concatenate([ends, ends + into * PASSAGE_CLEARANCE])
    return (*ends.min(axis=0), RUG_TOP, *ends.max(axis=0), passage.height + 0.05)


def _is_obstacle(fixture: HouseObject, room: PlannedRoom) -> bool:
    """Whether a fixture may be an obstacle in a room; windows stay within their walls."""
    low, high = (fixture.center[2] + side * fixture.size[2] / 2 for side in (-1, 1))
    return fixture.category != "window" and high > room.floor and low < room.floor + room.height


def _fixture_box(fixture: HouseObject, room: PlannedRoom) -> Box:
    width, depth, height = fixture.size
    half = np.array([*half_size(float(width), float(depth), fixture.heading), height / 2]) + 0.02
    middle = fixture.center - (0, 0, room.floor)
    return (*(middle - half), *(middle + half))
