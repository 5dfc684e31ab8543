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

UNREACHED, RISING = 0xFFFF, 0x8000
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
        return level_distance(links, bends, n, code)  # type: ignore[no-any-return]
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


@njit(cache=True, nogil=True)
def goal_distance(
    links: Ints,
    slopes: Singles,
    codes: Codes,
    bends: Records,
    rising: Ints,
    distances: Floats,
    n: int,
    u: float,
    v: float,
) -> float:
    """The distance of a point in cell n, in cells: as `read_one` finds it."""
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
                length = bends[a].far + line_length(
                    links, slopes, n, u, v, widened(bends[a].cell), bends[a].u, bends[a].v
                )
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
    for k in range(len(cells)):
        out[k] = goal_distance(links, slopes, codes, bends, rising, distances, widened(cells[k]), at[k, 0], at[k, 1])
