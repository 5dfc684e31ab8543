"""Small things of kitchens and dining rooms: crockery, pans, jars, food."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from itinera.hearth.furniture.model import FurnitureKind, ModelParts, Piece
from itinera.hearth.geometry.shapes import ball, bar, block, tube
from itinera.hearth.palette import DARK, GLASS, LEAF, METALS, OAK, PAPER, STEEL, Paint, paint, shade

CROCKERY = ("white", "blue", "grey", "green", "yellow", "red", "black")


def small_thing(
    name: str,
    colors: tuple[str, ...],
    shapes: Callable[[Paint], list[Piece]],
    *materials: str,
    shape: str = "",
    category: str = "objects",
) -> FurnitureKind:
    """A kind of fixed size, built from its paint alone."""

    def build(rng: np.random.Generator, color: Paint) -> ModelParts:
        return ModelParts(shapes(color), shape)

    return FurnitureKind(name, category, colors, build, materials or ("plain",))


def _cup(color: Paint) -> list[Piece]:
    handle = block(0.03, 0.014, 0.03, 0.07, 0.052)
    return [
        (tube(0.03, 0.0, 0.09, top=0.042, sides=8), color),
        (handle, color),
        (tube(0.036, 0.09, 0.092, sides=6), DARK),
    ]


def _plate(color: Paint) -> list[Piece]:
    return [
        (tube(0.07, 0.0, 0.016, top=0.12, sides=12), color),
        (tube(0.075, 0.016, 0.018, sides=10), shade(color, 0.92)),
    ]


def _bowl(color: Paint) -> list[Piece]:
    return [(tube(0.045, 0.0, 0.07, top=0.09, sides=10), color), (tube(0.078, 0.07, 0.072, sides=8), shade(color, 0.8))]


def _drinking_glass(color: Paint) -> list[Piece]:
    return [(tube(0.03, 0.0, 0.13, top=0.038, sides=8), GLASS)]


def _wine_glass(color: Paint) -> list[Piece]:
    return [
        (tube(0.035, 0.0, 0.006, sides=8), GLASS),
        (tube(0.006, 0.006, 0.09, sides=4), GLASS),
        (tube(0.02, 0.09, 0.18, top=0.036, sides=8), GLASS),
    ]


def _bottle(color: Paint) -> list[Piece]:
    glass = Paint(*shade(color, 0.75)[:3], "glass")
    return [
        (tube(0.038, 0.0, 0.2, sides=8), glass),
        (tube(0.038, 0.2, 0.24, top=0.014, sides=8), glass),
        (tube(0.014, 0.24, 0.31, sides=6), glass),
        (tube(0.039, 0.06, 0.14, sides=8), PAPER),
    ]


def _teapot(color: Paint) -> list[Piece]:
    return [
        (ball(0.18, 0.18, 0.13, 0, 0, 0.065, sides=8), color),
        (tube(0.03, 0.13, 0.145, sides=8), shade(color, 0.9)),
        (bar((0.08, 0, 0.05), (0.15, 0, 0.12), 0.024), color),
        (bar((-0.08, 0, 0.09), (-0.13, 0, 0.06), 0.02), color),
    ]


def _pan(color: Paint) -> list[Piece]:
    return [
        (tube(0.1, 0.0, 0.045, top=0.13, sides=12), color),
        (tube(0.11, 0.045, 0.047, sides=10), shade(color, 0.7)),
        (bar((0.12, 0, 0.035), (0.32, 0, 0.05), 0.024), DARK),
    ]


def _pot(color: Paint) -> list[Piece]:
    pieces: list[Piece] = [
        (tube(0.12, 0.0, 0.14, sides=12), color),
        (tube(0.125, 0.14, 0.155, top=0.1, sides=12), shade(color, 0.85)),
        (ball(0.03, 0.03, 0.03, 0, 0, 0.165, sides=6), DARK),
    ]
    return [*pieces, *((block(0.05, 0.03, 0.09, 0.11, x), DARK) for x in (-0.14, 0.14))]


def _cutting_board(color: Paint) -> list[Piece]:
    return [
        (block(0.36, 0.24, 0.0, 0.018), color),
        (block(0.2, 0.016, 0.018, 0.022, -0.02, 0.05), STEEL),
        (block(0.09, 0.022, 0.018, 0.032, 0.12, 0.05), DARK),
    ]


def _knife_block(color: Paint) -> list[Piece]:
    return [
        (block(0.1, 0.16, 0.0, 0.2), color),
        *((block(0.015, 0.025, 0.2, 0.28 - 0.02 * k, -0.03 + 0.03 * k), DARK) for k in range(3)),
    ]


def _cookie_jar(color: Paint) -> list[Piece]:
    pieces: list[Piece] = [(tube(0.07, 0.0, 0.18, sides=10), color), (tube(0.072, 0.18, 0.2, sides=10), OAK)]
    return [*pieces, (ball(0.03, 0.03, 0.03, 0, 0, 0.215, sides=6), OAK)]


def _bread(color: Paint) -> list[Piece]:
    return [(block(0.38, 0.2, 0.0, 0.018), OAK), (ball(0.3, 0.13, 0.11, 0, 0, 0.073, sides=8), Paint(190, 132, 70))]


def _cake(color: Paint) -> list[Piece]:
    return [
        (tube(0.16, 0.0, 0.015, sides=12), paint("white", "ceramic")),
        (tube(0.12, 0.015, 0.1, sides=12), color),
        *(
            (ball(0.03, 0.03, 0.03, x, y, 0.11, sides=6), paint("red"))
            for x, y in ((0.07, 0), (-0.07, 0), (0, 0.07), (0, -0.07))
        ),
    ]


def _pineapple(color: Paint) -> list[Piece]:
    return [
        (ball(0.14, 0.14, 0.2, 0, 0, 0.1, sides=8), Paint(206, 152, 58)),
        (tube(0.02, 0.2, 0.32, top=0.07, sides=6), LEAF),
    ]


def _paper_towel(color: Paint) -> list[Piece]:
    return [
        (tube(0.08, 0.0, 0.015, sides=8), STEEL),
        (tube(0.065, 0.015, 0.25, sides=10), paint("white", "paper")),
        (tube(0.012, 0.25, 0.29, sides=6), STEEL),
    ]


def _dish_rack(color: Paint) -> list[Piece]:
    plates = [(block(0.012, 0.2, 0.04, 0.22, -0.12 + 0.06 * k), paint("white", "ceramic")) for k in range(4)]
    return [(block(0.42, 0.3, 0.0, 0.03), color), *plates, (tube(0.035, 0.03, 0.12, 0.15, 0.05, sides=6), GLASS)]


def _spice_rack(color: Paint) -> list[Piece]:
    tones = ("red", "brown", "green", "yellow", "black")
    jars = [
        (tube(0.022, 0.03, 0.11, -0.12 + 0.06 * k, 0.01, sides=6), paint(tone, "glass")) for k, tone in enumerate(tones)
    ]
    return [(block(0.34, 0.09, 0.0, 0.03), color), (block(0.34, 0.015, 0.03, 0.14, 0, -0.037), color), *jars]


def _tray(color: Paint) -> list[Piece]:
    cups = [(tube(0.032, 0.012, 0.09, x, 0.03, sides=6), paint("white", "ceramic")) for x in (-0.08, 0.08)]
    return [
        (block(0.42, 0.28, 0.0, 0.012), color),
        *((block(0.02, 0.28, 0.012, 0.04, x), shade(color, 0.85)) for x in (-0.2, 0.2)),
        *cups,
    ]


def _salt_shaker(color: Paint) -> list[Piece]:
    return [(tube(0.028, 0.0, 0.1, top=0.02, sides=8), color), (tube(0.021, 0.1, 0.115, sides=6), STEEL)]


def _napkin_holder(color: Paint) -> list[Piece]:
    return [
        (block(0.16, 0.16, 0.0, 0.03), color),
        (block(0.17, 0.012, 0.0, 0.08, 0, 0.09), STEEL),
        (block(0.17, 0.012, 0.0, 0.08, 0, -0.09), STEEL),
    ]


def _blender(color: Paint) -> list[Piece]:
    return [
        (tube(0.09, 0.0, 0.12, top=0.07, sides=8), color),
        (tube(0.055, 0.12, 0.34, top=0.075, sides=8), GLASS),
        (tube(0.076, 0.34, 0.37, sides=8), DARK),
    ]


def _mixer(color: Paint) -> list[Piece]:
    return [
        (block(0.2, 0.34, 0.0, 0.04), color),
        (block(0.12, 0.1, 0.04, 0.26, 0, -0.11), color),
        (ball(0.14, 0.34, 0.13, 0, 0.02, 0.3, sides=8), color),
        (tube(0.07, 0.04, 0.16, 0, 0.08, top=0.1, sides=10), STEEL),
    ]


CUP = small_thing("cup", CROCKERY, _cup, "ceramic")
PLATE = small_thing("plate", CROCKERY, _plate, "porcelain", shape="round")
BOWL = small_thing("bowl", CROCKERY, _bowl, "ceramic", shape="round")
DRINKING_GLASS = small_thing("glass", ("",), _drinking_glass, "plain")
WINE_GLASS = small_thing("wine glass", ("",), _wine_glass, "plain")
BOTTLE = small_thing("bottle", ("green", "brown", "blue"), _bottle, "plain")
TEAPOT = small_thing("teapot", CROCKERY, _teapot, "ceramic")
PAN = small_thing("pan", ("black", "grey", "red"), _pan, "enamel")
POT = small_thing("pot", ("grey", "black", "red", "white"), _pot, "enamel")
CUTTING_BOARD = small_thing("cutting board", ("brown", "beige"), _cutting_board, "wood")
KNIFE_BLOCK = small_thing("knife block", ("brown", "black", "beige"), _knife_block, "wood")
COOKIE_JAR = small_thing("cookie jar", ("white", "beige", "green", "blue"), _cookie_jar, "ceramic")
BREAD = small_thing("bread", ("",), _bread)
CAKE = small_thing("cake", ("white", "brown", "pink"), _cake, shape="round")
PINEAPPLE = small_thing("pineapple", ("",), _pineapple)
PAPER_TOWEL = small_thing("paper towel", ("",), _paper_towel)
DISH_RACK = small_thing("dish rack", METALS, _dish_rack, "enamel", category="shelving")
SPICE_RACK = small_thing("spice rack", ("brown", "black", "white"), _spice_rack, "wood", category="shelving")
TRAY = small_thing("tray", ("brown", "white", "black", "grey"), _tray, "wood", "metal")
SALT_SHAKER = small_thing("salt shaker", ("white", "black", "brown"), _salt_shaker, "ceramic")
NAPKIN_HOLDER = small_thing("napkin holder", ("white", "red", "blue", "green"), _napkin_holder, "paper")
BLENDER = small_thing("blender", METALS, _blender, "enamel", category="appliances")
MIXER = small_thing("mixer", ("white", "red", "grey", "blue"), _mixer, "enamel", category="appliances")
