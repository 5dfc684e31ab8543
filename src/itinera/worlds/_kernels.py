"""Distances of many walks at once. Rows come flat with their starts; see `Ragged`."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True, nogil=True)
def gather_blocks(distances: Floats, a: Ints, a_starts: Ints, b: Ints, b_starts: Ints, out: Floats) -> None:
    """out <- distances[a[i], b[j]] for every i, j of every row, row-major, end to end."""
    at = 0
    for k in range(len(a_starts) - 1):
        for i in range(a_starts[k], a_starts[k + 1]):
            line = distances[a[i]]
            for j in range(b_starts[k], b_starts[k + 1]):
                out[at] = line[b[j]]
                at += 1


@njit(cache=True, nogil=True)
def straight_blocks(a: Floats, a_starts: Ints, b: Floats, b_starts: Ints, out: Floats) -> None:
    """out <- straight-line distance of points a[i], b[j] for every i, j of every row, row-major, end to end."""
    at = 0
    for k in range(len(a_starts) - 1):
        for i in range(a_starts[k], a_starts[k + 1]):
            x, y, z = a[i, 0], a[i, 1], a[i, 2]
            for j in range(b_starts[k], b_starts[k + 1]):
                dx, dy, dz = b[j, 0] - x, b[j, 1] - y, b[j, 2] - z
                out[at] = np.sqrt(dx * dx + dy * dy + dz * dz)
                at += 1
