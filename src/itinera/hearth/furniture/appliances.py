"""Furniture of kitchens, laundries and bars: counters, sinks, and appliances."""

from __future__ import annotations

import numpy as np

from itinera.hearth.furniture.model import FurnitureKind, ModelParts, Piece, random_size
from itinera.hearth.geometry.shapes import ball, bar, block, disc, tube
from itinera.hearth.geometry.solids import Color
from itinera.hearth.palette import BRIGHT, COLORS, DARK, METALS, OAK, PAINTED, STEEL, WALNUT, WOODS, Paint, shade

COUNTER_HIGH, COUNTER_DEEP = 0.88, 0.6
BASIN_WIDE, BASIN_DEEP = 0.56, 0.4
STONES: tuple[Paint, ...] = (
    Paint(70, 70, 74, "stone"),
    Paint(206, 204, 198, "stone"),
    Paint(150, 140, 128, "stone"),
    Paint(178, 136, 90, "wood"),
)


def counter(width: float, stone: Paint = STONES[0], *, basin: bool = False) -> FurnitureKind:
    """A kitchen counter of this width and stone, with an opening for a basin if `basin`."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        pieces: list[Piece] = [(block(width, 0.5, 0.0, 0.1, 0, -0.05), DARK)]
        pieces += _worktop(width, basin, color, stone)
        leaves = max(1, round(width / 0.5))
        each = width / leaves
        for k in range(leaves):
            x = -width / 2 + each * (k + 0.5)
            pieces.append((block(each - 0.02, 0.02, 0.11, 0.82, x, COUNTER_DEEP / 2 - 0.02), color))
            pieces.append((block(each * 0.5, 0.02, 0.75, 0.77, x, COUNTER_DEEP / 2), STEEL))
        return ModelParts(pieces, "long" if width >= 2.0 else "", COUNTER_HIGH)

    return FurnitureKind("kitchen counter", "counter", PAINTED, build, ("wood",))


def _worktop(width: float, basin: bool, color: Paint, stone: Paint) -> list[Piece]:
    """The case under the top and the top itself, open above the basin."""
    deep, high, case = COUNTER_DEEP, COUNTER_HIGH, shade(color, 0.85)
    if not basin:
        return [
            (block(width, deep - 0.03, 0.1, high - 0.04, 0, -0.015), case),
            (block(width, deep, high - 0.04, high), stone),
        ]
    beside = (width - BASIN_WIDE) / 2
    rim = (deep - BASIN_DEEP) / 2
    pieces: list[Piece] = [(block(width, deep - 0.03, 0.1, 0.64, 0, -0.015), case)]
    for side in (-1, 1):
        x = side * (BASIN_WIDE + beside) / 2
        pieces.append((block(beside, deep - 0.03, 0.64, high - 0.04, x, -0.015), case))
        pieces.append((block(beside, deep, high - 0.04, high, x), stone))
        y = side * (deep / 2 - rim / 2)
        pieces.append((block(BASIN_WIDE, rim - 0.03, 0.64, high - 0.04, 0, y - 0.015), case))
        pieces.append((block(BASIN_WIDE, rim, high - 0.04, high, 0, y), stone))
    return pieces


def _sink(rng: np.random.Generator, color: Paint) -> ModelParts:
    """A basin set into a counter: its lowest point 0.2 m below the top, a rim over the edge of the hole, and a tap."""
    wide, deep, down = BASIN_WIDE - 0.02, BASIN_DEEP - 0.02, 0.2
    pieces: list[Piece] = [(block(wide, deep, 0.0, 0.015), shade(color, 0.8))]
    for side in (-1, 1):
        pieces.append((block(0.015, deep, 0.015, down, side * (wide / 2 - 0.0075)), shade(color, 0.9)))
        pieces.append((block(wide - 0.03, 0.015, 0.015, down, 0, side * (deep / 2 - 0.0075)), shade(color, 0.9)))
        pieces.append((block(0.06, deep + 0.06, down + 0.004, down + 0.014, side * (wide / 2 + 0.01)), color))
        pieces.append((block(wide - 0.04, 0.05, down + 0.004, down + 0.014, 0, side * (deep / 2 + 0.005)), color))
    back = -deep / 2 - 0.01
    pieces += [
        (tube(0.02, down + 0.014, down + 0.28, 0, back, sides=6), STEEL),
        (bar((0, back, down + 0.27), (0, back + 0.18, down + 0.25), 0.03), STEEL),
    ]
    return ModelParts(pieces)


def _stove(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(0.58, 0.56, 0.0, 0.08, 0, -0.02), DARK),
        (block(0.6, 0.6, 0.08, 0.88), color),
        (block(0.58, 0.56, 0.88, 0.895), (26, 26, 28)),
        (block(0.5, 0.02, 0.2, 0.62, 0, 0.31), (30, 30, 34)),
        (block(0.46, 0.03, 0.66, 0.69, 0, 0.325), STEEL),
        (block(0.58, 0.04, 0.8, 0.87, 0, 0.285), shade(color, 0.85)),
    ]
    plates = ((x, y) for x in (-0.15, 0.15) for y in (-0.13, 0.14))
    pieces += [(tube(0.09, 0.895, 0.905, x, y, sides=10), (90, 60, 56)) for x, y in plates]
    pieces += [(disc(0.022, 0.03, x, 0.315, 0.78, sides=6), STEEL) for x in (-0.2, -0.07, 0.07, 0.2)]
    return ModelParts(pieces, "", 0.905)


def _hood(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (tube(0.4, 0.0, 0.2, top=0.2, sides=4), color),
        (block(0.24, 0.24, 0.2, 0.62), shade(color, 0.9)),
    ]
    return ModelParts(pieces)


def _fridge(rng: np.random.Generator, color: Paint) -> ModelParts:
    width, high = random_size(rng, 0.64, 0.76), random_size(rng, 1.7, 1.86)
    split = 0.62 if rng.random() < 0.5 else 1.2
    pieces: list[Piece] = [
        (block(width - 0.04, 0.58, 0.0, 0.06), DARK),
        (block(width, 0.62, 0.06, high), shade(color, 0.9)),
        (block(width, 0.04, 0.07, split - 0.01, 0, 0.335), color),
        (block(width, 0.04, split + 0.01, high, 0, 0.335), color),
        (block(0.03, 0.04, split - 0.4, split - 0.06, width / 2 - 0.07, 0.375), STEEL),
        (block(0.03, 0.04, split + 0.06, split + 0.42, width / 2 - 0.07, 0.375), STEEL),
    ]
    return ModelParts(pieces, "tall")


def _small_fridge(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(0.54, 0.52, 0.0, 0.84), shade(color, 0.9)),
        (block(0.54, 0.04, 0.03, 0.84, 0, 0.285), color),
        (block(0.03, 0.03, 0.5, 0.76, 0.2, 0.32), STEEL),
    ]
    return ModelParts(pieces, "small", 0.84)


def _wine_fridge(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(0.54, 0.52, 0.0, 0.84), color),
        (block(0.5, 0.02, 0.06, 0.8, 0, 0.27), (60, 74, 86)),
        (block(0.02, 0.03, 0.3, 0.6, 0.22, 0.295), STEEL),
    ]
    return ModelParts(pieces, "small", 0.84)


def _dishwasher(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(0.58, 0.52, 0.0, 0.1, 0, -0.03), DARK),
        (block(0.6, 0.58, 0.1, 0.88), shade(color, 0.9)),
        (block(0.58, 0.02, 0.12, 0.74, 0, 0.3), color),
        (block(0.58, 0.02, 0.75, 0.86, 0, 0.3), shade(color, 0.7)),
        (block(0.4, 0.03, 0.68, 0.71, 0, 0.32), STEEL),
    ]
    return ModelParts(pieces, "", 0.88)


def _washing_machine(rng: np.random.Generator, color: Paint) -> ModelParts:
    return ModelParts(_front_loader(color, (60, 74, 92)), "", 0.86)


def _dryer(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces = _front_loader(color, (40, 40, 44))
    pieces.append((block(0.2, 0.02, 0.06, 0.14, -0.14, 0.3), shade(color, 0.7)))
    return ModelParts(pieces, "", 0.86)


def _front_loader(color: Paint, glass: Color) -> list[Piece]:
    return [
        (block(0.6, 0.58, 0.0, 0.86), color),
        (disc(0.2, 0.04, 0, 0.3, 0.42, sides=14), STEEL),
        (disc(0.155, 0.06, 0, 0.31, 0.42, sides=14), glass),
        (block(0.56, 0.015, 0.72, 0.84, 0, 0.295), shade(color, 0.8)),
        (disc(0.035, 0.05, 0.18, 0.31, 0.78, sides=8), STEEL),
    ]


def _microwave(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(0.48, 0.34, 0.0, 0.28), color),
        (block(0.32, 0.015, 0.03, 0.25, -0.06, 0.177), (28, 28, 32)),
        (block(0.1, 0.012, 0.03, 0.25, 0.17, 0.176), shade(color, 0.75)),
    ]
    return ModelParts(pieces)


def _toaster(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(0.3, 0.18, 0.0, 0.19), color),
        (block(0.22, 0.03, 0.185, 0.2, 0, -0.04), DARK),
        (block(0.22, 0.03, 0.185, 0.2, 0, 0.04), DARK),
        (block(0.03, 0.04, 0.1, 0.13, 0.16, 0), DARK),
    ]
    return ModelParts(pieces)


def _kettle(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (tube(0.1, 0.0, 0.2, top=0.07, sides=10), color),
        (ball(0.05, 0.05, 0.04, 0, 0, 0.22, sides=6), DARK),
        (bar((0, -0.08, 0.05), (0, -0.13, 0.18), 0.025), DARK),
        (bar((0, 0.07, 0.12), (0, 0.13, 0.19), 0.03), color),
    ]
    return ModelParts(pieces)


def _coffee_machine(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(0.24, 0.32, 0.0, 0.05), color),
        (block(0.24, 0.14, 0.05, 0.32, 0, -0.09), color),
        (block(0.24, 0.3, 0.32, 0.4, 0, -0.01), shade(color, 0.8)),
        (tube(0.05, 0.05, 0.14, 0, 0.07, sides=8), COLORS["white"]),
    ]
    return ModelParts(pieces)


def wall_cabinet(width: float) -> FurnitureKind:
    """A cabinet that hangs above a counter."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        leaves = max(1, round(width / 0.45))
        each = width / leaves
        pieces: list[Piece] = [(block(width, 0.32, 0.0, 0.64), shade(color, 0.85))]
        for k in range(leaves):
            x = -width / 2 + each * (k + 0.5)
            pieces.append((block(each - 0.02, 0.02, 0.01, 0.63, x, 0.17), color))
            pieces.append((block(0.02, 0.02, 0.06, 0.18, x + each / 2 - 0.05, 0.19), STEEL))
        return ModelParts(pieces)

    return FurnitureKind("wall cabinet", "cabinet", PAINTED, build, ("wood",))


def island(width: float, depth: float, stone: Paint = STONES[0]) -> FurnitureKind:
    """A kitchen island; its top overhangs on one side for stools."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        pieces: list[Piece] = [
            (block(width - 0.1, depth - 0.4, 0.0, 0.1, 0, -0.15), DARK),
            (block(width - 0.06, depth - 0.34, 0.1, 0.86, 0, -0.15), shade(color, 0.9)),
            (block(width, depth, 0.86, 0.91), stone),
        ]
        for k in range(3):
            each = (width - 0.06) / 3
            x = -(width - 0.06) / 2 + each * (k + 0.5)
            pieces.append((block(each - 0.02, 0.02, 0.12, 0.82, x, -depth / 2 + 0.01), color))
        return ModelParts(pieces, "long" if width >= 2 else "", 0.91)

    return FurnitureKind("kitchen island", "counter", PAINTED, build, ("wood",))


def bar_counter(width: float) -> FurnitureKind:
    """A bar counter, its front along +y."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        pieces: list[Piece] = [
            (block(width - 0.1, 0.4, 0.0, 1.0, 0, -0.1), shade(color, 0.8)),
            (block(width, 0.62, 1.0, 1.06), color),
            (block(width - 0.1, 0.03, 0.2, 0.23, 0, 0.18), STEEL),
        ]
        for k in range(4):
            each = (width - 0.1) / 4
            x = -(width - 0.1) / 2 + each * (k + 0.5)
            pieces.append((block(each - 0.06, 0.02, 0.1, 0.92, x, 0.11), shade(color, 0.95)))
        return ModelParts(pieces, "long" if width >= 2 else "", 1.06)

    return FurnitureKind("bar", "counter", ("brown", "black", "white", "red"), build, ("wood",))


def _boiler(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (tube(0.28, 0.08, 1.5, sides=12), color),
        (tube(0.2, 0.0, 0.08, sides=10), DARK),
        (tube(0.29, 1.5, 1.54, top=0.2, sides=12), shade(color, 0.85)),
        (tube(0.03, 1.54, 1.9, -0.1, 0, sides=6), (184, 115, 72)),
        (tube(0.03, 1.54, 1.9, 0.1, 0, sides=6), (184, 115, 72)),
        (block(0.2, 0.04, 0.5, 0.7, 0, 0.27), DARK),
    ]
    return ModelParts(pieces, "tall")


def _ironing_board(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(1.16, 0.34, 0.84, 0.88), color),
        (bar((-0.4, -0.1, 0.015), (0.3, -0.1, 0.84), 0.03), STEEL),
        (bar((0.4, 0.1, 0.015), (-0.3, 0.1, 0.84), 0.03), STEEL),
        (block(0.03, 0.3, 0.0, 0.03, -0.4), STEEL),
        (block(0.03, 0.3, 0.0, 0.03, 0.4), STEEL),
    ]
    return ModelParts(pieces, "", 0.88)


def _fruit_bowl(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [(tube(0.07, 0.0, 0.08, top=0.16, sides=12), color)]
    fruit = ("red", "orange", "yellow", "green")
    for k, (x, y) in enumerate(((-0.06, -0.03), (0.06, -0.03), (0.0, 0.07), (0.0, 0.0))):
        paint = COLORS[fruit[(int(rng.integers(4)) + k) % 4]]
        pieces.append((ball(0.09, 0.09, 0.09, x, y, 0.1 + 0.05 * (k == 3), sides=6), paint))
    return ModelParts(pieces)


def _bin(rng: np.random.Generator, color: Paint) -> ModelParts:
    high = random_size(rng, 0.36, 0.6)
    return ModelParts(
        [
            (tube(0.13, 0.0, high, top=0.17, sides=10), color),
            (tube(0.175, high, high + 0.03, sides=10), shade(color, 0.75)),
        ],
        "large" if high > 0.48 else "small",
    )


def _bottles(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [(block(0.5, 0.2, 0.0, 0.015), OAK)]
    for x in (-0.18, -0.06, 0.06, 0.18):
        paint = shade(COLORS[BRIGHT[int(rng.integers(len(BRIGHT)))]], 0.7)
        high = random_size(rng, 0.2, 0.26)
        pieces.append((tube(0.035, 0.015, high, x, 0, sides=8), paint))
        pieces.append((tube(0.014, high, high + 0.09, x, 0, sides=6), WALNUT))
    return ModelParts(pieces)


SINK = FurnitureKind("sink", "sink", METALS, _sink, ("enamel",))
STOVE = FurnitureKind("stove", "appliances", METALS, _stove, ("enamel",))
HOOD = FurnitureKind("range hood", "appliances", METALS, _hood, ("enamel",))
FRIDGE = FurnitureKind("refrigerator", "appliances", (*METALS, "red", "blue"), _fridge, ("enamel",))
SMALL_FRIDGE = FurnitureKind("refrigerator", "appliances", METALS, _small_fridge, ("enamel",))
WINE_FRIDGE = FurnitureKind("wine fridge", "appliances", METALS, _wine_fridge, ("enamel",))
DISHWASHER = FurnitureKind("dishwasher", "appliances", METALS, _dishwasher, ("enamel",))
WASHING_MACHINE = FurnitureKind("washing machine", "appliances", METALS, _washing_machine, ("enamel",))
DRYER = FurnitureKind("dryer", "appliances", METALS, _dryer, ("enamel",))
MICROWAVE = FurnitureKind("microwave", "appliances", (*METALS, "red"), _microwave, ("enamel",))
TOASTER = FurnitureKind("toaster", "appliances", (*METALS, "red", "blue"), _toaster, ("enamel",))
KETTLE = FurnitureKind("kettle", "appliances", (*METALS, "red", "blue", "green"), _kettle, ("enamel",))
COFFEE_MACHINE = FurnitureKind("coffee machine", "appliances", (*METALS, "red"), _coffee_machine, ("enamel",))
BOILER = FurnitureKind("water heater", "appliances", METALS, _boiler, ("enamel",))
IRONING_BOARD = FurnitureKind(
    "ironing board", "furniture", ("blue", "grey", "red", "green", "pink"), _ironing_board, ("fabric",)
)
FRUIT_BOWL = FurnitureKind(
    "fruit bowl",
    "objects",
    (*WOODS, "blue"),
    _fruit_bowl,
    (
        "wood",
        "ceramic",
    ),
)
BIN = FurnitureKind(
    "trash can",
    "objects",
    (*METALS, "blue", "green", "red"),
    _bin,
    (
        "metal",
        "plastic",
    ),
)
BOTTLES = FurnitureKind("bottles", "objects", ("",), _bottles)
