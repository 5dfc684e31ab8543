"""Shading with textures and baked light: eight pixels of a row at a time, after visibility is known.

`shade_row` is the entry point. Most groups of eight pixels show one face; where they show several, each face is shaded
and only its own pixels are kept. Texture coordinates follow from the depth of each pixel; the light of a face is looked
up at its first and last pixel of the group and interpolated between them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from itinera.rendering._simd_kernels import EIGHT, INT, INTS, SINGLES, _address, _spread

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int32]
Words = NDArray[np.uint32]
Longs = NDArray[np.int64]
Bytes = NDArray[np.uint8]

# Columns of `skins`, one row for each face and one for the background. The last four are integers in the same memory.
RED, GREEN, BLUE, S_ORIGIN, T_ORIGIN, S_SCALE, T_SCALE, S_LAST, T_LAST, SCALE, U_PHASE, V_PHASE = range(12)
CHART, CHART_WIDTH, CODE, INSTANCE = range(12, 16)
WIDTH = 16
# A code has, from the lowest bit: kind (2), axes of u and v (2 each), levels of the texture (4), material (6), class.
U_BIT, V_BIT, LEVELS_BIT, MATERIAL_BIT, CLASS_BIT = 2, 4, 6, 10, 16
SURFACE, SKY, MIRROR = range(3)  # kinds: a surface, the sky behind this pixel, the sky that a pane mirrors

SIDE_BITS = 8  # a texture is 256 texels wide
FRACTION = 256.0  # texture coordinates are integers in 256ths of a texel
SKY_SIDE = 720  # texels along an edge of the sky
ONE_BITS = 0x3F800000  # 1.0 as an integer: the exponent starts at bit 23


FOUR = ir.VectorType(ir.FloatType(), 4)


class Surfaces(NamedTuple):
    """How the faces of a mesh look: textures, baked light and the sky; the last entry is the background."""

    skins: Singles  # (f + 1, 16) color, place on the lightmap and on the texture, labels
    marks: Ints  # the same memory
    texels: Words  # pyramids of textures, four texels to a word
    offsets: Ints  # first word of each level of a pyramid
    lightmap: Singles  # (4 * n,) red, green, blue light and padding of each texel; 1 for the plain color
    sky: Words  # (SKY_SIDE ** 2,) an unfolded octahedron: red + 256 green + 65536 blue


class _Lanes:
    """Eight numbers in an LLVM vector, with Python's operators."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder = builder
        self.value = value if isinstance(value.type, ir.VectorType) else _spread(builder, value)

    def _other(self, other: Any) -> Any:
        if isinstance(other, _Lanes):
            return other.value
        return ir.Constant(self.value.type, [other] * EIGHT)

    def _do(self, of_floats: str, of_ints: str, other: Any) -> _Lanes:
        name = of_floats if self.value.type == SINGLES else of_ints
        return _Lanes(self.builder, getattr(self.builder, name)(self.value, self._other(other)))

    def __add__(self, other: Any) -> _Lanes:
        return self._do("fadd", "add", other)

    def __sub__(self, other: Any) -> _Lanes:
        return self._do("fsub", "sub", other)

    def __mul__(self, other: Any) -> _Lanes:
        return self._do("fmul", "mul", other)

    def __and__(self, other: Any) -> _Lanes:
        return self._do("", "and_", other)

    def __or__(self, other: Any) -> _Lanes:
        return self._do("", "or_", other)

    def __lshift__(self, other: Any) -> _Lanes:
        return self._do("", "shl", other)

    def __rshift__(self, other: Any) -> _Lanes:
        return self._do("", "ashr", other)

    def floats(self) -> _Lanes:
        return _Lanes(self.builder, self.builder.sitofp(self.value, SINGLES))

    def ints(self) -> _Lanes:
        return _Lanes(self.builder, self.builder.fptosi(self.value, INTS))

    def at_most(self, limit: int) -> _Lanes:
        smaller = self.builder.icmp_signed("<", self.value, self._other(limit))
        return _Lanes(self.builder, self.builder.select(smaller, self.value, self._other(limit)))


def _bilinear(builder: Any, look_up: Any, u: _Lanes, v: _Lanes, base: Any, level: Any) -> _Lanes:
    """Texture at fixed-point coordinates in one level of a pyramid, 65536 times the byte of a texel.

    A word of the pyramid has a texel, its right neighbor, and the two above them: one look-up for all four.
    """
    shift = _Lanes(builder, level)
    bits = _Lanes(builder, builder.sub(INT(SIDE_BITS), level))
    size = _Lanes(builder, builder.sub(builder.shl(INT(1), builder.sub(INT(SIDE_BITS), level)), INT(1)))
    u, v = (u >> shift) - 128, (v >> shift) - 128
    index = ((((v >> 8) & size) << bits) | ((u >> 8) & size)) + _Lanes(builder, base)
    word: _Lanes = look_up(index)
    right, up = u & 255, v & 255
    odd = _Lanes(builder, builder.lshr(word.value, ir.Constant(INTS, [8] * EIGHT))) & 0xFF00FF
    pairs = ((word & 0xFF00FF) * (_Lanes(builder, INT(256)) - right)) + (odd * right)
    lower, upper = pairs & 0xFFFF, _Lanes(builder, builder.lshr(pairs.value, ir.Constant(INTS, [16] * EIGHT)))
    return (lower << 8) + (upper - lower) * up


def _paint_eight(
    typing: Any, near: Any, at: Any, texels: Any, rays: Any, levels: Any, lights: Any, n: Any, skins: Any, face: Any,
    unit: Any, rate: Any, row: Any, to: Any,
) -> Any:  # fmt: skip
    """row <- red, green and blue of eight pixels of a face.

    `rays` are u at the camera, its slope along the first pixel's ray and the slope's step, then the same of v. `levels`
    are base and level of a pyramid, of the next level, and the share of the next; empty without a texture. Colors are
    `unit` times those of the face in the n-th of the lights; from pixel to pixel, light changes by `rate` times the
    difference to the next of the lights.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        near_, at_, texels_, rays_, levels_, lights_, n_, skins_, face_, unit_, rate_, row_, to_ = arguments
        lanes = _Lanes(builder, ir.Constant(SINGLES, [float(k) for k in range(EIGHT)]))

        def member(group: Any, k: int) -> Any:
            return builder.extract_value(group, k)

        def line(group: Any, k: int) -> _Lanes:
            return _Lanes(builder, member(group, k)) + lanes * _Lanes(builder, member(group, k + 1))

        def four(table: Any, kind: Any, index: Any, width: int) -> Any:
            return _load_four(context, builder, table, kind, builder.mul(index, ir.Constant(index.type, width)))

        def look_up(index: _Lanes) -> _Lanes:
            return _look_up(context, builder, texels_, texels, index)

        here, after = four(lights_, lights, n_, 4), four(lights_, lights, builder.add(n_, n_.type(1)), 4)
        color = builder.fmul(four(skins_, skins, face_, 16), _spread_four(builder, unit_))
        change = builder.fmul(builder.fmul(builder.fsub(after, here), _spread_four(builder, rate_)), color)
        begin = builder.fmul(here, color)

        def channel(k: int) -> _Lanes:
            start, step = (_Lanes(builder, builder.extract_element(value, INT(k))) for value in (begin, change))
            return start + lanes * step

        channels = [channel(k) for k in range(3)]
        if len(signature.args[4]):
            pointer = builder.bitcast(_address(context, builder, near_, near, at_), SINGLES.as_pointer())
            nearness = builder.load(pointer, align=4)
            depth = _Lanes(builder, builder.fdiv(ir.Constant(SINGLES, [1.0] * EIGHT), nearness))
            u = (_Lanes(builder, member(rays_, 0)) + line(rays_, 1) * depth).ints()
            v = (_Lanes(builder, member(rays_, 3)) + line(rays_, 4) * depth).ints()
            factor = _bilinear(builder, look_up, u, v, member(levels_, 0), member(levels_, 1)).floats()
            if len(signature.args[4]) > 2:
                coarse = _bilinear(builder, look_up, u, v, member(levels_, 2), member(levels_, 3)).floats()
                factor = factor + (coarse - factor) * _Lanes(builder, member(levels_, 4))
            channels = [channel * factor for channel in channels]
        red, green, blue = ((channel + 0.5).ints().at_most(255) for channel in channels)
        _store_colors(context, builder, row_, row, to_, red | (green << 8) | (blue << 16))
        return context.get_dummy_value()

    return types.void(near, at, texels, rays, levels, lights, n, skins, face, unit, rate, row, to), build


def _load_four(context: Any, builder: Any, table: Any, kind: Any, index: Any) -> Any:
    """Four numbers of a table from a place on."""
    pointer = builder.bitcast(_address(context, builder, table, kind, index), FOUR.as_pointer())
    return builder.load(pointer, align=4)


def _spread_four(builder: Any, value: Any) -> Any:
    first = builder.insert_element(ir.Constant(FOUR, ir.Undefined), value, INT(0))
    return builder.shuffle_vector(first, ir.Constant(FOUR, ir.Undefined), ir.Constant(ir.VectorType(INT, 4), [0] * 4))


def _store_colors(context: Any, builder: Any, row: Any, kind: Any, pixel: Any, words: _Lanes) -> None:
    """row <- the lower three bytes of each of eight words, from a pixel on."""
    letters = builder.bitcast(words.value, ir.VectorType(ir.IntType(8), 4 * EIGHT))
    three = ir.Constant(ir.VectorType(INT, 3 * EIGHT), [4 * (k // 3) + k % 3 for k in range(3 * EIGHT)])
    kept = builder.shuffle_vector(letters, letters, three)
    place = builder.mul(pixel, ir.Constant(pixel.type, 3))
    target = builder.bitcast(_address(context, builder, row, kind, place), kept.type.as_pointer())
    builder.store(kept, target, align=1)


def _paint_sky(typing: Any, sky: Any, rays: Any, tint: Any, row: Any, to: Any) -> Any:
    """row <- the sky along the rays of eight pixels, in a tint.

    `rays` are x of the first direction and its step, then y and z; `tint` are red, green and blue. The sky is on the
    eight sides of an octahedron, unfolded into a square whose middle is the zenith and whose corners are the nadir.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sky_, rays_, tint_, row_, to_ = arguments
        lanes = _Lanes(builder, ir.Constant(SINGLES, [float(k) for k in range(EIGHT)]))

        def member(group: Any, k: int) -> _Lanes:
            return _Lanes(builder, builder.extract_value(group, k))

        def choose(condition: Any, one: _Lanes, other: _Lanes) -> _Lanes:
            return _Lanes(builder, builder.select(condition, one.value, other.value))

        def negative(number: _Lanes) -> Any:
            return builder.fcmp_ordered("<", number.value, ir.Constant(SINGLES, [0.0] * EIGHT))

        zero, one = (_Lanes(builder, ir.Constant(SINGLES, [value] * EIGHT)) for value in (0.0, 1.0))
        x, y, z = (member(rays_, k) + lanes * member(rays_, k + 1) for k in (0, 2, 4))
        long_x, long_y, long_z = (choose(negative(way), zero - way, way) for way in (x, y, z))
        scale = _Lanes(builder, builder.fdiv(one.value, (long_x + long_y + long_z + 1e-20).value))
        u, v, ahead, aside = x * scale, y * scale, long_x * scale, long_y * scale
        folded_u, folded_v = one - aside, one - ahead
        below = negative(z)
        u = choose(below, choose(negative(x), zero - folded_u, folded_u), u)
        v = choose(below, choose(negative(y), zero - folded_v, folded_v), v)
        half = 0.5 * SKY_SIDE
        column, line = ((way * half + half).ints().at_most(SKY_SIDE - 1) for way in (u, v))
        word = _look_up(context, builder, sky_, sky, line * SKY_SIDE + column)
        red, green, blue = (
            (((word >> shift) & 255).floats() * member(tint_, k)).ints().at_most(255)
            for k, shift in enumerate((0, 8, 16))
        )
        _store_colors(context, builder, row_, row, to_, red | (green << 8) | (blue << 16))
        return context.get_dummy_value()

    return types.void(sky, rays, tint, row, to), build


def _look_up(context: Any, builder: Any, table: Any, kind: Any, index: _Lanes) -> _Lanes:
    """The words of a table at eight places."""
    found = ir.Constant(INTS, ir.Undefined)
    for lane in range(EIGHT):
        place = builder.zext(builder.extract_element(index.value, INT(lane)), ir.IntType(64))
        found = builder.insert_element(found, builder.load(_address(context, builder, table, kind, place)), INT(lane))
    return _Lanes(builder, found)


def _changes(typing: Any, shown: Any, at: Any) -> Any:
    """Eight bits: which of eight pixels from `at` on show another face than their left neighbor; the first does."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        shown_, at_ = arguments

        def load(index: Any) -> Any:
            return builder.load(
                builder.bitcast(_address(context, builder, shown_, shown, index), INTS.as_pointer()), align=4
            )

        here = load(at_)
        turn = ir.Constant(INTS, [0, 0, 1, 2, 3, 4, 5, 6])
        before = builder.shuffle_vector(here, here, turn)
        bits = builder.bitcast(builder.icmp_signed("!=", here, before), ir.IntType(8))
        return builder.or_(builder.zext(bits, ir.IntType(64)), ir.IntType(64)(1))

    return types.int64(shown, at), build


def _lowest_bit(typing: Any, bits: Any) -> Any:
    """The place of the lowest bit that is set."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(bits), build


def _mix_light(typing: Any, lightmap: Any, at: Any, below: Any, s: Any, t: Any, lights: Any, n: Any) -> Any:
    """lights[n] <- light between four texels: at, the next, and the two from `below` on; s and t are in [0, 1]."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lightmap_, at_, below_, s_, t_, lights_, n_ = arguments

        def load(index: Any, more: int) -> Any:
            place = builder.mul(builder.add(index, ir.Constant(index.type, more)), ir.Constant(index.type, 4))
            return _load_four(context, builder, lightmap_, lightmap, place)

        def mix(a: Any, b: Any, share: Any) -> Any:
            return builder.fadd(a, builder.fmul(builder.fsub(b, a), share))

        across, down = _spread_four(builder, s_), _spread_four(builder, t_)
        light = mix(mix(load(at_, 0), load(at_, 1), across), mix(load(below_, 0), load(below_, 1), across), down)
        place = builder.mul(n_, ir.Constant(n_.type, 4))
        target = builder.bitcast(_address(context, builder, lights_, lights, place), FOUR.as_pointer())
        builder.store(light, target, align=4)
        return context.get_dummy_value()

    return types.void(lightmap, at, below, s, t, lights, n), build


def _fill_eight(typing: Any, row: Any, to: Any, value: Any) -> Any:
    """row <- a value eight times."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row_, to_, value_ = arguments
        eight = _spread(builder, value_)
        target = builder.bitcast(_address(context, builder, row_, row, to_), eight.type.as_pointer())
        builder.store(eight, target, align=1)
        return context.get_dummy_value()

    return types.void(row, to, value), build


# Numba supplies the first argument.
paint_eight: Any = intrinsic(_paint_eight)
paint_sky: Any = intrinsic(_paint_sky)
changes: Any = intrinsic(_changes)
lowest_bit: Any = intrinsic(_lowest_bit)
mix_light: Any = intrinsic(_mix_light)
fill_eight: Any = intrinsic(_fill_eight)


@njit(cache=True, nogil=True, error_model="numpy")
def _split_row(shown: Ints, first: int, width: int, starts: Longs) -> int:
    """starts <- the first pixel of each segment of a row, then its width; returns the number of segments.

    A segment shows one face and lies in one group of eight pixels.
    """
    count = 0
    for x in range(0, width, EIGHT):
        bits = changes(shown, first + x)
        while bits:
            starts[count] = x + lowest_bit(bits)
            count += 1
            bits &= bits - 1
    while starts[count - 1] >= width:
        count -= 1
    starts[count] = width
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _light_row(
    count: int, first: int, near: Singles, shown: Ints, glow: Singles, skins: Singles, marks: Ints, lightmap: Singles,
    eye: Singles, base: Singles, step: Singles, lens: Singles, starts: Longs, lods: Ints, lights: Singles,
) -> None:  # fmt: skip
    """lods (n,), lights (n, 4) <- level of detail and light at the first pixel of each segment.

    A loop without branches, so that the processor works on several segments at a time. `lens` has the texels across a
    pixel a metre away, one plus the squared slope of the row, the middle column, and a pixel in focal lengths.
    """
    none, one = np.float32(0.0), np.float32(1.0)
    texel, row_slant, middle, pitch = lens[0], lens[1], lens[2], lens[3]
    for n in range(count):
        x = starts[n]
        face = np.uint64(shown[first + x])
        code = marks[face, CODE]
        u, v = np.uint64(code >> U_BIT & 3), np.uint64(code >> V_BIT & 3)
        column = np.float32(x)
        nearness = near[first + x]
        depth = one / nearness
        s = (eye[u] + (base[u] + step[u] * column) * depth) * skins[face, S_SCALE] - skins[face, S_ORIGIN]
        t = (eye[v] + (base[v] + step[v] * column) * depth) * skins[face, T_SCALE] - skins[face, T_ORIGIN]
        s, t = s if s > none else none, t if t > none else none
        s_last, t_last = skins[face, S_LAST], skins[face, T_LAST]
        s, t = s if s < s_last else s_last, t if t < t_last else t_last
        i, j = np.int32(s), np.int32(t)
        width = marks[face, CHART_WIDTH]
        at = np.int64(marks[face, CHART] + j * width + i)
        mix_light(lightmap, at, at + width, s - np.float32(i), t - np.float32(j), lights, n)
        # The area of a pixel on the face, in texels, grows with the cube of the distance; slant + slant² is about
        # twice its power of 3/2.
        aside = (column - middle) * pitch
        slant = row_slant + aside * aside
        scale = skins[face, SCALE] * texel
        area = scale * scale * (slant + slant * slant) / (nearness * nearness * nearness * glow[face])
        # The exponent of a float is its logarithm; twice the level of detail is that of the area.
        area = area if area > one else one
        lods[n] = np.float32(area).view(np.int32) - ONE_BITS


@njit(cache=True, nogil=True, error_model="numpy")
def shade_view(
    width: int, height: int, columns: int, focal: float, near: Singles, shown: Ints, glow: Singles, headlight: float,
    skins: Singles, marks: Ints, texels: Words, offsets: Ints, lightmap: Singles, sky: Words, eye: Floats, axes: Floats,
    row: Bytes, kinds: Bytes, names: Ints, out_rgb: Bytes, out_classes: Bytes, out_instances: Ints,
) -> None:  # fmt: skip
    """out_rgb (height, 3 * width), out_classes, out_instances (1, height, width) <- a view; empty labels are skipped.

    `glow` is `headlight` times the camera's height over a face; row, kinds and names are buffers for one row.
    """
    stride = columns * EIGHT
    one, texture_unit = np.float32(1.0), np.float32(1.0 / (128.0 * 65536.0))
    starts, lods = np.empty(stride + 1, np.int64), np.empty(stride, np.int32)
    lights = np.zeros((stride + 1) * 4, np.float32)
    here, base, step = np.empty(3, np.float32), np.empty(3, np.float32), np.empty(3, np.float32)
    rates = np.zeros(EIGHT + 1, np.float32)
    for k in range(1, EIGHT + 1):
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
        count = _split_row(shown, first, width, starts)
        _light_row(
            count, first, near, shown, glow, skins, marks, lightmap, here, base, step, lens, starts, lods, lights
        )  # fmt: skip
        for n in range(count):
            x, lod = starts[n], lods[n]
            face = np.uint64(shown[first + x])
            code = marks[face, CODE]
            fill_eight(kinds, x, np.uint8(code >> CLASS_BIT))
            fill_eight(names, x, marks[face, INSTANCE])
            column = np.float32(x)
            if code & 3 != SURFACE:
                dx, dy, dz = base[0] + step[0] * column, base[1] + step[1] * column, base[2] + step[2] * column
                rays = dx, step[0], dy, step[1], dz, step[2]
                if code & 3 == MIRROR:
                    nx, ny, nz = skins[face, S_ORIGIN], skins[face, T_ORIGIN], skins[face, S_SCALE]
                    two = np.float32(2.0)
                    a, b = two * (dx * nx + dy * ny + dz * nz), two * (step[0] * nx + step[1] * ny + step[2] * nz)
                    rays = dx - a * nx, step[0] - b * nx, dy - a * ny, step[1] - b * ny, dz - a * nz, step[2] - b * nz
                paint_sky(sky, rays, (skins[face, RED], skins[face, GREEN], skins[face, BLUE]), row, x)
                continue
            # To the next segment, if it shows the same face; else light stays as it is.
            after = starts[n + 1]
            rate = rates[after - x] * np.float32((after < width) & (shown[first + after] == shown[first + x]))
            level = np.int64(lod + (1 << 22)) >> 24
            if level >= code >> LEVELS_BIT & 15:
                paint_eight(near, first + x, texels, (one,), (), lights, n, skins, face, one, rate, row, x)
                continue
            u, v, scale = np.uint64(code >> U_BIT & 3), np.uint64(code >> V_BIT & 3), skins[face, SCALE]
            rays = (
                here[u] * scale + skins[face, U_PHASE], (base[u] + step[u] * column) * scale, step[u] * scale,
                here[v] * scale + skins[face, V_PHASE], (base[v] + step[v] * column) * scale, step[v] * scale,
            )  # fmt: skip
            # Between two levels only in the middle half of the way.
            share = (lod & 0xFFFFFF) - (1 << 22)
            pyramid = (code >> MATERIAL_BIT & 63) * offsets[-1]
            if share < 0 or share >= 1 << 23:
                levels = np.int32(pyramid + offsets[level]), np.int32(level)
                paint_eight(near, first + x, texels, rays, levels, lights, n, skins, face, texture_unit, rate, row, x)
            else:
                level = np.int64(lod) >> 24
                both = (
                    np.int32(pyramid + offsets[level]), np.int32(level), np.int32(pyramid + offsets[level + 1]),
                    np.int32(level + 1), np.float32(share) * np.float32(1.0 / (1 << 23)),
                )  # fmt: skip
                paint_eight(near, first + x, texels, rays, both, lights, n, skins, face, texture_unit, rate, row, x)
        # Loops, because numba assigns slices slowly.
        colors = out_rgb[y]
        for k in range(3 * width):
            colors[k] = row[k]
        if len(out_classes):
            classes = out_classes[0, y]
            for k in range(width):
                classes[k] = kinds[k]
        if len(out_instances):
            instances = out_instances[0, y]
            for k in range(width):
                instances[k] = names[k]
