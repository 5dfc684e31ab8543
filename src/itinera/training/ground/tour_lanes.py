"""Many tours at once: a `TourLoop` in each lane of a vectorized stage, which moves all bodies in one call.

The phases, guided steps, step limits and trajectories are those of `itinera run`, because they come from the same loop
(`runs/tour_loop.py`); a lane that has finished its tour starts the next one. A single episode is a tour of one. Start
with `walk_tours`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol as Contract

import numpy as np
from numpy.typing import NDArray

from itinera.records import Ending, Phase, Rollout
from itinera.runs.config import TourJob
from itinera.runs.guidance import Controller, Guide, make_guide
from itinera.runs.tour_loop import TourLoop
from itinera.simulators.simulator import STOP, Observation
from itinera.simulators.vectorized import VectorizedGround
from itinera.tasks import Episode, Protocol, Split, Tour
from itinera.worlds import Pose, World

Lanes = NDArray[np.int64]
"""Indices of lanes."""


class LaneAgent(Contract):
    """The agents of all lanes: the contract of `Agent` for a batch. Observations are the stage's to make."""

    def start_tours(self, lanes: Lanes, jobs: Sequence[TourJob]) -> None:
        """New tours begin in these lanes: forget everything."""
        ...

    def start_episodes(self, lanes: Lanes, episodes: Sequence[Episode]) -> None:
        """New episodes begin in these lanes, perhaps in a known house."""
        ...

    def act(self, acting: Lanes, guided: Lanes) -> NDArray[np.int64]:
        """(acting,) the actions of the lanes that act; those in `guided` observe only."""
        ...


@dataclass(frozen=True, eq=False)
class FinishedTour:
    """A tour that has ended."""

    job: int  # its position among the jobs
    rollout: Rollout


def episode_jobs(split: Split, rows: Sequence[int] | None = None) -> list[TourJob]:
    """Each episode of a split as a tour of one, without tours before or after it."""
    chosen = split.episodes if rows is None else [split.episodes[row] for row in rows]
    return [TourJob(Tour(episode.id, episode.world_id, (episode.id,)), (episode,)) for episode in chosen]


def tour_jobs(split: Split, *, max_episodes: int | None = None) -> list[TourJob]:
    """The tours of a split, each cut after `max_episodes`; without tours, its episodes."""
    if not split.tours:
        return episode_jobs(split)
    jobs = []
    for tour in split.tours:
        ids = tour.episode_ids[:max_episodes]
        jobs.append(TourJob(replace(tour, episode_ids=ids), tuple(split.by_id[name] for name in ids)))
    return jobs


def walk_tours(
    stage: VectorizedGround,
    worlds: Mapping[str, World],
    jobs: Sequence[TourJob],
    agent: LaneAgent,
    *,
    protocol: Protocol,
) -> Iterator[FinishedTour]:
    """The rollouts of agents on tours, in the order in which they end.

    Every agent receives every observation once, in the order of `runs.rollout`: acting, or while it is guided.
    """
    lanes = [_Lane(stage, number, protocol) for number in range(min(stage.num_envs, len(jobs)))]
    following = 0
    while True:
        idle = [lane for lane in lanes if lane.loop is None]
        started = []
        for lane in idle[: len(jobs) - following]:
            job = jobs[following]
            lane.start(worlds[job.tour.world_id], job, following)
            started.append(lane)
            following += 1
        lanes = [lane for lane in lanes if lane.loop is not None]
        if not lanes:
            return
        if started:
            agent.start_tours(_numbers(started), [jobs[lane.job] for lane in started])
        yield from _advance(stage, lanes, agent)


def _advance(stage: VectorizedGround, lanes: Sequence[_Lane], agent: LaneAgent) -> Iterator[FinishedTour]:
    """One action in every lane; the tours that end with it."""
    first = [lane for lane in lanes if lane.running.is_first]
    if first:
        agent.start_episodes(_numbers(first), [lane.running.episode for lane in first])
    acting = [lane for lane in lanes if not lane.is_guided]
    guided = [lane for lane in lanes if lane.is_guided and lane.is_unobserved]
    chosen = agent.act(_numbers(acting), _numbers(guided))
    moves = np.zeros(stage.num_envs, dtype=np.int64)
    for lane, action in zip(acting, chosen.tolist(), strict=True):
        lane.action = moves[lane.number] = action
    for lane in lanes:
        if lane.is_guided:
            moves[lane.number] = lane.guide.action
    stage.step(moves[index := _numbers(lanes)], index)
    for lane in lanes:
        lane.follow()
        if lane.running.done:
            yield FinishedTour(lane.job, lane.finish())


def _numbers(lanes: Sequence[_Lane]) -> Lanes:
    return np.array([lane.number for lane in lanes], dtype=np.int64)


class _Lane:
    """A tour in one environment of a stage, whose simulator it is for the loop: the stage has moved the body before."""

    actions = 4

    def __init__(self, stage: VectorizedGround, number: int, protocol: Protocol) -> None:
        self.number, self.guide = number, _RecordingGuide(make_guide(protocol))
        self._stage, self._protocol = stage, protocol
        self.loop: TourLoop | None = None
        self.job, self._tour_id = -1, ""
        self.action = STOP  # the agent's, to be taken
        self.is_unobserved = False  # whether the agent has yet to observe where it is, while it is guided

    @property
    def running(self) -> TourLoop:
        """The loop of the tour in progress."""
        assert self.loop is not None
        return self.loop

    @property
    def is_guided(self) -> bool:
        """Whether the agent does not act."""
        return self.running.phase is not Phase.ACTING

    def start(self, world: World, job: TourJob, number: int) -> None:
        """Begin a tour."""
        self.job, self._tour_id, self.is_unobserved = number, job.tour.id, False
        self.loop = TourLoop(self, world, job.episodes, protocol=self._protocol, guide=self.guide)
        self.loop.reset()

    def follow(self) -> None:
        """Let the loop take the action that the stage has made."""
        loop = self.running
        if self.is_guided:
            loop.guide()
            self.is_unobserved = loop.is_guided
            return
        loop.act(self.action)
        # An agent that ran out of steps has not received its last observation.
        self.is_unobserved = loop.is_guided and loop.trajectories[-1].ending is Ending.OUT_OF_STEPS

    def finish(self) -> Rollout:
        """The rollout of the tour; the lane is free then."""
        rollout = Rollout(self._tour_id, tuple(self.running.trajectories))
        self.loop = None
        return rollout

    # The simulator of the loop.

    def reset(self, world: World, pose: Pose) -> Observation:
        self._stage.reset([self.number], [world.id], [pose])
        return self._stage.observation(self.number)

    def step(self, action: int) -> Observation:
        return self._stage.observation(self.number)

    @property
    def pose(self) -> Pose:
        observation = self._stage.observation(self.number)
        return Pose(observation.place, observation.heading, observation.elevation)


class _RecordingGuide:
    """A guide that keeps the last action of its controllers: the next one of a guided body."""

    def __init__(self, guide: Guide) -> None:
        self._guide = guide
        self.action = STOP

    def __call__(self, world: World, target: Pose, *, facing: bool) -> Controller:
        controller = self._guide(world, target, facing=facing)

        def control(observation: Observation) -> int:
            self.action = controller(observation)
            return self.action

        return control
