"""Compiled projection of depth images onto the cells they show, for `visibility.py`."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def mark_cells(
    depth: NDArray[np.float32],  # (n, height, width) metres along the optical axis
    eyes: Floats,  # (n, 3)
    bases: Floats,  # (n, 3, 3) of each view the directions right, down and forward
    rows: NDArray[np.int64],  # (n,) the row each view is marked in
    focal: float,  # pixels
    limits: Floats,  # (4,) depth above and below which, and height over the eye above and below which, points count
    origin: Floats,  # (2,) metres
    cell: float,  # metres
    floors: Floats,  # (storeys,) from low to high, metres, less what a point may lie below its floor
    visible: NDArray[np.bool_],  # (rows, storeys, w, h) True is written, False never
) -> None:
    """Mark the cell of every point that is near enough and neither too low nor too high."""
    _, storeys, wide, tall = visible.shape
    _, height, width = depth.shape
    nearest, farthest, lowest, highest = limits
    per_metre = 1.0 / cell
    for n in range(len(depth)):
        (rx, ry, rz), (dx, dy, dz), (fx, fy, fz) = bases[n]
        ez = eyes[n, 2]
        # Across, everything is counted in cells from the corner of the grid.
        x0, y0 = (eyes[n, 0] - origin[0]) * per_metre, (eyes[n, 1] - origin[1]) * per_metre
        plan = visible[rows[n]]
        for v in range(height):
            image_row = depth[n, v]
            down = (v + 0.5 - 0.5 * height) / focal
            ax, ay, az = (fx + down * dx) * per_metre, (fy + down * dy) * per_metre, fz + down * dz
            bx, by, bz = rx * per_metre / focal, ry * per_metre / focal, rz / focal
            for u in range(width):
                far = float(image_row[u])
                if not nearest < far < farthest:
                    continue
                right = u + 0.5 - 0.5 * width
                rise = far * (az + right * bz)
                if not lowest < rise < highest:
                    continue
                x, y = x0 + far * (ax + right * bx), y0 + far * (ay + right * by)
                if not (0.0 <= x < wide and 0.0 <= y < tall):
                    continue
                storey = storeys - 1
                while storey > 0 and floors[storey] > ez + rise:
                    storey -= 1
                plan[storey, int(x), int(y)] = True
