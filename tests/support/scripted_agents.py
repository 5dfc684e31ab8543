"""Agents that follow a script, and agents that break the contract in every way the instruction can name."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np

from itinera.errors import BadArgument
from itinera.mapping.egocentric_map import EgocentricMaps
from itinera.rendering.camera import CHANNELS
from itinera.runs.config import WorkerContext
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Instruction
from itinera.worlds import NavGraph, World

STREETS = {"house": "abcdef", "hut": "pqrst"}  # 2 m from node to node


def make_context(agent: Callable[[], Any]) -> WorkerContext:
    """An agent with two short streets as its worlds, as a worker process builds it."""
    worlds = {name: World(name, _street(nodes)) for name, nodes in STREETS.items()}
    return WorkerContext(agent(), GraphSimulator(), worlds)


def _street(nodes: str) -> NavGraph:
    # Not by text_worlds: without its imports, worker processes start faster.
    return NavGraph.from_edges({node: (2.0 * k, 0.0, 0.0) for k, node in enumerate(nodes)}, [*pairwise(nodes)])


def broken_context() -> WorkerContext:
    raise BadArgument("nobody came.")


def dying_context() -> WorkerContext:
    os._exit(5)


class Still:
    """Stays where it is."""

    def reset(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def start_episode(self, instruction: Instruction) -> None:
        self.instruction = instruction

    def act(self, observation: Observation) -> Any:
        return STOP

    def observe(self, observation: Observation) -> None:
        pass


class Wanderer(Still):
    """Moves to a random neighbor and stops with probability 1/6."""

    def act(self, observation: Observation) -> Any:
        assert observation.candidates is not None
        candidates = len(observation.candidates.nodes)
        return STOP if self.rng.random() < 1 / 6 else int(self.rng.integers(1, candidates + 1))

    def action_probabilities(self, observation: Observation) -> Any:
        assert observation.candidates is not None
        candidates = len(observation.candidates.nodes)
        return np.array([1 / 6, *np.full(candidates, 5 / 6 / candidates)])


class MapKeeper(Still):
    """Drives about at random on the ground and holds maps that say where it made them."""

    held: EgocentricMaps | None = None

    def act(self, observation: Observation) -> Any:
        self.observe(observation)
        return STOP if self.rng.random() < 1 / 8 else int(self.rng.integers(1, 4))

    def observe(self, observation: Observation) -> None:
        labels = np.zeros((1, 8, 8), dtype=np.uint16)
        labels[0, 0, :2] = self.mark(observation.place)
        self.held = EgocentricMaps((labels > 0).astype(np.uint8), labels, cell=0.5, legend=())

    @staticmethod
    def mark(place: Any) -> list[int]:
        """The labels that stand for a position."""
        return [1 + round(100 * abs(float(value))) for value in place[:2]]

    def held_map(self) -> EgocentricMaps | None:
        return self.held


class Scripted(Still):
    """Visits the nodes listed for its instruction, then stops; records every observation."""

    def __init__(self, candidates: Mapping[str, Sequence[str]]) -> None:
        self.candidates = candidates
        self.diary: list[tuple[str, str]] = []
        self.seen: list[Observation] = []

    def start_episode(self, instruction: Instruction) -> None:
        self.left = list(self.candidates.get(instruction.text, ()))
        self.diary.append(("start_episode", instruction.text))

    def act(self, observation: Observation) -> Any:
        self._note("act", observation)
        assert observation.candidates is not None
        return 1 + observation.candidates.nodes.index(self.left.pop(0)) if self.left else STOP

    def observe(self, observation: Observation) -> None:
        self._note("observe", observation)

    def _note(self, how: str, observation: Observation) -> None:
        self.diary.append((how, str(observation.place)))
        self.seen.append(observation)


class Misbehaving(Wanderer):
    """A `Wanderer`, except that instructions such as "crash", "leave" or "hang" are executed."""

    def start_episode(self, instruction: Instruction) -> None:
        self.word = instruction.text

    def act(self, observation: Observation) -> Any:
        deeds = {
            "crash": self._crash,
            "leave": lambda: os._exit(3),
            "abort": os.abort,
            "exit": lambda: exit("enough"),
            "hang": lambda: time.sleep(600),
            "nonsense": lambda: "left",
            "nan": lambda: float("nan"),
            "true": lambda: True,
            "none": lambda: None,
            "far": lambda: 10**30,
            "back": lambda: -1,
            "print": self._print,
            "print half": lambda: print("x" * (600 << 10)) or STOP,
            "print little by little": lambda: [print("x" * 1000, flush=True) for _ in range(4000)] and STOP,
            "mutter": lambda: print("hm") or print("hmm", file=sys.stderr) or STOP,
            "complain": lambda: print("y" * (4 << 20), file=sys.stderr) or STOP,
            "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
            "close": self._close,
        }
        return deeds[self.word]() if self.word in deeds else super().act(observation)

    def _crash(self) -> Any:
        raise ValueError(f"{object()} is no good")

    def _close(self) -> Any:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            stream.close()
        for number in (0, 1, 2):
            with suppress(OSError):
                os.close(number)
        return STOP

    def _print(self) -> Any:
        print("x" * (4 << 20))
        return STOP


class Obedient(Misbehaving):
    """Misbehaves if the instruction says so, and otherwise stays at the start."""

    def start_episode(self, instruction: Instruction) -> None:
        super().start_episode(instruction)
        self.idle = instruction.text in ("stay", "stop")

    def act(self, observation: Observation) -> Any:
        return STOP if self.idle else super().act(observation)


class Racer(Still):
    """Always chooses the last of fifteen speeds."""

    def act(self, observation: Observation) -> Any:
        return 14


class Witness(Still):
    """Raises an error whose message lists the contents of the observation."""

    def act(self, observation: Observation) -> Any:
        views, frame, description = observation.views, observation.frame, observation.description
        seen = [] if views is None else [f"views {views.shape} {views.sum():.4g}"]
        if frame is not None:
            seen += [f"{name} {array.shape}" for name in CHANNELS if len(array := getattr(frame, name))]
        raise RuntimeError(", ".join([*seen, *([] if description is None else ["a sight"])]) or "nothing")


class Telling(Still):
    """Raises an error whose message is the id of its process."""

    def act(self, observation: Observation) -> Any:
        raise RuntimeError(str(os.getpid()))


class Dawdler(Wanderer):
    """A slow `Wanderer`: 3 ms per action."""

    def act(self, observation: Observation) -> Any:
        time.sleep(0.003)
        return super().act(observation)
