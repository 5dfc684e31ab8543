"""Kernels of what is seen: features that are mostly 0."""

from __future__ import annotations

import numpy as np
from numba import njit

BLOCK = 32  # features looked at together, to find those that are there


@njit(cache=True)
def there(features: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows and columns of features that are not 0, and how much there is of each."""
    width, flat = features.shape[1], np.ascontiguousarray(features).ravel()
    bits = flat.view(np.int32)
    at, found = np.empty(256, np.int64), 0
    for first in range(0, len(bits), BLOCK):
        last = min(first + BLOCK, len(bits))
        some = np.int32(0)
        for k in range(first, last):
            some |= bits[k]
        if some == 0:  # most blocks are, and a processor sees that at once
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
def add(values: np.ndarray, taken: np.ndarray, given: np.ndarray, amounts: np.ndarray, found: np.ndarray) -> None:
    """Add to each row that is given something so much of the values that are taken."""
    for k in range(len(amounts)):
        amount, value, sums = amounts[k], values[taken[k]], found[given[k]]
        for column in range(len(sums)):
            sums[column] += amount * value[column]
