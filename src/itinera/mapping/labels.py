"""The 13 classes of the paper's maps, their display colors, and the tables that make labels of other classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itinera.records.map_recording import Legend
from itinera.worlds.labels import MAP_CLASSES, MPCAT40

Table = NDArray[np.uint16]  # (k,) the label of each class; a class beyond its end has label 0

MAP_COLORS = (
    (0, 0, 0),
    (106, 137, 204),
    (230, 126, 34),
    (7, 153, 146),
    (248, 194, 145),
    (76, 209, 55),
    (255, 168, 1),
    (184, 233, 148),
    (39, 174, 96),
    (229, 80, 57),
    (30, 55, 153),
    (24, 220, 255),
    (234, 32, 39),
)
"""The red, green and blue of each of MAP_CLASSES in the pictures of the released code."""


PAPER_LEGEND: Legend = tuple(zip(MAP_CLASSES, MAP_COLORS, strict=True))


def paper_table() -> Table:
    """(42,) the label of each category of MPCAT40: its index in MAP_CLASSES, or 0.

    >>> paper_table()[MPCAT40.index("sofa")]
    np.uint16(6)
    """
    return np.array([MAP_CLASSES.index(name) if name in MAP_CLASSES else 0 for name in MPCAT40], dtype=np.uint16)


def paper_labels(classes: NDArray[np.integer]) -> NDArray[np.uint8]:
    """Indices into MAP_CLASSES of the same shape as `classes`, which are indices into MPCAT40."""
    labels: NDArray[np.uint8] = paper_table().astype(np.uint8)[classes]
    return labels
