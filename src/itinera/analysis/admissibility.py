"""The admissibility of SPL: the SPL of an oracle that takes the shortest path past all waypoints of a reference.

If a reference is not a shortest path, an agent that follows it travels farther than one that takes a shortcut, and SPL
penalizes that. The oracle measures how much: no agent that passes every waypoint can do better. Compute its
`oracle_trajectories` (or take logged ones), then `measure_admissibility`.
Reference: Krantz et al. 2020, Beyond the Nav-Graph, supplementary section 7.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from itinera.analysis.waypoint_paths import shortest_waypoint_paths
from itinera.errors import BadFile, Fault
from itinera.metrics.goal import path_length, spl
from itinera.metrics.matching import match
from itinera.records import Predictions, Trajectory
from itinera.stats import Interval, interval
from itinera.tasks import Episode, Protocol, Split
from itinera.tasks.protocol import PROTOCOLS
from itinera.worlds import Array, Euclidean, Places, World


@dataclass(frozen=True, eq=False)
class Admissibility:
    """The SPL of trajectories that follow their references: a row per episode, in the split's order."""

    world_ids: tuple[str, ...]
    path_ids: tuple[str, ...]
    spl: Array  # (n,)
    lengths: Array  # (n,) metres travelled
    shortest: Array  # (n,) metres from start to goal, what SPL compares with

    @property
    def mean(self) -> Interval:
        """Mean SPL over episodes, with its interval over scenes."""
        return interval(self.spl, clusters=self.world_ids, bounds=(0.0, 1.0))

    @property
    def mean_over_paths(self) -> Interval:
        """Mean SPL over paths, however many instructions each has, with its interval over scenes."""
        names = [f"{world}\x1f{path}" for world, path in zip(self.world_ids, self.path_ids, strict=True)]
        _, number, count = np.unique(names, return_inverse=True, return_counts=True)
        weights = 1.0 / count[number]
        return interval(self.spl, clusters=self.world_ids, weights=weights, bounds=(0.0, 1.0))

    @property
    def detour_ratio(self) -> float:
        """Total metres travelled over total metres of the shortest paths."""
        return float(self.lengths.sum() / self.shortest.sum())


def oracle_trajectories(split: Split, worlds: Mapping[str, World], *, radius: float = 0.0) -> Predictions:
    """The trajectories of an oracle that takes the shortest path past all waypoints of each reference.

    It comes within `radius` metres of each waypoint, the goal included; with 0 it passes the waypoints themselves. In
    Euclidean space there are no walls, so its trajectories are never longer than with walls: their SPL is an upper
    bound. Raises NoRoute if a waypoint cannot be reached.
    """
    _require_references(split, worlds)
    # Episodes that differ only in their words share a trajectory; all Euclidean worlds are solved in one batch.
    waypoints: dict[Any, dict[Any, Places]] = {}
    spaces = {world_id: worlds[world_id].space for world_id in split.world_ids}
    groups = {world_id: Euclidean if isinstance(s, Euclidean) else world_id for world_id, s in spaces.items()}
    for episode in split.episodes:
        waypoints.setdefault(groups[episode.world_id], {})[_key(episode)] = _waypoints(episode)
    paths: dict[Any, dict[Any, Places]] = {}
    for group, by_key in waypoints.items():
        space = Euclidean() if group is Euclidean else spaces[group]
        shortest = shortest_waypoint_paths(space, list(by_key.values()), radius=radius)
        paths[group] = dict(zip(by_key, shortest, strict=True))
    return Predictions.from_trajectories(
        f"oracle of {split.name}",
        tuple(Trajectory(e.id, paths[groups[e.world_id]][_key(e)]) for e in split.episodes),
    )


def logged_trajectories(split: Split, traces: Mapping[str, Places]) -> Predictions:
    """Logged positions by episode, such as VLN-CE's dense ground truth, as trajectories of this split."""
    missing = [episode.id for episode in split.episodes if episode.id not in traces]
    if missing:
        remedy = f"Give the traces that belong to {split.name}."
        raise BadFile("traces", [Fault(f'episode "{name}"', "has no trace.", remedy) for name in missing])
    return Predictions.from_trajectories(
        f"traces of {split.name}", tuple(Trajectory(e.id, traces[e.id]) for e in split.episodes)
    )


def measure_admissibility(
    predictions: Predictions, split: Split, worlds: Mapping[str, World], *, protocol: Protocol | None = None
) -> Admissibility:
    """The SPL of these trajectories.

    SPL compares them with the shortest path from start to goal. Graphs measure it; in Euclidean space it is the
    distance the tasks state (VLN-CE's geodesic distance), or the straight line if they state none.
    """
    rules = protocol or PROTOCOLS[split.protocol]
    count = len(split.episodes)
    values, lengths, shortest = np.empty(count), np.empty(count), np.empty(count)
    for attempts in match(predictions, split, worlds):
        open_space = isinstance(attempts.space, Euclidean)
        optimum: Any = "stated" if open_space else "shortest"
        values[attempts.rows] = spl(attempts, radius=rules.success_radius, needs_stop=rules.needs_stop, optimum=optimum)
        lengths[attempts.rows] = path_length(attempts)
        known = open_space & ~np.isnan(attempts.stated_distances)
        shortest[attempts.rows] = np.where(known, attempts.stated_distances, attempts.shortest)
    return Admissibility(
        world_ids=tuple([episode.world_id for episode in split.episodes]),
        path_ids=tuple([episode.path_id or episode.id for episode in split.episodes]),
        spl=values,
        lengths=lengths,
        shortest=shortest,
    )


def _require_references(split: Split, worlds: Mapping[str, World]) -> None:
    faults = [
        Fault("", f"world {world_id} is missing.", "Check that tasks and worlds belong together.")
        for world_id in split.world_ids
        if world_id not in worlds
    ]
    faults += [
        Fault(f'episode "{episode.id}"', "has no reference path.", "Test splits withhold them: give another split.")
        for episode in split.episodes
        if not len(episode.reference)
    ]
    if faults:
        raise BadFile(split.name, faults)


def _waypoints(episode: Episode) -> Places:
    """The start and every waypoint after it; the first place of a reference is the start itself."""
    if isinstance(episode.start.place, str):
        return (episode.start.place, *(str(place) for place in episode.reference[1:]))
    return np.concatenate([np.asarray(episode.start.place)[None], np.asarray(episode.reference)[1:]])


def _key(episode: Episode) -> Any:
    waypoints = _waypoints(episode)
    return waypoints.tobytes() if isinstance(waypoints, np.ndarray) else waypoints
