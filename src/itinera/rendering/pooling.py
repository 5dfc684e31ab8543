"""Frames of fewer pixels: fine ones for maps, coarse ones of the same views for networks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.rendering._pooling_kernels import pool_mean, pool_nearest
from itinera.rendering.camera import Frame


def pool_frames(frames: Frame, factor: int) -> Frame:
    """The views (n, height, width) with each square of factor x factor pixels as one.

    Depth is the least of the square, so that thin obstacles stay. Class and instance are those of the pixel with that
    depth, the leftmost and then uppermost of several. Color is the rounded mean.
    """
    shapes = {channel.shape[1:3] for channel in frames.channels if len(channel)}
    if factor < 1 or any(side % factor for shape in shapes for side in shape):
        sizes = " or ".join(f"{height} x {width}" for height, width in sorted(shapes))
        raise BadArgument(f"factor must be a whole number ≥ 1 that divides both sides of {sizes} pixels, not {factor}.")
    rgb, depth, classes, instances = (
        np.empty((len(channel), *(side // factor for side in channel.shape[1:3]), *channel.shape[3:]), channel.dtype)
        for channel in frames.channels
    )
    if len(frames.depth):
        pool_nearest(frames.depth, frames.classes, frames.instances, factor, depth, classes, instances)
    elif len(classes) or len(instances):
        raise BadArgument("Pooled labels are those of the nearest pixel: render the depth channel too.")
    pool_mean(_flat(frames.rgb), factor, _flat(rgb))
    return Frame(rgb, depth, classes, instances)


def _flat(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """(n, height, 3 * width) the colors of each row."""
    return rgb.reshape(*rgb.shape[:2], 3 * rgb.shape[2])
