"""What a camera sees of a mesh: the colour, depth, class and instance of each pixel, drawn on the CPU.

`Raster(mesh)` sorts the faces once; `look`, `look_many` and `look_down` draw them. Faces are seen from their front.
Light comes a little from above and a little from the eye, so a place keeps its brightness whichever way the eye turns.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.errors import BadArgument
from itinera.rendering._rasterizer_kernels import LEAF, TILE, Canvas, Scene, draw_views
from itinera.worlds.mesh import Mesh
from itinera.worlds.space import Array

CHANNELS = ("rgb", "depth", "classes", "instances")

WIDEST = math.radians(120)  # a wider flat image is mostly stretched edges
LARGE = 1.5  # metres; faces this long (walls, floors) are drawn first, to hide what is behind them
ALOFT = 2000.0  # metres over a plan, from where everything on it looks straight down
AMBIENT, SUN = 160.0, (8.0, 5.0, 17.0)  # light on any face, and more on one that looks this way; 256 is all there is


@dataclass(frozen=True)
class Camera:
    """The optics: a pinhole with square pixels. Column u of row v looks through the point (u + 0.5, v + 0.5)."""

    width: int  # pixels
    height: int
    fov: float  # horizontal field of view, radians; the vertical one follows from the shape of the image
    near: float = 0.05  # metres along the optical axis; nothing is drawn before it
    far: float = 50.0  # nor behind it

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise BadArgument(f"An image needs at least one pixel; got {self.width} x {self.height}.")
        if not 0 < self.near < self.far < math.inf:
            raise BadArgument(f"A camera needs 0 < near < far; got near {self.near} m and far {self.far} m.")
        if not 0 < self.fov < math.pi or max(self.fov, self.vertical_fov) > WIDEST + 1e-9:
            wide = f"{math.degrees(self.fov):.4g} x {math.degrees(self.vertical_fov):.4g}"
            raise BadArgument(f"A view spans at most 120 degrees; got {wide}. Join several for a wider one.")

    @property
    def focal(self) -> float:
        """How many pixels a metre covers, one metre away."""
        # Rounded, because the last bit of a tangent is not the same everywhere.
        return round(0.5 * self.width / math.tan(0.5 * self.fov), 9)

    @property
    def vertical_fov(self) -> float:
        return 2 * math.atan(math.tan(0.5 * self.fov) * self.height / self.width)


@dataclass(frozen=True, eq=False)
class Frame:
    """What is seen; of many views, with a leading axis. A channel that was not asked for has length 0."""

    rgb: NDArray[np.uint8]  # (height, width, 3), black where nothing is
    depth: NDArray[np.float32]  # (height, width) metres along the optical axis, inf where nothing is
    classes: NDArray[np.uint8]  # (height, width) indices into labels.MPCAT40, 0 where nothing is
    instances: NDArray[np.int32]  # (height, width) things from 1; 0 for the place itself and where nothing is

    def __getitem__(self, view: int) -> Frame:
        """One of many views, in the same memory."""
        return Frame(*(channel[view] if len(channel) else channel for channel in self._channels))

    @property
    def _channels(self) -> tuple[NDArray[Any], ...]:
        return self.rgb, self.depth, self.classes, self.instances


def blank_frames(camera: Camera, count: int, channels: Collection[str] = CHANNELS) -> Frame:
    """Room for so many views, to be drawn into again and again."""
    unknown = sorted(set(channels) - set(CHANNELS))
    if unknown:
        raise BadArgument(f"A view has the channels {', '.join(CHANNELS)}; got {', '.join(unknown)}.")

    def room(name: str, kind: type, *more: int) -> NDArray[Any]:
        return np.empty((count if name in channels else 0, camera.height, camera.width, *more), dtype=kind)

    return Frame(
        room("rgb", np.uint8, 3), room("depth", np.float32), room("classes", np.uint8), room("instances", np.int32)
    )


class Raster:
    """A mesh made ready for drawing. Threads may share one."""

    def __init__(self, mesh: Mesh) -> None:
        self._scene = _scene(mesh)
        self._spare: dict[Camera, list[Canvas]] = {}  # nobody draws on them; taking and giving back are one step each

    def look(
        self,
        camera: Camera,
        position: ArrayLike,
        heading: float,
        elevation: float = 0.0,
        *,
        channels: Collection[str] = CHANNELS,
    ) -> Frame:
        """The view from a position (3,), along a heading counter-clockwise from +x, so far above the horizon."""
        return self.look_many(camera, np.reshape(position, (1, 3)), heading, elevation, channels=channels)[0]

    def look_many(
        self,
        camera: Camera,
        positions: ArrayLike,
        headings: ArrayLike,
        elevations: ArrayLike = 0.0,
        *,
        channels: Collection[str] = CHANNELS,
        out: Frame | None = None,
    ) -> Frame:
        """The views from positions (n, 3), along headings (n,), at elevations (n,); one for all will do.

        Fewer channels take less time. Given `out` from `blank_frames`, its channels are drawn into it, which spares
        the system the handing out of memory.
        """
        eyes = np.array(positions, dtype=np.float64, order="C").reshape(-1, 3)
        with np.errstate(invalid="ignore"):
            bases = _bases(len(eyes), headings, elevations)
        if not (np.isfinite(eyes).all() and np.isfinite(bases).all()):
            raise BadArgument("A position, heading or elevation is not finite.")
        frames = blank_frames(camera, len(eyes), channels) if out is None else out
        _check_room(frames, camera, len(eyes))
        self._draw(camera, eyes, bases, frames)
        return frames

    def look_down(
        self,
        bounds: Sequence[float],
        *,
        low: float,
        high: float,
        pixel: float = 0.02,
        channels: Collection[str] = CHANNELS,
    ) -> Frame:
        """A plan of bounds (x0, y0, x1, y1): what is between two heights, from straight above, +y up the image.

        Depth is metres below `high`. The eye is not quite infinitely high: a thing a metre below, ten metres from the
        middle, is drawn half a centimetre inwards.
        """
        x0, y0, x1, y1 = bounds
        if not (x0 < x1 and y0 < y1 and low < high and pixel > 0):
            raise BadArgument(f"A plan needs x0 < x1, y0 < y1, low < high; got {bounds}, {low} to {high} m.")
        width, height = (max(1, math.ceil(side / pixel)) for side in (x1 - x0, y1 - y0))
        fov = 2 * math.atan(0.5 * width * pixel / ALOFT)
        camera = Camera(width, height, fov, near=ALOFT, far=ALOFT + high - low)
        middle = (x0 + 0.5 * width * pixel, y1 - 0.5 * height * pixel, high + ALOFT)
        frame = self.look(camera, middle, math.pi / 2, -math.pi / 2, channels=channels)
        self._spare.pop(camera, None)  # large, and seldom wanted again
        np.maximum(frame.depth - np.float32(ALOFT), 0, out=frame.depth)
        return frame

    def _draw(self, camera: Camera, eyes: Array, bases: Array, frames: Frame) -> None:
        spare = self._spare.setdefault(camera, [])
        try:
            canvas = spare.pop()
        except IndexError:
            canvas = _canvas(camera, len(self._scene.paint) - 1)
        optics = int(camera.width), int(camera.height), camera.focal, float(camera.near), float(camera.far)
        rows = frames.rgb.reshape(len(frames.rgb), camera.height, 3 * camera.width)
        out = rows, frames.depth, frames.classes, frames.instances
        draw_views(*self._scene, *canvas, *optics, eyes, bases, *out)
        spare.append(canvas)


def _check_room(frames: Frame, camera: Camera, count: int) -> None:
    for channel in frames._channels:
        fits = channel.shape[:3] == (count, camera.height, camera.width) and channel.flags.c_contiguous
        if len(channel) and not fits:
            wanted = f"{count} views of {camera.height} x {camera.width} pixels"
            raise BadArgument(f"{wanted} do not fit into {channel.shape}; make room for them with blank_frames.")


def _bases(count: int, headings: ArrayLike, elevations: ArrayLike) -> Array:
    """(n, 3, 3) for each camera the directions right, down and forward."""
    angles = np.empty((2, count))
    try:
        angles[0], angles[1] = headings, elevations
    except ValueError as error:
        raise BadArgument(f"{count} positions need {count} headings and elevations, or one for all.") from error
    # Rounded, because the last bit of a sine is not the same everywhere.
    (ch, ce), (sh, se) = np.cos(angles).round(12), np.sin(angles).round(12)
    bases = np.zeros((count, 3, 3))
    bases[:, 0, 0], bases[:, 0, 1] = sh, -ch
    bases[:, 1, 0], bases[:, 1, 1], bases[:, 1, 2] = se * ch, se * sh, -ce
    bases[:, 2, 0], bases[:, 2, 1], bases[:, 2, 2] = ce * ch, ce * sh, se
    return bases


def _canvas(camera: Camera, faces: int) -> Canvas:
    """A clear canvas for a scene of so many faces."""
    rows, columns = -(-camera.height // TILE), -(-camera.width // TILE)
    near = np.full((rows * TILE, columns * TILE), np.inf, dtype=np.float32)  # nothing is nearer than the margin
    near[: camera.height, : camera.width] = 1 / camera.far
    return Canvas(
        near.ravel(),
        np.full(near.size, faces, dtype=np.int32),
        np.empty(rows * columns, dtype=np.float32),
        np.zeros(faces + 1, dtype=np.float32),
        np.empty(3 * columns * TILE, dtype=np.uint8),
    )


def _scene(mesh: Mesh) -> Scene:
    """The faces of a mesh sorted for drawing; those without area are left out."""
    corners = mesh.corners.astype(np.float64)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    trees, boxes, leaves = _plant(corners, areas > 0)
    order = np.append(leaves.ravel(), -1)
    real = order >= 0
    order = order[real]
    unit = normals[order] / areas[order, None]
    planes = np.tile([0.0, 0.0, 0.0, 1.0], (len(real), 1))  # the eye is behind every padding face
    # Rounded, because the last bit of a sum of products is not the same everywhere.
    planes[real] = np.column_stack([unit, np.einsum("fi,fi->f", unit, corners[order].mean(axis=1))]).round(12)

    def placed(values: NDArray[Any], kind: type) -> NDArray[Any]:
        """The values of the faces where they now are, zeros for padding."""
        found = np.zeros((len(real), *values.shape[1:]), dtype=kind)
        found[real] = values
        return found

    def by_leaf(values: NDArray[Any]) -> NDArray[Any]:
        """(leaves, k * LEAF): of each leaf the first number of all faces, then the second, …"""
        size = math.prod(values.shape[1:])
        return values[:-1].reshape(-1, LEAF, size).transpose(0, 2, 1).reshape(-1, size * LEAF)

    return Scene(
        trees,
        boxes,
        by_leaf(placed(mesh.corners[order], np.float32)),
        by_leaf(planes),
        placed(mesh.colours[order] @ np.array([1, 256, 65536], dtype=np.uint32), np.uint32),
        placed(AMBIENT + unit @ SUN, np.float32),
        placed(mesh.classes[order], np.uint8),
        placed(mesh.instances[order], np.int32),
    )


def _plant(corners: Array, real: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]:
    """Trees and boxes as in a scene, and (leaves, LEAF) the faces in each leaf, -1 for padding; large faces first."""
    lows, highs = corners.min(axis=1), corners.max(axis=1)
    large = (highs - lows).max(axis=1, initial=0.0) >= LARGE
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
    """(leaves, LEAF) the faces halved again and again along the longest side, -1 for padding."""
    depth = max(0, math.ceil(math.log2(len(group) / LEAF)))
    order = np.full(LEAF << depth, -1)
    order[: len(group)] = group
    low, high = middles[group].min(axis=0), middles[group].max(axis=0)
    steps = (middles - low) * (65534 / max(float((high - low).max()), 1e-9))
    # Two bytes, because those sort fastest; padding, found by the index -1, goes to the end.
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
    """(2 * leaves - 1, 6) the middle and half size of the box of each node of the tree, breadth first."""
    padded = leaves[..., None] < 0
    low = np.where(padded, np.inf, lows[leaves]).min(axis=1)
    high = np.where(padded, -np.inf, highs[leaves]).max(axis=1)
    levels = [(low, high)]
    while len(low) > 1:
        low, high = np.minimum(low[::2], low[1::2]), np.maximum(high[::2], high[1::2])
        levels.append((low, high))
    low, high = (np.concatenate(ends) for ends in zip(*reversed(levels), strict=True))
    empty = low > high
    low[empty], high[empty] = 1e9, 1e9  # where nobody looks
    # A little larger: they are kept in single precision.
    return np.column_stack([0.5 * (low + high), 0.5 * (high - low) + 1e-4 + 1e-6 * np.abs(low + high)])
