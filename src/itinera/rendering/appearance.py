"""How a rasterizer colors what it draws: textures, the mood of the light, and randomization by a seed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from itinera.errors import BadArgument
from itinera.rendering.textures import TILE_METRES
from itinera.seeding import generator
from itinera.worlds.labels import MATERIALS
from itinera.worlds.space import Array

MOODS = ("flat", "day", "evening", "lamps")
"""Light from everywhere; daylight through windows; dusk and lamps; lamps alone."""


@dataclass(frozen=True)
class Appearance:
    """The appearance of a scene. Depth and labels do not depend on it."""

    textures: bool = True  # draw the materials of faces
    mood: str = "day"  # one of MOODS; all but "flat" bake light once per mesh
    randomize: int | None = None  # seed of random colors, textures and light (domain randomization); None: as modeled

    def __post_init__(self) -> None:
        if self.mood not in MOODS:
            raise BadArgument(f"The mood of an appearance is one of {', '.join(MOODS)}; got {self.mood!r}.")
        if self.randomize is not None and self.randomize < 0:
            raise BadArgument(f"The seed of an appearance must be ≥ 0 (got {self.randomize}).")


FLAT = Appearance(textures=False, mood="flat")
"""Plain colors in even light, in front of black."""

APPEARANCES = {"flat": FLAT} | {mood: Appearance(mood=mood) for mood in MOODS if mood != "flat"}
"""Appearances by name."""


def parse_appearance(text: str) -> Appearance:
    """The appearance of this name, randomized by a seed if one follows: "day", "evening:7".

    >>> parse_appearance("day:7")
    Appearance(textures=True, mood='day', randomize=7)
    """
    name, colon, seed = text.partition(":")
    if name not in APPEARANCES or (colon and not seed.isdecimal()):
        raise BadArgument(
            f"An appearance is one of {', '.join(APPEARANCES)}, or one of them with a seed for random colors, textures "
            f"and light, such as day:7; got {text!r}."
        )
    found = APPEARANCES[name]
    return replace(found, randomize=int(seed)) if colon else found


@dataclass(frozen=True, eq=False)
class Variation:
    """The random part of an appearance, by material where it says so."""

    tints: Array  # (materials, 3) factors of red, green and blue
    scales: Array  # (materials,) factors of the size of textures
    phases: Array  # (materials, 2) shift of textures, tiles
    light: Array  # (3,) factors of red, green and blue light
    turn: int  # quarter turns of the sky


def draw_variation(appearance: Appearance) -> Variation:
    """The variation of an appearance: drawn from its seed, or none."""
    count = len(MATERIALS)
    if appearance.randomize is None:
        return Variation(np.ones((count, 3)), np.ones(count), np.zeros((count, 2)), np.ones(3), 0)
    rng = generator(appearance.randomize, "appearance")
    brightness, hues = rng.uniform(0.78, 1.22, (count, 1)), rng.uniform(0.86, 1.14, (count, 3))
    strength, color = rng.uniform(0.75, 1.25), rng.uniform(0.9, 1.1, 3)
    return Variation(
        brightness * hues,
        rng.uniform(0.7, 1.45, count),
        rng.uniform(0, 1, (count, 2)),
        strength * color,
        int(rng.integers(4)),
    )


def tile_sizes() -> Array:
    """(materials,) the edges of a texture's tile, metres."""
    return np.array([TILE_METRES[material] for material in MATERIALS])
