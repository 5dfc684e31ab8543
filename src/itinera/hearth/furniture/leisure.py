"""Leisure: sport, music, games, cars and tools."""

from __future__ import annotations

import numpy as np

from itinera.hearth.furniture.model import FurnitureKind, ModelParts, Piece
from itinera.hearth.geometry.shapes import ball, bar, block, disc, legs, slanted_block, tube, wheel
from itinera.hearth.geometry.solids import Color
from itinera.hearth.palette import BRIGHT, COLORS, DARK, METALS, OAK, STEEL, Paint, shade

RUBBER = Paint(30, 30, 32)
OCTAGON = (
    (1.0, 0.0),
    (0.707, 0.707),
    (0.0, 1.0),
    (-0.707, 0.707),
    (-1.0, 0.0),
    (-0.707, -0.707),
    (0.0, -1.0),
    (0.707, -0.707),
)


def _treadmill(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(0.74, 1.5, 0.04, 0.16), color),
        (block(0.5, 1.4, 0.16, 0.175, 0, 0.04), RUBBER),
        (block(0.74, 0.3, 0.16, 0.28, 0, -0.6), shade(color, 0.8)),
        (block(0.62, 0.14, 1.1, 1.32, 0, -0.66), DARK),
        (block(0.3, 0.015, 1.16, 1.28, 0, -0.585), (96, 150, 170)),
    ]
    for side in (-1, 1):
        pieces.append((bar((side * 0.33, -0.55, 0.2), (side * 0.33, -0.66, 1.25), 0.06), STEEL))
        pieces.append((bar((side * 0.33, -0.62, 0.98), (side * 0.33, -0.1, 0.94), 0.05), STEEL))
        pieces.append((block(0.1, 1.3, 0.0, 0.04, side * 0.3), RUBBER))
    return ModelParts(pieces)


def _exercise_bike(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(0.5, 0.08, 0.0, 0.06, 0, -0.45), DARK),
        (block(0.5, 0.08, 0.0, 0.06, 0, 0.45), DARK),
        (bar((0, -0.45, 0.05), (0, 0.45, 0.05), 0.08), color),
        (wheel(0.26, 0.06, 0, 0.28, 0.36), color),
        (wheel(0.06, 0.12, 0, 0.28, 0.36, sides=8), STEEL),
        (bar((0, -0.12, 0.08), (0, -0.24, 0.84), 0.06), DARK),
        (ball(0.24, 0.28, 0.1, 0, -0.25, 0.88), RUBBER),
        (bar((0, 0.2, 0.3), (0, 0.34, 1.06), 0.06), DARK),
        (bar((-0.24, 0.24, 1.08), (0.24, 0.24, 1.08), 0.04), RUBBER),
        (bar((0, 0.34, 1.05), (0, 0.24, 1.08), 0.04), DARK),
        (block(0.16, 0.04, 1.1, 1.22, 0, 0.34), DARK),
        (wheel(0.1, 0.14, 0, 0.02, 0.3, sides=8), DARK),
    ]
    return ModelParts(pieces)


def _weights_bench(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(0.3, 1.1, 0.4, 0.48, 0, 0.15), color),
        (block(0.06, 0.9, 0.3, 0.4, 0, 0.15), STEEL),
        (block(0.4, 0.06, 0.0, 0.3, 0, 0.6), STEEL),
        (block(0.06, 0.06, 0.0, 0.3, 0, -0.3), STEEL),
        (bar((-0.72, -0.36, 1.04), (0.72, -0.36, 1.04), 0.03), STEEL),
    ]
    for side in (-1, 1):
        pieces.append((block(0.06, 0.06, 0.05, 1.05, side * 0.44, -0.4), STEEL))
        pieces.append((block(0.06, 0.4, 0.0, 0.05, side * 0.44, -0.4), STEEL))
        pieces.append((wheel(0.2, 0.05, side * 0.6, -0.36, 1.04), RUBBER))
        pieces.append((wheel(0.15, 0.05, side * 0.67, -0.36, 1.04), shade(color, 0.8)))
    return ModelParts(pieces)


def _dumbbells(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [(legs(1.1, 0.42, 0.74, 0.05), STEEL)]
    for z in (0.28, 0.66):
        pieces.append((block(1.08, 0.36, z, z + 0.03), STEEL))
        for x in (-0.42, -0.21, 0.0, 0.21, 0.42):
            pieces += [(disc(0.06, 0.07, x, y, z + 0.09, sides=6), color) for y in (-0.1, 0.1)]
            pieces.append((block(0.03, 0.14, z + 0.075, z + 0.105, x), STEEL))
    return ModelParts(pieces)


def _mat(rng: np.random.Generator, color: Paint) -> ModelParts:
    return ModelParts([(block(0.605, 1.705, 0.0, 0.009), color)], "")


def _punching_bag(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (tube(0.32, 0.0, 0.14, top=0.26, sides=12), DARK),
        (tube(0.06, 0.14, 0.6, sides=8), STEEL),
        (tube(0.17, 0.6, 1.72, sides=10), color),
        (tube(0.175, 1.4, 1.46, sides=10), shade(color, 0.7)),
    ]
    return ModelParts(pieces, "tall")


def _piano(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(1.48, 0.34, 0.04, 1.2, 0, -0.14), color),
        (block(1.52, 0.38, 1.2, 1.24, 0, -0.14), shade(color, 0.9)),
        (block(1.48, 0.3, 0.62, 0.7, 0, 0.17), shade(color, 0.9)),
        (block(1.32, 0.16, 0.7, 0.72, 0, 0.2), (244, 242, 236)),
        (block(0.7, 0.02, 0.86, 1.1, 0, 0.05), shade(color, 1.3)),
    ]
    pieces += [(block(0.03, 0.1, 0.72, 0.735, -0.6 + 0.11 * k, 0.16), RUBBER) for k in range(12)]
    for side in (-1, 1):
        pieces.append((block(0.08, 0.3, 0.7, 0.8, side * 0.7, 0.17), shade(color, 0.9)))
        pieces.append((block(0.08, 0.08, 0.0, 0.62, side * 0.68, 0.26), color))
    return ModelParts(pieces, "", 1.24)


def _arcade(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(0.64, 0.7, 0.0, 0.9), color),
        (block(0.64, 0.4, 0.9, 1.56, 0, -0.15), color),
        (block(0.64, 0.62, 1.56, 1.76, 0, -0.04), shade(color, 0.8)),
        (slanted_block(0.5, 0.03, 0.98, 1.5, 0, 0.1, over=-0.04), (50, 66, 96)),
        (block(0.54, 0.02, 1.6, 1.72, 0, 0.28), COLORS[BRIGHT[int(rng.integers(len(BRIGHT)))]]),
        (tube(0.02, 0.9, 1.0, -0.15, 0.22, sides=6), DARK),
        (ball(0.06, 0.06, 0.06, -0.15, 0.22, 1.02, sides=6), COLORS["red"]),
        (tube(0.03, 0.9, 0.92, 0.1, 0.22, sides=6), COLORS["yellow"]),
        (tube(0.03, 0.9, 0.92, 0.2, 0.22, sides=6), COLORS["blue"]),
    ]
    return ModelParts(pieces, "tall")


def _dart_board(rng: np.random.Generator, color: Paint) -> ModelParts:
    rings: tuple[tuple[float, Color | Paint], ...] = (
        (0.23, RUBBER),
        (0.19, (226, 214, 184)),
        (0.12, COLORS["red"]),
        (0.08, COLORS["green"]),
        (0.03, COLORS["red"]),
    )
    pieces: list[Piece] = [
        (disc(radius, 0.03 + 0.008 * k, 0, 0.004 * k, 0.23, sides=14), ring) for k, (radius, ring) in enumerate(rings)
    ]
    return ModelParts(pieces, "round")


def _whiteboard(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (block(1.2, 0.025, 0.0, 0.8), STEEL),
        (block(1.14, 0.008, 0.03, 0.77, 0, 0.015), color),
        (block(0.5, 0.05, 0.0, 0.02, 0, 0.035), STEEL),
        (block(0.4, 0.004, 0.55, 0.57, -0.2, 0.021), COLORS["blue"]),
        (block(0.6, 0.004, 0.45, 0.47, -0.1, 0.021), COLORS["red"]),
    ]
    return ModelParts(pieces)


def _car(rng: np.random.Generator, color: Paint) -> ModelParts:
    glass = (70, 88, 104)
    pieces: list[Piece] = [
        (block(1.7, 4.0, 0.28, 0.78), color),
        (tube(1.5, 0.78, 1.36, 0, -0.25, top=1.12, sides=4) * (0.76, 1.0, 1.0), glass),
        (block(1.2, 1.5, 1.36, 1.4, 0, -0.25), color),
        (block(1.72, 0.1, 0.34, 0.5, 0, 2.02), STEEL),
        (block(1.72, 0.1, 0.34, 0.5, 0, -2.02), STEEL),
        (block(0.3, 0.04, 0.58, 0.7, -0.6, 2.01), (250, 246, 220)),
        (block(0.3, 0.04, 0.58, 0.7, 0.6, 2.01), (250, 246, 220)),
        (block(0.3, 0.04, 0.58, 0.7, -0.6, -2.01), COLORS["red"]),
        (block(0.3, 0.04, 0.58, 0.7, 0.6, -2.01), COLORS["red"]),
    ]
    for x in (-0.8, 0.8):
        for y in (-1.25, 1.25):
            pieces += [(wheel(0.31, 0.2, x, y, 0.31), RUBBER), (wheel(0.17, 0.22, x, y, 0.31, sides=8), STEEL)]
    return ModelParts(pieces)


def _bicycle(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = []
    for y in (-0.52, 0.52):
        rim = [(0.0, y + 0.32 * c, 0.33 + 0.32 * s) for c, s in OCTAGON]
        for a, b in zip(rim, rim[1:] + rim[:1], strict=True):
            pieces.append((bar(a, b, 0.03), RUBBER))
        pieces.append((bar((0, y, 0.02), (0, y, 0.64), 0.008), STEEL))
        pieces.append((bar((0, y - 0.31, 0.33), (0, y + 0.31, 0.33), 0.008), STEEL))
    frame = (
        ((0, -0.52, 0.33), (0, -0.04, 0.3)),
        ((0, -0.04, 0.3), (0, -0.18, 0.84)),
        ((0, -0.16, 0.76), (0, 0.38, 0.8)),
        ((0, -0.04, 0.3), (0, 0.39, 0.72)),
        ((0, 0.36, 0.92), (0, 0.52, 0.33)),
        ((0, -0.52, 0.33), (0, -0.16, 0.76)),
    )
    pieces += [(bar(a, b, 0.035), color) for a, b in frame]
    pieces += [
        (block(0.12, 0.26, 0.84, 0.89, 0, -0.19), RUBBER),
        (bar((-0.24, 0.34, 0.95), (0.24, 0.34, 0.95), 0.03), RUBBER),
    ]
    return ModelParts(pieces)


def _easel(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (bar((-0.3, 0.2, 0.02), (0, 0, 1.6), 0.03), OAK),
        (bar((0.3, 0.2, 0.02), (0, 0, 1.6), 0.03), OAK),
        (bar((0, -0.3, 0.02), (0, 0, 1.5), 0.03), OAK),
        (block(0.6, 0.03, 0.8, 1.3, 0, 0.14), (244, 240, 230)),
        (block(0.4, 0.012, 0.9, 1.2, 0, 0.16), color),
        (block(0.5, 0.06, 0.77, 0.8, 0, 0.15), OAK),
    ]
    return ModelParts(pieces)


TREADMILL = FurnitureKind("treadmill", "gym_equipment", ("black", "grey", "white", "blue"), _treadmill, ("enamel",))
EXERCISE_BIKE = FurnitureKind(
    "exercise bike", "gym_equipment", ("black", "red", "blue", "white", "yellow"), _exercise_bike, ("enamel",)
)
WEIGHTS_BENCH = FurnitureKind("weight bench", "gym_equipment", ("black", "red", "blue"), _weights_bench, ("leather",))
DUMBBELLS = FurnitureKind("dumbbell rack", "gym_equipment", ("black", "red", "blue"), _dumbbells, ("enamel",))
EXERCISE_MAT = FurnitureKind("exercise mat", "floor", BRIGHT, _mat)
PUNCHING_BAG = FurnitureKind("punching bag", "gym_equipment", ("red", "black", "blue"), _punching_bag, ("leather",))
PIANO = FurnitureKind("piano", "furniture", ("black", "brown", "white"), _piano, ("wood",))
ARCADE = FurnitureKind("arcade machine", "furniture", ("black", "red", "blue", "purple", "yellow"), _arcade)
DART_BOARD = FurnitureKind("dart board", "objects", ("",), _dart_board)
WHITEBOARD = FurnitureKind("whiteboard", "board_panel", ("white",), _whiteboard)
CAR = FurnitureKind("car", "misc", ("red", "blue", "grey", "white", "black", "green"), _car, ("enamel",))
BICYCLE = FurnitureKind("bicycle", "misc", ("red", "blue", "green", "yellow", "orange", *METALS), _bicycle, ("enamel",))
EASEL = FurnitureKind("easel", "objects", BRIGHT, _easel)
