"""`ProcessEngine`: chunks in worker processes of this machine, or in this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from itinera.runs.engines.engine import AHEAD, Chunk, Engine, Result, WorkerFailure
from itinera.runs.engines.outcomes import Catching, Outcome, unwrap
from itinera.runs.engines.worker_process import StartMethod, end_with_parent


def count_workers(workers: int | None = None) -> int:
    """The number of workers asked for; one for each core that this process may use if None."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return workers


class ProcessEngine(Engine):
    """Worker processes of this machine; with at most one worker everything runs in this process, in order."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def map(
        self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk], *, files: Sequence[Path] = ()
    ) -> Generator[tuple[int, Result]]:
        return parallel_map(function, chunks, workers=self.workers)


def parallel_map(
    work: Callable[[Chunk], Result],
    jobs: Iterable[Chunk],
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
    context = get_context(start_method)
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(Catching(work),))
    try:
        yield from _results(pool, numbered, AHEAD * workers)
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


_function: Any = None  # of a worker process


def _begin(function: Any) -> None:
    """In a worker process: keep the function, with all that it carries, for every chunk."""
    global _function
    end_with_parent()
    _function = function


def _call(chunk: Any) -> Outcome[Any]:
    outcome: Outcome[Any] = _function(chunk)
    return outcome


def _results(pool: ProcessPoolExecutor, numbered: Iterator[tuple[int, Chunk]], limit: int) -> Iterator[tuple[int, Any]]:
    waiting: dict[Future[Outcome[Any]], int] = {}
    while True:
        for index, job in islice(numbered, limit - len(waiting)):
            waiting[pool.submit(_call, job)] = index
        if not waiting:
            return
        done, _ = wait_for(waiting, return_when=FIRST_COMPLETED)
        for future in done:
            yield waiting.pop(future), unwrap(future.result())
