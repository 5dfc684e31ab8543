"""Reducing rendered frames to fewer pixels: first rows, which lie together in memory, then columns."""

# mypy: allow-untyped-decorators
from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Singles = NDArray[np.float32]
Ints = NDArray[np.int32]


@njit(cache=True, nogil=True)
def pool_nearest(
    depth: Singles, classes: Bytes, instances: Ints, factor: int, out: Singles, out_classes: Bytes, out_instances: Ints
) -> None:
    """out* <- of each square of factor x factor pixels the nearest; of several the leftmost, then the uppermost.

    Labels of length 0 are left out.
    """
    width = depth.shape[2]
    least, kinds, names = np.empty(width, np.float32), np.empty(width, np.uint8), np.empty(width, np.int32)
    for view in range(len(out)):
        for y in range(out.shape[1]):
            top = y * factor
            least[:] = depth[view, top]
            if len(out_classes):
                kinds[:] = classes[view, top]
            if len(out_instances):
                names[:] = instances[view, top]
            for row in range(top + 1, top + factor):
                found = depth[view, row]
                if len(out_classes):
                    _take_nearer(found, least, classes[view, row], kinds)
                if len(out_instances):
                    _take_nearer(found, least, instances[view, row], names)
                _take_nearer(found, least, found, least)
            for x in range(out.shape[2]):
                at = x * factor
                nearest = least[at]
                for column in range(at + 1, x * factor + factor):
                    other = least[column]
                    at = column if other < nearest else at
                    nearest = min(other, nearest)
                out[view, y, x] = nearest
                if len(out_classes):
                    out_classes[view, y, x] = kinds[at]
                if len(out_instances):
                    out_instances[view, y, x] = names[at]


@njit(cache=True, nogil=True)
def _take_nearer(found: Singles, least: Singles, values: NDArray[Any], kept: NDArray[Any]) -> None:
    """kept <- the values where `found` is less than `least`."""
    for x in range(len(kept)):
        # All are read in any case, so that there is no branch, which would be mispredicted.
        new, old, nearer = values[x], kept[x], found[x] < least[x]
        kept[x] = new if nearer else old


@njit(cache=True, nogil=True)
def pool_mean(rgb: Bytes, factor: int, out: Bytes) -> None:
    """out <- the mean color of each square of factor x factor pixels, rounded to the nearest, halves up.

    rgb: (n, height, 3 * width), out: (n, h, 3 * w).
    """
    count, width = np.uint32(factor * factor), rgb.shape[2]
    total = np.empty(width, np.uint32)
    for view in range(len(out)):
        for y in range(out.shape[1]):
            total[:] = 0
            for row in range(y * factor, (y + 1) * factor):
                line = rgb[view, row]
                for x in range(width):
                    total[x] += line[x]
            for x in range(out.shape[2]):
                first = x // 3 * 3 * factor + x % 3
                part = count // np.uint32(2)
                for column in range(factor):
                    part += total[first + 3 * column]
                out[view, y, x] = part // count
