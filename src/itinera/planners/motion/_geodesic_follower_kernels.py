"""Descending a distance field by turns and steps of fixed size."""

# mypy: allow-untyped-decorators
from __future__ import annotations

import numpy as np
from numba import njit

from itinera.worlds._distance_field_kernels import Longs, Records, least_distance, read_one
from itinera.worlds._surface_kernels import Floats, Ints, Singles, move_body, widened

STOP, FORWARD, LEFT, RIGHT = 0, 1, 2, 3

_MIN_TURN_GAIN = 1e-3  # metres; the smallest gain that is net_gain a turn
_MIN_PROGRESS = 1e-3  # metres; the smallest progress of a step


@njit(cache=True, nogil=True)
def descend(
    links: Ints,
    slopes: Singles,
    far: Floats,
    turn: Ints,
    turns: Records,
    settings: Floats,
    sliding: bool,
    cells: Ints,
    across: Floats,
    headings: Floats,
    actions: Ints,
    at: int,
) -> tuple[int, bool]:
    """cells, across, headings, actions <- the robot's path from row `at` on; returns its last row and success.

    settings: the size of a cell, the step, the angle of a turn, the radius of the goal; metres and radians. Row k is
    the pose at which action k is taken; row `at` is the start, and the last row has no action yet. It fails where
    neither one step nor two bring it nearer, or where rows run out.
    """
    angle, radius = settings[2], settings[3]
    while True:
        n, u, v = widened(cells[at]), across[at, 0], across[at, 1]
        left = read_one(links, slopes, far, turn, turns, n, u, v)[0] * settings[0]
        if left <= radius:
            return at, True
        bearing, gain = _choose_step(links, slopes, far, turn, turns, settings, sliding, n, u, v, headings[at], left)
        if gain <= 0.0 or at + abs(bearing) + 1 >= len(cells):
            return at, False
        for _ in range(abs(bearing)):
            actions[at] = LEFT if bearing > 0 else RIGHT
            headings[at + 1] = headings[at] + (angle if bearing > 0 else -angle)
            cells[at + 1], across[at + 1, 0], across[at + 1, 1] = n, u, v
            at += 1
        actions[at] = FORWARD
        headings[at + 1] = headings[at]
        n, u, v = _step(links, slopes, settings, sliding, n, u, v, headings[at])
        cells[at + 1], across[at + 1, 0], across[at + 1, 1] = n, u, v
        at += 1


@njit(cache=True, nogil=True)
def label_poses(
    links: Ints,
    slopes: Singles,
    far: Floats,
    turn: Ints,
    turns: Records,
    settings: Floats,
    sliding: bool,
    cells: Ints,
    across: Floats,
    headings: Floats,
    actions: Longs,
    bearings: Longs,
    distances: Floats,
) -> None:
    """actions, bearings, distances <- the first action of `descend` from each pose, the left turns before its first
    step, and the distance to the goal in metres.

    STOP and 0 within the radius of the goal, and where `descend` fails.
    """
    for k in range(len(cells)):
        n, u, v = widened(cells[k]), across[k, 0], across[k, 1]
        left = read_one(links, slopes, far, turn, turns, n, u, v)[0] * settings[0]
        actions[k], bearings[k], distances[k] = STOP, 0, left
        if left <= settings[3]:
            continue
        bearing, gain = _choose_step(links, slopes, far, turn, turns, settings, sliding, n, u, v, headings[k], left)
        if gain > 0.0:
            bearings[k] = bearing
            actions[k] = FORWARD if bearing == 0 else LEFT if bearing > 0 else RIGHT


@njit(cache=True, nogil=True)
def _choose_step(
    links: Ints,
    slopes: Singles,
    far: Floats,
    turn: Ints,
    turns: Records,
    settings: Floats,
    sliding: bool,
    n: int,
    u: float,
    v: float,
    heading: float,
    left: float,
) -> tuple[int, float]:
    """(left turns, gain) before the next step: the best one, else the first of the best two; gain 0 for none."""
    bearing, gain = _best_step(links, slopes, far, turn, turns, settings, sliding, n, u, v, heading, left)
    if gain <= 0.0:
        return _best_of_two_steps(links, slopes, far, turn, turns, settings, sliding, n, u, v, heading, left)
    return bearing, gain


@njit(cache=True, nogil=True)
def _best_step(
    links: Ints,
    slopes: Singles,
    far: Floats,
    turn: Ints,
    turns: Records,
    settings: Floats,
    sliding: bool,
    n: int,
    u: float,
    v: float,
    heading: float,
    left: float,
) -> tuple[int, float]:
    """(left turns, gain) of the step with the most progress, `left` metres from the goal; gain 0 if there is none.

    Reading the field is slow, a lower bound of a distance is not: the step that promises most is read first, and then
    only those that could be better. Gains within 1e-9 are equal, and rounding changes less than 1e-6 cells.
    """
    size = settings[0]
    count = 2 * int(np.ceil(np.pi / settings[2])) + 1
    options, promising, most = np.empty((count, 4)), 0, -np.inf
    for k in range(count):
        n1, u1, v1 = _step(links, slopes, settings, sliding, n, u, v, heading + _turns_to_try(k) * settings[2])
        bound = least_distance(links, far, turn, turns, n1, u1, v1)
        options[k, 0], options[k, 1], options[k, 2], options[k, 3] = n1, u1, v1, bound
        hoped = left - bound * size - _MIN_TURN_GAIN * abs(_turns_to_try(k))
        if hoped > most:
            promising, most = k, hoped
    n1, u1, v1 = int(options[promising, 0]), options[promising, 1], options[promising, 2]
    known = left - read_one(links, slopes, far, turn, turns, n1, u1, v1)[0] * size
    enough = known - _MIN_TURN_GAIN * abs(_turns_to_try(promising)) - 1e-6 if known > _MIN_PROGRESS else 0.0
    bearing, gain = 0, 0.0
    for k in range(count):
        turns_left = _turns_to_try(k)
        needed = max(_MIN_PROGRESS, max(gain, enough) + _MIN_TURN_GAIN * abs(turns_left))
        if options[k, 3] > (left - needed) / size + 1e-6:
            continue
        nearer = known
        if k != promising:
            n1, u1, v1 = int(options[k, 0]), options[k, 1], options[k, 2]
            nearer = left - read_one(links, slopes, far, turn, turns, n1, u1, v1)[0] * size
        net_gain = nearer - _MIN_TURN_GAIN * abs(turns_left)
        if nearer > _MIN_PROGRESS and net_gain > gain + 1e-9:
            bearing, gain = turns_left, net_gain
    return bearing, gain


@njit(cache=True, nogil=True)
def _best_of_two_steps(
    links: Ints,
    slopes: Singles,
    far: Floats,
    turn: Ints,
    turns: Records,
    settings: Floats,
    sliding: bool,
    n: int,
    u: float,
    v: float,
    heading: float,
    left: float,
) -> tuple[int, float]:
    """As `_best_step`, for the first of two steps: a corner close by may have to be passed at a distance."""
    bearing, gain = 0, 0.0
    for k in range(2 * int(np.ceil(np.pi / settings[2])) + 1):
        turns_left = _turns_to_try(k)
        ahead = heading + turns_left * settings[2]
        n1, u1, v1 = _step(links, slopes, settings, sliding, n, u, v, ahead)
        if n1 == n and u1 == u and v1 == v:
            continue
        net_gain = _best_step(links, slopes, far, turn, turns, settings, sliding, n1, u1, v1, ahead, left)[1]
        if net_gain - _MIN_TURN_GAIN * abs(turns_left) > gain + 1e-9:
            bearing, gain = turns_left, net_gain - _MIN_TURN_GAIN * abs(turns_left)
    return bearing, gain


@njit(cache=True, nogil=True)
def _turns_to_try(k: int) -> int:
    """0, then one left turn, one right turn, two left turns and so on."""
    return (k + 1) // 2 if k % 2 else -(k // 2)


@njit(cache=True, nogil=True)
def _step(
    links: Ints, slopes: Singles, settings: Floats, sliding: bool, n: int, u: float, v: float, heading: float
) -> tuple[int, float, float]:
    """(cell, u, v) after a step along a heading."""
    far = settings[1] / settings[0]
    return move_body(links, slopes, n, u, v, far * np.cos(heading), far * np.sin(heading), sliding)
