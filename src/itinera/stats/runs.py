"""Several runs of a system (training seeds, repeated evaluations). Start with `interval_over_runs`.

The design is crossed: every run has the same episodes, and episodes are nested in scenes. Arrays have shape (runs,
episodes). Means are plain means over runs, and intervals are for all runs and all scenes of their kind.

`recipes/run_coverage.py` measures the coverage of these intervals on simulated systems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from itinera.errors import BadArgument
from itinera.stats._t_distribution import quantile, upper_tail
from itinera.stats._validation import Floats, Labels, as_runs, as_weights, cluster_codes
from itinera.stats.intervals import UNBOUNDED, Bounds, Interval, interval
from itinera.stats.means import MeanEstimate, estimate_mean
from itinera.stats.paired import Difference, paired_t_p_value

_STEP, _REACH = 0.01, 10.0  # of the integral over the largest of several normal values


@dataclass(frozen=True)
class RunVariation:
    """How far the runs of a system vary, and how far its scenes do."""

    means: tuple[float, ...]  # of each run
    sd: float  # of the means of runs on these episodes
    excess_sd: float  # of runs beyond what run-by-scene and run-by-episode variation explains; 0 if there is none
    scene_error: float  # standard error over scenes of the mean of one run, on average

    @property
    def runs(self) -> int:
        return len(self.means)

    @property
    def mean(self) -> float:
        return float(np.mean(self.means))

    @property
    def best_of_gain(self) -> float:
        """By how much the highest of these runs exceeds their mean in expectation."""
        return expected_maximum(self.runs) * self.sd / _sd_bias(self.runs)


@dataclass(frozen=True)
class BestOfRuns:
    """What is known of a system that reports the best of its runs, from the variation of runs of other systems."""

    runs: int  # the reported values are the best of so many
    sd: float  # of the means of runs
    excess_sd: float  # of runs beyond what variation within scenes explains
    df: float  # of these two

    @property
    def gain(self) -> float:
        """By how much the best run exceeds the mean of all runs in expectation."""
        return expected_maximum(self.runs) * self.sd

    @property
    def variance(self) -> tuple[float, float]:
        """The variance that the corrected mean has besides that between scenes, and its degrees of freedom."""
        of_best = _variance_of_maximum(self.runs) * self.excess_sd**2
        of_gain = self.gain**2 / (2 * self.df)  # a standard deviation is known to about 1 / √(2 df) of itself
        return of_best + of_gain, self.df


def pool_variations(found: Sequence[RunVariation], best_of: int) -> BestOfRuns:
    """What the runs of these systems say about the best of as many runs of another system."""
    df = sum(one.runs - 1 for one in found)
    sd = math.sqrt(sum((one.runs - 1) * one.sd**2 for one in found) / df)
    excess_sd = math.sqrt(sum((one.runs - 1) * one.excess_sd**2 for one in found) / df)
    return BestOfRuns(best_of, sd / _sd_bias(df + 1), excess_sd, df)


def run_variation(runs: ArrayLike, *, clusters: Labels | None = None, weights: ArrayLike | None = None) -> RunVariation:
    """The variation of a system between runs and between scenes; runs has shape (runs, episodes), at least two runs.

    >>> found = run_variation([[1, 0, 1, 1], [1, 0, 0, 1]], clusters=["a", "a", "b", "b"])
    >>> found.means, round(found.sd, 3)
    ((0.75, 0.5), 0.177)
    """
    table = as_runs(runs)
    if len(table) < 2:
        raise BadArgument("One run does not show how runs vary. Give at least two.")
    means = _run_means(table, weights)
    errors = [estimate_mean(run, clusters=clusters, weights=weights).standard_error for run in table]
    excess, _ = _excess_variance(table, clusters, weights)
    return RunVariation(
        tuple(map(float, means)),
        float(means.std(ddof=1)),
        math.sqrt(excess * len(table)),
        float(np.sqrt(np.mean(np.square(errors)))),
    )


def expected_maximum(count: int) -> float:
    """The mean of the largest of `count` independent standard normal values: 0.564 for 2, 0.846 for 3, 1.163 for 5.

    >>> round(expected_maximum(5), 3)
    1.163
    """
    if count < 1:
        raise BadArgument(f"The best of {count} runs does not exist. Give at least 1.")
    # E[max] is the integral of 1 - F(x)^count over x > 0, minus that of F(x)^count over x < 0.
    _, above = _normal_tail()
    return float(((1 - (1 - above) ** count) - above**count).sum() * _STEP)


def _variance_of_maximum(count: int) -> float:
    # E[max²] is the integral of 2 x (1 - F(x)^count + F(-x)^count) over x > 0.
    x, above = _normal_tail()
    square = float((2 * x * (1 - (1 - above) ** count + above**count)).sum() * _STEP)
    return square - expected_maximum(count) ** 2


@cache
def _normal_tail() -> tuple[Floats, Floats]:
    """Points x > 0 in equal steps, and the probability of a standard normal value above each."""
    x = np.arange(_STEP / 2, _REACH, _STEP)
    return x, np.array([0.5 * math.erfc(value / math.sqrt(2)) for value in x])


def interval_over_runs(
    runs: ArrayLike,
    *,
    clusters: Labels | None = None,
    weights: ArrayLike | None = None,
    bounds: Bounds | None = None,
    correct_skewness: bool = True,
    level: float = 0.95,
) -> Interval:
    """The mean over runs and episodes with an interval for all runs of the system in all scenes of their kind.

    runs: (runs, episodes). The other arguments are those of `interval`, which is the result for a single run.

    How. The default interval of the values averaged over runs shows the variation between scenes. Each end moves out by
    the variation between runs: its squared distance from the mean grows by h² - h₀², where h₀ is t·error over scenes
    alone, and h the same with the variance between runs added (`estimate_over_runs`). It is never shorter than the
    interval of the averaged values.

    >>> found = interval_over_runs([[1, 0, 1, 1], [1, 0, 0, 1]], clusters=["a", "a", "b", "b"])
    >>> found.mean, found.method
    (0.625, 'cluster-robust t (2 clusters), 2 runs')
    """
    table = as_runs(runs)
    averaged = table.mean(axis=0)
    over_scenes = interval(
        averaged, clusters=clusters, weights=weights, bounds=bounds, correct_skewness=correct_skewness, level=level
    )
    if len(table) == 1:
        return over_scenes
    scenes = estimate_mean(averaged, clusters=clusters, weights=weights)
    both = _add_variances(scenes, [_excess_variance(table, clusters, weights)])
    further = max(0.0, _reach(both, level) ** 2 - _reach(scenes, level) ** 2) if np.isfinite(both.standard_error) else 0
    low, high = bounds or ((0.0, 1.0) if set(np.unique(table)) <= {0.0, 1.0} else UNBOUNDED)
    mean = over_scenes.mean
    return Interval(
        mean,
        max(low, mean - math.hypot(mean - over_scenes.low, math.sqrt(further))),
        min(high, mean + math.hypot(over_scenes.high - mean, math.sqrt(further))),
        level,
        f"{over_scenes.method}, {len(table)} runs",
    )


def estimate_over_runs(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    clusters: Labels | None = None,
    weights: ArrayLike | None = None,
    extra: Sequence[tuple[float, float]] = (),
) -> MeanEstimate:
    """The mean of a system over its runs, or the difference of two, with its standard error and degrees of freedom.

    a, b: (runs, episodes) on the same episodes; the numbers of runs may differ.
    extra: further variances with their degrees of freedom, such as those of `BestOfRuns`.

    The variance is that over scenes of the values averaged over runs, plus for each system with several runs the
    variance of its run means beyond what runs vary within scenes, which the first part contains already. The degrees of
    freedom are Satterthwaite's, at most those over scenes.
    """
    systems = [as_runs(a), *([] if b is None else [as_runs(b)])]
    averaged = [table.mean(axis=0) for table in systems]
    if b is not None and len(averaged[0]) != len(averaged[1]):
        raise BadArgument(f"a has {len(averaged[0])} episodes and b has {len(averaged[1])}. Give the same for both.")
    values = averaged[0] if b is None else averaged[0] - averaged[1]
    scenes = estimate_mean(values, clusters=clusters, weights=weights)
    of_runs = [_excess_variance(table, clusters, weights) for table in systems if len(table) > 1]
    return _add_variances(scenes, [*of_runs, *extra])


def difference_over_runs(
    a: ArrayLike,
    b: ArrayLike,
    *,
    clusters: Labels | None = None,
    weights: ArrayLike | None = None,
    extra: Sequence[tuple[float, float]] = (),
    level: float = 0.95,
) -> Difference:
    """The difference of two systems with several runs, with an interval over runs and scenes, and its t-test."""
    found = estimate_over_runs(a, b, clusters=clusters, weights=weights, extra=extra)
    reach = _reach(found, level)
    count = "scenes" if found.clusters else "values"
    method = f"t over runs and {count} ({len(as_runs(a))} and {len(as_runs(b))} runs)"
    episodes = as_runs(a).shape[1]
    return Difference(
        Interval(found.mean, found.mean - reach, found.mean + reach, level, method),
        difference_p_value(a, b, clusters=clusters, weights=weights, extra=extra),
        exact=False,
        episodes=episodes,
        clusters=len(set(cluster_codes(clusters).tolist())) if clusters is not None else episodes,
        test="t",
    )


def difference_p_value(
    a: ArrayLike,
    b: ArrayLike,
    *,
    clusters: Labels | None = None,
    weights: ArrayLike | None = None,
    extra: Sequence[tuple[float, float]] = (),
) -> float:
    """The two-sided p-value of the t-test that belongs to the interval of a difference; one run or several of each."""
    first, second = as_runs(a), as_runs(b)
    if len(first) == len(second) == 1 and not extra:
        return paired_t_p_value(first[0], second[0], clusters=clusters, weights=weights)
    found = estimate_over_runs(first, second, clusters=clusters, weights=weights, extra=extra)
    if found.mean == 0 or not np.isfinite(found.standard_error):
        return 1.0
    if found.standard_error == 0:
        return paired_t_p_value(first.mean(axis=0), second.mean(axis=0), clusters=clusters, weights=weights)
    return 2 * upper_tail(abs(found.mean) / found.standard_error, found.df)


def _run_means(table: Floats, weights: ArrayLike | None) -> Floats:
    return np.asarray(np.average(table, axis=1, weights=as_weights(weights, table.shape[1])))


def _excess_variance(table: Floats, clusters: Labels | None, weights: ArrayLike | None) -> tuple[float, float]:
    """The variance between runs that variation of runs within scenes does not explain, of the mean over the runs, and
    its degrees of freedom."""
    count = len(table)
    between = float(_run_means(table, weights).var(ddof=1)) / count
    away = table - table.mean(axis=0)  # each run from the average of all, episode by episode
    errors = [estimate_mean(run, clusters=clusters, weights=weights).standard_error for run in away]
    within = float(np.square(errors).sum()) / ((count - 1) * count)
    # Equal runs differ by rounding only.
    excess = between - within if between > 1e-24 * max(1.0, float(np.abs(table).max()) ** 2) else 0.0
    return max(0.0, excess), count - 1.0


def _add_variances(scenes: MeanEstimate, others: Sequence[tuple[float, float]]) -> MeanEstimate:
    """The estimate with more variances, each with its degrees of freedom, of independent parts."""
    parts = [(scenes.standard_error**2, scenes.df), *others]
    total = sum(variance for variance, _ in parts)
    if total == 0 or not np.isfinite(total):
        return scenes
    df = total**2 / sum(variance**2 / freedom for variance, freedom in parts if variance > 0)
    return MeanEstimate(scenes.mean, math.sqrt(total), min(df, scenes.df), scenes.clusters, scenes.skewness)


def _reach(estimate: MeanEstimate, level: float) -> float:
    """Half the width of the t interval."""
    if estimate.standard_error == 0 or not np.isfinite(estimate.standard_error):
        return estimate.standard_error
    return quantile((1 + level) / 2, estimate.df) * estimate.standard_error


def _sd_bias(count: int) -> float:
    """The expected standard deviation of a sample of normal values, relative to the true one."""
    return math.sqrt(2 / (count - 1)) * math.exp(math.lgamma(count / 2) - math.lgamma((count - 1) / 2))
