from __future__ import annotations

import numpy as np
from hypothesis import given

from itinera.planners.tsp.merge_stops import merge_stops
from itinera.worlds import Array
from planners.orders import journeys, matrices


@given(costs=matrices(8, with_inf=True))
def test_merging_keeps_every_cost_between_different_stops(costs: Array) -> None:
    merged = merge_stops(costs)
    kept = merged.costs[merged.exits[:, None], merged.entries[None, :]]
    different = ~np.eye(len(costs), dtype=bool)
    np.testing.assert_array_equal(kept[different], costs[different])


def test_stops_that_end_or_begin_together_are_merged() -> None:
    # Four journeys: A to B, C to B, A to D, E to F. Ends B, B, D, F; starts A, C, A, E.
    x = {"A": 0.0, "B": 1.0, "C": 3.0, "D": 7.0, "E": 15.0, "F": 31.0}
    ends, starts = np.array([x[p] for p in "BBDF"]), np.array([x[p] for p in "ACAE"])
    merged = merge_stops(np.abs(ends[:, None] - starts[None]))
    assert merged.exits.tolist() == [0, 0, 1, 2]
    assert merged.entries.tolist() == [0, 1, 0, 2]
    assert merged.exit_counts.tolist() == [2, 1, 1]
    assert merged.entry_counts.tolist() == [2, 1, 1]
    # The first three hang together by B and A, the last stands alone.
    assert merged.component_count == 2
    assert sorted(merged.stops_per_component.tolist()) == [1, 3]


def test_the_diagonal_gives_way_so_that_stops_at_one_place_agree() -> None:
    costs = np.array([[np.inf, 0.0, 4.0], [0.0, np.inf, 4.0], [4.0, 4.0, np.inf]])
    merged = merge_stops(costs)
    assert merged.exits.tolist() == [0, 0, 1]
    assert merged.costs[0, 0] == 0.0
    assert merged.costs[1, 1] == np.inf  # nobody goes from the third stop to itself
    assert merged.symmetric


def test_only_costs_that_agree_both_ways_are_two_way() -> None:
    assert not merge_stops(journeys(np.random.default_rng(0), 10, 30)).symmetric


def test_a_way_measured_from_either_end_is_two_way_in_spite_of_rounding() -> None:
    there = 0.1 + 0.2 + 0.3
    back = 0.3 + 0.2 + 0.1
    assert there != back
    merged = merge_stops(np.array([[0.0, there, 2.0], [back, 0.0, 5.0], [2.0, 5.0, 0.0]]))
    assert merged.symmetric
    assert merged.costs[0, 1] == merged.costs[1, 0] == min(there, back)
