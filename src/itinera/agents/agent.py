"""The agent contract: four methods. An agent receives the instruction of an episode, never its goal."""

from __future__ import annotations

import math
from typing import Any, Protocol, runtime_checkable

import numpy as np

from itinera.errors import BadArgument
from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction
from itinera.worlds import Array

METHODS = ("reset", "start_episode", "act", "observe")
TOLERANCE = 1e-4  # how far probabilities may sum from 1: the error of single precision


@runtime_checkable
class Agent(Protocol):
    """Anything that acts in a simulator. It need not inherit from this class, only have its methods."""

    def reset(self, rng: np.random.Generator) -> None:
        """Start a tour in a new scene: forget everything. All randomness must come from `rng`."""
        ...

    def start_episode(self, instruction: Instruction) -> None:
        """Start an episode, perhaps in a scene seen before on this tour."""
        ...

    def act(self, observation: Observation) -> int:
        """The next action; 0 is STOP and ends the episode."""
        ...

    def observe(self, observation: Observation) -> None:
        """Receive an observation of an oracle phase, in which the agent is guided and does not act."""
        ...


@runtime_checkable
class ProbabilisticAgent(Agent, Protocol):
    """An agent that reports the probability of each action, which skill studies need."""

    def action_probabilities(self, observation: Observation) -> Array:
        """(actions,) the probability of each action, STOP first. Must not change the agent's state."""
        ...


def missing_methods(agent: object) -> list[str]:
    """The names of the methods that an object lacks to be an agent."""
    return [name for name in METHODS if not callable(getattr(agent, name, None))]


def validate_probabilities(values: Any, count: int) -> Array:
    """(count,) what `action_probabilities` returned, as an array; raises BadArgument if it is not a distribution."""
    try:
        probabilities = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadArgument(
            f"action_probabilities() returned {_short(values)}; expected {count} probabilities, STOP first."
        ) from None
    if probabilities.shape != (count,):
        raise BadArgument(
            f"action_probabilities() returned an array of shape {probabilities.shape}; expected ({count},), STOP first."
        )
    if not np.isfinite(probabilities).all() or (probabilities < 0).any():
        raise BadArgument(
            f"action_probabilities() returned {_short(probabilities.tolist())}; "
            "expected finite probabilities that are not negative."
        )
    if not math.isclose(probabilities.sum(), 1, rel_tol=0.0, abs_tol=TOLERANCE):
        raise BadArgument(
            f"action_probabilities() returned probabilities that sum to {probabilities.sum():g}; they must sum to 1."
        )
    return probabilities


def _short(value: object, max_length: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= max_length else f"{text[:max_length]}…"
