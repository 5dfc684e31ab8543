"""Explored maps: known maps made by looking around, where labels come from images and the mesh has none to give.

A known map of true labels is sampled on the mesh (`known_map.py`). With a segmentation network the labels are in
pictures only, so a robot looks around from places all over the ground, and everything it saw is the map.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.mapping.config import MapConfig
from itinera.mapping.egocentric_map import Columns, SemanticMaps
from itinera.rendering.camera import Camera, Frame
from itinera.rendering.rasterizer import Rasterizer
from itinera.seeding import generator
from itinera.worlds import World
from itinera.worlds.surface import Surface

LabelViews = Callable[[Frame], NDArray[np.uint8]]
"""(n, height, width) the labels of the pixels of n frames."""

AREA = 3.0  # square metres of ground per place to look around from
MAX_PLACES = 250
HEADINGS = 4  # views of a place


def explored_map(
    world: World,
    camera: Camera,
    label_views: LabelViews,
    config: MapConfig | None = None,
    *,
    channels: Sequence[str] = ("rgb", "depth"),
) -> Columns:
    """The map of all that is seen from places spread over the ground; the same in every call."""
    if world.mesh is None or not isinstance(world.space, Surface):
        raise BadArgument(f"World {world.id} has no mesh and surface to explore.")
    config = config or MapConfig()
    rng = generator(0, "explored map", world.id)
    raster, maps = Rasterizer(world.mesh), SemanticMaps([world], config)
    count = min(MAX_PLACES, max(4, round(float(np.sum(world.space.area)) / AREA)))
    places = world.space.sample(rng, count) + np.array([0.0, 0.0, config.camera_height])
    for place, first in zip(places, rng.uniform(-math.pi, math.pi, count), strict=True):
        headings = first + math.tau / HEADINGS * np.arange(HEADINGS)
        eyes = np.tile(place, (HEADINGS, 1))
        frames = raster.render_many(camera, eyes, headings, 0.0, channels=channels)
        labels = label_views(frames)
        for k in range(HEADINGS):
            maps.insert(frames.depth[k : k + 1], labels[k : k + 1], eyes[:1], headings[k], camera, [0])
    return maps.columns(0)
