"""Where the episodes of a stage come from: starts drawn without end for training, a list of episodes for evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from itinera.errors import BadArgument
from itinera.simulators.ground import check_start, wrap_angle
from itinera.simulators.pointnav._stage_kernels import choose_start
from itinera.simulators.pointnav.house_set import PointNavHouses
from itinera.tasks import Episode
from itinera.worlds.distance_field import snap_to_ground

MAX_HEIGHT_DIFFERENCE = 0.5  # metres between the floors of start and goal, as in the episodes of Hearth
_AT_ONCE, _ROUNDS, _GOALS = 48, 40, 50  # points drawn at once; how often for one goal; goals tried


@dataclass(frozen=True, slots=True)
class Start:
    """The start of an episode, in the terms of the houses of a stage."""

    goal: int  # its row in `PointNavHouses`
    cell: int  # of the start, in its house
    u: float  # the position of the start, in cells
    v: float
    heading: float  # radians in (-pi, pi]
    step_limit: int
    episode_id: str = ""  # of a listed episode


class EpisodeSource(Protocol):
    """Where a stage takes its episodes from."""

    def draw(self, rng: np.random.Generator, robot: int) -> Start | None:
        """The next episode of a robot, whose generator is `rng`; None if there are no more: the robot stays idle."""
        ...


class TrainingStarts:
    """Starts drawn without end: a goal, and a start on the floor of the goal, both uniform.

    `max_distance` and `min_distance` limit the geodesic distance of the start, metres, and may be changed at any time
    (a distance curriculum). With `steps_per_metre`, an episode has `base_steps + steps_per_metre * distance` steps, at
    most `step_limit`.
    """

    def __init__(
        self,
        houses: PointNavHouses,
        *,
        max_distance: float = 30.0,
        min_distance: float = 1.0,
        step_limit: int = 500,
        steps_per_metre: float | None = None,
        base_steps: int = 60,
    ) -> None:
        if step_limit < 1:
            raise BadArgument(f"step_limit must be ≥ 1 (got {step_limit}).")
        self._houses, self._step_limit = houses, step_limit
        self._steps_per_metre, self._base_steps = steps_per_metre, base_steps
        self._parts = [houses.goal_arrays(goal) for goal in range(len(houses.goals))]
        self.max_distance, self.min_distance = max_distance, min_distance

    def draw(self, rng: np.random.Generator, robot: int) -> Start:
        if not 0.0 <= self.min_distance < self.max_distance:
            raise BadArgument(
                f"Starts need 0 ≤ min_distance < max_distance; got {self.min_distance}, {self.max_distance}."
            )
        out = np.empty(3)
        for _ in range(_GOALS):
            goal = int(rng.integers(len(self._parts)))
            size = self._houses.sizes[self._houses.house[goal]]
            least, most = self.min_distance / size, self.max_distance / size
            level = self._houses.goals[goal, 2]
            for _ in range(_ROUNDS):
                drawn = rng.random((_AT_ONCE, 3))
                cell = choose_start(*self._parts[goal], level, least, most, MAX_HEIGHT_DIFFERENCE, drawn, out)
                if cell >= 0:
                    heading = wrap_angle(float(rng.uniform(0.0, 2.0 * np.pi)))
                    limit = self._limit(float(out[2] * size))
                    return Start(goal, cell, float(out[0]), float(out[1]), heading, limit)
        raise BadArgument(
            f"No start lies {self.min_distance:g} to {self.max_distance:g} m from any of {_GOALS} goals tried. "
            "Give more goals or wider limits."
        )

    def _limit(self, distance: float) -> int:
        if self._steps_per_metre is None:
            return self._step_limit
        return min(self._step_limit, int(self._base_steps + self._steps_per_metre * distance))


class EpisodeList:
    """Listed episodes, each exactly once and in their order: the next one goes to the first robot that is free."""

    def __init__(self, houses: PointNavHouses, episodes: Sequence[Episode], *, step_limit: int = 500) -> None:
        """The goals of the episodes must be among those of the houses; `episode_goals` lists them."""
        if step_limit < 1:
            raise BadArgument(f"step_limit must be ≥ 1 (got {step_limit}).")
        self._starts = [find_start(houses, episode, step_limit) for episode in episodes]
        self._next = 0

    def draw(self, rng: np.random.Generator, robot: int) -> Start | None:
        if self._next == len(self._starts):
            return None
        self._next += 1
        return self._starts[self._next - 1]

    def rewind(self) -> None:
        """Begin the list again, for the next evaluation."""
        self._next = 0

    def __len__(self) -> int:
        return len(self._starts)


def find_start(houses: PointNavHouses, episode: Episode, step_limit: int) -> Start:
    """The start of a listed episode; raises BadArgument if its goal was not loaded with the houses."""
    if len(episode.goals) != 1:
        raise BadArgument(f"Episode {episode.id} has {len(episode.goals)} goals; a stage needs episodes with one.")
    goal = houses.find_goal(episode.world_id, np.asarray(episode.goals, dtype=np.float64)[0])
    ground = houses.grounds[houses.house[goal]]
    spots = snap_to_ground(ground, np.asarray(check_start(episode.start), dtype=np.float64)[None])
    u, v = spots.across[0].tolist()
    return Start(goal, int(spots.cells[0]), u, v, wrap_angle(episode.start.heading), step_limit, episode.id)
