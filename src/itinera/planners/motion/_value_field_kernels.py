"""The time to a goal from every pose of a lattice, and the way down that field.

Layers are headings, each with rows and columns of cells and a border of one blocked cell all round. A robot that keeps
its heading only ever looks ahead, so one pass over a layer, from the far end back, settles all it can by driving
straight; passes over the layers, to the left and to the right in turn, settle the rest.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
Ahead = tuple[int, int, int, int, float, float]

FAR = np.float32(1e18)  # seconds: not reached (finite, so that 0 times it is 0)
REACHED = np.float32(1e14)  # seconds: more is a mean with a part that is not reached
BLOCKED, FREE, GIVEN = 0, 1, 2  # what a cell is to the field: GIVEN has times that are known beforehand
CONTROLS = 4  # how many ways to move are tried at most


@njit(cache=True, nogil=True)
def ahead(k: int, headings: int) -> Ahead:
    """Two cells ahead of a heading, (row, column) each: beside and diagonal; the share of the diagonal; cells to go."""
    cos, sin = math.cos(2 * math.pi * k / headings), math.sin(2 * math.pi * k / headings)
    right = 1 if cos > 1e-9 else (-1 if cos < -1e-9 else 0)
    up = 1 if sin > 1e-9 else (-1 if sin < -1e-9 else 0)
    across, along = abs(cos), abs(sin)
    if abs(across - along) < 1e-9:
        return 0, right, up, right, 1.0, 1.0 / across
    if across > along:
        return 0, right, up, right, along / across, 1.0 / across
    return up, 0, up, right, across / along, 1.0 / along


@njit(cache=True, nogil=True)
def solve_turning(
    seconds: Singles, kinds: Bytes, resolution: float, speeds: Floats, turns: Floats, reverse: bool, tolerance: float
) -> int:
    """seconds (headings, rows, columns) <- the least times to the given cells; returns how many layers were swept.

    speeds, turns (CONTROLS,): metres and radians per second of each way to move; those that are 0 twice are not tried.
    """
    headings, rows = seconds.shape[0], seconds.shape[1]
    stale = np.ones((headings, rows), dtype=np.bool_)  # rows of which a neighbouring layer has changed
    swept, lap = 0, 0
    while stale.any():
        for n in range(2 * headings):
            k = n % headings if lap % 2 == 0 else headings - 1 - n % headings
            if not stale[k].any():
                continue
            swept += 1
            _sweep(seconds, kinds, stale, k, resolution, speeds, turns, reverse, False, tolerance)
            if reverse:
                stale[k] = True  # what was found by driving on may be passed on by backing up
                _sweep(seconds, kinds, stale, k, resolution, speeds, turns, reverse, True, tolerance)
        lap += 1
    return swept


@njit(cache=True, nogil=True)
def _sweep(
    seconds: Singles,
    kinds: Bytes,
    stale: Flags,
    k: int,
    resolution: float,
    speeds: Floats,
    turns: Floats,
    reverse: bool,
    backwards: bool,
    tolerance: float,
) -> None:
    """seconds, stale <- one pass over layer k, in the order in which driving straight depends on what is ahead.

    Only rows are looked at of which a neighbouring layer has changed, and those behind rows that change.

    A robot that moves at speed s towards the point between the two cells ahead, d metres away, and turns at t towards
    the next layer, a radians away, is there s / d and t / a times a second: its time is their mean, weighted so.
    """
    headings, rows, columns = seconds.shape
    near_row, near_column, far_row, far_column, diagonal, cells = ahead(k, headings)
    share, rest = np.float32(diagonal), np.float32(1.0 - diagonal)
    drive, turn, wait = _weights(speeds, turns, cells * resolution, 2 * math.pi / headings)
    drive0, drive1, drive2, drive3 = drive[0], drive[1], drive[2], drive[3]
    turn0, turn1, turn2, turn3 = turn[0], turn[1], turn[2], turn[3]
    wait0, wait1, wait2, wait3 = wait[0], wait[1], wait[2], wait[3]
    own, lower, upper = seconds[k], seconds[(k - 1) % headings], seconds[(k + 1) % headings]
    lower_stale, upper_stale = stale[(k - 1) % headings], stale[(k + 1) % headings]
    carried = False
    rising, rightward = far_row > 0 or (far_row == 0), far_column > 0 or (far_column == 0)
    if backwards:
        rising, rightward = not rising, not rightward
    for i in range(1, rows - 1):
        r = rows - 1 - i if rising else i
        if not (stale[k, r] or carried):
            continue
        stale[k, r] = False
        worst = np.float32(0.0)
        for j in range(1, columns - 1):
            c = columns - 1 - j if rightward else j
            if kinds[r, c] != FREE:
                continue
            driven = rest * own[r + near_row, c + near_column] + share * own[r + far_row, c + far_column]
            if diagonal == 1.0 and kinds[r + far_row, c] == BLOCKED and kinds[r, c + far_column] == BLOCKED:
                driven = FAR  # between two blocked cells that meet at a corner
            if reverse:
                back = rest * own[r - near_row, c - near_column] + share * own[r - far_row, c - far_column]
                if diagonal == 1.0 and kinds[r - far_row, c] == BLOCKED and kinds[r, c - far_column] == BLOCKED:
                    back = FAR
                driven = min(driven, back)
            if driven > REACHED:
                driven = FAR
            turned = min(lower[r, c], upper[r, c])
            best = min(drive0 * driven + turn0 * turned + wait0, drive1 * driven + turn1 * turned + wait1)
            best = min(best, drive2 * driven + turn2 * turned + wait2)
            best = min(best, drive3 * driven + turn3 * turned + wait3)
            if best < own[r, c] and best < REACHED:
                worst = max(worst, own[r, c] - best)
                own[r, c] = best
        carried = bool(worst > tolerance)
        if carried:
            lower_stale[r] = True
            upper_stale[r] = True
    stale[k] = False


@njit(cache=True, nogil=True)
def _weights(speeds: Floats, turns: Floats, metres: float, angle: float) -> tuple[Singles, Singles, Singles]:
    """For each way to move: the weights of driving and of turning, and the mean seconds until either."""
    drive, turn = np.zeros(CONTROLS, dtype=np.float32), np.zeros(CONTROLS, dtype=np.float32)
    wait = np.full(CONTROLS, FAR, dtype=np.float32)
    for n in range(CONTROLS):
        rate = speeds[n] / metres + turns[n] / angle
        if rate > 0.0:
            drive[n], turn[n], wait[n] = speeds[n] / metres / rate, turns[n] / angle / rate, 1.0 / rate
    return drive, turn, wait


@njit(cache=True, nogil=True)
def solve_flat(seconds: Singles, kinds: Bytes, step: float, tolerance: float) -> int:
    """seconds (1, rows, columns) <- the least times where turning is free; a step takes so long from cell to cell."""
    rows, columns = kinds.shape
    flat, one = seconds[0], np.float32(step)
    swept, calm = 0, 0
    while calm < 4:
        worst = np.float32(0.0)
        for i in range(1, rows - 1):
            r = rows - 1 - i if swept % 4 >= 2 else i
            for j in range(1, columns - 1):
                c = columns - 1 - j if swept % 2 == 1 else j
                if kinds[r, c] != FREE:
                    continue
                a, b = min(flat[r, c - 1], flat[r, c + 1]), min(flat[r - 1, c], flat[r + 1, c])
                apart = abs(a - b)
                found = min(a, b) + one
                if apart < one:
                    found = np.float32(0.5) * (a + b + np.sqrt(np.float32(2.0) * one * one - apart * apart))
                if found < flat[r, c]:
                    worst = max(worst, flat[r, c] - found)
                    flat[r, c] = found
        swept += 1
        calm = 0 if worst > tolerance else calm + 1
    return swept


@njit(cache=True, nogil=True)
def read_times(seconds: Singles, resolution: float, poses: Floats) -> Floats:
    """(n,) seconds at poses (n, 3), between the nodes around them that are reached; inf where none is."""
    headings, rows, columns = seconds.shape
    found = np.full(len(poses), np.inf)
    for n in range(len(poses)):
        x, y = poses[n, 0] / resolution + 0.5, poses[n, 1] / resolution + 0.5
        turn = (poses[n, 2] / (2 * math.pi) % 1.0) * headings
        c, r, k = math.floor(x), math.floor(y), math.floor(turn)
        if not (0 <= c < columns - 1 and 0 <= r < rows - 1):
            continue
        total, weight = 0.0, 0.0
        for corner in range(8):
            i, j, m = corner & 1, (corner >> 1) & 1, corner >> 2
            share = (y - r if i else 1 - y + r) * (x - c if j else 1 - x + c) * (turn - k if m else 1 - turn + k)
            value = seconds[(k + m) % headings, r + i, c + j]
            if value < REACHED:
                total, weight = total + share * value, weight + share
        if weight > 1e-9:
            found[n] = total / weight
    return found


@njit(cache=True, nogil=True)
def descend(
    seconds: Singles, kinds: Bytes, resolution: float, speeds: Floats, turns: Floats, row: int, column: int, turn: float
) -> Ints:
    """(n, 2) rows and columns of cells from one cell to a given one: a robot's way down the field.

    It does what the field says is fastest at the lattice's nodes, carrying over the parts of a cell and of a heading
    that it did not go. Where that brings it nowhere lower in a while, it takes the way down over the best heading of
    each cell, which never ends before the goal: where a robot drives on, one of the two cells ahead is lower.
    """
    headings = len(seconds)
    angle = 2 * math.pi / headings
    most = 4 * (kinds.shape[0] + kinds.shape[1])
    cells = np.empty((most + kinds.size, 2), dtype=np.int64)
    cells[0, 0], cells[0, 1] = row, column
    count, r, c = 1, row, column
    k, aside, left, lowest, vain = round(turn) % headings, 0.0, 0.0, FAR, 0
    for _ in range(8 * most):
        if kinds[r, c] != FREE or vain > headings or count >= most:
            break
        near_row, near_column, far_row, far_column, diagonal, length = ahead(k, headings)
        beside, across = seconds[k, r + near_row, c + near_column], seconds[k, r + far_row, c + far_column]
        driven = (1 - diagonal) * beside + diagonal * across
        if diagonal == 1.0 and kinds[r + far_row, c] == BLOCKED and kinds[r, c + far_column] == BLOCKED:
            driven = np.inf
        side = 1 if seconds[(k + 1) % headings, r, c] < seconds[(k - 1) % headings, r, c] else -1
        turned = seconds[(k + side) % headings, r, c]
        best, chosen = np.inf, 0
        for n in range(CONTROLS):
            drive, veer = speeds[n] / (length * resolution), turns[n] / angle
            if drive + veer > 0.0:
                value = (1.0 + drive * driven + veer * turned) / (drive + veer)
                if value < best:
                    best, chosen = value, n
        if best > REACHED:
            break
        if speeds[chosen] == 0.0:
            k = (k + side) % headings
        else:
            left += side * turns[chosen] * length * resolution / speeds[chosen] / angle
            aside += diagonal
            if diagonal == 1.0 or (diagonal > 0.0 and aside >= 0.5):
                aside -= 1.0
                r, c = r + far_row, c + far_column
            else:
                r, c = r + near_row, c + near_column
            cells[count, 0], cells[count, 1] = r, c
            count += 1
            if abs(left) >= 0.5:
                k = (k + (1 if left > 0 else -1)) % headings
                left -= 1.0 if left > 0 else -1.0
        vain = 0 if seconds[k, r, c] < lowest else vain + 1
        lowest = min(lowest, seconds[k, r, c])
    return _straight_down(seconds, kinds, cells, count)


@njit(cache=True, nogil=True)
def _straight_down(seconds: Singles, kinds: Bytes, cells: Ints, count: int) -> Ints:
    """The cells, and on from the last to the lowest cell around it, until a given one."""
    r, c = cells[count - 1, 0], cells[count - 1, 1]
    while kinds[r, c] == FREE:
        best, row, column = seconds[:, r, c].min(), -1, -1
        for i in range(-1, 2):
            for j in range(-1, 2):
                if kinds[r + i, c + j] == BLOCKED or (kinds[r + i, c] == BLOCKED and kinds[r, c + j] == BLOCKED):
                    continue
                value = seconds[:, r + i, c + j].min()
                if value < best:
                    best, row, column = value, r + i, c + j
        if row < 0:
            break
        r, c = row, column
        cells[count, 0], cells[count, 1] = r, c
        count += 1
    return cells[:count].copy()
