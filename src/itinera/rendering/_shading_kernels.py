"""Shading with textures and baked light: BLOCK pixels of a row at a time, after visibility is known.

`shade_view` is the entry point. A row is split into runs of pixels that show one patch, and runs into blocks. Texture
coordinates follow from the depth of each pixel; light is looked up at the ends of a block and interpolated between
them; a block has one level of detail. The last block of a run may reach beyond it: the next run overwrites that part.
Memory is slower than arithmetic here: the places of all texels of a row are found first, then all of them are read.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from itinera.rendering._simd_kernels import EIGHT
from itinera.rendering._texture_simd_kernels import (
    BLOCK,
    changes,
    fill_block,
    lowest_bit,
    mix_light,
    paint_block,
    paint_sky,
    place_texels,
    prefetch,
)

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int32]
Words = NDArray[np.uint32]
Shorts = NDArray[np.uint16]
Longs = NDArray[np.int64]
Bytes = NDArray[np.uint8]

# Columns of `skins`, one row for each face and one for the background. The last four are integers in the same memory.
RED, GREEN, BLUE, S_ORIGIN, T_ORIGIN, S_SCALE, T_SCALE, S_LAST, T_LAST, SCALE, U_PHASE, V_PHASE = range(12)
CHART, CHART_WIDTH, CODE, INSTANCE = range(12, 16)
# A code has, from the lowest bit: kind (2), axes of u and v (2 each), material (6), class.
U_BIT, V_BIT, MATERIAL_BIT, CLASS_BIT = 2, 4, 6, 12
SURFACE, SKY, MIRROR = range(3)  # kinds: a surface, the sky behind this pixel, the sky that a pane mirrors

FRACTION = 256.0  # texture coordinates are integers in 256ths of a texel
SHORT = 8  # pixels; runs up to this length have the light of their first pixel
ONE_BITS = 0x3F800000  # 1.0 as an integer: the exponent starts at bit 23


class Surfaces(NamedTuple):
    """How the faces of a mesh look: textures, baked light and the sky; the last entry is the background."""

    skins: Singles  # (f + 1, 16) color, place on the lightmap and on the texture, labels
    marks: Ints  # the same memory
    texels: Words  # pyramids of textures, four texels to a word
    offsets: Ints  # first word of each level of a pyramid
    lightmap: Shorts  # (4 * n,) red, green, blue light and padding of each texel; LIGHT_UNIT for the plain color
    sky: Words  # (SKY_SIDE ** 2,) an unfolded octahedron: red + 256 green + 65536 blue


@njit(cache=True, nogil=True, error_model="numpy")
def _split_row(shown: Ints, first: int, width: int, ends: Longs, points: Longs, tails: Longs) -> tuple[int, int, int]:
    """ends <- the end of each run of a row; points <- the first pixel of each block; tails <- the last of long runs.

    Returns their numbers.
    """
    runs = 0
    for x in range(0, width, 64):
        # All bits of 64 pixels before any of them is used: a loop for each block would be mispredicted at its end.
        bits, last = 0, width - 1 - x
        for k in range(0, min(last + 1, 64), BLOCK):
            bits |= changes(shown, first + x + k) << k
        if last < 64:
            bits = bits & ((1 << last) - 1) | 1 << last
        while bits:
            ends[runs] = x + lowest_bit(bits) + 1
            runs += 1
            bits &= bits - 1
    count, long_runs, start = 0, 0, 0
    for n in range(runs):
        for x in range(start, ends[n], BLOCK):
            points[count] = x
            count += 1
        tails[long_runs] = ends[n] - 1
        long_runs += ends[n] - start > SHORT
        start = ends[n]
    return runs, count, long_runs


@njit(cache=True, nogil=True, error_model="numpy")
def _place_light(
    n: int, x: int, first: int, near: Singles, shown: Ints, skins: Singles, marks: Ints, lightmap: Shorts,
    eye: Singles, base: Singles, step: Singles, corners: Longs, shares: Singles,
) -> None:  # fmt: skip
    """corners, shares (n, 2) <- the texels of the lightmap around a pixel of a row, and the way between them."""
    none, one = np.float32(0.0), np.float32(1.0)
    face = np.uint64(shown[first + x])
    code = marks[face, CODE]
    u, v = np.uint64(code >> U_BIT & 3), np.uint64(code >> V_BIT & 3)
    column, depth = np.float32(x), one / near[first + x]
    s = (eye[u] + (base[u] + step[u] * column) * depth) * skins[face, S_SCALE] - skins[face, S_ORIGIN]
    t = (eye[v] + (base[v] + step[v] * column) * depth) * skins[face, T_SCALE] - skins[face, T_ORIGIN]
    s, t = s if s > none else none, t if t > none else none
    s_last, t_last = skins[face, S_LAST], skins[face, T_LAST]
    s, t = s if s < s_last else s_last, t if t < t_last else t_last
    i, j = np.int32(s), np.int32(t)
    width = marks[face, CHART_WIDTH]
    at = np.int64(marks[face, CHART] + j * width + i)
    prefetch(lightmap, 4 * at)
    prefetch(lightmap, 4 * (at + width))
    corners[2 * n], corners[2 * n + 1] = at, at + width
    shares[2 * n], shares[2 * n + 1] = s - np.float32(i), t - np.float32(j)


@njit(cache=True, nogil=True, error_model="numpy")
def _prepare_row(
    count: int, long_runs: int, first: int, near: Singles, shown: Ints, glow: Singles, skins: Singles, marks: Ints,
    texels: Words, offsets: Ints, lightmap: Shorts, eye: Singles, base: Singles, step: Singles, lens: Singles,
    points: Longs, tails: Longs, lights: Singles, corners: Longs, shares: Singles, places: Ints, fractions: Ints,
) -> None:  # fmt: skip
    """lights (n, 4) <- the light at points, then at tails; places, fractions (width,) <- the texels of the blocks.

    Loops without branches, so that the processor works on several points at a time. `lens` has the texels across a
    pixel a metre away, one plus the squared slope of the row, the middle column, and a pixel in focal lengths.
    """
    one = np.float32(1.0)
    texel, row_slant, middle, pitch = lens[0], lens[1], lens[2], lens[3]
    coarsest = np.int32(len(offsets) - 2)
    for n in range(count):
        x = points[n]
        column = np.float32(x)
        _place_light(n, x, first, near, shown, skins, marks, lightmap, eye, base, step, corners, shares)
        face = np.uint64(shown[first + x])
        code = marks[face, CODE]
        u, v = np.uint64(code >> U_BIT & 3), np.uint64(code >> V_BIT & 3)
        nearness = near[first + x]
        # The area of a pixel on the face, in texels, grows with the cube of the distance; slant + slant² is about
        # twice its power of 3/2.
        aside = (column - middle) * pitch
        slant = row_slant + aside * aside
        scale = skins[face, SCALE] * texel
        area = scale * scale * (slant + slant * slant) / (nearness * nearness * nearness * glow[face])
        # The exponent of a float is its logarithm; twice the level of detail is that of the area. Rounded, because a
        # pyramid has levels in steps of a half.
        area = area if area > one else one
        lod = np.int32((np.float32(area).view(np.int32) - ONE_BITS + (1 << 22)) >> 23)
        lod = lod if lod < coarsest else coarsest
        size = skins[face, SCALE]
        slopes = (
            eye[u] * size + skins[face, U_PHASE], base[u] * size, step[u] * size,
            eye[v] * size + skins[face, V_PHASE], base[v] * size, step[v] * size,
        )  # fmt: skip
        level = np.int32((code >> MATERIAL_BIT & 63) * offsets[-1] + offsets[np.uint64(lod)])
        place_texels(near, first + x, slopes, column, texels, level, np.int32(lod >> 1), places, fractions, x)
    for n in range(long_runs):
        _place_light(count + n, tails[n], first, near, shown, skins, marks, lightmap, eye, base, step, corners, shares)
    for n in range(count + long_runs):
        mix_light(lightmap, corners[2 * n], corners[2 * n + 1], shares[2 * n], shares[2 * n + 1], lights, n)


@njit(cache=True, nogil=True, error_model="numpy")
def shade_view(
    width: int, height: int, columns: int, focal: float, near: Singles, shown: Ints, glow: Singles, headlight: float,
    skins: Singles, marks: Ints, texels: Words, offsets: Ints, lightmap: Shorts, sky: Words, eye: Floats, axes: Floats,
    row: Bytes, kinds: Bytes, names: Ints, out_rgb: Bytes, out_classes: Bytes, out_instances: Ints,
) -> None:  # fmt: skip
    """out_rgb (height, 3 * width), out_classes, out_instances (1, height, width) <- a view; empty labels are skipped.

    `glow` is `headlight` times the camera's height over a face; row, kinds and names are buffers for one row.
    """
    stride = columns * EIGHT
    ends, points, tails = np.empty(stride, np.int64), np.empty(stride, np.int64), np.empty(stride, np.int64)
    lights = np.zeros((2 * stride + 1) * 4, np.float32)
    corners, shares = np.empty(4 * stride, np.int64), np.empty(4 * stride, np.float32)
    places, fractions = np.zeros(stride + BLOCK, np.int32), np.zeros(stride + BLOCK, np.int32)
    words = np.zeros(stride + BLOCK, np.uint32)
    here, base, step = np.empty(3, np.float32), np.empty(3, np.float32), np.empty(3, np.float32)
    rates = np.zeros(BLOCK + 1, np.float32)
    for k in range(1, BLOCK + 1):
        rates[k] = 1.0 / k
    lens = np.empty(4, np.float32)
    lens[0], lens[2], lens[3] = math.sqrt(0.5 * headlight) / (focal * FRACTION), 0.5 * width - 0.5, 1.0 / focal
    for k in range(3):
        here[k], step[k] = eye[k], axes[0, k] / focal
    for y in range(height):
        down, left = (y + 0.5 - 0.5 * height) / focal, (0.5 - 0.5 * width) / focal
        for k in range(3):
            base[k] = axes[2, k] + down * axes[1, k] + left * axes[0, k]
        lens[1] = 1.0 + down * down
        first = y * stride
        runs, count, long_runs = _split_row(shown, first, width, ends, points, tails)
        _prepare_row(
            count, long_runs, first, near, shown, glow, skins, marks, texels, offsets, lightmap, here, base, step, lens,
            points, tails, lights, corners, shares, places, fractions,
        )  # fmt: skip
        for x in range(width):
            words[x] = texels[np.uint64(places[x])]
        # Blocks reach beyond the end of a row, into rows that are drawn later; after the last ones there is no room.
        inside = (height - 1 - y) * width >= BLOCK
        colors = out_rgb[y] if inside else row
        classes = out_classes[0, y] if inside and len(out_classes) else kinds
        instances = out_instances[0, y] if inside and len(out_instances) else names
        n, tail, end = 0, count, 0
        for run in range(runs):
            start, end = end, ends[run]
            face = np.uint64(shown[first + start])
            code = marks[face, CODE]
            for x in range(start, end, BLOCK):
                fill_block(classes, x, np.uint8(code >> CLASS_BIT))
                fill_block(instances, x, marks[face, INSTANCE])
            if code & 3 != SURFACE:
                rays = base[0], step[0], base[1], step[1], base[2], step[2]
                if code & 3 == MIRROR:
                    nx, ny, nz = skins[face, S_ORIGIN], skins[face, T_ORIGIN], skins[face, S_SCALE]
                    a = np.float32(2.0) * (base[0] * nx + base[1] * ny + base[2] * nz)
                    b = np.float32(2.0) * (step[0] * nx + step[1] * ny + step[2] * nz)
                    rays = (
                        base[0] - a * nx, step[0] - b * nx, base[1] - a * ny, step[1] - b * ny, base[2] - a * nz,
                        step[2] - b * nz,
                    )  # fmt: skip
                tint = skins[face, RED], skins[face, GREEN], skins[face, BLUE]
                for x in range(start, end, BLOCK):
                    paint_sky(sky, rays, tint, np.float32(x), colors, x)
                n += (end - start + BLOCK - 1) // BLOCK
                tail += end - start > SHORT
                continue
            for x in range(start, end, BLOCK):
                rate = rates[min(x + BLOCK, end - 1) - x] * np.float32(end - start > SHORT)
                after = n + 1 if x + BLOCK < end else tail
                paint_block(words, fractions, lights, n, after, skins, face, rate, colors, x)
                n += 1
            tail += end - start > SHORT
        if inside:
            continue
        # Loops, because numba assigns slices slowly.
        for k in range(3 * width):
            out_rgb[y, k] = row[k]
        for k in range(width if len(out_classes) else 0):
            out_classes[0, y, k] = kinds[k]
        for k in range(width if len(out_instances) else 0):
            out_instances[0, y, k] = names[k]
