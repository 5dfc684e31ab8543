"""Navigation graphs of any origin as one JSON file: the simplest way to use a graph of your own.

    {"house0": {"frame": "z-up", "nodes": {"a": [0, 0, 0], "b": [3, 0, 0]}, "edges": [["a", "b"]]}, …}

Positions are metres. `frame` is "z-up" (ours) or "habitat" (y up); files without it are IVLN-CE's graphs on the
navmesh, in Habitat's frame. An edge may state its length, which must be the straight line between its ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from itinera.errors import BadArgument, Fault
from itinera.formats.decoding import decode_dict
from itinera.formats.frames import points_from_habitat, points_to_habitat
from itinera.formats.io import FaultList, read_bytes
from itinera.formats.writing import atomic_write
from itinera.worlds import NavGraph, World

Frame = Literal["z-up", "habitat"]
MAX_NODES = 1_000_000  # per graph
TOLERANCE = 1e-3  # metres between a stated length and the straight line


class _Edge(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    one: str
    other: str
    length: float | None = None


class _Graph(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    frame: Frame = "habitat"
    nodes: dict[str, tuple[float, float, float]]
    edges: list[_Edge]


def read_worlds(path: str | Path) -> dict[str, World]:
    """The worlds of a file of graphs, by name.

    A stated length other than the straight line, such as a path around furniture, is refused: it would be lost.
    """
    path = Path(path)
    graphs = decode_dict(read_bytes(path), _Graph, str(path))
    faults = (fault for name, graph in graphs.items() for fault in _faults(f'record "{name}"', graph))
    FaultList(str(path), faults).raise_any()
    return {name: World(name, _nav_graph(graph)) for name, graph in graphs.items()}


def _faults(where: str, graph: _Graph) -> Iterator[Fault]:
    if not graph.nodes:
        yield Fault(where, "has no nodes.", "A graph has at least one.", "nodes")
    if len(graph.nodes) > MAX_NODES:
        yield Fault(where, f"has {len(graph.nodes)} nodes.", f"Divide a graph above {MAX_NODES} nodes.", "nodes")
    seen: set[tuple[str, str]] = set()
    for i, edge in enumerate(graph.edges):
        ends = (min(edge.one, edge.other), max(edge.one, edge.other))
        problem, remedy = _problem(edge, graph)
        if not problem and ends in seen:
            problem, remedy = f"joins {edge.one} and {edge.other} again.", "Edges are undirected: give each once."
        if problem:
            yield Fault(where, problem, remedy, f"edges[{i}]")
        seen.add(ends)


def _problem(edge: _Edge, graph: _Graph) -> tuple[str, str]:
    for end in (edge.one, edge.other):
        if end not in graph.nodes:
            return f"{end} is not a node.", "An edge joins two nodes of its graph."
    if edge.one == edge.other:
        return f"joins {edge.one} with itself.", "Staying in place needs no edge."
    straight = math.dist(graph.nodes[edge.one], graph.nodes[edge.other])
    if edge.length is not None and not abs(edge.length - straight) <= TOLERANCE:
        problem = f"states a length of {edge.length:g} m, but its ends are {straight:g} m apart."
        return problem, "Edges are straight: add nodes where the path bends, or leave the length out."
    return "", ""


def _nav_graph(graph: _Graph) -> NavGraph:
    index = {node: i for i, node in enumerate(graph.nodes)}
    points = list(graph.nodes.values())
    positions = points_from_habitat(points) if graph.frame == "habitat" else np.array(points, dtype=np.float64)
    pairs = [(index[edge.one], index[edge.other]) for edge in graph.edges]
    return NavGraph(tuple(graph.nodes), positions, np.array(pairs, dtype=np.int64))


def write_worlds(path: str | Path, worlds: Mapping[str, World], *, frame: Frame = "z-up") -> None:
    """Write graph worlds as one file of graphs, with the length of every edge."""
    graphs = {name: _record(worlds[name], frame) for name in worlds}
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.encode(graphs))


def _record(world: World, frame: Frame) -> _Graph:
    graph = world.space
    if not isinstance(graph, NavGraph):
        raise BadArgument(f"World {world.id} is not a navigation graph, the only content of this format.")
    points = points_to_habitat(graph.positions) if frame == "habitat" else graph.positions
    lengths = np.linalg.norm(graph.positions[graph.edges[:, 0]] - graph.positions[graph.edges[:, 1]], axis=1)
    edges = [
        _Edge(graph.nodes[a], graph.nodes[b], length)
        for (a, b), length in zip(graph.edges.tolist(), lengths.tolist(), strict=True)
    ]
    nodes = dict(zip(graph.nodes, map(tuple, points.tolist()), strict=True))
    return _Graph(frame=frame, nodes=nodes, edges=edges)
