"""Steering: the fastest leg from a pose to a point in free space in closed form, its collision check, random numbers.

By Pontryagin's principle the robot drives at full speed or not at all, and turns at full speed or not at all. So a leg
consists of pivots, arcs of the smallest radius and straights, for which these functions solve. Five numbers describe a
leg: metres and turn of a first move, metres and turn of a second, metres of a last straight.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from itinera.worlds._grid_kernels import move_clear, pose_after

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
State = NDArray[np.uint64]  # (1,) of the random number generator, above 0
Moves = tuple[float, float, float, float, float]
Leg = tuple[float, float, float, float, float, float]  # seconds, then the numbers of its moves

_SHIFT_A, _SHIFT_B, _SHIFT_C, _DROPPED_BITS = np.uint64(12), np.uint64(25), np.uint64(27), np.uint64(11)
_FACTOR = np.uint64(2685821657736338717)
_UNIT = 1.0 / 9007199254740992.0  # 2^-53
_QUARTER, _HALF, _FULL = 0.5 * math.pi, math.pi, 2.0 * math.pi


class Motion(NamedTuple):
    """The limits of a robot, as kernels take them."""

    vmax: float  # metres per second
    wmax: float  # radians per second, may be inf
    arc_radius: float  # metres, of the arcs; 0 replaces arcs by pivots
    can_pivot: bool
    reverse: bool


@njit(cache=True, nogil=True)
def wrap_angle(angle: float) -> float:
    """The angle in [-pi, pi]."""
    return angle - _FULL * math.floor(angle / _FULL + 0.5)


@njit(cache=True, nogil=True)
def fastest_leg(x: float, y: float, heading: float, to_x: float, to_y: float, motion: Motion) -> Leg:
    """The fastest leg from a pose to a point, ignoring obstacles."""
    return shaped_leg(x, y, heading, to_x, to_y, motion, 0.0, 1.0)


@njit(cache=True, nogil=True)
def shaped_leg(
    x: float,
    y: float,
    heading: float,
    to_x: float,
    to_y: float,
    motion: Motion,
    pivot_share: float,
    radius_factor: float,
) -> Leg:
    """The leg that first pivots by a share of the bearing, then takes arcs of a fraction of the arc radius.

    `pivot_share` and `radius_factor` are in [0, 1]: (0, 1) is the fastest leg, (1, any) a pivot and a straight line.
    The robot drives tighter arcs than its own more slowly, turning at full speed. Robots that cannot pivot ignore both.
    """
    dx, dy = to_x - x, to_y - y
    distance = math.sqrt(dx * dx + dy * dy)
    if distance == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    bearing = wrap_angle(math.atan2(dy, dx) - heading)
    if not motion.can_pivot:
        return _timed(_without_pivot(distance, bearing, motion), motion)
    radius = motion.arc_radius * radius_factor
    best = _pivot_first(distance, bearing, radius, pivot_share)
    if not motion.reverse:
        return _timed(best, motion)
    leg = _timed(best, motion)
    back = _in_reverse(_pivot_first(distance, wrap_angle(bearing + _HALF), radius, pivot_share))
    other = _timed(back, motion)
    if other[0] < leg[0]:
        leg = other
    if radius > 0.0 and pivot_share == 0.0:
        other = _fastest_cusp(distance, bearing, radius, motion)
        if other[0] < leg[0]:
            leg = other
    return leg


@njit(cache=True, nogil=True)
def single_arc_leg(x: float, y: float, heading: float, to_x: float, to_y: float, motion: Motion) -> Leg:
    """The leg of the released RRT*-Unicycle: a pivot, then one arc at full speed that ends on the point.

    With a, the half-angle between heading and chord where the arc begins, and d, the distance, the time is
    (bearing - a) / wmax + d a / (vmax sin a). It is least where (sin a - a cos a) / sin² a = vmax / (wmax d), unless
    the turning speed forbids that.
    """
    dx, dy = to_x - x, to_y - y
    distance = math.sqrt(dx * dx + dy * dy)
    if distance == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    bearing = wrap_angle(math.atan2(dy, dx) - heading)
    half = min(abs(bearing), _best_half_angle(distance, motion.arc_radius))
    side = 1.0 if bearing >= 0.0 else -1.0
    arc = distance * (half / math.sin(half) if half > 0.0 else 1.0)
    return _timed((0.0, side * (abs(bearing) - half), arc, side * 2.0 * half, 0.0), motion)


@njit(cache=True, nogil=True)
def _best_half_angle(distance: float, radius: float) -> float:
    """The half-angle of the fastest single arc if the bearing allows any."""
    half = math.asin(min(1.0, 0.5 * distance / radius)) if radius > 0.0 else 0.0
    for _ in range(20):
        # Newton's method starts at the upper limit, on the side where the function is convex.
        sin, cos = math.sin(half), math.cos(half)
        over = sin - half * cos - radius / distance * sin * sin
        if over <= 1e-15:
            break
        half -= over / (half * sin - 2.0 * radius / distance * sin * cos)
    return half


@njit(cache=True, nogil=True)
def _timed(moves: Moves, motion: Motion) -> Leg:
    """The leg of these moves, with its seconds."""
    s0, a0, s1, a1, s2 = moves
    seconds = abs(s2) / motion.vmax
    seconds += max(abs(s0) / motion.vmax, abs(a0) / motion.wmax)
    seconds += max(abs(s1) / motion.vmax, abs(a1) / motion.wmax)
    return seconds, s0, a0, s1, a1, s2


@njit(cache=True, nogil=True)
def _in_reverse(moves: Moves) -> Moves:
    """The same moves driven backwards, as if the robot faced the other way."""
    return -moves[0], moves[1], -moves[2], moves[3], -moves[4]


@njit(cache=True, nogil=True)
def _pivot_first(distance: float, bearing: float, radius: float, pivot_share: float) -> Moves:
    """Pivot, arc and straight to a point at a distance and bearing; the pivot is at least its share of the bearing."""
    side = 1.0 if bearing >= 0.0 else -1.0
    whole = abs(bearing)
    first = pivot_share * whole
    pivot, turn, straight = _pivot_arc_straight(distance, whole - first, radius)
    if radius == 0.0:
        pivot, turn = pivot + turn, 0.0
    return 0.0, side * (first + pivot), radius * turn, side * turn, straight


@njit(cache=True, nogil=True)
def _pivot_arc_straight(distance: float, bearing: float, radius: float) -> tuple[float, float, float]:
    """Pivot, turn and straight to a point on the left, 0 <= bearing <= pi."""
    turn, straight = _arc_to_tangent(distance, bearing, radius)
    if 0.0 <= turn <= _QUARTER:
        return 0.0, turn, straight
    if distance >= math.sqrt(2.0) * radius:
        straight = math.sqrt(max(distance * distance - radius * radius, 0.0)) - radius
        pivot, turn = bearing - math.atan2(radius + straight, radius), _QUARTER
    else:
        half = math.asin(0.5 * distance / radius)
        pivot, turn, straight = bearing - half, 2.0 * half, 0.0
    return max(pivot, 0.0), turn, straight


@njit(cache=True, nogil=True)
def _arc_to_tangent(distance: float, bearing: float, radius: float) -> tuple[float, float]:
    """Left turn in [0, 2 pi) and straight that reach the point; a turn of -1 if it is inside the turning circle."""
    ahead, aside = distance * math.cos(bearing), distance * math.sin(bearing)
    squared = distance * distance - 2.0 * aside * radius
    if squared < -1e-12 * distance * distance:  # smaller deviations are rounding: the point is on the circle
        return -1.0, 0.0
    straight = math.sqrt(max(squared, 0.0))
    turn = math.atan2(aside - radius, ahead) + math.atan2(radius, straight)
    if turn < -1e-12:
        turn += _FULL
    return max(turn, 0.0), straight


@njit(cache=True, nogil=True)
def _fastest_cusp(distance: float, bearing: float, radius: float, motion: Motion) -> Leg:
    """The fastest of the legs with a cusp: all turns to one side, first in one gear and then in the other."""
    best = (math.inf, 0.0, 0.0, 0.0, 0.0, 0.0)
    for kind in range(4):
        side = 1.0 if kind % 2 == 0 else -1.0
        apparent = bearing if kind < 2 else wrap_angle(bearing + _HALF)
        found, back, turn, straight = _cusp(distance * math.cos(apparent), side * distance * math.sin(apparent), radius)
        if found:
            moves = (-radius * back, side * back, radius * turn, side * turn, straight)
            leg = _timed(moves if kind < 2 else _in_reverse(moves), motion)
            if leg[0] < best[0]:
                best = leg
    return best


@njit(cache=True, nogil=True)
def _cusp(ahead: float, aside: float, radius: float) -> tuple[bool, float, float, float]:
    """Whether a cusp exists, the left turn in reverse, the left turn forward (at most 90°), and the straight."""
    aside += radius  # relative to the center of the arc in reverse
    squared = ahead * ahead + aside * aside
    if squared >= 5.0 * radius * radius:
        turn, straight = _QUARTER, math.sqrt(squared - radius * radius) - 2.0 * radius
    elif squared >= radius * radius:
        turn, straight = math.acos((5.0 * radius * radius - squared) / (4.0 * radius * radius)), 0.0
    else:
        return False, 0.0, 0.0, 0.0
    end = math.atan2((2.0 - math.cos(turn)) * radius + straight, math.sin(turn) * radius)
    back = math.atan2(aside, ahead) - end
    if back < -1e-12:
        back += _FULL
    return back <= _HALF, max(back, 0.0), turn, straight


@njit(cache=True, nogil=True)
def _without_pivot(distance: float, bearing: float, motion: Motion) -> Moves:
    """Arc and straight, or two arcs if the point is inside the turning circle: the shortest leg without a pivot."""
    side = 1.0 if bearing >= 0.0 else -1.0
    radius, near = motion.arc_radius, abs(bearing)
    turn, straight = _arc_to_tangent(distance, near, radius)
    if turn >= 0.0:
        away, longer = _arc_to_tangent(distance, -near, radius)
        if away * radius + longer < turn * radius + straight:
            side, turn, straight = -side, away, longer
        return 0.0, 0.0, radius * turn, side * turn, straight
    away, turn = _two_arcs(distance * math.cos(near), distance * math.sin(near), radius)
    return radius * away, -side * away, radius * turn, side * turn, 0.0


@njit(cache=True, nogil=True)
def _two_arcs(ahead: float, aside: float, radius: float) -> tuple[float, float]:
    """Right turn, then left turn, that reach a point inside the left circle."""
    aside += radius  # relative to the center of the right circle
    reach = math.sqrt(ahead * ahead + aside * aside)
    spread = math.acos(min(1.0, (reach * reach + 3.0 * radius * radius) / (4.0 * radius * reach)))
    best = (math.inf, 0.0)
    for sign in (1.0, -1.0):
        away = (math.atan2(ahead, aside) + sign * spread) % _FULL
        left, up = ahead - 2.0 * radius * math.sin(away), aside - 2.0 * radius * math.cos(away)
        turn = (math.atan2(left, -up) + away) % _FULL
        if away + turn < best[0] + best[1]:
            best = (away, turn)
    return best


@njit(cache=True, nogil=True)
def fastest_legs(poses: Floats, points: Floats, motion: Motion) -> tuple[Floats, Floats]:
    """Moves (n, 3, 2) and seconds (n,) from poses (n, 3) to points (n, 2)."""
    moves, seconds = np.zeros((len(poses), 3, 2)), np.empty(len(poses))
    for k in range(len(poses)):
        leg = fastest_leg(poses[k, 0], poses[k, 1], poses[k, 2], points[k, 0], points[k, 1], motion)
        seconds[k] = leg[0]
        moves[k, 0, 0], moves[k, 0, 1] = leg[1], leg[2]
        moves[k, 1, 0], moves[k, 1, 1] = leg[3], leg[4]
        moves[k, 2, 0] = leg[5]
    return moves, seconds


@njit(cache=True, nogil=True)
def leg_clear(allowed: Bools, resolution: float, x: float, y: float, heading: float, leg: Leg) -> bool:
    """Whether a leg from a pose is collision-free; the pose itself is."""
    _, s0, a0, s1, a1, s2 = leg
    for metres, turn in ((s0, a0), (s1, a1), (s2, 0.0)):
        if metres == 0.0:
            heading += turn
            continue
        if not move_clear(allowed, resolution, x, y, heading, metres, turn):
            return False
        x, y, heading = pose_after(x, y, heading, metres, turn)
    return True


@njit(cache=True, nogil=True)
def line_clear(allowed: Bools, resolution: float, x: float, y: float, to_x: float, to_y: float) -> bool:
    """Whether the straight line between two points is collision-free."""
    dx, dy = to_x - x, to_y - y
    return move_clear(allowed, resolution, x, y, math.atan2(dy, dx), math.sqrt(dx * dx + dy * dy), 0.0)


@njit(cache=True, nogil=True)
def uniform(state: State) -> float:
    """The next random number in [0, 1) by xorshift64*; updates the state."""
    x = state[0]
    x ^= x >> _SHIFT_A
    x ^= x << _SHIFT_B
    x ^= x >> _SHIFT_C
    state[0] = x
    return float((x * _FACTOR) >> _DROPPED_BITS) * _UNIT
