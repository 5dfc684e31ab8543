import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.stats import cluster_bootstrap, interval, paired_effect, ratio_of_sums, resample_sums


def effects_in_scenes(seed, scenes=11, between=0.1):
    """Paired responses on unequal scenes of a few trajectories, three episodes each."""
    rng = np.random.default_rng(seed)
    trajectories = rng.integers(2, 30, scenes)
    scene = np.repeat(np.arange(scenes), 3 * trajectories)
    trajectory = np.concatenate([np.repeat(np.arange(count), 3) for count in trajectories])
    controls = rng.random(len(scene))
    effect = 0.2 + between * rng.standard_normal(scenes)[scene] + 0.2 * rng.standard_normal(len(scene))
    return controls + effect, controls, scene, trajectory


def by_hand(effects, scenes, draws, level):
    """The default interval of a mean, one resample at a time, from these draws of scenes."""
    totals = np.array([[effects[scenes == s].sum(), (scenes == s).sum()] for s in np.unique(scenes)])

    def mean_and_error(chosen):
        without = [ratio_of_sums(np.delete(chosen, left_out, axis=0).sum(axis=0)) for left_out in range(len(chosen))]
        return float(ratio_of_sums(chosen.sum(axis=0))), np.sqrt((len(chosen) - 1) * np.var(without))

    mean, error = mean_and_error(totals)
    ratios = sorted((m - mean) / e for m, e in (mean_and_error(totals[chosen]) for chosen in draws))
    cut = (len(ratios) - 1) * (1 - level) / 2
    high, low = ratios[int(np.ceil(len(ratios) - 1 - cut))], ratios[int(np.floor(cut))]
    return mean, mean - high * error, mean - low * error


def test_the_default_interval_is_the_one_worked_out_resample_by_resample():
    intervened, controls, scenes, _ = effects_in_scenes(0)
    found = paired_effect(intervened, controls, levels=[scenes], rng=np.random.default_rng(1), resamples=200)
    draws = np.random.default_rng(1).integers(11, size=(200, 11))
    expected = by_hand(intervened - controls, scenes, draws, 0.95)
    assert (found.mean, found.low, found.high) == pytest.approx(expected)
    assert found.method == "bootstrap-t over 11 scenes"


def test_the_percentile_method_is_the_cluster_bootstrap_of_the_mean():
    intervened, controls, scenes, _ = effects_in_scenes(1)
    rngs = np.random.default_rng(2), np.random.default_rng(2)
    found = paired_effect(intervened, controls, levels=[scenes], rng=rngs[0], method="percentile", resamples=500)
    known = cluster_bootstrap(intervened - controls, scenes, rng=rngs[1], resamples=500)
    assert (found.mean, found.low, found.high) == pytest.approx((known.mean, known.low, known.high))


def test_with_many_scenes_all_ways_agree_with_the_default_interval_of_a_mean():
    intervened, controls, scenes, trajectories = effects_in_scenes(2, scenes=300)
    default = interval(intervened - controls, clusters=scenes)
    width = default.high - default.low
    for options in ({}, {"method": "percentile"}):
        found = paired_effect(
            intervened, controls, levels=(scenes, trajectories), rng=np.random.default_rng(3), **options
        )
        assert (found.low, found.high) == pytest.approx((default.low, default.high), abs=0.08 * width)


def test_redrawing_every_level_counts_the_inner_doubt_twice():
    # Scenes differ by chance only, so all that redrawing inside them adds is doubt already counted.
    intervened, controls, scenes, trajectories = effects_in_scenes(3, scenes=60, between=0.0)
    widths = []
    for resample in ("scenes", "every level"):
        found = paired_effect(
            intervened,
            controls,
            levels=(scenes, trajectories),
            rng=np.random.default_rng(4),
            resample=resample,
            method="percentile",
        )
        widths.append(found.high - found.low)
    assert widths[1] / widths[0] == pytest.approx(np.sqrt(3), rel=0.15)


def test_any_statistic_of_sums_can_be_resampled():
    # The difference between two arms that are not paired: sums of responses and of rows, arm by arm.
    intervened, controls, scenes, _ = effects_in_scenes(4)
    ones, zeros = np.ones_like(controls), np.zeros_like(controls)
    arms = np.concatenate(
        [np.column_stack([intervened, ones, zeros, zeros]), np.column_stack([zeros, zeros, controls, ones])]
    )

    def difference(sums):
        return sums[..., 0] / sums[..., 1] - sums[..., 2] / sums[..., 3]

    apart = resample_sums(arms, levels=[np.tile(scenes, 2)], statistic=difference, rng=np.random.default_rng(5))
    paired = paired_effect(intervened, controls, levels=[scenes], rng=np.random.default_rng(5))
    assert (apart.mean, apart.low, apart.high) == pytest.approx((paired.mean, paired.low, paired.high))


@given(shift=st.floats(-5, 5), scale=st.floats(0.1, 10))
def test_shifting_and_scaling_effects_shifts_and_scales_their_interval(shift, scale):
    intervened, controls, scenes, _ = effects_in_scenes(5)
    effects = intervened - controls
    plain, moved = (
        paired_effect(values, np.zeros(len(values)), levels=[scenes], rng=np.random.default_rng(6), resamples=200)
        for values in (effects, shift + scale * effects)
    )
    assert (moved.low, moved.high) == pytest.approx((shift + scale * plain.low, shift + scale * plain.high), abs=1e-6)


def test_same_seed_same_interval_and_another_seed_another():
    intervened, controls, scenes, _ = effects_in_scenes(6)
    first, again, other = (
        paired_effect(intervened, controls, levels=[scenes], rng=np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_scenes_that_agree_exactly_give_a_point():
    found = paired_effect([0.3] * 6, [0.1] * 6, levels=[list("aabbcc")], rng=np.random.default_rng(0))
    assert (found.low, found.high) == pytest.approx((0.2, 0.2))


def test_two_scenes_leave_the_interval_open():
    found = paired_effect([1, 2, 4, 4], [0, 0, 0, 0], levels=[list("aabb")], rng=np.random.default_rng(0))
    assert (found.low, found.high) == (-np.inf, np.inf)


def test_a_statistic_that_few_scenes_decide_is_refused():
    columns = np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    with pytest.raises(BadArgument, match=r"undefined in \d+ of 100 resamples"):
        resample_sums(columns, levels=[list("abc")], rng=np.random.default_rng(0), resamples=100)
    with pytest.raises(BadArgument, match="statistic of these episodes is nan"):
        resample_sums(0 * columns, levels=[list("abc")], rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"resamples": 0}, "≥ 1"),
        ({"method": "bca"}, 'no bootstrap of "bca"'),
        ({"resample": "paths"}, 'no bootstrap of "paths"'),
        ({"level": 95}, "between 0 and 1"),
        ({"levels": []}, "No levels"),
        ({"levels": [list("aaa")]}, "one scene"),
        ({"levels": [list("ab")]}, "2 cluster labels for 3"),
        ({"controls": [1, 2]}, "3 intervened episodes and 2 controls"),
        ({"controls": [1, 2, np.nan]}, "not finite"),
    ],
)
def test_senseless_calls_are_refused(change, message):
    call = {"intervened": [1, 2, 3], "controls": [0, 0, 0], "levels": [list("abb")], "rng": np.random.default_rng(0)}
    with pytest.raises(BadArgument, match=message):
        paired_effect(**(call | change))


def test_columns_are_a_table():
    with pytest.raises(BadArgument, match="a row per episode"):
        resample_sums([1, 2, 3], levels=[list("abc")], rng=np.random.default_rng(0))
