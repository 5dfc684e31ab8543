"""Bounds on the fastest completion times of episodes, for one reference robot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from itinera.worlds import Array


@dataclass(frozen=True)
class ReferenceRobot:
    """The robot that fastest times are planned for: one for all agents of a table, however they move themselves."""

    dynamics: str = "unicycle"  # or "point-turn", "holonomic"
    vmax: float = 0.25  # metres per second
    wmax: float | None = math.radians(10)  # radians per second; None where turning takes no time
    reverse: bool = False  # whether it drives backwards
    radius: float = 0.2  # metres, of its body
    goal_radius: float = 0.0  # metres from the goal within which it has arrived; 0 is the point itself


@dataclass(frozen=True, eq=False)
class FastestTimes:
    """Lower and upper bounds on the fastest completion time of each episode, seconds."""

    robot: ReferenceRobot
    episode_ids: tuple[str, ...]
    lower: Array  # (n,) no drive is faster; inf where the goal is unreachable
    upper: Array  # (n,) a known drive takes no longer; inf where none is known
    keys: tuple[str, ...] = ()  # fingerprints of everything that decides each time, where known

    def __len__(self) -> int:
        return len(self.episode_ids)

    def __repr__(self) -> str:
        bounded = int((self.upper < math.inf).sum())
        return f"FastestTimes({len(self)} episodes, {bounded} with both bounds, {self.robot.dynamics})"

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each episode."""
        return {episode_id: i for i, episode_id in enumerate(self.episode_ids)}
