"""Furniture models: kinds with a name, and geometry made of simple solids.

A model has its own frame: the center of its footprint at the origin, its lowest point at z = 0, its front facing +y.
The kinds themselves are in `seating.py`, `tables.py`, `storage.py` and the other modules of this package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from itinera.hearth.geometry.solids import Color
from itinera.hearth.palette import COLORS, GLASS, GRAINED, MATERIAL_WORDS, Paint, shade
from itinera.worlds import Array

Piece = tuple[Array, Color | Paint]  # (n, 3, 3) corners, wound outward, and their paint; plain without a material


class ModelParts(NamedTuple):
    """The geometry that the builder of a kind returns."""

    pieces: list[Piece]
    shape: str = ""  # an adjective that describes it: "round"
    top: float = 0.0  # height of a surface for other objects, or of a seat; 0 for none


Builder = Callable[[np.random.Generator, Paint], ModelParts]


@dataclass(frozen=True)
class FurnitureKind:
    """A kind of furniture: name, category, colors, builder, and materials."""

    name: str  # its common name: "coffee table"
    category: str  # one of labels.MPCAT40
    colors: tuple[str, ...]  # words of the palette; ("",) where nobody would mention a color
    build: Builder
    materials: tuple[str, ...] = ("plain",)  # words of palette.MATERIAL_WORDS


@dataclass(frozen=True, eq=False)
class Model:
    """A piece of furniture, not yet placed."""

    name: str
    category: str
    color: str
    shape: str
    material: str  # an adjective; empty where nobody would mention it
    size: tuple[float, float, float]  # width along x, depth along y, height
    top: float  # height of a surface for other objects
    pieces: tuple[tuple[Array, Paint], ...]  # in its own frame


def make_model(
    kind: FurnitureKind, color: str, rng: np.random.Generator, *, material: str = "", tone: Color | None = None
) -> Model:
    """A model of this kind in this color, with random dimensions; of its first material unless given.

    `tone` is the red, green and blue of the color word in this house.
    """
    surface, adjective = _surface(material or kind.materials[0], color)
    red, green, blue = tone or COLORS.get(color, GLASS[:3] if surface == "glass" else COLORS["grey"])
    built = kind.build(rng, shade(Paint(red, green, blue, surface), 0.97 + 0.06 * round(float(rng.random()), 3)))
    corners = np.concatenate([piece.reshape(-1, 3) for piece, _ in built.pieces])
    low, high = corners.min(axis=0), corners.max(axis=0)
    middle = (low + high) / 2 * (1, 1, 0) + low * (0, 0, 1)
    width, depth, height = (round(float(side), 4) for side in high - low)
    pieces = tuple((piece - middle, Paint(*paint)) for piece, paint in built.pieces)
    size = (width, depth, height)
    return Model(kind.name, kind.category, color, built.shape, adjective, size, built.top, pieces)


def _surface(material: str, color: str) -> tuple[str, str]:
    """The material of the surface and the adjective; painted wood shows no grain and is not called wooden."""
    if material == "wood" and color not in GRAINED:
        return "plain", ""
    return MATERIAL_WORDS[material]


def random_size(rng: np.random.Generator, low: float, high: float) -> float:
    """A random dimension between two, in steps of 2 cm."""
    return round(low + 0.02 * float(rng.integers(0, round((high - low) / 0.02) + 1)), 2)
