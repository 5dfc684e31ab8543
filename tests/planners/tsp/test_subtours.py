from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from itinera.planners.tsp.merge_stops import merge_stops
from itinera.planners.tsp.subtours import (
    follow_cycle,
    improve_cycle,
    join_at_shared_stops,
    join_cheapest,
    make_successors,
    orient,
)
from itinera.worlds import Array
from planners.orders import journeys


def round_cost(costs: Array, stops: Array) -> float:
    return float(costs[stops, np.roll(stops, -1)].sum())


def counts_of(merged, successors):  # type: ignore[no-untyped-def]
    counts = np.zeros(merged.costs.shape, dtype=np.int64)
    np.add.at(counts, (merged.exits, merged.entries[successors]), 1)
    return counts


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 12), places=st.integers(1, 5))
def test_successors_and_joins_follow_the_counts(seed: int, n: int, places: int) -> None:
    rng = np.random.default_rng(seed)
    merged = merge_stops(journeys(rng, n, places))
    counts = counts_of(merged, rng.permutation(n))
    successors = make_successors(merged, counts)
    np.testing.assert_array_equal(counts_of(merged, successors), counts)
    joined = join_at_shared_stops(merged, successors)
    np.testing.assert_array_equal(counts_of(merged, joined), counts)


def test_loops_that_share_a_place_become_one_round() -> None:
    # All four stops begin at one place and end at another.
    merged = merge_stops(np.full((4, 4), 3.0))
    joined = join_at_shared_stops(merged, np.array([1, 0, 3, 2]))
    assert sorted(follow_cycle(joined, 0).tolist()) == [0, 1, 2, 3]


def test_loops_are_joined_where_it_costs_least() -> None:
    # Two pairs far apart; going over is cheapest from 1 to 2, coming back from 3 to 0.
    costs = np.array([[9.0, 1, 8, 8], [1, 9, 5, 8], [8, 8, 9, 1], [4, 8, 1, 9]])
    joined = join_cheapest(costs, np.array([1, 0, 3, 2]))
    assert follow_cycle(joined, 0).tolist() == [0, 1, 2, 3]


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 8))
def test_directions_balance_and_take_each_step_once(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    walked = np.zeros((n, n), dtype=np.int64)
    for _ in range(3):  # closed walks touch every place an even number of times
        walk = rng.integers(n, size=5)
        np.add.at(walked, (walk, np.roll(walk, -1)), 1)
    symmetric = np.triu(walked) + np.tril(walked, -1).T
    taken = orient(symmetric)
    np.testing.assert_array_equal(np.triu(taken) + np.tril(taken, -1).T, symmetric)
    np.testing.assert_array_equal(taken.sum(axis=0), taken.sum(axis=1))


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 15), kicks=st.integers(0, 20))
def test_improving_keeps_the_stops_and_never_costs_more(seed: int, n: int, kicks: int) -> None:
    rng = np.random.default_rng(seed)
    costs, stops = rng.random((n, n)), rng.permutation(n)
    better = improve_cycle(costs, stops, kicks=kicks, least=1e-9, rng=rng)
    assert better[0] == stops[0]
    assert sorted(better.tolist()) == list(range(n))
    assert round_cost(costs, better) <= round_cost(costs, stops) + 1e-12


def test_improving_unties_a_crossing() -> None:
    corners = np.array([(0, 0), (1, 1), (1, 0), (0, 1)], dtype=float)
    costs = np.linalg.norm(corners[:, None] - corners[None], axis=-1)
    better = improve_cycle(costs, np.arange(4), kicks=0, least=1e-9, rng=np.random.default_rng(0))
    assert round_cost(costs, better) == 4.0
