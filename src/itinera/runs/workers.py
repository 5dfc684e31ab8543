"""Worker processes. `parallel_map` maps a function over jobs; `run_tours` runs agents that may misbehave.

The results depend neither on the number of workers nor on which worker did what. In `run_tours`, a worker that dies,
takes too long or prints too much loses its current episode, which is recorded as failed; another continues with the
next. How long an episode takes depends on the machine, so time limits are the one thing that may differ.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic, Literal, TypeVar

import numpy as np

from itinera.errors import BadArgument, ItineraError
from itinera.records import Ending, Rollout, Trajectory
from itinera.runs.config import RolloutConfig, TourJob, WorkerContext, find_world, run_job
from itinera.runs.output_capture import CapturedOutput, OutputPipe
from itinera.runs.rollout import describe_failure
from itinera.tasks import Episode

# "spawn" starts fresh processes, whose results cannot depend on what was done here before. "fork" copies this one,
# with objects that cannot be sent to another process, such as an agent defined in a notebook.
StartMethod = Literal["spawn", "fork"]

AHEAD = 4  # jobs handed out for each worker of a map: enough to keep it busy
MARKED = ("started", "episode")  # messages a worker sends after marking its output
GRACE_SECONDS = 5.0  # an idle worker has to end by itself
OUTPUT_LIMIT = 1 << 20  # bytes an agent may print in an episode
POLL_SECONDS = 1.0  # the longest wait before the workers are looked at again
PR_SET_PDEATHSIG = 1  # of prctl(2)

Job = TypeVar("Job")
Result = TypeVar("Result")


def count_workers(workers: int | None = None) -> int:
    """The number of workers asked for; one for each core that this process may use if None."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return workers


def end_with_parent(*, group: bool = False) -> None:
    """End this worker when its parent ends, however that happens; Ctrl-C is left to the parent.

    With `group`, the worker leads a process group of its own, which ends with it.
    """
    if group:
        os.setpgid(0, 0)
    else:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _kill_with_parent()
    parent = parent_process()

    def watch() -> None:
        wait([parent.sentinel] if parent is not None else [])
        if group:
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _kill_with_parent() -> None:
    """Let the kernel kill this process when its parent ends, even while a library keeps Python's lock."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _make_error(message: str, exit_code: int) -> ItineraError:
    """An error that came from a worker in words: not every exception can be sent between processes."""
    error = ItineraError(message)
    error.exit_code = exit_code
    return error


class WorkerFailure(ItineraError):
    """A worker process ended before its job was done."""


def parallel_map(
    work: Callable[[Job], Result],
    jobs: Iterable[Job],
    *,
    workers: int,
    spawn_one: bool = False,
    start_method: StartMethod = "spawn",
) -> Generator[tuple[int, Result]]:
    """The index of each job and its result, in the order in which they finish.

    `work` is a function of a module, or a partial of one. With one worker, everything runs in this process, in order,
    unless `spawn_one` asks for a process even then.
    """
    numbered = iter(enumerate(jobs))
    if workers < 1 or (workers == 1 and not spawn_one):
        for index, job in numbered:
            yield index, work(job)
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context(start_method), initializer=end_with_parent)
    try:
        yield from _results(pool, _Catching(work), numbered, AHEAD * workers)
    except BrokenProcessPool:
        problem = "A worker process was killed, perhaps because memory ran out."
        raise WorkerFailure(f"{problem} Run again with fewer --workers (workers=) to resume.") from None
    except BaseException:
        # Interrupted, or nobody wants the rest: the jobs at hand may take hours.
        for process in list((pool._processes or {}).values()):
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


class _Catching(Generic[Job, Result]):
    """Work that returns its errors in words."""

    def __init__(self, work: Callable[[Job], Result]) -> None:
        self._work = work

    def __call__(self, job: Job) -> tuple[Result | None, tuple[str, int] | None]:
        try:
            return self._work(job), None
        except ItineraError as error:
            return None, (str(error), error.exit_code)


def _results(
    pool: ProcessPoolExecutor, work: _Catching[Job, Result], numbered: Iterator[tuple[int, Job]], limit: int
) -> Iterator[tuple[int, Result]]:
    waiting: dict[Future[tuple[Result | None, tuple[str, int] | None]], int] = {}
    while True:
        for index, job in islice(numbered, limit - len(waiting)):
            waiting[pool.submit(work, job)] = index
        if not waiting:
            return
        done, _ = wait_for(waiting, return_when=FIRST_COMPLETED)
        for future in done:
            result, error = future.result()
            if error is not None:
                raise _make_error(*error)
            yield waiting.pop(future), result  # type: ignore[misc]


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
    if workers < 0:
        raise BadArgument(f"workers must be ≥ 0 (got {workers}); 0 runs in this process.")
    if config.limit_seconds is not None and not config.limit_seconds > 0:
        raise BadArgument(f"The time limit must be above 0 s (got {config.limit_seconds}).")
    if not jobs:
        return
    if workers == 0:
        context = make_context()
        for index, job in enumerate(jobs):
            yield index, run_job(context, job, config)
        return
    pool = WorkerPool(make_context, jobs, config, start_method)
    try:
        yield from pool.run(min(workers, len(jobs)))
    finally:
        pool.close()


def start_worker(
    make_context: Callable[[], WorkerContext], config: RolloutConfig, start_method: StartMethod
) -> tuple[BaseProcess, Connection, CapturedOutput]:
    """A new worker, the pipe to it, and its output.

    It sends ("ready",) once; for every job ("started",) when the world is loaded, ("episode", index, trajectory) for
    each episode and ("done",); and ("broken", reason, exit code) if it cannot work. Its output is marked before
    "started" and "episode". It ends when it receives None.
    """
    processes = get_context(start_method)
    ours, theirs = processes.Pipe()
    output, printed = processes.Pipe(duplex=False)
    marker = os.urandom(16).hex().encode()
    arguments = (theirs, OutputPipe(printed, marker), make_context, config, start_method)
    process = processes.Process(target=_serve, args=arguments)  # type: ignore[attr-defined]
    with warnings.catch_warnings():
        # A fork of a process with threads may deadlock; the only locks that the worker's code needs are Python's own.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    theirs.close()
    printed.close()
    return process, ours, CapturedOutput(output, marker)


def end_worker(process: BaseProcess) -> None:
    """Kill a worker with every process it started."""
    try:
        os.killpg(process.pid or 0, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()  # it has no group of its own yet, or is gone
    process.join()


def _serve(
    pipe: Connection,
    output: OutputPipe,
    make_context: Callable[[], WorkerContext],
    config: RolloutConfig,
    start_method: StartMethod,
) -> None:
    end_with_parent(group=True)
    output.redirect(replace_streams=start_method == "fork")
    try:
        context = make_context()
        pipe.send(("ready",))
        while (job := pipe.recv()) is not None:
            _serve_job(pipe, output, context, job, config)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except ItineraError as error:
        pipe.send(("broken", str(error), error.exit_code))
    except (Exception, SystemExit) as error:
        pipe.send(("broken", describe_failure(error)["traceback"], 1))


def _serve_job(
    pipe: Connection, output: OutputPipe, context: WorkerContext, job: TourJob, config: RolloutConfig
) -> None:
    def report(index: int, trajectory: Trajectory) -> None:
        output.mark()
        pipe.send(("episode", index, trajectory))

    _load(context, job)
    output.mark()
    pipe.send(("started",))
    run_job(context, job, config, report)
    pipe.send(("done",))


def _load(context: WorkerContext, job: TourJob) -> None:
    """Load the world and all that the simulator needs in it: that time is not the agent's."""
    world = find_world(context, job.tour)
    with suppress(Exception):  # the rollout will meet and record it
        context.simulator.reset(world, job.episodes[0].start)


@dataclass(eq=False)
class _Worker:
    """A process and its current job."""

    process: BaseProcess
    pipe: Connection
    output: CapturedOutput
    takeover: tuple[int, int] | None = None  # tour and episode it continues for a worker that is gone
    ready: bool = False
    tour: int = -1  # the index of its tour, -1 for none
    first: int = 0  # the episode it started that tour with
    episode: int = 0  # the current one
    since: float = math.inf  # when that started
    world_id: str = ""  # of its last tour

    @property
    def pipes(self) -> list[Connection]:
        """Those that may receive something."""
        return [self.pipe] if self.output.ended else [self.pipe, self.output.pipe]

    @property
    def output_limit(self) -> float:
        """Bytes; before an episode starts it is not the agent that prints."""
        return OUTPUT_LIMIT if self.since < math.inf else math.inf


@dataclass(eq=False)
class WorkerPool:
    """Workers that can be killed, the jobs left, and the results so far."""

    make_context: Callable[[], WorkerContext]
    jobs: Sequence[TourJob]
    config: RolloutConfig
    start_method: StartMethod = "spawn"
    workers: list[_Worker] = field(default_factory=list)
    left: dict[str, deque[int]] = field(default_factory=dict)  # indices of the tours to do, by world
    partial: dict[int, dict[int, Trajectory]] = field(default_factory=dict)  # by tour and episode, of unfinished tours

    def run(self, count: int) -> Iterator[tuple[int, Rollout]]:
        for index, job in enumerate(self.jobs):
            self.left.setdefault(job.tour.world_id, deque()).append(index)
        self.workers = [self._start() for _ in range(count)]
        done = 0
        while done < len(self.jobs):
            wait([pipe for worker in self.workers for pipe in worker.pipes], self._timeout())
            for worker in tuple(self.workers):
                for result in self._attend(worker):
                    done += 1
                    yield result

    def close(self) -> None:
        """End every worker, whatever it is doing."""
        for worker in self.workers:
            with suppress(OSError):
                worker.pipe.send(None)
            worker.pipe.close()
        for worker in self.workers:
            if worker.ready and worker.tour < 0:
                worker.process.join(GRACE_SECONDS)
            end_worker(worker.process)
            worker.output.close()
        self.workers = []

    def _start(self) -> _Worker:
        return _Worker(*start_worker(self.make_context, self.config, self.start_method))

    def _timeout(self) -> float:
        """Seconds until the time of an episode is up, or until the workers are looked at again."""
        left = (max(0.0, worker.since + self._limit - time.monotonic()) for worker in self.workers)
        return min([POLL_SECONDS, *left])

    @property
    def _limit(self) -> float:
        return math.inf if self.config.limit_seconds is None else self.config.limit_seconds

    def _attend(self, worker: _Worker) -> Iterator[tuple[int, Rollout]]:
        """Receive everything from a worker, and replace it if it is gone or late; finished rollouts come out."""
        alive, bearable = worker.process.is_alive(), True
        try:
            while bearable and worker.pipe.poll():
                message, *content = worker.pipe.recv()
                # The output before a message is read first, or its size would depend on which pipe is faster.
                bearable = message not in MARKED or worker.output.end_section(worker.output_limit)
                if bearable:
                    yield from self._receive(worker, message, *content)
        except (EOFError, OSError):
            alive = False
        if not (bearable and worker.output.forward(worker.output_limit)):
            yield from self._replace(worker, f"the agent printed more than {OUTPUT_LIMIT} bytes in the episode.")
        elif not alive:
            yield from self._replace(worker, _describe_exit(worker.process))
        elif time.monotonic() >= worker.since + self._limit:
            yield from self._replace(worker, f"time limit: the episode took longer than {self._limit:g} s.")

    def _receive(self, worker: _Worker, message: str, *content: object) -> Iterator[tuple[int, Rollout]]:
        if message == "broken":
            raise _make_error(*content)  # type: ignore[arg-type]
        if message == "started":
            worker.since = time.monotonic()
        elif message == "episode":
            self._store(worker, *content)  # type: ignore[arg-type]
        else:
            index, worker.tour, worker.since, worker.ready = worker.tour, -1, math.inf, True
            self._assign(worker)
            if message == "done":
                yield index, self._join(index)

    def _store(self, worker: _Worker, index: int, trajectory: Trajectory) -> None:
        index += worker.first
        self.partial.setdefault(worker.tour, {})[index] = trajectory
        if index == worker.episode:  # and not the one before, which has grown by the guided path to its goal
            worker.episode, worker.since = index + 1, time.monotonic()

    def _assign(self, worker: _Worker) -> None:
        """Send a worker the rest of a tour, or a whole one."""
        if worker.takeover is None and not self.left:
            return
        worker.tour, worker.first = worker.takeover or (self._next_tour(worker), 0)
        worker.takeover = None
        worker.episode = worker.first
        job = self.jobs[worker.tour]
        worker.world_id = job.tour.world_id
        with suppress(OSError):  # of a worker that has died, which is noticed when it is next attended to
            worker.pipe.send(TourJob(job.tour, tuple(map(_strip, job.episodes[worker.first :]))))

    def _next_tour(self, worker: _Worker) -> int:
        """A tour in the world the worker has loaded, else in the one with the most tours left per worker there."""
        busy = [other.world_id for other in self.workers if other.tour >= 0]
        if worker.world_id not in self.left:
            worker.world_id = max(self.left, key=lambda name: len(self.left[name]) / (1 + busy.count(name)))
        indices = self.left[worker.world_id]
        index = indices.popleft()
        if not indices:
            del self.left[worker.world_id]
        return index

    def _replace(self, worker: _Worker, reason: str) -> Iterator[tuple[int, Rollout]]:
        """Replace a worker by a new one; its current episode has failed."""
        if not worker.ready:
            raise ItineraError(
                f"A worker process could not start: {reason} In a script of yours, call this under "
                '`if __name__ == "__main__":`, or give workers=0.'
            )
        end_worker(worker.process)
        worker.pipe.close()
        worker.output.close()
        fresh = self._start()
        fresh.world_id = worker.world_id
        self.workers[self.workers.index(worker)] = fresh
        if worker.tour < 0:
            return
        episodes, lost = self.jobs[worker.tour].episodes, worker.episode
        if lost < len(episodes):  # else it had reported them all
            self.partial.setdefault(worker.tour, {})[lost] = _lost_trajectory(episodes[lost], reason)
        if lost + 1 < len(episodes):
            fresh.takeover = worker.tour, lost + 1
        else:
            yield worker.tour, self._join(worker.tour)

    def _join(self, index: int) -> Rollout:
        trajectories = self.partial.pop(index)
        return Rollout(self.jobs[index].tour.id, tuple(trajectories[k] for k in sorted(trajectories)))


def _describe_exit(process: BaseProcess) -> str:
    process.join(GRACE_SECONDS)
    code = process.exitcode
    if code is None or code >= 0:
        return f"the process ended with exit code {code or 0}."
    name = signal.Signals(-code).name
    hint = " Perhaps memory ran out." if name == "SIGKILL" else ""
    return f"the process was ended by {name}.{hint}"


def _strip(episode: Episode) -> Episode:
    """The episode without what acting does not need, the reference path above all."""
    return replace(episode, reference=(), alignment=None, notes={})


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
