"""Fast scan of large submissions: the nodes of all steps are numbered in one pass, and each name is kept once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from itinera.formats._kernels import scan_predictions
from itinera.worlds import NavGraph, Places

MOST_NAMES = 1 << 18  # distinct nodes of a submission; Matterport's scenes have 10,567


@dataclass(frozen=True, eq=False)
class ScannedNodes(Sequence[Places]):
    """The nodes of each trajectory of a submission, as numbers of their names."""

    names: list[str]  # of the distinct nodes
    nodes: NDArray[np.int32]  # (steps,) index of the name of each
    counts: NDArray[np.int64]  # (trajectories,) steps of each

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return np.cumsum(self.counts)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.counts)

    @overload
    def __getitem__(self, i: int) -> Places: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Places]: ...
    def __getitem__(self, i: int | slice) -> Places | Sequence[Places]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        end = self._ends[i]
        return [self.names[k] for k in self.nodes[end - self.counts[i] : end]]

    def node_indices(self, graph: NavGraph, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The node index of every place of these trajectories, concatenated; None if one is not in the graph."""
        counts, ends = self.counts[rows], self._ends[rows]
        begins = np.cumsum(counts) - counts
        chosen = np.arange(int(counts.sum())) + np.repeat(ends - counts - begins, counts)
        index = np.full(len(self.names), -1)
        for i, node in enumerate(graph.nodes):
            number = self._numbers.get(node)
            if number is not None:
                index[number] = i
        found = index[self.nodes[chosen]]
        return found if found.min(initial=0) >= 0 else None


def scan(data: bytes) -> tuple[list[str], ScannedNodes] | None:
    """The ids and nodes of a submission in its plain form; None for any other form, which is not a fault."""
    if not data.isascii():
        return None
    text = np.frombuffer(data, dtype=np.uint8)
    # More room than needed: a record has at least 30 bytes and a step 5; unused pages cost nothing.
    ids, counts = np.empty((len(data) // 30 + 1, 2), dtype=np.int64), np.empty(len(data) // 30 + 1, dtype=np.int64)
    nodes, names = np.empty(len(data) // 5 + 1, dtype=np.int32), np.empty((MOST_NAMES, 2), dtype=np.int64)
    table = np.full(4 * MOST_NAMES, -1, dtype=np.int32)
    id_word, steps_word = (np.frombuffer(word, dtype=np.uint8) for word in (b"instr_id", b"trajectory"))
    records, steps, known = scan_predictions(text, id_word, steps_word, ids, counts, nodes, names, table)
    if records < 0 or not counts[:records].all():
        return None

    def words(spans: NDArray[np.int64]) -> list[str]:
        return [data[a:b].decode("ascii") for a, b in spans.tolist()]

    return words(ids[:records]), ScannedNodes(words(names[:known]), nodes[:steps], counts[:records])
