"""The colours one has words for, and which of them cloth, wood and metal come in."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from itinera.hearth.geometry.solids import Colour

COLOURS: Mapping[str, Colour] = MappingProxyType(
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
"""The red, green and blue of each colour word; far enough apart to be told from each other."""

BRIGHT = ("red", "orange", "yellow", "green", "blue", "purple", "pink")
FABRICS = ("red", "blue", "green", "grey", "beige", "yellow", "brown", "black", "purple", "orange", "white", "pink")
WOODS = ("brown", "white", "black", "beige", "grey")
PAINTED = (*WOODS, "blue", "green", "red")
METALS = ("white", "grey", "black")

STEEL: Colour = (170, 174, 180)
DARK: Colour = (48, 46, 46)
OAK: Colour = (168, 126, 82)
WALNUT: Colour = (92, 62, 42)
PORCELAIN: Colour = (244, 245, 246)
GLASS: Colour = (190, 214, 222)
PAPER: Colour = (246, 240, 222)
LEAF: Colour = (52, 118, 58)
GLOW: Colour = (255, 244, 206)


def shade(colour: Colour, share: float) -> Colour:
    """The colour made darker (share below 1) or lighter (above 1)."""
    red, green, blue = (min(255, round(part * share)) for part in colour)
    return red, green, blue
