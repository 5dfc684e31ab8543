"""Where an agent went in one episode, and how that ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from itinera.worlds import Array, Places

PLACED = -1  # in place of an action: nobody moved, the body was put there

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _nothing() -> Mapping[str, Any]:
    return _NOTHING


class Ending(Enum):
    """How an episode ended. Files that do not say are taken to have stopped."""

    STOPPED = "stopped"
    OUT_OF_STEPS = "out of steps"
    FAILED = "failed"


class Phase(Enum):
    """Who decides where to go. Metrics look at acting only."""

    ACTING = "acting"
    GUIDED_TO_GOAL = "led to goal"
    GUIDED_TO_START = "led to start"


@dataclass(frozen=True, eq=False)
class Choices:
    """What an agent weighed at each step: the candidates and the probability it gave to each."""

    candidates: tuple[tuple[str, ...], ...]  # per step
    probabilities: tuple[Array, ...]  # per step, (candidates,)


@dataclass(frozen=True, eq=False, slots=True)
class Trajectory:
    """Places in the order they were visited, the start first. Arrays are as long as `places`, or None if not known."""

    episode_id: str
    places: Places
    headings: Array | None = None  # radians, counter-clockwise from +x
    elevations: Array | None = None  # radians above the horizon
    actions: NDArray[np.int64] | None = None  # one fewer than places: the action that led to the next, or PLACED
    times: Array | None = None  # seconds
    phases: tuple[Phase, ...] | None = None  # None: acting throughout
    ending: Ending = Ending.STOPPED
    choices: Choices | None = None
    notes: Mapping[str, Any] = field(default_factory=_nothing)  # a file's other fields, kept for writing it again

    @property
    def acted(self) -> Places:
        """The places walked in the acting phase, not where the agent was led."""
        if self.phases is None:
            return self.places
        mask = np.array([phase is Phase.ACTING for phase in self.phases], dtype=bool)
        if isinstance(self.places, np.ndarray):
            return cast(Array, self.places[mask])
        return tuple(place for place, keep in zip(self.places, mask, strict=True) if keep)
