"""Bounds on the fastest time from a pose to a goal, with the drive that proves the upper bound.

`fastest` answers one query. `GoalPlanner` holds what all queries with the same goal share, so that a thousand starts
cost one value field. Coordinates are in the map's frame of the grid: metres, headings counter-clockwise from +x.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from itinera.errors import BadArgument
from itinera.planners.motion.dynamics import RADIUS, Drive, Dynamics, holonomic, point_turn, unicycle
from itinera.planners.motion.local_search import optimize_drive
from itinera.planners.motion.query_diagnosis import InfeasibleQuery, diagnose_query
from itinera.planners.motion.rrt_star import TREES, plan_with_trees
from itinera.planners.motion.value_field import HEADINGS, LowerBound, ValueField, lower_bound
from itinera.worlds import Array
from itinera.worlds.grid import Grid

MAX_FIELD_BYTES = 190_000_000
MIN_HEADINGS = 16  # of a value field, however large the map
_WAYPOINT_STEP = 0.1  # metres between the waypoints taken from a drive


@dataclass(frozen=True, eq=False)
class TimeBounds:
    """Bounds on the fastest time: no robot arrives before `lower`, and `drive` arrives at `upper`.

    Both are inf if the goal is unreachable; `upper` alone is inf if no drive was found.
    """

    lower: float  # seconds
    upper: float  # seconds
    drive: Drive | None = None  # in the map's frame
    dynamics: Dynamics | None = None
    alternatives: Mapping[str, TimeBounds] = field(default_factory=dict)  # at the same speeds, by name of the dynamics
    reason: str = ""  # why the goal is unreachable, if it is

    def __repr__(self) -> str:
        robot = "" if self.dynamics is None else f", {self.dynamics.name}"
        if self.drive is None:
            reason = "unreachable" if math.isinf(self.lower) else f"at least {self.lower:.2f} s, no drive found"
            return f"TimeBounds({reason}{robot})"
        return f"TimeBounds({self.lower:.2f} to {self.upper:.2f} s{robot}, {self.drive.length:.2f} m driven)"


UNREACHABLE = TimeBounds(math.inf, math.inf)


@dataclass(frozen=True, eq=False)
class GoalPlanner:
    """Plans the fastest drives of a round robot to one goal, a point (goal_radius 0) or a disc."""

    grid: Grid
    goal: Array  # (2,) metres, in the map's frame
    dynamics: Dynamics
    radius: float = RADIUS  # metres, of the robot
    goal_radius: float = 0.0  # metres

    def __post_init__(self) -> None:
        point = np.array(self.goal, dtype=np.float64)
        if point.shape != (2,) or not np.isfinite(point).all():
            raise BadArgument(f"The goal must be a point (x, y), not {self.goal}.")
        if not (math.isfinite(self.goal_radius) and self.goal_radius >= 0):
            raise BadArgument(f"goal_radius must be at least 0 m, not {self.goal_radius}.")
        if self.goal_radius == 0 and not self.grid.component_at(point, self.radius)[0]:
            raise BadArgument(_not_free("goal", point, self.radius))
        point.flags.writeable = False
        object.__setattr__(self, "goal", point)

    @cached_property
    def value_field(self) -> ValueField:
        """The approximate time from every pose."""
        return self._solve(self.dynamics)

    @cached_property
    def lower_bound(self) -> LowerBound:
        """The certified lower bound from every pose."""
        return lower_bound(self.grid, self.goal, self.dynamics, radius=self.radius, goal_radius=self.goal_radius)

    def plan(self, start: ArrayLike, *, trees: int = 0, seed: int = 0) -> TimeBounds:
        """The bounds for one start (x, y, heading), and the drive.

        With `trees`, so many random trees (RRT*) search for a faster drive than the value field's, seeded by `seed`.
        """
        pose = self.check_start(start)
        lower = float(self.lower_bound.at(pose[None])[0])
        if math.isinf(lower):
            return replace(UNREACHABLE, dynamics=self.dynamics)
        # Planners convert coordinates on the way in and out: in the grid's own frame that loses no digit.
        planner, here = self.local, self.grid.to_local(pose)
        drives = [drive for drive in planner._search(here, trees, seed) if drive is not None]
        best = min(drives, key=lambda drive: drive.duration(self.dynamics), default=None)
        if best is None:
            return TimeBounds(lower, math.inf, None, self.dynamics)
        return TimeBounds(lower, best.duration(self.dynamics), Drive(pose, best.moves), self.dynamics)

    @cached_property
    def local(self) -> GoalPlanner:
        """The same planner in the grid's own frame."""
        if self.grid.local is self.grid:
            return self
        return replace(self, grid=self.grid.local, goal=self.grid.to_local(self.goal))

    def check_start(self, start: ArrayLike) -> Array:
        """The start as an array (3,); raises BadArgument if the robot cannot be there."""
        pose = np.array(start, dtype=np.float64)
        if pose.shape != (3,) or not np.isfinite(pose).all():
            raise BadArgument(f"The start must be a pose (x, y, heading), not {pose.tolist()}.")
        if not self.grid.component_at(pose[:2], self.radius)[0]:
            raise BadArgument(_not_free("start", pose[:2], self.radius))
        return pose

    def shortcut(self, start: Array) -> Drive | None:
        """A drive along the shortest path, which is found quickly; None if there is no path."""
        if not math.isfinite(self._shortest.time(start)[0]):
            return None
        return self._optimize(start, self.dynamics, [self._shortest.rollout(start)])

    def refine(self, start: Array, drive: Drive) -> Drive | None:
        """A drive from a second search: near a known drive, and near that of a point-turn robot."""
        paths = [drive.sample(self.dynamics, step=_WAYPOINT_STEP)[:, :2]]
        if 0 < self.dynamics.arc_radius < math.inf:
            turning = self._solve(point_turn(self.dynamics.vmax, self.dynamics.wmax))
            paths.append(turning.rollout(start))
        return self._optimize(start, self.dynamics, paths)

    def _search(self, start: Array, trees: int, seed: int) -> Iterator[Drive | None]:
        fields = (self.value_field, self._shortest)
        paths = [field.rollout(start) for field in fields if math.isfinite(field.time(start)[0])]
        yield self._optimize(start, self.dynamics, paths)
        if self.dynamics.reverse:  # local search may make no use of it, or a bad one
            yield self._optimize(start, replace(self.dynamics, reverse=False), paths)
        if trees:
            yield plan_with_trees(
                self.grid,
                start,
                self.goal,
                self.dynamics,
                radius=self.radius,
                goal_radius=self.goal_radius,
                hints=np.concatenate(paths),
                trees=trees,
                seed=seed,
            )

    def _optimize(self, start: Array, dynamics: Dynamics, paths: Sequence[Array]) -> Drive | None:
        ends = {"radius": self.radius, "goal_radius": self.goal_radius}
        return optimize_drive(self.grid, start, self.goal, dynamics, *paths, **ends)

    @cached_property
    def _shortest(self) -> ValueField:
        return self._solve(holonomic(self.dynamics.vmax))

    def _solve(self, dynamics: Dynamics) -> ValueField:
        # Four bytes for each heading in each cell: very large maps get fewer headings.
        headings = min(HEADINGS, max(MIN_HEADINGS, MAX_FIELD_BYTES // (4 * self.grid.blocked.size) // 4 * 4))
        ends = {"radius": self.radius, "goal_radius": self.goal_radius}
        return ValueField.solve(self.grid, self.goal, dynamics, headings=headings, **ends)


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
) -> TimeBounds:
    """Bounds on the fastest time from a pose (x, y, heading) to a goal (x, y), with a drive that proves the upper one.

    Start and goal are in the map's frame. The default robot is the unicycle of 0.25 m/s and 10 °/s. `alternatives` of
    the result has the bounds of a point-turn and of a holonomic robot at the same speeds: their drives are candidates
    for this robot too. Raises InfeasibleQuery if the robot cannot be at the start or at the goal: it reports both ends.
    """
    robot = dynamics or unicycle()
    _check_ends(grid, start, goal, radius, goal_radius)
    robots = [robot, holonomic(robot.vmax)]
    if math.isfinite(robot.wmax):
        robots.insert(1, point_turn(robot.vmax, robot.wmax))
    found = {
        one: _plan_locally(GoalPlanner(grid, np.asarray(goal), one, radius, goal_radius), start, trees, seed)
        for one in dict.fromkeys(robots)
    }
    best = {one: _best_drive(bounds, found.values()) for one, bounds in found.items()}
    others = {one.name: bounds for one, bounds in best.items() if one != robot}
    reason = ""
    if math.isinf(best[robot].lower):
        reason = str(diagnose_query(grid, start, goal, radius=radius, goal_radius=goal_radius))
    return replace(best[robot], alternatives=others, reason=reason)


def _check_ends(grid: Grid, start: ArrayLike, goal: ArrayLike, radius: float, goal_radius: float) -> None:
    """Raise InfeasibleQuery, which reports both ends, if the robot cannot be at one of them."""
    ends = [np.asarray(end, dtype=np.float64) for end in (start, goal)]
    if ends[0].shape != (3,) or ends[1].shape != (2,) or not all(np.isfinite(end).all() for end in ends):
        return  # the planner says what is wrong with them
    free = grid.component_at(np.array([ends[0][:2], ends[1]]), radius) > 0
    if not (free[0] and (free[1] or goal_radius > 0)):
        raise InfeasibleQuery(diagnose_query(grid, *ends, radius=radius, goal_radius=goal_radius))


def _best_drive(bounds: TimeBounds, others: Iterable[TimeBounds]) -> TimeBounds:
    """The bounds, with another robot's drive if this robot can drive it faster than its own."""
    assert bounds.dynamics is not None
    drives = [other.drive for other in others if other.drive is not None]
    times = [drive.duration(bounds.dynamics) for drive in drives]
    if not times or not min(times) < bounds.upper:
        return bounds
    return replace(bounds, upper=min(times), drive=drives[int(np.argmin(times))])


def _plan_locally(planner: GoalPlanner, start: ArrayLike, trees: int, seed: int) -> TimeBounds:
    """The bounds for one start, planned on the part of the map that matters."""
    pose = planner.check_start(start)
    whole, here = planner.local, planner.grid.to_local(pose)
    quick = whole.shortcut(here)
    if quick is None:
        return planner.plan(pose, trees=trees, seed=seed)
    near, corner = _crop(whole, here, quick.duration(whole.dynamics) * whole.dynamics.vmax)
    found = near.plan(here - [*corner, 0.0], trees=trees, seed=seed)
    refined = None if found.drive is None else near.refine(here - [*corner, 0.0], found.drive)
    moved = [Drive(here, drive.moves) for drive in (found.drive, refined) if drive is not None]
    # Moved back to its place, rounding may push a drive that touches an obstacle into it.
    drives = [quick, *(drive for drive in moved if drive.is_collision_free(whole.grid, whole.radius))]
    best = min(drives, key=lambda drive: drive.duration(whole.dynamics))
    return TimeBounds(found.lower, best.duration(whole.dynamics), Drive(pose, best.moves), planner.dynamics)


def _crop(planner: GoalPlanner, start: Array, reach: float) -> tuple[GoalPlanner, Array]:
    """The planner on the part of its map that a drive of `reach` metres can touch, and the low corner of that part.

    The sum of the distances from start and goal is never larger than the length of a drive.
    """
    cells, size = planner.grid.free_cells(planner.radius), planner.grid.resolution
    middle, across = (start[:2] + planner.goal) / 2, planner.goal - start[:2]
    # Half the bounding box of the ellipse of all such points, whose foci are start and goal.
    major = reach + planner.goal_radius
    half = np.sqrt(np.maximum(major**2 - (across @ across) + across**2, 0.0)) / 2
    low = np.maximum(np.floor((middle - half) / size).astype(int) - 1, 0)
    high = np.minimum(np.ceil((middle + half) / size).astype(int) + 1, cells.shape[::-1])
    part = Grid(~cells[low[1] : high[1], low[0] : high[0]], size)
    # The free cells already take the robot's radius into account.
    return GoalPlanner(part, planner.goal - low * size, planner.dynamics, 0.0, planner.goal_radius), low * size


def _not_free(name: str, point: Array, radius: float) -> str:
    x, y = point.tolist()
    return (
        f"A robot of radius {radius:g} m cannot be at the {name}, ({x:g}, {y:g}): it is in a wall, too near one, or "
        "off the map. Choose another point, or a smaller radius."
    )
