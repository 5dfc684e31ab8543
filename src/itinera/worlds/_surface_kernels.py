"""Moving straight over the ground: what a line meets, the nearest place to stand, a robot's step.

A place is u, v in cells from the grid's corner and the number of the cell it lies in. links and slopes are those of
`Ground`, directions as in `_column_kernels`. Cells read from arrays are widened at once, so that each kernel is
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


# What int() does outside of kernels; inside, it keeps 32 bits.
widened: Callable[[Any], int] = np.int64  # type: ignore[assignment]

# Of each cell, links holds the eight cells next to it and its column: (n, 10).
COLUMN, ROW = 8, 9

_TIE = 1e-9  # crossing two borders this close together is crossing a corner
_INSIDE = 1e-3  # cells; as near as one comes to a border that cannot be crossed
_DUST = 1e-7  # cells; nobody minds where in this a robot stands
_SLIDE = 0.5  # cells; the length of the steps one slides by
_AROUND = 4  # cells; how far one looks about to see how a wall runs


@njit(cache=True, nogil=True)
def trace(
    links: Ints, slopes: Singles, n: int, u: float, v: float, i1: int, j1: int, u1: float, v1: float
) -> tuple[int, int, float, float]:
    """(cell, direction, part, length) of the straight line from (u, v) in cell n to (u1, v1) in column (i1, j1).

    If nothing is in the way: the last cell, -1, 1 and the length in cells, slopes included. Else the cell in which it
    ends, the border that stopped it, the part of the way gone and the length up to there.
    """
    du, dv = u1 - u, v1 - v
    far = np.sqrt(du * du + dv * dv)
    i, j = widened(links[n, COLUMN]), widened(links[n, ROW])
    steps_u, steps_v = abs(i1 - i), abs(j1 - j)
    right = 0 if i1 > i else 2
    up = 1 if j1 > j else 3
    # From a place on a border one may cross it without going anywhere.
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
    """How much longer than across a line is that runs over the slope of cell n."""
    up = slopes[n, 0] * du + slopes[n, 1] * dv
    return np.sqrt(far * far + up * up) - far  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def sight(links: Ints, slopes: Singles, n: int, u: float, v: float, m: int, u1: float, v1: float) -> float:
    """The length of the straight way from (u, v) in cell n to (u1, v1) in cell m; inf where there is none."""
    last, side, _, length = trace(links, slopes, n, u, v, widened(links[m, COLUMN]), widened(links[m, ROW]), u1, v1)
    return length if side < 0 and last == m else np.inf


@njit(cache=True, nogil=True)
def straight_lengths(
    links: Ints, slopes: Singles, cells: Ints, at: Floats, to_cells: Ints, to: Floats, out: Floats
) -> None:
    """out <- the length in cells of the straight way of each pair; inf where something is in the way."""
    for k in range(len(cells)):
        out[k] = sight(links, slopes, widened(cells[k]), at[k, 0], at[k, 1], widened(to_cells[k]), to[k, 0], to[k, 1])


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
    gaps: Floats,
) -> None:
    """cells, out, gaps <- the nearest cell to each place, where in it the nearest point is, and how far off, metres.

    at: (k, 3) in cells, cells, metres. A cell straight below or above within `level` metres is preferred. Only cells
    of `island` count, if that is not negative. Where nothing lies within reach: -1 and inf.
    """
    tall = (len(starts) - 1) // wide
    for k in range(len(at)):
        u, v, z = at[k, 0], at[k, 1], at[k, 2]
        i, j = int(np.floor(u)), int(np.floor(v))
        cells[k], gaps[k] = -1, np.inf
        out[k, 0], out[k, 1] = u, v
        if 0 <= i < wide and 0 <= j < tall:
            for n in range(starts[i + wide * j], starts[i + wide * j + 1]):
                gap = abs(heights[n] - z)
                if gap < gaps[k] and gap <= min(level, reach) and (island < 0 or islands[n] == island):
                    cells[k], gaps[k] = n, gap
        if cells[k] >= 0:
            continue
        # Off the grid, the first rings around a place hold nothing.
        ring = max(0, max(max(-i, i - wide + 1), max(-j, j - tall + 1)))
        while (ring - 1) * size < min(gaps[k], reach):
            for y in range(max(j - ring, 0), min(j + ring, tall - 1) + 1):
                across = 1 if abs(y - j) == ring else 2 * ring
                for x in range(i - ring, i + ring + 1, across):
                    if x < 0 or x >= wide:
                        continue
                    near_u = min(max(u, x + _INSIDE), x + 1.0 - _INSIDE)
                    near_v = min(max(v, y + _INSIDE), y + 1.0 - _INSIDE)
                    off = ((near_u - u) ** 2 + (near_v - v) ** 2) * size * size
                    for n in range(starts[x + wide * y], starts[x + wide * y + 1]):
                        gap = np.sqrt(off + (heights[n] - z) ** 2)
                        if gap < gaps[k] and gap <= reach and (island < 0 or islands[n] == island):
                            cells[k], gaps[k] = n, gap
                            out[k, 0], out[k, 1] = near_u, near_v
            ring += 1


@njit(cache=True, nogil=True)
def _move(
    links: Ints, slopes: Singles, n: int, u: float, v: float, du: float, dv: float
) -> tuple[int, float, float, float]:
    """(cell, u, v, part) after going straight by (du, dv), as far as nothing is in the way."""
    stop, side, part, _ = trace(links, slopes, n, u, v, int(np.floor(u + du)), int(np.floor(v + dv)), u + du, v + dv)
    if side < 0:
        return stop, u + du, v + dv, 1.0
    i, j = links[stop, COLUMN], links[stop, ROW]
    u1 = min(max(u + part * du, i + _INSIDE), i + 1 - _INSIDE)
    v1 = min(max(v + part * dv, j + _INSIDE), j + 1 - _INSIDE)
    return stop, u1, v1, min(part, 1.0 - _TIE)


@njit(cache=True, nogil=True)
def _away(links: Ints, n: int) -> tuple[float, float]:
    """The direction away from the walls about a cell: to the middle of the ground around it."""
    sum_u = sum_v = 0.0
    for side in (1, 3):
        row = n
        for y in range(_AROUND + 1):
            row = widened(links[row, side]) if y else n
            if row < 0:
                break
            for along in (0, 2):
                m, x = row, 0
                while m >= 0 and x * x + y * y <= _AROUND * _AROUND:
                    sum_u += x if along == 0 else -x
                    sum_v += y if side == 1 else -y
                    m, x = widened(links[m, along]), x + 1
    far = np.sqrt(sum_u * sum_u + sum_v * sum_v)
    return (sum_u / far, sum_v / far) if far > 0 else (0.0, 0.0)


@njit(cache=True, nogil=True)
def _slide(links: Ints, slopes: Singles, n: int, u: float, v: float, du: float, dv: float) -> tuple[int, float, float]:
    """(cell, u, v) after a short step along the wall; borders of cells being jagged, it may swing off a little."""
    away_u, away_v = _away(links, n)
    into = min(du * away_u + dv * away_v, 0.0)
    du, dv = du - into * away_u, dv - into * away_v
    far = np.sqrt(du * du + dv * dv)
    for swing in (0.0, 0.5, 1.0):
        su, sv = du + swing * far * away_u, dv + swing * far * away_v
        # No longer for swinging off: nobody slides further than they would have gone.
        share = far / np.sqrt(su * su + sv * sv) if swing > 0.0 and far > 0.0 else 1.0
        to, x, y, part = _move(links, slopes, n, u, v, su * share, sv * share)
        if part == 1.0:
            return to, x, y
    return n, u, v


@njit(cache=True, nogil=True)
def go(
    links: Ints, slopes: Singles, n: int, u: float, v: float, du: float, dv: float, sliding: bool
) -> tuple[int, float, float]:
    """(cell, u, v) after a move: up to the first contact, or on along the wall with what is left of it.

    Places and moves are rounded, so that the same actions lead the same way whatever was added up before.
    """
    u, v = np.rint(u / _DUST) * _DUST, np.rint(v / _DUST) * _DUST
    du, dv = np.rint(du / _DUST) * _DUST, np.rint(dv / _DUST) * _DUST
    n, u, v, part = _move(links, slopes, n, u, v, du, dv)
    if sliding and part < 1.0:
        du, dv = du * (1.0 - part), dv * (1.0 - part)
        steps = int(np.ceil(np.sqrt(du * du + dv * dv) / _SLIDE)) + 1
        du, dv = du / steps, dv / steps
        for _ in range(steps):
            to, x, y, part = _move(links, slopes, n, u, v, du, dv)
            if part < 1.0:
                to, x, y = _slide(links, slopes, n, u, v, du, dv)
            n, u, v = to, x, y
    return n, np.rint(u / _DUST) * _DUST, np.rint(v / _DUST) * _DUST


@njit(cache=True, nogil=True)
def advance(
    links: Ints, slopes: Singles, cells: Ints, at: Floats, moves: Floats, sliding: bool, out_cells: Ints, out: Floats
) -> None:
    """out_cells, out <- where each place comes to by its move, in cells; see `go`."""
    for k in range(len(cells)):
        n, u, v = go(links, slopes, widened(cells[k]), at[k, 0], at[k, 1], moves[k, 0], moves[k, 1], sliding)
        out_cells[k], out[k, 0], out[k, 1] = n, u, v
