"""The compiled loops of waypoints and views from a panorama: heights and floor around the body, ways, distances.

Points of a panorama are relative to the floor under the body, and to the body horizontally.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def map_heights(
    depths: NDArray[np.float32],
    rays: NDArray[np.float64],
    eye: float,
    cell: float,
    heights: NDArray[np.float32],
) -> None:
    """heights <- the highest visible point of each cell, metres above the floor; -inf where nothing is visible.

    (p,) depths along the (p, 3) rays of depth one; (n, n) heights with the body in the middle, x along the first axis.
    Points above the eye, `eye` metres above the floor, do not count: the body passes below them.
    """
    size = len(heights)
    half = size // 2
    heights[:] = -np.inf
    for p in range(len(depths)):
        depth = depths[p]
        if rays[p, 2] > 0.0 or not depth < np.inf:
            continue
        z = eye + rays[p, 2] * depth
        i = int(np.floor(rays[p, 0] * depth / cell + 0.5)) + half
        j = int(np.floor(rays[p, 1] * depth / cell + 0.5)) + half
        if 0 <= i < size and 0 <= j < size and z > heights[i, j]:
            heights[i, j] = z


@njit(cache=True, nogil=True)
def measure_reaches(
    heights: NDArray[np.float32],
    headings: NDArray[np.float64],
    sides: NDArray[np.float64],
    cell: float,
    farthest: float,
    climb: float,
    gap: float,
    reaches: NDArray[np.float64],
    ends: NDArray[np.float64],
) -> None:
    """reaches, ends <- how far one can walk straight along each heading, metres, and the height of each step.

    (k, 2) unit vectors; (m,) offsets to the side of the parallel lines of a way: it ends where its first line ends. A
    line ends where the height changes by more than `climb` between known cells, or after `gap` metres of unknown ones.
    (k, steps) the height of the middle line after each cell's length, 0 at the body.
    """
    half = len(heights) // 2
    steps = int(np.floor(farthest / cell + 1e-9))
    for k in range(len(headings)):
        x, y = headings[k, 0], headings[k, 1]
        reaches[k] = farthest
        for line in range(len(sides)):
            height, known = 0.0, 0.0  # of the line so far
            for step in range(1, steps + 1):
                far = step * cell
                i = int(np.floor((x * far - y * sides[line]) / cell + 0.5)) + half
                j = int(np.floor((y * far + x * sides[line]) / cell + 0.5)) + half
                here = heights[i, j]
                if here > -np.inf:
                    if abs(here - height) > climb:
                        break
                    height, known = here, far
                elif far - known > gap:
                    break
                if sides[line] == 0.0:
                    ends[k, step - 1] = height
            reaches[k] = min(reaches[k], known)


@njit(cache=True, nogil=True)
def map_floor(
    depths: NDArray[np.float32],
    rays: NDArray[np.float64],
    eye: float,
    tolerance: float,
    cell: float,
    floor: NDArray[np.bool_],
) -> None:
    """floor <- whether a visible point of each cell is level with the floor under the body, to a tolerance in metres.

    (p,) depths along the (p, 3) rays of depth one; (n, n) floor with the body in the middle, x along the first axis.
    """
    half = len(floor) // 2
    floor[:] = False
    for p in range(len(depths)):
        depth = depths[p]
        if rays[p, 2] >= 0.0 or abs(eye + rays[p, 2] * depth) > tolerance:
            continue
        i = int(np.floor(rays[p, 0] * depth / cell + 0.5)) + half
        j = int(np.floor(rays[p, 1] * depth / cell + 0.5)) + half
        if 0 <= i < len(floor) and 0 <= j < len(floor):
            floor[i, j] = True


@njit(cache=True, nogil=True)
def nearest_things(
    depths: NDArray[np.float32],
    rays: NDArray[np.float64],
    eye: float,
    things: NDArray[np.int32],
    places: NDArray[np.float64],
    nearest: NDArray[np.float64],
) -> None:
    """nearest <- (n, t) squared distance from each place (n, 3) to the nearest visible point of each thing; else inf.

    (p,) depths along the (p, 3) rays of depth one, and the thing that each pixel shows, -1 for none.
    """
    nearest[:] = np.inf
    for p in range(len(depths)):
        thing = things[p]
        if thing < 0:
            continue
        x, y, z = rays[p, 0] * depths[p], rays[p, 1] * depths[p], eye + rays[p, 2] * depths[p]
        for n in range(len(places)):
            dx, dy, dz = x - places[n, 0], y - places[n, 1], z - places[n, 2]
            far = dx * dx + dy * dy + dz * dz
            if far < nearest[n, thing]:
                nearest[n, thing] = far
