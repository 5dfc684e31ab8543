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

# Columns of `skins` (float32) and `marks` (int32), one row for each face and one for the background.
RED, GREEN, BLUE, SCALE, U_PHASE, V_PHASE, S_ORIGIN, T_ORIGIN, S_SCALE, T_SCALE, S_LAST, T_LAST = range(12)
KIND, U_AXIS, V_AXIS, PYRAMID, LEVELS, CHART, CHART_WIDTH = range(7)
SURFACE, SKY, MIRROR = range(3)  # kinds: a surface, the sky behind this pixel, the sky that a pane mirrors

SIDE_BITS = 8  # a texture is 256 texels wide
FRACTION = 256.0  # texture coordinates are integers in 256ths of a texel
SKY_SIDE = 256  # texels along an edge of the cube of the sky
ONE_BITS = 0x3F800000  # 1.0 as an integer: the exponent starts at bit 23


class Surfaces(NamedTuple):
    """How the faces of a mesh look: textures, baked light and the sky; the last entry is the background."""

    skins: Singles  # (f + 1, 12) color, place on the texture, place on the lightmap
    marks: (
        Ints  # (f + 1, 5) dominant axis, first word and number of levels of the texture, first texel and width of light
    )
    texels: Words  # pyramids of textures, four texels to a word
    offsets: Ints  # first word of each level of a pyramid
    lightmap: Singles  # (4 * n,) red, green, blue light and padding of each texel; 1 for the plain color
    sky: Words  # (6 * SKY_SIDE ** 2,) the sides of a cube: red + 256 green + 65536 blue


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
    typing: Any, near: Any, at: Any, texels: Any, rays: Any, levels: Any, light: Any, row: Any, to: Any
) -> Any:
    """row <- red + 256 green + 65536 blue of eight pixels of a face; returns nothing.

    `rays` are u at the camera, its slope along the first pixel's ray and the slope's step, then the same of v. `levels`
    are base and level of a pyramid, of the next level, and the share of the next; empty without a texture. `light` is
    the red at the first pixel and its step, then green and blue.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        near_, at_, texels_, rays_, levels_, light_, row_, to_ = arguments
        lanes = _Lanes(builder, ir.Constant(SINGLES, [float(k) for k in range(EIGHT)]))

        def member(group: Any, k: int) -> Any:
            return builder.extract_value(group, k)

        def line(group: Any, k: int) -> _Lanes:
            return _Lanes(builder, member(group, k)) + lanes * _Lanes(builder, member(group, k + 1))

        def look_up(index: _Lanes) -> _Lanes:
            found = ir.Constant(INTS, ir.Undefined)
            for lane in range(EIGHT):
                place = builder.zext(builder.extract_element(index.value, INT(lane)), at_.type)
                value = builder.load(_address(context, builder, texels_, texels, place))
                found = builder.insert_element(found, value, INT(lane))
            return _Lanes(builder, found)

        channels = [line(light_, k) for k in (0, 2, 4)]
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
        words = red | (green << 8) | (blue << 16)
        target = builder.bitcast(_address(context, builder, row_, row, to_), INTS.as_pointer())
        builder.store(words.value, target, align=4)
        return context.get_dummy_value()

    return types.void(near, at, texels, rays, levels, light, row, to), build


def _changes(typing: Any, shown: Any, at: Any) -> Any:
    """Eight bits: which of the eight pixels from `at` on show another face than the one to their left; the first does."""

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


def _light_at(typing: Any, lightmap: Any, at: Any, below: Any, s: Any, t: Any) -> Any:
    """Red, green and blue between four texels: at, the next, and the two from `below` on; s and t are in [0, 1]."""
    four = ir.VectorType(ir.FloatType(), 4)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lightmap_, at_, below_, s_, t_ = arguments

        def load(index: Any, more: int) -> Any:
            place = builder.mul(builder.add(index, ir.Constant(index.type, more)), ir.Constant(index.type, 4))
            return builder.load(
                builder.bitcast(_address(context, builder, lightmap_, lightmap, place), four.as_pointer()), align=4
            )

        def spread(value: Any) -> Any:
            first = builder.insert_element(ir.Constant(four, ir.Undefined), value, INT(0))
            return builder.shuffle_vector(
                first, ir.Constant(four, ir.Undefined), ir.Constant(ir.VectorType(INT, 4), [0] * 4)
            )

        def mix(a: Any, b: Any, share: Any) -> Any:
            return builder.fadd(a, builder.fmul(builder.fsub(b, a), share))

        across, down = spread(s_), spread(t_)
        light = mix(mix(load(at_, 0), load(at_, 1), across), mix(load(below_, 0), load(below_, 1), across), down)
        values = [builder.extract_element(light, INT(k)) for k in range(3)]
        return context.make_tuple(builder, signature.return_type, values)

    three = types.UniTuple(types.float32, 3)  # type: ignore[no-untyped-call]
    return three(lightmap, at, below, s, t), build


def _pack_words(typing: Any, row: Any, at: Any, out: Any, to: Any) -> Any:
    """out <- the lower three bytes of each of eight words."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row_, at_, out_, to_ = arguments
        line = builder.bitcast(_address(context, builder, row_, row, at_), INTS.as_pointer())
        letters = builder.bitcast(builder.load(line, align=4), ir.VectorType(ir.IntType(8), 4 * EIGHT))
        three = ir.Constant(ir.VectorType(INT, 3 * EIGHT), [4 * (k // 3) + k % 3 for k in range(3 * EIGHT)])
        kept = builder.shuffle_vector(letters, letters, three)
        target = builder.bitcast(_address(context, builder, out_, out, to_), kept.type.as_pointer())
        builder.store(kept, target, align=1)
        return context.get_dummy_value()

    return types.void(row, at, out, to), build


# Numba supplies the first argument.
paint_eight: Any = intrinsic(_paint_eight)
changes: Any = intrinsic(_changes)
lowest_bit: Any = intrinsic(_lowest_bit)
light_at: Any = intrinsic(_light_at)
pack_words: Any = intrinsic(_pack_words)


@njit(cache=True, nogil=True, error_model="numpy")
def _sky(x: np.float32, y: np.float32, z: np.float32, sky: Words) -> np.uint32:
    """The color of the sky in a direction: sides +x, -x, +y, -y, +z, -z of a cube around the camera."""
    ax, ay, az = abs(x), abs(y), abs(z)
    if ax >= ay and ax >= az:
        side, u, v, long = (0, y, z, ax) if x > 0 else (1, -y, z, ax)
    elif ay >= az:
        side, u, v, long = (2, -x, z, ay) if y > 0 else (3, x, z, ay)
    else:
        side, u, v, long = (4, x, y, az) if z > 0 else (5, x, y, az)
    half = np.float32(0.5 * SKY_SIDE)
    scale = half / max(long, np.float32(1e-9))
    column = min(max(int(u * scale + half), 0), SKY_SIDE - 1)
    line = min(max(int(v * scale + half), 0), SKY_SIDE - 1)
    return np.uint32(sky[(side * SKY_SIDE + line) * SKY_SIDE + column])


@njit(cache=True, nogil=True, error_model="numpy")
def _paint_sky(
    mirrored: bool, face: int, x: np.float32, y: np.float32, z: np.float32, skins: Singles, sky: Words
) -> np.uint32:
    """The sky along a ray, in the color of the pane; mirrored, in the direction that the pane reflects."""
    if mirrored:
        nx, ny, nz = skins[face, S_ORIGIN], skins[face, T_ORIGIN], skins[face, S_SCALE]
        twice = np.float32(2.0) * (x * nx + y * ny + z * nz)
        x, y, z = x - twice * nx, y - twice * ny, z - twice * nz
    word = np.int64(_sky(x, y, z, sky))
    red = int(np.float32(word & 255) * skins[face, RED])
    green = int(np.float32(word >> 8 & 255) * skins[face, GREEN])
    blue = int(np.float32(word >> 16 & 255) * skins[face, BLUE])
    return np.uint32(min(red, 255) | min(green, 255) << 8 | min(blue, 255) << 16)


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
    count: int, starts: Longs, first: int, near: Singles, shown: Ints, skins: Singles, marks: Ints, lightmap: Singles,
    eye: Singles, base: Singles, step: Singles, lights: Singles,
) -> None:  # fmt: skip
    """lights (n, 4) <- red, green and blue light at the first pixel of each segment, and its depth.

    A loop without branches, so that the processor works on several segments at a time.
    """
    none = np.float32(0.0)
    for n in range(count):
        x = starts[n]
        face = shown[first + x]
        u, v = marks[face, U_AXIS], marks[face, V_AXIS]
        column = np.float32(x)
        depth = np.float32(1.0) / near[first + x]
        s = (eye[u] + (base[u] + step[u] * column) * depth) * skins[face, S_SCALE] - skins[face, S_ORIGIN]
        t = (eye[v] + (base[v] + step[v] * column) * depth) * skins[face, T_SCALE] - skins[face, T_ORIGIN]
        s, t = s if s > none else none, t if t > none else none
        s_last, t_last = skins[face, S_LAST], skins[face, T_LAST]
        s, t = s if s < s_last else s_last, t if t < t_last else t_last
        i, j = np.int32(s), np.int32(t)
        width = marks[face, CHART_WIDTH]
        at = np.int64(marks[face, CHART] + j * width + i)
        red, green, blue = light_at(lightmap, at, at + width, s - np.float32(i), t - np.float32(j))
        lights[n, 0], lights[n, 1], lights[n, 2], lights[n, 3] = red, green, blue, depth


@njit(cache=True, nogil=True, error_model="numpy")
def shade_view(
    width: int, height: int, columns: int, focal: float, near: Singles, shown: Ints, glow: Singles, headlight: float,
    skins: Singles, marks: Ints, texels: Words, offsets: Ints, lightmap: Singles, sky: Words, eye: Floats, axes: Floats,
    row: Words, packed: Bytes, out: Bytes,
) -> None:  # fmt: skip
    """out (height, 3 * width) <- the colors of a view. `glow` is `headlight` times the camera's height over a face."""
    stride = columns * EIGHT
    one, none = np.float32(1.0), np.float32(0.0)
    across = np.float32(headlight / (focal * FRACTION) ** 2)
    unit = np.float32(1.0 / (128.0 * 65536.0))
    starts, lights = np.empty(stride + 1, np.int64), np.empty((stride + 1, 4), np.float32)
    here, base, step = np.empty(3, np.float32), np.empty(3, np.float32), np.empty(3, np.float32)
    for k in range(3):
        here[k], step[k] = eye[k], axes[0, k] / focal
    sx, sy, sz = step[0], step[1], step[2]
    for y in range(height):
        down, left = (y + 0.5 - 0.5 * height) / focal, (0.5 - 0.5 * width) / focal
        for k in range(3):
            base[k] = axes[2, k] + down * axes[1, k] + left * axes[0, k]
        first = y * stride
        count = _split_row(shown, first, width, starts)
        _light_row(count, starts, first, near, shown, skins, marks, lightmap, here, base, step, lights)
        squared = np.float32(1.0 + down * down)
        previous = np.int32(-1)
        rs, gs, bs = none, none, none
        for n in range(count):
            x = starts[n]
            face = shown[first + x]
            column = np.float32(x)
            if marks[face, KIND] != SURFACE:
                mirrored = marks[face, KIND] == MIRROR
                for k in range(x, starts[n + 1]):
                    column = np.float32(k)
                    dx, dy, dz = base[0] + sx * column, base[1] + sy * column, base[2] + sz * column
                    row[k] = _paint_sky(mirrored, face, dx, dy, dz, skins, sky)
                continue
            red, green, blue = skins[face, RED], skins[face, GREEN], skins[face, BLUE]
            ra, ga, ba, depth = lights[n, 0], lights[n, 1], lights[n, 2], lights[n, 3]
            if shown[first + starts[n + 1]] == face:
                # The face goes on: light up to the next segment. Else as in the segment before.
                span = one / np.float32(starts[n + 1] - x)
                rs, gs, bs = (lights[n + 1, 0] - ra) * span, (lights[n + 1, 1] - ga) * span, (lights[n + 1, 2] - ba) * span
            elif previous != face:
                rs, gs, bs = none, none, none
            previous = face
            # The area of a pixel on the face, in texels.
            scale = skins[face, SCALE]
            sideways = (column + np.float32(0.5) - np.float32(0.5) * width) / np.float32(focal)
            slant = squared + sideways * sideways
            area = across * scale * scale * slant * np.sqrt(slant) * depth * depth * depth / glow[face]
            # The exponent of a float is its logarithm; twice the level of detail is that of the area.
            lod = np.int64(np.float32(area if area > one else one).view(np.int32)) - ONE_BITS
            level = (lod + (1 << 22)) >> 24
            if level >= marks[face, LEVELS]:
                light = (ra * red, rs * red, ga * green, gs * green, ba * blue, bs * blue)
                paint_eight(near, first + x, texels, (one,), (), light, row, x)
                continue
            red, green, blue = red * unit, green * unit, blue * unit
            light = (ra * red, rs * red, ga * green, gs * green, ba * blue, bs * blue)
            u, v = marks[face, U_AXIS], marks[face, V_AXIS]
            rays = (
                here[u] * scale + skins[face, U_PHASE], (base[u] + step[u] * column) * scale, step[u] * scale,
                here[v] * scale + skins[face, V_PHASE], (base[v] + step[v] * column) * scale, step[v] * scale,
            )  # fmt: skip
            # Between two levels only in the middle half of the way.
            share = np.int64((lod & 0xFFFFFF) - (1 << 22))
            pyramid = marks[face, PYRAMID] + offsets[level]
            if share < 0 or share >= 1 << 23:
                paint_eight(near, first + x, texels, rays, (np.int32(pyramid), np.int32(level)), light, row, x)
            else:
                level = lod >> 24
                both = (
                    np.int32(marks[face, PYRAMID] + offsets[level]), np.int32(level),
                    np.int32(marks[face, PYRAMID] + offsets[level + 1]), np.int32(level + 1),
                    np.float32(share) * np.float32(1.0 / (1 << 23)),
                )  # fmt: skip
                paint_eight(near, first + x, texels, rays, both, light, row, x)
        for x in range(0, stride, EIGHT):
            pack_words(row, x, packed, 3 * x)
        line = out[y]
        for k in range(3 * width):
            line[k] = packed[k]
