"""`WorkerPool`: worker processes for agents that may misbehave in any way.

What the workers do is a `Work`: jobs of one or more items, each item with a record. A worker that dies, takes too long,
prints too much or sends what it should not loses its current item; another continues with the next. Nothing an agent
does in a worker is executed here: messages have types, and what they contain is checked.
"""

from __future__ import annotations

import math
import signal
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic

from itinera.agents.agent import StopRun
from itinera.agents.process_tree import OrphanReaper
from itinera.errors import ItineraError
from itinera.runs.engines.messages import ActingEnd, BadMessage, Broken, Done, Item, Message, ParentPipe, Ready, Start
from itinera.runs.engines.outcomes import make_error
from itinera.runs.engines.output_capture import CapturedOutput
from itinera.runs.engines.worker_process import Job, Result, StartMethod, Work, end_worker, start_worker, starting

GRACE_SECONDS = 5.0  # an idle worker has to end by itself
OUTPUT_LIMIT = 1 << 20  # bytes an agent may print in an episode
START_OUTPUT_LIMIT = 1 << 26  # bytes that may be printed while an agent or a world is loaded
START_SECONDS = 600.0  # to make an agent or to load a world, in runs with a time limit; models take their time
POLL_SECONDS = 1.0  # the longest wait before the workers are looked at again
EXIT_POLL_SECONDS = 0.005
RETRY_SECONDS = 0.05  # until the rest of a message is sent


class Jobs(ABC, Generic[Job, Result]):
    """The parent's view of the jobs: it alone has the answers."""

    @abstractmethod
    def world_id(self, job: Job) -> str:
        """The world of a job; a worker prefers the one it has loaded."""

    @abstractmethod
    def count(self, job: Job) -> int:
        """The number of items."""

    @abstractmethod
    def encode(self, job: Job, first: int) -> bytes:
        """The job from an item on, as far as a worker may know it."""

    @abstractmethod
    def decode(self, job: Job, index: int, record: bytes) -> Result:
        """The result of an item; raises BadMessage if the record cannot be one."""

    def answer(self, job: Job, index: int) -> bytes:
        """The answer to a worker that reported the end of an item."""
        raise BadMessage("nothing to answer")

    def require_same(self, before: Result, now: Result) -> None:
        """Raise BadMessage unless a result continues an earlier one of the same item."""
        raise BadMessage("an item was reported twice")

    @abstractmethod
    def lose(self, job: Job, index: int, reason: str) -> Result:
        """The result of an item whose worker is gone."""


@dataclass(eq=False)
class _Worker:
    """A process and its current job."""

    process: BaseProcess
    pipe: ParentPipe
    output: CapturedOutput
    deadline: float = math.inf
    takeover: tuple[int, int] | None = None  # job and item it continues for a worker that is gone
    ready: bool = False
    job: int = -1  # the index of its job, -1 for none
    started: bool = False  # whether it has loaded the world of the job
    first: int = 0  # the item it started that job with
    item: int = 0  # the current one
    ended: bool = False  # whether the acting phase of the current item has ended
    world_id: str = ""  # of its last job

    @property
    def pipes(self) -> list[Any]:
        """Those that may receive something."""
        return [self.pipe] if self.output.ended else [self.pipe, self.output.pipe]

    @property
    def output_limit(self) -> int:
        """Bytes; before an episode starts it is not the agent that prints."""
        return OUTPUT_LIMIT if self.started else START_OUTPUT_LIMIT


@dataclass(eq=False)
class WorkerPool(Generic[Job, Result]):
    """Workers that can be killed, the jobs left, and the results so far. Use it in a `with` statement."""

    work: Work[Job, Result]
    jobs: Jobs[Job, Result]
    start_method: StartMethod = "spawn"
    files: dict[str, str] | None = None  # the digests of the agent's files, once a worker has reported them
    workers: list[_Worker] = field(default_factory=list)
    processes: list[BaseProcess] = field(default_factory=list)  # of the workers, and of one that is just starting
    todo: Sequence[Job] = ()
    left: dict[str, deque[int]] = field(default_factory=dict)  # indices of the jobs to do, by world
    partial: dict[int, dict[int, Result]] = field(default_factory=dict)  # by job and item, of unfinished jobs

    def __enter__(self) -> WorkerPool[Job, Result]:
        if self.start_method == "spawn":
            with starting("spawn"):
                resource_tracker.ensure_running()  # before the reaper, which must not take it for an orphan
        self._reaper = OrphanReaper().__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        """End every worker, whatever it is doing, and every process it left behind."""
        try:
            self._end_workers()
        except KeyboardInterrupt:  # another one, by somebody in a hurry; a worker that lives on would block the exit
            self._end_workers()
            raise
        finally:
            self._reaper.__exit__()

    def _end_workers(self) -> None:
        for worker in self.workers:
            worker.pipe.close()
        for worker in self.workers:
            if worker.ready and worker.job < 0:
                _wait_for_exit(worker.process)
        for process in self.processes:
            end_worker(process)
        self.processes = []
        while self.workers:
            self.workers.pop().output.close()

    def read_files(self) -> dict[str, str]:
        """The digests of the agent's files, as the first worker reports them."""
        if not self.workers:
            self.workers.append(self._start())
        while self.files is None:
            self._wait()
            for worker in tuple(self.workers):
                for _ in self._attend(worker):
                    raise AssertionError("no job was given")
        return self.files

    def run(self, jobs: Sequence[Job], count: int) -> Iterator[tuple[int, list[Result]]]:
        """The index of each job and the results of its items, in the order in which they finish."""
        self.todo = jobs
        for index, job in enumerate(jobs):
            self.left.setdefault(self.jobs.world_id(job), deque()).append(index)
        for worker in self.workers:
            self._assign(worker)
        while len(self.workers) < count:
            self.workers.append(self._start())
        done = 0
        while done < len(jobs):
            self._wait()
            for worker in tuple(self.workers):
                for result in self._attend(worker):
                    done += 1
                    yield result

    @property
    def _limit(self) -> float:
        return math.inf if self.work.limit_seconds is None else self.work.limit_seconds

    @property
    def _start_limit(self) -> float:
        return math.inf if self.work.limit_seconds is None else max(START_SECONDS, self.work.limit_seconds)

    def _start(self) -> _Worker:
        started = start_worker(self.work, self.start_method, self.processes)
        return _Worker(*started, deadline=time.monotonic() + self._start_limit)

    def _wait(self) -> None:
        """Until a worker sends something or its time is up, or until the workers are to be looked at again."""
        left = [max(0.0, worker.deadline - time.monotonic()) for worker in self.workers]
        left += [RETRY_SECONDS for worker in self.workers if worker.pipe.is_sending]
        wait([pipe for worker in self.workers for pipe in worker.pipes], min([POLL_SECONDS, *left]))

    def _attend(self, worker: _Worker) -> Iterator[tuple[int, list[Result]]]:
        """Receive everything from a worker, and replace it if it is gone, late or lying; finished jobs come out."""
        alive, bearable, violation = worker.process.is_alive(), True, ""
        worker.pipe.flush()
        try:
            for message in worker.pipe.receive():
                # The output before a message is read first, or its size would depend on which pipe is faster.
                if isinstance(message, Start | Item) and not worker.output.end_section(worker.output_limit):
                    bearable = False
                    break
                yield from self._receive(worker, message)
        except EOFError:
            alive = False
        except BadMessage as error:
            violation = f"the worker process sent what it should not: {error}."
        if not (bearable and worker.output.forward(worker.output_limit)):
            limit, item = worker.output_limit, self.work.item_name
            yield from self._replace(worker, f"the agent printed more than {limit} bytes in the {item}.")
        elif violation:
            yield from self._replace(worker, violation)
        elif not alive:
            yield from self._replace(worker, _describe_exit(worker.process))
        elif time.monotonic() >= worker.deadline:
            yield from self._replace(worker, self._describe_lateness(worker))

    def _describe_lateness(self, worker: _Worker) -> str:
        if worker.started:
            return f"time limit: the {self.work.item_name} took longer than {self._limit:g} s."
        return (
            f"time limit: loading the {'world' if worker.ready else 'agent'} took longer than {self._start_limit:g} s."
        )

    def _receive(self, worker: _Worker, message: Message) -> Iterator[tuple[int, list[Result]]]:
        if isinstance(message, Broken) and message.stops_run and self.work.may_stop:
            raise StopRun(message.reason)
        if isinstance(message, Broken) and not worker.started:
            raise make_error(message.reason, message.exit_code)
        if isinstance(message, Ready) and not worker.ready:
            self._compare_files(message.files)
            worker.ready, worker.deadline = True, math.inf
            self._assign(worker)
        elif isinstance(message, Start) and worker.job >= 0 and not worker.started:
            worker.started, worker.deadline = True, time.monotonic() + self._limit
        elif isinstance(message, ActingEnd) and worker.started:
            self._answer(worker, message)
        elif isinstance(message, Item) and worker.started:
            self._store(worker, message)
        elif isinstance(message, Done) and worker.started and worker.item == self._count(worker):
            index, worker.job, worker.started, worker.deadline = worker.job, -1, False, math.inf
            self._assign(worker)
            yield index, self._join(index)
        else:
            raise BadMessage(f"{type(message).__name__} out of turn")

    def _compare_files(self, files: dict[str, str]) -> None:
        if self.files is None:
            self.files = files
        changed = sorted(name for name in {*self.files, *files} if self.files.get(name) != files.get(name))
        if changed:
            raise ItineraError(
                f"The files of the agent changed during the run: {', '.join(changed)}. Run the same again: episodes of "
                "different agents are never mixed in one file."
            )

    def _count(self, worker: _Worker) -> int:
        return self.jobs.count(self.todo[worker.job])

    def _answer(self, worker: _Worker, message: ActingEnd) -> None:
        """Keep the record of an acting phase; from now on the worker may know the answer."""
        index = worker.first + message.index
        if index != worker.item or worker.ended or index >= self._count(worker):
            raise BadMessage("ActingEnd out of turn")
        job = self.todo[worker.job]
        self.partial.setdefault(worker.job, {})[index] = self.jobs.decode(job, index, message.record)
        worker.ended = True
        worker.pipe.send(self.jobs.answer(job, index))

    def _store(self, worker: _Worker, message: Item) -> None:
        index, current = worker.first + message.index, worker.item
        # The one before may be reported again, because it has grown by the guided path to its goal.
        if not max(worker.first, current - 1) <= index <= current or index >= self._count(worker):
            raise BadMessage("Item out of turn")
        result = self.jobs.decode(self.todo[worker.job], index, message.record)
        found = self.partial.setdefault(worker.job, {})
        if index in found:
            self.jobs.require_same(found[index], result)
        found[index] = result
        if index == current:
            worker.item, worker.ended, worker.deadline = index + 1, False, time.monotonic() + self._limit

    def _assign(self, worker: _Worker) -> None:
        """Send a worker the rest of a job, or a whole one."""
        if not worker.ready or (worker.takeover is None and not self.left):
            return
        worker.job, worker.first = worker.takeover or (self._next_job(worker), 0)
        worker.takeover = None
        worker.item, worker.ended = worker.first, False
        worker.deadline = time.monotonic() + self._start_limit
        job = self.todo[worker.job]
        worker.world_id = self.jobs.world_id(job)
        worker.pipe.send(self.jobs.encode(job, worker.first))

    def _next_job(self, worker: _Worker) -> int:
        """A job in the world the worker has loaded, else in the one with the most jobs left per worker there."""
        busy = [other.world_id for other in self.workers if other.job >= 0]
        if worker.world_id not in self.left:
            worker.world_id = max(self.left, key=lambda name: len(self.left[name]) / (1 + busy.count(name)))
        indices = self.left[worker.world_id]
        index = indices.popleft()
        if not indices:
            del self.left[worker.world_id]
        return index

    def _replace(self, worker: _Worker, reason: str) -> Iterator[tuple[int, list[Result]]]:
        """Replace a worker by a new one; its current item has failed."""
        if not worker.ready:
            raise ItineraError(
                f"A worker process could not start: {reason} In a script of yours, call this under "
                '`if __name__ == "__main__":`, or give workers=0.'
            )
        end_worker(worker.process)
        self.processes.remove(worker.process)
        worker.pipe.close()
        worker.output.close()
        fresh = self._start()
        fresh.world_id = worker.world_id
        self.workers[self.workers.index(worker)] = fresh
        if worker.job < 0:
            return
        job, lost = self.todo[worker.job], worker.item
        if lost < self.jobs.count(job) and not worker.ended:  # else it had reported them all
            self.partial.setdefault(worker.job, {})[lost] = self.jobs.lose(job, lost, reason)
        if lost + 1 < self.jobs.count(job):
            fresh.takeover = worker.job, lost + 1
        else:
            yield worker.job, self._join(worker.job)

    def _join(self, index: int) -> list[Result]:
        found = self.partial.pop(index)
        return [found[item] for item in sorted(found)]


def _wait_for_exit(process: BaseProcess) -> None:
    """Give a process a moment to end. `join` would wait forever for one that has closed all its files."""
    until = time.monotonic() + GRACE_SECONDS
    while process.is_alive() and time.monotonic() < until:
        time.sleep(EXIT_POLL_SECONDS)


def _describe_exit(process: BaseProcess) -> str:
    _wait_for_exit(process)
    code = process.exitcode
    if code is None:
        return "the process closed its connection."
    if code >= 0:
        return f"the process ended with exit code {code}."
    try:
        name = signal.Signals(-code).name
    except ValueError:  # a real-time signal
        name = f"signal {-code}"
    hint = " Perhaps memory ran out." if name == "SIGKILL" else ""
    return f"the process was ended by {name}.{hint}"
