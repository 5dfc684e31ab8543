"""A walk is a tour done; a logbook is what a file of walks holds."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadFile, Fault
from itinera.records.provenance import Provenance
from itinera.records.trajectory import Ending, Phase, Trajectory
from itinera.tasks.protocol import Protocol
from itinera.worlds import Array, NavGraph, Places


@dataclass(frozen=True, slots=True)
class Rollout:
    """The trajectories of one tour in order; an episode alone is a tour of one."""

    tour_id: str
    trajectories: tuple[Trajectory, ...]


@typing.runtime_checkable
class Numbered(typing.Protocol):
    """Places that a reader can number for a graph faster than name by name."""

    counts: NDArray[np.int64]  # (n,) places of each trajectory

    def numbers(self, graph: NavGraph, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The graph's number of every place of these trajectories, end to end; None if one is not in the graph."""


@dataclass(frozen=True, eq=False)
class Answers:
    """All a judge needs of a logbook, one entry for each trajectory."""

    episode_ids: Sequence[str]
    places: Sequence[Places]  # of the acting phase
    stopped: NDArray[np.bool_]  # (n,)
    durations: Array  # (n,) seconds from first to last of these places, NaN where not timed


@dataclass(frozen=True, eq=False)
class Predictions:
    """Walks, and once for all of them the protocol and provenance, where the file tells."""

    source: str
    rollouts: Sequence[Rollout]
    protocol: Protocol | None = None
    provenance: Provenance | None = None
    prepared: Answers | None = None  # by a reader that has them at hand

    @classmethod
    def from_trajectories(cls, source: str, trajectories: tuple[Trajectory, ...]) -> Predictions:
        """A logbook of episodes that stand alone."""
        return cls(source, tuple(Rollout(trajectory.episode_id, (trajectory,)) for trajectory in trajectories))

    @property
    def trajectories(self) -> Iterator[Trajectory]:
        return (trajectory for rollout in self.rollouts for trajectory in rollout.trajectories)

    @cached_property
    def answers(self) -> Answers:
        """The trajectories as a judge sees them."""
        return self.prepared or _answers(self.source, list(self.trajectories))


def _answers(source: str, trajectories: Sequence[Trajectory]) -> Answers:
    acted = [trajectory.acted for trajectory in trajectories]
    on_ground = [isinstance(places, np.ndarray) for places in acted if len(places)]
    if any(on_ground) and not all(on_ground):
        raise BadFile(source, [Fault("", "some walks are on a graph and some on the ground.", "Score them apart.")])
    faults = [
        Fault(f'episode "{t.episode_id}"', "positions must be triples of metres.", "Log x, y and z of each place.")
        for t, places in zip(trajectories, acted, strict=True)
        if isinstance(places, np.ndarray) and len(places) and places.shape[1:] != (3,)
    ]
    if faults:
        raise BadFile(source, faults)
    return Answers(
        episode_ids=[trajectory.episode_id for trajectory in trajectories],
        places=acted,
        stopped=np.array([trajectory.ending is Ending.STOPPED for trajectory in trajectories], dtype=bool),
        durations=np.array([_duration(trajectory) for trajectory in trajectories], dtype=np.float64),
    )


def _duration(trajectory: Trajectory) -> float:
    times = trajectory.times
    if times is not None and trajectory.phases is not None:
        times = times[[phase is Phase.ACTING for phase in trajectory.phases]]
    return float("nan") if times is None or len(times) == 0 else float(times[-1] - times[0])
