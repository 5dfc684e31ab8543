"""`SlurmEngine`: chunks in the jobs of a SLURM array, through a folder that all machines share.

Each job does every n-th chunk and writes each result atomically; this process waits for the files. If it dies, the jobs
go on, and the same work takes their results. A job that ends without all of its results (its time was up, its node
died) is submitted again, as long as that brings results. Partition, account, time and memory are what SLURM reads from
the environment: SBATCH_PARTITION, SBATCH_ACCOUNT, SBATCH_TIMELIMIT, SBATCH_MEM_PER_CPU.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from itinera.errors import MissingExtra
from itinera.formats.writing import atomic_write
from itinera.runs.engines.engine import Chunk, Engine, Result, WorkerFailure
from itinera.runs.engines.outcomes import Outcome, unwrap
from itinera.runs.engines.shipping import (
    DIGEST_SIZE,
    Parcel,
    make_parcel,
    pickle_plain,
    require_private,
    unpickle_plain,
)
from itinera.runs.resume import exclusive_lock

FOLDER = Path(".itinera-slurm")  # in the current folder, which all machines see
WORKERS = 16  # jobs of an array
MINUTES = 240  # of a job, unless SBATCH_TIMELIMIT says otherwise
MIN_POLL, MAX_POLL = 0.05, 2.0  # seconds between two looks into the folder
END_SECONDS = 30.0  # jobs that are done still write their logs
MAX_ROUNDS_WITHOUT_RESULTS = 2
FUNCTION = "function"
_log = logging.getLogger("itinera")


def require_submitit() -> Any:
    """The module; raises MissingExtra if it is not installed."""
    try:
        import submitit
    except ImportError:
        raise MissingExtra("SLURM jobs (--engine slurm)", "submitit", "cluster") from None
    return submitit


class SlurmEngine(Engine):
    """Job arrays; on a machine without SLURM processes of this machine, to try it."""

    def __init__(self, folder: Path | None = None, *, workers: int | None = None) -> None:
        self._submitit = require_submitit()
        self._folder = (folder or FOLDER).absolute()
        self.workers = WORKERS if workers is None else workers

    def map(
        self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk], *, files: Sequence[Path] = ()
    ) -> Generator[tuple[int, Result]]:
        parcel = make_parcel(function, files, shares_files=True)
        contents: dict[str, bytes] = {}
        indices: dict[str, list[int]] = {}  # of the chunks with this content
        for index, chunk in enumerate(chunks):
            content = pickle_plain(chunk)
            key = fingerprint(content)
            contents[key] = content
            indices.setdefault(key, []).append(index)
        require_private(self._folder)
        work = self._folder / fingerprint(parcel.pickled)
        with exclusive_lock(work):
            write_work(work, parcel, contents)
            for key, outcome in self._collect(work, list(contents)):
                result = unwrap(outcome)
                yield from ((index, result) for index in indices[key])
            shutil.rmtree(work, ignore_errors=True)

    def close(self) -> None:
        with suppress(OSError):  # unless there is unfinished work
            self._folder.rmdir()

    def _collect(self, work: Path, keys: Sequence[str]) -> Generator[tuple[str, Outcome[Any]]]:
        missing = dict.fromkeys(keys)
        jobs: list[Any] = []
        rounds, pause = 0, MIN_POLL
        try:
            while missing:
                ended = all(job.done() for job in jobs)  # before the look into the folder, which then is the last
                found = take_results(work, missing)
                for key, outcome in found:
                    del missing[key]
                    yield key, outcome
                if found:
                    rounds, pause = 0, MIN_POLL
                elif ended:
                    check_round(work, jobs, rounds)
                    jobs, rounds, pause = self._submit(work, list(missing)), rounds + 1, MIN_POLL
                else:
                    time.sleep(pause)
                    pause = min(MAX_POLL, 1.5 * pause)
        finally:
            for job in jobs if missing else ():  # nobody wants the rest
                job.cancel()
            wait_until(lambda: all(job.done() for job in jobs), END_SECONDS)

    def _submit(self, work: Path, keys: Sequence[str]) -> list[Any]:
        """Jobs for chunks, each for every n-th one."""
        executor = self._submitit.AutoExecutor(folder=work / "jobs")
        if executor.cluster == "local":
            _log.info("There is no SLURM on this machine: the jobs are processes of it.")
        executor.update_parameters(
            name="itinera", timeout_min=MINUTES, cpus_per_task=1, slurm_array_parallelism=self.workers
        )
        count = min(self.workers, len(keys))
        shares = [list(keys[number::count]) for number in range(count)]
        return list(executor.map_array(do_chunks, [work] * count, shares))


def wait_until(condition: Callable[[], bool], seconds: float) -> None:
    """Wait for something, but no longer than this."""
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(MIN_POLL)


def check_round(work: Path, jobs: Sequence[Any], rounds: int) -> None:
    """Raise WorkerFailure if jobs ended without results so often that others would too."""
    if rounds >= MAX_ROUNDS_WITHOUT_RESULTS:
        words = str(jobs[0].stderr() or "")
        raise WorkerFailure(
            f"The jobs ended without results; what they printed is in {work / 'jobs'}. Run the same again to resume.\n"
            f"{words[-2000:]}".rstrip()
        )


def write_work(work: Path, parcel: Parcel, contents: Mapping[str, bytes]) -> None:
    """Write what the jobs need into their folder."""
    require_private(work)
    for name, content in {
        FUNCTION: pickle_plain(parcel),
        **{f"{key}.chunk": one for key, one in contents.items()},
    }.items():
        if not (work / name).exists():
            with atomic_write(work / name) as stream:
                stream.write(content)


def do_chunks(work: Path, keys: Sequence[str]) -> None:
    """In a job: do chunks whose results do not exist yet."""
    parcel: Parcel = unpickle_plain((work / FUNCTION).read_bytes())
    with closing(parcel.open()) as function:
        for key in keys:
            if not (work / f"{key}.result").exists():
                outcome = function(unpickle_plain((work / f"{key}.chunk").read_bytes()))
                with atomic_write(work / f"{key}.result") as stream:
                    stream.write(pickle_plain(outcome))


def take_results(work: Path, missing: Iterable[str]) -> list[tuple[str, Outcome[Any]]]:
    """The results that exist; each is read once."""
    names = {path.name for path in work.iterdir()}
    ready = [key for key in missing if f"{key}.result" in names]
    return [(key, unpickle_plain((work / f"{key}.result").read_bytes())) for key in ready]


def fingerprint(*contents: bytes | str) -> str:
    """The name of a function's work, or of a chunk."""
    digest = hashlib.blake2b(digest_size=DIGEST_SIZE)
    for content in contents:
        part = content.encode() if isinstance(content, str) else content
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()
