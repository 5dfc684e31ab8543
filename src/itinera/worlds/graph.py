"""A navigation graph: places are nodes, and an agent moves along edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, MissingPackage, NoRoute
from itinera.worlds._kernels import (
    all_pairs_shortest_paths,
    gather_blocks,
    gather_steps,
    search_blocks,
    search_predecessors,
)
from itinera.worlds.ragged import Ragged
from itinera.worlds.space import Array, Place, Places

MAX_DENSE_NODES = 4096  # a larger graph searches for each distance: its matrices would take more than 200 MB
MAX_MATRIX_NODES = 8192  # a larger graph has no matrix of distances


@dataclass(frozen=True, eq=False)
class NavGraph:
    """Nodes with positions, joined by undirected edges as long as the straight line between their ends.

    All-pairs distances and routes are computed once, on first use; those of graphs above 4096 nodes are searched for on
    demand, with the same results. Isolated nodes are kept.
    """

    nodes: tuple[str, ...]
    positions: Array  # (n, 3) metres
    edges: NDArray[np.int64]  # (m, 2) node indices, each edge once
    visible: NDArray[np.bool_] | None = None  # (n, n) whether j is visible from i; need not be symmetric

    def __post_init__(self) -> None:
        object.__setattr__(self, "positions", _frozen(np.asarray(self.positions, dtype=np.float64).reshape(-1, 3)))
        object.__setattr__(self, "edges", _frozen(np.asarray(self.edges, dtype=np.int64).reshape(-1, 2)))
        if len(self.positions) != len(self.nodes):
            raise BadArgument(f"{len(self.nodes)} nodes but {len(self.positions)} positions.")
        if len(self.index) != len(self.nodes):
            raise BadArgument("Node ids must be distinct.")
        if self.visible is not None:
            object.__setattr__(self, "visible", _frozen(np.asarray(self.visible, dtype=bool)))
            if self.visible.shape != (len(self.nodes), len(self.nodes)):
                raise BadArgument(f"{len(self.nodes)} nodes but visibility of shape {self.visible.shape}.")

    @classmethod
    def from_edges(cls, positions: dict[str, Sequence[float]], edges: Sequence[tuple[str, str]]) -> NavGraph:
        """The graph over named positions.

        >>> graph = NavGraph.from_edges({"a": (0, 0, 0), "b": (3, 0, 0), "c": (3, 4, 0)}, [("a", "b"), ("b", "c")])
        >>> float(graph.between(["a"], ["c"])[0, 0])
        7.0
        >>> graph.route("a", "c")
        ('a', 'b', 'c')
        """
        nodes = tuple(positions)
        index = {node: i for i, node in enumerate(nodes)}
        pairs = np.array([(index[a], index[b]) for a, b in edges], dtype=np.int64)
        return cls(nodes, np.array(list(positions.values()), dtype=np.float64), pairs)

    @cached_property
    def index(self) -> dict[str, int]:
        """The index of each node id."""
        return {node: i for i, node in enumerate(self.nodes)}

    @cached_property
    def adjacency(self) -> NDArray[np.bool_]:
        """(n, n) whether an edge joins i and j."""
        self._refuse_matrix("adjacency", np.dtype(bool).itemsize)
        joined = np.zeros((len(self.nodes), len(self.nodes)), dtype=bool)
        joined[self.edges[:, 0], self.edges[:, 1]] = True
        joined[self.edges[:, 1], self.edges[:, 0]] = True
        return joined

    @cached_property
    def directed_edges(self) -> NDArray[np.int64]:
        """(m, 2) each edge in both directions, once, in the order of start and end."""
        return np.stack(np.divmod(self._edge_keys, max(len(self.nodes), 1)), axis=1)

    @cached_property
    def _edge_keys(self) -> NDArray[np.int64]:
        """(m,) start times n plus end of each directed edge, ascending."""
        both = np.concatenate([self.edges, self.edges[:, ::-1]])
        return np.unique(both[:, 0] * len(self.nodes) + both[:, 1])

    def are_adjacent(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(k,) whether an edge joins the nodes of indices a[i] and b[i]."""
        if len(self.nodes) <= MAX_DENSE_NODES:
            return self.adjacency[a, b]
        keys = len(self.nodes) * np.asarray(a) + b
        found = np.searchsorted(self._edge_keys, keys)
        joined: NDArray[np.bool_] = np.append(self._edge_keys, -1)[found] == keys
        return joined

    @cached_property
    def distances(self) -> Array:
        """(n, n) geodesic distances, metres; inf where unreachable."""
        self._refuse_matrix("distances", np.dtype(np.float64).itemsize)
        return self._shortest[0]

    def _refuse_matrix(self, name: str, item_size: int) -> None:
        n = len(self.nodes)
        if n > MAX_MATRIX_NODES:
            problem = f"The matrix {name} of a graph with {n} nodes would take {item_size * n * n / 2**30:.1f} GiB"
            remedy = "Use between(), along(), route() or are_adjacent(), which need no matrix."
            raise BadArgument(f"{problem}; the limit is {MAX_MATRIX_NODES} nodes. {remedy}")

    @cached_property
    def _forward_star(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        """Edges leave node i for ends[starts[i]:starts[i + 1]]: (n + 1,) starts, (2m,) ends and lengths in metres."""
        both = np.concatenate([self.edges, self.edges[:, ::-1]])
        both = both[np.argsort(both[:, 0], kind="stable")]
        starts = np.searchsorted(both[:, 0], np.arange(len(self.nodes) + 1))
        ends = np.ascontiguousarray(both[:, 1])
        return starts, ends, np.linalg.norm(self.positions[both[:, 0]] - self.positions[ends], axis=1)

    @cached_property
    def _shortest(self) -> tuple[Array, NDArray[np.int32]]:
        """(n, n) distances, and the predecessor of each node on the shortest path from each source."""
        n = len(self.nodes)
        distances, before = np.full((n, n), np.inf), np.full((n, n), -1, dtype=np.int32)
        starts, ends, lengths = self._forward_star
        waiting, nodes = np.empty(len(ends) + 1), np.empty(len(ends) + 1, dtype=np.int64)
        all_pairs_shortest_paths(starts, ends, lengths, waiting, nodes, distances, before)
        distances.flags.writeable = False
        return distances, before

    def locate(self, places: Places) -> NDArray[np.int64]:
        """(n,) node indices; an integer array is returned as it is."""
        if isinstance(places, np.ndarray) and places.dtype.kind == "i":
            return places.astype(np.int64, copy=False)
        try:
            return np.fromiter(map(self.index.__getitem__, cast(Sequence[str], places)), np.int64, len(places))
        except KeyError:
            unknown = [place for place in places if place not in self.index]
            raise BadArgument(f"Not a node of this graph: {', '.join(map(str, unknown[:5]))}.") from None

    def between(self, a: Places, b: Places) -> Array:
        here, there = self.locate(a), self.locate(b)
        if len(self.nodes) <= MAX_DENSE_NODES:
            return self.distances[np.ix_(here, there)]
        one_row = [np.array([0, len(places)]) for places in (here, there)]
        return self.blocks(Ragged(here, one_row[0]), Ragged(there, one_row[1])).reshape(len(here), len(there))

    def along(self, places: Places) -> Array:
        at = self.locate(places)
        return self._pairwise(at[:-1], at[1:])

    def _pairwise(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> Array:
        """(k,) the distance from a[i] to b[i]."""
        if len(self.nodes) <= MAX_DENSE_NODES:
            return self.distances[a, b]
        rows = np.arange(len(a) + 1)
        return self.blocks(Ragged(a, rows), Ragged(b, rows))

    def route(self, start: Place, goal: Place) -> tuple[str, ...]:
        ends = cast(str, start), cast(str, goal)
        if ends[0] not in self.index or ends[1] not in self.index:
            self.locate(ends)  # says which is not a node
        first, last = self.index[ends[0]], self.index[ends[1]]
        before = self._predecessors(first, last)
        if first != last and before[last] < 0:
            raise NoRoute(f"No route leads from {start} to {goal}.")
        path = [self.nodes[last]]
        while last != first:
            last = before[last]
            path.append(self.nodes[last])
        return tuple(reversed(path))

    def _predecessors(self, source: int, goal: int) -> list[int] | NDArray[np.int32]:
        """The predecessor of each node on the shortest path from a source, at least for the path to the goal."""
        if len(self.nodes) > MAX_DENSE_NODES:
            return search_predecessors(*self._forward_star, source, goal)
        if source not in self._before:
            # Plain lists: a route reads a few of these numbers one at a time, and arrays are slow at that.
            self._before[source] = self._shortest[1][source].tolist()
        return self._before[source]

    @cached_property
    def _before(self) -> dict[int, list[int]]:
        """The rows of predecessors that routes needed so far, by source."""
        return {}

    def neighbors(self, place: str) -> tuple[str, ...]:
        """The adjacent nodes, in the graph's order."""
        i, n = self.index[place], len(self.nodes)
        first, last = np.searchsorted(self._edge_keys, [i * n, (i + 1) * n])
        return tuple(self.nodes[j] for j in self.directed_edges[first:last, 1])

    def heading(self, a: str, b: str) -> float:
        """The direction from a to b: radians counter-clockwise from +x, in (-pi, pi]."""
        dx, dy, _ = self.positions[self.index[b]] - self.positions[self.index[a]]
        return float(np.arctan2(dy, dx))

    def elevation(self, a: str, b: str) -> float:
        """The elevation angle of b seen from a, radians above the horizon."""
        dx, dy, dz = self.positions[self.index[b]] - self.positions[self.index[a]]
        return float(np.arctan2(dz, np.hypot(dx, dy)))

    def to_networkx(self) -> Any:
        """A networkx.Graph with node attribute `position` (metres) and edge attribute `weight` (length in metres)."""
        try:
            import networkx
        except ImportError:
            raise MissingPackage("to_networkx()", "networkx") from None
        graph = networkx.Graph()
        graph.add_nodes_from(
            (node, {"position": tuple(p)}) for node, p in zip(self.nodes, self.positions.tolist(), strict=True)
        )
        for i, j in self.edges.tolist():
            length = float(np.linalg.norm(self.positions[i] - self.positions[j]))
            graph.add_edge(self.nodes[i], self.nodes[j], weight=length)
        return graph

    def blocks(self, a: Ragged, b: Ragged) -> Array:
        out = np.empty(int((a.counts * b.counts).sum()))
        if len(self.nodes) <= MAX_DENSE_NODES:
            gather_blocks(self.distances, a.values, a.starts, b.values, b.starts, out)
        else:
            self._check_indices(a.values, b.values)
            search_blocks(*self._forward_star, a.values, a.starts, b.values, b.starts, out)
        return out

    def _check_indices(self, *indices: NDArray[np.int64]) -> None:
        """Raise BadArgument for an index of no node: kernels do not check them."""
        for values in indices:
            if len(values) and not 0 <= int(values.min()) <= int(values.max()) < len(self.nodes):
                raise BadArgument(f"Node indices must be between 0 and {len(self.nodes) - 1}.")

    def steps(self, rows: Ragged) -> Array:
        if len(self.nodes) > MAX_DENSE_NODES:
            return self._pairwise(rows.values[rows.joints], rows.values[rows.joints + 1])
        self._check_indices(rows.values)
        out = np.empty(int(np.maximum(rows.counts - 1, 0).sum()))
        gather_steps(self.distances, rows.values, rows.starts, out)
        return out


def _frozen(array: NDArray[np.generic]) -> NDArray[np.generic]:
    # A frozen dataclass does not protect the contents of its arrays.
    array.flags.writeable = False
    return array
