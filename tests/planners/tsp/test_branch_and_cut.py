from __future__ import annotations

import time

import numpy as np
import pytest

from itinera.planners.tsp.branch_and_cut import BranchAndCut, solve_cycle
from planners.orders import least_cost_by_subsets


def tree_of_rooms(rng: np.random.Generator, n: int) -> np.ndarray:
    """Two-way distances along a random tree, a free stop added: fractional counts stay well below the round."""
    depth_first = np.full((n, n), np.inf)
    np.fill_diagonal(depth_first, 0.0)
    for i in range(1, n):
        j = int(rng.integers(i))
        depth_first[i, j] = depth_first[j, i] = rng.uniform(1, 3)
    for k in range(n):
        depth_first = np.minimum(depth_first, depth_first[:, [k]] + depth_first[[k]])
    return depth_first


def is_optimal(costs: np.ndarray) -> np.ndarray:
    table = np.pad(costs, ((1, 0), (1, 0)))
    np.fill_diagonal(table, np.inf)
    return table


@pytest.mark.parametrize("seed", range(6))
def test_whole_counts_close_what_fractional_ones_leave_open(seed: int) -> None:
    costs = tree_of_rooms(np.random.default_rng(seed), 13)
    found = solve_cycle(is_optimal(costs), tolerance=1e-6, deadline=np.inf)
    assert found.is_optimal
    assert found.cost == pytest.approx(least_cost_by_subsets(costs), abs=1e-5)


def test_there_is_no_hurry_without_a_round() -> None:
    search = BranchAndCut(is_optimal(np.ones((3, 3))), 1e-6, deadline=time.monotonic() - 1)
    assert search.time_left == np.inf
    search.try_cycle(np.array([1, 2, 3, 0]))
    assert search.time_left == 0.0
    assert search.done


def test_a_lower_bound_proves_nothing_new() -> None:
    search = BranchAndCut(is_optimal(np.ones((3, 3))), 1e-6, deadline=np.inf)
    search.raise_bound(1.0)
    search.raise_bound(0.5)
    assert search.bound == 1.0
