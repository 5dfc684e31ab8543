"""Open space: the distance between two points is their Euclidean distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from itinera.errors import BadArgument
from itinera.worlds._kernels import straight_blocks
from itinera.worlds.ragged import Ragged
from itinera.worlds.space import Array, Place, Places


@dataclass(frozen=True)
class Euclidean:
    """Space without walls, for positions in an unknown world.

    >>> Euclidean().between(np.zeros((1, 3)), np.array([[3.0, 4.0, 0.0]]))
    array([[5.]])
    """

    def locate(self, places: Places) -> Array:
        points = np.ascontiguousarray(places, dtype=np.float64)
        if points.size == 0:
            return points.reshape(0, 3)
        if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
            raise BadArgument(f"Positions must be finite (n, 3) metres, not an array of shape {points.shape}.")
        return points

    def between(self, a: Places, b: Places) -> Array:
        a, b = self.locate(a), self.locate(b)
        one = np.array([0, len(a)]), np.array([0, len(b)])
        return self.blocks(Ragged(a, one[0]), Ragged(b, one[1])).reshape(len(a), len(b))

    def along(self, places: Places) -> Array:
        points = self.locate(places)
        return self.steps(Ragged(points, np.array([0, len(points)])))

    def route(self, start: Place, goal: Place) -> Array:
        return self.locate(np.stack([np.asarray(start), np.asarray(goal)]))

    def blocks(self, a: Ragged, b: Ragged) -> Array:
        out = np.empty(int((a.counts * b.counts).sum()))
        straight_blocks(a.values, a.starts, b.values, b.starts, out)
        return out

    def steps(self, rows: Ragged) -> Array:
        joints = rows.joints
        gone: Array = np.linalg.norm(rows.values[joints + 1] - rows.values[joints], axis=-1)
        return gone
