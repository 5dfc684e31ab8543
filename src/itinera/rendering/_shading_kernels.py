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
Bytes = NDArray[np.uint8]

# Columns of `skins` (float32) and `marks` (int32), one row for each face and one for the background.
RED, GREEN, BLUE, SCALE, U_PHASE, V_PHASE, S_ORIGIN, T_ORIGIN, S_SCALE, T_SCALE, S_LAST, T_LAST = range(12)
AXIS, PYRAMID, LEVELS, CHART, CHART_WIDTH = range(5)
SKY, MIRROR = 3, 4  # instead of a dominant axis: the sky behind this pixel, and the sky a pane mirrors to the outside

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


def _run_length(typing: Any, shown: Any, at: Any, face: Any) -> Any:
    """How many of the eight pixels from `at` on show this face before the first that does not."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        shown_, at_, face_ = arguments
        line = builder.bitcast(_address(context, builder, shown_, shown, at_), INTS.as_pointer())
        other = builder.icmp_signed("!=", builder.load(line, align=4), _spread(builder, face_))
        bits = builder.zext(builder.bitcast(other, ir.IntType(8)), INT)
        count = builder.cttz(builder.or_(bits, INT(1 << EIGHT)), ir.IntType(1)(1))
        return builder.zext(count, ir.IntType(64))

    return types.int64(shown, at, face), build


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
run_length: Any = intrinsic(_run_length)
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
def shade_view(
    width: int, height: int, columns: int, focal: float, near: Singles, shown: Ints, glow: Singles, headlight: float,
    skins: Singles, marks: Ints, texels: Words, offsets: Ints, lightmap: Singles, sky: Words, eye: Floats, axes: Floats,
    row: Words, packed: Bytes, out: Bytes,
) -> None:  # fmt: skip
    """out (height, 3 * width) <- the colors of a view. `glow` is `headlight` times the camera's height over a face."""
    stride = columns * EIGHT
    one, none = np.float32(1.0), np.float32(0.0)
    across = np.float32(math.sqrt(headlight) / (focal * FRACTION))
    unit = np.float32(1.0 / (128.0 * 65536.0))
    ex, ey, ez = np.float32(eye[0]), np.float32(eye[1]), np.float32(eye[2])
    sx, sy, sz = np.float32(axes[0, 0] / focal), np.float32(axes[0, 1] / focal), np.float32(axes[0, 2] / focal)
    for y in range(height):
        down, left = (y + 0.5 - 0.5 * height) / focal, (0.5 - 0.5 * width) / focal
        bx = np.float32(axes[2, 0] + down * axes[1, 0] + left * axes[0, 0])
        by = np.float32(axes[2, 1] + down * axes[1, 1] + left * axes[0, 1])
        bz = np.float32(axes[2, 2] + down * axes[1, 2] + left * axes[0, 2])
        first = y * stride
        x = 0
        while x < width:
            face = shown[first + x]
            column = np.float32(x)
            dx, dy, dz = bx + sx * column, by + sy * column, bz + sz * column
            axis = marks[face, AXIS]
            if axis >= SKY:
                while x < width and shown[first + x] == face:
                    row[x] = _paint_sky(axis == MIRROR, face, dx, dy, dz, skins, sky)
                    dx, dy, dz, x = dx + sx, dy + sy, dz + sz, x + 1
                continue
            if axis == 2:
                eu, du, su, ev, dv, sv = ex, dx, sx, ey, dy, sy
            elif axis == 0:
                eu, du, su, ev, dv, sv = ey, dy, sy, ez, dz, sz
            else:
                eu, du, su, ev, dv, sv = ex, dx, sx, ez, dz, sz
            red, green, blue = skins[face, RED], skins[face, GREEN], skins[face, BLUE]
            scale, levels = skins[face, SCALE], marks[face, LEVELS]
            s_scale, t_scale, s_last, t_last = (
                skins[face, S_SCALE], skins[face, T_SCALE], skins[face, S_LAST], skins[face, T_LAST],
            )  # fmt: skip
            s_eye, t_eye = eu * s_scale - skins[face, S_ORIGIN], ev * t_scale - skins[face, T_ORIGIN]
            chart, chart_width = np.int64(marks[face, CHART]), np.int64(marks[face, CHART_WIDTH])
            u_eye, v_eye = eu * scale + skins[face, U_PHASE], ev * scale + skins[face, V_PHASE]
            pyramid = marks[face, PYRAMID]
            # The area of a pixel on the face, in texels, is this times the cube of the depth.
            squared = dx * dx + dy * dy + dz * dz
            grain = across * scale
            grain *= grain * squared * np.sqrt(squared) / glow[face]
            depth = one / near[first + x]
            s = min(max(s_eye + du * depth * s_scale, none), s_last)
            t = min(max(t_eye + dv * depth * t_scale, none), t_last)
            i, j = np.int64(s), np.int64(t)
            at = chart + j * chart_width + i
            ra, ga, ba = light_at(lightmap, at, at + chart_width, s - np.float32(i), t - np.float32(j))
            while True:
                count = min(run_length(shown, first + x, face), width - x)
                end = count - 1
                if count == EIGHT and x + EIGHT < width and shown[first + x + EIGHT] == face:
                    end = EIGHT
                rs, gs, bs = none, none, none
                rb, gb, bb = ra, ga, ba
                area = grain * depth * depth * depth
                if end > 0:
                    reach = np.float32(end)
                    depth = one / near[first + x + end]
                    s = min(max(s_eye + (du + su * reach) * depth * s_scale, none), s_last)
                    t = min(max(t_eye + (dv + sv * reach) * depth * t_scale, none), t_last)
                    i, j = np.int64(s), np.int64(t)
                    at = chart + j * chart_width + i
                    rb, gb, bb = light_at(lightmap, at, at + chart_width, s - np.float32(i), t - np.float32(j))
                    span = one / reach
                    rs, gs, bs = (rb - ra) * span, (gb - ga) * span, (bb - ba) * span
                # The exponent of a float is its logarithm; twice the level of detail is that of the area.
                lod = np.int64(np.float32(max(area, one)).view(np.int32)) - ONE_BITS
                level = lod >> 24
                if level >= levels:
                    light = (ra * red, rs * red, ga * green, gs * green, ba * blue, bs * blue)
                    paint_eight(near, first + x, texels, (u_eye,), (), light, row, x)
                else:
                    ur, ug, ub = red * unit, green * unit, blue * unit
                    light = (ra * ur, rs * ur, ga * ug, gs * ug, ba * ub, bs * ub)
                    rays = (u_eye, du * scale, su * scale, v_eye, dv * scale, sv * scale)
                    if lod == 0:
                        paint_eight(near, first + x, texels, rays, (np.int32(pyramid), np.int32(0)), light, row, x)
                    else:
                        share = np.float32(lod & 0xFFFFFF) * np.float32(1.0 / (1 << 24))
                        both = (
                            np.int32(pyramid + offsets[level]), np.int32(level),
                            np.int32(pyramid + offsets[level + 1]), np.int32(level + 1), share,
                        )  # fmt: skip
                        paint_eight(near, first + x, texels, rays, both, light, row, x)
                x += count
                if end < EIGHT:
                    break
                ra, ga, ba = rb, gb, bb
                eight = np.float32(EIGHT)
                du, dv = du + su * eight, dv + sv * eight
        for x in range(0, stride, EIGHT):
            pack_words(row, x, packed, 3 * x)
        line = out[y]
        for k in range(3 * width):
            line[k] = packed[k]
