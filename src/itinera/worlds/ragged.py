"""Rows of different lengths in one flat array: the batch format of metrics and distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.worlds._kernels import row_sums


@dataclass(frozen=True, eq=False)
class Ragged:
    """Concatenated rows; row i is `values[starts[i]:starts[i + 1]]`."""

    values: NDArray[Any]  # (total, ...)
    starts: NDArray[np.int64]  # (rows + 1,), first 0, last total

    @classmethod
    def from_rows(cls, rows: Sequence[NDArray[Any] | Sequence[Any]], dtype: Any = None) -> Ragged:
        """The rows, concatenated."""
        counts = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
        filled = [np.asarray(row, dtype=dtype) for row in rows if len(row)]
        values = np.concatenate(filled) if filled else np.empty(0, dtype=dtype or np.float64)
        return cls.from_counts(values, counts)

    @classmethod
    def from_counts(cls, values: NDArray[Any], counts: NDArray[np.int64]) -> Ragged:
        starts = np.zeros(len(counts) + 1, dtype=np.int64)
        np.cumsum(counts, out=starts[1:])
        return cls(values, starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> NDArray[Any]:
        return self.values[self.starts[row] : self.starts[row + 1]]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(rows,) the number of values in each row."""
        return np.diff(self.starts)

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """(total,) the row index of each value."""
        return np.repeat(np.arange(len(self)), self.counts)

    def take(self, rows: NDArray[np.int64]) -> Ragged:
        """The given rows, in the given order."""
        counts = self.counts[rows]
        fresh = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(counts, out=fresh[1:])
        source = np.arange(fresh[-1]) + np.repeat(self.starts[rows] - fresh[:-1], counts)
        return Ragged(self.values[source], fresh)

    def slice(self, first: int, last: int) -> Ragged:
        """Rows first … last - 1, as a view."""
        starts = self.starts[first : last + 1]
        return Ragged(self.values[starts[0] : starts[-1]], starts - starts[0])

    def sums(self) -> NDArray[np.float64]:
        """(rows,) the sum of each row; 0 for an empty row."""
        out = np.empty(len(self))
        row_sums(self.values, self.starts, out)
        return out

    def minima(self) -> NDArray[np.float64]:
        """(rows,) the minimum of each row; no row may be empty."""
        if not len(self):
            return np.empty(0)
        return np.minimum.reduceat(self.values, self.starts[:-1]).astype(np.float64)

    def firsts(self) -> NDArray[Any]:
        """(rows, ...) the first value of each row; no row may be empty."""
        return self.values[self.starts[:-1]]

    def lasts(self) -> NDArray[Any]:
        """(rows, ...) the last value of each row; no row may be empty."""
        return self.values[self.starts[1:] - 1]

    @cached_property
    def joints(self) -> NDArray[np.int64]:
        """(total - rows,) indices i into `values` such that i and i + 1 belong to the same row."""
        if not len(self.values):
            return np.empty(0, dtype=np.int64)
        inner = np.ones(len(self.values), dtype=bool)
        inner[self.starts[1:][self.counts > 0] - 1] = False
        return np.flatnonzero(inner)
