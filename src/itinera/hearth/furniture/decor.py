"""Decor: lamps, rugs, plants, and objects on walls and tables."""

from __future__ import annotations

import numpy as np

from itinera.hearth.furniture.model import Builder, FurnitureKind, ModelParts, Piece, random_size
from itinera.hearth.geometry.shapes import ball, bar, block, disc, rotate, translate, tube
from itinera.hearth.palette import (
    BRIGHT,
    COLORS,
    DARK,
    FABRICS,
    GLOW,
    LEAF,
    METALS,
    OAK,
    PAINTED,
    PAPER,
    SOIL,
    STEEL,
    WALNUT,
    WOODS,
    Paint,
    paint,
    shade,
)

# Rugs are offset by a quarter of a centimetre from the grid of the furniture, so that their edges never meet its sides.
RUG_OFF = 0.005
SILVER = Paint(206, 220, 228, "glass")
POTS = tuple(
    Paint(*clay, "ceramic") for clay in ((178, 96, 62), (236, 234, 228), (120, 122, 126), (60, 60, 64), (70, 100, 140))
)


def rug(width: float, depth: float) -> FurnitureKind:
    """A rug of about this size, thin enough to walk over."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        quiet = paint(("white", "beige", "grey", "black")[int(rng.integers(4))], "carpet")
        border = quiet if rng.random() < 0.4 else shade(color, 0.75)
        pieces: list[Piece] = [
            (block(width + RUG_OFF, depth + RUG_OFF, 0.0, 0.0075), border),
            (block(width - 0.235, depth - 0.235, 0.0, 0.009), color),
        ]
        if max(width, depth) > 2.2 * min(width, depth):
            return ModelParts(pieces, "long")
        return ModelParts(pieces, "large" if width * depth > 5 else "small" if width * depth < 2 else "")

    return FurnitureKind("rug", "floor", FABRICS, build, ("carpet",))


def round_rug(diameter: float) -> FurnitureKind:
    """A round rug."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        pieces: list[Piece] = [
            (tube(diameter / 2 + RUG_OFF, 0.0, 0.0075, sides=20), shade(color, 0.75)),
            (tube(diameter / 2 - 0.1, 0.0, 0.009, sides=20), color),
        ]
        return ModelParts(pieces, "round")

    return FurnitureKind("rug", "floor", FABRICS, build, ("carpet",))


def _floor_lamp(rng: np.random.Generator, color: Paint) -> ModelParts:
    high = random_size(rng, 1.5, 1.7)
    pieces: list[Piece] = [(tube(0.15, 0.0, 0.03), DARK), (tube(0.015, 0.03, high - 0.26, sides=6), DARK)]
    return ModelParts([*pieces, *_lampshade(0.22, 0.15, high - 0.3, high, color)], "tall")


def _table_lamp(rng: np.random.Generator, color: Paint) -> ModelParts:
    body = (WALNUT, STEEL, COLORS["white"], COLORS["blue"])[int(rng.integers(4))]
    pieces: list[Piece] = [(tube(0.07, 0.0, 0.02, sides=6), body), (ball(0.11, 0.11, 0.2, 0, 0, 0.12, sides=6), body)]
    return ModelParts([*pieces, *_lampshade(0.14, 0.09, 0.24, 0.42, color)])


def _lampshade(radius: float, top: float, low: float, high: float, color: Paint) -> list[Piece]:
    return [(tube(radius, low, high, top=top), color), (tube(radius * 0.7, low - 0.02, low, sides=6), GLOW)]


def ceiling_lamp(drop: float) -> FurnitureKind:
    """A lamp that hangs at most this far below the ceiling; its lowest point at z = 0."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        pieces: list[Piece]
        if drop < 0.3:
            pieces = [(tube(0.2, 0.0, 0.07, top=0.24), GLOW), (tube(0.25, 0.07, 0.1), color)]
            return ModelParts(pieces, "round")
        pieces = [(block(0.012, 0.012, 0.2, drop), DARK), (tube(0.06, drop, drop + 0.02, sides=6), DARK)]
        style = int(rng.integers(3))
        if style == 0:
            pieces += [(tube(0.24, 0.02, 0.2, top=0.06), color), (tube(0.12, 0.0, 0.02, sides=6), GLOW)]
            return ModelParts(pieces)
        if style == 1:
            pieces.append((ball(0.32, 0.32, 0.26, 0, 0, 0.13, sides=8), color))
            return ModelParts(pieces, "round")
        for k in range(4):
            arm = np.pi / 2 * k
            pieces.append((rotate(bar((0.02, 0, 0.2), (0.24, 0, 0.08), 0.02), arm), color))
            pieces.append((rotate(tube(0.05, 0.06, 0.16, 0.25, 0, top=0.03, sides=5), arm), GLOW))
        return ModelParts([*pieces, (ball(0.09, 0.09, 0.14, 0, 0, 0.2, sides=6), color)], "large")

    return FurnitureKind(
        "ceiling lamp", "lighting", (*METALS, "red", "yellow", "green", "blue", "orange"), build, ("enamel",)
    )


def _wall_lamp(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(0.1, 0.02, 0.04, 0.2, 0, -0.1), STEEL),
        (bar((0, -0.1, 0.1), (0, 0.0, 0.08), 0.02), STEEL),
        *_lampshade(0.09, 0.06, 0.08, 0.24, color),
    ]
    return ModelParts(pieces)


def _plant(size: str) -> Builder:
    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        scale = {"small": 0.4, "": 0.8, "tall": 1.25}[size]
        pot = 0.32 * min(scale, 1.0)
        clay = POTS[int(rng.integers(len(POTS)))]
        pieces: list[Piece] = [
            (tube(pot * 0.34, 0.0, pot, top=pot * 0.5, sides=8), clay),
            (tube(pot * 0.42, pot, pot + 0.01, sides=6), SOIL),
        ]
        return ModelParts([*pieces, *_leaves(rng, scale, pot)], size)

    return build


def _leaves(rng: np.random.Generator, scale: float, pot: float) -> list[Piece]:
    """A trunk with a crown, or a tuft of blades."""
    if rng.random() < 0.5:
        pieces: list[Piece] = [(tube(0.03 * scale, pot, pot + 0.45 * scale, sides=6), WALNUT)]
        for k in range(5):
            turn = np.radians(72 * k + 10 * int(rng.integers(-2, 3)))
            lump = ball(
                0.34 * scale, 0.3 * scale, 0.3 * scale, 0.14 * scale, 0, pot + (0.5 + 0.1 * (k % 3)) * scale, sides=6
            )
            pieces.append((rotate(lump, turn), shade(LEAF, 0.85 + 0.12 * (k % 3))))
        return pieces
    blades: list[Piece] = []
    for k in range(8):
        turn = np.radians(45 * k + 8 * int(rng.integers(-1, 2)))
        out, up = (0.24, 0.5) if k % 2 else (0.12, 0.75)
        lower = bar((0.02, 0, pot), (out * 0.6 * scale, 0, pot + up * 0.65 * scale), 0.05 * scale)
        upper = bar(
            (out * 0.6 * scale, 0, pot + up * 0.6 * scale), (out * 1.3 * scale, 0, pot + up * scale), 0.035 * scale
        )
        blades += [(rotate(lower, turn), shade(LEAF, 0.9)), (rotate(upper, turn), shade(LEAF, 1.15))][: 1 + k % 2]
    return blades


def _picture(rng: np.random.Generator, color: Paint) -> ModelParts:
    """A framed picture in this main color; its back along -y."""
    wide, high = random_size(rng, 0.4, 1.1), random_size(rng, 0.4, 0.8)
    frame = (DARK, WALNUT, OAK, (236, 234, 228))[int(rng.integers(4))]
    pieces: list[Piece] = [
        (block(wide, 0.03, 0.0, high), frame),
        (block(wide - 0.07, 0.01, 0.035, high - 0.035, 0, 0.02), color),
    ]
    accent = shade(color, 0.6) if rng.random() < 0.5 else PAPER
    inner, rise = wide - 0.2, high - 0.2
    kind = int(rng.integers(3))
    if kind == 0:
        pieces.append((block(inner, 0.006, 0.1, 0.1 + rise * 0.35, 0, 0.028), accent))
        pieces.append((disc(rise * 0.16, 0.006, inner * 0.2, 0.028, 0.1 + rise * 0.7, sides=8), accent))
    elif kind == 1:
        pieces += [
            (block(inner * 0.2, 0.006, 0.1, 0.1 + rise * (0.9 - abs(x)), x * inner, 0.028), accent)
            for x in (-0.3, 0.0, 0.3)
        ]
    else:
        pieces.append((disc(min(inner, rise) * 0.4, 0.006, 0, 0.028, high / 2, sides=8), accent))
    return ModelParts(pieces, "large" if wide * high > 0.55 else "small" if wide * high < 0.25 else "")


def _mirror(shape: str) -> Builder:
    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        if shape == "round":
            return ModelParts(
                [(disc(0.34, 0.03, 0, 0, 0.34, sides=16), color), (disc(0.3, 0.012, 0, 0.02, 0.34, sides=16), SILVER)],
                shape,
            )
        if shape == "oval":
            rim, glass = disc(0.4, 0.03, 0, 0, 0.4, sides=16), disc(0.36, 0.012, 0, 0.02, 0.4, sides=16)
            return ModelParts([(rim * (0.7, 1, 1), color), (glass * (0.7, 1, 1), SILVER)], shape)
        wide, high = (random_size(rng, 0.5, 0.7), random_size(rng, 0.7, 0.9)) if shape == "" else (0.56, 1.5)
        pieces: list[Piece] = [
            (block(wide, 0.03, 0.0, high), color),
            (block(wide - 0.08, 0.012, 0.04, high - 0.04, 0, 0.02), SILVER),
        ]
        return ModelParts(pieces, shape)

    return build


def curtain(width: float, high: float) -> FurnitureKind:
    """A pair of open curtains with their rod, for a window of this width; its back along -y."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        pieces: list[Piece] = [(block(width + 0.62, 0.025, high - 0.06, high - 0.035), DARK)]
        for side in (-1, 1):
            pieces.append((block(0.02, 0.05, high - 0.08, high - 0.02, side * (width / 2 + 0.29), -0.035), DARK))
            for k in range(3):
                x = side * (width / 2 + 0.07 + 0.085 * k)
                fold = block(0.09, 0.03, 0.0, high - 0.02 - 0.001 * k, x, 0.012 * (-1) ** k)
                pieces.append((fold, shade(color, 1.0 if k % 2 else 0.88)))
        return ModelParts(pieces)

    return FurnitureKind("curtain", "curtain", ("white", "grey", "beige", *BRIGHT), build, ("fabric",))


def _clock(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (disc(0.17, 0.03, 0, 0, 0.17), color),
        (disc(0.145, 0.01, 0, 0.02, 0.17), PAPER),
        (block(0.014, 0.006, 0.17, 0.28, 0, 0.028), DARK),
        (block(0.08, 0.006, 0.163, 0.177, 0.035, 0.028), DARK),
    ]
    return ModelParts(pieces, "round")


def _vase(rng: np.random.Generator, color: Paint) -> ModelParts:
    high = random_size(rng, 0.2, 0.32)
    pieces: list[Piece] = [
        (tube(0.04, 0.0, high * 0.55, top=0.08, sides=8), color),
        (tube(0.08, high * 0.55, high, top=0.035, sides=8), color),
    ]
    if rng.random() < 0.7:
        bloom = COLORS[BRIGHT[int(rng.integers(len(BRIGHT)))]]
        for k in range(3):
            turn = 2 * np.pi / 3 * k + 0.4
            pieces.append((rotate(bar((0, 0, high), (0.07, 0, high + 0.16), 0.012), turn), LEAF))
            pieces.append((rotate(ball(0.1, 0.1, 0.08, 0.08, 0, high + 0.18, sides=6), turn), bloom))
    return ModelParts(pieces)


def _statue(rng: np.random.Generator, color: Paint) -> ModelParts:
    dark = shade(color, 0.85)
    pieces: list[Piece] = [
        (block(0.36, 0.36, 0.0, 0.08), dark),
        (block(0.3, 0.3, 0.08, 0.6), color),
        (block(0.36, 0.36, 0.6, 0.66), dark),
        (tube(0.12, 0.66, 0.98, top=0.08, sides=8), color),
        (ball(0.34, 0.2, 0.2, 0, 0, 1.02, sides=8), color),
        (tube(0.045, 1.1, 1.18, sides=8), color),
        (ball(0.17, 0.19, 0.24, 0, 0.01, 1.28, sides=8), color),
    ]
    return ModelParts(pieces, "tall")


def _books(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [(block(0.24, 0.18, 0.0, 0.035), color)]
    second = COLORS[BRIGHT[int(rng.integers(len(BRIGHT)))]]
    pieces.append((rotate(block(0.22, 0.16, 0.035, 0.065), np.pi / 12), shade(second, 0.8)))
    return ModelParts(pieces)


def _candles(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [(tube(0.12, 0.0, 0.015, sides=10), DARK)]
    for x, y, high in ((-0.05, 0.0, 0.16), (0.04, 0.04, 0.11), (0.03, -0.05, 0.2)):
        pieces += [
            (tube(0.025, 0.015, high, x, y, sides=6), color),
            (tube(0.008, high, high + 0.03, x, y, top=0.002, sides=4), (250, 190, 80)),
        ]
    return ModelParts(pieces)


def _globe(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (tube(0.14, 0.0, 0.03, sides=10), WALNUT),
        (tube(0.025, 0.03, 0.6, sides=6), WALNUT),
        (tube(0.24, 0.6, 0.63, sides=12), OAK),
        (ball(0.4, 0.4, 0.4, 0, 0, 0.8, sides=10), color),
    ]
    return ModelParts(pieces, "round")


def _tv(rng: np.random.Generator, color: Paint) -> ModelParts:
    wide = random_size(rng, 1.0, 1.3)
    high = round(wide * 0.56, 2)
    pieces: list[Piece] = [
        (block(0.4, 0.2, 0.0, 0.015), DARK),
        (block(0.08, 0.04, 0.015, 0.1, 0, -0.02), DARK),
        (block(wide, 0.05, 0.08, 0.08 + high), color),
        (block(wide - 0.05, 0.008, 0.105, 0.055 + high, 0, 0.028), (58, 64, 78)),
    ]
    return ModelParts(pieces, "large" if wide > 1.2 else "")


def _monitor(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(0.22, 0.16, 0.0, 0.012), DARK),
        (block(0.04, 0.03, 0.012, 0.14, 0, -0.03), DARK),
        (block(0.56, 0.04, 0.12, 0.46), color),
        (block(0.53, 0.006, 0.135, 0.445, 0, 0.022), (92, 128, 168)),
        (block(0.44, 0.14, 0.0, 0.02, 0, 0.24), shade(color, 1.2)),
    ]
    return ModelParts(pieces)


def _laptop(rng: np.random.Generator, color: Paint) -> ModelParts:
    return ModelParts(
        [(block(0.34, 0.24, 0.0, 0.018), color), (block(0.34, 0.012, 0.018, 0.23, 0, -0.114), (92, 128, 168))]
    )


def _fireplace(rng: np.random.Generator, color: Paint) -> ModelParts:
    """A fireplace with its chimney breast; its back along -y."""
    wide, deep, high = random_size(rng, 1.3, 1.5), 0.42, 2.2
    dark = shade(color, 0.7)
    pieces: list[Piece] = [
        (block(wide + 0.2, 0.6, 0.0, 0.06, 0, 0.1), dark),
        (block(wide, 0.05, 0.06, 1.1, 0, -deep / 2 + 0.025), (40, 34, 32)),
        (block(wide, deep, 0.86, 1.1), color),
        (block(wide + 0.2, deep + 0.1, 1.1, 1.17, 0, 0.05), (236, 232, 222)),
        (block(wide - 0.3, deep - 0.08, 1.17, high, 0, -0.04), color),
    ]
    pieces += [(block(wide / 2 - 0.4, deep, 0.06, 0.86, side * (wide / 4 + 0.2)), color) for side in (-1, 1)]
    for x in (-0.12, 0.0, 0.12):
        pieces.append((bar((x - 0.06, -0.1, 0.1), (x + 0.06, 0.12, 0.13), 0.07), (84, 56, 38)))
        pieces.append((tube(0.05, 0.14, 0.34 - abs(x), x, 0.0, top=0.005, sides=6), (244, 140, 40)))
    return ModelParts(pieces, "", 1.17)


def column(high: float) -> FurnitureKind:
    """A column that supports the ceiling."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        pieces: list[Piece] = [
            (block(0.4, 0.4, 0.0, 0.12), shade(color, 0.9)),
            (tube(0.16, 0.12, high - 0.12, top=0.14, sides=12), color),
            (block(0.4, 0.4, high - 0.12, high), shade(color, 0.9)),
        ]
        return ModelParts(pieces, "round")

    return FurnitureKind("column", "column", ("white", "beige", "grey"), build, ("stone", "marble"))


def _screen(rng: np.random.Generator, color: Paint) -> ModelParts:
    panels = [rotate(block(0.5, 0.03, 0.03, 1.7), turn) for turn in (np.pi / 12, -np.pi / 12, np.pi / 12)]
    return ModelParts(
        [(translate(panel, x, 0), color) for panel, x in zip(panels, (-0.49, 0.0, 0.49), strict=True)], "tall"
    )


FLOOR_LAMP = FurnitureKind(
    "floor lamp",
    "lighting",
    ("white", "beige", "red", "yellow", "green", "black", "orange", "blue"),
    _floor_lamp,
    ("paper",),
)
TABLE_LAMP = FurnitureKind(
    "table lamp", "lighting", ("white", "beige", "red", "yellow", "green", "blue"), _table_lamp, ("paper",)
)
WALL_LAMP = FurnitureKind("wall lamp", "lighting", ("white", "beige", "yellow"), _wall_lamp, ("paper",))
SMALL_PLANT = FurnitureKind("plant", "plant", ("green",), _plant("small"), ("leaves",))
PLANT = FurnitureKind("plant", "plant", ("green",), _plant(""), ("leaves",))
TALL_PLANT = FurnitureKind("plant", "plant", ("green",), _plant("tall"), ("leaves",))
PICTURE = FurnitureKind("picture", "picture", (*BRIGHT, "grey", "beige", "black", "white"), _picture, ("paper",))
MIRROR = FurnitureKind(
    "mirror",
    "mirror",
    PAINTED,
    _mirror(""),
    (
        "wood",
        "metal",
    ),
)
ROUND_MIRROR = FurnitureKind(
    "mirror",
    "mirror",
    PAINTED,
    _mirror("round"),
    (
        "wood",
        "metal",
    ),
)
OVAL_MIRROR = FurnitureKind("mirror", "mirror", PAINTED, _mirror("oval"), ("wood", "metal"))
TALL_MIRROR = FurnitureKind(
    "mirror",
    "mirror",
    PAINTED,
    _mirror("tall"),
    (
        "wood",
        "metal",
    ),
)
CLOCK = FurnitureKind(
    "clock",
    "objects",
    (*WOODS, "red", "blue"),
    _clock,
    (
        "wood",
        "metal",
    ),
)
VASE = FurnitureKind(
    "vase",
    "objects",
    ("white", *BRIGHT),
    _vase,
    (
        "ceramic",
        "glass",
    ),
)
STATUE = FurnitureKind("statue", "objects", ("white", "grey", "brown", "black"), _statue, ("stone",))
BOOKS = FurnitureKind("books", "objects", BRIGHT, _books, ("paper",))
CANDLES = FurnitureKind("candles", "objects", ("white", "red", "yellow"), _candles)
GLOBE = FurnitureKind("globe", "objects", ("blue", "green", "beige"), _globe)
TV = FurnitureKind("tv", "tv_monitor", ("black",), _tv)
MONITOR = FurnitureKind("monitor", "tv_monitor", ("black", "grey", "white"), _monitor)
LAPTOP = FurnitureKind("laptop", "objects", ("grey", "black", "white"), _laptop, ("enamel",))
FIREPLACE = FurnitureKind(
    "fireplace",
    "fireplace",
    ("white", "grey", "red", "beige", "brown"),
    _fireplace,
    (
        "stone",
        "brick",
        "marble",
    ),
)
SCREEN = FurnitureKind("folding screen", "furniture", PAINTED, _screen, ("wood",))
