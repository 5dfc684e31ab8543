"""The compiled loop of viewpoints: lines of sight."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def clear_lines(
    starts: NDArray[np.float64], ends: NDArray[np.float64], corners: NDArray[np.float64], clear: NDArray[np.bool_]
) -> None:
    """clear <- (n,) whether no triangle intersects each line; both sides of a triangle count.

    (n, 3) starts and ends, (f, 3, 3) corners: the largest triangles first, as one hit settles a line.
    """
    margin = 1e-6
    for k in range(len(starts)):
        ox, oy, oz = starts[k]
        dx, dy, dz = ends[k, 0] - ox, ends[k, 1] - oy, ends[k, 2] - oz
        low, high = min(oz, ends[k, 2]), max(oz, ends[k, 2])
        clear[k] = True
        for f in range(len(corners)):
            az, bz, cz = corners[f, 0, 2], corners[f, 1, 2], corners[f, 2, 2]
            if (az < low and bz < low and cz < low) or (az > high and bz > high and cz > high):
                continue
            ax, ay = corners[f, 0, 0], corners[f, 0, 1]
            ux, uy, uz = corners[f, 1, 0] - ax, corners[f, 1, 1] - ay, bz - az
            wx, wy, wz = corners[f, 2, 0] - ax, corners[f, 2, 1] - ay, cz - az
            px, py, pz = dy * wz - dz * wy, dz * wx - dx * wz, dx * wy - dy * wx
            volume = ux * px + uy * py + uz * pz
            if abs(volume) < 1e-12:
                continue
            sx, sy, sz = ox - ax, oy - ay, oz - az
            first = (sx * px + sy * py + sz * pz) / volume
            if first < -margin or first > 1.0 + margin:
                continue
            qx, qy, qz = sy * uz - sz * uy, sz * ux - sx * uz, sx * uy - sy * ux
            second = (dx * qx + dy * qy + dz * qz) / volume
            if second < -margin or first + second > 1.0 + margin:
                continue
            along = (wx * qx + wy * qy + wz * qz) / volume
            if 0.0 <= along <= 1.0:
                clear[k] = False
                break
