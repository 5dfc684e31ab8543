"""What the robots of a stage observe: scans in the maps of storeys, and depth images."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.rendering.camera import blank_frames
from itinera.simulators.pointnav._scan_kernels import cast_rays
from itinera.simulators.pointnav._stage_kernels import pool_depth
from itinera.simulators.pointnav.house_set import PointNavHouses
from itinera.simulators.pointnav.sensors import DepthSensor, ScanSensor
from itinera.worlds import Array

Longs = NDArray[np.int64]
Singles = NDArray[np.float32]


class Scanner:
    """Scans of robots in the houses."""

    def __init__(self, houses: PointNavHouses, sensor: ScanSensor) -> None:
        if houses.scan_maps is None:
            raise BadArgument("The houses have no maps for scans: load them with scan=True.")
        self._houses, self._sensor = houses, sensor
        self._cos, self._sin = np.cos(sensor.angles), np.sin(sensor.angles)

    def scan(
        self, which: Longs, house: Longs, cells: NDArray[np.int32], across: Array, headings: Array, out: Singles
    ) -> None:
        """out <- the scans of the robots `which`; all other arrays are by robot."""
        houses = self._houses
        assert houses.scan_maps is not None
        cast_rays(
            *houses.scan_maps,
            houses.first_cell,
            houses.sizes,
            self._cos,
            self._sin,
            self._sensor.max_range,
            which,
            house,
            cells,
            across,
            headings,
            out,
        )


class DepthCamera:
    """Depth images of robots in the houses, pooled."""

    def __init__(self, houses: PointNavHouses, sensor: DepthSensor, num_envs: int) -> None:
        if houses.rasters is None:
            raise BadArgument("The houses have nothing to render: load them with depth=True.")
        self._rasters, self._sensor = houses.rasters, sensor
        self._frames = blank_frames(sensor.camera, num_envs, ("depth",))

    def render(self, which: Longs, house: Longs, places: Array, headings: Array, out: Singles) -> None:
        """out <- the pooled images of the robots `which`; all other arrays are by robot."""
        sensor = self._sensor
        order = which[np.argsort(house[which], kind="stable")]
        eyes = places[order] + (0.0, 0.0, sensor.height)
        owners = house[order]
        # One house after the other, so that it stays in the processor's cache.
        bounds = [0, *(np.flatnonzero(np.diff(owners)) + 1).tolist(), len(order)]
        for first, after in pairwise(bounds):
            if first == after:
                continue
            part = slice(first, after)
            frames = type(self._frames)(*(c[part] if len(c) else c for c in self._frames.channels))
            self._rasters[int(owners[first])].render_many(
                sensor.camera,
                eyes[part],
                headings[order[part]],
                sensor.elevation,
                channels=("depth",),
                out=frames,
            )
        pool_depth(self._frames.depth, sensor.pool[0], sensor.pool[1], sensor.max_range, order, out)
