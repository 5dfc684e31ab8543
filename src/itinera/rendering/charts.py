"""Charts of a lightmap: connected faces of an object in one plane share a grid of texels.

Grids lie on one lattice through the whole world, so that adjacent charts of a plane agree where they meet. A chart
shorter than a texel in one direction has one row of texels in its middle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from itinera.rendering.textures import dominant_axes
from itinera.worlds.mesh import Mesh
from itinera.worlds.space import Array

SPACING = 0.16  # metres between texels
MAX_TEXELS = 1 << 22  # of a mesh; the spacing is doubled until there are no more, as for a city of large faces
SMALL = 1.5  # times the spacing; shorter charts have one texel
U_AXES, V_AXES = np.array([1, 0, 0]), np.array([2, 2, 1])  # by dominant axis, as in `texture_coordinates`


@dataclass(frozen=True, eq=False)
class Charts:
    """The charts of a mesh. Texel (i, j) of chart c is number starts[c] + j * sizes[c, 0] + i."""

    faces: NDArray[np.int64]  # (f,) the chart of each face
    normals: Array  # (c, 3)
    axes: NDArray[np.int64]  # (c,) dominant axis
    bounds: Array  # (c, 4) lowest u, v and highest u, v, metres
    starts: NDArray[np.int64]  # (c,) first texel
    sizes: NDArray[np.int64]  # (c, 2) texels along u, v
    origins: Array  # (c, 2) texel coordinates are u * scale - origin
    scales: Array  # (c, 2) texels per metre; 0 where there is one
    areas: Array  # (c,) square metres
    spacing: float  # metres between texels

    @property
    def count(self) -> int:
        """The number of texels."""
        return int((self.sizes[:, 0] * self.sizes[:, 1]).sum())


def make_charts(mesh: Mesh, normals: Array) -> Charts:
    """The charts of a mesh whose faces have these normals (f, 3)."""
    corners = mesh.corners.astype(np.float64)
    faces = _group_faces(mesh, normals, corners)
    count = int(faces.max(initial=-1)) + 1
    first = np.zeros(count, dtype=np.int64)
    first[faces[::-1]] = np.arange(len(faces))[::-1]
    axes = dominant_axes(normals)[first]
    low, high = (_extremes(corners, faces, axes, count, reduce) for reduce in (np.minimum, np.maximum))
    spacing = SPACING
    origins, sizes = _lay_texels(low, high, spacing)
    while (sizes[:, 0] * sizes[:, 1]).sum() > max(MAX_TEXELS, count):
        spacing *= 2
        origins, sizes = _lay_texels(low, high, spacing)
    scales = np.where(high - low < SMALL * spacing, 0.0, 1 / spacing)
    ends = np.cumsum(sizes[:, 0] * sizes[:, 1])
    doubled = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    areas = np.bincount(faces, 0.5 * doubled, minlength=count).astype(np.float64)
    starts = ends - sizes[:, 0] * sizes[:, 1]
    return Charts(faces, normals[first], axes, np.hstack([low, high]), starts, sizes, origins, scales, areas, spacing)


def _lay_texels(low: Array, high: Array, spacing: float) -> tuple[Array, NDArray[np.int64]]:
    """(c, 2) the first texel and (c, 2) the numbers of texels of charts with these bounds."""
    single = high - low < SMALL * spacing
    # Rounded, because the last bit of a quotient must not move a chart to another row of the lattice.
    origins = np.where(single, 0.0, np.floor((low / spacing).round(6)))
    sizes = np.where(single, 1, np.ceil((high / spacing).round(6)) - origins + 1).astype(np.int64)
    return origins, sizes


def texel_positions(charts: Charts, offsets: Array) -> tuple[NDArray[np.int64], Array]:
    """(n,) the chart and (n, 3) the position of each texel; offsets (c,) are those of the charts' planes."""
    lengths = charts.sizes[:, 0] * charts.sizes[:, 1]
    owners = np.repeat(np.arange(len(lengths)), lengths)
    within = np.arange(len(owners)) - charts.starts[owners]
    steps = np.column_stack([within % charts.sizes[owners, 0], within // charts.sizes[owners, 0]])
    middle = 0.5 * (charts.bounds[:, :2] + charts.bounds[:, 2:])
    places = np.where(charts.scales[owners] > 0, (steps + charts.origins[owners]) * charts.spacing, middle[owners])
    axes = charts.axes[owners]
    normals, rows = charts.normals[owners], np.arange(len(owners))
    points = np.zeros((len(owners), 3))
    points[rows, U_AXES[axes]], points[rows, V_AXES[axes]] = places.T
    # The third coordinate follows from the plane.
    known = np.einsum("ni,ni->n", normals, points)
    points[rows, axes] = (offsets[owners] - known) / normals[rows, axes]
    return owners, points.round(9)


def chart_offsets(charts: Charts, mesh: Mesh) -> Array:
    """(c,) the offset of the plane of each chart: normal . point."""
    first = np.zeros(len(charts.starts), dtype=np.int64)
    first[charts.faces[::-1]] = np.arange(len(charts.faces))[::-1]
    points = mesh.corners[first, 0].astype(np.float64)
    offsets: Array = np.einsum("ci,ci->c", charts.normals, points).round(9)
    return offsets


def _group_faces(mesh: Mesh, normals: Array, corners: Array) -> NDArray[np.int64]:
    """(f,) the chart of each face: connected through corners, in one plane, of one object."""
    if len(normals) == 0:
        return np.empty(0, dtype=np.int64)
    # Odd shifts, because modeled coordinates end in a zero or a five.
    offsets = np.einsum("fi,fi->f", normals, corners[:, 0])
    keys = np.column_stack([normals * 300 + 0.0137, offsets * 500 + 0.0137]).round(4)
    planes = _number_rows(np.column_stack([np.floor(keys).astype(np.int64), mesh.instances, mesh.classes]))
    points = _number_rows(np.floor((corners.reshape(-1, 3) * 1000 + 0.137).round(3)).astype(np.int64))
    joints = _number_rows(np.column_stack([np.repeat(planes, 3), points]))
    count = len(normals)
    ends = np.repeat(np.arange(count), 3), count + joints
    graph = coo_array((np.ones(3 * count, dtype=np.int8), ends), shape=(count + joints.max() + 1,) * 2)
    _, labels = connected_components(graph, directed=False)
    return np.unique(labels[:count], return_inverse=True)[1].astype(np.int64)


def _number_rows(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n,) equal numbers for equal rows (n, k)."""
    order = np.lexsort(rows.T)
    ordered = rows[order]
    new = np.concatenate([[False], (ordered[1:] != ordered[:-1]).any(axis=1)])
    numbers = np.empty(len(rows), dtype=np.int64)
    numbers[order] = np.cumsum(new)
    return numbers


def _extremes(corners: Array, faces: NDArray[np.int64], axes: NDArray[np.int64], count: int, reduce: np.ufunc) -> Array:
    """(c, 2) the lowest or highest u and v of the corners of each chart."""
    found = np.full((count, 2), np.inf if reduce is np.minimum else -np.inf)
    rows = np.arange(len(corners))[:, None]
    for k, plane in enumerate((U_AXES, V_AXES)):
        of_corners = corners[rows, np.arange(3), plane[axes[faces]][:, None]]
        reduce.at(found[:, k], faces, reduce.reduce(of_corners, axis=1))
    return found
