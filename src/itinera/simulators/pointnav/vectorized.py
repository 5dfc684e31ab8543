"""The stage of PointNav: N robots in many houses act, observe, are rewarded and begin anew in one call.

Poses, contacts, rewards and endings equal those of the simulators and of `itinera/PointNav-v0`, action by action.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.errors import BadArgument
from itinera.seeding import generator
from itinera.simulators.motion import Motion
from itinera.simulators.pointnav._stage_kernels import begin_episodes, step_robots
from itinera.simulators.pointnav.episodes import EpisodeSource
from itinera.simulators.pointnav.house_set import PointNavHouses
from itinera.simulators.pointnav.observations import DepthCamera, Scanner
from itinera.simulators.pointnav.sensors import DepthSensor, ScanSensor
from itinera.tasks import Protocol
from itinera.worlds import Array
from itinera.worlds.distance_field import DistanceField, GroundPoints

Bools: TypeAlias = NDArray[np.bool_]
Singles: TypeAlias = NDArray[np.float32]
Longs: TypeAlias = NDArray[np.int64]
Strings: TypeAlias = NDArray[np.object_]
Observations: TypeAlias = dict[str, Singles]
"""Of n robots, float32: `pointgoal` (n, 2) metres and radians to the left, `contact` (n,), with sensors `scan`
(n, rays) and `depth` (n, h, w) metres, for robots that hold speeds `velocity` (n, 2) metres and radians per second."""

SLACK = 0.01  # subtracted from the reward of every step
SUCCESS_REWARD = 2.5


@dataclass(frozen=True, eq=False)
class Endings:
    """The episodes that ended in a step, a row for each."""

    index: Longs  # (k,) the robots
    episode_ids: tuple[str, ...]  # of listed episodes; empty for drawn ones
    stopped: Bools  # (k,) by STOP; the others ran out of steps
    success: Bools  # (k,)
    spl: Array  # (k,)
    lengths: Array  # (k,) metres, of the path
    steps: Longs  # (k,) actions, STOP included
    seconds: Array  # (k,) completion time, as SCT needs it
    distances: Array  # (k,) metres, geodesic, from the end to the goal
    start_distances: Array  # (k,) metres, geodesic, from the start to the goal
    contacts: Longs  # (k,) actions that touched a wall

    def __len__(self) -> int:
        return len(self.index)


@dataclass(frozen=True, eq=False)
class StageStep:
    """The results of a step. Observations, rewards and flags are the stage's own arrays: the next step changes them."""

    observations: Observations  # of the next state; after an ending, of the new episode
    rewards: Array  # (n,)
    terminated: Bools  # (n,) STOP was taken
    truncated: Bools  # (n,) the step limit was reached
    final_observations: Observations  # (k, …) the last ones of the episodes that ended, in the order of `endings`
    endings: Endings
    idle: Bools  # (n,) without an episode, because the list has ended; their rewards are 0


class VectorizedPointNav:
    """N robots on PointNav episodes: `reset`, then `step`; the next episode follows an ended one in the same step."""

    def __init__(
        self,
        houses: PointNavHouses,
        episodes: EpisodeSource,
        num_envs: int,
        *,
        motion: Motion | None = None,  # None: steps of 0.25 m and turns of 10 degrees
        sliding: bool = False,
        success_radius: float = 0.2,
        scan: ScanSensor | None = None,
        depth: DepthSensor | None = None,
        decay_steps: int | None = None,
        exact_lengths: bool = False,
        seed: int = 0,
        first_env: int = 0,
    ) -> None:
        """Progress towards the goal is rewarded by the metre (equation 3); with `decay_steps`, its weight falls from 1
        to 0 over that many steps of all robots together (equation 4). A sliding robot may turn a corner within an
        action: with `exact_lengths` its path is as long as metrics measure it (for evaluation, some milliseconds each
        time), without, a little shorter. Randomness: one generator per robot, made from the seed and its number, which
        counts from `first_env`, so that several processes draw different episodes.

        Reference: Yokoyama et al. 2021, Success Weighted by Completion Time.
        """
        if num_envs < 1:
            raise BadArgument(f"num_envs must be at least 1, not {num_envs}.")
        if decay_steps is not None and decay_steps < 1:
            raise BadArgument(f"decay_steps must be ≥ 1 (got {decay_steps}).")
        self._houses, self._episodes = houses, episodes
        self._motion = motion or Motion.steps(0.25, math.radians(10.0))
        self._sliding, self._radius, self._decay = sliding, success_radius, float(decay_steps or 0)
        self._numbers = range(first_env, first_env + num_envs)
        self._seed(seed)
        self._arrays, self._maps, self._exact = houses.arrays, houses.line_maps, exact_lengths
        n = self.num_envs = num_envs
        self.steps_taken = 0  # of all robots together, for the decaying reward; set it when training resumes
        self._episode_ids, self._idle = [""] * n, np.ones(n, dtype=np.bool_)
        self._goals, self._limits, self._steps, self._contacts, self._turned = np.zeros((5, n), dtype=np.int64)
        self._house = np.zeros(n, dtype=np.int64)
        self._cells, self._across, self._places = np.zeros(n, dtype=np.int32), np.zeros((n, 2)), np.zeros((n, 3))
        self._starts, self._headings, self._distances, self._start_distances, self._lengths = np.zeros((5, n))
        self._rewards, self._success = np.zeros(n), np.zeros(n, dtype=np.bool_)
        self._terminated, self._truncated, self._bent = np.zeros((3, n), dtype=np.bool_)
        self.observations: Observations = {
            "pointgoal": np.zeros((n, 2), dtype=np.float32),
            "contact": np.zeros(n, dtype=np.float32),
        }
        self._velocities = _velocities(self._motion)
        if self._velocities is not None:
            self.observations["velocity"] = np.zeros((n, 2), dtype=np.float32)
        self._scanner = None if scan is None else Scanner(houses, scan)
        if scan is not None:
            self.observations["scan"] = np.zeros((n, scan.rays), dtype=np.float32)
        self._camera = None if depth is None else DepthCamera(houses, depth, n)
        if depth is not None:
            self.observations["depth"] = np.zeros((n, *depth.shape), dtype=np.float32)

    @classmethod
    def for_protocol(
        cls,
        protocol: Protocol,
        houses: PointNavHouses,
        episodes: EpisodeSource,
        num_envs: int,
        *,
        scan: ScanSensor | None = None,
        depth: DepthSensor | None = None,
        decay_steps: int | None = None,
        exact_lengths: bool = False,
        seed: int = 0,
        first_env: int = 0,
    ) -> VectorizedPointNav:
        """The stage of a protocol on the ground: its steps or drive, sliding and success radius."""
        if not protocol.needs_stop:
            raise BadArgument(f"Protocol {protocol.name} ends episodes without STOP, which a PointNav stage does not.")
        return cls(
            houses,
            episodes,
            num_envs,
            motion=Motion.for_protocol(protocol),
            sliding=bool(protocol.sliding),
            success_radius=protocol.success_radius,
            scan=scan,
            depth=depth,
            decay_steps=decay_steps,
            exact_lengths=exact_lengths,
            seed=seed,
            first_env=first_env,
        )

    @property
    def num_actions(self) -> int:
        """The number of actions; 0 is STOP."""
        return len(self._motion)

    @property
    def episode_ids(self) -> Strings:
        """(n,) the listed episode of each robot; empty for drawn ones."""
        return np.array(self._episode_ids, dtype=object)

    @property
    def positions(self) -> Array:
        """(n, 3) metres, at floor height."""
        return self._places.copy()

    @property
    def headings(self) -> Array:
        """(n,) radians in (-pi, pi]."""
        return self._headings.copy()

    @property
    def distances(self) -> Array:
        """(n,) metres, geodesic, to the goals."""
        return self._distances.copy()

    @property
    def goals(self) -> Longs:
        """(n,) the goal of each robot, as a row of the houses' goals."""
        return self._goals.copy()

    def reset(self, seed: int | None = None) -> Observations:
        """Begin an episode with every robot; with a seed, their generators are made anew."""
        if seed is not None:
            self._seed(seed)
        self._begin(np.arange(self.num_envs))
        self._observe(np.arange(self.num_envs))
        return self.observations

    def step(self, actions: ArrayLike) -> StageStep:
        """One action (n,) of every robot; those of idle robots have no effect."""
        chosen = self._check_actions(actions)
        motion, seen = self._motion, self.observations
        before = GroundPoints(self._cells.copy(), self._across.copy()) if self._exact else None
        ended = step_robots(
            *self._arrays,
            *self._maps,
            self._sliding,
            motion.chords,
            motion.pieces,
            motion.turns,
            motion.turn,
            motion.period,
            self._radius,
            SLACK,
            SUCCESS_REWARD,
            self._decay,
            float(self.steps_taken),
            chosen,
            self._idle,
            self._goals,
            self._limits,
            self._cells,
            self._across,
            self._starts,
            self._turned,
            self._headings,
            self._places,
            self._distances,
            self._lengths,
            self._steps,
            self._contacts,
            seen["contact"],
            seen["pointgoal"],
            self._rewards,
            self._terminated,
            self._truncated,
            self._success,
            self._bent,
        )
        if before is not None and self._bent.any():
            self._correct_lengths(before)
        self.steps_taken += self.num_envs
        if self._velocities is not None:
            seen["velocity"][:] = self._velocities[chosen]
        which = np.flatnonzero(self._terminated | self._truncated) if ended else _NOBODY
        self._observe(which)
        endings = self._endings(which)
        finals = {name: rows[which] for name, rows in seen.items()}
        self._begin(which)
        self._observe(np.flatnonzero(~self._idle))
        return StageStep(seen, self._rewards, self._terminated, self._truncated, finals, endings, self._idle)

    def _seed(self, seed: int) -> None:
        self._rngs = [generator(seed, "pointnav", str(k)) for k in self._numbers]

    def _check_actions(self, actions: ArrayLike) -> Longs:
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise BadArgument(
                f"{self.num_envs} robots need ({self.num_envs},) integer actions, not {chosen.dtype} of {chosen.shape}."
            )
        if not 0 <= chosen.min() <= chosen.max() < self.num_actions:
            wrong = chosen[(chosen < 0) | (chosen >= self.num_actions)][0]
            raise BadArgument(f"action must be 0 to {self.num_actions - 1}, not {wrong}.")
        return chosen.astype(np.int64, copy=False)

    def _correct_lengths(self, before: GroundPoints) -> None:
        """Replace the straight lines around corners by geodesics."""
        for k in np.flatnonzero(self._bent).tolist():
            ground = self._houses.grounds[self._house[k]]
            here = GroundPoints(self._cells[k : k + 1], self._across[k : k + 1])
            there = before[k : k + 1]
            straight = float(np.linalg.norm(here.across - there.across)) * ground.size
            geodesic = DistanceField.compute(ground, here, until=there).lookup(there)[0][0]
            self._lengths[k] += float(geodesic) - straight

    def _begin(self, which: Longs) -> None:
        """Begin the next episodes of these robots; those without one are idle."""
        if not len(which):
            return
        for k in which.tolist():
            start = self._episodes.draw(self._rngs[k], k)
            self._idle[k] = start is None
            if start is None:
                continue
            self._goals[k], self._limits[k], self._episode_ids[k] = start.goal, start.step_limit, start.episode_id
            self._cells[k], self._across[k] = start.cell, (start.u, start.v)
            self._starts[k] = self._headings[k] = start.heading
        fresh = which[~self._idle[which]]
        self._house[fresh] = self._houses.house[self._goals[fresh]]
        for counts in (self._turned, self._steps, self._contacts, self._lengths, self.observations["contact"]):
            counts[fresh] = 0
        if self._velocities is not None:
            self.observations["velocity"][fresh] = 0.0
        begin_episodes(
            *self._arrays,
            *self._maps,
            fresh,
            self._goals,
            self._cells,
            self._across,
            self._headings,
            self._places,
            self._distances,
            self.observations["pointgoal"],
        )
        self._start_distances[fresh] = self._distances[fresh]

    def _observe(self, which: Longs) -> None:
        """Take the scans and images of these robots."""
        if not len(which):
            return
        seen = self.observations
        if self._scanner is not None:
            self._scanner.scan(which, self._house, self._cells, self._across, self._headings, seen["scan"])
        if self._camera is not None:
            self._camera.render(which, self._house, self._places, self._headings, seen["depth"])

    def _endings(self, which: Longs) -> Endings:
        success, lengths, best = self._success[which], self._lengths[which], self._start_distances[which]
        # A robot that started on its goal and stayed there has taken the shortest path.
        whole = np.maximum(lengths, best)
        spl = np.where(success, np.divide(best, whole, out=np.ones(len(which)), where=whole > 0), 0.0)
        steps = self._steps[which]
        moves = steps - self._terminated[which]  # STOP takes no time
        return Endings(
            which,
            tuple(self._episode_ids[k] for k in which.tolist()),
            self._terminated[which],
            success,
            spl,
            lengths,
            steps,
            np.asarray(moves * self._motion.duration, dtype=np.float64),
            self._distances[which],
            best,
            self._contacts[which],
        )


_NOBODY = np.empty(0, dtype=np.int64)


def _velocities(motion: Motion) -> Singles | None:
    """(actions, 2) the speeds that each action holds; None for steps and turns."""
    if motion.turn:
        return None
    half = motion.turns / 2
    chords = np.linalg.norm(motion.chords.sum(axis=1), axis=1)
    lengths = chords / np.sinc(half / np.pi)
    return (np.column_stack([lengths, motion.turns]) / motion.duration).astype(np.float32)
