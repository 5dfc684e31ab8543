"""Textures in pyramids of ever coarser levels (mip maps), in the layout of the shading kernel."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from itinera.rendering.noise import SIZE
from itinera.rendering.textures import texture
from itinera.worlds.labels import MATERIALS

LEVELS = SIZE.bit_length()  # 256, 128, …, 1 texels across
OFFSETS = np.concatenate([[0], np.cumsum([(SIZE >> level) ** 2 for level in range(LEVELS)])]).astype(np.int32)
PYRAMID = int(OFFSETS[-1])  # words in the pyramid of a material
INVISIBLE = 0.9  # standard deviation of the texels of a level below which it is not drawn, of 128


@cache
def mip_maps() -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """The pyramids of all materials, PYRAMID words each, and (materials,) the number of levels worth drawing.

    A word has four texels: its own in the lowest byte, then its right neighbor, the one above it, and that one's right
    neighbor. Each level averages four texels of the finer one.
    """
    words, counts = [], []
    for material in MATERIALS:
        level = texture(material).astype(np.float64)
        visible = 0
        for k in range(LEVELS):
            if level.std() > INVISIBLE:
                visible = k + 1
            words.append(_pack(np.floor(level + 0.5).astype(np.uint32)).ravel())
            if len(level) > 1:
                level = 0.25 * (level[::2, ::2] + level[1::2, ::2] + level[::2, 1::2] + level[1::2, 1::2])
        counts.append(min(visible, LEVELS - 1))
    return np.concatenate(words), np.array(counts, dtype=np.int32)


def _pack(tile: NDArray[np.uint32]) -> NDArray[np.uint32]:
    right, up = np.roll(tile, -1, axis=1), np.roll(tile, -1, axis=0)
    corner = np.roll(up, -1, axis=1)
    return (tile | right << 8 | up << 16 | corner << 24).astype(np.uint32)
