"""Distances of many trajectories at once. Rows are flat arrays with their starts; see `Ragged`.

The kernels of a score get their working memory from the caller: one that allocates an array or keeps a list needs parts
of numba that take longer to import than a whole score.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True, nogil=True)
def _push(waiting: Floats, nodes: Ints, count: int, far: float, node: int) -> int:
    """Add (far, node) to the binary heap of the first `count` entries; the new count."""
    at = count
    while at > 0:
        up = (at - 1) // 2
        if waiting[up] < far or (waiting[up] == far and nodes[up] <= node):
            break
        waiting[at], nodes[at] = waiting[up], nodes[up]
        at = up
    waiting[at], nodes[at] = far, node
    return count + 1


@njit(cache=True, nogil=True)
def _pop(waiting: Floats, nodes: Ints, count: int) -> int:
    """Remove the first entry of the heap, which the caller has read; the new count. Ties go to the smaller node."""
    count -= 1
    far, node = waiting[count], nodes[count]
    at, down = 0, 1
    while down < count:
        right = down + 1
        if right < count and (
            waiting[right] < waiting[down] or (waiting[right] == waiting[down] and nodes[right] < nodes[down])
        ):
            down = right
        if far < waiting[down] or (far == waiting[down] and node <= nodes[down]):
            break
        waiting[at], nodes[at] = waiting[down], nodes[down]
        at, down = down, 2 * down + 1
    waiting[at], nodes[at] = far, node
    return count


@njit(cache=True, nogil=True)
def all_pairs_shortest_paths(
    starts: Ints,
    ends: Ints,
    lengths: Floats,
    waiting: Floats,
    nodes: Ints,
    distances: Floats,
    before: NDArray[np.int32],
) -> None:
    """distances, before <- Dijkstra from every node: distances and predecessors, inf and -1 where unreachable.

    Edges leave node i for ends[starts[i]:starts[i + 1]]. `waiting` and `nodes` are room for one entry more than there
    are edges. On entry all of `distances` is inf and of `before` -1. scipy's routine is as fast, but importing it takes
    a third of the time of a cold score.
    """
    for source in range(len(starts) - 1):
        far, last = distances[source], before[source]
        far[source] = 0.0
        count = _push(waiting, nodes, 0, 0.0, source)
        while count:
            gone, at = waiting[0], nodes[0]
            count = _pop(waiting, nodes, count)
            if gone > far[at]:
                continue
            for edge in range(starts[at], starts[at + 1]):
                to, there = ends[edge], gone + lengths[edge]
                if there < far[to]:
                    far[to], last[to] = there, at
                    count = _push(waiting, nodes, count, there, to)


@njit(cache=True, nogil=True)
def _search(
    starts: Ints,
    ends: Ints,
    lengths: Floats,
    source: int,
    wanted: NDArray[np.bool_],
    missing: int,
    far: Floats,
    before: NDArray[np.int32],
    reached: Ints,
    waiting: Floats,
    nodes: Ints,
) -> int:
    """far, before, reached <- Dijkstra from a node until the `missing` wanted ones are settled; the number reached.

    Numbers and ties are those of `all_pairs_shortest_paths`. On entry all of `far` is inf and of `before` -1.
    """
    far[source], reached[0], found = 0.0, source, 1
    count = _push(waiting, nodes, 0, 0.0, source)
    while count:
        gone, at = waiting[0], nodes[0]
        count = _pop(waiting, nodes, count)
        if gone > far[at]:
            continue
        if wanted[at]:
            missing -= 1
            if missing == 0:
                break
        for edge in range(starts[at], starts[at + 1]):
            to, there = ends[edge], gone + lengths[edge]
            if there < far[to]:
                if far[to] == np.inf:
                    reached[found] = to
                    found += 1
                far[to], before[to] = there, at
                count = _push(waiting, nodes, count, there, to)
    return found


@njit(cache=True, nogil=True)
def search_blocks(
    starts: Ints, ends: Ints, lengths: Floats, a: Ints, a_starts: Ints, b: Ints, b_starts: Ints, out: Floats
) -> None:
    """out <- as `gather_blocks`, without the matrix of all distances: a search from every a[i]."""
    nodes = len(starts) - 1
    far, before = np.full(nodes, np.inf), np.full(nodes, -1, np.int32)
    wanted, reached = np.zeros(nodes, np.bool_), np.empty(nodes, np.int64)
    heap = np.empty(len(ends) + 1), np.empty(len(ends) + 1, np.int64)
    at = 0
    for k in range(len(a_starts) - 1):
        places = b[b_starts[k] : b_starts[k + 1]]
        missing = 0
        for place in places:
            if not wanted[place]:
                wanted[place] = True
                missing += 1
        for i in range(a_starts[k], a_starts[k + 1]):
            if missing == 0:
                continue
            count = _search(starts, ends, lengths, a[i], wanted, missing, far, before, reached, heap[0], heap[1])
            for j in range(len(places)):
                out[at + j] = far[places[j]]
            at += len(places)
            for node in reached[:count]:
                far[node], before[node] = np.inf, -1
        for place in places:
            wanted[place] = False


@njit(cache=True, nogil=True)
def search_predecessors(starts: Ints, ends: Ints, lengths: Floats, source: int, goal: int) -> NDArray[np.int32]:
    """The predecessor of each node that a search from `source` reaches before it settles `goal`; -1 for the others."""
    nodes = len(starts) - 1
    far, before = np.full(nodes, np.inf), np.full(nodes, -1, np.int32)
    wanted = np.zeros(nodes, np.bool_)
    wanted[goal] = True
    heap = np.empty(len(ends) + 1), np.empty(len(ends) + 1, np.int64)
    _search(starts, ends, lengths, source, wanted, 1, far, before, np.empty(nodes, np.int64), heap[0], heap[1])
    return before


@njit(cache=True, nogil=True)
def gather_blocks(distances: Floats, a: Ints, a_starts: Ints, b: Ints, b_starts: Ints, out: Floats) -> None:
    """out <- distances[a[i], b[j]] for every i, j of every row, row-major, concatenated."""
    at = 0
    for k in range(len(a_starts) - 1):
        places = b[b_starts[k] : b_starts[k + 1]]
        for i in range(a_starts[k], a_starts[k + 1]):
            known, line = distances[a[i]], out[at : at + len(places)]
            for j in range(len(places)):
                line[j] = known[np.uint64(places[j])]  # an index without sign, which numba need not count from the end
            at += len(places)


@njit(cache=True, nogil=True)
def gather_steps(distances: Floats, values: Ints, starts: Ints, out: Floats) -> None:
    """out <- distances[values[i], values[i + 1]] for every i but the last of every row, concatenated."""
    at = 0
    for k in range(len(starts) - 1):
        for i in range(starts[k], starts[k + 1] - 1):
            out[at] = distances[np.uint64(values[i]), np.uint64(values[i + 1])]
            at += 1


@njit(cache=True, nogil=True)
def row_sums(values: Floats, starts: Ints, out: Floats) -> None:
    """out <- the sum of each row; 0 for an empty row."""
    for k in range(len(starts) - 1):
        total = 0.0
        for i in range(starts[k], starts[k + 1]):
            total += values[i]
        out[k] = total


@njit(cache=True, nogil=True)
def straight_blocks(a: Floats, a_starts: Ints, b: Floats, b_starts: Ints, out: Floats) -> None:
    """out <- Euclidean distance of points a[i], b[j] for every i, j of every row, row-major, concatenated."""
    at = 0
    # One array per coordinate, so that the compiler can vectorize the loop.
    xs, ys, zs = b[:, 0].copy(), b[:, 1].copy(), b[:, 2].copy()
    for k in range(len(a_starts) - 1):
        first, count = b_starts[k], b_starts[k + 1] - b_starts[k]
        for i in range(a_starts[k], a_starts[k + 1]):
            x, y, z = a[i, 0], a[i, 1], a[i, 2]
            line = out[at : at + count]
            for j in range(count):
                dx, dy, dz = xs[first + j] - x, ys[first + j] - y, zs[first + j] - z
                line[j] = np.sqrt(dx * dx + dy * dy + dz * dz)
            at += count
