"""Regions: the rooms of a scene as areas on the ground, and which of them contains a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from itinera.worlds.space import Array

STEP = 0.3  # metres a point may lie below a floor and still count as on it: more than the rise of a stair
REACH = 0.3  # metres a place may lie outside a region that a grid finds it in: within a wall or doorway


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


@dataclass(frozen=True, eq=False)
class RegionGrid:
    """Regions as a grid for lookups of many places: per storey, the region nearest to the middle of each cell."""

    origin: Array  # (2,) the low corner, metres
    cell: float  # metres
    floors: Array  # (s,) z of each storey, ascending
    index: NDArray[np.int16]  # (s, w, h) region; -1 farther than REACH from every region of the storey

    @classmethod
    def from_regions(cls, regions: Sequence[Area], *, cell: float = 0.15) -> RegionGrid:
        """The grid of these regions. Floors less than a step apart belong to one storey."""
        heights = sorted({float(region.floor) for region in regions})
        floors = [z for k, z in enumerate(heights) if k + 1 == len(heights) or heights[k + 1] - z > STEP]
        corners = np.concatenate([region.outline for region in regions]) if regions else np.zeros((1, 2))
        origin = corners.min(axis=0) - REACH
        wide, tall = (int(n) for n in np.ceil((corners.max(axis=0) + REACH - origin) / cell))
        index = np.full((len(floors), wide, tall), -1, dtype=np.int16)
        i, j = np.meshgrid(np.arange(wide), np.arange(tall), indexing="ij")
        across = origin + (np.stack([i.ravel(), j.ravel()], axis=1) + 0.5) * cell
        for storey, z in enumerate(floors):
            places = np.column_stack([across, np.full(len(across), z)])
            found = locate_regions(regions, places)
            near = np.zeros(len(places), dtype=bool)
            for k in np.unique(found).tolist():
                mine = found == k
                near[mine] = distance_to_polygon(regions[k].outline, across[mine]) <= REACH
            index[storey] = np.where(near, found, -1).reshape(wide, tall)
        return cls(origin, cell, np.array(floors, dtype=np.float64), index)

    def lookup(self, places: Array) -> NDArray[np.int64]:
        """(n,) the region of each place (n, 3); -1 for none. The storey is the highest that lies below the place."""
        storey = np.searchsorted(self.floors, places[:, 2] + STEP, side="right") - 1
        column = np.floor((places[:, :2] - self.origin) / self.cell).astype(np.int64)
        inside = (storey >= 0) & (column >= 0).all(axis=1) & (column < self.index.shape[1:]).all(axis=1)
        found = np.full(len(places), -1, dtype=np.int64)
        found[inside] = self.index[storey[inside], column[inside, 0], column[inside, 1]]
        return found
