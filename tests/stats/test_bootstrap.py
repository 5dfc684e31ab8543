import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.stats import cluster_bootstrap, hierarchical_bootstrap, interquartile_mean, interval

METHODS = ("percentile", "t")


def scenes_and_paths(seed, sizes=(3, 9, 14, 20, 25, 30, 30, 30), episodes=3):
    """Values in unequal scenes, with three episodes on each path; path names repeat from scene to scene."""
    rng = np.random.default_rng(seed)
    scenes = np.repeat(np.arange(len(sizes)), sizes)
    paths = np.concatenate([np.arange(size) for size in sizes])
    values = rng.normal(size=len(sizes))[scenes] + rng.normal(size=len(scenes))
    values = np.repeat(values, episodes) + rng.normal(size=episodes * len(scenes))
    return values, np.repeat(scenes, episodes), np.repeat(paths, episodes)


def a_mean_that_is_not_numpys(values):
    return float(np.sum(values) / len(values))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bootstrap", [cluster_bootstrap, hierarchical_bootstrap])
def test_same_seed_same_interval_and_another_seed_another(bootstrap, method):
    values, scenes, paths = scenes_and_paths(0)
    labels = scenes if bootstrap is cluster_bootstrap else (scenes, paths)
    first, again, other = (
        bootstrap(values, labels, rng=np.random.default_rng(seed), resamples=200, method=method) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert first.mean == pytest.approx(values.mean())


def test_two_scenes_can_be_drawn_in_three_ways():
    # Means 0 and 1, of 1 and 3 episodes: both (3/4), or one twice; a quarter, a half and a quarter of the draws.
    values, scenes = [0.0, 1.0, 1.0, 1.0], ["a", "b", "b", "b"]
    found = {
        round(cluster_bootstrap(values, scenes, rng=np.random.default_rng(seed), resamples=1).low, 9)
        for seed in range(40)
    }
    assert found == {0.0, 0.75, 1.0}
    shares = cluster_bootstrap(values, scenes, rng=np.random.default_rng(0), resamples=4000, level=0.4)
    assert (shares.low, shares.high) == (0.75, 0.75)
    assert cluster_bootstrap(values, scenes, rng=np.random.default_rng(0), resamples=4000, level=0.6).low == 0.0


@pytest.mark.parametrize("bootstrap", [cluster_bootstrap, hierarchical_bootstrap])
def test_the_fast_way_for_means_agrees_with_the_way_for_any_statistic(bootstrap):
    values, scenes, paths = scenes_and_paths(1)
    labels = scenes if bootstrap is cluster_bootstrap else (scenes, paths)
    fast = bootstrap(values, labels, rng=np.random.default_rng(3), resamples=3000)
    slow = bootstrap(values, labels, rng=np.random.default_rng(4), resamples=3000, statistic=a_mean_that_is_not_numpys)
    assert slow.mean == pytest.approx(fast.mean)
    width = fast.high - fast.low
    assert (slow.low, slow.high) == pytest.approx((fast.low, fast.high), abs=0.05 * width)


def test_a_cluster_is_drawn_whole():
    # Each scene holds one 0 and one 1, so however scenes are drawn the mean cannot move.
    outcome = cluster_bootstrap([0, 1, 0, 1, 0, 1], list("aabbcc"), rng=np.random.default_rng(0), resamples=100)
    assert outcome.low == outcome.high == 0.5


def test_inner_levels_are_redrawn_by_the_hierarchical_bootstrap():
    outcome = hierarchical_bootstrap([0, 1, 0, 1, 0, 1], [list("aabbcc")], rng=np.random.default_rng(0), resamples=500)
    assert outcome.low < 0.5 < outcome.high


def test_values_of_one_path_stay_in_their_path():
    # Both scenes have paths named 1 and 2; a drawn path brings its own constant value only, and scenes are equal.
    values = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]
    scenes, paths = list("aaaabbbb"), [1, 1, 2, 2, 1, 1, 2, 2]
    outcomes = [
        hierarchical_bootstrap(values, (scenes, paths), rng=np.random.default_rng(seed), resamples=1).low
        for seed in range(200)
    ]
    assert set(outcomes) == {0.0, 0.25, 0.5, 0.75, 1.0}


def test_paths_of_the_same_name_in_two_scenes_are_two_paths():
    values, scenes, paths = [0.0, 0.0, 1.0, 1.0], list("aabb"), ["only"] * 4
    outcomes = [
        hierarchical_bootstrap(values, (scenes, paths), rng=np.random.default_rng(seed), resamples=1).low
        for seed in range(60)
    ]
    assert set(outcomes) == {0.0, 0.5, 1.0}


def test_order_of_rows_does_not_matter_to_what_can_be_drawn():
    values, scenes, paths = scenes_and_paths(2)
    order = np.random.default_rng(0).permutation(len(values))
    original = hierarchical_bootstrap(values, (scenes, paths), rng=np.random.default_rng(5), resamples=2000)
    shuffled = hierarchical_bootstrap(
        values[order], (scenes[order], paths[order]), rng=np.random.default_rng(5), resamples=2000
    )
    width = original.high - original.low
    assert (shuffled.low, shuffled.high) == pytest.approx((original.low, original.high), abs=0.07 * width)


def test_studentised_intervals_are_wider_with_few_scenes_and_near_the_default():
    values, scenes, _ = scenes_and_paths(3)
    percentile, studentised = (
        cluster_bootstrap(values, scenes, rng=np.random.default_rng(6), resamples=4000, method=method)
        for method in METHODS
    )
    default = interval(values, clusters=scenes)
    assert studentised.high - studentised.low > percentile.high - percentile.low
    assert studentised.high - studentised.low == pytest.approx(default.high - default.low, rel=0.35)


def test_with_many_scenes_all_methods_agree_with_the_default():
    rng = np.random.default_rng(7)
    scenes = np.repeat(np.arange(400), 4)
    values = rng.normal(size=400)[scenes] + rng.normal(size=1600)
    default = interval(values, clusters=scenes)
    for method in METHODS:
        outcome = cluster_bootstrap(values, scenes, rng=np.random.default_rng(8), resamples=4000, method=method)
        assert (outcome.low, outcome.high) == pytest.approx((default.low, default.high), abs=0.015)


def test_any_statistic_can_be_resampled():
    values, scenes, _ = scenes_and_paths(4)
    outcome = cluster_bootstrap(
        values, scenes, rng=np.random.default_rng(9), resamples=300, statistic=interquartile_mean
    )
    assert outcome.mean == interquartile_mean(values)
    assert outcome.low < outcome.mean < outcome.high


@pytest.mark.parametrize("method", METHODS)
def test_equal_values_give_a_point(method):
    outcome = cluster_bootstrap([0.1] * 5, list("aabbb"), rng=np.random.default_rng(0), resamples=50, method=method)
    assert (outcome.low, outcome.high) == pytest.approx((0.1, 0.1))


def test_two_scenes_leave_the_studentised_interval_open():
    # Half of all draws hold one scene twice and have no error to divide by, so nothing can be said.
    outcome = cluster_bootstrap([0, 0, 1, 2], list("aabb"), rng=np.random.default_rng(0), resamples=200, method="t")
    assert (outcome.low, outcome.high) == (-np.inf, np.inf)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resamples": 0}, "≥ 1"),
        ({"method": "bca"}, 'no bootstrap method "bca"'),
        ({"method": "t", "statistic": np.median}, "mean only"),
        ({"level": 95}, "between 0 and 1"),
    ],
)
def test_senseless_options_are_refused(options, message):
    with pytest.raises(BadArgument, match=message):
        cluster_bootstrap([1, 2, 3], list("abc"), rng=np.random.default_rng(0), **options)


def test_one_cluster_cannot_be_resampled():
    with pytest.raises(BadArgument, match="at least two clusters"):
        cluster_bootstrap([1, 2, 3], list("aaa"), rng=np.random.default_rng(0))


def test_levels_are_needed():
    with pytest.raises(BadArgument, match="No levels"):
        hierarchical_bootstrap([1, 2, 3], (), rng=np.random.default_rng(0))
