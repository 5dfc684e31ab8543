"""The cheapest round through all stops, proven: an assignment, then a relaxation with cuts, then whole counts.

`cheapest_round` is the main flow; most matrices of real distances are settled before whole counts are needed. A
`Search` keeps the best round found and the bound proven so far, so that it can be stopped at any time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.planners.tsp.lp_relaxation import (
    Cuts,
    Infeasible,
    Steps,
    bound_by,
    reduced_costs,
    relax,
    relax_whole,
    separate,
)
from itinera.planners.tsp.merge_stops import merge
from itinera.planners.tsp.subtours import (
    along,
    directed,
    improved,
    join_at_shared_places,
    join_cheaply,
    nearest_successors,
    successors_of,
)
from itinera.seeding import generator
from itinera.worlds import Array

Ints = NDArray[np.int64]

_NEAR = 6  # steps from each exit and into each entry that the relaxation starts with
_FIRST_SHARE = 1 / 16  # of the gap that is searched first
_KICKS = 60  # random kicks for a round made of fractional counts
_KICKS_WHOLE = 10  # and of whole ones, which come in greater numbers


@dataclass(eq=False)
class Search:
    """What is known of the cheapest round: the best found, and a bound on all."""

    costs: Array  # (n, n) inf where not allowed, as on the diagonal
    tolerance: float  # rounds that differ by less count as equal
    deadline: float  # of time.monotonic
    best: Ints | None = None  # stops in order, from stop 0
    cost: float = np.inf  # of the best
    bound: float = -np.inf

    def __post_init__(self) -> None:
        self.merged = merge(self.costs)
        self._rng = generator(0, "ordering")
        finite = np.abs(self.costs[np.isfinite(self.costs)])
        self._largest = finite.max(initial=0.0)
        # Dearer than any round, so that what is not allowed is avoided wherever that is possible.
        self._passable = np.where(np.isfinite(self.costs), self.costs, 2 * len(self.costs) * self._largest + 1)

    @property
    def closed(self) -> bool:
        return self.cost - self.bound <= self.tolerance

    @property
    def time_left(self) -> float:
        """Seconds; without end as long as there is no round to leave with."""
        return np.inf if self.best is None else max(self.deadline - time.monotonic(), 0.0)

    @property
    def over(self) -> bool:
        return self.closed or self.time_left == 0.0

    def prove(self, bound: float) -> None:
        """Raise the bound, if this one is higher."""
        self.bound = max(self.bound, bound)

    def offer(self, following: Ints, *, kicks: int = 0) -> None:
        """Make one round of the successors, improve it, and keep it if it is the best."""
        joined = join_at_shared_places(self.merged, following)
        stops = along(join_cheaply(self._passable, joined), 0)
        self._keep(stops)
        if not self.closed:
            self._keep(improved(self._passable, stops, kicks=kicks, least=self.tolerance, rng=self._rng))

    def offer_counts(self, steps: Steps, counts: Array) -> None:
        """Offer a round that takes the steps as often as counted; where counts are fractional, as near as can be."""
        table = np.zeros(self.merged.costs.shape)
        table[steps.exits, steps.entries] = counts
        whole = np.rint(table).astype(np.int64)
        if np.abs(table - whole).max() < 1e-6:
            whole = directed(whole) if self.merged.two_way else whole
            self.offer(successors_of(self.merged, whole), kicks=_KICKS_WHOLE)
        else:
            table = np.maximum(table, table.T) if self.merged.two_way else table
            liked = table[self.merged.exits[:, None], self.merged.entries[None, :]]
            self.offer(nearest_successors(self._passable - self._largest * liked), kicks=_KICKS)

    def _keep(self, stops: Ints) -> None:
        cost = float(self.costs[stops, np.roll(stops, -1)].sum())
        if cost < self.cost:
            self.best, self.cost = stops, cost


def cheapest_round(costs: Array, *, tolerance: float, deadline: float) -> Search:
    """The search for the cheapest round at its end: closed, out of time, or without a round and the bound inf."""
    search = Search(costs, tolerance, deadline)
    try:
        _assign(search)
        if not search.over:
            _relax(search)
    except Infeasible:
        # No round is left that would be cheaper than the best, if there is one.
        search.prove(search.cost)
    return search


def _assign(search: Search) -> None:
    """The bound of successors chosen freely, and a first round made of their loops."""
    try:
        following = nearest_successors(search.costs)
    except ValueError:
        raise Infeasible from None
    search.prove(float(search.costs[np.arange(len(following)), following].sum()))
    search.offer(following)


def _relax(search: Search) -> None:
    """The bound of fractional counts with every cut kept; then, if need be, of whole counts."""
    merged = search.merged
    every = Steps.where(merged, np.isfinite(merged.costs))
    used = _first_steps(search)
    cuts = Cuts.none(merged)
    while True:
        steps = Steps.where(merged, used)
        relaxed = relax(merged, steps, cuts)
        if relaxed is None:
            return
        bound = bound_by(merged, every, cuts, relaxed.prices)
        rising = bound > search.bound + search.tolerance
        search.prove(bound)
        if search.over:
            return
        reduced = reduced_costs(merged, cuts, relaxed.prices)
        missing = (reduced < -search.tolerance / len(every.exits)) & ~used
        broken = separate(merged, steps, relaxed.counts)
        if not missing.any() and not len(broken):
            break
        used |= missing
        # Cuts may be forgotten only while the bound rises, or they could come and go for ever.
        cuts = (cuts.that_bind(relaxed.prices) if rising else cuts).and_also(broken)
    search.offer_counts(steps, relaxed.counts)
    if not search.over:
        _relax_whole(search, reduced, cuts)


def _first_steps(search: Search) -> NDArray[np.bool_]:
    """(exits, entries) the cheapest steps and those of the best round: a start that has a solution."""
    merged = search.merged
    allowed = np.isfinite(merged.costs)
    if search.best is None:
        return allowed
    ways_out, ways_in = allowed.shape
    near = np.zeros_like(allowed)
    near[np.arange(ways_out)[:, None], np.argsort(merged.costs, axis=1)[:, :_NEAR]] = True
    near[np.argsort(merged.costs, axis=0)[:_NEAR], np.arange(ways_in)[None, :]] = True
    near[merged.exits[search.best], merged.entries[np.roll(search.best, -1)]] = True
    return near & allowed


def _relax_whole(search: Search, reduced: Array, cuts: Cuts) -> None:
    """The bound of whole counts, with more cuts until they hang together: then they are the cheapest round.

    A round that takes a step of reduced cost above some reach costs more than the relaxed bound and the reach
    together. So a small reach comes first: few steps to choose from, and either they hold the cheapest round or the
    bound rises by the reach. The gap is reach enough.
    """
    relaxed_bound, share = search.bound, _FIRST_SHARE
    while not search.over:
        reach = (search.cost - relaxed_bound) * share
        steps = Steps.where(search.merged, np.isfinite(reduced) & (reduced <= reach))
        try:
            counts, bound = relax_whole(search.merged, steps, cuts, time_limit=search.time_left)
        except Infeasible:
            counts, bound = None, np.inf
        search.prove(min(bound, relaxed_bound + reach))
        if counts is not None:
            search.offer_counts(steps, counts)
            broken = separate(search.merged, steps, counts)
            cuts = cuts.and_also(broken)
        if counts is None or not len(broken) or bound >= relaxed_bound + reach:
            if share == 1.0:
                return
            share = min(1.0, 2 * share)
