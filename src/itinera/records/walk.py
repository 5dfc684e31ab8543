"""A walk is a tour done; a logbook is what a file of walks holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from itinera.records.provenance import Provenance
from itinera.records.trajectory import Trajectory
from itinera.tasks.protocol import Protocol


@dataclass(frozen=True, slots=True)
class Walk:
    """The trajectories of one tour in order; an episode alone is a tour of one."""

    tour_id: str
    trajectories: tuple[Trajectory, ...]


@dataclass(frozen=True, eq=False)
class Logbook:
    """Walks, and once for all of them the protocol and provenance, where the file tells."""

    source: str
    walks: tuple[Walk, ...]
    protocol: Protocol | None = None
    provenance: Provenance | None = None

    @classmethod
    def alone(cls, source: str, trajectories: tuple[Trajectory, ...]) -> Logbook:
        """A logbook of episodes that stand alone."""
        return cls(source, tuple(Walk(trajectory.episode_id, (trajectory,)) for trajectory in trajectories))

    @property
    def trajectories(self) -> Iterator[Trajectory]:
        return (trajectory for walk in self.walks for trajectory in walk.trajectories)
