"""Did it get there?"""

from __future__ import annotations

import numpy as np

from drawn import STREET, attempts, graph
from itinera.metrics.reaching import navigation_error, oracle_error, oracle_success, success

WIDE = "a--b--c"  # 3 m apart


def test_error_is_measured_from_the_last_place():
    made = attempts(graph(STREET), ["abc", "abcdef", "a"], ["abcd"] * 3)
    assert navigation_error(made).tolist() == [2.0, 4.0, 6.0]


def test_oracle_error_is_the_nearest_the_agent_ever_came_start_included():
    made = attempts(graph(STREET), ["abcdef", "dcba", "a"], ["abcd", "d", "abcd"])
    assert oracle_error(made).tolist() == [0.0, 0.0, 6.0]


def test_passing_the_goal_is_an_oracle_success_only():
    made = attempts(graph(STREET), ["abcdef"], ["abcd"])  # ends 4 m past the goal
    assert success(made, radius=3.0).tolist() == [0.0]
    assert oracle_success(made, radius=3.0).tolist() == [1.0]


def test_a_distance_of_exactly_the_radius_counts_only_if_inclusive():
    made = attempts(graph(WIDE), ["ab"], ["abc"])
    assert success(made, radius=3.0).tolist() == [1.0]
    assert success(made, radius=3.0, inclusive=False).tolist() == [0.0]
    assert oracle_success(made, radius=3.0).tolist() == [1.0]
    assert oracle_success(made, radius=3.0, inclusive=False).tolist() == [0.0]


def test_where_stop_is_needed_running_out_of_steps_fails():
    made = attempts(graph(STREET), ["ab", "ab"], ["ab", "ab"], stopped=[True, False])
    assert success(made, radius=3.0).tolist() == [1.0, 1.0]
    assert success(made, radius=3.0, needs_stop=True).tolist() == [1.0, 0.0]


def test_a_goal_no_way_leads_to_is_infinitely_far():
    made = attempts(graph("a-b c-d"), ["ab"], ["a"], goals=["d"])
    assert navigation_error(made).tolist() == oracle_error(made).tolist() == [np.inf]
    assert success(made, radius=3.0).tolist() == oracle_success(made, radius=3.0).tolist() == [0.0]
