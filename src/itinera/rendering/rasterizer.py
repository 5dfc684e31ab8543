"""A CPU rasterizer: the color, depth, class and instance of each pixel of a camera's view of a mesh.

`Rasterizer(mesh)` sorts the faces once; `render`, `render_many` and `render_top_down` draw them. Back faces are culled.
Light comes partly from above and partly from the camera, so that brightness does not depend on the viewing direction.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.errors import BadArgument
from itinera.rendering._rasterizer_kernels import LEAF, TILE, Canvas, FaceTrees, draw_views
from itinera.rendering._texture_simd_kernels import BLOCK
from itinera.rendering.appearance import FLAT, Appearance
from itinera.rendering.camera import CHANNELS, Camera, Frame, blank_frames
from itinera.rendering.surfaces import make_surfaces
from itinera.worlds.mesh import Mesh
from itinera.worlds.space import Array

OCCLUDER_LENGTH = 1.5  # metres; faces this long (walls, floors) are drawn first, as occluders
TOP_DOWN_HEIGHT = 2000.0  # metres above a top-down view, for a nearly orthographic projection
AMBIENT, SUN = 160.0, (8.0, 5.0, 17.0)  # light on any face, and additional light by its normal; 256 is the maximum


class Rasterizer:
    """A mesh prepared for rendering. Threads may share one."""

    def __init__(self, mesh: Mesh, *, appearance: Appearance = FLAT) -> None:
        normals, areas = _normals(mesh)
        trees, boxes, leaves = _grow_trees(mesh.corners.astype(np.float64), areas > 0)
        self._surfaces, patches = None, np.arange(len(mesh.faces))
        if appearance != FLAT:
            self._surfaces, patches = make_surfaces(mesh, normals, appearance)
        self._face_trees = _sort_faces(mesh, normals, trees, boxes, leaves.ravel(), patches)
        self._spare: dict[Camera, list[Canvas]] = {}  # unused canvases; taking and returning one are atomic

    def render(
        self,
        camera: Camera,
        position: ArrayLike,
        heading: float,
        elevation: float = 0.0,
        *,
        channels: Collection[str] = CHANNELS,
    ) -> Frame:
        """The view from a position (3,) along a heading (counter-clockwise from +x), at an elevation; radians."""
        return self.render_many(camera, np.reshape(position, (1, 3)), heading, elevation, channels=channels)[0]

    def render_many(
        self,
        camera: Camera,
        positions: ArrayLike,
        headings: ArrayLike,
        elevations: ArrayLike = 0.0,
        *,
        channels: Collection[str] = CHANNELS,
        out: Frame | None = None,
    ) -> Frame:
        """The views from positions (n, 3) along headings (n,) at elevations (n,), or one heading or elevation for all.

        Fewer channels take less time. With `out` from `blank_frames`, its channels are rendered into it, which saves
        allocating memory.
        """
        eyes = np.array(positions, dtype=np.float64, order="C").reshape(-1, 3)
        with np.errstate(invalid="ignore"):
            bases = _bases(len(eyes), headings, elevations)
        if not (np.isfinite(eyes).all() and np.isfinite(bases).all()):
            raise BadArgument("A position, heading or elevation is not finite.")
        frames = blank_frames(camera, len(eyes), channels) if out is None else out
        _check_shapes(frames, camera, len(eyes))
        self._draw(camera, eyes, bases, frames)
        return frames

    def render_top_down(
        self,
        bounds: Sequence[float],
        *,
        low: float,
        high: float,
        pixel: float = 0.02,
        channels: Collection[str] = CHANNELS,
    ) -> Frame:
        """A top-down view of bounds (x0, y0, x1, y1) between two heights, with +y up the image.

        Depth is metres below `high`. The projection is nearly orthographic: an object a metre below `high` and ten
        metres from the center is drawn half a centimetre inwards.
        """
        x0, y0, x1, y1 = bounds
        if not (x0 < x1 and y0 < y1 and low < high and pixel > 0):
            raise BadArgument(f"A top-down view needs x0 < x1, y0 < y1, low < high; got {bounds}, {low} to {high} m.")
        width, height = (max(1, math.ceil(side / pixel)) for side in (x1 - x0, y1 - y0))
        fov = 2 * math.atan(0.5 * width * pixel / TOP_DOWN_HEIGHT)
        camera = Camera(width, height, fov, near=TOP_DOWN_HEIGHT, far=TOP_DOWN_HEIGHT + high - low)
        middle = (x0 + 0.5 * width * pixel, y1 - 0.5 * height * pixel, high + TOP_DOWN_HEIGHT)
        frame = self.render(camera, middle, math.pi / 2, -math.pi / 2, channels=channels)
        self._spare.pop(camera, None)  # large, and rarely used again
        np.maximum(frame.depth - np.float32(TOP_DOWN_HEIGHT), 0, out=frame.depth)
        return frame

    def _draw(self, camera: Camera, eyes: Array, bases: Array, frames: Frame) -> None:
        spare = self._spare.setdefault(camera, [])
        try:
            canvas = spare.pop()
        except IndexError:
            canvas = _new_canvas(camera, len(self._face_trees.paint) - 1)
        optics = int(camera.width), int(camera.height), camera.focal, float(camera.near), float(camera.far)
        rows = frames.rgb.reshape(len(frames.rgb), camera.height, 3 * camera.width)
        out = rows, frames.depth, frames.classes, frames.instances
        only_depth = not (len(frames.rgb) or len(frames.classes) or len(frames.instances))
        used = canvas._replace(shown=None) if only_depth else canvas
        draw_views(*self._face_trees, *used, self._surfaces, *optics, eyes, bases, *out)
        spare.append(canvas)


def render_meshes(
    rasters: Sequence[Rasterizer],
    camera: Camera,
    positions: ArrayLike,
    headings: ArrayLike,
    elevations: ArrayLike = 0.0,
    *,
    channels: Collection[str] = CHANNELS,
    out: Frame | None = None,
) -> Frame:
    """One view of each mesh, as `render_many` of one: rasters (n,), which may repeat, and positions (n, 3)."""
    eyes = np.array(positions, dtype=np.float64, order="C").reshape(-1, 3)
    if len(rasters) != len(eyes):
        raise BadArgument(f"{len(eyes)} positions need as many meshes, not {len(rasters)}.")
    with np.errstate(invalid="ignore"):
        bases = _bases(len(eyes), headings, elevations)
    if not (np.isfinite(eyes).all() and np.isfinite(bases).all()):
        raise BadArgument("A position, heading or elevation is not finite.")
    frames = blank_frames(camera, len(eyes), channels) if out is None else out
    _check_shapes(frames, camera, len(eyes))
    views: dict[int, list[int]] = {}
    for view, raster in enumerate(rasters):
        views.setdefault(id(raster), []).append(view)
    # One mesh after the other, so that it stays in the processor's cache; neighboring views in one call.
    for same in views.values():
        first = same[0]
        for k, view in enumerate(same):
            if k + 1 == len(same) or same[k + 1] != view + 1:
                part = slice(first, view + 1)
                parts = Frame(*(channel[part] for channel in frames.channels))
                rasters[view]._draw(camera, eyes[part], bases[part], parts)
                first = same[k + 1] if k + 1 < len(same) else first
    return frames


def _check_shapes(frames: Frame, camera: Camera, count: int) -> None:
    for channel in frames.channels:
        fits = channel.shape[:3] == (count, camera.height, camera.width) and channel.flags.c_contiguous
        if len(channel) and not fits:
            wanted = f"{count} views of {camera.height} x {camera.width} pixels"
            raise BadArgument(f"{wanted} do not fit into {channel.shape}; allocate them with blank_frames.")


def _bases(count: int, headings: ArrayLike, elevations: ArrayLike) -> Array:
    """(n, 3, 3) the directions right, down and forward of each camera."""
    angles = np.empty((2, count))
    try:
        angles[0], angles[1] = headings, elevations
    except ValueError as error:
        raise BadArgument(f"{count} positions need {count} headings and elevations, or one for all.") from error
    # Rounded, because the last bit of a sine differs between machines.
    (ch, ce), (sh, se) = np.cos(angles).round(12), np.sin(angles).round(12)
    bases = np.zeros((count, 3, 3))
    bases[:, 0, 0], bases[:, 0, 1] = sh, -ch
    bases[:, 1, 0], bases[:, 1, 1], bases[:, 1, 2] = se * ch, se * sh, -ce
    bases[:, 2, 0], bases[:, 2, 1], bases[:, 2, 2] = ce * ch, ce * sh, se
    return bases


def _new_canvas(camera: Camera, patches: int) -> Canvas:
    """A cleared canvas for a mesh with this many patches."""
    rows, columns = -(-camera.height // TILE), -(-camera.width // TILE)
    near = np.full((rows * TILE, columns * TILE), np.inf, dtype=np.float32)  # nothing is nearer than the margin
    near[: camera.height, : camera.width] = 1 / camera.far
    margin = np.full(BLOCK, np.inf, dtype=np.float32)  # BLOCK pixels are read at a time, from anywhere
    return Canvas(
        np.concatenate([near.ravel(), margin]),
        np.full(near.size + BLOCK, patches, dtype=np.int32),
        np.empty(rows * columns, dtype=np.float32),
        np.zeros(patches + 1, dtype=np.float32),
        np.empty(3 * (columns * TILE + BLOCK), dtype=np.uint8),
        np.empty(columns * TILE + BLOCK, dtype=np.uint8),
        np.empty(columns * TILE + BLOCK, dtype=np.int32),
    )


def _normals(mesh: Mesh) -> tuple[Array, Array]:
    """(f, 3) unit normals of the faces, zeros where a face has no area, and (f,) twice the areas."""
    corners = mesh.corners.astype(np.float64)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    return np.divide(normals, areas[:, None], out=np.zeros_like(normals), where=areas[:, None] > 0), areas


def _sort_faces(
    mesh: Mesh,
    normals: Array,
    trees: NDArray[np.int64],
    boxes: NDArray[np.float32],
    order: NDArray[np.int64],
    patches: NDArray[np.int64],
) -> FaceTrees:
    """The faces of a mesh and their patches (f,) sorted for rendering; the order has -1 for padding."""
    real = order >= 0
    order = order[real]
    unit = normals[order]
    middles = mesh.corners[order].astype(np.float64).mean(axis=1)
    planes = np.tile([0.0, 0.0, 0.0, 1.0], (len(real), 1))  # padding faces are behind every camera
    # Rounded, because the last bit of a sum of products differs between machines.
    planes[real] = np.column_stack([unit, np.einsum("fi,fi->f", unit, middles)]).round(12)

    def placed(values: NDArray[Any], kind: type) -> NDArray[Any]:
        """The values of the faces in their new order, zeros for padding."""
        found = np.zeros((len(real), *values.shape[1:]), dtype=kind)
        found[real] = values
        return found

    def by_leaf(values: NDArray[Any]) -> NDArray[Any]:
        """(leaves, k * LEAF): in each leaf the first number of all faces, then the second, …"""
        size = math.prod(values.shape[1:])
        return values.reshape(-1, LEAF, size).transpose(0, 2, 1).reshape(-1, size * LEAF)

    def by_patch(values: NDArray[Any], kind: type) -> NDArray[Any]:
        """The values of the patches, zero for the background."""
        found = np.zeros(patches.max(initial=-1) + 2, dtype=kind)
        found[patches] = values
        return found

    return FaceTrees(
        trees,
        boxes,
        by_leaf(placed(mesh.corners[order], np.float32)),
        by_leaf(planes),
        placed(patches[order], np.int32),
        by_patch(mesh.colors @ np.array([1, 256, 65536], dtype=np.uint32), np.uint32),
        by_patch(AMBIENT + normals @ SUN, np.float32),
        by_patch(mesh.classes, np.uint8),
        by_patch(mesh.instances, np.int32),
    )


def _grow_trees(
    corners: Array, real: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]:
    """The trees and boxes, and (leaves, LEAF) the faces in each leaf, -1 for padding; large faces first."""
    lows, highs = corners.min(axis=1), corners.max(axis=1)
    large = (highs - lows).max(axis=1, initial=0.0) >= OCCLUDER_LENGTH
    trees: list[tuple[int, int, int]] = []
    boxes, leaves = [np.empty((0, 6))], [np.empty((0, LEAF), dtype=np.int64)]
    for group in (np.flatnonzero(real & large), np.flatnonzero(real & ~large)):
        if len(group):
            order = _sort_into_leaves(group, corners.mean(axis=1))
            trees.append((sum(map(len, boxes)), len(order), sum(map(len, leaves))))
            boxes.append(_boxes(order, lows, highs))
            leaves.append(order)
    return np.array(trees, np.int64).reshape(-1, 3), np.concatenate(boxes).astype(np.float32), np.concatenate(leaves)


def _sort_into_leaves(group: NDArray[np.int64], middles: Array) -> NDArray[np.int64]:
    """(leaves, LEAF) the faces, recursively halved along the longest side, -1 for padding."""
    depth = max(0, math.ceil(math.log2(len(group) / LEAF)))
    order = np.full(LEAF << depth, -1)
    order[: len(group)] = group
    low, high = middles[group].min(axis=0), middles[group].max(axis=0)
    steps = (middles - low) * (65534 / max(float((high - low).max()), 1e-9))
    # 16-bit keys, because those sort fastest; padding (index -1) goes to the end.
    keys = np.full((3, len(middles) + 1), 65535, dtype=np.uint16)
    keys[:, group] = steps[group].T
    for level in range(depth):
        parts = order.reshape(2**level, -1)
        places = keys[:, parts]
        axis = np.argmax(places.max(axis=2) - places.min(axis=2), axis=0)
        along = places[axis, np.arange(len(parts))]
        order = np.take_along_axis(parts, np.argsort(along, axis=1, kind="stable"), axis=1).ravel()
    return order.reshape(-1, LEAF)


def _boxes(leaves: NDArray[np.int64], lows: Array, highs: Array) -> Array:
    """(2 * leaves - 1, 6) the center and half size of the box of each node of the tree, breadth first."""
    padded = leaves[..., None] < 0
    low = np.where(padded, np.inf, lows[leaves]).min(axis=1)
    high = np.where(padded, -np.inf, highs[leaves]).max(axis=1)
    levels = [(low, high)]
    while len(low) > 1:
        low, high = np.minimum(low[::2], low[1::2]), np.maximum(high[::2], high[1::2])
        levels.append((low, high))
    low, high = (np.concatenate(ends) for ends in zip(*reversed(levels), strict=True))
    empty = low > high
    low[empty], high[empty] = 1e9, 1e9  # outside every view
    # Slightly enlarged: they are stored in single precision.
    return np.column_stack([0.5 * (low + high), 0.5 * (high - low) + 1e-4 + 1e-6 * np.abs(low + high)])
