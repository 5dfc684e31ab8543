"""The loops of maps: views into columns, columns into egocentric maps, faces of a mesh into columns.

The columns of a map lie in `grids` as `StoreyGrids` describes them; `heights` is -inf where nothing was seen, `dirty`
has the columns i0, i1, j0, j1 (the last ones excluded) of each storey that may contain something.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Shorts = NDArray[np.uint16]
Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]

# Like int() outside kernels; inside a kernel, int() keeps 32 bits.
widened: Callable[[Any], int] = np.int64  # type: ignore[assignment]

NOTHING = np.float32(-np.inf)


@njit(cache=True, nogil=True)
def insert_views(
    depth: Singles,  # (n, h, w)
    classes: NDArray[np.integer],  # (n, h, w)
    table: Shorts,  # the label of each class
    eyes: Floats,  # (n, 3)
    bases: Floats,  # (n, 3, 3) right, down, forward
    focal: float,
    lanes: Longs,  # (n,) the map of each view
    column: float,
    limits: Floats,  # nearest and farthest depth, lowest and highest point above the camera
    bounds: Floats,  # (maps, storeys + 1)
    grids: Longs,  # (maps, storeys, 5)
    heights: Singles,  # (maps, columns)
    labels: Shorts,  # (maps, columns)
    dirty: Longs,  # (maps, storeys, 4)
) -> None:
    """Insert every pixel within the limits into its column, which keeps the highest point and its label."""
    across = (np.arange(depth.shape[2]) + 0.5 - 0.5 * depth.shape[2]) / focal
    for n in range(len(depth)):
        lane = lanes[n]
        low, high = eyes[n, 2] + limits[2], eyes[n, 2] + limits[3]
        for storey in range(grids.shape[1]):
            if bounds[lane, storey] < high and bounds[lane, storey + 1] > low and grids[lane, storey, 2] > 0:
                _insert_into_storey(
                    depth[n],
                    classes[n],
                    table,
                    eyes[n],
                    bases[n],
                    across,
                    focal,
                    1.0 / column,
                    limits,
                    bounds[lane, storey],
                    bounds[lane, storey + 1],
                    grids[lane, storey],
                    heights[lane],
                    labels[lane],
                    dirty[lane, storey],
                )


@njit(cache=True, nogil=True)
def _insert_into_storey(
    depth: Singles,
    classes: NDArray[np.integer],
    table: Shorts,
    eye: Floats,
    basis: Floats,
    across: Floats,
    focal: float,
    per_metre: float,
    limits: Floats,
    floor: float,
    ceiling: float,
    grid: Longs,
    heights: Singles,
    labels: Shorts,
    dirty: Longs,
) -> None:
    near, far = limits[0], limits[1]
    low, high = eye[2] + limits[2], eye[2] + limits[3]
    x, y, z = eye[0], eye[1], eye[2]
    right_x, right_y = basis[0, 0], basis[0, 1]
    i0, j0, width, height, start = grid[0], grid[1], grid[2], grid[3], grid[4]
    left, end, bottom, top = dirty[0], dirty[1], dirty[2], dirty[3]
    for v in range(depth.shape[0]):
        down = (v + 0.5 - 0.5 * depth.shape[0]) / focal
        ahead_x = basis[2, 0] + down * basis[1, 0]
        ahead_y = basis[2, 1] + down * basis[1, 1]
        rise = basis[2, 2] + down * basis[1, 2]
        for u in range(depth.shape[1]):
            away = np.float64(depth[v, u])
            at = z + away * rise
            if not (near < away < far and low < at < high and floor <= at < ceiling):
                continue
            i = widened(np.rint((x + away * (ahead_x + across[u] * right_x)) * per_metre)) - i0
            j = widened(np.rint((y + away * (ahead_y + across[u] * right_y)) * per_metre)) - j0
            if i < 0 or j < 0 or i >= width or j >= height:
                continue
            k = start + j * width + i
            single = np.float32(at)
            if single > heights[k]:
                kind = widened(classes[v, u])
                heights[k] = single
                labels[k] = table[kind] if kind < len(table) else 0
                left, end = min(left, i), max(end, i + 1)
                bottom, top = min(bottom, j), max(top, j + 1)
    dirty[0], dirty[1], dirty[2], dirty[3] = left, end, bottom, top


@njit(cache=True, nogil=True)
def read_maps(
    eyes: Floats,  # (n, 3)
    directions: Floats,  # (n, 2) cosine and sine of the heading
    lanes: Longs,  # (n,)
    column: float,
    cell: float,
    band: Floats,  # lowest and highest point above the camera
    bounds: Floats,
    grids: Longs,
    heights: Singles,
    labels: Shorts,
    dirty: Longs,
    occupancy: Bytes,  # (n, size, size) out
    kinds: Shorts,  # (n, size, size) out
) -> None:
    """Read the egocentric maps: the highest labeled column of each cell, and whether there is any column."""
    size = occupancy.shape[1]
    tops = np.empty((size, size), dtype=np.float32)
    occupancy[:] = 0
    kinds[:] = 0
    for n in range(len(eyes)):
        tops[:] = NOTHING
        lane = lanes[n]
        low, high = eyes[n, 2] + band[0], eyes[n, 2] + band[1]
        for storey in range(grids.shape[1]):
            if bounds[lane, storey] < high and bounds[lane, storey + 1] > low and grids[lane, storey, 2] > 0:
                _read_storey(
                    eyes[n],
                    directions[n, 0],
                    directions[n, 1],
                    column,
                    1.0 / cell,
                    0.5 * size * cell,
                    low,
                    high,
                    grids[lane, storey],
                    heights[lane],
                    labels[lane],
                    dirty[lane, storey],
                    tops,
                    occupancy[n],
                    kinds[n],
                )


@njit(cache=True, nogil=True)
def _read_storey(
    eye: Floats,
    cosine: float,
    sine: float,
    column: float,
    per_metre: float,
    reach: float,
    low: float,
    high: float,
    grid: Longs,
    heights: Singles,
    labels: Shorts,
    dirty: Longs,
    tops: Singles,
    occupancy: Bytes,
    kinds: Shorts,
) -> None:
    size = len(tops)
    x, y, beyond = eye[0], eye[1], reach + 1.0 / per_metre
    i0, j0, width, start = grid[0], grid[1], grid[2], grid[4]
    wide = beyond * (abs(cosine) + abs(sine))  # half the side of the box around the turned map
    bottom = max(dirty[2], widened(np.floor((y - wide) / column)) - j0)
    top = min(dirty[3], widened(np.ceil((y + wide) / column)) - j0 + 1)
    for j in range(bottom, top):
        dy = (j + j0) * column - y
        # The part of the row that lies in the turned map.
        first, last = -wide, wide
        if abs(sine) > 1e-6:
            one, two = (dy * cosine - beyond) / sine, (dy * cosine + beyond) / sine
            first, last = max(first, min(one, two)), min(last, max(one, two))
        if abs(cosine) > 1e-6:
            one, two = (-dy * sine - beyond) / cosine, (-dy * sine + beyond) / cosine
            first, last = max(first, min(one, two)), min(last, max(one, two))
        begin = max(dirty[0], widened(np.floor((x + first) / column)) - i0)
        end = min(dirty[1], widened(np.ceil((x + last) / column)) - i0 + 1)
        for i in range(begin, end):
            k = start + j * width + i
            at = heights[k]
            if not low < at < high:
                continue
            dx = (i + i0) * column - x
            right = widened(np.rint((dx * sine - dy * cosine + reach) * per_metre))
            behind = widened(np.rint((reach - (dx * cosine + dy * sine)) * per_metre))
            if right < 0 or behind < 0 or right >= size or behind >= size:
                continue
            occupancy[behind, right] = 1
            if labels[k] != 0 and at > tops[behind, right]:
                tops[behind, right] = at
                kinds[behind, right] = labels[k]


@njit(cache=True, nogil=True)
def clear_maps(lanes: Longs, grids: Longs, heights: Singles, labels: Shorts, dirty: Longs) -> None:
    """Empty the columns that may contain something."""
    for lane in lanes:
        for storey in range(grids.shape[1]):
            i0, i1, j0, j1 = dirty[lane, storey]
            width, start = grids[lane, storey, 2], grids[lane, storey, 4]
            for j in range(j0, j1):
                heights[lane, start + j * width + i0 : start + j * width + i1] = NOTHING
                labels[lane, start + j * width + i0 : start + j * width + i1] = 0
            dirty[lane, storey, 0] = width
            dirty[lane, storey, 1] = 0
            dirty[lane, storey, 2] = grids[lane, storey, 3]
            dirty[lane, storey, 3] = 0


@njit(cache=True, nogil=True)
def _length(vector: Floats) -> float:
    return math.sqrt(vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2)


@njit(cache=True, nogil=True)
def insert_faces(
    corners: Floats,  # (f, 3, 3)
    kinds: Shorts,  # (f,) labels
    spacing: float,
    column: float,
    bands: Floats,  # (storeys, 2) lowest and highest point that is inserted
    bounds: Floats,  # (storeys + 1,)
    grids: Longs,  # (storeys, 5)
    heights: Singles,
    labels: Shorts,
) -> None:
    """Insert points of every face, at most `spacing` apart along its sides, into their columns."""
    for f in range(len(corners)):
        a, b, c = corners[f, 0], corners[f, 1], corners[f, 2]
        lowest, highest = min(a[2], b[2], c[2]), max(a[2], b[2], c[2])
        for storey in range(len(grids)):
            low, high = bands[storey, 0], bands[storey, 1]
            if highest <= low or lowest >= high:
                continue
            i0, j0, width, height, start = (
                grids[storey, 0],
                grids[storey, 1],
                grids[storey, 2],
                grids[storey, 3],
                grids[storey, 4],
            )
            parts = widened(np.ceil(max(_length(b - a), _length(c - a), _length(c - b), spacing) / spacing))
            for p in range(parts + 1):
                for q in range(parts + 1 - p):
                    s, t = p / parts, q / parts
                    at = a[2] + s * (b[2] - a[2]) + t * (c[2] - a[2])
                    if not (low < at < high and bounds[storey] <= at < bounds[storey + 1]):
                        continue
                    i = widened(np.rint((a[0] + s * (b[0] - a[0]) + t * (c[0] - a[0])) / column)) - i0
                    j = widened(np.rint((a[1] + s * (b[1] - a[1]) + t * (c[1] - a[1])) / column)) - j0
                    if i < 0 or j < 0 or i >= width or j >= height:
                        continue
                    k = start + j * width + i
                    single = np.float32(at)
                    if single > heights[k]:
                        heights[k], labels[k] = single, kinds[f]
