"""A lower bound on every order: the linear programme of merged counts, with cuts that forbid separate rounds.

`relax` solves it once, `separate` finds the cuts a solution breaks. Bounds are computed from the prices the programme
returns, by arithmetic that holds for any prices, so they stay true even where the programme was solved inexactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import coo_array, csr_array

from itinera.planners.tsp._kernels import phase_cuts
from itinera.planners.tsp.merge_stops import Merged
from itinera.worlds import Array

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_OPTIMAL, _INFEASIBLE = 0, 2
_BROKEN = 1e-6  # a cut broken by less than this is kept as well as the programme keeps its rows


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps the programme may take, from an exit to an entry, and how often."""

    exits: Ints  # (m,)
    entries: Ints  # (m,)
    least: Ints  # (m,)
    most: Ints  # (m,)

    @classmethod
    def where(cls, merged: Merged, allowed: Bools) -> Steps:
        """Every allowed step of the (exits, entries), from never to as often as both ends permit.

        Where steps are two-way, a step and its way back are one step.
        """
        exits, entries = np.nonzero(np.triu(allowed | allowed.T) if merged.two_way else allowed)
        most = np.minimum(merged.leaving[exits], merged.entering[entries])
        if merged.two_way:
            most = np.where(exits == entries, most, 2 * most)
        return cls(exits.astype(np.int64), entries.astype(np.int64), np.zeros_like(most), most)


@dataclass(frozen=True, eq=False)
class Prices:
    """What one more of each rule's right-hand side would cost."""

    exits: Array  # (exits,)
    entries: Array  # (entries,)
    cuts: Array  # (cuts,) at most 0


@dataclass(frozen=True, eq=False)
class Cuts:
    """Sets of islands that a round must leave: of k stops on them, at most k - 1 are followed by one on them."""

    islands: Bools  # (cuts, islands)

    @classmethod
    def none(cls, merged: Merged) -> Cuts:
        return cls(np.zeros((0, merged.island_count), dtype=bool))

    def __len__(self) -> int:
        return len(self.islands)

    def and_also(self, more: Bools) -> Cuts:
        return Cuts(np.concatenate([self.islands, more]))

    def that_bind(self, prices: Prices) -> Cuts:
        """Those that have a price: without the others the bound is the same."""
        return Cuts(self.islands[prices.cuts < 0])

    def room(self, merged: Merged) -> Ints:
        """(cuts,) how many steps may stay inside each."""
        return self.islands @ merged.stops_on_island - 1


@dataclass(frozen=True, eq=False)
class Relaxed:
    """An optimum of the programme: how often each step is taken, and the prices that prove it."""

    counts: Array  # (m,) of the steps
    prices: Prices


class Infeasible(Exception):
    """No counts obey all the rules."""


def relax(merged: Merged, steps: Steps, cuts: Cuts) -> Relaxed | None:
    """The cheapest fractional counts within the steps' limits; None if the programme could not be solved.

    Raises Infeasible where there are none.
    """
    solved = linprog(
        merged.costs[steps.exits, steps.entries],
        A_ub=cast(Any, _inside(merged, steps, cuts) if len(cuts) else None),
        b_ub=cuts.room(merged) if len(cuts) else None,
        A_eq=cast(Any, _touching(merged, steps)),  # sparse, which its types do not foresee
        b_eq=_touched(merged),
        bounds=cast(Any, np.column_stack([steps.least, steps.most])),
        method="highs-ds",
    )
    if solved.status == _INFEASIBLE:
        raise Infeasible
    if solved.status != _OPTIMAL:
        return None
    of_places = np.asarray(solved.eqlin.marginals)
    of_cuts = np.minimum(np.asarray(solved.ineqlin.marginals), 0.0) if len(cuts) else np.zeros(0)
    prices = Prices(of_places[: len(merged.leaving)], of_places[-len(merged.entering) :], of_cuts)
    return Relaxed(np.asarray(solved.x), prices)


def relax_whole(merged: Merged, steps: Steps, cuts: Cuts, *, time_limit: float) -> tuple[Array | None, float]:
    """The cheapest whole counts within the steps' limits, (m,), and a bound on all; None if time ran out before any.

    Raises Infeasible where there are none.
    """
    touched = _touched(merged)
    rules = [LinearConstraint(_touching(merged, steps), touched, touched)]
    if len(cuts):
        rules.append(LinearConstraint(_inside(merged, steps, cuts), -np.inf, cuts.room(merged)))
    solved = milp(
        merged.costs[steps.exits, steps.entries],
        integrality=np.ones(len(steps.exits), dtype=np.int64),
        bounds=Bounds(steps.least, steps.most),
        constraints=rules,
        options={"mip_rel_gap": 0.0, "time_limit": time_limit},
    )
    if solved.status == _INFEASIBLE:
        raise Infeasible
    counts = None if solved.x is None else np.rint(solved.x)
    return counts, -np.inf if solved.mip_dual_bound is None else float(solved.mip_dual_bound)


def reduced_costs(merged: Merged, cuts: Cuts, prices: Prices) -> Array:
    """(exits, entries) what one more of each step would add to the bound; inf where not allowed."""
    binding = cuts.islands[prices.cuts < 0]
    # Not a product of matrices, which would wake the threads of a linear algebra library for little work.
    inside = np.einsum("c,ck,cl->kl", prices.cuts[prices.cuts < 0], binding, binding)
    inside = inside[merged.island_of_exit[:, None], merged.island_of_entry[None, :]]
    reduced: Array = merged.costs - prices.exits[:, None] - prices.entries[None, :] - inside
    return reduced


def bound_by(merged: Merged, steps: Steps, cuts: Cuts, prices: Prices) -> float:
    """A cost no round along these steps goes below, whatever the prices.

    Every rule counts at its price, and every step as often as its reduced cost prefers within its limits.
    """
    reduced = reduced_costs(merged, cuts, prices)[steps.exits, steps.entries]
    of_rules = prices.exits @ merged.leaving + prices.entries @ merged.entering + prices.cuts @ cuts.room(merged)
    of_steps = np.where(reduced < 0, reduced * steps.most, reduced * steps.least).sum()
    return float(of_rules + of_steps)


def _touched(merged: Merged) -> Ints:
    """(rows,) how often each exit is left and each entry is entered; two-way, how often each place is touched."""
    return 2 * merged.leaving if merged.two_way else np.concatenate([merged.leaving, merged.entering])


def _touching(merged: Merged, steps: Steps) -> csr_array:
    """(rows, m) which of these each step does."""
    m = len(steps.exits)
    entries = steps.entries if merged.two_way else steps.entries + len(merged.leaving)
    rows = np.concatenate([steps.exits, entries]).astype(np.int32)  # wider ones trouble older solvers
    columns = np.tile(np.arange(m, dtype=np.int32), 2)
    return csr_array(coo_array((np.ones(2 * m), (rows, columns)), shape=(len(_touched(merged)), m)))


def _inside(merged: Merged, steps: Steps, cuts: Cuts) -> csr_array:
    begin = cuts.islands[:, merged.island_of_exit[steps.exits]]
    end = cuts.islands[:, merged.island_of_entry[steps.entries]]
    return csr_array((begin & end).astype(np.float64))


def separate(merged: Merged, steps: Steps, counts: Array) -> Bools:
    """(k, islands) sets of islands that these counts leave less than once; none if every cut is kept."""
    islands = merged.island_count
    flows = np.zeros((islands, islands))
    np.add.at(flows, (merged.island_of_exit[steps.exits], merged.island_of_entry[steps.entries]), counts)
    np.fill_diagonal(flows, 0.0)
    # As much leaves a set as enters it, so either direction weighs a cut; the mean is symmetric.
    flows = (flows + flows.T) / 2
    sides = np.empty((max(islands - 1, 0), islands), dtype=bool)
    weights = np.empty(max(islands - 1, 0))
    phase_cuts(flows, sides, weights)
    broken = sides[weights < 1 - _BROKEN]
    # Leaving a set and leaving the rest is the same cut; the smaller one has fewer steps inside.
    large = broken @ merged.stops_on_island * 2 > len(merged.exits)
    return np.where(large[:, None], ~broken, broken)
