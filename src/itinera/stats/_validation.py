"""Input validation of the statistics: values, cluster labels and weights, as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.errors import BadArgument

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = Sequence[Any] | NDArray[Any]  # any hashable labels, one per value


def as_values(values: ArrayLike, *, name: str = "values") -> Floats:
    """The values as floats, shape (n,), n ≥ 1, all finite."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) == 0:
        raise BadArgument(f"{name} has shape {array.shape}. Give one number per episode, at least one.")
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise BadArgument(
            f"{name} holds {len(bad)} values that are not finite, the first at index {bad[0]} ({array[bad[0]]}). "
            "Undefined values are never averaged: drop them first and report how many they were."
        )
    return array


def as_runs(runs: ArrayLike, *, name: str = "") -> Floats:
    """The values as floats of shape (runs, episodes); a single run may have shape (episodes,)."""
    table = np.asarray(runs, dtype=np.float64)
    if table.ndim == 1:
        table = table[None]
    if table.ndim != 2 or len(table) == 0:
        raise BadArgument(f"Runs have shape {table.shape}. Give one row per run and one column per episode.")
    if len(table) == 1:
        return as_values(table[0], name=name or "run 1")[None]
    return np.stack([as_values(row, name=f"{name} run {k}".strip()) for k, row in enumerate(table, start=1)])


def as_weights(weights: ArrayLike | None, size: int) -> Floats:
    """The weights as floats, shape (size,), none negative, not all zero; ones when there are none."""
    if weights is None:
        return np.ones(size)
    array = as_values(weights, name="weights")
    if len(array) != size:
        raise BadArgument(f"There are {len(array)} weights for {size} values. Give one weight per value.")
    if array.min() < 0 or array.max() == 0:
        raise BadArgument(f"Weights run from {array.min()} to {array.max()}. They must be ≥ 0 with at least one above.")
    return array


def cluster_codes(labels: Labels, *, size: int | None = None) -> Integers:
    """Whole numbers 0, 1, … in place of the labels, equal where the labels are equal; shape (n,).

    Codes are returned unchanged, so that they can be computed once for ten metrics over the same scenes.
    `size`, if given, is the expected number of labels.

    >>> cluster_codes(["oak", "elm", "oak"])
    array([0, 1, 0])
    """
    if size is not None and len(labels) != size:
        raise BadArgument(f"There are {len(labels)} cluster labels for {size} values. Give one label per value.")
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        raise BadArgument(f"Cluster labels have shape {labels.shape}. Give one label per value, shape (n,).")
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu" and _already_codes(labels):
        return labels.astype(np.int64, copy=False)
    seen: dict[Any, int] = {}
    plain = labels.tolist() if isinstance(labels, np.ndarray) else labels
    return np.array([seen.setdefault(label, len(seen)) for label in plain], dtype=np.int64)


def cluster_sums(codes: Integers, values: Floats) -> Floats:
    """The sum of the values of each cluster, (clusters,)."""
    return np.bincount(codes, values).astype(np.float64, copy=False)


def check_level(level: float) -> None:
    """Raise BadArgument unless the level of an interval is strictly between 0 and 1."""
    if not 0 < level < 1:
        raise BadArgument(f"The level of an interval is a fraction between 0 and 1, not {level}. For 95 % give 0.95.")


def _already_codes(labels: NDArray[Any]) -> bool:
    if len(labels) == 0 or labels.min() < 0 or labels.max() >= len(labels):
        return False
    return bool(np.bincount(labels).all())
