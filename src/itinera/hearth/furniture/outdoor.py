"""Furniture and plants of gardens, terraces and balconies, and the things of a garage."""

from __future__ import annotations

import numpy as np

from itinera.hearth.furniture.leisure import RUBBER
from itinera.hearth.furniture.model import FurnitureKind, ModelParts, Piece, random_size
from itinera.hearth.geometry.shapes import ball, bar, block, disc, legs, rotate, slanted_block, tube, wheel
from itinera.hearth.palette import BRIGHT, DARK, LEAF, METALS, OAK, SOIL, STEEL, WALNUT, Paint, paint, shade

BARK = Paint(96, 74, 54, "wood")
WATER = Paint(104, 156, 178, "glass")
GARDEN = ("brown", "white", "green", "black", "grey", "beige")


def _tree(rng: np.random.Generator, color: Paint) -> ModelParts:
    """A round crown on a trunk, or a fir."""
    high = random_size(rng, 2.9, 4.2)
    if rng.random() < 0.3:
        pieces: list[Piece] = [(tube(0.1, 0.0, 0.8, sides=6), BARK)]
        for k in range(3):
            low = 0.6 + (high - 0.6) * k / 3.6
            wide = 0.95 - 0.24 * k
            top = min(high, low + (high - 0.6) * 0.45)
            pieces.append((tube(wide, low, top, top=0.06, sides=8), shade(LEAF, 0.7 + 0.08 * k)))
        return ModelParts(pieces, "tall")
    pieces = [(tube(0.14, 0.0, high * 0.55, top=0.09, sides=6), BARK)]
    for k in range(5):
        lump = ball(1.0, 0.9, 0.9, 0.36, 0, high - 0.95 + 0.22 * (k % 3), sides=8)
        pieces.append((rotate(lump, np.radians(72 * k)), shade(color, 0.85 + 0.08 * (k % 3))))
    pieces.append((ball(1.0, 1.0, 0.9, 0, 0, high - 0.45, sides=8), shade(color, 1.05)))
    return ModelParts(pieces, "tall")


def _bush(rng: np.random.Generator, color: Paint) -> ModelParts:
    size = random_size(rng, 0.5, 0.9)
    pieces: list[Piece] = [(ball(size, size, size * 0.9, 0, 0, size * 0.45, sides=8), color)]
    for k in range(3):
        lump = ball(size * 0.6, size * 0.5, size * 0.55, size * 0.3, 0, size * 0.3, sides=6)
        pieces.append((rotate(lump, np.radians(120 * k + 20)), shade(color, 0.88 + 0.1 * (k % 2))))
    if rng.random() < 0.4:
        bloom = paint(("red", "pink", "white", "yellow", "purple")[int(rng.integers(5))], "leaves")
        for k in range(6):
            dot = ball(0.09, 0.09, 0.09, size * 0.42, 0, size * (0.35 + 0.1 * (k % 3)), sides=6)
            pieces.append((rotate(dot, np.radians(60 * k)), bloom))
    return ModelParts(pieces, "round")


def hedge(length: float) -> FurnitureKind:
    """A piece of hedge of this length."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        high = random_size(rng, 0.6, 0.9)
        pieces: list[Piece] = [(block(length, 0.4, 0.0, high), shade(color, 0.9))]
        pieces.append((block(length - 0.06, 0.34, high, high + 0.04), color))
        return ModelParts(pieces, "long")

    return FurnitureKind("hedge", "plant", ("green",), build, ("leaves",))


def _flower_bed(rng: np.random.Generator, color: Paint) -> ModelParts:
    width = random_size(rng, 1.2, 1.8)
    rim = (OAK, Paint(150, 148, 142, "stone"))[int(rng.integers(2))]
    pieces: list[Piece] = [(block(width, 0.6, 0.0, 0.1), rim), (block(width - 0.1, 0.5, 0.1, 0.12), SOIL)]
    for k in range(8):
        x, y = round(-width / 2 + 0.16 + (width - 0.32) * (k // 2) / 3, 3), 0.12 - 0.24 * (k % 2)
        high = random_size(rng, 0.24, 0.36)
        pieces.append((tube(0.05, 0.12, high - 0.06, x, y, top=0.02, sides=5), LEAF))
        pieces.append((ball(0.12, 0.12, 0.1, x, y, high, sides=6), color))
    return ModelParts(pieces, "long")


def _planter(rng: np.random.Generator, color: Paint) -> ModelParts:
    width = random_size(rng, 0.6, 1.0)
    pieces: list[Piece] = [(block(width, 0.34, 0.0, 0.36), color), (block(width - 0.06, 0.28, 0.36, 0.37), SOIL)]
    bloom = paint(BRIGHT[int(rng.integers(len(BRIGHT)))], "leaves")
    for k in range(4):
        x = round(-width / 2 + 0.14 + (width - 0.28) * k / 3, 3)
        pieces.append((ball(0.24, 0.24, 0.26, x, 0, 0.48, sides=6), shade(LEAF, 0.9 + 0.1 * (k % 2))))
        pieces.append((ball(0.09, 0.09, 0.08, x, 0.06, 0.62, sides=6), bloom))
    return ModelParts(pieces)


def _garden_bench(rng: np.random.Generator, color: Paint) -> ModelParts:
    width, frame = random_size(rng, 1.3, 1.6), shade(color, 0.8)
    pieces: list[Piece] = [(block(width, 0.11, 0.42, 0.45, 0, y), color) for y in (-0.14, 0.0, 0.14)]
    pieces += [(slanted_block(width, 0.025, z, z + 0.1, 0, -0.25, over=-0.02), color) for z in (0.56, 0.72)]
    for x in (-width / 2 + 0.1, width / 2 - 0.1):
        pieces += [(block(0.05, 0.4, 0.36, 0.42, x, -0.02), frame), (block(0.05, 0.05, 0.0, 0.36, x, 0.14), frame)]
        pieces.append((slanted_block(0.05, 0.05, 0.0, 0.86, x, -0.2, over=-0.1), frame))
    return ModelParts(pieces, "long", 0.45)


def garden_table(diameter: float) -> FurnitureKind:
    """A round garden table."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        pieces: list[Piece] = [(tube(diameter / 2, 0.69, 0.72, sides=14), color)]
        for k in range(3):
            leg = bar((0.06, 0, 0.69), (diameter * 0.36, 0, 0.02), 0.035)
            foot = block(0.06, 0.06, 0.0, 0.03, diameter * 0.36)
            pieces += [(rotate(part, np.radians(120 * k + 30)), shade(color, 0.8)) for part in (leg, foot)]
        return ModelParts(pieces, "round", 0.72)

    return FurnitureKind("garden table", "table", GARDEN, build, ("wood", "metal", "plastic"))


def long_garden_table(width: float) -> FurnitureKind:
    """A rectangular garden table with a slatted top."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        slats = [block(width, 0.15, 0.7, 0.73, 0, round(-0.36 + 0.18 * k, 2)) for k in range(5)]
        pieces: list[Piece] = [(slat, shade(color, 0.94 + 0.04 * (k % 2))) for k, slat in enumerate(slats)]
        # The legs stand closer together than the chairs at the long sides, whose front legs are under the table.
        pieces += [(legs(width, 0.66, 0.66, 0.06, 0.04), shade(color, 0.8)), (block(width - 0.1, 0.7, 0.66, 0.7), DARK)]
        return ModelParts(pieces, "long" if width > 1.5 else "", 0.73)

    return FurnitureKind("garden table", "table", GARDEN, build, ("wood", "metal"))


def _garden_chair(rng: np.random.Generator, color: Paint) -> ModelParts:
    frame = shade(color, 0.82)
    pieces: list[Piece] = [
        (legs(0.5, 0.48, 0.4, 0.035), frame),
        (block(0.5, 0.48, 0.4, 0.44), color),
        (slanted_block(0.46, 0.03, 0.48, 0.86, 0, -0.22, over=-0.08), color),
    ]
    for side in (-1, 1):
        pieces += [
            (block(0.04, 0.44, 0.62, 0.65, side * 0.23), frame),
            (block(0.03, 0.03, 0.44, 0.62, side * 0.23, 0.2), frame),
        ]
    return ModelParts(pieces, "", 0.44)


def _lounger(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (legs(0.62, 1.84, 0.26, 0.05, 0.04), OAK),
        (block(0.62, 1.84, 0.26, 0.3), OAK),
        (block(0.56, 1.2, 0.3, 0.38, 0, 0.3), color),
        (slanted_block(0.56, 0.1, 0.38, 0.86, 0, -0.38, over=-0.42), color),
        (block(0.5, 0.26, 0.38, 0.43, 0, 0.6), shade(color, 1.1)),
    ]
    return ModelParts(pieces, "long", 0.38)


def _parasol(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (tube(0.24, 0.0, 0.08, sides=10), Paint(120, 120, 122, "concrete")),
        (tube(0.022, 0.08, 2.2, sides=6), OAK),
        (tube(1.15, 2.0, 2.36, top=0.06, sides=8), color),
        (ball(0.08, 0.08, 0.08, 0, 0, 2.38, sides=6), OAK),
    ]
    return ModelParts(pieces, "round")


def _grill(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (tube(0.12, 0.52, 0.7, top=0.27, sides=10), color),
        (tube(0.28, 0.72, 0.92, top=0.1, sides=10), shade(color, 0.9)),
        (tube(0.275, 0.7, 0.72, sides=10), STEEL),
        (block(0.12, 0.03, 0.92, 0.96), OAK),
        (block(0.3, 0.34, 0.66, 0.69, 0.44), OAK),
    ]
    leg = bar((0.08, 0, 0.56), (0.28, 0, 0.02), 0.03)
    pieces += [(rotate(leg, np.radians(120 * k + 90)), STEEL) for k in range(3)]
    return ModelParts(pieces)


def _shed(rng: np.random.Generator, color: Paint) -> ModelParts:
    width, depth, dark = random_size(rng, 1.6, 2.2), random_size(rng, 1.3, 1.7), shade(color, 0.8)
    pieces: list[Piece] = [
        (block(width, depth, 0.0, 1.9), color),
        (block(0.74, 0.03, 0.04, 1.76, -width / 4, depth / 2 + 0.015), dark),
        (block(0.05, 0.04, 0.9, 1.0, -width / 4 + 0.28, depth / 2 + 0.05), STEEL),
        (block(0.5, 0.02, 1.1, 1.6, width / 4, depth / 2 + 0.01), Paint(120, 150, 170, "glass")),
    ]
    for side in (-1, 1):
        roof = slanted_block(width + 0.2, 0.06, 1.9, 2.3, 0, side * (depth / 2 + 0.03), over=-side * (depth / 2 + 0.03))
        pieces.append((roof, Paint(88, 66, 58, "shingles")))
        gable = slanted_block(width - 0.06, 0.5, 1.9, 2.2, 0, side * (depth / 2 - 0.3), over=-side * (depth / 2 - 0.34))
        pieces.append((gable, dark))
    return ModelParts(pieces)


def _pond(rng: np.random.Generator, color: Paint) -> ModelParts:
    wide, deep = random_size(rng, 1.6, 2.4), random_size(rng, 1.2, 1.6)
    ring = tube(0.5, 0.0, 0.05, sides=16) * (wide, deep, 1.0)
    pieces: list[Piece] = [(ring, shade(color, 0.9)), (tube(0.42, 0.05, 0.06, sides=16) * (wide, deep, 1.0), WATER)]
    for k in range(10):
        cos, sin = float(np.round(np.cos(0.628 * k), 4)), float(np.round(np.sin(0.628 * k), 4))
        size = random_size(rng, 0.16, 0.26)
        stone = ball(size, size, size * 0.7, cos * (wide / 2 - 0.1), sin * (deep / 2 - 0.1), size * 0.35, sides=6)
        pieces.append((stone, shade(color, 0.85 + 0.05 * (k % 4))))
    pieces += [(tube(0.1, 0.06, 0.07, x, y, sides=8), LEAF) for x, y in ((0.2, 0.1), (-0.24, -0.12))]
    return ModelParts(pieces, "oval")


def _fountain(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (tube(0.62, 0.0, 0.3, top=0.7, sides=12), color),
        (tube(0.6, 0.3, 0.31, sides=12), WATER),
        (tube(0.12, 0.31, 0.8, top=0.08, sides=8), color),
        (tube(0.08, 0.8, 0.95, top=0.36, sides=10), color),
        (tube(0.3, 0.95, 0.96, sides=10), WATER),
        (tube(0.05, 0.96, 1.2, top=0.02, sides=6), WATER),
    ]
    return ModelParts(pieces, "round")


def _bird_bath(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (tube(0.16, 0.0, 0.06, sides=8), color),
        (tube(0.09, 0.06, 0.7, top=0.06, sides=8), color),
        (tube(0.1, 0.7, 0.82, top=0.28, sides=10), color),
        (tube(0.22, 0.82, 0.83, sides=10), WATER),
    ]
    return ModelParts(pieces, "round")


def _swing(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [(bar((-1.1, 0, 2.0), (1.1, 0, 2.0), 0.08), WALNUT)]
    for side in (-1, 1):
        x = side * 1.05
        pieces += [(bar((x, y, 0.03), (x, 0, 2.0), 0.07), WALNUT) for y in (-0.7, 0.7)]
    for x in (-0.45, 0.45):
        pieces.append((block(0.44, 0.18, 0.42, 0.46, x), color))
        pieces += [(block(0.02, 0.02, 0.46, 1.97, x + side), DARK) for side in (-0.19, 0.19)]
    return ModelParts(pieces, "tall")


def _slide(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (slanted_block(0.5, 0.04, 0.06, 1.2, 0, 0.95, over=-1.15), color),
        (block(0.5, 0.5, 1.16, 1.22, 0, -0.42), shade(color, 0.85)),
    ]
    for side in (-1, 1):
        rail = slanted_block(0.04, 0.04, 0.16, 1.34, side * 0.25, 0.95, over=-1.15)
        pieces += [(rail, shade(color, 0.8)), (block(0.05, 0.05, 0.0, 1.7, side * 0.22, -0.64), STEEL)]
    pieces += [(block(0.44, 0.05, z, z + 0.04, 0, -0.7), STEEL) for z in (0.25, 0.55, 0.85)]
    return ModelParts(pieces)


def _sandbox(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [(block(1.3, 1.3, 0.0, 0.12), Paint(226, 204, 150, "gravel"))]
    for side in (-1, 1):
        pieces += [
            (block(1.5, 0.12, 0.0, 0.22, 0, side * 0.69), color),
            (block(0.12, 1.26, 0.0, 0.22, side * 0.69), color),
        ]
    pieces.append((tube(0.07, 0.12, 0.24, 0.3, 0.2, top=0.1, sides=8), paint("red")))
    return ModelParts(pieces, "square")


def _trampoline(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [(tube(1.1, 0.66, 0.72, sides=16), color), (tube(0.9, 0.72, 0.73, sides=16), RUBBER)]
    leg = tube(0.03, 0.0, 0.66, 0.98, 0, sides=6)
    pieces += [(rotate(leg, np.radians(60 * k)), STEEL) for k in range(6)]
    return ModelParts(pieces, "round")


def _fire_pit(rng: np.random.Generator, color: Paint) -> ModelParts:
    stone = block(0.28, 0.2, 0.0, 0.26, 0, 0.44)
    pieces: list[Piece] = [(rotate(stone, np.radians(36 * k)), shade(color, 0.9 + 0.06 * (k % 3))) for k in range(10)]
    pieces += [(tube(0.36, 0.0, 0.06, sides=10), DARK)]
    pieces += [
        (bar((-0.2, 0, 0.1), (0.2, 0.05, 0.12), 0.08), BARK),
        (bar((0, -0.2, 0.16), (0.05, 0.2, 0.16), 0.08), BARK),
    ]
    return ModelParts(pieces, "round")


def _doghouse(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [(block(0.7, 0.9, 0.0, 0.55), color), (block(0.3, 0.02, 0.02, 0.42, 0, 0.46), DARK)]
    for side in (-1, 1):
        roof = rotate(slanted_block(1.0, 0.05, 0.55, 0.85, 0, side * 0.4, over=-side * 0.38), np.pi / 2)
        pieces.append((roof, Paint(120, 60, 50, "shingles")))
    return ModelParts(pieces, "small")


def _wheelbarrow(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [(tube(0.3, 0.34, 0.6, 0, 0.1, top=0.46, sides=4) * (0.9, 1.2, 1.0), color)]
    pieces.append((wheel(0.18, 0.08, 0, 0.62, 0.18, sides=10), RUBBER))
    for side in (-1, 1):
        pieces += [
            (bar((side * 0.1, 0.62, 0.2), (side * 0.28, -0.72, 0.62), 0.04), OAK),
            (block(0.04, 0.04, 0.0, 0.36, side * 0.2, -0.22), STEEL),
        ]
    return ModelParts(pieces)


def _lawn_mower(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(0.48, 0.62, 0.1, 0.26), color),
        (tube(0.14, 0.26, 0.4, sides=8), DARK),
        (block(0.4, 0.34, 0.2, 0.5, 0, -0.48), Paint(60, 62, 64, "fabric")),
        (bar((-0.2, -0.7, 0.96), (0.2, -0.7, 0.96), 0.03), DARK),
    ]
    for x in (-0.26, 0.26):
        pieces += [(wheel(0.1, 0.05, x, y, 0.1, sides=10), RUBBER) for y in (-0.22, 0.24)]
        pieces.append((bar((x * 0.8, -0.2, 0.24), (x * 0.8, -0.7, 0.96), 0.03), STEEL))
    return ModelParts(pieces)


def _ladder(rng: np.random.Generator, color: Paint) -> ModelParts:
    """A stepladder."""
    pieces: list[Piece] = []
    for side in (-1, 1):
        pieces.append((bar((side * 0.24, 0.36, 0.02), (side * 0.18, 0.03, 1.6), 0.045), color))
        pieces.append((bar((side * 0.24, -0.36, 0.02), (side * 0.18, -0.03, 1.6), 0.035), shade(color, 0.85)))
    pieces += [(block(0.4, 0.08, z, z + 0.03, 0, round(0.36 - 0.206 * z, 3)), color) for z in (0.3, 0.6, 0.9, 1.2)]
    pieces.append((block(0.42, 0.16, 1.58, 1.61), color))
    return ModelParts(pieces, "tall")


def _wheeled_bin(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (tube(0.32, 0.1, 0.96, top=0.39, sides=4), color),
        (block(0.58, 0.62, 0.96, 1.02), shade(color, 0.85)),
        (block(0.4, 0.04, 0.88, 0.92, 0, -0.32), DARK),
    ]
    pieces += [(wheel(0.1, 0.05, x, -0.22, 0.1, sides=8), RUBBER) for x in (-0.24, 0.24)]
    return ModelParts([*pieces, (block(0.36, 0.06, 0.0, 0.1, 0, 0.2), DARK)], "tall", 1.02)


def _spare_tire(rng: np.random.Generator, color: Paint) -> ModelParts:
    return ModelParts([(tube(0.31, 0.0, 0.2, sides=14), color), (tube(0.17, 0.2, 0.21, sides=10), STEEL)], "round")


def _motorcycle(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = []
    for y in (-0.68, 0.7):
        pieces += [(wheel(0.32, 0.12, 0, y, 0.32), RUBBER), (wheel(0.18, 0.13, 0, y, 0.32, sides=8), STEEL)]
    pieces += [
        (block(0.26, 0.5, 0.26, 0.56), DARK),
        (ball(0.3, 0.56, 0.28, 0, 0.16, 0.74, sides=8), color),
        (block(0.26, 0.6, 0.66, 0.76, 0, -0.42), RUBBER),
        (bar((0, 0.7, 0.32), (0, 0.44, 0.96), 0.07), STEEL),
        (bar((-0.34, 0.4, 0.98), (0.34, 0.4, 0.98), 0.035), RUBBER),
        (disc(0.09, 0.08, 0, 0.58, 0.86, sides=8), STEEL),
        (bar((0.14, -0.1, 0.28), (0.16, -0.8, 0.3), 0.07), STEEL),
        (block(0.18, 0.34, 0.6, 0.66, 0, -0.72), color),
    ]
    return ModelParts(pieces)


def _surfboard(rng: np.random.Generator, color: Paint) -> ModelParts:
    """A board that leans upright, its back along -y."""
    board = disc(0.5, 0.06, 0, 0, 0.5, sides=14) * (0.52, 1.0, 1.9)
    return ModelParts([(board, color), (block(0.04, 0.01, 0.2, 1.7, 0, 0.03), paint("white"))], "tall")


TREE = FurnitureKind("tree", "plant", ("green",), _tree, ("leaves",))
BUSH = FurnitureKind("bush", "plant", ("green",), _bush, ("leaves",))
FLOWER_BED = FurnitureKind("flower bed", "plant", ("red", "yellow", "pink", "purple", "white", "orange"), _flower_bed)
PLANTER = FurnitureKind(
    "planter", "plant", ("grey", "brown", "white", "black", "beige"), _planter, ("wood", "concrete")
)
GARDEN_BENCH = FurnitureKind("bench", "seating", GARDEN, _garden_bench, ("wood", "metal"))
GARDEN_CHAIR = FurnitureKind("garden chair", "chair", GARDEN, _garden_chair, ("wood", "metal", "plastic", "wicker"))
LOUNGER = FurnitureKind(
    "lounger", "seating", ("white", "blue", "grey", "green", "beige", "yellow"), _lounger, ("fabric",)
)
PARASOL = FurnitureKind(
    "parasol", "objects", ("white", "beige", "red", "green", "blue", "yellow"), _parasol, ("fabric",)
)
GRILL = FurnitureKind("grill", "appliances", ("black", "red", "grey"), _grill, ("enamel",))
SHED = FurnitureKind("shed", "misc", ("brown", "red", "green", "grey", "white"), _shed, ("wood",))
POND = FurnitureKind("pond", "misc", ("grey",), _pond, ("stone",))
FOUNTAIN = FurnitureKind("fountain", "misc", ("grey", "beige", "white"), _fountain, ("stone",))
BIRD_BATH = FurnitureKind("bird bath", "objects", ("grey", "beige", "white"), _bird_bath, ("stone",))
SWING = FurnitureKind("swing", "misc", ("red", "blue", "yellow", "green"), _swing)
SLIDE = FurnitureKind("slide", "misc", ("red", "blue", "yellow", "green", "orange"), _slide, ("plastic",))
SANDBOX = FurnitureKind("sandbox", "misc", ("brown", "beige", "blue", "red"), _sandbox, ("wood",))
TRAMPOLINE = FurnitureKind("trampoline", "misc", ("blue", "green"), _trampoline)
FIRE_PIT = FurnitureKind("fire pit", "objects", ("grey", "beige", "brown"), _fire_pit, ("stone",))
DOGHOUSE = FurnitureKind("doghouse", "misc", ("brown", "red", "white", "blue"), _doghouse, ("wood",))
WHEELBARROW = FurnitureKind("wheelbarrow", "misc", ("green", "red", "grey", "black"), _wheelbarrow, ("enamel",))
LAWN_MOWER = FurnitureKind("lawn mower", "misc", ("red", "green", "orange", "yellow"), _lawn_mower, ("enamel",))
LADDER = FurnitureKind("ladder", "objects", ("grey", "brown", "yellow"), _ladder, ("metal", "wood"))
WHEELED_BIN = FurnitureKind(
    "garbage bin", "objects", ("black", "green", "grey", "blue", "brown"), _wheeled_bin, ("plastic",)
)
SPARE_TIRE = FurnitureKind("spare tire", "objects", ("black",), _spare_tire)
MOTORCYCLE = FurnitureKind("motorcycle", "misc", ("red", "blue", "green", *METALS), _motorcycle, ("enamel",))
SURFBOARD = FurnitureKind("surfboard", "objects", ("white", "blue", "yellow", "red", "orange"), _surfboard)
