from __future__ import annotations

from collections import Counter

import pytest

from itinera.hearth.language.object_words import OBJECT_WORDS
from itinera.hearth.language.vocabulary import (
    COLOR_SYNONYMS,
    MATERIAL_SYNONYMS,
    PRAISE_WORDS,
    ROOM_KINDS,
    ROOM_WORDS,
    SHAPE_SYNONYMS,
    object_pattern,
    plural,
    singular,
)


@pytest.mark.parametrize("table", [OBJECT_WORDS, ROOM_WORDS, COLOR_SYNONYMS, SHAPE_SYNONYMS, MATERIAL_SYNONYMS])
def test_a_word_means_one_thing(table):
    counts = Counter(word for words in table.values() for word in words)
    assert [word for word, count in counts.items() if count > 1] == []


def test_no_object_is_called_by_the_name_of_another_or_of_a_room():
    words = [(name, word) for name, words in OBJECT_WORDS.items() for word in words]
    assert [pair for pair in words if pair[0] != pair[1] and pair[1] in OBJECT_WORDS] == []
    assert [word for _, word in words if word in ROOM_KINDS] == []


def test_opinions_are_no_looks():
    looks = {
        word for table in (COLOR_SYNONYMS, SHAPE_SYNONYMS, MATERIAL_SYNONYMS) for ws in table.values() for word in ws
    }
    assert looks.isdisjoint(PRAISE_WORDS)


def test_plurals_can_be_undone():
    words = [word for words in OBJECT_WORDS.values() for word in words if not word.endswith("s")]
    assert [word for word in words if singular(plural(word)) != word] == []


def test_objects_are_masked_with_their_looks():
    mask = object_pattern({"coffee table", "bookshelf"})
    text = "Go past the lovely round white wooden coffee table and the two bookcases to the red sofa."
    assert mask.sub("thing", text) == "Go past the thing and the two thing to the red sofa."
