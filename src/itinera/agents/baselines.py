"""Agents that neither learn nor listen: what scores are worth is told by how far these get.

All chance comes from the generator they are given when they enter a place.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from itinera.errors import BadArgument
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Instruction
from itinera.worlds import Array

FORWARD, RIGHT = 1, 3  # on the ground, where there are also STOP and left
GROUND_ACTIONS = 4
AHEAD = 0.1  # radians added to how far aside a way lies, so that one straight ahead has a finite weight


class Still:
    """Stops at once. To stop is the only way not to move on a graph, so whoever never moves is this agent."""

    def __init__(self, *, ground_actions: int = GROUND_ACTIONS) -> None:
        self._ground_actions = ground_actions

    def reset(self, rng: np.random.Generator) -> None:
        """Nothing is left to chance."""

    def start_episode(self, instruction: Instruction) -> None:
        """It does not listen."""

    def act(self, observation: Observation) -> int:
        return STOP

    def observe(self, observation: Observation) -> None:
        """It does not look."""

    def action_probabilities(self, observation: Observation) -> Array:
        weights = np.zeros(_count(observation, self._ground_actions))
        weights[STOP] = 1
        return weights


class Uniform:
    """Every action is as likely as any other, STOP among them."""

    def __init__(self, *, ground_actions: int = GROUND_ACTIONS) -> None:
        self._ground_actions = ground_actions

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def start_episode(self, instruction: Instruction) -> None:
        """It does not listen."""

    def act(self, observation: Observation) -> int:
        return int(self._rng.integers(_count(observation, self._ground_actions)))

    def observe(self, observation: Observation) -> None:
        """It does not look."""

    def action_probabilities(self, observation: Observation) -> Array:
        count = _count(observation, self._ground_actions)
        return np.full(count, 1 / count)


class RandomWalk:
    """The random agent of Stay on the Path, on graphs: so many moves, each to a neighbour chosen evenly, then STOP.

    How many is drawn for each episode from `moves`, a number for each reference path (see `moves_of`). The paper takes
    the paths of the training split; with those of the split that is scored, more of its numbers come out.
    Reference: Jain et al. 2019, Stay on the Path, footnote 3.
    """

    def __init__(self, moves: Sequence[int]) -> None:
        if not len(moves) or min(moves) < 0:
            raise BadArgument("A random walk needs numbers of moves to draw from, none of them negative.")
        self._moves = tuple(int(number) for number in moves)

    def reset(self, rng: np.random.Generator) -> None:
        self._rng, self._left = rng, 0

    def start_episode(self, instruction: Instruction) -> None:
        self._left = self._moves[int(self._rng.integers(len(self._moves)))]

    def act(self, observation: Observation) -> int:
        candidates = _ways(observation)
        if self._left == 0 or candidates == 0:
            return STOP
        self._left -= 1
        return 1 + int(self._rng.integers(candidates))

    def observe(self, observation: Observation) -> None:
        """A move it is led counts as one of its own."""
        self._left = max(self._left - 1, 0)

    def action_probabilities(self, observation: Observation) -> Array:
        candidates = _ways(observation)
        if self._left == 0 or candidates == 0:
            return np.array([1.0, *[0.0] * candidates])
        return np.array([0.0, *[1 / candidates] * candidates])


def moves_of(references: Iterable[Sequence[object] | Array]) -> tuple[int, ...]:
    """How many moves each reference path takes, as `RandomWalk` wants to know."""
    moves = tuple(len(places) - 1 for places in references if len(places))
    if not moves:
        raise BadArgument("No reference path is known, so nobody can tell how long random walks should be.")
    return moves


class ForwardBiased:
    """Goes on ahead, on graphs: a way's weight is inverse to how far it lies aside, 1 / (0.1 + radians).

    It stops one time in `stop_once_in`, and never if that is None, as where only its choice of a way is asked.
    Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents.
    """

    def __init__(self, *, stop_once_in: float | None = None) -> None:
        if stop_once_in is not None and not stop_once_in >= 1:
            raise BadArgument(f"It can stop once in 1 step or more, not once in {stop_once_in}.")
        self._stop = 0.0 if stop_once_in is None else 1 / stop_once_in

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def start_episode(self, instruction: Instruction) -> None:
        """It does not listen."""

    def act(self, observation: Observation) -> int:
        return _drawn(self._rng, self.action_probabilities(observation))

    def observe(self, observation: Observation) -> None:
        """It does not look."""

    def action_probabilities(self, observation: Observation) -> Array:
        if not _ways(observation):
            return np.ones(1)
        assert observation.candidates is not None
        aside = [
            abs(math.remainder(way - observation.heading, math.tau)) for way in observation.candidates.headings.tolist()
        ]
        weights = np.array([1 / (AHEAD + angle) for angle in aside])
        return np.array([self._stop, *(1 - self._stop) * weights / weights.sum()])


class GroundRandom:
    """The random agent of VLN-CE: STOP, forward, left and right with fixed probabilities."""

    def __init__(self, probabilities: Sequence[float] = (0.02, 0.68, 0.15, 0.15)) -> None:
        weights = np.array(probabilities, dtype=np.float64)
        if weights.ndim != 1 or not (weights >= 0).all() or not math.isclose(weights.sum(), 1):
            raise BadArgument(f"Probabilities must not be negative and sum to 1, not {tuple(probabilities)}.")
        self._weights = weights
        self._weights.flags.writeable = False

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def start_episode(self, instruction: Instruction) -> None:
        """It does not listen."""

    def act(self, observation: Observation) -> int:
        return _drawn(self._rng, self._weights)

    def observe(self, observation: Observation) -> None:
        """It does not look."""

    def action_probabilities(self, observation: Observation) -> Array:
        return self._weights


class Handcrafted:
    """The hand-crafted agent of VLN-CE: up to `most_turns` turns to the right, as many forward steps as an average path
    has, STOP."""

    def __init__(self, *, most_turns: int = 24, steps: int = 37) -> None:
        if most_turns < 0 or steps < 0:
            raise BadArgument(f"Turns and steps cannot be negative: {most_turns} and {steps}.")
        self._most_turns, self._steps = most_turns, steps

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def start_episode(self, instruction: Instruction) -> None:
        turns = int(self._rng.integers(self._most_turns + 1))
        self._left = [STOP] + [FORWARD] * self._steps + [RIGHT] * turns

    def act(self, observation: Observation) -> int:
        return self._left.pop()

    def observe(self, observation: Observation) -> None:
        """It does not look."""


def _ways(observation: Observation) -> int:
    if observation.candidates is None:
        raise BadArgument("This agent walks on graphs only. On the ground there are GroundRandom and Handcrafted.")
    return len(observation.candidates.nodes)


def _count(observation: Observation, on_ground: int) -> int:
    """How many actions there are, STOP included."""
    return on_ground if observation.candidates is None else 1 + len(observation.candidates.nodes)


def _drawn(rng: np.random.Generator, weights: Array) -> int:
    """One of these, as likely as its weight; one without weight never, whatever rounding does to the sum."""
    reached = np.cumsum(weights)
    return int(np.searchsorted(reached, rng.random() * reached[-1], side="right"))
