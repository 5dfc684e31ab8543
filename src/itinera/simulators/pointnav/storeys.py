"""Maps of storeys, seen from above, with the room around each cell: for scans, and for lines over level ground."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from itinera.simulators.pointnav._scan_kernels import encode_room, mark_free, unfold_storey
from itinera.worlds import World
from itinera.worlds.ground import Ground
from itinera.worlds.surface import Surface

Bools: TypeAlias = NDArray[np.bool_]

NO_RADIUS = 1e-6  # metres: only what is in a cell itself blocks it
_MOST_STOREYS = 24
_LEVEL = 0.25  # metres, how finely levels are told apart


@dataclass(frozen=True, eq=False)
class StoreyMaps:
    """The storeys of a house. A cell of the robot's ground belongs to the storey nearest in level that has it."""

    maps: NDArray[np.uint8]  # (s, rows, columns); see `_scan_kernels`
    storey: NDArray[np.uint8]  # (cells,) the storey of each used cell of the robot's ground

    @classmethod
    def compute(cls, world: World, ground: Ground, used: Bools, *, height: float) -> StoreyMaps:
        """The maps of a world with a mesh, for scans by a robot of this height on the used cells of its ground."""
        assert world.mesh is not None
        open_ground = Surface.from_mesh(
            world.mesh, radius=NO_RADIUS, height=height, cell=ground.size, climb=ground.climb
        ).ground
        return cls._unfold(open_ground, ground, used, level_only=False)

    @classmethod
    def for_lines(cls, ground: Ground, used: Bools) -> StoreyMaps:
        """The maps of the ground itself, for straight lines; slopes are not shown in them."""
        return cls._unfold(ground, ground, used, level_only=True)

    @classmethod
    def _unfold(cls, open_ground: Ground, ground: Ground, used: Bools, *, level_only: bool) -> StoreyMaps:
        wide, tall = ground.shape
        columns = ground.columns[:, 0].astype(np.int64) + wide * ground.columns[:, 1]
        storey = np.zeros(len(ground), dtype=np.uint8)
        gap = np.where(used, np.inf, 0.0)  # from the level of its storey
        maps: list[NDArray[np.uint8]] = []
        while np.isinf(gap).any() and len(maps) < _MOST_STOREYS:
            level = _commonest_level(ground.heights[np.isinf(gap)])
            at, queue = np.full(wide * tall, -1, dtype=np.int32), np.empty(wide * tall, dtype=np.int32)
            unfold_storey(open_ground.links, open_ground.heights, wide, level, ground.climb, queue, at)
            found, distance = at[columns], np.abs(ground.heights - level)
            here = (found >= 0) & (np.abs(open_ground.heights[found] - ground.heights) <= ground.climb)
            # A cell at this very level that the storey does not have is in no other one either.
            here |= np.isinf(gap) & (distance <= _LEVEL)
            closer = here & (distance < gap)
            storey[closer], gap[closer] = len(maps), distance[closer]
            maps.append(_room_map(open_ground, level, at, level_only))
        return cls(np.array(maps, dtype=np.uint8), storey)


def _commonest_level(heights: NDArray[np.float64]) -> float:
    """The level with most cells, metres."""
    steps = np.round(heights / _LEVEL).astype(np.int64)
    values, counts = np.unique(steps, return_counts=True)
    return float(np.median(heights[steps == values[np.argmax(counts)]]))


def _room_map(ground: Ground, level: float, at: NDArray[np.int32], level_only: bool) -> NDArray[np.uint8]:
    # Takes longer to import than the rest of a simulator.
    from scipy.ndimage import binary_dilation, distance_transform_edt

    wide, tall = ground.shape
    free = np.empty(wide * tall, dtype=np.bool_)
    mark_free(ground.links, ground.heights, wide, level, at, free)
    if level_only:
        free &= ~(ground.slopes[at] != 0.0).any(axis=1)
    image = free.reshape(tall, wide)
    image[[0, -1]] = False
    image[:, [0, -1]] = False
    # From border to border, two cells are nearer by one along each axis than their centers.
    wider = binary_dilation(~image, np.ones((3, 3), dtype=np.bool_))
    room = distance_transform_edt(~wider)
    out = np.empty(wide * tall, dtype=np.uint8)
    encode_room(free, at, room.ravel(), level_only, out)
    return out.reshape(tall, wide)
