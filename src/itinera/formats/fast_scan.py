"""Fast scan of large submissions: node names stay bytes until they are read, or turned into node indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from itinera.formats._kernels import fill_table, look_up, scan_predictions
from itinera.worlds import NavGraph, Places


@dataclass(frozen=True, eq=False)
class ScannedNodes(Sequence[Places]):
    """The nodes of each trajectory of a submission, as positions in its bytes."""

    text: NDArray[np.uint8]
    spans: NDArray[np.int64]  # (steps, 2) begin and end of each node's name
    counts: NDArray[np.int64]  # (trajectories,) steps of each

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return np.cumsum(self.counts)

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
        return [bytes(self.text[a:b]).decode() for a, b in self.spans[end - self.counts[i] : end]]

    def node_indices(self, graph: NavGraph, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The node index of every place of these trajectories, concatenated; None if one is not in the graph."""
        counts, ends = self.counts[rows], self._ends[rows]
        begins = np.cumsum(counts) - counts
        chosen = np.arange(int(counts.sum())) + np.repeat(ends - counts - begins, counts)
        names, known, table = _table(graph)
        out = np.empty(len(chosen), dtype=np.int64)
        return out if look_up(self.text, self.spans, chosen, names, known, table, out) else None


def _table(graph: NavGraph) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """The names of a graph's nodes concatenated, the span of each, and a hash table of them."""
    encoded = [node.encode() for node in graph.nodes]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    known = np.column_stack([np.concatenate(([0], ends[:-1])), ends]).astype(np.int64)
    table = np.empty(1 << max(4, 2 * len(encoded)).bit_length(), dtype=np.int64)
    names = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    fill_table(names, known, table)
    return names, known, table


def scan(data: bytes) -> tuple[list[str], ScannedNodes] | None:
    """The ids and nodes of a submission in its plain form; None for any other form, which is not a fault."""
    text = np.frombuffer(data, dtype=np.uint8)
    # More room than needed: a record has at least 30 bytes and a step 5; unused pages cost nothing.
    ids, counts = np.empty((len(data) // 30 + 1, 2), dtype=np.int64), np.empty(len(data) // 30 + 1, dtype=np.int64)
    nodes = np.empty((len(data) // 5 + 1, 2), dtype=np.int64)
    id_word, steps_word = (np.frombuffer(word, dtype=np.uint8) for word in (b"instr_id", b"trajectory"))
    records, steps = scan_predictions(text, id_word, steps_word, ids, nodes, counts)
    if records < 0 or not counts[:records].all():
        return None
    if not data.isascii():
        return None
    content = data.decode("ascii")
    names = [content[a:b] for a, b in ids[:records].tolist()]
    return names, ScannedNodes(text, nodes[:steps], counts[:records])
