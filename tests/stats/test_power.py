from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr
from statsmodels.stats.power import TTestPower

from itinera.errors import BadArgument
from itinera.stats import (
    ComparisonDesign,
    achieved_power,
    detectable_difference,
    difference_p_value,
    episodes_needed,
    estimate_mean,
    runs_needed,
)
from itinera.stats.paired import paired_t_p_value

comparisons = st.builds(
    ComparisonDesign,
    sd=st.floats(0.1, 3),
    icc=st.floats(0, 1),
    correlation=st.none() | st.floats(-0.9, 0.9),
    alpha=st.sampled_from([0.01, 0.05, 0.1]),
)


def scores(random, mean, icc, scenes, episodes):
    """Normal scores of standard deviation 1 in scenes, with this intra-scene correlation; flat."""
    of_scene = np.sqrt(icc) * random.normal(size=(scenes, 1))
    return (mean + of_scene + np.sqrt(1 - icc) * random.normal(size=(scenes, episodes))).ravel()


def test_paired_power_is_what_simulation_finds():
    random = np.random.default_rng(0)
    scenes, episodes, correlation, icc, difference = 12, 20, 0.6, 0.1, 0.3
    clusters = np.repeat(np.arange(scenes), episodes)
    differences_sd = np.sqrt(2 * (1 - correlation))
    found = [
        paired_t_p_value(
            differences_sd * scores(random, difference / differences_sd, icc, scenes, episodes),
            np.zeros(scenes * episodes),
            clusters=clusters,
        )
        < 0.05
        for _ in range(1500)
    ]
    comparison = ComparisonDesign(sd=1.0, icc=icc, correlation=correlation)
    expected = achieved_power(comparison, difference, scenes=scenes, episodes_per_scene=episodes)
    assert 0.5 < expected < 0.9
    assert np.mean(found) == pytest.approx(expected, abs=0.04)  # over three standard deviations


def test_unpaired_power_is_what_simulation_finds():
    random = np.random.default_rng(1)
    scenes, episodes, icc, difference = 10, 8, 0.2, 0.6
    clusters = np.repeat(np.arange(scenes), episodes)
    hits = 0
    for _ in range(1500):
        a = estimate_mean(scores(random, difference, icc, scenes, episodes), clusters=clusters)
        b = estimate_mean(scores(random, 0.0, icc, scenes, episodes), clusters=clusters)
        ratio = (a.mean - b.mean) / np.hypot(a.standard_error, b.standard_error)
        hits += 2 * stdtr(2 * (scenes - 1), -abs(ratio)) < 0.05
    expected = achieved_power(ComparisonDesign(sd=1.0, icc=icc), difference, scenes=scenes, episodes_per_scene=episodes)
    assert 0.5 < expected < 0.9
    assert hits / 1500 == pytest.approx(expected, abs=0.04)


def test_power_without_scenes_is_that_of_the_ordinary_t_test():
    # One episode per scene makes scenes the sample: statsmodels knows the paired t-test of 30 differences.
    comparison = ComparisonDesign(sd=1.0, icc=0.0, correlation=0.5)  # differences of standard deviation 1
    expected = TTestPower().power(0.5, 30, 0.05)
    assert achieved_power(comparison, 0.5, scenes=30, episodes_per_scene=1) == pytest.approx(expected, abs=1e-4)


def test_rates_vary_as_coins_do():
    assert ComparisonDesign.from_success_rate(0.2, icc=0.1).sd == pytest.approx(0.4)


@given(comparison=comparisons, scenes=st.integers(2, 60), episodes=st.integers(1, 200), power=st.floats(0.3, 0.95))
def test_a_detectable_difference_is_detected_with_the_power_asked_for(comparison, scenes, episodes, power):
    difference = detectable_difference(comparison, scenes=scenes, episodes_per_scene=episodes, power=power)
    reached = achieved_power(comparison, difference, scenes=scenes, episodes_per_scene=episodes)
    assert reached == pytest.approx(power, abs=1e-4)


@given(comparison=comparisons, difference=st.floats(0.05, 2), episodes=st.integers(1, 100))
def test_a_plan_is_enough_and_one_scene_less_is_not(comparison, difference, episodes):
    plan = episodes_needed(comparison, difference, episodes_per_scene=episodes)
    assert plan.power >= 0.8
    assert plan.episodes == plan.scenes * episodes
    if plan.scenes > 2:
        fewer = achieved_power(comparison, difference, scenes=plan.scenes - 1, episodes_per_scene=episodes)
        assert fewer < 0.8


def test_more_episodes_in_the_same_scenes_soon_stop_helping():
    comparison = ComparisonDesign.from_success_rate(0.5, icc=0.1, correlation=0.5)
    few, many, countless = (
        detectable_difference(comparison, scenes=11, episodes_per_scene=episodes) for episodes in (10, 200, 1e9)
    )
    assert few > many > countless > 0.9 * many


def test_pairing_helps_when_systems_agree_on_episodes():
    paired = detectable_difference(
        ComparisonDesign.from_success_rate(0.5, icc=0.05, correlation=0.6), scenes=30, episodes_per_scene=50
    )
    unpaired = detectable_difference(
        ComparisonDesign.from_success_rate(0.5, icc=0.05), scenes=30, episodes_per_scene=50
    )
    assert paired < unpaired


def test_the_sign_of_a_difference_does_not_matter():
    comparison = ComparisonDesign.from_success_rate(0.5, icc=0.05, correlation=0.5)
    assert episodes_needed(comparison, -0.1, episodes_per_scene=20) == episodes_needed(
        comparison, 0.1, episodes_per_scene=20
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sd": 0.0, "icc": 0.1}, "standard deviation"),
        ({"sd": 1.0, "icc": 1.2}, "intra-scene"),
        ({"sd": 1.0, "icc": 0.1, "correlation": 1.0}, "correlation between the systems"),
        ({"sd": 1.0, "icc": 0.1, "alpha": 5.0}, "alpha"),
    ],
)
def test_impossible_comparisons_are_refused(arguments, message):
    with pytest.raises(BadArgument, match=message):
        ComparisonDesign(**arguments)


@pytest.mark.parametrize("rate", [0.0, 1.0, 55.0])
def test_a_rate_without_variance_cannot_be_planned_for(rate):
    with pytest.raises(BadArgument, match="success rate"):
        ComparisonDesign.from_success_rate(rate, icc=0.1)


PLAIN = ComparisonDesign(sd=1.0, icc=0.1, correlation=0.5)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: detectable_difference(PLAIN, scenes=1, episodes_per_scene=5), "≥ 2"),
        (lambda: detectable_difference(PLAIN, scenes=5, episodes_per_scene=0), "at least 1"),
        (lambda: detectable_difference(PLAIN, scenes=5, episodes_per_scene=5, power=80), "The power is 80"),
        (lambda: episodes_needed(PLAIN, 0.0, episodes_per_scene=5), "cannot be planned for"),
        (lambda: episodes_needed(PLAIN, 1e-9, episodes_per_scene=5), "Plan for a larger one"),
    ],
)
def test_senseless_questions_are_refused(ask, message):
    with pytest.raises(BadArgument, match=message):
        ask()


def test_the_power_of_several_runs_is_that_of_simulated_comparisons():
    design = ComparisonDesign(1.0, icc=0.2, correlation=0.5, runs=3, run_sd=0.15, run_correlation=0.5)
    scenes, episodes, gap, random = 11, 8, 0.5, np.random.default_rng(3)
    labels, found = np.repeat(np.arange(scenes), episodes), []

    def draw(shared, mean):
        # Two systems share half of the variance of an episode; runs of one share no more than that.
        runs = 0.15 * random.normal(size=(3, 1)) + np.sqrt(0.5) * random.normal(size=(3, scenes * episodes))
        return mean + shared + runs

    for _ in range(400):
        shared = np.sqrt(0.5) * random.normal(size=scenes * episodes)
        of_scene = np.sqrt(2 * 0.5 / 3 * 0.2 / 0.8) * random.normal(size=scenes)[labels]
        a, b = draw(shared, gap) + of_scene, draw(shared, 0.0)
        found.append(difference_p_value(a, b, clusters=labels) < 0.05)
    planned = achieved_power(design, gap, scenes=scenes, episodes_per_scene=episodes)
    assert 0.5 < planned < 0.99
    # The scenes' part of the design is 0.2 of its total, here 0.2 / 0.8 of the variance of the episodes.
    assert np.mean(found) == pytest.approx(planned, abs=0.12)


def test_more_runs_detect_smaller_differences_and_more_scenes_do_not_replace_them():
    def detectable(runs, scenes):
        design = ComparisonDesign(0.5, icc=0.01, correlation=0.8, runs=runs, run_sd=0.02)
        return detectable_difference(design, scenes=scenes, episodes_per_scene=200)

    assert detectable(2, 11) > detectable(3, 11) > detectable(10, 11)
    assert detectable(2, 10_000) > 0.05


def test_the_runs_needed_have_the_power_asked_for_and_one_less_has_not():
    design = ComparisonDesign(0.5, icc=0.01, correlation=0.8, runs=2, run_sd=0.02)
    runs = runs_needed(design, 0.04, scenes=11, episodes_per_scene=213)
    assert achieved_power(replace(design, runs=runs), 0.04, scenes=11, episodes_per_scene=213) >= 0.8
    assert achieved_power(replace(design, runs=runs - 1), 0.04, scenes=11, episodes_per_scene=213) < 0.8
    assert runs_needed(design, 0.001, scenes=11, episodes_per_scene=213) is None


def test_runs_that_cannot_be_planned_for_are_refused():
    with pytest.raises(BadArgument, match="One run does not show"):
        ComparisonDesign(0.5, icc=0.1, run_sd=0.01)
    with pytest.raises(BadArgument, match="runs ≥ 1"):
        ComparisonDesign(0.5, icc=0.1, runs=0)
    with pytest.raises(BadArgument, match="between that of the systems and 1"):
        ComparisonDesign(0.5, icc=0.1, correlation=0.8, runs=2, run_correlation=0.5)
    with pytest.raises(BadArgument, match="however many scenes there are"):
        episodes_needed(ComparisonDesign(0.5, 0.1, 0.5, runs=2, run_sd=0.05), 0.02, episodes_per_scene=100)
