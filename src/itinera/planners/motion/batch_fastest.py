"""Fastest times of many ways through a building at once: ways that share a goal share all that can be shared.

`batches_of` sorts ways by floor and goal, `bounds_of` plans a batch, `keys_of` tells by fingerprint whether a time is
known already. A way that no single floor holds, because it leads over stairs, gets a lower bound only.
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
from itinera.planners.motion.dynamics import Dynamics
from itinera.planners.motion.fastest import ToGoal, dynamics_named
from itinera.planners.motion.lower_bound import MARGIN, lower_bound
from itinera.tasks.fastest_times import ReferenceRobot
from itinera.worlds import Array
from itinera.worlds.distance_field import SNAP
from itinera.worlds.grid import Grid
from itinera.worlds.storey_grid import grid_of_surface
from itinera.worlds.surface import Surface

VERSION = 1  # raised whenever a planner finds other times than before

LEVELS = 0.05  # metres: floors whose levels differ by less are one
_STORED = 1e6  # times are kept in millionths of a second, of which the bounds are rounded outwards
_TAKEN_OFF = 0.0  # metres: the cells of a surface are those where the middle of its robot may be


@dataclass(frozen=True, eq=False)
class Ways:
    """From where to where, for a robot that stands on the ground."""

    starts: Array  # (n, 3) metres
    headings: Array  # (n,) radians
    goals: Array  # (n, 3) metres

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True, eq=False)
class Batch:
    """Ways to one goal, in the frame both grids share."""

    rows: NDArray[np.int64]  # (n,) which of the ways these are
    floor: Grid  # the storey of the goal
    overlay: Grid  # all storeys laid over one another: whoever moves through the building moves here, seen from above
    goal: Array  # (2,) metres
    starts: Array  # (n, 3) x, y, heading
    straight: Array  # (n,) metres to the goal through the air, at least; inf where no way leads over the ground
    on_floor: NDArray[np.bool_]  # (n,) whether the start is on the goal's storey, and the way need not leave it

    def only(self, which: NDArray[np.bool_]) -> Batch:
        """The batch with these of its ways, (n,)."""
        kept = (self.starts[which], self.straight[which], self.on_floor[which])
        return Batch(self.rows[which], self.floor, self.overlay, self.goal, *kept)


@dataclass(frozen=True, eq=False)
class Bounds:
    """The answer to a batch."""

    low: Array  # (n,) seconds
    high: Array  # (n,) seconds; inf where no drive is known
    goal_seconds: float  # of a processor, for what all ways share; 0 where nothing had to be planned
    start_seconds: float  # of a processor, for each way of its own


def strays(surface: Surface, ways: Ways, goal_radius: float) -> tuple[Array, Array]:
    """How far starts and goals, (n,) each, are from where the robot can stand, metres; inf for farther than SNAP.

    A cell is the accuracy of a surface's border, and counts as 0. A goal with a radius need not be stood upon.
    """
    cell = surface.ground.size
    starts, goals = surface.snap(ways.starts)[1], _near_goals(surface, ways, goal_radius)[1]
    return np.where(starts <= cell, 0.0, starts), np.where(goals <= max(cell, goal_radius), 0.0, goals)


def _near_goals(surface: Surface, ways: Ways, goal_radius: float) -> tuple[Array, Array]:
    return surface.snap(ways.goals, reach=max(SNAP, goal_radius))


def batches_of(surface: Surface, ways: Ways, goal_radius: float) -> Iterator[Batch]:
    """The ways over the surface of the reference robot, none of which may stray, by floor and goal."""
    starts, goals = surface.snap(ways.starts)[0], _near_goals(surface, ways, goal_radius)[0]
    levels = (np.round(goals[:, 2] / LEVELS) * LEVELS).round(6)
    apart = surface.island(starts) != surface.island(goals)
    # A goal with a radius is the middle of a disc, and stays there even if nobody can stand on it.
    aims = (ways.goals if goal_radius > 0 else goals)[:, :2]
    # The disc reaches as high and as low as its floor.
    within = goal_radius + surface.ground.climb + LEVELS if goal_radius > 0 else 0.0
    air = np.linalg.norm(starts - np.column_stack((aims, goals[:, 2])), axis=1) - within
    straight = np.where(apart, np.inf, np.maximum(air, 0.0))
    overlay, floors = _overlay(surface), {level: grid_of_surface(surface, level) for level in np.unique(levels)}
    poses = overlay.to_local(np.column_stack((starts[:, :2], ways.headings)))
    beside = np.abs(starts[:, 2] - levels) <= surface.ground.climb
    _, first, group = np.unique(np.column_stack((levels, aims)), axis=0, return_index=True, return_inverse=True)
    for number in np.argsort(first):
        rows = np.flatnonzero(group.ravel() == number)
        floor, goal = floors[levels[rows[0]]], overlay.to_local(aims[rows[0]])
        parts, here = floor.part_of(poses[rows, :2], _TAKEN_OFF), floor.part_of(goal, _TAKEN_OFF)[0]
        # A goal point on a step between two floors is on neither; a disc may reach into several parts.
        on_floor = beside[rows] & (parts > 0) & ((parts == here) | (goal_radius > 0))
        yield Batch(rows, floor, overlay, goal, poses[rows], straight[rows], on_floor)


def _overlay(surface: Surface) -> Grid:
    ground = surface.ground
    blocked = np.ones(ground.shape[::-1], dtype=np.bool_)
    blocked[ground.columns[:, 1], ground.columns[:, 0]] = False
    return Grid(blocked, ground.size, origin=(float(ground.origin[0]), float(ground.origin[1])))


def bounds_of(batch: Batch, robot: ReferenceRobot) -> Bounds:
    """Between which times the fastest drives of a batch lie, on the floor of its goal.

    Where that floor does not lead from the start to the goal, no drive is looked for: `high` is inf, and `low` the
    bound on the overlay of all floors, where every way through the building can be drawn and none becomes longer.
    """
    dynamics = dynamics_of(robot)
    low, high = np.full(len(batch.rows), np.inf), np.full(len(batch.rows), np.inf)
    began = time.process_time()
    if batch.on_floor.any():
        to_goal = ToGoal(batch.floor, batch.goal, dynamics, _TAKEN_OFF, robot.goal_radius)
        low[batch.on_floor] = to_goal.bound.at(batch.starts[batch.on_floor])
    planned = np.flatnonzero(np.isfinite(low))
    if len(planned):
        _ = to_goal.field  # which is shared, and is told apart from what each start takes
    shared = time.process_time()
    for row in planned:
        low[row], high[row] = _planned(to_goal, batch.starts[row])
    each = (time.process_time() - shared) / max(len(planned), 1)
    elsewhere = np.isinf(low) & np.isfinite(batch.straight)
    low[elsewhere] = _least(batch.only(elsewhere), dynamics, robot.goal_radius)
    return Bounds(
        np.floor(low * _STORED) / _STORED,
        np.ceil(high * _STORED) / _STORED,
        shared - began if len(planned) else 0.0,
        each,
    )


def _planned(to_goal: ToGoal, start: Array) -> tuple[float, float]:
    try:
        found = to_goal.from_pose(start)
    except NoRoute:  # the bound says that a way leads, and no planner finds it
        return float(to_goal.bound.at(start)[0]), math.inf
    return found.low, found.high


def _least(batch: Batch, dynamics: Dynamics, goal_radius: float) -> Array:
    """(n,) seconds from each start to the goal, at least, wherever the way may lead."""
    if not len(batch.rows):
        return np.empty(0)
    cells = batch.overlay.allowed(_TAKEN_OFF)
    laid_over = lower_bound(cells, batch.overlay.resolution, batch.goal, goal_radius, dynamics).at(batch.starts)
    through_air = np.maximum(batch.straight / dynamics.vmax - MARGIN, 0.0)
    return np.maximum(np.where(np.isfinite(laid_over), laid_over, 0.0), through_air)


def dynamics_of(robot: ReferenceRobot) -> Dynamics:
    """How a reference robot moves."""
    wmax = math.inf if robot.wmax is None else robot.wmax
    return dynamics_named(robot.dynamics, robot.vmax, wmax, reverse=robot.reverse)


def keys_of(batch: Batch, robot: ReferenceRobot) -> list[str]:
    """A fingerprint for each way of a batch of all that decides its time: the robot, the floors and both ends."""
    state = hashlib.blake2b(repr((VERSION, astuple(robot))).encode(), digest_size=16)
    for grid in (batch.floor, batch.overlay):
        state.update(_digest(grid))
    state.update(batch.goal.tobytes())
    keys = []
    for pose, straight, on_floor in zip(batch.starts, batch.straight, batch.on_floor, strict=True):
        own = state.copy()
        own.update(pose.tobytes() + straight.tobytes() + on_floor.tobytes())
        keys.append(own.hexdigest())
    return keys


@lru_cache(maxsize=64)
def _digest(grid: Grid) -> bytes:
    told = repr((grid.blocked.shape, grid.resolution)).encode()
    return hashlib.blake2b(told + np.packbits(grid.blocked).tobytes(), digest_size=16).digest()
