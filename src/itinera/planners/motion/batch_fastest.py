"""Fastest times of many queries in a building: queries with the same goal share everything that can be shared.

`group_by_goal` groups queries by floor and goal, `plan_batch` plans one group, `fingerprints` identifies times that are
known already. A query that no single floor contains, because it leads over stairs, gets a lower bound only.
Coordinates are in the frame of the surface.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from itinera.errors import NoRoute
from itinera.planners.motion.dynamics import Dynamics, make_dynamics
from itinera.planners.motion.fastest import GoalPlanner
from itinera.planners.motion.value_field import MARGIN, lower_bound
from itinera.tasks.fastest_times import ReferenceRobot
from itinera.worlds import Array
from itinera.worlds.distance_field import SNAP
from itinera.worlds.grid import Grid
from itinera.worlds.storey_grid import grid_from_surface
from itinera.worlds.surface import Surface

VERSION = 2  # increased whenever a planner finds other times than before

LEVEL_STEP = 0.05  # metres: floors whose levels differ by less are one floor
_STORED = 1e6  # times are stored in microseconds, rounded outwards
_NO_RADIUS = 0.0  # metres: the cells of a surface already take its robot's radius into account


@dataclass(frozen=True, eq=False)
class Queries:
    """Start poses and goals of a robot on a surface."""

    starts: Array  # (n, 3) metres
    headings: Array  # (n,) radians
    goals: Array  # (n, 3) metres

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True, eq=False)
class GoalBatch:
    """Queries with the same goal, on grids that share an origin."""

    rows: NDArray[np.int64]  # (n,) the index of each query
    floor: Grid  # the storey of the goal
    overlay: Grid  # the union of all storeys: every path through the building, projected to the plane, stays in it
    goal: Array  # (2,) metres
    starts: Array  # (n, 3) x, y, heading
    straight: Array  # (n,) metres to the goal as the crow flies, at least; inf where no path leads there
    on_floor: NDArray[np.bool_]  # (n,) whether the start is on the goal's storey, and a path need not leave it

    def select(self, which: NDArray[np.bool_]) -> GoalBatch:
        """The batch with only these queries, (n,)."""
        chosen = (self.starts[which], self.straight[which], self.on_floor[which])
        return GoalBatch(self.rows[which], self.floor, self.overlay, self.goal, *chosen)


@dataclass(frozen=True, eq=False)
class BatchBounds:
    """Bounds on the fastest times of a batch."""

    lower: Array  # (n,) seconds
    upper: Array  # (n,) seconds; inf where no drive is known
    goal_seconds: float  # CPU time for what all queries share; 0 if nothing was planned
    start_seconds: float  # CPU time per query


def snap_distances(surface: Surface, queries: Queries, goal_radius: float) -> tuple[Array, Array]:
    """Distances of starts and goals, (n,) each, from the nearest place where the robot can be; inf beyond SNAP metres.

    A surface's border is accurate to one cell, so distances up to a cell count as 0. A goal with a radius need not be
    reachable itself.
    """
    cell = surface.ground.size
    starts, goals = surface.snap(queries.starts)[1], _snap_goals(surface, queries, goal_radius)[1]
    return np.where(starts <= cell, 0.0, starts), np.where(goals <= max(cell, goal_radius), 0.0, goals)


def _snap_goals(surface: Surface, queries: Queries, goal_radius: float) -> tuple[Array, Array]:
    return surface.snap(queries.goals, reach=max(SNAP, goal_radius))


def group_by_goal(surface: Surface, queries: Queries, goal_radius: float) -> Iterator[GoalBatch]:
    """The queries on the surface of the reference robot, whose snap distances must be 0, by floor and goal."""
    starts, goals = surface.snap(queries.starts)[0], _snap_goals(surface, queries, goal_radius)[0]
    levels = (np.round(goals[:, 2] / LEVEL_STEP) * LEVEL_STEP).round(6)
    apart = surface.island(starts) != surface.island(goals)
    # A goal with a radius is the center of a disc, and stays there even if no robot can be at the center.
    targets = (queries.goals if goal_radius > 0 else goals)[:, :2]
    # The disc extends as high and as low as its floor.
    within = goal_radius + surface.ground.climb + LEVEL_STEP if goal_radius > 0 else 0.0
    air = np.linalg.norm(starts - np.column_stack((targets, goals[:, 2])), axis=1) - within
    straight = np.where(apart, np.inf, np.maximum(air, 0.0))
    overlay, floors = _overlay(surface), {level: grid_from_surface(surface, level) for level in np.unique(levels)}
    poses = np.column_stack((starts[:, :2], queries.headings))
    same_level = np.abs(starts[:, 2] - levels) <= surface.ground.climb
    _, first, group = np.unique(np.column_stack((levels, targets)), axis=0, return_index=True, return_inverse=True)
    for number in np.argsort(first):
        rows = np.flatnonzero(group.ravel() == number)
        floor, goal = floors[levels[rows[0]]], targets[rows[0]]
        components = floor.component_at(poses[rows, :2], _NO_RADIUS)
        goal_component = floor.component_at(goal, _NO_RADIUS)[0]
        # A goal point on a step between two floors is on neither; a disc may reach into several components.
        on_floor = same_level[rows] & (components > 0) & ((components == goal_component) | (goal_radius > 0))
        yield GoalBatch(rows, floor, overlay, goal, poses[rows], straight[rows], on_floor)


def _overlay(surface: Surface) -> Grid:
    ground = surface.ground
    blocked = np.ones(ground.shape[::-1], dtype=np.bool_)
    blocked[ground.columns[:, 1], ground.columns[:, 0]] = False
    return Grid(blocked, ground.size, origin=(float(ground.origin[0]), float(ground.origin[1])))


def plan_batch(batch: GoalBatch, robot: ReferenceRobot) -> BatchBounds:
    """Bounds on the fastest times of a batch, on the floor of its goal.

    Where that floor does not connect start and goal, no drive is searched for: `upper` is inf, and `lower` is the bound
    on the overlay of all floors, which contains every path through the building without making any longer.
    """
    dynamics = robot_dynamics(robot)
    lower, upper = np.full(len(batch.rows), np.inf), np.full(len(batch.rows), np.inf)
    began = time.process_time()
    if batch.on_floor.any():
        planner = GoalPlanner(batch.floor, batch.goal, dynamics, _NO_RADIUS, robot.goal_radius)
        lower[batch.on_floor] = planner.lower_bound.at(batch.starts[batch.on_floor])
    planned = np.flatnonzero(np.isfinite(lower))
    if len(planned):
        _ = planner.local.value_field  # shared, and timed apart from the work per start
    shared = time.process_time()
    for row in planned:
        lower[row], upper[row] = _plan(planner, batch.starts[row])
    each = (time.process_time() - shared) / max(len(planned), 1)
    elsewhere = np.isinf(lower) & np.isfinite(batch.straight)
    lower[elsewhere] = _overlay_bound(batch.select(elsewhere), dynamics, robot.goal_radius)
    return BatchBounds(
        np.floor(lower * _STORED) / _STORED,
        np.ceil(upper * _STORED) / _STORED,
        shared - began if len(planned) else 0.0,
        each,
    )


def _plan(planner: GoalPlanner, start: Array) -> tuple[float, float]:
    try:
        found = planner.plan(start)
    except NoRoute:  # the lower bound is finite, but no planner finds a path
        return float(planner.lower_bound.at(start)[0]), math.inf
    return found.lower, found.upper


def _overlay_bound(batch: GoalBatch, dynamics: Dynamics, goal_radius: float) -> Array:
    """(n,) seconds from each start to the goal, at least, over any floors."""
    if not len(batch.rows):
        return np.empty(0)
    bound = lower_bound(batch.overlay, batch.goal, dynamics, radius=_NO_RADIUS, goal_radius=goal_radius)
    projected = bound.at(batch.starts)
    through_air = np.maximum(batch.straight / dynamics.vmax - MARGIN, 0.0)
    return np.maximum(np.where(np.isfinite(projected), projected, 0.0), through_air)


def robot_dynamics(robot: ReferenceRobot) -> Dynamics:
    """The dynamics of a reference robot."""
    wmax = math.inf if robot.wmax is None else robot.wmax
    return make_dynamics(robot.dynamics, robot.vmax, wmax, reverse=robot.reverse)


def fingerprints(batch: GoalBatch, robot: ReferenceRobot) -> list[str]:
    """For each query of a batch a digest of everything that decides its time: the robot, the floors, start and goal."""
    state = hashlib.blake2b(repr((VERSION, astuple(robot))).encode(), digest_size=16)
    for grid in (batch.floor, batch.overlay):
        state.update(_digest(grid))
    state.update(batch.overlay.to_local(batch.goal).tobytes())
    keys = []
    starts = batch.overlay.to_local(batch.starts)
    for pose, straight, on_floor in zip(starts, batch.straight, batch.on_floor, strict=True):
        own = state.copy()
        own.update(pose.tobytes() + straight.tobytes() + on_floor.tobytes())
        keys.append(own.hexdigest())
    return keys


@lru_cache(maxsize=64)
def _digest(grid: Grid) -> bytes:
    header = repr((grid.blocked.shape, grid.resolution)).encode()
    return hashlib.blake2b(header + np.packbits(grid.blocked).tobytes(), digest_size=16).digest()
