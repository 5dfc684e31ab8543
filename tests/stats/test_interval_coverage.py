"""A small seeded run of `recipes/interval_coverage.py`, whose table `make tables` prints in full."""

import runpy
from pathlib import Path

import numpy as np
import pytest

RECIPE = runpy.run_path(str(Path(__file__).parents[2] / "recipes" / "interval_coverage.py"))


@pytest.mark.parametrize("outcome", RECIPE["OUTCOMES"], ids=lambda outcome: outcome.name)
def test_the_default_interval_covers_with_eleven_scenes(outcome):
    methods = (RECIPE["default_interval"], RECIPE["plain_t"])
    default, plain = RECIPE["coverages"](outcome, 11, methods, simulations=400, seed=5)
    # Four hundred coverages of 95 % have a standard deviation of 1.1 points.
    assert 0.925 <= default.rate <= 0.98
    assert plain.rate < 0.7


@pytest.mark.parametrize("outcome", RECIPE["OUTCOMES"], ids=lambda outcome: outcome.name)
def test_the_simulated_truth_is_the_mean_over_many_scenes(outcome):
    values, _ = RECIPE["draw_benchmark"](outcome, 4000, np.random.default_rng(8))
    assert values.mean() == pytest.approx(RECIPE["truth"](outcome), rel=0.03)
