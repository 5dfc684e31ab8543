"""From counts or loops to one round: loops that share a place are joined for nothing, others as cheaply as can be.

A round is kept as each stop's successor. Exchanging the successors of two stops in different loops joins the loops.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from itinera.planners.tsp._kernels import improve_round
from itinera.planners.tsp.merge_stops import Merged
from itinera.worlds import Array

Ints = NDArray[np.int64]

_KICKED = 30  # stops in a kicked stretch, at most


def successors_of(merged: Merged, counts: Ints) -> Ints:
    """(n,) a successor for each stop such that exits lead to entries as often as the (exits, entries) counts say."""
    wanted = np.repeat(np.tile(np.arange(counts.shape[1]), counts.shape[0]), counts.ravel())
    leaving = np.argsort(merged.exits, kind="stable")
    # The k-th step into an entry leads to the k-th stop there.
    arriving = np.argsort(merged.entries, kind="stable")
    following = np.empty(len(wanted), dtype=np.int64)
    following[leaving[np.argsort(wanted, kind="stable")]] = arriving
    return following


def directed(counts: Ints) -> Ints:
    """(places, places) counts of two-way steps, each given the direction in which closed walks take it.

    Every place is touched an even number of times, so each walk ends where it began and directions balance.
    """
    left = counts + np.triu(counts, 1).T + np.tril(counts, -1).T
    taken = np.zeros_like(counts)
    for start in range(len(counts)):
        at = start
        while (options := np.flatnonzero(left[at])).size:
            then = int(options[0])
            left[at, then] -= 1
            if then != at:
                left[then, at] -= 1
            taken[at, then] += 1
            at = then
    return taken


def nearest_successors(costs: Array) -> Ints:
    """(n,) the successors of least total cost, each stop following one other; may fall into loops.

    Raises ValueError where there are none.
    """
    return linear_sum_assignment(costs)[1].astype(np.int64)


def join_at_shared_places(merged: Merged, following: Ints) -> Ints:
    """The successors with all loops joined that share an exit or an entry; the counts stay as they were."""
    following = following.copy()
    loops = _loops(following)
    _join_within(merged.exits, following, loops)
    # Stops with the same entry exchange their predecessors, which is the same deed seen backwards.
    before = np.argsort(following)
    _join_within(merged.entries, before, loops)
    return np.argsort(before)


def _loops(following: Ints) -> Ints:
    """(n,) a number for the loop each stop is on, from 0."""
    loops = np.full(len(following), -1, dtype=np.int64)
    count = 0
    for start in range(len(following)):
        at = start
        if loops[at] < 0:
            while loops[at] < 0:
                loops[at] = count
                at = following[at]
            count += 1
    return loops


def _join_within(places: Ints, links: Ints, loops: Ints) -> None:
    first_at: dict[int, int] = {}
    for stop, place in enumerate(places.tolist()):
        first = first_at.setdefault(place, stop)
        if loops[first] != loops[stop]:
            links[first], links[stop] = links[stop], links[first]
            loops[loops == loops[stop]] = loops[first]


def join_cheaply(costs: Array, following: Ints) -> Ints:
    """The successors with all loops joined into one round, the cheapest exchange first. Costs are finite."""
    following = following.copy()
    loops = _loops(following)
    stops = np.arange(len(following))
    while loops.any():
        kept = costs[stops, following]
        swapped = costs[:, following]  # from i to the successor of k
        extra = swapped + swapped.T - kept[:, None] - kept[None, :]
        extra[loops[:, None] == loops[None, :]] = np.inf
        i, k = np.unravel_index(int(extra.argmin()), extra.shape)
        following[i], following[k] = following[k], following[i]
        lower, higher = sorted((int(loops[i]), int(loops[k])))
        loops[loops == higher] = lower
    return following


def along(following: Ints, start: int) -> Ints:
    """The round from `start` on, as a list of stops."""
    stops = np.empty(len(following), dtype=np.int64)
    at = start
    for place in range(len(following)):
        stops[place] = at
        at = following[at]
    return stops


def improved(costs: Array, stops: Ints, *, kicks: int, least: float, rng: np.random.Generator) -> Ints:
    """The round after turning and swapping stretches while that saves more than `least`, with so many random kicks."""
    stops = stops.copy()
    n = len(stops)
    if n < 4:
        kicks = 0
    # A kick swaps two short stretches next to each other: what lies far apart rarely gains by it.
    lengths = rng.integers(1, max(2, min(_KICKED, (n - 1) // 2) + 1), (kicks, 2))
    starts = rng.integers(0, n - lengths.sum(axis=1))
    places = np.column_stack([starts, starts + lengths[:, 0], starts + lengths.sum(axis=1)])
    improve_round(costs, stops, places, least)
    return stops
