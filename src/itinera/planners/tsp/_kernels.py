"""The loops behind ordering: exchanging stretches of a round, and weak cuts between parts."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@njit(cache=True, nogil=True)
def swap_stretches(round_: Ints, i: int, j: int, k: int, spare: Ints) -> None:
    """The stretches after places i and j, up to j and k, change places; neither is reversed. i < j < k."""
    spare[: j - i] = round_[i + 1 : j + 1]
    width = k - j
    for p in range(width):
        round_[i + 1 + p] = round_[j + 1 + p]
    round_[i + 1 + width : k + 1] = spare[: j - i]


@njit(cache=True, nogil=True)
def turn_stretches(costs: Floats, round_: Ints, least: float) -> bool:
    """Turn stretches of the round the other way where that saves more than `least`; whether any was."""
    n = len(round_)
    turned = False
    i = 0
    while i < n - 2:
        a, first = round_[i], round_[i + 1]
        extra = 0.0  # of walking the stretch backwards
        best, where = least, -1
        for j in range(i + 2, n):
            last, after = round_[j], round_[(j + 1) % n]
            extra += costs[last, round_[j - 1]] - costs[round_[j - 1], last]
            gain = costs[a, first] + costs[last, after] - costs[a, last] - costs[first, after] - extra
            if gain > best:
                best, where = gain, j
        if where < 0:
            i += 1
            continue
        turned = True
        left, right = i + 1, where
        while left < right:
            round_[left], round_[right] = round_[right], round_[left]
            left += 1
            right -= 1
    return turned


@njit(cache=True, nogil=True)
def settle(costs: Floats, round_: Ints, least: float, spare: Ints) -> None:
    """Turn and swap stretches of the round until nothing saves more than `least`."""
    n = len(round_)
    improved = True
    while improved:
        improved = turn_stretches(costs, round_, least)
        for i in range(n - 2):
            j = i + 1
            while j < n - 1:
                a, after_a = round_[i], round_[i + 1]
                b, after_b = round_[j], round_[j + 1]
                saved = costs[a, after_a] + costs[b, after_b] - costs[a, after_b]
                best, where = least, -1
                for k in range(j + 1, n):
                    c, after_c = round_[k], round_[(k + 1) % n]
                    gain = saved + costs[c, after_c] - costs[c, after_a] - costs[b, after_c]
                    if gain > best:
                        best, where = gain, k
                if where >= 0:
                    swap_stretches(round_, i, j, where, spare)
                    improved = True
                else:
                    j += 1


@njit(cache=True, nogil=True)
def improve_round(costs: Floats, round_: Ints, kicks: Ints, least: float) -> None:
    """The round is settled, then kicked and settled again, (m, 3) kicks of places i < j < k; the best one stays."""
    n = len(round_)
    spare = np.empty(n, dtype=np.int64)
    settle(costs, round_, least, spare)
    tried = round_.copy()
    for m in range(len(kicks)):
        swap_stretches(tried, kicks[m, 0], kicks[m, 1], kicks[m, 2], spare)
        settle(costs, tried, least, spare)
        saved = 0.0
        for p in range(n):
            q = (p + 1) % n
            saved += costs[round_[p], round_[q]] - costs[tried[p], tried[q]]
        if saved > least:
            round_[:] = tried
        else:
            tried[:] = round_


@njit(cache=True, nogil=True)
def phase_cuts(flows: Floats, sides: Bools, weights: Floats) -> None:
    """sides[p], weights[p] <- the cut of each phase of Stoer and Wagner, between parts joined by symmetric flows.

    The lightest of them is a lightest cut of all. (k, k) flows are used up; (k - 1, k) sides, (k - 1,) weights.
    """
    k = len(flows)
    group = np.arange(k)  # the part that now stands for each
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
