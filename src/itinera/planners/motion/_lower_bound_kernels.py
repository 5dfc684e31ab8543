"""Shortest lengths round the corners of blocked cells, and what turning adds to them.

A corner is where three allowed cells meet a blocked one: the only places where a shortest path bends.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from itinera.planners.motion._steering_kernels import wrapped
from itinera.worlds._grid_kernels import clear_to

Floats = NDArray[np.float64]
Cells = NDArray[np.bool_]

NEVER, DRIVING, PIVOTING = 0, 1, 2  # when turning costs time: never, what driving on does not hide, always

_GRAZE = 1e-7  # metres: seeing is generous, so that no length is over-estimated


@njit(cache=True, nogil=True)
def seen(cells: Cells, resolution: float, x: float, y: float, to_x: float, to_y: float) -> bool:
    """Whether a straight line is clear, or all but."""
    dx, dy = to_x - x, to_y - y
    return clear_to(cells, resolution, _GRAZE, x, y, math.atan2(dy, dx), math.sqrt(dx * dx + dy * dy), 0.0)


@njit(cache=True, nogil=True)
def corners(allowed: Cells, resolution: float) -> Floats:
    """(n, 3) x, y and 1 where the blocked cell lies to the upper right or lower left of a corner, else -1."""
    rows, columns = allowed.shape
    found = np.empty(((rows - 1) * (columns - 1), 3))
    n = 0
    for r in range(rows - 1):
        for c in range(columns - 1):
            low, right = allowed[r, c], allowed[r, c + 1]
            left, high = allowed[r + 1, c], allowed[r + 1, c + 1]
            if int(low) + int(right) + int(left) + int(high) == 3:
                found[n, 0], found[n, 1] = (c + 1) * resolution, (r + 1) * resolution
                found[n, 2] = -1.0 if low and high else 1.0
                n += 1
    return found[:n].copy()


@njit(cache=True, nogil=True)
def lengths(
    allowed: Cells, wider: Cells, resolution: float, bends: Floats, goal_x: float, goal_y: float, goal_radius: float
) -> Floats:
    """(n,) the shortest lengths from corners (n, 3) to the goal's disc, by Dijkstra's algorithm; inf: no way.

    The disc is seen where its middle is seen among the wider cells, to which every line to the disc belongs when moved
    to its middle. Of lines between corners only those count that bend round the blocked cell at either end.
    """
    count = len(bends)
    length, settled = np.full(count, np.inf), np.zeros(count, dtype=np.bool_)
    for n in range(count):
        x, y = bends[n, 0], bends[n, 1]
        straight = max(math.hypot(x - goal_x, y - goal_y) - goal_radius, 0.0)
        if straight == 0.0 or seen(wider, resolution, x, y, goal_x, goal_y):
            length[n] = straight
    for _ in range(count):
        at, least = -1, np.inf
        for n in range(count):
            if not settled[n] and length[n] < least:
                at, least = n, length[n]
        if at < 0:
            break
        settled[at] = True
        x, y, side = bends[at, 0], bends[at, 1], bends[at, 2]
        for n in range(count):
            dx, dy = bends[n, 0] - x, bends[n, 1] - y
            if settled[n] or dx * dy * side > 0.0 or dx * dy * bends[n, 2] > 0.0:
                continue
            through = least + math.sqrt(dx * dx + dy * dy)
            if through < length[n] and seen(allowed, resolution, x, y, bends[n, 0], bends[n, 1]):
                length[n] = through
    return length


@njit(cache=True, nogil=True)
def turning(angle: float, mode: int) -> float:
    """Radians that turning by an angle adds at least, with all driving done meanwhile taken off."""
    angle = abs(angle)
    if mode == NEVER:
        return 0.0
    if mode == PIVOTING:
        return angle
    return angle - math.sin(min(angle, 0.5 * math.pi))


@njit(cache=True, nogil=True)
def least_times(
    allowed: Cells,
    wider: Cells,
    resolution: float,
    bends: Floats,
    length: Floats,
    goal: Floats,
    limits: Floats,
    mode: int,
    poses: Floats,
) -> Floats:
    """(n,) the least over all places seen from poses (n, 3), corners and goal, of turning to it and driving on from it.

    goal: x, y, radius; limits: vmax, wmax.
    """
    found = np.full(len(poses), np.inf)
    for p in range(len(poses)):
        x, y, heading = poses[p, 0], poses[p, 1], poses[p, 2]
        dx, dy = goal[0] - x, goal[1] - y
        far = math.hypot(dx, dy)
        if far <= goal[2]:
            found[p] = 0.0
            continue
        best = np.inf
        aside = max(abs(wrapped(math.atan2(dy, dx) - heading)) - math.asin(goal[2] / far), 0.0)
        if seen(wider, resolution, x, y, goal[0], goal[1]):
            best = (far - goal[2]) / limits[0] + turning(aside, mode) / limits[1]
        for n in range(len(bends)):
            dx, dy = bends[n, 0] - x, bends[n, 1] - y
            seconds = (math.sqrt(dx * dx + dy * dy) + length[n]) / limits[0]
            if seconds >= best:
                continue
            seconds += turning(wrapped(math.atan2(dy, dx) - heading), mode) / limits[1]
            if seconds < best and seen(allowed, resolution, x, y, bends[n, 0], bends[n, 1]):
                best = seconds
        found[p] = best
    return found
