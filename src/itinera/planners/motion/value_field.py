"""The least time to a goal from every pose at once: a field over places and headings.

`ArrivalField.of` solves it, `time` reads it anywhere, `rollout` follows it from a pose to the goal. The field is a
planner's map, close to the truth and mostly above it; what a robot surely can do is told by the drive polished from a
roll-out, what it surely cannot by `itinera.planners.motion.lower_bound`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from itinera.errors import BadArgument, NoRoute
from itinera.planners.motion import _value_field_kernels as kernels
from itinera.planners.motion.dynamics import Dynamics, legs
from itinera.worlds import Array
from itinera.worlds._grid_kernels import move_clear

HEADINGS = 72  # of the lattice, 5 degrees apart

_CALM = 1e-4  # seconds: a smaller change is not passed on
_KNOWN = 0.6  # in turning radii: as near to a goal point as this, headings are too coarse and legs are better


@dataclass(frozen=True, eq=False)
class ArrivalField:
    """Seconds to a goal, on a lattice of cell middles and headings."""

    allowed: NDArray[np.bool_]  # (rows, columns) where the robot's centre may be
    resolution: float  # metres, the side of a cell
    goal: Array  # (2,) metres
    goal_radius: float  # metres; 0 is the point itself
    dynamics: Dynamics
    seconds: NDArray[np.float32]  # (headings, rows + 2, columns + 2), a border of blocked cells around; FAR: never
    kinds: NDArray[np.uint8]  # (rows + 2, columns + 2) blocked, free, or given: so near the goal that legs are known

    @classmethod
    def of(
        cls,
        allowed: NDArray[np.bool_],
        resolution: float,
        goal: ArrayLike,
        goal_radius: float,
        dynamics: Dynamics,
        *,
        headings: int = HEADINGS,
    ) -> ArrivalField:
        """The field of a goal; where turning takes no time, one heading stands for all."""
        place = np.asarray(goal, dtype=np.float64)
        if headings < 8 or headings % 4:
            raise BadArgument(f"A field needs a multiple of 4 headings, 8 at least, not {headings}.")
        layers = 1 if math.isinf(dynamics.wmax) else headings
        kinds = _kinds(allowed, resolution, place, goal_radius, dynamics)
        seconds = np.full((layers, *kinds.shape), kernels.FAR, dtype=np.float32)
        _give(seconds, kinds, resolution, place, goal_radius, dynamics)
        if layers == 1:
            kernels.solve_flat(seconds, kinds, resolution / dynamics.vmax, _CALM)
        else:
            speeds, turns = controls(dynamics)
            kernels.solve_turning(seconds, kinds, resolution, speeds, turns, dynamics.reverse, _CALM)
        return cls(allowed, resolution, place, goal_radius, dynamics, seconds, kinds)

    def time(self, poses: ArrayLike) -> Array:
        """(n,) seconds from poses (n, 3), between the nodes of the lattice; inf from where there is no way."""
        asked = np.atleast_2d(np.asarray(poses, dtype=np.float64))
        found = kernels.read_times(self.seconds, self.resolution, np.ascontiguousarray(asked))
        found[np.hypot(*(asked[:, :2] - self.goal).T) <= self.goal_radius] = 0.0
        return found

    def rollout(self, pose: ArrayLike) -> Array:
        """(n, 2) places from a pose to the goal, each in a clear straight line from the one before."""
        x, y, heading = np.asarray(pose, dtype=np.float64)
        row, column = self._node(x, y)
        if self.seconds[:, row, column].min() > kernels.REACHED:
            raise NoRoute(
                f"No way leads from ({x:.2f}, {y:.2f}) to the goal at ({self.goal[0]:.2f}, {self.goal[1]:.2f})."
            )
        speeds, turns = controls(self.dynamics)
        turn = heading / (2 * math.pi) * len(self.seconds)
        cells = kernels.descend(self.seconds, self.kinds, self.resolution, speeds, turns, row, column, turn)
        assert self.kinds[tuple(cells[-1])] == kernels.GIVEN
        middles = (cells[:, ::-1] - 0.5) * self.resolution
        return np.concatenate(([(x, y)], middles, [self.goal]))

    @property
    def least(self) -> Array:
        """(rows, columns) seconds from the middle of each cell at its best heading; inf from where there is no way."""
        found = self.seconds.min(axis=0)[1:-1, 1:-1].astype(np.float64)
        return np.where(found < kernels.FAR, found, np.inf)

    def _node(self, x: float, y: float) -> tuple[int, int]:
        """The row and column of the cell a place is in; of a place on a border, one that is allowed."""
        near = np.array([(x + i * 1e-9, y + j * 1e-9) for i in (0, 1, -1) for j in (0, 1, -1)]) / self.resolution
        columns, rows = np.clip(np.floor(near).astype(np.int64) + 1, 0, np.array(self.kinds.shape)[::-1] - 1).T
        free = self.kinds[rows, columns] != kernels.BLOCKED
        if not free.any():
            raise NoRoute(f"The robot cannot stand at ({x:.2f}, {y:.2f}).")
        first = int(np.argmax(free))
        return int(rows[first]), int(columns[first])


def controls(dynamics: Dynamics) -> tuple[Array, Array]:
    """Metres and radians per second, (CONTROLS,) each, of the ways to move between which all others lie.

    A robot that cannot pivot is let pivot here, or the lattice would not connect: its field is a guide, and low.
    """
    vmax, wmax, tightest = dynamics.vmax, dynamics.wmax, dynamics.tightest
    ways = [(vmax, 0.0)]
    if math.isfinite(wmax):
        ways.append((0.0, wmax))
        if math.isfinite(tightest):
            ways.append((vmax, wmax if tightest == 0 else min(wmax, vmax / tightest)))
        if 0 < tightest * wmax < vmax:
            ways.append((tightest * wmax, wmax))
    padded = np.zeros((kernels.CONTROLS, 2))
    padded[: len(ways)] = ways
    return np.ascontiguousarray(padded[:, 0]), np.ascontiguousarray(padded[:, 1])


def _kinds(
    allowed: NDArray[np.bool_], resolution: float, goal: Array, goal_radius: float, dynamics: Dynamics
) -> NDArray[np.uint8]:
    """What each cell is, with a border. Given are the cells in the goal's disc, or around a point in free space."""
    kinds = np.pad(allowed, 1).astype(np.uint8)
    if not allowed.any():
        return kinds
    far = np.hypot(*_offsets(kinds.shape, resolution, goal))
    within = goal_radius
    if goal_radius == 0:
        clearance = ndimage.distance_transform_edt(kinds)[np.unravel_index(far.argmin(), far.shape)] * resolution
        within = min(_KNOWN * dynamics.curve, float(clearance))
    given = (kinds == kernels.FREE) & (far <= max(within, 0.75 * resolution))
    for row, column in np.argwhere(given):
        given[row, column] = goal_radius > 0 or _sees(allowed, resolution, goal, row, column)
    kinds[given] = kernels.GIVEN
    return kinds


def _sees(allowed: NDArray[np.bool_], resolution: float, goal: Array, row: int, column: int) -> bool:
    """Whether the straight line from a cell's middle to the goal is clear."""
    x, y = (column - 0.5) * resolution, (row - 0.5) * resolution
    dx, dy = float(goal[0]) - x, float(goal[1]) - y
    return bool(move_clear(allowed, resolution, x, y, math.atan2(dy, dx), math.hypot(dx, dy), 0.0))


def _offsets(shape: tuple[int, ...], resolution: float, goal: Array) -> Array:
    """(2, rows, columns) from the goal to the middle of each cell, metres along x and y."""
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    return np.stack([(columns - 0.5) * resolution - goal[0], (rows - 0.5) * resolution - goal[1]])


def _give(
    seconds: NDArray[np.float32],
    kinds: NDArray[np.uint8],
    resolution: float,
    goal: Array,
    goal_radius: float,
    dynamics: Dynamics,
) -> None:
    """seconds <- those of the given cells: none in a disc, else those of the fastest leg to the point.

    Half a cell from the point, where the lattice cannot tell headings apart, they are those of the straight line.
    """
    rows, columns = np.nonzero(kinds == kernels.GIVEN)
    points = np.tile(goal, (len(rows), 1))
    apart = np.hypot(*_offsets(kinds.shape, resolution, goal))[rows, columns]
    for k in range(len(seconds)):
        heading = np.full(len(rows), 2 * math.pi * k / len(seconds))
        poses = np.column_stack(((columns - 0.5) * resolution, (rows - 0.5) * resolution, heading))
        found = np.where(apart < 0.5 * resolution, apart / dynamics.vmax, legs(dynamics, poses, points)[1])
        seconds[k, rows, columns] = 0.0 if goal_radius > 0 else found
