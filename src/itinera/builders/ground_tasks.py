"""Continuous tasks: graph episodes projected onto the floor, expert actions along them, and PointNav episodes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.planners.motion.geodesic_follower import FollowedPath, follow_waypoints
from itinera.tasks import Episode, Instruction, Protocol
from itinera.worlds import Array, NavGraph, Pose
from itinera.worlds.distance_field import DistanceField, snap_to_ground
from itinera.worlds.surface import Surface

MIN_DISTANCE, MAX_DISTANCE = 1.0, 30.0  # metres, geodesic distance of a PointNav goal
MAX_HEIGHT_DIFFERENCE = 0.5  # metres of height between start and goal: both are on one floor
ALWAYS_ACCEPTED_RATIO = 1.1  # a geodesic this many times longer than the straight line is always accepted
STARTS_PER_GOAL = 24  # start poses drawn for each goal
EPISODES_PER_GOAL = 6  # episodes per goal, at most
CACHED_FIELDS = 24  # cached distance fields, about a megabyte each
MARGIN = 0.6  # metres: an expert comes within 0.25 m of a waypoint and may be that much farther from the next one


def project_episodes(
    episodes: Sequence[Episode], ids: Sequence[str], graph: NavGraph, surface: Surface
) -> tuple[Episode, ...]:
    """Graph episodes with new ids, projected onto the floor: start, goal and reference lie below their nodes."""
    floor = floor_positions(graph, surface)
    distances = _geodesic_distances(set(map(_ends, episodes)), graph, floor, surface)
    episodes_on_ground = []
    for episode, name in zip(episodes, ids, strict=True):
        reference = floor[graph.locate(episode.reference)]
        episodes_on_ground.append(
            replace(
                episode,
                id=name,
                start=Pose(reference[0], episode.start.heading),
                goals=reference[-1:],
                reference=reference,
                stated_distance=distances[_ends(episode)],
            )
        )
    return tuple(episodes_on_ground)


def _ends(episode: Episode) -> tuple[str, str]:
    return cast(str, episode.start.place), cast(str, episode.goals[0])


def _geodesic_distances(
    pairs: set[tuple[str, str]], graph: NavGraph, floor: Array, surface: Surface
) -> dict[tuple[str, str], float]:
    """The geodesic distance of each (start, goal); starts that share a goal are measured together."""
    starts: dict[str, list[str]] = {}
    for start, goal in sorted(pairs):
        starts.setdefault(goal, []).append(start)
    distances: dict[tuple[str, str], float] = {}
    for goal, froms in starts.items():
        lengths = surface.between(floor[graph.locate(froms)], floor[graph.locate([goal])])[:, 0]
        distances |= {(start, goal): round(float(length), 4) for start, length in zip(froms, lengths, strict=True)}
    return distances


def floor_positions(graph: NavGraph, surface: Surface) -> Array:
    """(n, 3) the floor position of each node, rounded to a tenth of a millimetre."""
    places, _ = surface.snap(graph.positions - (0.0, 0.0, EYE_HEIGHT))
    assert np.isfinite(places).all(), "a viewpoint stands where a smaller robot cannot"
    return places.round(4)


def follow_references(episodes: Sequence[Episode], surface: Surface, protocol: Protocol) -> dict[str, FollowedPath]:
    """The expert's actions along the reference of each episode, by its id; episodes of one path share them."""
    step, turn, limit = (cast(float, value) for value in (protocol.step_size, protocol.turn_angle, protocol.step_limit))
    paths = {episode.path_id: (episode.start, np.asarray(episode.reference)) for episode in episodes}
    towards = _field_cache([reference for _, reference in paths.values()], surface)
    trails = {}
    # From west to east: nearby paths share waypoints, and so the fields towards them.
    for path_id in sorted(paths, key=lambda path_id: (paths[path_id][1][:, 0].mean(), path_id)):
        start, reference = paths[path_id]
        ahead = [towards(tuple(place)) for place in reference[1:].tolist()]
        trails[path_id] = follow_waypoints(
            surface, start, ahead, step=step, turn=turn, sliding=bool(protocol.sliding), max_actions=int(limit)
        )
    return {episode.id: trails[episode.path_id] for episode in episodes}


Point: TypeAlias = tuple[float, ...]


def _field_cache(references: Sequence[Array], surface: Surface) -> Callable[[Point], DistanceField]:
    """Distance fields towards waypoints, each computed no farther than the expert needs."""
    previous: dict[Point, set[Point]] = {}  # the waypoints before each waypoint
    for reference in references:
        for begin, end in itertools.pairwise(map(tuple, reference.tolist())):
            previous.setdefault(end, set()).add(begin)

    @lru_cache(maxsize=CACHED_FIELDS)
    def towards(place: Point) -> DistanceField:
        goal = snap_to_ground(surface.ground, np.array([place]))
        until = snap_to_ground(surface.ground, np.array(sorted(previous[place])))
        return DistanceField.compute(surface.ground, goal, until=until, margin=MARGIN)

    return towards


def sample_pointnav(
    surface: Surface, count: int, rng: np.random.Generator, *, world_id: str, first_id: int
) -> tuple[Episode, ...]:
    """PointNav episodes: a random start pose and a goal on the same floor.

    Sampled as Habitat's: geodesic distance 1 to 30 m; geodesics less than 1.1 times as long as the straight line are
    mostly rejected, because they need nothing but going straight.
    """
    episodes: list[Episode] = []
    for _ in range(4 * count):  # enough attempts, and an end where a scene has no such goals
        if len(episodes) == count:
            break
        goal = surface.sample(rng, 1).round(4)
        starts = surface.sample(rng, STARTS_PER_GOAL).round(4)
        distances = _distances_on_floor(surface, starts, goal)
        chosen = np.flatnonzero(_accept(starts, goal[0], distances, rng))[
            : min(EPISODES_PER_GOAL, count - len(episodes))
        ]
        for i in chosen.tolist():
            heading = round(float(rng.uniform(0.0, math.tau)), 4)
            name = str(first_id + len(episodes))
            start = Pose(starts[i], heading)
            episodes.append(
                Episode(
                    name, world_id, start, goal, (), Instruction.to_point(goal), stated_distance=float(distances[i])
                )
            )
    return tuple(episodes)


def _distances_on_floor(surface: Surface, starts: Array, goal: Array) -> Array:
    """(n,) geodesic distances to the goal; inf where the start is on another floor or unreachable."""
    distances = np.full(len(starts), np.inf)
    # The field need not reach other floors: their starts are rejected at any distance.
    level = np.flatnonzero(_on_floor(starts, goal[0]))
    if len(level):
        distances[level] = surface.between(starts[level], goal)[:, 0].round(4)
    return distances


def _on_floor(starts: Array, goal: Array) -> NDArray[np.bool_]:
    level: NDArray[np.bool_] = np.abs(starts[:, 2] - goal[2]) <= MAX_HEIGHT_DIFFERENCE
    return level


def _accept(starts: Array, goal: Array, distances: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(n,) whether each start is accepted."""
    straight = np.linalg.norm(starts - goal, axis=1)
    ratios = (np.where(np.isfinite(distances), distances, 0.0) / np.maximum(straight, 1e-6)).round(6)
    accepted = rng.random(len(starts)) < 20 * (ratios - 0.98) ** 2
    near = (distances >= MIN_DISTANCE) & (distances <= MAX_DISTANCE) & _on_floor(starts, goal)
    chosen: NDArray[np.bool_] = near & ((ratios >= ALWAYS_ACCEPTED_RATIO) | accepted)
    return chosen
