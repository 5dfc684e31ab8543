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
    """The sums over rows that the likelihood needs. The six sums are of 1, x, x², y, xy and y²."""

    rows: int
    outer: Floats  # (6, outer groups) the six sums over the rows of each outer group
    inner: Floats  # (sizes, 6, outer groups) the six products of n, Σx, Σy of an inner group, summed by its size
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
    columns = (np.ones_like(y), x, x * x, y, x * y, y * y)
    by_outer = np.array([np.bincount(outer, column, groups) for column in columns])
    if inner is None:
        return Sums(len(y), by_outer, np.zeros((0, 6, groups)), np.zeros(0), np.zeros(0))
    n, sx, sy = (np.bincount(inner, column) for column in (columns[0], x, y))
    parent = np.zeros(len(n), dtype=np.int64)
    parent[inner] = outer
    sizes, size_of, counts = np.unique(n, return_inverse=True, return_counts=True)
    place = size_of * groups + parent
    products = (n * n, n * sx, sx * sx, n * sy, sx * sy, sy * sy)
    by_size = [np.bincount(place, product, len(sizes) * groups).reshape(len(sizes), groups) for product in products]
    return Sums(len(y), by_outer, np.stack(by_size, axis=1), sizes.astype(np.float64), counts.astype(np.float64))


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
    misfit = parts.square.sum(axis=-1) - (moments * effects).sum(axis=1)
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
    """The contributions at each row of `spreads`, which are those of `profile`."""
    a, b, c, d = (column[:, None] for column in spreads.T)
    # An inner group's shared intercept takes this much, per product of its sums, out of the sums of its outer group.
    shrink = d * d / (1 + d * d * sums.sizes)
    left = sums.outer - np.tensordot(shrink, sums.inner, axes=1)  # (k, 6, outer groups)
    n, sx, sxx, sy, sxy, syy = (left[:, column] for column in range(6))
    # The same once more for the outer groups, whose shared effects are two: B = (moments of 1 and x) Λ, K = I + Λᵀ B.
    b00, b10, b01, b11 = a * n + b * sx, a * sx + b * sxx, c * sx, c * sxx
    k00, k01, k11 = 1 + a * b00 + b * b10, c * b10, 1 + c * b11
    volume = k00 * k11 - k01 * k01
    v0, v1 = a * sy + b * sxy, c * sxy  # Λᵀ (moments of y)
    u00, u01 = (k11 * b00 - k01 * b01) / volume, (k00 * b01 - k01 * b00) / volume  # U = B K⁻¹
    u10, u11 = (k11 * b10 - k01 * b11) / volume, (k00 * b11 - k01 * b10) / volume
    information = np.empty((len(spreads), 2, 2, n.shape[1]))
    information[:, 0, 0] = n - u00 * b00 - u01 * b01
    information[:, 0, 1] = information[:, 1, 0] = sx - u00 * b10 - u01 * b11
    information[:, 1, 1] = sxx - u10 * b10 - u11 * b11
    moments = np.stack([sy - u00 * v0 - u01 * v1, sxy - u10 * v0 - u11 * v1], axis=1)
    square = syy - (k11 * v0 * v0 - 2 * k01 * v0 * v1 + k00 * v1 * v1) / volume
    return Contributions(information, moments, square, np.log(volume))


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
