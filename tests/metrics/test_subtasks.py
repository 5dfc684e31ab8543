"""Tasks of several goals: the definitions of GOAT-Bench, LH-VLN and OmniNavBench, worked by hand."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadFile
from itinera.metrics import SUITES, TourGroups, score
from itinera.metrics.goal import success
from itinera.metrics.subtasks import (
    completion_success,
    composite_success,
    conditional_success,
    soft_success,
    target_approach,
)
from itinera.tasks import Protocol
from itinera.worlds import Euclidean
from text_worlds import STREET, attempts, graph, predictions, quick, split, world

ARRIVED = partial(success, radius=1.0)
HOUSE = {"house": world(STREET)}
PROTOCOL = Protocol("near", success_radius=1.0)


def one_tour(count: int, missing: tuple[int, ...] = ()) -> TourGroups:
    return TourGroups(np.zeros(count, dtype=np.int64), np.isin(np.arange(count), missing))


def legs(outcome: str):
    """Legs from a to b, one per mark: x arrives, . stays. 2 m each; the radius is 1 m."""
    return attempts(graph(STREET), ["ab" if mark == "x" else "a" for mark in outcome], ["ab"] * len(outcome))


@pytest.mark.parametrize(
    ("outcome", "composite", "csr"),
    [
        ("xxx", 1, 1),  # (3 + 3 + 3) / 9
        ("xx.", 0, 6 / 9),  # 3 + 3 + 0
        ("x.x", 0, 4 / 9),  # 3 + 0 + 1: the last follows a failure
        (".xx", 0, 4 / 9),  # 0 + 1 + 3
        ("..x", 0, 1 / 9),
        ("...", 0, 0),
        ("x", 1, 1),
        (".", 0, 0),
        ("xx", 1, 1),  # (2 + 2) / 4
        ("x.", 0, 0.5),
        (".x", 0, 0.25),
    ],
)
def test_a_success_is_worth_more_after_a_success(outcome: str, composite: float, csr: float):
    made, tour = legs(outcome), one_tour(len(outcome))
    assert composite_success(made, tour, success=ARRIVED).tolist() == [composite]
    assert conditional_success(made, tour, success=ARRIVED).tolist() == pytest.approx([csr])


def released_conditional(successes: list[float]) -> float:
    """LH-VLN's CSR of one task, step by step as its metrics are printed."""
    count, total, before = len(successes), 0.0, 1.0
    for now in successes:
        total += now * (1 + (count - 1) * before)
        before = now
    return total / count**2


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_outcome_of_up_to_four_legs_agrees_with_the_formula(count: int):
    for outcome in product("x.", repeat=count):
        expected = released_conditional([float(mark == "x") for mark in outcome])
        assert conditional_success(legs("".join(outcome)), one_tour(count), success=ARRIVED)[0] == pytest.approx(
            expected
        )


def test_legs_may_weigh_by_their_distance():
    # Legs of 2, 4 and 4 m; the second fails. P = 10: (0.2 x 3 + 0 + 0.4 x 1) / 3 = 1 / 3.
    made = attempts(graph(STREET), ["ab", "b", "def"], ["ab", "bcd", "def"])
    found = conditional_success(made, one_tour(3), success=ARRIVED, weight="distance")
    assert found.tolist() == pytest.approx([1 / 3])
    # The tasks state 6, 2 and 2 m: (0.6 x 3 + 0.2 x 1) / 3 = 2 / 3.
    made = attempts(graph(STREET), ["ab", "b", "def"], ["ab", "bcd", "def"], stated=[6.0, 2.0, 2.0])
    found = conditional_success(made, one_tour(3), success=ARRIVED, weight="distance")
    assert found.tolist() == pytest.approx([2 / 3])


@pytest.mark.parametrize("drawing", ["a-b c", "a-b-c"], ids=["an unreachable goal", "legs of no length"])
def test_legs_weigh_alike_where_their_distances_do_not_add_up(drawing: str):
    references = ["ab", "ac"] if drawing == "a-b c" else ["a", "c"]
    walks = ["ab", "a"] if drawing == "a-b c" else ["a", "cb"]
    made = attempts(graph(drawing), walks, references)
    assert conditional_success(made, one_tour(2), success=ARRIVED, weight="distance").tolist() == [0.5]


def test_the_target_approach_rate_by_hand():
    # From a to d, 6 m; the radius is 1 m. Arrived: 1. Stopped at c: 1 - (2 - 1) / 6. Stayed: 1 - (6 - 1) / 6. Went to
    # f from b, with the goal a 2 m away: 1 - (10 - 1) / 10. Started on its goal and left it: 0; stayed on it: 1.
    made = attempts(graph(STREET), ["abcd", "abc", "a", "bcdef", "ab", "a"], ["abcd", "abcd", "abcd", "ba", "a", "a"])
    found = target_approach(made, radius=1.0)
    assert found.tolist() == pytest.approx([1, 5 / 6, 1 / 6, 0.1, 0, 1])
    assert target_approach(attempts(graph("a-b c"), ["ab"], ["ac"]), radius=1.0).tolist() == [0]


def test_goals_count_if_they_are_passed_in_order():
    # The goals are b, d and c, in this order, on one path.
    def found(*walks: str) -> tuple[float, float]:
        made = attempts(graph(STREET), walks, ["ab", "bd", "dc"])
        tour = one_tour(3)
        return completion_success(made, tour, radius=1.0)[0], soft_success(made, tour, radius=1.0)[0]

    assert found("ab", "bcd", "dc") == (1, 1)
    assert found("abcdc", "c", "c") == (1, 1)  # passed, never announced
    # c is passed before d and never again: every goal is visited, but not in order.
    assert found("ab", "bc", "cd") == (0, 1)
    # Stops at c, 2 m before d: 1 / 2 of that leg. (1 + 1 / 2 + 1) / 3.
    assert found("ab", "bc", "c") == (0, pytest.approx(2.5 / 3))
    # Stays at a: 2, 6 and 4 m from the goals.
    assert found("a", "a", "a") == (0, pytest.approx((1 / 2 + 1 / 6 + 1 / 4) / 3))


def test_the_same_goal_twice_must_be_reached_at_two_places_of_the_path():
    made = attempts(graph(STREET), ["ab", "b"], ["ab", "bb"])
    assert completion_success(made, one_tour(2), radius=1.0).tolist() == [1]
    made = attempts(graph(STREET), ["ab"], ["ab"])
    assert completion_success(made, one_tour(1), radius=1.0).tolist() == [1]


def test_heights_are_ignored_where_the_released_scorer_ignores_them():
    line = [(0.0, 0.0, 0.0), (2.0, 0.0, 0.0)]
    made = attempts(Euclidean(), [line], [[(0.0, 0.0, 0.0), (2.0, 0.0, 1.5)]])
    assert completion_success(made, one_tour(1), radius=1.0).tolist() == [1]
    assert ARRIVED(made).tolist() == [0]
    assert ARRIVED(made.plan).tolist() == [1]


def test_a_leg_without_a_trajectory_is_a_failure():
    # The goal of the second leg, b, was passed by the first, but nobody set out for it.
    made = attempts(graph(STREET), ["abc", "c"], ["abc", "cb"])
    tour, partly = one_tour(2), one_tour(2, missing=(1,))
    assert completion_success(made, partly, radius=1.0).tolist() == [0]
    assert soft_success(made, partly, radius=1.0).tolist() == [0.5]
    assert soft_success(made, tour, radius=1.0).tolist() == [1]
    stay = attempts(graph(STREET), ["abc", "c"], ["abc", "c"])
    assert composite_success(stay, tour, success=ARRIVED).tolist() == [1]
    assert composite_success(stay, partly, success=ARRIVED).tolist() == [0]
    assert conditional_success(stay, partly, success=ARRIVED).tolist() == [0.5]


def test_tours_are_apart():
    made = attempts(graph(STREET), ["ab", "b", "ab", "bc"], ["ab", "bc", "ab", "bc"])
    tours = TourGroups(np.array([0, 0, 1, 1]), np.zeros(4, dtype=bool))
    assert composite_success(made, tours, success=ARRIVED).tolist() == [0, 1]
    assert conditional_success(made, tours, success=ARRIVED).tolist() == [0.5, 1]
    assert completion_success(made, tours, radius=1.0).tolist() == [0, 1]
    assert soft_success(made, tours, radius=1.0).tolist() == [0.75, 1]


@quick
@given(st.lists(st.booleans(), min_size=1, max_size=6))
def test_conditional_success_lies_between_all_and_the_mean(outcome: list[bool]):
    made, tour = legs("".join("x" if done else "." for done in outcome)), one_tour(len(outcome))
    found = conditional_success(made, tour, success=ARRIVED)[0]
    assert composite_success(made, tour, success=ARRIVED)[0] <= found + 1e-12
    assert found <= np.mean(outcome) + 1e-12


# Two tours: all three legs done; and the first of two done.
TASKS = split({"1": "ab", "2": "bc", "3": "cd", "4": "ab", "5": "bc"}, ["1", "2", "3"], ["4", "5"])
WALKS = {"1": "ab", "2": "bc", "3": "cd", "4": "ab", "5": "ba"}


def means(suite: str) -> dict[str, float]:
    table = score(predictions(WALKS), TASKS, HOUSE, SUITES[suite](PROTOCOL), protocol=PROTOCOL)
    return {name: table.mean(name) for name in (*table.values, *table.tours.values)}


def test_goat_bench_weighs_tasks_alike_and_pools_sub_tasks():
    # Composite: 1 and 0. Partial: 1 and 1 / 2. Of all five legs, four succeed.
    found = means("goat-bench")
    assert (found["composite_success"], found["partial_success"], found["composite_SPL"]) == (0.5, 0.75, 0.75)
    assert (found["SR"], found["SPL"]) == (0.8, 0.8)


def test_lh_vln_weighs_tasks_alike_but_in_isr_and_tar():
    # CSR: 1 and 1 / 2. ISR: 4 of 5. TAR: four times 1; the last ends 4 m away, 2 m asked: 1 - (4 - 1) / 4.
    found = means("lh-vln")
    assert (found["composite_success"], found["CSR_conditional"], found["CGT"]) == (0.5, 0.75, 0.75)
    assert found["ISR"] == pytest.approx(0.8)
    assert found["TAR"] == pytest.approx((4 + 0.25) / 5)


def test_omninavbench_asks_for_order():
    # The second tour is at b, then goes back to a: c is never nearer than 2 m.
    found = means("omninavbench")
    assert (found["CSR_completion"], found["SoftSR"]) == (0.5, (1 + 0.75) / 2)


def test_a_leg_may_begin_where_the_one_before_ended_but_nowhere_else():
    tasks = split({"1": "abc", "2": "cd"}, ["1", "2"])
    suite = SUITES["goat-bench"](PROTOCOL)
    table = score(predictions({"1": "ab", "2": "bcd"}), tasks, HOUSE, suite)
    assert table["SR"].tolist() == [0, 1]
    assert table["SPL"].tolist() == [0, 1]  # 4 m from where it began
    with pytest.raises(BadFile, match="starts at node a, but the task starts at node c"):
        score(predictions({"1": "ab", "2": "abcd"}), tasks, HOUSE, suite)
    with pytest.raises(BadFile, match="starts at node b, but the task starts at node a"):
        score(predictions({"1": "bc", "2": "cd"}), tasks, HOUSE, suite)
    with pytest.raises(BadFile, match="starts at node b"):
        score(predictions({"1": "ab", "2": "bcd"}), tasks, HOUSE)
