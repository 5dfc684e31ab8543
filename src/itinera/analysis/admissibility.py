"""Is SPL fair to those who follow instructions? The SPL of an oracle that takes the shortest way past all waypoints.

Where references are not the shortest paths, an agent that follows them walks farther than one that cuts across, and
SPL holds that against it. The oracle tells how much: it can do no better and still pass every waypoint. Ask
`oracle_walks` for its walks (or take logged ones), then `admissibility` for what SPL says of them.
Reference: Krantz et al. 2020, Beyond the Nav-Graph, supplementary section 7.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from itinera.analysis.waypoint_paths import shortest_past
from itinera.errors import BadFile, Fault
from itinera.metrics.attempts import of_pairs
from itinera.metrics.efficiency import path_length, spl
from itinera.metrics.matching import pair
from itinera.records import Predictions, Trajectory
from itinera.stats import Interval, interval
from itinera.tasks import Episode, Protocol, Split
from itinera.tasks.protocol import PROTOCOLS
from itinera.worlds import Array, Euclidean, Places, World


@dataclass(frozen=True, eq=False)
class Admissibility:
    """What SPL says of walks that follow their references: a row per episode, in the split's order."""

    world_ids: tuple[str, ...]
    path_ids: tuple[str, ...]
    spl: Array  # (n,)
    lengths: Array  # (n,) metres walked
    shortest: Array  # (n,) metres from start to goal, what SPL compares with

    @property
    def mean(self) -> Interval:
        """Mean SPL over episodes, with its interval over scenes."""
        return interval(self.spl, clusters=self.world_ids, bounds=(0.0, 1.0))

    @property
    def mean_over_paths(self) -> Interval:
        """Mean SPL over paths, however many instructions each has."""
        names = [f"{world}\x1f{path}" for world, path in zip(self.world_ids, self.path_ids, strict=True)]
        _, number, count = np.unique(names, return_inverse=True, return_counts=True)
        weights = 1.0 / count[number]
        return interval(self.spl, clusters=self.world_ids, weights=weights, bounds=(0.0, 1.0))

    @property
    def detour(self) -> float:
        """Metres walked over metres needed, all episodes together."""
        return float(self.lengths.sum() / self.shortest.sum())


def oracle_walks(split: Split, worlds: Mapping[str, World], *, radius: float = 0.0) -> Predictions:
    """The walks of an oracle that takes the shortest way past all waypoints of each reference.

    It comes within `radius` metres of each waypoint, the goal among them; 0 asks for the waypoints themselves. In the
    open it knows no walls, so its walks are never longer than an oracle's that does: the SPL found is an upper bound.
    Raises NoRoute where a waypoint cannot be reached.
    """
    _ask_for_references(split, worlds)
    # Episodes that differ in their words only share a walk; all worlds without walls are one, and done at once.
    asked: dict[Any, dict[Any, Places]] = {}
    spaces = {world_id: worlds[world_id].space for world_id in split.world_ids}
    groups = {world_id: Euclidean if isinstance(s, Euclidean) else world_id for world_id, s in spaces.items()}
    for episode in split.episodes:
        asked.setdefault(groups[episode.world_id], {})[_key(episode)] = _way(episode)
    walks: dict[Any, dict[Any, Places]] = {}
    for group, ways in asked.items():
        space = Euclidean() if group is Euclidean else spaces[group]
        walks[group] = dict(zip(ways, shortest_past(space, list(ways.values()), radius=radius), strict=True))
    return Predictions.from_trajectories(
        f"oracle of {split.name}",
        tuple(Trajectory(e.id, walks[groups[e.world_id]][_key(e)]) for e in split.episodes),
    )


def trace_walks(split: Split, traces: Mapping[str, Places]) -> Predictions:
    """Logged positions by episode, such as VLN-CE's dense ground truth, as the walks of this split."""
    lacking = [episode.id for episode in split.episodes if episode.id not in traces]
    if lacking:
        remedy = f"Give the traces that belong to {split.name}."
        raise BadFile("traces", [Fault(f'episode "{name}"', "has no trace.", remedy) for name in lacking])
    return Predictions.from_trajectories(
        f"traces of {split.name}", tuple(Trajectory(e.id, traces[e.id]) for e in split.episodes)
    )


def admissibility(
    predictions: Predictions, split: Split, worlds: Mapping[str, World], *, protocol: Protocol | None = None
) -> Admissibility:
    """What SPL says of these walks.

    SPL compares them with the shortest way from start to goal. Graphs measure it; in the open, where walls are not
    known, it is the distance the tasks state (VLN-CE's geodesic distance), or the straight line if they state none.
    """
    rules = protocol or PROTOCOLS[split.protocol]
    count = len(split.episodes)
    values, lengths, shortest = np.empty(count), np.empty(count), np.empty(count)
    for group in pair(predictions, split, worlds):
        attempts = of_pairs(group)
        open_space = isinstance(attempts.space, Euclidean)
        optimum: Any = "stated" if open_space else "shortest"
        values[group.rows] = spl(attempts, radius=rules.success_radius, needs_stop=rules.needs_stop, optimum=optimum)
        lengths[group.rows] = path_length(attempts)
        known = open_space & ~np.isnan(attempts.stated)
        shortest[group.rows] = np.where(known, attempts.stated, attempts.shortest)
    return Admissibility(
        world_ids=tuple([episode.world_id for episode in split.episodes]),
        path_ids=tuple([episode.path_id or episode.id for episode in split.episodes]),
        spl=values,
        lengths=lengths,
        shortest=shortest,
    )


def _ask_for_references(split: Split, worlds: Mapping[str, World]) -> None:
    faults = [
        Fault("", f"world {world_id} is not among the worlds given.", "Check that tasks and worlds belong together.")
        for world_id in split.world_ids
        if world_id not in worlds
    ]
    faults += [
        Fault(f'episode "{episode.id}"', "has no reference.", "A hidden test does not tell its paths.")
        for episode in split.episodes
        if not len(episode.reference)
    ]
    if faults:
        raise BadFile(split.name, faults)


def _way(episode: Episode) -> Places:
    """The start and every waypoint after it. References begin at the start, which need not be passed again."""
    if isinstance(episode.start.place, str):
        return (episode.start.place, *(str(place) for place in episode.reference[1:]))
    return np.concatenate([np.asarray(episode.start.place)[None], np.asarray(episode.reference)[1:]])


def _key(episode: Episode) -> Any:
    way = _way(episode)
    return way.tobytes() if isinstance(way, np.ndarray) else way
