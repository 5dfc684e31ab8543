"""The named colors, and which of them fabric, wood and metal come in."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from itinera.hearth.geometry.solids import Color

COLORS: Mapping[str, Color] = MappingProxyType(
    {
        "red": (184, 34, 38),
        "orange": (234, 122, 28),
        "yellow": (240, 205, 52),
        "green": (46, 128, 62),
        "blue": (38, 88, 178),
        "purple": (118, 56, 150),
        "pink": (240, 150, 182),
        "brown": (112, 68, 36),
        "black": (36, 36, 40),
        "white": (240, 240, 236),
        "grey": (134, 138, 144),
        "beige": (218, 196, 156),
    }
)
"""The red, green and blue of each color name; far enough apart to be distinguished."""

BRIGHT = ("red", "orange", "yellow", "green", "blue", "purple", "pink")
FABRICS = ("red", "blue", "green", "grey", "beige", "yellow", "brown", "black", "purple", "orange", "white", "pink")
WOODS = ("brown", "white", "black", "beige", "grey")
PAINTED = (*WOODS, "blue", "green", "red")
METALS = ("white", "grey", "black")

STEEL: Color = (170, 174, 180)
DARK: Color = (48, 46, 46)
OAK: Color = (168, 126, 82)
WALNUT: Color = (92, 62, 42)
PORCELAIN: Color = (244, 245, 246)
GLASS: Color = (190, 214, 222)
PAPER: Color = (246, 240, 222)
LEAF: Color = (52, 118, 58)
GLOW: Color = (255, 244, 206)


def shade(color: Color, share: float) -> Color:
    """The color darkened (share below 1) or lightened (above 1)."""
    red, green, blue = (min(255, round(part * share)) for part in color)
    return red, green, blue
