"""Small things that people leave on desks, shelves and nightstands, in bathrooms and on the floor."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from itinera.hearth.furniture.leisure import RUBBER
from itinera.hearth.furniture.model import Piece
from itinera.hearth.furniture.tableware import small_thing
from itinera.hearth.geometry.shapes import ball, bar, block, disc, rotate, slanted_block, translate, tube, wheel
from itinera.hearth.palette import BRIGHT, DARK, METALS, OAK, PAPER, STEEL, WALNUT, Paint, paint, shade

SCREEN = Paint(92, 128, 168)
TEXTILES = ("grey", "blue", "beige", "white", "green", "red", "brown", "black", "pink", "yellow")
SHOES = ("black", "brown", "white", "blue", "red", "grey")


def _book(color: Paint) -> list[Piece]:
    return [(block(0.15, 0.21, 0.0, 0.03), color), (block(0.142, 0.2, 0.005, 0.025, 0.006), PAPER)]


def _magazine(color: Paint) -> list[Piece]:
    return [(block(0.21, 0.28, 0.0, 0.008), color), (block(0.15, 0.08, 0.008, 0.009, 0, 0.07), PAPER)]


def _newspaper(color: Paint) -> list[Piece]:
    gray = Paint(196, 196, 190, "paper")
    return [
        (block(0.3, 0.38, 0.0, 0.014), gray),
        (block(0.26, 0.04, 0.014, 0.016, 0, 0.14), DARK),
        (block(0.12, 0.16, 0.014, 0.016, -0.06, -0.02), shade(gray, 0.7)),
    ]


def _remote_control(color: Paint) -> list[Piece]:
    return [
        (block(0.05, 0.18, 0.0, 0.022), color),
        (tube(0.013, 0.022, 0.025, 0, 0.06, sides=6), paint("red")),
        (block(0.03, 0.08, 0.022, 0.024, 0, -0.03), paint("grey")),
    ]


def _game_controller(color: Paint) -> list[Piece]:
    grips = [(ball(0.06, 0.1, 0.04, x, -0.03, 0.02, sides=6), color) for x in (-0.06, 0.06)]
    return [
        (block(0.14, 0.07, 0.0, 0.035), color),
        *grips,
        (tube(0.014, 0.035, 0.05, -0.03, 0, sides=6), DARK),
        (tube(0.014, 0.035, 0.05, 0.03, 0, sides=6), DARK),
    ]


def _phone(color: Paint) -> list[Piece]:
    return [(block(0.075, 0.155, 0.0, 0.009), color), (block(0.068, 0.145, 0.009, 0.0105), SCREEN)]


def _tablet(color: Paint) -> list[Piece]:
    return [(block(0.18, 0.25, 0.0, 0.009), color), (block(0.16, 0.23, 0.009, 0.0105), SCREEN)]


def _headphones(color: Paint) -> list[Piece]:
    arch = [(0.085, 0.02), (0.07, 0.1), (0.0, 0.14), (-0.07, 0.1), (-0.085, 0.02)]
    band = [(bar((a, 0, b), (c, 0, d), 0.016), color) for (a, b), (c, d) in pairwise(arch)]
    return [*band, *((wheel(0.04, 0.03, x, 0, 0.04, sides=8), DARK) for x in (-0.085, 0.085))]


def _speaker(color: Paint) -> list[Piece]:
    return [
        (block(0.18, 0.2, 0.0, 0.32), color),
        (disc(0.06, 0.012, 0, 0.1, 0.11, sides=10), DARK),
        (disc(0.03, 0.012, 0, 0.1, 0.24, sides=8), DARK),
    ]


def _radio(color: Paint) -> list[Piece]:
    return [
        (block(0.3, 0.1, 0.0, 0.18), color),
        (disc(0.06, 0.012, -0.07, 0.05, 0.09, sides=10), DARK),
        (block(0.1, 0.01, 0.08, 0.13, 0.08, 0.05), PAPER),
        (bar((0.12, -0.03, 0.18), (0.2, -0.03, 0.38), 0.008), STEEL),
    ]


def _camera(color: Paint) -> list[Piece]:
    return [
        (block(0.14, 0.06, 0.0, 0.09), color),
        (disc(0.035, 0.06, 0, 0.05, 0.045, sides=10), DARK),
        (block(0.05, 0.05, 0.09, 0.11), color),
    ]


def _picture_frame(color: Paint) -> list[Piece]:
    return [
        (slanted_block(0.18, 0.015, 0.0, 0.23, 0, 0.02, over=-0.05), color),
        (slanted_block(0.13, 0.004, 0.025, 0.205, 0, 0.026, over=-0.039), paint("blue", "paper")),
        (bar((0, -0.03, 0.12), (0, -0.09, 0.004), 0.012), DARK),
    ]


def _alarm_clock(color: Paint) -> list[Piece]:
    bells = [(ball(0.04, 0.03, 0.03, x, 0, 0.135, sides=6), STEEL) for x in (-0.03, 0.03)]
    return [
        (disc(0.06, 0.04, 0, 0, 0.065, sides=10), color),
        (disc(0.048, 0.006, 0, 0.022, 0.065, sides=10), PAPER),
        (block(0.006, 0.004, 0.065, 0.1, 0, 0.026), DARK),
        *bells,
    ]


def _figurine(color: Paint) -> list[Piece]:
    return [
        (block(0.1, 0.1, 0.0, 0.03), DARK),
        (tube(0.04, 0.03, 0.14, top=0.022, sides=6), color),
        (ball(0.05, 0.05, 0.06, 0, 0, 0.17, sides=6), color),
    ]


def _trophy(color: Paint) -> list[Piece]:
    gold = Paint(212, 172, 66, "metal")
    handles = [(block(0.02, 0.02, 0.2, 0.28, x), gold) for x in (-0.09, 0.09)]
    return [
        (block(0.12, 0.12, 0.0, 0.06), WALNUT),
        (tube(0.02, 0.06, 0.16, sides=6), gold),
        (tube(0.035, 0.16, 0.3, top=0.08, sides=10), gold),
        *handles,
    ]


def _hourglass(color: Paint) -> list[Piece]:
    glass = Paint(200, 218, 224, "glass")
    return [
        (tube(0.06, 0.0, 0.015, sides=8), color),
        (tube(0.045, 0.015, 0.1, top=0.008, sides=8), glass),
        (tube(0.008, 0.1, 0.185, top=0.045, sides=8), glass),
        (tube(0.06, 0.185, 0.2, sides=8), color),
    ]


def _board_game(color: Paint) -> list[Piece]:
    dark = paint("black")
    squares = [
        (block(0.08, 0.08, 0.02, 0.022, -0.12 + 0.08 * i, -0.12 + 0.08 * j), dark)
        for i in range(4)
        for j in range(4)
        if (i + j) % 2
    ]
    pieces = [
        (tube(0.016, 0.022, 0.07, x, y, top=0.008, sides=5), tone)
        for x, y, tone in ((-0.12, -0.12, dark), (0.12, 0.12, PAPER), (0.04, -0.12, dark))
    ]
    return [(block(0.36, 0.36, 0.0, 0.02), color), *squares, *pieces]


def _printer(color: Paint) -> list[Piece]:
    return [
        (block(0.44, 0.36, 0.0, 0.18), color),
        (block(0.3, 0.16, 0.06, 0.075, 0, 0.24), PAPER),
        (slanted_block(0.3, 0.01, 0.18, 0.3, 0, -0.1, over=-0.06), PAPER),
        (block(0.1, 0.08, 0.18, 0.19, 0.14, 0.1), DARK),
    ]


def _notebook(color: Paint) -> list[Piece]:
    return [
        (block(0.16, 0.22, 0.0, 0.016), color),
        (block(0.012, 0.22, 0.0, 0.02, -0.08), DARK),
        (block(0.14, 0.01, 0.016, 0.026, 0.0, 0.03), paint("yellow")),
    ]


def _pencil_cup(color: Paint) -> list[Piece]:
    pens = [
        (bar((x, y, 0.06), (2 * x, 2 * y, 0.19), 0.01), paint(tone))
        for x, y, tone in ((0.02, 0.0, "red"), (-0.015, 0.015, "blue"), (-0.01, -0.02, "yellow"))
    ]
    return [(tube(0.04, 0.0, 0.1, sides=8), color), *pens]


def _folders(color: Paint) -> list[Piece]:
    spines = [(block(0.07, 0.26, 0.0, 0.3, -0.08 + 0.08 * k), shade(color, 0.85 + 0.12 * k)) for k in range(3)]
    return [*spines, *((block(0.04, 0.004, 0.18, 0.26, -0.08 + 0.08 * k, 0.132), PAPER) for k in range(3))]


def _typewriter(color: Paint) -> list[Piece]:
    return [
        (block(0.36, 0.3, 0.0, 0.08), color),
        (block(0.34, 0.14, 0.08, 0.16, 0, -0.07), color),
        (wheel(0.03, 0.42, 0, -0.1, 0.18, sides=8), DARK),
        (slanted_block(0.22, 0.004, 0.17, 0.34, 0, -0.1, over=-0.04), PAPER),
        (block(0.28, 0.12, 0.08, 0.09, 0, 0.07), DARK),
    ]


def _toothbrush_cup(color: Paint) -> list[Piece]:
    brushes = [
        (bar((x, 0, 0.04), (2.4 * x, 0, 0.19), 0.01), paint(tone)) for x, tone in ((0.015, "red"), (-0.015, "green"))
    ]
    return [(tube(0.034, 0.0, 0.1, top=0.038, sides=8), color), *brushes]


def _soap(color: Paint) -> list[Piece]:
    return [
        (tube(0.04, 0.0, 0.015, top=0.06, sides=8), paint("white", "ceramic")),
        (ball(0.08, 0.05, 0.03, 0, 0, 0.03, sides=6), color),
    ]


def _soap_dispenser(color: Paint) -> list[Piece]:
    return [
        (tube(0.035, 0.0, 0.12, sides=8), color),
        (tube(0.01, 0.12, 0.16, sides=5), STEEL),
        (bar((0, 0, 0.158), (0, 0.05, 0.152), 0.012), STEEL),
    ]


def _perfume(color: Paint) -> list[Piece]:
    return [(block(0.06, 0.04, 0.0, 0.08), color), (tube(0.014, 0.08, 0.11, sides=6), Paint(212, 172, 66, "metal"))]


def _shampoo(color: Paint) -> list[Piece]:
    return [
        (block(0.07, 0.04, 0.0, 0.18), color),
        (tube(0.018, 0.18, 0.21, sides=6), paint("white")),
        (block(0.05, 0.042, 0.05, 0.12), PAPER),
    ]


def _hair_dryer(color: Paint) -> list[Piece]:
    return [
        (wheel(0.04, 0.2, 0, 0, 0.045, sides=8), color),
        (bar((-0.05, 0, 0.03), (-0.06, -0.14, 0.02), 0.035), color),
        (wheel(0.03, 0.03, 0.11, 0, 0.045, sides=8), DARK),
    ]


def _tissue_box(color: Paint) -> list[Piece]:
    return [
        (block(0.23, 0.12, 0.0, 0.09), color),
        (tube(0.03, 0.09, 0.14, top=0.055, sides=5), paint("white", "paper")),
    ]


def _rubber_duck(color: Paint) -> list[Piece]:
    yellow = paint("yellow")
    return [
        (ball(0.09, 0.12, 0.07, 0, 0, 0.035, sides=6), yellow),
        (ball(0.06, 0.06, 0.06, 0, 0.035, 0.09, sides=6), yellow),
        (block(0.03, 0.03, 0.08, 0.09, 0, 0.075), paint("orange")),
    ]


def _toilet_paper(color: Paint) -> list[Piece]:
    rolls = [(tube(0.055, 0.1 * k + 0.02, 0.1 * k + 0.115, sides=10), paint("white", "paper")) for k in range(3)]
    return [(tube(0.08, 0.0, 0.02, sides=8), STEEL), *rolls, (tube(0.012, 0.315, 0.4, sides=6), STEEL)]


def _toilet_brush(color: Paint) -> list[Piece]:
    return [(tube(0.05, 0.0, 0.16, top=0.06, sides=8), color), (tube(0.01, 0.16, 0.4, sides=5), color)]


def _scale(color: Paint) -> list[Piece]:
    return [(block(0.3, 0.3, 0.0, 0.04), color), (block(0.12, 0.06, 0.04, 0.046, 0, 0.09), DARK)]


def _folded_towels(color: Paint) -> list[Piece]:
    return [
        (block(0.34, 0.22, 0.05 * k, 0.05 * k + 0.046, 0.004 * (k % 2)), shade(color, 1.0 - 0.06 * (k % 2)))
        for k in range(3)
    ]


def _blanket(color: Paint) -> list[Piece]:
    return [
        (block(0.44, 0.34, 0.0, 0.06), color),
        (block(0.42, 0.32, 0.06, 0.1, 0.005), shade(color, 0.92)),
        (block(0.1, 0.345, 0.0, 0.102, 0.15), shade(color, 0.8)),
    ]


def _teddy_bear(color: Paint) -> list[Piece]:
    limbs = [(ball(0.09, 0.12, 0.09, x, 0.07, z, sides=6), color) for x in (-0.09, 0.09) for z in (0.05, 0.2)]
    ears = [(ball(0.06, 0.04, 0.06, x, 0, 0.43, sides=6), shade(color, 0.85)) for x in (-0.07, 0.07)]
    return [
        (ball(0.2, 0.16, 0.24, 0, 0, 0.14, sides=8), color),
        (ball(0.18, 0.16, 0.17, 0, 0.01, 0.34, sides=8), color),
        *limbs,
        *ears,
        (ball(0.07, 0.05, 0.06, 0, 0.085, 0.32, sides=6), paint("beige")),
    ]


def _doll(color: Paint) -> list[Piece]:
    skin = Paint(230, 190, 160)
    return [
        (tube(0.09, 0.0, 0.2, top=0.03, sides=8), color),
        (ball(0.1, 0.1, 0.11, 0, 0, 0.26, sides=8), skin),
        (ball(0.12, 0.09, 0.1, 0, -0.025, 0.29, sides=6), WALNUT),
    ]


def _toy_car(color: Paint) -> list[Piece]:
    wheels = [(wheel(0.035, 0.02, x, y, 0.035, sides=8), RUBBER) for x in (-0.06, 0.06) for y in (-0.08, 0.08)]
    return [
        (block(0.11, 0.28, 0.03, 0.08), color),
        (block(0.1, 0.14, 0.08, 0.12, 0, -0.02), Paint(120, 150, 170, "glass")),
        *wheels,
    ]


def _toy_train(color: Paint) -> list[Piece]:
    pieces: list[Piece] = [
        (block(0.1, 0.16, 0.03, 0.09, 0, -0.18 + 0.19 * k), paint(tone))
        for k, tone in enumerate(("red", "yellow", "blue"))
    ]
    wheels = [(wheel(0.03, 0.12, 0, -0.22 + 0.095 * k, 0.03, sides=6), DARK) for k in range(5)]
    return [
        *pieces,
        *wheels,
        (tube(0.025, 0.09, 0.15, 0, 0.24, top=0.035, sides=6), DARK),
        (block(0.1, 0.06, 0.09, 0.16, 0, 0.16), color),
    ]


def _toy_blocks(color: Paint) -> list[Piece]:
    spots = (
        (-0.1, 0.0, 0.0, "red", 10),
        (0.02, 0.08, 0.0, "blue", 40),
        (0.1, -0.06, 0.0, "yellow", 20),
        (-0.02, 0.01, 0.09, "green", 30),
        (-0.04, -0.13, 0.0, "orange", 60),
    )
    return [
        (translate(rotate(block(0.09, 0.09, z, z + 0.088), np.radians(turn)), x, y), paint(tone))
        for x, y, z, tone, turn in spots
    ]


def _soccer_ball(color: Paint) -> list[Piece]:
    return [(ball(0.22, 0.22, 0.22, 0, 0, 0.11, sides=10), color), (tube(0.05, 0.217, 0.222, sides=5), DARK)]


def _shoes(color: Paint) -> list[Piece]:
    pieces: list[Piece] = []
    for x in (-0.07, 0.07):
        pieces += [
            (block(0.1, 0.28, 0.0, 0.025, x), DARK),
            (block(0.09, 0.26, 0.025, 0.06, x), color),
            (block(0.09, 0.14, 0.06, 0.11, x, -0.06), color),
        ]
    return pieces


def _slippers(color: Paint) -> list[Piece]:
    pieces: list[Piece] = []
    for x in (-0.07, 0.07):
        pieces += [
            (block(0.1, 0.26, 0.0, 0.02, x), shade(color, 0.8)),
            (ball(0.1, 0.14, 0.08, x, 0.05, 0.05, sides=6), color),
        ]
    return pieces


def _boots(color: Paint) -> list[Piece]:
    pieces: list[Piece] = []
    for x in (-0.07, 0.07):
        pieces += [
            (block(0.1, 0.28, 0.0, 0.08, x, 0.02), color),
            (tube(0.055, 0.08, 0.34, x, -0.07, sides=8), color),
            (tube(0.045, 0.34, 0.344, x, -0.07, sides=6), DARK),
        ]
    return pieces


def _handbag(color: Paint) -> list[Piece]:
    arch = [(-0.09, 0.22), (-0.06, 0.33), (0.06, 0.33), (0.09, 0.22)]
    strap = [(bar((a, 0, b), (c, 0, d), 0.016), shade(color, 0.7)) for (a, b), (c, d) in pairwise(arch)]
    return [
        (slanted_block(0.32, 0.13, 0.0, 0.23, over=0.0), color),
        (block(0.3, 0.135, 0.17, 0.232), shade(color, 0.85)),
        *strap,
    ]


def _backpack(color: Paint) -> list[Piece]:
    return [
        (block(0.3, 0.16, 0.0, 0.4), color),
        (ball(0.3, 0.17, 0.14, 0, 0, 0.4, sides=8), color),
        (block(0.22, 0.06, 0.04, 0.2, 0, 0.11), shade(color, 0.8)),
        (block(0.06, 0.02, 0.46, 0.5, 0, -0.05), DARK),
    ]


def _suitcase(color: Paint) -> list[Piece]:
    ribs = [(block(0.02, 0.25, 0.06, 0.62, x), shade(color, 0.8)) for x in (-0.12, 0.0, 0.12)]
    wheels = [(wheel(0.03, 0.03, x, y, 0.03, sides=6), RUBBER) for x in (-0.16, 0.16) for y in (-0.08, 0.08)]
    return [
        (block(0.42, 0.24, 0.05, 0.64), color),
        *ribs,
        *wheels,
        (block(0.2, 0.03, 0.7, 0.73), DARK),
        *((block(0.02, 0.02, 0.64, 0.7, x), STEEL) for x in (-0.09, 0.09)),
    ]


def _laundry(color: Paint) -> list[Piece]:
    lumps = ((0.0, 0.0, 0.36, 0.16), (0.16, 0.08, 0.26, 0.12), (-0.15, 0.06, 0.28, 0.14), (0.03, -0.16, 0.26, 0.12))
    tones = (color, paint("white", "fabric"), paint("blue", "fabric"), shade(color, 0.8))
    return [
        (ball(wide, wide * 0.8, high, x, y, high / 2, sides=6), tone)
        for (x, y, wide, high), tone in zip(lumps, tones, strict=True)
    ]


def _laundry_basket(color: Paint) -> list[Piece]:
    return [
        (tube(0.22, 0.0, 0.36, top=0.28, sides=4), color),
        (block(0.42, 0.42, 0.33, 0.38), shade(color, 0.85)),
        (ball(0.36, 0.32, 0.16, 0, 0, 0.4, sides=6), paint("white", "fabric")),
        (ball(0.2, 0.2, 0.12, 0.06, 0.05, 0.47, sides=6), paint("blue", "fabric")),
    ]


def _hat(color: Paint) -> list[Piece]:
    return [
        (tube(0.17, 0.0, 0.012, sides=12), color),
        (tube(0.09, 0.012, 0.12, top=0.075, sides=10), color),
        (tube(0.092, 0.015, 0.04, sides=10), DARK),
    ]


def _umbrella_stand(color: Paint) -> list[Piece]:
    canes = [
        (bar((x, 0, 0.1), (2 * x, 0.03, 0.8), 0.035), paint(tone, "fabric"))
        for x, tone in ((-0.03, "black"), (0.04, "red"))
    ]
    return [(tube(0.11, 0.0, 0.5, sides=10), color), (tube(0.12, 0.5, 0.52, sides=10), shade(color, 0.8)), *canes]


def _pet_bowl(color: Paint) -> list[Piece]:
    return [(tube(0.12, 0.0, 0.06, top=0.1, sides=10), color), (tube(0.085, 0.06, 0.066, sides=8), Paint(120, 84, 54))]


def _pet_bed(color: Paint) -> list[Piece]:
    rim = block(0.2, 0.12, 0.0, 0.16, 0, 0.28)
    return [
        (tube(0.3, 0.0, 0.06, sides=12), shade(color, 1.1)),
        *((rotate(rim, np.radians(40 * k + 20)), color) for k in range(8)),
    ]


def _skateboard(color: Paint) -> list[Piece]:
    wheels = [(wheel(0.028, 0.03, x, y, 0.028, sides=8), paint("white")) for x in (-0.07, 0.07) for y in (-0.25, 0.25)]
    return [
        (block(0.2, 0.76, 0.06, 0.075), color),
        (block(0.1, 0.06, 0.03, 0.06, 0, 0.25), STEEL),
        (block(0.1, 0.06, 0.03, 0.06, 0, -0.25), STEEL),
        *wheels,
    ]


def _guitar(color: Paint) -> list[Piece]:
    body = [(disc(radius, 0.09, 0, 0, z, sides=12), color) for radius, z in ((0.19, 0.19), (0.14, 0.42))]
    return [
        *body,
        (disc(0.05, 0.012, 0, 0.045, 0.36, sides=8), DARK),
        (block(0.05, 0.03, 0.5, 0.92, 0, 0.02), WALNUT),
        (block(0.08, 0.02, 0.92, 1.04, 0, 0.02), DARK),
    ]


def _vacuum_cleaner(color: Paint) -> list[Piece]:
    return [
        (ball(0.28, 0.4, 0.24, 0, -0.1, 0.15, sides=8), color),
        (wheel(0.1, 0.3, 0, -0.16, 0.1, sides=8), DARK),
        (bar((0, 0.06, 0.16), (0.02, 0.3, 0.7), 0.04), STEEL),
        (bar((0.02, 0.3, 0.7), (0, 0.42, 0.06), 0.035), STEEL),
        (block(0.28, 0.1, 0.0, 0.05, 0, 0.42), DARK),
    ]


def _bucket(color: Paint) -> list[Piece]:
    return [
        (tube(0.11, 0.0, 0.26, top=0.15, sides=10), color),
        (tube(0.13, 0.26, 0.264, sides=8), Paint(104, 156, 178)),
        (bar((-0.15, 0, 0.25), (0, 0.1, 0.34), 0.012), STEEL),
        (bar((0, 0.1, 0.34), (0.15, 0, 0.25), 0.012), STEEL),
    ]


def _broom(color: Paint) -> list[Piece]:
    return [
        (block(0.34, 0.06, 0.0, 0.12), Paint(200, 170, 100)),
        (block(0.34, 0.07, 0.12, 0.16), color),
        (tube(0.014, 0.16, 1.4, sides=6), OAK),
    ]


def _toolbox(color: Paint) -> list[Piece]:
    return [
        (block(0.46, 0.22, 0.0, 0.2), color),
        (block(0.47, 0.23, 0.14, 0.22), shade(color, 0.8)),
        (block(0.2, 0.03, 0.26, 0.29), DARK),
        *((block(0.03, 0.03, 0.22, 0.26, x), DARK) for x in (-0.09, 0.09)),
    ]


def _drill(color: Paint) -> list[Piece]:
    return [
        (block(0.07, 0.18, 0.12, 0.19), color),
        (block(0.05, 0.06, 0.03, 0.12, 0, -0.05), DARK),
        (block(0.08, 0.1, 0.0, 0.03, 0, -0.04), color),
        (bar((0, 0.09, 0.155), (0, 0.22, 0.155), 0.02), STEEL),
    ]


def _paint_can(color: Paint) -> list[Piece]:
    return [
        (tube(0.09, 0.0, 0.2, sides=10), STEEL),
        (tube(0.093, 0.05, 0.15, sides=10), color),
        (tube(0.08, 0.2, 0.204, sides=8), color),
    ]


def _watering_can(color: Paint) -> list[Piece]:
    return [
        (tube(0.12, 0.0, 0.24, top=0.1, sides=10), color),
        (bar((0.1, 0, 0.06), (0.34, 0, 0.28), 0.03), color),
        (tube(0.03, 0.27, 0.32, 0.35, 0, top=0.05, sides=6), color),
        (bar((-0.1, 0, 0.22), (-0.2, 0, 0.12), 0.02), color),
        (bar((-0.2, 0, 0.12), (-0.11, 0, 0.05), 0.02), color),
    ]


def _lantern(color: Paint) -> list[Piece]:
    posts = [(block(0.015, 0.015, 0.03, 0.28, x, y), color) for x in (-0.08, 0.08) for y in (-0.08, 0.08)]
    return [
        (block(0.19, 0.19, 0.0, 0.03), color),
        *posts,
        (tube(0.035, 0.03, 0.15, sides=8), PAPER),
        (tube(0.13, 0.28, 0.36, top=0.03, sides=4), color),
    ]


def _gnome(color: Paint) -> list[Piece]:
    return [
        (tube(0.1, 0.0, 0.2, top=0.06, sides=8), paint("blue")),
        (ball(0.12, 0.12, 0.12, 0, 0, 0.25, sides=6), Paint(230, 190, 160)),
        (ball(0.1, 0.06, 0.14, 0, 0.05, 0.2, sides=6), paint("white")),
        (tube(0.08, 0.28, 0.46, top=0.005, sides=8), color),
    ]


def _bottle_crate(color: Paint) -> list[Piece]:
    bottles = [
        (tube(0.032, 0.03, 0.3, x, y, top=0.014, sides=6), Paint(58, 84, 56, "glass"))
        for x in (-0.12, 0.0, 0.12)
        for y in (-0.07, 0.07)
    ]
    long: list[Piece] = [(block(0.4, 0.02, 0.02, 0.22, 0, y), color) for y in (-0.14, 0.14)]
    short: list[Piece] = [(block(0.02, 0.26, 0.02, 0.22, x), color) for x in (-0.19, 0.19)]
    return [(block(0.4, 0.3, 0.0, 0.02), shade(color, 0.8)), *long, *short, *bottles]


def _magazine_rack(color: Paint) -> list[Piece]:
    return [
        (block(0.36, 0.2, 0.0, 0.04), color),
        *((slanted_block(0.36, 0.015, 0.04, 0.34, 0, side * 0.07, over=side * 0.05), color) for side in (-1, 1)),
        *((block(0.24, 0.01, 0.04, 0.3, 0.0, y), paint(tone, "paper")) for y, tone in ((-0.02, "red"), (0.02, "blue"))),
    ]


def _yoga_ball(color: Paint) -> list[Piece]:
    return [(ball(0.62, 0.62, 0.6, 0, 0, 0.3, sides=12), color)]


def _water_bottle(color: Paint) -> list[Piece]:
    return [(tube(0.035, 0.0, 0.2, sides=8), color), (tube(0.02, 0.2, 0.25, sides=6), DARK)]


BOOK = small_thing("book", ("red", "blue", "green", "brown", "black", "white", "orange"), _book, "paper")
MAGAZINE = small_thing("magazine", BRIGHT, _magazine, "paper")
NEWSPAPER = small_thing("newspaper", ("",), _newspaper)
REMOTE_CONTROL = small_thing("remote control", ("black", "grey"), _remote_control)
GAME_CONTROLLER = small_thing("game controller", ("black", "white", "blue"), _game_controller)
PHONE = small_thing("phone", ("black", "white", "grey"), _phone)
TABLET = small_thing("tablet", ("black", "grey", "white"), _tablet)
HEADPHONES = small_thing("headphones", ("black", "white", "red", "blue"), _headphones)
SPEAKER = small_thing("speaker", ("black", "brown", "white", "grey"), _speaker)
RADIO = small_thing("radio", ("brown", "red", "black", "beige", "white"), _radio)
CAMERA = small_thing("camera", ("black", "grey"), _camera)
PICTURE_FRAME = small_thing(
    "photo frame", ("black", "brown", "white", "grey"), _picture_frame, "wood", category="picture"
)
ALARM_CLOCK = small_thing("alarm clock", ("red", "black", "white", "green"), _alarm_clock, "enamel", shape="round")
FIGURINE = small_thing("figurine", ("white", "brown", "black", "blue"), _figurine, "ceramic")
TROPHY = small_thing("trophy", ("",), _trophy)
HOURGLASS = small_thing("hourglass", ("brown", "black"), _hourglass, "wood")
BOARD_GAME = small_thing("board game", ("brown", "beige", "green"), _board_game, shape="square")
PRINTER = small_thing("printer", METALS, _printer)
NOTEBOOK = small_thing("notebook", ("red", "blue", "green", "black", "brown"), _notebook, "paper")
PENCIL_CUP = small_thing("pencil cup", ("black", "white", "blue", "grey"), _pencil_cup, "plain")
FOLDERS = small_thing("folder", ("black", "blue", "grey", "red", "green"), _folders, "paper")
TYPEWRITER = small_thing("typewriter", ("black", "red", "green", "grey"), _typewriter, "enamel")
TOOTHBRUSH_CUP = small_thing("toothbrush cup", ("white", "blue", "grey", "green"), _toothbrush_cup, "ceramic")
SOAP = small_thing("soap", ("white", "green", "pink", "yellow"), _soap)
SOAP_DISPENSER = small_thing("soap dispenser", ("white", "grey", "black", "brown"), _soap_dispenser, "ceramic")
PERFUME = small_thing("perfume", ("pink", "purple", "blue", "yellow"), _perfume)
SHAMPOO = small_thing("shampoo", ("white", "blue", "green", "orange", "purple"), _shampoo)
HAIR_DRYER = small_thing("hair dryer", ("black", "white", "red", "pink"), _hair_dryer, category="appliances")
TISSUE_BOX = small_thing("tissue box", ("white", "blue", "pink", "green"), _tissue_box, "paper")
RUBBER_DUCK = small_thing("rubber duck", ("yellow",), _rubber_duck)
TOILET_PAPER = small_thing("toilet paper", ("white",), _toilet_paper)
TOILET_BRUSH = small_thing("toilet brush", ("white", "grey", "black"), _toilet_brush)
SCALE = small_thing("scale", ("white", "black", "grey"), _scale, shape="square")
FOLDED_TOWELS = small_thing(
    "towel", ("white", "grey", "blue", "beige", "green"), _folded_towels, "fabric", category="towel"
)
BLANKET = small_thing("blanket", TEXTILES, _blanket, "fabric")
TEDDY_BEAR = small_thing("teddy bear", ("brown", "beige", "white", "pink"), _teddy_bear, "fabric")
DOLL = small_thing("doll", ("pink", "red", "blue", "purple", "yellow"), _doll, "fabric")
TOY_CAR = small_thing("toy car", ("red", "blue", "yellow", "green", "orange"), _toy_car)
TOY_TRAIN = small_thing("toy train", ("green", "red", "blue"), _toy_train)
TOY_BLOCKS = small_thing("toy tower", ("",), _toy_blocks)
BALL = small_thing("ball", ("white", "red", "orange", "blue"), _soccer_ball)
SHOE_PAIR = small_thing("shoes", SHOES, _shoes, "leather", category="clothes")
SLIPPERS = small_thing("slippers", TEXTILES, _slippers, "fabric", category="clothes")
BOOTS = small_thing("boots", ("brown", "black", "green", "yellow", "red"), _boots, "leather", category="clothes")
HANDBAG = small_thing("handbag", ("brown", "black", "red", "beige", "white"), _handbag, "leather")
BACKPACK = small_thing("backpack", ("black", "blue", "green", "red", "grey"), _backpack, "fabric")
SUITCASE = small_thing("suitcase", ("black", "blue", "grey", "red", "brown"), _suitcase)
LAUNDRY = small_thing("laundry", TEXTILES, _laundry, "fabric", category="clothes")
LAUNDRY_BASKET = small_thing("laundry basket", ("white", "blue", "grey", "beige"), _laundry_basket, "plastic", "wicker")
HAT = small_thing("hat", ("brown", "black", "beige", "grey"), _hat, "fabric", category="clothes")
UMBRELLA_STAND = small_thing("umbrella stand", ("black", "grey", "brown"), _umbrella_stand, "metal")
PET_BOWL = small_thing("pet bowl", ("grey", "blue", "red", "white"), _pet_bowl, "enamel", shape="round")
PET_BED = small_thing("pet bed", ("grey", "brown", "beige", "blue", "red"), _pet_bed, "fabric", shape="round")
SKATEBOARD = small_thing("skateboard", ("black", "red", "blue", "green", "orange"), _skateboard)
GUITAR = small_thing("guitar", ("brown", "beige", "black", "red"), _guitar, "wood")
VACUUM_CLEANER = small_thing("vacuum cleaner", ("red", "blue", "grey", "green"), _vacuum_cleaner, category="appliances")
BUCKET = small_thing("bucket", ("blue", "red", "grey", "yellow", "green"), _bucket, "plastic", "metal")
BROOM = small_thing("broom", ("red", "blue", "green", "brown"), _broom)
TOOLBOX = small_thing("toolbox", ("red", "black", "blue", "yellow"), _toolbox, "metal", "plastic")
DRILL = small_thing("drill", ("yellow", "blue", "green", "orange"), _drill)
PAINT_CAN = small_thing("paint can", ("white", "red", "blue", "green", "yellow"), _paint_can)
WATERING_CAN = small_thing("watering can", ("green", "blue", "grey", "red"), _watering_can, "metal", "plastic")
LANTERN = small_thing("lantern", ("black", "white", "grey", "brown"), _lantern, "metal", category="lighting")
GNOME = small_thing("garden gnome", ("red", "green"), _gnome)
BOTTLE_CRATE = small_thing("bottle crate", ("yellow", "blue", "red", "brown"), _bottle_crate, "plastic")
MAGAZINE_RACK = small_thing("magazine rack", ("brown", "black", "white"), _magazine_rack, "wood", category="shelving")
YOGA_BALL = small_thing(
    "exercise ball", ("blue", "grey", "purple", "red"), _yoga_ball, shape="round", category="gym_equipment"
)
WATER_BOTTLE = small_thing("water bottle", ("blue", "green", "black", "pink", "grey"), _water_bottle)
