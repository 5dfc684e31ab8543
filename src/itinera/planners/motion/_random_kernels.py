"""Random numbers inside kernels: xorshift64*, whose state is an array of one number above 0 that the caller gives."""

# mypy: allow-untyped-decorators
from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

State = NDArray[np.uint64]

_A, _B, _C, _BITS = np.uint64(12), np.uint64(25), np.uint64(27), np.uint64(11)
_FACTOR = np.uint64(2685821657736338717)
_UNIT = 1.0 / 9007199254740992.0  # 2^-53


@njit(cache=True, nogil=True)
def uniform(state: State) -> float:
    """The next number in [0, 1)."""
    x = state[0]
    x ^= x >> _A
    x ^= x << _B
    x ^= x >> _C
    state[0] = x
    return float((x * _FACTOR) >> _BITS) * _UNIT
