"""The compiled loops of cube-map panoramas: the projection of their pixels into views, and boxes of instances."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def _frame_pixel(
    patch: NDArray[np.float64],
    axes: NDArray[np.float64],
    focal: float,
    half_width: float,
    half_height: float,
    frame: NDArray[np.int16],
) -> None:
    """Left, top, right and bottom of a pixel with these (2, 2, 3) corners in a view, clipped to the view."""
    low_u, low_v, high_u, high_v = 2.0 * half_width, 2.0 * half_height, 0.0, 0.0
    for i in range(2):
        for j in range(2):
            x, y, z = patch[i, j, 0], patch[i, j, 1], patch[i, j, 2]
            scale = focal / (x * axes[2, 0] + y * axes[2, 1] + z * axes[2, 2])
            u = half_width + scale * (x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2])
            v = half_height - scale * (x * axes[1, 0] + y * axes[1, 1] + z * axes[1, 2])
            low_u, high_u = min(low_u, u), max(high_u, u)
            low_v, high_v = min(low_v, v), max(high_v, v)
    frame[0], frame[1] = np.round(max(low_u, 0.0)), np.round(max(low_v, 0.0))
    frame[2], frame[3] = np.round(min(high_u, 2.0 * half_width)), np.round(min(high_v, 2.0 * half_height))


@njit(cache=True, nogil=True)
def project_pixels(
    corners: NDArray[np.float64],
    axes: NDArray[np.float64],
    focal: float,
    half_width: float,
    half_height: float,
    starts: NDArray[np.int64],
    views: NDArray[np.uint8],
    frames: NDArray[np.int16],
) -> int:
    """The views that show each pixel of a cube map and its rectangle there; returns the number of (pixel, view) pairs.

    (6, s + 1, s + 1, 3) directions of the pixel corners, (v, 3, 3) the right, up and forward axes of the views.
    Into (6 s s + 1,) starts of each pixel's (m,) views and (m, 4) frames: left, top, right, bottom, the last two
    exclusive. With empty `views` it only counts. A view shows a pixel if it shows its center; rectangles are clipped.
    """
    size = corners.shape[1] - 1
    found = 0
    for face in range(len(corners)):
        for row in range(size):
            for column in range(size):
                starts[(face * size + row) * size + column] = found
                x = corners[face, row, column, 0] + corners[face, row + 1, column + 1, 0]
                y = corners[face, row, column, 1] + corners[face, row + 1, column + 1, 1]
                z = corners[face, row, column, 2] + corners[face, row + 1, column + 1, 2]
                for view in range(len(axes)):
                    deep = x * axes[view, 2, 0] + y * axes[view, 2, 1] + z * axes[view, 2, 2]
                    if deep <= 0.0:
                        continue
                    across = x * axes[view, 0, 0] + y * axes[view, 0, 1] + z * axes[view, 0, 2]
                    upward = x * axes[view, 1, 0] + y * axes[view, 1, 1] + z * axes[view, 1, 2]
                    if abs(across) * focal >= half_width * deep or abs(upward) * focal >= half_height * deep:
                        continue
                    if len(views) > 0:
                        views[found] = view
                        _frame_pixel(
                            corners[face, row : row + 2, column : column + 2], axes[view], focal, half_width,
                            half_height, frames[found],
                        )  # fmt: skip
                    found += 1
    starts[-1] = found
    return found


@njit(cache=True, nogil=True)
def drop_far(
    instances: NDArray[np.int32],
    depths: NDArray[np.float32],
    rays: NDArray[np.float64],
    within: float,
    near: NDArray[np.bool_],
    kept: NDArray[np.int32],
) -> None:
    """near, kept <- (n, t) the instances with a pixel within a distance, metres, and (n, p) the pixels that show them.

    (n, p) instances and depths of n panoramas, (p, 3) rays of depth one. Other pixels show 0.
    """
    near[:] = False
    for k in range(len(instances)):
        for p in range(instances.shape[1]):
            instance = instances[k, p]
            if instance <= 0 or near[k, instance] or depths[k, p] > within:
                continue
            x, y, z = rays[p, 0], rays[p, 1], rays[p, 2]
            near[k, instance] = depths[k, p] * np.sqrt(x * x + y * y + z * z) <= within
        for p in range(instances.shape[1]):
            instance = instances[k, p]
            kept[k, p] = instance if instance > 0 and near[k, instance] else 0


@njit(cache=True, nogil=True)
def gather_boxes(
    instances: NDArray[np.int32],
    depths: NDArray[np.float32],
    rays: NDArray[np.float64],
    starts: NDArray[np.int64],
    views: NDArray[np.uint8],
    frames: NDArray[np.int16],
    pixels: NDArray[np.int32],
    shown: NDArray[np.int32],
    boxes: NDArray[np.int16],
    middles: NDArray[np.float64],
    nearest: NDArray[np.float64],
) -> None:
    """The pixels, boxes, directions and distances of each instance in each panorama, in one pass.

    (n, p) instances and depths of n panoramas, (p, 3) rays of depth one; starts, views and frames as above. Into, for
    each panorama and instance: its pixels, its pixels in each view, their bounding box (left, top, right, bottom), the
    sum of their directions weighted by solid angle, and the nearest distance.
    """
    for k in range(len(instances)):
        for p in range(instances.shape[1]):
            instance = instances[k, p]
            if instance <= 0:
                continue
            pixels[k, instance] += 1
            x, y, z = rays[p, 0], rays[p, 1], rays[p, 2]
            length = np.sqrt(x * x + y * y + z * z)
            # The solid angle of a pixel falls with length^3: at the rim of a face it is farther away and oblique.
            weight = 1.0 / (length * length * length * length)
            middles[k, instance, 0] += x * weight
            middles[k, instance, 1] += y * weight
            middles[k, instance, 2] += z * weight
            nearest[k, instance] = min(nearest[k, instance], depths[k, p] * length)
            for entry in range(starts[p], starts[p + 1]):
                view = views[entry]
                if shown[k, instance, view] == 0:
                    boxes[k, instance, view] = frames[entry]
                else:
                    for side in range(2):
                        boxes[k, instance, view, side] = min(boxes[k, instance, view, side], frames[entry, side])
                        boxes[k, instance, view, side + 2] = max(
                            boxes[k, instance, view, side + 2], frames[entry, side + 2]
                        )
                shown[k, instance, view] += 1
