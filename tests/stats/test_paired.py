from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.stats import interval, paired_difference, probability_of_improvement, wilson
from itinera.stats.paired import paired_t_p_value


def rng():
    return np.random.default_rng(0)


def enumerated(totals):
    """The sign-flip p-value by trying every pattern, one after the other."""
    observed = abs(sum(totals))
    patterns = list(product((1, -1), repeat=len(totals)))
    far = [abs(sum(s * t for s, t in zip(signs, totals, strict=True))) >= observed - 1e-9 for signs in patterns]
    return sum(far) / len(patterns)


def test_the_difference_is_a_minus_b():
    found = paired_difference([1, 1, 1, 0], [0, 0, 1, 0], rng=rng())
    assert found.interval.mean == 0.5
    assert (found.episodes, found.clusters, found.exact) == (4, 4, True)


def test_the_interval_is_the_default_one_on_differences():
    a, b, scenes = np.array([3.0, 5, 4, 8]), np.array([1.0, 2, 4, 3]), list("aabb")
    expected = interval(a - b, clusters=scenes)
    assert paired_difference(a, b, clusters=scenes, rng=rng()).interval == expected


def test_a_system_that_never_loses_is_not_thereby_a_rate():
    a, b = [1, 1, 1, 1, 0, 0], [0, 1, 1, 1, 0, 0]
    assert paired_difference(a, b, clusters=list("aabbcc"), rng=rng()).interval.low < 0


@given(totals=st.lists(st.integers(-5, 5), min_size=1, max_size=8))
def test_exact_p_values_try_every_pattern(totals):
    # Tenths are not exact in binary; sums that are equal in truth must count as equal.
    found = paired_difference(np.array(totals) / 10, np.zeros(len(totals)), rng=rng())
    assert found.exact
    assert found.p_value == enumerated(totals)


@pytest.mark.parametrize("scenes", [1, 2, 5, 11])
def test_the_smallest_p_value_halves_with_every_scene(scenes):
    episodes = np.repeat(np.arange(scenes), 50)
    found = paired_difference(np.ones(len(episodes)), np.zeros(len(episodes)), clusters=episodes, rng=rng())
    assert found.p_value == pytest.approx(2 / 2**scenes)
    assert found.clusters == scenes


def test_episodes_of_a_scene_flip_together():
    # Scene totals 3 and 1: only the observed pattern and its opposite reach 4.
    found = paired_difference([1, 1, 1, 1], [0, 0, 0, 0], clusters=list("aaab"), rng=rng())
    assert found.p_value == 0.5


def test_many_scenes_are_sampled_and_close_to_the_exact_answer():
    differences = np.random.default_rng(1).normal(0.4, 1, 15)
    sampled = paired_difference(differences, np.zeros(15), rng=rng(), permutations=20_000)
    assert not sampled.exact
    assert sampled.p_value == pytest.approx(enumerated(differences), abs=0.01)


def test_sampled_p_values_are_never_zero():
    found = paired_difference(np.ones(60), np.zeros(60), rng=rng(), permutations=99)
    assert found.p_value == 0.01


def test_same_seed_same_p_value():
    a, b = np.random.default_rng(2).normal(size=(2, 40))
    assert paired_difference(a, b, rng=rng()) == paired_difference(a, b, rng=rng())


def test_equal_systems_cannot_be_told_apart():
    found = paired_difference([0.2, 0.4, 0.6], [0.2, 0.4, 0.6], rng=rng())
    assert found.p_value == 1
    assert found.interval.low == found.interval.high == 0


def test_swapping_systems_mirrors_the_answer():
    a, b = np.random.default_rng(3).normal(size=(2, 12))
    forth, back = paired_difference(a, b, rng=rng()), paired_difference(b, a, rng=rng())
    assert forth.p_value == back.p_value
    assert forth.interval.low == pytest.approx(-back.interval.high)


@pytest.mark.parametrize("test", ["sign flips", "t"])
def test_p_values_are_uniform_when_nothing_differs(test):
    random = np.random.default_rng(4)
    scenes = np.repeat(np.arange(10), 6)
    p_values = []
    for _ in range(500):
        effects = random.normal(size=10)[scenes] + random.normal(size=60)
        if test == "t":
            p_values.append(paired_t_p_value(effects, np.zeros(60), clusters=scenes))
        else:
            p_values.append(paired_difference(effects, np.zeros(60), clusters=scenes, rng=random).p_value)
    # The largest gap to the uniform distribution stays below 1.63 / sqrt(n) in 99 % of samples.
    gap = np.abs(np.sort(p_values) - np.arange(1, 501) / 500).max()
    assert gap < 1.63 / np.sqrt(500)


def test_t_p_value_matches_the_interval_that_just_touches_zero():
    a, b = np.random.default_rng(5).normal(size=(2, 30)) + np.array([[0.5], [0.0]])
    scenes = np.repeat(np.arange(6), 5)
    p_value = paired_t_p_value(a, b, clusters=scenes)
    assert interval(a - b, clusters=scenes, level=1 - p_value).low == pytest.approx(0, abs=1e-9)


def test_t_p_value_of_differences_that_do_not_vary_is_that_of_sign_flips():
    assert paired_t_p_value([1, 1, 1, 1], [0, 0, 0, 0], clusters=list("aabc")) == 0.25
    assert paired_t_p_value([1, 1], [1, 1]) == 1
    assert paired_t_p_value([1], [0]) == 1


def test_probability_of_improvement_counts_ties_half():
    # Better, better, worse, tied: (1 + 1 + 0 + 1/2) / 4.
    outcome = probability_of_improvement([5, 3, 1, 2], [1, 2, 2, 2])
    assert outcome.mean == 0.625
    assert 0 <= outcome.low < 0.625 < outcome.high <= 1


def test_always_better_is_still_not_certain():
    outcome = probability_of_improvement([2, 3, 4], [1, 2, 3], clusters=list("abc"))
    assert (outcome.low, outcome.high) == (wilson(3, 3).low, 1)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_probabilities_of_improvement_of_both_systems_sum_to_one(pairs):
    a, b = np.array(pairs).T
    assert probability_of_improvement(a, b).mean + probability_of_improvement(b, a).mean == pytest.approx(1)


def test_systems_on_different_episodes_are_refused():
    with pytest.raises(BadArgument, match="a has 3 values and b has 2"):
        paired_difference([1, 2, 3], [1, 2], rng=rng())


def test_undefined_values_name_their_system():
    with pytest.raises(BadArgument, match="b holds 1 values that are not finite"):
        paired_difference([1, 2], [1, np.nan], rng=rng())


def test_permutations_are_needed():
    with pytest.raises(BadArgument, match="≥ 1"):
        paired_difference([1, 2], [1, 1], rng=rng(), permutations=0)


def test_weights_count_in_the_difference_its_test_and_the_share_of_improvements():
    a, b, weights = np.array([1.0, 0.0, 3.0]), np.array([0.0, 1.0, 0.0]), [1.0, 2.0, 3.0]
    found = paired_difference(a, b, rng=rng(), weights=weights)
    assert found.interval.mean == pytest.approx((1 - 2 + 9) / 6)
    assert found.p_value == enumerated([1.0, -2.0, 9.0])
    assert probability_of_improvement(a, b, weights=weights).mean == pytest.approx(4 / 6)
    assert paired_t_p_value(a, b, weights=weights) == pytest.approx(paired_t_p_value(a, b, weights=[2, 4, 6]))
    assert paired_t_p_value(a, b, weights=weights) != pytest.approx(paired_t_p_value(a, b))
