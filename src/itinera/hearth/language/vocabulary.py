"""The vocabulary of instructions and its meaning: the generator draws from these tables, the reader looks words up."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from itinera.hearth.language.object_words import OBJECT_WORDS

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
        "a": ("bathroom", "bath", "restroom", "washroom", "shower room"),
        "b": ("bedroom", "bed room", "sleeping room", "bedchamber", "guest room", "sleeping quarters"),
        "c": ("closet", "walk-in closet", "dressing room", "cloakroom"),
        "d": ("dining room", "dining area", "eating area", "dinette", "dining hall"),
        "e": ("entryway", "foyer", "entrance hall", "entry hall", "vestibule", "entrance area", "lobby", "front hall"),
        "f": ("family room", "den"),
        "g": ("garage", "carport"),
        "h": ("hallway", "hall", "corridor", "passageway"),
        "i": ("library", "reading room"),
        "j": ("laundry room", "laundry", "laundry area"),
        "k": ("kitchen", "kitchen area", "kitchenette"),
        "l": ("living room", "sitting room", "living area", "parlor", "sitting area", "drawing room", "front room"),
        "m": ("meeting room", "conference room", "boardroom"),
        "n": ("lounge", "lounge area"),
        "o": ("office", "study", "home office", "workroom", "computer room", "work area"),
        "p": ("porch", "terrace", "patio", "veranda", "deck", "sun deck"),
        "r": ("game room", "rec room", "playroom", "recreation room", "billiard room"),
        "s": ("stairwell", "stair hall"),
        "t": ("powder room", "half bath", "guest toilet"),
        "u": ("utility room", "mudroom", "storage room", "storeroom"),
        "v": ("tv room", "television room", "media room", "home theater"),
        "w": ("gym", "exercise room", "workout room", "fitness room", "weight room"),
        "x": ("yard", "garden", "backyard", "lawn", "grounds", "courtyard"),
        "y": ("balcony", "gallery"),
        "z": ("spare room", "extra room"),
        "B": ("bar room", "bar area"),
        "C": ("classroom", "schoolroom"),
        "D": ("dining booth",),
        "S": ("sauna", "spa", "spa room"),
        "Z": ("junk room", "lumber room"),
    }
)
"""Names of each kind of room, the most common first."""

COLOR_SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "red": ("red", "crimson", "reddish", "scarlet", "ruby-colored", "red-colored"),
        "orange": ("orange", "orange-colored", "tangerine", "pumpkin-colored", "orangey"),
        "yellow": ("yellow", "yellowish", "mustard", "lemon-colored", "yellow-colored"),
        "green": ("green", "greenish", "emerald", "green-colored", "leaf-green"),
        "blue": ("blue", "bluish", "blue-colored"),
        "purple": ("purple", "violet", "plum-colored", "purplish"),
        "pink": ("pink", "rose-colored", "pinkish", "rosy"),
        "brown": ("brown", "brownish", "chocolate-colored", "chestnut", "coffee-colored", "brown-colored"),
        "black": ("black", "jet-black", "ebony", "black-colored"),
        "white": ("white", "off-white", "whitish", "snow-white"),
        "grey": ("grey", "gray", "greyish", "grayish", "slate-colored", "gray-colored"),
        "beige": ("beige", "tan", "cream-colored", "sand-colored", "sandy", "khaki"),
    }
)
"""Words for each color, the most common first."""

SHAPE_SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "round": ("round", "circular"),
        "square": ("square", "squarish"),
        "oval": ("oval", "egg-shaped"),
        "long": ("long", "elongated"),
        "tall": ("tall", "high"),
        "low": ("low", "squat"),
        "small": ("small", "little", "compact", "smallish"),
        "large": ("large", "big", "sizable", "good-sized", "huge"),
        "wide": ("wide", "broad"),
        "narrow": ("narrow", "slim"),
        "rectangular": ("rectangular", "oblong"),
        "double": ("double",),
        "single": ("single",),
        "corner": ("corner", "l-shaped"),
    }
)
"""Words for each shape or size that distinguishes an object from others of its kind."""

MATERIAL_SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "wooden": ("wooden", "wood", "timber"),
        "glass": ("glass",),
        "leather": ("leather", "leather-covered"),
        "metal": ("metal", "metallic"),
        "steel": ("steel", "stainless-steel"),
        "stone": ("stone",),
        "marble": ("marble",),
        "brick": ("brick",),
        "fabric": ("fabric", "upholstered"),
        "velvet": ("velvet",),
        "wicker": ("wicker", "woven"),
        "rattan": ("rattan",),
        "ceramic": ("ceramic",),
        "porcelain": ("porcelain",),
        "plastic": ("plastic",),
        "concrete": ("concrete",),
        "granite": ("granite",),
        "bamboo": ("bamboo",),
        "iron": ("iron", "wrought-iron"),
        "brass": ("brass",),
        "copper": ("copper",),
        "chrome": ("chrome",),
        "linen": ("linen",),
        "cotton": ("cotton",),
        "wool": ("wool", "woolen"),
        "paper": ("paper",),
        "clay": ("clay", "earthenware"),
        "mirrored": ("mirrored",),
        "oak": ("oak",),
        "pine": ("pine",),
        "walnut": ("walnut",),
        "tiled": ("tiled",),
        "cardboard": ("cardboard",),
        "carpeted": ("carpeted",),
    }
)
"""Words for each material; the generator mentions no other material."""

COLOR_NAMES: Mapping[str, str] = MappingProxyType({w: name for name, ws in COLOR_SYNONYMS.items() for w in ws})
SHAPE_NAMES: Mapping[str, str] = MappingProxyType({w: name for name, ws in SHAPE_SYNONYMS.items() for w in ws})
MATERIAL_NAMES: Mapping[str, str] = MappingProxyType({w: name for name, ws in MATERIAL_SYNONYMS.items() for w in ws})
"""The color, shape or material that a word stands for."""

COLOR_WORDS = frozenset(COLOR_NAMES)
SHAPE_WORDS = frozenset(SHAPE_NAMES)
MATERIAL_WORDS = frozenset(MATERIAL_NAMES)

PRAISE_WORDS = (
    *("nice", "lovely", "beautiful", "pretty", "fancy", "comfy", "elegant", "stylish", "cozy", "neat", "handsome"),
    *("charming", "quaint", "impressive", "inviting", "funny-looking", "gorgeous", "ordinary", "simple", "odd", "cute"),
    *("strange", "expensive-looking", "cheap-looking", "ugly", "unusual", "interesting", "tasteful", "weird", "cool"),
    *(
        "fabulous",
        "striking",
        "typical",
        "amazing",
        "awesome",
        "adorable",
        "attractive",
        "boring",
        "delightful",
        "silly",
    ),
    *("magnificent", "marvelous", "peculiar", "pleasant", "remarkable", "splendid", "stunning", "superb", "sweet"),
    *("swanky", "tacky", "unremarkable", "wonderful", "curious", "fantastic", "terrific", "nifty", "posh", "memorable"),
    *(
        "drab",
        "awful",
        "bland",
        "funky",
        "exquisite",
        "good-looking",
        "hideous",
        "likable",
        "dreadful",
        "dull",
        "quirky",
    ),
    *("graceful", "glamorous", "luxurious", "fine-looking", "delicate-looking", "eye-catching", "homey", "dainty"),
    *("breathtaking", "brilliant", "dazzling", "divine", "enchanting", "flashy", "goofy", "humble", "jazzy", "lavish"),
    *("majestic", "outstanding", "phenomenal", "picturesque", "precious", "sensational", "snug", "spiffy", "sumptuous"),
    *(
        "uninspiring",
        "unsightly",
        "whimsical",
        "imposing",
        "respectable",
        "passable",
        "grand-looking",
        "classy",
        "ho-hum",
    ),
)
"""Opinions that say nothing about which object is meant."""

ORDINALS = ("first", "second", "third", "fourth", "fifth")
LAST_WORDS = ("last", "farthest", "furthest")
NEAREST_WORDS = ("nearest", "closest")
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six")

DIRECTION_WORDS = frozenset(
    {"left", "right", "straight", "forward", "ahead", "around", "slight", "slightly", "sharp", "sharply", "hard"}
    | {"back", "behind", "veer", "bear", "angle", "drift", "bit", "double", "onward", "forwards", "gentle", "gently"}
    | {"tight", "tightly", "lefthand", "righthand", "hairpin", "curve", "swerve", "diagonally"}
)
"""Words for directions; without them an instruction has no turns."""


def plural(noun: str) -> str:
    """The plural of a noun phrase, by its last word: "coffee tables", "shelves"."""
    if noun.endswith("shelf"):
        return noun[:-1] + "ves"
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"


def singular(noun: str) -> str:
    """The singular of a regular plural."""
    for ending, single in (
        ("shelves", "shelf"),
        ("ies", "y"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("xes", "x"),
        ("sses", "ss"),
    ):
        if noun.endswith(ending):
            return noun.removesuffix(ending) + single
    return noun.removesuffix("s")


DOUBLING = frozenset({"get", "let", "step", "slip", "pop", "trot"})
"""Verbs of the templates whose last letter is doubled in the gerund."""


def gerund(verb: str) -> str:
    """The verb in -ing: "passing", "leaving", "getting"."""
    if verb in DOUBLING:
        return verb + verb[-1] + "ing"
    return (verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb) + "ing"


def synonyms(name: str) -> tuple[str, ...]:
    """The names of an object, the most common first."""
    return OBJECT_WORDS.get(name, (name,))


OBJECT_NAMES: Mapping[str, str] = MappingProxyType(
    {word: name for name, words in OBJECT_WORDS.items() for word in words}
)
"""The object name of each synonym."""

ROOM_KINDS: Mapping[str, str] = MappingProxyType({word: kind for kind, words in ROOM_WORDS.items() for word in words})
"""The kind of room of each name."""


def object_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """A pattern for objects of these names, in the singular or plural, with their looks, to mask them in a text."""
    words = {word for name in names for word in (*synonyms(name), name.rpartition(" ")[2])}
    nouns = sorted({*words, *map(plural, words)}, key=lambda word: (-len(word), word))
    looks = sorted(COLOR_WORDS | SHAPE_WORDS | MATERIAL_WORDS | {*PRAISE_WORDS}, key=lambda word: (-len(word), word))
    alternatives = "|".join(map(re.escape, nouns))
    return re.compile(rf"\b(?:(?:{'|'.join(map(re.escape, looks))}) )*(?:{alternatives})\b", re.IGNORECASE)
