"""How much of what comes next was seen before: an oracle's view of a tour. Start with `seen_before`.

The oracle walks the reference path of every episode, and from the end of one it is led along the shortest way to the
start of the next. What it passes while being led counts as seen, as it does for an agent that watches; so from the
second episode on at least the start was seen before. Before the first episode nothing was.
Reference: Krantz et al. 2023, Iterative Vision-and-Language Navigation, figures 2b and 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats.r2r import PARTS
from itinera.stats import interval
from itinera.tasks import Split
from itinera.worlds import Array, NavGraph, Ragged, World

Sight: TypeAlias = Literal["visited", "visible"]
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Route:
    """A tour as an oracle walks it: the reference path of each episode, in order."""

    world_id: str
    paths: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Seen:
    """Before each episode of each tour, the shares that had been seen: rows are tours, values follow their episodes."""

    world_ids: tuple[str, ...]  # (tours,)
    upcoming: Ragged  # of what the episode's own path shows
    tour: Ragged  # of what the whole tour shows, ways between episodes included
    scene: Ragged  # of what can be seen from all places one can reach


@dataclass(frozen=True, eq=False)
class Curve:
    """The mean over tours against the number of episodes done before: entry k is about the tours with more than k."""

    mean: Array  # (longest tour,)
    low: Array  # (longest tour,) with an interval that takes scenes as the sample; NaN where there is but one scene
    high: Array
    tours: NDArray[np.int64]  # (longest tour,) how many have more than k episodes

    def __len__(self) -> int:
        return len(self.mean)


def routes_of_tours(split: Split) -> tuple[Route, ...]:
    """The split's tours as an oracle walks them."""
    split.ask_for_goals("What was seen along a tour needs its paths: give a split with its answers.")
    return tuple(
        Route(tour.world_id, tuple(_nodes(split.by_id[name].reference) for name in tour.episode_ids))
        for tour in split.tours
    )


def routes_of_parts(split: Split, parts: Split) -> tuple[Route, ...]:
    """Journeys joined from several paths (R4R, R6R, R8R) as tours of these, once for each journey.

    `parts` is the split they were joined from; journeys name their parts by path id.
    """
    named = {episode.path_id or episode.id: episode for episode in parts.episodes}
    journeys = {(episode.world_id, episode.path_id): episode for episode in split.episodes}
    routes, faults = [], []
    for (world_id, path_id), episode in journeys.items():
        found = [named.get(str(part)) for part in part_ids(episode.notes)]
        if not found or any(e is None or e.goals_withheld or e.world_id != world_id for e in found):
            problem = "names no parts." if not found else f"names parts that are not in {parts.name}."
            faults.append(Fault(f'path "{path_id}"', problem, "Give the tasks the journeys were joined from."))
            continue
        routes.append(Route(world_id, tuple(_nodes(e.reference) for e in found if e is not None)))
    if faults:
        raise BadFile(split.name, faults)
    return tuple(routes)


def part_ids(notes: Mapping[str, object]) -> tuple[object, ...]:
    """The path ids a joined journey's notes name, in order; none for an episode that was not joined."""
    return tuple(notes[name] for name in PARTS if name in notes)


def seen_before(routes: Sequence[Route], worlds: Mapping[str, World], *, by: Sight = "visited") -> Seen:
    """Before each episode of each route, the shares of its path, of the tour and of the scene that had been seen.

    By "visited", a place shows itself alone; by "visible", also the places in sight from it, as the graph says
    (`NavGraph.visible`). Shares are of distinct places.
    """
    sights = {world_id: _sights(worlds, world_id, by) for world_id in {route.world_id for route in routes}}
    rows = [_seen(route, *sights[route.world_id]) for route in routes]
    upcoming, tour, scene = (Ragged.of([row[i] for row in rows], dtype=np.float64) for i in range(3))
    return Seen(tuple(route.world_id for route in routes), upcoming, tour, scene)


def tell_sight(routes: Sequence[Route], worlds: Mapping[str, World]) -> bool:
    """Whether the worlds of the routes tell what is in sight, so that it can be counted."""
    return all(getattr(worlds[name].space, "visible", None) is not None for name in {r.world_id for r in routes})


def curve(shares: Ragged, world_ids: Sequence[str], *, level: float = 0.95) -> Curve:
    """The mean share before each episode over the tours that have it, with intervals clustered by scene."""
    longest = int(shares.counts.max(initial=0))
    mean, low, high = (np.full(longest, np.nan) for _ in range(3))
    tours = np.zeros(longest, dtype=np.int64)
    scenes = np.asarray(world_ids)
    for k in range(longest):
        having = np.flatnonzero(shares.counts > k)
        values, clusters = shares.values[shares.starts[having] + k], scenes[having]
        mean[k], tours[k] = values.mean(), len(having)
        if k == 0:
            low[k] = high[k] = mean[k]  # nothing was seen before the first episode, by definition
        elif len(np.unique(clusters)) > 1:
            found = interval(values, clusters=clusters, bounds=(0.0, 1.0), level=level)
            low[k], high[k] = found.low, found.high
    return Curve(mean, low, high, tours)


def _sights(worlds: Mapping[str, World], world_id: str, by: Sight) -> tuple[NavGraph, NDArray[np.bool_] | None]:
    """The graph, and (n, n) what each of its places shows; None where that is the place alone."""
    if world_id not in worlds:
        raise BadFile("worlds", [Fault("", f"world {world_id} is not among the worlds given.", "Check --worlds.")])
    graph = worlds[world_id].space
    if not isinstance(graph, NavGraph):
        raise BadArgument("What was seen is counted in nodes of navigation graphs; these tasks are on the ground.")
    if by == "visited":
        return graph, None
    if graph.visible is None:
        raise BadArgument(
            f"World {world_id} does not tell what is in sight. Read it with visible=True, or count what was visited."
        )
    return graph, graph.visible | np.eye(len(graph.nodes), dtype=bool)


def _seen(route: Route, graph: NavGraph, shows: NDArray[np.bool_] | None) -> tuple[Array, Array, Array]:
    paths = [graph.locate(path) for path in route.paths]
    passed = np.full(len(graph.nodes), NEVER)  # before which episode a place was first passed
    for k in reversed(range(len(paths))):  # the earliest is written last
        passed[paths[k]] = k + 1
        if k:
            passed[graph.locate(graph.route(route.paths[k - 1][-1], route.paths[k][0]))] = k
    walked = np.flatnonzero(passed < NEVER)
    reachable = np.flatnonzero(np.isfinite(graph.distances[paths[0][0]]))
    if shows is None:
        first, regions = passed, [np.unique(path) for path in paths]
    else:
        first = np.where(shows[walked], passed[walked, None], NEVER).min(axis=0)
        regions = [np.flatnonzero(shows[path].any(axis=0)) for path in paths]
        reachable = np.flatnonzero(shows[reachable].any(axis=0))
    upcoming = np.array([np.mean(first[region] <= k) for k, region in enumerate(regions)])
    done = np.arange(len(paths))
    seen = np.searchsorted(np.sort(first[first < NEVER]), done, side="right")
    return upcoming, seen / np.count_nonzero(first < NEVER), seen / len(reachable)


def _nodes(places: object) -> tuple[str, ...]:
    path = tuple(cast(Sequence[str], places))
    if not all(isinstance(place, str) for place in path):
        raise BadArgument("What was seen is counted in nodes of navigation graphs; these tasks are on the ground.")
    return path
