"""First-person views for replays. Needs Pillow (extra `maps`)."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping

import numpy as np

from itinera.errors import MissingExtra
from itinera.rendering.camera import Camera
from itinera.rendering.rasterizer import Rasterizer
from itinera.reports.replay.trajectories import ViewRenderer
from itinera.worlds import Array, NavGraph, World
from itinera.worlds.mesh import Mesh

CAMERA = Camera(288, 192, math.radians(90))
CAMERA_HEIGHT = 1.25  # metres above the ground; nodes of a graph are at camera height already
TILT = -0.1  # radians
JPEG_QUALITY = 62


def make_view_renderer(meshes: Mapping[str, Mesh]) -> ViewRenderer:
    """A renderer for the worlds with these meshes, by id; it renders nothing of other worlds."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtra("First-person views", "Pillow", "maps") from None
    rasterizers: dict[str, Rasterizer] = {}

    def render(world: World, positions: Array, headings: Array) -> list[str]:
        if world.id not in meshes:
            return []
        if world.id not in rasterizers:
            rasterizers[world.id] = Rasterizer(meshes[world.id])
        height = 0.0 if isinstance(world.space, NavGraph) else CAMERA_HEIGHT
        eyes = positions + np.array([0.0, 0.0, height])
        images = rasterizers[world.id].render_many(CAMERA, eyes, headings, TILT, channels=("rgb",)).rgb
        return [encode(Image.fromarray(np.ascontiguousarray(image))) for image in images]

    def encode(image: Image.Image) -> str:
        stream = io.BytesIO()
        image.save(stream, "JPEG", quality=JPEG_QUALITY, optimize=True)
        return base64.b64encode(stream.getvalue()).decode("ascii")

    return render
