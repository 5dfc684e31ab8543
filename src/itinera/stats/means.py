"""The standard error of a mean of clustered values, such as episodes clustered by scene.

Episodes of one scene are correlated, so the effective sample size is closer to the number of scenes, and benchmarks
have few of them (R2R val-unseen has 11, with 6 to 100 paths each). Start with `estimate_mean`; `intervals.py` turns
its result into an interval.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from itinera.errors import BadArgument
from itinera.stats._validation import Floats, Integers, Labels, as_values, as_weights, cluster_codes, cluster_sums


@dataclass(frozen=True)
class MeanEstimate:
    """A mean, its standard error, and the degrees of freedom with which that error is known."""

    mean: float
    standard_error: float  # infinite for a single value
    df: float
    clusters: int  # 0 when the values were taken as independent
    skewness: float = 0.0  # of the mean, from the clusters' contributions to it: third moment / standard error³


def estimate_mean(
    values: ArrayLike, *, clusters: Labels | None = None, weights: ArrayLike | None = None
) -> MeanEstimate:
    """The (weighted) mean of the values with its cluster-robust standard error.

    The error is the bias-reduced sandwich "CR2" of Bell and McCaffrey (2002): a cluster's distance from the mean is
    enlarged by 1 / sqrt(1 - its share), because a large cluster pulls the mean towards itself. Its degrees of freedom
    follow Imbens and Kolesár (2016): Satterthwaite's, under a random-effects model whose between- and within-cluster
    variances are estimated from the values, so that a few dominant clusters count as few. With clusters of equal size
    this is the ordinary t procedure on cluster means, with one value per cluster the ordinary t procedure.
    One cluster says nothing about other clusters: its values are taken as independent, and `clusters` is 0.

    >>> estimate_mean([1.0, 3.0, 5.0, 7.0], clusters=["a", "a", "b", "b"])
    MeanEstimate(mean=4.0, standard_error=2.0, df=1.0, clusters=2, skewness=0.0)
    """
    return estimate_from(summarise_clusters(values, clusters=clusters, weights=weights))


def intra_cluster_correlation(values: ArrayLike, clusters: Labels) -> float:
    """The share of the values' variance that lies between clusters (ICC), in [0, 1].

    The analysis-of-variance estimate, with negative ones reported as 0. It is what `power.ComparisonDesign` asks for.

    >>> intra_cluster_correlation([1.0, 1.0, 5.0, 5.0], ["a", "a", "b", "b"])
    1.0
    """
    numbers = as_values(values)
    codes = cluster_codes(clusters, size=len(numbers))
    parts = _summarise(numbers - numbers[0], codes, np.ones(len(numbers)))
    if not 1 < len(parts.share) < len(numbers):
        raise BadArgument(
            f"{len(numbers)} values in {len(parts.share)} clusters cannot separate variance within from variance "
            "between. Give at least two clusters, one of them with at least two values."
        )
    between = between_variance(parts)
    total = between + parts.within
    return between / total if total > 0 else 0.0


@dataclass(frozen=True)
class ClusterMeans:
    """Summary of the clusters for the mean and its error; arrays have one entry per cluster."""

    mean: Floats  # measured from the origin
    share: Floats  # of the total weight; sums to 1
    rest: Floats  # 1 - share
    dilution: Floats  # variance of the cluster's mean per unit of within-cluster variance: 1 / size without weights
    within: float  # variance of values around their cluster's mean; 0 when no cluster has two values
    origin: float = 0.0
    rounding: float = 0.0  # distances between means up to this size are rounding errors
    independent: bool = False  # whether every value counts as a cluster of its own


def summarise_clusters(
    values: ArrayLike, *, clusters: Labels | None = None, weights: ArrayLike | None = None
) -> ClusterMeans:
    """The clusters' means and shares, for `estimate_from`; arguments are those of `estimate_mean`."""
    numbers, codes, weight = _drop_zero_weights(values, clusters, weights)
    # Distances from the first value keep sums small, and make the error of equal values exactly zero.
    origin = float(numbers[0])
    parts = _summarise(numbers - origin, codes, weight)
    rounding = 1e-12 * float(np.abs(numbers - origin).max())
    return replace(parts, origin=origin, rounding=rounding, independent=codes is None)


def estimate_from(parts: ClusterMeans) -> MeanEstimate:
    """The mean, its error, degrees of freedom and skewness, from the clusters' means."""
    count, mean = len(parts.share), float((parts.share * parts.mean).sum())
    clusters = 0 if parts.independent else count
    if count == 1:
        return MeanEstimate(mean + parts.origin, np.inf, 0.0, 0)
    offset = _offsets(parts)
    factor = parts.share**2 / parts.rest
    variance = float((factor * offset**2).sum())
    if variance == 0:
        return MeanEstimate(mean + parts.origin, 0.0, count - 1.0, clusters)
    df = _satterthwaite(parts.share, factor, between_variance(parts) + parts.within * parts.dilution)
    skewness = float(((np.sqrt(factor / variance) * offset) ** 3).sum())
    return MeanEstimate(mean + parts.origin, float(np.sqrt(variance)), df, clusters, skewness)


def between_variance(parts: ClusterMeans) -> float:
    """The variance of true cluster means, by moments, at least 0."""
    offset = _offsets(parts)
    surplus = (parts.share * (offset**2 - parts.within * parts.dilution * parts.rest)).sum()
    return max(0.0, float(surplus / (parts.share * parts.rest).sum()))


def _offsets(parts: ClusterMeans) -> Floats:
    offset = parts.mean - (parts.share * parts.mean).sum()
    # Clusters that agree differ by rounding only, which must not pass for a standard error.
    offset[np.abs(offset) <= parts.rounding] = 0.0
    return np.asarray(offset)


def _drop_zero_weights(
    values: ArrayLike, clusters: Labels | None, weights: ArrayLike | None
) -> tuple[Floats, Integers | None, Floats]:
    """Values, codes and weights, without the values of weight zero; no codes where values count as independent."""
    numbers = as_values(values)
    weight = as_weights(weights, len(numbers))
    codes = None if clusters is None else cluster_codes(clusters, size=len(numbers))
    if weights is not None and not weight.all():
        kept = weight > 0
        numbers, weight = numbers[kept], weight[kept]
        codes = None if codes is None else cluster_codes(codes[kept])
    if codes is not None and codes.max() == 0:
        codes = None
    return numbers, codes, weight


def _summarise(values: Floats, codes: Integers | None, weights: Floats) -> ClusterMeans:
    if codes is None:
        mean, total, dilution, within = values, weights, np.ones(len(values)), 0.0
    else:
        total = cluster_sums(codes, weights)
        mean = cluster_sums(codes, weights * values) / total
        dilution = cluster_sums(codes, weights**2) / total**2
        freedom = float(total @ (1 - dilution))
        # A cluster of one value has dilution 1; rounding must not turn "no freedom" into a tiny number.
        enough = freedom > 1e-9 * float(total.sum())
        # Here and below, sums and not dot products: BLAS would start threads, which cost more than they save.
        within = float((weights * (values - mean[codes]) ** 2).sum()) / freedom if enough else 0.0
    share = total / total.sum()
    return ClusterMeans(mean, share, np.maximum(1 - share, np.finfo(float).eps), dilution, within)


def _satterthwaite(share: Floats, factor: Floats, variance: Floats) -> float:
    """Degrees of freedom of Σ factor·(cluster mean - mean)² when cluster means have these variances.

    The sum is a quadratic form of the cluster means; in coordinates of unit variance its matrix is
    diag(p) - u vᵀ - v uᵀ + s v vᵀ, and the answer is trace² / trace of its square, written out to stay linear in the
    number of clusters.
    """
    root = np.sqrt(variance)
    u, v, p, s = factor * root, share * root, factor * variance, factor.sum()
    uu, uv, vv = (u * u).sum(), (u * v).sum(), (v * v).sum()
    trace = p.sum() - 2 * uv + s * vv
    diagonal_part = (p * p).sum() - 4 * (p * u * v).sum() + 2 * s * (p * v**2).sum()
    low_rank_part = 2 * uv**2 + 2 * uu * vv - 4 * s * uv * vv + (s * vv) ** 2
    # The square of a sum of eigenvalues is at least the sum of their squares; rounding must not say otherwise.
    return max(1.0, float(trace**2 / (diagonal_part + low_rank_part)))
