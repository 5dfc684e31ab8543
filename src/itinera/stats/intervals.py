"""The confidence interval printed with every mean, calibrated for few scenes. Start with `interval`.

`recipes/interval_coverage.py` measures its coverage on simulated benchmarks whose true mean is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from itinera.errors import BadArgument
from itinera.stats._t_distribution import quantile
from itinera.stats._validation import Floats, Labels, as_values, as_weights, check_level
from itinera.stats.means import ClusterMeans, MeanEstimate, between_variance, estimate_from, summarise_clusters

Bounds = tuple[float, float]
UNBOUNDED: Bounds = (-np.inf, np.inf)

# The allowance for skewed scenes, chosen on the simulations of `recipes/interval_coverage.py`.
_LARGEST_EXTENSION = 0.6  # of the longer side, in units of t · error
_EXTENSION = 1.5  # times what the expansion says: few scenes show less skewness than there is
_DOUBT = 1.5  # standard errors of the sample skewness that are added in the direction the bounds suggest
# A logistic-normal variable with mean μ and variance τ of its logit has a mean of about expit(μ / sqrt(1 + c τ)).
_LOGIT_ATTENUATION = (16 * math.sqrt(3) / (15 * math.pi)) ** 2


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval of this level."""

    mean: float  # or whichever statistic was estimated
    low: float
    high: float
    level: float = 0.95
    method: str = ""  # its name, for the reader of a table


def wilson(successes: float, trials: float, *, level: float = 0.95) -> Interval:
    """The rate successes / trials with Wilson's (1927) interval, for independent trials.

    >>> outcome = wilson(8, 10)
    >>> round(outcome.low, 4), round(outcome.high, 4)
    (0.4902, 0.9433)
    """
    check_level(level)
    if not (0 <= successes <= trials and 0 < trials < np.inf):
        raise BadArgument(
            f"{successes} successes in {trials} trials is not a rate. Give 0 ≤ successes ≤ trials, trials > 0."
        )
    rate = successes / trials
    low, high = _wilson_ends(rate, trials, level)
    return Interval(rate, low, high, level, "Wilson (independent values)")


def interval(
    values: ArrayLike,
    *,
    clusters: Labels | None = None,
    weights: ArrayLike | None = None,
    bounds: Bounds | None = None,
    correct_skewness: bool = True,
    level: float = 0.95,
) -> Interval:
    """The mean of the values and an interval for it: the default of everything Itinera prints.

    values: one finite number per episode; drop undefined ones first.
    clusters: the scene of each episode, as any labels. Give them whenever there are several scenes.
    weights: how much each value counts in the mean; equally by default.
    bounds: the range a value can have by definition, such as (0, 1) for SPL or (0, inf) for an error.

    What is estimated. The scenes are treated as drawn at random from all scenes of their kind, each bringing its
    episodes (and its number of them) along. The truth is the mean over the episodes of all those scenes, that is
    E[total of a scene] / E[weight of a scene]: scenes count by their episodes, as they do in the printed mean. Without
    clusters, the episodes themselves are the random draw, and the interval says nothing about other scenes.

    How. The cluster-robust error of `estimate_mean` times a t quantile. With bounds, the error is taken to shrink as
    the true mean nears a bound, in proportion to (mean - low)(high - mean), or to (mean - low) if only low is
    finite: the idea of Wilson's interval, with a clustered variance. Such an interval never leaves its bounds and
    covers skewed values better. Without bounds it is mean ± t·error.

    Skewed scenes. Near a bound, scenes can be far away on one side only, and a sample without such a scene shows
    neither it nor the spread it makes. So the interval of bounded values of several clusters is extended, never
    shortened: by the skewness of the clusters (`_extend_for_skewness`) and, between two bounds, by a model of the
    clusters' logits (`_logit_ends`). `correct_skewness=False` leaves this out.

    0/1 values. Unless bounds say otherwise, values that are all 0 or 1 are a rate: bounds are (0, 1), and without
    clusters (or with one) the interval is Wilson's. If the clusters' rates are all equal, as when every episode
    succeeded, their spread says nothing, and the interval is Wilson's on the number of values (with weights, on
    (Σw)² / Σw²), never of width zero. Pass bounds=(-inf, inf) for 0/1 numbers that are not a rate.

    Few values. One cluster: its values are taken as independent, and `method` says so. One value that is no rate: the
    interval is the bounds, or infinite. Equal values that are no rate: width zero.

    >>> outcome = interval([1, 1, 0, 1, 0, 0], clusters=["a", "a", "a", "b", "b", "b"])
    >>> outcome.mean, outcome.method
    (0.5, 'skewness-corrected cluster-robust t (2 clusters)')
    """
    check_level(level)
    numbers = as_values(values)
    is_rate = bounds in (None, (0, 1)) and bool(((numbers == 0) | (numbers == 1)).all())
    limits = (0.0, 1.0) if is_rate else UNBOUNDED if bounds is None else bounds
    _check_bounds(numbers, limits)
    parts = summarise_clusters(numbers, clusters=clusters, weights=weights)
    estimate = estimate_from(parts)
    mean = float(np.clip(estimate.mean, *limits))
    independent = estimate.clusters == 0
    remark = "independent values" if clusters is None else "independent values: one cluster"
    if is_rate and (not 0 < estimate.standard_error < np.inf or (independent and weights is None)):
        low, high = _wilson_ends(mean, _effective_number(numbers, weights), level)
        return Interval(mean, low, high, level, f"Wilson ({remark if independent else 'all clusters agree'})")
    if estimate.standard_error == np.inf:
        return Interval(mean, *limits, level, "one value")
    t = quantile((1 + level) / 2, estimate.df)
    ends = bounded_ends(mean, t * estimate.standard_error, limits)
    if independent:
        return Interval(mean, *ends, level, f"t ({remark})")
    method = f"cluster-robust t ({estimate.clusters} clusters)"
    if not correct_skewness or limits == UNBOUNDED or estimate.standard_error == 0:
        return Interval(mean, *ends, level, method)
    low, high = _extend_for_skewness(ends, estimate, t, limits)
    if np.isfinite(limits).all():
        others = _logit_ends(parts, mean, limits, level)
        low, high = min(low, others[0]), max(high, others[1])
    return Interval(mean, low, high, level, f"skewness-corrected {method}")


def _extend_for_skewness(ends: Bounds, estimate: MeanEstimate, t: float, bounds: Bounds) -> Bounds:
    """The ends, the one on the longer side of the clusters' distribution moved further out.

    By Edgeworth's expansion of Student's t (Hall 1992) the interval of a mean of skewness A is too short by
    A (1 + 2t²) / 6 errors on the side of the long tail. The skewness of few clusters is known badly, with a standard
    error of √6 / (df + 1), and most of the intervals that miss come from samples that look symmetric; therefore doubt
    counts as skewness away from the nearer bound.
    """
    low, high = bounds
    if np.isfinite(low) and np.isfinite(high):
        lean = (low + high - 2 * estimate.mean) / (high - low)
    else:
        lean = 1.0 if np.isfinite(low) else -1.0
    skewness = estimate.skewness + _DOUBT * math.sqrt(6) / (estimate.df + 1) * lean
    further = min(_LARGEST_EXTENSION * t, _EXTENSION * (1 + 2 * t * t) / 6 * abs(skewness)) * estimate.standard_error
    return (ends[0], min(high, ends[1] + further)) if skewness > 0 else (max(low, ends[0] - further), ends[1])


def _logit_ends(parts: ClusterMeans, mean: float, bounds: Bounds, level: float) -> Bounds:
    """The interval of the mean if the logits of the clusters' means are normal.

    The mean depends on the mean and on the variance of the logits; limits of each are found on their own and their
    distances from the estimate are combined by the root of the sum of squares (Zou and Donner 2008). A variance that
    is large, or badly known, moves the limit away from the nearer bound even if no cluster has been seen there.
    """
    low, high = bounds
    rate = (mean - low) / (high - low)
    if not 0 < rate < 1:
        return mean, mean
    scaled = np.clip((parts.mean + parts.origin - low) / (high - low), 0.0, 1.0)
    # One more value of average size in each cluster keeps logits finite where all values are on a bound.
    shrunk = (scaled + parts.dilution * rate) / (1 + parts.dilution)
    within = parts.within / ((high - low) * rate * (1 - rate)) ** 2
    logits = replace(parts, mean=_logit(shrunk), within=within, origin=0.0, rounding=0.0)
    estimate, variance = estimate_from(logits), between_variance(logits)
    flatten = math.sqrt(1 + _LOGIT_ATTENUATION * variance)
    reach = quantile((1 + level) / 2, estimate.df) * estimate.standard_error / flatten
    centre = float(_logit(np.array(rate)))
    largest, smallest = (variance * ratio for ratio in _variance_ratios(estimate.df, level))
    inward = abs(centre) * (1 - flatten / math.sqrt(1 + _LOGIT_ATTENUATION * largest))
    outward = abs(centre) * (flatten / math.sqrt(1 + _LOGIT_ATTENUATION * smallest) - 1)
    below, above = (outward, inward) if centre < 0 else (inward, outward)
    ends = (centre - math.hypot(reach, below), centre + math.hypot(reach, above))
    return low + (high - low) * _expit(ends[0]), low + (high - low) * _expit(ends[1])


def _variance_ratios(df: float, level: float) -> tuple[float, float]:
    """Confidence limits of a variance over its estimate, by Wilson and Hilferty's approximation of chi-squared."""
    z, spread = quantile((1 + level) / 2, math.inf), 2 / (9 * df)
    roots = (1 - spread - z * math.sqrt(spread), 1 - spread + z * math.sqrt(spread))
    # With one or two degrees of freedom the lower root is below zero, and the variance may have any size.
    return max(roots[0], 0.05) ** -3, roots[1] ** -3


def _logit(rate: Floats) -> Floats:
    return np.asarray(np.log(rate / (1 - rate)))


def _expit(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0


def _wilson_ends(rate: float, trials: float, level: float) -> tuple[float, float]:
    return _solve_score(rate, quantile((1 + level) / 2, math.inf) ** 2 / trials, (0.0, 1.0))


def _effective_number(values: Floats, weights: ArrayLike | None) -> float:
    """The number of equally weighted values that would estimate the mean equally well."""
    weight = as_weights(weights, len(values))
    return float(weight.sum() ** 2 / (weight @ weight))


def _check_bounds(values: Floats, bounds: Bounds) -> None:
    low, high = bounds
    if not low < high:
        raise BadArgument(f"Bounds ({low}, {high}) hold no values. Give the lower bound first.")
    # A metric may round past its bound; more than that is a mistake.
    slack = 1e-9 * max([1.0, *(abs(bound) for bound in bounds if np.isfinite(bound))])
    smallest, largest = float(values.min()), float(values.max())
    if smallest < low - slack or largest > high + slack:
        raise BadArgument(
            f"Values run from {smallest:g} to {largest:g}, outside the bounds ({low:g}, {high:g}). "
            "Give the range the values can have, or no bounds."
        )


def bounded_ends(mean: float, reach: float, bounds: Bounds) -> tuple[float, float]:
    """The ends of the interval `reach` away from the mean, bent so that it stays within the bounds."""
    scale = _variance_shape(mean, bounds)
    if scale <= 0:  # the mean sits on a bound, so all values do
        return mean, mean
    return _solve_score(mean, reach**2 / scale, bounds)


def _variance_shape(mean: float, bounds: Bounds) -> float:
    low, high = bounds
    return (mean - low if np.isfinite(low) else 1.0) * (high - mean if np.isfinite(high) else 1.0)


def _solve_score(mean: float, ratio: float, bounds: Bounds) -> tuple[float, float]:
    """The two truths μ at which (mean - μ)² = ratio · shape(μ), shape being how variance falls towards the bounds."""
    low, high = bounds
    bounded_below, bounded_above = bool(np.isfinite(low)), bool(np.isfinite(high))
    # Distances from the mean, x = μ - mean, in: (1 + a) x² - b x - c = 0.
    if bounded_below and bounded_above:
        a, b, c = ratio, ratio * (low + high - 2 * mean), ratio * (mean - low) * (high - mean)
    elif bounded_below:
        a, b, c = 0.0, ratio, ratio * (mean - low)
    elif bounded_above:
        a, b, c = 0.0, -ratio, ratio * (high - mean)
    else:
        a, b, c = 0.0, 0.0, ratio
    root = np.sqrt(b * b + 4 * (1 + a) * c)
    ends = mean + (b - root) / (2 * (1 + a)), mean + (b + root) / (2 * (1 + a))
    return float(max(low, ends[0])), float(min(high, ends[1]))
