"""The same work on many things, in several processes at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import connection, get_context, parent_process
from typing import Generic, TypeVar

from itinera.errors import ItineraError

AHEAD = 4  # jobs handed out for each worker: enough to keep it busy, and few enough to make them as they are needed

Job = TypeVar("Job")
Result = TypeVar("Result")


def in_processes(work: Callable[[Job], Result], jobs: Iterable[Job], *, workers: int) -> Iterator[tuple[int, Result]]:
    """The number of each job and what came of it, in the order in which they are done.

    `work` is a function of a module, or a partial of one. With one worker, all is done in this process, in order.
    """
    numbered = iter(enumerate(jobs))
    if workers <= 1:
        for number, job in numbered:
            yield number, work(job)
        return
    # Fresh processes, not copies of this one: what they give cannot depend on what was done here before.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=end_with_parent)
    try:
        yield from _results(pool, _Told(work), numbered, AHEAD * workers)
    except BrokenProcessPool:
        problem = "A worker was ended from outside, perhaps for want of memory."
        raise ItineraError(f"{problem} Call again to go on, with fewer --workers.") from None
    finally:
        pool.shutdown(cancel_futures=True)


class _Told(Generic[Job, Result]):
    """Work whose errors come back as words: not every error can travel between processes as it is."""

    def __init__(self, work: Callable[[Job], Result]) -> None:
        self._work = work

    def __call__(self, job: Job) -> tuple[Result | None, tuple[str, int] | None]:
        try:
            return self._work(job), None
        except ItineraError as error:
            return None, (str(error), error.exit_code)


def _results(
    pool: ProcessPoolExecutor, work: _Told[Job, Result], numbered: Iterator[tuple[int, Job]], most: int
) -> Iterator[tuple[int, Result]]:
    waiting: dict[Future[tuple[Result | None, tuple[str, int] | None]], int] = {}
    while True:
        for number, job in islice(numbered, most - len(waiting)):
            waiting[pool.submit(work, job)] = number
        if not waiting:
            return
        done, _ = wait(waiting, return_when=FIRST_COMPLETED)
        for future in done:
            result, wrong = future.result()
            if wrong is not None:
                error = ItineraError(wrong[0])
                error.exit_code = wrong[1]
                raise error
            yield waiting.pop(future), result  # type: ignore[misc]


def end_with_parent() -> None:
    """Let this worker end when the process that started it does, however that ends, and not by itself at Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def watch() -> None:
        connection.wait([parent.sentinel] if parent is not None else [])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
