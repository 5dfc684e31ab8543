"""A process that walks tours for another: it takes them from a pipe and tells of every episode.

Whatever is printed in it goes down a second pipe, `Printed`, so that the other can pass it on, or put an end to it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from itinera.errors import ItineraError
from itinera.records import Trajectory
from itinera.runs.config import Asked, Crew, Recipe, Rules, walk_tour, world_of
from itinera.runs.output_capture import Printed
from itinera.runs.rollout import failure


def hire(recipe: Recipe, rules: Rules) -> tuple[BaseProcess, Connection, Printed]:
    """A worker at work, the pipe to it, and what it prints.

    It says ("ready",) once; of every tour it is sent ("began",) when the world is at hand, ("told", number, trajectory)
    of each episode and ("done",); and ("broken", why, exit code) if it cannot work at all. What it had printed before
    it began or told is marked.
    """
    # Fresh processes, not copies of this one: what they do cannot depend on what was done here before.
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    printed, voice = context.Pipe(duplex=False)
    mark = os.urandom(16).hex().encode()
    process = context.Process(target=_serve, args=(theirs, _Voice(voice, mark), recipe, rules))
    process.start()
    theirs.close()
    voice.close()
    return process, ours, Printed(printed, mark)


def end(process: BaseProcess) -> None:
    """End a worker at once, with whatever it started."""
    try:
        os.killpg(process.pid or 0, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()  # it has no group of its own yet, or is gone
    process.join()


@dataclass(frozen=True, eq=False)
class _Voice:
    """Where all that is printed in a worker goes."""

    pipe: Connection
    mark: bytes

    def take_over(self) -> None:
        """From now on nothing printed goes anywhere else."""
        for stream in (1, 2):
            os.dup2(self.pipe.fileno(), stream)

    def set_mark(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):  # of an agent that has closed it, or put something else in its place
                stream.flush()
        with suppress(OSError):
            os.write(self.pipe.fileno(), self.mark)


def _serve(pipe: Connection, voice: _Voice, recipe: Recipe, rules: Rules) -> None:
    os.setpgid(0, 0)  # so that Ctrl-C is for the one who started us, and we can be ended with all we start
    _end_with_parent()
    voice.take_over()
    try:
        crew = recipe()
        pipe.send(("ready",))
        while True:
            _walk(pipe, voice, crew, pipe.recv(), rules)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except ItineraError as error:
        pipe.send(("broken", str(error), error.exit_code))
    except (Exception, SystemExit) as error:
        pipe.send(("broken", failure(error)["traceback"], 1))


def _walk(pipe: Connection, voice: _Voice, crew: Crew, asked: Asked, rules: Rules) -> None:
    def told(number: int, trajectory: Trajectory) -> None:
        voice.set_mark()
        pipe.send(("told", number, trajectory))

    _make_ready(crew, asked)
    voice.set_mark()
    pipe.send(("began",))
    walk_tour(crew, asked, rules, told)
    pipe.send(("done",))


def _make_ready(crew: Crew, asked: Asked) -> None:
    """Have the world and all that a body needs in it at hand: to make them is not the agent's time."""
    world = world_of(crew, asked.tour)
    with suppress(Exception):  # which the walk will meet again, and record
        crew.simulator.reset(world, asked.episodes[0].start)


def _end_with_parent() -> None:
    """Let this process and what it started end when its parent does, however that ends."""
    parent = parent_process()

    def watch() -> None:
        wait([parent.sentinel] if parent is not None else [])
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
