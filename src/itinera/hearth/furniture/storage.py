"""Storage: shelves, wardrobes, cabinets, drawers, racks, baskets and boxes."""

from __future__ import annotations

import numpy as np

from itinera.hearth.furniture.model import FurnitureKind, ModelParts, Piece, random_size
from itinera.hearth.geometry.shapes import ball, bar, block, legs, rotate, tube
from itinera.hearth.palette import BRIGHT, COLORS, DARK, OAK, PAINTED, STEEL, WALNUT, WOODS, Paint, paint, shade

CARDBOARD = Paint(186, 148, 104, "paper")
PAPER_TAPE = Paint(206, 184, 140)
CLOTHES = ("black", "black", "grey", "blue", "blue", "white", "brown", "beige", "red", "green", "pink")


def _carcass(width: float, depth: float, high: float, color: Paint, shelves: int) -> list[Piece]:
    """An open case: sides, back, top, bottom and shelves between."""
    inner = width - 0.06
    pieces: list[Piece] = [
        (block(0.03, depth, 0.0, high, side * (width / 2 - 0.015)), shade(color, 0.9)) for side in (-1, 1)
    ]
    pieces.append((block(inner, 0.02, 0.0, high, 0, -depth / 2 + 0.01), shade(color, 0.78)))
    for k in range(shelves + 1):
        z = 0.05 + (high - 0.08) * k / shelves
        pieces.append((block(inner, depth - 0.02, z, z + 0.03, 0, 0.01), color))
    return pieces


def _bookshelf(rng: np.random.Generator, color: Paint) -> ModelParts:
    tall = rng.random() < 0.65
    width, depth, high = (
        random_size(rng, 0.8, 1.2),
        0.3,
        random_size(rng, 1.8, 2.0) if tall else random_size(rng, 0.9, 1.1),
    )
    shelves = 5 if tall else 3
    pieces = _carcass(width, depth, high, color, shelves)
    for k in range(shelves):
        low = 0.08 + (high - 0.08) * k / shelves
        pieces += _books(rng, width - 0.1, low, 0.21, depth)
    return ModelParts(pieces, "tall" if tall else "low", 0.0 if tall else high)


def _books(rng: np.random.Generator, width: float, low: float, high: float, depth: float) -> list[Piece]:
    """Book spines side by side on one shelf, with some space left."""
    pieces: list[Piece] = []
    x = -width / 2
    while x < width / 2 - 0.2:
        thick = random_size(rng, 0.1, 0.22)
        spine = COLORS[BRIGHT[int(rng.integers(len(BRIGHT)))]] if rng.random() < 0.6 else WALNUT
        if rng.random() < 0.8:
            rise = high * (0.7 + 0.3 * round(float(rng.random()), 2))
            pieces.append((block(thick - 0.01, depth * 0.62, low, low + rise, x + thick / 2, -0.02), shade(spine, 0.9)))
        x += thick
    return pieces


def _shelves(rng: np.random.Generator, color: Paint) -> ModelParts:
    width, depth, high = random_size(rng, 0.9, 1.3), 0.42, random_size(rng, 1.7, 1.9)
    pieces: list[Piece] = [(legs(width, depth, high, 0.035), shade(color, 0.8))]
    for k in range(4):
        z = 0.14 + (high - 0.18) * k / 3
        pieces.append((block(width - 0.008, depth - 0.008, z, z + 0.025), color))
        if k < 3:
            pieces += _boxes_on(rng, width, z + 0.025, depth)
    return ModelParts(pieces, "tall")


def _boxes_on(rng: np.random.Generator, width: float, low: float, depth: float) -> list[Piece]:
    pieces: list[Piece] = []
    for x in (-width / 2 + 0.25, width / 2 - 0.25):
        if rng.random() < 0.75:
            paint = (CARDBOARD, COLORS["blue"], COLORS["white"], COLORS["green"])[int(rng.integers(4))]
            wide, rise = random_size(rng, 0.26, 0.36), random_size(rng, 0.18, 0.3)
            pieces.append((block(wide, depth - 0.1, low, low + rise, x), paint))
            pieces.append((block(wide + 0.02, depth - 0.08, low + rise, low + rise + 0.03, x), shade(paint, 0.85)))
    return pieces


def _doors(width: float, depth: float, low: float, high: float, leaves: int, color: Paint) -> list[Piece]:
    """Door leaves on the front of a case, with handles."""
    each = width / leaves
    pieces: list[Piece] = []
    for k in range(leaves):
        x = -width / 2 + each * (k + 0.5)
        grip = x + (each / 2 - 0.06) * (1 if k % 2 == 0 else -1)
        middle = (low + high) / 2
        pieces.append((block(each - 0.02, 0.02, low, high, x, depth / 2 + 0.01), color))
        pieces.append((block(0.02, 0.02, middle - 0.07, middle + 0.07, grip, depth / 2 + 0.03), STEEL))
    return pieces


def _drawers(width: float, depth: float, low: float, high: float, rows: int, color: Paint) -> list[Piece]:
    """Drawer fronts on the front of a case, with knobs."""
    each = (high - low) / rows
    pieces: list[Piece] = []
    for k in range(rows):
        z = low + each * k
        pieces.append((block(width - 0.04, 0.02, z + 0.01, z + each - 0.01, 0, depth / 2 + 0.01), color))
        knobs = (-width / 4, width / 4) if width > 0.7 else (0.0,)
        pieces += [
            (block(0.06, 0.02, z + each / 2 - 0.01, z + each / 2 + 0.01, x, depth / 2 + 0.03), DARK) for x in knobs
        ]
    return pieces


def _wardrobe(rng: np.random.Generator, color: Paint) -> ModelParts:
    leaves = int(rng.integers(2, 4))
    width, depth, high = 0.5 * leaves, 0.58, random_size(rng, 1.94, 2.1)
    pieces: list[Piece] = [
        (block(width - 0.04, depth - 0.04, 0.0, 0.07), shade(color, 0.7)),
        (block(width, depth, 0.07, high), shade(color, 0.85)),
        *_doors(width, depth, 0.09, high - 0.03, leaves, color),
        (block(width + 0.04, depth + 0.06, high, high + 0.04, 0, 0.01), shade(color, 0.9)),
    ]
    return ModelParts(pieces, "large" if leaves == 3 else "")


def _dresser(rng: np.random.Generator, color: Paint) -> ModelParts:
    tall = rng.random() < 0.4
    width, high, rows = (0.8, 1.14, 5) if tall else (random_size(rng, 1.0, 1.3), 0.82, 3)
    pieces: list[Piece] = [
        (legs(width, 0.44, 0.08, 0.05, 0.02), shade(color, 0.75)),
        (block(width, 0.44, 0.08, high), shade(color, 0.85)),
        *_drawers(width, 0.44, 0.1, high - 0.02, rows, color),
        (block(width + 0.03, 0.5, high, high + 0.03, 0, 0.01), shade(color, 0.95)),
    ]
    return ModelParts(pieces, "tall" if tall else "low", high + 0.03)


def _nightstand(rng: np.random.Generator, color: Paint) -> ModelParts:
    width = random_size(rng, 0.42, 0.48)
    pieces: list[Piece] = [
        (legs(width, 0.38, 0.14, 0.04, 0.01), shade(color, 0.75)),
        (block(width, 0.38, 0.14, 0.5), shade(color, 0.85)),
        *_drawers(width, 0.38, 0.15, 0.49, 2, color),
        (block(width + 0.02, 0.43, 0.5, 0.53, 0, 0.01), color),
    ]
    return ModelParts(pieces, "", 0.53)


def _cabinet(rng: np.random.Generator, color: Paint) -> ModelParts:
    tall = rng.random() < 0.5
    width, depth, high = (0.9, 0.42, random_size(rng, 1.6, 1.8)) if tall else (random_size(rng, 0.9, 1.2), 0.42, 0.86)
    pieces: list[Piece] = [(block(width - 0.06, depth - 0.06, 0.0, 0.08), shade(color, 0.7))]
    if tall:
        pieces += [
            (block(width, depth, 0.08, high), shade(color, 0.85)),
            *_doors(width, depth, 0.1, 0.8, 2, color),
            *_doors(width, depth, 0.82, high - 0.03, 2, shade(color, 1.1)),
        ]
    else:
        pieces += [
            (block(width, depth, 0.08, high), shade(color, 0.85)),
            *_doors(width, depth, 0.1, high - 0.03, 2, color),
        ]
    pieces.append((block(width + 0.03, depth + 0.05, high, high + 0.03, 0, 0.01), shade(color, 0.95)))
    return ModelParts(pieces, "tall" if tall else "low", 0.0 if tall else high + 0.03)


def _sideboard(rng: np.random.Generator, color: Paint) -> ModelParts:
    width = random_size(rng, 1.4, 1.8)
    pieces: list[Piece] = [
        (legs(width, 0.44, 0.16, 0.05, 0.04), shade(color, 0.7)),
        (block(width, 0.44, 0.16, 0.8), shade(color, 0.85)),
        *_doors(width, 0.44, 0.18, 0.78, 4, color),
        (block(width + 0.02, 0.49, 0.8, 0.83, 0, 0.01), shade(color, 0.95)),
    ]
    return ModelParts(pieces, "long", 0.83)


def _tv_stand(rng: np.random.Generator, color: Paint) -> ModelParts:
    width = random_size(rng, 1.3, 1.7)
    pieces = _carcass(width, 0.4, 0.46, color, 2)
    pieces.append((block(0.03, 0.36, 0.08, 0.43, 0, 0.01), shade(color, 0.9)))
    pieces.append((block(0.36, 0.24, 0.26, 0.34, width / 4), DARK))
    return ModelParts(pieces, "", 0.46)


def _filing_cabinet(rng: np.random.Generator, color: Paint) -> ModelParts:
    rows = int(rng.integers(2, 5))
    high = 0.06 + 0.32 * rows
    pieces: list[Piece] = [
        (block(0.44, 0.54, 0.0, 0.05), shade(color, 0.6)),
        (block(0.46, 0.56, 0.05, high), shade(color, 0.88)),
        *_drawers(0.46, 0.56, 0.06, high, rows, color),
    ]
    return ModelParts(pieces, "tall" if rows == 4 else "low" if rows == 2 else "", high)


def _shoe_rack(rng: np.random.Generator, color: Paint) -> ModelParts:
    width, high, rows = random_size(rng, 0.7, 0.9), 0.6, 3
    pieces: list[Piece] = [(legs(width, 0.32, high, 0.03), shade(color, 0.8))]
    for k in range(rows):
        z = 0.08 + (high - 0.12) * k / (rows - 1)
        pieces.append((block(width - 0.01, 0.3, z, z + 0.02), color))
        for x in np.round(np.linspace(-width / 2 + 0.16, width / 2 - 0.16, 3), 3):
            if k < rows - 1 and rng.random() < 0.7:
                leather = paint(("black", "brown", "white", "red", "blue")[int(rng.integers(5))], "leather")
                pieces += [(block(0.1, 0.26, z + 0.02, z + 0.09, x + side), leather) for side in (-0.055, 0.055)]
    return ModelParts(pieces, "", high)


def _wine_rack(rng: np.random.Generator, color: Paint) -> ModelParts:
    width, high = 0.9, random_size(rng, 1.3, 1.7)
    rows = 5
    pieces = _carcass(width, 0.34, high, color, rows)
    for k in range(rows):
        z = 0.08 + (high - 0.08) * k / rows
        for x in (-0.32, -0.16, 0.0, 0.16, 0.32):
            if rng.random() < 0.75:
                glass = ((40, 78, 48), (90, 30, 36), (60, 60, 64))[int(rng.integers(3))]
                pieces.append((tube(0.04, z, z + 0.16, x, 0.02, top=0.035, sides=5), glass))
                pieces.append((block(0.025, 0.025, z + 0.16, z + 0.22, x, 0.02), glass))
    return ModelParts(pieces, "tall" if high > 1.5 else "")


def _coat_rack(rng: np.random.Generator, color: Paint) -> ModelParts:
    pieces: list[Piece] = [
        (tube(0.2, 0.0, 0.04, top=0.16), shade(color, 0.85)),
        (tube(0.025, 0.04, 1.76, sides=8), color),
        (ball(0.08, 0.08, 0.08, 0, 0, 1.78, sides=6), color),
    ]
    for k in range(4):
        hook = bar((0.02, 0, 1.6), (0.17, 0, 1.7), 0.025)
        pieces.append((rotate(hook, np.pi / 2 * k + np.pi / 4), color))
    for k in range(int(rng.integers(1, 3))):
        coat = paint(CLOTHES[int(rng.integers(len(CLOTHES)))], "fabric")
        hung = tube(0.13, 0.8, 1.56, 0.13, 0, top=0.05, sides=6)
        pieces.append((rotate(hung, np.pi * k + np.pi / 4), shade(coat, 0.85)))
    return ModelParts(pieces, "tall")


def _clothes_rail(rng: np.random.Generator, color: Paint) -> ModelParts:
    width = random_size(rng, 0.96, 1.2)
    pieces: list[Piece] = [(block(width, 0.03, 1.6, 1.63), color)]
    for side in (-1, 1):
        x = side * (width / 2 - 0.015)
        pieces += [(block(0.03, 0.42, 0.0, 0.03, x), color), (block(0.03, 0.03, 0.03, 1.6, x), color)]
    for x in np.round(np.linspace(-width / 2 + 0.14, width / 2 - 0.14, 6), 3):
        cloth = paint(CLOTHES[int(rng.integers(len(CLOTHES)))], "fabric")
        low = random_size(rng, 0.5, 0.9)
        pieces.append((block(0.06, 0.36, low, 1.56, x), shade(cloth, 0.9)))
    return ModelParts(pieces)


def _basket(rng: np.random.Generator, color: Paint) -> ModelParts:
    high = random_size(rng, 0.36, 0.56)
    pieces: list[Piece] = [
        (tube(0.18, 0.0, high, top=0.22, sides=12), color),
        (tube(0.235, high, high + 0.03, sides=12), shade(color, 0.8)),
    ]
    if rng.random() < 0.6:
        cloth = paint(("white", "blue", "pink", "grey")[int(rng.integers(4))], "fabric")
        pieces.append((ball(0.34, 0.34, 0.14, 0, 0, high + 0.05), cloth))
    return ModelParts(pieces, "large" if high > 0.46 else "small")


def _box(rng: np.random.Generator, color: Paint) -> ModelParts:
    wide, deep, high = random_size(rng, 0.4, 0.56), random_size(rng, 0.34, 0.42), random_size(rng, 0.3, 0.42)
    pieces: list[Piece] = [
        (block(wide, deep, 0.0, high), color),
        (block(0.06, deep + 0.004, 0.0, high + 0.003), PAPER_TAPE),
    ]
    if rng.random() < 0.4:
        pieces.append(
            (rotate(block(wide * 0.8, deep * 0.8, high + 0.003, high + 0.26), np.pi / 12), shade(color, 0.93))
        )
    return ModelParts(pieces)


def _trunk(rng: np.random.Generator, color: Paint) -> ModelParts:
    width = random_size(rng, 0.8, 1.0)
    pieces: list[Piece] = [
        (block(width, 0.44, 0.0, 0.32), color),
        (block(width + 0.02, 0.46, 0.32, 0.44), shade(color, 1.1)),
        (block(0.08, 0.02, 0.27, 0.38, 0, 0.235), STEEL),
    ]
    pieces += [(block(0.05, 0.47, 0.0, 0.445, x), OAK) for x in (-width / 3, width / 3)]
    return ModelParts(pieces, "", 0.445)


BOOKSHELF = FurnitureKind("bookshelf", "shelving", (*WOODS, "blue", "green"), _bookshelf, ("wood",))
SHELVES = FurnitureKind(
    "shelves",
    "shelving",
    ("white", "brown", "grey", "black", "beige"),
    _shelves,
    (
        "metal",
        "wood",
    ),
)
WARDROBE = FurnitureKind("wardrobe", "cabinet", PAINTED, _wardrobe, ("wood",))
DRESSER = FurnitureKind("dresser", "chest_of_drawers", PAINTED, _dresser, ("wood",))
NIGHTSTAND = FurnitureKind("nightstand", "chest_of_drawers", PAINTED, _nightstand, ("wood",))
CABINET = FurnitureKind("cabinet", "cabinet", PAINTED, _cabinet, ("wood",))
SIDEBOARD = FurnitureKind("sideboard", "cabinet", PAINTED, _sideboard, ("wood",))
TV_STAND = FurnitureKind("tv stand", "furniture", WOODS, _tv_stand, ("wood",))
FILING_CABINET = FurnitureKind(
    "filing cabinet", "cabinet", ("grey", "black", "white", "blue", "green"), _filing_cabinet, ("metal",)
)
SHOE_RACK = FurnitureKind(
    "shoe rack",
    "shelving",
    WOODS,
    _shoe_rack,
    (
        "wood",
        "metal",
    ),
)
WINE_RACK = FurnitureKind("wine rack", "shelving", WOODS, _wine_rack, ("wood",))
COAT_RACK = FurnitureKind(
    "coat rack",
    "furniture",
    WOODS,
    _coat_rack,
    (
        "wood",
        "metal",
    ),
)
CLOTHES_RAIL = FurnitureKind("clothes rack", "clothes", ("black", "white", "grey"), _clothes_rail, ("metal",))
BASKET = FurnitureKind("basket", "objects", ("brown", "beige", "white", "grey"), _basket, ("wicker",))
BOX = FurnitureKind("box", "objects", ("brown", "beige", "white", "blue"), _box, ("cardboard",))
TRUNK = FurnitureKind(
    "chest",
    "furniture",
    ("brown", "black", "red", "green", "blue"),
    _trunk,
    (
        "wood",
        "leather",
    ),
)
