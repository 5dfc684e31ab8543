"""The columns of a world: one grid per storey, so that what is seen upstairs hides nothing downstairs.

A point belongs to a storey by its height. The storey of floor k reaches from the top of the read-out band of floor
k - 1 to the top of its own. So an agent on floor k reads one grid, and nothing in it is too high to be read; an agent
on stairs reads two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.mapping.config import MapConfig
from itinera.worlds import Array, World
from itinera.worlds.ground import Ground
from itinera.worlds.surface import Surface

LEVEL = 0.1  # metres: floors closer than this are one level
MIN_AREA = 1.0  # square metres of level ground that make a storey


@dataclass(frozen=True, eq=False)
class StoreyGrids:
    """The column grids of a world, stored one after another. Column (i, j) is centered at (i, j) * config.column."""

    bounds: Array  # (storeys + 1,) a point belongs to storey k if bounds[k] <= z < bounds[k + 1]; -inf to inf
    grids: NDArray[np.int64]  # (storeys, 5) first i, first j, width along x, height along y, index of the first column
    floors: Array  # (storeys,) the height of the floor of each, metres

    @property
    def size(self) -> int:
        """The number of columns of all storeys."""
        return int((self.grids[:, 2] * self.grids[:, 3]).sum())


def make_storey_grids(world: World, config: MapConfig) -> StoreyGrids:
    """The grids of a world, just large enough for all that can be read from its ground."""
    if not isinstance(world.space, Surface):
        raise BadArgument(f"World {world.id} has no surface to map. Use a scene or a house of a Hearth season.")
    ground = world.space.ground
    floors = find_floors(ground, separation=config.readout[1] - config.readout[0])
    top = config.camera_height + config.readout[1]
    bounds = np.concatenate([[-math.inf], floors[:-1] + top, [math.inf]])
    reach = config.reach * math.sqrt(2) + config.cell
    grids, start = np.empty((len(floors), 5), dtype=np.int64), 0
    for k in range(len(floors)):
        low, high = _reachable(ground, bounds[k] - top, bounds[k + 1] - config.camera_height - config.readout[0], reach)
        if world.mesh is not None:
            low = np.maximum(low, world.mesh.vertices[:, :2].min(axis=0))
            high = np.minimum(high, world.mesh.vertices[:, :2].max(axis=0))
        first = np.floor(low / config.column).astype(np.int64)
        shape = np.ceil(high / config.column).astype(np.int64) - first + 1
        grids[k] = *first, *shape, start
        start += int(shape.prod())
    return StoreyGrids(bounds, grids, floors)


def find_floors(ground: Ground, *, separation: float) -> Array:
    """The heights of the floors, increasing: levels with the most ground, at least `separation` metres apart."""
    flat = ground.heights[(ground.slopes == 0).all(axis=1)]
    heights = flat if len(flat) else ground.heights
    levels, counts = np.unique(np.rint(heights / LEVEL).astype(np.int64), return_counts=True)
    floors: list[float] = []
    for index in np.lexsort((levels, -counts)):
        level, area = float(levels[index] * LEVEL), counts[index] * ground.size**2
        if not floors or (area >= MIN_AREA and min(abs(level - floor) for floor in floors) >= separation):
            floors.append(level)
    return np.array(sorted(floors))


def _reachable(ground: Ground, low: float, high: float, reach: float) -> tuple[Array, Array]:
    """The corners of the rectangle that is read from ground between two heights."""
    here = (ground.heights > low) & (ground.heights < high)
    columns = ground.columns[here] if here.any() else ground.columns
    corner = ground.origin + columns.min(axis=0) * ground.size
    return corner - reach, ground.origin + (columns.max(axis=0) + 1) * ground.size + reach
