"""Kernel of snapping: many trajectories at once. Rows are flat with their starts; see `Ragged`."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True, nogil=True)
def follow(
    points: Floats, starts: Ints, first: Ints, nodes: Floats, joined_starts: Ints, joined: Ints, out: Ints
) -> None:
    """out <- the node for each point of each row: row k begins at node first[k], whatever its first point, and each
    further point leads to the nearest of the current node and its neighbors.

    Node i has neighbors joined[joined_starts[i]:joined_starts[i + 1]]. Where several nodes are equally near, the
    current one stays, else the one listed first is taken.
    """
    for k in range(len(starts) - 1):
        current = first[k]
        for i in range(starts[k], starts[k + 1]):
            if i > starts[k]:
                nearest, least = current, _apart(nodes, current, points, i)
                for edge in range(joined_starts[current], joined_starts[current + 1]):
                    gap = _apart(nodes, joined[edge], points, i)
                    if gap < least:
                        nearest, least = joined[edge], gap
                current = nearest
            out[i] = current


@njit(cache=True, nogil=True)
def _apart(nodes: Floats, node: int, points: Floats, point: int) -> float:
    dx = nodes[node, 0] - points[point, 0]
    dy = nodes[node, 1] - points[point, 1]
    dz = nodes[node, 2] - points[point, 2]
    squared: float = dx * dx + dy * dy + dz * dz
    return squared
