"""Who acts: anything with these four methods. An agent is told the words of a task, never its answer."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction
from itinera.worlds import Array


class Agent(Protocol):
    """Someone who can be sent through a place."""

    def reset(self, rng: np.random.Generator) -> None:
        """A new place: forget. Whatever is left to chance is drawn from `rng`."""
        ...

    def start_episode(self, instruction: Instruction) -> None:
        """A new task in a place it may know by now."""
        ...

    def act(self, observation: Observation) -> int:
        """What to do next; STOP (0) ends the episode."""
        ...

    def observe(self, observation: Observation) -> None:
        """Being led: look, do not act."""
        ...


@runtime_checkable
class ProbabilisticAgent(Agent, Protocol):
    """An agent that can say how much it would like each action."""

    def action_probabilities(self, observation: Observation) -> Array:
        """(actions,) the probability of each, STOP first."""
        ...
