"""PNG files, without a library for images."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument

_COLOR_TYPES = {3: 2, 4: 6}  # by the number of channels


def encode_png(image: NDArray[Any]) -> bytes:
    """The PNG file of an image (height, width, 3 or 4) of bytes: red, green, blue and, with 4, opacity.

    >>> encode_png(np.zeros((2, 3, 3), dtype=np.uint8))[1:4]
    b'PNG'
    """
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] not in _COLOR_TYPES:
        raise BadArgument(f"An image has the shape (height, width, 3 or 4) and bytes, not {image.shape} {image.dtype}.")
    height, width, channels = image.shape
    rows = np.zeros((height, 1 + width * channels), dtype=np.uint8)  # each begins with its filter, none
    rows[:, 1:] = image.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOR_TYPES[channels], 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in parts
    )
