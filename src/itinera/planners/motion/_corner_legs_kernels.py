"""The legs of shortest paths: straight lines between corners, past which a path may bend, and which may follow which.

A state is a corner and the side on which the path passes it: 2 n if corner n is on the left of the path, which then
turns left there, and 2 n + 1 if it is on the right. The legs to the goal are numbered after all others: that from a
state is leg `len(states) + state`.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from itinera.planners.motion._steering_kernels import wrap_angle
from itinera.planners.motion._value_field_kernels import visible

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

LEFT, RIGHT = 0, 1
SLANT = 1e-6  # radians: a line this near to the side of a blocked cell runs along it
_DEEPEST = 62  # legs in a bend


class Legs(NamedTuple):
    """All legs, those between corners sorted by the state at their start."""

    places: Floats  # (n, 2) the corners
    begins: Ints  # (2 n + 1,) where the legs from each state begin
    states: Ints  # (m, 2) the states at start and end
    lines: Floats  # (m, 2) length and direction
    goal_lines: Floats  # (n, 3) from each corner to the goal: length, direction, and how much that varies over a disc
    goal_sides: Bools  # (n, 2) on which sides the corner may be of a path to the goal
    short: float  # shorter legs belong to a bend
    bend: float  # the greatest length of a bend
    turn: float  # radians turned in a bend before its last corner, at most


@njit(cache=True, nogil=True)
def corner_angles(free_cells: Bools, resolution: float, corners: Floats) -> Floats:
    """(n,) the direction from each corner (n, 3) to the center of its blocked cell."""
    found = np.empty(len(corners))
    for n in range(len(corners)):
        c, r = round(corners[n, 0] / resolution), round(corners[n, 1] / resolution)
        if corners[n, 2] > 0.0:
            found[n] = -0.75 * math.pi if free_cells[r, c] else 0.25 * math.pi
        else:
            found[n] = -0.25 * math.pi if free_cells[r, c - 1] else 0.75 * math.pi
    return found


@njit(cache=True, nogil=True)
def touches(angle: float, direction: float, side: int, spread: float) -> bool:
    """Whether a line in a direction, or up to `spread` from it, has a corner's blocked cell entirely on this side."""
    along = angle - 0.5 * math.pi if side == LEFT else angle + 0.5 * math.pi
    return abs(wrap_angle(direction - along)) <= 0.25 * math.pi + spread + SLANT


@njit(cache=True, nogil=True)
def find_legs(free_cells: Bools, resolution: float, corners: Floats, angles: Floats) -> tuple[Ints, Floats]:
    """(m, 2) the states at start and end of the legs between corners (n, 3); (m, 2) their metres and directions."""
    states, lines = np.empty((64, 2), dtype=np.int64), np.empty((64, 2))
    m = 0
    for a in range(len(corners)):
        for b in range(a):
            dx, dy = corners[b, 0] - corners[a, 0], corners[b, 1] - corners[a, 1]
            if dx * dy * corners[a, 2] > 0.0 or dx * dy * corners[b, 2] > 0.0:
                continue
            if not visible(free_cells, resolution, corners[a, 0], corners[a, 1], corners[b, 0], corners[b, 1]):
                continue
            length, direction = math.sqrt(dx * dx + dy * dy), math.atan2(dy, dx)
            for sides in range(4):
                first, last = sides // 2, sides % 2
                if not (touches(angles[a], direction, first, 0.0) and touches(angles[b], direction, last, 0.0)):
                    continue
                if m + 2 > len(states):
                    states = np.concatenate((states, np.empty_like(states)))
                    lines = np.concatenate((lines, np.empty_like(lines)))
                states[m, 0], states[m, 1] = 2 * a + first, 2 * b + last
                states[m + 1, 0], states[m + 1, 1] = 2 * b + 1 - last, 2 * a + 1 - first
                lines[m, 0], lines[m + 1, 0] = length, length
                lines[m, 1], lines[m + 1, 1] = direction, wrap_angle(direction + math.pi)
                m += 2
    return states[:m].copy(), lines[:m].copy()


@njit(cache=True, nogil=True)
def find_goal_sides(
    goal_cells: Bools, resolution: float, corners: Floats, angles: Floats, goal: Floats, goal_lines: Floats
) -> Bools:
    """(n, 2) on which sides each corner may be of a path to the goal (x, y, radius in metres) that bends there last."""
    found = np.zeros((len(corners), 2), dtype=np.bool_)
    for n in range(len(corners)):
        x, y = corners[n, 0], corners[n, 1]
        if goal_lines[n, 0] == 0.0:
            found[n] = True
        elif visible(goal_cells, resolution, x, y, goal[0], goal[1]):
            for side in range(2):
                found[n, side] = touches(angles[n], goal_lines[n, 1], side, goal_lines[n, 2])
    return found


@njit(cache=True, nogil=True)
def find_next(legs: Legs, state: int, direction: float, slack: float, found: Ints) -> tuple[int, Ints]:
    """The legs after a leg that ends in a state, and the corner of the gate between: how many, and (more, 2) of them.

    A path turns towards the corners it passes. Short legs around corners on the same side form one bend with them: the
    gate is at the corner where half of the bend's turn is done.
    """
    count, depth, sign = 0, 0, 1.0 if state % 2 == LEFT else -1.0
    path, cursor = np.empty(_DEEPEST + 1, dtype=np.int64), np.empty(_DEEPEST + 1, dtype=np.int64)
    turned, driven, bearing = np.zeros(_DEEPEST + 1), np.zeros(_DEEPEST + 1), np.empty(_DEEPEST + 1)
    path[0], cursor[0], bearing[0] = state, legs.begins[state] - 1, direction
    while depth >= 0:
        here, leg = path[depth], cursor[depth]
        cursor[depth] += 1
        if leg >= legs.begins[here + 1]:
            depth -= 1
            continue
        tolerance = SLANT + (slack if depth == 0 else 0.0)
        if leg < legs.begins[here]:  # the goal comes first
            leg = len(legs.states) + here
            length, ahead, spread = legs.goal_lines[here // 2]
            turn = sign * wrap_angle(ahead - bearing[depth])
            if not legs.goal_sides[here // 2, here % 2] or (length > 0.0 and turn < -tolerance - spread):
                continue
        else:
            length, ahead = legs.lines[leg]
            turn = sign * wrap_angle(ahead - bearing[depth])
            if turn < -tolerance:
                continue
            end = legs.states[leg, 1]
            within = length <= legs.short and driven[depth] + length <= legs.bend
            within = within and turned[depth] + turn <= legs.turn
            if within and end % 2 == state % 2 and depth < _DEEPEST:
                depth += 1
                path[depth], cursor[depth], bearing[depth] = end, legs.begins[end] - 1, ahead
                turned[depth], driven[depth] = turned[depth - 1] + max(turn, 0.0), driven[depth - 1] + length
                continue
        middle, k = 0.5 * (turned[depth] + max(turn, 0.0)), depth
        while k > 0 and turned[k] > middle:
            k -= 1
        if count == len(found):
            found = np.concatenate((found, np.empty_like(found)))
        found[count, 0], found[count, 1] = leg, path[k] // 2
        count += 1
    return count, found


@njit(cache=True, nogil=True)
def find_pairs(legs: Legs) -> Ints:
    """(k, 3) a leg, one that may follow it, and the corner of the gate between them."""
    pairs, count = np.empty((1024, 3), dtype=np.int64), 0
    found = np.empty((256, 2), dtype=np.int64)
    for leg in range(len(legs.states)):
        many, found = find_next(legs, legs.states[leg, 1], legs.lines[leg, 1], 0.0, found)
        while count + many > len(pairs):
            pairs = np.concatenate((pairs, np.empty_like(pairs)))
        pairs[count : count + many, 0] = leg
        pairs[count : count + many, 1:] = found[:many]
        count += many
    return pairs[:count].copy()
