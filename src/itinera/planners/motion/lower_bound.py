"""What no robot can beat: a certified lower bound on the time from any pose to a goal.

Let W be a function of poses that falls by at most one second per second along whatever the robot can do, and that is
nowhere above 0 in the goal: then no robot is there in less than W. Here W is the length of the shortest path, bends and
all, at full speed, and the part of the turn towards its beginning that no driving on hides. The page on completion
times proves it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from itinera.planners.motion import _lower_bound_kernels as kernels
from itinera.planners.motion.dynamics import Dynamics, legs, unicycle
from itinera.worlds import Array

MARGIN = 1e-6  # seconds taken off, far more than rounding and touching can add

_NEAR = 1e-9  # metres: what lies on a border lies in all cells beside it


@dataclass(frozen=True, eq=False)
class LowerBound:
    """The least times to a goal that its geometry and a robot's limits allow.

    A goal's disc may reach out of the floor, so there is a border of blocked cells all round as wide as its radius.
    """

    border: float  # metres, the width of the border: where the low corner of the floor lies
    allowed: NDArray[np.bool_]  # (rows, columns) where the robot's centre may be
    wider: NDArray[np.bool_]  # (rows, columns) where it may be, and what lies within the goal's radius of that
    parts: NDArray[np.int32]  # (rows, columns) the connected part of each allowed cell, 0 elsewhere
    resolution: float  # metres, the side of a cell
    goal: Array  # (3,) x, y, from the corner of the border, and radius; metres
    dynamics: Dynamics
    bends: Array  # (n, 3) the corners round which shortest paths bend: x, y, from the corner of the border, and side
    lengths: Array  # (n,) metres, the shortest from each corner to the goal; inf: no way

    def at(self, poses: ArrayLike) -> Array:
        """(n,) seconds that every drive from poses (n, 3) to the goal takes at least; inf from where there is none."""
        asked = np.atleast_2d(np.asarray(poses, dtype=np.float64)) + np.array([self.border, self.border, 0.0])
        found = self._least(asked, _turning(self.dynamics))
        if self.goal[2] == 0 and not self.dynamics.reverse:
            found = np.maximum(found, legs(_freer(self.dynamics), asked, np.tile(self.goal[:2], (len(asked), 1)))[1])
        return self._reachable(asked, np.maximum(found - MARGIN, 0.0))

    def shortest(self, points: ArrayLike) -> Array:
        """(n,) metres of the shortest paths from points (n, 2) to the goal, never over-estimated; inf: no way."""
        places = np.atleast_2d(np.asarray(points, dtype=np.float64))
        asked = np.column_stack((places[:, :2] + self.border, np.zeros(len(places))))
        found = self._least(asked, kernels.NEVER) * self.dynamics.vmax
        return self._reachable(asked, np.maximum(found - MARGIN * self.dynamics.vmax, 0.0))

    def _least(self, poses: Array, mode: int) -> Array:
        limits = np.array([self.dynamics.vmax, self.dynamics.wmax])
        found: Array = kernels.least_times(
            self.allowed, self.wider, self.resolution, self.bends, self.lengths, self.goal, limits, mode, poses
        )
        return found

    def _reachable(self, poses: Array, seconds: Array) -> Array:
        """The seconds, inf where no cell around a pose is connected to one around the goal."""
        around = _parts_near(self.parts, self.resolution, self.goal[:2], self.goal[2])
        for n, pose in enumerate(poses):
            here = _parts_near(self.parts, self.resolution, pose[:2], 0.0)
            if not (here & around):
                seconds[n] = np.inf
        return seconds


def lower_bound(
    allowed: NDArray[np.bool_], resolution: float, goal: ArrayLike, goal_radius: float, dynamics: Dynamics
) -> LowerBound:
    """The bound for one goal, a point (radius 0) or a disc, to be asked for any number of poses."""
    around = math.ceil(goal_radius / resolution) + 1 if goal_radius > 0 else 0
    border = around * resolution
    x, y = np.asarray(goal, dtype=np.float64) + border
    cells = np.pad(allowed, around)
    wider = cells
    if goal_radius > 0:
        # A line moved by no more than the radius stays in cells whose middle is that near, two half diagonals aside.
        apart = ndimage.distance_transform_edt(~cells) * resolution
        wider = np.ascontiguousarray(apart <= goal_radius + math.sqrt(2) * resolution)
    parts = np.asarray(ndimage.label(cells)[0], dtype=np.int32)
    bends = kernels.corners(cells, resolution)
    lengths = kernels.lengths(cells, wider, resolution, bends, float(x), float(y), float(goal_radius))
    known = np.isfinite(lengths)
    disc = np.array([x, y, goal_radius], dtype=np.float64)
    return LowerBound(border, cells, wider, parts, resolution, disc, dynamics, bends[known], lengths[known])


def _turning(dynamics: Dynamics) -> int:
    """When turning costs this robot time for sure. A robot in reverse may come by its heading while it backs up."""
    if dynamics.reverse or math.isinf(dynamics.wmax):
        return kernels.NEVER
    return kernels.PIVOTING if math.isinf(dynamics.tightest) else kernels.DRIVING


def _freer(dynamics: Dynamics) -> Dynamics:
    """A robot that can do all that this one can, and whose fastest leg is known for sure."""
    return dynamics if math.isinf(dynamics.tightest) else unicycle(dynamics.vmax, dynamics.wmax)


def _parts_near(parts: NDArray[np.int32], resolution: float, place: Array, radius: float) -> set[int]:
    """The connected parts of which a cell lies within a radius of a place."""
    low = np.maximum(np.floor((place - radius - _NEAR) / resolution).astype(np.int64), 0)
    high = np.floor((place + radius + _NEAR) / resolution).astype(np.int64)
    rows, columns = np.mgrid[low[1] : high[1] + 1, low[0] : high[0] + 1]
    inside = (rows < parts.shape[0]) & (columns < parts.shape[1])
    rows, columns = rows[inside], columns[inside]
    beside = np.stack([columns, rows], axis=-1) * resolution
    off = place - np.clip(place, beside, beside + resolution)
    near = np.hypot(off[..., 0], off[..., 1]) <= radius + 2 * _NEAR
    return set(parts[rows[near], columns[near]].tolist()) - {0}
