"""Experience: what training needs of each episode that an agent walked, and how it is made again from stored actions.

`collect` walks tours and returns both: the actions, to be stored, and the experience, to learn from. `replay` makes the
same experience from the actions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadFile, Fault
from itinera.mapping.config import MapLifetime
from itinera.planners.motion.geodesic_follower import ExpertLabels
from itinera.records import Ending, Rollout
from itinera.runs.config import TourJob, load_worlds
from itinera.simulators.vectorized import VectorizedGround
from itinera.tasks import PROTOCOLS, Episode, Protocol, Tour
from itinera.training.ground.frames import Frames, PackedFrames, pack_frames, stack_frames
from itinera.training.ground.lane_agents import Actions, Decider, LaneAgents, ReplayDecider, stop_included
from itinera.training.ground.perception import Perception, Sensors
from itinera.training.ground.tour_lanes import Lanes, walk_tours
from itinera.training.ground.trajectories import EpisodeActions, TourActions
from itinera.worlds import World
from itinera.worlds.lazy import LazyMapping

HOUSES = 80  # worlds in memory, about 30 MB each


@dataclass(frozen=True, eq=False)
class Experience:
    """An episode that an agent walked: what it saw, what it did, and what the expert would have done."""

    episode_id: str
    frames: PackedFrames  # of `guided` steps, then of the steps of the episode
    guided: int  # steps of oracle phases between the episode before and this one, if they were kept
    previous: NDArray[np.uint8]  # (steps,) codes of the actions before
    actions: NDArray[np.uint8]  # (steps,) taken
    labels: NDArray[np.uint8]  # (steps,) the expert's actions
    bearings: NDArray[np.int8]  # (steps,) left turns before the expert's next step
    distances: NDArray[np.float32]  # (steps,) metres to the goal

    def __len__(self) -> int:
        """The number of steps of the agent."""
        return len(self.actions)

    @property
    def progress(self) -> NDArray[np.float32]:
        """(steps,) the share of the way to the goal that is done, at most 1; 0 or below where nothing is."""
        first = max(float(self.distances[0]), 1e-6)
        return np.asarray(np.clip(1.0 - self.distances / np.float32(first), -1.0, 1.0), dtype=np.float32)


@dataclass(eq=False)
class _Growing:
    """The experience of an episode in progress."""

    episode_id: str
    guided: list[Frames]
    frames: list[Frames] = field(default_factory=list)
    rows: list[tuple[int, int, int, int, float]] = field(default_factory=list)

    def finish(self) -> Experience:
        previous, actions, labels, bearings, distances = (np.array(column) for column in zip(*self.rows, strict=True))
        return Experience(
            self.episode_id,
            pack_frames(stack_frames([*self.guided, *self.frames])),
            len(self.guided),
            previous.astype(np.uint8),
            actions.astype(np.uint8),
            labels.astype(np.uint8),
            bearings.astype(np.int8),
            distances.astype(np.float32),
        )


class ExperienceRecorder:
    """Records the experience of all lanes; `finished` are the episodes of each tour that ended, by its first lane."""

    def __init__(self) -> None:
        self.tours: dict[tuple[str, str], list[Experience]] = {}  # by tour and first episode
        self._job: dict[int, tuple[str, str]] = {}
        self._growing: dict[int, _Growing] = {}
        self._guided: dict[int, list[Frames]] = {}

    def start_tours(self, lanes: Lanes, jobs: Sequence[TourJob]) -> None:
        for lane, job in zip(lanes.tolist(), jobs, strict=True):
            self._close(lane)
            self._job[lane] = key = (job.tour.id, job.episodes[0].id)
            self.tours[key] = []
            self._guided[lane] = []

    def start_episodes(self, lanes: Lanes, episodes: Sequence[Episode]) -> None:
        for lane, episode in zip(lanes.tolist(), episodes, strict=True):
            self._close(lane)
            self._growing[lane] = _Growing(episode.id, self._guided[lane])
            self._guided[lane] = []

    def add_guided(self, lanes: Lanes, frames: Frames) -> None:
        for k, lane in enumerate(lanes.tolist()):
            self._guided[lane].append(frames.take(slice(k, k + 1)))

    def add(self, lanes: Lanes, frames: Frames, previous: Actions, actions: Actions, labels: ExpertLabels) -> None:
        columns = (previous, actions, labels.actions, labels.bearings, labels.distances)
        for k, row in enumerate(zip(lanes.tolist(), *(column.tolist() for column in columns), strict=True)):
            growing = self._growing[row[0]]
            growing.frames.append(frames.take(slice(k, k + 1)))
            growing.rows.append(row[1:])

    def close(self) -> None:
        """End the episodes in progress."""
        for lane in list(self._growing):
            self._close(lane)

    def _close(self, lane: int) -> None:
        growing = self._growing.pop(lane, None)
        if growing is not None and growing.rows:
            self.tours[self._job[lane]].append(growing.finish())


class Collector:
    """Walks tours on one stage, whose houses stay in memory, and returns what was done and seen."""

    def __init__(
        self,
        worlds: Mapping[str, World],
        protocol: Protocol,
        sensors: Sensors,
        *,
        lifetimes: Collection[MapLifetime] = (),
        keep_guided: bool = False,
        lanes: int = 48,
    ) -> None:
        """The step limit of the protocol is that of roll-outs in training."""
        self.worlds, self.protocol, self.num_lanes = worlds, protocol, lanes
        self._sensors, self._lifetimes, self._keep_guided = sensors, tuple(lifetimes), keep_guided
        self.stage = VectorizedGround.for_protocol(protocol, worlds, lanes, camera=sensors.camera)
        self.perception = Perception(self.stage, worlds, sensors, lifetimes, keep_guided)

    def __reduce__(self) -> tuple[Callable[..., Collector], tuple[Any, ...]]:
        """Other processes get what it is made of, and load the houses themselves."""
        make = partial(Collector, lifetimes=self._lifetimes, keep_guided=self._keep_guided, lanes=self.num_lanes)
        return make, (self.worlds, self.protocol, self._sensors)

    def collect(
        self, jobs: Sequence[TourJob], decider: Decider, *, seed: int, beta: float
    ) -> tuple[list[TourActions], list[Experience]]:
        """The actions of a decider on tours, and the experience, job by job."""
        recorder = ExperienceRecorder()
        rollouts = self.walk(jobs, decider, recorder=recorder)
        recorder.close()
        actions = [_actions(rollout, seed=seed, beta=beta) for rollout in rollouts]
        found = [one for job in jobs for one in recorder.tours[job.tour.id, job.episodes[0].id]]
        return actions, [one for one in found if np.isfinite(one.distances).all()]

    def replay(self, tours: Sequence[TourActions], episodes: Mapping[str, Episode]) -> list[Experience]:
        """The experience of stored actions."""
        jobs = []
        for number, tour in enumerate(tours):
            of_tour = tuple(episodes[name] for name in tour.episode_ids)
            jobs.append(TourJob(Tour(str(number), of_tour[0].world_id, tour.episode_ids), of_tour))
        actions, found = self.collect(jobs, ReplayDecider(tours), seed=0, beta=0.0)
        for again, stored in zip(actions, tours, strict=True):
            if again.episodes != stored.episodes:
                problem = f"the actions of episode {stored.episode_ids[0]} do not end where they ended."
                remedy = "They were collected in other worlds or by another protocol. Train anew with --overwrite."
                raise BadFile("trajectories", [Fault("", problem, remedy)])
        return found

    def walk(
        self,
        jobs: Sequence[TourJob],
        decider: Decider,
        *,
        recorder: ExperienceRecorder | None = None,
        protocol: Protocol | None = None,
    ) -> list[Rollout]:
        """The rollouts of a decider on tours, job by job; by another protocol if one is given."""
        agents = LaneAgents(self.stage, decider, perception=self.perception, recorder=recorder)
        rollouts: dict[int, Rollout] = {}
        for tour in walk_tours(self.stage, self.worlds, jobs, agents, protocol=protocol or self.protocol):
            rollouts[tour.job] = tour.rollout
        return [rollouts[k] for k in range(len(jobs))]


def keep_houses(worlds: Mapping[str, World], season: Path | None, protocol: str) -> Mapping[str, World]:
    """The worlds, with more of them in memory; other processes open the season's folder themselves."""
    reload = None if season is None else partial(open_houses, season, protocol)
    return LazyMapping(worlds, worlds.__getitem__, cache_size=HOUSES, reload=reload)


def open_houses(season: Path, protocol: str) -> Mapping[str, World]:
    """The worlds of a folder, in another process."""
    return keep_houses(load_worlds(season, PROTOCOLS[protocol]), season, protocol)


def _actions(rollout: Rollout, *, seed: int, beta: float) -> TourActions:
    episodes = []
    for trajectory in rollout.trajectories:
        assert trajectory.actions is not None
        taken = stop_included(trajectory.acting_steps(trajectory.actions), trajectory.ending is Ending.STOPPED)
        episodes.append(EpisodeActions(trajectory.episode_id, taken.astype(np.uint8).tobytes()))
    return TourActions(seed, beta, tuple(episodes))
