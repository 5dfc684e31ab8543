"""Annotations of viewpoints: the room of each, and every visible object with its bounding box in each of 36 views.

All of it comes from one cube-map panorama per viewpoint, with the instance and the depth of every pixel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from itinera.hearth._kernels import gather_boxes, project_pixels
from itinera.hearth.build import House
from itinera.hearth.layout.plan import PlannedRoom
from itinera.hearth.room_lookup import locate_rooms
from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.rendering.camera import Camera
from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_FOV, VIEW_HEADINGS, VIEW_HEIGHT, VIEW_WIDTH, VIEWS
from itinera.rendering.rasterizer import Rasterizer
from itinera.worlds import Array, NavGraph, Room, VisibleObject

FOCAL = VIEW_HEIGHT / 2 / math.tan(VIEW_FOV / 2)  # pixels

FACE_SIZE = 256  # pixels along a face of the cube map; each covers about 2.5 pixels of a view
MIN_PIXELS = 20  # of the panorama; an object with fewer, about 11 x 11 pixels of a view, is not visible
MIN_VIEW_PIXELS = 6  # pixels of the panorama within a view; with fewer, the view does not show the object
BATCH = 4  # panoramas in memory at once


@dataclass(frozen=True)
class Annotations:
    """The annotations of the viewpoints of a house.

    Objects are listed at any distance; REVERIE's files keep those within 3 m, which is up to the writer.
    """

    rooms: Mapping[str, Room]  # by node; region_id is the index of the room in the floor plan
    objects: Mapping[str, tuple[VisibleObject, ...]]  # by node; an object's id is its instance in the mesh
    regions: tuple[PlannedRoom, ...]  # the outline, floor and height of each region, in the order of their ids


def annotate(house: House, graph: NavGraph, raster: Rasterizer) -> Annotations:
    """The room of each viewpoint and the objects visible from it."""
    ground = graph.positions - np.array([0.0, 0.0, EYE_HEIGHT])
    rooms = (house.plan.rooms[i] for i in locate_rooms(house.plan, ground))
    return Annotations(
        rooms={node: Room(room.kind, str(room.index)) for node, room in zip(graph.nodes, rooms, strict=True)},
        objects=dict(zip(graph.nodes, _visible_objects(house, graph.positions, raster), strict=True)),
        regions=house.plan.rooms,
    )


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
class _Cube:
    """The six faces of a panorama and the positions of their pixels in the views."""

    headings: Array  # (6,) the direction of each face
    elevations: Array  # (6,)
    rays: Array  # (p, 3) through the center of each pixel, with depth one
    starts: NDArray[np.int64]  # (p + 1,) the first entry of each pixel in the arrays below
    views: NDArray[np.uint8]  # (m,) a view that shows the pixel
    frames: NDArray[np.int16]  # (m, 4) its rectangle there: left, top, right, bottom


@cache
def _cube() -> _Cube:
    headings = np.array([0.0, math.pi / 2, math.pi, -math.pi / 2, 0.0, 0.0])
    elevations = np.array([0.0, 0.0, 0.0, 0.0, math.pi / 2, -math.pi / 2])
    right, up, ahead = _axes(headings, elevations)[:, :, None, None].transpose(1, 0, 2, 3, 4)
    ticks = np.linspace(-1.0, 1.0, FACE_SIZE + 1)[:, None]
    corners = ahead + right * ticks - up * ticks[:, None]
    rays = (corners[:, :-1, :-1] + corners[:, 1:, 1:]).reshape(-1, 3) / 2
    starts = np.empty(len(rays) + 1, np.int64)
    lens = corners, view_axes(), FOCAL, VIEW_WIDTH / 2, VIEW_HEIGHT / 2, starts
    count = project_pixels(*lens, np.empty(0, np.uint8), np.empty((0, 4), np.int16))
    views, frames = np.empty(count, np.uint8), np.empty((count, 4), np.int16)
    project_pixels(*lens, views, frames)
    return _Cube(headings, elevations, rays, starts, views, frames)


def _visible_objects(house: House, positions: Array, raster: Rasterizer) -> Iterator[tuple[VisibleObject, ...]]:
    """The objects visible from each position, in the order of their instances."""
    for first in range(0, len(positions), BATCH):
        counts = _count_pixels(raster, positions[first : first + BATCH], len(house.objects) + 1)
        for k, pixels in enumerate(counts.pixels):
            yield tuple(
                _object(house, counts, k, instance) for instance in np.flatnonzero(pixels >= MIN_PIXELS).tolist()
            )


@dataclass(frozen=True, eq=False)
class _ObjectPixels:
    """The visible pixels of t instances in n panoramas."""

    pixels: NDArray[np.int32]  # (n, t) in the panorama
    shown: NDArray[np.int32]  # (n, t, 36) in each view
    boxes: NDArray[np.int16]  # (n, t, 36, 4) left, top, right, bottom in each view
    middles: Array  # (n, t, 3) direction of the center, of any length
    nearest: Array  # (n, t) metres


def _count_pixels(raster: Rasterizer, eyes: Array, count: int) -> _ObjectPixels:
    cube, n = _cube(), len(eyes)
    looks = np.repeat(eyes, 6, axis=0), np.tile(cube.headings, n), np.tile(cube.elevations, n)
    frame = raster.render_many(Camera(FACE_SIZE, FACE_SIZE, math.pi / 2), *looks, channels=("depth", "instances"))
    counts = _ObjectPixels(
        pixels=np.zeros((n, count), np.int32),
        shown=np.zeros((n, count, VIEWS), np.int32),
        boxes=np.zeros((n, count, VIEWS, 4), np.int16),
        middles=np.zeros((n, count, 3)),
        nearest=np.full((n, count), np.inf),
    )
    gather_boxes(
        frame.instances.reshape(n, -1), frame.depth.reshape(n, -1), cube.rays, cube.starts, cube.views, cube.frames,
        counts.pixels, counts.shown, counts.boxes, counts.middles, counts.nearest,
    )  # fmt: skip
    return counts


def _object(house: House, counts: _ObjectPixels, k: int, instance: int) -> VisibleObject:
    views = np.flatnonzero(counts.shown[k, instance] >= MIN_VIEW_PIXELS)
    corners = counts.boxes[k, instance, views].astype(np.float64)
    x, y, _ = counts.middles[k, instance]
    return VisibleObject(
        id=str(instance),
        name=house.object(instance).name,
        views=views,
        boxes=np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]]),
        # Rounded, so that the last bit of the machine's arctangent does not reach a file.
        heading=round(math.atan2(y, x), 6),
        distance=round(float(counts.nearest[k, instance]), 4),
    )
