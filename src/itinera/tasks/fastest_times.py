"""The fastest times of episodes: between which two numbers of seconds the best a given robot can do must lie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from itinera.worlds import Array


@dataclass(frozen=True)
class ReferenceRobot:
    """The robot whose fastest times are meant, one for all agents of a table, however they move themselves."""

    dynamics: str = "unicycle"  # or "point-turn", "holonomic"
    vmax: float = 0.25  # metres per second
    wmax: float | None = math.radians(10)  # radians per second; None where turning takes no time
    reverse: bool = False  # whether it drives backwards
    radius: float = 0.2  # metres, of its body
    goal_radius: float = 0.0  # metres from the goal where it has arrived; 0 is the point itself


@dataclass(frozen=True, eq=False)
class FastestTimes:
    """Bounds on the fastest possible completion time of each episode, seconds."""

    robot: ReferenceRobot
    episode_ids: tuple[str, ...]
    low: Array  # (n,) nothing is faster; inf where no way leads
    high: Array  # (n,) a drive is known that takes no longer; inf where none is
    keys: tuple[str, ...] = ()  # fingerprints of all that decides each time, where they are told

    def __len__(self) -> int:
        return len(self.episode_ids)

    @cached_property
    def rows(self) -> dict[str, int]:
        """Where each episode stands."""
        return {episode_id: i for i, episode_id in enumerate(self.episode_ids)}
