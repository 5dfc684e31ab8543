"""Where a body stands on a surface, kept so that moving it takes a microsecond: for simulators, step by step."""

from __future__ import annotations

import numpy as np

from itinera.worlds._surface_kernels import go
from itinera.worlds.distance_field import as_points, stand
from itinera.worlds.space import Array, Place
from itinera.worlds.surface import Surface

_THERE = 1e-5  # cells; who is stopped stays farther than that from a wall, who is not comes nearer to their aim


class Footing:
    """A place on a surface that can be moved; never off the surface."""

    __slots__ = ("_cell", "_ground", "_links", "_size", "_slopes", "_u", "_v", "_x0", "_y0")

    def __init__(self, surface: Surface, place: Place) -> None:
        """Stand at the nearest point of the surface; further than 0.5 m from it is refused."""
        self._ground = ground = surface.ground
        spots = stand(ground, as_points(np.asarray(place)[None]))
        self._links, self._slopes, self._size = ground.links, ground.slopes, ground.size
        self._x0, self._y0 = ground.origin.tolist()
        # Plain numbers, and a place in cells of the grid: what a step costs is the making of arrays.
        self._cell = int(spots.cells[0])
        self._u, self._v = spots.across[0].tolist()

    def move(self, dx: float, dy: float, *, sliding: bool) -> bool:
        """Go straight by so many metres across; whether nothing was in the way.

        Where something is, stop at the first contact, or slide on along it with what is left of the movement.
        """
        u, v = self._u + dx / self._size, self._v + dy / self._size
        self._cell, self._u, self._v = go(
            self._links, self._slopes, self._cell, self._u, self._v, dx / self._size, dy / self._size, sliding
        )
        return bool(abs(self._u - u) < _THERE and abs(self._v - v) < _THERE)

    @property
    def place(self) -> Array:
        """(3,) metres, at walking height."""
        cell, slopes = self._cell, self._slopes
        z = self._ground.heights.item(cell)
        along_x, along_y = slopes.item(cell, 0), slopes.item(cell, 1)
        if along_x or along_y:
            i, j = self._links.item(cell, 8), self._links.item(cell, 9)
            z += (along_x * (self._u - i - 0.5) + along_y * (self._v - j - 0.5)) * self._size
        return np.array([self._u * self._size + self._x0, self._v * self._size + self._y0, z])
