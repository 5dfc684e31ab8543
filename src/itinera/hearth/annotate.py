"""What is known at each viewpoint: its room, and every object one sees there, with a box in each of 36 views.

One panorama per viewpoint, six faces of a cube that hold the instance and the depth of every pixel, answers all of it.
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
from itinera.hearth.room_lookup import rooms_at
from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_FOV, VIEW_HEADINGS, VIEW_HEIGHT, VIEW_WIDTH, VIEWS
from itinera.rendering.rasterizer import Camera, Raster
from itinera.worlds import Array, NavGraph, Room, SeenObject

FOCAL = VIEW_HEIGHT / 2 / math.tan(VIEW_FOV / 2)  # pixels

FACE = 256  # pixels along a face of the cube, each about 2.5 pixels of a view
LEAST_PIXELS = 20  # of the panorama: below that, about 11 x 11 pixels of a view, an object is not seen
LEAST_SHOWN = 6  # pixels of the panorama within a view: below that a view does not show an object
AT_ONCE = 4  # viewpoints whose panoramas are in memory together


@dataclass(frozen=True)
class Annotations:
    """What is known at the viewpoints of a house.

    Objects are listed however far away they are; REVERIE's files keep those within 3 m, which is the writer's choice.
    """

    rooms: Mapping[str, Room]  # by node; region_id is the number of the room in the plan
    objects: Mapping[str, tuple[SeenObject, ...]]  # by node; an object's id is its instance in the mesh
    regions: tuple[PlannedRoom, ...]  # the outline, floor and height of each region, in the order of their ids


def annotate(house: House, graph: NavGraph, raster: Raster) -> Annotations:
    """The room of each viewpoint and the objects seen from it."""
    ground = graph.positions - np.array([0.0, 0.0, EYE_HEIGHT])
    rooms = (house.plan.rooms[i] for i in rooms_at(house.plan, ground))
    return Annotations(
        rooms={node: Room(room.kind, str(room.index)) for node, room in zip(graph.nodes, rooms, strict=True)},
        objects=dict(zip(graph.nodes, _seen(house, graph.positions, raster), strict=True)),
        regions=house.plan.rooms,
    )


def view_axes() -> Array:
    """(36, 3, 3) right, up and forward of each view."""
    return _axes(VIEW_HEADINGS, VIEW_ELEVATIONS)


def _axes(heading: Array, elevation: Array) -> Array:
    """(n, 3, 3) right, up and forward, for whoever looks that way."""
    flat, tall = np.cos(elevation), np.sin(elevation)
    x, y, none = np.cos(heading), np.sin(heading), np.zeros_like(heading)
    rows = (y, -x, none), (-tall * x, -tall * y, flat), (flat * x, flat * y, tall)
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=1)


@dataclass(frozen=True, eq=False)
class _Cube:
    """The six faces of a panorama and where their pixels fall in the views."""

    headings: Array  # (6,) where each face looks
    elevations: Array  # (6,)
    rays: Array  # (p, 3) through the middle of each pixel, of depth one
    starts: NDArray[np.int64]  # (p + 1,) where each pixel's entries begin below
    views: NDArray[np.uint8]  # (m,) a view that shows the pixel
    frames: NDArray[np.int16]  # (m, 4) what it fills there: left, top, right, bottom


@cache
def _cube() -> _Cube:
    headings = np.array([0.0, math.pi / 2, math.pi, -math.pi / 2, 0.0, 0.0])
    elevations = np.array([0.0, 0.0, 0.0, 0.0, math.pi / 2, -math.pi / 2])
    right, up, ahead = _axes(headings, elevations)[:, :, None, None].transpose(1, 0, 2, 3, 4)
    ticks = np.linspace(-1.0, 1.0, FACE + 1)[:, None]
    corners = ahead + right * ticks - up * ticks[:, None]
    rays = (corners[:, :-1, :-1] + corners[:, 1:, 1:]).reshape(-1, 3) / 2
    starts = np.empty(len(rays) + 1, np.int64)
    lens = corners, view_axes(), FOCAL, VIEW_WIDTH / 2, VIEW_HEIGHT / 2, starts
    count = project_pixels(*lens, np.empty(0, np.uint8), np.empty((0, 4), np.int16))
    views, frames = np.empty(count, np.uint8), np.empty((count, 4), np.int16)
    project_pixels(*lens, views, frames)
    return _Cube(headings, elevations, rays, starts, views, frames)


def _seen(house: House, positions: Array, raster: Raster) -> Iterator[tuple[SeenObject, ...]]:
    """The objects seen from each position, in the order of their instances."""
    for first in range(0, len(positions), AT_ONCE):
        tally = _tally(raster, positions[first : first + AT_ONCE], len(house.items) + 1)
        for k, pixels in enumerate(tally.pixels):
            yield tuple(_object(house, tally, k, thing) for thing in np.flatnonzero(pixels >= LEAST_PIXELS).tolist())


@dataclass(frozen=True, eq=False)
class _Tally:
    """What n panoramas show of each of t instances."""

    pixels: NDArray[np.int32]  # (n, t) of the panorama
    shown: NDArray[np.int32]  # (n, t, 36) of these in each view
    boxes: NDArray[np.int16]  # (n, t, 36, 4) left, top, right, bottom in each view
    middles: Array  # (n, t, 3) towards the middle, of any length
    nearest: Array  # (n, t) metres


def _tally(raster: Raster, eyes: Array, things: int) -> _Tally:
    cube, n = _cube(), len(eyes)
    looks = np.repeat(eyes, 6, axis=0), np.tile(cube.headings, n), np.tile(cube.elevations, n)
    frame = raster.look_many(Camera(FACE, FACE, math.pi / 2), *looks, channels=("depth", "instances"))
    tally = _Tally(
        pixels=np.zeros((n, things), np.int32),
        shown=np.zeros((n, things, VIEWS), np.int32),
        boxes=np.zeros((n, things, VIEWS, 4), np.int16),
        middles=np.zeros((n, things, 3)),
        nearest=np.full((n, things), np.inf),
    )
    gather_boxes(
        frame.instances.reshape(n, -1), frame.depth.reshape(n, -1), cube.rays, cube.starts, cube.views, cube.frames,
        tally.pixels, tally.shown, tally.boxes, tally.middles, tally.nearest,
    )  # fmt: skip
    return tally


def _object(house: House, tally: _Tally, k: int, thing: int) -> SeenObject:
    views = np.flatnonzero(tally.shown[k, thing] >= LEAST_SHOWN)
    corners = tally.boxes[k, thing, views].astype(np.float64)
    x, y, _ = tally.middles[k, thing]
    return SeenObject(
        id=str(thing),
        name=house.item(thing).name,
        views=views,
        boxes=np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]]),
        # Rounded, so that the last bit of the machine's arctangent does not reach a file.
        heading=round(math.atan2(y, x), 6),
        distance=round(float(tally.nearest[k, thing]), 4),
    )
