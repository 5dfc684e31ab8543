"""Tiny worlds drawn in text, and helpers that turn node lists into splits, predictions and attempts.

One character is one metre: letters are nodes, runs of - and | are edges.

    a-b---c
      |
      d
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from textwrap import dedent
from typing import Any

import networkx
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from itinera.metrics import Attempts
from itinera.records import Ending, Predictions, Trajectory
from itinera.tasks import Episode, Instruction, Split, Tour
from itinera.worlds import Euclidean, NavGraph, Pose, Ragged, Space, World
from twins import Distance, looked_up, straight

# No deadlines: in a fresh checkout the first example includes compiling kernels.
quick = settings(max_examples=50, deadline=None)
thorough = settings(max_examples=200, deadline=None)


def graph(drawing: str) -> NavGraph:
    """The graph of a drawing: x to the right, y up."""
    lines = dedent(drawing).strip("\n").splitlines()
    width = max(map(len, lines))
    rows = [line.ljust(width) for line in lines]
    columns = ["".join(column) for column in zip(*rows, strict=True)]
    where = {char: (x, y) for y, row in enumerate(rows) for x, char in enumerate(row) if char.isalpha()}
    edges = []
    for node, (x, y) in where.items():
        for line, mark in ((rows[y][x + 1 :], "-"), (columns[x][y + 1 :], "|")):
            run = len(list(takewhile(mark.__eq__, line)))
            if run and line[run : run + 1].isalpha():
                edges.append((node, line[run]))
    return NavGraph.from_edges({node: (float(x), float(-y), 0.0) for node, (x, y) in where.items()}, edges)


def world(drawing: str, name: str = "house") -> World:
    return World(name, graph(drawing))


STREET = """
    a-b-c-d-e-f
"""


def episode(name: str, reference: Sequence[Any], *, goals: Sequence[Any] | None = None, **fields: Any) -> Episode:
    """An episode whose reference path is `reference`, in the world "house" unless `world_id` is given."""
    fields = {"world_id": "house", "start": Pose(reference[0]), "instruction": Instruction("go"), **fields}
    return Episode(id=name, reference=reference, goals=reference[-1:] if goals is None else goals, **fields)


def split(references: Mapping[str, Sequence[Any]], *tours: Sequence[str]) -> Split:
    """A split with an episode per reference, and tours "0", "1", … through them."""
    episodes = tuple(episode(name, reference) for name, reference in references.items())
    return Split("drawn", episodes, tuple(Tour(str(k), "house", tuple(ids)) for k, ids in enumerate(tours)))


def predictions(walks: Mapping[str, Sequence[Any]], *, unfinished: Sequence[str] = ()) -> Predictions:
    """Predictions with these paths; those in `unfinished` ran out of steps before they stopped."""
    endings = {name: Ending.OUT_OF_STEPS if name in unfinished else Ending.STOPPED for name in walks}
    return Predictions.from_trajectories(
        "walks.json", tuple(Trajectory(n, walk, ending=endings[n]) for n, walk in walks.items())
    )


def attempts(
    space: Space,
    walks: Sequence[Sequence[Any]],
    references: Sequence[Sequence[Any]],
    *,
    goals: Sequence[Sequence[Any]] | None = None,
    stopped: Sequence[bool] | None = None,
    stated: Sequence[float] | None = None,
) -> Attempts:
    """Attempts at the references; their last places are the goals unless `goals` are given."""
    goals = [reference[-1:] for reference in references] if goals is None else goals
    return Attempts(
        space=space,
        path=Ragged.from_rows([space.locate(walk) for walk in walks]),
        reference=Ragged.from_rows([space.locate(reference) for reference in references]),
        goals=Ragged.from_rows([space.locate(goal) for goal in goals]),
        stopped=np.ones(len(walks), dtype=bool) if stopped is None else np.array(stopped),
        stated_distances=np.full(len(walks), np.nan) if stated is None else np.array(stated),
    )


def networkx_graph(graph: NavGraph) -> networkx.Graph:
    """The same graph in networkx, as an independent implementation."""
    other = networkx.Graph()
    other.add_nodes_from(graph.nodes)
    for i, j in graph.edges.tolist():
        length = float(np.linalg.norm(graph.positions[i] - graph.positions[j]))
        other.add_edge(graph.nodes[i], graph.nodes[j], weight=length)
    return other


def graph_distance(graph: NavGraph) -> Distance:
    """Distances by networkx, for the twins."""
    return looked_up(dict(networkx.all_pairs_dijkstra_path_length(networkx_graph(graph))))


@dataclass(frozen=True)
class RowByRow:
    """A space without the optional batch methods, such as a user would write first."""

    inner: Space

    def locate(self, places: Any) -> Any:
        return self.inner.locate(places)

    def between(self, a: Any, b: Any) -> Any:
        return self.inner.between(a, b)

    def along(self, places: Any) -> Any:
        return self.inner.along(places)

    def route(self, start: Any, goal: Any) -> Any:
        return self.inner.route(start, goal)


# Nodes stand on a lattice of 2 m, where no sum of edge lengths is 3 m, so that rounding never decides success.
LATTICE = 2.0


@st.composite
def graphs(draw: st.DrawFn, *, connected: bool = False) -> NavGraph:
    """Graphs of two to eight nodes; unless `connected`, some nodes may be unreachable."""
    spot = st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 1))
    spots = draw(st.lists(spot, min_size=2, max_size=8, unique=True))
    nodes = [f"n{i}" for i in range(len(spots))]
    pairs = [(a, b) for i, a in enumerate(nodes) for b in nodes[:i]]
    edges = set(draw(st.lists(st.sampled_from(pairs), max_size=12)))
    if connected:
        edges |= {(node, nodes[draw(st.integers(0, i))]) for i, node in enumerate(nodes[1:])}
    return NavGraph.from_edges({n: tuple(LATTICE * x for x in s) for n, s in zip(nodes, spots, strict=True)}, [*edges])


@st.composite
def walks_in(draw: st.DrawFn, graph: NavGraph, *, start: str | None = None) -> tuple[str, ...]:
    """Paths of one to eight places along edges, with occasional repeats of a place."""
    walk = [draw(st.sampled_from(graph.nodes)) if start is None else start]
    for _ in range(draw(st.integers(0, 7))):
        walk.append(draw(st.sampled_from((walk[-1], *graph.neighbors(walk[-1])))))
    return tuple(walk)


points = st.tuples(*[st.integers(-3, 3).map(lambda x: LATTICE * x)] * 3)


@dataclass(frozen=True)
class Scene:
    """A space and a few paths in it, each with its reference path."""

    space: Space
    walks: tuple[Any, ...]
    references: tuple[Any, ...]

    @property
    def attempts(self) -> Attempts:
        return attempts(self.space, self.walks, self.references)


@st.composite
def graph_scenes(draw: st.DrawFn, *, connected: bool = False) -> Scene:
    space = draw(graphs(connected=connected))
    references = draw(st.lists(walks_in(space), min_size=1, max_size=4))
    walks = [draw(walks_in(space, start=reference[0])) for reference in references]
    return Scene(space, tuple(walks), tuple(references))


@st.composite
def open_scenes(draw: st.DrawFn) -> Scene:
    references = draw(st.lists(st.lists(points, min_size=1, max_size=6), min_size=1, max_size=4))
    walks = [[reference[0], *draw(st.lists(points, max_size=6))] for reference in references]
    return Scene(Euclidean(), tuple(map(tuple, walks)), tuple(map(tuple, references)))


def row_by_row(scene: Scene) -> Scene:
    return Scene(RowByRow(scene.space), scene.walks, scene.references)


SCENES = {
    "graph": graph_scenes(),
    "graph, row by row": graph_scenes().map(row_by_row),
    "open": open_scenes(),
    "open, row by row": open_scenes().map(row_by_row),
}


def distance_in(space: Space) -> Distance:
    """The distance function of the slow metrics for any of the spaces above."""
    if isinstance(space, RowByRow):
        return distance_in(space.inner)
    if isinstance(space, NavGraph):
        return graph_distance(space)
    return straight
