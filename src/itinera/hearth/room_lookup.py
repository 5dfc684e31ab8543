"""The room of a floor plan that contains a point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itinera.hearth.layout.plan import FloorPlan
from itinera.worlds import Array

STEP = 0.3  # metres a point may lie below a floor and still count as on it: more than the rise of a stair


def locate_rooms(plan: FloorPlan, places: Array) -> NDArray[np.int64]:
    """(n,) the room of each point (n, 3) on the ground; in a doorway within a wall, the nearest room.

    On stairs it is the room they rise from, until the upper floor is one step away.
    """
    away = np.stack([distance_to_polygon(room.outline, places[:, :2]) for room in plan.rooms], axis=1).round(6)
    floors = np.array([room.floor for room in plan.rooms])
    ceilings = floors + [room.height for room in plan.rooms]
    z = places[:, 2:3]
    away[(z < floors - STEP) | (z > ceilings)] = np.inf
    # Of several rooms at a point, the one with the higher floor; then the first.
    order = np.lexsort((np.arange(len(floors)), -floors))
    chosen: NDArray[np.int64] = order[np.argmin(away[:, order], axis=1)]
    return chosen


def distance_to_polygon(outline: Array, points: Array) -> Array:
    """(n,) the distance of points (n, 2) from a polygon; 0 inside."""
    starts, ends = outline, np.roll(outline, -1, axis=0)
    sides = ends - starts
    offsets = points[:, None] - starts
    along = np.clip((offsets * sides).sum(axis=2) / (sides**2).sum(axis=1), 0.0, 1.0)
    away = np.linalg.norm(offsets - along[:, :, None] * sides, axis=2).min(axis=1)
    crosses = (starts[:, 1] > points[:, None, 1]) != (ends[:, 1] > points[:, None, 1])
    rise = np.where(sides[:, 1] == 0, 1.0, sides[:, 1])
    left = points[:, None, 0] < starts[:, 0] + offsets[:, :, 1] / rise * sides[:, 0]
    inside = (crosses & left).sum(axis=1) % 2 == 1
    return np.where(inside, 0.0, away)
