"""Processes that agents start: on Linux, found in /proc and ended with all their descendants, whatever they did.

A process that leaves its group and its session (`setsid`), or whose parent has ended, is adopted by the nearest
ancestor that called `adopt_orphans`. Elsewhere only process groups are ended.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress

SET_PDEATHSIG, SET_CHILD_SUBREAPER, GET_CHILD_SUBREAPER = 1, 36, 37  # of Linux's prctl
MAX_ROUNDS = 1000  # of killing; a process that forks as fast as it can is caught within a few


def adopt_orphans(adopt: bool = True) -> bool:
    """Become the parent of descendants whose own parent ends (Linux), or stop that; whether it was so before."""
    if not sys.platform.startswith("linux"):
        return False
    library = ctypes.CDLL(None)
    before = ctypes.c_int(0)
    library.prctl(GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    library.prctl(SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)
    return bool(before.value)


def kill_with_parent() -> None:
    """Let the kernel (Linux) kill this process when its parent ends, even while a library keeps Python's lock."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(SET_PDEATHSIG, signal.SIGKILL)


def _parents(*, zombies: bool = False) -> dict[int, int]:
    """The parent of every process, with `zombies` also of those that have ended and nobody has waited for."""
    found = {}
    for name in os.listdir("/proc") if sys.platform.startswith("linux") else ():
        if name.isdecimal():
            with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as stream:
                state, parent = stream.read().rpartition(b")")[2].split()[:2]  # a name may contain anything
                if zombies or state not in (b"Z", b"X"):
                    found[int(name)] = int(parent)
    return found


def children(pid: int) -> set[int]:
    """The processes that a process is the parent of, zombies included; on Linux only."""
    return {child for child, parent in _parents(zombies=True).items() if parent == pid}


def descendants(pid: int) -> set[int]:
    """The children of a process, their children, and so on; on Linux only."""
    parents = _parents()
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def kill_descendants(pid: int) -> None:
    """Kill every descendant of a process that adopts orphans and is not creating more itself."""
    for _ in range(MAX_ROUNDS):
        found = descendants(pid)
        if not found:
            return
        for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, so that none can fork meanwhile
            for process in found:
                with suppress(OSError):
                    os.kill(process, number)


def kill_tree(pid: int) -> None:
    """Kill a process with its group and all its descendants. The caller waits for it."""
    with suppress(OSError):
        os.kill(pid, signal.SIGSTOP)
    kill_descendants(pid)
    for kill in (os.killpg, os.kill):
        with suppress(OSError):
            kill(pid, signal.SIGKILL)


class OrphanReaper:
    """Ends, when it exits, the processes that this one adopted meanwhile from workers that had ended by themselves."""

    def __enter__(self) -> OrphanReaper:
        self._before = children(os.getpid())
        self._adopting = adopt_orphans()
        return self

    def __exit__(self, *exception: object) -> None:
        for _ in range(MAX_ROUNDS):
            orphans = children(os.getpid()) - self._before
            orphans -= _started_here() if orphans else set()
            if not orphans:
                break
            for pid in orphans:
                kill_tree(pid)
                with suppress(OSError):
                    os.waitpid(pid, 0)
        adopt_orphans(self._adopting)


def _started_here() -> set[int]:
    """The processes that other parts of this program started and have not waited for."""
    import gc
    import multiprocessing
    import subprocess
    from multiprocessing import resource_tracker

    found = {process.pid for process in multiprocessing.active_children()}
    found |= {thing.pid for thing in gc.get_objects() if issubclass(type(thing), subprocess.Popen)}
    found.add(getattr(getattr(resource_tracker, "_resource_tracker", None), "_pid", None))
    return {pid for pid in found if pid is not None}
