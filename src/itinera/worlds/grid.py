"""An occupancy grid: a floor seen from above as square cells, free or blocked. Motion is planned on it.

`Grid.free_cells` gives the cells where a robot's center may be. Planning uses the grid's own frame: metres from the low
corner of cell (0, 0), x along columns and y along rows. `to_local` and `to_map` convert from and to the map's frame;
public functions take and return coordinates of the map's frame.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from itinera.errors import BadArgument
from itinera.worlds import _grid_kernels as kernels
from itinera.worlds.space import Array

_TIE = 1e-9  # cells: a clearance that equals the radius but for rounding is enough
MIN_RESOLUTION, MAX_RESOLUTION = 1e-6, 10.0  # metres: a cell of any other size is a mistake


@dataclass(frozen=True, eq=False)
class Grid:
    """An occupancy grid. Everything outside it is blocked."""

    blocked: NDArray[np.bool_]  # (rows, columns), row 0 has the smallest y; read-only
    resolution: float  # metres, the side of a cell
    origin: tuple[float, float] = (0.0, 0.0)  # metres, the low corner of cell (0, 0) in the map's frame
    rotation: float = 0.0  # radians, the grid's x axis in the map's frame
    _free_cells: dict[float, NDArray[np.bool_]] = field(default_factory=dict, init=False, repr=False)
    _components: dict[float, NDArray[np.int32]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        cells = np.array(self.blocked, dtype=np.bool_, order="C")
        if cells.ndim != 2 or not cells.size:
            raise BadArgument(f"An occupancy grid needs a non-empty 2-D array of cells, not shape {cells.shape}.")
        if not MIN_RESOLUTION <= self.resolution <= MAX_RESOLUTION:
            limits = f"between {MIN_RESOLUTION:g} and {MAX_RESOLUTION:g} metres"
            raise BadArgument(f"The resolution (side of a cell) must be {limits}, not {self.resolution}.")
        if not np.isfinite([*self.origin, self.rotation]).all():
            raise BadArgument(f"The origin and rotation must be finite, not {self.origin} and {self.rotation}.")
        cells.flags.writeable = False
        object.__setattr__(self, "blocked", cells)

    @property
    def size(self) -> tuple[float, float]:
        """Metres along x and along y."""
        rows, columns = self.blocked.shape
        return columns * self.resolution, rows * self.resolution

    @property
    def bounds(self) -> Array:
        """(2, 2) the low and the high corner of the box around the map, in the map's frame."""
        wide, tall = self.size
        corners = self.to_map(np.array([(0.0, 0.0), (wide, 0.0), (wide, tall), (0.0, tall)]))
        return np.array([corners.min(axis=0), corners.max(axis=0)])

    @cached_property
    def local(self) -> Grid:
        """The same cells with their own frame as the map's frame: origin (0, 0), no rotation. Shares cached results."""
        if self.origin == (0.0, 0.0) and self.rotation == 0.0:
            return self
        grid = Grid(self.blocked, self.resolution)
        object.__setattr__(grid, "_free_cells", self._free_cells)
        object.__setattr__(grid, "_components", self._components)
        return grid

    def __repr__(self) -> str:
        rows, columns = self.blocked.shape
        x, y = self.origin
        turned = f", rotation {self.rotation:g} rad" if self.rotation else ""
        return f"Grid({columns} x {rows} cells of {self.resolution:g} m, origin ({x:g}, {y:g}){turned})"

    def free_cells(self, radius: float) -> NDArray[np.bool_]:
        """(rows, columns) whether the center of a robot of this radius may be in each cell; read-only.

        A cell is free if its center is at least the radius plus half a cell away from the center of every blocked
        cell, including those just outside the grid. With radius 0 these are the unblocked cells.
        """
        if not (np.isfinite(radius) and radius >= 0):
            raise BadArgument(f"The robot's radius must be a finite number of metres, at least 0, not {radius}.")
        if radius not in self._free_cells:
            apart = ndimage.distance_transform_edt(np.pad(~self.blocked, 1))[1:-1, 1:-1]
            # Kernels are compiled for contiguous arrays.
            found = np.ascontiguousarray(apart >= radius / self.resolution + 0.5 - _TIE)
            found.flags.writeable = False
            self._free_cells[radius] = found
        return self._free_cells[radius]

    def components(self, radius: float) -> NDArray[np.int32]:
        """(rows, columns) the connected component of each free cell, numbered from 1; 0 where the robot may not be.

        Cells are connected by their sides. This is exact: no collision-free move leads from one component to another.
        """
        if radius not in self._components:
            found = np.asarray(ndimage.label(self.free_cells(radius))[0], dtype=np.int32)
            found.flags.writeable = False
            self._components[radius] = found
        return self._components[radius]

    def component_at(self, points: ArrayLike, radius: float) -> NDArray[np.int32]:
        """(n,) the connected component at each point (n, 2) of the map's frame; 0 where the robot may not be.

        A point on a border counts as in a free cell if one of the adjacent cells is free, as in `_grid_kernels`.
        """
        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * kernels.TOUCH
        near = (self.to_local(points).reshape(-1, 1, 2) + corners) / self.resolution
        found = _lookup_labels(self.components(radius), near)
        free = found > 0
        closed = (free[:, 0] == free[:, 2]) & (free[:, 1] == free[:, 3]) & (free[:, 0] != free[:, 1])
        return np.where(closed, 0, found.max(axis=1)).astype(np.int32)

    def to_local(self, points: ArrayLike) -> Array:
        """Points (…, 2) or poses (…, 3) of the map's frame, in the grid's frame."""
        return _rotate(np.asarray(points, dtype=np.float64), -self.rotation, before=self.origin)

    def to_map(self, points: ArrayLike) -> Array:
        """Points (…, 2) or poses (…, 3) of the grid's frame, in the map's frame."""
        return _rotate(np.asarray(points, dtype=np.float64), self.rotation, after=self.origin)


def _lookup_labels(labels: NDArray[np.int32], points: Array) -> NDArray[np.int32]:
    """(…) the label of the cell that contains each point (…, 2), in cells; 0 outside the grid."""
    rows, columns = labels.shape
    inside = (points >= 0).all(axis=-1) & (points[..., 0] < columns) & (points[..., 1] < rows)
    i, j = np.moveaxis(np.where(inside[..., None], points, 0.0).astype(np.int64), -1, 0)
    return np.where(inside, labels[j, i], 0).astype(np.int32)


def _rotate(
    points: Array, angle: float, *, before: tuple[float, float] = (0.0, 0.0), after: tuple[float, float] = (0.0, 0.0)
) -> Array:
    """Points, or poses with headings, minus `before`, rotated about the origin, plus `after`."""
    cos, sin = np.cos(angle), np.sin(angle)
    x, y = points[..., 0] - before[0], points[..., 1] - before[1]
    found = points.copy()
    found[..., 0] = cos * x - sin * y + after[0]
    found[..., 1] = sin * x + cos * y + after[1]
    found[..., 2:] += angle
    return found
