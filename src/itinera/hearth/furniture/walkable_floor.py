"""The floor one can walk on in a room while things are put into it: whether its doors stay joined."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from itinera.hearth.geometry.rectangles import contains, distance_to_outline
from itinera.worlds import Array

REACH = 0.25  # half the width of the way one needs
CELL = 0.1  # of the grid on which ways are looked for


class WalkableFloor:
    """A grid of cells; one can stand in the middle of those that keep REACH from walls and things."""

    def __init__(self, outline: Array, doors: list[Array], built_in: Array, share: float) -> None:
        """A floor with `built_in` boxes (n, 6), a share of which must stay in reach of the doors, (2,) each."""
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
        """Whether every door stays joined, and enough floor in reach, with these boxes (n, 6) in the room."""
        if not len(boxes) or self._bare == 0:
            return True
        return self._within_reach(self._without(boxes)) >= self._share * self._bare

    def block(self, boxes: Array) -> None:
        """Take the floor under and around these boxes (n, 6) away."""
        self._free = self._without(boxes)

    @property
    def reachable(self) -> float:
        """Share of the bare floor that is still in reach of every door; 0 where one is cut off."""
        return self._within_reach(self._free) / self._bare if self._bare else 1.0

    def _middle(self, outline: Array) -> Array:
        """The place to stand nearest to the middle of all of them."""
        places = self._middles[self._free]
        if not len(places):
            places = outline[:1]
        gaps = np.round(((places - np.round(places.mean(axis=0), 4)) ** 2).sum(axis=1), 6)
        middle: Array = np.round(places[int(np.argmin(gaps))], 2)
        return middle

    def _cell_near(self, place: Array) -> tuple[int, int]:
        """The free cell nearest to a place; a room too narrow to stand in gives the cell at the place itself."""
        if not self._free.any():
            i, j = np.clip(((place - self._low) / CELL).astype(int), 0, np.array(self._free.shape) - 1)
            return int(i), int(j)
        gaps = np.round(((self._middles - place) ** 2).sum(axis=-1), 6)
        i, j = np.unravel_index(int(np.argmin(np.where(self._free, gaps, np.inf))), gaps.shape)
        return int(i), int(j)

    def _within_reach(self, free: NDArray[np.bool_]) -> int:
        """How many cells one can reach from every door; 0 if some door is cut off."""
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
