"""Local search: from paths of waypoints to a fast, collision-free drive.

Every planner's path ends here. `optimize_drive` drops waypoints, moves the others and checks every candidate. It joins
waypoints by the fastest legs, or by pivots and straight lines where those collide; so a path that is collision-free as
straight lines always becomes a drive. Coordinates are in the map's frame of the grid.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.errors import BadArgument
from itinera.planners.motion._local_search_kernels import (
    chain_moves,
    improve,
    nearest_corner,
    needed_waypoints,
    shortcut,
)
from itinera.planners.motion.dynamics import RADIUS, Drive, Dynamics
from itinera.seeding import generator
from itinera.worlds import Array
from itinera.worlds._grid_kernels import point_clear
from itinera.worlds.grid import Grid

_TRIALS, _RESTARTS = 15000, 3  # candidates evaluated per path, and the number of independent searches they belong to
_PROMISING = 1.02  # times the best after one search: slower paths are not searched again
_PATIENCE = 60  # trials per waypoint before the steps shrink
_MAX_WAYPOINTS = 48  # of a chain, unless it begins with more
_STATIONS = 15  # sections of the path, at whose ends the first, thorough search chooses points
_SIDE_OFFSETS = (0.0, -0.3, 0.3, -0.6, 0.6, -1.0, 1.0)  # metres to the side of the path
_TANGENT_SPAN = 0.2  # metres of the path, before and after a point, that define its direction
_CORNER_REACH = 0.3  # metres from a waypoint within which corners are candidates


def optimize_drive(
    grid: Grid,
    start: ArrayLike,
    goal: ArrayLike,
    dynamics: Dynamics,
    *paths: Array,
    radius: float = RADIUS,
    goal_radius: float = 0.0,
) -> Drive | None:
    """The fastest drive found near paths of waypoints (n, 2), from a pose into a disc; None if all paths collide.

    Waypoints lead from the start to the goal, each of which may be included or not. With `goal_radius` 0 the drive ends
    at the point. A path that is collision-free as straight lines always gives a drive, if the robot can pivot. Of
    several paths, those that a first search leaves much slower than the best are abandoned.
    """
    pose, point = np.asarray(start, dtype=np.float64), np.asarray(goal, dtype=np.float64)
    if pose.shape != (3,) or point.shape != (2,):
        raise BadArgument(f"start must be (x, y, heading) and goal (x, y), not {pose.tolist()} and {point.tolist()}.")
    if np.hypot(*(point - pose[:2])) <= goal_radius:
        return Drive(pose, np.empty((0, 2)))
    free_cells, size = grid.free_cells(radius), grid.resolution
    pose, point = grid.to_local(pose), grid.to_local(point)
    disc = np.append(point, goal_radius)
    polylines = [np.concatenate((pose[None, :2], grid.to_local(path.reshape(-1, 2)))) for path in paths]
    chains = [
        _choose_waypoints(free_cells, size, dynamics, pose, _cut_at_goal(point, goal_radius, polyline))
        for polyline in polylines
    ]
    first = [
        (chain, _search(free_cells, size, dynamics, pose, disc, chain, 0)) for chain in chains if chain is not None
    ]
    least = min((found[0] for _, found in first), default=math.inf)
    results = [found for _, found in first]
    for chain, found in first:
        if found[0] <= _PROMISING * least:
            results += [_search(free_cells, size, dynamics, pose, disc, chain, k) for k in range(1, _RESTARTS)]
    for _, points, shapes in sorted(results, key=lambda found: found[0]):
        drive = Drive(np.asarray(start, dtype=np.float64), _join_legs(dynamics, pose, points, shapes))
        # Check again from move to move, as callers will: the search does not see how rounding adds up.
        if drive.is_collision_free(grid, radius):
            return drive
    return None


def _search(
    free_cells: NDArray[np.bool_],
    resolution: float,
    dynamics: Dynamics,
    start: Array,
    disc: Array,
    chain: tuple[Array, Array],
    number: int,
) -> tuple[float, Array, Array]:
    """Seconds, waypoints and shapes of a chain after one search; each number searches differently."""
    count = len(chain[0])
    points, shapes = np.zeros((max(_MAX_WAYPOINTS, count), 2)), np.zeros((max(_MAX_WAYPOINTS, count), 2))
    points[:count], shapes[:count] = chain
    state = generator(number, "polish").integers(1, 2**63, size=1, dtype=np.uint64)
    with_shapes, trials = _has_shapes(dynamics), _TRIALS // _RESTARTS
    seconds, count = improve(
        free_cells,
        resolution,
        start,
        disc,
        points,
        shapes,
        count,
        dynamics.motion,
        with_shapes,
        state,
        trials,
        _PATIENCE,
    )
    return seconds, points[:count], shapes[:count]


def _choose_waypoints(
    free_cells: NDArray[np.bool_], resolution: float, dynamics: Dynamics, start: Array, path: Array
) -> tuple[Array, Array] | None:
    """Waypoints (n, 2) and shapes (n, 2) of the fastest chain through some candidate points; None if all collide."""
    candidates = _candidate_points(free_cells, resolution, path)
    seconds, chosen, shapes = shortcut(
        free_cells, resolution, start, candidates, dynamics.motion, _has_shapes(dynamics)
    )
    return (candidates[chosen], shapes) if math.isfinite(seconds) else None


def _candidate_points(free_cells: NDArray[np.bool_], resolution: float, path: Array) -> Array:
    """(n, 2) points to choose from, in order: those the path needs, corners near them, and others beside the path.

    The last make room for wide arcs, and for paths on the other side of something small.
    """
    keep = needed_waypoints(free_cells, resolution, path)
    arc_length = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))))
    reach = max(1, round(_CORNER_REACH / resolution))
    corners = [nearest_corner(free_cells, resolution, x, y, reach) for x, y in path[keep][1:-1]]
    stations = np.repeat(np.linspace(0.0, arc_length[-1], _STATIONS)[1:-1], len(_SIDE_OFFSETS))
    beside = _points_beside(path, arc_length, stations)
    free = np.array([point_clear(free_cells, resolution, x, y) for x, y in beside])
    points = np.concatenate((path[keep], np.array(corners).reshape(-1, 2), beside[free]))
    order = np.concatenate((arc_length[keep], arc_length[keep][1:-1], stations[free]))
    return np.ascontiguousarray(points[np.argsort(order, kind="stable")])


def _points_beside(path: Array, arc_length: Array, stations: Array) -> Array:
    """Points at these arc lengths of a path, in turn on it and to its sides."""

    def along(metres: Array) -> Array:
        return np.column_stack([np.interp(metres, arc_length, path[:, axis]) for axis in (0, 1)])

    tangent = along(stations + _TANGENT_SPAN) - along(stations - _TANGENT_SPAN)
    tangent /= np.maximum(np.hypot(*tangent.T), 1e-9)[:, None]
    offsets = np.tile(_SIDE_OFFSETS, len(stations) // len(_SIDE_OFFSETS))
    points: Array = along(stations) + offsets[:, None] * np.column_stack((-tangent[:, 1], tangent[:, 0]))
    return points


def _cut_at_goal(goal: Array, goal_radius: float, path: Array) -> Array:
    """The path up to where it first enters the goal's disc."""
    if goal_radius == 0:
        last = path[-1]
        return path if np.array_equal(last, goal) else np.concatenate((path, goal[None]))
    inside = np.hypot(*(path - goal).T) <= goal_radius
    if not inside.any():
        path, inside = np.concatenate((path, goal[None])), np.append(inside, True)
    first = int(np.argmax(inside))
    before, after = path[first - 1], path[first]
    share = _entry_fraction(before - goal, after - before, goal_radius)
    return np.concatenate((path[:first], (before + share * (after - before))[None]))


def _entry_fraction(offset: Array, step: Array, radius: float) -> float:
    """The fraction of a step that ends within the radius of the origin, when it begins outside."""
    a, b, c = float(step @ step), float(offset @ step), float(offset @ offset) - (radius * (1 - 1e-9)) ** 2
    return min(1.0, (-b - math.sqrt(max(b * b - a * c, 0.0))) / a)


def _join_legs(dynamics: Dynamics, start: Array, points: Array, shapes: Array) -> Array:
    """(n, 2) the moves of a chain."""
    moves = chain_moves(start, np.ascontiguousarray(points), np.ascontiguousarray(shapes), dynamics.motion)
    used: Array = moves[(moves != 0).any(axis=1)]
    return used


def _has_shapes(dynamics: Dynamics) -> bool:
    """Whether legs have shapes to choose from."""
    return dynamics.can_pivot and dynamics.arc_radius > 0
