from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.planners.tsp.lp_relaxation import (
    Arcs,
    Cuts,
    DualPrices,
    Infeasible,
    dual_bound,
    find_violated_cuts,
    reduced_costs,
    solve_lp,
    solve_milp,
)
from itinera.planners.tsp.merge_stops import merge_stops
from planners.orders import least_cost


def two_pairs() -> np.ndarray:
    """Two pairs of stops 10 apart, the stops of a pair 1 apart: a round costs 22, two loops cost 4."""
    x = np.array([0.0, 1.0, 11.0, 12.0])
    costs = np.abs(x[:, None] - x[None])
    costs[0, 1] += 0.25  # so that directions differ
    np.fill_diagonal(costs, np.inf)
    return costs


def test_the_relaxation_falls_into_loops_until_cut() -> None:
    merged = merge_stops(two_pairs())
    arcs, cuts = Arcs.where(merged, np.isfinite(merged.costs)), Cuts.empty(merged)
    loops = solve_lp(merged, arcs, cuts)
    assert loops is not None
    assert dual_bound(merged, arcs, cuts, loops.duals) == pytest.approx(4.25)
    broken = find_violated_cuts(merged, arcs, loops.counts)
    by_stop = broken[:, merged.exit_components[merged.exits]]
    first_pair = np.array([True, True, False, False])
    assert any(np.array_equal(row, first_pair) or np.array_equal(row, ~first_pair) for row in by_stop)
    cuts = cuts.extend(broken)
    tight = solve_lp(merged, arcs, cuts)
    assert tight is not None
    assert dual_bound(merged, arcs, cuts, tight.duals) == pytest.approx(24.0)
    assert len(find_violated_cuts(merged, arcs, tight.counts)) == 0
    binding = cuts.binding(tight.duals)
    assert 1 <= len(binding) <= len(cuts)
    whole, bound = solve_milp(merged, arcs, cuts, time_limit=np.inf)
    assert whole is not None
    assert bound == pytest.approx(24.0)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), symmetric=st.booleans())
def test_any_prices_bound_every_round(seed: int, symmetric: bool) -> None:
    rng = np.random.default_rng(seed)
    costs = rng.random((6, 6))
    costs = np.minimum(costs, costs.T) if symmetric else costs
    is_optimal = np.pad(costs, ((1, 0), (1, 0)))
    np.fill_diagonal(is_optimal, np.inf)
    merged = merge_stops(is_optimal)
    assert merged.symmetric == symmetric
    cuts = Cuts.empty(merged).extend(rng.random((3, merged.component_count)) < 0.4)
    cuts = Cuts(cuts.components[cuts.components.any(axis=1) & ~cuts.components.all(axis=1)])
    of_places = rng.normal(size=7)
    duals = DualPrices(of_places, of_places if symmetric else rng.normal(size=7), -rng.random(len(cuts)))
    arcs = Arcs.where(merged, np.isfinite(merged.costs))
    assert dual_bound(merged, arcs, cuts, duals) <= least_cost(costs) + 1e-9


def test_no_step_has_a_negative_reduced_cost_at_the_optimum() -> None:
    costs = np.random.default_rng(0).random((9, 9))
    np.fill_diagonal(costs, np.inf)
    merged = merge_stops(costs)
    arcs, cuts = Arcs.where(merged, np.isfinite(merged.costs)), Cuts.empty(merged)
    solved = solve_lp(merged, arcs, cuts)
    assert solved is not None
    # A step at its upper limit may have one; the limit of 1 is also what each exit and entry allows, so none has.
    assert reduced_costs(merged, cuts, solved.duals).min() > -1 - 1e-9
    assert dual_bound(merged, arcs, cuts, solved.duals) == pytest.approx(
        float(solved.counts @ merged.costs[arcs.exits, arcs.entries])
    )


def test_what_no_counts_obey_is_infeasible() -> None:
    costs = np.full((3, 3), np.inf)
    costs[0, 1] = costs[1, 0] = 1.0
    merged = merge_stops(costs)
    arcs = Arcs.where(merged, np.isfinite(merged.costs))
    with pytest.raises(Infeasible):
        solve_lp(merged, arcs, Cuts.empty(merged))
    with pytest.raises(Infeasible):
        solve_milp(merged, arcs, Cuts.empty(merged), time_limit=np.inf)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_lightest_cut_is_among_those_found(seed: int) -> None:
    """Against a trial of every set of stops, on balanced counts."""
    rng = np.random.default_rng(seed)
    n = 6
    costs = rng.random((n, n))
    np.fill_diagonal(costs, np.inf)
    merged = merge_stops(costs)
    table = sum(rng.random() * np.eye(n)[rng.permutation(n)] for _ in range(3))
    arcs = Arcs.where(merged, np.isfinite(merged.costs))
    counts = table[arcs.exits, arcs.entries]
    found = find_violated_cuts(merged, arcs, counts)
    lightest = min(_leaving(table, [s >> i & 1 == 1 for i in range(n)]) for s in range(1, 2**n - 1))
    if lightest > 1:
        assert len(found) == 0
    elif lightest < 1 - 1e-5:
        assert min(_leaving(table, list(map(bool, row))) for row in _by_stop(merged, found)) == pytest.approx(lightest)


def _leaving(table: np.ndarray, inside: list[bool]) -> float:
    chosen = np.array(inside)
    return float(table[np.ix_(chosen, ~chosen)].sum())


def _by_stop(merged, found):  # type: ignore[no-untyped-def]
    return found[:, merged.exit_components[merged.exits]]
