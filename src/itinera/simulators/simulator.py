"""What an action does: a body in a world that one can put somewhere and move. Start with `Simulator`.

Simulators reward nothing, judge nothing, count nothing and know no task; `runs/tour_loop.py` does the counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from itinera.rendering.rasterizer import Frame
from itinera.worlds import Array, Place, Pose, World

STOP = 0  # the action that ends an episode, in every simulator


@dataclass(frozen=True, eq=False, slots=True)
class Candidates:
    """The places one step away on a graph; action k leads to the k-th of them, counted from 1."""

    nodes: tuple[str, ...]
    headings: Array  # (k,) radians counter-clockwise from +x, absolute
    elevations: Array  # (k,) radians above the horizon
    distances: Array  # (k,) metres
    views: NDArray[np.int64]  # (k,) the one of the 36 views each is nearest to the middle of


@dataclass(frozen=True, eq=False, slots=True)
class Observation:
    """What an agent is shown. Fields a simulator has nothing for are None."""

    world_id: str
    place: Place  # node id, or (3,) metres
    heading: float  # radians counter-clockwise from +x
    elevation: float  # radians above the horizon
    candidates: Candidates | None = None  # on graphs
    views: NDArray[Any] | None = None  # (36, d) features of the views around, on graphs with a view source
    frame: Frame | None = None  # what the camera sees, on the ground
    description: Any = None  # what can be told in words, where the view source has it (an Outlook in Hearth)
    collided: bool = False  # whether the last step met a wall
    time: float = 0.0  # seconds since the start of the episode


class Simulator(Protocol):
    """A body in a world."""

    def reset(self, world: World, pose: Pose) -> Observation:
        """Put it there and look."""
        ...

    def step(self, action: int) -> Observation:
        """Do it and look. STOP stays where it is."""
        ...

    @property
    def pose(self) -> Pose:
        """Where it is now."""
        ...

    @property
    def actions(self) -> int:
        """How many actions can be chosen now, STOP included."""
        ...
