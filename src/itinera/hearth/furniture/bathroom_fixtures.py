"""Furniture of bathrooms and spas."""

from __future__ import annotations

import numpy as np

from itinera.hearth.furniture.model import Builder, FurnitureKind, ModelParts, Piece, random_size
from itinera.hearth.geometry.shapes import ball, bar, block, tube
from itinera.hearth.palette import BRIGHT, GLASS, OAK, PAINTED, PORCELAIN, STEEL, Paint, shade

WATER = Paint(120, 178, 204, "glass")


def _toilet(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (tube(0.13, 0.0, 0.34, 0, 0.08, top=0.19, sides=10), shade(color, 0.95)),
        (block(0.2, 0.3, 0.0, 0.34, 0, -0.12), shade(color, 0.95)),
        (ball(0.4, 0.48, 0.1, 0, 0.07, 0.38, sides=10), color),
        (ball(0.36, 0.44, 0.04, 0, 0.07, 0.44, sides=10), shade(color, 1.05)),
        (block(0.4, 0.17, 0.36, 0.76, 0, -0.25), color),
        (block(0.42, 0.19, 0.76, 0.79, 0, -0.25), shade(color, 0.95)),
        (tube(0.03, 0.79, 0.8, 0, -0.25, sides=6), STEEL),
    ]
    return ModelParts(pieces)


def _washbasin(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [(tube(0.1, 0.0, 0.7, 0, -0.08, top=0.08, sides=8), shade(color, 0.95))]
    pieces += _bowl(0.54, 0.44, 0.68, 0.84, 0.0, color)
    return ModelParts([*pieces, *_tap(0.0, -0.19, 0.84)], "", 0.0)


def _small_basin(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [(block(0.1, 0.1, 0.0, 0.72, 0, -0.08), shade(color, 0.95))]
    return ModelParts([*pieces, *_bowl(0.4, 0.28, 0.7, 0.84, 0.0, color), *_tap(0.0, -0.1, 0.84)], "small")


def _bowl(width: float, depth: float, low: float, high: float, x: float, color: Paint) -> list[Piece]:
    """An open basin centered at x: a bottom and four walls."""
    pieces: list[Piece] = [(block(width, depth, low, low + 0.05, x), shade(color, 0.9))]
    sides = (x - width / 2 + 0.025, x + width / 2 - 0.025)
    pieces += [(block(0.05, depth, low + 0.05, high, side), color) for side in sides]
    pieces.append((block(width - 0.1, 0.05, low + 0.05, high, x, depth / 2 - 0.025), color))
    pieces.append((block(width - 0.1, 0.1, low + 0.05, high, x, -depth / 2 + 0.05), color))
    return pieces


def _tap(x: float, y: float, z: float) -> list[Piece]:
    return [
        (tube(0.018, z, z + 0.16, x, y, sides=6), STEEL),
        (bar((x, y, z + 0.15), (x, y + 0.13, z + 0.13), 0.025), STEEL),
    ]


def _vanity(basins: int) -> Builder:
    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        width = 0.8 if basins == 1 else 1.5
        pieces: list[Piece] = [
            (block(width - 0.06, 0.42, 0.0, 0.08, 0, -0.02), shade(color, 0.6)),
            (block(width, 0.48, 0.08, 0.76), shade(color, 0.85)),
            (block(width + 0.02, 0.5, 0.76, 0.8), (210, 208, 204)),
        ]
        leaves = 2 * basins
        for k in range(leaves):
            x = -width / 2 + width / leaves * (k + 0.5)
            pieces.append((block(width / leaves - 0.02, 0.02, 0.1, 0.74, x, 0.25), color))
        for k in range(basins):
            x = 0.0 if basins == 1 else -0.37 + 0.74 * k
            pieces += [*_bowl(0.46, 0.36, 0.8, 0.9, x, PORCELAIN), *_tap(x, -0.13, 0.9)]
        return ModelParts(pieces, "double" if basins == 2 else "", 0.8)

    return build


def _bathtub(rng: np.random.Generator, color: Paint) -> ModelParts:
    width, depth, high = random_size(rng, 1.6, 1.74), random_size(rng, 0.74, 0.8), 0.56
    inner = shade(color, 0.93)
    pieces: list[Piece] = [
        (block(width, depth, 0.0, 0.16), color),
        (block(width - 0.14, depth - 0.14, 0.3, 0.31), WATER),
    ]
    for side in (-1, 1):
        pieces.append((block(0.07, depth, 0.16, high, side * (width / 2 - 0.035)), inner))
        pieces.append((block(width - 0.14, 0.07, 0.16, high, 0, side * (depth / 2 - 0.035)), color))
    pieces += [
        (tube(0.02, high, high + 0.14, width / 2 - 0.035, 0, sides=6), STEEL),
        (bar((width / 2 - 0.035, 0, high + 0.13), (width / 2 - 0.2, 0, high + 0.11), 0.03), STEEL),
    ]
    return ModelParts(pieces)


def _shower(low: float, high: float) -> Builder:
    """A shower with a side length in this range."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        side = random_size(rng, low, high)
        half = side / 2
        pieces: list[Piece] = [
            (block(side, side, 0.0, 0.06), PORCELAIN),
            (block(0.02, side, 0.06, 1.95, half - 0.01), GLASS),
            (block(side * 0.45, 0.02, 0.06, 1.95, -half + side * 0.225, half - 0.01), GLASS),
            (block(0.03, 0.03, 0.06, 1.98, half - 0.015, half - 0.015), STEEL),
            (block(0.03, 0.03, 0.06, 1.98, -half + 0.015, half - 0.015), STEEL),
            (block(side, 0.03, 1.95, 1.98, 0, half - 0.015), STEEL),
            (tube(0.015, 0.9, 1.94, 0, -half + 0.05, sides=6), STEEL),
            (bar((0, -half + 0.05, 1.93), (0, -half + 0.3, 1.95), 0.025), STEEL),
            (tube(0.09, 1.89, 1.93, 0, -half + 0.3, top=0.03, sides=10), STEEL),
            (tube(0.04, 0.06, 0.065, 0, 0, sides=8), STEEL),
        ]
        return ModelParts(pieces)

    return build


def _towel(rng: np.random.Generator, color: Paint) -> ModelParts:
    """A towel over a rail on a wall, its back along -y."""
    high = random_size(rng, 0.5, 0.7)
    pieces: list[Piece] = [
        (block(0.56, 0.02, high - 0.04, high - 0.02, 0, 0.0), STEEL),
        (block(0.02, 0.05, high - 0.05, high - 0.01, -0.27, -0.035), STEEL),
        (block(0.02, 0.05, high - 0.05, high - 0.01, 0.27, -0.035), STEEL),
        (block(0.42, 0.06, high - 0.045, high, 0, 0.0), color),
        (block(0.42, 0.02, 0.0, high - 0.045, 0, 0.02), color),
        (block(0.42, 0.02, 0.12, high - 0.045, 0, -0.02), shade(color, 0.9)),
        (block(0.42, 0.024, 0.06, 0.1, 0, 0.02), shade(color, 0.8)),
    ]
    return ModelParts(pieces)


def _bath_mat(rng: np.random.Generator, color: Paint) -> ModelParts:
    return ModelParts([(block(0.735, 0.485, 0.0, 0.009), color), (block(0.6, 0.36, 0.0, 0.0105), shade(color, 0.88))])


def _hot_tub(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (tube(0.95, 0.0, 0.62, sides=14), OAK),
        (tube(1.0, 0.62, 0.7, sides=14), shade(OAK, 0.8)),
        (tube(0.82, 0.66, 0.71, sides=14), WATER),
    ]
    return ModelParts(pieces, "round")


TOILET = FurnitureKind("toilet", "toilet", ("white",), _toilet, ("porcelain",))
WASHBASIN = FurnitureKind("sink", "sink", ("white",), _washbasin, ("porcelain",))
SMALL_BASIN = FurnitureKind("sink", "sink", ("white",), _small_basin, ("porcelain",))
VANITY = FurnitureKind("sink", "sink", PAINTED, _vanity(1), ("wood",))
DOUBLE_VANITY = FurnitureKind("sink", "sink", PAINTED, _vanity(2), ("wood",))
BATHTUB = FurnitureKind("bathtub", "bathtub", ("white", "beige", "grey"), _bathtub, ("porcelain",))
SHOWER = FurnitureKind("shower", "shower", ("",), _shower(0.88, 1.0), ("glass",))
SMALL_SHOWER = FurnitureKind("shower", "shower", ("",), _shower(0.76, 0.8), ("glass",))
TOWEL = FurnitureKind("towel", "towel", ("white", "grey", *BRIGHT), _towel, ("fabric",))
BATH_MAT = FurnitureKind("bath mat", "floor", ("white", "grey", "beige", *BRIGHT), _bath_mat, ("carpet",))
HOT_TUB = FurnitureKind("hot tub", "bathtub", ("brown",), _hot_tub, ("wood",))
