"""The maps of scans, one per storey, and rays through them."""

# mypy: allow-untyped-decorators
from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from itinera.worlds._goal_table_kernels import BLOCKED, CLOSE, UNSURE
from itinera.worlds._surface_kernels import COLUMN, ROW, Floats, Ints, Singles, widened

Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]

_MOST = 254
_STRIDES = 3


@njit(cache=True, nogil=True)
def unfold_storey(links: Ints, heights: Floats, wide: int, level: float, climb: float, queue: Ints, at: Ints) -> int:
    """at <- the cell of each column that belongs to a storey, -1 for none; returns how many columns have one.

    The storey begins with the cells within a climb of its level and grows along the links, stairs included, as far as
    the columns are not taken. at: -1 everywhere; queue: as long as there are columns.
    """
    count = 0
    for n in range(len(links)):
        column = widened(links[n, COLUMN]) + wide * widened(links[n, ROW])
        if abs(heights[n] - level) <= climb and (
            at[column] < 0 or abs(heights[n] - level) < abs(heights[at[column]] - level)
        ):
            if at[column] < 0:
                queue[count] = column
                count += 1
            at[column] = n
    first = 0
    while first < count:
        n = at[queue[first]]
        first += 1
        for k in range(4):
            m = widened(links[n, k])
            if m < 0:
                continue
            column = widened(links[m, COLUMN]) + wide * widened(links[m, ROW])
            if at[column] < 0:
                at[column] = m
                queue[count] = column
                count += 1
    return count


@njit(cache=True, nogil=True)
def mark_free(links: Ints, heights: Floats, wide: int, level: float, at: Ints, free: NDArray[np.bool_]) -> None:
    """free <- the columns of a storey, without those beside a step: of two, the one farther from the level."""
    offsets = (1, wide, -1, -wide)
    for column in range(len(at)):
        n = at[column]
        free[column] = n >= 0
        if n < 0:
            continue
        for k in range(4):
            beside = column + offsets[k]
            if not 0 <= beside < len(at) or at[beside] < 0 or links[n, k] == at[beside]:
                continue
            if abs(heights[n] - level) >= abs(heights[at[beside]] - level):
                free[column] = False


@njit(cache=True, nogil=True)
def encode_room(free: NDArray[np.bool_], at: Ints, room: Floats, unsure: bool, out: Bytes) -> None:
    """out <- the codes of a map, from the cells of room between the border of each cell and the nearest one not free.

    Ground that is not free is UNSURE if asked for, else BLOCKED.
    """
    for k in range(len(out)):
        if free[k]:
            out[k] = min(CLOSE + int(2.0 * room[k]), _MOST)
        else:
            out[k] = UNSURE if unsure and at[k] >= 0 else BLOCKED


@njit(cache=True, nogil=True, error_model="numpy")
def cast_rays(
    maps: Bytes,
    first_map: Longs,
    map_sizes: Longs,
    columns: Longs,
    storeys: Bytes,
    first_cell: Longs,
    sizes: Floats,
    cos: Floats,
    sin: Floats,
    max_range: float,
    which: Longs,
    house: Longs,
    cells: Ints,
    across: Floats,
    headings: Floats,
    out: Singles,
) -> None:
    """out <- the metres along each ray of the robots `which` to the first blocked cell, at most `max_range`.

    `house`, `cells`, `across`, `headings` and `out` are by robot, `first_map` to `columns`, `first_cell` and `sizes` by
    house. Blocked borders keep every ray inside its map.
    """
    reached, along_u, along_v = np.empty(len(cos)), np.empty(len(cos)), np.empty(len(cos))
    for k in which:
        h = house[k]
        across_x, size = columns[h], sizes[h]
        base = first_map[h] + map_sizes[h] * storeys[first_cell[h] + cells[k]]
        u, v = across[k, 0], across[k, 1]
        ahead, aside = np.cos(headings[k]), np.sin(headings[k])
        most = max_range / size
        begin = maps[np.uint64(base + int(v) * across_x + int(u))]
        for ray in range(len(cos)):
            along_u[ray] = ahead * cos[ray] - aside * sin[ray]
            along_v[ray] = aside * cos[ray] + ahead * sin[ray]
            reached[ray] = 0.5 * (begin - CLOSE) if begin > CLOSE else 0.0
        # The first strides of all rays side by side: they wait for memory together, not one after the other.
        for _ in range(_STRIDES):
            for ray in range(len(cos)):
                i, j = int(u + reached[ray] * along_u[ray]), int(v + reached[ray] * along_v[ray])
                code = widened(maps[np.uint64(base + j * across_x + i)])
                reached[ray] += 0.5 * max(code - CLOSE, 0)
        for ray in range(len(cos)):
            du, dv, t = along_u[ray], along_v[ray], reached[ray]
            while t < most:
                x, y = u + t * du, v + t * dv
                i, j = int(x), int(y)
                code = maps[np.uint64(base + j * across_x + i)]
                if code > CLOSE + 1:
                    t += 0.5 * (code - CLOSE)
                    continue
                if code == BLOCKED:
                    break
                # Beside a wall: from border to border, until there is room again.
                step_u, step_v = 1.0 / abs(du) if du != 0.0 else np.inf, 1.0 / abs(dv) if dv != 0.0 else np.inf
                next_u = t + ((i + 1 - x) if du > 0.0 else (x - i)) * step_u if du != 0.0 else np.inf
                next_v = t + ((j + 1 - y) if dv > 0.0 else (y - j)) * step_v if dv != 0.0 else np.inf
                turn_u, turn_v = 1 if du > 0.0 else -1, across_x if dv > 0.0 else -across_x
                at = base + j * across_x + i
                while code == CLOSE or code == CLOSE + 1:
                    if next_u < next_v:
                        t = next_u
                        next_u += step_u
                        at += turn_u
                    else:
                        t = next_v
                        next_v += step_v
                        at += turn_v
                    code = maps[np.uint64(at)]
                if code == BLOCKED:
                    break
                t += 0.5 * (code - CLOSE)
            out[k, ray] = min(t, most) * size
