"""Simple solids gathered into one mesh: boxes, prisms, cylinders and whatever quads a wall needs.

Corners are rounded to a tenth of a millimetre, so that the last bit of a sine cannot change the bytes of a house.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.worlds import Array
from itinera.worlds.labels import MPCAT40
from itinera.worlds.mesh import Mesh

Colour = tuple[int, int, int]
HALF = 1 << 20


class Solids:
    """Collects triangles; each call adds a piece with its category, instance and colour."""

    def __init__(self) -> None:
        self._corners: list[Array] = []  # each (n, 3, 3)
        self._labels: list[tuple[int, int, int, Colour]] = []  # faces, class, instance, colour

    def triangles(self, corners: ArrayLike, category: str, instance: int, colour: Colour) -> None:
        """Add (n, 3, 3) corners as they are, counter-clockwise seen from the front."""
        piece = np.asarray(corners, dtype=np.float64).reshape(-1, 3, 3)
        self._corners.append(piece)
        self._labels.append((len(piece), MPCAT40.index(category), instance, colour))

    def polygon(self, corners: ArrayLike, category: str, instance: int, colour: Colour) -> None:
        """Add a flat convex polygon, (k, 3), counter-clockwise seen from the front."""
        points = np.asarray(corners, dtype=np.float64)
        fan = np.stack([np.repeat(points[:1], len(points) - 2, axis=0), points[1:-1], points[2:]], axis=1)
        self.triangles(fan, category, instance, colour)

    def prism(self, base: ArrayLike, low: float, high: float, category: str, instance: int, colour: Colour) -> None:
        """Add an upright prism over a convex base, (k, 2) counter-clockwise."""
        flat = np.asarray(base, dtype=np.float64)
        bottom, top = (np.column_stack([flat, np.full(len(flat), z)]) for z in (low, high))
        after, over = np.roll(bottom, -1, axis=0), np.roll(top, -1, axis=0)
        sides = np.concatenate([np.stack([bottom, after, over], axis=1), np.stack([bottom, over, top], axis=1)])
        self.triangles(sides, category, instance, colour)
        self.polygon(top, category, instance, colour)
        self.polygon(bottom[::-1], category, instance, colour)

    def box(self, low: Sequence[float], high: Sequence[float], category: str, instance: int, colour: Colour) -> None:
        """Add a box along the axes."""
        (x0, y0, z0), (x1, y1, z1) = low, high
        self.prism([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], z0, z1, category, instance, colour)

    def mesh(self) -> Mesh:
        """All of it, equal corners shared."""
        corners = np.concatenate([np.empty((0, 3, 3)), *self._corners]).reshape(-1, 3)
        tenths = np.round(corners * 1e4).astype(np.int64)
        # One number for three sorts the same way, ten times faster; 21 bits hold 104 m either way.
        assert np.abs(tenths).max(initial=0) < HALF, "A house is at most 100 m wide."
        packed = ((tenths[:, 0] + HALF) << 42) | ((tenths[:, 1] + HALF) << 21) | (tenths[:, 2] + HALF)
        numbers, where = np.unique(packed, return_inverse=True)
        unique = np.stack([numbers >> 42, (numbers >> 21) & (2 * HALF - 1), numbers & (2 * HALF - 1)], axis=1) - HALF
        counts = [n for n, *_ in self._labels]

        def spread(column: int, kind: type) -> NDArray[Any]:
            return np.repeat(np.array([label[column] for label in self._labels], dtype=kind), counts, axis=0)

        return Mesh(
            (unique / 1e4).astype(np.float32),
            where.reshape(-1, 3).astype(np.int32),
            spread(1, np.uint8),
            spread(2, np.int32),
            spread(3, np.uint8).reshape(-1, 3),
        )
