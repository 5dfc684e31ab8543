"""The walkable floor of a room during furnishing: whether its doors stay connected."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from itinera.hearth.geometry.rectangles import contains, distance_to_outline
from itinera.worlds import Array

REACH = 0.25  # metres, half the width of a passable lane
CELL = 0.1  # metres, side of a grid cell


class WalkableFloor:
    """A grid of cells; a cell is walkable if its center is at least REACH from walls and objects."""

    def __init__(self, outline: Array, doors: list[Array], built_in: Array, share: float) -> None:
        """A floor with `built_in` boxes (n, 6); `share` of it must stay reachable from the doors, (2,) each."""
        self._share = share
        self._low = outline.min(axis=0)
        shape = np.ceil((outline.max(axis=0) - self._low) / CELL).astype(int)
        xs, ys = (self._low[k] + CELL * (np.arange(shape[k]) + 0.5) for k in range(2))
        middles = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1).reshape(-1, 2)
        standing = contains(outline, middles) & (distance_to_outline(outline, middles) >= REACH - 1e-6)
        self._middles = middles.reshape(*shape, 2)
        self._free = standing.reshape(*shape)
        self.block(built_in)
        self._doors = [self._cell_near(door) for door in doors]
        self._bare = self._within_reach(self._free)
        self.middle = self._middle(outline)

    def stays_open(self, boxes: Array) -> bool:
        """Whether all doors stay connected, with enough reachable floor, with these boxes (n, 6) in the room."""
        if not len(boxes) or self._bare == 0:
            return True
        return self._within_reach(self._without(boxes)) >= self._share * self._bare

    def block(self, boxes: Array) -> None:
        """Remove the floor under and around these boxes (n, 6)."""
        self._free = self._without(boxes)

    @property
    def state(self) -> NDArray[np.bool_]:
        """The walkable cells; assign an earlier value to remove the boxes blocked since."""
        return self._free

    @state.setter
    def state(self, free: NDArray[np.bool_]) -> None:
        self._free = free

    @property
    def reachable(self) -> float:
        """Fraction of the bare floor that is reachable from every door; 0 if a door is cut off."""
        return self._within_reach(self._free) / self._bare if self._bare else 1.0

    def _middle(self, outline: Array) -> Array:
        """The walkable point nearest to the mean of all of them."""
        places = self._middles[self._free]
        if not len(places):
            places = outline[:1]
        gaps = np.round(((places - np.round(places.mean(axis=0), 4)) ** 2).sum(axis=1), 6)
        middle: Array = np.round(places[int(np.argmin(gaps))], 2)
        return middle

    def _cell_near(self, place: Array) -> tuple[int, int]:
        """The free cell nearest to a point; in a room too narrow to be walkable, the cell that contains it."""
        if not self._free.any():
            i, j = np.clip(((place - self._low) / CELL).astype(int), 0, np.array(self._free.shape) - 1)
            return int(i), int(j)
        gaps = np.round(((self._middles - place) ** 2).sum(axis=-1), 6)
        i, j = np.unravel_index(int(np.argmin(np.where(self._free, gaps, np.inf))), gaps.shape)
        return int(i), int(j)

    def _within_reach(self, free: NDArray[np.bool_]) -> int:
        """The number of cells reachable from every door; 0 if some door is cut off."""
        if not self._doors:
            return int(free.sum())
        labels, _ = ndimage.label(free)
        found = {int(labels[cell]) for cell in self._doors}
        if len(found) != 1 or 0 in found:
            return 0
        return int((labels == found.pop()).sum())

    def _without(self, boxes: Array) -> NDArray[np.bool_]:
        free = self._free.copy()
        low = np.ceil((boxes[:, :2] - REACH - self._low) / CELL - 0.5 - 1e-6).astype(int)
        high = np.floor((boxes[:, 3:5] + REACH - self._low) / CELL - 0.5 + 1e-6).astype(int) + 1
        for (x0, y0), (x1, y1) in zip(np.maximum(low, 0).tolist(), np.maximum(high, 0).tolist(), strict=True):
            free[x0:x1, y0:y1] = False
        return free
