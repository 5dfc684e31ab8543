"""Branch and cut: the cheapest cycle through all stops with a proof, by assignment, LP with cuts, and integer counts.

`solve_cycle` is the main flow; most matrices of real distances are solved before integer counts are needed.
`BranchAndCut` holds the best cycle found and the bound proven so far, so that the search can stop at any time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.planners.tsp.lp_relaxation import (
    Arcs,
    Cuts,
    Infeasible,
    dual_bound,
    find_violated_cuts,
    reduced_costs,
    solve_lp,
    solve_milp,
)
from itinera.planners.tsp.merge_stops import merge_stops
from itinera.planners.tsp.subtours import (
    follow_cycle,
    improve_cycle,
    join_at_shared_stops,
    join_cheapest,
    make_successors,
    nearest_successors,
    orient,
)
from itinera.seeding import generator
from itinera.worlds import Array

Ints = NDArray[np.int64]

_NEAR = 6  # arcs out of each exit and into each entry in the first relaxation
_FIRST_SHARE = 1 / 16  # of the gap that is searched first
_KICKS = 60  # random kicks for a cycle made of fractional counts
_KICKS_INTEGER = 10  # for one of integer counts, which are more frequent


@dataclass(eq=False)
class BranchAndCut:
    """The state of a search: the best cycle found, and a lower bound on the cost of all cycles."""

    costs: Array  # (n, n) inf where not allowed, as on the diagonal
    tolerance: float  # costs that differ by less count as equal
    deadline: float  # of time.monotonic
    best: Ints | None = None  # stops in order, from stop 0
    cost: float = np.inf  # of the best
    bound: float = -np.inf

    def __post_init__(self) -> None:
        self.merged = merge_stops(self.costs)
        self._rng = generator(0, "ordering")
        finite = np.abs(self.costs[np.isfinite(self.costs)])
        self._largest = finite.max(initial=0.0)
        # Costlier than any cycle, so that forbidden arcs are avoided wherever possible.
        self._passable = np.where(np.isfinite(self.costs), self.costs, 2 * len(self.costs) * self._largest + 1)

    @property
    def is_optimal(self) -> bool:
        """Whether the best cycle is proven to be the cheapest."""
        return self.cost - self.bound <= self.tolerance

    @property
    def time_left(self) -> float:
        """Seconds; infinite until a cycle is found."""
        return np.inf if self.best is None else max(self.deadline - time.monotonic(), 0.0)

    @property
    def done(self) -> bool:
        """Whether the search is over: proven, or out of time."""
        return self.is_optimal or self.time_left == 0.0

    def raise_bound(self, bound: float) -> None:
        """Raise the bound, if this one is higher."""
        self.bound = max(self.bound, bound)

    def try_cycle(self, successors: Ints, *, kicks: int = 0) -> None:
        """Join the successors into one cycle, improve it, and keep it if it is the best."""
        joined = join_at_shared_stops(self.merged, successors)
        stops = follow_cycle(join_cheapest(self._passable, joined), 0)
        self._keep(stops)
        if not self.is_optimal:
            self._keep(improve_cycle(self._passable, stops, kicks=kicks, least=self.tolerance, rng=self._rng))

    def try_counts(self, arcs: Arcs, counts: Array) -> None:
        """Try a cycle that uses each arc as often as counted; for fractional counts, one that comes close."""
        table = np.zeros(self.merged.costs.shape)
        table[arcs.exits, arcs.entries] = counts
        whole = np.rint(table).astype(np.int64)
        if np.abs(table - whole).max() < 1e-6:
            whole = orient(whole) if self.merged.symmetric else whole
            self.try_cycle(make_successors(self.merged, whole), kicks=_KICKS_INTEGER)
        else:
            table = np.maximum(table, table.T) if self.merged.symmetric else table
            preference = table[self.merged.exits[:, None], self.merged.entries[None, :]]
            self.try_cycle(nearest_successors(self._passable - self._largest * preference), kicks=_KICKS)

    def _keep(self, stops: Ints) -> None:
        cost = float(self.costs[stops, np.roll(stops, -1)].sum())
        if cost < self.cost:
            self.best, self.cost = stops, cost


def solve_cycle(costs: Array, *, tolerance: float, deadline: float) -> BranchAndCut:
    """The finished search for the cheapest cycle: proven, out of time, or infeasible (no cycle and a bound of inf)."""
    search = BranchAndCut(costs, tolerance, deadline)
    try:
        _solve_assignment(search)
        if not search.done:
            _cut_and_solve(search)
    except Infeasible:
        # No remaining cycle is cheaper than the best, if there is one.
        search.raise_bound(search.cost)
    return search


def _solve_assignment(search: BranchAndCut) -> None:
    """The bound of the assignment problem, and a first cycle joined from its subtours."""
    try:
        successors = nearest_successors(search.costs)
    except ValueError:
        raise Infeasible from None
    search.raise_bound(float(search.costs[np.arange(len(successors)), successors].sum()))
    search.try_cycle(successors)


def _cut_and_solve(search: BranchAndCut) -> None:
    """The bound of the linear program that satisfies every cut; then, if necessary, of integer counts."""
    merged = search.merged
    all_arcs = Arcs.where(merged, np.isfinite(merged.costs))
    used = _initial_arcs(search)
    cuts = Cuts.empty(merged)
    while True:
        arcs = Arcs.where(merged, used)
        relaxed = solve_lp(merged, arcs, cuts)
        if relaxed is None:
            return
        bound = dual_bound(merged, all_arcs, cuts, relaxed.duals)
        rising = bound > search.bound + search.tolerance
        search.raise_bound(bound)
        if search.done:
            return
        reduced = reduced_costs(merged, cuts, relaxed.duals)
        missing = (reduced < -search.tolerance / len(all_arcs.exits)) & ~used
        violated = find_violated_cuts(merged, arcs, relaxed.counts)
        if not missing.any() and not len(violated):
            break
        used |= missing
        # Drop slack cuts only while the bound rises, or the loop might never end.
        cuts = (cuts.binding(relaxed.duals) if rising else cuts).extend(violated)
    search.try_counts(arcs, relaxed.counts)
    if not search.done:
        _branch(search, reduced, cuts)


def _initial_arcs(search: BranchAndCut) -> NDArray[np.bool_]:
    """(exits, entries) the cheapest arcs and those of the best cycle: a feasible start."""
    merged = search.merged
    allowed = np.isfinite(merged.costs)
    if search.best is None:
        return allowed
    exits, entries = allowed.shape
    near = np.zeros_like(allowed)
    near[np.arange(exits)[:, None], np.argsort(merged.costs, axis=1)[:, :_NEAR]] = True
    near[np.argsort(merged.costs, axis=0)[:_NEAR], np.arange(entries)[None, :]] = True
    near[merged.exits[search.best], merged.entries[np.roll(search.best, -1)]] = True
    return near & allowed


def _branch(search: BranchAndCut, reduced: Array, cuts: Cuts) -> None:
    """The bound of integer counts, with more cuts until they are connected: then they form the cheapest cycle.

    A cycle with an arc whose reduced cost is above some reach costs more than the relaxed bound plus the reach. So the
    search begins with a small reach: either these few arcs contain the cheapest cycle, or the bound rises by the reach.
    A reach as large as the gap is always enough.
    """
    relaxed_bound, share = search.bound, _FIRST_SHARE
    while not search.done:
        reach = (search.cost - relaxed_bound) * share
        arcs = Arcs.where(search.merged, np.isfinite(reduced) & (reduced <= reach))
        try:
            counts, bound = solve_milp(search.merged, arcs, cuts, time_limit=search.time_left)
        except Infeasible:
            counts, bound = None, np.inf
        search.raise_bound(min(bound, relaxed_bound + reach))
        if counts is not None:
            search.try_counts(arcs, counts)
            violated = find_violated_cuts(search.merged, arcs, counts)
            cuts = cuts.extend(violated)
        if counts is None or not len(violated) or bound >= relaxed_bound + reach:
            if share == 1.0:
                return
            share = min(1.0, 2 * share)
