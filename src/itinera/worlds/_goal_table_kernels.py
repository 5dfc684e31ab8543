"""Distances to a goal, from the first turning point of each cell alone; the same numbers as `read_one` of a field.

The code of a cell is the number of its first turning point; UNREACHED where there is none. RISING is added where the
cell's distance is longer than the level line to that point, because it leads over stairs: those distances are listed.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from itinera.worlds._distance_field_kernels import _SLACK, Records
from itinera.worlds._surface_kernels import COLUMN, ROW, Floats, Ints, Singles, line_length, widened

Codes = NDArray[np.uint16]
Bytes = NDArray[np.uint8]

UNREACHED, RISING = 0xFFFF, 0x8000
# Codes of a map of the ground: no ground; ground that a map cannot show (stairs, a step, another storey); level ground
# beside one of the two; then 1 + half cells of level ground around.
BLOCKED, CLOSE, UNSURE = 0, 1, 255
_TIE = 1e-6  # cells; closer to a corner, only `trace` can tell
MAX_TURNS = 0x7FFF  # of a goal; houses have some hundreds

BEND = np.dtype(
    [
        ("u", np.float64),
        ("v", np.float64),
        ("far", np.float64),  # the remaining distance
        ("cell", np.int32),
        ("onward", np.int32),  # the next turning point; -1 at a goal
    ],
    align=True,
)


@njit(cache=True, nogil=True)
def level_distance(links: Ints, bends: Records, n: int, a: int) -> float:
    """The distance of the center of cell n through turning point a, if the line to it is level; in cells."""
    du = bends[a].u - links[n, COLUMN] - 0.5
    dv = bends[a].v - links[n, ROW] - 0.5
    return bends[a].far + np.sqrt(du * du + dv * dv)  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def cell_distance(links: Ints, codes: Codes, bends: Records, rising: Ints, distances: Floats, n: int) -> float:
    """The distance of the center of cell n, in cells; inf where the goal cannot be reached."""
    code = widened(codes[n])
    if code < RISING:
        return level_distance(links, bends, n, code)
    if code == UNREACHED:
        return np.inf
    low, high = 0, len(rising)
    while high - low > 1:
        middle = (low + high) // 2
        if rising[middle] <= n:
            low = middle
        else:
            high = middle
    return distances[low]  # type: ignore[no-any-return]


@njit(cache=True, nogil=True, error_model="numpy")
def clear_on_map(maps: Bytes, base: int, wide: int, u: float, v: float, u1: float, v1: float) -> int:
    """Whether the line from (u, v) to (u1, v1) is clear on the map at `base`: 1 yes, -1 no, 0 unsure.

    It strides over open ground instead of going from cell to cell.
    """
    du, dv = u1 - u, v1 - v
    far = np.sqrt(du * du + dv * dv)
    if far == 0.0:
        return 0
    du, dv = du / far, dv / far
    t = 0.0
    while t < far:
        x, y = u + t * du, v + t * dv
        i, j = int(x), int(y)
        code = maps[np.uint64(base + j * wide + i)]
        if code in (UNSURE, BLOCKED):
            return 0
        if code > CLOSE + 1:
            t += 0.5 * (code - CLOSE)
            continue
        step_u, step_v = 1.0 / abs(du), 1.0 / abs(dv)
        next_u = t + ((i + 1 - x) if du > 0.0 else (x - i)) * step_u if du != 0.0 else np.inf
        next_v = t + ((j + 1 - y) if dv > 0.0 else (y - j)) * step_v if dv != 0.0 else np.inf
        turn_u, turn_v = 1 if du > 0.0 else -1, wide if dv > 0.0 else -wide
        at = base + j * wide + i
        while code == CLOSE or code == CLOSE + 1:
            t = min(next_u, next_v)
            if t >= far:
                return 1
            if abs(next_u - next_v) < _TIE:
                return 0
            if next_u < next_v:
                next_u += step_u
                at += turn_u
            else:
                next_v += step_v
                at += turn_v
            code = maps[np.uint64(at)]
        if code == BLOCKED:
            return -1
        if code == UNSURE:
            return 0
        t += 0.5 * (code - CLOSE)
    return 1


@njit(cache=True, nogil=True)
def _length(
    links: Ints,
    slopes: Singles,
    maps: Bytes,
    storeys: Bytes,
    first_map: int,
    map_size: int,
    wide: int,
    n: int,
    u: float,
    v: float,
    m: int,
    u1: float,
    v1: float,
) -> float:
    """The length of the straight line from (u, v) in cell n to (u1, v1) in cell m, as `line_length` finds it."""
    if wide and storeys[n] == storeys[m]:
        clear = clear_on_map(maps, first_map + map_size * widened(storeys[n]), wide, u, v, u1, v1)
        if clear < 0:
            return np.inf
        if clear > 0:
            du, dv = u1 - u, v1 - v
            return np.sqrt(du * du + dv * dv)  # type: ignore[no-any-return]
    return line_length(links, slopes, n, u, v, m, u1, v1)


@njit(cache=True, nogil=True)
def goal_distance(
    links: Ints,
    slopes: Singles,
    codes: Codes,
    bends: Records,
    rising: Ints,
    distances: Floats,
    maps: Bytes,
    storeys: Bytes,
    first_map: int,
    map_size: int,
    wide: int,
    n: int,
    u: float,
    v: float,
) -> float:
    """The distance of a point in cell n, in cells: as `read_one` finds it.

    With maps of the ground, `wide` columns each, lines over level ground take a fraction of the time; without, wide
    is 0.
    """
    here = cell_distance(links, codes, bends, rising, distances, n)
    if here == np.inf:
        return np.inf
    best, first = np.inf, -1
    traced, before, long_before = -1, -1, -1
    for k in range(-1, 8):
        m = n if k < 0 else widened(links[n, k])
        if m < 0 or cell_distance(links, codes, bends, rising, distances, m) > here + _SLACK:
            continue
        a = widened(codes[m]) & MAX_TURNS
        for _ in range(2):
            if a < 0 or a == first:
                break
            du, dv = bends[a].u - u, bends[a].v - v
            new = a != traced and a != before and a != long_before
            if new and bends[a].far + np.sqrt(du * du + dv * dv) < best:
                traced, before, long_before = a, traced, before
                length = bends[a].far + _length(
                    links, slopes, maps, storeys, first_map, map_size, wide, n, u, v, widened(bends[a].cell),
                    bends[a].u, bends[a].v,
                )  # fmt: skip
                if length < best:
                    best, first = length, a
            a = widened(bends[a].onward)
    if first < 0:
        return here + line_length(links, slopes, n, u, v, n, links[n, COLUMN] + 0.5, links[n, ROW] + 0.5)
    return best


@njit(cache=True, nogil=True)
def encode_field(
    links: Ints, cell_distances: Floats, turn: Ints, bends: Records, codes: Codes, rising: NDArray[np.bool_]
) -> None:
    """codes, rising <- the code of each cell of a field, and whether its distance must be listed."""
    for n in range(len(turn)):
        rising[n] = False
        if turn[n] < 0:
            codes[n] = UNREACHED
            continue
        rising[n] = level_distance(links, bends, n, widened(turn[n])) != cell_distances[n]
        codes[n] = turn[n] | (RISING if rising[n] else 0)


@njit(cache=True, nogil=True)
def goal_distances(
    links: Ints,
    slopes: Singles,
    codes: Codes,
    bends: Records,
    rising: Ints,
    distances: Floats,
    cells: Ints,
    at: Floats,
    out: Floats,
) -> None:
    """out <- the distance of each point, in cells."""
    none = np.empty(0, np.uint8)
    for k in range(len(cells)):
        out[k] = goal_distance(
            links, slopes, codes, bends, rising, distances, none, none, 0, 0, 0, widened(cells[k]), at[k, 0], at[k, 1]
        )
