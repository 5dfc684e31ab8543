"""Between participants and workers: questions for the simulator go to a worker that asks for them, answers come back.

Workers connect to the server, never the other way round, and own nothing: each question can be answered from the
secret of a session and its answers. So a worker that is silent loses its questions to another one, and what it may
still say about them is dropped. Everything here is in the event loop of the server, and may be lost with it.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from itinera.server.live_messages import LivePoll, PhaseFacts, PlayAnswer, PlayQuestion
from itinera.server.live_sessions import LiveSession
from itinera.server.refusals import RefusedRequest

POLL_SECONDS = 2.0  # that a worker waits for questions, and may take to stop
SILENT_SECONDS = 20.0  # after which a worker that does not ask has lost its questions
REPLY_SECONDS = 25.0  # that a participant waits for a worker
MAX_QUESTIONS = 64  # of one poll


class NoWorker(RefusedRequest):
    """No worker answers now: the participant repeats the request."""

    status = 503


@dataclass(eq=False)
class _Worker:
    phases: Mapping[str, PhaseFacts]
    seen: float
    queue: deque[PlayQuestion] = field(default_factory=deque)
    taken: dict[int, PlayQuestion] = field(default_factory=dict)  # sent, not answered
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    known: dict[tuple[str, int, bool], int] = field(default_factory=dict)  # answers that it has of a tour


class LiveRelay:
    """Questions of participants and the workers that answer them."""

    def __init__(self, *, silent_seconds: float = SILENT_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._workers: dict[str, _Worker] = {}
        self._futures: dict[int, asyncio.Future[PlayAnswer]] = {}
        self._ids = itertools.count(1)
        self._silent, self._clock = silent_seconds, clock
        self._arrived = asyncio.Event()  # set anew whenever a worker asks

    async def ask(
        self,
        session: LiveSession,
        digest: str,
        tour: int,
        turn: int,
        wants: Sequence[str] | None,
        *,
        replay: bool = False,
    ) -> PlayAnswer:
        """The state of a tour after its first `turn` answers, from any worker that has this phase."""
        answers = session.answers[tour][:turn]
        until = self._clock() + REPLY_SECONDS
        complete = False
        while True:
            name, worker = await self._choose(session, digest, until)
            key = (session.entry_id, tour, replay)
            known = 0 if complete else min(worker.known.get(key, 0), turn)
            new = answers[known:]
            question = PlayQuestion(
                next(self._ids),
                session.phase,
                session.secret,
                tour,
                known,
                new,
                None if wants is None else list(wants),
                replay,
            )
            found = await self._send(worker, question, until)
            if found is None:
                self._drop(name)
                continue
            if found.error:
                raise NoWorker(found.error)
            if found.missing:
                complete = True
                continue
            worker.known[key] = turn
            return found

    async def facts(self, phase: str, digest: str) -> PhaseFacts:
        """What workers know of a phase."""
        until = self._clock() + REPLY_SECONDS
        while True:
            for worker in self._alive():
                found = worker.phases.get(phase)
                if found is not None and found.digest == digest:
                    return found
            await self._wait_for_worker(until)

    async def poll(self, message: LivePoll) -> list[PlayQuestion]:
        """Take the answers of a worker, and wait for its next questions."""
        worker = self._workers.get(message.worker)
        if worker is None:
            worker = self._workers[message.worker] = _Worker(message.phases, self._clock())
        worker.seen, worker.phases = self._clock(), message.phases
        for answer in message.answers:
            future = self._futures.get(answer.id)
            if worker.taken.pop(answer.id, None) is not None and future is not None and not future.done():
                future.set_result(answer)
        self._arrived.set()
        self._arrived = asyncio.Event()
        if message.wait and not worker.queue:
            worker.wake.clear()
            with suppress(TimeoutError, asyncio.TimeoutError):
                await asyncio.wait_for(worker.wake.wait(), POLL_SECONDS)
        worker.seen = self._clock()
        taken = [worker.queue.popleft() for _ in range(min(len(worker.queue), MAX_QUESTIONS))]
        worker.taken.update((one.id, one) for one in taken)
        return taken

    def lose(self, name: str) -> None:
        """A worker's connection has broken off: its questions go to another one, or to itself when it is back."""
        self._drop(name)

    def _alive(self) -> list[_Worker]:
        limit = self._clock() - self._silent
        return [worker for worker in self._workers.values() if worker.seen >= limit]

    async def _choose(self, session: LiveSession, digest: str, until: float) -> tuple[str, _Worker]:
        """The worker of a session: always the same one as long as it is there."""
        while True:
            limit = self._clock() - self._silent
            for name in [name for name, worker in self._workers.items() if worker.seen < limit]:
                self._drop(name)
            having = [
                name
                for name, worker in self._workers.items()
                if (facts := worker.phases.get(session.phase)) is not None and facts.digest == digest
            ]
            if having:
                # Rendezvous: sessions spread over workers, and stay where they are when others come or go.
                name = max(having, key=lambda one: hash((one, session.entry_id)))
                return name, self._workers[name]
            await self._wait_for_worker(until)

    async def _wait_for_worker(self, until: float) -> None:
        left = until - self._clock()
        if left <= 0:
            raise NoWorker("No worker of the host plays this phase now. Try again.")
        with suppress(TimeoutError, asyncio.TimeoutError):
            await asyncio.wait_for(self._arrived.wait(), left)

    async def _send(self, worker: _Worker, question: PlayQuestion, until: float) -> PlayAnswer | None:
        """The answer to a question; None if the worker is lost, or says nothing in time."""
        future: asyncio.Future[PlayAnswer] = asyncio.get_running_loop().create_future()
        self._futures[question.id] = future
        worker.queue.append(question)
        worker.wake.set()
        try:
            while not future.done():
                left = until - self._clock()
                if left <= 0:
                    raise NoWorker("The worker of the host takes too long. Try again.")
                await asyncio.wait([future], timeout=min(left, max(worker.seen + self._silent - self._clock(), 0.05)))
                if not future.done() and self._clock() - worker.seen > self._silent:
                    return None
            return None if future.cancelled() else future.result()
        finally:
            del self._futures[question.id]
            worker.taken.pop(question.id, None)

    def _drop(self, name: str) -> None:
        worker = self._workers.pop(name, None)
        if worker is None:
            return
        for question in (*worker.queue, *worker.taken.values()):
            future = self._futures.get(question.id)
            if future is not None and not future.done():
                future.cancel()
        worker.queue.clear()
        worker.wake.set()
