from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.errors import BadArgument, MissingExtra, NoRoute
from itinera.planners.tsp import Ordering, solve_order, solve_order_lkh
from itinera.worlds import Array
from planners.orders import cost_of, journeys, least_cost, least_cost_by_subsets, matrices

INF = np.inf


def check(costs: Array, found: Ordering) -> None:
    """Every stop once, the cost as told, and the bound not above what was found."""
    assert sorted(found.order) == list(range(len(costs)))
    assert found.cost == pytest.approx(cost_of(costs, found.order))
    assert found.bound <= found.cost


@settings(max_examples=150, deadline=None)
@given(costs=st.one_of(matrices(6), matrices(6, symmetric=True)))
def test_no_order_of_a_few_stops_is_cheaper(costs: Array) -> None:
    found = solve_order(costs)
    check(costs, found)
    assert found.proven
    assert found.cost == pytest.approx(least_cost(costs), abs=2e-6 * np.abs(costs).max())


@settings(max_examples=150, deadline=None)
@given(costs=st.one_of(matrices(6, with_inf=True), matrices(6, with_inf=True, symmetric=True)))
def test_forbidden_steps_are_never_taken(costs: Array) -> None:
    least = least_cost(costs)
    if least == INF:
        with pytest.raises(NoRoute, match="No order visits all"):
            solve_order(costs)
    else:
        found = solve_order(costs)
        check(costs, found)
        assert found.proven
        assert found.cost == pytest.approx(least, abs=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_no_order_of_twelve_stops_is_cheaper(seed: int) -> None:
    rng = np.random.default_rng(seed)
    at_random = rng.random((12, 12))
    for costs in (at_random, np.minimum(at_random, at_random.T), journeys(rng, 12, 7), journeys(rng, 12, 60)):
        found = solve_order(costs)
        check(costs, found)
        assert found.proven
        assert found.cost == pytest.approx(least_cost_by_subsets(costs), abs=1e-5)


def test_the_cheapest_order_worked_by_hand() -> None:
    # 2 -> 0 -> 3 -> 1 costs 1 + 2 + 1; every other order takes a step of 9.
    costs = np.full((4, 4), 9.0)
    costs[2, 0], costs[0, 3], costs[3, 1] = 1.0, 2.0, 1.0
    assert solve_order(costs).order == (2, 0, 3, 1)
    assert solve_order(costs).cost == 4.0


def test_two_stops_go_the_cheaper_way() -> None:
    found = solve_order(np.array([[0.0, 5.0], [3.0, 0.0]]))
    assert (found.order, found.cost, found.bound) == ((1, 0), 3.0, 3.0)


@pytest.mark.parametrize("count", [0, 1])
def test_where_nothing_is_to_be_decided_nothing_is_paid(count: int) -> None:
    assert solve_order(np.zeros((count, count))) == Ordering(tuple(range(count)), 0.0, 0.0)


@pytest.mark.parametrize("diagonal", [0.0, INF, -50.0, 3.0])
def test_the_diagonal_does_not_matter(diagonal: float) -> None:
    costs = journeys(np.random.default_rng(5), 20, 8)
    expected = solve_order(costs).cost
    np.fill_diagonal(costs, diagonal)
    assert solve_order(costs).cost == pytest.approx(expected)


def test_stops_at_one_place_cost_nothing() -> None:
    found = solve_order(np.zeros((30, 30)))
    assert (found.cost, found.bound, found.proven) == (0.0, 0.0, True)


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
def test_units_do_not_matter(factor: float) -> None:
    costs = np.random.default_rng(3).random((25, 25))
    found = solve_order(costs * factor)
    assert found.proven
    assert found.cost == pytest.approx(solve_order(costs).cost * factor, rel=1e-5)


def test_the_same_costs_give_the_same_order() -> None:
    costs = np.random.default_rng(1).random((40, 40))
    assert solve_order(costs) == solve_order(costs.copy())


def test_a_chain_is_found_where_hardly_any_step_is_allowed() -> None:
    rng = np.random.default_rng(2)
    hidden = rng.permutation(40)
    costs = np.where(rng.random((40, 40)) < 0.02, 1.0, INF)
    costs[hidden[:-1], hidden[1:]] = 1.0
    found = solve_order(costs)
    assert found.cost == 39.0


@pytest.mark.parametrize(
    "costs",
    [
        np.array([[0.0, INF], [INF, 0.0]]),
        # Two pairs with no way between them: each stop has a successor, the whole has no order.
        np.array([[0, 1, INF, INF], [1, 0, INF, INF], [INF, INF, 0, 1], [INF, INF, 1, 0]]),
        # Three stops that can only begin.
        np.array([[0, INF, INF, 1], [INF, 0, INF, 1], [INF, INF, 0, 1], [INF, INF, INF, 0]]),
    ],
)
def test_where_no_order_exists_it_says_so(costs: Array) -> None:
    with pytest.raises(NoRoute, match=f"No order visits all {len(costs)} stops"):
        solve_order(costs)


def test_out_of_time_an_order_comes_with_an_honest_bound() -> None:
    points = np.random.default_rng(4).random((40, 2))
    costs = np.linalg.norm(points[:, None] - points[None], axis=-1)
    hurried, best = solve_order(costs, time_limit=0.0), solve_order(costs)
    check(costs, hurried)
    assert not hurried.proven
    assert hurried.bound <= best.cost <= hurried.cost
    assert hurried.gap == hurried.cost - hurried.bound > 0


def test_without_time_a_first_order_is_still_found() -> None:
    costs = np.full((12, 12), INF)
    costs[np.arange(11), np.arange(1, 12)] = 1.0
    assert solve_order(costs, time_limit=0.0).order == tuple(range(12))


def test_an_order_within_its_tolerance_of_the_bound_is_proven() -> None:
    found = Ordering((0, 1), cost=2.0, bound=1.5, tolerance=0.5)
    assert found.proven
    assert not replace(found, bound=1.4).proven


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.zeros((2, 3)), "must be a square matrix"),
        (np.zeros(4), "must be a square matrix"),
        (np.array([[0.0, np.nan], [1.0, 0.0]]), "NaN"),
        (np.array([[0.0, -INF], [1.0, 0.0]]), "minus infinity"),
    ],
)
def test_costs_that_make_no_sense_are_refused(costs: Array, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        solve_order(costs)


@pytest.mark.parametrize("limit", [-1.0, np.nan])
def test_a_time_limit_below_zero_is_refused(limit: float) -> None:
    with pytest.raises(BadArgument, match="time_limit"):
        solve_order(np.zeros((3, 3)), time_limit=limit)


def test_without_elkai_lkh_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "elkai", None)
    with pytest.raises(MissingExtra, match=r"itinera\[lkh\]"):
        solve_order_lkh(np.zeros((3, 3)))


def test_lkh_never_beats_the_proven_order() -> None:
    pytest.importorskip("elkai")
    costs = journeys(np.random.default_rng(6), 25, 40)
    heuristic, best = solve_order_lkh(costs), solve_order(costs)
    check(costs, heuristic)
    assert heuristic.bound == -INF
    assert not heuristic.proven
    assert best.cost - best.tolerance <= heuristic.cost <= 1.05 * best.cost


def test_lkh_refuses_forbidden_steps() -> None:
    pytest.importorskip("elkai")
    with pytest.raises(BadArgument, match="1 costs are infinite"):
        solve_order_lkh(np.array([[0.0, INF, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]))
