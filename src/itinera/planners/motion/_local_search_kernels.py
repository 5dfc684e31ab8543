"""Local search over chains of legs through waypoints: which waypoints to keep, and where to put them.

Leg k of a chain goes to waypoint k from the end of leg k - 1, in a shape of its own (see `shaped_leg`). So waypoints
(n, 2) and shapes (n, 2) describe a chain, and every collision-free chain is a drive. Collision checks are exact.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from itinera.planners.motion._steering_kernels import (
    Motion,
    State,
    leg_clear,
    line_clear,
    shaped_leg,
    uniform,
    wrap_angle,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_MIN_GAIN = 1e-7  # seconds: smaller gains are rounding
_SHAPES = np.array([[0.0, 1.0], [0.0, 0.5], [0.0, 0.2], [0.4, 1.0], [1.0, 0.0]])  # (pivot_share, radius_factor)


@njit(cache=True, nogil=True)
def needed_waypoints(allowed: Bools, resolution: float, points: Floats) -> Bools:
    """(n,) the points that a polyline through them needs: from the last needed point the next one is not visible."""
    keep = np.zeros(len(points), dtype=np.bool_)
    keep[0] = keep[-1] = True
    last = 0
    for k in range(1, len(points) - 1):
        x, y = points[last, 0], points[last, 1]
        if not line_clear(allowed, resolution, x, y, points[k + 1, 0], points[k + 1, 1]):
            keep[k] = True
            last = k
    return keep


@njit(cache=True, nogil=True)
def nearest_corner(allowed: Bools, resolution: float, x: float, y: float, reach: int) -> tuple[float, float]:
    """The nearest corner of a blocked cell within `reach` cells of a point; the point itself if there is none."""
    rows, columns = allowed.shape
    middle_i, middle_j = math.floor(x / resolution + 0.5), math.floor(y / resolution + 0.5)
    best, best_x, best_y = (reach * resolution) ** 2, x, y
    for j in range(max(1, middle_j - reach), min(rows, middle_j + reach + 1)):
        for i in range(max(1, middle_i - reach), min(columns, middle_i + reach + 1)):
            around = int(allowed[j, i]) + int(allowed[j - 1, i]) + int(allowed[j, i - 1]) + int(allowed[j - 1, i - 1])
            if around == 3:
                squared = (i * resolution - x) ** 2 + (j * resolution - y) ** 2
                if squared < best:
                    best, best_x, best_y = squared, i * resolution, j * resolution
    return best_x, best_y


@njit(cache=True, nogil=True)
def shortcut(
    allowed: Bools, resolution: float, start: Floats, points: Floats, motion: Motion, with_shapes: bool
) -> tuple[float, Ints, Floats]:
    """Seconds, indices and shapes of the fastest chain through some of the points, in order, to the last one.

    Dynamic programming whose states are the last two points of a chain, each with the best heading found for it; inf
    if no chain is collision-free. Point 0 is the start. Only chains `with_shapes` try more shapes than the fastest and
    the straight one.
    """
    n = len(points)
    cost = np.full((n, n), np.inf)
    heading, shape = np.zeros((n, n)), np.zeros((n, n), dtype=np.int64)
    previous = np.full((n, n), -1)
    cost[0, 0], heading[0, 0] = 0.0, start[2]
    for i in range(n - 1):
        for h in range(max(i, 1)):
            if cost[h, i] == np.inf or (motion.can_pivot and _dominated(cost, heading, motion.wmax, h, i)):
                continue
            for j in range(i + 1, n):
                _reach(allowed, resolution, points, motion, with_shapes, h, i, j, cost, heading, shape, previous)
    return _read_back(n, cost, shape, previous)


@njit(cache=True, nogil=True)
def _dominated(cost: Floats, heading: Floats, wmax: float, h: int, i: int) -> bool:
    """Whether another chain to point i, after a pivot to this one's heading, is faster."""
    for other in range(max(i, 1)):
        sooner = cost[h, i] - cost[other, i]
        if sooner > 0.0 and abs(wrap_angle(heading[other, i] - heading[h, i])) <= sooner * wmax:
            return True
    return False


@njit(cache=True, nogil=True)
def _reach(
    allowed: Bools,
    resolution: float,
    points: Floats,
    motion: Motion,
    with_shapes: bool,
    h: int,
    i: int,
    j: int,
    cost: Floats,
    heading: Floats,
    shape: Ints,
    previous: Ints,
) -> None:
    """Extend the chain that ends in points h, i to j, if that is the fastest known chain that ends in i, j."""
    x, y = points[i, 0], points[i, 1]
    least = math.sqrt((points[j, 0] - x) ** 2 + (points[j, 1] - y) ** 2) / motion.vmax
    for k in range(len(_SHAPES)):
        if cost[h, i] + least >= cost[i, j]:
            return
        if not with_shapes and 0 < k < len(_SHAPES) - 1:
            continue
        pivot_share, radius_factor = _SHAPES[k, 0], _SHAPES[k, 1]
        leg = shaped_leg(x, y, heading[h, i], points[j, 0], points[j, 1], motion, pivot_share, radius_factor)
        if cost[h, i] + leg[0] < cost[i, j] and leg_clear(allowed, resolution, x, y, heading[h, i], leg):
            cost[i, j] = cost[h, i] + leg[0]
            heading[i, j] = heading[h, i] + leg[2] + leg[4]
            shape[i, j], previous[i, j] = k, h


@njit(cache=True, nogil=True)
def _read_back(n: int, cost: Floats, shape: Ints, previous: Ints) -> tuple[float, Ints, Floats]:
    i, j = 0, n - 1
    for k in range(n - 1):
        if cost[k, j] < cost[i, j]:
            i = k
    seconds = cost[i, j]
    chosen, shapes = np.empty(n, dtype=np.int64), np.empty((n, 2))
    first = n
    while seconds < np.inf and j > 0:
        first -= 1
        chosen[first] = j
        shapes[first, 0], shapes[first, 1] = _SHAPES[shape[i, j], 0], _SHAPES[shape[i, j], 1]
        i, j = previous[i, j], i
    return seconds, chosen[first:], shapes[first:]


@njit(cache=True, nogil=True)
def chain_seconds(
    allowed: Bools,
    resolution: float,
    points: Floats,
    shapes: Floats,
    count: int,
    motion: Motion,
    first: int,
    states: Floats,
    known: Floats,
    known_count: int,
    bound: float,
) -> float:
    """Seconds of a chain of `count` legs; inf if it collides or cannot be faster than the known chain.

    states (n + 1, 4) <- x, y, heading, seconds at the start of each leg, from leg `first` on; row `first` is given.
    `known` are the states of a known chain that takes `bound` seconds. Where both are at the same waypoint, the known
    one could pivot and continue as the new one does: a new chain that arrives later than that is abandoned.
    """
    shift = known_count - count
    for k in range(first, count):
        x, y, heading, seconds = states[k, 0], states[k, 1], states[k, 2], states[k, 3]
        leg = shaped_leg(x, y, heading, points[k, 0], points[k, 1], motion, shapes[k, 0], shapes[k, 1])
        seconds += leg[0]
        arrival = heading + leg[2] + leg[4]
        then = k + 1 + shift
        if seconds >= bound:
            return np.inf
        together = then > 0 and known[then, 0] == points[k, 0] and known[then, 1] == points[k, 1]
        if together and seconds >= known[then, 3] + abs(wrap_angle(arrival - known[then, 2])) / motion.wmax:
            return np.inf
        if not leg_clear(allowed, resolution, x, y, heading, leg):
            return np.inf
        states[k + 1, 0], states[k + 1, 1] = points[k, 0], points[k, 1]
        states[k + 1, 2], states[k + 1, 3] = arrival, seconds
    return float(states[count, 3])


@njit(cache=True, nogil=True)
def improve(
    allowed: Bools,
    resolution: float,
    start: Floats,
    goal: Floats,
    points: Floats,
    shapes: Floats,
    count: int,
    motion: Motion,
    with_shapes: bool,
    state: State,
    trials: int,
    patience: int,
) -> tuple[float, int]:
    """Seconds and number of legs of the chain in points (n, 2) and shapes (n, 2), which are made faster in place.

    A pattern search: change one or two waypoints or a shape, drop or insert a waypoint, keep the change if the chain is
    faster and collision-free; steps shrink when they no longer help. goal: x, y, radius; the last waypoint stays in it.
    """
    states, new_points, new_shapes = np.zeros((len(points) + 1, 4)), points.copy(), shapes.copy()
    states[0, 0], states[0, 1], states[0, 2] = start[0], start[1], start[2]
    new_states = np.full((len(points) + 1, 4), np.inf)
    best = chain_seconds(allowed, resolution, points, shapes, count, motion, 0, states, new_states, count, np.inf)
    step, gained, round_, tried = 0.5, 0.0, 0, 0
    while tried < trials and step > 1e-5:
        tried += 1
        round_ += 1
        first, new_count = _perturb(
            allowed, resolution, goal, new_points, new_shapes, count, states, with_shapes, state, step
        )
        _copy(states, new_states, first, first + 1)
        value = chain_seconds(
            allowed, resolution, new_points, new_shapes, new_count, motion, first, new_states, states, count, best
        )
        if value < best - _MIN_GAIN:
            gained += best - value
            best, count = value, new_count
            _copy(new_points, points, first, count)
            _copy(new_shapes, shapes, first, count)
            _copy(new_states, states, first, count + 1)
        else:
            _copy(points, new_points, first, max(count, new_count))
            _copy(shapes, new_shapes, first, max(count, new_count))
        if round_ >= patience * (count + 1):
            if gained < 2e-4 * best:
                step *= 0.5
            round_, gained = 0, 0.0
    return best, count


@njit(cache=True, nogil=True)
def _perturb(
    allowed: Bools,
    resolution: float,
    goal: Floats,
    points: Floats,
    shapes: Floats,
    count: int,
    states: Floats,
    with_shapes: bool,
    state: State,
    step: float,
) -> tuple[int, int]:
    """The first changed leg and the new number of legs, after one random change of points and shapes."""
    movable = count if goal[2] > 0.0 else count - 1
    kind = uniform(state)
    k = min(int(uniform(state) * count), count - 1)
    if kind < 0.3 and with_shapes:
        which = 0 if uniform(state) < 0.5 else 1
        shapes[k, which] = min(1.0, max(0.0, shapes[k, which] + 2.0 * step * (2.0 * uniform(state) - 1.0)))
        if kind < 0.1 and k < movable:
            _shift(goal, points, k, count, state, step)
        return k, count
    if kind < 0.36 and count > 1:
        k = min(k, count - 2)
        for row in range(k, count - 1):
            _copy_row(points, row, row + 1)
            _copy_row(shapes, row, row + 1)
        return k, count - 1
    if kind < 0.42 and count < len(points):
        for row in range(count, k, -1):
            _copy_row(points, row, row - 1)
            _copy_row(shapes, row, row - 1)
        fraction = uniform(state)
        points[k, 0] = states[k, 0] + fraction * (points[k + 1, 0] - states[k, 0])
        points[k, 1] = states[k, 1] + fraction * (points[k + 1, 1] - states[k, 1])
        _shift(goal, points, k, count + 1, state, step)
        if uniform(state) < 0.5:
            shapes[k, 0], shapes[k, 1] = 0.0, 1.0
        return k, count + 1
    k = min(k, movable - 1)
    if k < 0:
        return count - 1, count
    if kind < 0.47 and k < count - 1:
        points[k, 0], points[k, 1] = nearest_corner(allowed, resolution, points[k, 0], points[k, 1], 3)
        return k, count
    if kind < 0.75 and k + 1 < movable:
        _shift(goal, points, k + 1, count, state, step)
    _shift(goal, points, k, count, state, step)
    return k, count


@njit(cache=True, nogil=True)
def _copy(source: Floats, target: Floats, low: int, high: int) -> None:
    """Copy rows low to high (exclusive) from source to target."""
    for row in range(low, high):
        for column in range(source.shape[1]):
            target[row, column] = source[row, column]


@njit(cache=True, nogil=True)
def _copy_row(pairs: Floats, row: int, other: int) -> None:
    """Copy one row over another."""
    pairs[row, 0], pairs[row, 1] = pairs[other, 0], pairs[other, 1]


@njit(cache=True, nogil=True)
def _shift(goal: Floats, points: Floats, k: int, count: int, state: State, step: float) -> None:
    """Move waypoint k a little; the last one stays in the goal."""
    points[k, 0] += step * (2.0 * uniform(state) - 1.0)
    points[k, 1] += step * (2.0 * uniform(state) - 1.0)
    if k == count - 1:
        dx, dy = points[k, 0] - goal[0], points[k, 1] - goal[1]
        away = math.sqrt(dx * dx + dy * dy)
        if away > goal[2]:
            points[k, 0] = goal[0] + dx * goal[2] / away
            points[k, 1] = goal[1] + dy * goal[2] / away


@njit(cache=True, nogil=True)
def chain_moves(start: Floats, points: Floats, shapes: Floats, motion: Motion) -> Floats:
    """The moves (3 n, 2) of a chain; unused ones are 0."""
    moves = np.zeros((3 * len(points), 2))
    x, y, heading = start[0], start[1], start[2]
    for k in range(len(points)):
        leg = shaped_leg(x, y, heading, points[k, 0], points[k, 1], motion, shapes[k, 0], shapes[k, 1])
        moves[3 * k, 0], moves[3 * k, 1] = leg[1], leg[2]
        moves[3 * k + 1, 0], moves[3 * k + 1, 1] = leg[3], leg[4]
        moves[3 * k + 2, 0] = leg[5]
        x, y, heading = points[k, 0], points[k, 1], heading + leg[2] + leg[4]
    return moves
