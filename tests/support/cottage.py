"""A Hearth house written by hand: two rooms downstairs, one upstairs, a door, an opening, a window, stairs, furniture.

upstairs:    bedroom above the kitchen, next to the top of the stairs

downstairs:  +--------+------+
             | kitchen door  hall with the stairs
             +--------+------+
"""

from __future__ import annotations

import math

import numpy as np

from itinera.hearth.build import House
from itinera.hearth.geometry.solids import HouseObject, Solids
from itinera.hearth.layout.plan import OUTSIDE, Flight, FloorPlan, Passage, PlannedRoom, Staircase, Window
from itinera.worlds import NavGraph, Room, World


def _room(index: int, storey: int, kind: str, outline: list[tuple[float, float]], floor: float) -> PlannedRoom:
    return PlannedRoom(index, storey, kind, np.array(outline, dtype=np.float64), floor, 2.5)


def _at(x: float, y: float, z: float) -> np.ndarray:
    return np.array([x, y, z], dtype=np.float64)


PLAN = FloorPlan(
    rooms=(
        _room(0, 0, "k", [(0, 0), (4, 0), (4, 3), (1, 3), (1, 4), (0, 4)], 0.0),
        _room(1, 0, "h", [(4.1, 0), (9, 0), (9, 3), (4.1, 3)], 0.0),
        _room(2, 1, "b", [(0, 0), (9, 0), (9, 3), (0, 3)], 2.8),
    ),
    passages=(
        Passage(0, (0, 1), False, np.array([4.05, 1.5]), np.array([1.0, 0.0]), 0.9, 2.1, 0.1, 0.0),
        Passage(1, (1, OUTSIDE), False, np.array([9.1, 1.0]), np.array([1.0, 0.0]), 0.9, 2.1, 0.2, 0.0),
        Passage(2, (0, 1), True, np.array([4.05, 2.4]), np.array([1.0, 0.0]), 0.8, 2.3, 0.1, 0.0),
    ),
    windows=(Window(0, np.array([0.0, 1.5]), np.array([-1.0, 0.0]), 1.2, 0.9, 2.1),),
    staircases=(Staircase((1, 2), (Flight(_at(5, 2.5, 0), _at(8.5, 2.5, 2.8), 1.0, 15),), ()),),
)
ITEMS = (
    HouseObject(1, "door", "door", 0, _at(4.05, 1.5, 1.05), _at(0.9, 0.1, 2.1), 0.0, "white", blocks=False),
    HouseObject(2, "coffee table", "table", 0, _at(2, 1, 0.2), _at(1.0, 0.5, 0.4), math.pi / 2, "brown", "long"),
    HouseObject(3, "bed", "bed", 2, _at(2, 1, 3.05), _at(1.4, 2.0, 0.5), math.pi / 6, "red"),
)


def world() -> World:
    """The navigation graph: a viewpoint in each room and one on the stairs."""
    positions = {"a": (1, 1, 1.5), "b": (5, 1, 1.5), "c": (7, 2.5, 2.9), "d": (8, 1, 4.3)}
    graph = NavGraph.from_edges(positions, [("a", "b"), ("b", "c"), ("c", "d")])
    rooms = {"a": Room("k", "0"), "b": Room("h", "1"), "c": Room("h", "1"), "d": Room("b", "2")}
    return World("cottage", graph, rooms=rooms)


def house() -> House:
    """The house; its mesh contains only the furniture."""
    solids = Solids()
    for item, color in zip(ITEMS[1:], [(112, 68, 36), (184, 34, 38)], strict=True):
        low, high = item.center - item.size / 2, item.center + item.size / 2
        solids.box(low.tolist(), high.tolist(), item.category, item.index, color)
    return House("cottage", PLAN, ITEMS, solids.mesh())
