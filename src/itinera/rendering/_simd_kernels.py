"""Eight pixels at once: filling a tile with a face, and shading pixels.

Written with LLVM vectors, because the autovectorizer chooses masked stores here, which take several times as long.
Numba calls the outer functions with types while compiling; the inner functions generate the code.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

EIGHT = 8
INT = ir.IntType(32)
SINGLES, INTS = ir.VectorType(ir.FloatType(), EIGHT), ir.VectorType(INT, EIGHT)
LANES = ir.Constant(SINGLES, [float(k) for k in range(EIGHT)])
NONE = ir.Constant(SINGLES, [0.0] * EIGHT)


def _spread(builder: Any, value: Any, count: int = EIGHT) -> Any:
    """A vector that repeats a value, eight times unless told otherwise."""
    nothing = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    first = builder.insert_element(nothing, value, INT(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(INT, count), [0] * count))


def _address(context: Any, builder: Any, array: Any, kind: Any, index: Any) -> Any:
    """The address of an element of an array."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [index])


def _function(builder: Any, name: str, count: int) -> Any:
    """The LLVM function of this name with `count` vector arguments."""
    kind = ir.FunctionType(SINGLES, [SINGLES] * count)
    return cgutils.get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]


def _fill_tile(
    typing: Any, near: Any, shown: Any, at: Any, stride: Any, face: Any, w: Any, wx: Any, wy: Any, edges: Any
) -> Any:
    """Draw the face in the tile at a pixel, where it is inside its edges and nearer; returns the tile's least nearness.

    w is the face's nearness at the first pixel, wx and wy its steps across and down. `edges` concatenates (value at the
    first pixel, step across, step down, threshold) of each edge; empty where all of the tile is inside. `shown` is None
    where only nearness is wanted.
    """
    named = not isinstance(shown, types.NoneType)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        near_, shown_, at_, stride_, face_, w_, wx_, wy_, edges_ = arguments
        values = [builder.extract_value(edges_, k) for k in range(len(signature.args[8]))]
        planes = [(w_, wx_, wy_), *((values[k], values[k + 1], values[k + 2]) for k in range(0, len(values), 4))]
        starts = [builder.fadd(_spread(builder, v), builder.fmul(_spread(builder, x), LANES)) for v, x, _ in planes]
        limits = [_spread(builder, limit) for limit in values[3::4]]
        name, larger = _spread(builder, face_), _function(builder, "llvm.maxnum.v8f32", 2)
        least = ir.Constant(SINGLES, [math.inf] * EIGHT)
        for row in range(EIGHT):
            index = builder.add(at_, builder.mul(stride_, ir.Constant(at_.type, row)))
            line = builder.bitcast(_address(context, builder, near_, near, index), SINGLES.as_pointer())
            old = builder.load(line, align=4)
            steps = [_spread(builder, builder.fmul(down, ir.FloatType()(float(row)))) for _, _, down in planes]
            found, *inside = (builder.fadd(start, step) for start, step in zip(starts, steps, strict=True))
            for value, limit in zip(inside, limits, strict=True):
                found = builder.select(builder.fcmp_ordered(">", value, limit), found, NONE)
            new = builder.call(larger, [found, old], fastmath=("nnan",))
            builder.store(new, line, align=4)
            if named:
                names = builder.bitcast(_address(context, builder, shown_, shown, index), INTS.as_pointer())
                was, nearer = builder.load(names, align=4), builder.fcmp_ordered(">", found, old)
                builder.store(builder.select(nearer, name, was), names, align=4)
            least = builder.select(builder.fcmp_ordered("<", new, least), new, least)
        for half in (4, 2, 1):
            turn = ir.Constant(INTS, [(k + half) % EIGHT for k in range(EIGHT)])
            other = builder.shuffle_vector(least, ir.Constant(SINGLES, ir.Undefined), turn)
            least = builder.select(builder.fcmp_ordered("<", other, least), other, least)
        return builder.extract_element(least, INT(0))

    return types.float32(near, shown, at, stride, face, w, wx, wy, edges), build


def _shade_eight(
    typing: Any,
    near: Any,
    shown: Any,
    at: Any,
    paint: Any,
    ambient: Any,
    glow: Any,
    across: Any,
    pitch: Any,
    reach: Any,
    row: Any,
    to: Any,
) -> Any:
    """row <- red, green and blue of eight pixels: their color in ambient light and light from the camera.

    The camera's light falls off with the cosine of its angle to the face: the camera's height over the plane divided by
    the distance. `across` is the first pixel's offset right of the center, `reach` one plus the squared row slope.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        near_, shown_, at_, paint_, ambient_, glow_, across_, pitch_, reach_, row_, to_ = arguments
        line = builder.bitcast(_address(context, builder, near_, near, at_), SINGLES.as_pointer())
        tables = ((paint_, paint), (ambient_, ambient), (glow_, glow))
        looked_up = [ir.Constant(kind, ir.Undefined) for kind in (INTS, SINGLES, SINGLES)]
        for lane in range(EIGHT):
            index = builder.add(at_, ir.Constant(at_.type, lane))
            face = builder.zext(builder.load(_address(context, builder, shown_, shown, index)), at_.type)
            for k, (table, kind) in enumerate(tables):
                value = builder.load(_address(context, builder, table, kind, face))
                looked_up[k] = builder.insert_element(looked_up[k], value, INT(lane))
        color, around, height = looked_up
        aside = builder.fmul(builder.fadd(_spread(builder, across_), LANES), _spread(builder, pitch_))
        squared = builder.fadd(_spread(builder, reach_), builder.fmul(aside, aside))
        slant = builder.call(_function(builder, "llvm.sqrt.v8f32", 1), [squared])
        facing = builder.fdiv(builder.fmul(height, builder.load(line, align=4)), slant)
        light = builder.fptosi(builder.fadd(around, facing), INTS)

        def lit(channels: int) -> Any:
            mask, bits = ir.Constant(INTS, [channels] * EIGHT), ir.Constant(INTS, [8] * EIGHT)
            return builder.and_(builder.lshr(builder.mul(builder.and_(color, mask), light), bits), mask)

        words = builder.or_(lit(0xFF00FF), lit(0x00FF00))
        letters = builder.bitcast(words, ir.VectorType(ir.IntType(8), 4 * EIGHT))
        three = ir.Constant(ir.VectorType(INT, 3 * EIGHT), [4 * (k // 3) + k % 3 for k in range(3 * EIGHT)])
        kept = builder.shuffle_vector(letters, letters, three)
        target = builder.bitcast(_address(context, builder, row_, row, to_), kept.type.as_pointer())
        builder.store(kept, target, align=1)
        return context.get_dummy_value()

    return types.void(near, shown, at, paint, ambient, glow, across, pitch, reach, row, to), build


# Numba supplies the first argument.
fill_tile: Any = intrinsic(_fill_tile)
shade_eight: Any = intrinsic(_shade_eight)
