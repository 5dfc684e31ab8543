"""The time to a goal from every pose: an approximation (`ValueField`) and a certified lower bound (`LowerBound`).

`ValueField` is solved on a lattice of cells and headings; `rollout` descends it from a pose to the goal. It guides
planners: it is close to the true time and mostly above it. `LowerBound` is a proof. Let W be a function of poses that
decreases by at most one second per second along everything the robot can do, and that is nowhere above 0 in the goal:
then no robot arrives in less than W. Here W is the length of the shortest path, with its bends, at full speed, plus the
part of the turn towards its beginning that driving on cannot hide. The page on completion times has the proof.

Coordinates are in the map's frame of the grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from itinera.errors import BadArgument, NoRoute
from itinera.planners.motion import _value_field_kernels as kernels
from itinera.planners.motion.dynamics import RADIUS, Dynamics, unicycle
from itinera.planners.motion.turning_bound import MAX_CORNERS, TurningBound
from itinera.worlds import Array
from itinera.worlds._grid_kernels import move_clear
from itinera.worlds.grid import Grid

HEADINGS = 72  # of the lattice, 5 degrees apart
MARGIN = 1e-6  # seconds subtracted from lower bounds, far more than rounding and touching can add

_TOLERANCE = 1e-4  # seconds: smaller changes are not propagated
_EXACT_LEGS = 0.6  # arc radii: this near to a goal point exact legs are better than the lattice's coarse headings
_BORDER = 1e-9  # metres: a point this near to a border belongs to all adjacent cells


@dataclass(frozen=True, eq=False)
class ValueField:
    """Seconds to a goal, on a lattice of cell centers and headings."""

    grid: Grid
    free_cells: NDArray[np.bool_]  # (rows, columns) where the robot's center may be
    goal: Array  # (2,) metres, in the map's frame
    goal_radius: float  # metres; 0 is the point itself
    dynamics: Dynamics
    seconds: NDArray[np.float32]  # (headings, rows + 2, columns + 2), with a border of blocked cells
    cell_kinds: NDArray[np.uint8]  # (rows + 2, columns + 2) blocked, free, or terminal: near the goal, times known

    @classmethod
    def solve(
        cls,
        grid: Grid,
        goal: ArrayLike,
        dynamics: Dynamics,
        *,
        radius: float = RADIUS,
        goal_radius: float = 0.0,
        headings: int = HEADINGS,
    ) -> ValueField:
        """The value field of a goal for a round robot; one heading is enough where turning takes no time."""
        if headings < 8 or headings % 4:
            raise BadArgument(f"headings must be a multiple of 4 and at least 8, not {headings}.")
        point, size, free_cells = grid.to_local(goal), grid.resolution, grid.free_cells(radius)
        layers = 1 if math.isinf(dynamics.wmax) else headings
        cell_kinds = _classify_cells(free_cells, size, point, goal_radius, dynamics)
        seconds = np.full((layers, *cell_kinds.shape), kernels.UNREACHED, dtype=np.float32)
        _set_terminal_times(seconds, cell_kinds, size, point, goal_radius, dynamics)
        if layers == 1:
            kernels.solve_holonomic(seconds, cell_kinds, size / dynamics.vmax, _TOLERANCE)
        else:
            speeds, turns = make_controls(dynamics)
            kernels.solve(seconds, cell_kinds, size, speeds, turns, dynamics.reverse, _TOLERANCE)
        place = np.asarray(goal, dtype=np.float64)
        return cls(grid, free_cells, place, goal_radius, dynamics, seconds, cell_kinds)

    def time(self, poses: ArrayLike) -> Array:
        """(n,) seconds from poses (n, 3), interpolated on the lattice; inf where the goal is unreachable."""
        queries = np.atleast_2d(np.asarray(poses, dtype=np.float64))
        found = kernels.interpolate(
            self.seconds, self.grid.resolution, np.ascontiguousarray(self.grid.to_local(queries))
        )
        found[np.hypot(*(queries[:, :2] - self.goal).T) <= self.goal_radius] = 0.0
        return found

    def rollout(self, pose: ArrayLike) -> Array:
        """(n, 2) points from a pose to the goal, each on a collision-free straight line from the one before."""
        start = np.asarray(pose, dtype=np.float64)
        x, y, heading = self.grid.to_local(start)
        row, column = self._cell(x, y)
        if self.seconds[:, row, column].min() > kernels.MAX_REACHED:
            raise NoRoute(
                f"No path leads from ({start[0]:.2f}, {start[1]:.2f}) to the goal at "
                f"({self.goal[0]:.2f}, {self.goal[1]:.2f})."
            )
        speeds, turns = make_controls(self.dynamics)
        turn = heading / (2 * math.pi) * len(self.seconds)
        cells = kernels.descend(self.seconds, self.cell_kinds, self.grid.resolution, speeds, turns, row, column, turn)
        assert self.cell_kinds[tuple(cells[-1])] == kernels.TERMINAL
        centers = self.grid.to_map((cells[:, ::-1] - 0.5) * self.grid.resolution)
        return np.concatenate((start[None, :2], centers, self.goal[None]))

    @property
    def least(self) -> Array:
        """(rows, columns) seconds from the center of each cell at its best heading; inf where unreachable."""
        found = self.seconds.min(axis=0)[1:-1, 1:-1].astype(np.float64)
        return np.where(found < kernels.UNREACHED, found, np.inf)

    def _cell(self, x: float, y: float) -> tuple[int, int]:
        """The row and column of the cell of a local point; for a point on a border, those of a free adjacent cell."""
        around = [(x + i * _BORDER, y + j * _BORDER) for i in (0, 1, -1) for j in (0, 1, -1)]
        near = np.floor(np.array(around) / self.grid.resolution).astype(np.int64) + 1
        columns, rows = np.clip(near, 0, np.array(self.cell_kinds.shape)[::-1] - 1).T
        free = self.cell_kinds[rows, columns] != kernels.BLOCKED
        if not free.any():
            place = self.grid.to_map((x, y))
            raise NoRoute(f"The robot cannot be at ({place[0]:.2f}, {place[1]:.2f}).")
        first = int(np.argmax(free))
        return int(rows[first]), int(columns[first])


def make_controls(dynamics: Dynamics) -> tuple[Array, Array]:
    """Metres and radians per second, (CONTROLS,) each, of the extreme controls; all others lie between them.

    A robot that cannot pivot may pivot here, or the lattice would not be connected: its field is a guide, and too low.
    """
    vmax, wmax, min_radius = dynamics.vmax, dynamics.wmax, dynamics.min_radius
    controls = [(vmax, 0.0)]
    if math.isfinite(wmax):
        controls.append((0.0, wmax))
        if math.isfinite(min_radius):
            controls.append((vmax, wmax if min_radius == 0 else min(wmax, vmax / min_radius)))
        if 0 < min_radius * wmax < vmax:
            controls.append((min_radius * wmax, wmax))
    padded = np.zeros((kernels.CONTROLS, 2))
    padded[: len(controls)] = controls
    return np.ascontiguousarray(padded[:, 0]), np.ascontiguousarray(padded[:, 1])


def _classify_cells(
    free_cells: NDArray[np.bool_], resolution: float, goal: Array, goal_radius: float, dynamics: Dynamics
) -> NDArray[np.uint8]:
    """The kind of each cell, with a border. Terminal cells are in the goal's disc, or around a point in free space."""
    cell_kinds = np.pad(free_cells, 1).astype(np.uint8)
    if not free_cells.any():
        return cell_kinds
    distances = np.hypot(*_goal_offsets(cell_kinds.shape, resolution, goal))
    within = goal_radius
    if goal_radius == 0:
        nearest = np.unravel_index(distances.argmin(), distances.shape)
        clearance = ndimage.distance_transform_edt(cell_kinds)[nearest] * resolution
        within = min(_EXACT_LEGS * dynamics.arc_radius, float(clearance))
    terminal = (cell_kinds == kernels.FREE) & (distances <= max(within, 0.75 * resolution))
    for row, column in np.argwhere(terminal):
        terminal[row, column] = goal_radius > 0 or _is_visible(free_cells, resolution, goal, row, column)
    cell_kinds[terminal] = kernels.TERMINAL
    return cell_kinds


def _is_visible(free_cells: NDArray[np.bool_], resolution: float, goal: Array, row: int, column: int) -> bool:
    """Whether the straight line from a cell's center to the goal is collision-free."""
    x, y = (column - 0.5) * resolution, (row - 0.5) * resolution
    dx, dy = float(goal[0]) - x, float(goal[1]) - y
    return bool(move_clear(free_cells, resolution, x, y, math.atan2(dy, dx), math.hypot(dx, dy), 0.0))


def _goal_offsets(shape: tuple[int, ...], resolution: float, goal: Array) -> Array:
    """(2, rows, columns) from the goal to the center of each cell, metres along x and y."""
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    return np.stack([(columns - 0.5) * resolution - goal[0], (rows - 0.5) * resolution - goal[1]])


def _set_terminal_times(
    seconds: NDArray[np.float32],
    cell_kinds: NDArray[np.uint8],
    resolution: float,
    goal: Array,
    goal_radius: float,
    dynamics: Dynamics,
) -> None:
    """seconds <- those of the terminal cells: 0 in a disc, else those of the fastest leg to the point.

    Within half a cell of the point, where the lattice cannot resolve headings, they are those of the straight line.
    """
    rows, columns = np.nonzero(cell_kinds == kernels.TERMINAL)
    points = np.tile(goal, (len(rows), 1))
    apart = np.hypot(*_goal_offsets(cell_kinds.shape, resolution, goal))[rows, columns]
    for k in range(len(seconds)):
        heading = np.full(len(rows), 2 * math.pi * k / len(seconds))
        poses = np.column_stack(((columns - 0.5) * resolution, (rows - 0.5) * resolution, heading))
        legs = kernels.leg_times(np.ascontiguousarray(poses), points, dynamics.motion)
        found = np.where(apart < 0.5 * resolution, apart / dynamics.vmax, legs)
        seconds[k, rows, columns] = 0.0 if goal_radius > 0 else found


@dataclass(frozen=True, eq=False)
class LowerBound:
    """The least times to a goal that the map and a robot's limits allow.

    A goal's disc may reach beyond the map, so the arrays have a border of blocked cells as wide as its radius.
    """

    grid: Grid
    border: float  # metres, the width of the border
    free_cells: NDArray[np.bool_]  # (rows, columns) where the robot's center may be
    goal_cells: NDArray[np.bool_]  # (rows, columns) these and all cells within the goal's radius of them
    components: NDArray[np.int32]  # (rows, columns) the connected component of each free cell, 0 elsewhere
    goal: Array  # (3,) x, y from the corner of the border, and radius; metres
    dynamics: Dynamics
    corners: Array  # (n, 3) where shortest paths bend: x, y from the corner of the border, and side
    lengths: Array  # (n,) metres, the shortest path from each corner to the goal

    def at(self, poses: ArrayLike) -> Array:
        """(n,) seconds that every drive from poses (n, 3) to the goal takes at least; inf where unreachable."""
        queries = self._with_border(np.atleast_2d(np.asarray(poses, dtype=np.float64)))
        found, cost = self._first_turn(queries), _turning_cost(self.dynamics)
        if cost != kernels.NO_TURN_COST and len(self.corners) <= MAX_CORNERS:
            limits = np.array([self.dynamics.vmax, self.dynamics.wmax])
            direct = kernels.direct_times(self.goal_cells, self.grid.resolution, self.goal, limits, cost, queries)
            direct = np.maximum(direct, self._free_space(queries))
            found = np.maximum(found, self._turning_bound.at(queries, direct))
        return self._mask_unreachable(queries, np.maximum(found - MARGIN, 0.0))

    def first_turn(self, poses: ArrayLike) -> Array:
        """(n,) the simpler bound, without turning at corners. Along drives it falls no faster than time passes."""
        queries = self._with_border(np.atleast_2d(np.asarray(poses, dtype=np.float64)))
        return self._mask_unreachable(queries, np.maximum(self._first_turn(queries) - MARGIN, 0.0))

    def _first_turn(self, queries: Array) -> Array:
        return np.maximum(self._least(queries, _turning_cost(self.dynamics)), self._free_space(queries))

    def _free_space(self, queries: Array) -> Array:
        """(n,) seconds to a goal point without obstacles; 0 for a disc and for a robot in reverse."""
        if self.goal[2] > 0 or self.dynamics.reverse:
            return np.zeros(len(queries))
        points = np.tile(self.goal[:2], (len(queries), 1))
        return kernels.leg_times(queries, points, _relax(self.dynamics).motion)

    @cached_property
    def _turning_bound(self) -> TurningBound:
        return TurningBound.solve(
            self.free_cells,
            self.goal_cells,
            self.grid.resolution,
            self.corners,
            self.lengths,
            self.goal,
            self.dynamics,
        )

    def shortest(self, points: ArrayLike) -> Array:
        """(n,) metres of the shortest paths from points (n, 2) to the goal, never over-estimated; inf: unreachable."""
        places = np.atleast_2d(np.asarray(points, dtype=np.float64))
        queries = self._with_border(np.column_stack((places[:, :2], np.zeros(len(places)))))
        found = self._least(queries, kernels.NO_TURN_COST) * self.dynamics.vmax
        return self._mask_unreachable(queries, np.maximum(found - MARGIN * self.dynamics.vmax, 0.0))

    def _with_border(self, poses: Array) -> Array:
        """Poses of the map's frame, from the corner of the border."""
        moved: Array = self.grid.to_local(poses) + np.array([self.border, self.border, 0.0])
        return moved

    def _least(self, poses: Array, turning_cost: int) -> Array:
        limits = np.array([self.dynamics.vmax, self.dynamics.wmax])
        found: Array = kernels.least_times(
            self.free_cells,
            self.goal_cells,
            self.grid.resolution,
            self.corners,
            self.lengths,
            self.goal,
            limits,
            turning_cost,
            poses,
        )
        return found

    def _mask_unreachable(self, poses: Array, seconds: Array) -> Array:
        """The seconds, inf where no cell around a pose is connected to a cell around the goal."""
        size = self.grid.resolution
        around_goal = _components_near(self.components, size, self.goal[:2], self.goal[2])
        for n, pose in enumerate(poses):
            if not (_components_near(self.components, size, pose[:2], 0.0) & around_goal):
                seconds[n] = np.inf
        return seconds


def lower_bound(
    grid: Grid, goal: ArrayLike, dynamics: Dynamics, *, radius: float = RADIUS, goal_radius: float = 0.0
) -> LowerBound:
    """The lower bound for one goal, a point (goal_radius 0) or a disc, from any number of poses."""
    size, free_cells = grid.resolution, grid.free_cells(radius)
    padding = math.ceil(goal_radius / size) + 1 if goal_radius > 0 else 0
    border = padding * size
    x, y = grid.to_local(goal) + border
    cells = np.pad(free_cells, padding)
    goal_cells = cells
    if goal_radius > 0:
        # A line moved by at most the radius stays in cells whose center is that near, plus two half diagonals.
        apart = ndimage.distance_transform_edt(~cells) * size
        goal_cells = np.ascontiguousarray(apart <= goal_radius + math.sqrt(2) * size)
    components = np.asarray(ndimage.label(cells)[0], dtype=np.int32)
    corners = kernels.find_corners(cells, size)
    lengths = kernels.corner_lengths(cells, goal_cells, size, corners, float(x), float(y), float(goal_radius))
    known = np.isfinite(lengths)
    disc = np.array([x, y, goal_radius], dtype=np.float64)
    return LowerBound(grid, border, cells, goal_cells, components, disc, dynamics, corners[known], lengths[known])


def _turning_cost(dynamics: Dynamics) -> int:
    """When turning certainly costs this robot time. A robot in reverse may get its heading while it backs up."""
    if dynamics.reverse or math.isinf(dynamics.wmax):
        return kernels.NO_TURN_COST
    return kernels.FULL_TURN_COST if math.isinf(dynamics.min_radius) else kernels.HIDDEN_TURN_COST


def _relax(dynamics: Dynamics) -> Dynamics:
    """A robot that can make all moves of this one, and whose fastest leg is known exactly."""
    return dynamics if math.isinf(dynamics.min_radius) else unicycle(dynamics.vmax, dynamics.wmax)


def _components_near(components: NDArray[np.int32], resolution: float, point: Array, radius: float) -> set[int]:
    """The connected components with a cell within a radius of a point."""
    low = np.maximum(np.floor((point - radius - _BORDER) / resolution).astype(np.int64), 0)
    high = np.floor((point + radius + _BORDER) / resolution).astype(np.int64)
    rows, columns = np.mgrid[low[1] : high[1] + 1, low[0] : high[0] + 1]
    inside = (rows < components.shape[0]) & (columns < components.shape[1])
    rows, columns = rows[inside], columns[inside]
    corners = np.stack([columns, rows], axis=-1) * resolution
    offsets = point - np.clip(point, corners, corners + resolution)
    near = np.hypot(offsets[..., 0], offsets[..., 1]) <= radius + 2 * _BORDER
    return set(components[rows[near], columns[near]].tolist()) - {0}
