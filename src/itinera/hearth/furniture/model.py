"""What furniture is: a kind one can name, and a model of it made of simple solids.

A model stands in its own frame: the middle of its footprint at the origin, its lowest point at z = 0, its front
looking along +y. The kinds themselves are in `seating.py`, `tables.py`, `storage.py` and their neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from itinera.hearth.geometry.solids import Colour
from itinera.hearth.palette import COLOURS, shade
from itinera.worlds import Array

Piece = tuple[Array, Colour]  # (n, 3, 3) corners, wound outward, and their colour


class Built(NamedTuple):
    """What a kind's builder makes."""

    pieces: list[Piece]
    shape: str = ""  # a word true of it: "round"
    top: float = 0.0  # height on which things may rest, or one may sit; 0 where nothing may


Builder = Callable[[np.random.Generator, Colour], Built]


@dataclass(frozen=True)
class Kind:
    """A kind of furniture: what it is called, what it counts as, its colours and how one is built."""

    name: str  # a person's word: "coffee table"
    category: str  # one of labels.MPCAT40
    colours: tuple[str, ...]  # words of the palette; ("",) where no one would name a colour
    build: Builder


@dataclass(frozen=True, eq=False)
class Model:
    """One piece of furniture, not yet placed."""

    name: str
    category: str
    colour: str
    shape: str
    size: tuple[float, float, float]  # width along x, depth along y, height
    top: float  # height on which things may rest
    pieces: tuple[Piece, ...]  # in its own frame


def model(kind: Kind, colour: str, rng: np.random.Generator) -> Model:
    """A piece of this kind in this colour; its measures are drawn."""
    tone = shade(COLOURS.get(colour, COLOURS["grey"]), 0.95 + 0.1 * round(float(rng.random()), 3))
    built = kind.build(rng, tone)
    corners = np.concatenate([piece.reshape(-1, 3) for piece, _ in built.pieces])
    low, high = corners.min(axis=0), corners.max(axis=0)
    middle = (low + high) / 2 * (1, 1, 0) + low * (0, 0, 1)
    width, depth, height = (round(float(side), 4) for side in high - low)
    pieces = tuple((piece - middle, paint) for piece, paint in built.pieces)
    return Model(kind.name, kind.category, colour, built.shape, (width, depth, height), built.top, pieces)


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """A measure between two, in whole steps of 2 cm."""
    return round(low + 0.02 * float(rng.integers(0, round((high - low) / 0.02) + 1)), 2)
