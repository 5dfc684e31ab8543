"""The camera of a body on the ground, and what it sees of a world."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

from itinera.errors import BadArgument
from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS, VIEWS
from itinera.rendering.rasterizer import CHANNELS, Camera, Frame, Raster
from itinera.worlds import Array, World


@dataclass(frozen=True)
class CameraSensor:
    """A camera and how it is mounted."""

    camera: Camera
    height: float = 1.25  # metres above the floor
    elevation: float = 0.0  # radians above where the body looks
    channels: Collection[str] = CHANNELS  # what is drawn; fewer take less time
    around: bool = False  # all 36 views of a panorama, numbered as R2R's are and turned as the world is, not one ahead

    def __post_init__(self) -> None:
        if not (math.isfinite(self.height) and math.isfinite(self.elevation)):
            raise BadArgument(f"A camera cannot hang {self.height} m above the floor, tilted by {self.elevation}.")
        unknown = sorted(set(self.channels) - set(CHANNELS))
        if unknown:
            raise BadArgument(f"A view has the channels {', '.join(CHANNELS)}; got {', '.join(unknown)}.")


Look = Callable[[Array, float, float], Frame]  # from a place on the floor, along a heading, at an elevation


class Sight:
    """Eyes for worlds: what each needs to be drawn is made once and kept as long as the world is."""

    def __init__(self, eye: CameraSensor) -> None:
        self._eye = eye
        self._rasters: WeakKeyDictionary[World, Raster] = WeakKeyDictionary()

    def of(self, world: World) -> Look:
        """How one looks at this world."""
        raster = self._rasters.get(world)
        if raster is None:
            if world.mesh is None:
                raise BadArgument(f"World {world.id} has no mesh, so a camera sees nothing of it. Walk it without one.")
            raster = self._rasters[world] = Raster(world.mesh)
        return partial(_around if self._eye.around else _ahead, self._eye, raster)


def _ahead(eye: CameraSensor, raster: Raster, place: Array, heading: float, elevation: float) -> Frame:
    return raster.look(eye.camera, _above(place, eye), heading, elevation + eye.elevation, channels=eye.channels)


def _around(eye: CameraSensor, raster: Raster, place: Array, heading: float, elevation: float) -> Frame:
    """(36, …) views; the way the body is turned changes nothing."""
    at = np.tile(_above(place, eye), (VIEWS, 1))
    return raster.look_many(eye.camera, at, VIEW_HEADINGS, VIEW_ELEVATIONS + eye.elevation, channels=eye.channels)


def _above(place: Array, eye: CameraSensor) -> tuple[float, float, float]:
    x, y, z = place.tolist()
    return x, y, z + eye.height
