"""Maps as the released code of Iterative VLN makes them: a point cloud, with the fault in its thinning.

`MapConfig(variant="released")` selects it, for comparison; it is some fifty times slower than `SemanticMaps`, whose
interface it has. What differs: points keep their exact x and y; one column serves all heights, so that the upper floor
of a house erases the lower one; and thinning confuses columns. It numbers the columns of a rectangle by
`row * last + column`, where `last` is the index of the last column instead of the number of columns, so the last column
of a row is the first of the next; and likewise the last row of an agent is the first of the next agent. Of two points
in one such column only the higher one stays. Where the released code leaves the order of writing to the GPU, the
highest point wins here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.mapping.config import MapConfig
from itinera.mapping.egocentric_map import (
    Columns,
    EgocentricMaps,
    check_table,
    check_views,
    parse_index,
    parse_positions,
    unit_vectors,
)
from itinera.mapping.labels import PAPER_LEGEND, Table
from itinera.records.map_recording import Legend
from itinera.rendering.camera import Camera
from itinera.worlds import Array, World


class PointCloudMaps:
    """The maps of several agents as the released code makes them; see `SemanticMaps` for the methods."""

    def __init__(
        self, worlds: Sequence[World], config: MapConfig | None = None, *, legend: Legend = PAPER_LEGEND
    ) -> None:
        self.legend = legend
        self.config = MapConfig(variant="released") if config is None else config
        self._count = len(worlds)
        self._points = np.empty((0, 3))
        self._labels = np.empty(0, dtype=np.uint16)
        self._lanes = np.empty(0, dtype=np.int64)  # the agent of each point

    def __len__(self) -> int:
        return self._count

    def place(self, index: Sequence[int] | NDArray[np.integer], worlds: Sequence[World]) -> None:
        self.clear(index)

    def insert(
        self,
        depth: NDArray[np.float32],
        labels: NDArray[Any],
        positions: ArrayLike,
        headings: ArrayLike,
        camera: Camera,
        index: Sequence[int] | NDArray[np.integer] | None = None,
        *,
        elevations: ArrayLike = 0.0,
        table: Table | None = None,
    ) -> None:
        lanes = parse_index(index, self._count)
        depth, labels, eyes, bases = check_views(depth, labels, positions, headings, elevations, camera, len(lanes))
        table = check_table(labels, table)
        seen = (depth > self.config.depth[0]) & (depth < self.config.depth[1])
        view, v, u = np.nonzero(seen)
        ahead = bases[view, 2]
        ahead += ((v + 0.5 - 0.5 * camera.height) / camera.focal)[:, None] * bases[view, 1]
        ahead += ((u + 0.5 - 0.5 * camera.width) / camera.focal)[:, None] * bases[view, 0]
        points = eyes[view] + depth[seen].astype(np.float64)[:, None] * ahead
        low, high = eyes[view, 2] + self.config.insertion[0], eyes[view, 2] + self.config.insertion[1]
        inside = (points[:, 2] > low) & (points[:, 2] < high)
        kinds = np.append(table, np.uint16(0))[np.minimum(labels[seen][inside].astype(np.int64), len(table))]
        new = points[inside], kinds, lanes[view][inside]
        kept = find_highest(new[0], new[2], self.config.column)
        old = self._points, self._labels, self._lanes
        points, kinds, owners = (np.concatenate([a, b[kept]]) for a, b in zip(old, new, strict=True))
        kept = find_highest(points, owners, self.config.column)
        self._points, self._labels, self._lanes = points[kept], kinds[kept], owners[kept]

    def read(
        self,
        positions: ArrayLike,
        headings: ArrayLike,
        index: Sequence[int] | NDArray[np.integer] | None = None,
        *,
        out: EgocentricMaps | None = None,
    ) -> EgocentricMaps:
        lanes, eyes, config = parse_index(index, self._count), parse_positions(positions), self.config
        if out is None:
            shape = (len(lanes), config.size, config.size)
            out = EgocentricMaps(np.empty(shape, dtype=np.uint8), np.empty(shape, dtype=np.uint16))
        out = replace(out, cell=self.config.cell, legend=self.legend)
        out.occupancy[:], out.labels[:] = 0, 0
        directions = unit_vectors(headings, len(lanes))
        for n, lane in enumerate(lanes.tolist()):
            z = self._points[:, 2]
            low, high = eyes[n, 2] + config.readout[0], eyes[n, 2] + config.readout[1]
            near = np.flatnonzero((self._lanes == lane) & (z > low) & (z < high))
            near = near[np.argsort(z[near], kind="stable")]  # what is written last stays
            dx, dy = (self._points[near, :2] - eyes[n, :2]).T
            cosine, sine = directions[n]
            right = np.rint((dx * sine - dy * cosine + config.reach) / config.cell).astype(np.int64)
            behind = np.rint((config.reach - (dx * cosine + dy * sine)) / config.cell).astype(np.int64)
            inside = (right >= 0) & (behind >= 0) & (right < config.size) & (behind < config.size)
            out.occupancy[n, behind[inside], right[inside]] = 1
            inside &= self._labels[near] > 0
            out.labels[n, behind[inside], right[inside]] = self._labels[near][inside]
        return out

    def clear(self, index: Sequence[int] | NDArray[np.integer] | None = None) -> None:
        kept = ~np.isin(self._lanes, parse_index(index, self._count))
        self._points, self._labels, self._lanes = self._points[kept], self._labels[kept], self._lanes[kept]

    def load(self, index: Sequence[int] | NDArray[np.integer], known: Sequence[Columns]) -> None:
        self.clear(index)
        for lane, one in zip(parse_index(index, self._count).tolist(), known, strict=True):
            points, labels = list_points(one, self.config.column)
            self._points = np.concatenate([self._points, points])
            self._labels = np.concatenate([self._labels, labels])
            self._lanes = np.append(self._lanes, np.full(len(points), lane))


def find_highest(points: Array, lanes: NDArray[np.int64], column: float) -> NDArray[np.int64]:
    """The indices of the highest point of every column, in increasing order, with the fault of the released code."""
    if not len(points):
        return np.empty(0, dtype=np.int64)
    rows, columns = np.rint(-points[:, 1] / column).astype(np.int64), np.rint(points[:, 0] / column).astype(np.int64)
    for lane in np.unique(lanes):
        here = lanes == lane
        rows[here] -= rows[here].min()
        columns[here] -= columns[here].min()
    flat = (lanes * rows.max() + rows) * columns.max() + columns  # should be (… * (rows.max() + 1) + …) and so on
    order = np.lexsort((-points[:, 2], flat))
    first = np.append(True, np.diff(flat[order]) != 0)
    return np.sort(order[first])


def list_points(columns: Columns, column: float) -> tuple[Array, NDArray[np.uint16]]:
    """The points (n, 3) of columns at their centers, and their labels (n,)."""
    parts: list[Array] = []
    kinds: list[NDArray[np.uint16]] = []
    for k, (i0, j0, *_) in enumerate(columns.grids.grids.tolist()):
        heights, labels = columns.storey(k)
        j, i = np.nonzero(np.isfinite(heights))
        parts.append(np.column_stack([(i + i0) * column, (j + j0) * column, heights[j, i]]))
        kinds.append(labels[j, i])
    return np.concatenate([np.empty((0, 3)), *parts]), np.concatenate([np.empty(0, np.uint16), *kinds])
