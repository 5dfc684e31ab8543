"""Kernel of alignments: backtracking through the table of warping costs, for all attempts at once."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True, nogil=True)
def warping_pairs(distances: Floats, rows: Ints, cols: Ints, ends: Ints, pairs: Ints, counts: Ints) -> None:
    """pairs[ends[k] - counts[k] : ends[k]] <- (path, reference) places of block k's cheapest alignment.

    Of equally cheap steps the one that advances in both is taken, then the one that advances in the path.
    """
    largest = 0
    for k in range(len(rows)):
        largest = max(largest, rows[k] * cols[k])
    cost = np.empty(largest)
    at = 0
    for k in range(len(rows)):
        n, m = rows[k], cols[k]
        for i in range(n):
            for j in range(m):
                before = np.inf
                if i > 0 and j > 0:
                    before = cost[(i - 1) * m + j - 1]
                if i > 0:
                    before = min(before, cost[(i - 1) * m + j])
                if j > 0:
                    before = min(before, cost[i * m + j - 1])
                cost[i * m + j] = distances[at + i * m + j] + (before if i + j > 0 else 0.0)
        i, j, met = n - 1, m - 1, ends[k]
        while True:
            met -= 1
            pairs[met, 0], pairs[met, 1] = i, j
            if i == 0 and j == 0:
                break
            both = cost[(i - 1) * m + j - 1] if i > 0 and j > 0 else np.inf
            on_path = cost[(i - 1) * m + j] if i > 0 else np.inf
            on_reference = cost[i * m + j - 1] if j > 0 else np.inf
            # For unreachable places all are infinite; the ends must be aligned all the same.
            if i > 0 and j > 0 and both <= on_path and both <= on_reference:
                i, j = i - 1, j - 1
            elif j == 0 or (i > 0 and on_path <= on_reference):
                i -= 1
            else:
                j -= 1
        counts[k] = ends[k] - met
        at += n * m
