"""The named colors, the materials they occur on, and the styles that decide which of them a house has.

A house draws one style, a wood and accent colors; each room draws a fabric. `draw_scheme` makes these choices and
`HouseScheme.color_weights` turns them into frequencies, so that the objects of a room match without being alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np

from itinera.hearth.geometry.solids import Color

T = TypeVar("T")


class Paint(NamedTuple):
    """A color on a material."""

    red: int
    green: int
    blue: int
    material: str = "plain"  # one of labels.MATERIALS


COLORS: Mapping[str, Color] = MappingProxyType(
    {
        "red": (176, 38, 40),
        "orange": (226, 118, 36),
        "yellow": (236, 198, 62),
        "green": (50, 118, 66),
        "blue": (44, 86, 160),
        "purple": (112, 60, 140),
        "pink": (232, 152, 180),
        "brown": (112, 70, 40),
        "black": (36, 36, 40),
        "white": (238, 238, 234),
        "grey": (134, 138, 144),
        "beige": (214, 194, 158),
    }
)
"""The red, green and blue of each color name; far enough apart to be distinguished."""

BRIGHT = ("red", "orange", "yellow", "green", "blue", "purple", "pink")
FABRICS = ("red", "blue", "green", "grey", "beige", "yellow", "brown", "black", "purple", "orange", "white", "pink")
WOODS = ("brown", "white", "black", "beige", "grey")
PAINTED = (*WOODS, "blue", "green", "red")
METALS = ("white", "grey", "black")

STEEL = Paint(170, 174, 180, "metal")
DARK = Paint(48, 46, 46)
OAK = Paint(168, 126, 82, "wood")
WALNUT = Paint(92, 62, 42, "wood")
PORCELAIN = Paint(244, 245, 246, "ceramic")
GLASS = Paint(190, 214, 222, "glass")
LINEN = Paint(246, 240, 222, "fabric")
PAPER = Paint(246, 240, 222, "paper")
LEAF = Paint(52, 118, 58, "leaves")
GLOW = Paint(255, 244, 206)
SOIL = Paint(74, 54, 40)

MATERIAL_WORDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "plain": ("plain", ""),
        "wood": ("wood", "wooden"),
        "fabric": ("fabric", ""),
        "leather": ("leather", "leather"),
        "carpet": ("carpet", ""),
        "metal": ("metal", "metal"),
        "enamel": ("metal", ""),
        "glass": ("glass", "glass"),
        "stone": ("stone", "stone"),
        "marble": ("stone", "marble"),
        "concrete": ("concrete", "concrete"),
        "brick": ("brick", "brick"),
        "wicker": ("fabric", "wicker"),
        "plastic": ("plain", "plastic"),
        "porcelain": ("ceramic", ""),
        "ceramic": ("ceramic", "ceramic"),
        "paper": ("paper", ""),
        "cardboard": ("paper", "cardboard"),
        "leaves": ("leaves", ""),
    }
)
"""What furniture is made of: the material of its surface, and the adjective that people say, if any."""

GRAINED = frozenset({"brown", "beige", "grey"})
"""Colors of wood with a visible grain; other wood is painted, and nobody calls it wooden."""

MATERIAL_FREQUENCIES: Mapping[str, float] = MappingProxyType(
    {"wood": 6, "metal": 1.5, "glass": 0.9, "marble": 0.5, "fabric": 5, "leather": 1.4, "wicker": 1, "plastic": 1}
)
"""How common a material is among those a kind may have; 2 for others."""

_WOODEN = {"brown": 46, "beige": 22, "white": 18, "black": 8, "grey": 7, "green": 1.5, "blue": 1.5, "red": 1}
COLOR_FREQUENCIES: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "wood": _WOODEN,
        "fabric": {
            "grey": 24,
            "beige": 18,
            "white": 13,
            "blue": 13,
            "brown": 11,
            "green": 8,
            "black": 4,
            "red": 5,
            "yellow": 3,
            "pink": 3,
            "orange": 2.5,
            "purple": 2,
        },
        "carpet": {"grey": 20, "beige": 20, "white": 12, "blue": 12, "brown": 10, "red": 10, "green": 6, "black": 4},
        "leather": {"brown": 40, "black": 28, "beige": 10, "white": 8, "red": 6, "grey": 6, "green": 2, "blue": 2},
        "metal": {"black": 30, "grey": 34, "white": 22, "red": 3, "blue": 3, "green": 3},
        "enamel": {"white": 44, "grey": 34, "black": 16, "red": 3, "blue": 2},
        "marble": {"white": 50, "grey": 20, "black": 15, "beige": 15},
        "stone": {"grey": 45, "beige": 25, "white": 20, "brown": 10},
        "wicker": {"brown": 50, "beige": 40, "white": 10},
    }
)
"""How common each color is on a material, per cent; 3 for others."""


@dataclass(frozen=True)
class Style:
    """A taste in furniture: colors and materials that are more or less common than usual, and colors of accents."""

    name: str
    frequency: float
    colors: Mapping[str, float]  # factors; 1 for others
    materials: Mapping[str, float]
    accents: tuple[str, ...]


STYLES = (
    Style(
        *("scandinavian", 0.28),
        {"white": 2, "beige": 2.5, "grey": 1.4, "brown": 0.6, "black": 0.6},
        {"leather": 0.5, "wood": 1.5},
        ("blue", "green", "yellow", "pink"),
    ),
    Style(
        *("classic", 0.22),
        {"brown": 2.2, "beige": 1.3, "red": 2, "green": 1.5, "white": 0.8, "grey": 0.5},
        {"leather": 1.6, "glass": 0.4, "marble": 2},
        ("red", "green", "blue"),
    ),
    Style(
        *("industrial", 0.18),
        {"black": 2.6, "grey": 2, "brown": 1.4, "beige": 0.5, "white": 0.7},
        {"metal": 4, "leather": 2},
        ("orange", "red", "yellow", "green"),
    ),
    Style(
        *("modern", 0.2),
        {"white": 1.9, "grey": 1.8, "black": 1.6, "brown": 0.7},
        {"glass": 3, "metal": 1.8, "plastic": 1.5},
        ("blue", "purple", "red", "green"),
    ),
    Style(
        *("colorful", 0.12),
        dict.fromkeys(BRIGHT, 3.0),
        {"plastic": 2},
        ("orange", "yellow", "pink", "blue", "green", "red", "purple"),
    ),
)
"""The styles of houses and how common they are."""


@dataclass(frozen=True)
class HouseScheme:
    """The choices that the rooms of a house share."""

    style: Style
    wood: str  # the color of most wood
    accents: tuple[str, ...]  # two colors of small textiles and decoration
    tones: Mapping[str, Color]  # how each color word looks in this house

    def material_weights(self, materials: Sequence[str]) -> list[float]:
        """How common each of these materials is in this house."""
        return [MATERIAL_FREQUENCIES.get(word, 2.0) * self.style.materials.get(word, 1.0) for word in materials]

    def color_weights(self, colors: Sequence[str], material: str, matching: Sequence[str]) -> list[float]:
        """How common each of these colors is on a material in this house, more so if it matches the room."""
        usual = COLOR_FREQUENCIES.get(material, {})
        factors = self.style.colors
        return [usual.get(word, 3.0) * factors.get(word, 1.0) * (3.0 if word in matching else 1.0) for word in colors]


def draw_scheme(rng: np.random.Generator) -> HouseScheme:
    """The scheme of a house: its style, wood, accents and tones."""
    style = draw(rng, STYLES, [style.frequency for style in STYLES])
    wood = draw(rng, WOODS, [_WOODEN[word] * style.colors.get(word, 1.0) for word in WOODS])
    first, second = rng.permutation(len(style.accents))[:2]
    tones = {word: _tone(color, rng) for word, color in COLORS.items()}
    return HouseScheme(style, wood, (style.accents[first], style.accents[second]), MappingProxyType(tones))


def draw(rng: np.random.Generator, choices: Sequence[T], weights: Sequence[float]) -> T:
    """One of the choices, with these relative frequencies."""
    ends = np.cumsum(np.round(weights, 6))
    at = int(np.searchsorted(ends, float(rng.random()) * float(ends[-1]), side="right"))
    return choices[min(at, len(choices) - 1)]


def _tone(color: Color, rng: np.random.Generator) -> Color:
    """The color as it looks in one house: a little lighter or darker, warmer or colder."""
    share = 0.93 + 0.01 * int(rng.integers(0, 13))
    warm = int(rng.integers(-6, 7))
    red, green, blue = shade(color, share)[:3]
    return min(255, max(0, red + warm)), green, min(255, max(0, blue - warm))


def shade(color: Color | Paint, share: float) -> Paint:
    """The color darkened (share below 1) or lightened (above 1), on the same material."""
    material = color.material if isinstance(color, Paint) else "plain"
    red, green, blue = (min(255, round(part * share)) for part in color[:3])
    return Paint(red, green, blue, material)


def paint(color: str, material: str = "plain") -> Paint:
    """A color word on a material."""
    return Paint(*COLORS[color], material)
