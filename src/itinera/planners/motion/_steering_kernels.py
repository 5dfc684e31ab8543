"""The fastest leg from a pose to a point in free space, in closed form.

By Pontryagin's principle one drives at full speed or not at all, and turns at full speed or not at all, so a leg is
made of pivots, arcs of the smallest radius and straights; here they are solved for. A leg is told by five numbers:
 metres and turn of a first move, metres and turn of a second, metres of a last straight.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Five = tuple[float, float, float, float, float]
Leg = tuple[float, float, float, float, float, float]  # seconds, then the five numbers

QUARTER, HALF, WHOLE = 0.5 * math.pi, math.pi, 2.0 * math.pi


class Motion(NamedTuple):
    """What a robot can do, as kernels take it."""

    vmax: float  # metres per second
    wmax: float  # radians per second, may be inf
    curve: float  # metres, radius of the arcs; 0 makes them pivots
    pivots: bool
    reverse: bool


@njit(cache=True, nogil=True)
def wrapped(angle: float) -> float:
    """The angle in [-pi, pi]."""
    return angle - WHOLE * math.floor(angle / WHOLE + 0.5)


@njit(cache=True, nogil=True)
def fastest_leg(x: float, y: float, heading: float, to_x: float, to_y: float, motion: Motion) -> Leg:
    """The fastest leg from a pose to a point, obstacles aside."""
    return shaped_leg(x, y, heading, to_x, to_y, motion, 0.0, 1.0)


@njit(cache=True, nogil=True)
def shaped_leg(
    x: float, y: float, heading: float, to_x: float, to_y: float, motion: Motion, share: float, tighter: float
) -> Leg:
    """The leg that first pivots by a share of the bearing and then takes arcs tighter by a factor, both in [0, 1].

    With (0, 1) it is the fastest leg, with (1, anything) a pivot and a straight line. Arcs tighter than the robot's own
    are driven slower, turning at full speed. Robots that cannot pivot have no shapes to choose from.
    """
    dx, dy = to_x - x, to_y - y
    far = math.sqrt(dx * dx + dy * dy)
    if far == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    bearing = wrapped(math.atan2(dy, dx) - heading)
    if not motion.pivots:
        return _drawn(_unpivoted(far, bearing, motion), motion)
    curve = motion.curve * tighter
    best = _ahead(far, bearing, curve, share)
    if not motion.reverse:
        return _drawn(best, motion)
    leg = _drawn(best, motion)
    back = _backwards(_ahead(far, wrapped(bearing + HALF), curve, share))
    other = _drawn(back, motion)
    if other[0] < leg[0]:
        leg = other
    if curve > 0.0 and share == 0.0:
        other = _fastest_cusp(far, bearing, curve, motion)
        if other[0] < leg[0]:
            leg = other
    return leg


@njit(cache=True, nogil=True)
def single_arc_leg(x: float, y: float, heading: float, to_x: float, to_y: float, motion: Motion) -> Leg:
    """The leg of the released RRT*-Unicycle: a pivot, then one arc at full speed that ends on the point.

    Of the half-angle a between heading and chord where the arc begins, the time is (bearing - a) / wmax + far a /
    (vmax sin a); it is least where (sin a - a cos a) / sin² a = vmax / (wmax far), unless the turning speed forbids it.
    """
    dx, dy = to_x - x, to_y - y
    far = math.sqrt(dx * dx + dy * dy)
    if far == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    bearing = wrapped(math.atan2(dy, dx) - heading)
    half = min(abs(bearing), _best_half(far, motion.curve))
    side = 1.0 if bearing >= 0.0 else -1.0
    arc = far * (half / math.sin(half) if half > 0.0 else 1.0)
    return _drawn((0.0, side * (abs(bearing) - half), arc, side * 2.0 * half, 0.0), motion)


@njit(cache=True, nogil=True)
def _best_half(far: float, curve: float) -> float:
    """The half-angle of the fastest single arc, where the bearing leaves the choice."""
    half = math.asin(min(1.0, 0.5 * far / curve)) if curve > 0.0 else 0.0
    for _ in range(20):
        # Newton's steps come down from the limit, on which side the function is convex.
        sin, cos = math.sin(half), math.cos(half)
        over = sin - half * cos - curve / far * sin * sin
        if over <= 1e-15:
            break
        half -= over / (half * sin - 2.0 * curve / far * sin * cos)
    return half


@njit(cache=True, nogil=True)
def _drawn(five: Five, motion: Motion) -> Leg:
    """The leg with the seconds it takes."""
    s0, a0, s1, a1, s2 = five
    seconds = abs(s2) / motion.vmax
    seconds += max(abs(s0) / motion.vmax, abs(a0) / motion.wmax)
    seconds += max(abs(s1) / motion.vmax, abs(a1) / motion.wmax)
    return seconds, s0, a0, s1, a1, s2


@njit(cache=True, nogil=True)
def _backwards(five: Five) -> Five:
    """The same leg driven backwards: as if the robot looked the other way."""
    return -five[0], five[1], -five[2], five[3], -five[4]


@njit(cache=True, nogil=True)
def _ahead(far: float, bearing: float, curve: float, share: float) -> Five:
    """Pivot, arc, straight to a point at a distance and a bearing, the pivot no less than its share of the bearing."""
    side = 1.0 if bearing >= 0.0 else -1.0
    whole = abs(bearing)
    first = share * whole
    pivot, turn, straight = _pivot_arc_straight(far, whole - first, curve)
    if curve == 0.0:
        pivot, turn = pivot + turn, 0.0
    return 0.0, side * (first + pivot), curve * turn, side * turn, straight


@njit(cache=True, nogil=True)
def _pivot_arc_straight(far: float, bearing: float, curve: float) -> tuple[float, float, float]:
    """Pivot, turn and straight to a point on the left, 0 <= bearing <= pi."""
    turn, straight = _tangent(far, bearing, curve)
    if 0.0 <= turn <= QUARTER:
        return 0.0, turn, straight
    if far >= math.sqrt(2.0) * curve:
        straight = math.sqrt(max(far * far - curve * curve, 0.0)) - curve
        pivot, turn = bearing - math.atan2(curve + straight, curve), QUARTER
    else:
        half = math.asin(0.5 * far / curve)
        pivot, turn, straight = bearing - half, 2.0 * half, 0.0
    return max(pivot, 0.0), turn, straight


@njit(cache=True, nogil=True)
def _tangent(far: float, bearing: float, curve: float) -> tuple[float, float]:
    """Turn to the left in [0, 2 pi) and straight that meet the point; a turn of -1 where it lies inside the circle."""
    ahead, aside = far * math.cos(bearing), far * math.sin(bearing)
    squared = far * far - 2.0 * aside * curve
    if squared < -1e-12 * far * far:  # less is rounding: the point lies on the circle
        return -1.0, 0.0
    straight = math.sqrt(max(squared, 0.0))
    turn = math.atan2(aside - curve, ahead) + math.atan2(curve, straight)
    if turn < -1e-12:
        turn += WHOLE
    return max(turn, 0.0), straight


@njit(cache=True, nogil=True)
def _fastest_cusp(far: float, bearing: float, curve: float, motion: Motion) -> Leg:
    """The fastest of the legs that turn one way all along, first in one gear and then in the other."""
    best = (math.inf, 0.0, 0.0, 0.0, 0.0, 0.0)
    for kind in range(4):
        side = 1.0 if kind % 2 == 0 else -1.0
        seen = bearing if kind < 2 else wrapped(bearing + HALF)
        found, back, turn, straight = _cusp(far * math.cos(seen), side * far * math.sin(seen), curve)
        if found:
            five = (-curve * back, side * back, curve * turn, side * turn, straight)
            leg = _drawn(five if kind < 2 else _backwards(five), motion)
            if leg[0] < best[0]:
                best = leg
    return best


@njit(cache=True, nogil=True)
def _cusp(ahead: float, aside: float, curve: float) -> tuple[bool, float, float, float]:
    """Whether there is one, the turn to the left in reverse, that forward (at most 90°), the straight."""
    aside += curve  # seen from the centre of the arc in reverse
    squared = ahead * ahead + aside * aside
    if squared >= 5.0 * curve * curve:
        turn, straight = QUARTER, math.sqrt(squared - curve * curve) - 2.0 * curve
    elif squared >= curve * curve:
        turn, straight = math.acos((5.0 * curve * curve - squared) / (4.0 * curve * curve)), 0.0
    else:
        return False, 0.0, 0.0, 0.0
    end = math.atan2((2.0 - math.cos(turn)) * curve + straight, math.sin(turn) * curve)
    back = math.atan2(aside, ahead) - end
    if back < -1e-12:
        back += WHOLE
    return back <= HALF, max(back, 0.0), turn, straight


@njit(cache=True, nogil=True)
def _unpivoted(far: float, bearing: float, motion: Motion) -> Five:
    """Arc and straight, or two arcs where the point lies inside the turning circle: the shortest without a pivot."""
    side = 1.0 if bearing >= 0.0 else -1.0
    curve, near = motion.curve, abs(bearing)
    turn, straight = _tangent(far, near, curve)
    if turn >= 0.0:
        away, longer = _tangent(far, -near, curve)
        if away * curve + longer < turn * curve + straight:
            side, turn, straight = -side, away, longer
        return 0.0, 0.0, curve * turn, side * turn, straight
    away, turn = _swing(far * math.cos(near), far * math.sin(near), curve)
    return curve * away, -side * away, curve * turn, side * turn, 0.0


@njit(cache=True, nogil=True)
def _swing(ahead: float, aside: float, curve: float) -> tuple[float, float]:
    """Turns to the right, then to the left, that meet a point inside the left circle."""
    aside += curve  # seen from the centre of the right circle
    reach = math.sqrt(ahead * ahead + aside * aside)
    spread = math.acos(min(1.0, (reach * reach + 3.0 * curve * curve) / (4.0 * curve * reach)))
    best = (math.inf, 0.0)
    for sign in (1.0, -1.0):
        away = (math.atan2(ahead, aside) + sign * spread) % WHOLE
        left, up = ahead - 2.0 * curve * math.sin(away), aside - 2.0 * curve * math.cos(away)
        turn = (math.atan2(left, -up) + away) % WHOLE
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
