"""Runs of a system: the interval grows with their variation, and only with what scenes do not explain already."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from itinera.errors import BadArgument
from itinera.stats import (
    difference_over_runs,
    difference_p_value,
    estimate_mean,
    estimate_over_runs,
    expected_maximum,
    interval,
    interval_over_runs,
    paired_difference,
    pool_variations,
    probability_of_improvement,
    run_variation,
    tie_groups,
)
from itinera.stats.runs import _variance_of_maximum

SCENES = np.repeat(np.arange(8), 10)


def draw(runs: int, *, seed: int = 0, run_sd: float = 0.0, noise: float = 1.0) -> np.ndarray:
    """(runs, 80) values: scenes differ by 1, runs by `run_sd`, and every value has its own noise."""
    rng = np.random.default_rng(seed)
    scenes = rng.normal(size=8)[SCENES]
    return scenes + run_sd * rng.normal(size=(runs, 1)) + noise * rng.normal(size=(runs, 80))


def test_a_single_run_has_the_default_interval() -> None:
    (values,) = draw(1)
    assert interval_over_runs([values], clusters=SCENES) == interval(values, clusters=SCENES)
    other = draw(1, seed=5)[0]
    assert difference_p_value(values, other) == pytest.approx(scipy_stats.ttest_rel(values, other).pvalue)


def test_equal_runs_add_nothing() -> None:
    (values,) = draw(1)
    alone, thrice = interval(values, clusters=SCENES), interval_over_runs([values] * 3, clusters=SCENES)
    assert (thrice.low, thrice.high) == pytest.approx((alone.low, alone.high))
    assert run_variation([values] * 3, clusters=SCENES).sd == pytest.approx(0, abs=1e-12)


def test_the_variance_between_runs_is_added_to_that_between_scenes() -> None:
    runs = draw(1)[0] + np.array([[-2.0], [1.0], [1.0]])  # runs differ by a constant: all of it is between runs
    found, scenes = (estimate_over_runs(runs, clusters=SCENES), estimate_mean(runs.mean(axis=0), clusters=SCENES))
    between = 3.0 / 3  # the variance of -2, 1, 1 is 3, of the mean of three runs a third of it
    assert found.standard_error**2 == pytest.approx(scenes.standard_error**2 + between)
    shares = scenes.standard_error**4 / scenes.df + between**2 / 2
    assert found.df == pytest.approx((scenes.standard_error**2 + between) ** 2 / shares)


def test_variation_of_runs_within_scenes_is_not_counted_twice() -> None:
    excess = [run_variation(draw(3, seed=k, noise=3.0), clusters=SCENES).excess_sd ** 2 for k in range(300)]
    plain = [run_variation(draw(3, seed=k, noise=3.0), clusters=SCENES).sd ** 2 for k in range(300)]
    # Noise alone moves means of runs by 3² / 80; the excess is what is left of that, cut off at zero.
    assert np.mean(plain) == pytest.approx(9 / 80, rel=0.15)
    assert np.mean(excess) < 0.5 * np.mean(plain)


def test_two_runs_that_differ_have_a_wide_interval() -> None:
    near = interval_over_runs(draw(1)[0] + np.array([[-0.01], [0.01]]), clusters=SCENES)
    far = interval_over_runs(draw(1)[0] + np.array([[-2.0], [2.0]]), clusters=SCENES)
    assert far.high - far.low > 5 * (near.high - near.low)  # one degree of freedom


def test_an_interval_over_runs_stays_within_its_bounds() -> None:
    rng = np.random.default_rng(1)
    runs = (rng.random((2, 80)) < np.array([[0.02], [0.3]])).astype(float)
    found = interval_over_runs(runs, clusters=SCENES, bounds=(0, 1))
    assert 0 <= found.low < found.mean < found.high <= 1


def test_the_order_of_runs_changes_nothing() -> None:
    runs = draw(4, run_sd=1.0)
    one, other = (interval_over_runs(each, clusters=SCENES) for each in (runs, runs[::-1]))
    assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_p_is_below_five_percent_where_the_interval_excludes_zero() -> None:
    verdicts = set()
    for seed in range(40):
        a, b = draw(3, seed=seed, run_sd=0.5) + 0.8, draw(2, seed=seed + 100, run_sd=0.5)
        found = difference_over_runs(a, b, clusters=SCENES)
        excludes = found.interval.low > 0 or found.interval.high < 0
        assert (found.p_value < 0.05) == excludes
        assert found.test == "t"
        verdicts.add(excludes)
    assert verdicts == {True, False}


def test_runs_that_vary_make_a_difference_less_certain() -> None:
    a, b = draw(1, seed=1)[0] + 1.0, draw(1, seed=1)[0] + 0.1 * draw(1, seed=2)[0]
    sure = difference_p_value(a, b, clusters=SCENES)
    unsure = difference_p_value(a + np.array([[-1.0], [1.0]]), b, clusters=SCENES)
    assert sure < 0.05 < unsure


def test_letters_know_the_runs() -> None:
    weak = draw(1, seed=1)[0]
    strong = weak + 1.0 + 0.1 * draw(1, seed=2)[0]
    spread = np.array([[-2.0], [2.0]])
    assert [len(g) for g in tie_groups([weak, strong], clusters=SCENES).groups] == [1, 1]
    assert tie_groups([weak, strong], clusters=SCENES).groups == ({"b"}, {"a"})
    assert tie_groups([weak, strong + spread], clusters=SCENES).groups == ({"a"}, {"a"})


def test_every_run_is_compared_with_every_run() -> None:
    a, b = [[1, 1, 0, 0], [1, 0, 0, 0]], [[0, 0, 0, 0]]
    # On the first episode both runs are ahead, on the second one of two, on the others both systems are equal.
    assert probability_of_improvement(a, b).mean == pytest.approx((1 + 0.75 + 0.5 + 0.5) / 4)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 30])
def test_the_expected_maximum_is_that_of_normal_values(count: int) -> None:
    drawn = np.random.default_rng(count).normal(size=(200_000, count)).max(axis=1)
    assert expected_maximum(count) == pytest.approx(drawn.mean(), abs=0.01)
    assert _variance_of_maximum(count) == pytest.approx(drawn.var(), rel=0.02)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_the_gain_of_the_best_run_is_unbiased(count: int) -> None:
    rng = np.random.default_rng(count)
    gains, remarks = [], []
    for _ in range(400):
        runs = 0.02 * rng.normal(size=(count, 1)) + np.zeros(6)
        gains.append(runs[:, 0].max() - runs[:, 0].mean())
        remarks.append(run_variation(runs).best_of_gain)
    assert np.mean(remarks) == pytest.approx(np.mean(gains), abs=0.002)  # 0.2 points
    assert np.mean(remarks) == pytest.approx(0.02 * expected_maximum(count), abs=0.002)


def test_several_systems_say_how_far_runs_of_another_vary() -> None:
    found = [run_variation(draw(3, seed=k, run_sd=2.0), clusters=SCENES) for k in range(200)]
    pooled = pool_variations(found, 5)
    assert pooled.df == 400
    assert pooled.sd == pytest.approx(2.0, rel=0.1)
    assert pooled.gain == pytest.approx(2.0 * 1.163, rel=0.1)
    variance, df = pooled.variance
    assert (math.sqrt(variance), df) == (pytest.approx(2.0 * math.sqrt(0.4475), rel=0.1), 400)


def test_further_variances_widen_a_difference_of_single_runs() -> None:
    a, b = draw(1, seed=1)[0], draw(1, seed=2)[0]
    rng = np.random.default_rng(0)
    plain = paired_difference(a, b, clusters=SCENES, rng=rng).interval
    wide = difference_over_runs(a, b, clusters=SCENES, extra=[(4.0, 2.0)]).interval
    assert wide.high - wide.low > plain.high - plain.low


def test_runs_are_refused_if_they_are_none() -> None:
    with pytest.raises(BadArgument, match="at least two"):
        run_variation([[1.0, 2.0]])
    with pytest.raises(BadArgument, match="one row per run"):
        interval_over_runs(np.zeros((2, 2, 2)))
    with pytest.raises(BadArgument, match="run 2 holds 1 values that are not finite"):
        interval_over_runs([[1.0, 2.0], [1.0, np.nan]])
    with pytest.raises(BadArgument, match="a has 3 episodes and b has 2"):
        estimate_over_runs([[1.0, 2.0, 3.0]], [[1.0, 2.0]])
    with pytest.raises(BadArgument, match="best of 0 runs"):
        expected_maximum(0)
