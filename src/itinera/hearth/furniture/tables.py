"""Tables and desks, round, square and long."""

from __future__ import annotations

import numpy as np

from itinera.hearth.furniture.model import Builder, FurnitureKind, ModelParts, Piece, random_size
from itinera.hearth.geometry.shapes import block, legs, tube
from itinera.hearth.palette import DARK, OAK, PAINTED, STEEL, WALNUT, WOODS, Paint, shade


def _rectangular(width: float, depth: float, high: float, color: Paint, *, thick: float = 0.04) -> list[Piece]:
    leg = 0.07 if high > 0.6 else 0.05
    frame = _frame(color)
    return [
        (block(width, depth, high - thick, high), color),
        (legs(width, depth, high - thick, leg, 0.02), frame),
        (block(width - 0.14, 0.03, high - thick - 0.08, high - thick, 0, depth / 2 - 0.06), shade(frame, 1.06)),
        (block(width - 0.14, 0.03, high - thick - 0.08, high - thick, 0, -depth / 2 + 0.06), shade(frame, 1.06)),
    ]


def _frame(color: Paint) -> Paint:
    """The legs under a top: steel under glass and stone."""
    return STEEL if color.material == "glass" else DARK if color.material == "stone" else shade(color, 0.82)


def _round(diameter: float, high: float, color: Paint) -> list[Piece]:
    return [
        (tube(diameter / 2, high - 0.04, high, sides=16), color),
        (tube(0.05, 0.03, high - 0.04, sides=8), _frame(color)),
        (tube(diameter * 0.26, 0.0, 0.03, top=diameter * 0.2, sides=12), _frame(color)),
    ]


def dining_table(width: float, depth: float) -> FurnitureKind:
    """A dining table of these dimensions."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        shape = "square" if width == depth else "long" if width >= 2 * depth else ""
        return ModelParts(_rectangular(width, depth, 0.75, color), shape, 0.75)

    return FurnitureKind("dining table", "table", PAINTED, build, ("wood", "glass", "marble"))


def round_dining_table(diameter: float) -> FurnitureKind:
    """A round dining table on one foot."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        return ModelParts(_round(diameter, 0.75, color), "round", 0.75)

    return FurnitureKind("dining table", "table", PAINTED, build, ("wood", "glass", "marble"))


def _coffee_table(shape: str) -> Builder:
    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        if shape == "round":
            return ModelParts(_round(random_size(rng, 0.7, 0.9), 0.42, color), "round", 0.42)
        if shape == "oval":
            pieces = [
                (corners * (1.0, 0.56, 1.0), top) for corners, top in _round(random_size(rng, 1.0, 1.2), 0.42, color)
            ]
            return ModelParts(pieces, "oval", 0.42)
        width = random_size(rng, 0.7, 0.8) if shape == "square" else random_size(rng, 1.0, 1.3)
        depth = width if shape == "square" else random_size(rng, 0.52, 0.6)
        pieces = _rectangular(width, depth, 0.42, color)[:2]
        if rng.random() < 0.5:
            pieces.append((block(width - 0.16, depth - 0.16, 0.14, 0.16), shade(color, 0.9)))
        return ModelParts(pieces, shape, 0.42)

    return build


def _side_table(rng: np.random.Generator, color: Paint) -> ModelParts:
    if rng.random() < 0.5:
        return ModelParts(_round(0.46, 0.55, color), "round", 0.55)
    return ModelParts(
        [*_rectangular(0.44, 0.44, 0.55, color)[:2], (block(0.36, 0.36, 0.2, 0.22), color)], "square", 0.55
    )


def _console_table(rng: np.random.Generator, color: Paint) -> ModelParts:
    width = random_size(rng, 0.9, 1.3)
    pieces = _rectangular(width, 0.32, 0.8, color)
    pieces.append((block(width - 0.12, 0.24, 0.18, 0.21), shade(color, 0.9)))
    return ModelParts(pieces, "long" if width > 1.1 else "", 0.8)


def _desk(rng: np.random.Generator, color: Paint) -> ModelParts:
    """A desk with drawers on one side and the seat on the other, see DESK_SEAT."""
    width, depth = random_size(rng, 1.2, 1.6), random_size(rng, 0.62, 0.72)
    pieces: list[Piece] = [
        (block(width, depth, 0.71, 0.75), color),
        (block(0.4, depth - 0.06, 0.04, 0.71, width / 2 - 0.22), shade(color, 0.92)),
        (block(0.04, depth - 0.06, 0.0, 0.71, 0.05 - width / 2), shade(color, 0.85)),
        (block(width - 0.5, 0.02, 0.4, 0.71, -0.19, -depth / 2 + 0.06), shade(color, 0.85)),
    ]
    fronts = (0.08, 0.29, 0.5)
    pieces += [(block(0.36, 0.015, z, z + 0.19, width / 2 - 0.22, depth / 2 - 0.025), color) for z in fronts]
    return ModelParts(pieces, "", 0.75)


def _workbench(rng: np.random.Generator, color: Paint) -> ModelParts:
    width = random_size(rng, 1.4, 1.8)
    pieces = _rectangular(width, 0.6, 0.88, color, thick=0.07)
    pieces += [
        (block(width - 0.2, 0.5, 0.2, 0.23), shade(color, 0.8)),
        (block(0.3, 0.26, 0.23, 0.44, -width / 4), (150, 40, 36)),
        (block(0.34, 0.3, 0.23, 0.4, width / 5), (60, 90, 130)),
        (block(0.12, 0.16, 0.88, 1.0, width / 2 - 0.14, 0.18), STEEL),
    ]
    return ModelParts(pieces, "", 0.88)


def _pool_table(rng: np.random.Generator, color: Paint) -> ModelParts:
    width, depth = 2.3, 1.3
    wood = (WALNUT, OAK, DARK)[int(rng.integers(3))]
    pieces: list[Piece] = [
        (legs(width, depth, 0.62, 0.14, 0.08), shade(wood, 0.8)),
        (block(width - 0.04, depth - 0.04, 0.62, 0.78), shade(wood, 0.9)),
        (block(width - 0.24, depth - 0.24, 0.78, 0.8), color),
    ]
    for side in (-1, 1):
        pieces.append((block(width, 0.12, 0.74, 0.84, 0, side * (depth / 2 - 0.06)), wood))
        pieces.append((block(0.12, depth - 0.24, 0.74, 0.84, side * (width / 2 - 0.06)), wood))
    for x, y, ball_color in ((0.5, 0.0, (240, 240, 230)), (-0.5, 0.1, (200, 40, 40)), (-0.56, -0.08, (240, 200, 40))):
        pieces.append((tube(0.03, 0.8, 0.85, x, y, sides=8), ball_color))
    return ModelParts(pieces, "", 0.0)


def _tennis_table(rng: np.random.Generator, color: Paint) -> ModelParts:
    width, depth = 2.5, 1.4
    pieces: list[Piece] = [
        (legs(width - 0.5, depth, 0.73, 0.06, 0.1), DARK),
        (block(width, depth, 0.73, 0.76), color),
        (block(width - 0.02, 0.02, 0.76, 0.763), (240, 240, 240)),
        (block(0.01, depth, 0.763, 0.9), (225, 225, 225)),
    ]
    return ModelParts(pieces, "", 0.0)


DESK_SEAT = -0.2  # metres along a desk from its middle to the seat
COFFEE_TABLES = tuple(
    FurnitureKind("coffee table", "table", PAINTED, _coffee_table(shape), ("wood", "glass", "marble", "metal"))
    for shape in ("round", "square", "long", "oval")
)
SIDE_TABLE = FurnitureKind(
    "side table",
    "table",
    PAINTED,
    _side_table,
    (
        "wood",
        "metal",
        "glass",
    ),
)
CONSOLE_TABLE = FurnitureKind(
    "console table",
    "table",
    PAINTED,
    _console_table,
    (
        "wood",
        "metal",
    ),
)
DESK = FurnitureKind("desk", "table", WOODS, _desk, ("wood",))
WORKBENCH = FurnitureKind(
    "workbench",
    "table",
    ("brown", "grey", "green", "blue"),
    _workbench,
    (
        "wood",
        "metal",
    ),
)
POOL_TABLE = FurnitureKind("pool table", "table", ("green", "blue", "red"), _pool_table, ("fabric",))
TENNIS_TABLE = FurnitureKind("ping-pong table", "table", ("blue", "green"), _tennis_table)
