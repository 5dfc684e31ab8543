"""Other aggregates of many scores: interquartile mean, performance profile, episodes that every system solved."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.errors import BadArgument
from itinera.stats._validation import Floats, as_values


def interquartile_mean(values: ArrayLike) -> float:
    """The mean of the middle half of the values.

    A quarter of the values, rounded down, is left out at each end, as in Agarwal et al. (2021). It is less sensitive to
    a few very bad episodes than the mean, and more efficient than the median.

    >>> interquartile_mean([0.0, 4.0, 6.0, 100.0])
    5.0
    """
    ranked = np.sort(as_values(values))
    cut = len(ranked) // 4
    return float(ranked[cut : len(ranked) - cut].mean())


def performance_profile(values: ArrayLike, thresholds: ArrayLike) -> Floats:
    """The share of values strictly above each threshold; the shape of `thresholds`.

    >>> performance_profile([0.2, 0.5, 0.9], [0.0, 0.5, 1.0])
    array([1.        , 0.33333333, 0.        ])
    """
    ranked = np.sort(as_values(values))
    grid = np.asarray(thresholds, dtype=np.float64)
    if np.isnan(grid).any():
        raise BadArgument("A threshold of the performance profile is not a number. Give numbers only.")
    return 1 - np.searchsorted(ranked, grid, side="right") / len(ranked)


def joint_success(successes: ArrayLike) -> NDArray[np.bool_]:
    """Which episodes every system solved, (episodes,), from 0/1 successes (systems, episodes)."""
    table = np.asarray(successes)
    if table.ndim != 2 or table.size == 0 or not np.isin(table, (0, 1)).all():
        raise BadArgument(
            f"Successes have shape {table.shape} and type {table.dtype}. "
            "Give 0 or 1 for each system (row) and episode (column)."
        )
    return np.asarray(table.astype(bool).all(axis=0))


def mean_over_joint(values: ArrayLike, successes: ArrayLike) -> Floats:
    """The mean of each system over the episodes that every system solved, (systems,).

    Both arguments are (systems, episodes). With SPL or SCT as values these are SPL∩ and SCT∩: how efficiently systems
    solve what all of them can solve. They depend on which systems are compared. Values of the other episodes are
    ignored and may be undefined.
    """
    shared = joint_success(successes)
    table = np.asarray(values, dtype=np.float64)
    if table.shape != np.shape(successes):
        raise BadArgument(
            f"Values have shape {table.shape} and successes {np.shape(successes)}. They must be the same."
        )
    if not shared.any():
        raise BadArgument(
            "No episode was solved by every system, so there is nothing to average. Compare fewer systems."
        )
    return np.array([as_values(row, name=f"system {index}").mean() for index, row in enumerate(table[:, shared])])
