"""Compiled loops: local search on cycles (2-opt, segment exchange) and minimum cuts (Stoer and Wagner)."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@njit(cache=True, nogil=True)
def swap_segments(cycle: Ints, i: int, j: int, k: int, buffer: Ints) -> None:
    """Exchange the segments after positions i and j, up to j and k, without reversal. i < j < k."""
    buffer[: j - i] = cycle[i + 1 : j + 1]
    width = k - j
    for p in range(width):
        cycle[i + 1 + p] = cycle[j + 1 + p]
    cycle[i + 1 + width : k + 1] = buffer[: j - i]


@njit(cache=True, nogil=True)
def reverse_segments(costs: Floats, cycle: Ints, least: float) -> bool:
    """Reverse segments of the cycle (2-opt) where that saves more than `least`; whether any was reversed."""
    n = len(cycle)
    turned = False
    i = 0
    while i < n - 2:
        a, first = cycle[i], cycle[i + 1]
        extra = 0.0  # of traversing the segment backwards
        best, where = least, -1
        for j in range(i + 2, n):
            last, after = cycle[j], cycle[(j + 1) % n]
            extra += costs[last, cycle[j - 1]] - costs[cycle[j - 1], last]
            gain = costs[a, first] + costs[last, after] - costs[a, last] - costs[first, after] - extra
            if gain > best:
                best, where = gain, j
        if where < 0:
            i += 1
            continue
        turned = True
        left, right = i + 1, where
        while left < right:
            cycle[left], cycle[right] = cycle[right], cycle[left]
            left += 1
            right -= 1
    return turned


@njit(cache=True, nogil=True)
def apply_local_search(costs: Floats, cycle: Ints, least: float, buffer: Ints) -> None:
    """Reverse and exchange segments of the cycle until nothing saves more than `least`."""
    n = len(cycle)
    improve_cycle = True
    while improve_cycle:
        improve_cycle = reverse_segments(costs, cycle, least)
        for i in range(n - 2):
            j = i + 1
            while j < n - 1:
                a, after_a = cycle[i], cycle[i + 1]
                b, after_b = cycle[j], cycle[j + 1]
                saved = costs[a, after_a] + costs[b, after_b] - costs[a, after_b]
                best, where = least, -1
                for k in range(j + 1, n):
                    c, after_c = cycle[k], cycle[(k + 1) % n]
                    gain = saved + costs[c, after_c] - costs[c, after_a] - costs[b, after_c]
                    if gain > best:
                        best, where = gain, k
                if where >= 0:
                    swap_segments(cycle, i, j, where, buffer)
                    improve_cycle = True
                else:
                    j += 1


@njit(cache=True, nogil=True)
def improve_cycle_in_place(costs: Floats, cycle: Ints, kicks: Ints, least: float) -> None:
    """Improve the cycle in place by local search, then by kicks (m, 3) at positions i < j < k; the best one stays."""
    n = len(cycle)
    buffer = np.empty(n, dtype=np.int64)
    apply_local_search(costs, cycle, least, buffer)
    tried = cycle.copy()
    for m in range(len(kicks)):
        swap_segments(tried, kicks[m, 0], kicks[m, 1], kicks[m, 2], buffer)
        apply_local_search(costs, tried, least, buffer)
        saved = 0.0
        for p in range(n):
            q = (p + 1) % n
            saved += costs[cycle[p], cycle[q]] - costs[tried[p], tried[q]]
        if saved > least:
            cycle[:] = tried
        else:
            tried[:] = cycle


@njit(cache=True, nogil=True)
def min_cut_phases(flows: Floats, sides: Bools, weights: Floats) -> None:
    """sides[p], weights[p] <- the cut of each phase of Stoer and Wagner's algorithm on symmetric flows.

    The lightest of them is a minimum cut. flows (k, k) are overwritten; sides (k - 1, k), weights (k - 1,).
    """
    k = len(flows)
    group = np.arange(k)  # the node that each one is merged into
    alive = np.ones(k, dtype=np.bool_)
    for phase in range(k - 1):
        pull = np.zeros(k)
        waiting = alive.copy()
        last, before = -1, -1
        for _ in range(k - phase):
            nearest = -1
            for v in range(k):
                if waiting[v] and (nearest < 0 or pull[v] > pull[nearest]):
                    nearest = v
            waiting[nearest] = False
            before, last = last, nearest
            for v in range(k):
                if waiting[v]:
                    pull[v] += flows[nearest, v]
        weights[phase] = pull[last]
        for v in range(k):
            sides[phase, v] = group[v] == last
            if group[v] == last:
                group[v] = before
        alive[last] = False
        for v in range(k):
            flows[before, v] += flows[last, v]
            flows[v, before] = flows[before, v]
