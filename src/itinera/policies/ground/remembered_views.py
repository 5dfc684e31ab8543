"""Remembered views: front views inserted into a rich map, which is read as labels by direction and distance.

A rich map is a semantic map whose labels are instances and rooms instead of 13 classes. It has the lifetimes of any
map: episodic, iterative, or known from the mesh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from itinera.mapping.config import MapConfig, MapLifetime
from itinera.mapping.egocentric_map import Columns, SemanticMaps
from itinera.mapping.known_map import known_instances
from itinera.policies.ground._polar_kernels import BINS, count_cells, label_pixels
from itinera.policies.ground.polar_views import (
    BAND_LIMITS,
    FLOOR,
    FRONT,
    NUMBERS,
    PolarReader,
    PolarViews,
    camera_optics,
    through_half,
)
from itinera.rendering.camera import Frame
from itinera.worlds import Array, World
from itinera.worlds.mesh import Mesh

RICH_MAP = MapConfig(cell=0.15, size=96, insertion=(-1.35, 0.5), readout=(-1.35, 0.75))
"""Floors are inserted too, because rooms are the labels of floors; the map reaches 7.2 m."""


class RememberedViews:
    """The views of several agents, each in a world of its own, numbered from 0."""

    def __init__(
        self, worlds: Sequence[World], lifetime: MapLifetime = MapLifetime.EPISODIC, config: MapConfig = RICH_MAP
    ) -> None:
        self.lifetime, self._config = lifetime, config
        self._maps = SemanticMaps(worlds, config)
        self._worlds = list(worlds)
        self._readers: WeakKeyDictionary[World, PolarReader] = WeakKeyDictionary()
        self._known: WeakKeyDictionary[World, Columns] = WeakKeyDictionary()
        self._free = np.full((len(worlds), BINS, 2), np.nan, np.float32)
        self._load(range(len(worlds)))

    def clear(self, index: Sequence[int]) -> None:
        """Begin an episode: episodic maps are cleared."""
        if self.lifetime is MapLifetime.EPISODIC:
            self._maps.clear(index)

    def forget(self, index: Sequence[int], worlds: Sequence[World]) -> None:
        """Begin a tour in these worlds."""
        self._maps.place(index, worlds)
        for lane, world in zip(index, worlds, strict=True):
            self._worlds[lane] = world
        self._load(index)

    def insert(self, frames: Frame, positions: Array, headings: Array, index: Sequence[int]) -> None:
        """Insert front views (n, height, width) from positions (n, 3) on the floor; the agents are of one world."""
        if not len(index):
            return
        world = self._worlds[index[0]]
        reader = self.reader(world)
        headings = np.asarray(headings, dtype=np.float64)
        around = Frame(*(channel[:, None] if len(channel) else channel for channel in frames.channels))
        self._free[list(index)] = reader.read(around, positions, headings, FRONT)[1]
        if self.lifetime is MapLifetime.KNOWN:
            return
        eyes = np.asarray(positions, dtype=np.float64) + np.array([0.0, 0.0, FRONT.height])
        _, slants, rises = camera_optics(FRONT.camera, 1)
        labels, depth = np.empty(frames.depth.shape, np.uint16), np.empty(frames.depth.shape, np.float32)
        grid = reader.grid
        label_pixels(
            frames.depth, frames.instances, frames.classes, eyes, headings, slants, rises, FLOOR, reader.offset,
            grid.origin, grid.cell, grid.floors, grid.index, labels, depth,
        )  # fmt: skip
        self._maps.insert(depth, labels, eyes, headings, FRONT.camera, index)

    def read(self, positions: Array, headings: Array, index: Sequence[int]) -> tuple[PolarViews, NDArray[np.float32]]:
        """The views of agents from where they are, and (n, 24, 2) the free distances in their last front view."""
        eyes = np.asarray(positions, dtype=np.float64) + np.array([0.0, 0.0, FRONT.height])
        maps = self._maps.read(eyes, headings, index)
        n = len(index)
        starts, room = np.empty(n + 1, np.int64), 512 * n
        while True:
            cells, labels = np.empty(room, np.uint8), np.empty(room, np.uint16)
            counts = np.empty(room, np.int32)
            total = count_cells(maps.labels, self._config.cell, np.array(BAND_LIMITS), starts, cells, labels, counts)
            if total <= room:
                break
            room = total
        weights = through_half(2 * np.log1p(counts[:total]))  # pixels are more numerous than cells
        numbers = np.zeros((n, BINS, len(NUMBERS)), np.float32)
        found = PolarViews(starts, cells[:total].copy(), labels[:total].copy(), weights, numbers)
        return found, self._free[list(index)]

    def reader(self, world: World) -> PolarReader:
        """The reader of frames of a world."""
        found = self._readers.get(world)
        if found is None:
            found = self._readers[world] = PolarReader.for_world(world)
        return found

    def _load(self, index: Sequence[int]) -> None:
        if self.lifetime is not MapLifetime.KNOWN:
            return
        for lane in index:
            world = self._worlds[lane]
            if world not in self._known:
                self._known[world] = known_labels(world, self.reader(world), self._config)
            self._maps.load([lane], [self._known[world]])


def known_labels(world: World, reader: PolarReader, config: MapConfig = RICH_MAP) -> Columns:
    """The known rich map of a world: its instances, and the rooms of its floors."""
    mesh = world.mesh
    assert mesh is not None
    labels = mesh.instances.copy()
    floor = np.flatnonzero((labels == 0) & (mesh.classes == FLOOR))
    regions = reader.grid.lookup(mesh.corners[floor].astype(np.float64).mean(axis=1))
    labels[floor] = np.where(regions >= 0, reader.offset + regions, 0)
    kept = labels > 0
    labeled = Mesh(mesh.vertices, mesh.faces[kept], mesh.classes[kept], labels[kept], mesh.colors[kept])
    return known_instances(replace(world, mesh=labeled), config)
