"""Nested clusters of values, and resampling them level by level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from itinera.stats._validation import Integers

_NUMBERS_AT_ONCE = 1 << 20  # keeps a batch of resamples within some tens of megabytes


@dataclass(frozen=True)
class ClusterTree:
    """Nested clusters of values, sorted so that the values below a node are contiguous.

    `first[k]` and `count[k]` say, for each node of level k, which nodes of the next level are its own; below the last
    level these are the values themselves.
    """

    first: tuple[Integers, ...]
    count: tuple[Integers, ...]
    rows: Integers  # (outermost nodes,) how many values lie below each

    @property
    def starts(self) -> Integers:
        """Where the values of each outermost node begin."""
        return np.cumsum(self.rows) - self.rows


def build_tree(levels: Sequence[Integers]) -> tuple[Integers, ClusterTree]:
    """The order that sorts values by level, and the tree over the sorted values."""
    order = np.lexsort(list(reversed(levels)))
    size = len(order)
    changes = np.zeros(size, dtype=bool)
    changes[0] = True
    starts = []  # per level: where in the sorted values its nodes begin
    for codes in levels:
        arranged = codes[order]
        changes[1:] |= arranged[1:] != arranged[:-1]
        starts.append(np.flatnonzero(changes))
    first, count = [], []
    for here, below in zip(starts, [*starts[1:], np.arange(size)], strict=True):
        begin = np.searchsorted(below, here)
        first.append(begin)
        count.append(np.diff(begin, append=len(below)))
    return order, ClusterTree(tuple(first), tuple(count), np.diff(starts[0], append=size))


def batch_sizes(resamples: int, numbers_each: int) -> Iterator[int]:
    """How many resamples to make at a time."""
    batch = max(1, _NUMBERS_AT_ONCE // numbers_each)
    for done in range(0, resamples, batch):
        yield min(batch, resamples - done)


def resample_nested(tree: ClusterTree, batch: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """The rows of a batch of resamples, concatenated, and how many of them come from each drawn outermost cluster."""
    outermost = len(tree.rows)
    nodes = rng.integers(outermost, size=batch * outermost)
    sizes = np.ones(len(nodes), dtype=np.int64)
    for first, count in zip(tree.first, tree.count, strict=True):
        children = count[nodes]
        sizes = np.add.reduceat(children, np.cumsum(sizes) - sizes)
        among = np.repeat(children, children)
        # A uniform number times the count, rounded down, picks one child of each slot's own node.
        nodes = np.repeat(first[nodes], children) + (rng.random(len(among)) * among).astype(np.int64)
    return nodes, sizes
