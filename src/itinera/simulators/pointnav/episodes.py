"""Where the episodes of a stage come from: starts drawn without end for training, a list of episodes for evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from itinera.simulators.pointnav.houses import PointNavHouses
from itinera.tasks import Episode


@dataclass(frozen=True, slots=True)
class Start:
    """The start of an episode, in the terms of the houses of a stage."""

    goal: int  # its row in `PointNavHouses`
    cell: int  # of the start
    u: float  # the position of the start in cells
    v: float
    heading: float  # radians
    step_limit: int
    episode_id: str = ""  # of a listed episode


class EpisodeSource(Protocol):
    """Where a stage takes its episodes from."""

    def draw(self, rng: np.random.Generator) -> Start | None:
        """The next episode; None if there are no more, and the robot that asked stays idle. `rng` is the robot's."""
        ...


class TrainingStarts:
    """Starts drawn without end: a house, a goal and a start on the goal's floor, all uniform.

    `max_distance` limits the geodesic distance of the start and may be changed at any time (a distance curriculum).
    With `steps_per_metre`, an episode has `step_limit_base + steps_per_metre * distance` steps, at most `step_limit`.
    """

    def __init__(
        self,
        houses: PointNavHouses,
        *,
        max_distance: float = 30.0,
        min_distance: float = 1.0,
        step_limit: int = 500,
        steps_per_metre: float | None = None,
        step_limit_base: int = 60,
    ) -> None:
        raise NotImplementedError

    def draw(self, rng: np.random.Generator) -> Start:
        raise NotImplementedError


class EpisodeList:
    """Listed episodes, each exactly once, in their order: to whichever robot is free. Their goals must be in `houses`."""

    def __init__(self, houses: PointNavHouses, episodes: Sequence[Episode], *, step_limit: int = 500) -> None:
        raise NotImplementedError

    def draw(self, rng: np.random.Generator) -> Start | None:
        raise NotImplementedError
