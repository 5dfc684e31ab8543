"""A small seeded run of `recipes/skill_recovery.py`, whose table `make tables` prints in full."""

import runpy
from pathlib import Path

import numpy as np
import pytest

RECIPE = runpy.run_path(str(Path(__file__).parents[2] / "recipes" / "skill_recovery.py"))


@pytest.mark.parametrize("agent", RECIPE["AGENTS"], ids=lambda agent: agent.name)
def test_default_intervals_cover_with_eleven_scenes(agent):
    found = RECIPE["coverages"](agent, 11, simulations=100, seed=3)
    # A hundred coverages of 95 % have a standard deviation of 2.2 points.
    assert 0.89 <= found["model"].rate <= 0.99
    assert 0.89 <= found["bootstrap"].rate <= 0.99
    assert found["percentile"].width < found["bootstrap"].width


@pytest.mark.parametrize("agent", RECIPE["AGENTS"], ids=lambda agent: agent.name)
def test_the_simulated_truth_is_the_mean_effect_over_many_scenes(agent):
    study = RECIPE["draw_study"](agent, 2000, np.random.default_rng(8))
    assert np.mean(study.intervened - study.controls) == pytest.approx(agent.effect, abs=0.008)
