"""A small seeded run of `recipes/run_coverage.py`, whose tables `make tables` prints in full."""

import runpy
from pathlib import Path

import pytest

RECIPE = runpy.run_path(str(Path(__file__).parents[2] / "recipes" / "run_coverage.py"))
DESIGNS = [design for design in RECIPE["designs"]() if design.promised and design.run_sd >= 0.1]


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: f"{design.name}, {design.runs} runs, {design.run_sd}")
def test_intervals_over_runs_cover_with_eleven_scenes(design):
    tallies, _ = RECIPE["simulate"](design, 300, 7)
    default, plain, scenes = (tallies[name].covered / 300 for name in ("default", "plain", "scenes"))
    # Three hundred coverages of 95 % have a standard deviation of 1.3 points.
    assert 0.91 <= default <= 0.995
    assert plain <= default
    if design.paired and design.run_sd >= 0.2:
        assert scenes < 0.92


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 5])
def test_the_remark_on_the_best_of_runs_is_that_of_the_simulation(count):
    simulated, remark = RECIPE["measure_best_of"](count, 0.2, 200, 7)
    assert abs(simulated - remark) < 0.002
    reported, corrected = RECIPE["measure_false_leads"](5, 0.2, 200, 7)
    assert corrected < 0.5 * reported


def test_the_simulated_truth_is_the_mean_over_many_scenes_and_runs():
    import numpy as np

    design = next(one for one in RECIPE["designs"]() if one.run_sd == 0.2 and not one.paired)
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(150):
        of_scene, of_path = RECIPE["draw_scenes"](rng)
        drawn.append(RECIPE["draw_runs"](design, of_scene + of_path, 3, rng).mean())
    assert np.mean(drawn) == pytest.approx(RECIPE["truth"](design), abs=0.012)
