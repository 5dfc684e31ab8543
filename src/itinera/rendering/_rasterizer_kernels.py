"""The loops of the rasterizer: visibility first, then shading.

`draw_views` is the entry point. Per view: traverse the bounding boxes from near to far, skip those outside the frustum
or occluded, keep the nearest face of each pixel, and only then look up depth, color and labels.
"Nearness" is 1 / depth: over a flat face it is linear in the image. "Tiles" are squares of 8 x 8 pixels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from itinera.rendering._shading_kernels import Surfaces, shade_view
from itinera.rendering._simd_kernels import EIGHT, fill_tile, shade_eight

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Words = NDArray[np.uint32]
Bytes = NDArray[np.uint8]

TILE = EIGHT  # pixels along each side of a tile
LEAF = 24  # faces in a leaf of the bounding volume hierarchy
HEADLIGHT = 74.0  # light from the camera on a face seen head-on, of 256
GRAZING = 1e-6  # metres; a camera this close to the plane of a face sees its edge only
EXCLUSIVE, INCLUSIVE = np.float32(0.0), np.float32(-1e-38)  # threshold that the value of an edge must exceed inside it

# Layout of `stage` for the faces of a leaf: x, y, depth of three corners from 0 on, then the bounding box in
# pixels, the camera's height over the plane and the least depth of the corners.
LEFT, RIGHT, TOP, BOTTOM, HEIGHT, LEAST = 9 * LEAF, 10 * LEAF, 11 * LEAF, 12 * LEAF, 13 * LEAF, 14 * LEAF


class FaceTrees(NamedTuple):
    """The faces of a mesh in bounding volume hierarchies, LEAF to a leaf; the last entry is the background."""

    trees: Longs  # (t, 3) first box, leaves, first leaf
    boxes: Singles  # (b, 6) center and half size; each tree is complete, in breadth-first order
    corners: Singles  # (leaves, 9 * LEAF) x of all first corners, then y, z; then of the second, the third
    planes: Floats  # (leaves, 4 * LEAF) x of all unit normals n, then y, z, and offsets: n . p = offset on the face
    patches: Ints  # (leaves * LEAF,) the patch of each face: neighbors in one plane that look the same
    paint: Words  # (p + 1,) red + 256 green + 65536 blue of each patch
    ambient: Singles  # (p + 1,) light that does not come from the camera, of 256
    classes: Bytes  # (p + 1,)
    instances: Ints  # (p + 1,)


class Canvas(NamedTuple):
    """Buffers for drawing. Image sides are rounded up to whole tiles."""

    near: Singles  # (h * w,) nearness of the nearest face so far
    shown: Ints | None  # (h * w,) the patch of that face; None for depth alone
    floors: Singles  # (tiles,) the least nearness in each tile
    glow: Singles  # (p + 1,) the camera's height over the plane of each drawn patch, times its light
    row: Bytes  # (3 * w,) the colors of a row
    kinds: Bytes  # (w,) the classes of a row
    names: Ints  # (w,) the instances of a row


class Intrinsics(NamedTuple):
    """The intrinsics of a camera."""

    width: int
    height: int
    columns: int  # tiles across
    focal: float  # pixels
    closest: float  # metres
    farthest: float


@njit(cache=True, nogil=True, error_model="numpy")
def _is_occluded(x0: int, y0: int, x1: int, y1: int, nearest: float, columns: int, floors: Singles) -> bool:
    """Whether all of the pixels [x0, x1) x [y0, y1) already show something nearer (hierarchical z test)."""
    for ty in range(y0 // TILE, (y1 + TILE - 1) // TILE):
        for tile in range(ty * columns + x0 // TILE, ty * columns + (x1 + TILE - 1) // TILE):
            if floors[tile] < nearest:
                return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _box_culled(box: int, boxes: Singles, eye: Floats, lens: Floats, optics: Intrinsics, floors: Singles) -> bool:
    """Whether nothing in this box is visible: outside the frustum, or occluded."""
    width, height = optics.width, optics.height
    px, py, pz = boxes[box, 0] - eye[0], boxes[box, 1] - eye[1], boxes[box, 2] - eye[2]
    hx, hy, hz = np.float64(boxes[box, 3]), np.float64(boxes[box, 4]), np.float64(boxes[box, 5])
    # The center of the box, and its half edges, projected.
    u = lens[0, 0] * px + lens[0, 1] * py + lens[0, 2] * pz
    v = lens[1, 0] * px + lens[1, 1] * py + lens[1, 2] * pz
    z = lens[2, 0] * px + lens[2, 1] * py + lens[2, 2] * pz
    ux, uy, uz = lens[0, 0] * hx, lens[0, 1] * hy, lens[0, 2] * hz
    vx, vy, vz = lens[1, 0] * hx, lens[1, 1] * hy, lens[1, 2] * hz
    zx, zy, zz = lens[2, 0] * hx, lens[2, 1] * hy, lens[2, 2] * hz
    reach = abs(zx) + abs(zy) + abs(zz)
    if z + reach < optics.closest or z - reach > optics.farthest:
        return True
    if u + abs(ux) + abs(uy) + abs(uz) < 0 or v + abs(vx) + abs(vy) + abs(vz) < 0:
        return True
    if width * z - u + abs(width * zx - ux) + abs(width * zy - uy) + abs(width * zz - uz) < 0:
        return True
    if height * z - v + abs(height * zx - vx) + abs(height * zy - vy) + abs(height * zz - vz) < 0:
        return True
    if z - reach <= optics.closest:
        return False
    x0, y0, x1, y1 = np.float64(width), np.float64(height), 0.0, 0.0
    for corner in range(4):
        sy, sz = 1.0 - 2.0 * (corner & 1), 1.0 - (corner & 2)
        mu, mv, mz = u + sy * uy + sz * uz, v + sy * vy + sz * vz, z + sy * zy + sz * zz
        one, two = 1.0 / (mz + zx), 1.0 / (mz - zx)
        xa, xb, ya, yb = (mu + ux) * one, (mu - ux) * two, (mv + vx) * one, (mv - vx) * two
        x0, x1 = min(x0, xa, xb), max(x1, xa, xb)
        y0, y1 = min(y0, ya, yb), max(y1, ya, yb)
    left, right = int(max(x0, 0.0)), int(min(x1 + 1.0, np.float64(width)))
    top, bottom = int(max(y0, 0.0)), int(min(y1 + 1.0, np.float64(height)))
    return _is_occluded(left, top, right, bottom, 1.0 / (z - reach), optics.columns, floors)


@njit(cache=True, nogil=True, error_model="numpy")
def _distance(box: int, boxes: Singles, eye: Floats) -> float:
    """The squared distance from the camera to a box."""
    x = max(abs(boxes[box, 0] - eye[0]) - boxes[box, 3], 0.0)
    y = max(abs(boxes[box, 1] - eye[1]) - boxes[box, 4], 0.0)
    z = max(abs(boxes[box, 2] - eye[2]) - boxes[box, 5], 0.0)
    return float(x * x + y * y + z * z)


@njit(cache=True, nogil=True, error_model="numpy")
def _project_leaf(
    leaf: int, corners: Singles, planes: Floats, eye: Floats, lens: Floats, width: float, height: float, stage: Floats
) -> None:
    """stage <- the faces of a leaf projected onto the image, in the layout above.

    One loop without branches, several faces at a time; for a face that reaches behind the camera, x, y and the box are
    meaningless. Each corner is multiplied by the reciprocal of its depth once, as in `_clip_near`: identical corners
    must project to identical pixels to the last bit.
    """
    ex, ey, ez = eye[0], eye[1], eye[2]
    u0, u1, u2 = lens[0, 0], lens[0, 1], lens[0, 2]
    v0, v1, v2 = lens[1, 0], lens[1, 1], lens[1, 2]
    z0, z1, z2 = lens[2, 0], lens[2, 1], lens[2, 2]
    for k in range(LEAF):
        ax, ay, az = corners[leaf, k] - ex, corners[leaf, LEAF + k] - ey, corners[leaf, 2 * LEAF + k] - ez
        bx, by, bz = (
            corners[leaf, 3 * LEAF + k] - ex,
            corners[leaf, 4 * LEAF + k] - ey,
            corners[leaf, 5 * LEAF + k] - ez,
        )
        cx, cy, cz = (
            corners[leaf, 6 * LEAF + k] - ex,
            corners[leaf, 7 * LEAF + k] - ey,
            corners[leaf, 8 * LEAF + k] - ez,
        )
        za, zb, zc = z0 * ax + z1 * ay + z2 * az, z0 * bx + z1 * by + z2 * bz, z0 * cx + z1 * cy + z2 * cz
        ra, rb, rc = 1.0 / za, 1.0 / zb, 1.0 / zc
        xa, ya = (u0 * ax + u1 * ay + u2 * az) * ra, (v0 * ax + v1 * ay + v2 * az) * ra
        xb, yb = (u0 * bx + u1 * by + u2 * bz) * rb, (v0 * bx + v1 * by + v2 * bz) * rb
        xc, yc = (u0 * cx + u1 * cy + u2 * cz) * rc, (v0 * cx + v1 * cy + v2 * cz) * rc
        stage[k], stage[LEAF + k], stage[2 * LEAF + k] = xa, ya, za
        stage[3 * LEAF + k], stage[4 * LEAF + k], stage[5 * LEAF + k] = xb, yb, zb
        stage[6 * LEAF + k], stage[7 * LEAF + k], stage[8 * LEAF + k] = xc, yc, zc
        stage[LEFT + k] = np.ceil(max(min(min(xa, xb), xc) - 0.5, 0.0))
        stage[RIGHT + k] = np.ceil(min(max(max(xa, xb), xc) - 0.5, width))
        stage[TOP + k] = np.ceil(max(min(min(ya, yb), yc) - 0.5, 0.0))
        stage[BOTTOM + k] = np.ceil(min(max(max(ya, yb), yc) - 0.5, height))
        over = planes[leaf, k] * ex + planes[leaf, LEAF + k] * ey + planes[leaf, 2 * LEAF + k] * ez
        stage[HEIGHT + k] = over - planes[leaf, 3 * LEAF + k]
        stage[LEAST + k] = min(min(za, zb), zc)


@njit(cache=True, nogil=True, error_model="numpy")
def _clip_near(leaf: int, k: int, corners: Singles, eye: Floats, lens: Floats, closest: float, shape: Floats) -> int:
    """shape <- the corners, in pixels, of a face clipped at the near plane; returns their number, up to four."""
    kept = 0
    pu, pv, pz = 0.0, 0.0, 0.0
    for turn in range(4):
        at = (turn + 2) % 3 * 3 * LEAF + k
        x, y, h = corners[leaf, at] - eye[0], corners[leaf, at + LEAF] - eye[1], corners[leaf, at + 2 * LEAF] - eye[2]
        u = lens[0, 0] * x + lens[0, 1] * y + lens[0, 2] * h
        v = lens[1, 0] * x + lens[1, 1] * y + lens[1, 2] * h
        z = lens[2, 0] * x + lens[2, 1] * y + lens[2, 2] * h
        if turn > 0 and (z >= closest) != (pz >= closest):
            # From the kept end to the other, so that adjacent faces clip a shared edge at the same point.
            if z >= closest:
                t = (closest - z) / (pz - z)
                cu, cv = u + t * (pu - u), v + t * (pv - v)
            else:
                t = (closest - pz) / (z - pz)
                cu, cv = pu + t * (u - pu), pv + t * (v - pv)
            shape[kept, 0], shape[kept, 1] = cu / closest, cv / closest
            kept += 1
        if turn > 0 and z >= closest:
            shape[kept, 0], shape[kept, 1] = u * (1.0 / z), v * (1.0 / z)
            kept += 1
        pu, pv, pz = u, v, z
    return kept


@njit(cache=True, nogil=True, error_model="numpy")
def _edge(x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, np.float32]:
    """The value at the first pixel, the steps across and down, and the threshold of an edge: larger is inside.

    An edge is computed from its upper end (of a horizontal edge, the right one) in either direction: the two faces that
    share it get the same numbers with opposite signs. A pixel center on it belongs to the face on its right, or below.
    """
    # Selects instead of branches, which would be mispredicted half of the time.
    turned = (y0 > y1) | ((y0 == y1) & (x0 < x1))
    x, y = x1 if turned else x0, y1 if turned else y0
    across, down = y1 - y0, x0 - x1
    return across * (0.5 - x) + down * (0.5 - y), across, down, EXCLUSIVE if turned else INCLUSIVE


@njit(cache=True, nogil=True, error_model="numpy")
def _narrow(first: int, after: int, value: float, across: float, down: float) -> tuple[int, int]:
    """The tiles [first, after) of a row without those entirely outside an edge with this value at the row's start."""
    most = value + (TILE - 1) * (max(across, 0.0) + max(down, 0.0))
    crossing = min(max(-most / (TILE * across), 0.0), np.float64(after))
    if across > 0:
        return max(first, int(crossing)), after
    if across < 0:
        return first, min(after, int(crossing) + 1)
    return first, after


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_triangle(
    patch: int, xa: float, ya: float, xb: float, yb: float, xc: float, yc: float, nearest: float, w0: float, wx: float,
    wy: float, optics: Intrinsics, near: Singles, shown: Ints | None, floors: Singles,
) -> None:  # fmt: skip
    """Draw a triangle of a patch, counter-clockwise on the image, where it is nearest.

    Its nearness is w0 + wx column + wy row.
    """
    columns = optics.columns
    left = int(np.ceil(max(min(xa, xb, xc) - 0.5, 0.0)))
    right = int(np.ceil(min(max(xa, xb, xc) - 0.5, np.float64(optics.width))))
    top = int(np.ceil(max(min(ya, yb, yc) - 0.5, 0.0)))
    bottom = int(np.ceil(min(max(ya, yb, yc) - 0.5, np.float64(optics.height))))
    if left >= right or top >= bottom or _is_occluded(left, top, right, bottom, nearest, columns, floors):
        return
    e0, a0, b0, t0 = _edge(xa, ya, xb, yb)
    e1, a1, b1, t1 = _edge(xb, yb, xc, yc)
    e2, a2, b2, t2 = _edge(xc, yc, xa, ya)
    fa0, fa1, fa2, fwx = np.float32(a0), np.float32(a1), np.float32(a2), np.float32(wx)
    fb0, fb1, fb2, fwy = np.float32(b0), np.float32(b1), np.float32(b2), np.float32(wy)
    last, none = np.float32(TILE - 1), np.float32(0.0)
    stride = columns * TILE
    for ty in range(top // TILE, (bottom + TILE - 1) // TILE):
        y = np.float64(ty * TILE)
        first, after = left // TILE, (right + TILE - 1) // TILE
        if after - first > 2:
            first, after = _narrow(first, after, e0 + b0 * y, a0, b0)
            first, after = _narrow(first, after, e1 + b1 * y, a1, b1)
            first, after = _narrow(first, after, e2 + b2 * y, a2, b2)
        for tx in range(first, after):
            # Edges and nearness at the first pixel of the tile; single precision is enough from there.
            x = np.float64(tx * TILE)
            c0, c1 = np.float32(e0 + a0 * x + b0 * y), np.float32(e1 + a1 * x + b1 * y)
            c2, w = np.float32(e2 + a2 * x + b2 * y), np.float32(w0 + wx * x + wy * y)
            if (
                c0 + max(fa0, none) * last + max(fb0, none) * last <= t0
                or c1 + max(fa1, none) * last + max(fb1, none) * last <= t1
                or c2 + max(fa2, none) * last + max(fb2, none) * last <= t2
            ):
                continue
            tile = ty * columns + tx
            if w + max(fwx, none) * last + max(fwy, none) * last <= floors[tile]:
                continue
            at = ty * TILE * stride + tx * TILE
            if (
                c0 + min(fa0, none) * last + min(fb0, none) * last > t0
                and c1 + min(fa1, none) * last + min(fb1, none) * last > t1
                and c2 + min(fa2, none) * last + min(fb2, none) * last > t2
            ):
                floors[tile] = fill_tile(near, shown, at, stride, np.int32(patch), w, fwx, fwy, ())
            else:
                edges = (c0, fa0, fb0, t0, c1, fa1, fb1, t1, c2, fa2, fb2, t2)
                floors[tile] = fill_tile(near, shown, at, stride, np.int32(patch), w, fwx, fwy, edges)


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_leaf(
    leaf: int, corners: Singles, planes: Floats, patches: Ints, eye: Floats, axes: Floats, lens: Floats,
    optics: Intrinsics, near: Singles, shown: Ints | None, floors: Singles, glow: Singles, stage: Floats, shape: Floats,
) -> None:  # fmt: skip
    """Draw the front faces of a leaf."""
    width, height, closest = np.float64(optics.width), np.float64(optics.height), optics.closest
    _project_leaf(leaf, corners, planes, eye, lens, width, height, stage)
    for k in range(LEAF):
        over = stage[HEIGHT + k]
        if not over > GRAZING:
            continue
        nearest, count = 1.0 / closest, 3
        if stage[LEAST + k] >= closest:
            if stage[LEFT + k] >= stage[RIGHT + k] or stage[TOP + k] >= stage[BOTTOM + k]:
                continue
            nearest = 1.0 / stage[LEAST + k]
            for j in range(3):
                shape[j, 0], shape[j, 1] = stage[3 * j * LEAF + k], stage[(3 * j + 1) * LEAF + k]
        elif max(stage[2 * LEAF + k], stage[5 * LEAF + k], stage[8 * LEAF + k]) < closest:
            continue
        else:
            count = _clip_near(leaf, k, corners, eye, lens, closest, shape)
        # A ray r from the camera meets the plane at depth -over / (n . r): nearness follows from the plane alone.
        n0, n1, n2 = planes[leaf, k], planes[leaf, LEAF + k], planes[leaf, 2 * LEAF + k]
        scale = -1.0 / over
        pitch = scale / optics.focal
        wx = (n0 * axes[0, 0] + n1 * axes[0, 1] + n2 * axes[0, 2]) * pitch
        wy = (n0 * axes[1, 0] + n1 * axes[1, 1] + n2 * axes[1, 2]) * pitch
        w0 = (n0 * axes[2, 0] + n1 * axes[2, 1] + n2 * axes[2, 2]) * scale
        w0 += wx * (0.5 - 0.5 * width) + wy * (0.5 - 0.5 * height)
        patch = patches[leaf * LEAF + k]
        if shown is not None:
            glow[patch] = HEADLIGHT * over
        for j in range(2, count):
            _draw_triangle(
                patch, shape[0, 0], shape[0, 1], shape[j - 1, 0], shape[j - 1, 1], shape[j, 0], shape[j, 1], nearest,
                w0, wx, wy, optics, near, shown, floors,
            )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def _resolve(
    view: int, paint: Words, ambient: Singles, classes: Bytes, instances: Ints, optics: Intrinsics,
    near: Singles, shown: Ints | None, glow: Singles, row: Bytes, kinds: Bytes, names: Ints,
    surfaces: Surfaces | None, eye: Floats, axes: Floats, out_rgb: Bytes, out_depth: Singles, out_classes: Bytes,
    out_instances: Ints,
) -> None:  # fmt: skip
    """Look up color, depth and labels of each pixel, and clear the canvas for the next view."""
    width, stride = optics.width, optics.columns * TILE
    clear, nothing = np.float32(1.0 / optics.farthest), np.int32(len(glow) - 1)
    colored = False
    # Nested, because numba leaves out branches only for a single comparison with None.
    if surfaces is not None:  # noqa: SIM102
        if shown is not None:
            colored = len(out_rgb) > 0
            if colored:
                shade_view(
                    width, optics.height, optics.columns, optics.focal, near, shown, glow, HEADLIGHT, surfaces.skins,
                    surfaces.marks, surfaces.texels, surfaces.offsets, surfaces.lightmap, surfaces.sky, eye, axes, row,
                    kinds, names, out_rgb[view], out_classes[view : view + 1], out_instances[view : view + 1],
                )  # fmt: skip
    for y in range(optics.height):
        line = near[y * stride : y * stride + width]
        if len(out_depth):
            depth = out_depth[view, y]
            for x in range(width):
                depth[x] = np.float32(np.inf) if line[x] <= clear else np.float32(1.0) / line[x]
        if shown is not None:
            seen = shown[y * stride : y * stride + width]
            if len(out_classes) and not colored:
                labels = out_classes[view, y]
                for x in range(width):
                    labels[x] = classes[seen[x]]
            if len(out_instances) and not colored:
                owners = out_instances[view, y]
                for x in range(width):
                    owners[x] = instances[seen[x]]
            if surfaces is None:  # noqa: SIM102
                if len(out_rgb):
                    colors = out_rgb[view, y]
                    down = (y + 0.5 - 0.5 * optics.height) / optics.focal
                    pitch, reach = np.float32(1.0 / optics.focal), np.float32(1.0 + down * down)
                    for x in range(0, stride, TILE):
                        across = np.float32(x + 0.5 - 0.5 * width)
                        shade_eight(near, shown, y * stride + x, paint, ambient, glow, across, pitch, reach, row, 3 * x)
                    for x in range(3 * width):
                        colors[x] = row[x]
            seen[:] = nothing
        line[:] = clear


@njit(cache=True, nogil=True, error_model="numpy")
def draw_views(
    trees: Longs, boxes: Singles, corners: Singles, planes: Floats, patches: Ints, paint: Words, ambient: Singles,
    classes: Bytes, instances: Ints, near: Singles, shown: Ints | None, floors: Singles, glow: Singles, row: Bytes,
    kinds: Bytes, names: Ints, surfaces: Surfaces | None, width: int, height: int, focal: float, closest: float,
    farthest: float, eyes: Floats, bases: Floats, out_rgb: Bytes, out_depth: Singles, out_classes: Bytes,
    out_instances: Ints,
) -> None:  # fmt: skip
    """out_* <- the view of each camera (n, 3) with axes (n, 3, 3): right, down, forward; empty channels are skipped.

    The arrays of FaceTrees and Canvas are passed one by one: numba counts references to members of a tuple, which costs
    time in the innermost loops. A canvas is passed cleared and returned cleared. Without `shown`, which depth alone
    does not need, a version of its own leaves the nearest faces out of the innermost loop. Without `surfaces`, colors
    are flat.
    """
    optics = Intrinsics(width, height, (width + TILE - 1) // TILE, focal, closest, farthest)
    stack, stage, shape, lens = np.empty(64, np.int64), np.empty(15 * LEAF), np.empty((4, 2)), np.empty((3, 3))
    for view in range(len(eyes)):
        eye, axes = eyes[view], bases[view]
        # The lens maps a point, relative to the camera, to column times depth, row times depth, and depth.
        for k in range(3):
            lens[0, k] = focal * axes[0, k] + 0.5 * width * axes[2, k]
            lens[1, k] = focal * axes[1, k] + 0.5 * height * axes[2, k]
            lens[2, k] = axes[2, k]
        floors[:] = np.float32(1.0 / farthest)
        for tree in range(len(trees)):
            root, leaves, first_leaf = trees[tree, 0], trees[tree, 1], trees[tree, 2]
            stack[0] = 0
            waiting = 1
            while waiting:
                waiting -= 1
                node = stack[waiting]
                if _box_culled(root + node, boxes, eye, lens, optics, floors):
                    continue
                if node < leaves - 1:
                    a, b = 2 * node + 1, 2 * node + 2
                    if _distance(root + a, boxes, eye) < _distance(root + b, boxes, eye):
                        a, b = b, a  # the nearer child is visited first
                    stack[waiting], stack[waiting + 1] = a, b
                    waiting += 2
                else:
                    _draw_leaf(
                        first_leaf + node - leaves + 1, corners, planes, patches, eye, axes, lens, optics, near, shown,
                        floors, glow, stage, shape,
                    )  # fmt: skip
        _resolve(
            view, paint, ambient, classes, instances, optics, near, shown, glow, row, kinds, names, surfaces, eye, axes,
            out_rgb, out_depth, out_classes, out_instances,
        )  # fmt: skip
