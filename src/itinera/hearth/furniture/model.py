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
from itinera.hearth.palette import COLORS, shade
from itinera.worlds import Array

Piece = tuple[Array, Color]  # (n, 3, 3) corners, wound outward, and their color


class ModelParts(NamedTuple):
    """The geometry that the builder of a kind returns."""

    pieces: list[Piece]
    shape: str = ""  # an adjective that describes it: "round"
    top: float = 0.0  # height of a surface for other objects, or of a seat; 0 for none


Builder = Callable[[np.random.Generator, Color], ModelParts]


@dataclass(frozen=True)
class FurnitureKind:
    """A kind of furniture: name, category, colors, and builder."""

    name: str  # its common name: "coffee table"
    category: str  # one of labels.MPCAT40
    colors: tuple[str, ...]  # words of the palette; ("",) where nobody would mention a color
    build: Builder


@dataclass(frozen=True, eq=False)
class Model:
    """A piece of furniture, not yet placed."""

    name: str
    category: str
    color: str
    shape: str
    size: tuple[float, float, float]  # width along x, depth along y, height
    top: float  # height of a surface for other objects
    pieces: tuple[Piece, ...]  # in its own frame


def make_model(kind: FurnitureKind, color: str, rng: np.random.Generator) -> Model:
    """A model of this kind in this color, with random dimensions."""
    tone = shade(COLORS.get(color, COLORS["grey"]), 0.95 + 0.1 * round(float(rng.random()), 3))
    built = kind.build(rng, tone)
    corners = np.concatenate([piece.reshape(-1, 3) for piece, _ in built.pieces])
    low, high = corners.min(axis=0), corners.max(axis=0)
    middle = (low + high) / 2 * (1, 1, 0) + low * (0, 0, 1)
    width, depth, height = (round(float(side), 4) for side in high - low)
    pieces = tuple((piece - middle, paint) for piece, paint in built.pieces)
    return Model(kind.name, kind.category, color, built.shape, (width, depth, height), built.top, pieces)


def random_size(rng: np.random.Generator, low: float, high: float) -> float:
    """A random dimension between two, in steps of 2 cm."""
    return round(low + 0.02 * float(rng.integers(0, round((high - low) / 0.02) + 1)), 2)
