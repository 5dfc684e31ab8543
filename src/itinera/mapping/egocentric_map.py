"""Semantic maps of many agents: columns in the frame of the world, read as egocentric maps. Start with `SemanticMaps`.

A column is a square of 5 cm; it keeps the height and label of the highest point inserted so far, as the point cloud of
the released code does, but at its center: a point moves by at most 2.5 cm. Every storey has its own columns
(`storeys.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.errors import BadArgument
from itinera.mapping import _kernels as kernels
from itinera.mapping.config import MAX_LABEL, MapConfig
from itinera.mapping.labels import PAPER_LEGEND, Table
from itinera.mapping.storeys import StoreyGrids, make_storey_grids
from itinera.records.map_recording import Legend
from itinera.rendering.camera import Camera
from itinera.worlds import Array, World


@dataclass(frozen=True, eq=False)
class EgocentricMaps:
    """What n agents have mapped around themselves: the agent in the middle cell, ahead towards lower rows."""

    occupancy: NDArray[np.uint8]  # (n, size, size) 1 where anything was seen, else 0
    labels: NDArray[np.uint16]  # (n, size, size) the highest label other than 0 in each cell
    cell: float = 0.1  # metres along the side of a cell
    legend: Legend = PAPER_LEGEND  # the name and color of each label; empty if they are numbers

    def __len__(self) -> int:
        return len(self.occupancy)

    def __getitem__(self, index: Any) -> EgocentricMaps:
        return replace(self, occupancy=self.occupancy[index], labels=self.labels[index])


@dataclass(frozen=True, eq=False)
class Columns:
    """All columns of a world's map, as `StoreyGrids` describes them."""

    grids: StoreyGrids
    heights: NDArray[np.float32]  # (k,) of the highest point, metres; -inf where there is none
    labels: NDArray[np.uint16]  # (k,)

    def storey(self, index: int) -> tuple[NDArray[np.float32], NDArray[np.uint16]]:
        """The heights and labels (rows along y, columns along x) of one storey."""
        _, _, width, height, start = self.grids.grids[index].tolist()
        part = slice(start, start + width * height)
        return self.heights[part].reshape(height, width), self.labels[part].reshape(height, width)


class SemanticMaps:
    """The maps of several agents, numbered from 0, each in a world of its own.

    `index` are the numbers of the agents that a call is about, by default all; arrays have a row for each of them.
    `legend` is that of the labels.
    """

    def __init__(
        self, worlds: Sequence[World], config: MapConfig | None = None, *, legend: Legend = PAPER_LEGEND
    ) -> None:
        self.legend = legend
        self.config = MapConfig() if config is None else config
        self._known_grids: WeakKeyDictionary[World, StoreyGrids] = WeakKeyDictionary()
        self._worlds: list[StoreyGrids] = [StoreyGrids(np.empty(0), np.empty((0, 5), np.int64), np.empty(0))] * len(
            worlds
        )
        self._bounds = np.full((len(worlds), 2), np.inf)
        self._grids = np.zeros((len(worlds), 1, 5), dtype=np.int64)
        self._dirty = np.zeros((len(worlds), 1, 4), dtype=np.int64)
        self._heights = np.full((len(worlds), 0), kernels.NOTHING)
        self._labels = np.zeros((len(worlds), 0), dtype=np.uint16)
        self.place(range(len(worlds)), worlds)

    def __len__(self) -> int:
        return len(self._worlds)

    def place(self, index: Sequence[int] | NDArray[np.integer], worlds: Sequence[World]) -> None:
        """Give these agents empty maps of other worlds."""
        lanes = parse_index(index, len(self))
        self._clear(lanes)
        found = [self._find_grids(world) for world in worlds]
        self._make_room(max((len(one.grids) for one in found), default=0), max((one.size for one in found), default=0))
        for lane, one in zip(lanes.tolist(), found, strict=True):
            storeys = len(one.grids)
            self._worlds[lane] = one
            self._bounds[lane], self._grids[lane] = np.inf, 0
            self._bounds[lane, : storeys + 1], self._grids[lane, :storeys] = one.bounds, one.grids
            self._dirty[lane] = 0
        self._clear(lanes)

    def insert(
        self,
        depth: NDArray[np.float32],  # (n, h, w) metres along the optical axis
        labels: NDArray[Any],  # (n, h, w) integers
        positions: ArrayLike,  # (n, 3) of the cameras
        headings: ArrayLike,  # (n,)
        camera: Camera,
        index: Sequence[int] | NDArray[np.integer] | None = None,
        *,
        elevations: ArrayLike = 0.0,
        table: Table | None = None,
    ) -> None:
        """Insert views of depth and labels; with a table, from `labels.paper_table`, it gives the label of each."""
        lanes, config = parse_index(index, len(self)), self.config
        depth, labels, eyes, bases = check_views(depth, labels, positions, headings, elevations, camera, len(lanes))
        limits, table = np.array([*config.depth, *config.insertion]), check_table(labels, table)
        kernels.insert_views(
            depth,
            labels if labels.dtype == np.uint8 else labels.astype(np.int32, copy=False),  # one kernel for each
            table,
            eyes,
            bases,
            camera.focal,
            lanes,
            config.column,
            limits,
            self._bounds,
            self._grids,
            self._heights,
            self._labels,
            self._dirty,
        )

    def read(
        self,
        positions: ArrayLike,  # (n, 3) of the cameras
        headings: ArrayLike,  # (n,)
        index: Sequence[int] | NDArray[np.integer] | None = None,
        *,
        out: EgocentricMaps | None = None,
    ) -> EgocentricMaps:
        """The egocentric maps; with `out`, they are written into its arrays, which saves allocating memory."""
        lanes, eyes = parse_index(index, len(self)), parse_positions(positions)
        size = self.config.size
        if out is None:
            shape = (len(lanes), size, size)
            out = EgocentricMaps(np.empty(shape, dtype=np.uint8), np.empty(shape, dtype=np.uint16))
        out = replace(out, cell=self.config.cell, legend=self.legend)
        if len(out) != len(lanes) or len(eyes) != len(lanes):
            raise BadArgument(f"{len(lanes)} maps need as many positions; got {len(eyes)}, and {len(out)} to write to.")
        kernels.read_maps(
            eyes,
            unit_vectors(headings, len(eyes)),
            lanes,
            self.config.column,
            self.config.cell,
            np.array(self.config.readout),
            self._bounds,
            self._grids,
            self._heights,
            self._labels,
            self._dirty,
            out.occupancy,
            out.labels,
        )
        return out

    def clear(self, index: Sequence[int] | NDArray[np.integer] | None = None) -> None:
        """Empty the maps."""
        self._clear(parse_index(index, len(self)))

    def load(self, index: Sequence[int] | NDArray[np.integer], known: Sequence[Columns]) -> None:
        """Replace the maps by known ones of the same worlds."""
        lanes = parse_index(index, len(self))
        for lane, one in zip(lanes.tolist(), known, strict=True):
            grids = self._worlds[lane]
            if not (np.array_equal(one.grids.grids, grids.grids) and np.array_equal(one.grids.bounds, grids.bounds)):
                raise BadArgument(f"The known map for agent {lane} is of another world, or of another configuration.")
            storeys = len(grids.grids)
            self._heights[lane, : grids.size], self._labels[lane, : grids.size] = one.heights, one.labels
            self._dirty[lane, :storeys] = 0
            self._dirty[lane, :storeys, 1::2] = grids.grids[:, 2:4]

    def columns(self, lane: int) -> Columns:
        """A copy of the columns of one agent's map."""
        grids = self._worlds[lane]
        return Columns(grids, self._heights[lane, : grids.size].copy(), self._labels[lane, : grids.size].copy())

    def _find_grids(self, world: World) -> StoreyGrids:
        found = self._known_grids.get(world)
        if found is None:
            found = self._known_grids[world] = make_storey_grids(world, self.config)
        return found

    def _make_room(self, storeys: int, columns: int) -> None:
        count, old_storeys = self._grids.shape[:2]
        if storeys > old_storeys:
            more = ((0, 0), (0, storeys - old_storeys), (0, 0))
            self._grids, self._dirty = np.pad(self._grids, more), np.pad(self._dirty, more)
            self._bounds = np.pad(self._bounds, more[:2], constant_values=np.inf)
        if columns > self._heights.shape[1]:
            heights = np.full((count, columns), kernels.NOTHING)
            labels = np.zeros((count, columns), dtype=np.uint16)
            heights[:, : self._heights.shape[1]], labels[:, : self._labels.shape[1]] = self._heights, self._labels
            self._heights, self._labels = heights, labels

    def _clear(self, lanes: NDArray[np.int64]) -> None:
        kernels.clear_maps(lanes, self._grids, self._heights, self._labels, self._dirty)


def camera_bases(count: int, headings: ArrayLike, elevations: ArrayLike = 0.0) -> Array:
    """(n, 3, 3) the directions right, down and forward of each camera, as the rasterizer has them."""
    heading, elevation = unit_vectors(headings, count), unit_vectors(elevations, count)
    bases = np.zeros((count, 3, 3))
    bases[:, 0, 0], bases[:, 0, 1] = heading[:, 1], -heading[:, 0]
    bases[:, 1, :2], bases[:, 1, 2] = elevation[:, 1:] * heading, -elevation[:, 0]
    bases[:, 2, :2], bases[:, 2, 2] = elevation[:, :1] * heading, elevation[:, 1]
    return bases


def unit_vectors(angles: ArrayLike, count: int) -> Array:
    """(n, 2) the cosine and sine of each angle, rounded to 12 digits: the last ones differ between machines."""
    all_angles = np.empty(count)
    try:
        all_angles[:] = angles
    except ValueError as error:
        raise BadArgument(f"{count} positions need {count} angles, or one for all.") from error
    if not np.isfinite(all_angles).all():
        raise BadArgument("A heading or elevation is not finite.")
    return np.column_stack([np.cos(all_angles), np.sin(all_angles)]).round(12)


def parse_index(index: Sequence[int] | NDArray[np.integer] | None, count: int) -> NDArray[np.int64]:
    """The numbers of the agents that a call is about; all if None."""
    if index is None:
        return np.arange(count)
    lanes = np.array(index, dtype=np.int64).reshape(-1)
    if len(lanes) and not (lanes.min() >= 0 and lanes.max() < count):
        raise BadArgument(f"Maps are numbered from 0 to {count - 1}; got {lanes.min()} to {lanes.max()}.")
    return lanes


def check_views(
    depth: NDArray[Any],
    labels: NDArray[Any],
    positions: ArrayLike,
    headings: ArrayLike,
    elevations: ArrayLike,
    camera: Camera,
    count: int,
) -> tuple[NDArray[np.float32], NDArray[Any], Array, Array]:
    """The depth, labels, positions and bases of a camera's views, one for each of `count` maps."""
    eyes = parse_positions(positions)
    shape = (count, camera.height, camera.width)
    if not np.shape(depth) == np.shape(labels) == shape or len(eyes) != count:
        raise BadArgument(
            f"{count} maps need depth and labels of shape {shape} and as many positions; "
            f"got {np.shape(depth)}, {np.shape(labels)} and {len(eyes)} positions."
        )
    bases = camera_bases(count, headings, elevations)
    return np.ascontiguousarray(depth, dtype=np.float32), np.ascontiguousarray(labels), eyes, bases


def parse_positions(positions: ArrayLike) -> Array:
    """(n, 3) the positions, which must be finite."""
    eyes = np.array(positions, dtype=np.float64, order="C").reshape(-1, 3)
    if not np.isfinite(eyes).all():
        raise BadArgument("A position is not finite.")
    return eyes


_SAME = np.arange(MAX_LABEL + 1, dtype=np.uint16)


def check_table(labels: NDArray[Any], table: Table | None) -> Table:
    """The table; without one, every label is itself."""
    if labels.dtype.kind not in "ui":
        raise BadArgument(f"labels must be integers, not {labels.dtype}.")
    if labels.dtype.kind == "i" and labels.size and labels.min() < 0:
        raise BadArgument(f"labels must not be negative; the lowest is {labels.min()}.")
    if labels.dtype.itemsize > 2 and labels.size and labels.max() > MAX_LABEL:
        raise BadArgument(f"labels must be at most {MAX_LABEL}; the highest is {labels.max()}.")
    return _SAME if table is None else np.ascontiguousarray(table, dtype=np.uint16)
