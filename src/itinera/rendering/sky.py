"""The view out of the window: sky, hills, trees and a lawn, in every direction around the camera."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from itinera.rendering._texture_simd_kernels import SKY_SIDE
from itinera.rendering.mipmaps import arrange_in_squares
from itinera.rendering.noise import SIZE, fractal_noise
from itinera.seeding import generator
from itinera.worlds.space import Array

Color = tuple[float, float, float]


@dataclass(frozen=True)
class SkyColors:
    """Colors outside at one time of the day, 0 to 255."""

    zenith: Color
    horizon: Color
    cloud: Color
    hills: Color
    trees: Color
    lawn: Color


SKIES: Mapping[str, SkyColors] = MappingProxyType(
    {
        "day": SkyColors(
            (104, 158, 222), (214, 230, 242), (252, 252, 252), (146, 170, 176), (74, 98, 58), (122, 150, 76)
        ),
        "evening": SkyColors(
            (52, 66, 112), (246, 170, 110), (214, 128, 118), (84, 78, 102), (36, 40, 44), (58, 62, 48)
        ),
        "lamps": SkyColors((8, 11, 24), (22, 28, 48), (18, 22, 38), (11, 14, 24), (7, 9, 14), (11, 14, 15)),
    }
)


@cache
def paint_sky(mood: str) -> NDArray[np.uint32]:
    """(SKY_SIDE ** 2,) red + 256 green + 65536 blue in all directions, on an unfolded octahedron."""
    colors = _colors(_directions(), SKIES["day" if mood == "flat" else mood])
    # Rounded first, because the last bit differs between machines.
    rounded = np.floor(np.clip(colors, 0, 255).round(6) + 0.5).astype(np.uint32)
    words: NDArray[np.uint32] = rounded @ np.array([1, 256, 65536], dtype=np.uint32)
    return arrange_in_squares(words.reshape(SKY_SIDE, SKY_SIDE))


def _directions() -> Array:
    """(SKY_SIDE ** 2, 3) directions through the texels, as the shading kernel looks them up."""
    line = (np.arange(SKY_SIDE) + 0.5) / (0.5 * SKY_SIDE) - 1
    v, u = (grid.ravel() for grid in np.meshgrid(line, line, indexing="ij"))
    z = 1 - np.abs(u) - np.abs(v)
    x = np.where(z < 0, (1 - np.abs(v)) * np.where(u < 0, -1, 1), u)
    y = np.where(z < 0, (1 - np.abs(u)) * np.where(v < 0, -1, 1), v)
    return np.column_stack([x, y, z])


def _colors(directions: Array, sky: SkyColors) -> Array:
    """(n, 3) the colors in directions (n, 3), from far to near: sky, clouds, hills, trees, lawn."""
    x, y, z = directions.T
    flat = np.maximum(np.sqrt(x * x + y * y), 1e-9)
    slope = z / flat
    around = _turns(x, y)
    height = z / np.sqrt(x * x + y * y + z * z)
    share = np.sqrt(np.clip(height, 0, 1))[:, None]
    colors = np.array(sky.horizon) * (1 - share) + np.array(sky.zenith) * share
    above = np.maximum(z, 0.06)
    # Clouds on a plane overhead, thinner towards the horizon.
    puffs = _sample(_pattern("clouds", 5), 0.16 * x / above, 0.16 * y / above)
    cover = (np.clip(1.5 * puffs, 0, 0.9) * np.clip(6 * height, 0, 1))[:, None]
    colors = colors * (1 - cover) + np.array(sky.cloud) * cover
    hills = 0.035 + 0.035 * _sample(_pattern("hills", 3), around, 0.3)
    colors = np.where((slope < hills)[:, None], np.array(sky.hills), colors)
    crowns = _sample(_pattern("crowns", 5), 3 * around, 0.7) + 0.45 * _sample(_pattern("crowns", 5), 21 * around, 0.1)
    tops = 0.012 + 0.055 * np.maximum(crowns, 0)
    leaves = 1 + 0.3 * _sample(_pattern("leaves", 6), 12 * around, 5 * slope)
    colors = np.where((slope < tops)[:, None], np.array(sky.trees) * leaves[:, None], colors)
    below = np.minimum(z, -0.02)
    blades = _sample(_pattern("leaves", 6), 0.4 * x / below, 0.4 * y / below)
    nearby = np.clip(-8 * slope, 0, 1)[:, None]
    lawn = np.array(sky.lawn) * (1 + 0.2 * nearby * blades[:, None]) * (0.85 + 0.15 * nearby)
    seen: Array = np.where((slope < 0)[:, None], lawn, colors)
    return seen


def _pattern(name: str, octaves: int) -> Array:
    return fractal_noise(generator(0, "sky", name), 4, 4, octaves)


def _turns(x: Array, y: Array) -> Array:
    """A direction's way around the horizon in [0, 1), along a square instead of a circle: no angle is needed."""
    total = np.maximum(np.abs(x) + np.abs(y), 1e-9)
    way = y / total
    turns: Array = np.where(x >= 0, np.where(y >= 0, way, 4 + way), 2 - way) / 4
    return turns


def _sample(pattern: Array, u: Array, v: Array | float) -> Array:
    """The pattern at coordinates in tiles, interpolated between texels."""
    x, y = np.broadcast_arrays(u * SIZE, np.asarray(v) * SIZE)
    i, j = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    a, b = x - i, y - j
    i, j, right, up = i % SIZE, j % SIZE, (i + 1) % SIZE, (j + 1) % SIZE
    lower = pattern[j, i] * (1 - a) + pattern[j, right] * a
    upper = pattern[up, i] * (1 - a) + pattern[up, right] * a
    mixed: Array = lower * (1 - b) + upper * b
    return mixed
