"""A small seeded run of `recipes/interval_coverage.py`, whose table `make tables` prints in full."""

import runpy
from pathlib import Path

import numpy as np
import pytest

RECIPE = runpy.run_path(str(Path(__file__).parents[2] / "recipes" / "interval_coverage.py"))


PROMISED = [outcome for outcome in RECIPE["SKEWED"] if outcome.lowest is not None and outcome.bounds[0] == 0]


@pytest.mark.parametrize("outcome", RECIPE["OUTCOMES"], ids=lambda outcome: outcome.name)
def test_the_default_interval_covers_with_eleven_scenes(outcome):
    methods = (RECIPE["default_interval"], RECIPE["plain_t"])
    default, plain = RECIPE["coverages"](outcome, 11, methods, simulations=400, seed=5)
    # Four hundred coverages of 95 % have a standard deviation of 1.1 points.
    assert default.rate >= 0.925
    assert plain.rate < 0.75


@pytest.mark.parametrize("outcome", PROMISED, ids=lambda outcome: outcome.name)
def test_the_default_interval_covers_where_scenes_are_skewed(outcome):
    methods = (RECIPE["default_interval"], RECIPE["uncorrected"])
    default, uncorrected = RECIPE["coverages"](outcome, 11, methods, simulations=800, seed=5)
    # Eight hundred coverages of 92 % have a standard deviation of 1 point.
    assert default.rate >= 0.9
    assert uncorrected.rate < default.rate - 0.015
    assert default.width < 1.7 * uncorrected.width


@pytest.mark.parametrize("outcome", RECIPE["OUTCOMES"] + RECIPE["SKEWED"], ids=lambda outcome: outcome.name)
def test_the_simulated_truth_is_the_mean_over_many_scenes(outcome):
    values, _ = RECIPE["draw_benchmark"](outcome, 8000, np.random.default_rng(8))
    assert values.mean() == pytest.approx(RECIPE["truth"](outcome), rel=0.05)
