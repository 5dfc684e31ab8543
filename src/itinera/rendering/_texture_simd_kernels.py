"""Sixteen pixels at once: places on textures, colors of textured patches, the sky, and light between texels.

Written with LLVM vectors for the loops of `_shading_kernels.py`. Numba calls the outer functions with types while
compiling; the inner functions generate the code.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from itinera.rendering._simd_kernels import INT, _address, _spread

BLOCK = 16  # pixels; processors with shorter vectors take several for each
WIDTH = 16  # columns of the table of patches
SIDE_BITS = 8  # a texture is 256 texels wide
# Textures and the sky are stored in squares of 4 x 4 words, a cache line each, one row of squares after the other: the
# neighbors of a pixel in any direction are mostly in the same line.
SQUARE_BITS = 2
SQUARE = 1 << SQUARE_BITS
LIGHT_UNIT = 16384.0  # light is stored in integers of 16 bits
SKY_SIDE = 720  # texels along an edge of the sky
SINGLES, INTS = ir.VectorType(ir.FloatType(), BLOCK), ir.VectorType(INT, BLOCK)
FOUR, TWICE_FOUR = ir.VectorType(ir.FloatType(), 4), ir.VectorType(ir.FloatType(), 8)
TWICE_SHORT, TWICE_INT = ir.VectorType(ir.IntType(16), 8), ir.VectorType(INT, 8)


class _Lanes:
    """BLOCK numbers in an LLVM vector, with Python's operators."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder = builder
        self.value = value if isinstance(value.type, ir.VectorType) else _spread(builder, value, BLOCK)

    def _other(self, other: Any) -> Any:
        if isinstance(other, _Lanes):
            return other.value
        return ir.Constant(self.value.type, [other] * BLOCK)

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


def _bilinear(builder: Any, word: _Lanes, fractions: _Lanes) -> _Lanes:
    """The texture between the four texels of a word, 65536 times the byte of a texel.

    Fractions are the way to the right neighbor and, from bit 8 on, the way up, in 256ths.
    """
    eight, sixteen = (ir.Constant(INTS, [bits] * BLOCK) for bits in (8, 16))
    right, up = fractions & 255, fractions >> 8
    odd = _Lanes(builder, builder.lshr(word.value, eight)) & 0xFF00FF
    pairs = ((word & 0xFF00FF) * (_Lanes(builder, INT(256)) - right)) + (odd * right)
    lower, upper = pairs & 0xFFFF, _Lanes(builder, builder.lshr(pairs.value, sixteen))
    return (lower << 8) + (upper - lower) * up


def _in_square(column: _Lanes, line: _Lanes) -> _Lanes:
    """The place of a word in its row of squares, see SQUARE."""
    return ((column & -SQUARE) << SQUARE_BITS) | ((line & (SQUARE - 1)) << SQUARE_BITS) | (column & (SQUARE - 1))


def _place_texels(
    typing: Any,
    near: Any,
    at: Any,
    rays: Any,
    column: Any,
    texels: Any,
    base: Any,
    level: Any,
    places: Any,
    fractions: Any,
    to: Any,
) -> Any:
    """places, fractions <- the word of each pixel of a block in a level of a pyramid, and the way between its texels.

    `rays` are u at the camera, its slope along the ray of column 0 and the slope's step, then the same of v. `base` is
    the first word of the level in `texels`, whose sides are halved `level` times, down to SQUARE texels. The words of
    every other pixel are prefetched; the others are mostly in the same cache lines.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        near_, at_, rays_, column_, texels_, base_, level_, places_, fractions_, to_ = arguments
        columns = _Lanes(builder, ir.Constant(SINGLES, [float(k) for k in range(BLOCK)])) + _Lanes(builder, column_)
        pointer = builder.bitcast(_address(context, builder, near_, near, at_), SINGLES.as_pointer())
        nearness = builder.load(pointer, align=4)
        depth = _Lanes(builder, builder.fdiv(ir.Constant(SINGLES, [1.0] * BLOCK), nearness))

        def coordinate(k: int) -> _Lanes:
            start, slope, step = (_Lanes(builder, builder.extract_value(rays_, k + m)) for m in range(3))
            return ((start + (slope + columns * step) * depth).ints() >> _Lanes(builder, level_)) - 128

        u, v = coordinate(0), coordinate(3)
        wanted = builder.sub(INT(SIDE_BITS), level_)
        bits = builder.select(builder.icmp_signed("<", wanted, INT(SQUARE_BITS)), INT(SQUARE_BITS), wanted)
        size = _Lanes(builder, builder.sub(builder.shl(INT(1), bits), INT(1)))
        line = ((v >> 8) & size & -SQUARE) << _Lanes(builder, bits)
        place = (line | _in_square((u >> 8) & size, v >> 8)) + _Lanes(builder, base_)
        for table, kind, values in ((places_, places, place), (fractions_, fractions, (u & 255) | ((v & 255) << 8))):
            target = builder.bitcast(_address(context, builder, table, kind, to_), INTS.as_pointer())
            builder.store(values.value, target, align=4)
        for lane in range(0, BLOCK, 2):
            index = builder.zext(builder.extract_element(place.value, INT(lane)), ir.IntType(64))
            _ask_for(builder, _address(context, builder, texels_, texels, index))
        return context.get_dummy_value()

    return types.void(near, at, rays, column, texels, base, level, places, fractions, to), build


def _paint_block(
    typing: Any,
    words: Any,
    fractions: Any,
    lights: Any,
    n: Any,
    after: Any,
    skins: Any,
    face: Any,
    rate: Any,
    row: Any,
    to: Any,
) -> Any:
    """row <- red, green and blue of a block of pixels of a patch.

    Colors are those of the patch in light number n; from pixel to pixel, light changes by `rate` times the
    difference to light number `after`.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words_, fractions_, lights_, n_, after_, skins_, face_, rate_, row_, to_ = arguments
        lanes = _Lanes(builder, ir.Constant(SINGLES, [float(k) for k in range(BLOCK)]))

        def load(table: Any, kind: Any) -> _Lanes:
            pointer = builder.bitcast(_address(context, builder, table, kind, to_), INTS.as_pointer())
            return _Lanes(builder, builder.load(pointer, align=4))

        def four(table: Any, kind: Any, index: Any, width: int) -> Any:
            return _load_four(context, builder, table, kind, builder.mul(index, ir.Constant(index.type, width)))

        here, there = four(lights_, lights, n_, 4), four(lights_, lights, after_, 4)
        unit = ir.Constant(FOUR, [1.0 / (LIGHT_UNIT * 128.0 * 65536.0)] * 4)
        color = builder.fmul(four(skins_, skins, face_, WIDTH), unit)
        change = builder.fmul(builder.fmul(builder.fsub(there, here), _spread_four(builder, rate_)), color)
        begin = builder.fmul(here, color)
        factor = _bilinear(builder, load(words_, words), load(fractions_, fractions)).floats()

        def channel(k: int) -> _Lanes:
            start, step = (_Lanes(builder, builder.extract_element(value, INT(k))) for value in (begin, change))
            return ((start + lanes * step) * factor + 0.5).ints().at_most(255)

        red, green, blue = (channel(k) for k in range(3))
        _store_colors(context, builder, row_, row, to_, red | (green << 8) | (blue << 16))
        return context.get_dummy_value()

    return types.void(words, fractions, lights, n, after, skins, face, rate, row, to), build


def _load_four(context: Any, builder: Any, table: Any, kind: Any, index: Any) -> Any:
    """Four numbers of a table from a place on."""
    pointer = builder.bitcast(_address(context, builder, table, kind, index), FOUR.as_pointer())
    return builder.load(pointer, align=4)


def _spread_four(builder: Any, value: Any) -> Any:
    first = builder.insert_element(ir.Constant(FOUR, ir.Undefined), value, INT(0))
    return builder.shuffle_vector(first, ir.Constant(FOUR, ir.Undefined), ir.Constant(ir.VectorType(INT, 4), [0] * 4))


def _store_colors(context: Any, builder: Any, row: Any, kind: Any, pixel: Any, words: _Lanes) -> None:
    """row <- the lower three bytes of each word of a block, from a pixel on."""
    letters = builder.bitcast(words.value, ir.VectorType(ir.IntType(8), 4 * BLOCK))
    three = ir.Constant(ir.VectorType(INT, 3 * BLOCK), [4 * (k // 3) + k % 3 for k in range(3 * BLOCK)])
    kept = builder.shuffle_vector(letters, letters, three)
    place = builder.mul(pixel, ir.Constant(pixel.type, 3))
    target = builder.bitcast(_address(context, builder, row, kind, place), kept.type.as_pointer())
    builder.store(kept, target, align=1)


def _paint_sky(typing: Any, sky: Any, rays: Any, tint: Any, column: Any, row: Any, to: Any) -> Any:
    """row <- the sky along the rays of a block of pixels from a column on, in a tint.

    `rays` are x of the direction of column 0 and its step, then y and z; `tint` are red, green and blue. The sky is on
    the eight sides of an octahedron, unfolded into a square whose middle is the zenith and whose corners are the nadir.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sky_, rays_, tint_, column_, row_, to_ = arguments
        lanes = _Lanes(builder, ir.Constant(SINGLES, [float(k) for k in range(BLOCK)])) + _Lanes(builder, column_)

        def member(group: Any, k: int) -> _Lanes:
            return _Lanes(builder, builder.extract_value(group, k))

        def choose(condition: Any, one: _Lanes, other: _Lanes) -> _Lanes:
            return _Lanes(builder, builder.select(condition, one.value, other.value))

        def negative(number: _Lanes) -> Any:
            return builder.fcmp_ordered("<", number.value, ir.Constant(SINGLES, [0.0] * BLOCK))

        zero, one = (_Lanes(builder, ir.Constant(SINGLES, [value] * BLOCK)) for value in (0.0, 1.0))
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
        word = _look_up(context, builder, sky_, sky, (line & -SQUARE) * SKY_SIDE + _in_square(column, line))
        red, green, blue = (
            (((word >> shift) & 255).floats() * member(tint_, k)).ints().at_most(255)
            for k, shift in enumerate((0, 8, 16))
        )
        _store_colors(context, builder, row_, row, to_, red | (green << 8) | (blue << 16))
        return context.get_dummy_value()

    return types.void(sky, rays, tint, column, row, to), build


def _look_up(context: Any, builder: Any, table: Any, kind: Any, index: _Lanes) -> _Lanes:
    """The words of a table at the places of a block."""
    found = ir.Constant(INTS, ir.Undefined)
    for lane in range(BLOCK):
        place = builder.zext(builder.extract_element(index.value, INT(lane)), ir.IntType(64))
        found = builder.insert_element(found, builder.load(_address(context, builder, table, kind, place)), INT(lane))
    return _Lanes(builder, found)


def _changes(typing: Any, shown: Any, at: Any) -> Any:
    """A bit for each pixel of a block from `at` on: whether it shows another face than its right neighbor."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        shown_, at_ = arguments

        def load(index: Any) -> Any:
            pointer = builder.bitcast(_address(context, builder, shown_, shown, index), INTS.as_pointer())
            return builder.load(pointer, align=4)

        different = builder.icmp_signed("!=", load(at_), load(builder.add(at_, at_.type(1))))
        return builder.zext(builder.bitcast(different, ir.IntType(BLOCK)), ir.IntType(64))

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

        def two(index: Any) -> Any:
            """A texel and the next."""
            place = _address(context, builder, lightmap_, lightmap, builder.mul(index, index.type(4)))
            shorts = builder.load(builder.bitcast(place, TWICE_SHORT.as_pointer()), align=2)
            return builder.sitofp(builder.zext(shorts, TWICE_INT), TWICE_FOUR)

        def mix(a: Any, b: Any, share: Any) -> Any:
            return builder.fadd(a, builder.fmul(builder.fsub(b, a), share))

        column = mix(two(at_), two(below_), _spread(builder, t_))
        left, right = (
            builder.shuffle_vector(column, column, ir.Constant(ir.VectorType(INT, 4), [k, k + 1, k + 2, k + 3]))
            for k in (0, 4)
        )
        place = builder.mul(n_, n_.type(4))
        target = builder.bitcast(_address(context, builder, lights_, lights, place), FOUR.as_pointer())
        builder.store(mix(left, right, _spread_four(builder, s_)), target, align=4)
        return context.get_dummy_value()

    return types.void(lightmap, at, below, s, t, lights, n), build


def _prefetch(typing: Any, table: Any, at: Any) -> Any:
    """Ask for the cache line of an element."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _ask_for(builder, _address(context, builder, arguments[0], table, arguments[1]))
        return context.get_dummy_value()

    return types.void(table, at), build


def _ask_for(builder: Any, address: Any) -> None:
    """Prefetch the cache line at an address."""
    letters = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [letters, INT, INT, INT])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")  # type: ignore[no-untyped-call]
    place = builder.bitcast(address, letters)
    builder.call(function, [place, INT(0), INT(3), INT(1)])  # to read, into the nearest cache, data


def _fill_block(typing: Any, row: Any, to: Any, value: Any) -> Any:
    """row <- a value for each pixel of a block."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row_, to_, value_ = arguments
        values = _spread(builder, value_, BLOCK)
        target = builder.bitcast(_address(context, builder, row_, row, to_), values.type.as_pointer())
        builder.store(values, target, align=1)
        return context.get_dummy_value()

    return types.void(row, to, value), build


# Numba supplies the first argument.
place_texels: Any = intrinsic(_place_texels)
paint_block: Any = intrinsic(_paint_block)
paint_sky: Any = intrinsic(_paint_sky)
changes: Any = intrinsic(_changes)
lowest_bit: Any = intrinsic(_lowest_bit)
mix_light: Any = intrinsic(_mix_light)
prefetch: Any = intrinsic(_prefetch)
fill_block: Any = intrinsic(_fill_block)
