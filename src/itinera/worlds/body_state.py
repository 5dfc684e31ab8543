"""The position of a body on a surface, stored so that a simulation step takes about a microsecond."""

from __future__ import annotations

import numpy as np

from itinera.worlds._surface_kernels import move_body
from itinera.worlds.distance_field import as_points, snap_to_ground
from itinera.worlds.space import Array, Place
from itinera.worlds.surface import Surface

UNBLOCKED = 1e-5  # cells; a blocked move ends farther than this from its target, an unblocked one nearer


class BodyState:
    """The position of a body on a surface. Moves never leave the surface."""

    __slots__ = ("_cell", "_ground", "_links", "_size", "_slopes", "_u", "_v", "_x0", "_y0")

    def __init__(self, surface: Surface, place: Place) -> None:
        """Start at the nearest point of the surface; raises BadArgument if that is more than 0.5 m away."""
        self._ground = ground = surface.ground
        spots = snap_to_ground(ground, as_points(np.asarray(place)[None]))
        self._links, self._slopes, self._size = ground.links, ground.slopes, ground.size
        self._x0, self._y0 = ground.origin.tolist()
        # Plain floats in grid cells: creating arrays would dominate the cost of a step.
        self._cell = int(spots.cells[0])
        self._u, self._v = spots.across[0].tolist()

    def move(self, dx: float, dy: float, *, sliding: bool) -> bool:
        """Move straight by (dx, dy) metres; returns whether the move was not blocked.

        A blocked move stops at the first contact, or slides along the obstacle with the rest of the movement.
        """
        u, v = self._u + dx / self._size, self._v + dy / self._size
        self._cell, self._u, self._v = move_body(
            self._links, self._slopes, self._cell, self._u, self._v, dx / self._size, dy / self._size, sliding
        )
        return bool(abs(self._u - u) < UNBLOCKED and abs(self._v - v) < UNBLOCKED)

    @property
    def spot(self) -> tuple[int, float, float]:
        """The cell of the ground it is in, and its position in cells."""
        return self._cell, self._u, self._v

    @property
    def place(self) -> Array:
        """(3,) metres, at floor height (stairs smoothed to ramps)."""
        cell, slopes = self._cell, self._slopes
        z = self._ground.heights.item(cell)
        along_x, along_y = slopes.item(cell, 0), slopes.item(cell, 1)
        if along_x or along_y:
            i, j = self._links.item(cell, 8), self._links.item(cell, 9)
            z += (along_x * (self._u - i - 0.5) + along_y * (self._v - j - 0.5)) * self._size
        return np.array([self._u * self._size + self._x0, self._v * self._size + self._y0, z])
