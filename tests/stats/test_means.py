import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import block_diag, fractional_matrix_power
from statsmodels.regression.linear_model import OLS

from itinera.errors import BadArgument
from itinera.stats.means import estimate_mean, intra_cluster_correlation

numbers = st.floats(-100, 100).map(lambda value: round(value, 3))


@st.composite
def samples(draw, least_clusters=2):
    """Values and scenes: clusters of 1 to 6 values, strongly unequal."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=least_clusters, max_size=7))
    values = draw(st.lists(numbers, min_size=sum(sizes), max_size=sum(sizes)))
    return np.array(values), np.repeat(np.arange(len(sizes)), sizes)


def as_tuple(estimate):
    return estimate.mean, estimate.standard_error, estimate.df


def textbook(values, clusters):
    """CR2 and its degrees of freedom by whole matrices, as the papers write them; slow, for reading."""
    n, labels = len(values), np.unique(clusters)
    members = [np.flatnonzero(clusters == label) for label in labels]
    sizes = np.array([len(each) for each in members])
    order = np.concatenate(members)
    y = values[order]
    hat = np.full((n, n), 1 / n)
    residual_maker = np.eye(n) - hat
    ends = np.cumsum(sizes)
    contrasts = []
    for begin, end in zip(ends - sizes, ends, strict=True):
        adjust = fractional_matrix_power(np.eye(end - begin) - hat[begin:end, begin:end], -0.5)
        contrast = np.zeros(n)
        contrast[begin:end] = adjust.real.sum(axis=0) / n
        contrasts.append(contrast)
    form = residual_maker @ sum(np.outer(each, each) for each in contrasts) @ residual_maker
    means = np.array([values[each].mean() for each in members])
    within = sum(((values[each] - values[each].mean()) ** 2).sum() for each in members) / (n - len(labels))
    between = (sizes @ (means - values.mean()) ** 2 - (len(labels) - 1) * within) / (n - (sizes**2).sum() / n)
    covariance = within * np.eye(n) + max(0.0, between) * block_diag(*[np.ones((size, size)) for size in sizes])
    product = form @ covariance
    return values.mean(), np.sqrt(y @ form @ y), np.trace(product) ** 2 / np.trace(product @ product)


@pytest.mark.parametrize("spread", [0.0, 0.3, 2.0])
def test_error_and_freedom_are_those_of_the_textbook(spread):
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(6), [1, 2, 3, 8, 13, 20])
    values = rng.normal(size=len(clusters)) + spread * rng.normal(size=6)[clusters]
    assert_allclose(as_tuple(estimate_mean(values, clusters=clusters)), textbook(values, clusters), rtol=1e-9)


def test_equal_scenes_give_the_cluster_robust_regression_of_statsmodels():
    rng = np.random.default_rng(4)
    clusters = np.repeat(np.arange(8), 5)
    values = rng.normal(size=40) + rng.normal(size=8)[clusters]
    fit = OLS(values, np.ones(40)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    estimate = estimate_mean(values, clusters=clusters)
    assert_allclose((estimate.mean, estimate.standard_error), (fit.params[0], fit.bse[0]))
    assert estimate.df == pytest.approx(7)


def test_two_scenes_worked_by_hand():
    # Scene means 2 and 6 lie 2 from the mean, each with half the weight: 2 · (1/4 / 1/2) · 2² = 4, error 2.
    estimate = estimate_mean([1, 3, 5, 7], clusters=["a", "a", "b", "b"])
    assert as_tuple(estimate) == pytest.approx((4, 2, 1))
    assert estimate.clusters == 2


def test_unequal_scenes_worked_by_hand():
    # Shares 1/4 and 3/4, means 0 and 4, mean 3: (1/16)/(3/4)·9 + (9/16)/(1/4)·1 = 3/4 + 9/4 = 3.
    estimate = estimate_mean([0, 4, 4, 4], clusters=["a", "b", "b", "b"])
    assert as_tuple(estimate) == pytest.approx((3, np.sqrt(3), 1))


@given(values=st.lists(numbers, min_size=2, max_size=30))
def test_without_scenes_it_is_the_ordinary_standard_error(values):
    estimate = estimate_mean(values)
    expected = (np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values)), len(values) - 1)
    assert as_tuple(estimate) == pytest.approx(expected, abs=1e-9)
    assert estimate.clusters == 0


@given(values=st.lists(numbers, min_size=2, max_size=20))
def test_scenes_of_one_episode_are_independent_values(values):
    alone = estimate_mean(values, clusters=range(len(values)))
    assert as_tuple(alone) == pytest.approx(as_tuple(estimate_mean(values)), abs=1e-9)


@given(sample=samples(), data=st.data())
def test_order_of_episodes_and_names_of_scenes_change_nothing(sample, data):
    values, clusters = sample
    order = np.array(data.draw(st.permutations(range(len(values)))))
    names = np.array([f"scene {(7 * code) % 11}" for code in clusters])
    other = estimate_mean(values[order], clusters=names[order])
    assert_allclose(as_tuple(other), as_tuple(estimate_mean(values, clusters=clusters)), rtol=1e-6, atol=1e-6)


@given(sample=samples())
def test_asking_every_question_twice_adds_no_knowledge(sample):
    values, clusters = sample
    once = estimate_mean(values, clusters=clusters)
    twice = estimate_mean(np.tile(values, 2), clusters=np.tile(clusters, 2))
    assert (twice.mean, twice.standard_error) == pytest.approx((once.mean, once.standard_error), abs=1e-9)


@given(sample=samples(), data=st.data())
def test_whole_weights_count_episodes_that_often(sample, data):
    values, clusters = sample
    weights = np.array(data.draw(st.lists(st.integers(1, 4), min_size=len(values), max_size=len(values))))
    weighted = estimate_mean(values, clusters=clusters, weights=weights)
    repeated = estimate_mean(np.repeat(values, weights), clusters=np.repeat(clusters, weights))
    assert (weighted.mean, weighted.standard_error) == pytest.approx((repeated.mean, repeated.standard_error), abs=1e-9)


@given(sample=samples(), data=st.data())
def test_values_of_weight_zero_are_not_there(sample, data):
    values, clusters = sample
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))))
    kept[0] = True
    weighted = estimate_mean(values, clusters=clusters, weights=kept)
    assert as_tuple(weighted) == as_tuple(estimate_mean(values[kept], clusters=clusters[kept]))


@given(sample=samples(), scale=st.floats(0.01, 100))
def test_only_ratios_of_weights_matter(sample, scale):
    values, clusters = sample
    weights = 1.0 + np.arange(len(values)) % 3
    scaled = estimate_mean(values, clusters=clusters, weights=scale * weights)
    original = estimate_mean(values, clusters=clusters, weights=weights)
    assert_allclose(as_tuple(scaled), as_tuple(original), rtol=1e-6, atol=1e-6)


@given(sample=samples())
def test_freedom_lies_between_one_and_the_other_scenes(sample):
    values, clusters = sample
    estimate = estimate_mean(values, clusters=clusters)
    assert 1 <= estimate.df <= estimate.clusters - 1 + 1e-6


def test_a_dominant_scene_leaves_little_freedom():
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(20), [1000, *[5] * 19])
    values = rng.normal(size=len(clusters)) + rng.normal(size=20)[clusters]
    assert estimate_mean(values, clusters=clusters).df < 3


def test_equal_values_have_no_error_at_all():
    assert estimate_mean([0.1] * 7, clusters=list("aabbbcc")).standard_error == 0


def test_one_scene_is_taken_as_independent_episodes():
    assert estimate_mean([1, 2, 4], clusters=["a"] * 3) == estimate_mean([1, 2, 4])


def test_one_value_has_no_finite_error():
    assert estimate_mean([3.0]).standard_error == np.inf


def test_icc_worked_by_hand():
    # Within: (1+1+1+1)/2 = 2. Between squares 2·(2²+2²) = 16, less 1·2, over 4 - 8/4 = 2: 7. ICC = 7 / 9.
    assert intra_cluster_correlation([1, 3, 5, 7], ["a", "a", "b", "b"]) == pytest.approx(7 / 9)


def test_scenes_that_differ_less_than_chance_have_no_correlation():
    assert intra_cluster_correlation([0, 1, 0, 1], ["a", "a", "b", "b"]) == 0


@pytest.mark.parametrize("clusters", [["a", "a", "a"], ["a", "b", "c"]], ids=["one scene", "one episode each"])
def test_icc_needs_scenes_with_several_episodes(clusters):
    with pytest.raises(BadArgument, match="at least two clusters"):
        intra_cluster_correlation([1, 2, 3], clusters)
