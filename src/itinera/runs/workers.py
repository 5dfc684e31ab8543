"""Many tours, in several processes at once. What comes out does not depend on how many, nor on who did what.

A worker that dies, takes too long or prints too much loses the episode it was on, which is recorded as failed; another
goes on with the next. How long an episode takes is not up to us, so failures for want of time are the one thing that
may differ.
"""

from __future__ import annotations

import math
import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

import numpy as np

from itinera.errors import BadArgument, ItineraError
from itinera.records import Ending, Rollout, Trajectory
from itinera.runs.config import Asked, Recipe, Rules, walk_tour
from itinera.runs.output_capture import Printed
from itinera.runs.worker_process import end, hire
from itinera.tasks import Episode

MARKED = ("began", "told")  # what a worker says after it has marked what it printed
PATIENCE = 5.0  # seconds a worker that is done is given to end by itself
LOUDEST = 1 << 20  # bytes an agent may print in an episode
ROUND = 1.0  # seconds after which workers are looked after even if none of them says anything


def run_tours(
    recipe: Recipe, asked: Sequence[Asked], rules: Rules, *, workers: int = 1
) -> Iterator[tuple[int, Rollout]]:
    """The number of each tour and its walk, in the order in which they are done.

    `workers=0` walks in this process, where an agent can be watched with a debugger but not be ended: it may take as
    long and print as much as it likes, and one that ends the process ends the run.
    """
    if workers < 0:
        raise BadArgument(f"There cannot be {workers} workers. 0 walks in this process.")
    if rules.limit_seconds is not None and not rules.limit_seconds > 0:
        raise BadArgument(f"A time limit of {rules.limit_seconds} s leaves no time. Give one above 0.")
    if not asked:
        return
    if workers == 0:
        crew = recipe()
        for number, one in enumerate(asked):
            yield number, walk_tour(crew, one, rules)
        return
    crowd = _Crowd(recipe, asked, rules)
    try:
        yield from crowd.run(min(workers, len(asked)))
    finally:
        crowd.dismiss()


@dataclass(eq=False)
class _Worker:
    """A process, and what it is on."""

    process: BaseProcess
    pipe: Connection
    printed: Printed
    begin_with: tuple[int, int] | None = None  # tour and episode it takes over from a worker that is gone
    ready: bool = False
    tour: int = -1  # the number of the tour it is on, -1 for none
    first: int = 0  # the episode it began that tour with
    episode: int = 0  # the one it is on
    since: float = math.inf  # when that began
    world_id: str = ""  # where it was last

    @property
    def pipes(self) -> list[Connection]:
        """Those through which something may come."""
        return [self.pipe] if self.printed.ended else [self.pipe, self.printed.pipe]

    @property
    def may_print(self) -> float:
        """Bytes; before an episode begins it is not the agent who prints."""
        return LOUDEST if self.since < math.inf else math.inf


@dataclass(eq=False)
class _Crowd:
    """Workers, the work left, and what is there of it."""

    recipe: Recipe
    asked: Sequence[Asked]
    rules: Rules
    workers: list[_Worker] = field(default_factory=list)
    left: dict[str, deque[int]] = field(default_factory=dict)  # numbers of the tours to do, by world
    parts: dict[int, dict[int, Trajectory]] = field(default_factory=dict)  # by tour and episode, of those not whole

    def run(self, count: int) -> Iterator[tuple[int, Rollout]]:
        for number, one in enumerate(self.asked):
            self.left.setdefault(one.tour.world_id, deque()).append(number)
        self.workers = [_Worker(*hire(self.recipe, self.rules)) for _ in range(count)]
        done = 0
        while done < len(self.asked):
            wait([pipe for worker in self.workers for pipe in worker.pipes], self._pause())
            for worker in tuple(self.workers):
                for whole in self._attend(worker):
                    done += 1
                    yield whole

    def dismiss(self) -> None:
        """End every worker, whatever it is doing."""
        for worker in self.workers:
            worker.pipe.close()  # which one that waits for work takes for the end of it
        for worker in self.workers:
            if worker.ready and worker.tour < 0:
                worker.process.join(PATIENCE)
            end(worker.process)
            worker.printed.close()
        self.workers = []

    def _pause(self) -> float:
        """Seconds until somebody's time is up, or until it is time to look after them all."""
        return min([ROUND, *(max(0.0, worker.since + self._limit - time.monotonic()) for worker in self.workers)])

    @property
    def _limit(self) -> float:
        return math.inf if self.rules.limit_seconds is None else self.rules.limit_seconds

    def _attend(self, worker: _Worker) -> Iterator[tuple[int, Rollout]]:
        """Take in all that a worker says, and replace it if it is gone or late; walks that are whole come out."""
        alive, bearable = worker.process.is_alive(), True
        try:
            while bearable and worker.pipe.poll():
                said, *about = worker.pipe.recv()
                # What was printed before it spoke is heard first, or how much it was would depend on who is faster.
                bearable = said not in MARKED or worker.printed.end_stretch(worker.may_print)
                if bearable:
                    yield from self._hear(worker, said, *about)
        except (EOFError, OSError):
            alive = False
        if not (bearable and worker.printed.pass_on(worker.may_print)):
            yield from self._replace(worker, f"more than {LOUDEST} bytes were printed in the episode.")
        elif not alive:
            yield from self._replace(worker, _how_it_ended(worker.process))
        elif time.monotonic() >= worker.since + self._limit:
            yield from self._replace(worker, f"time limit: the episode took longer than {self._limit:g} s.")

    def _hear(self, worker: _Worker, said: str, *about: object) -> Iterator[tuple[int, Rollout]]:
        if said == "broken":
            raise _broken(*about)
        if said == "began":
            worker.since = time.monotonic()
        elif said == "told":
            self._take_in(worker, *about)  # type: ignore[arg-type]
        else:
            number, worker.tour, worker.since, worker.ready = worker.tour, -1, math.inf, True
            self._assign(worker)
            if said == "done":
                yield number, self._whole(number)

    def _take_in(self, worker: _Worker, number: int, trajectory: Trajectory) -> None:
        number += worker.first
        self.parts.setdefault(worker.tour, {})[number] = trajectory
        if number == worker.episode:  # and not the one before, which has grown by the way to its goal
            worker.episode, worker.since = number + 1, time.monotonic()

    def _assign(self, worker: _Worker) -> None:
        """Send a worker what is left of a tour, or a whole one."""
        if worker.begin_with is None and not self.left:
            return
        worker.tour, worker.first = worker.begin_with or (self._next_for(worker), 0)
        worker.begin_with = None
        worker.episode = worker.first
        one = self.asked[worker.tour]
        worker.world_id = one.tour.world_id
        with suppress(OSError):  # of one that has died, which is noticed when it is next attended to
            worker.pipe.send(Asked(one.tour, tuple(map(_bare, one.episodes[worker.first :]))))

    def _next_for(self, worker: _Worker) -> int:
        """A tour in the world the worker knows, else in the one where most are left for each who is there."""
        there = [other.world_id for other in self.workers if other.tour >= 0]
        if worker.world_id not in self.left:
            worker.world_id = max(self.left, key=lambda name: len(self.left[name]) / (1 + there.count(name)))
        numbers = self.left[worker.world_id]
        number = numbers.popleft()
        if not numbers:
            del self.left[worker.world_id]
        return number

    def _replace(self, worker: _Worker, reason: str) -> Iterator[tuple[int, Rollout]]:
        """Put another in the place of a worker; the episode it was on has failed."""
        if not worker.ready:
            raise ItineraError(f"A worker could not begin: {reason}")
        end(worker.process)
        worker.pipe.close()
        worker.printed.close()
        fresh = _Worker(*hire(self.recipe, self.rules), world_id=worker.world_id)
        self.workers[self.workers.index(worker)] = fresh
        if worker.tour < 0:
            return
        episodes, lost = self.asked[worker.tour].episodes, worker.episode
        if lost < len(episodes):  # else it had told of them all
            self.parts.setdefault(worker.tour, {})[lost] = _lost(episodes[lost], reason)
        if lost + 1 < len(episodes):
            fresh.begin_with = worker.tour, lost + 1
        else:
            yield worker.tour, self._whole(worker.tour)

    def _whole(self, number: int) -> Rollout:
        parts = self.parts.pop(number)
        return Rollout(self.asked[number].tour.id, tuple(parts[k] for k in sorted(parts)))


def _broken(why: object = "", exit_code: object = 1) -> ItineraError:
    error = ItineraError(f"{why}")
    error.exit_code = int(f"{exit_code}")
    return error


def _how_it_ended(process: BaseProcess) -> str:
    process.join(PATIENCE)
    code = process.exitcode
    if code is None or code >= 0:
        return f"the process ended with exit code {code or 0}."
    name = signal.Signals(-code).name
    hint = " Perhaps memory ran out." if name == "SIGKILL" else ""
    return f"the process was ended by {name}.{hint}"


def _bare(episode: Episode) -> Episode:
    """The episode without what walking does not need, the reference least of all."""
    return replace(episode, reference=(), alignment=None, notes={})


def _lost(episode: Episode, reason: str) -> Trajectory:
    """What is known of an episode whose worker is gone: where it began."""
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
