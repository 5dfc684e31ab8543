"""The vocabulary of instructions and its meaning: the generator draws from these tables, the reader looks words up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

TURNS: Mapping[str, float] = MappingProxyType(
    {
        "forward": 0.0,
        "slight left": math.radians(30),
        "left": math.radians(75),
        "sharp left": math.radians(130),
        "slight right": -math.radians(30),
        "right": -math.radians(75),
        "sharp right": -math.radians(130),
        "around": math.pi,
    }
)
"""Named turns and their angles, radians to the left of the heading."""

ROOM_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "a": ("bathroom", "bath"),
        "b": ("bedroom",),
        "c": ("closet", "walk-in closet"),
        "d": ("dining room", "dining area"),
        "e": ("entryway", "foyer", "entrance hall"),
        "f": ("family room",),
        "g": ("garage",),
        "h": ("hallway", "hall", "corridor"),
        "i": ("library",),
        "j": ("laundry room", "laundry"),
        "k": ("kitchen",),
        "l": ("living room", "sitting room"),
        "m": ("meeting room", "conference room"),
        "n": ("lounge",),
        "o": ("office", "study"),
        "p": ("porch", "terrace"),
        "r": ("game room", "rec room"),
        "s": ("stairwell",),
        "t": ("powder room", "half bath"),
        "u": ("utility room",),
        "v": ("tv room", "television room"),
        "w": ("gym", "exercise room"),
        "x": ("yard",),
        "y": ("balcony",),
        "z": ("spare room",),
        "B": ("bar room",),
        "C": ("classroom",),
        "D": ("dining booth",),
        "S": ("sauna", "spa"),
        "Z": ("junk room",),
    }
)
"""Names of each kind of room, the most common first."""

OBJECT_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "basket": ("basket", "wicker basket"),
        "bathtub": ("bathtub", "tub"),
        "bicycle": ("bicycle", "bike"),
        "bookshelf": ("bookshelf", "bookcase"),
        "clothes rack": ("clothes rack", "garment rack"),
        "coffee machine": ("coffee machine", "coffee maker"),
        "desk": ("desk", "writing desk"),
        "dresser": ("dresser", "chest of drawers"),
        "exercise bike": ("exercise bike", "stationary bike"),
        "fireplace": ("fireplace", "hearth"),
        "floor lamp": ("floor lamp", "standing lamp"),
        "kitchen counter": ("kitchen counter", "countertop"),
        "monitor": ("monitor", "computer screen"),
        "nightstand": ("nightstand", "bedside table"),
        "office chair": ("office chair", "desk chair"),
        "ottoman": ("ottoman", "footstool"),
        "picture": ("picture", "painting"),
        "plant": ("plant", "potted plant"),
        "refrigerator": ("refrigerator", "fridge"),
        "sink": ("sink", "washbasin"),
        "sofa": ("sofa", "couch"),
        "stairs": ("stairs", "staircase", "steps"),
        "statue": ("statue", "sculpture"),
        "stove": ("stove", "cooker"),
        "trash can": ("trash can", "bin"),
        "tv": ("tv", "television"),
        "wardrobe": ("wardrobe", "armoire"),
    }
)
"""Synonyms of object names; an unlisted object has only its own name."""

COLOR_WORDS = frozenset(
    {"red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "white", "grey", "beige"}
)

SHAPE_WORDS = frozenset(
    {"round", "square", "oval", "long", "tall", "low", "small", "large", "wide", "narrow", "double", "single", "corner"}
)
"""Shapes and sizes that distinguish an object from others of its kind."""

ORDINALS = ("first", "second", "third", "fourth", "fifth")

DIRECTION_WORDS = frozenset(
    {"left", "right", "straight", "forward", "ahead", "around", "slight", "slightly", "sharp", "sharply", "hard"}
    | {"back", "behind", "veer", "bear", "angle", "drift", "bit", "double"}
)
"""Words for directions; without them an instruction has no turns."""


def synonyms(name: str) -> tuple[str, ...]:
    """The names of an object, the most common first."""
    return OBJECT_WORDS.get(name, (name,))


OBJECT_NAMES: Mapping[str, str] = MappingProxyType(
    {word: name for name, words in OBJECT_WORDS.items() for word in words}
)
"""The object name of each synonym."""

ROOM_KINDS: Mapping[str, str] = MappingProxyType({word: kind for kind, words in ROOM_WORDS.items() for word in words})
"""The kind of room of each name."""
