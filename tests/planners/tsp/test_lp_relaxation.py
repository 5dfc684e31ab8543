from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.planners.tsp.lp_relaxation import (
    Cuts,
    Infeasible,
    Prices,
    Steps,
    bound_by,
    reduced_costs,
    relax,
    relax_whole,
    separate,
)
from itinera.planners.tsp.merge_stops import merge
from planners.orders import least_cost


def two_pairs() -> np.ndarray:
    """Two pairs of stops 10 apart, the stops of a pair 1 apart: a round costs 22, two loops cost 4."""
    x = np.array([0.0, 1.0, 11.0, 12.0])
    costs = np.abs(x[:, None] - x[None])
    costs[0, 1] += 0.25  # so that directions differ
    np.fill_diagonal(costs, np.inf)
    return costs


def test_the_relaxation_falls_into_loops_until_cut() -> None:
    merged = merge(two_pairs())
    steps, cuts = Steps.where(merged, np.isfinite(merged.costs)), Cuts.none(merged)
    loops = relax(merged, steps, cuts)
    assert loops is not None
    assert bound_by(merged, steps, cuts, loops.prices) == pytest.approx(4.25)
    broken = separate(merged, steps, loops.counts)
    by_stop = broken[:, merged.island_of_exit[merged.exits]]
    first_pair = np.array([True, True, False, False])
    assert any(np.array_equal(row, first_pair) or np.array_equal(row, ~first_pair) for row in by_stop)
    cuts = cuts.and_also(broken)
    tight = relax(merged, steps, cuts)
    assert tight is not None
    assert bound_by(merged, steps, cuts, tight.prices) == pytest.approx(24.0)
    assert len(separate(merged, steps, tight.counts)) == 0
    binding = cuts.that_bind(tight.prices)
    assert 1 <= len(binding) <= len(cuts)
    whole, bound = relax_whole(merged, steps, cuts, time_limit=np.inf)
    assert whole is not None
    assert bound == pytest.approx(24.0)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), two_way=st.booleans())
def test_any_prices_bound_every_round(seed: int, two_way: bool) -> None:
    rng = np.random.default_rng(seed)
    costs = rng.random((6, 6))
    costs = np.minimum(costs, costs.T) if two_way else costs
    closed = np.pad(costs, ((1, 0), (1, 0)))
    np.fill_diagonal(closed, np.inf)
    merged = merge(closed)
    assert merged.two_way == two_way
    cuts = Cuts.none(merged).and_also(rng.random((3, merged.island_count)) < 0.4)
    cuts = Cuts(cuts.islands[cuts.islands.any(axis=1) & ~cuts.islands.all(axis=1)])
    of_places = rng.normal(size=7)
    prices = Prices(of_places, of_places if two_way else rng.normal(size=7), -rng.random(len(cuts)))
    steps = Steps.where(merged, np.isfinite(merged.costs))
    assert bound_by(merged, steps, cuts, prices) <= least_cost(costs) + 1e-9


def test_no_step_has_a_negative_reduced_cost_at_the_optimum() -> None:
    costs = np.random.default_rng(0).random((9, 9))
    np.fill_diagonal(costs, np.inf)
    merged = merge(costs)
    steps, cuts = Steps.where(merged, np.isfinite(merged.costs)), Cuts.none(merged)
    solved = relax(merged, steps, cuts)
    assert solved is not None
    # A step at its upper limit may have one; the limit of 1 is also what each exit and entry allows, so none has.
    assert reduced_costs(merged, cuts, solved.prices).min() > -1 - 1e-9
    assert bound_by(merged, steps, cuts, solved.prices) == pytest.approx(
        float(solved.counts @ merged.costs[steps.exits, steps.entries])
    )


def test_what_no_counts_obey_is_infeasible() -> None:
    costs = np.full((3, 3), np.inf)
    costs[0, 1] = costs[1, 0] = 1.0
    merged = merge(costs)
    steps = Steps.where(merged, np.isfinite(merged.costs))
    with pytest.raises(Infeasible):
        relax(merged, steps, Cuts.none(merged))
    with pytest.raises(Infeasible):
        relax_whole(merged, steps, Cuts.none(merged), time_limit=np.inf)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_lightest_cut_is_among_those_found(seed: int) -> None:
    """Against a trial of every set of stops, on balanced counts."""
    rng = np.random.default_rng(seed)
    n = 6
    costs = rng.random((n, n))
    np.fill_diagonal(costs, np.inf)
    merged = merge(costs)
    table = sum(rng.random() * np.eye(n)[rng.permutation(n)] for _ in range(3))
    steps = Steps.where(merged, np.isfinite(merged.costs))
    counts = table[steps.exits, steps.entries]
    found = separate(merged, steps, counts)
    lightest = min(_leaving(table, [s >> i & 1 == 1 for i in range(n)]) for s in range(1, 2**n - 1))
    if lightest > 1:
        assert len(found) == 0
    elif lightest < 1 - 1e-5:
        assert min(_leaving(table, list(map(bool, row))) for row in _by_stop(merged, found)) == pytest.approx(lightest)


def _leaving(table: np.ndarray, inside: list[bool]) -> float:
    chosen = np.array(inside)
    return float(table[np.ix_(chosen, ~chosen)].sum())


def _by_stop(merged, found):  # type: ignore[no-untyped-def]
    return found[:, merged.island_of_exit[merged.exits]]
