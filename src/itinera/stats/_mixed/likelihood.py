"""The likelihood of a mixed model whose groups are nested, such as scenes that hold trajectories.

A row is a response y and a covariate x. Rows of one outer group share an intercept and a slope of x, rows of one inner
group within it share an intercept. All that the likelihood needs of the rows are a few sums per group, so that one
evaluation costs as much for sixteen thousand rows as for a hundred. Start with `group_sums`, then `profile`; `mixed.py`
fits models.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from itinera.stats._validation import Floats, Integers

TWO_PI = 2 * np.pi


@dataclass(frozen=True)
class Sums:
    """The sums over rows that the likelihood needs, without what would cancel where the residual variance is small.

    Each outer group has an intercept and a slope of its own by least squares (`own`), and r is what they leave of y.
    The six sums are of 1, x, x², r, xr and r².
    """

    rows: int
    own: Floats  # (2, outer groups) the intercept and slope of each outer group
    within: Floats  # (6, outer groups) the six sums over its rows, x and r measured from the means of their inner group
    between: Floats  # (sizes, 6, outer groups) the six sums over inner groups of one size, of their means
    sizes: Floats  # (sizes,) the numbers of rows an inner group can have
    counts: Floats  # (sizes,) how many inner groups have that many


@dataclass(frozen=True)
class Profile:
    """The maximum over the fixed effects at given variances; the first axis runs over the variances."""

    log_volume: Floats  # (k,) log determinant of the covariance of all rows, in units of the residual variance
    information: Floats  # (k, fixed, fixed) of the fixed effects, in the same units
    fixed_effects: Floats  # (k, fixed) generalised least squares
    misfit: Floats  # (k,) the sum of squares left, weighed by the covariance


def group_sums(y: Floats, x: Floats, outer: Integers, inner: Integers | None) -> Sums:
    """The sums over rows with these outer groups, coded 0, 1, …, and inner groups, coded likewise over all rows."""
    groups = int(outer.max()) + 1
    own = _own_lines(y, x, outer)
    left = y - own[0, outer] - own[1, outer] * x
    if inner is None:
        none = np.zeros(0)
        return Sums(
            len(y), own, _six_sums(np.ones_like(y), x, left, outer, groups), np.zeros((0, 6, groups)), none, none
        )
    n = np.bincount(inner).astype(np.float64)
    mean_x, mean_left = np.bincount(inner, x) / n, np.bincount(inner, left) / n
    within = _six_sums(np.zeros_like(y), x - mean_x[inner], left - mean_left[inner], outer, groups)
    parent = np.zeros(len(n), dtype=np.int64)
    parent[inner] = outer
    sizes, size_index, counts = np.unique(n, return_inverse=True, return_counts=True)
    by_size = _six_sums(np.ones_like(n), mean_x, mean_left, size_index * groups + parent, len(sizes) * groups)
    between = np.moveaxis(by_size.reshape(6, len(sizes), groups), 1, 0)
    return Sums(len(y), own, within, between, sizes, counts.astype(np.float64))


def _own_lines(y: Floats, x: Floats, codes: Integers) -> Floats:
    """The least-squares intercept and slope of each group, (2, groups); the slope is 0 where x does not vary."""
    n, sx, sy = (np.bincount(codes, column) for column in (np.ones_like(y), x, y))
    far = x - (sx / n)[codes]
    sxx, sxy = np.bincount(codes, far * far), np.bincount(codes, far * (y - (sy / n)[codes]))
    slope = np.divide(sxy, sxx, out=np.zeros_like(sxy), where=sxx > 1e-9)
    return np.stack([(sy - slope * sx) / n, slope])


def _six_sums(one: Floats, x: Floats, y: Floats, codes: Integers, groups: int) -> Floats:
    columns = (one, one * x, x * x, one * y, x * y, y * y)
    return np.array([np.bincount(codes, column, groups) for column in columns])


def profile(sums: Sums, spreads: Floats, *, slope: bool) -> Profile:
    """The profile at each row (a, b, c, d) of `spreads`, which are in units of the residual standard deviation.

    The outer groups' intercept and slope have the covariance ΛΛᵀ with Λ = [[a, 0], [b, c]], the inner groups' intercept
    the variance d². `slope` says whether the slope of x is a fixed effect beside the intercept. Only ΛΛᵀ and d² matter,
    so signs are free, and a variance of zero is an ordinary point.
    """
    parts = contributions(sums, spreads)
    fixed = 2 if slope else 1
    information = parts.information.sum(axis=-1)[:, :fixed, :fixed]
    moments = parts.moments.sum(axis=-1)[:, :fixed]
    effects = np.asarray(np.linalg.solve(information, moments[:, :, None])[:, :, 0], dtype=np.float64)
    # Rows that a model fits exactly leave rounding errors, which may be negative.
    misfit = np.maximum(parts.square.sum(axis=-1) - (moments * effects).sum(axis=1), 1e-15 * sums.rows)
    log_volume = np.log1p(spreads[:, 3:] ** 2 * sums.sizes) @ sums.counts + parts.log_volume.sum(axis=-1)
    return Profile(log_volume, information, effects, misfit)


@dataclass(frozen=True)
class Contributions:
    """The contribution of each outer group to the fit: X the columns 1 and x of its rows and V their covariance."""

    information: Floats  # (k, 2, 2, outer groups) Xᵀ V⁻¹ X
    moments: Floats  # (k, 2, outer groups) Xᵀ V⁻¹ y
    square: Floats  # (k, outer groups) yᵀ V⁻¹ y
    log_volume: Floats  # (k, outer groups) log determinant of V, without the contribution of the inner groups


def contributions(sums: Sums, spreads: Floats) -> Contributions:
    """The contributions at each row of `spreads`, which are those of `profile`.

    Every number is written as a sum of terms that do not cancel, so that spreads of a thousand residual standard
    deviations still leave ten digits for second differences.
    """
    a, b, c, d = (column[:, None] for column in spreads.T)
    # The means of an inner group of n rows count n / (1 + d² n) times: they vary by its shared intercept too.
    left = sums.within + np.tensordot(sums.sizes / (1 + d * d * sums.sizes), sums.between, axes=1)  # (k, 6, groups)
    n, sx, sxx, sr, sxr, srr = (left[:, column] for column in range(6))
    # With M = [[n, sx], [sx, sxx]] and Σ = ΛΛᵀ: Xᵀ V⁻¹ X = (I + MΣ)⁻¹ M = (M + |M| adj Σ) / |I + MΣ|, and alike for r.
    s00, s01, s11 = a * a, a * b, b * b + c * c
    area = n * sxx - sx * sx
    volume = 1 + s00 * n + 2 * s01 * sx + s11 * sxx + (a * c) ** 2 * area
    i00, i01, i11 = (n + area * s11) / volume, (sx - area * s01) / volume, (sxx + area * s00) / volume
    w0, w1 = sxx * sr - sx * sxr, n * sxr - sx * sr  # adj(M) (moments of r)
    m0, m1 = (sr + s11 * w0 - s01 * w1) / volume, (sxr - s01 * w0 + s00 * w1) / volume
    q0, q1 = s00 * m0 + s01 * m1, s01 * m0 + s11 * m1
    first, second = sums.own
    p0, p1 = i00 * first + i01 * second, i01 * first + i11 * second
    information = np.empty((len(spreads), 2, 2, n.shape[1]))
    information[:, 0, 0], information[:, 1, 1] = i00, i11
    information[:, 0, 1] = information[:, 1, 0] = i01
    square = srr - sr * q0 - sxr * q1 + first * (p0 + 2 * m0) + second * (p1 + 2 * m1)
    return Contributions(information, np.stack([p0 + m0, p1 + m1], axis=1), square, np.log(volume))


def deviance(sums: Sums, found: Profile, *, restricted: bool) -> Floats:
    """Minus twice the log-likelihood with the best residual variance, (k,); `restricted` is REML, else ML."""
    fixed = found.fixed_effects.shape[1]
    freedom = sums.rows - fixed if restricted else sums.rows
    value = found.log_volume + freedom * (1 + np.log(TWO_PI * found.misfit / freedom))
    return np.asarray(value + _log_information(found) if restricted else value)


def deviance_at(sums: Sums, found: Profile, residual_sd: Floats) -> Floats:
    """Minus twice the restricted log-likelihood at these residual standard deviations, (k,)."""
    freedom = sums.rows - found.fixed_effects.shape[1]
    variance = residual_sd**2
    spread = freedom * np.log(TWO_PI * variance) + found.misfit / variance
    return np.asarray(found.log_volume + _log_information(found) + spread)


def _log_information(found: Profile) -> Floats:
    return np.asarray(np.linalg.slogdet(found.information)[1])
