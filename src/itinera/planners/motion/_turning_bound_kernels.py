"""The lower bound with the turning at every corner: a search backwards from the goal over legs and headings.

Around a corner on its left a robot crosses the line through the corner that is perpendicular to the leg, on the right
of the corner, and likewise on the other side: a gate. Between the gates of a leg it needs at least `rho` times the
length of the leg, plus 1 - rho cos(heading - leg) for each radian it turns, for any rho from 0 to 1. The page on
completion times has the proof. Lengths are in turning radii and times in radians: seconds times wmax.

A bound is a function of the heading that is linear between equally spaced nodes, and nowhere above the true bound. It
has a column per way of sharing (`Shares`): of them, the best for each interval between two nodes counts.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from itinera.planners.motion._corner_legs_kernels import LEFT, Legs, find_next, touches
from itinera.planners.motion._steering_kernels import wrap_angle
from itinera.planners.motion._value_field_kernels import visible

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_NEAR = 1e-6  # metres: a corner this near has no direction
_CONTACT = 4e-9  # metres, several times the depth to which a robot may touch a wall
_CHANGE = 1e-12  # radians: smaller improvements are rounding


class Shares(NamedTuple):
    """Ways of sharing time between driving and turning, (j,) each."""

    rho: Floats  # of the metres driven
    hidden: Floats  # of the turning that is hidden behind driving; 0 for a robot that does one at a time
    tilt: Floats  # radians between the leg and the direction in which metres count, if it turns from side to side
    headings: int  # nodes


@njit(cache=True, nogil=True)
def tilt_sign(start_side: int, end_side: int) -> float:
    """To which side of a leg directions are tilted: 1 left, -1 right, 0 if both corners are on the same side."""
    if start_side == end_side:
        return 0.0
    return 1.0 if start_side == LEFT else -1.0


@njit(cache=True, nogil=True)
def window(direction: float, reach: float, headings: int) -> tuple[int, int]:
    """The first node and the number of nodes of the headings up to `reach` from a direction, rounded outwards."""
    step = 2 * math.pi / headings
    first = math.floor((direction - reach) / step)
    return first, math.ceil((direction + reach) / step) - first + 1


@njit(cache=True, nogil=True)
def turn_costs(first: int, count: int, direction: float, sign: float, spread: float, shares: Shares) -> Floats:
    """(count - 1, j) the least cost of a radian of turning, between each node and the next."""
    step = 2 * math.pi / shares.headings
    found = np.empty((count - 1, len(shares.rho)))
    for j in range(len(shares.rho)):
        for i in range(count - 1):
            low = wrap_angle((first + i) * step - direction - sign * shares.tilt[j])
            high = low + step
            near = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high), abs(high - 2 * math.pi))
            near = max(near - spread, 0.0)
            found[i, j] = 1.0 - shares.hidden[j] * max(math.cos(min(near, 0.5 * math.pi)), 0.0)
    return found


@njit(cache=True, nogil=True)
def allow_turning(values: Floats, costs: Floats, step: float) -> None:
    """values (n, j) <- the least over turning at these costs (n - 1, j) first."""
    count, many = values.shape
    for i in range(1, count):
        for j in range(many):
            values[i, j] = min(values[i, j], values[i - 1, j] + costs[i - 1, j] * step)
    for i in range(count - 2, -1, -1):
        for j in range(many):
            values[i, j] = min(values[i, j], values[i + 1, j] + costs[i, j] * step)


@njit(cache=True, nogil=True)
def force_turning(values: Floats, costs: Floats, step: float, side: int, node: int) -> None:
    """values (n, j) <- those of a robot that must turn at least to a node, to the left or to the right."""
    count, many = values.shape
    if side == LEFT:
        for i in range(node - 1, -1, -1):
            for j in range(many):
                values[i, j] = values[i + 1, j] + costs[i, j] * step
    else:
        for i in range(node + 1, count):
            for j in range(many):
                values[i, j] = values[i - 1, j] + costs[i - 1, j] * step


@njit(cache=True, nogil=True)
def merge_shares(values: Floats, first: int, side: int, shares: Shares, found: Floats) -> None:
    """found (headings,) <- the best column of values (n, j) between any two nodes, and what it takes to turn there.

    Around a corner on the left, a robot that faces more to the right than all nodes has to turn left as far as the
    first of them, or the other way by half a turn.
    """
    count, many = values.shape
    headings, step = shares.headings, 2 * math.pi / shares.headings
    found[:] = np.inf
    for i in range(count - 1):
        best, chosen = -np.inf, 0
        for j in range(many):
            total = values[i, j] + values[i + 1, j]
            if total > best:
                best, chosen = total, j
        low, high = (first + i) % headings, (first + i + 1) % headings
        found[low] = min(found[low], values[i, chosen])
        found[high] = min(found[high], values[i + 1, chosen])
    around = found.min() + math.pi - shares.hidden.max()
    edge = first if side == LEFT else first + count - 1
    for n in range(1, headings - count + 1):
        beyond = edge - n if side == LEFT else edge + n
        found[beyond % headings] = min(found[edge % headings] + n * step, around)


@njit(cache=True, nogil=True)
def leg_bound(legs: Legs, shares: Shares, leg: int, ends: Floats) -> tuple[int, Floats]:
    """The first node and (n, j) the bound at the gate where a leg starts; ends (m, width, j) those where legs end."""
    step = 2 * math.pi / shares.headings
    if leg < len(legs.states):
        length, direction = legs.lines[leg]
        start, end = legs.states[leg, 0] % 2, legs.states[leg, 1] % 2
        sign, spread = tilt_sign(start, end), 0.0
        first, count = window(direction, 0.5 * math.pi, shares.headings)
        values = ends[leg, :count].copy()
    else:
        state = leg - len(legs.states)
        length, direction, spread = legs.goal_lines[state // 2]
        start, end = state % 2, 1 - state % 2
        sign = tilt_sign(start, end)
        first, count = window(direction, min(0.5 * math.pi + spread, math.pi - step), shares.headings)
        values = np.zeros((count, len(shares.rho)))
        if length == 0.0:
            return first, values
    costs = turn_costs(first, count, direction, sign, spread, shares)
    allow_turning(values, costs, step)
    if start != end:
        outward = -spread if start == LEFT else spread
        node = math.floor((direction + outward) / step) if start == LEFT else math.ceil((direction + outward) / step)
        force_turning(values, costs, step, start, node - first)
    for j in range(len(shares.rho)):
        values[:, j] += shares.rho[j] * length * math.cos(sign * shares.tilt[j])
    return first, values


@njit(cache=True, nogil=True)
def move_to_gate(legs: Legs, shares: Shares, leg: int, gate: int, first: int, values: Floats, found: Floats) -> None:
    """found (headings,) <- the bound at a gate, of a bend from there to the start of a leg with these values."""
    if leg < len(legs.states):
        corner, side, direction, spread = legs.states[leg, 0] // 2, legs.states[leg, 0] % 2, legs.lines[leg, 1], 0.0
        sign = tilt_sign(side, legs.states[leg, 1] % 2)
    else:
        state = leg - len(legs.states)
        corner, side = state // 2, state % 2
        length, direction, spread = legs.goal_lines[corner]
        sign = tilt_sign(side, 1 - side)
        if length == 0.0:
            found[:] = 0.0
            return
    moved = values
    dx, dy = legs.places[corner, 0] - legs.places[gate, 0], legs.places[corner, 1] - legs.places[gate, 1]
    if gate != corner:
        moved = values.copy()
        for j in range(len(shares.rho)):
            aside = abs(wrap_angle(math.atan2(dy, dx) - direction - sign * shares.tilt[j])) + spread
            moved[:, j] += shares.rho[j] * math.sqrt(dx * dx + dy * dy) * math.cos(min(aside, math.pi))
    merge_shares(moved, first, side, shares, found)


@njit(cache=True, nogil=True)
def join(
    legs: Legs, shares: Shares, corner: int, gate: int, direction: float, sign: float, gated: Floats, ends: Floats
) -> float:
    """ends (width, j) <- also over a gate with this bound (headings,), after a leg to a corner; the least improved."""
    first, count = window(direction, 0.5 * math.pi, shares.headings)
    dx, dy = legs.places[gate, 0] - legs.places[corner, 0], legs.places[gate, 1] - legs.places[corner, 1]
    least = np.inf
    for j in range(len(shares.rho)):
        towards = direction + sign * shares.tilt[j]
        ahead = shares.rho[j] * (dx * math.cos(towards) + dy * math.sin(towards))
        for i in range(count):
            value = gated[(first + i) % shares.headings] + ahead
            if value < ends[i, j] - _CHANGE:
                ends[i, j] = value
                least = min(least, value)
    return least


@njit(cache=True, nogil=True)
def solve_ends(legs: Legs, shares: Shares, pairs: Ints, begins: Ints) -> Floats:
    """(m, width, j) the bound at the end of each leg between corners.

    pairs (k, 3), sorted by the second leg and then by gate; begins (all legs + 1,): where those of each leg begin.
    """
    total = len(begins) - 1
    ends = np.full((len(legs.states), shares.headings // 2 + 2, len(shares.rho)), np.inf)
    stale, gated = np.zeros(total, dtype=np.bool_), np.empty(shares.headings)
    queue = [(0.0, 0)]
    queue.pop()
    for leg in range(len(legs.states), total):
        stale[leg] = True
        heapq.heappush(queue, (legs.goal_lines[(leg - len(legs.states)) // 2, 0], leg))
    while queue:
        _, leg = heapq.heappop(queue)
        if not stale[leg] or begins[leg] == begins[leg + 1]:
            continue
        stale[leg], gate = False, -1
        first, values = leg_bound(legs, shares, leg, ends)
        for n in range(begins[leg], begins[leg + 1]):
            if pairs[n, 2] != gate:
                gate = pairs[n, 2]
                move_to_gate(legs, shares, leg, gate, first, values, gated)
            before = pairs[n, 0]
            start, end = legs.states[before]
            sign = tilt_sign(start % 2, end % 2)
            least = join(legs, shares, end // 2, gate, legs.lines[before, 1], sign, gated, ends[before])
            if least < np.inf:
                stale[before] = True
                heapq.heappush(queue, (least + legs.lines[before, 0], before))
    return ends


@njit(cache=True, nogil=True)
def turn_between(low: float, high: float, hidden: float, center: float) -> float:
    """The cost of turning from low to high >= low: the integral of 1 - hidden max(0, cos(heading - center))."""
    total = high - low
    for n in range(-1, 2):
        middle = center + 2 * math.pi * n
        begin = min(max(low - middle, -0.5 * math.pi), 0.5 * math.pi)
        end = min(max(high - middle, -0.5 * math.pi), 0.5 * math.pi)
        total -= hidden * (math.sin(end) - math.sin(begin))
    return total


@njit(cache=True, nogil=True)
def _interpolate(values: Floats, j: int, place: float) -> float:
    """The value of a column at a fractional node."""
    i = min(max(math.floor(place), 0), len(values) - 2)
    return float((1.0 - place + i) * values[i, j] + (place - i) * values[i + 1, j])


@njit(cache=True, nogil=True)
def first_leg(length: float, direction: float, side: int, heading: float, ends: Floats, shares: Shares) -> float:
    """The least radians from a pose to the goal over a first leg; ends (width, j): the bound where that ends."""
    step, sign = 2 * math.pi / shares.headings, tilt_sign(1 - side, side)
    first, count = window(direction, 0.5 * math.pi, shares.headings)
    values = ends[:count].copy()
    allow_turning(values, turn_costs(first, count, direction, sign, 0.0, shares), step)
    low, high = (-0.5 * math.pi, 0.0) if side == LEFT else (0.0, 0.5 * math.pi)
    aside, best = wrap_angle(heading - direction), 0.0
    for j in range(len(shares.rho)):
        center, hidden = sign * shares.tilt[j], shares.hidden[j]
        if low <= aside <= high:
            value = _interpolate(values, j, (direction + aside) / step - first)
        else:
            beyond = aside if aside > high else aside + 2 * math.pi
            right = turn_between(high, beyond, hidden, center)
            left = turn_between(beyond, low + 2 * math.pi, hidden, center)
            right += _interpolate(values, j, (direction + high) / step - first)
            left += _interpolate(values, j, (direction + low) / step - first)
            value = min(right, left, math.pi - hidden + values[:, j].min())
        best = max(best, shares.rho[j] * length * math.cos(shares.tilt[j]) + value)
    return best


@njit(cache=True, nogil=True)
def least_turning_times(
    free_cells: Bools,
    resolution: float,
    radius: float,
    corners: Floats,
    angles: Floats,
    lengths: Floats,
    legs: Legs,
    shares: Shares,
    ends: Floats,
    direct: Floats,
    poses: Floats,
) -> Floats:
    """(n,) the least radians from poses (n, 3) to the goal: `direct` (n,), or over a visible corner.

    radius: metres, of turning; corners (m, 3), and lengths (m,) from them to the goal, in metres as the poses.
    """
    found, gated = np.empty(len(poses)), np.empty(shares.headings)
    nexts, ends_here = np.empty((256, 2), dtype=np.int64), np.empty((shares.headings // 2 + 2, len(shares.rho)))
    for p in range(len(poses)):
        x, y, heading = poses[p]
        lowest = direct[p]
        straight = (np.sqrt((corners[:, 0] - x) ** 2 + (corners[:, 1] - y) ** 2) + lengths) / radius
        for n in np.argsort(straight):
            if straight[n] >= lowest:
                break
            if not visible(free_cells, resolution, x, y, corners[n, 0], corners[n, 1]):
                continue
            dx, dy = corners[n, 0] - x, corners[n, 1] - y
            length, direction = math.sqrt(dx * dx + dy * dy), math.atan2(dy, dx)
            if length < _NEAR:
                lowest = straight[n]
                break
            slack = _CONTACT / length
            for side in range(2):
                if not touches(angles[n], direction, side, slack):
                    continue
                ends_here[:] = np.inf
                many, nexts = find_next(legs, 2 * n + side, direction, slack, nexts)
                for m in range(many):
                    leg, gate = nexts[m, 0], nexts[m, 1]
                    first, values = leg_bound(legs, shares, leg, ends)
                    move_to_gate(legs, shares, leg, gate, first, values, gated)
                    join(legs, shares, n, gate, direction, tilt_sign(1 - side, side), gated, ends_here)
                if many:
                    value = first_leg(length / radius, direction, side, heading, ends_here, shares)
                    lowest = min(lowest, value - slack)
        found[p] = lowest
    return found
