"""The fastest way there: between which two times it must lie, and the drive that proves the later one.

`fastest` answers one question. `ToGoal` holds what all questions with the same goal share, so that a thousand starts
cost one field.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from itinera.errors import BadArgument, NoRoute
from itinera.planners.arrival import ArrivalField
from itinera.planners.bounds import LowerBound, lower_bound
from itinera.planners.driving import Drive
from itinera.planners.dynamics import Dynamics, holonomic, point_turn, unicycle
from itinera.planners.polishing import polish
from itinera.planners.rrt import best_of_several
from itinera.worlds import Array
from itinera.worlds.grid import Grid

RADIUS = 0.2  # metres, of the robot


@dataclass(frozen=True, eq=False)
class Fastest:
    """An answer: nobody is there before `low`, and `drive` is there at `high`. Both are inf where no way leads."""

    low: float  # seconds
    high: float  # seconds
    drive: Drive | None  # in the grid's own frame; None where no way leads


NEVER = Fastest(math.inf, math.inf, None)


@dataclass(frozen=True, eq=False)
class ToGoal:
    """All fastest drives to one goal, a point (goal_radius 0) or a disc, for a round robot on a grid."""

    grid: Grid
    goal: Array  # (2,) metres, in the grid's own frame
    dynamics: Dynamics
    radius: float = RADIUS  # metres, of the robot
    goal_radius: float = 0.0  # metres

    def __post_init__(self) -> None:
        place = np.array(self.goal, dtype=np.float64)
        if place.shape != (2,) or not np.isfinite(place).all():
            raise BadArgument(f"A goal is a point (x, y), not {self.goal}.")
        if not (math.isfinite(self.goal_radius) and self.goal_radius >= 0):
            raise BadArgument(f"The goal's radius must be a number of metres from 0 on, not {self.goal_radius}.")
        if self.goal_radius == 0 and not self.grid.part_of(place, self.radius)[0]:
            raise BadArgument(_unable("the goal", self.grid.to_frame(place), self.radius))
        place.flags.writeable = False
        object.__setattr__(self, "goal", place)

    @cached_property
    def field(self) -> ArrivalField:
        """The time from every pose, about."""
        return self._field(self.dynamics)

    @cached_property
    def bound(self) -> LowerBound:
        """What nobody beats."""
        cells = self.grid.allowed(self.radius)
        return lower_bound(cells, self.grid.resolution, self.goal, self.goal_radius, self.dynamics)

    def from_pose(self, start: ArrayLike, *, trees: int = 0, seed: int = 0) -> Fastest:
        """The answer for one start (x, y, heading) in the grid's own frame.

        With `trees`, so many random trees look for a faster drive than the field's, seeded by `seed`.
        """
        pose = np.array(start, dtype=np.float64)
        if pose.shape != (3,) or not np.isfinite(pose).all():
            raise BadArgument(f"A start is a pose (x, y, heading), not {pose.tolist()}.")
        if not self.grid.part_of(pose[:2], self.radius)[0]:
            raise BadArgument(_unable("the start", self.grid.to_frame(pose[:2]), self.radius))
        low = float(self.bound.at(pose[None])[0])
        if math.isinf(low):
            return NEVER
        drives = [drive for drive in self._drives(pose, trees, seed) if drive is not None]
        best = min(drives, key=lambda drive: drive.duration(self.dynamics), default=None)
        return Fastest(low, math.inf, None) if best is None else Fastest(low, best.duration(self.dynamics), best)

    def _drives(self, start: Array, trees: int, seed: int) -> Iterator[Drive | None]:
        try:
            way = self.field.rollout(start)
        except NoRoute:
            # A lattice may have no node on either side of where a robot still fits; the shortest path does.
            way = self._shortest.rollout(start)
        yield self._polished(start, way)
        if trees:
            yield best_of_several(
                self.grid.allowed(self.radius),
                self.grid.resolution,
                self.dynamics,
                start,
                self.goal,
                self.goal_radius,
                hints=way,
                trees=trees,
                seed=seed,
            )

    def _polished(self, start: Array, way: Array) -> Drive | None:
        cells = self.grid.allowed(self.radius)
        return polish(cells, self.grid.resolution, self.dynamics, start, self.goal, self.goal_radius, way)

    @cached_property
    def _shortest(self) -> ArrivalField:
        return self._field(holonomic(self.dynamics.vmax))

    def _field(self, dynamics: Dynamics) -> ArrivalField:
        cells = self.grid.allowed(self.radius)
        return ArrivalField.of(cells, self.grid.resolution, self.goal, self.goal_radius, dynamics)


def fastest(
    grid: Grid,
    start: ArrayLike,
    goal: ArrayLike,
    *,
    dynamics: Dynamics | None = None,
    radius: float = RADIUS,
    goal_radius: float = 0.0,
    trees: int = 0,
    seed: int = 0,
) -> Fastest:
    """Between which times the fastest drive from a pose (x, y, heading) to a goal (x, y) lies, and one that proves it.

    Start and goal are in the grid's own frame; the default robot is the unicycle of 0.25 m/s and 10 °/s.
    """
    to_goal = ToGoal(grid, np.asarray(goal, dtype=np.float64), dynamics or unicycle(), radius, goal_radius)
    return to_goal.from_pose(start, trees=trees, seed=seed)


def dynamics_named(name: str, vmax: float, wmax: float, *, reverse: bool = False) -> Dynamics:
    """The dynamics of this name; `wmax` is in radians per second and of no use to a holonomic robot."""
    if reverse and name != "unicycle":
        raise BadArgument(f"Only a unicycle may drive backwards, not {name}.")
    if name == "unicycle":
        return unicycle(vmax, wmax, reverse=reverse)
    if name == "point-turn":
        return point_turn(vmax, wmax)
    if name == "holonomic":
        return holonomic(vmax)
    raise BadArgument(f"There are no dynamics {name!r}: there are unicycle, point-turn and holonomic.")


def _unable(what: str, place: Array, radius: float) -> str:
    x, y = place.reshape(-1).tolist()
    return (
        f"A robot of radius {radius:g} m cannot stand at {what}, ({x:g}, {y:g}): it is in a wall, too near one, or off "
        "the map. Choose another place, or a smaller robot."
    )
