"""The cheapest order of stops, each visited once, with a proof: the open asymmetric traveling salesman problem.

Start with `solve_order`, which is exact for any costs between stops, symmetric or not. `solve_order_lkh` is a heuristic
for comparison.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, ItineraError, MissingExtra, NoRoute
from itinera.planners.tsp.branch_and_cut import solve_cycle
from itinera.worlds import Array

_PRECISION = 1e-6  # of the largest cost: costs closer than this count as equal
_LKH_LARGEST = 1e5  # the same for LKH, whose sums must not overflow
_LARGEST = 100.0  # approximate scale of the largest cost, at which linear programs are solved most exactly


@dataclass(frozen=True)
class Ordering:
    """An order of stops, its cost, and a lower bound on the cost of every order."""

    order: tuple[int, ...]
    cost: float
    bound: float
    tolerance: float = 0.0  # costs closer than this count as equal

    @property
    def gap(self) -> float:
        """The largest amount by which another order could be cheaper."""
        return self.cost - self.bound

    @property
    def proven(self) -> bool:
        """Whether no order is cheaper, up to the tolerance."""
        return self.gap <= self.tolerance


def solve_order(costs: Array, *, time_limit: float | None = None) -> Ordering:
    """The cheapest order of n stops, where costs[i, j] is the cost of visiting stop j after stop i; any start and end.

    Costs may be asymmetric; inf forbids j after i; the diagonal is ignored. After `time_limit` seconds the best order
    so far is returned with the bound proven so far; the search for a first order is never cut short. The same costs
    give the same order, unless the limit is reached.

    Raises NoRoute if every order has an infinite cost.

    >>> solve_order(np.array([[0.0, 9.0, 1.0], [2.0, 0.0, 9.0], [9.0, 3.0, 0.0]])).order
    (1, 0, 2)
    """
    costs = _checked(costs)
    if time_limit is not None and not time_limit >= 0:
        raise BadArgument(f"time_limit must be at least 0 s, or None for no limit, not {time_limit}.")
    if len(costs) < 2:
        return Ordering(tuple(range(len(costs))), 0.0, 0.0)
    largest = float(np.abs(costs[np.isfinite(costs)]).max(initial=0.0))
    scale = _scale(largest)
    deadline = np.inf if time_limit is None else time.monotonic() + time_limit
    search = solve_cycle(_closed(costs * scale), tolerance=_PRECISION * largest * scale, deadline=deadline)
    if search.best is None:
        if search.bound < np.inf:
            raise ItineraError(f"The linear programs of these {len(costs)} stops could not be solved.")
        raise NoRoute(f"No order visits all {len(costs)} stops: every order has an infinite cost.")
    order = search.best[1:] - 1  # without the stop added to close the cycle
    cost = _cost(costs, order)
    return Ordering(tuple(order.tolist()), cost, min(search.bound / scale, cost), _PRECISION * largest)


def solve_order_lkh(costs: Array, *, runs: int = 10) -> Ordering:
    """A near-cheapest order by the Lin-Kernighan heuristic (elkai), without a bound; every cost must be finite.

    LKH computes with integers, so costs are rounded to a 100,000th of the largest.
    """
    try:
        elkai = import_module("elkai")
    except ImportError:
        raise MissingExtra("LKH orders", "elkai", "lkh") from None
    costs = _checked(costs)
    n = len(costs)
    if not np.isfinite(costs).all():
        raise BadArgument(f"{int(np.isinf(costs).sum())} costs are infinite. LKH cannot forbid arcs; use solve_order.")
    if n < 2:
        return Ordering(tuple(range(n)), 0.0, -np.inf)
    is_optimal = np.zeros((n + 1, n + 1))
    is_optimal[1:, 1:] = costs
    largest = float(np.abs(costs).max())
    whole = np.rint(is_optimal * (_LKH_LARGEST / largest if largest > 0 else 1.0)).astype(np.int64)
    cycle = elkai.DistanceMatrix(whole.tolist()).solve_tsp(runs=runs)[:-1]
    at = cycle.index(0)
    order = np.array(cycle[at + 1 :] + cycle[:at]) - 1
    return Ordering(tuple(order.tolist()), _cost(costs, order), -np.inf)


def _checked(costs: Array) -> Array:
    costs = np.asarray(costs, dtype=np.float64)
    if costs.ndim != 2 or costs.shape[0] != costs.shape[1]:
        raise BadArgument(f"Costs must be a square matrix, from each stop to each, not of shape {costs.shape}.")
    costs = np.where(np.eye(len(costs), dtype=bool), 0.0, costs)  # no stop follows itself
    if np.isnan(costs).any() or np.isneginf(costs).any():
        raise BadArgument("Costs must not be NaN or minus infinity. Use inf for a forbidden arc.")
    return costs


def _scale(largest: float) -> float:
    """The factor for costs, a power of 2 so that no digit is lost."""
    # frexp, because the logarithm of a quotient overflows for the smallest numbers.
    exponent = np.frexp(_LARGEST)[1] - np.frexp(largest)[1]
    return float(np.ldexp(1.0, min(int(exponent), 1000))) if largest > 0 else 1.0


def _closed(costs: Array) -> Array:
    """(n + 1, n + 1) with a first stop added, free to reach and to leave: cycles through it are the orders."""
    is_optimal = np.zeros((len(costs) + 1, len(costs) + 1))
    is_optimal[1:, 1:] = costs
    np.fill_diagonal(is_optimal, np.inf)
    return is_optimal


def _cost(costs: Array, order: NDArray[np.int64]) -> float:
    return float(costs[order[:-1], order[1:]].sum())
