"""The scan sensor of a simulator with one robot; its scans equal those of a stage."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.simulators.pointnav._scan_kernels import cast_rays
from itinera.simulators.pointnav.sensors import ScanSensor
from itinera.simulators.pointnav.storeys import StoreyMaps
from itinera.worlds import World
from itinera.worlds.body_state import BodyState
from itinera.worlds.ground import Ground
from itinera.worlds.surface import Surface

HEIGHT = 1.5  # metres, of the robot: what is lower and above its climb stops a ray
TakeScan = Callable[[BodyState, float], NDArray[np.float32]]  # of a body and its heading


class ScanRenderer:
    """A scan sensor in any number of worlds: the maps of a world are made once and kept as long as the world."""

    def __init__(self, sensor: ScanSensor) -> None:
        self._sensor = sensor
        self._cos, self._sin = np.cos(sensor.angles), np.sin(sensor.angles)
        self._maps: WeakKeyDictionary[World, dict[int, StoreyMaps]] = WeakKeyDictionary()  # by island

    def for_body(self, world: World, body: BodyState) -> TakeScan:
        """The function that takes scans of a body in this world."""
        if world.mesh is None or not isinstance(world.space, Surface):
            raise BadArgument(f"World {world.id} has no mesh to scan. Leave out the scan, or give its scene.")
        ground = world.space.ground
        island = int(ground.islands[body.spot[0]])
        found = self._maps.setdefault(world, {})
        if island not in found:
            found[island] = StoreyMaps.compute(world, ground, ground.islands == island, height=HEIGHT)
        return self._scan_in(ground, found[island])

    def _scan_in(self, ground: Ground, storeys: StoreyMaps) -> TakeScan:
        only, maps = np.zeros(1, dtype=np.int64), storeys.maps
        flat, size, columns = maps.ravel(), np.array([maps[0].size]), np.array([maps.shape[2]])
        cell_size = np.array([ground.size])

        def take(body: BodyState, heading: float) -> NDArray[np.float32]:
            cell, u, v = body.spot
            out = np.empty((1, len(self._cos)), dtype=np.float32)
            cast_rays(
                flat,
                only,
                size,
                columns,
                storeys.storey,
                only,
                cell_size,
                self._cos,
                self._sin,
                self._sensor.max_range,
                only,
                only,
                np.array([cell], dtype=np.int32),
                np.array([[u, v]]),
                np.array([heading]),
                out,
            )
            scan: NDArray[np.float32] = out[0]
            scan.flags.writeable = False
            return scan

        return take
