"""Rollouts of agents that may misbehave, in worker processes: `run_tours`.

The results depend neither on the number of workers nor on which worker did what. A worker that dies, takes too long or
prints too much loses its current episode, which is recorded as failed; another continues with the next
(`engines/worker_pool.py`). How long an episode takes depends on the machine, so time limits are the one thing that may
differ. Workers have no goals: where an agent is guided to one, they ask for it, after the record of the episode is
final.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np

from itinera.errors import BadArgument
from itinera.formats.native_predictions import decode_rollout, encode_rollout
from itinera.records import Ending, Phase, Rollout, Trajectory
from itinera.records.trajectory import CONTINUED
from itinera.runs.config import RolloutConfig, TourJob, WorkerContext, find_world, run_job
from itinera.runs.engines import Engine
from itinera.runs.engines.messages import BadMessage
from itinera.runs.engines.sandbox import Sandbox, run_in_sandboxes, share
from itinera.runs.engines.worker_pool import Jobs, WorkerPool
from itinera.runs.engines.worker_process import StartMethod, Work, WorkerSide
from itinera.runs.map_recorders import require_map
from itinera.runs.tour_loop import require_goals
from itinera.tasks import Episode, Instruction, Protocol, Tour
from itinera.worlds import NavGraph, Places, Pose, World
from itinera.worlds.distance_field import SNAP

CHUNK_ON_GRAPHS, CHUNK_ON_GROUND = 128, 4  # episodes that another machine takes at a time, at most
START_TOLERANCE = SNAP + 1e-6  # metres on the ground, where a body starts at the nearest point of the surface

Point = tuple[float, float, float]


class _EpisodeMessage(msgspec.Struct, frozen=True):
    """What an agent may know of an episode: neither its goals nor its reference path."""

    id: str
    place: str | Point
    heading: float
    elevation: float
    text: str
    language: str
    point_goal: Point | None = None  # of PointNav, whose goals are part of the question


class _TourMessage(msgspec.Struct, frozen=True):
    """A tour, or the rest of one."""

    tour_id: str
    world_id: str
    episodes: list[_EpisodeMessage]


class TourWork(Work[TourJob, Trajectory]):
    """Rollouts of tours: an item is an episode, its record a trajectory."""

    def __init__(self, make_context: Callable[[], WorkerContext], config: RolloutConfig) -> None:
        self._make_context, self._config = make_context, config
        self.limit_seconds, self.may_stop = config.limit_seconds, config.may_stop

    def make_context(self) -> tuple[WorkerContext, dict[str, str]]:
        context = self._make_context()
        if self._config.record_maps:
            require_map(context.agent)
        return context, dict(context.files)

    def serve(self, context: WorkerContext, job: bytes, worker: WorkerSide) -> None:
        message = msgspec.msgpack.decode(job, type=_TourMessage)
        episodes = tuple(_decode_episode(one, message.world_id) for one in message.episodes)
        tour = TourJob(Tour(message.tour_id, message.world_id, tuple(one.id for one in episodes)), episodes)

        def report(index: int, trajectory: Trajectory) -> None:
            worker.report(index, encode_rollout(Rollout("", (trajectory,))))

        def find_goals(index: int, trajectory: Trajectory) -> Places:
            answer = worker.ask(index, encode_rollout(Rollout("", (trajectory,))))
            return _as_places(msgspec.msgpack.decode(answer, type=list[str | Point]))

        _load(context, tour)
        worker.start()
        run_job(context, tour, self._config, report, find_goals)


def _load(context: WorkerContext, job: TourJob) -> None:
    """Load the world and all that the simulator needs in it: that time is not the agent's."""
    world = find_world(context, job.tour)
    with suppress(Exception):  # the rollout will meet and record it
        context.simulator.reset(world, job.episodes[0].start)


class TourJobs(Jobs[TourJob, Trajectory]):
    """The tours in the parent, which has the goals and checks the trajectories.

    `worlds`, if given, are the graphs on which every move is checked. With `may_continue`, bodies may go on while the
    agent thinks.
    """

    def __init__(
        self,
        protocol: Protocol,
        worlds: Callable[[], Mapping[str, World]] | None = None,
        *,
        may_continue: bool = False,
    ) -> None:
        self._protocol, self._read_worlds, self._may_continue = protocol, worlds, may_continue
        self._worlds: Mapping[str, World] | None = None

    def world_id(self, job: TourJob) -> str:
        return job.tour.world_id

    def count(self, job: TourJob) -> int:
        return len(job.episodes)

    def encode(self, job: TourJob, first: int) -> bytes:
        require_goals(self._protocol, job.episodes)
        episodes = [_encode_episode(episode) for episode in job.episodes[first:]]
        return msgspec.msgpack.encode(_TourMessage(job.tour.id, job.tour.world_id, episodes))

    def answer(self, job: TourJob, index: int) -> bytes:
        goals = job.episodes[index].goals
        return msgspec.msgpack.encode([goal if isinstance(goal, str) else np.asarray(goal).tolist() for goal in goals])

    def decode(self, job: TourJob, index: int, record: bytes) -> Trajectory:
        try:
            rollout = decode_rollout(record)
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
            raise BadMessage(f"no trajectory ({error})") from None
        if len(rollout.trajectories) != 1:
            raise BadMessage("no single trajectory")
        problem = self._find_problem(rollout.trajectories[0], job.episodes[index])
        if problem:
            raise BadMessage(f"a trajectory that {problem}")
        return rollout.trajectories[0]

    def _find_problem(self, trajectory: Trajectory, episode: Episode) -> str:
        """Why this cannot be the trajectory of the episode; empty if it can."""
        if trajectory.episode_id != episode.id:
            return "belongs to another episode"
        places, exact = trajectory.acting_places, Phase.GUIDED_TO_START not in (trajectory.phases or ())
        if isinstance(places, np.ndarray) == isinstance(episode.start.place, str) or not len(places):
            return "has places of another kind"
        if exact and not _is_at(places[0], episode.start.place):
            return "does not begin at the start of its episode"
        limit = self._protocol.step_limit
        if limit is not None and len(places) - self._count_continued(trajectory) > limit + 1:
            return f"has more than {limit} steps"
        return self._find_jump(places, episode.world_id) if isinstance(places, tuple) else ""

    def _count_continued(self, trajectory: Trajectory) -> int:
        """The number of places that are no steps: those of a body that may go on while its agent thinks."""
        if not self._may_continue or trajectory.actions is None:
            return 0
        return int(np.count_nonzero(trajectory.actions == CONTINUED))

    def _find_jump(self, places: Sequence[str], world_id: str) -> str:
        if self._read_worlds is None:
            return ""
        if self._worlds is None:
            self._worlds = self._read_worlds()
        space = self._worlds[world_id].space if world_id in self._worlds else None
        if not isinstance(space, NavGraph):
            return ""
        numbers = [space.index.get(place, -1) for place in places]
        if len(numbers) > 1 and (min(numbers) < 0 or not space.adjacency[numbers[:-1], numbers[1:]].all()):
            return "moves where no edge leads"
        return ""

    def require_same(self, before: Trajectory, now: Trajectory) -> None:
        if before.ending is not now.ending or not np.array_equal(before.acting_places, now.acting_places):
            raise BadMessage("another trajectory for an episode that has ended")

    def lose(self, job: TourJob, index: int, reason: str) -> Trajectory:
        return _lost_trajectory(job.episodes[index], reason)


def _is_at(place: Any, start: Any) -> bool:
    if isinstance(start, str):
        return bool(place == start)
    return bool(np.linalg.norm(np.asarray(place) - np.asarray(start)) <= START_TOLERANCE)


def _encode_episode(episode: Episode) -> _EpisodeMessage:
    start, said = episode.start, episode.instruction
    place = start.place if isinstance(start.place, str) else np.asarray(start.place, dtype=np.float64).tolist()
    return _EpisodeMessage(episode.id, place, start.heading, start.elevation, said.text, said.language, said.point_goal)


def _decode_episode(message: _EpisodeMessage, world_id: str) -> Episode:
    place = message.place if isinstance(message.place, str) else np.array(message.place)
    start = Pose(place, message.heading, message.elevation)
    instruction = Instruction(message.text, message.language, message.point_goal)
    return Episode(message.id, world_id, start, (), (), instruction)


def _as_places(places: Sequence[str | Point]) -> Places:
    return cast(Places, tuple(places) if isinstance(places[0], str) else np.array(places, dtype=np.float64))


def run_tours(
    make_context: Callable[[], WorkerContext],
    jobs: Sequence[TourJob],
    config: RolloutConfig,
    *,
    workers: int = 1,
    start_method: StartMethod = "spawn",
) -> Iterator[tuple[int, Rollout]]:
    """The index of each tour and its rollout, in the order in which they finish.

    `workers=0` runs in this process, where an agent can be debugged but not stopped: it may take as long and print as
    much as it likes, and one that ends the process ends the run. With "spawn", `make_context` is sent to the workers,
    so it must be a function of a module, or a partial of one.
    """
    check_limits(workers, config.limit_seconds)
    if not jobs:
        return
    if workers == 0:
        yield from run_here(make_context(), jobs, config)
        return
    with make_pool(make_context, config, start_method) as pool:
        yield from run_in_pool(pool, jobs, workers)


def check_limits(workers: int, limit_seconds: float | None) -> None:
    """Refuse numbers of workers and time limits that cannot be."""
    if workers < 0:
        raise BadArgument(f"workers must be ≥ 0 (got {workers}); 0 runs in this process.")
    if limit_seconds is not None and not limit_seconds > 0:
        raise BadArgument(f"The time limit must be above 0 s (got {limit_seconds}).")


def run_here(context: WorkerContext, jobs: Sequence[TourJob], config: RolloutConfig) -> Iterator[tuple[int, Rollout]]:
    """The index of each tour and its rollout, in this process."""
    for index, job in enumerate(jobs):
        yield index, run_job(context, job, config)


def make_pool(
    make_context: Callable[[], WorkerContext],
    config: RolloutConfig,
    start_method: StartMethod,
    worlds: Callable[[], Mapping[str, World]] | None = None,
) -> WorkerPool[TourJob, Trajectory]:
    """Workers for tours; `worlds` are read to check moves on graphs."""
    may_continue = config.clock is not None and config.clock.overlap
    jobs = TourJobs(config.protocol, worlds, may_continue=may_continue)
    return WorkerPool(TourWork(make_context, config), jobs, start_method)


def make_sandbox(
    make_context: Callable[[], WorkerContext], config: RolloutConfig, worlds: Callable[[], Mapping[str, World]] | None
) -> Sandbox[TourJob, Trajectory]:
    """Workers for tours on other machines; `worlds` as in `make_pool`."""
    return Sandbox(TourWork(make_context, config), TourJobs(config.protocol, worlds))


def run_on_engine(
    engine: Engine, sandbox: Sandbox[TourJob, Trajectory], jobs: Sequence[TourJob], *, size: int, files: Sequence[Path]
) -> Iterator[tuple[int, Rollout]]:
    """The index of each tour and its rollout, by the processes of an engine, which take `size` tours at a time."""
    for index, trajectories in run_in_sandboxes(engine, sandbox, jobs, size=size, files=files):
        yield index, Rollout(jobs[index].tour.id, tuple(trajectories))


def chunk_size(jobs: Sequence[TourJob], protocol: Protocol, workers: int) -> int:
    """The number of tours that take a process of an engine 0.1 to 1 s, if the agent is a fast one.

    It is decided by all tours of a run, so that one that resumes makes the same chunks.
    """
    episodes = CHUNK_ON_GROUND if protocol.on_ground else CHUNK_ON_GRAPHS
    mean = max(1, sum(len(job.episodes) for job in jobs) // max(1, len(jobs)))
    return max(1, min(episodes // mean, share(len(jobs), workers)))


def run_in_pool(
    pool: WorkerPool[TourJob, Trajectory], jobs: Sequence[TourJob], workers: int
) -> Iterator[tuple[int, Rollout]]:
    """The index of each tour and its rollout, by the workers of a pool."""
    for index, trajectories in pool.run(jobs, min(workers, len(jobs))):
        yield index, Rollout(jobs[index].tour.id, tuple(trajectories))


def _lost_trajectory(episode: Episode, reason: str) -> Trajectory:
    """The record of an episode whose worker is gone: its start."""
    start, on_graph = episode.start, isinstance(episode.start.place, str)
    return Trajectory(
        episode.id,
        (str(start.place),) if on_graph else np.array([start.place], dtype=np.float64),
        headings=np.array([start.heading]),
        elevations=np.array([start.elevation]),
        actions=np.empty(0, dtype=np.int64),
        times=None if on_graph else np.zeros(1),
        ending=Ending.FAILED,
        notes={"failed": reason, "lost": True},
    )
