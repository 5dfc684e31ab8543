"""Colors and styles: words that stay apart in every house, and frequencies that people know."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from itinera.hearth.palette import (
    COLOR_FREQUENCIES,
    COLORS,
    FABRICS,
    MATERIAL_FREQUENCIES,
    MATERIAL_WORDS,
    STYLES,
    draw,
    draw_scheme,
    shade,
)
from itinera.seeding import generator
from itinera.worlds.labels import MATERIALS


def nearest_word(color: tuple[int, ...]) -> str:
    return min(COLORS, key=lambda word: sum((a - b) ** 2 for a, b in zip(COLORS[word], color[:3], strict=True)))


@pytest.mark.parametrize("seed", range(100))
def test_a_color_word_means_one_thing_in_every_house(seed):
    scheme = draw_scheme(generator(seed, "scheme"))
    for word, tone in scheme.tones.items():
        for share in (0.97, 1.03):
            assert nearest_word(shade(tone, share)) == word, (word, tone)


def test_styles_occur_as_often_as_they_say():
    assert sum(style.frequency for style in STYLES) == pytest.approx(1.0)
    drawn = Counter(draw_scheme(generator(seed, "scheme")).style.name for seed in range(800))
    for style in STYLES:
        assert drawn[style.name] / 800 == pytest.approx(style.frequency, abs=0.06)


def test_styles_and_materials_use_known_words():
    for style in STYLES:
        assert set(style.colors) | set(style.accents) <= set(COLORS)
        assert set(style.materials) <= set(MATERIAL_WORDS)
    assert set(COLOR_FREQUENCIES) | set(MATERIAL_FREQUENCIES) <= set(MATERIAL_WORDS)
    assert {surface for surface, _ in MATERIAL_WORDS.values()} <= set(MATERIALS)


def test_sofas_are_mostly_of_quiet_colors():
    rng = generator(1, "sofas")
    words = []
    for seed in range(300):
        scheme = draw_scheme(generator(seed, "scheme"))
        words.append(draw(rng, FABRICS, scheme.color_weights(FABRICS, "fabric", ())))
    quiet = sum(word in {"grey", "beige", "brown", "blue", "white", "black"} for word in words)
    assert 0.6 < quiet / len(words) < 0.95
    assert len(set(words)) >= 10


def test_a_draw_follows_its_weights():
    rng = generator(2, "draw")
    counts = Counter(draw(rng, ("a", "b", "c"), (1.0, 0.0, 3.0)) for _ in range(2000))
    assert counts["b"] == 0
    assert counts["c"] / counts["a"] == pytest.approx(3.0, rel=0.25)


def test_a_shade_keeps_its_material():
    scheme = draw_scheme(generator(1, "scheme"))
    assert np.all(np.array(list(scheme.tones.values())) <= 255)
    assert shade((100, 100, 100), 3.0)[:3] == (255, 255, 255)
    assert shade((100, 100, 100), 0.5).material == "plain"
