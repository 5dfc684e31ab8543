"""Kernels of the fidelity metrics: warping, edit distance and coverage over all attempts at once.

Blocks are distances path x reference, row-major, concatenated. As in `worlds`, the kernels of a score get their working
memory from the caller, so that they load quickly.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@njit(cache=True, nogil=True)
def warping_costs(
    distances: Floats, rows: Ints, cols: Ints, pin_first: Bools, pin_last: Bools, line: Floats, out: Floats
) -> None:
    """out <- the least sum of distances over monotone alignments, both ends anchored, of every block.

    Where pinned, the first (last) reference place is aligned with the first (last) path place only; inf if no
    alignment is left. `line` is room for the longest reference.
    """
    at = 0  # line: costs up to the current path place, by reference place
    for k in range(len(rows)):
        n, m = rows[k], cols[k]
        line[0] = distances[at]
        for j in range(1, m):
            line[j] = line[j - 1] + distances[at + j]
        if pin_last[k] and n > 1:
            line[m - 1] = np.inf
        for i in range(1, n):
            at += m
            diagonal = line[0]
            left = np.inf if pin_first[k] else diagonal + distances[at]
            line[0] = left
            # Everything but the left neighbor is known in advance; each step has to wait for that one.
            for j in range(1, m):
                above = line[j]
                best = above if above < diagonal else diagonal
                left = (left if left < best else best) + distances[at + j]
                line[j] = left
                diagonal = above
            if pin_last[k] and i < n - 1:
                line[m - 1] = np.inf
        at += m
        out[k] = line[m - 1]


@njit(cache=True, nogil=True)
def edit_distances(
    a: Ints, a_starts: Ints, b: Ints, b_starts: Ints, wanted: Bools, edges: bool, line: Ints, out: Floats
) -> None:
    """out <- the Levenshtein distance of rows a[k] and b[k], of their places or of their directed edges, where wanted.

    Other entries of `out` are not changed. `line` is room for one entry more than the longest row of b.
    """
    for k in range(len(a_starts) - 1):
        if not wanted[k]:
            continue
        n, m = a_starts[k + 1] - a_starts[k] - edges, b_starts[k + 1] - b_starts[k] - edges
        for j in range(m + 1):
            line[j] = j
        for i in range(n):
            x = a_starts[k] + i
            diagonal = line[0]
            line[0] += 1
            left = line[0]
            for j in range(m):
                y = b_starts[k] + j
                same = a[x] == b[y] and (not edges or a[x + 1] == b[y + 1])
                above = line[j + 1]
                left = min(diagonal if same else diagonal + 1, above + 1, left + 1)
                line[j + 1] = left
                diagonal = above
        out[k] = line[m]


@njit(cache=True, nogil=True)
def coverages(distances: Floats, rows: Ints, cols: Ints, decay: float, nearest: Floats, out: Floats) -> None:
    """out <- the mean over reference places of exp(-distance to the nearest path place / decay).

    `nearest` is room for the longest reference.
    """
    at = 0
    for k in range(len(rows)):
        m = cols[k]
        for j in range(m):
            nearest[j] = np.inf
        for _ in range(rows[k]):
            line = distances[at : at + m]
            for j in range(m):
                nearest[j] = line[j] if line[j] < nearest[j] else nearest[j]
            at += m
        total = 0.0
        for j in range(m):
            total += np.exp(-nearest[j] / decay)
        out[k] = total / m


@njit(cache=True, nogil=True)
def _banded(x: Floats, y: Floats, low: Ints, high: Ints, cost: Floats, came: NDArray[np.int8]) -> float:
    """The warping cost of points x and y within the band low[i] <= j < high[i], with the steps in `came`."""
    n, m = len(x), len(y)
    cost[:n, :m] = np.inf
    for i in range(n):
        for j in range(low[i], high[i]):
            dx, dy, dz = x[i, 0] - y[j, 0], x[i, 1] - y[j, 1], x[i, 2] - y[j, 2]
            gap = np.sqrt(dx * dx + dy * dy + dz * dz)
            if i == 0 and j == 0:
                cost[i, j], came[i, j] = gap, 2
                continue
            # Ties go to the earlier of: stay in y, stay in x, move in both, as in the released approximation.
            best, step = np.inf, 0
            if i > 0:
                best = cost[i - 1, j] + gap
            if j > 0 and cost[i, j - 1] + gap < best:
                best, step = cost[i, j - 1] + gap, 1
            if i > 0 and j > 0 and cost[i - 1, j - 1] + gap < best:
                best, step = cost[i - 1, j - 1] + gap, 2
            cost[i, j], came[i, j] = best, step
    return float(cost[n - 1, m - 1])


@njit(cache=True, nogil=True)
def _approximate(x: Floats, y: Floats, radius: int) -> float:
    """The warping cost found by refining from coarse to fine: points are averaged in pairs until few are
    left, then the coarse alignment, widened by `radius`, is the band of the next finer level."""
    levels = 0
    n, m = len(x), len(y)
    while n >= radius + 2 and m >= radius + 2:
        n, m = n // 2, m // 2
        levels += 1
    cost = np.empty((len(x), len(y)))
    came = np.empty((len(x), len(y)), dtype=np.int8)
    answer = np.inf
    low = np.zeros(len(x) + 2, dtype=np.int64)
    high = np.zeros(len(x) + 2, dtype=np.int64)
    for level in range(levels, -1, -1):
        xs, ys = x, y
        for _ in range(level):
            xs = (xs[0 : len(xs) // 2 * 2 : 2] + xs[1 : len(xs) // 2 * 2 : 2]) / 2
            ys = (ys[0 : len(ys) // 2 * 2 : 2] + ys[1 : len(ys) // 2 * 2 : 2]) / 2
        n, m = len(xs), len(ys)
        if level == levels:
            low[:n], high[:n] = 0, m
        answer = _banded(xs, ys, low, high, cost, came)
        if level:
            _widen(n, m, came, radius, low, high, len(x) >> (level - 1), len(y) >> (level - 1))
    return answer


@njit(cache=True, nogil=True)
def _widen(n: int, m: int, came: NDArray[np.int8], radius: int, low: Ints, high: Ints, rows: int, cols: int) -> None:
    """low, high <- the band of the finer level (rows x cols) around the alignment in `came` (n x m)."""
    # A coarse row i covers the columns its own cells and those of rows within `radius` reach, widened by `radius`.
    first = np.full(n, m, dtype=np.int64)
    last = np.full(n, -1, dtype=np.int64)
    i, j = n - 1, m - 1
    while True:
        first[i], last[i] = min(first[i], j), max(last[i], j)
        if i == 0 and j == 0:
            break
        step = came[i, j]
        if step == 0:
            i -= 1
        elif step == 1:
            j -= 1
        else:
            i -= 1
            j -= 1
    begun = 0
    for row in range(rows):
        coarse = row // 2
        least, most = m, -1
        for near in range(max(0, coarse - radius), min(n, coarse + radius + 1)):
            least, most = min(least, first[near] - radius), max(most, last[near] + radius)
        low[row] = max(begun, 2 * least, 0)
        high[row] = min(cols, 2 * most + 2)
        begun = low[row]


@njit(cache=True, nogil=True)
def approximate_warping_costs(a: Floats, a_starts: Ints, b: Floats, b_starts: Ints, radius: int, out: Floats) -> None:
    """out <- the coarse-to-fine warping cost of points a[k] and b[k], by straight lines."""
    for k in range(len(a_starts) - 1):
        out[k] = _approximate(a[a_starts[k] : a_starts[k + 1]], b[b_starts[k] : b_starts[k + 1]], radius)
