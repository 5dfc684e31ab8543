"""Paths worth describing: shortest ways through a graph, sampled as R2R's were and spread over the whole place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itinera.worlds import NavGraph

SHORTEST = 5.0  # metres; R2R has no shorter paths
EDGES = {4: 0.355, 5: 0.283, 6: 0.362}
"""How many edges a path has, and the share of R2R's paths that have so many."""
COMPARED = 6  # paths drawn at each turn, of which the one through the least trodden places is taken


def sample_paths(graph: NavGraph, count: int, rng: np.random.Generator) -> tuple[tuple[str, ...], ...]:
    """So many different shortest paths of 4 to 6 edges and at least 5 m; fewer where the graph has no more.

    No two of them join the same places, not even the other way round.
    """
    left = _candidates(graph)
    trodden = np.zeros(len(graph.nodes))
    paths = []
    for _ in range(min(count, sum(map(len, left.values())))):
        edges = _drawn_length(left, rng)
        way = left[edges].pop(_least_trodden(left[edges], trodden, rng))
        if rng.random() < 0.5:
            way = way[::-1]
        trodden[way] += 1
        paths.append(tuple(graph.nodes[i] for i in way))
    return tuple(paths)


def _candidates(graph: NavGraph) -> dict[int, list[NDArray[np.int64]]]:
    """Every path that qualifies, by its number of edges, each in one direction."""
    found: dict[int, list[NDArray[np.int64]]] = {edges: [] for edges in EDGES}
    # Rounded, so that a path of five metres is one on every machine.
    long_enough = graph.distances.round(6) >= SHORTEST
    for a, b in np.argwhere(np.triu(long_enough & np.isfinite(graph.distances))).tolist():
        way = graph.route(graph.nodes[a], graph.nodes[b])
        if len(way) - 1 in EDGES:
            found[len(way) - 1].append(graph.locate(way))
    return found


def _drawn_length(left: dict[int, list[NDArray[np.int64]]], rng: np.random.Generator) -> int:
    """A number of edges by R2R's shares, among those of which there are paths left."""
    possible = [edges for edges in EDGES if left[edges]]
    shares = np.array([EDGES[edges] for edges in possible])
    return possible[int(rng.choice(len(possible), p=shares / shares.sum()))]


def _least_trodden(ways: list[NDArray[np.int64]], trodden: NDArray[np.float64], rng: np.random.Generator) -> int:
    drawn = rng.integers(len(ways), size=COMPARED)
    return int(min(drawn, key=lambda i: (trodden[ways[i]].mean().round(6), i)))
