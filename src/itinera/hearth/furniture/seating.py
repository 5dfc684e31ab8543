"""Things to sit and lie on: sofas, chairs, stools, benches, beds, and what softens them."""

from __future__ import annotations

import numpy as np

from itinera.hearth.furniture.model import Builder, Built, Kind, Piece, between
from itinera.hearth.geometry.shapes import ball, bar, block, leaning, legs, moved, tube, turned
from itinera.hearth.geometry.solids import Colour
from itinera.hearth.palette import DARK, FABRICS, METALS, OAK, PAINTED, PAPER, STEEL, WALNUT, WOODS, shade

ARM, SEAT, BACK = 0.18, 0.44, 0.84  # width of an arm, heights of seat and back


def _bench_of_cushions(width: float, depth: float, seats: int, colour: Colour) -> list[Piece]:
    """Body, seats and back of a sofa without arms; its back along -y."""
    each = width / seats
    pieces: list[Piece] = [
        (block(width, depth, 0.1, 0.3), shade(colour, 0.85)),
        (leaning(width, 0.2, 0.3, BACK, 0, -depth / 2 + 0.16, over=-0.06), shade(colour, 0.92)),
    ]
    for k in range(seats):
        x = -width / 2 + each * (k + 0.5)
        pieces.append((block(each - 0.02, depth - 0.24, 0.3, SEAT, x, 0.13), colour))
        pieces.append(
            (leaning(each - 0.03, 0.14, SEAT, BACK - 0.04, x, -depth / 2 + 0.31, over=-0.06), shade(colour, 1.05))
        )
    return pieces


def _sofa(seats: int, shape: str) -> Builder:
    def build(rng: np.random.Generator, colour: Colour) -> Built:
        width, depth = between(rng, 0.6, 0.7) * seats, between(rng, 0.88, 0.96)
        pieces = _bench_of_cushions(width, depth, seats, colour)
        for side in (-1, 1):
            x = side * (width / 2 + ARM / 2 + 0.005)
            pieces.append((block(ARM, depth, 0.1, 0.62, x), shade(colour, 0.9)))
        pieces.append((legs(width + 2 * ARM, depth, 0.1, 0.06, 0.04), WALNUT))
        return Built(pieces, shape, SEAT)

    return build


def _corner_sofa(rng: np.random.Generator, colour: Colour) -> Built:
    width, depth, reach = between(rng, 2.3, 2.7), 0.92, 0.76
    pieces = _bench_of_cushions(width, depth, 4, colour)
    side = 1 if rng.random() < 0.5 else -1
    x = side * (width / 2 - 0.45)
    pieces += [
        (block(0.88, reach, 0.1, 0.3, x, depth / 2 + reach / 2 + 0.005), shade(colour, 0.85)),
        (block(0.86, reach - 0.02, 0.3, SEAT, x, depth / 2 + reach / 2 + 0.005), colour),
        (block(ARM, depth, 0.1, 0.62, -side * (width / 2 + ARM / 2 + 0.005)), shade(colour, 0.9)),
        (block(ARM, depth + reach, 0.1, 0.62, side * (width / 2 + ARM / 2 + 0.005), reach / 2), shade(colour, 0.9)),
        (legs(width, depth, 0.1, 0.06, 0.04), WALNUT),
    ]
    return Built(pieces, "corner", SEAT)


def _armchair(rng: np.random.Generator, colour: Colour) -> Built:
    if rng.random() < 0.3:
        return _tub_chair(colour)
    width, depth = between(rng, 0.52, 0.6), between(rng, 0.8, 0.88)
    pieces = _bench_of_cushions(width, depth, 1, colour)
    for side in (-1, 1):
        pieces.append((block(0.14, depth, 0.1, 0.6, side * (width / 2 + 0.075)), shade(colour, 0.9)))
    pieces.append((legs(width + 0.28, depth, 0.1, 0.05, 0.03), WALNUT))
    return Built(pieces, "", SEAT)


def _tub_chair(colour: Colour) -> Built:
    shell = [moved(block(0.2, 0.1, 0.12, 0.5 + 0.26 * rise), 0, -0.36) for rise in (0.4, 0.7, 1.0, 1.0, 1.0, 0.7, 0.4)]
    around = np.radians([-105, -70, -35, 0, 35, 70, 105])
    pieces: list[Piece] = [(tube(0.34, 0.12, 0.4), shade(colour, 0.85)), (tube(0.31, 0.4, SEAT), colour)]
    pieces += [(turned(part, turn), shade(colour, 0.95)) for part, turn in zip(shell, around, strict=True)]
    pieces.append((tube(0.2, 0.0, 0.12, sides=8), DARK))
    return Built(pieces, "round", SEAT)


def _chair(rng: np.random.Generator, colour: Colour) -> Built:
    wide, high = between(rng, 0.42, 0.46), between(rng, 0.86, 0.98)
    frame = shade(colour, 0.85)
    pieces: list[Piece] = [
        (legs(wide, 0.44, SEAT - 0.02, 0.04), frame),
        (block(wide, 0.44, SEAT - 0.02, SEAT + 0.03), colour),
    ]
    posts = (0.02 - wide / 2, wide / 2 - 0.02)
    pieces += [(leaning(0.035, 0.035, SEAT + 0.03, high, x, -0.2, over=-0.06), frame) for x in posts]
    slats = ((0.62, 0.7), (high - 0.14, high - 0.02)) if rng.random() < 0.5 else ((0.6, high - 0.02),)
    for low, top in slats:
        near = -0.2 - 0.06 * (low - SEAT) / (high - SEAT)
        pieces.append((leaning(wide - 0.08, 0.025, low, top, 0, near, over=-0.05 * (top - low)), colour))
    return Built(pieces, "", SEAT + 0.03)


def _office_chair(rng: np.random.Generator, colour: Colour) -> Built:
    high = between(rng, 0.98, 1.12)
    pieces: list[Piece] = [(tube(0.03, 0.07, 0.42, sides=8), STEEL)]
    for k in range(5):
        spoke = block(0.04, 0.3, 0.05, 0.09, 0, 0.15)
        pieces.append((turned(spoke, 2 * np.pi * k / 5), DARK))
        pieces.append((turned(block(0.05, 0.06, 0.0, 0.06, 0, 0.29), 2 * np.pi * k / 5), DARK))
    pieces += [
        (block(0.5, 0.48, 0.42, 0.5, 0, 0.03), colour),
        (bar((0, -0.2, 0.45), (0, -0.27, 0.62), 0.05), DARK),
        (leaning(0.46, 0.07, 0.58, high, 0, -0.25, over=-0.06), colour),
    ]
    for side in (-1, 1):
        pieces.append((bar((side * 0.27, 0.0, 0.46), (side * 0.27, 0.0, 0.66), 0.03), DARK))
        pieces.append((block(0.06, 0.28, 0.66, 0.69, side * 0.27), DARK))
    return Built(pieces, "", 0.5)


def _stool(rng: np.random.Generator, colour: Colour) -> Built:
    if rng.random() < 0.5:
        spread = [turned(bar((0.08, 0, 0.42), (0.16, 0, 0.0), 0.03), np.pi / 2 * k + np.pi / 4) for k in range(4)]
        pieces = [(part - (0, 0, part[..., 2].min()), WALNUT) for part in spread]
        return Built([*pieces, (tube(0.18, 0.42, 0.46, sides=12), colour)], "round", 0.46)
    return Built(
        [(legs(0.36, 0.36, 0.42, 0.04), shade(colour, 0.8)), (block(0.36, 0.36, 0.42, 0.47), colour)], "square", 0.47
    )


def _bar_stool(rng: np.random.Generator, colour: Colour) -> Built:
    pieces: list[Piece] = [
        (tube(0.2, 0.0, 0.03), STEEL),
        (tube(0.03, 0.03, 0.7, sides=6), STEEL),
        (tube(0.13, 0.26, 0.285, sides=8), STEEL),
        (tube(0.17, 0.7, 0.76, sides=12), colour),
    ]
    if rng.random() < 0.5:
        pieces.append((leaning(0.28, 0.03, 0.76, 0.94, 0, -0.14, over=-0.03), colour))
    return Built(pieces, "", 0.76)


def _bench(rng: np.random.Generator, colour: Colour) -> Built:
    width = between(rng, 0.96, 1.4)
    pieces: list[Piece] = [
        (block(width, 0.38, 0.41, 0.46), colour),
        (block(0.06, 0.34, 0.0, 0.41, -width / 2 + 0.12), shade(colour, 0.8)),
        (block(0.06, 0.34, 0.0, 0.41, width / 2 - 0.12), shade(colour, 0.8)),
        (block(width - 0.3, 0.05, 0.12, 0.17), shade(colour, 0.8)),
    ]
    return Built(pieces, "long" if width > 1.2 else "", 0.46)


def _ottoman(rng: np.random.Generator, colour: Colour) -> Built:
    if rng.random() < 0.5:
        return Built([(tube(0.3, 0.04, 0.4, sides=12), colour), (tube(0.24, 0.0, 0.04), DARK)], "round", 0.4)
    pieces = [(block(0.6, 0.5, 0.06, 0.36), shade(colour, 0.9)), (block(0.58, 0.48, 0.36, 0.42), colour)]
    return Built([*pieces, (legs(0.6, 0.5, 0.06, 0.05, 0.02), WALNUT)], "", 0.42)


def _bed(width: float, shape: str) -> Builder:
    def build(rng: np.random.Generator, colour: Colour) -> Built:
        head, wood = between(rng, 0.8, 1.1), (WALNUT, OAK, (230, 228, 222))[int(rng.integers(3))]
        length = 2.02
        pieces: list[Piece] = [
            (legs(width, length, 0.14, 0.07, 0.02), shade(wood, 0.8)),
            (block(width, length, 0.14, 0.3), wood),
            (block(width + 0.04, 0.06, 0.0, head, 0, -length / 2 - 0.03), shade(wood, 0.9)),
            (block(width - 0.06, length - 0.06, 0.3, 0.5), PAPER),
            # The blanket hangs over the mattress on three sides.
            (block(width + 0.02, length * 0.68, 0.27, 0.53, 0, length * 0.16 + 0.015), colour),
            (block(width + 0.03, 0.24, 0.26, 0.54, 0, -length * 0.18 + 0.12), shade(colour, 1.2)),
        ]
        return Built(pieces, shape, 0.5)

    return build


def _bunk_bed(rng: np.random.Generator, colour: Colour) -> Built:
    wide, length = 0.96, 2.02
    wood = (WALNUT, OAK)[int(rng.integers(2))]
    pieces: list[Piece] = [(legs(wide + 0.06, length + 0.06, 1.7, 0.07), wood)]
    for low in (0.24, 1.2):
        pieces += [
            (block(wide, length, low, low + 0.1), shade(wood, 0.9)),
            (block(wide - 0.04, length - 0.04, low + 0.1, low + 0.24), PAPER),
            (block(wide - 0.02, length * 0.66, low + 0.1, low + 0.26, 0, length * 0.14), colour),
        ]
    for z in (1.5, 1.64):
        pieces.append((block(0.03, length * 0.7, z, z + 0.05, -wide / 2 + 0.02, -0.25), wood))
    for step in range(5):
        pieces.append((block(0.04, 0.34, 0.3 + 0.26 * step, 0.34 + 0.26 * step, wide / 2 + 0.02, 0.7), wood))
    return Built(pieces, "tall", 0.48)


def _pillow(rng: np.random.Generator, colour: Colour) -> Built:
    return Built([(ball(0.6, 0.38, 0.16, 0, 0, 0.08, sides=8), colour)])


def _cushion(rng: np.random.Generator, colour: Colour) -> Built:
    side = between(rng, 0.36, 0.42)
    body = leaning(side, 0.12, 0.0, side, over=-0.14)
    core = leaning(side * 0.7, 0.17, side * 0.15, side * 0.85, 0, -0.14 * 0.15, over=-0.14 * 0.7)
    return Built([(body, colour), (core, shade(colour, 1.06))])


def _massage_table(rng: np.random.Generator, colour: Colour) -> Built:
    pieces: list[Piece] = [
        (legs(0.66, 1.7, 0.62, 0.06, 0.02), OAK),
        (block(0.7, 1.86, 0.62, 0.74), colour),
        (block(0.34, 0.24, 0.68, 0.76, 0, -1.08), shade(colour, 0.9)),
    ]
    return Built(pieces, "", 0.74)


SOFA = Kind("sofa", "sofa", FABRICS, _sofa(3, ""))
LONG_SOFA = Kind("sofa", "sofa", FABRICS, _sofa(4, "long"))
SMALL_SOFA = Kind("sofa", "sofa", FABRICS, _sofa(2, "small"))
CORNER_SOFA = Kind("sofa", "sofa", FABRICS, _corner_sofa)
ARMCHAIR = Kind("armchair", "chair", FABRICS, _armchair)
CHAIR = Kind("chair", "chair", (*PAINTED, "yellow", "orange"), _chair)
OFFICE_CHAIR = Kind("office chair", "chair", ("black", "grey", "blue", "red", "white", "green"), _office_chair)
STOOL = Kind("stool", "stool", PAINTED, _stool)
BAR_STOOL = Kind("bar stool", "stool", (*METALS, "red", "brown", "orange", "blue"), _bar_stool)
BENCH = Kind("bench", "seating", (*WOODS, "green", "blue"), _bench)
OTTOMAN = Kind("ottoman", "seating", FABRICS, _ottoman)
SINGLE_BED = Kind("bed", "bed", FABRICS, _bed(1.0, "single"))
DOUBLE_BED = Kind("bed", "bed", FABRICS, _bed(1.6, "double"))
LARGE_BED = Kind("bed", "bed", FABRICS, _bed(1.9, "large"))
BUNK_BED = Kind("bunk bed", "bed", FABRICS, _bunk_bed)
PILLOW = Kind("pillow", "cushion", ("white", "beige", "grey", "blue", "pink"), _pillow)
CUSHION = Kind("cushion", "cushion", FABRICS, _cushion)
MASSAGE_TABLE = Kind("massage table", "table", ("white", "beige", "brown", "blue"), _massage_table)
