"""Joining subtours into one cycle: for free where they share an exit or entry, otherwise as cheaply as possible.

A cycle is stored as the successor of each stop. Exchanging the successors of two stops joins their subtours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from itinera.planners.tsp._kernels import improve_cycle_in_place
from itinera.planners.tsp.merge_stops import MergedStops
from itinera.worlds import Array

Ints = NDArray[np.int64]

_KICKED = 30  # the longest segment, in stops, that a kick moves


def make_successors(merged: MergedStops, counts: Ints) -> Ints:
    """(n,) a successor for each stop such that exits lead to entries as often as in the counts (exits, entries)."""
    wanted = np.repeat(np.tile(np.arange(counts.shape[1]), counts.shape[0]), counts.ravel())
    exit_counts = np.argsort(merged.exits, kind="stable")
    # The k-th arc into an entry leads to the k-th stop there.
    arriving = np.argsort(merged.entries, kind="stable")
    successors = np.empty(len(wanted), dtype=np.int64)
    successors[exit_counts[np.argsort(wanted, kind="stable")]] = arriving
    return successors


def orient(counts: Ints) -> Ints:
    """(places, places) the counts of undirected arcs, each oriented along closed walks.

    Every place has an even degree, so each walk ends where it began and the orientations are balanced.
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
    """(n,) the successors of least total cost (an assignment problem); they may form several subtours.

    Raises ValueError if there are none.
    """
    return linear_sum_assignment(costs)[1].astype(np.int64)


def join_at_shared_stops(merged: MergedStops, successors: Ints) -> Ints:
    """The successors with all subtours joined that share an exit or an entry; counts do not change."""
    successors = successors.copy()
    subtours = _label_subtours(successors)
    _join_within(merged.exits, successors, subtours)
    # Stops with the same entry exchange their predecessors: the same operation in reverse.
    before = np.argsort(successors)
    _join_within(merged.entries, before, subtours)
    return np.argsort(before)


def _label_subtours(successors: Ints) -> Ints:
    """(n,) the number of each stop's subtour, from 0."""
    subtours = np.full(len(successors), -1, dtype=np.int64)
    count = 0
    for start in range(len(successors)):
        at = start
        if subtours[at] < 0:
            while subtours[at] < 0:
                subtours[at] = count
                at = successors[at]
            count += 1
    return subtours


def _join_within(places: Ints, links: Ints, subtours: Ints) -> None:
    first_at: dict[int, int] = {}
    for stop, place in enumerate(places.tolist()):
        first = first_at.setdefault(place, stop)
        if subtours[first] != subtours[stop]:
            links[first], links[stop] = links[stop], links[first]
            subtours[subtours == subtours[stop]] = subtours[first]


def join_cheapest(costs: Array, successors: Ints) -> Ints:
    """The successors with all subtours joined into one cycle, the cheapest exchange first. Costs are finite."""
    successors = successors.copy()
    subtours = _label_subtours(successors)
    stops = np.arange(len(successors))
    while subtours.any():
        kept = costs[stops, successors]
        swapped = costs[:, successors]  # from i to the successor of k
        extra = swapped + swapped.T - kept[:, None] - kept[None, :]
        extra[subtours[:, None] == subtours[None, :]] = np.inf
        i, k = np.unravel_index(int(extra.argmin()), extra.shape)
        successors[i], successors[k] = successors[k], successors[i]
        lower, higher = sorted((int(subtours[i]), int(subtours[k])))
        subtours[subtours == higher] = lower
    return successors


def follow_cycle(successors: Ints, start: int) -> Ints:
    """The stops of the cycle in order, from `start`."""
    stops = np.empty(len(successors), dtype=np.int64)
    at = start
    for place in range(len(successors)):
        stops[place] = at
        at = successors[at]
    return stops


def improve_cycle(costs: Array, stops: Ints, *, kicks: int, least: float, rng: np.random.Generator) -> Ints:
    """The cycle after local search (2-opt and segment exchange) with random kicks; gains must exceed `least`."""
    stops = stops.copy()
    n = len(stops)
    if n < 4:
        kicks = 0
    # A kick swaps two short adjacent segments: kicks over long distances rarely help.
    lengths = rng.integers(1, max(2, min(_KICKED, (n - 1) // 2) + 1), (kicks, 2))
    starts = rng.integers(0, n - lengths.sum(axis=1))
    places = np.column_stack([starts, starts + lengths[:, 0], starts + lengths.sum(axis=1)])
    improve_cycle_in_place(costs, stops, places, least)
    return stops
