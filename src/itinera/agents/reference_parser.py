"""Parsing of noun phrases into references: "the second wooden chair on your left", "the lamp next to the bed".

Any noun is an object, known or not; the words for looks, sides, ordinals and relations are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from itinera.hearth.language.references import LAST, Reference
from itinera.hearth.language.vocabulary import (
    COLOR_NAMES,
    LAST_WORDS,
    MATERIAL_NAMES,
    NEAREST_WORDS,
    NUMBERS,
    OBJECT_NAMES,
    ORDINALS,
    PRAISE_WORDS,
    ROOM_KINDS,
    SHAPE_NAMES,
    singular,
)


def any_word(words: Iterable[str]) -> str:
    """An alternation of words for a pattern, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=lambda word: (-len(word), word)))


_ROOM = re.compile(
    rf"\bthe (?:other )?({any_word(ROOM_KINDS)})\b"
    r"(?! (?!to\b|on\b|at\b|in\b|as\b|when\b|once\b|with\b|upstairs\b|downstairs\b|comes?\b|until\b)[a-z])"
)
_LANDMARK = re.compile(
    r"\bthe ((?!end\b(?! table)|far end\b|direction\b|top\b|bottom\b|left\b|right\b|other way\b|other end\b|way\b"
    r"|room\b|threshold\b|doorway\b)[a-z][a-z' &-]*)"
)
_AFTER_LANDMARK = re.compile(r"\b(?:on your|on the|to your|as you|keeping|when|once|which)\b.*$")
_SIDE = re.compile(r"\b(?:on|to) (?:your|the) (left|right)\b(?! of)")
_FAR = re.compile(r" (?:in the distance|over there|farther away)\b")
_RELATIONS = (
    ("next to", "next to|beside|near|by|close to|adjacent to"),
    ("left of", "to the left of|on the left of|left of"),
    ("right of", "to the right of|on the right of|right of"),
    ("behind", "behind|in back of"),
    ("between", "in between|between"),
    ("on", "sitting on|on top of|on"),
    ("above", "hanging above|above|over"),
    ("below", "below|underneath|under|beneath"),
)
_RELATION = re.compile(rf"^(.+?) ({'|'.join(words for _, words in _RELATIONS)}) (the (?!left\b|right\b).+)$")
_RELATION_NAMES = {word: name for name, words in _RELATIONS for word in words.split("|")}
_WITH = re.compile(r"^(.+?) with (the .+?) on (?:it|top)\b")
_NUMBER_NAMES = {word: number for number, word in enumerate(NUMBERS)}


def find_room(part: str) -> str:
    """The kind of room that a part of a sentence mentions, or empty."""
    found = _ROOM.search(part)
    return ROOM_KINDS[found[1]] if found else ""


def find_side(part: str) -> str:
    """The side that a part of a sentence mentions: "left", "right", or empty."""
    found = _SIDE.findall(part)
    return found[-1] if found else ""


def find_landmark(part: str) -> Reference | None:
    """The object that a part of a sentence mentions, or None."""
    found = [match for match in _LANDMARK.finditer(part) if not _ROOM.match(match[0])]
    return read_reference(part[found[-1].start() :]) if found else None


def read_reference(phrase: str) -> Reference | None:
    """The reference of a noun phrase that begins with its article; None for an unknown "thing"."""
    text = phrase.strip().removeprefix("the ")
    carried = _WITH.match(text)
    if carried:
        return _related(carried[1], "with", [carried[2]])
    related = _RELATION.match(text)
    if related:
        anchors = _AFTER_LANDMARK.sub("", related[3])
        return _related(related[1], _RELATION_NAMES[related[2]], anchors.split(" & "))
    return _simple(text)


def _related(head: str, relation: str, anchors: list[str]) -> Reference | None:
    thing, others = _simple(head), [_simple(anchor.strip().removeprefix("the ")) for anchor in anchors]
    if thing is None:
        return None
    if any(other is None for other in others):  # the other object is unknown
        return thing
    return Reference(
        *(thing.name, thing.color, thing.shape, thing.side, thing.material, thing.rank),
        relation=relation,
        anchors=tuple(other for other in others if other is not None),
    )


def _simple(text: str) -> Reference | None:
    far = bool(_FAR.search(text))
    side = find_side(text)
    words = _AFTER_LANDMARK.sub("", _FAR.sub("", text)).replace(",", "").split()
    count, rank, words = _number(words, side)
    looks = {"color": "", "shape": "", "material": ""}
    tables = (("color", COLOR_NAMES), ("shape", SHAPE_NAMES), ("material", MATERIAL_NAMES))
    # An adjective that is part of the name ("high stool") is none, whatever else it may mean.
    while len(words) > 1 and " ".join(words) not in OBJECT_NAMES and singular(" ".join(words)) not in OBJECT_NAMES:
        look = next((name for name, table in tables if words[0] in table and not looks[name]), "")
        if look:
            looks[look] = dict(tables)[look][words[0]]
        elif words[0] not in PRAISE_WORDS:
            break
        words = words[1:]
    name = " ".join(words)
    if name in ("", "thing", "things"):
        return None
    if count:
        name = singular(name)
    color, shape, material = looks.values()
    return Reference(OBJECT_NAMES.get(name, name), color, shape, side, material, rank, count=count, far=far)


def _number(words: list[str], side: str) -> tuple[int, int, list[str]]:
    """The count or the rank at the beginning, and the other words."""
    if words[:2] == ["pair", "of"]:
        return 2, 0, words[2:]
    first = words[0] if words else ""
    if first in _NUMBER_NAMES:
        return _NUMBER_NAMES[first], 0, words[1:]
    if first in ORDINALS:
        return 0, ORDINALS.index(first) + 1, words[1:]
    if first in NEAREST_WORDS:
        return 0, 1, words[1:]
    return (0, LAST, words[1:]) if first in LAST_WORDS else (0, 0, words)
