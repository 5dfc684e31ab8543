"""Textures in pyramids of ever coarser levels (mip maps), in the layout of the shading kernel.

Between two levels is their mean, as large as the finer one: with steps of half a level, one look-up gives almost the
colors of trilinear filtering, which takes two.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from itinera.rendering._texture_simd_kernels import SQUARE
from itinera.rendering.noise import SIZE
from itinera.rendering.textures import texture
from itinera.worlds.labels import MATERIALS
from itinera.worlds.space import Array

LEVELS = SIZE.bit_length()  # 256, 128, …, 1 texels across
SIDES = [max(SIZE >> step // 2, SQUARE) for step in range(2 * LEVELS)]  # as stored: small levels are repeated
OFFSETS = np.concatenate([[0], np.cumsum(np.square(SIDES))]).astype(np.int32)
PYRAMID = int(OFFSETS[-1])  # words in the pyramid of a material


@cache
def mip_maps() -> NDArray[np.uint32]:
    """The pyramids of all materials, PYRAMID words each; the first material is plain.

    A word has four texels: its own in the lowest byte, then its right neighbor, the one above it, and that one's right
    neighbor. Each level averages four texels of the finer one.
    """
    words = []
    for material in MATERIALS:
        level = texture(material).astype(np.float64)
        for _ in range(LEVELS):
            coarse = _halve(level) if len(level) > 1 else level
            between = 0.5 * (level + _double(coarse)) if len(level) > 1 else level
            words += [_pack(np.floor(texels + 0.5).astype(np.uint32)) for texels in (level, between)]
            level = coarse
    return np.concatenate(words)


def _halve(level: Array) -> Array:
    """The next coarser level: means of four texels."""
    coarse: Array = 0.25 * (level[::2, ::2] + level[1::2, ::2] + level[::2, 1::2] + level[1::2, 1::2])
    return coarse


def _double(level: Array) -> Array:
    """A level in twice as many texels each way, interpolated; its edges meet, as textures repeat."""
    for axis in (0, 1):
        before, after = (0.75 * level + 0.25 * np.roll(level, shift, axis) for shift in (1, -1))
        shape = list(level.shape)
        shape[axis] *= 2
        level = np.stack([before, after], axis + 1).reshape(shape)
    return level


def arrange_in_squares(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """(h * w,) words (h, w) in squares of SQUARE x SQUARE, one row of squares after the other."""
    lines, columns = (side // SQUARE for side in words.shape)
    return np.ascontiguousarray(words.reshape(lines, SQUARE, columns, SQUARE).swapaxes(1, 2)).ravel()


def _pack(tile: NDArray[np.uint32]) -> NDArray[np.uint32]:
    tile = np.tile(tile, (max(1, SQUARE // len(tile)),) * 2)
    right, up = np.roll(tile, -1, axis=1), np.roll(tile, -1, axis=0)
    corner = np.roll(up, -1, axis=1)
    return arrange_in_squares((tile | right << 8 | up << 16 | corner << 24).astype(np.uint32))
