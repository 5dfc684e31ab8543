"""Fewer unknowns for the same orders: stops that leave alike, and stops that are entered alike, are merged.

Many stops begin or end at one place. A matrix of costs shows it: rows that agree share an exit, columns that agree
share an entry. How often each exit leads to each entry is then all there is to decide. Such counts make one round
through all stops exactly when they balance (every exit is left and every entry is entered once for each stop there)
and hang together, because a round along balanced, connected arcs always exists (Euler). Stops tie exits and entries
into islands, and only islands are left to be connected: often ten instead of a hundred.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from itinera.worlds import Array

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Merged:
    """Stops 0 … n - 1, each entered at its entry and left at its exit."""

    exits: Ints  # (n,) of each stop
    entries: Ints  # (n,) of each stop
    costs: Array  # (exits, entries) from each exit to each entry; inf where not allowed
    two_way: bool  # whether exits are entries, and a step costs the same in both directions

    @cached_property
    def leaving(self) -> Ints:
        """(exits,) how many stops are left at each exit."""
        return np.bincount(self.exits, minlength=self.costs.shape[0])

    @cached_property
    def entering(self) -> Ints:
        """(entries,) how many stops are entered at each entry."""
        return np.bincount(self.entries, minlength=self.costs.shape[1])

    @cached_property
    def _islands(self) -> tuple[int, Ints]:
        ways_out, ways_in = self.costs.shape
        joined = coo_array(
            (np.ones(len(self.exits)), (self.exits, self.entries + ways_out)), shape=(ways_out + ways_in,) * 2
        )
        count, labels = connected_components(joined, directed=False)
        return int(count), labels.astype(np.int64)

    @property
    def island_count(self) -> int:
        return self._islands[0]

    @property
    def island_of_exit(self) -> Ints:
        """(exits,) the island each exit is on."""
        return self._islands[1][: self.costs.shape[0]]

    @property
    def island_of_entry(self) -> Ints:
        """(entries,) the island each entry is on."""
        return self._islands[1][self.costs.shape[0] :]

    @cached_property
    def stops_on_island(self) -> Ints:
        return np.bincount(self.island_of_exit[self.exits], minlength=self.island_count)


def merge(costs: Array) -> Merged:
    """The stops of an (n, n) matrix with rows that agree merged, and columns that agree merged.

    No stop follows itself, so the diagonal may be taken for whatever lets more stops agree.
    """
    open_diagonal = costs.astype(np.float64)
    np.fill_diagonal(open_diagonal, np.nan)
    exits, rows = _alike(open_diagonal)
    entries, columns = _alike(rows.T)
    # What nobody decided is the step from a stop to itself, where it shares neither exit nor entry.
    merged = np.where(np.isnan(columns), np.inf, columns).T
    two_way = np.array_equal(exits, entries) and _same(merged, merged.T)
    return Merged(exits, entries, np.minimum(merged, merged.T) if two_way else merged, two_way)


def _same(a: Array, b: Array) -> bool:
    """Whether costs differ by no more than their sums' rounding: a way measured from either end."""
    largest = np.abs(a[np.isfinite(a)]).max(initial=0.0)
    return bool(np.isclose(a, b, rtol=0.0, atol=1e-12 * largest).all())


def _alike(rows: Array) -> tuple[Ints, Array]:
    """(n,) the class of each row, and one row per class; NaN agrees with everything and gives way to numbers."""
    classes = np.empty_like(rows)
    labels = np.empty(len(rows), dtype=np.int64)
    count = 0
    for i, row in enumerate(rows):
        known = classes[:count]
        agree = ((known == row) | np.isnan(known) | np.isnan(row)).all(axis=1)
        label = int(agree.argmax()) if agree.any() else count
        if label == count:
            classes[count] = row
            count += 1
        else:
            classes[label] = np.where(np.isnan(classes[label]), row, classes[label])
        labels[i] = label
    return labels, classes[:count]
