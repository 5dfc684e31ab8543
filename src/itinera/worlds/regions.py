"""Regions: the rooms of a scene as areas on the ground, and which of them contains a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from itinera.worlds.space import Array

STEP = 0.3  # metres a point may lie below a floor and still count as on it: more than the rise of a stair


class Area(Protocol):
    """A room, as far as a lookup needs it."""

    @property
    def outline(self) -> Array: ...  # (k, 2) corners of its floor, counter-clockwise

    @property
    def floor(self) -> float: ...  # z

    @property
    def height(self) -> float: ...  # metres, from floor to ceiling


@dataclass(frozen=True, eq=False)
class Region:
    """A room of a scene: its label and the polygon of its floor."""

    id: str
    label: str  # Matterport's one-letter code, "k" for kitchen
    outline: Array  # (k, 2) corners, counter-clockwise, the first not repeated
    floor: float  # z
    height: float  # metres, from floor to ceiling


def locate_regions(regions: Sequence[Area], places: Array) -> NDArray[np.int64]:
    """(n,) the index of the region of each point (n, 3) on the ground; in a doorway within a wall, the nearest one.

    On stairs it is the region they rise from, until the upper floor is one step away.
    """
    away = np.stack([distance_to_polygon(region.outline, places[:, :2]) for region in regions], axis=1).round(6)
    floors = np.array([region.floor for region in regions])
    ceilings = floors + [region.height for region in regions]
    z = places[:, 2:3]
    away[(z < floors - STEP) | (z > ceilings)] = np.inf
    # Of several regions at a point, the one with the higher floor; then the first.
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
