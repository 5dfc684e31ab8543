"""The mean of a whole split, estimated from a sample of its episodes: strata, paths within them, control variates.

The split is finite and fixed: its mean is a number, and the only chance is which episodes were drawn. `SampleDesign`
says how that was done, `estimate_population_mean` gives the mean with an interval, `expected_error` what standard error
to expect of values that are known for the whole split. Scenes other than those of the split are not its subject; that
is what `intervals.py` is for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from itinera.errors import BadArgument
from itinera.stats._t_distribution import quantile
from itinera.stats._validation import Floats, Integers, as_values, check_level
from itinera.stats.intervals import UNBOUNDED, Bounds, Interval, bounded_ends, wilson


@dataclass(frozen=True, eq=False)
class SampleDesign:
    """A stratified sample in two stages: paths at random in each stratum, then episodes at random of each such path.

    Episodes without siblings are paths of one episode. Every stratum needs two sampled paths, or all of its paths.
    """

    paths: Integers  # (episodes,) which sampled path the episode belongs to, 0, 1, …
    strata: Integers  # (paths,) the stratum of each sampled path, 0, 1, …
    path_sizes: Integers  # (paths,) episodes of the path in the split
    stratum_paths: Integers  # (strata,) paths of the stratum in the split
    stratum_sizes: Integers  # (strata,) episodes of the stratum in the split

    def __post_init__(self) -> None:
        drawn = self.drawn_paths
        if len(drawn) != len(self.stratum_paths) or np.any(drawn > self.stratum_paths):
            raise BadArgument("A sample has paths of every stratum, at most as many as the stratum has.")
        if np.any((drawn < 2) & (drawn < self.stratum_paths)):
            raise BadArgument("Every stratum needs at least two sampled paths, or all of its paths.")
        if np.any(self.drawn_episodes > self.path_sizes):
            raise BadArgument("A path has fewer episodes than were sampled of it.")

    @property
    def drawn_paths(self) -> Integers:
        """(strata,) sampled paths."""
        return np.bincount(self.strata, minlength=len(self.stratum_paths))

    @property
    def drawn_episodes(self) -> Integers:
        """(paths,) sampled episodes."""
        return np.bincount(self.paths, minlength=len(self.strata))

    @property
    def shares(self) -> Floats:
        """(strata,) of the episodes of the split."""
        return np.asarray(self.stratum_sizes / self.stratum_sizes.sum())

    @property
    def weights(self) -> Floats:
        """(episodes,) how many episodes of the split each sampled one stands for; they sum to the size of the split."""
        per_path = self.path_sizes / self.drawn_episodes
        reached = np.bincount(self.strata, self.path_sizes)
        return np.asarray((per_path * (self.stratum_sizes / reached)[self.strata])[self.paths])

    def path_means(self, values: Floats) -> Floats:
        """(paths,) of the sampled episodes of each path."""
        return np.asarray(np.bincount(self.paths, values) / self.drawn_episodes)

    def stratum_means(self, values: Floats) -> Floats:
        """(strata,) estimated: the sampled paths, each as often as it has episodes."""
        totals = np.bincount(self.strata, self.path_sizes * self.path_means(values))
        return np.asarray(totals / np.bincount(self.strata, self.path_sizes))


@dataclass(frozen=True)
class PopulationEstimate:
    """The mean of a split as a sample tells it."""

    interval: Interval
    standard_error: float
    df: float
    slopes: tuple[float, ...] = ()  # of the control variates


def estimate_population_mean(
    values: ArrayLike,
    design: SampleDesign,
    *,
    covariates: ArrayLike | None = None,
    covariate_means: ArrayLike | None = None,
    bounds: Bounds = UNBOUNDED,
    level: float = 0.95,
) -> PopulationEstimate:
    """The mean of the values over the whole split with an interval, from those of the sampled episodes.

    values: (episodes,), in the order of `design.paths`.
    covariates: (episodes, k), control variates: numbers that are known for every episode of the split, such as the
        scores of another agent; `covariate_means`, (k,), are their means over the split. What the sample has too much
        of them is subtracted, by the slopes that fit the sample best. Any slope gives a valid estimate; a good one a
        precise one: of the variance, 1 - R² is left.
    bounds: the range a value can have; the interval bends away from them.

    Cochran (1977), sections 5 and 11.8: the variance between paths with its finite-population correction, plus that
    between the episodes of a path, which paths with two sampled episodes show. t quantile with Satterthwaite's degrees
    of freedom; p slopes enlarge the variance by (n - strata) / (n - strata - p).

    >>> one_each = np.zeros(4, dtype=int), np.ones(4, dtype=int)
    >>> design = SampleDesign(np.arange(4), *one_each, np.array([8]), np.array([8]))
    >>> found = estimate_population_mean([0.0, 1.0, 1.0, 0.0], design)
    >>> found.interval.mean, round(found.standard_error, 4)
    (0.5, 0.2041)
    """
    check_level(level)
    numbers = as_values(values)
    slopes, shift = np.empty(0), 0.0
    if covariates is not None:
        known = np.asarray(covariates, dtype=np.float64)
        slopes = _fit(numbers, known, design)
        sampled = [float(design.shares @ design.stratum_means(column)) for column in known.T]
        shift = float(slopes @ (np.asarray(covariate_means, dtype=np.float64) - sampled))
        residuals = numbers - known @ slopes
    else:
        residuals = numbers
    mean = float(np.clip(design.shares @ design.stratum_means(numbers) + shift, *bounds))
    variance, df = _variance(residuals, design)
    freedom = len(design.strata) - len(design.stratum_paths)
    if len(slopes) and freedom > len(slopes):
        variance *= freedom / (freedom - len(slopes))
    error = math.sqrt(variance)
    low, high = _ends(mean, error, df, design, bounds, level)
    method = "finite population, control variates" if len(slopes) else "finite population"
    return PopulationEstimate(Interval(mean, low, high, level, method), error, df, tuple(slopes.tolist()))


def _ends(
    mean: float, error: float, df: float, design: SampleDesign, bounds: Bounds, level: float
) -> tuple[float, float]:
    if error > 0:
        return bounded_ends(mean, quantile((1 + level) / 2, df) * error, bounds)
    drawn, size = len(design.paths), int(design.stratum_sizes.sum())
    if drawn == size or bounds != (0.0, 1.0) or mean not in bounds:
        return mean, mean
    # Every sampled episode succeeded, or none: others may not. Wilson's interval, of a finite population.
    found = wilson(mean * drawn, drawn, level=level)
    shrink = math.sqrt(1 - drawn / size)
    return mean - shrink * (mean - found.low), mean + shrink * (found.high - mean)


def expected_error(values: ArrayLike, paths: Integers, strata: Integers, design: SampleDesign) -> float:
    """The standard error of the mean that samples of this design have, for values known for the whole split.

    values, paths: (all episodes,); strata: (all paths,), numbered as in the design. No control variates.
    """
    numbers = as_values(values)
    sizes = np.bincount(paths)
    means = np.bincount(paths, numbers) / sizes
    total = len(numbers)
    around = np.bincount(strata, sizes * means) / np.bincount(strata, sizes)
    deviations = (sizes * (means - around[strata])) ** 2
    drawn, there = design.drawn_paths, design.stratum_paths
    between = np.bincount(strata, deviations) / np.maximum(there - 1, 1)
    variance = float((there**2 * (1 - drawn / there) / drawn * between).sum()) / total**2
    within = np.bincount(paths, (numbers - means[paths]) ** 2) / np.maximum(sizes - 1, 1)
    variance += float((sizes**2 * within * _unseen_share(design)[strata]).sum()) / total**2
    return math.sqrt(variance)


def worst_error(design: SampleDesign) -> float:
    """The largest standard error of the mean of a rate or another metric between 0 and 1, whatever the agent.

    Half of the episodes of every stratum succeed, and they lie where the sample sees them worst: in different paths, or
    in the same.
    """
    drawn, there = design.drawn_paths, design.stratum_paths
    between = there / np.maximum(there - 1, 1) * (1 - drawn / there) / drawn
    # Of a pair of siblings one succeeds: a path of size k has variance k / (4 (k - 1)) within.
    sizes = np.bincount(design.strata, design.path_sizes) / drawn
    within = sizes / np.maximum(sizes - 1, 1) * _unseen_share(design) / there * (sizes > 1)
    return 0.5 * math.sqrt(float((design.shares**2 * np.maximum(between, within)).sum()))


def _unseen_share(design: SampleDesign) -> Floats:
    """(strata,) by how much the variance between the episodes of a path enlarges that of the stratum's mean.

    It is 1/k - 1/K on average over the sampled paths, of whose K episodes k were sampled, times paths per sampled path.
    """
    left = 1 / design.drawn_episodes - 1 / design.path_sizes
    several = design.path_sizes > 1
    counted = np.maximum(np.bincount(design.strata, several, minlength=len(design.stratum_paths)), 1)
    mean = np.bincount(design.strata, left, minlength=len(design.stratum_paths)) / counted
    return np.asarray(design.stratum_paths / design.drawn_paths * mean)


def _fit(values: Floats, covariates: Floats, design: SampleDesign) -> Floats:
    """The slopes of the covariates within strata, by weighted least squares."""
    root = np.sqrt(design.weights)
    stratum = design.strata[design.paths]

    def centered(column: Floats) -> Floats:
        return np.asarray(root * (column - design.stratum_means(column)[stratum]))

    matrix = np.column_stack([centered(column) for column in covariates.T])
    scale = np.sqrt((matrix**2).sum(axis=0))
    scale[scale == 0] = 1.0  # a constant column, whose slope is then 0
    found = np.linalg.lstsq(matrix / scale, centered(values), rcond=1e-9)[0]
    return np.asarray(found / scale)


def _variance(residuals: Floats, design: SampleDesign) -> tuple[float, float]:
    """The variance of the estimated mean, and the degrees of freedom with which it is known."""
    means, stratum = design.path_means(residuals), design.stratum_means(residuals)
    drawn, there, shares = design.drawn_paths, design.stratum_paths, design.shares
    size = design.stratum_sizes / there  # mean episodes per path
    deviations = design.path_sizes / size[design.strata] * (means - stratum[design.strata])
    sums = np.bincount(design.strata, deviations**2)
    between = shares**2 * (1 - drawn / there) / drawn * sums / np.maximum(drawn - 1, 1)
    spread, freedom = _within_variance(residuals, means, design)
    left = design.path_sizes**2 * (1 / design.drawn_episodes - 1 / design.path_sizes)
    factor = there / drawn / design.stratum_sizes.sum() ** 2
    within = spread * float((factor * np.bincount(design.strata, left)).sum())
    variance = float(between.sum()) + within
    spent = float((between**2 / np.maximum(drawn - 1, 1)).sum()) + within**2 / freedom
    return variance, max(1.0, variance**2 / spent) if spent > 0 else math.inf


def _within_variance(values: Floats, means: Floats, design: SampleDesign) -> tuple[float, float]:
    """The variance between the episodes of a path, and its degrees of freedom."""
    freedom = int((design.drawn_episodes - 1).sum())
    if freedom:
        return float(((values - means[design.paths]) ** 2).sum()) / freedom, float(freedom)
    if (design.path_sizes > 1).any():  # nothing shows it: at most all of the variance
        return float(values.var(ddof=1)), float(len(values) - 1)
    return 0.0, 1.0
