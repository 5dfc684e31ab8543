"""Panorama images of viewpoints in Matterport's layout: skyboxes, equirectangular images and the 36 views of VLN.

Skybox images are numbered as Matterport's: 0 looks up, 5 down, 3 along the pose of the viewpoint, 4, 1 and 2 follow to
the right. Connectivity files are rewritten with poses that look along +y, R2R's heading 0; our own say nothing of the
orientation of cameras. `*_skybox_small.jpg`, all six in a row, is what Matterport3DSimulator reads.
"""

from __future__ import annotations

import io
import math
from collections.abc import Collection, Iterator
from functools import cache
from importlib import import_module
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from itinera.errors import MissingExtra
from itinera.rendering.camera import Camera
from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_FOV, VIEW_HEADINGS, VIEW_HEIGHT, VIEW_WIDTH
from itinera.rendering.rasterizer import Rasterizer
from itinera.worlds import Array, NavGraph

KINDS = ("skybox", "equirectangular", "views")
FACE = 512  # pixels along a side of a skybox image
EQUIRECTANGULAR = 1024, 512  # width and height, pixels
QUALITY = 90
UP, DOWN = math.pi / 2, -math.pi / 2
SKYBOX_HEADINGS = np.array([-UP, -UP, math.pi, UP, 0.0, -UP])
"""(6,) our heading of each skybox image; those that look up and down have the pose's direction at top and bottom."""
SKYBOX_ELEVATIONS = np.array([UP, 0.0, 0.0, 0.0, 0.0, DOWN])
POSE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)
"""The rotation of a camera that looks along +y: its x axis is right, y down, z forward."""


def skybox_camera() -> Camera:
    """The camera of a skybox image."""
    return Camera(FACE, FACE, math.pi / 2)


def view_camera() -> Camera:
    """The camera of a view: 640 x 480 pixels, 60 degrees high."""
    return Camera(VIEW_WIDTH, VIEW_HEIGHT, 2 * math.atan(math.tan(VIEW_FOV / 2) * VIEW_WIDTH / VIEW_HEIGHT))


def render_images(
    scan: str, graph: NavGraph, raster: Rasterizer, kinds: Collection[str] = KINDS
) -> Iterator[tuple[str, bytes]]:
    """Name and content of every image of a house, viewpoint by viewpoint."""
    folder = f"v1/scans/{scan}"
    for node, eye in zip(graph.nodes, graph.positions, strict=True):
        if "skybox" in kinds or "equirectangular" in kinds:
            faces = render_skybox(raster, eye)
        if "skybox" in kinds:
            for i, face in enumerate(faces):
                yield f"{folder}/matterport_skybox_images/{node}_skybox{i}_sami.jpg", encode_jpeg(face)
            row = np.concatenate(list(faces), axis=1)
            yield f"{folder}/matterport_skybox_images/{node}_skybox_small.jpg", encode_jpeg(row)
        if "equirectangular" in kinds:
            yield f"{folder}/equirectangular/{node}.jpg", encode_jpeg(project_equirectangular(faces))
        if "views" in kinds:
            for i, view in enumerate(render_views(raster, eye)):
                yield f"{folder}/views/{node}_{i:02d}.jpg", encode_jpeg(view)


def render_skybox(raster: Rasterizer, eye: Array) -> NDArray[np.uint8]:
    """(6, size, size, 3) the skybox images of a viewpoint."""
    eyes = np.tile(eye, (6, 1))
    return raster.render_many(skybox_camera(), eyes, SKYBOX_HEADINGS, SKYBOX_ELEVATIONS, channels=("rgb",)).rgb


def render_views(raster: Rasterizer, eye: Array) -> NDArray[np.uint8]:
    """(36, 480, 640, 3) the views of a viewpoint, numbered as in R2R."""
    eyes = np.tile(eye, (len(VIEW_HEADINGS), 1))
    return raster.render_many(view_camera(), eyes, VIEW_HEADINGS, VIEW_ELEVATIONS, channels=("rgb",)).rgb


def project_equirectangular(faces: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """(512, 1024, 3) skybox images on a sphere: heading 0 of R2R in the middle, right is clockwise, up is up."""
    face, row, column = _sphere_lookup()
    return faces[face, row, column]


@cache
def _sphere_lookup() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Skybox image, row and column at each pixel of an equirectangular image."""
    width, height = EQUIRECTANGULAR
    clockwise = ((np.arange(width) + 0.5) / width - 0.5) * math.tau
    elevation = (0.5 - (np.arange(height) + 0.5) / height) * math.pi
    flat = np.cos(elevation)[:, None]
    rays = np.stack(
        [
            flat * np.sin(clockwise),
            flat * np.cos(clockwise),
            np.broadcast_to(np.sin(elevation)[:, None], (height, width)),
        ],
        axis=-1,
    )
    right, down, ahead = _axes()
    depth = np.einsum("hwi,fi->hwf", rays, ahead)
    face = np.argmax(depth, axis=-1)
    scale = FACE / 2 / np.take_along_axis(depth, face[..., None], axis=-1)[..., 0]
    column, row = (
        np.clip(np.floor(np.einsum("hwi,hwi->hw", rays, axis[face]) * scale + FACE / 2), 0, FACE - 1).astype(np.int64)
        for axis in (right, down)
    )
    return face, row, column


def _axes() -> tuple[Array, Array, Array]:
    """(6, 3) right, down and forward of each skybox image."""
    (ch, ce), (sh, se) = (
        (ring(SKYBOX_HEADINGS).round(12), ring(SKYBOX_ELEVATIONS).round(12)) for ring in (np.cos, np.sin)
    )
    zero = np.zeros(6)
    right = np.stack([sh, -ch, zero], axis=1)
    down = np.stack([se * ch, se * sh, -ce], axis=1)
    return right, down, np.stack([ce * ch, ce * sh, se], axis=1)


def orient_poses(connectivity: bytes, *, height: float) -> bytes:
    """A connectivity file with poses that look along +y, and the height of the camera above the ground."""
    panoramas: list[dict[str, Any]] = msgspec.json.decode(connectivity)
    for panorama in panoramas:
        for i, row in enumerate(POSE):
            panorama["pose"][4 * i : 4 * i + 3] = row
        panorama["height"] = height
    return msgspec.json.encode(panoramas)


def encode_jpeg(rgb: NDArray[np.uint8]) -> bytes:
    """A JPEG file of an image (height, width, 3)."""
    image = require_pillow().fromarray(np.ascontiguousarray(rgb))
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=QUALITY)
    return stream.getvalue()


def require_pillow() -> Any:
    """Pillow's Image module; raises MissingExtra, which names the extra to install."""
    try:
        return import_module("PIL.Image")
    except ImportError:
        raise MissingExtra("JPEG images", "Pillow", "maps") from None
