"""Tasks on the ground: graph episodes with their nodes set on the floor, an expert's steps along them, and PointNav."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.planners.motion.geodesic_follower import Trail, follow_through
from itinera.tasks import Episode, Instruction, Protocol
from itinera.worlds import Array, NavGraph, Pose
from itinera.worlds.distance_field import DistanceField, stand
from itinera.worlds.surface import Surface

NEAREST, FARTHEST = 1.0, 30.0  # metres a PointNav goal may lie away, along the ground
LEVEL = 0.5  # metres of height between start and goal: both are on one floor
WINDING = 1.1  # a way this many times as long as the straight line is always taken
STARTS = 24  # places drawn for each goal
KEPT = 6  # of which so many become episodes, at most
AT_HAND = 24  # distance fields kept, of about a megabyte each
BESIDE = 0.6  # metres that an expert may stand farther from its next place than the one before lies


def grounded(episodes: Sequence[Episode], ids: Sequence[str], graph: NavGraph, surface: Surface) -> tuple[Episode, ...]:
    """Graph episodes, renamed, on the ground: start, goal and reference are the floor below their nodes."""
    floor = on_floor(graph, surface)
    away = _afar(set(map(_ends, episodes)), graph, floor, surface)
    told = []
    for episode, name in zip(episodes, ids, strict=True):
        reference = floor[graph.locate(episode.reference)]
        told.append(
            replace(
                episode,
                id=name,
                start=Pose(reference[0], episode.start.heading),
                goals=reference[-1:],
                reference=reference,
                stated_distance=away[_ends(episode)],
            )
        )
    return tuple(told)


def _ends(episode: Episode) -> tuple[str, str]:
    return cast(str, episode.start.place), cast(str, episode.goals[0])


def _afar(pairs: set[tuple[str, str]], graph: NavGraph, floor: Array, surface: Surface) -> dict[tuple[str, str], float]:
    """How far it is along the ground from each start to each goal; the starts of one goal are measured together."""
    starts: dict[str, list[str]] = {}
    for start, goal in sorted(pairs):
        starts.setdefault(goal, []).append(start)
    away: dict[tuple[str, str], float] = {}
    for goal, froms in starts.items():
        lengths = surface.between(floor[graph.locate(froms)], floor[graph.locate([goal])])[:, 0]
        away |= {(start, goal): round(float(length), 4) for start, length in zip(froms, lengths, strict=True)}
    return away


def on_floor(graph: NavGraph, surface: Surface) -> Array:
    """(n, 3) where one stands at each node, rounded to a tenth of a millimetre."""
    places, _ = surface.snap(graph.positions - (0.0, 0.0, EYE_HEIGHT))
    assert np.isfinite(places).all(), "a viewpoint stands where a smaller robot cannot"
    return places.round(4)


def trails(episodes: Sequence[Episode], surface: Surface, protocol: Protocol) -> dict[str, Trail]:
    """An expert's steps along the reference of each episode, by its id; episodes of one path share them."""
    step, turn, limit = (cast(float, value) for value in (protocol.step_size, protocol.turn_angle, protocol.step_limit))
    paths = {episode.path_id: (episode.start, np.asarray(episode.reference)) for episode in episodes}
    towards = _fields([reference for _, reference in paths.values()], surface)
    walked = {}
    # From west to east: paths near each other share places, and so the fields towards them.
    for path_id in sorted(paths, key=lambda path_id: (paths[path_id][1][:, 0].mean(), path_id)):
        start, reference = paths[path_id]
        ahead = [towards(tuple(place)) for place in reference[1:].tolist()]
        walked[path_id] = follow_through(
            surface, start, ahead, step=step, turn=turn, sliding=bool(protocol.sliding), limit=int(limit)
        )
    return {episode.id: walked[episode.path_id] for episode in episodes}


Point: TypeAlias = tuple[float, ...]


def _fields(references: Sequence[Array], surface: Surface) -> Callable[[Point], DistanceField]:
    """Distance fields towards the places of references, each no wider than is needed from the place before."""
    places = np.unique(np.concatenate([np.empty((0, 3)), *references]), axis=0)
    longest: dict[Point, float] = {}  # the longest leg that ends at a place
    for reference in references:
        for end, leg in zip(reference[1:].tolist(), np.linalg.norm(np.diff(reference, axis=0), axis=1), strict=True):
            longest[tuple(end)] = max(float(leg), longest.get(tuple(end), 0.0))

    @lru_cache(maxsize=AT_HAND)
    def towards(place: Point) -> DistanceField:
        away = np.linalg.norm(places - place, axis=1).round(6)
        beyond = np.flatnonzero(away >= longest[place] + BESIDE)
        # The nearest place beyond: once that is reached, everything nearer is.
        until = stand(surface.ground, places[beyond[np.argmin(away[beyond])]][None]) if len(beyond) else None
        return DistanceField.towards(surface.ground, stand(surface.ground, np.array([place])), until=until)

    return towards


def point_tasks(
    surface: Surface, count: int, rng: np.random.Generator, *, world_id: str, first_id: int
) -> tuple[Episode, ...]:
    """PointNav episodes: a start pose anywhere on the ground and a goal on the same floor.

    As Habitat's are drawn: 1 to 30 m along the ground; ways less than 1.1 times as long as the straight line are
    mostly left out, since they ask for nothing but walking straight on.
    """
    episodes: list[Episode] = []
    for _ in range(4 * count):  # enough turns by far, and an end where a place has no such goals
        if len(episodes) == count:
            break
        goal = surface.sample(rng, 1).round(4)
        starts = surface.sample(rng, STARTS).round(4)
        away = surface.field(goal).at(starts).round(4)
        chosen = np.flatnonzero(_worth_going(starts, goal[0], away, rng))[: min(KEPT, count - len(episodes))]
        for i in chosen.tolist():
            heading = round(float(rng.uniform(0.0, math.tau)), 4)
            name = str(first_id + len(episodes))
            start = Pose(starts[i], heading)
            episodes.append(Episode(name, world_id, start, goal, (), Instruction(""), stated_distance=float(away[i])))
    return tuple(episodes)


def _worth_going(starts: Array, goal: Array, away: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(n,) whether each start makes a task."""
    straight = np.linalg.norm(starts - goal, axis=1)
    winding = (np.where(np.isfinite(away), away, 0.0) / np.maximum(straight, 1e-6)).round(6)
    lucky = rng.random(len(starts)) < 20 * (winding - 0.98) ** 2
    near = (away >= NEAREST) & (away <= FARTHEST) & (np.abs(starts[:, 2] - goal[2]) <= LEVEL)
    chosen: NDArray[np.bool_] = near & ((winding >= WINDING) | lucky)
    return chosen
