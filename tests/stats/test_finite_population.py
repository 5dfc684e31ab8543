"""The mean of a finite population from a stratified two-stage sample: against textbook formulas and enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.stats.finite_population import SampleDesign, estimate_population_mean, expected_error, worst_error


def simple_design(drawn, size):
    """A simple random sample of single episodes."""
    return SampleDesign(np.arange(drawn), np.zeros(drawn, int), np.ones(drawn, int), np.array([size]), np.array([size]))


def test_a_simple_sample_has_the_textbook_error():
    values = np.array([0.2, 0.4, 0.9, 0.1, 0.7])
    found = estimate_population_mean(values, simple_design(5, 20))
    assert found.interval.mean == pytest.approx(values.mean())
    assert found.standard_error == pytest.approx(math.sqrt((1 - 5 / 20) * values.var(ddof=1) / 5))
    assert found.df == pytest.approx(4)


def test_a_census_knows_the_mean():
    found = estimate_population_mean([0.0, 1.0, 1.0], simple_design(3, 3), bounds=(0, 1))
    assert (found.interval.low, found.interval.high) == (found.interval.mean, found.interval.mean)


def test_stratum_means_count_by_their_size():
    strata = np.array([0, 0, 1, 1])
    design = SampleDesign(np.arange(4), strata, np.ones(4, int), np.array([30, 10]), np.array([30, 10]))
    found = estimate_population_mean([1.0, 1.0, 0.0, 0.0], design)
    assert found.interval.mean == pytest.approx(0.75)
    assert design.weights.tolist() == [15, 15, 5, 5]


def draws(sizes, drawn, second):
    """Every two-stage sample: `drawn` paths, of which the one at each place in turn has `second` episodes drawn."""
    for paths in itertools.permutations(range(len(sizes)), drawn):
        for chosen in itertools.product(
            *(itertools.combinations(range(sizes[p]), second if i == 0 else 1) for i, p in enumerate(paths))
        ):
            yield [(p, k) for p, ks in zip(paths, chosen, strict=True) for k in ks], paths


def test_the_estimate_and_its_variance_are_unbiased_over_all_samples():
    """Four paths of three episodes, three of them drawn, two episodes of one of these: every possible sample."""
    values = np.array([[0.1, 0.3, 0.2], [0.9, 0.5, 0.8], [0.4, 0.6, 0.0], [0.2, 0.9, 0.3]])
    means, variances, expected = [], [], []
    for sample, paths in draws([3] * 4, 3, 2):
        codes = np.array([paths.index(p) for p, _ in sample])
        design = SampleDesign(codes, np.zeros(3, int), np.full(3, 3), np.array([4]), np.array([12]))
        found = estimate_population_mean([values[one] for one in sample], design)
        means.append(found.interval.mean)
        variances.append(found.standard_error**2)
        expected.append(expected_error(values.ravel(), np.repeat(np.arange(4), 3), np.zeros(4, int), design))
    assert np.mean(means) == pytest.approx(values.mean())
    assert np.mean(variances) == pytest.approx(np.var(means))
    assert expected[0] ** 2 == pytest.approx(np.var(means))


def test_control_variates_that_explain_everything_leave_no_error():
    known = np.linspace(0, 1, 40)
    rows = np.array([3, 8, 15, 22, 31, 36])
    found = estimate_population_mean(
        2 * known[rows] + 1, simple_design(6, 40), covariates=known[rows, None], covariate_means=[known.mean()]
    )
    assert found.slopes == pytest.approx((2.0,))
    assert found.interval.mean == pytest.approx(2 * known.mean() + 1)
    assert found.standard_error == pytest.approx(0, abs=1e-12)


def test_constant_and_repeated_control_variates_change_nothing():
    values, known = np.array([0.2, 0.4, 0.9, 0.1]), np.ones((4, 2))
    plain = estimate_population_mean(values, simple_design(4, 40))
    found = estimate_population_mean(values, simple_design(4, 40), covariates=known, covariate_means=[1.0, 1.0])
    assert found.interval.mean == pytest.approx(plain.interval.mean)
    assert found.slopes == (0.0, 0.0)


def test_a_sample_of_successes_only_does_not_claim_certainty():
    found = estimate_population_mean(np.ones(10), simple_design(10, 100), bounds=(0.0, 1.0))
    assert found.interval.high == 1
    assert 0.6 < found.interval.low < 0.8


def test_the_worst_error_is_that_of_half_successes():
    worst = worst_error(simple_design(25, 100))
    values = np.repeat([0.0, 1.0], 50)
    assert worst == pytest.approx(expected_error(values, np.arange(100), np.zeros(100, int), simple_design(25, 100)))
    paired = SampleDesign(np.arange(25), np.zeros(25, int), np.full(25, 2), np.array([50]), np.array([100]))
    alternating = np.tile([0.0, 1.0], 50)  # a success and a failure on each path, which correcting for paths cannot see
    every = expected_error(alternating, np.repeat(np.arange(50), 2), np.zeros(50, int), paired)
    assert worst_error(paired) == pytest.approx(every)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], [0], [1], [5], [5]), "at least two sampled paths"),
        (([0, 1, 2], [0, 0, 0], [1, 1, 1], [2], [2]), "at most as many as the stratum has"),
        (([0, 0, 1], [0, 0], [1, 1], [5], [5]), "fewer episodes than were sampled"),
    ],
)
def test_impossible_designs_are_refused(arguments, message):
    with pytest.raises(BadArgument, match=message):
        SampleDesign(*map(np.array, arguments))
