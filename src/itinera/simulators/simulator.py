"""The simulator contract: place an agent in a world, take actions, get observations. Start with `Simulator`.

Simulators have no rewards, metrics, step limits or tasks; `runs/tour_loop.py` counts steps and ends episodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from itinera.rendering.camera import Frame
from itinera.worlds import Array, Place, Pose, World

STOP = 0  # the action that ends an episode, in every simulator


@dataclass(frozen=True, eq=False, slots=True)
class Candidates:
    """The navigable candidates of a node on a graph; action k leads to the k-th of them, counted from 1."""

    nodes: tuple[str, ...]
    headings: Array  # (k,) radians counter-clockwise from +x, absolute
    elevations: Array  # (k,) radians above the horizon
    distances: Array  # (k,) metres
    views: NDArray[np.int64]  # (k,) the view, of 36, whose center is nearest to each


@dataclass(frozen=True, eq=False, slots=True)
class Observation:
    """An agent's observation. Fields that a simulator does not provide are None."""

    world_id: str
    place: Place  # node id, or (3,) metres
    heading: float  # radians counter-clockwise from +x
    elevation: float  # radians above the horizon
    candidates: Candidates | None = None  # on graphs
    views: NDArray[Any] | None = None  # (36, d) features of the 36 views, on graphs with a view source
    frame: Frame | None = None  # the camera image, on the ground
    description: Any = None  # a SceneDescription, on graphs with scene descriptions (Hearth)
    collided: bool = False  # whether the last action hit a wall
    time: float = 0.0  # seconds since the start of the episode
    scan: NDArray[np.float32] | None = None  # (rays,) metres, on the ground with a scan sensor


class Simulator(Protocol):
    """An agent's body in a world."""

    def reset(self, world: World, pose: Pose) -> Observation:
        """The first observation, with the agent at this pose."""
        ...

    def step(self, action: int) -> Observation:
        """The observation after an action. STOP changes nothing."""
        ...

    @property
    def pose(self) -> Pose:
        """The current pose."""
        ...

    @property
    def actions(self) -> int:
        """The number of actions available now, including STOP."""
        ...


class TimedSimulator(Simulator, Protocol):
    """A simulator whose actions take time."""

    def wait(self, seconds: float) -> None:
        """Let time pass while the body stands still."""
        ...


class ContinuingSimulator(TimedSimulator, Protocol):
    """A simulator of a body that holds speeds until the next action."""

    def continue_action(self, seconds: float) -> Observation:
        """The observation after the last action went on for some seconds more."""
        ...


class CompositeSimulator(Simulator, Protocol):
    """A simulator each of whose actions is a sequence of primitive ones, such as a drive to a waypoint."""

    def drive(self, action: int) -> Iterator[tuple[int, Observation]]:
        """Each primitive action of an action other than STOP, with the observation of the body after it."""
        ...

    @property
    def stops_between(self) -> bool:
        """Whether a body goes on by `approach` before it stops."""
        ...

    def approach(self, probabilities: Array) -> Iterator[tuple[int, Observation]]:
        """Each primitive action from here to where an agent with these action probabilities had better stop."""
        ...

    def step_body(self, action: int) -> Observation:
        """The observation of the body after a primitive action that was not the agent's, such as a guide's."""
        ...

    def relocate(self, pose: Pose) -> Observation:
        """The first observation of the agent at another pose of the same world."""
        ...

    @property
    def body(self) -> Observation:
        """The last observation of the body."""
        ...

    @property
    def observation(self) -> Observation:
        """The observation of the agent where the body is now."""
        ...


def as_timed(simulator: Simulator) -> TimedSimulator | None:
    """The same simulator if its actions take time; None for any other."""
    return cast(TimedSimulator, simulator) if hasattr(simulator, "wait") else None


def as_continuing(simulator: Simulator) -> ContinuingSimulator | None:
    """The same simulator if its body can go on with an action; None for any other."""
    return cast(ContinuingSimulator, simulator) if hasattr(simulator, "continue_action") else None


def as_composite(simulator: Simulator) -> CompositeSimulator | None:
    """The same simulator if its actions are composite; None for any other."""
    return cast(CompositeSimulator, simulator) if hasattr(simulator, "drive") else None
