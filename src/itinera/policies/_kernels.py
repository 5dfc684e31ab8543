"""Kernels for sparse feature matrices."""

from __future__ import annotations

import numpy as np
from numba import njit

BLOCK = 32  # features tested together


@njit(cache=True)
def nonzero_entries(features: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row numbers, column numbers and values of the entries of a float32 matrix that are not 0."""
    width, flat = features.shape[1], np.ascontiguousarray(features).ravel()
    bits = flat.view(np.int32)
    at, found = np.empty(256, np.int64), 0
    for first in range(0, len(bits), BLOCK):
        last = min(first + BLOCK, len(bits))
        some = np.int32(0)
        for k in range(first, last):
            some |= bits[k]
        if some == 0:  # true for most blocks, and the test is vectorized
            continue
        if found + BLOCK > len(at):
            at = np.append(at, np.empty(len(at), np.int64))
        for k in range(first, last):
            if bits[k] != 0:
                at[found] = k
                found += 1
    at = at[:found]
    return at // width, at % width, flat[at]


@njit(cache=True, fastmath=True)
def add_scaled_rows(
    values: np.ndarray, source: np.ndarray, target: np.ndarray, weights: np.ndarray, sums: np.ndarray
) -> None:
    """Add weights[k] * values[source[k]] to sums[target[k]], for every k."""
    for k in range(len(weights)):
        weight, value, row = weights[k], values[source[k]], sums[target[k]]
        for column in range(len(row)):
            row[column] += weight * value[column]
