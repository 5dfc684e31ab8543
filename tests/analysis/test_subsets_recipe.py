"""Small seeded runs of `recipes/subsets.py`, whose tables `make tables` prints in full."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from itinera.stats.sequential import ConfidenceSequence

RECIPE = runpy.run_path(str(Path(__file__).parents[2] / "recipes" / "subsets.py"))


def test_the_sequence_misses_where_the_recipe_says_it_does():
    """The recipe follows the fortunes of the true mean only; a level of 40 % makes misses frequent."""
    values = (np.arange(60) < 20).astype(float)
    drawn = np.random.default_rng(3).permuted(np.tile(values, (40, 1)), axis=1)
    found = RECIPE["miss_ever"](drawn, 0.1, level=0.4)
    for row, missed in zip(drawn, found, strict=True):
        sequence, ever = ConfidenceSequence(60, half_width=0.1, level=0.4), False
        for value in row:
            sequence.add(float(value))
            one = sequence.interval()
            ever |= not one.low - 1e-9 <= values.mean() <= one.high + 1e-9
        assert ever <= missed  # the grid of means makes the interval a little wider
    assert 0 < found.mean() <= 0.7


@pytest.mark.slow
def test_stated_errors_and_intervals_hold():
    split, scores = RECIPE["simulated_split"](1)
    first, second = scores["per path"], scores["per instruction"]
    for one in RECIPE["measure_subsets"](split, first, second, draws=400, size=200, seed=1):
        # Four hundred coverages of 95 % have a standard deviation of 1.1 points.
        assert min(one.stated, one.covers, one.covers_adjusted) >= 0.92
        assert one.variance_adjusted < one.variance < 1.2


@pytest.mark.slow
def test_stopping_keeps_its_coverage():
    values = np.repeat([0.0, 1.0], [900, 100])
    found = RECIPE["measure_stopping"](values, 0.03, orders=2000, seed=1)
    assert found.ever <= 0.06
    assert found.naive > 0.07
