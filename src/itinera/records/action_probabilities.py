"""What an agent leaned to when it was asked at the end of a walk it was led along."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from itinera.worlds import Array

ROUNDED = 1e-8  # radians: what is straight behind is so whichever way its heading was rounded


@dataclass(frozen=True, eq=False)
class Leaning:
    """How likely each action was to an agent in one trial. Where it could not be asked, `failed` says why."""

    trial_id: str
    heading: float  # radians counter-clockwise from +x, where the agent faced when it was asked
    nodes: tuple[str, ...]  # one step away, in the order of the actions
    headings: Array  # (k,) radians counter-clockwise from +x, of the nodes as seen from there
    probabilities: Array  # (1 + k,) of stopping, then of each node; they sum to 1
    walked: tuple[str, ...] = ()  # where it went on to by its likeliest actions, from where it was asked; () if not let
    failed: str = ""

    @property
    def stop(self) -> float:
        """The probability of stopping."""
        return float(self.probabilities[0])

    @property
    def moves(self) -> Array:
        """(k,) the probability of each node."""
        return self.probabilities[1:]

    @property
    def relative(self) -> Array:
        """(k,) radians to the left of where the agent faced, in (-pi, pi], of each node."""
        angles = math.pi - (math.pi - (self.headings - self.heading)) % math.tau
        return np.where(angles <= -math.pi + ROUNDED, math.pi, angles)


def unasked(trial_id: str, why: str) -> Leaning:
    """The leaning of an agent that could not be asked."""
    return Leaning(trial_id, 0.0, (), np.empty(0), np.empty(0), failed=why)
