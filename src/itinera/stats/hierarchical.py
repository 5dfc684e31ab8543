"""Bootstrap intervals of effects, rates and scores measured on episodes of trajectories of scenes.

Any statistic that can be computed from sums over episodes is supported: a mean, a ratio of totals, a difference of two
means, a mean of six ratios. Start with `paired_effect`, the mean of intervention minus control, or `resample_sums`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from itinera.errors import BadArgument
from itinera.stats._resampling import ClusterTree, batch_sizes, build_tree, resample_nested
from itinera.stats._validation import Floats, Labels, as_values, check_level, cluster_codes
from itinera.stats.bootstrap import BootstrapMethod
from itinera.stats.intervals import Interval

_METHOD_NAMES = {"t": "bootstrap-t", "percentile": "bootstrap percentile"}
SumStatistic: TypeAlias = Callable[[Floats], Floats]  # from sums (…, k) to values (…)
ResampledLevels: TypeAlias = Literal["scenes", "every level"]


def ratio_of_sums(sums: Floats) -> Floats:
    """The first sum over the second: a mean when the second counts episodes."""
    return np.asarray(sums[..., 0] / sums[..., 1])


def paired_effect(
    intervened: ArrayLike,
    controls: ArrayLike,
    *,
    levels: Sequence[Labels],
    rng: np.random.Generator,
    resample: ResampledLevels = "scenes",
    method: BootstrapMethod = "t",
    resamples: int = 2000,
    level: float = 0.95,
) -> Interval:
    """The mean of intervened - control over episodes, with a bootstrap interval; options as in `resample_sums`.

    Both arrays have one finite number per episode, in the same order: the response with the intervention and that of
    its control.
    """
    first, second = as_values(intervened, name="intervened"), as_values(controls, name="controls")
    if len(first) != len(second):
        raise BadArgument(
            f"There are {len(first)} intervened episodes and {len(second)} controls. Give as many of each, in order."
        )
    columns = np.column_stack([first - second, np.ones(len(first))])
    return resample_sums(
        columns, levels=levels, rng=rng, resample=resample, method=method, resamples=resamples, level=level
    )


def resample_sums(
    columns: ArrayLike,
    *,
    levels: Sequence[Labels],
    rng: np.random.Generator,
    statistic: SumStatistic = ratio_of_sums,
    resample: ResampledLevels = "scenes",
    method: BootstrapMethod = "t",
    resamples: int = 2000,
    level: float = 0.95,
) -> Interval:
    """The statistic of the columns' sums over all episodes, with a bootstrap interval over scenes.

    columns: (episodes, k) finite numbers to be summed.
    levels: labels of each episode from outer to inner, such as (scenes, trajectories); the first are the scenes. An
        inner label means the group of that name in its parent.
    statistic: a function from sums (…, k) to values (…). The default is the first sum over the second.

    Resampling. By default whole scenes, with replacement, each with all that is in it: scenes are the sample, and
    the variation that trajectories and episodes add is contained in how scenes differ. Ren et al. (2010) advise it for
    nested data. "every level" resamples trajectories within scenes and episodes within trajectories too, which counts
    the inner variation twice and gives too wide a percentile interval where scenes hardly differ.

    Method. "t" takes the quantiles of (resampled - estimate) / jackknife error of the resample, times the jackknife
    error of the estimate; leaving out one scene at a time gives the error. Its coverage is close to nominal from 11
    scenes on. "percentile" takes the quantiles of the resampled statistic, as most papers do, and is too narrow with
    few scenes: about 90 % instead of 95 % at 11.

    >>> effects, scenes = [0.1, 0.3, 0.2, 0.4, 0.1, 0.2], ["a", "a", "b", "b", "c", "c"]
    >>> columns = np.column_stack([effects, np.ones(6)])
    >>> found = resample_sums(columns, levels=[scenes], rng=np.random.default_rng(0))
    >>> round(found.mean, 3), found.method
    (0.217, 'bootstrap-t over 3 scenes')
    """
    _check_options(resample, method, resamples, level)
    rows, tree = _arrange(columns, levels)
    by_scene = np.add.reduceat(rows, tree.starts)  # (scenes, k)
    found, error = (float(part[0]) for part in _values_and_errors(by_scene[None], statistic, method))
    if not np.isfinite(found):
        raise BadArgument(f"The statistic of these episodes is {found}. Give episodes for which it is defined.")
    draws = (
        _resample_scenes(by_scene, resamples, rng)
        if resample == "scenes"
        else _resample_all(rows, tree, resamples, rng)
    )
    parts = [_values_and_errors(sums, statistic, method) for sums in draws]
    values, errors = (np.concatenate(column) for column in zip(*parts, strict=True))
    _check_defined(values + errors)
    ends = _percentile(values, level) if method == "percentile" else _studentised(values, errors, found, error, level)
    also = ", every level resampled" if resample == "every level" else ""
    return Interval(found, *ends, level, f"{_METHOD_NAMES[method]} over {len(by_scene)} scenes{also}")


def _check_options(resample: str, method: str, resamples: int, level: float) -> None:
    check_level(level)
    if resamples < 1:
        raise BadArgument(f"resamples must be ≥ 1 (got {resamples}); 2000 is usual.")
    for given, known in ((resample, ("scenes", "every level")), (method, ("t", "percentile"))):
        if given not in known:
            raise BadArgument(f'There is no bootstrap of "{given}". Choose "{known[0]}" or "{known[1]}".')


def _arrange(columns: ArrayLike, levels: Sequence[Labels]) -> tuple[Floats, ClusterTree]:
    """The rows sorted by level and the tree over them."""
    rows = np.asarray(columns, dtype=np.float64)
    if rows.ndim != 2 or rows.size == 0:
        raise BadArgument(f"columns has shape {rows.shape}. Give a row per episode with the numbers to be summed.")
    as_values(rows.ravel(), name="columns")
    if len(levels) == 0:
        raise BadArgument("No levels were given. Give the scenes of the episodes at least: levels=[scenes].")
    order, tree = build_tree([cluster_codes(labels, size=len(rows)) for labels in levels])
    if len(tree.rows) < 2:
        raise BadArgument("All episodes lie in one scene, and resampling it changes nothing. Give at least two scenes.")
    return rows[order], tree


def _resample_scenes(by_scene: Floats, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Batches of resamples: the sums of each drawn scene, (batch, scenes, k)."""
    count = len(by_scene)
    columns = np.ascontiguousarray(by_scene.T)  # summing over scenes is fastest where they lie side by side
    for batch in batch_sizes(resamples, by_scene.size):
        drawn = rng.integers(count, size=(batch, count))
        yield np.moveaxis(columns.take(drawn, axis=1), 0, -1)


def _resample_all(rows: Floats, tree: ClusterTree, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """The same, with everything below a drawn scene resampled too."""
    for batch in batch_sizes(resamples, rows.size):
        drawn, sizes = resample_nested(tree, batch, rng)
        yield np.add.reduceat(rows[drawn], np.cumsum(sizes) - sizes).reshape(batch, len(tree.rows), rows.shape[1])


def _values_and_errors(sums: Floats, statistic: SumStatistic, method: BootstrapMethod) -> tuple[Floats, Floats]:
    """The statistic of each resample, from sums (batch, scenes, k), and its jackknife error where that is needed."""
    total = sums.sum(axis=1)
    # A ratio may be 0 / 0 in some resample; it is reported as one error, not as a warning each time.
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.asarray(statistic(total), dtype=np.float64)
        if method == "percentile":
            return values, np.zeros_like(values)
        without = np.asarray(statistic(total[:, None] - sums), dtype=np.float64)  # each scene left out in turn
        offsets = without - without.mean(axis=1, keepdims=True)
        # Scenes that agree differ by rounding only, which must not pass for an error.
        offsets[np.abs(offsets) <= 1e-12 * np.abs(without)] = 0.0
        count = sums.shape[1]
        return values, np.sqrt((count - 1) / count * (offsets**2).sum(axis=1))


def _check_defined(numbers: Floats) -> None:
    undefined = int(np.count_nonzero(~np.isfinite(numbers)))
    if undefined:
        raise BadArgument(
            f"The statistic is undefined in {undefined} of {len(numbers)} resamples, because too few scenes have "
            "episodes that count for it. Give more scenes, or report it without an interval."
        )


def _percentile(values: Floats, level: float) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _studentised(values: Floats, errors: Floats, found: float, error: float, level: float) -> tuple[float, float]:
    if error == 0:
        return found, found
    with np.errstate(divide="ignore", invalid="ignore"):
        # Drawing one scene only leaves no error to divide by: infinitely far away, unless the statistic did not move.
        ratios = np.nan_to_num((values - found) / errors, nan=0.0, posinf=np.inf, neginf=-np.inf)
    upper = float(np.quantile(ratios, (1 + level) / 2, method="higher"))
    lower = float(np.quantile(ratios, (1 - level) / 2, method="lower"))
    return found - upper * error, found - lower * error
