"""Coverage of a tour: the shares of path, tour and scene that were observed before. See `measure_coverage`.

An oracle follows the reference path of every episode and is guided along the shortest path from the end of one to the
start of the next. Nodes passed while guided count as observed, as they do for an agent; so from the second episode on
at least the start was observed before. Before the first episode nothing was.
Reference: Krantz et al. 2023, Iterative Vision-and-Language Navigation, figures 2b and 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault
from itinera.stats import interval
from itinera.tasks import Split
from itinera.tasks.episode import PART_KEYS
from itinera.worlds import Array, NavGraph, Ragged, World

CoverageKind: TypeAlias = Literal["visited", "visible"]
UNVISITED = np.iinfo(np.int64).max


@dataclass(frozen=True)
class OracleRoute:
    """A tour as an oracle follows it: the reference path of each episode, in order."""

    world_id: str
    paths: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class TourCoverage:
    """The shares observed before each episode of each tour: rows are tours, values follow their episodes."""

    world_ids: tuple[str, ...]  # (tours,)
    upcoming: Ragged  # of what the episode's own path shows
    tour: Ragged  # of what the whole tour shows, paths between episodes included
    scene: Ragged  # of what all reachable nodes show


@dataclass(frozen=True, eq=False)
class CoverageCurve:
    """The mean over tours against the number of episodes done; entry k is over the tours with more than k episodes."""

    mean: Array  # (longest tour,)
    low: Array  # (longest tour,) of the interval clustered by scene; NaN if there is only one scene
    high: Array
    tours: NDArray[np.int64]  # (longest tour,) how many have more than k episodes

    def __len__(self) -> int:
        return len(self.mean)


def routes_from_tours(split: Split) -> tuple[OracleRoute, ...]:
    """The split's tours as an oracle follows them."""
    split.require_goals("The coverage of a tour needs its paths: give a split with its answers.")
    return tuple(
        OracleRoute(tour.world_id, tuple(_nodes(split.by_id[name].reference) for name in tour.episode_ids))
        for tour in split.tours
    )


def routes_from_parts(split: Split, parts: Split) -> tuple[OracleRoute, ...]:
    """Paths joined from several (R4R, R6R, R8R) as tours of their parts, one for each joined path.

    `parts` is the split they were joined from; joined episodes name their parts by path id.
    """
    by_path = {episode.path_id or episode.id: episode for episode in parts.episodes}
    joined = {(episode.world_id, episode.path_id): episode for episode in split.episodes}
    routes, faults = [], []
    for (world_id, path_id), episode in joined.items():
        found = [by_path.get(str(part)) for part in part_ids(episode.notes)]
        if not found or any(e is None or e.goals_withheld or e.world_id != world_id for e in found):
            problem = "names no parts." if not found else f"names parts that are not in {parts.name}."
            faults.append(Fault(f'path "{path_id}"', problem, "Give the tasks these paths were joined from."))
            continue
        routes.append(OracleRoute(world_id, tuple(_nodes(e.reference) for e in found if e is not None)))
    if faults:
        raise BadFile(split.name, faults)
    return tuple(routes)


def part_ids(notes: Mapping[str, object]) -> tuple[object, ...]:
    """The path ids that the notes of a joined episode name, in order; none for an episode that was not joined."""
    return tuple(notes[name] for name in PART_KEYS if name in notes)


def is_joined(split: Split) -> bool:
    """Whether the episodes of a split are joined from several paths."""
    return bool(split.episodes) and bool(part_ids(split.episodes[0].notes))


def measure_coverage(
    routes: Sequence[OracleRoute], worlds: Mapping[str, World], *, by: CoverageKind = "visited"
) -> TourCoverage:
    """The shares of the next path, of the tour and of the scene that were observed before each episode of each route.

    By "visited", a node shows only itself; by "visible", also the nodes visible from it, as the graph says
    (`NavGraph.visible`). Shares are of distinct nodes.
    """
    graphs = {world_id: _visible_nodes(worlds, world_id, by) for world_id in {route.world_id for route in routes}}
    rows = [_measure_route(route, *graphs[route.world_id]) for route in routes]
    upcoming, tour, scene = (Ragged.from_rows([row[i] for row in rows], dtype=np.float64) for i in range(3))
    return TourCoverage(tuple(route.world_id for route in routes), upcoming, tour, scene)


def has_visibility(routes: Sequence[OracleRoute], worlds: Mapping[str, World]) -> bool:
    """Whether the graphs of all routes say which nodes are visible from which."""
    spaces = [worlds[world_id].space for world_id in {route.world_id for route in routes}]
    return all(isinstance(space, NavGraph) and space.visible is not None for space in spaces)


def coverage_curve(shares: Ragged, world_ids: Sequence[str], *, level: float = 0.95) -> CoverageCurve:
    """The mean share before each episode over the tours that have it, with intervals clustered by scene."""
    longest = int(shares.counts.max(initial=0))
    mean, low, high = (np.full(longest, np.nan) for _ in range(3))
    tours = np.zeros(longest, dtype=np.int64)
    scenes = np.asarray(world_ids)
    for k in range(longest):
        rows = np.flatnonzero(shares.counts > k)
        values, clusters = shares.values[shares.starts[rows] + k], scenes[rows]
        mean[k], tours[k] = values.mean(), len(rows)
        if k == 0:
            low[k] = high[k] = mean[k]  # nothing was observed before the first episode, by definition
        elif len(np.unique(clusters)) > 1:
            found = interval(values, clusters=clusters, bounds=(0.0, 1.0), level=level)
            low[k], high[k] = found.low, found.high
    return CoverageCurve(mean, low, high, tours)


def _visible_nodes(
    worlds: Mapping[str, World], world_id: str, by: CoverageKind
) -> tuple[NavGraph, NDArray[np.bool_] | None]:
    """The graph, and (n, n) which nodes each node shows; None if only itself."""
    if world_id not in worlds:
        raise BadFile("worlds", [Fault("", f"world {world_id} is missing.", "Check --worlds (worlds=).")])
    graph = worlds[world_id].space
    if not isinstance(graph, NavGraph):
        raise BadArgument("Coverage is counted in nodes of navigation graphs; these tasks are continuous.")
    if by == "visited":
        return graph, None
    if graph.visible is None:
        raise BadArgument(
            f"World {world_id} does not say which nodes are visible from which. Read it with visible=True, or use "
            'by="visited".'
        )
    return graph, graph.visible | np.eye(len(graph.nodes), dtype=bool)


def _measure_route(route: OracleRoute, graph: NavGraph, shows: NDArray[np.bool_] | None) -> tuple[Array, Array, Array]:
    paths = [graph.locate(path) for path in route.paths]
    passed = np.full(len(graph.nodes), UNVISITED)  # before which episode a node was first passed
    for k in reversed(range(len(paths))):  # the earliest is written last
        passed[paths[k]] = k + 1
        if k:
            passed[graph.locate(graph.route(route.paths[k - 1][-1], route.paths[k][0]))] = k
    visited = np.flatnonzero(passed < UNVISITED)
    reachable = np.flatnonzero(np.isfinite(graph.between(route.paths[0][:1], graph.nodes)[0]))
    if shows is None:
        first, regions = passed, [np.unique(path) for path in paths]
    else:
        first = np.where(shows[visited], passed[visited, None], UNVISITED).min(axis=0)
        regions = [np.flatnonzero(shows[path].any(axis=0)) for path in paths]
        reachable = np.flatnonzero(shows[reachable].any(axis=0))
    upcoming = np.array([np.mean(first[region] <= k) for k, region in enumerate(regions)])
    done = np.arange(len(paths))
    observed = np.searchsorted(np.sort(first[first < UNVISITED]), done, side="right")
    return upcoming, observed / np.count_nonzero(first < UNVISITED), observed / len(reachable)


def _nodes(places: object) -> tuple[str, ...]:
    path = tuple(cast(Sequence[str], places))
    if not all(isinstance(place, str) for place in path):
        raise BadArgument("Coverage is counted in nodes of navigation graphs; these tasks are continuous.")
    return path
