"""Materials for physically based rendering: roughness, metalness, and the texture images of Hearth's materials.

Our own images multiply the color of a face by the luminance of a texture, where 128 leaves it as it is. Renderers
multiply a base color by a texture whose white leaves it as it is, both in linear light: here the texture is divided by
its brightest texel, and the color is multiplied by it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from itinera.formats.scene_export.parts import Part, Surface
from itinera.rendering.textures import UNCHANGED, texture
from itinera.worlds import Array

UNTEXTURED = "plain"

PHYSICAL: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "plain": (0.7, 0.0),
        "wood": (0.55, 0.0),
        "planks": (0.45, 0.0),
        "tile": (0.25, 0.0),
        "carpet": (1.0, 0.0),
        "stone": (0.5, 0.0),
        "brick": (0.9, 0.0),
        "plaster": (0.9, 0.0),
        "fabric": (0.95, 0.0),
        "leather": (0.5, 0.0),
        "wallpaper": (0.85, 0.0),
        "grass": (1.0, 0.0),
        "leaves": (0.8, 0.0),
        "gravel": (0.95, 0.0),
        "concrete": (0.9, 0.0),
        "metal": (0.3, 1.0),
        "glass": (0.05, 0.0),
        "ceramic": (0.15, 0.0),
        "paper": (0.9, 0.0),
        "shingles": (0.85, 0.0),
    }
)
"""Roughness and metalness of each of labels.MATERIALS."""


def base_color(surface: Surface) -> tuple[float, float, float]:
    """The base color of a surface in linear light, from 0 to 1, to be multiplied by its texture if it has one."""
    brightest = 1.0 if surface.material == UNTEXTURED else _brightest(surface.material) / UNCHANGED
    srgb = np.minimum(np.array(surface.color) * brightest / 255, 1.0)
    red, green, blue = linear_light(srgb).round(5).tolist()
    return red, green, blue


def linear_light(srgb: Array) -> Array:
    """Linear light of sRGB values from 0 to 1."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


@cache
def _brightest(material: str) -> int:
    return int(texture(material).max())


@cache
def texture_png(material: str) -> bytes:
    """The texture of a material as a grayscale PNG file, its brightest texel white; rows from the top of a tile.

    Images have their first row at the top, and our textures at v = 0: rows are reversed where v grows upward.
    """
    luminance = texture(material).astype(np.float64) * 255 / _brightest(material)
    return encode_png(np.floor(luminance + 0.5).astype(np.uint8))


def texture_names(parts: Iterable[Part]) -> list[str]:
    """The materials with a texture among those of the parts, sorted."""
    used = {surface.material for part in parts for surface in part.surfaces}
    return sorted(used - {UNTEXTURED})


def encode_png(gray: NDArray[np.uint8]) -> bytes:
    """A PNG file of a grayscale image (height, width)."""
    height, width = gray.shape
    rows = np.zeros((height, width + 1), np.uint8)  # each row begins with the number of its filter, 0 for none
    rows[:, 1:] = gray
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, *zip(*chunks, strict=True)))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
