"""The agent contract: four methods. An agent receives the instruction of an episode, never its goal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from itinera.errors import BadArgument
from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction
from itinera.worlds import Array

METHODS = ("reset", "start_episode", "act", "observe")
TOLERANCE = 1e-4  # how far probabilities may sum from 1: the error of single precision
MAX_USAGE, LONGEST_USAGE, LARGEST_USAGE = 32, 200, 2.0**53  # of `episode_usage`: values, characters, numbers


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


@runtime_checkable
class MeteredAgent(Agent, Protocol):
    """An agent that reports what an episode takes, such as calls of a language model, their tokens and cost."""

    def episode_usage(self) -> Mapping[str, float | int | str]:
        """Numbers and short texts by name, of the current episode so far. Must not change the agent's state.

        Scores know calls, prompt_tokens, completion_tokens, cost (US dollars) and unparsable (answers).
        """
        ...


class StopRun(BaseException):
    """No episode can go well any more, through no fault of the agent: its server is gone, or its money spent.

    It stops the run, which keeps the rollouts that are finished, instead of failing the episode. So it is no Exception.
    """


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


def validate_usage(usage: Any) -> dict[str, float | int | str]:
    """What `episode_usage` returned, as a dict; raises BadArgument if it is not a small mapping of finite numbers."""
    if not isinstance(usage, Mapping) or len(usage) > MAX_USAGE:
        raise BadArgument(f"episode_usage() returned {_short(usage)}; expected at most {MAX_USAGE} values by name.")
    for name, value in usage.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST_USAGE
        is_text = isinstance(value, str) and len(value) <= LONGEST_USAGE
        if not isinstance(name, str) or not (is_number or is_text):
            raise BadArgument(
                f"episode_usage() returned {_short(name)}: {_short(value)}; expected finite numbers, or texts of at "
                f"most {LONGEST_USAGE} characters, by name."
            )
    return dict(usage)


def _short(value: object, max_length: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= max_length else f"{text[:max_length]}…"
