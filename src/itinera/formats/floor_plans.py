"""Images of floor plans: light is free, dark is blocked.

An image has no scale and no frame: the lower left corner of the image is the origin, x points right and y up.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.formats.map_images import Picture, read_picture
from itinera.worlds.grid import Grid

FREE_ABOVE = 240.0  # of 255, as in the released RRT* planner


def read_floor_plan(path: str | Path, metres_per_pixel: float, threshold: float = FREE_ABOVE) -> Grid:
    """The occupancy grid of a PNG, BMP, JPEG or PGM image: cells brighter than the threshold, of 255, are free.

    The brightness of a pixel is the mean of its colors; transparent pixels are blended with white.
    """
    if not 0 <= threshold < 255:
        raise BadArgument(f"The threshold must be a gray value ≥ 0 and < 255; got {threshold}.")
    picture = read_picture(Path(path))
    blocked = picture.classify(lambda band: _is_dark(band, threshold))
    return Grid(blocked[::-1], metres_per_pixel)


def _is_dark(picture: Picture, threshold: float) -> NDArray[np.bool_]:
    gray = picture.gray / picture.white
    if picture.alpha is not None:
        cover = picture.alpha / picture.white
        gray = gray * cover + (1.0 - cover)
    # A value that equals the threshold up to rounding is not above it.
    return np.asarray(np.round(gray * 255, 9) <= threshold)
