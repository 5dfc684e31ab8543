"""Straight motion over the ground: line tracing, the nearest walkable point, a robot's step.

A point is u, v in cells from the grid's corner, and the index of its cell. links and slopes are those of `Ground`,
directions as in `_ground_kernels`. Cell indices read from arrays are widened at once, so that each kernel is
compiled for one type only.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int32]


# Like int() outside kernels; inside a kernel, int() keeps 32 bits.
widened: Callable[[Any], int] = np.int64  # type: ignore[assignment]

# links holds the eight neighbors of each cell and its column: (n, 10).
COLUMN, ROW = 8, 9

_TIE = 1e-9  # two borders crossed this close together are crossed at their corner
_INSIDE = 1e-3  # cells; the minimum distance from a border that cannot be crossed
_ROUNDING = 1e-7  # cells; positions are rounded to this
_SLIDE = 0.5  # cells; the length of one sliding step
_WALL_RADIUS = 4  # cells; the neighborhood in which the direction of a wall is estimated


@njit(cache=True, nogil=True)
def trace(
    links: Ints, slopes: Singles, n: int, u: float, v: float, i1: int, j1: int, u1: float, v1: float
) -> tuple[int, int, float, float]:
    """(cell, direction, part, length) of the straight line from (u, v) in cell n to (u1, v1) in column (i1, j1).

    If it is clear: the last cell, -1, 1 and the length in cells, slopes included. Otherwise the cell in which it ends,
    the direction of the border that stopped it, the fraction traveled and the length up to there.
    A line through the corner of four cells passes if it may go through either of the two cells beside its own: one
    blocked cell is touched, two that meet at the corner close it.
    """
    du, dv = u1 - u, v1 - v
    far = np.sqrt(du * du + dv * dv)
    i, j = widened(links[n, COLUMN]), widened(links[n, ROW])
    steps_u, steps_v = abs(i1 - i), abs(j1 - j)
    right = 0 if i1 > i else 2
    up = 1 if j1 > j else 3
    # A line that starts on a border may cross it with zero length.
    step_u = 1.0 / abs(du) if du != 0.0 else 1.0
    step_v = 1.0 / abs(dv) if dv != 0.0 else 1.0
    next_u = ((i + 1 - u) if right == 0 else (u - i)) * step_u if steps_u else 2.0
    next_v = ((j + 1 - v) if up == 1 else (v - j)) * step_v if steps_v else 2.0
    at, extra = 0.0, 0.0
    while steps_u or steps_v:
        part = min(next_u, next_v)
        if slopes[n, 0] != 0.0 or slopes[n, 1] != 0.0:
            extra += (part - at) * _rise(slopes, n, du, dv, far)
        at = part
        first, second = right, -1
        if steps_u and steps_v and abs(next_u - next_v) < _TIE:
            second = up
        elif next_v < next_u:
            first = up
        to = widened(links[n, first])
        if second >= 0:
            to = widened(links[to, second]) if to >= 0 else -1
            if to < 0 and links[n, second] >= 0:
                to = widened(links[links[n, second], first])
        if to < 0:
            return n, first, at, at * far + extra
        if first == right:
            steps_u -= 1
            next_u = next_u + step_u if steps_u else 2.0
        if first == up or second >= 0:
            steps_v -= 1
            next_v = next_v + step_v if steps_v else 2.0
        n = to
    if slopes[n, 0] != 0.0 or slopes[n, 1] != 0.0:
        extra += (1.0 - at) * _rise(slopes, n, du, dv, far)
    return n, -1, 1.0, far + extra


@njit(cache=True, nogil=True)
def _rise(slopes: Singles, n: int, du: float, dv: float, far: float) -> float:
    """The extra length, beyond the horizontal one, of a line over the slope of cell n."""
    up = slopes[n, 0] * du + slopes[n, 1] * dv
    return np.sqrt(far * far + up * up) - far  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def line_length(links: Ints, slopes: Singles, n: int, u: float, v: float, m: int, u1: float, v1: float) -> float:
    """The length of the straight line from (u, v) in cell n to (u1, v1) in cell m; inf where it is blocked."""
    last, side, _, length = trace(links, slopes, n, u, v, widened(links[m, COLUMN]), widened(links[m, ROW]), u1, v1)
    return length if side < 0 and last == m else np.inf


@njit(cache=True, nogil=True)
def straight_lengths(
    links: Ints, slopes: Singles, cells: Ints, at: Floats, to_cells: Ints, to: Floats, out: Floats
) -> None:
    """out <- the length in cells of the straight line of each pair; inf where it is blocked."""
    for k in range(len(cells)):
        out[k] = line_length(
            links, slopes, widened(cells[k]), at[k, 0], at[k, 1], widened(to_cells[k]), to[k, 0], to[k, 1]
        )


@njit(cache=True, nogil=True)
def nearest_cells(
    starts: Ints,
    heights: Floats,
    islands: Ints,
    wide: int,
    size: float,
    island: int,
    level: float,
    at: Floats,
    reach: float,
    cells: Ints,
    out: Floats,
    offsets: Floats,
) -> None:
    """cells, out, gaps <- the nearest cell to each point, the nearest point in it, and its distance, metres.

    at: (k, 3) in cells, cells, metres. A cell straight below or above within `level` metres is preferred. If `island`
    is not negative, only its cells count. Where nothing lies within reach: -1 and inf.
    """
    tall = (len(starts) - 1) // wide
    for k in range(len(at)):
        u, v, z = at[k, 0], at[k, 1], at[k, 2]
        i, j = int(np.floor(u)), int(np.floor(v))
        cells[k], offsets[k] = -1, np.inf
        out[k, 0], out[k, 1] = u, v
        if 0 <= i < wide and 0 <= j < tall:
            for n in range(starts[i + wide * j], starts[i + wide * j + 1]):
                offset = abs(heights[n] - z)
                if offset < offsets[k] and offset <= min(level, reach) and (island < 0 or islands[n] == island):
                    cells[k], offsets[k] = n, offset
        if cells[k] >= 0:
            continue
        # The first rings around a point off the grid hold nothing.
        ring = max(0, max(max(-i, i - wide + 1), max(-j, j - tall + 1)))
        while (ring - 1) * size < min(offsets[k], reach):
            for y in range(max(j - ring, 0), min(j + ring, tall - 1) + 1):
                across = 1 if abs(y - j) == ring else 2 * ring
                for x in range(i - ring, i + ring + 1, across):
                    if x < 0 or x >= wide:
                        continue
                    near_u = min(max(u, x + _INSIDE), x + 1.0 - _INSIDE)
                    near_v = min(max(v, y + _INSIDE), y + 1.0 - _INSIDE)
                    off = ((near_u - u) ** 2 + (near_v - v) ** 2) * size * size
                    for n in range(starts[x + wide * y], starts[x + wide * y + 1]):
                        offset = np.sqrt(off + (heights[n] - z) ** 2)
                        if offset < offsets[k] and offset <= reach and (island < 0 or islands[n] == island):
                            cells[k], offsets[k] = n, offset
                            out[k, 0], out[k, 1] = near_u, near_v
            ring += 1


@njit(cache=True, nogil=True)
def _move(
    links: Ints, slopes: Singles, n: int, u: float, v: float, du: float, dv: float
) -> tuple[int, float, float, float]:
    """(cell, u, v, part) after moving straight by (du, dv) until something blocks the way."""
    stop, side, part, _ = trace(links, slopes, n, u, v, int(np.floor(u + du)), int(np.floor(v + dv)), u + du, v + dv)
    if side < 0:
        return stop, u + du, v + dv, 1.0
    i, j = links[stop, COLUMN], links[stop, ROW]
    u1 = min(max(u + part * du, i + _INSIDE), i + 1 - _INSIDE)
    v1 = min(max(v + part * dv, j + _INSIDE), j + 1 - _INSIDE)
    return stop, u1, v1, min(part, 1.0 - _TIE)


@njit(cache=True, nogil=True)
def _away_from_walls(links: Ints, n: int) -> tuple[float, float]:
    """The unit vector away from the walls near a cell: towards the centroid of the ground around it."""
    sum_u = sum_v = 0.0
    for side in (1, 3):
        row = n
        for y in range(_WALL_RADIUS + 1):
            row = widened(links[row, side]) if y else n
            if row < 0:
                break
            for along in (0, 2):
                m, x = row, 0
                while m >= 0 and x * x + y * y <= _WALL_RADIUS * _WALL_RADIUS:
                    sum_u += x if along == 0 else -x
                    sum_v += y if side == 1 else -y
                    m, x = widened(links[m, along]), x + 1
    far = np.sqrt(sum_u * sum_u + sum_v * sum_v)
    return (sum_u / far, sum_v / far) if far > 0 else (0.0, 0.0)


@njit(cache=True, nogil=True)
def _slide(
    links: Ints, slopes: Singles, n: int, u: float, v: float, du: float, dv: float, away_u: float, away_v: float
) -> tuple[int, float, float]:
    """(cell, u, v) after a short step along the wall. It may turn away a little, because cell borders are jagged."""
    into = min(du * away_u + dv * away_v, 0.0)
    du, dv = du - into * away_u, dv - into * away_v
    far = np.sqrt(du * du + dv * dv)
    for swing in (0.0, 0.5, 1.0):
        su, sv = du + swing * far * away_u, dv + swing * far * away_v
        # Never longer than the remaining movement.
        share = far / np.sqrt(su * su + sv * sv) if swing > 0.0 and far > 0.0 else 1.0
        to, x, y, part = _move(links, slopes, n, u, v, su * share, sv * share)
        if part == 1.0:
            return to, x, y
    return n, u, v


@njit(cache=True, nogil=True)
def move_body(
    links: Ints, slopes: Singles, n: int, u: float, v: float, du: float, dv: float, sliding: bool
) -> tuple[int, float, float]:
    """(cell, u, v) after a move: up to the first contact, or sliding along the wall with the rest of it.

    Positions and moves are rounded, so that the same actions give the same result whatever was accumulated before.
    """
    u, v = np.rint(u / _ROUNDING) * _ROUNDING, np.rint(v / _ROUNDING) * _ROUNDING
    du, dv = np.rint(du / _ROUNDING) * _ROUNDING, np.rint(dv / _ROUNDING) * _ROUNDING
    n, u, v, part = _move(links, slopes, n, u, v, du, dv)
    if sliding and part < 1.0:
        du, dv = du * (1.0 - part), dv * (1.0 - part)
        steps = int(np.ceil(np.sqrt(du * du + dv * dv) / _SLIDE)) + 1
        du, dv = du / steps, dv / steps
        last, away_u, away_v = -1, 0.0, 0.0
        for _ in range(steps):
            to, x, y, part = _move(links, slopes, n, u, v, du, dv)
            if part < 1.0:
                if n != last:
                    last = n
                    away_u, away_v = _away_from_walls(links, n)
                to, x, y = _slide(links, slopes, n, u, v, du, dv, away_u, away_v)
                if to == n and x == u and y == v:  # nor would the next steps get anywhere
                    break
            n, u, v = to, x, y
    return n, np.rint(u / _ROUNDING) * _ROUNDING, np.rint(v / _ROUNDING) * _ROUNDING


@njit(cache=True, nogil=True)
def advance(
    links: Ints, slopes: Singles, cells: Ints, at: Floats, moves: Floats, sliding: bool, out_cells: Ints, out: Floats
) -> None:
    """out_cells, out <- each point after its move, in cells; see `move_body`."""
    for k in range(len(cells)):
        n, u, v = move_body(links, slopes, widened(cells[k]), at[k, 0], at[k, 1], moves[k, 0], moves[k, 1], sliding)
        out_cells[k], out[k, 0], out[k, 1] = n, u, v
