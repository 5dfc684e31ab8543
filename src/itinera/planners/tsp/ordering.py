"""In which order to visit: the cheapest sequence through all stops, each once, proven to be the cheapest.

Start with `best_order`. It is exact: any cost of going from stop i to stop j, in metres or otherwise, asymmetric or
not. `lkh_order` is a heuristic to compare with.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, ItineraError, MissingExtra, NoRoute
from itinera.planners.tsp.branch_and_cut import cheapest_round
from itinera.worlds import Array

_PRECISION = 1e-6  # of the largest cost: orders closer than this count as equal
_LKH_LARGEST = 1e5  # the same for LKH, whose sums must not overflow
_LARGEST = 100.0  # what the largest cost is scaled to, about: where linear programmes are solved most exactly


@dataclass(frozen=True)
class Ordering:
    """An order of stops, what it costs, and what every order costs at least."""

    order: tuple[int, ...]
    cost: float
    bound: float
    tolerance: float = 0.0  # costs closer than this count as equal

    @property
    def gap(self) -> float:
        """How much cheaper another order could be, at most."""
        return self.cost - self.bound

    @property
    def proven(self) -> bool:
        """Whether no order is cheaper."""
        return self.gap <= self.tolerance


def best_order(costs: Array, *, time_limit: float | None = None) -> Ordering:
    """The cheapest order of n stops, where following stop i by stop j costs costs[i, j]; start and end are free.

    Costs may be asymmetric; inf means that j must not follow i; the diagonal is not looked at. After `time_limit`
    seconds the best order found is returned with the bound proven until then; looking for a first order is never cut
    short. The same costs give the same order, unless the limit is reached.

    Raises NoRoute where no order avoids every inf.

    >>> best_order(np.array([[0.0, 9.0, 1.0], [2.0, 0.0, 9.0], [9.0, 3.0, 0.0]])).order
    (1, 0, 2)
    """
    costs = _checked(costs)
    if time_limit is not None and not time_limit >= 0:
        raise BadArgument(f"The time limit is {time_limit} s. Give 0 or more, or None for no limit.")
    if len(costs) < 2:
        return Ordering(tuple(range(len(costs))), 0.0, 0.0)
    largest = float(np.abs(costs[np.isfinite(costs)]).max(initial=0.0))
    scale = _scale(largest)
    deadline = np.inf if time_limit is None else time.monotonic() + time_limit
    search = cheapest_round(_closed(costs * scale), tolerance=_PRECISION * largest * scale, deadline=deadline)
    if search.best is None:
        if search.bound < np.inf:
            raise ItineraError(f"The linear programmes of these {len(costs)} stops could not be solved.")
        raise NoRoute(f"No order visits all {len(costs)} stops: every one takes a step of infinite cost.")
    order = search.best[1:] - 1  # without the stop added to close the round
    cost = _cost(costs, order)
    return Ordering(tuple(order.tolist()), cost, min(search.bound / scale, cost), _PRECISION * largest)


def lkh_order(costs: Array, *, runs: int = 10) -> Ordering:
    """A near-cheapest order by the Lin-Kernighan heuristic (elkai), with no bound; every cost must be finite.

    LKH reckons in whole numbers, so costs are rounded to a 100,000th of the largest.
    """
    try:
        elkai = import_module("elkai")
    except ImportError:
        raise MissingExtra("LKH orders", "elkai", "lkh") from None
    costs = _checked(costs)
    n = len(costs)
    if not np.isfinite(costs).all():
        raise BadArgument(f"{int(np.isinf(costs).sum())} costs are infinite. LKH cannot forbid steps; use best_order.")
    if n < 2:
        return Ordering(tuple(range(n)), 0.0, -np.inf)
    closed = np.zeros((n + 1, n + 1))
    closed[1:, 1:] = costs
    largest = float(np.abs(costs).max())
    whole = np.rint(closed * (_LKH_LARGEST / largest if largest > 0 else 1.0)).astype(np.int64)
    round_ = elkai.DistanceMatrix(whole.tolist()).solve_tsp(runs=runs)[:-1]
    at = round_.index(0)
    order = np.array(round_[at + 1 :] + round_[:at]) - 1
    return Ordering(tuple(order.tolist()), _cost(costs, order), -np.inf)


def _checked(costs: Array) -> Array:
    costs = np.asarray(costs, dtype=np.float64)
    if costs.ndim != 2 or costs.shape[0] != costs.shape[1]:
        raise BadArgument(f"Costs of shape {costs.shape} are not a square matrix, from each stop to each.")
    costs = np.where(np.eye(len(costs), dtype=bool), 0.0, costs)  # no stop follows itself
    if np.isnan(costs).any() or np.isneginf(costs).any():
        raise BadArgument("A cost is NaN or minus infinity. Give numbers, or inf where a step is not allowed.")
    return costs


def _scale(largest: float) -> float:
    """What to multiply costs by; a power of 2, which loses no digit."""
    # frexp and not a logarithm of a quotient, which overflows for the smallest numbers there are.
    exponent = np.frexp(_LARGEST)[1] - np.frexp(largest)[1]
    return float(np.ldexp(1.0, min(int(exponent), 1000))) if largest > 0 else 1.0


def _closed(costs: Array) -> Array:
    """(n + 1, n + 1) with one stop more, the first, free to go from and to: rounds through it are the orders."""
    closed = np.zeros((len(costs) + 1, len(costs) + 1))
    closed[1:, 1:] = costs
    np.fill_diagonal(closed, np.inf)
    return closed


def _cost(costs: Array, order: NDArray[np.int64]) -> float:
    return float(costs[order[:-1], order[1:]].sum())
