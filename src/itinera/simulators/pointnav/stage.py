"""The stage of PointNav: N robots in many houses act, observe, are rewarded and begin anew in one call.

Poses, contacts, rewards and endings equal those of the simulators and of `itinera/PointNav-v0`, action by action.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.simulators.motion import Motion
from itinera.simulators.pointnav.episodes import EpisodeSource
from itinera.simulators.pointnav.houses import PointNavHouses
from itinera.simulators.pointnav.sensors import DepthSensor, ScanSensor
from itinera.tasks import Protocol
from itinera.worlds import Array

Bools: TypeAlias = NDArray[np.bool_]
Singles: TypeAlias = NDArray[np.float32]
Longs: TypeAlias = NDArray[np.int64]
Observations: TypeAlias = dict[str, Singles]
"""Of n robots, float32: `pointgoal` (n, 2) metres and radians to the left, `contact` (n,), with sensors `scan` (n, rays)
and `depth` (n, h, w) metres, for robots that hold speeds `velocity` (n, 2) metres and radians per second."""


@dataclass(frozen=True, eq=False)
class Endings:
    """The episodes that ended in a step, a row for each."""

    index: Longs  # (k,) the robots
    episode_ids: tuple[str, ...]  # of listed episodes; empty for drawn ones
    success: Bools  # (k,)
    spl: Array  # (k,)
    lengths: Array  # (k,) metres, of the path
    steps: Longs  # (k,) actions, STOP included
    seconds: Array  # (k,) completion time, as SCT needs it
    distances: Array  # (k,) metres, geodesic, from the end to the goal
    start_distances: Array  # (k,) metres, geodesic, from the start to the goal
    contacts: Longs  # (k,) actions that touched a wall


@dataclass(frozen=True, eq=False)
class StageStep:
    """What a step of all robots came to. Its arrays are the stage's own and change with the next step."""

    observations: Observations  # of the next state; after an ending, of the new episode
    rewards: Array  # (n,)
    terminated: Bools  # (n,) STOP was taken
    truncated: Bools  # (n,) the step limit was reached
    final_observations: Observations  # (k, …) the last ones of the episodes that ended, in the order of `endings`
    endings: Endings
    idle: Bools  # (n,) without an episode, because the list has ended; their rewards are 0


class VectorizedPointNav:
    """N robots on PointNav episodes. `step` after `reset`; an ended episode is followed by the next at once."""

    num_envs: int
    num_actions: int  # STOP = 0
    observations: Observations

    def __init__(
        self,
        houses: PointNavHouses,
        episodes: EpisodeSource,
        num_envs: int,
        *,
        motion: Motion | None = None,  # None: steps of 0.25 m and turns of 10 degrees, as the protocol has them
        sliding: bool = False,
        success_radius: float = 0.2,
        scan: ScanSensor | None = None,
        depth: DepthSensor | None = None,
        decay_steps: int | None = None,  # None: equation 3; else progress decays to 0 over these steps (equation 4)
        seed: int = 0,
    ) -> None:
        """Randomness: one generator per robot, made from the seed and its number."""
        raise NotImplementedError

    @classmethod
    def for_protocol(
        cls, protocol: Protocol, houses: PointNavHouses, episodes: EpisodeSource, num_envs: int, **options: object
    ) -> VectorizedPointNav:
        """The stage of a protocol on the ground: its motion or drive, sliding and success radius."""
        raise NotImplementedError

    steps_taken: int  # of all robots together, for the decaying reward; set it when training resumes

    def reset(self) -> Observations:
        """Begin an episode with every robot."""
        raise NotImplementedError

    def step(self, actions: ArrayLike) -> StageStep:
        """One action (n,) of every robot; those of idle robots are ignored."""
        raise NotImplementedError
