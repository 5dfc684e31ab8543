"""The fastest way there: between which two times it must lie, and the drive that proves the later one.

`fastest` answers one question. `ToGoal` holds what all questions with the same goal share, so that a thousand starts
cost one field.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from itinera.errors import BadArgument
from itinera.planners.motion.drive import Drive
from itinera.planners.motion.dynamics import Dynamics, holonomic, point_turn, unicycle
from itinera.planners.motion.local_search import polish
from itinera.planners.motion.lower_bound import LowerBound, lower_bound
from itinera.planners.motion.rrt_star import best_of_several
from itinera.planners.motion.value_field import HEADINGS, ArrivalField
from itinera.worlds import Array
from itinera.worlds.grid import Grid

RADIUS = 0.2  # metres, of the robot
TREES = 4  # random ones that look for a faster drive than the field's
MOST_BYTES = 190_000_000  # of a field
FEWEST = 16  # headings, however large the map
_CLOSE = 0.1  # metres between the waypoints that are taken from a drive


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
        pose = self.checked(start)
        low = float(self.bound.at(pose[None])[0])
        if math.isinf(low):
            return NEVER
        drives = [drive for drive in self._drives(pose, trees, seed) if drive is not None]
        best = min(drives, key=lambda drive: drive.duration(self.dynamics), default=None)
        return Fastest(low, math.inf, None) if best is None else Fastest(low, best.duration(self.dynamics), best)

    def checked(self, start: ArrayLike) -> Array:
        """The start as a pose where the robot can stand."""
        pose = np.array(start, dtype=np.float64)
        if pose.shape != (3,) or not np.isfinite(pose).all():
            raise BadArgument(f"A start is a pose (x, y, heading), not {pose.tolist()}.")
        if not self.grid.part_of(pose[:2], self.radius)[0]:
            raise BadArgument(_unable("the start", self.grid.to_frame(pose[:2]), self.radius))
        return pose

    def simply(self, start: Array) -> Drive | None:
        """A drive along the shortest path, which is quick to find; None if there is none."""
        if not math.isfinite(self._shortest.time(start)[0]):
            return None
        return self._polished(start, self.dynamics, [self._shortest.rollout(start)])

    def again(self, start: Array, drive: Drive) -> Drive | None:
        """What a second look finds: along a drive that is known, and along that of a robot that turns on the spot."""
        ways = [drive.sampled(self.dynamics, step=_CLOSE)[:, :2]]
        if 0 < self.dynamics.curve < math.inf:
            turning = self._field(point_turn(self.dynamics.vmax, self.dynamics.wmax))
            ways.append(turning.rollout(start))
        return self._polished(start, self.dynamics, ways)

    def _drives(self, start: Array, trees: int, seed: int) -> Iterator[Drive | None]:
        ways = [field.rollout(start) for field in (self.field, self._shortest) if math.isfinite(field.time(start)[0])]
        yield self._polished(start, self.dynamics, ways)
        if self.dynamics.reverse:  # which a local search may find no use for, or a bad one
            yield self._polished(start, replace(self.dynamics, reverse=False), ways)
        if trees:
            yield best_of_several(
                self.grid.allowed(self.radius),
                self.grid.resolution,
                self.dynamics,
                start,
                self.goal,
                self.goal_radius,
                hints=np.concatenate(ways),
                trees=trees,
                seed=seed,
            )

    def _polished(self, start: Array, dynamics: Dynamics, ways: Sequence[Array]) -> Drive | None:
        cells = self.grid.allowed(self.radius)
        return polish(cells, self.grid.resolution, dynamics, start, self.goal, self.goal_radius, *ways)

    @cached_property
    def _shortest(self) -> ArrivalField:
        return self._field(holonomic(self.dynamics.vmax))

    def _field(self, dynamics: Dynamics) -> ArrivalField:
        cells = self.grid.allowed(self.radius)
        # Four bytes for each heading in each cell: on a very large map fewer headings are looked at.
        headings = min(HEADINGS, max(FEWEST, MOST_BYTES // (4 * cells.size) // 4 * 4))
        return ArrivalField.of(cells, self.grid.resolution, self.goal, self.goal_radius, dynamics, headings=headings)


def fastest(
    grid: Grid,
    start: ArrayLike,
    goal: ArrayLike,
    *,
    dynamics: Dynamics | None = None,
    radius: float = RADIUS,
    goal_radius: float = 0.0,
    trees: int = TREES,
    seed: int = 0,
) -> Fastest:
    """Between which times the fastest drive from a pose (x, y, heading) to a goal (x, y) lies, and one that proves it.

    Start and goal are in the grid's own frame; the default robot is the unicycle of 0.25 m/s and 10 °/s.
    """
    whole = ToGoal(grid, np.asarray(goal, dtype=np.float64), dynamics or unicycle(), radius, goal_radius)
    pose = whole.checked(start)
    simple = whole.simply(pose)
    if simple is None:
        return whole.from_pose(pose, trees=trees, seed=seed)
    near, corner = _surroundings(whole, pose, simple.duration(whole.dynamics) * whole.dynamics.vmax)
    found = near.from_pose(pose - [*corner, 0.0], trees=trees, seed=seed)
    other = None if found.drive is None else near.again(pose - [*corner, 0.0], found.drive)
    moved = [Drive(pose, drive.moves) for drive in (found.drive, other) if drive is not None]
    # Moved back to where it was, a drive may touch what it touched by a hair more.
    drives = [simple, *(drive for drive in moved if drive.is_clear(grid, radius))]
    best = min(drives, key=lambda drive: drive.duration(whole.dynamics))
    return Fastest(found.low, best.duration(whole.dynamics), best)


def _surroundings(whole: ToGoal, pose: Array, reach: float) -> tuple[ToGoal, Array]:
    """The part of a map that a drive of `reach` metres can touch, and its low corner: the rest cannot matter.

    Whoever drives that far in all is never farther from start and goal together than that.
    """
    cells, size = whole.grid.allowed(whole.radius), whole.grid.resolution
    middle, across = (pose[:2] + whole.goal) / 2, whole.goal - pose[:2]
    # Half the box around the ellipse of all such places, whose foci are start and goal.
    long = reach + whole.goal_radius
    half = np.sqrt(np.maximum(long**2 - (across @ across) + across**2, 0.0)) / 2
    low = np.maximum(np.floor((middle - half) / size).astype(int) - 1, 0)
    high = np.minimum(np.ceil((middle + half) / size).astype(int) + 1, cells.shape[::-1])
    part = Grid(~cells[low[1] : high[1], low[0] : high[0]], size)
    # The radius has been taken off already.
    return ToGoal(part, whole.goal - low * size, whole.dynamics, 0.0, whole.goal_radius), low * size


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
