"""`Engine`: maps a function over chunks of work, on the processes of this machine or on many machines.

    with open_engine("ray", workers=8) as engine:
        for index, rows in engine.map(partial(plan, robot), chunks):
            ...

An engine knows nothing of navigation. A chunk should take 0.1 to 1 s: less is lost in its administration, more keeps
others waiting at the end. The function is one of a module, or a partial of one; what it carries (worlds, weights) is
shipped once, to each process or node. Results do not depend on the engine: they come in the order in which they
finish, each with the index of its chunk, and callers write them as they arrive (`runs/resume.py`), so that the process
that maps may die too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from itinera.errors import BadArgument, ItineraError

PROCESSES, RAY, SLURM = "processes", "ray", "slurm"
FORMS = "processes, ray, ray://HOST:PORT, ray:HOST:PORT, slurm or slurm:FOLDER"
AHEAD = 4  # chunks handed out for each worker: enough to keep it busy

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")


class WorkerFailure(ItineraError):
    """A worker process, or a cluster, ended before its work was done."""


class Engine(ABC):
    """Maps functions over chunks. Use it in a `with` statement, which ends everything that it started."""

    workers: int  # chunks that are worked on at the same time
    shares_files: bool = True  # whether the workers see the files of this machine

    @abstractmethod
    def map(
        self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk], *, files: Sequence[Path] = ()
    ) -> Generator[tuple[int, Result]]:
        """The index of each chunk and its result, in the order in which they finish.

        `files` are the files and folders that the function reads, by the names it has for them: a node that does not
        see them gets copies.
        """

    def close(self) -> None:  # noqa: B027
        """End everything that the engine started."""

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def is_local(engine: str | Engine) -> bool:
    """Whether an engine is the processes of this machine."""
    from itinera.runs.engines.processes import ProcessEngine

    return engine == PROCESSES or isinstance(engine, ProcessEngine)


def open_engine(engine: str | Engine, workers: int | None = None) -> AbstractContextManager[Engine]:
    """The engine of a name, for a `with` statement; an `Engine` is used as it is, and stays open.

    workers: the chunks that are worked on at the same time; None for one per core, here or in the cluster.
    """
    if isinstance(engine, Engine):
        return nullcontext(engine)
    kind, _, place = engine.partition(":")
    if engine == PROCESSES:
        from itinera.runs.engines.processes import ProcessEngine, count_workers

        return ProcessEngine(count_workers(workers))
    if workers is not None and workers < 1:
        raise BadArgument(f"--engine {engine} needs at least one worker (got {workers}).")
    if kind == RAY:
        from itinera.runs.engines.ray_cluster import RayEngine

        return RayEngine(find_address(engine), workers=workers)
    if kind == SLURM and (place or engine == SLURM):
        from itinera.runs.engines.slurm import SlurmEngine

        return SlurmEngine(Path(place) if place else None, workers=workers)
    raise BadArgument(f"engine (--engine) must be {FORMS}, not {engine!r}.")


def find_address(engine: str) -> str | None:
    """The address in the name of a Ray engine; None if a cluster is to be started.

    >>> find_address("ray"), find_address("ray:10.0.0.1:6379"), find_address("ray://head:10001")
    (None, '10.0.0.1:6379', 'ray://head:10001')
    """
    if engine == RAY:
        return None
    address = engine if engine.startswith("ray://") else engine.removeprefix("ray:")
    # Never "auto": that is whatever cluster somebody happens to have started on this machine.
    if not address.rpartition(":")[2].isdecimal():
        raise BadArgument(f"engine (--engine) must be {FORMS}, not {engine!r}.")
    return address


def check_engine(engine: str | Engine, workers: int | None = None) -> str | Engine:
    """The engine, if it is one that can be used here; raises BadArgument or MissingExtra otherwise."""
    if not isinstance(engine, Engine):
        open_engine(engine, workers)  # starts nothing before the first chunk
    return engine
