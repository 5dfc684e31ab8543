"""Path sampling: shortest paths through a graph, sampled as R2R's were and spread over the whole scene."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itinera.worlds import NavGraph

MIN_LENGTH = 5.0  # metres; R2R has no shorter paths
EDGE_FRACTIONS = {4: 0.355, 5: 0.283, 6: 0.362}
"""The number of edges of a path, and the fraction of R2R's paths with that number."""
STAIRS_FRACTION = 0.38  # of the paths of a scene with several storeys that climb or descend, as in R2R's
CLIMB = 0.5  # metres of height between two nodes from which an edge counts as stairs
Group = tuple[int, bool]  # the number of edges of paths, and whether they lead over stairs
WINDING = 2.8  # visits per radian of mean turn, which keeps turns as frequent as in R2R's paths
DRAWS_PER_PATH = 6  # candidates drawn per path, of which the one through the least visited nodes is taken


def sample_paths(graph: NavGraph, count: int, rng: np.random.Generator) -> tuple[tuple[str, ...], ...]:
    """`count` different shortest paths of 4 to 6 edges and at least 5 m; fewer if the graph has no more.

    No two of them have the same end points, in either direction.
    """
    remaining = _candidates(graph)
    visits = np.zeros(len(graph.nodes))
    paths = []
    for _ in range(min(count, sum(map(len, remaining.values())))):
        group = remaining[_draw_group(remaining, rng)]
        path = group.pop(_least_visited(group, visits, graph.positions, rng))
        if rng.random() < 0.5:
            path = path[::-1]
        visits[path] += 1
        paths.append(tuple(graph.nodes[i] for i in path))
    return tuple(paths)


def sample_paths_with_distinct_ends(
    graph: NavGraph, count: int, rng: np.random.Generator
) -> tuple[tuple[str, ...], ...]:
    """Up to `count` such paths of which no two have the same start, the same goal, or the same end points."""
    remaining = _candidates(graph)
    visits = np.zeros(len(graph.nodes))
    starts: set[int] = set()
    goals: set[int] = set()
    paths: list[tuple[str, ...]] = []
    while len(paths) < count and any(remaining.values()):
        group = remaining[_draw_group(remaining, rng)]
        path = group.pop(_least_visited(group, visits, graph.positions, rng))
        directions = [path, path[::-1]] if rng.random() < 0.5 else [path[::-1], path]
        free = [way for way in directions if int(way[0]) not in starts and int(way[-1]) not in goals]
        if free:
            starts.add(int(free[0][0]))
            goals.add(int(free[0][-1]))
            visits[path] += 1
            paths.append(tuple(graph.nodes[i] for i in free[0]))
    return tuple(paths)


def _candidates(graph: NavGraph) -> dict[Group, list[NDArray[np.int64]]]:
    """Every valid path, by its number of edges and whether it climbs, in one direction."""
    found: dict[Group, list[NDArray[np.int64]]] = {(n, climbs): [] for n in EDGE_FRACTIONS for climbs in (False, True)}
    # Rounded, so that a path of exactly five metres counts on every machine.
    long_enough = graph.distances.round(6) >= MIN_LENGTH
    for a, b in np.argwhere(np.triu(long_enough & np.isfinite(graph.distances))).tolist():
        path = graph.route(graph.nodes[a], graph.nodes[b])
        if len(path) - 1 in EDGE_FRACTIONS:
            places = graph.locate(path)
            climbs = bool(np.abs(np.diff(graph.positions[places, 2])).max().round(6) > CLIMB)
            found[len(path) - 1, climbs].append(places)
    return found


def _draw_group(remaining: dict[Group, list[NDArray[np.int64]]], rng: np.random.Generator) -> Group:
    """A number of edges by R2R's fractions, then whether to climb, among the groups with paths left."""
    possible = [edges for edges in EDGE_FRACTIONS if remaining[edges, False] or remaining[edges, True]]
    shares = np.array([EDGE_FRACTIONS[edges] for edges in possible])
    edges = possible[int(rng.choice(len(possible), p=shares / shares.sum()))]
    if remaining[edges, False] and remaining[edges, True]:
        return edges, bool(rng.random() < STAIRS_FRACTION)
    return edges, bool(remaining[edges, True])


def _least_visited(
    candidates: list[NDArray[np.int64]],
    visits: NDArray[np.float64],
    positions: NDArray[np.float64],
    rng: np.random.Generator,
) -> int:
    """The candidate through the least visited nodes among a few; a winding one counts as more visited."""
    drawn = rng.integers(len(candidates), size=DRAWS_PER_PATH)

    def cost(i: int) -> float:
        moves = np.diff(positions[candidates[i], :2], axis=0)
        return float((visits[candidates[i]].mean() + WINDING * _mean_turn(moves)).round(6))

    return int(min(drawn, key=lambda i: (cost(i), i)))


def _mean_turn(moves: NDArray[np.float64]) -> float:
    """The mean angle between consecutive moves (n, 2), radians."""
    headings = np.arctan2(moves[:, 1], moves[:, 0])
    return float(np.abs((np.diff(headings) + np.pi) % (2 * np.pi) - np.pi).mean())
