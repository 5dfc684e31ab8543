"""The walkable ground of a mesh: the grid cells, in layers, in which a robot's center may be.

Any triangle mesh works, generated or scanned: floors must face up and walls be upright. Start with `find_ground`;
`Surface` measures distances on the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.worlds import _ground_kernels as kernels
from itinera.worlds.mesh import Mesh
from itinera.worlds.space import Array

# A back face overhead closes something solid, unless it is so high that it may be the floor of a storey
# whose ceiling is missing from the mesh.
_HIGHEST_SOLID = 2.2
_SMOOTHING = 0.15  # metres to each side: stairs become ramps, as a walking body follows them
_LEVEL_SLOPE = 0.05  # rise per metre; a flatter slope lengthens a path by less than 0.13 %
MAX_CELLS = 1 << 23  # of a mesh seen from above: 145 m on a side at 5 cm; they take 60 bytes each
_MARGIN = 2  # cells around the mesh, so that no neighbor index leaves the grid


@dataclass(frozen=True, eq=False)
class Ground:
    """Walkable cells, row by row and from low to high within a column: n cells in w x h columns."""

    origin: Array  # (2,) the low corner of the grid, metres
    size: float  # the side of a cell, metres
    climb: float  # the highest step between neighbouring cells, metres
    shape: tuple[int, int]  # w columns along x, h along y
    starts: NDArray[np.int32]  # (w * h + 1,) the cells of column i + w * j are starts[c] up to starts[c + 1]
    heights: Array  # (n,) metres, stairs smoothed to ramps
    slopes: NDArray[np.float32]  # (n, 2) rise per metre along x and y; 0 where nearly level
    links: NDArray[np.int32]  # (n, 10) neighbor at +x, +y, -x, -y, then the four diagonals; -1 for none; then i, j
    islands: NDArray[np.int32]  # (n,) the connected component of each cell; 0 is the largest

    def __len__(self) -> int:
        return len(self.heights)

    @property
    def columns(self) -> NDArray[np.int32]:
        """(n, 2) i and j of each cell."""
        return self.links[:, 8:]

    def extent(self, point: Array) -> float:
        """An upper bound on the distance from the point to any cell, metres."""
        corners = np.array([self.origin, self.origin + np.array(self.shape) * self.size])
        across = np.abs(corners - point[:2]).max(axis=0)
        return float(np.linalg.norm(across) + np.abs(self.heights - point[2]).max())


def find_ground(mesh: Mesh, *, radius: float, height: float, cell: float, climb: float, slope: float) -> Ground:
    """The ground of a mesh for a robot of this radius and height; see `Surface.from_mesh`."""
    faces = np.asarray(mesh.corners, dtype=np.float64)
    kinds = _classify_faces(faces, slope)
    if not (kinds == kernels.WALKABLE).any():
        raise BadArgument(
            "No face of the mesh points up, so it has no floor. Check that z is up and faces are counter-clockwise."
        )
    low = np.floor(faces[..., :2].min(axis=(0, 1)) / cell) - _MARGIN
    across = np.ceil(faces[..., :2].max(axis=(0, 1)) / cell) - low + _MARGIN
    if not np.prod(across) <= MAX_CELLS:  # also if a coordinate overflows
        size = " x ".join(f"{metres:.3g}" for metres in across * cell)
        raise BadArgument(f"The mesh has {size} m, too much for cells of {cell:g} m. Check that its units are metres.")
    wide, tall = (int(n) for n in across)
    faces[..., :2] = faces[..., :2] / cell - low
    starts, cells, heights, blocked, boxes = _find_levels(
        faces, kinds, wide, tall, np.array([climb, height, _HIGHEST_SOLID])
    )
    links = np.empty((len(cells), 10), dtype=np.int32)
    kernels.link_levels(starts, cells, heights, blocked, wide, climb, links)
    closed = np.zeros(len(cells), dtype=np.bool_)
    kernels.close_to_obstacles(cells, blocked, boxes, links, wide, radius / cell, closed)
    if closed.all():
        cause = "radius" if not blocked.all() else "height"
        raise BadArgument(
            f"A robot of radius {radius:g} m and height {height:g} m fits nowhere in the mesh: "
            f"no floor leaves room for its {cause}. Use a smaller robot."
        )
    cells, heights = cells[~closed], heights[~closed]
    return _link_cells(low * cell, cell, (wide, tall), cells, heights, climb)


def _classify_faces(faces: Array, slope: float) -> NDArray[np.int8]:
    """(f,) the orientation class of each face."""
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    up = np.divide(normals[:, 2], lengths, out=np.zeros(len(faces)), where=lengths > 0)
    kinds = np.where(up > 0.1, kernels.RISING, np.where(up < -0.1, kernels.HANGING, kernels.UPRIGHT))
    return np.where(up >= np.cos(slope) - 1e-6, kernels.WALKABLE, kinds).astype(np.int8)


def _find_levels(
    faces: Array, kinds: NDArray[np.int8], wide: int, tall: int, reach: Array
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32], NDArray[np.bool_], NDArray[np.float32]]:
    """Every floor level of every column, whether it is blocked, and the obstacle's box within the cell."""
    room = 4 * len(faces) + 4 * min(wide * tall, 1 << 20)  # if more is needed, the kernel says how much
    while True:
        cells, owners = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
        extents = np.empty((room, 6), dtype=np.float32)
        n = kernels.pieces_in_cells(faces, wide, cells, owners, extents)
        if n <= room:
            break
        room = n
    starts, order = np.zeros(wide * tall + 1, dtype=np.int32), np.empty(n, dtype=np.int32)
    kernels.gather_by_cell(cells[:n], starts, order)
    floors = int((kinds[owners[:n]] == kernels.WALKABLE).sum())
    counts, homes = np.empty(wide * tall, dtype=np.int32), np.empty(floors, dtype=np.int32)
    heights, blocked = np.empty(floors, dtype=np.float32), np.empty(floors, dtype=np.bool_)
    boxes = np.empty((floors, 4), dtype=np.float32)
    n = kernels.find_levels(starts, order, owners, extents, kinds, reach, counts, homes, heights, blocked, boxes)
    return _row_starts(counts), homes[:n], heights[:n], blocked[:n], boxes[:n]


def _row_starts(counts: NDArray[np.int32]) -> NDArray[np.int32]:
    starts = np.zeros(len(counts) + 1, dtype=np.int32)
    np.cumsum(counts, out=starts[1:])
    return starts


def _link_cells(
    origin: Array,
    size: float,
    shape: tuple[int, int],
    cells: NDArray[np.int32],
    levels: NDArray[np.float32],
    climb: float,
) -> Ground:
    """The ground made of the remaining cells, linked to their neighbors."""
    wide, tall = shape
    starts = _row_starts(np.bincount(cells, minlength=wide * tall).astype(np.int32))
    links = np.empty((len(cells), 10), dtype=np.int32)
    kernels.link_levels(starts, cells, levels, np.zeros(len(cells), dtype=np.bool_), wide, climb, links)
    heights, slopes = _smooth_stairs(levels.astype(np.float64), links, size)
    return Ground(origin, size, climb, shape, starts, heights, slopes, links, _islands(links))


def _smooth_stairs(levels: Array, links: NDArray[np.int32], size: float) -> tuple[Array, NDArray[np.float32]]:
    heights, across = levels, np.empty_like(levels)
    reach = max(1, round(_SMOOTHING / size))
    for along in (0, 1, 0, 1):
        kernels.smooth_heights(heights, links, reach, along, across)
        heights, across = across, np.empty_like(levels)
    slopes = np.empty((len(levels), 2), dtype=np.float32)
    kernels.find_slopes(heights, links, size, _LEVEL_SLOPE, slopes)
    return heights, slopes


def _islands(links: NDArray[np.int32]) -> NDArray[np.int32]:
    found = np.full(len(links), -1, dtype=np.int32)
    n = kernels.find_islands(links, found)
    # Largest first; the first met wins a tie.
    rank = np.empty(n, dtype=np.int32)
    rank[np.argsort(-np.bincount(found, minlength=n), kind="stable")] = np.arange(n, dtype=np.int32)
    return rank[found]
