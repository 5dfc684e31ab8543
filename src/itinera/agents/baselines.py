"""Baseline agents, which ignore the instruction: what a score is worth shows against theirs."""

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
HEADING_OFFSET = 0.1  # radians added to the relative heading of a candidate, so that every weight is finite


class StationaryAgent:
    """Stops at once. On a graph, this is the only way not to move."""

    def __init__(self, *, ground_actions: int = GROUND_ACTIONS) -> None:
        self._ground_actions = ground_actions

    def reset(self, rng: np.random.Generator) -> None:
        """This agent is deterministic."""

    def start_episode(self, instruction: Instruction) -> None:
        """This agent ignores the instruction."""

    def act(self, observation: Observation) -> int:
        return STOP

    def observe(self, observation: Observation) -> None:
        """This agent ignores observations."""

    def action_probabilities(self, observation: Observation) -> Array:
        weights = np.zeros(_count(observation, self._ground_actions))
        weights[STOP] = 1
        return weights


class UniformAgent:
    """Takes every action with equal probability, STOP included."""

    def __init__(self, *, ground_actions: int = GROUND_ACTIONS) -> None:
        self._ground_actions = ground_actions

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def start_episode(self, instruction: Instruction) -> None:
        """This agent ignores the instruction."""

    def act(self, observation: Observation) -> int:
        return int(self._rng.integers(_count(observation, self._ground_actions)))

    def observe(self, observation: Observation) -> None:
        """This agent ignores observations."""

    def action_probabilities(self, observation: Observation) -> Array:
        count = _count(observation, self._ground_actions)
        return np.full(count, 1 / count)


class RandomWalkAgent:
    """The random agent of Stay on the Path, on graphs: a number of moves to uniformly drawn candidates, then STOP.

    The number is drawn for each episode from `moves`, one per reference path (see `count_moves`). The paper draws from
    the training split; drawing from the evaluated split reproduces more of its numbers.
    Reference: Jain et al. 2019, Stay on the Path, footnote 3.
    """

    def __init__(self, moves: Sequence[int]) -> None:
        if not len(moves) or min(moves) < 0:
            raise BadArgument("moves must be numbers to draw from, at least one and none negative.")
        self._moves = tuple(int(number) for number in moves)

    def reset(self, rng: np.random.Generator) -> None:
        self._rng, self._left = rng, 0

    def start_episode(self, instruction: Instruction) -> None:
        self._left = self._moves[int(self._rng.integers(len(self._moves)))]

    def act(self, observation: Observation) -> int:
        candidates = _count_candidates(observation)
        if self._left == 0 or candidates == 0:
            return STOP
        self._left -= 1
        return 1 + int(self._rng.integers(candidates))

    def observe(self, observation: Observation) -> None:
        """A guided move counts as one of its own."""
        self._left = max(self._left - 1, 0)

    def action_probabilities(self, observation: Observation) -> Array:
        candidates = _count_candidates(observation)
        if self._left == 0 or candidates == 0:
            return np.array([1.0, *[0.0] * candidates])
        return np.array([0.0, *[1 / candidates] * candidates])


def count_moves(references: Iterable[Sequence[object] | Array]) -> tuple[int, ...]:
    """The number of moves of each reference path, for `RandomWalkAgent`."""
    moves = tuple(len(places) - 1 for places in references if len(places))
    if not moves:
        raise BadArgument("The tasks contain no reference paths, which the lengths of random walks are drawn from.")
    return moves


class ForwardBiasedAgent:
    """Prefers the candidate ahead, on graphs: its weight is 1 / (0.1 + relative heading in radians).

    It stops with probability 1 / `stop_once_in`, or never if that is None, as where only its direction matters.
    Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents.
    """

    def __init__(self, *, stop_once_in: float | None = None) -> None:
        if stop_once_in is not None and not stop_once_in >= 1:
            raise BadArgument(f"stop_once_in must be ≥ 1 (got {stop_once_in}).")
        self._stop = 0.0 if stop_once_in is None else 1 / stop_once_in

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def start_episode(self, instruction: Instruction) -> None:
        """This agent ignores the instruction."""

    def act(self, observation: Observation) -> int:
        return _sample(self._rng, self.action_probabilities(observation))

    def observe(self, observation: Observation) -> None:
        """This agent ignores observations."""

    def action_probabilities(self, observation: Observation) -> Array:
        if not _count_candidates(observation):
            return np.ones(1)
        assert observation.candidates is not None
        headings = observation.candidates.headings.tolist()
        relative = [abs(math.remainder(heading - observation.heading, math.tau)) for heading in headings]
        weights = np.array([1 / (HEADING_OFFSET + angle) for angle in relative])
        return np.array([self._stop, *(1 - self._stop) * weights / weights.sum()])


class GroundRandomAgent:
    """The random agent of VLN-CE: STOP, forward, left and right with fixed probabilities."""

    def __init__(self, probabilities: Sequence[float] = (0.02, 0.68, 0.15, 0.15)) -> None:
        weights = np.array(probabilities, dtype=np.float64)
        if weights.ndim != 1 or not (weights >= 0).all() or not math.isclose(weights.sum(), 1):
            raise BadArgument(f"probabilities must be ≥ 0 and sum to 1 (got {tuple(probabilities)}).")
        self._weights = weights
        self._weights.flags.writeable = False

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def start_episode(self, instruction: Instruction) -> None:
        """This agent ignores the instruction."""

    def act(self, observation: Observation) -> int:
        return _sample(self._rng, self._weights)

    def observe(self, observation: Observation) -> None:
        """This agent ignores observations."""

    def action_probabilities(self, observation: Observation) -> Array:
        return self._weights


class HandcraftedAgent:
    """The hand-crafted agent of VLN-CE: up to `max_turns` right turns, the forward steps of an average path, STOP."""

    def __init__(self, *, max_turns: int = 24, steps: int = 37) -> None:
        if max_turns < 0 or steps < 0:
            raise BadArgument(f"max_turns and steps must be ≥ 0 (got {max_turns} and {steps}).")
        self._max_turns, self._steps = max_turns, steps

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def start_episode(self, instruction: Instruction) -> None:
        turns = int(self._rng.integers(self._max_turns + 1))
        self._left = [STOP] + [FORWARD] * self._steps + [RIGHT] * turns

    def act(self, observation: Observation) -> int:
        return self._left.pop()

    def observe(self, observation: Observation) -> None:
        """This agent ignores observations."""


def _count_candidates(observation: Observation) -> int:
    if observation.candidates is None:
        raise BadArgument("This agent is for graphs only. On the ground use GroundRandomAgent or HandcraftedAgent.")
    return len(observation.candidates.nodes)


def _count(observation: Observation, on_ground: int) -> int:
    """The number of actions, STOP included."""
    return on_ground if observation.candidates is None else 1 + len(observation.candidates.nodes)


def _sample(rng: np.random.Generator, weights: Array) -> int:
    """An index drawn with these weights; never one of weight 0, whatever rounding does to the sum."""
    reached = np.cumsum(weights)
    return int(np.searchsorted(reached, rng.random() * reached[-1], side="right"))
