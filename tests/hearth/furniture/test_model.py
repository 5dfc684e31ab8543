"""The catalogue: every piece is closed, of the colour and shape its words say, and of a sensible size."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from hearth.geometry.test_shapes import leaks, volume
from itinera.hearth.furniture import (
    appliances,
    bathroom_fixtures,
    belongings,
    decor,
    leisure,
    outdoor,
    seating,
    storage,
    tables,
    tableware,
)
from itinera.hearth.furniture.model import FurnitureKind, Model, make_model
from itinera.hearth.palette import COLORS, MATERIAL_WORDS, shade
from itinera.seeding import generator
from itinera.skills.categories import lookup_category
from itinera.worlds.labels import MAP_CLASSES, MATERIALS, MPCAT40

SMALL = (tableware, belongings)
MODULES = (seating, tables, storage, appliances, bathroom_fixtures, decor, leisure, outdoor, *SMALL)
MEASURED = (
    appliances.counter(1.2),
    appliances.counter(1.0, basin=True),
    appliances.wall_cabinet(1.0),
    appliances.island(2.2, 1.0),
    appliances.bar_counter(2.0),
    decor.rug(2.0, 1.4),
    decor.round_rug(1.4),
    decor.ceiling_lamp(0.5),
    decor.ceiling_lamp(0.1),
    decor.curtain(1.2, 1.4),
    decor.column(2.6),
    tables.dining_table(2.2, 1.0),
    tables.dining_table(1.1, 1.1),
    tables.round_dining_table(1.0),
    outdoor.hedge(1.6),
    outdoor.garden_table(1.0),
    outdoor.long_garden_table(1.6),
)
KINDS = (
    *(kind for module in MODULES for kind in vars(module).values() if isinstance(kind, FurnitureKind)),
    *tables.COFFEE_TABLES,
    *MEASURED,
)


@cache
def models(kind: FurnitureKind) -> list[Model]:
    """One in each colour, and then some: measures are drawn anew for each."""
    rng = generator(1, "catalogue", kind.name)
    return [make_model(kind, color, rng) for color in kind.colors * 2]


every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


@every_kind
def test_every_piece_is_closed_and_wound_outward(kind):
    for built in models(kind)[:6]:
        for corners, _ in built.pieces:
            assert not leaks(corners)
            assert volume(corners) > 0


@every_kind
def test_a_model_stands_on_its_origin_and_says_its_size(kind):
    for built in models(kind):
        corners = np.concatenate([piece.reshape(-1, 3) for piece, _ in built.pieces])
        half = np.array(built.size) / 2
        np.testing.assert_allclose(corners.min(axis=0), (-half[0], -half[1], 0), atol=1e-4)
        np.testing.assert_allclose(corners.max(axis=0), (half[0], half[1], built.size[2]), atol=1e-4)
        assert built.top <= built.size[2] + 1e-9


@every_kind
def test_a_colour_word_is_true_of_what_one_sees(kind):
    for built in models(kind):
        if built.color:
            words = {nearest_word(color) for _, color in built.pieces}
            assert built.color in words, f"a {built.color} {kind.name} shows {sorted(words)}"


def nearest_word(color: tuple[int, int, int]) -> str:
    return min(COLORS, key=lambda word: sum((a - b) ** 2 for a, b in zip(COLORS[word], color[:3], strict=True)))


def test_colours_are_told_apart_even_when_shaded():
    for word, color in COLORS.items():
        assert nearest_word(shade(color, 0.95)) == nearest_word(shade(color, 1.05)) == word
    for one, a in COLORS.items():
        for other, b in COLORS.items():
            assert one == other or sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5 > 48, (one, other)


TEXTURE_ONLY_INSIDE = {"shower"}

SHAPES = {
    "oval": lambda width, depth, height: width > 1.05 * depth or (depth < 0.08 and height > 1.05 * width),
    "round": lambda width, depth, height: abs(width - depth) < 0.12 or min(width, depth) < 0.08,
    "square": lambda width, depth, height: width == depth,
    "long": lambda width, depth, height: max(width, depth) >= 1.6 * min(width, depth),
    "tall": lambda width, depth, height: height >= 0.9,
    "low": lambda width, depth, height: height <= 1.15,
    "single": lambda width, depth, height: width < 1.2,
    "double": lambda width, depth, height: width > 1.4,
    "large": lambda width, depth, height: max(width, depth, height) > 0.4,
    "small": lambda width, depth, height: max(width, depth) < 1.9,
    "corner": lambda width, depth, height: depth > 1.5,
}


@every_kind
def test_a_shape_word_is_true_of_the_measures(kind):
    for built in models(kind):
        assert built.shape == "" or SHAPES[built.shape](*built.size), (built.name, built.shape, built.size)


@every_kind
def test_nothing_is_of_a_silly_size(kind):
    for built in models(kind):
        limit = {"car": 4.3, "tree": 4.4}.get(kind.name, 3.2)
        assert 0.07 < max(built.size) < limit
        assert built.size[2] <= (4.4 if kind.name == "tree" else 2.65)
        assert sum(len(corners) for corners, _ in built.pieces) <= 800


def test_small_things_are_small_and_simple():
    kinds = [kind for module in SMALL for kind in vars(module).values() if isinstance(kind, FurnitureKind)]
    assert len({kind.name for kind in kinds}) >= 60
    for kind in kinds:
        built = models(kind)[0]
        assert max(built.size) <= 1.45, kind.name
        assert sum(len(corners) for corners, _ in built.pieces) <= 360, kind.name


@every_kind
def test_names_are_common_nouns_in_lower_case(kind):
    assert kind.name == kind.name.lower()
    assert len(kind.name.split()) <= 2
    assert kind.name.replace("-", "").replace(" ", "").isalpha()


@every_kind
def test_every_piece_has_a_material_that_the_renderer_knows(kind):
    for material in kind.materials:
        built = make_model(kind, kind.colors[0], generator(1, kind.name), material=material)
        assert {paint.material for _, paint in built.pieces} <= set(MATERIALS)
        surface, adjective = MATERIAL_WORDS[material]
        if material != "wood" and kind.name not in TEXTURE_ONLY_INSIDE:
            assert surface == "plain" or surface in {paint.material for _, paint in built.pieces}, (kind.name, material)
            assert built.material == adjective


def test_painted_wood_is_not_called_wooden():
    brown, blue = (make_model(storage.CABINET, color, generator(1, "cabinet")) for color in ("brown", "blue"))
    assert brown.material == "wooden"
    assert blue.material == ""
    assert "wood" not in {paint.material for _, paint in blue.pieces}


def test_the_catalogue_is_large_and_speaks_matterports_language():
    assert len({kind.name for kind in KINDS}) >= 45
    categories = {kind.category for kind in KINDS}
    assert categories <= set(MPCAT40)
    assert set(MAP_CLASSES) - {"void"} <= categories
    assert {color for kind in KINDS for color in kind.colors} <= {"", *COLORS}


def test_the_built_in_category_table_knows_every_name():
    unknown = {(kind.name, kind.category) for kind in KINDS if lookup_category(kind.name) != kind.category}
    assert not unknown


def test_the_same_generator_builds_the_same_piece():
    one, other = (make_model(seating.SOFA, "red", generator(3, "sofa")) for _ in range(2))
    assert one.size == other.size
    for (a, _), (b, _) in zip(one.pieces, other.pieces, strict=True):
        np.testing.assert_array_equal(a, b)
