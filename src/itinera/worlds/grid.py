"""A floor seen from above as square cells, free or blocked: the place where motion is planned.

`Grid.allowed` tells where a robot's centre may be. Planning happens in the grid's own frame, metres from the low corner
of cell (0, 0), x along columns and y along rows; `to_local` and `to_frame` are the doors from and to the map's frame.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from itinera.errors import BadArgument
from itinera.worlds import _grid_kernels as kernels
from itinera.worlds.space import Array

_TIE = 1e-9  # cells: a clearance that equals the radius but for rounding is enough
NARROWEST, WIDEST = 1e-6, 10.0  # metres: any other side of a cell can only be a mistake


@dataclass(frozen=True, eq=False)
class Grid:
    """A floor in cells. What lies outside is blocked."""

    blocked: NDArray[np.bool_]  # (rows, columns), row 0 has the smallest y; read-only
    resolution: float  # metres, the side of a cell
    origin: tuple[float, float] = (0.0, 0.0)  # metres, the low corner of cell (0, 0) in the map's frame
    rotation: float = 0.0  # radians, the grid's x axis in the map's frame
    _allowed: dict[float, NDArray[np.bool_]] = field(default_factory=dict, init=False, repr=False)
    _parts: dict[float, NDArray[np.int32]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        cells = np.array(self.blocked, dtype=np.bool_, order="C")
        if cells.ndim != 2 or not cells.size:
            raise BadArgument(f"A grid has rows and columns of cells, not the shape {cells.shape}.")
        if not NARROWEST <= self.resolution <= WIDEST:
            told = f"The side of a cell must lie between {NARROWEST:g} and {WIDEST:g} metres, not {self.resolution}."
            raise BadArgument(told)
        if not np.isfinite([*self.origin, self.rotation]).all():
            raise BadArgument(f"The origin and rotation must be finite, not {self.origin} and {self.rotation}.")
        cells.flags.writeable = False
        object.__setattr__(self, "blocked", cells)

    @property
    def size(self) -> tuple[float, float]:
        """Metres along x and along y."""
        rows, columns = self.blocked.shape
        return columns * self.resolution, rows * self.resolution

    def allowed(self, radius: float) -> NDArray[np.bool_]:
        """(rows, columns) where the centre of a robot of this radius may be; read-only.

        A cell is allowed if its middle is at least the radius and half a cell away from the middle of every blocked
        cell, those just outside the grid included. With radius 0 that is every free cell.
        """
        if not (np.isfinite(radius) and radius >= 0):
            raise BadArgument(f"The robot's radius must be a number of metres from 0 on, not {radius}.")
        if radius not in self._allowed:
            apart = ndimage.distance_transform_edt(np.pad(~self.blocked, 1))[1:-1, 1:-1]
            # Kernels are compiled for contiguous arrays.
            found = np.ascontiguousarray(apart >= radius / self.resolution + 0.5 - _TIE)
            found.flags.writeable = False
            self._allowed[radius] = found
        return self._allowed[radius]

    def parts(self, radius: float) -> NDArray[np.int32]:
        """(rows, columns) the connected part each allowed cell belongs to, from 1; 0 where the robot may not be.

        Cells are connected by their sides. That is exact: no move, turning or not, is clear from part to part.
        """
        if radius not in self._parts:
            found = np.asarray(ndimage.label(self.allowed(radius))[0], dtype=np.int32)
            found.flags.writeable = False
            self._parts[radius] = found
        return self._parts[radius]

    def part_of(self, points: ArrayLike, radius: float) -> NDArray[np.int32]:
        """(n,) the connected part each local point (n, 2) lies in; 0 where the robot may not stand.

        A point on a border lies in an allowed cell if there is one beside it, as `_grid_kernels` has it.
        """
        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * kernels.TOUCH
        near = (np.asarray(points, dtype=np.float64).reshape(-1, 1, 2) + corners) / self.resolution
        found = _looked_up(self.parts(radius), near)
        free = found > 0
        closed = (free[:, 0] == free[:, 2]) & (free[:, 1] == free[:, 3]) & (free[:, 0] != free[:, 1])
        return np.where(closed, 0, found.max(axis=1)).astype(np.int32)

    def to_local(self, points: ArrayLike) -> Array:
        """Points (…, 2) or poses (…, 3) of the map's frame in the grid's own."""
        return _turned(np.asarray(points, dtype=np.float64), -self.rotation, before=self.origin)

    def to_frame(self, points: ArrayLike) -> Array:
        """Points (…, 2) or poses (…, 3) of the grid's own frame in the map's."""
        return _turned(np.asarray(points, dtype=np.float64), self.rotation, after=self.origin)


def _looked_up(labels: NDArray[np.int32], points: Array) -> NDArray[np.int32]:
    """(…) the label of the cell each point (…, 2), in cells, is in; 0 outside."""
    rows, columns = labels.shape
    inside = (points >= 0).all(axis=-1) & (points[..., 0] < columns) & (points[..., 1] < rows)
    i, j = np.moveaxis(np.where(inside[..., None], points, 0.0).astype(np.int64), -1, 0)
    return np.where(inside, labels[j, i], 0).astype(np.int32)


def _turned(
    points: Array, angle: float, *, before: tuple[float, float] = (0.0, 0.0), after: tuple[float, float] = (0.0, 0.0)
) -> Array:
    """Points, or poses with their headings, less `before`, turned about the origin, and moved by `after`."""
    cos, sin = np.cos(angle), np.sin(angle)
    x, y = points[..., 0] - before[0], points[..., 1] - before[1]
    found = points.copy()
    found[..., 0] = cos * x - sin * y + after[0]
    found[..., 1] = sin * x + cos * y + after[1]
    found[..., 2:] += angle
    return found
