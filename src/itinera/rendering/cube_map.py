"""Cube-map panoramas: six square faces around a point, and the objects they show, as boxes in each of the 36 views.

One panorama at 256 x 256 pixels a face takes a few milliseconds and has everything that is visible from a place: the
annotations of viewpoints, the views at any pose, and the free ground around a robot come from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.rendering._cube_kernels import drop_far, gather_boxes, project_pixels
from itinera.rendering.camera import Camera, Frame
from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_FOV, VIEW_HEADINGS, VIEW_HEIGHT, VIEW_WIDTH, VIEWS
from itinera.rendering.rasterizer import Rasterizer
from itinera.worlds import Array, VisibleObject

FOCAL = VIEW_HEIGHT / 2 / math.tan(VIEW_FOV / 2)  # pixels
FACES = 6
FACE_SIZE = 256  # pixels along a face of the cube map; each covers about 2.5 pixels of a view
MIN_PIXELS = 20  # of the panorama; an object with fewer, about 11 x 11 pixels of a view, is not visible
MIN_VIEW_PIXELS = 6  # pixels of the panorama within a view; with fewer, the view does not show the object
_HEADINGS = np.array([0.0, math.pi / 2, math.pi, -math.pi / 2, 0.0, 0.0])
_ELEVATIONS = np.array([0.0, 0.0, 0.0, 0.0, math.pi / 2, -math.pi / 2])


def view_axes() -> Array:
    """(36, 3, 3) right, up and forward axes of each view."""
    return _axes(VIEW_HEADINGS, VIEW_ELEVATIONS)


def _axes(heading: Array, elevation: Array) -> Array:
    """(n, 3, 3) right, up and forward axes of each direction."""
    flat, tall = np.cos(elevation), np.sin(elevation)
    x, y, none = np.cos(heading), np.sin(heading), np.zeros_like(heading)
    rows = (y, -x, none), (-tall * x, -tall * y, flat), (flat * x, flat * y, tall)
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=1)


@dataclass(frozen=True, eq=False)
class CubeMap:
    """The pixels of the six faces of a panorama and their positions in the views."""

    rays: Array  # (p, 3) through the center of each pixel, with depth one
    starts: NDArray[np.int64]  # (p + 1,) the first entry of each pixel in the arrays below
    views: NDArray[np.uint8]  # (m,) a view that shows the pixel
    frames: NDArray[np.int16]  # (m, 4) its rectangle there: left, top, right, bottom


@cache
def cube_map() -> CubeMap:
    """The cube map; it is computed once."""
    right, up, ahead = _axes(_HEADINGS, _ELEVATIONS)[:, :, None, None].transpose(1, 0, 2, 3, 4)
    ticks = np.linspace(-1.0, 1.0, FACE_SIZE + 1)[:, None]
    corners = ahead + right * ticks - up * ticks[:, None]
    rays = (corners[:, :-1, :-1] + corners[:, 1:, 1:]).reshape(-1, 3) / 2
    starts = np.empty(len(rays) + 1, np.int64)
    lens = corners, view_axes(), FOCAL, VIEW_WIDTH / 2, VIEW_HEIGHT / 2, starts
    count = project_pixels(*lens, np.empty(0, np.uint8), np.empty((0, 4), np.int16))
    views, frames = np.empty(count, np.uint8), np.empty((count, 4), np.int16)
    project_pixels(*lens, views, frames)
    return CubeMap(rays, starts, views, frames)


def render_cube_maps(raster: Rasterizer, eyes: ArrayLike) -> Frame:
    """The depth and instances of the panoramas at these positions (n, 3): six faces of each, one after another."""
    positions = np.asarray(eyes, np.float64).reshape(-1, 3)
    n = len(positions)
    looks = np.repeat(positions, FACES, axis=0), np.tile(_HEADINGS, n), np.tile(_ELEVATIONS, n)
    return raster.render_many(Camera(FACE_SIZE, FACE_SIZE, math.pi / 2), *looks, channels=("depth", "instances"))


@dataclass(frozen=True, eq=False)
class ObjectPixels:
    """The visible pixels of t instances in n panoramas."""

    pixels: NDArray[np.int32]  # (n, t) in the panorama
    shown: NDArray[np.int32]  # (n, t, 36) in each view
    boxes: NDArray[np.int16]  # (n, t, 36, 4) left, top, right, bottom in each view
    middles: Array  # (n, t, 3) direction of the center, of any length
    nearest: Array  # (n, t) metres


def count_object_pixels(faces: Frame, count: int, *, within: float = math.inf) -> ObjectPixels:
    """The visible pixels of instances 0 to `count` - 1 in panoramas of `render_cube_maps`.

    With `within`, metres, only of those with a pixel that near, which takes less time.
    """
    cube, n = cube_map(), len(faces.depth) // FACES
    instances, depths = faces.instances.reshape(n, -1), faces.depth.reshape(n, -1)
    if within < math.inf:
        kept = np.empty_like(instances)
        # Half a step of the rounded distance: what rounds to the limit counts.
        drop_far(instances, depths, cube.rays, within + 5e-5, np.empty((n, count), dtype=bool), kept)
        instances = kept
    counts = ObjectPixels(
        pixels=np.zeros((n, count), np.int32),
        shown=np.zeros((n, count, VIEWS), np.int32),
        boxes=np.zeros((n, count, VIEWS, 4), np.int16),
        middles=np.zeros((n, count, 3)),
        nearest=np.full((n, count), np.inf),
    )
    gather_boxes(
        instances, depths, cube.rays, cube.starts, cube.views, cube.frames,
        counts.pixels, counts.shown, counts.boxes, counts.middles, counts.nearest,
    )  # fmt: skip
    return counts


def visible_objects(counts: ObjectPixels, k: int, name: Callable[[int], str]) -> tuple[VisibleObject, ...]:
    """The objects visible in panorama k, in the order of their instances, which `name` names."""
    found = np.flatnonzero(counts.pixels[k] >= MIN_PIXELS).tolist()
    return tuple(_object(counts, k, instance, name(instance)) for instance in found)


def _object(counts: ObjectPixels, k: int, instance: int, name: str) -> VisibleObject:
    views = np.flatnonzero(counts.shown[k, instance] >= MIN_VIEW_PIXELS)
    corners = counts.boxes[k, instance, views].astype(np.float64)
    x, y, _ = counts.middles[k, instance]
    return VisibleObject(
        id=str(instance),
        name=name,
        views=views,
        boxes=np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]]),
        # Rounded, so that the last bit of the machine's arctangent does not reach a file.
        heading=round(math.atan2(y, x), 6),
        distance=round(float(counts.nearest[k, instance]), 4),
    )
