"""What stands in kitchens, laundries and bars: counters, sinks, and machines."""

from __future__ import annotations

import numpy as np

from itinera.hearth.furniture.model import Built, Kind, Piece, between
from itinera.hearth.geometry.shapes import ball, bar, block, disc, tube
from itinera.hearth.geometry.solids import Colour
from itinera.hearth.palette import BRIGHT, COLOURS, DARK, METALS, OAK, PAINTED, STEEL, WALNUT, WOODS, shade

COUNTER_HIGH, COUNTER_DEEP = 0.88, 0.6
BASIN_WIDE, BASIN_DEEP = 0.56, 0.4
STONES: tuple[Colour, ...] = ((70, 70, 74), (206, 204, 198), (150, 140, 128), (188, 160, 120))


def counter(width: float, stone: Colour = STONES[0], *, basin: bool = False) -> Kind:
    """A kitchen counter of this width and stone; with a hole for a basin in its middle if asked for."""

    def build(rng: np.random.Generator, colour: Colour) -> Built:
        pieces: list[Piece] = [(block(width, 0.5, 0.0, 0.1, 0, -0.05), DARK)]
        pieces += _worktop(width, basin, colour, stone)
        leaves = max(1, round(width / 0.5))
        each = width / leaves
        for k in range(leaves):
            x = -width / 2 + each * (k + 0.5)
            pieces.append((block(each - 0.02, 0.02, 0.11, 0.82, x, COUNTER_DEEP / 2 - 0.02), colour))
            pieces.append((block(each * 0.5, 0.02, 0.75, 0.77, x, COUNTER_DEEP / 2), STEEL))
        return Built(pieces, "long" if width >= 2.0 else "", COUNTER_HIGH)

    return Kind("kitchen counter", "counter", PAINTED, build)


def _worktop(width: float, basin: bool, colour: Colour, stone: Colour) -> list[Piece]:
    """The case under the top and the top itself, left open above the basin."""
    deep, high, case = COUNTER_DEEP, COUNTER_HIGH, shade(colour, 0.85)
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


def _sink(rng: np.random.Generator, colour: Colour) -> Built:
    """A basin let into a counter: its lowest point 0.2 m below the top, a rim over the hole's edge, and a tap."""
    wide, deep, down = BASIN_WIDE - 0.02, BASIN_DEEP - 0.02, 0.2
    pieces: list[Piece] = [(block(wide, deep, 0.0, 0.015), shade(colour, 0.8))]
    for side in (-1, 1):
        pieces.append((block(0.015, deep, 0.015, down, side * (wide / 2 - 0.0075)), shade(colour, 0.9)))
        pieces.append((block(wide - 0.03, 0.015, 0.015, down, 0, side * (deep / 2 - 0.0075)), shade(colour, 0.9)))
        pieces.append((block(0.06, deep + 0.06, down + 0.004, down + 0.014, side * (wide / 2 + 0.01)), colour))
        pieces.append((block(wide - 0.04, 0.05, down + 0.004, down + 0.014, 0, side * (deep / 2 + 0.005)), colour))
    back = -deep / 2 - 0.01
    pieces += [
        (tube(0.02, down + 0.014, down + 0.28, 0, back, sides=6), STEEL),
        (bar((0, back, down + 0.27), (0, back + 0.18, down + 0.25), 0.03), STEEL),
    ]
    return Built(pieces)


def _stove(rng: np.random.Generator, colour: Colour) -> Built:
    pieces: list[Piece] = [
        (block(0.58, 0.56, 0.0, 0.08, 0, -0.02), DARK),
        (block(0.6, 0.6, 0.08, 0.88), colour),
        (block(0.58, 0.56, 0.88, 0.895), (26, 26, 28)),
        (block(0.5, 0.02, 0.2, 0.62, 0, 0.31), (30, 30, 34)),
        (block(0.46, 0.03, 0.66, 0.69, 0, 0.325), STEEL),
        (block(0.58, 0.04, 0.8, 0.87, 0, 0.285), shade(colour, 0.85)),
    ]
    plates = ((x, y) for x in (-0.15, 0.15) for y in (-0.13, 0.14))
    pieces += [(tube(0.09, 0.895, 0.905, x, y, sides=10), (90, 60, 56)) for x, y in plates]
    pieces += [(disc(0.022, 0.03, x, 0.315, 0.78, sides=6), STEEL) for x in (-0.2, -0.07, 0.07, 0.2)]
    return Built(pieces)


def _hood(rng: np.random.Generator, colour: Colour) -> Built:
    pieces: list[Piece] = [
        (tube(0.4, 0.0, 0.2, top=0.2, sides=4), colour),
        (block(0.24, 0.24, 0.2, 0.62), shade(colour, 0.9)),
    ]
    return Built(pieces)


def _fridge(rng: np.random.Generator, colour: Colour) -> Built:
    width, high = between(rng, 0.64, 0.76), between(rng, 1.7, 1.86)
    split = 0.62 if rng.random() < 0.5 else 1.2
    pieces: list[Piece] = [
        (block(width - 0.04, 0.58, 0.0, 0.06), DARK),
        (block(width, 0.62, 0.06, high), shade(colour, 0.9)),
        (block(width, 0.04, 0.07, split - 0.01, 0, 0.335), colour),
        (block(width, 0.04, split + 0.01, high, 0, 0.335), colour),
        (block(0.03, 0.04, split - 0.4, split - 0.06, width / 2 - 0.07, 0.375), STEEL),
        (block(0.03, 0.04, split + 0.06, split + 0.42, width / 2 - 0.07, 0.375), STEEL),
    ]
    return Built(pieces, "tall")


def _small_fridge(rng: np.random.Generator, colour: Colour) -> Built:
    pieces: list[Piece] = [
        (block(0.54, 0.52, 0.0, 0.84), shade(colour, 0.9)),
        (block(0.54, 0.04, 0.03, 0.84, 0, 0.285), colour),
        (block(0.03, 0.03, 0.5, 0.76, 0.2, 0.32), STEEL),
    ]
    return Built(pieces, "small", 0.84)


def _wine_fridge(rng: np.random.Generator, colour: Colour) -> Built:
    pieces: list[Piece] = [
        (block(0.54, 0.52, 0.0, 0.84), colour),
        (block(0.5, 0.02, 0.06, 0.8, 0, 0.27), (60, 74, 86)),
        (block(0.02, 0.03, 0.3, 0.6, 0.22, 0.295), STEEL),
    ]
    return Built(pieces, "small", 0.84)


def _dishwasher(rng: np.random.Generator, colour: Colour) -> Built:
    pieces: list[Piece] = [
        (block(0.58, 0.52, 0.0, 0.1, 0, -0.03), DARK),
        (block(0.6, 0.58, 0.1, 0.88), shade(colour, 0.9)),
        (block(0.58, 0.02, 0.12, 0.74, 0, 0.3), colour),
        (block(0.58, 0.02, 0.75, 0.86, 0, 0.3), shade(colour, 0.7)),
        (block(0.4, 0.03, 0.68, 0.71, 0, 0.32), STEEL),
    ]
    return Built(pieces, "", 0.88)


def _washing_machine(rng: np.random.Generator, colour: Colour) -> Built:
    return Built(_front_loader(colour, (60, 74, 92)), "", 0.86)


def _dryer(rng: np.random.Generator, colour: Colour) -> Built:
    pieces = _front_loader(colour, (40, 40, 44))
    pieces.append((block(0.2, 0.02, 0.06, 0.14, -0.14, 0.3), shade(colour, 0.7)))
    return Built(pieces, "", 0.86)


def _front_loader(colour: Colour, glass: Colour) -> list[Piece]:
    return [
        (block(0.6, 0.58, 0.0, 0.86), colour),
        (disc(0.2, 0.04, 0, 0.3, 0.42, sides=14), STEEL),
        (disc(0.155, 0.06, 0, 0.31, 0.42, sides=14), glass),
        (block(0.56, 0.015, 0.72, 0.84, 0, 0.295), shade(colour, 0.8)),
        (disc(0.035, 0.05, 0.18, 0.31, 0.78, sides=8), STEEL),
    ]


def _microwave(rng: np.random.Generator, colour: Colour) -> Built:
    pieces: list[Piece] = [
        (block(0.48, 0.34, 0.0, 0.28), colour),
        (block(0.32, 0.015, 0.03, 0.25, -0.06, 0.177), (28, 28, 32)),
        (block(0.1, 0.012, 0.03, 0.25, 0.17, 0.176), shade(colour, 0.75)),
    ]
    return Built(pieces)


def _toaster(rng: np.random.Generator, colour: Colour) -> Built:
    pieces: list[Piece] = [
        (block(0.3, 0.18, 0.0, 0.19), colour),
        (block(0.22, 0.03, 0.185, 0.2, 0, -0.04), DARK),
        (block(0.22, 0.03, 0.185, 0.2, 0, 0.04), DARK),
        (block(0.03, 0.04, 0.1, 0.13, 0.16, 0), DARK),
    ]
    return Built(pieces)


def _kettle(rng: np.random.Generator, colour: Colour) -> Built:
    pieces: list[Piece] = [
        (tube(0.1, 0.0, 0.2, top=0.07, sides=10), colour),
        (ball(0.05, 0.05, 0.04, 0, 0, 0.22, sides=6), DARK),
        (bar((0, -0.08, 0.05), (0, -0.13, 0.18), 0.025), DARK),
        (bar((0, 0.07, 0.12), (0, 0.13, 0.19), 0.03), colour),
    ]
    return Built(pieces)


def _coffee_machine(rng: np.random.Generator, colour: Colour) -> Built:
    pieces: list[Piece] = [
        (block(0.24, 0.32, 0.0, 0.05), colour),
        (block(0.24, 0.14, 0.05, 0.32, 0, -0.09), colour),
        (block(0.24, 0.3, 0.32, 0.4, 0, -0.01), shade(colour, 0.8)),
        (tube(0.05, 0.05, 0.14, 0, 0.07, sides=8), COLOURS["white"]),
    ]
    return Built(pieces)


def wall_cabinet(width: float) -> Kind:
    """A cabinet that hangs above a counter."""

    def build(rng: np.random.Generator, colour: Colour) -> Built:
        leaves = max(1, round(width / 0.45))
        each = width / leaves
        pieces: list[Piece] = [(block(width, 0.32, 0.0, 0.64), shade(colour, 0.85))]
        for k in range(leaves):
            x = -width / 2 + each * (k + 0.5)
            pieces.append((block(each - 0.02, 0.02, 0.01, 0.63, x, 0.17), colour))
            pieces.append((block(0.02, 0.02, 0.06, 0.18, x + each / 2 - 0.05, 0.19), STEEL))
        return Built(pieces)

    return Kind("wall cabinet", "cabinet", PAINTED, build)


def island(width: float, depth: float) -> Kind:
    """A block of counter in the middle of a kitchen, its top reaching over on one side for stools."""

    def build(rng: np.random.Generator, colour: Colour) -> Built:
        stone = STONES[int(rng.integers(len(STONES)))]
        pieces: list[Piece] = [
            (block(width - 0.1, depth - 0.4, 0.0, 0.1, 0, -0.15), DARK),
            (block(width - 0.06, depth - 0.34, 0.1, 0.86, 0, -0.15), shade(colour, 0.9)),
            (block(width, depth, 0.86, 0.91), stone),
        ]
        for k in range(3):
            each = (width - 0.06) / 3
            x = -(width - 0.06) / 2 + each * (k + 0.5)
            pieces.append((block(each - 0.02, 0.02, 0.12, 0.82, x, -depth / 2 + 0.01), colour))
        return Built(pieces, "long" if width >= 2 else "", 0.91)

    return Kind("kitchen island", "counter", PAINTED, build)


def bar_counter(width: float) -> Kind:
    """A bar one sits at, its front along +y."""

    def build(rng: np.random.Generator, colour: Colour) -> Built:
        pieces: list[Piece] = [
            (block(width - 0.1, 0.4, 0.0, 1.0, 0, -0.1), shade(colour, 0.8)),
            (block(width, 0.62, 1.0, 1.06), colour),
            (block(width - 0.1, 0.03, 0.2, 0.23, 0, 0.18), STEEL),
        ]
        for k in range(4):
            each = (width - 0.1) / 4
            x = -(width - 0.1) / 2 + each * (k + 0.5)
            pieces.append((block(each - 0.06, 0.02, 0.1, 0.92, x, 0.11), shade(colour, 0.95)))
        return Built(pieces, "long" if width >= 2 else "", 1.06)

    return Kind("bar", "counter", ("brown", "black", "white", "red"), build)


def _boiler(rng: np.random.Generator, colour: Colour) -> Built:
    pieces: list[Piece] = [
        (tube(0.28, 0.08, 1.5, sides=12), colour),
        (tube(0.2, 0.0, 0.08, sides=10), DARK),
        (tube(0.29, 1.5, 1.54, top=0.2, sides=12), shade(colour, 0.85)),
        (tube(0.03, 1.54, 1.9, -0.1, 0, sides=6), (184, 115, 72)),
        (tube(0.03, 1.54, 1.9, 0.1, 0, sides=6), (184, 115, 72)),
        (block(0.2, 0.04, 0.5, 0.7, 0, 0.27), DARK),
    ]
    return Built(pieces, "tall")


def _ironing_board(rng: np.random.Generator, colour: Colour) -> Built:
    pieces: list[Piece] = [
        (block(1.16, 0.34, 0.84, 0.88), colour),
        (bar((-0.4, -0.1, 0.015), (0.3, -0.1, 0.84), 0.03), STEEL),
        (bar((0.4, 0.1, 0.015), (-0.3, 0.1, 0.84), 0.03), STEEL),
        (block(0.03, 0.3, 0.0, 0.03, -0.4), STEEL),
        (block(0.03, 0.3, 0.0, 0.03, 0.4), STEEL),
    ]
    return Built(pieces, "", 0.88)


def _fruit_bowl(rng: np.random.Generator, colour: Colour) -> Built:
    pieces: list[Piece] = [(tube(0.07, 0.0, 0.08, top=0.16, sides=12), colour)]
    fruit = ("red", "orange", "yellow", "green")
    for k, (x, y) in enumerate(((-0.06, -0.03), (0.06, -0.03), (0.0, 0.07), (0.0, 0.0))):
        paint = COLOURS[fruit[(int(rng.integers(4)) + k) % 4]]
        pieces.append((ball(0.09, 0.09, 0.09, x, y, 0.1 + 0.05 * (k == 3), sides=6), paint))
    return Built(pieces)


def _bin(rng: np.random.Generator, colour: Colour) -> Built:
    high = between(rng, 0.36, 0.6)
    return Built(
        [
            (tube(0.13, 0.0, high, top=0.17, sides=10), colour),
            (tube(0.175, high, high + 0.03, sides=10), shade(colour, 0.75)),
        ]
    )


def _bottles(rng: np.random.Generator, colour: Colour) -> Built:
    pieces: list[Piece] = [(block(0.5, 0.2, 0.0, 0.015), OAK)]
    for x in (-0.18, -0.06, 0.06, 0.18):
        paint = shade(COLOURS[BRIGHT[int(rng.integers(len(BRIGHT)))]], 0.7)
        high = between(rng, 0.2, 0.26)
        pieces.append((tube(0.035, 0.015, high, x, 0, sides=8), paint))
        pieces.append((tube(0.014, high, high + 0.09, x, 0, sides=6), WALNUT))
    return Built(pieces)


SINK = Kind("sink", "sink", METALS, _sink)
STOVE = Kind("stove", "appliances", METALS, _stove)
HOOD = Kind("range hood", "appliances", METALS, _hood)
FRIDGE = Kind("refrigerator", "appliances", (*METALS, "red", "blue"), _fridge)
SMALL_FRIDGE = Kind("refrigerator", "appliances", METALS, _small_fridge)
WINE_FRIDGE = Kind("wine fridge", "appliances", METALS, _wine_fridge)
DISHWASHER = Kind("dishwasher", "appliances", METALS, _dishwasher)
WASHING_MACHINE = Kind("washing machine", "appliances", METALS, _washing_machine)
DRYER = Kind("dryer", "appliances", METALS, _dryer)
MICROWAVE = Kind("microwave", "appliances", (*METALS, "red"), _microwave)
TOASTER = Kind("toaster", "appliances", (*METALS, "red", "blue"), _toaster)
KETTLE = Kind("kettle", "appliances", (*METALS, "red", "blue", "green"), _kettle)
COFFEE_MACHINE = Kind("coffee machine", "appliances", (*METALS, "red"), _coffee_machine)
BOILER = Kind("water heater", "appliances", METALS, _boiler)
IRONING_BOARD = Kind("ironing board", "furniture", ("blue", "grey", "red", "green", "pink"), _ironing_board)
FRUIT_BOWL = Kind("fruit bowl", "objects", (*WOODS, "blue"), _fruit_bowl)
BIN = Kind("trash can", "objects", (*METALS, "blue", "green", "red"), _bin)
BOTTLES = Kind("bottles", "objects", ("",), _bottles)
