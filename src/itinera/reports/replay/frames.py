"""What a walker saw, as small pictures in a page. Needs Pillow, of the extra `maps`."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping

import numpy as np

from itinera.errors import MissingExtra
from itinera.rendering.rasterizer import Camera, Raster
from itinera.reports.replay.trajectories import Look
from itinera.worlds import Array, NavGraph, World
from itinera.worlds.mesh import Mesh

CAMERA = Camera(288, 192, math.radians(90))
EYE = 1.25  # metres above the ground; nodes of a graph are at the height of the eyes already
QUALITY = 62


def looking(meshes: Mapping[str, Mesh]) -> Look:
    """A camera for worlds whose meshes are known; it takes no pictures of the others."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtra("First-person pictures", "Pillow", "maps") from None
    rasters: dict[str, Raster] = {}

    def look(world: World, places: Array, headings: Array) -> list[str]:
        if world.id not in meshes:
            return []
        if world.id not in rasters:
            rasters[world.id] = Raster(meshes[world.id])
        eyes = places + np.array([0.0, 0.0, 0.0 if isinstance(world.space, NavGraph) else EYE])
        seen = rasters[world.id].look_many(CAMERA, eyes, headings, -0.1, channels=("rgb",)).rgb
        return [_jpeg(Image.fromarray(np.ascontiguousarray(picture))) for picture in seen]

    def _jpeg(picture: Image.Image) -> str:
        stream = io.BytesIO()
        picture.save(stream, "JPEG", quality=QUALITY, optimize=True)
        return base64.b64encode(stream.getvalue()).decode("ascii")

    return look
