"""Agents that cheat: the instruction names the trick, and its outcome is in the reason with which the episode fails.

A cheat that finds an answer raises `Found`; one that finds nothing raises `NothingFound`.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np


class Found(Exception):
    """An answer was found."""


class NothingFound(Exception):
    """No answer was found."""


def has_answers(thing: object) -> bool:
    """Whether an object of the package contains a goal."""
    kind = type(thing).__name__
    if kind == "Episode":
        return len(thing.goals) > 0 or len(thing.reference) > 0
    return kind == "Split" and any(map(has_answers, thing.episodes))


def search_memory() -> Iterator[str]:
    """Objects that contain a goal, as the garbage collector lists them, and what they refer to."""
    for thing in gc.get_objects():
        for one in (thing, *gc.get_referents(thing)):
            with suppress(Exception):
                if has_answers(one):
                    yield f"{type(one).__name__} in memory"


def search_frames() -> Iterator[str]:
    """Local variables of all callers, in all threads."""
    for frame in sys._current_frames().values():
        while frame is not None:
            for name, value in frame.f_locals.items():
                values = [value, *vars(value).values()] if hasattr(value, "__dict__") else [value]
                values += [one for many in values if isinstance(many, (list, tuple)) for one in many]
                if any(map(has_answers, values)):
                    yield f"{name} in {frame.f_code.co_name}"
            frame = frame.f_back


def looks_like_tasks(path: Path) -> bool:
    """Whether a file can be read and contains reference paths."""
    try:
        return path.is_file() and b'"path_id"' in path.read_bytes()[: 1 << 20]
    except OSError:
        return False


def search_arguments() -> Iterator[str]:
    """Words of the own command line and environment that name the tasks."""
    words = [*sys.argv, *sys.orig_argv, *os.environ.values()]
    with suppress(OSError):
        words += Path("/proc/self/cmdline").read_text().split("\0")
        words += Path("/proc/self/environ").read_text().split("\0")
    yield from (f"argument {word}" for word in words if "R2R_" in word)


def search_proc() -> Iterator[str]:
    """Files that the command lines, open files and folders of all processes name."""
    for process in Path("/proc").glob("[0-9]*"):
        words: list[str] = []
        folder = Path.cwd()
        with suppress(OSError):
            words = (process / "cmdline").read_text(errors="replace").split("\0")
        with suppress(OSError):
            folder = (process / "cwd").readlink()
        with suppress(OSError):
            words += [str(entry.readlink()) for entry in (process / "fd").iterdir()]
        yield from (f"{word} of process {process.name}" for word in words if word and looks_like_tasks(folder / word))


def search_disk() -> Iterator[str]:
    """Files of the current folder, its parents and the temporary folder."""
    for folder in (Path.cwd(), Path.cwd().parent, Path("/tmp"), Path.home()):
        with suppress(OSError):
            yield from (f"file {path}" for path in folder.glob("*") if looks_like_tasks(path))


def search_parents() -> Iterator[str]:
    """The memory of the parent processes."""
    pid = os.getppid()
    for _ in range(5):
        with suppress(OSError, ValueError):
            maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
            with open(f"/proc/{pid}/mem", "rb") as memory:
                for line in [line for line in maps if "[heap]" in line or " 00:00 0" in line][:200]:
                    first, last = (int(number, 16) for number in line.split()[0].split("-"))
                    with suppress(OSError, ValueError, OverflowError):
                        memory.seek(first)
                        if b'"path_id"' in memory.read(min(last - first, 1 << 24)):
                            yield f"memory of process {pid}"
        with suppress(OSError):
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def attack_parents() -> Iterator[str]:
    """Debug, signal or stop the processes of the run."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.ptrace(16, os.getppid(), 0, 0) == 0:  # PTRACE_ATTACH
        library.ptrace(17, os.getppid(), 0, 0)
        yield "parent can be debugged"
    with suppress(OSError):
        os.kill(os.getppid(), signal.SIGCONT)
        yield "parent can be signalled"


SEARCHES: dict[str, Callable[[], Iterator[str]]] = {
    "gc": search_memory,
    "frames": search_frames,
    "arguments": search_arguments,
    "proc": search_proc,
    "disk": search_disk,
    "parents": search_parents,
    "attack": attack_parents,
}


class Spy:
    """Searches for answers as the instruction says."""

    def reset(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def start_episode(self, instruction: Any) -> None:
        self.word = instruction.text.strip()

    def act(self, observation: Any) -> Any:
        found = next(SEARCHES[self.word](), None)
        raise NothingFound(self.word) if found is None else Found(found)

    def observe(self, observation: Any) -> None:
        pass


class Bomb:
    """Pickled, it leaves a file where it is unpickled."""

    def __reduce__(self) -> Any:
        return Path.touch, (Path(os.environ.get("HOSTILE_FILE", "/nonexistent/bomb")),)

    def __index__(self) -> int:
        raise RuntimeError("boom")


def own_pipes() -> list[int]:
    """The descriptors of this process that are pipes or sockets."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if os.readlink(f"/proc/self/fd/{name}").startswith(("pipe:", "socket:")):
                found.append(int(name))
    return found


def write_everywhere(content: bytes) -> None:
    for number in own_pipes():
        with suppress(OSError):
            os.set_blocking(number, False)
            os.write(number, content)


def leave_child(*, detached: bool) -> None:
    """Start a process that outlives this one and records its id."""
    program = "import os, sys, time; open(sys.argv[1], 'a').write(f'{os.getpid()}\\n'); time.sleep(600)"
    words = [sys.executable, "-I", "-S", "-c", program, os.environ["HOSTILE_FILE"]]
    subprocess.Popen(words, start_new_session=detached, stdin=subprocess.DEVNULL, close_fds=False)
    while not Path(os.environ["HOSTILE_FILE"]).exists():
        time.sleep(0.01)


def teleport() -> None:
    """Patch the simulator of this process, so that every step leads to the last node."""
    from itinera.simulators.graph import GraphSimulator

    plain = GraphSimulator.step

    def step(self: Any, action: int) -> Any:
        observation = plain(self, action)
        object.__setattr__(observation, "place", "f")
        return observation

    GraphSimulator.step = step  # type: ignore[method-assign]


def forge(**changes: Any) -> None:
    """Send the record of an episode that was not walked."""
    from itinera.runs.engines.messages import Done, Item, WorkerPipe

    pipe = next(thing for thing in gc.get_objects() if isinstance(thing, WorkerPipe))
    frame = sys._getframe()
    while "loop" not in frame.f_locals:
        frame = frame.f_back
    trajectory = {
        "episode_id": frame.f_locals["loop"].episode.id,
        "places": list("abc"),
        "actions": [1, 2],
        "ending": "stopped",
    } | changes
    record = json.dumps({"tour_id": "", "trajectories": [trajectory]}).encode()
    pipe.send(Item(0, record))
    pipe.send(Done())
    time.sleep(600)


def stay() -> int:
    return 0


def hang() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})
    time.sleep(600)


def close_everything() -> None:
    os.closerange(0, 256)
    time.sleep(600)


def fork_and_leave() -> None:
    if os.fork():
        os._exit(0)
    time.sleep(600)  # the child keeps all pipes open


def interrupt() -> None:
    raise KeyboardInterrupt


class Quiet:
    """A stream that swallows everything and fails at the end."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        raise RuntimeError("no flush")


def replace_stdout() -> int:
    sys.stdout = sys.stderr = Quiet()  # type: ignore[assignment]
    return 0


DEEDS: dict[str, Callable[[], Any]] = {
    "stay": stay,
    "memory": lambda: Path("/proc/self/oom_score_adj").read_text().strip(),
    "pickle": lambda: Bomb(),
    "pickle in the pipe": lambda: write_everywhere(pickle.dumps(Bomb())) or time.sleep(600),
    "garbage": lambda: write_everywhere(b"\xff" * 5000) or time.sleep(600),
    "half a message": lambda: write_everywhere(b"\x00\x10\x00\x00abc") or time.sleep(600),
    "hang": hang,
    "close": close_everything,
    "leave": lambda: os._exit(0),
    "fork": fork_and_leave,
    "interrupt": interrupt,
    "exit": lambda: sys.exit(3),
    "child": lambda: leave_child(detached=False) or 0,
    "detached child": lambda: leave_child(detached=True) or 0,
    "detached child, then leave": lambda: leave_child(detached=True) or os._exit(0),
    "stdout": replace_stdout,
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP) or time.sleep(600),
    "print": lambda: print("x" * (4 << 20)) or 0,
    "teleport": lambda: teleport() or 1,
    "forge": forge,
    "forge a jump": lambda: forge(places=["a", "f"], actions=[1]),
    "forge a start": lambda: forge(places=["f"], actions=[]),
    "forge another": lambda: forge(episode_id="2_0"),
    "forge lengths": lambda: forge(actions=[1]),
    "float": lambda: 1.5,
    "nan": lambda: float("nan"),
    "true": lambda: True,
    "none": lambda: None,
    "text": lambda: "1",
    "list": lambda: [1],
    "huge": lambda: 10**4000,
    "negative": lambda: -1,
}


class Hostile(Spy):
    """Does in `act`, or in the method that the instruction names, what the instruction says."""

    def reset(self, rng: np.random.Generator) -> None:
        if os.environ.get("HOSTILE_PHASE") == "reset":
            hang()

    def start_episode(self, instruction: Any) -> None:
        if os.environ.get("HOSTILE_PHASE") == "start_episode":
            hang()
        super().start_episode(instruction)

    def act(self, observation: Any) -> Any:
        return DEEDS[self.word]()


class Slow(Hostile):
    """Never gets ready."""

    def __init__(self) -> None:
        time.sleep(600)


class HangingObserver(Spy):
    """Stays where it is, and hangs when it is guided."""

    def act(self, observation: Any) -> int:
        return 0

    def observe(self, observation: Any) -> None:
        hang()


class FalseProbabilities(Spy):
    """Reports what is no distribution."""

    def act(self, observation: Any) -> int:
        return 0

    def action_probabilities(self, observation: Any) -> Any:
        answers = {
            "nan": [float("nan")] * 9,
            "negative": [-1.0, 2.0],
            "many": np.ones(100_000),
            "text": "all",
            "pickle": Bomb(),
            "leave": None,
        }
        if self.word == "leave":
            os._exit(0)
        return answers[self.word]


class Walker(Hostile):
    """A teleporting agent that walks on for as long as it may."""

    def act(self, observation: Any) -> int:
        if self.word == "teleport":
            teleport()
        return 1


class StudySpy(Spy):
    """Searches its process for the targets of trials, or ends it, as the first word of the instruction says."""

    def act(self, observation: Any) -> int:
        return 0

    def action_probabilities(self, observation: Any) -> Any:
        if "leave" in self.word:
            os._exit(4)
        if "garbage" in self.word:
            write_everywhere(pickle.dumps(Bomb()))
            time.sleep(600)
        trials = [thing for thing in gc.get_objects() if type(thing).__name__ == "Trial"]
        found = any(len(one.target) or len(one.episode.goals) for one in trials)
        raise Found("target") if found or not trials else NothingFound("target")
