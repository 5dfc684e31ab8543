"""Furnished houses and rooms for tests, and measures of the objects in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from matplotlib.path import Path

from itinera.hearth.furniture.clearances import stair_boxes
from itinera.hearth.furniture.furnish import furnish
from itinera.hearth.geometry.shell import build_shell
from itinera.hearth.geometry.solids import HouseObject, Solids
from itinera.hearth.layout.families import season_house_type
from itinera.hearth.layout.generate import generate_floor_plan
from itinera.hearth.layout.plan import FloorPlan, Passage, PlannedRoom, Window
from itinera.seeding import generator
from itinera.worlds.mesh import Mesh

SEED = 1
HOUSES = range(20)
QUARTER = np.pi / 2


@dataclass(frozen=True, eq=False)
class Furnished:
    plan: FloorPlan
    fixtures: tuple[HouseObject, ...]
    items: tuple[HouseObject, ...]
    mesh: Mesh

    def within(self, room: PlannedRoom) -> list[HouseObject]:
        return [item for item in self.items if item.room == room.index]


@cache
def furnished(index: int) -> Furnished:
    """The furnished house of an index, season 1; each is made once."""
    names = ("house", str(index))
    plan = generate_floor_plan(generator(SEED, *names, "plan"), season_house_type(SEED, index))
    solids = Solids()
    fixtures = build_shell(plan, generator(SEED, *names, "shell"), solids)
    items = furnish(plan, fixtures, generator(SEED, *names, "furniture"), solids)
    return Furnished(plan, fixtures, items, solids.mesh())


def houses() -> list[pytest.ParameterSet]:
    return [
        *(pytest.param(index) for index in HOUSES),
        *(pytest.param(index, marks=pytest.mark.slow) for index in range(20, 200)),
    ]


each_house = pytest.mark.parametrize("index", houses())


def corners(item: HouseObject) -> np.ndarray:
    """(4, 2) of its footprint."""
    turn = item.heading - QUARTER
    width, depth = item.size[:2] / 2
    own = np.array([(-width, -depth), (width, -depth), (width, depth), (-width, depth)])
    return own @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]) + item.center[:2]


def low(item: HouseObject) -> float:
    return float(item.center[2] - item.size[2] / 2)


def high(item: HouseObject) -> float:
    return float(item.center[2] + item.size[2] / 2)


def overlap(one: HouseObject, other: HouseObject) -> float:
    """How deep two boxes reach into each other, metres; negative: how far apart they are at least."""
    gaps = [low(one) - high(other), low(other) - high(one)]
    a, b = corners(one), corners(other)
    for box in (a, b):
        for k in range(2):
            axis = (box[k + 1] - box[k]) / np.linalg.norm(box[k + 1] - box[k])
            gaps += [(a @ axis).min() - (b @ axis).max(), (b @ axis).min() - (a @ axis).max()]
    return -max(gaps)


def inside(outline: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(n,) whether points lie in a polygon."""
    return Path(outline).contains_points(points)


def from_walls(outline: np.ndarray, points: np.ndarray) -> np.ndarray:
    gaps = []
    for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        share = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        gaps.append(np.linalg.norm(points - a - share[:, None] * (b - a), axis=1))
    return np.min(gaps, axis=0)


def from_item(item: HouseObject, points: np.ndarray) -> np.ndarray:
    """(n,) how far points are from its footprint."""
    turn = item.heading - QUARTER
    own = (points - item.center[:2]) @ np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return np.linalg.norm(np.maximum(np.abs(own) - item.size[:2] / 2, 0), axis=1)


def carries(base: HouseObject, item: HouseObject) -> bool:
    """Whether an item rests on, or in, another."""
    under = inside(corners(base), item.center[None, :2])[0]
    return base is not item and bool(under) and low(base) < low(item) <= high(base) + 0.005


def before(passage: Passage, side: int, floor: float) -> HouseObject:
    """The air 0.9 m deep before a passage, as if it were an item."""
    center = passage.center + side * passage.normal * (passage.depth / 2 + 0.45)
    heading = float(np.arctan2(passage.normal[1], passage.normal[0]))
    size = np.array([passage.width, 0.9, 1.9])
    return HouseObject(0, "", "void", 0, np.array([*center, floor + 1.0]), size, heading)


def one_room(kind: str, outline: list[tuple[float, float]]) -> FloorPlan:
    """A plan of a single room with a door in the middle of its first side and a window in that of its third."""
    sides = np.array(outline, dtype=float)
    room = PlannedRoom(0, 0, kind, sides, 0.0, 2.6)
    door = Passage(0, (0, -1), False, sides[:2].mean(axis=0) - (0, 0.07), np.array((0.0, -1.0)), 0.8, 2.1, 0.14, 0.0)
    window = Window(0, sides[2:4].mean(axis=0), np.array((0.0, 1.0)), 0.8, 0.9, 2.1)
    return FloorPlan((room,), (door,), (window,), ())


OUTLINES = {
    "tiny": [(0.0, 0.0), (1.1, 0.0), (1.1, 1.3), (0.0, 1.3)],
    "narrow": [(0.0, 0.0), (1.3, 0.0), (1.3, 6.0), (0.0, 6.0)],
    "square": [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)],
    "bent": [(0.0, 0.0), (6.0, 0.0), (6.0, 3.0), (3.0, 3.0), (3.0, 6.0), (0.0, 6.0)],
    "chamfered": [(0.0, 0.0), (5.0, 0.0), (5.0, 4.0), (4.0, 5.0), (0.0, 5.0)],
    "large": [(0.0, 0.0), (9.0, 0.0), (9.0, 8.0), (0.0, 8.0)],
}


def furnish_plan(plan: FloorPlan, seed: int, *, clutter: float = 1.0) -> tuple[HouseObject, ...]:
    """The furniture of a plan without walls."""
    return furnish(plan, (), generator(seed, "furniture"), Solids(), clutter=clutter)


def stair_areas(plan: FloorPlan, room: PlannedRoom) -> list[tuple[float, float, float, float]]:
    """x0, y0, x1, y1 of the floor that stairs cover in a room."""
    boxes = [(x0 + 0.05, y0 + 0.05, x1 - 0.05, y1 - 0.05) for x0, y0, _, x1, y1, _ in stair_boxes(plan, room)]
    return [area for area in boxes if area[0] < area[2] and area[1] < area[3]]
