"""Merging stops that are left alike or entered alike: the size reduction before the linear program.

Many stops begin or end at one place, which the cost matrix shows: equal rows share an exit, equal columns share an
entry. Then only the number of times that each exit leads to each entry has to be decided. Such counts form one cycle
through all stops exactly if they are balanced (every exit and entry is used once per stop there) and connected, because
balanced, connected arcs have an Eulerian cycle. Stops join exits and entries into components, and only components have
to be connected: often ten instead of a hundred.
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
class MergedStops:
    """Stops 0 … n - 1, each with an entry and an exit, which several stops may share."""

    exits: Ints  # (n,) of each stop
    entries: Ints  # (n,) of each stop
    costs: Array  # (exits, entries) from each exit to each entry; inf where not allowed
    symmetric: bool  # whether exits are entries, and arcs cost the same in both directions

    @cached_property
    def exit_counts(self) -> Ints:
        """(exits,) the number of stops with each exit."""
        return np.bincount(self.exits, minlength=self.costs.shape[0])

    @cached_property
    def entry_counts(self) -> Ints:
        """(entries,) the number of stops with each entry."""
        return np.bincount(self.entries, minlength=self.costs.shape[1])

    @cached_property
    def _components(self) -> tuple[int, Ints]:
        exits, entries = self.costs.shape
        joined = coo_array((np.ones(len(self.exits)), (self.exits, self.entries + exits)), shape=(exits + entries,) * 2)
        count, labels = connected_components(joined, directed=False)
        return int(count), labels.astype(np.int64)

    @property
    def component_count(self) -> int:
        """The number of components that stops join exits and entries into."""
        return self._components[0]

    @property
    def exit_components(self) -> Ints:
        """(exits,) the component of each exit."""
        return self._components[1][: self.costs.shape[0]]

    @property
    def entry_components(self) -> Ints:
        """(entries,) the component of each entry."""
        return self._components[1][self.costs.shape[0] :]

    @cached_property
    def stops_per_component(self) -> Ints:
        """(components,) the number of stops of each."""
        return np.bincount(self.exit_components[self.exits], minlength=self.component_count)


def merge_stops(costs: Array) -> MergedStops:
    """The stops of an (n, n) cost matrix, with equal rows merged into exits and equal columns into entries.

    No stop follows itself, so the diagonal may take any value that lets more stops merge.
    """
    open_diagonal = costs.astype(np.float64)
    np.fill_diagonal(open_diagonal, np.nan)
    exits, rows = _group_equal_rows(open_diagonal)
    entries, columns = _group_equal_rows(rows.T)
    # Undecided costs are those from a stop to itself if it shares neither exit nor entry.
    merged = np.where(np.isnan(columns), np.inf, columns).T
    symmetric = np.array_equal(exits, entries) and _all_equal(merged, merged.T)
    return MergedStops(exits, entries, np.minimum(merged, merged.T) if symmetric else merged, symmetric)


def _all_equal(a: Array, b: Array) -> bool:
    """Whether costs are equal up to the rounding of sums: a path measured from either end."""
    largest = np.abs(a[np.isfinite(a)]).max(initial=0.0)
    return bool(np.isclose(a, b, rtol=0.0, atol=1e-12 * largest).all())


def _group_equal_rows(rows: Array) -> tuple[Ints, Array]:
    """(n,) the class of each row, and one row per class; NaN equals everything and is replaced by numbers."""
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
