"""Which words were said where and when along a path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.worlds import Array


@dataclass(frozen=True, eq=False)
class Alignment:
    """Words beside the places of the reference path they belong to.

    `first` and `last` are indices into the episode's reference, -1 where a word's place is not known.
    Times are seconds of the recording, NaN where not known.
    """

    words: tuple[str, ...]
    first: NDArray[np.int64]  # (words,)
    last: NDArray[np.int64]  # (words,)
    begins: Array | None = None  # (words,) seconds
    ends: Array | None = None  # (words,) seconds
