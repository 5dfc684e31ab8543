"""An agent's action distribution at the end of a path it was guided along."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from itinera.worlds import Array

HEADING_TOLERANCE = 1e-8  # radians: a node straight behind is at +pi whichever way its heading was rounded


@dataclass(frozen=True, eq=False)
class ActionDistribution:
    """The probability an agent assigned to each action in one trial. If the trial failed, `failed` says why."""

    trial_id: str
    heading: float  # radians counter-clockwise from +x, where the agent faced
    nodes: tuple[str, ...]  # navigable candidates, in the order of the actions
    headings: Array  # (k,) radians counter-clockwise from +x, of the nodes as seen from the agent's node
    probabilities: Array  # (1 + k,) of STOP, then of each node; they sum to 1
    greedy_path: tuple[
        str, ...
    ] = ()  # nodes visited afterwards by greedy actions, from the agent's node on; () if none
    failed: str = ""

    @classmethod
    def failure(cls, trial_id: str, reason: str) -> ActionDistribution:
        """The record of a trial in which the agent failed.

        >>> ActionDistribution.failure("7_1_2.stop", "RuntimeError: no model").failed
        'RuntimeError: no model'
        """
        return cls(trial_id, 0.0, (), np.empty(0), np.empty(0), failed=reason)

    @property
    def stop(self) -> float:
        """The probability of STOP."""
        return float(self.probabilities[0])

    @property
    def moves(self) -> Array:
        """(k,) the probability of each node."""
        return self.probabilities[1:]

    @property
    def relative_headings(self) -> Array:
        """(k,) radians to the left of the agent's heading, in (-pi, pi], of each node."""
        angles = math.pi - (math.pi - (self.headings - self.heading)) % math.tau
        return np.where(angles <= -math.pi + HEADING_TOLERANCE, math.pi, angles)
