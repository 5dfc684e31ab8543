"""Reaching the goal, and the path length and time it took."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from itinera.metrics.goal import (
    goal_progress,
    navigation_error,
    oracle_error,
    oracle_success,
    path_length,
    ratio,
    sct,
    soft_spl,
    spl,
    steps,
    success,
)
from text_worlds import STREET, attempts, graph

SQUARE = """
    a-b
    | |
    d-c
"""
within_three = partial(spl, radius=3.0)


def test_length_of_a_jump_is_the_shortest_way():
    assert path_length(attempts(graph(SQUARE), ["ac", "abc"], ["abc"] * 2)).tolist() == [4.0, 4.0]


def test_length_may_be_undefined_where_a_step_follows_no_edge():
    made = attempts(graph(STREET), ["abc", "abbc", "ac"], ["abc"] * 3)
    lengths = path_length(made, undefined_off_edges=True)
    assert lengths[0] == 4.0
    assert np.isnan(lengths[1:]).all()


def test_length_in_straight_lines_cuts_the_corner():
    assert path_length(attempts(graph(SQUARE), ["ac"], ["abc"]), straight=True)[0] == pytest.approx(np.sqrt(8))


def test_steps_count_repeats():
    assert steps(attempts(graph(STREET), ["abbc", "a"], ["abc"] * 2)).tolist() == [3.0, 0.0]


def test_spl_is_the_shortest_way_over_the_way_gone():
    # The goal is 6 m away. Straight there: 1. Two steps back and forth: 6 / 10. One short, 2 m off, is a success that
    # walked less than the optimum: 1. Two short, 4 m off: a failure.
    made = attempts(graph(STREET), ["abcd", "abcbcd", "abc", "ab"], ["abcd"] * 4)
    assert within_three(made).tolist() == pytest.approx([1.0, 0.6, 1.0, 0.0])


def test_on_a_loop_spl_is_one_only_for_who_stood_still():
    made = attempts(graph(SQUARE), ["a", "abcda"], ["abcda"] * 2)
    assert within_three(made).tolist() == [1.0, 0.0]


def test_against_the_reference_the_same_loop_rewards_both():
    # The loop is 8 m: 8 / max(0, 8) and 8 / max(8, 8).
    made = attempts(graph(SQUARE), ["a", "abcda"], ["abcda"] * 2)
    assert within_three(made, optimum="reference", floor=0.01).tolist() == [1.0, 1.0]


def test_standing_still_on_the_goal_is_what_the_convention_says():
    made = attempts(graph(SQUARE), ["a"], ["a"])
    assert within_three(made, floor=0.01).tolist() == [0.0]
    assert np.isnan(within_three(made, standing_still=np.nan)[0])


def test_a_failure_scores_zero_even_where_the_optimum_is_undefined():
    # The goal a is where the agent starts; it ends 4 m away.
    made = attempts(graph(STREET), ["abc"], ["a"])
    assert within_three(made, standing_still=np.nan).tolist() == [0.0]


def test_spl_may_take_the_distance_the_file_states():
    # 6 m walked; 4.5 m stated, or nothing stated and 6 m measured.
    made = attempts(graph(STREET), ["abcd", "abcd"], ["abcd"] * 2, stated=[4.5, np.nan])
    assert within_three(made, optimum="stated").tolist() == [0.75, 1.0]


def test_arriving_by_a_jump_across_a_gap_earns_no_spl():
    made = attempts(graph("a-b c-d"), ["abd"], ["abd"])
    assert within_three(made).tolist() == [0.0]


def test_sct_is_the_fastest_time_over_the_time_taken():
    # Twice as long as needed; faster than thought possible; failed; arrived before it began.
    scores = sct(np.array([1, 1, 0, 1]), np.array([20.0, 8.0, 5.0, 0.0]), np.array([10.0, 10.0, 5.0, 0.0]))
    assert scores.tolist() == [0.5, 1.0, 0.0, 1.0]


def test_ratio_says_what_nothing_over_nothing_is():
    assert ratio(np.array([0.0, 1.0]), np.array([0.0, 4.0]), 7.0).tolist() == [7.0, 0.25]


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


def test_progress_is_what_is_left_less_at_the_end():
    # From a, 6 m before d: to c, 2 m before it; nowhere; past it to f, 4 m beyond. From c, 2 m before it, back to a.
    made = attempts(graph(STREET), ["abc", "a", "abcdef", "cba"], ["abcd", "abcd", "abcd", "cd"])
    assert goal_progress(made).tolist() == [4.0, 0.0, 2.0, -4.0]


def test_progress_is_towards_the_nearest_of_several_goals():
    # c is 2 m from b and 4 m from e: from 2 m to 2 m by way of d, where e would be nearer.
    made = attempts(graph(STREET), ["cd"], ["cd"], goals=[["b", "e"]])
    assert goal_progress(made).tolist() == [0.0]


def test_progress_to_where_no_way_leads_is_none():
    made = attempts(graph("a-b c-d"), ["ab", "ac"], ["cd", "cd"], goals=[["d"], ["d"]])
    assert goal_progress(made).tolist() == [0.0, 0.0]
    assert soft_spl(made).tolist() == [0.0, 0.0]


def test_soft_spl_rewards_the_share_of_the_distance_covered():
    # 6 m to go. Straight there: 1. Back and forth: 6 / 10. 2 m short: (1 - 2/6) 6 / max(4, 6) = 2/3. 4 m beyond, after
    # 10 m: (1 - 4/6) 6 / 10 = 1/5. Not moving: 0.
    made = attempts(graph(STREET), ["abcd", "abcbcd", "abc", "abcdef", "a"], ["abcd"] * 5)
    assert soft_spl(made).tolist() == pytest.approx([1.0, 0.6, 2 / 3, 0.2, 0.0])


def test_soft_spl_on_a_loop_is_one_only_for_who_stood_still():
    made = attempts(graph(SQUARE), ["a", "abcda", "ab"], ["abcda"] * 3)
    assert soft_spl(made).tolist() == [1.0, 0.0, 0.0]
    assert np.isnan(soft_spl(made, standing_still=np.nan)).tolist() == [True, False, False]


def test_soft_spl_needs_no_stop_and_may_take_the_distance_stated():
    made = attempts(graph(STREET), ["abc"], ["abcd"], stopped=[False], stated=[8.0])
    assert soft_spl(made)[0] == pytest.approx(2 / 3)
    assert soft_spl(made, optimum="stated")[0] == pytest.approx(0.75)  # (1 - 2/8) 8 / 8
