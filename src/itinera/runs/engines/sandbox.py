"""Agents that may misbehave, on other machines: every process of an engine has a worker process of its own for them.

On this machine a run is the parent of its workers (`worker_pool.py`). Elsewhere the process that an engine starts is
the parent of one: it has the answers and checks the records, and the agent lives in the worker, as here. So the records
are the same, and nothing that an agent sends reaches the cluster unchecked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic

from itinera.errors import ItineraError
from itinera.runs.engines.engine import Engine
from itinera.runs.engines.worker_pool import Jobs, WorkerPool
from itinera.runs.engines.worker_process import Job, Result, Work

CHUNKS_PER_WORKER = 8  # at least, so that the last ones do not keep everybody waiting
SECRETS = ("RAY_", "SUBMITIT_")  # environment variables by which a process could use the cluster


@dataclass
class Sandbox(Generic[Job, Result]):
    """Does chunks of jobs in a worker process, which stays between chunks. It is sent to other machines, unused."""

    work: Work[Job, Result]
    jobs: Jobs[Job, Result]
    _pool: WorkerPool[Job, Result] | None = field(default=None, init=False)

    def __call__(self, chunk: Sequence[Job]) -> tuple[dict[str, str], list[list[Result]]]:
        """The digests of the agent's files, and the results of each job."""
        try:
            with _plain_environment():
                pool = self._open()
                found = dict(pool.run(chunk, 1)) if chunk else {}
                return pool.read_files(), [found[index] for index in range(len(chunk))]
        except BaseException:
            self.close()
            raise

    def _open(self) -> WorkerPool[Job, Result]:
        if self._pool is not None and not all(worker.process.is_alive() for worker in self._pool.workers):
            self.close()  # it ended while it had nothing to do, which is nobody's failure
        if self._pool is None:
            self._pool = WorkerPool(self.work, self.jobs).__enter__()
        return self._pool

    def close(self) -> None:
        """End the worker process."""
        if self._pool is not None:
            self._pool.__exit__()
            self._pool = None


@contextmanager
def _plain_environment() -> Iterator[None]:
    """While a worker may start: it neither imports the program of the cluster nor inherits the key to it."""
    main, hidden = sys.modules["__main__"], {}
    for name in ("__file__", "__spec__"):
        hidden[name] = main.__dict__.pop(name, None)
    secrets = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(SECRETS)}
    main.__dict__["__spec__"] = None
    try:
        yield
    finally:
        os.environ.update(secrets)
        main.__dict__.update({name: value for name, value in hidden.items() if name == "__spec__" or value is not None})


def run_in_sandboxes(
    engine: Engine, sandbox: Sandbox[Job, Result], jobs: Sequence[Job], *, size: int, files: Sequence[Path] = ()
) -> Iterator[tuple[int, list[Result]]]:
    """The index of each job and the results of its items, by the processes of an engine.

    size: the largest number of jobs that a process takes at a time.
    """
    chunks = make_chunks([sandbox.jobs.world_id(job) for job in jobs], size)
    digests: dict[str, str] | None = None
    with ExitStack() as stack:
        found = engine.map(sandbox, ([jobs[index] for index in one] for one in chunks), files=files)
        stack.callback(found.close)
        for number, (read, results) in found:
            require_same_files(digests, read)
            digests = read
            yield from zip(chunks[number], results, strict=True)


def read_agent_files(engine: Engine, sandbox: Sandbox[Job, Result], files: Sequence[Path]) -> dict[str, str]:
    """The digests of the agent's files, as a process of the engine finds them."""
    ((_, (digests, _)),) = engine.map(sandbox, [[]], files=files)
    return digests


def require_same_files(before: dict[str, str] | None, now: dict[str, str]) -> None:
    """Raise ItineraError if the files of the agent are not the same in all processes."""
    names = {*(before or {}), *now} if before is not None else set()
    changed = sorted(name for name in names if before is not None and before.get(name) != now.get(name))
    if changed:
        raise ItineraError(
            f"The files of the agent changed during the run: {', '.join(changed)}. Run the same again: episodes of "
            "different agents are never mixed in one file."
        )


def share(count: int, workers: int) -> int:
    """The number of jobs of a chunk at which every worker gets several chunks."""
    return max(1, count // (CHUNKS_PER_WORKER * max(1, workers)))


def make_chunks(groups: Sequence[str], size: int) -> list[list[int]]:
    """Indices of jobs in chunks of this size at most, each within one group.

    >>> make_chunks(["a", "b", "a", "a"], 2)
    [[0, 2], [3], [1]]
    """
    by_group: dict[str, list[int]] = {}
    for index, name in enumerate(groups):
        by_group.setdefault(name, []).append(index)
    return [one[k : k + size] for one in by_group.values() for k in range(0, len(one), size)]
