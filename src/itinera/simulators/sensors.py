"""The camera of a robot on the ground, and the frames it renders of a world."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

from itinera.errors import BadArgument
from itinera.rendering.appearance import FLAT, Appearance
from itinera.rendering.camera import CHANNELS, Camera, Frame
from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS, VIEWS
from itinera.rendering.rasterizer import Rasterizer
from itinera.worlds import Array, World


@dataclass(frozen=True)
class CameraSensor:
    """A camera and how it is mounted."""

    camera: Camera
    height: float = 1.25  # metres above the floor
    elevation: float = 0.0  # radians above the robot's own elevation
    channels: Collection[str] = CHANNELS  # rendered channels; fewer take less time
    panorama: bool = False  # render all 36 views, numbered as in R2R and fixed to the world, not only the one ahead
    around: int = 1  # views at evenly spaced bearings, counter-clockwise, the first one ahead; more than 1 are stacked
    appearance: Appearance = FLAT  # of the colors; all but flat ones bake light once per world, for seconds

    def __post_init__(self) -> None:
        if not (math.isfinite(self.height) and math.isfinite(self.elevation)):
            raise BadArgument(f"Height and elevation must be finite, not {self.height} and {self.elevation}.")
        if self.around < 1 or (self.panorama and self.around > 1):
            raise BadArgument(f"around must be at least 1, and 1 with a panorama, not {self.around}.")
        unknown = sorted(set(self.channels) - set(CHANNELS))
        if unknown:
            raise BadArgument(f"channels must be among {', '.join(CHANNELS)}, not {', '.join(unknown)}.")


RenderFrame = Callable[[Array, float, float], Frame]  # of a position on the floor, heading and elevation


class CameraRenderer:
    """A camera in any number of worlds: the rasterizer of a world is made once and kept as long as the world."""

    def __init__(self, sensor: CameraSensor) -> None:
        self._sensor = sensor
        self._rasters: WeakKeyDictionary[World, Rasterizer] = WeakKeyDictionary()

    def for_world(self, world: World) -> RenderFrame:
        """The function that renders frames of this world."""
        raster = self._rasters.get(world)
        if raster is None:
            if world.mesh is None:
                raise BadArgument(f"World {world.id} has no mesh to render. Leave out the camera, or give its scene.")
            raster = self._rasters[world] = Rasterizer(world.mesh, appearance=self._sensor.appearance)
        render = _render_ahead if self._sensor.around == 1 else _render_around
        return partial(_render_panorama if self._sensor.panorama else render, self._sensor, raster)


def _render_ahead(sensor: CameraSensor, raster: Rasterizer, place: Array, heading: float, elevation: float) -> Frame:
    return raster.render(
        sensor.camera, _camera_position(place, sensor), heading, elevation + sensor.elevation, channels=sensor.channels
    )


def _render_around(sensor: CameraSensor, raster: Rasterizer, place: Array, heading: float, elevation: float) -> Frame:
    """(around, …) views; they turn with the robot."""
    at = np.tile(_camera_position(place, sensor), (sensor.around, 1))
    headings = heading + np.arange(sensor.around) * (math.tau / sensor.around)
    return raster.render_many(sensor.camera, at, headings, elevation + sensor.elevation, channels=sensor.channels)


def _render_panorama(sensor: CameraSensor, raster: Rasterizer, place: Array, heading: float, elevation: float) -> Frame:
    """(36, …) views; they do not depend on the heading."""
    at = np.tile(_camera_position(place, sensor), (VIEWS, 1))
    return raster.render_many(
        sensor.camera, at, VIEW_HEADINGS, VIEW_ELEVATIONS + sensor.elevation, channels=sensor.channels
    )


def _camera_position(place: Array, sensor: CameraSensor) -> tuple[float, float, float]:
    x, y, z = place.tolist()
    return x, y, z + sensor.height
