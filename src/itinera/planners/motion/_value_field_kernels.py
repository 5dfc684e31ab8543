"""Times to a goal: sweeps of the value field over a lattice of poses, and the visibility graph of the lower bound.

The value field has a layer per heading, each with rows and columns of cells and a border of one blocked cell. A robot
that keeps its heading depends only on cells ahead of it, so one sweep over a layer, from its far end back, settles all
straight driving; sweeps over the layers, left and right in turn, settle the rest. In the lower bound a corner is a
point where three free cells meet a blocked one: the only points where shortest paths bend.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from itinera.planners.motion._steering_kernels import Motion, fastest_leg, wrap_angle
from itinera.worlds._grid_kernels import clear_within

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
AheadCells = tuple[int, int, int, int, float, float]

UNREACHED = np.float32(1e18)  # seconds (finite, so that 0 times it is 0)
MAX_REACHED = np.float32(1e14)  # seconds: larger values are means with an unreached part
BLOCKED, FREE, TERMINAL = 0, 1, 2  # kinds of cells; TERMINAL cells have their times set beforehand
CONTROLS = 4  # the largest number of controls (pairs of speed and turning speed)
NO_TURN_COST, HIDDEN_TURN_COST, FULL_TURN_COST = 0, 1, 2  # of turning in the lower bound, see `turning`
_GRAZE = 1e-7  # metres: lines of sight are generous, so that no length is over-estimated


@njit(cache=True, nogil=True)
def cells_ahead(k: int, headings: int) -> AheadCells:
    """Two cells ahead of a heading, (row, column) each, adjacent and diagonal; the diagonal's share; cells to go."""
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
def solve(
    seconds: Singles,
    cell_kinds: Bytes,
    resolution: float,
    speeds: Floats,
    turns: Floats,
    reverse: bool,
    tolerance: float,
) -> int:
    """seconds (headings, rows, columns) <- the least times to the terminal cells; returns the number of sweeps.

    speeds, turns (CONTROLS,): metres and radians per second of each control; controls with both 0 are skipped.
    """
    headings, rows = seconds.shape[0], seconds.shape[1]
    stale = np.ones((headings, rows), dtype=np.bool_)  # rows that changed in a neighbouring layer
    sweeps, round_ = 0, 0
    while stale.any():
        for n in range(2 * headings):
            k = n % headings if round_ % 2 == 0 else headings - 1 - n % headings
            if not stale[k].any():
                continue
            sweeps += 1
            _sweep(seconds, cell_kinds, stale, k, resolution, speeds, turns, reverse, False, tolerance)
            if reverse:
                stale[k] = True  # times found driving forward may propagate in reverse
                _sweep(seconds, cell_kinds, stale, k, resolution, speeds, turns, reverse, True, tolerance)
        round_ += 1
    return sweeps


@njit(cache=True, nogil=True)
def _sweep(
    seconds: Singles,
    cell_kinds: Bytes,
    stale: Bools,
    k: int,
    resolution: float,
    speeds: Floats,
    turns: Floats,
    reverse: bool,
    backwards: bool,
    tolerance: float,
) -> None:
    """seconds, stale <- one sweep over layer k, in the order in which driving straight depends on the cells ahead.

    It visits only rows that changed in a neighbouring layer, and the rows behind rows that change.

    A robot that moves at speed s towards the point between the two cells ahead, d metres away, and turns at t towards
    the next layer, a radians away, arrives there s / d and t / a times a second: its time is the mean with these
    weights.
    """
    headings, rows, columns = seconds.shape
    near_row, near_column, far_row, far_column, diagonal, cells = cells_ahead(k, headings)
    share, rest = np.float32(diagonal), np.float32(1.0 - diagonal)
    drive, turn, pause = _weights(speeds, turns, cells * resolution, 2 * math.pi / headings)
    drive0, drive1, drive2, drive3 = drive[0], drive[1], drive[2], drive[3]
    turn0, turn1, turn2, turn3 = turn[0], turn[1], turn[2], turn[3]
    wait0, wait1, wait2, wait3 = pause[0], pause[1], pause[2], pause[3]
    own, lower, upper = seconds[k], seconds[(k - 1) % headings], seconds[(k + 1) % headings]
    lower_stale, upper_stale = stale[(k - 1) % headings], stale[(k + 1) % headings]
    changed = False
    upward, rightward = far_row > 0 or (far_row == 0), far_column > 0 or (far_column == 0)
    if backwards:
        upward, rightward = not upward, not rightward
    for i in range(1, rows - 1):
        r = rows - 1 - i if upward else i
        if not (stale[k, r] or changed):
            continue
        stale[k, r] = False
        largest_change = np.float32(0.0)
        for j in range(1, columns - 1):
            c = columns - 1 - j if rightward else j
            if cell_kinds[r, c] != FREE:
                continue
            drive_time = rest * own[r + near_row, c + near_column] + share * own[r + far_row, c + far_column]
            if diagonal == 1.0 and cell_kinds[r + far_row, c] == BLOCKED and cell_kinds[r, c + far_column] == BLOCKED:
                drive_time = UNREACHED  # no passage between two blocked cells that meet at a corner
            if reverse:
                back = rest * own[r - near_row, c - near_column] + share * own[r - far_row, c - far_column]
                if (
                    diagonal == 1.0
                    and cell_kinds[r - far_row, c] == BLOCKED
                    and cell_kinds[r, c - far_column] == BLOCKED
                ):
                    back = UNREACHED
                drive_time = min(drive_time, back)
            if drive_time > MAX_REACHED:
                drive_time = UNREACHED
            turn_time = min(lower[r, c], upper[r, c])
            best = min(drive0 * drive_time + turn0 * turn_time + wait0, drive1 * drive_time + turn1 * turn_time + wait1)
            best = min(best, drive2 * drive_time + turn2 * turn_time + wait2)
            best = min(best, drive3 * drive_time + turn3 * turn_time + wait3)
            if best < own[r, c] and best < MAX_REACHED:
                largest_change = max(largest_change, own[r, c] - best)
                own[r, c] = best
        changed = bool(largest_change > tolerance)
        if changed:
            lower_stale[r] = True
            upper_stale[r] = True
    stale[k] = False


@njit(cache=True, nogil=True)
def _weights(speeds: Floats, turns: Floats, metres: float, angle: float) -> tuple[Singles, Singles, Singles]:
    """For each control the weights of driving and of turning, and the mean seconds until either."""
    drive, turn = np.zeros(CONTROLS, dtype=np.float32), np.zeros(CONTROLS, dtype=np.float32)
    pause = np.full(CONTROLS, UNREACHED, dtype=np.float32)
    for n in range(CONTROLS):
        rate = speeds[n] / metres + turns[n] / angle
        if rate > 0.0:
            drive[n], turn[n], pause[n] = speeds[n] / metres / rate, turns[n] / angle / rate, 1.0 / rate
    return drive, turn, pause


@njit(cache=True, nogil=True)
def solve_holonomic(seconds: Singles, cell_kinds: Bytes, step: float, tolerance: float) -> int:
    """seconds (1, rows, columns) <- the least times where turning takes no time; `step` is the seconds per cell."""
    rows, columns = cell_kinds.shape
    layer, one = seconds[0], np.float32(step)
    sweeps, quiet_sweeps = 0, 0
    while quiet_sweeps < 4:
        largest_change = np.float32(0.0)
        for i in range(1, rows - 1):
            r = rows - 1 - i if sweeps % 4 >= 2 else i
            for j in range(1, columns - 1):
                c = columns - 1 - j if sweeps % 2 == 1 else j
                if cell_kinds[r, c] != FREE:
                    continue
                a, b = min(layer[r, c - 1], layer[r, c + 1]), min(layer[r - 1, c], layer[r + 1, c])
                apart = abs(a - b)
                found = min(a, b) + one
                if apart < one:
                    found = np.float32(0.5) * (a + b + np.sqrt(np.float32(2.0) * one * one - apart * apart))
                if found < layer[r, c]:
                    largest_change = max(largest_change, layer[r, c] - found)
                    layer[r, c] = found
        sweeps += 1
        quiet_sweeps = 0 if largest_change > tolerance else quiet_sweeps + 1
    return sweeps


@njit(cache=True, nogil=True)
def interpolate(seconds: Singles, resolution: float, poses: Floats) -> Floats:
    """(n,) seconds at poses (n, 3), interpolated between the reached nodes around them; inf where none is reached."""
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
            if value < MAX_REACHED:
                total, weight = total + share * value, weight + share
        if weight > 1e-9:
            found[n] = total / weight
    return found


@njit(cache=True, nogil=True)
def descend(
    seconds: Singles,
    cell_kinds: Bytes,
    resolution: float,
    speeds: Floats,
    turns: Floats,
    row: int,
    column: int,
    turn: float,
) -> Ints:
    """(n, 2) rows and columns of the cells of a robot that descends the field from one cell to a terminal one.

    At every node it takes the fastest control, and carries over the fractions of a cell and of a heading. If it gets no
    lower for a while, it descends over the best heading of each cell instead, which always ends at the goal: where a
    robot can drive on, one of the two cells ahead is lower.
    """
    headings = len(seconds)
    angle = 2 * math.pi / headings
    most = 4 * (cell_kinds.shape[0] + cell_kinds.shape[1])
    cells = np.empty((most + cell_kinds.size, 2), dtype=np.int64)
    cells[0, 0], cells[0, 1] = row, column
    count, r, c = 1, row, column
    k, aside, left, least, idle_steps = round(turn) % headings, 0.0, 0.0, UNREACHED, 0
    for _ in range(8 * most):
        if cell_kinds[r, c] != FREE or idle_steps > headings or count >= most:
            break
        near_row, near_column, far_row, far_column, diagonal, length = cells_ahead(k, headings)
        beside, across = seconds[k, r + near_row, c + near_column], seconds[k, r + far_row, c + far_column]
        drive_time = (1 - diagonal) * beside + diagonal * across
        if diagonal == 1.0 and cell_kinds[r + far_row, c] == BLOCKED and cell_kinds[r, c + far_column] == BLOCKED:
            drive_time = np.inf
        side = 1 if seconds[(k + 1) % headings, r, c] < seconds[(k - 1) % headings, r, c] else -1
        turn_time = seconds[(k + side) % headings, r, c]
        best, chosen = np.inf, 0
        for n in range(CONTROLS):
            drive, turn_rate = speeds[n] / (length * resolution), turns[n] / angle
            if drive + turn_rate > 0.0:
                value = (1.0 + drive * drive_time + turn_rate * turn_time) / (drive + turn_rate)
                if value < best:
                    best, chosen = value, n
        if best > MAX_REACHED:
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
        idle_steps = 0 if seconds[k, r, c] < least else idle_steps + 1
        least = min(least, seconds[k, r, c])
    return _steepest_descent(seconds, cell_kinds, cells, count)


@njit(cache=True, nogil=True)
def _steepest_descent(seconds: Singles, cell_kinds: Bytes, cells: Ints, count: int) -> Ints:
    """The cells, continued from the last to the lowest adjacent cell until a terminal one."""
    r, c = cells[count - 1, 0], cells[count - 1, 1]
    while cell_kinds[r, c] == FREE:
        best, row, column = seconds[:, r, c].min(), -1, -1
        for i in range(-1, 2):
            for j in range(-1, 2):
                if cell_kinds[r + i, c + j] == BLOCKED or (
                    cell_kinds[r + i, c] == BLOCKED and cell_kinds[r, c + j] == BLOCKED
                ):
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


@njit(cache=True, nogil=True)
def leg_times(poses: Floats, points: Floats, motion: Motion) -> Floats:
    """(n,) seconds of the fastest legs from poses (n, 3) to points (n, 2), ignoring obstacles."""
    seconds = np.empty(len(poses))
    for k in range(len(poses)):
        seconds[k] = fastest_leg(poses[k, 0], poses[k, 1], poses[k, 2], points[k, 0], points[k, 1], motion)[0]
    return seconds


@njit(cache=True, nogil=True)
def visible(cells: Bools, resolution: float, x: float, y: float, to_x: float, to_y: float) -> bool:
    """Whether a straight line is collision-free, up to a graze."""
    dx, dy = to_x - x, to_y - y
    return clear_within(cells, resolution, _GRAZE, x, y, math.atan2(dy, dx), math.sqrt(dx * dx + dy * dy), 0.0)


@njit(cache=True, nogil=True)
def find_corners(free_cells: Bools, resolution: float) -> Floats:
    """(n, 3) x, y of each corner, and 1 if its blocked cell is at the upper right or lower left, else -1."""
    rows, columns = free_cells.shape
    found = np.empty(((rows - 1) * (columns - 1), 3))
    n = 0
    for r in range(rows - 1):
        for c in range(columns - 1):
            low, right = free_cells[r, c], free_cells[r, c + 1]
            left, high = free_cells[r + 1, c], free_cells[r + 1, c + 1]
            if int(low) + int(right) + int(left) + int(high) == 3:
                found[n, 0], found[n, 1] = (c + 1) * resolution, (r + 1) * resolution
                found[n, 2] = -1.0 if low and high else 1.0
                n += 1
    return found[:n].copy()


@njit(cache=True, nogil=True)
def corner_lengths(
    free_cells: Bools,
    goal_cells: Bools,
    resolution: float,
    corners: Floats,
    goal_x: float,
    goal_y: float,
    goal_radius: float,
) -> Floats:
    """(n,) the shortest lengths from corners (n, 3) to the goal's disc, by Dijkstra's algorithm; inf: unreachable.

    The disc is visible where its center is visible through `goal_cells`, which contain every line to the disc moved to
    its center. Of the lines between corners only those count that bend round the blocked cell at both ends.
    """
    count = len(corners)
    length, settled = np.full(count, np.inf), np.zeros(count, dtype=np.bool_)
    for n in range(count):
        x, y = corners[n, 0], corners[n, 1]
        straight = max(math.hypot(x - goal_x, y - goal_y) - goal_radius, 0.0)
        if straight == 0.0 or visible(goal_cells, resolution, x, y, goal_x, goal_y):
            length[n] = straight
    for _ in range(count):
        at, least = -1, np.inf
        for n in range(count):
            if not settled[n] and length[n] < least:
                at, least = n, length[n]
        if at < 0:
            break
        settled[at] = True
        x, y, side = corners[at, 0], corners[at, 1], corners[at, 2]
        for n in range(count):
            dx, dy = corners[n, 0] - x, corners[n, 1] - y
            if settled[n] or dx * dy * side > 0.0 or dx * dy * corners[n, 2] > 0.0:
                continue
            through = least + math.sqrt(dx * dx + dy * dy)
            if through < length[n] and visible(free_cells, resolution, x, y, corners[n, 0], corners[n, 1]):
                length[n] = through
    return length


@njit(cache=True, nogil=True)
def turning(angle: float, mode: int) -> float:
    """Radians that turning by an angle adds at least, minus the driving that can be done meanwhile."""
    angle = abs(angle)
    if mode == NO_TURN_COST:
        return 0.0
    if mode == FULL_TURN_COST:
        return angle
    return angle - math.sin(min(angle, 0.5 * math.pi))


@njit(cache=True, nogil=True)
def direct_time(
    goal_cells: Bools, resolution: float, goal: Floats, limits: Floats, mode: int, x: float, y: float, heading: float
) -> float:
    """The least seconds straight to the goal: turn to it and drive; 0 in its disc, inf if it is not visible."""
    dx, dy = goal[0] - x, goal[1] - y
    distance = math.hypot(dx, dy)
    if distance <= goal[2]:
        return 0.0
    if not visible(goal_cells, resolution, x, y, goal[0], goal[1]):
        return np.inf
    aside = max(abs(wrap_angle(math.atan2(dy, dx) - heading)) - math.asin(goal[2] / distance), 0.0)
    return float((distance - goal[2]) / limits[0] + turning(aside, mode) / limits[1])


@njit(cache=True, nogil=True)
def direct_times(
    goal_cells: Bools, resolution: float, goal: Floats, limits: Floats, mode: int, poses: Floats
) -> Floats:
    """(n,) the least seconds straight to the goal from poses (n, 3)."""
    found = np.empty(len(poses))
    for p in range(len(poses)):
        x, y, heading = poses[p, 0], poses[p, 1], poses[p, 2]
        found[p] = direct_time(goal_cells, resolution, goal, limits, mode, x, y, heading)
    return found


@njit(cache=True, nogil=True)
def least_times(
    free_cells: Bools,
    goal_cells: Bools,
    resolution: float,
    corners: Floats,
    length: Floats,
    goal: Floats,
    limits: Floats,
    mode: int,
    poses: Floats,
) -> Floats:
    """(n,) the least time over the corners and the goal visible from poses (n, 3): turn to it, drive to it and on.

    goal: x, y, radius; limits: vmax, wmax.
    """
    found = np.full(len(poses), np.inf)
    for p in range(len(poses)):
        x, y, heading = poses[p, 0], poses[p, 1], poses[p, 2]
        best = direct_time(goal_cells, resolution, goal, limits, mode, x, y, heading)
        for n in range(len(corners)):
            dx, dy = corners[n, 0] - x, corners[n, 1] - y
            seconds = (math.sqrt(dx * dx + dy * dy) + length[n]) / limits[0]
            if seconds >= best:
                continue
            seconds += turning(wrap_angle(math.atan2(dy, dx) - heading), mode) / limits[1]
            if seconds < best and visible(free_cells, resolution, x, y, corners[n, 0], corners[n, 1]):
                best = seconds
        found[p] = best
    return found
