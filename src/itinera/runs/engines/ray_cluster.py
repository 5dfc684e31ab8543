"""`RayEngine`: chunks on a Ray cluster, one that is given by its address or one that is started here for this program.

Never a cluster that merely happens to run on this machine. One that we start listens on 127.0.0.1 only, in a private
folder, without dashboard and usage reports; every call needs a token that only this program and its processes have.
The function and the files it reads are put into the object store once, so that each node gets them once; results come
back inline. Chunks of a node that dies are done again elsewhere (`max_retries=-1`), without end: workers know no state.
"""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from itinera.errors import BadArgument, ItineraError, MissingExtra
from itinera.runs.engines.engine import AHEAD, Chunk, Engine, Result, WorkerFailure
from itinera.runs.engines.outcomes import Catching, Outcome, unwrap
from itinera.runs.engines.processes import count_workers
from itinera.runs.engines.shipping import Parcel, keep_copy, make_parcel, node_folder, pack, remove_folder

LOOPBACK = "127.0.0.1"
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    # Its own limits end the start of a cluster on a busy machine.
    "RAY_raylet_start_wait_time_s": "300",
    "RAY_agent_register_timeout_ms": "300000",
}
PREFIX = "itinera-ray-"  # of a cluster's folder, then the process that started it
LONGEST_TEMPORARY = 30  # characters; a socket's name may have 107
# A node whose connections fail counts as dead after three seconds, instead of half a minute.
HEALTH_CHECKS = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 1000,
    "health_check_timeout_ms": 3000,  # of an answer: a machine may be busy
    "health_check_failure_threshold": 3,
}
STORE_BYTES = 256 << 20  # of the object store of a cluster that we start: it has one node, and results are small
CLEANING_SECONDS = 10.0


def require_ray() -> Any:
    """The module; raises MissingExtra if it is not installed."""
    # Read when Ray is imported: no reports to its makers, and no call without a token.
    if "ray" in sys.modules and "RAY_AUTH_MODE" not in os.environ:
        raise BadArgument("Ray was imported before its tokens were on: set RAY_AUTH_MODE=token in the environment.")
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        with quiet():
            import ray
    except ImportError:
        raise MissingExtra("Ray clusters (--engine ray)", "Ray", "cluster") from None
    return ray


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings of Ray about Ray."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def short_temporary() -> str:
    """A folder for temporary files in which the names of sockets are not too long."""
    found = tempfile.gettempdir()
    return found if len(found) <= LONGEST_TEMPORARY else "/tmp"


def remove_stale_folders() -> None:
    """Remove the folders of our clusters whose program was killed."""
    for folder in Path(short_temporary()).glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        with suppress(OSError):
            if owner.isdecimal() and folder.lstat().st_uid == os.getuid() and not Path(f"/proc/{owner}").exists():
                remove_folder(folder)


class RayEngine(Engine):
    """A cluster at an address, or one of this machine that starts with the first chunk and ends with the engine."""

    def __init__(self, address: str | None = None, *, workers: int | None = None) -> None:
        """address: "ray://HOST:PORT" for a client outside the cluster, "HOST:PORT" on one of its nodes.

        workers: the chunks that are worked on at the same time; None for one per core.
        """
        self._ray = require_ray()
        self._address, self._asked = address, workers
        self.workers = workers if workers is not None else count_workers()
        self.shares_files = address is None
        self._token = secrets.token_hex(8)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._is_connected = self._has_copies = False

    def map(
        self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk], *, files: Sequence[Path] = ()
    ) -> Generator[tuple[int, Result]]:
        self._connect()
        parcel = make_parcel(function, files, shares_files=self.shares_files)
        references = [self._ray.put(parcel), *(self._ray.put(pack(Path(name))) for name in parcel.names)]
        self._has_copies |= bool(parcel.names)
        # A key of the function's content would be the same for equal functions of different engines.
        key = f"{self._token}-{parcel.digest}"
        remote = self._ray.remote(num_cpus=1, max_retries=-1)(work_on)
        numbered = iter(enumerate(chunks))
        pending: dict[Any, int] = {}
        try:
            while True:
                for index, chunk in islice(numbered, AHEAD * self.workers - len(pending)):
                    pending[remote.remote(references, key, chunk)] = index
                if not pending:
                    return
                ready, _ = self._ray.wait(list(pending), num_returns=1)
                for reference in ready:
                    outcome: Outcome[Result] = self._ray.get(reference)
                    yield pending.pop(reference), unwrap(outcome)
        except (ConnectionError, self._ray.exceptions.RaySystemError, self._ray.exceptions.ObjectLostError) as error:
            problem = f"The Ray cluster is gone: {str(error).strip().partition(chr(10))[0]}"
            raise WorkerFailure(f"{problem} Run the same again to resume.") from None
        finally:
            with suppress(Exception):  # nobody wants the rest
                for reference in pending:
                    self._ray.cancel(reference, force=True)

    def _connect(self) -> None:
        if self._is_connected:
            return
        if self._ray.is_initialized():
            raise BadArgument("This process is connected to a Ray cluster already: call ray.shutdown() first.")
        with quiet():
            self._start() if self._address is None else self._join(self._address)
        self._is_connected = True

    def _start(self) -> None:
        """Start a cluster of this machine for this program alone."""
        if not {"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & os.environ.keys():
            os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
        remove_stale_folders()
        self._folder = tempfile.TemporaryDirectory(
            prefix=f"{PREFIX}{os.getpid()}-", dir=short_temporary(), ignore_cleanup_errors=True
        )
        self._ray.init(
            address="local",
            num_cpus=self.workers,
            include_dashboard=False,
            object_store_memory=STORE_BYTES,
            configure_logging=False,
            log_to_driver=False,
            _node_ip_address=LOOPBACK,
            _temp_dir=self._folder.name,
            _system_config=HEALTH_CHECKS,
        )

    def _join(self, address: str) -> None:
        """Connect to the cluster that was asked for."""
        try:
            self._ray.init(address=address, configure_logging=False, log_to_driver=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            reason = str(error).strip().partition("\n")[0]
            raise BadArgument(f"No Ray cluster answers at {address}: {reason}") from None
        if self._asked is None:
            self.workers = max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def close(self) -> None:
        if self._is_connected:
            self._is_connected = False
            with quiet():
                if self._has_copies:
                    with suppress(Exception):  # of a cluster that is gone
                        self._remove_copies()
                self._ray.shutdown()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _remove_copies(self) -> None:
        """Remove the copies of files from every node that lives."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        remove = self._ray.remote(num_cpus=0, max_retries=0)(remove_folder)
        nodes = [node["NodeID"] for node in self._ray.nodes() if node["Alive"]]
        places = [NodeAffinitySchedulingStrategy(name, soft=False) for name in nodes]
        done = [remove.options(scheduling_strategy=place).remote(node_folder(self._token)) for place in places]
        self._ray.wait(done, num_returns=len(done), timeout=CLEANING_SECONDS)


def work_on(references: Sequence[Any], key: str, chunk: Any) -> Outcome[Any]:
    """In a process of the cluster: do a chunk."""
    try:
        function = _Function.get(references, key)
    except ItineraError as error:
        return None, (str(error), error.exit_code)
    return function(chunk)


def _fetch(reference: Any) -> bytes:
    import ray

    content: bytes = ray.get(reference)
    return content


class _Function:
    """The function that this process works with; the one before it is dropped with all it holds."""

    key = ""
    function: Catching[Any, Any] | None = None

    @classmethod
    def get(cls, references: Sequence[Any], key: str) -> Catching[Any, Any]:
        import ray

        if cls.function is None or cls.key != key:
            if cls.function is not None:
                cls.function.close()
            cls.key, cls.function = "", None
            parcel: Parcel = ray.get(references[0])
            folder = node_folder(key.partition("-")[0])
            copies = [
                keep_copy(folder, f"{parcel.digest}-{number}", partial(_fetch, one))
                for number, one in enumerate(references[1:])
            ]
            cls.key, cls.function = key, parcel.open(copies)
        return cls.function
