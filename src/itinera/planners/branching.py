"""The cheapest round through all stops, proven: bounds by relaxation, then branching where it stays fractional.

`cheapest_round` is the main flow. A `Search` keeps the best round found and the bound proven so far, so it can be
stopped at any time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from itinera.planners.merging import Merged, merge
from itinera.planners.relaxing import Cuts, Infeasible, Relaxed, Steps, bound_by, reduced_costs, relax, separate
from itinera.planners.stitching import (
    along,
    directed,
    improved,
    join_at_shared_places,
    join_cheaply,
    nearest_successors,
    successors_of,
)
from itinera.seeds import generator
from itinera.worlds import Array

Ints = NDArray[np.int64]

_NEAR = 6  # steps from each exit and into each entry that the programme starts with
_KICKS = 60  # random kicks for the round found at the root


@dataclass(eq=False)
class Search:
    """What is known of the cheapest round: the best found, and a bound on all."""

    costs: Array  # (n, n) inf where not allowed, as on the diagonal
    tolerance: float  # rounds that differ by less count as equal
    deadline: float  # of time.monotonic
    best: Ints | None = None  # stops in order
    cost: float = np.inf  # of the best
    bound: float = -np.inf

    def __post_init__(self) -> None:
        self.merged = merge(self.costs)
        self.rng = generator(0, "ordering")
        finite = np.abs(self.costs[np.isfinite(self.costs)])
        # Dearer than any round, so that it is avoided wherever that is possible.
        self._passable = np.where(np.isfinite(self.costs), self.costs, 2 * finite.sum() + 1)
        self._largest = finite.max(initial=0.0)

    @property
    def closed(self) -> bool:
        return self.cost - self.bound <= self.tolerance

    @property
    def stopped(self) -> bool:
        """Whether it is time to leave with the best found; there must be one."""
        return self.best is not None and time.monotonic() >= self.deadline

    def offer(self, following: Ints, *, kicks: int = 0) -> None:
        """Make one round of the successors, improve it, and keep it if it is the best."""
        joined = join_at_shared_places(self.merged, following)
        stops = along(join_cheaply(self._passable, joined), 0)
        self._keep(stops)
        if not self.closed:
            self._keep(improved(self._passable, stops, kicks=kicks, least=self.tolerance, rng=self.rng))

    def offer_counts(self, steps: Steps, relaxed: Relaxed, *, kicks: int = 0) -> None:
        """Offer a round that follows whole counts exactly, fractional ones as far as it can."""
        counts = np.zeros(self.merged.costs.shape)
        counts[steps.exits, steps.entries] = relaxed.counts
        if relaxed.is_whole:
            whole = np.rint(counts).astype(np.int64)
            whole = directed(whole) if self.merged.two_way else whole
            self.offer(successors_of(self.merged, whole), kicks=kicks)
        else:
            counts = np.maximum(counts, counts.T) if self.merged.two_way else counts
            liked = counts[self.merged.exits[:, None], self.merged.entries[None, :]]
            self.offer(nearest_successors(self._passable - self._largest * liked), kicks=kicks)

    def _keep(self, stops: Ints) -> None:
        cost = float(self.costs[stops, np.roll(stops, -1)].sum())
        if cost < self.cost:
            self.best, self.cost = stops, cost


def cheapest_round(costs: Array, *, tolerance: float, deadline: float) -> Search:
    """The search for the cheapest round at its end: done, stopped by the deadline, or without any round (bound inf)."""
    search = Search(costs, tolerance, deadline)
    try:
        _assign(search)
        if not search.closed and not search.stopped:
            _search(search)
    except Infeasible:
        search.bound = np.inf
    search.bound = min(search.bound, search.cost)
    return search


def _assign(search: Search) -> None:
    """The bound of the assignment problem, and its loops joined to a first round."""
    try:
        following = nearest_successors(search.costs)
    except ValueError:
        raise Infeasible from None
    search.bound = float(search.costs[np.arange(len(following)), following].sum())
    search.offer(following)


def _search(search: Search) -> None:
    """Tighten the relaxation of all steps, then branch over those steps that a cheaper round could still take."""
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
        search.bound = max(search.bound, bound)
        if search.closed or search.stopped:
            return
        reduced = reduced_costs(merged, cuts, relaxed.prices)
        missing = (reduced < -search.tolerance / len(every.exits)) & ~used
        broken = separate(merged, steps, relaxed.counts)
        if not missing.any() and not len(broken):
            break
        used |= missing
        # Cuts may be forgotten only while the bound rises, or they could come and go for ever.
        cuts = (cuts.that_bind(relaxed.prices) if rising else cuts).and_also(broken)
    search.offer_counts(steps, relaxed, kicks=_KICKS)
    if search.closed or search.stopped:
        return
    # A round that takes any other step costs at least as much as the best found.
    worthwhile = np.isfinite(reduced) & (reduced <= search.cost - search.bound)
    _branch(search, Steps.where(merged, worthwhile), cuts)


def _first_steps(search: Search) -> NDArray[np.bool_]:
    merged = search.merged
    allowed = np.isfinite(merged.costs)
    if search.best is None:
        return allowed
    near = np.zeros_like(allowed)
    ways_out, ways_in = near.shape
    nearest = np.argsort(merged.costs, axis=1)[:, :_NEAR]
    near[np.arange(ways_out)[:, None], nearest] = True
    nearest = np.argsort(merged.costs, axis=0)[:_NEAR]
    near[nearest, np.arange(ways_in)[None, :]] = True
    near[merged.exits[search.best], merged.entries[np.roll(search.best, -1)]] = True
    return near & allowed


def _branch(search: Search, steps: Steps, cuts: Cuts) -> None:
    """Split the steps' limits until every part is settled, the part of lowest bound first."""
    parts = [_Part(search.bound, 0, steps, cuts)]
    settled = np.inf  # the lowest bound of a part that needs no further look
    made = 1
    while parts and not search.stopped:
        part = heappop(parts)
        if part.bound >= search.cost - search.tolerance:
            settled = min(settled, part.bound)
            break
        tightened, relaxed = _tightened(search, part)
        if relaxed is None or relaxed.is_whole or tightened.bound >= search.cost - search.tolerance:
            settled = min(settled, tightened.bound)
            continue
        for half in _halves(part.steps, relaxed.counts, search.merged):
            heappush(parts, replace(tightened, age=-made, steps=half))
            made += 1
    search.bound = max(search.bound, min([settled, *(part.bound for part in parts)]))


@dataclass(frozen=True, order=True)
class _Part:
    bound: float
    age: int  # of parts with one bound the newest comes first: it is nearest to a whole solution
    steps: Steps = field(compare=False)
    cuts: Cuts = field(compare=False)


def _tightened(search: Search, part: _Part) -> tuple[_Part, Relaxed | None]:
    """The part with its bound and binding cuts once every cut is kept, and its counts; None if nothing is left."""
    while True:
        try:
            relaxed = relax(search.merged, part.steps, part.cuts)
        except Infeasible:
            return replace(part, bound=np.inf), None
        if relaxed is None:
            return part, None
        bound = bound_by(search.merged, part.steps, part.cuts, relaxed.prices)
        rising = bound > part.bound + search.tolerance
        cuts = part.cuts.that_bind(relaxed.prices) if rising else part.cuts
        part = replace(part, bound=max(bound, part.bound), cuts=cuts)
        if part.bound >= search.cost - search.tolerance or search.stopped:
            return part, relaxed
        broken = separate(search.merged, part.steps, relaxed.counts)
        if not len(broken):
            search.offer_counts(part.steps, relaxed)
            return part, relaxed
        part = replace(part, cuts=part.cuts.and_also(broken))


def _halves(steps: Steps, counts: Array, merged: Merged) -> tuple[Steps, Steps]:
    """The steps with the most undecided one taken at most, or at least, the whole number next to its count."""
    undecided = np.abs(counts - np.floor(counts) - 0.5)
    # Of equally undecided steps the dearest moves the bound most.
    costs = merged.costs[steps.exits, steps.entries]
    split = int(np.lexsort((-costs, np.round(undecided, 6)))[0])
    most, least = steps.most.copy(), steps.least.copy()
    most[split] = int(np.floor(counts[split]))
    least[split] = most[split] + 1
    return replace(steps, most=most), replace(steps, least=least)
