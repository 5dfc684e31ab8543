"""Trajectories: the places an agent visited in one episode, and how the episode ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.records.map_recording import MapRecording
from itinera.worlds import Array, Places

NO_ACTION = -1  # instead of an action: the body was placed there, it did not move
CONTINUED = -2  # instead of an action: the last one went on while the agent thought

_EMPTY: Mapping[str, Any] = MappingProxyType({})


def _empty() -> Mapping[str, Any]:
    return _EMPTY


class Ending(Enum):
    """How an episode ended. Files that do not say so are read as stopped.

    Itinera's own runs end in one of the first three. Physical simulators and robots also fall and get stuck.
    """

    STOPPED = "stopped"
    OUT_OF_STEPS = "out of steps"
    FAILED = "failed"
    FELL = "fell"
    STUCK = "stuck"


class Phase(Enum):
    """Who moves the agent: itself, or the oracle that guides it between the episodes of a tour.

    Metrics use the acting phase only.
    """

    ACTING = "acting"
    GUIDED_TO_GOAL = "guided to goal"
    GUIDED_TO_START = "guided to start"


@dataclass(frozen=True, eq=False)
class ActionLog:
    """The candidates of each step and the probability the agent gave to each."""

    candidates: tuple[tuple[str, ...], ...]  # per step
    probabilities: tuple[Array, ...]  # per step, (candidates,)


@dataclass(frozen=True, eq=False, slots=True)
class Trajectory:
    """Places in the order of the visit, the start first. Arrays are as long as `places`, or None if unknown."""

    episode_id: str
    places: Places
    headings: Array | None = None  # radians, counter-clockwise from +x
    elevations: Array | None = None  # radians above the horizon
    actions: NDArray[np.int64] | None = None  # one fewer than places: what led to the next; also NO_ACTION, CONTINUED
    collided: NDArray[np.bool_] | None = None  # one fewer than places: whether that action hit something
    followed: NDArray[np.bool_] | None = None  # one fewer than places: whether the agent followed its target then
    times: Array | None = None  # seconds
    thinking: Array | None = None  # seconds in which the agent, at this place, chose what to do next
    phases: tuple[Phase, ...] | None = None  # None: acting throughout
    ending: Ending = Ending.STOPPED
    action_log: ActionLog | None = None
    object_id: str | None = None  # the object the agent names as the target, where the task asks for one
    object_direction: tuple[float, float] | None = None  # its heading and elevation from the last place, radians
    maps: MapRecording | None = None  # the maps the agent held, if they were recorded
    notes: Mapping[str, Any] = field(default_factory=_empty)  # a file's other fields, kept for writing it again

    @property
    def acting_places(self) -> Places:
        """The places of the acting phase, without those the agent was guided to."""
        if self.phases is None:
            return self.places
        mask = self._acting_mask
        if isinstance(self.places, np.ndarray):
            return self.places[mask]
        return tuple(place for place, keep in zip(self.places, mask, strict=True) if keep)

    def acting_steps(self, values: NDArray[Any]) -> NDArray[Any]:
        """Those of one value per action (one fewer than places) that belong to actions of the acting phase.

        The action that led to the first acting place was the guide's, or none.
        """
        if self.phases is None:
            return values
        mask = self._acting_mask
        return values[mask[1:] & mask[:-1]]

    @property
    def _acting_mask(self) -> NDArray[np.bool_]:
        return np.array([phase is Phase.ACTING for phase in self.phases or ()], dtype=bool)
