"""The LP relaxation: a lower bound on every order from merged counts, with cuts that eliminate subtours.

`solve_lp` solves it once, `find_violated_cuts` finds the cuts that a solution violates. Bounds are computed from the
dual prices by arithmetic that is valid for any prices, so they hold even if the program was solved inexactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import coo_array, csr_array

from itinera.planners.tsp._kernels import min_cut_phases
from itinera.planners.tsp.merge_stops import MergedStops
from itinera.worlds import Array

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_OPTIMAL, _INFEASIBLE = 0, 2
_VIOLATION = 1e-6  # violations below this are within the tolerance of the solver


@dataclass(frozen=True, eq=False)
class Arcs:
    """The arcs of the program, each from an exit to an entry, with bounds on their counts."""

    exits: Ints  # (m,)
    entries: Ints  # (m,)
    min_count: Ints  # (m,)
    max_count: Ints  # (m,)

    @classmethod
    def where(cls, merged: MergedStops, allowed: Bools) -> Arcs:
        """Every allowed arc of the (exits, entries), with counts from 0 to what both ends permit.

        If costs are symmetric, an arc and its reverse are one arc.
        """
        exits, entries = np.nonzero(np.triu(allowed | allowed.T) if merged.symmetric else allowed)
        most = np.minimum(merged.exit_counts[exits], merged.entry_counts[entries])
        if merged.symmetric:
            most = np.where(exits == entries, most, 2 * most)
        return cls(exits.astype(np.int64), entries.astype(np.int64), np.zeros_like(most), most)


@dataclass(frozen=True, eq=False)
class DualPrices:
    """The dual values: the change in cost per unit of each constraint's right-hand side."""

    exits: Array  # (exits,)
    entries: Array  # (entries,)
    cuts: Array  # (cuts,) at most 0


@dataclass(frozen=True, eq=False)
class Cuts:
    """Subtour elimination: of the k stops in a set of components, at most k - 1 are followed by one in the set."""

    components: Bools  # (cuts, islands)

    @classmethod
    def empty(cls, merged: MergedStops) -> Cuts:
        """No cuts."""
        return cls(np.zeros((0, merged.component_count), dtype=bool))

    def __len__(self) -> int:
        return len(self.components)

    def extend(self, more: Bools) -> Cuts:
        """These and more cuts, (k, components)."""
        return Cuts(np.concatenate([self.components, more]))

    def binding(self, duals: DualPrices) -> Cuts:
        """The cuts with a dual price; the bound is the same without the others."""
        return Cuts(self.components[duals.cuts < 0])

    def capacity(self, merged: MergedStops) -> Ints:
        """(cuts,) the largest number of arcs inside each set."""
        return self.components @ merged.stops_per_component - 1


@dataclass(frozen=True, eq=False)
class LpSolution:
    """An optimum of the program: the count of each arc, and the dual prices that prove it."""

    counts: Array  # (m,) of the steps
    duals: DualPrices


class Infeasible(Exception):
    """No counts satisfy all constraints."""


def solve_lp(merged: MergedStops, arcs: Arcs, cuts: Cuts) -> LpSolution | None:
    """The cheapest fractional counts within the bounds of the arcs; None if the program could not be solved.

    Raises Infeasible if there are none.
    """
    solved = linprog(
        merged.costs[arcs.exits, arcs.entries],
        A_ub=cast(Any, _inside(merged, arcs, cuts) if len(cuts) else None),
        b_ub=cuts.capacity(merged) if len(cuts) else None,
        A_eq=cast(Any, _incidence(merged, arcs)),  # sparse, which its type hints do not include
        b_eq=_degrees(merged),
        bounds=cast(Any, np.column_stack([arcs.min_count, arcs.max_count])),
        method="highs-ds",
    )
    if solved.status == _INFEASIBLE:
        raise Infeasible
    if solved.status != _OPTIMAL:
        return None
    place_marginals = np.asarray(solved.eqlin.marginals)
    cut_marginals = np.minimum(np.asarray(solved.ineqlin.marginals), 0.0) if len(cuts) else np.zeros(0)
    duals = DualPrices(
        place_marginals[: len(merged.exit_counts)], place_marginals[-len(merged.entry_counts) :], cut_marginals
    )
    return LpSolution(np.asarray(solved.x), duals)


def solve_milp(merged: MergedStops, arcs: Arcs, cuts: Cuts, *, time_limit: float) -> tuple[Array | None, float]:
    """(m,) the cheapest integer counts within the bounds of the arcs, and a bound on all; None if time ran out.

    Raises Infeasible if there are none.
    """
    degrees = _degrees(merged)
    constraints = [LinearConstraint(_incidence(merged, arcs), degrees, degrees)]
    if len(cuts):
        constraints.append(LinearConstraint(_inside(merged, arcs, cuts), -np.inf, cuts.capacity(merged)))
    solved = milp(
        merged.costs[arcs.exits, arcs.entries],
        integrality=np.ones(len(arcs.exits), dtype=np.int64),
        bounds=Bounds(arcs.min_count, arcs.max_count),
        constraints=constraints,
        options={"mip_rel_gap": 0.0, "time_limit": time_limit},
    )
    if solved.status == _INFEASIBLE:
        raise Infeasible
    counts = None if solved.x is None else np.rint(solved.x)
    return counts, -np.inf if solved.mip_dual_bound is None else float(solved.mip_dual_bound)


def reduced_costs(merged: MergedStops, cuts: Cuts, duals: DualPrices) -> Array:
    """(exits, entries) the change of the bound per count of each arc; inf where not allowed."""
    binding = cuts.components[duals.cuts < 0]
    # einsum, because a matrix product would start the threads of a BLAS library for little work.
    inside = np.einsum("c,ck,cl->kl", duals.cuts[duals.cuts < 0], binding, binding)
    inside = inside[merged.exit_components[:, None], merged.entry_components[None, :]]
    reduced: Array = merged.costs - duals.exits[:, None] - duals.entries[None, :] - inside
    return reduced


def dual_bound(merged: MergedStops, arcs: Arcs, cuts: Cuts, duals: DualPrices) -> float:
    """A lower bound on the cost of every cycle of these arcs, valid for any dual prices.

    Every constraint counts at its price, and every arc as often as its reduced cost prefers within its bounds.
    """
    reduced = reduced_costs(merged, cuts, duals)[arcs.exits, arcs.entries]
    constraints = (
        duals.exits @ merged.exit_counts + duals.entries @ merged.entry_counts + duals.cuts @ cuts.capacity(merged)
    )
    counts_term = np.where(reduced < 0, reduced * arcs.max_count, reduced * arcs.min_count).sum()
    return float(constraints + counts_term)


def _degrees(merged: MergedStops) -> Ints:
    """(rows,) the number of stops at each exit and entry; if symmetric, twice the number of stops at each place."""
    return 2 * merged.exit_counts if merged.symmetric else np.concatenate([merged.exit_counts, merged.entry_counts])


def _incidence(merged: MergedStops, arcs: Arcs) -> csr_array:
    """(rows, m) whether each arc uses the exit, entry or place of a row."""
    m = len(arcs.exits)
    entries = arcs.entries if merged.symmetric else arcs.entries + len(merged.exit_counts)
    rows = np.concatenate([arcs.exits, entries]).astype(np.int32)  # older solvers fail with wider integers
    columns = np.tile(np.arange(m, dtype=np.int32), 2)
    return csr_array(coo_array((np.ones(2 * m), (rows, columns)), shape=(len(_degrees(merged)), m)))


def _inside(merged: MergedStops, arcs: Arcs, cuts: Cuts) -> csr_array:
    begin = cuts.components[:, merged.exit_components[arcs.exits]]
    end = cuts.components[:, merged.entry_components[arcs.entries]]
    return csr_array((begin & end).astype(np.float64))


def find_violated_cuts(merged: MergedStops, arcs: Arcs, counts: Array) -> Bools:
    """(k, components) the sets of components that these counts leave less than once, which violates their cut."""
    components = merged.component_count
    flows = np.zeros((components, components))
    np.add.at(flows, (merged.exit_components[arcs.exits], merged.entry_components[arcs.entries]), counts)
    np.fill_diagonal(flows, 0.0)
    # As much leaves a set as enters it, so either direction gives the weight of a cut; the mean is symmetric.
    flows = (flows + flows.T) / 2
    sides = np.empty((max(components - 1, 0), components), dtype=bool)
    weights = np.empty(max(components - 1, 0))
    min_cut_phases(flows, sides, weights)
    violated = sides[weights < 1 - _VIOLATION]
    # Leaving a set and leaving its complement is the same cut; the smaller set has fewer arcs inside.
    large = violated @ merged.stops_per_component * 2 > len(merged.exits)
    return np.where(large[:, None], ~violated, violated)
