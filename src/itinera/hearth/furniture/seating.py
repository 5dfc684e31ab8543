"""Seating and beds: sofas, chairs, stools, benches, beds, cushions."""

from __future__ import annotations

import numpy as np

from itinera.hearth.furniture.model import Builder, FurnitureKind, ModelParts, Piece, random_size
from itinera.hearth.geometry.shapes import ball, bar, block, legs, rotate, slanted_block, translate, tube
from itinera.hearth.palette import DARK, FABRICS, LINEN, METALS, OAK, PAINTED, STEEL, WALNUT, WOODS, Paint, shade

ARM, SEAT, BACK = 0.18, 0.44, 0.84  # width of an arm, heights of seat and back


def _bench_of_cushions(width: float, depth: float, seats: int, color: Paint) -> list[Piece]:
    """Body, seats and back of a sofa without arms; its back along -y."""
    each = width / seats
    pieces: list[Piece] = [
        (block(width, depth, 0.1, 0.3), shade(color, 0.85)),
        (slanted_block(width, 0.2, 0.3, BACK, 0, -depth / 2 + 0.16, over=-0.06), shade(color, 0.92)),
    ]
    for k in range(seats):
        x = -width / 2 + each * (k + 0.5)
        pieces.append((block(each - 0.02, depth - 0.24, 0.3, SEAT, x, 0.13), color))
        pieces.append(
            (slanted_block(each - 0.03, 0.14, SEAT, BACK - 0.04, x, -depth / 2 + 0.31, over=-0.06), shade(color, 1.05))
        )
    return pieces


def _sofa(seats: int, shape: str) -> Builder:
    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        width, depth = random_size(rng, 0.6, 0.7) * seats, random_size(rng, 0.88, 0.96)
        pieces = _bench_of_cushions(width, depth, seats, color)
        for side in (-1, 1):
            x = side * (width / 2 + ARM / 2 + 0.005)
            pieces.append((block(ARM, depth, 0.1, 0.62, x), shade(color, 0.9)))
        pieces.append((legs(width + 2 * ARM, depth, 0.1, 0.06, 0.04), WALNUT))
        return ModelParts(pieces, shape, SEAT)

    return build


def _corner_sofa(rng: np.random.Generator, color: Paint) -> ModelParts:
    width, depth, reach = random_size(rng, 2.3, 2.7), 0.92, 0.76
    pieces = _bench_of_cushions(width, depth, 4, color)
    side = 1 if rng.random() < 0.5 else -1
    x = side * (width / 2 - 0.45)
    pieces += [
        (block(0.88, reach, 0.1, 0.3, x, depth / 2 + reach / 2 + 0.005), shade(color, 0.85)),
        (block(0.86, reach - 0.02, 0.3, SEAT, x, depth / 2 + reach / 2 + 0.005), color),
        (block(ARM, depth, 0.1, 0.62, -side * (width / 2 + ARM / 2 + 0.005)), shade(color, 0.9)),
        (block(ARM, depth + reach, 0.1, 0.62, side * (width / 2 + ARM / 2 + 0.005), reach / 2), shade(color, 0.9)),
        (legs(width, depth, 0.1, 0.06, 0.04), WALNUT),
    ]
    return ModelParts(pieces, "corner", SEAT)


def _armchair(rng: np.random.Generator, color: Paint) -> ModelParts:
    if rng.random() < 0.3:
        return _tub_chair(color)
    width, depth = random_size(rng, 0.52, 0.6), random_size(rng, 0.8, 0.88)
    pieces = _bench_of_cushions(width, depth, 1, color)
    for side in (-1, 1):
        pieces.append((block(0.14, depth, 0.1, 0.6, side * (width / 2 + 0.075)), shade(color, 0.9)))
    pieces.append((legs(width + 0.28, depth, 0.1, 0.05, 0.03), WALNUT))
    return ModelParts(pieces, "", SEAT)


def _tub_chair(color: Paint) -> ModelParts:
    shell = [
        translate(block(0.2, 0.1, 0.12, 0.5 + 0.26 * rise), 0, -0.36) for rise in (0.4, 0.7, 1.0, 1.0, 1.0, 0.7, 0.4)
    ]
    around = np.radians([-105, -70, -35, 0, 35, 70, 105])
    pieces: list[Piece] = [(tube(0.34, 0.12, 0.4), shade(color, 0.85)), (tube(0.31, 0.4, SEAT), color)]
    pieces += [(rotate(part, turn), shade(color, 0.95)) for part, turn in zip(shell, around, strict=True)]
    pieces.append((tube(0.2, 0.0, 0.12, sides=8), DARK))
    return ModelParts(pieces, "round", SEAT)


def _chair(rng: np.random.Generator, color: Paint) -> ModelParts:
    wide, high = random_size(rng, 0.42, 0.46), random_size(rng, 0.86, 0.98)
    frame = shade(color, 0.85)
    pieces: list[Piece] = [
        (legs(wide, 0.44, SEAT - 0.02, 0.04), frame),
        (block(wide, 0.44, SEAT - 0.02, SEAT + 0.03), color),
    ]
    posts = (0.02 - wide / 2, wide / 2 - 0.02)
    pieces += [(slanted_block(0.035, 0.035, SEAT + 0.03, high, x, -0.2, over=-0.06), frame) for x in posts]
    slats = ((0.62, 0.7), (high - 0.14, high - 0.02)) if rng.random() < 0.5 else ((0.6, high - 0.02),)
    for low, top in slats:
        near = -0.2 - 0.06 * (low - SEAT) / (high - SEAT)
        pieces.append((slanted_block(wide - 0.08, 0.025, low, top, 0, near, over=-0.05 * (top - low)), color))
    return ModelParts(pieces, "", SEAT + 0.03)


def _office_chair(rng: np.random.Generator, color: Paint) -> ModelParts:
    high = random_size(rng, 0.98, 1.12)
    pieces: list[Piece] = [(tube(0.03, 0.07, 0.42, sides=8), STEEL)]
    for k in range(5):
        spoke = block(0.04, 0.3, 0.05, 0.09, 0, 0.15)
        pieces.append((rotate(spoke, 2 * np.pi * k / 5), DARK))
        pieces.append((rotate(block(0.05, 0.06, 0.0, 0.06, 0, 0.29), 2 * np.pi * k / 5), DARK))
    pieces += [
        (block(0.5, 0.48, 0.42, 0.5, 0, 0.03), color),
        (bar((0, -0.2, 0.45), (0, -0.27, 0.62), 0.05), DARK),
        (slanted_block(0.46, 0.07, 0.58, high, 0, -0.25, over=-0.06), color),
    ]
    for side in (-1, 1):
        pieces.append((bar((side * 0.27, 0.0, 0.46), (side * 0.27, 0.0, 0.66), 0.03), DARK))
        pieces.append((block(0.06, 0.28, 0.66, 0.69, side * 0.27), DARK))
    return ModelParts(pieces, "", 0.5)


def _stool(rng: np.random.Generator, color: Paint) -> ModelParts:
    if rng.random() < 0.5:
        spread = [rotate(bar((0.08, 0, 0.42), (0.16, 0, 0.0), 0.03), np.pi / 2 * k + np.pi / 4) for k in range(4)]
        pieces = [(part - (0, 0, part[..., 2].min()), WALNUT) for part in spread]
        return ModelParts([*pieces, (tube(0.18, 0.42, 0.46, sides=12), color)], "round", 0.46)
    return ModelParts(
        [(legs(0.36, 0.36, 0.42, 0.04), shade(color, 0.8)), (block(0.36, 0.36, 0.42, 0.47), color)], "square", 0.47
    )


def _bar_stool(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (tube(0.2, 0.0, 0.03), STEEL),
        (tube(0.03, 0.03, 0.7, sides=6), STEEL),
        (tube(0.13, 0.26, 0.285, sides=8), STEEL),
        (tube(0.17, 0.7, 0.76, sides=12), color),
    ]
    if rng.random() < 0.5:
        pieces.append((slanted_block(0.28, 0.03, 0.76, 0.94, 0, -0.14, over=-0.03), color))
    return ModelParts(pieces, "", 0.76)


def _bench(rng: np.random.Generator, color: Paint) -> ModelParts:
    width = random_size(rng, 0.96, 1.4)
    pieces: list[Piece] = [
        (block(width, 0.38, 0.41, 0.46), color),
        (block(0.06, 0.34, 0.0, 0.41, -width / 2 + 0.12), shade(color, 0.8)),
        (block(0.06, 0.34, 0.0, 0.41, width / 2 - 0.12), shade(color, 0.8)),
        (block(width - 0.3, 0.05, 0.12, 0.17), shade(color, 0.8)),
    ]
    return ModelParts(pieces, "long" if width > 1.2 else "", 0.46)


def _ottoman(rng: np.random.Generator, color: Paint) -> ModelParts:
    if rng.random() < 0.5:
        return ModelParts([(tube(0.3, 0.04, 0.4, sides=12), color), (tube(0.24, 0.0, 0.04), DARK)], "round", 0.4)
    pieces = [(block(0.6, 0.5, 0.06, 0.36), shade(color, 0.9)), (block(0.58, 0.48, 0.36, 0.42), color)]
    return ModelParts([*pieces, (legs(0.6, 0.5, 0.06, 0.05, 0.02), WALNUT)], "", 0.42)


def _bed(width: float, shape: str, low: float = 0.8, high: float = 1.1) -> Builder:
    """A bed of this width, its headboard between `low` and `high` metres."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        head, wood = random_size(rng, low, high), (WALNUT, OAK, (230, 228, 222))[int(rng.integers(3))]
        length = 2.02
        pieces: list[Piece] = [
            (legs(width, length, 0.14, 0.07, 0.02), shade(wood, 0.8)),
            (block(width, length, 0.14, 0.3), wood),
            (block(width + 0.04, 0.06, 0.0, head, 0, -length / 2 - 0.03), shade(wood, 0.9)),
            (block(width - 0.06, length - 0.06, 0.3, 0.5), LINEN),
            # The blanket hangs over the mattress on three sides.
            (block(width + 0.02, length * 0.68, 0.27, 0.53, 0, length * 0.16 + 0.015), color),
            (block(width + 0.03, 0.24, 0.26, 0.54, 0, -length * 0.18 + 0.12), shade(color, 1.2)),
        ]
        return ModelParts(pieces, shape, 0.5)

    return build


def _bunk_bed(rng: np.random.Generator, color: Paint) -> ModelParts:
    wide, length = 0.96, 2.02
    wood = (WALNUT, OAK)[int(rng.integers(2))]
    pieces: list[Piece] = [(legs(wide + 0.06, length + 0.06, 1.7, 0.07), wood)]
    for low in (0.24, 1.2):
        pieces += [
            (block(wide, length, low, low + 0.1), shade(wood, 0.9)),
            (block(wide - 0.04, length - 0.04, low + 0.1, low + 0.24), LINEN),
            (block(wide - 0.02, length * 0.66, low + 0.1, low + 0.26, 0, length * 0.14), color),
        ]
    for z in (1.5, 1.64):
        pieces.append((block(0.03, length * 0.7, z, z + 0.05, -wide / 2 + 0.02, -0.25), wood))
    for step in range(5):
        pieces.append((block(0.04, 0.34, 0.3 + 0.26 * step, 0.34 + 0.26 * step, wide / 2 + 0.02, 0.7), wood))
    return ModelParts(pieces, "tall", 0.48)


def _pillow(rng: np.random.Generator, color: Paint) -> ModelParts:
    return ModelParts([(ball(0.6, 0.38, 0.16, 0, 0, 0.08, sides=8), color)])


def _cushion(rng: np.random.Generator, color: Paint) -> ModelParts:
    side = random_size(rng, 0.36, 0.42)
    body = slanted_block(side, 0.12, 0.0, side, over=-0.14)
    core = slanted_block(side * 0.7, 0.17, side * 0.15, side * 0.85, 0, -0.14 * 0.15, over=-0.14 * 0.7)
    return ModelParts([(body, color), (core, shade(color, 1.06))])


def _massage_table(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (legs(0.66, 1.7, 0.62, 0.06, 0.02), OAK),
        (block(0.7, 1.86, 0.62, 0.74), color),
        (block(0.34, 0.24, 0.68, 0.76, 0, -1.08), shade(color, 0.9)),
    ]
    return ModelParts(pieces, "", 0.74)


SOFA = FurnitureKind(
    "sofa",
    "sofa",
    FABRICS,
    _sofa(3, ""),
    (
        "fabric",
        "leather",
    ),
)
LONG_SOFA = FurnitureKind(
    "sofa",
    "sofa",
    FABRICS,
    _sofa(4, "long"),
    (
        "fabric",
        "leather",
    ),
)
SMALL_SOFA = FurnitureKind(
    "sofa",
    "sofa",
    FABRICS,
    _sofa(2, "small"),
    (
        "fabric",
        "leather",
    ),
)
CORNER_SOFA = FurnitureKind(
    "sofa",
    "sofa",
    FABRICS,
    _corner_sofa,
    (
        "fabric",
        "leather",
    ),
)
ARMCHAIR = FurnitureKind(
    "armchair",
    "chair",
    FABRICS,
    _armchair,
    (
        "fabric",
        "leather",
    ),
)
CHAIR = FurnitureKind(
    "chair",
    "chair",
    (*PAINTED, "yellow", "orange"),
    _chair,
    (
        "wood",
        "metal",
        "plastic",
    ),
)
OFFICE_CHAIR = FurnitureKind(
    "office chair",
    "chair",
    ("black", "grey", "blue", "red", "white", "green"),
    _office_chair,
    (
        "fabric",
        "leather",
    ),
)
STOOL = FurnitureKind(
    "stool",
    "stool",
    PAINTED,
    _stool,
    (
        "wood",
        "metal",
    ),
)
BAR_STOOL = FurnitureKind(
    "bar stool",
    "stool",
    (*METALS, "red", "brown", "orange", "blue"),
    _bar_stool,
    (
        "leather",
        "metal",
        "wood",
    ),
)
BENCH = FurnitureKind("bench", "seating", (*WOODS, "green", "blue"), _bench, ("wood",))
OTTOMAN = FurnitureKind(
    "ottoman",
    "seating",
    FABRICS,
    _ottoman,
    (
        "fabric",
        "leather",
    ),
)
SINGLE_BED = FurnitureKind("bed", "bed", FABRICS, _bed(1.0, "single"), ("fabric",))
LOW_BED = FurnitureKind("bed", "bed", FABRICS, _bed(1.0, "single", 0.62, 0.7), ("fabric",))
DOUBLE_BED = FurnitureKind("bed", "bed", FABRICS, _bed(1.6, "double"), ("fabric",))
LARGE_BED = FurnitureKind("bed", "bed", FABRICS, _bed(1.9, "large"), ("fabric",))
BUNK_BED = FurnitureKind("bunk bed", "bed", FABRICS, _bunk_bed, ("fabric",))
PILLOW = FurnitureKind("pillow", "cushion", ("white", "beige", "grey", "blue", "pink"), _pillow, ("fabric",))
CUSHION = FurnitureKind("cushion", "cushion", FABRICS, _cushion, ("fabric",))
MASSAGE_TABLE = FurnitureKind(
    "massage table", "table", ("white", "beige", "brown", "blue"), _massage_table, ("leather",)
)
