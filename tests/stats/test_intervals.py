import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import stdtrit
from statsmodels.stats.proportion import proportion_confint

from itinera.errors import BadArgument
from itinera.stats import interval, wilson
from itinera.stats.intervals import _logit_ends
from itinera.stats.means import ClusterMeans

fractions = st.floats(0, 1).map(lambda value: round(value, 3))


def ends(outcome):
    return outcome.low, outcome.high


@st.composite
def scenes_of(draw, element, least=2, most=6):
    sizes = draw(st.lists(st.integers(1, 5), min_size=least, max_size=most))
    values = draw(st.lists(element, min_size=sum(sizes), max_size=sum(sizes)))
    return np.array(values, dtype=float), np.repeat(np.arange(len(sizes)), sizes)


def test_wilson_worked_by_hand():
    # z² = 3.8415; centre (8 + 1.9207) / 13.8415 = 0.71674; half-width sqrt(1.6 + 0.96036) · 1.96 / 13.8415 = 0.22658.
    outcome = wilson(8, 10)
    assert outcome.mean == 0.8
    assert ends(outcome) == pytest.approx((0.71674 - 0.22658, 0.71674 + 0.22658), abs=2e-5)


def test_wilson_of_nothing_is_the_rule_z_squared_over_n_plus_z_squared():
    assert ends(wilson(0, 10)) == pytest.approx((0, 3.8414588 / 13.8414588))


@given(trials=st.integers(1, 500), data=st.data(), level=st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_wilson_agrees_with_statsmodels(trials, data, level):
    successes = data.draw(st.integers(0, trials))
    expected = proportion_confint(successes, trials, alpha=1 - level, method="wilson")
    assert ends(wilson(successes, trials, level=level)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("successes", "trials"), [(-1, 5), (6, 5), (0, 0), (np.nan, 5), (1, np.inf)])
def test_impossible_rates_are_refused(successes, trials):
    with pytest.raises(BadArgument, match="is not a rate"):
        wilson(successes, trials)


def test_unbounded_values_get_mean_plus_minus_t_times_error():
    # The two scenes of test_means: mean 4, error 2, one degree of freedom, t = 12.706.
    outcome = interval([1, 3, 5, 7], clusters=["a", "a", "b", "b"])
    assert ends(outcome) == pytest.approx((4 - 2 * 12.7062, 4 + 2 * 12.7062), abs=1e-4)
    assert outcome.method == "cluster-robust t (2 clusters)"


def test_a_lower_bound_bends_the_interval_as_worked_by_hand():
    # Reach 25.412 = 12.706 · 2, variance in proportion to the mean: (4 - μ)² = 25.412² · μ / 4 = 161.447 μ.
    values, scenes = [1, 3, 5, 7], ["a", "a", "b", "b"]
    low, high = ends(interval(values, clusters=scenes, bounds=(0, np.inf), correct_skewness=False))
    assert (4 - low) ** 2 == pytest.approx(161.447 * low, rel=1e-4)
    assert (4 - high) ** 2 == pytest.approx(161.447 * high, rel=1e-4)
    assert 0 < low < 4 < high


def test_a_rate_over_equal_scenes_is_wilson_with_t_and_the_effective_number():
    values = np.concatenate([np.repeat([1, 0], [hits, 10 - hits]) for hits in (2, 4, 5, 7)])
    outcome = interval(values, clusters=np.repeat(np.arange(4), 10), correct_skewness=False)
    rate, variance, t = 0.45, np.var([0.2, 0.4, 0.5, 0.7], ddof=1) / 4, stdtrit(3, 0.975)
    number = rate * (1 - rate) / variance
    centre = (rate + t**2 / (2 * number)) / (1 + t**2 / number)
    half = t / (1 + t**2 / number) * np.sqrt(rate * (1 - rate) / number + t**2 / (4 * number**2))
    assert ends(outcome) == pytest.approx((centre - half, centre + half))


# Errors of four scenes of two episodes: means 1, 2, 3 and 10, so the mean is 4.
SKEWED_ERRORS, SKEWED_SCENES = np.array([1.0, 1, 2, 2, 3, 3, 10, 10]), list("aabbccdd")


def test_skewed_errors_extend_the_upper_end_as_worked_by_hand():
    # Distances of the scenes from the mean: -3, -2, -1, 6. Error: sqrt(50 / 12) = 2.04124, df = 3, t = 3.18245.
    # A scene contributes distance / (4 sqrt(1 - 1/4)); skewness: (-27 - 8 - 1 + 216) / 50^1.5 = 0.509117.
    # Doubt: 1.5 √6 / (3 + 1) = 0.918559. Extension: 1.5 (1 + 2 · 10.1280) / 6 · 1.427676 = 7.59 errors, but at most
    # 0.6 t = 1.90947 errors, which is 3.89769.
    plain = interval(SKEWED_ERRORS, clusters=SKEWED_SCENES, bounds=(0, np.inf), correct_skewness=False)
    outcome = interval(SKEWED_ERRORS, clusters=SKEWED_SCENES, bounds=(0, np.inf))
    assert outcome.low == plain.low
    assert outcome.high == pytest.approx(plain.high + 3.89769, abs=1e-4)
    assert outcome.method == "skewness-corrected cluster-robust t (4 clusters)"


def test_a_mean_whose_clusters_are_skewed_down_extends_the_lower_end():
    # Thirty scenes, one of them far below the others: the sample's skewness outweighs the doubt.
    values = np.concatenate([[0.01], np.linspace(9, 10, 29)])
    scenes, bounds = np.arange(30), (0, np.inf)
    plain = interval(values, clusters=scenes, bounds=bounds, correct_skewness=False)
    outcome = interval(values, clusters=scenes, bounds=bounds)
    assert outcome.low < plain.low
    assert outcome.high == plain.high


def test_a_rate_allows_for_scenes_that_were_not_seen_as_worked_by_hand():
    # Two scenes of 8 episodes with 1 and 3 successes: rate 1/4, logit -1.0986. With one more average episode the
    # scenes have 1.25/9 and 3.25/9, logits -1.82455 and -0.57098; half their distance, 0.62678, is the error of their
    # mean, with one degree of freedom and t = 12.7062, so both ends lie more than six logits away: 0 and 1.
    values = np.repeat([1, 0, 1, 0], [1, 7, 3, 5])
    low, high = ends(interval(values, clusters=np.repeat([0, 1], 8)))
    assert low == pytest.approx(0.0, abs=1e-3)
    assert high == pytest.approx(1.0, abs=1e-2)


def test_logit_ends_worked_by_hand():
    # Four scenes, each with a mean of 0.1 or 0.3 of many values; rate 0.2, logit -1.386294.
    # Logits ln(1/9) = -2.197225 and ln(3/7) = -0.847298 twice: error 0.674963 · sqrt(4 / 12) = 0.389690, df 3,
    # variance between 4/3 · 0.674963² = 0.607434, t = 3.182446; c = (16 √3 / (15 π))² = 0.345844.
    # Attenuation sqrt(1 + 0.345844 · 0.607434) = 1.100058, reach 1.240172 / 1.100058 = 1.127369.
    # Chi-squared with df 3: roots 1 - 2/27 ∓ 1.959964 sqrt(2/27) are 0.392490 and 1.459362, so the variance is at most
    # 16.5393 times and at least 0.321737 times the estimate: 10.0465 and 0.195434.
    # Inward 1.386294 (1 - 1.100058 / 2.115480) = 0.665414, outward 1.386294 (1.100058 / 1.033245 - 1) = 0.089640.
    parts = ClusterMeans(np.array([0.1, 0.1, 0.3, 0.3]), np.full(4, 0.25), np.full(4, 0.75), np.zeros(4), 0.0)
    low, high = _logit_ends(parts, 0.2, (0.0, 1.0), 0.95)
    assert low == pytest.approx(1 / (1 + np.exp(1.386294 + np.hypot(1.127369, 0.089640))), abs=1e-5)
    assert high == pytest.approx(1 / (1 + np.exp(1.386294 - np.hypot(1.127369, 0.665414))), abs=1e-5)


@given(sample=scenes_of(fractions), bounds=st.sampled_from([(0, 1), (0, np.inf), (-np.inf, 1), (-np.inf, np.inf)]))
def test_the_correction_never_narrows_and_leaves_unbounded_values_alone(sample, bounds):
    values, clusters = sample
    plain = interval(values, clusters=clusters, bounds=bounds, correct_skewness=False)
    outcome = interval(values, clusters=clusters, bounds=bounds)
    assert outcome.mean == plain.mean
    assert bounds[0] <= outcome.low <= plain.low
    assert plain.high <= outcome.high <= bounds[1]
    if bounds == (-np.inf, np.inf):
        assert outcome == plain


@given(sample=scenes_of(st.sampled_from([0, 1])))
def test_rates_stay_in_range_and_are_never_certain(sample):
    values, clusters = sample
    outcome = interval(values, clusters=clusters)
    assert 0 <= outcome.low <= outcome.mean <= outcome.high <= 1
    assert outcome.low < outcome.high


@given(sample=scenes_of(fractions))
def test_bounded_values_have_bounded_intervals_that_mirror(sample):
    values, clusters = sample
    outcome = interval(values, clusters=clusters, bounds=(0, 1))
    mirrored = interval(1 - values, clusters=clusters, bounds=(0, 1))
    assert 0 <= outcome.low <= outcome.mean + 1e-12
    assert outcome.mean - 1e-12 <= outcome.high <= 1
    assert_allclose(ends(mirrored), (1 - outcome.high, 1 - outcome.low), atol=1e-6)


@given(sample=scenes_of(st.floats(0, 20).map(lambda value: round(value, 2))))
def test_one_sided_bounds_mirror_too(sample):
    values, clusters = sample
    below = interval(values, clusters=clusters, bounds=(0, np.inf))
    above = interval(-values, clusters=clusters, bounds=(-np.inf, 0))
    assert below.low >= 0
    assert_allclose(ends(above), (-below.high, -below.low), atol=1e-6)


@given(sample=scenes_of(fractions), shift=st.integers(-50, 50), scale=st.sampled_from([0.1, 3, 100]))
def test_changing_units_changes_the_interval_likewise(sample, shift, scale):
    values, clusters = sample
    original = interval(values, clusters=clusters, bounds=(0, 1))
    moved = interval(shift + scale * values, clusters=clusters, bounds=(shift, shift + scale))
    is_rate = set(values) <= {0, 1}  # rates have rules of their own
    if not is_rate:
        assert_allclose(ends(moved), (shift + scale * original.low, shift + scale * original.high), atol=1e-4)


@given(sample=scenes_of(fractions), data=st.data())
def test_order_of_episodes_and_names_of_scenes_change_nothing(sample, data):
    values, clusters = sample
    order = np.array(data.draw(st.permutations(range(len(values)))))
    other = interval(values[order], clusters=[f"scene {-code}" for code in clusters[order]], bounds=(0, 1))
    assert_allclose(ends(other), ends(interval(values, clusters=clusters, bounds=(0, 1))), atol=1e-6)


@given(sample=scenes_of(fractions))
def test_a_higher_level_never_gives_a_narrower_interval(sample):
    values, clusters = sample
    narrow = interval(values, clusters=clusters, bounds=(0, 1), level=0.8)
    wide = interval(values, clusters=clusters, bounds=(0, 1), level=0.99)
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


@pytest.mark.parametrize("same", [0, 1])
def test_scenes_that_all_agree_get_wilson_on_the_number_of_values(same):
    outcome = interval([same] * 20, clusters=np.repeat([0, 1], 10))
    assert ends(outcome) == ends(wilson(20 * same, 20))
    assert outcome.method == "Wilson (all clusters agree)"


def test_scenes_of_equal_rate_get_wilson_on_the_number_of_values():
    assert ends(interval([0, 1, 1, 0], clusters=list("aabb"))) == ends(wilson(2, 4))


def test_scenes_that_agree_but_for_rounding_agree():
    weights = [0.1, 0.2, 0.7, 1.4, 0.3, 0.6]  # a third of each scene's weight is on its success, give or take rounding
    outcome = interval([1, 0, 1, 0, 1, 0], clusters=list("aabbcc"), weights=weights)
    assert outcome.method == "Wilson (all clusters agree)"
    assert outcome.high - outcome.low > 0.5


def test_weighted_successes_that_agree_count_their_effective_number():
    # (2 + 1 + 1)² / (4 + 1 + 1) = 8 / 3.
    outcome = interval([1, 1, 1], clusters=list("abb"), weights=[2, 1, 1])
    assert ends(outcome) == pytest.approx(ends(wilson(8 / 3, 8 / 3)))


@pytest.mark.parametrize("clusters", [None, ["a"] * 5], ids=["no scenes", "one scene"])
def test_a_rate_without_scenes_is_wilson(clusters):
    outcome = interval([1, 0, 1, 1, 0], clusters=clusters)
    assert ends(outcome) == ends(wilson(3, 5))
    assert outcome.method.startswith("Wilson (independent values")
    assert ("one cluster" in outcome.method) == (clusters is not None)


def test_zeros_and_ones_that_are_no_rate_may_be_declared_so():
    outcome = interval([0, 0, 1, 1], clusters=list("abcd"), bounds=(-np.inf, np.inf))
    assert outcome.low < 0
    assert outcome.method.startswith("cluster-robust t")


def test_equal_values_that_are_no_rate_give_a_point():
    outcome = interval([0.3, 0.3, 0.3], clusters=list("abb"), bounds=(0, 1))
    assert outcome.low == outcome.mean == outcome.high == 0.3


def test_errors_that_are_all_zero_give_a_point_on_their_bound():
    assert ends(interval([0.0, 0.0, 0.0], clusters=list("abb"), bounds=(0, np.inf))) == (0, 0)


def test_one_value_says_nothing_beyond_its_bounds():
    assert ends(interval([0.4])) == (-np.inf, np.inf)
    assert ends(interval([0.4], bounds=(0, 1))) == (0, 1)
    assert ends(interval([1])) == ends(wilson(1, 1))


def test_values_outside_their_bounds_are_refused():
    with pytest.raises(BadArgument, match=r"Values run from 0.5 to 1.5, outside the bounds \(0, 1\)"):
        interval([0.5, 1.5], bounds=(0, 1))


def test_a_rounding_error_past_a_bound_is_forgiven():
    assert interval([0.5, 1 + 1e-15], bounds=(0, 1)).high <= 1


def test_bounds_in_the_wrong_order_are_refused():
    with pytest.raises(BadArgument, match="lower bound first"):
        interval([0.5], bounds=(1, 0))


def test_undefined_values_are_refused():
    with pytest.raises(BadArgument, match="not finite"):
        interval([0.5, np.nan])
