"""The colors of maps: those of their legend, and for labels without one colors that differ."""

from __future__ import annotations

import colorsys

import numpy as np
from numpy.typing import NDArray

from itinera.records.map_recording import Legend

UNLABELED = (88, 86, 82)  # of cells that contain something without a label
_TURN = 0.61803398875  # of the color circle from one label to the next: the golden ratio leaves no two alike


def paint_map(occupancy: NDArray[np.uint8], labels: NDArray[np.uint16], legend: Legend) -> NDArray[np.uint8]:
    """(…, 4) red, green, blue and opacity of each cell of a map; cells in which nothing was seen are transparent."""
    found, where = np.unique(labels, return_inverse=True)
    colors = np.array([(*color_label(int(label), legend), 255) for label in found], dtype=np.uint8)
    painted: NDArray[np.uint8] = colors[where.reshape(labels.shape)]
    painted[occupancy == 0] = 0
    return painted


def color_label(label: int, legend: Legend) -> tuple[int, int, int]:
    """The color of a label."""
    if label == 0:
        return UNLABELED
    if label < len(legend):
        return legend[label][1]
    red, green, blue = colorsys.hsv_to_rgb(label * _TURN % 1.0, 0.55 + 0.15 * (label % 4), 0.95 - 0.1 * (label % 3))
    return round(255 * red), round(255 * green), round(255 * blue)
