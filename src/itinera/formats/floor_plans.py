"""Plain pictures of a floor plan: light is free, dark is blocked.

A picture knows no metres and no frame of its own: the low left corner of the picture is the origin, x points to the
right and y up.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from itinera.errors import BadArgument
from itinera.formats.map_images import read_picture
from itinera.worlds.grid import Grid

FREE_ABOVE = 240.0  # of 255, as the released RRT* planner has it


def read_floor_plan(path: str | Path, metres_per_pixel: float, threshold: float = FREE_ABOVE) -> Grid:
    """The grid of a PNG, BMP, JPEG or PGM picture: cells brighter than the threshold, of 255, are free.

    How bright a pixel is, is the mean of its colours; what is transparent is as bright as the white paper behind it.
    """
    if not 0 <= threshold < 255:
        raise BadArgument(f"The threshold is a grey from 0 up to 255, and brighter is free; got {threshold}.")
    picture = read_picture(Path(path))
    grey = picture.grey / picture.white
    if picture.alpha is not None:
        cover = picture.alpha / picture.white
        grey = grey * cover + (1.0 - cover)
    # What equals the threshold but for rounding is not above it.
    return Grid(np.round(grey[::-1] * 255, 9) <= threshold, metres_per_pixel)
