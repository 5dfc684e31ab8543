"""A worker process: how it starts, what it sends, how it ends. `worker_pool.py` has the parent's side of many.

The agent lives in this process and may do anything to it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, Literal, TypeVar

from itinera.agents.agent import StopRun
from itinera.agents.process_tree import adopt_orphans, kill_descendants, kill_tree, kill_with_parent
from itinera.errors import ItineraError
from itinera.runs.engines.messages import ActingEnd, Broken, Done, Item, ParentPipe, Ready, Start, WorkerPipe
from itinera.runs.engines.output_capture import CapturedOutput, OutputPipe
from itinera.runs.rollout import describe_failure

# "spawn" starts fresh processes, whose results cannot depend on what was done here before. "fork" copies this one,
# with objects that cannot be sent to another process, such as an agent defined in a notebook.
StartMethod = Literal["spawn", "fork"]

SAFE_PATH = "while a worker starts"  # any text has the same effect
INTERRUPTS = {signal.SIGINT, signal.SIGTERM}
OOM_SCORE = 900  # if memory runs out, Linux ends a worker rather than the run

Job = TypeVar("Job")
Result = TypeVar("Result")


class Work(ABC, Generic[Job, Result]):
    """What the workers of a pool do. It is sent to them, so it contains nothing an agent may not know."""

    limit_seconds: float | None = None  # of an item
    item_name: str = "episode"
    may_stop: bool = False  # whether a worker is believed when it says that the run must stop

    @abstractmethod
    def make_context(self) -> tuple[Any, dict[str, str]]:
        """In a worker: what it needs for all jobs, and the digests of the agent's files by name."""

    @abstractmethod
    def serve(self, context: Any, job: bytes, worker: WorkerSide) -> None:
        """In a worker: do a job; `worker.start` is called once, then `worker.report` for every item."""


class WorkerSide:
    """In a worker: its pipe to the parent, and its output."""

    def __init__(self, pipe: WorkerPipe, output: OutputPipe) -> None:
        self._pipe, self._output = pipe, output

    def start(self) -> None:
        """The world is loaded; what follows is the agent's time and output."""
        self._output.mark()
        self._pipe.send(Start())

    def report(self, index: int, record: bytes) -> None:
        """Send the record of an item."""
        self._output.mark()
        self._pipe.send(Item(index, record))

    def ask(self, index: int, record: bytes) -> bytes:
        """Send the final record of an item's acting phase; the parent's answer."""
        self._pipe.send(ActingEnd(index, record))
        answer = self._pipe.receive()
        if answer is None:
            raise EOFError
        return answer


def end_with_parent(*, group: bool = False) -> None:
    """End this worker when its parent ends, however that happens; Ctrl-C is left to the parent.

    With `group`, the worker leads a process group of its own, which ends with it, and so do all its descendants.
    """
    if group:
        os.setpgid(0, 0)
        adopt_orphans()
    else:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        kill_with_parent()
    parent = parent_process()

    def watch() -> None:
        wait([parent.sentinel] if parent is not None else [])
        if group:
            kill_descendants(os.getpid())
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def starting(start_method: StartMethod) -> Iterator[None]:
    """While a worker starts: interrupts wait, and a fresh interpreter imports nothing from the current folder."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    before = os.environ.get("PYTHONSAFEPATH")
    try:
        if start_method == "spawn":
            os.environ.setdefault("PYTHONSAFEPATH", SAFE_PATH)
        with warnings.catch_warnings():
            # A fork of a process with threads may deadlock; the only locks the worker's code needs are Python's own.
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        if before is None:
            os.environ.pop("PYTHONSAFEPATH", None)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def start_worker(
    work: Work[Any, Any], start_method: StartMethod, processes: list[BaseProcess]
) -> tuple[BaseProcess, ParentPipe, CapturedOutput]:
    """A new worker, the pipe to it, and its output.

    The process is added to `processes` before it starts, so that the caller can end it even if an interrupt comes now.
    It sends Ready once; for every job Start when the world is loaded, Item for each item and Done; ActingEnd where it
    needs an answer; and Broken if it cannot work. Its output is marked before Start and Item. It ends with the pipe.
    """
    context = get_context(start_method)
    ours, theirs = context.Pipe()
    output, printed = context.Pipe(duplex=False)
    marker = os.urandom(16).hex().encode()
    arguments = (theirs, ours if start_method == "fork" else None, OutputPipe(printed, marker), work, start_method)
    process = context.Process(target=_serve, args=arguments)  # type: ignore[attr-defined]
    processes.append(process)
    with starting(start_method):
        process.start()
    theirs.close()
    printed.close()
    return process, ParentPipe(ours), CapturedOutput(output, marker)


def end_worker(process: BaseProcess) -> None:
    """Kill a worker with every process it started; nothing happens if it never started."""
    if process.pid is None:
        return
    if process.is_alive():
        kill_tree(process.pid)
    process.kill()
    process.join()


def _serve(
    connection: Connection,
    parents: Connection | None,
    output: OutputPipe,
    work: Work[Any, Any],
    start_method: StartMethod,
) -> None:
    end_with_parent(group=True)
    # A Ctrl-C that came while this process started, and still belonged to the parent's group, is the parent's alone.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if os.environ.get("PYTHONSAFEPATH") == SAFE_PATH:
        del os.environ["PYTHONSAFEPATH"]  # not for the processes that the agent starts
    if parents is not None:
        parents.close()  # a copy, which would keep the pipe open after the parent's end
    if sys.platform.startswith("linux"):
        with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as stream:
            stream.write(str(OOM_SCORE))
    _forget_resource_tracker()
    output.redirect(replace_streams=start_method == "fork")
    pipe = WorkerPipe(connection)
    try:
        context, files = work.make_context()
        pipe.send(Ready(files))
        while (job := pipe.receive()) is not None:
            work.serve(context, job, WorkerSide(pipe, output))
            pipe.send(Done())
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except KeyboardInterrupt:  # from the agent: Ctrl-C does not reach this process
        os._exit(1)
    except StopRun as stop:
        _send_last(pipe, Broken(str(stop), ItineraError.exit_code, stops_run=True))
    except ItineraError as error:
        _send_last(pipe, Broken(str(error), error.exit_code))
    except (Exception, SystemExit) as error:
        _send_last(pipe, Broken(describe_failure(error)["traceback"], 1))


def _send_last(pipe: WorkerPipe, message: Broken) -> None:
    """Send the reason of the end, unless the parent ends the run already for that of another worker."""
    with suppress(BrokenPipeError, ConnectionResetError):
        pipe.send(message)


def _forget_resource_tracker() -> None:
    """Close the pipe to the process that cleans up for the parent: the agent has no business there."""
    tracker = getattr(resource_tracker, "_resource_tracker", None)
    descriptor = getattr(tracker, "_fd", None)
    if isinstance(descriptor, int):
        with suppress(OSError):
            os.close(descriptor)
        tracker._fd = tracker._pid = None  # type: ignore[union-attr]  # a new one is started where it is needed
