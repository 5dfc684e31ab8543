from __future__ import annotations

import pytest

from itinera.skills.original_text import OriginalText


@pytest.mark.parametrize(
    ("text", "words", "count", "cut"),
    [
        ("Walk past the couches, then stop.", "walk past the couch then stop", 4, "Walk past the couches"),
        # What lemmatising changed altogether is known by its neighbours.
        ("The man is there. Go on.", "the man be there go on", 3, "The man is"),
        ("You'll see it. Go.", "you will see it go", 2, "You'll"),
        # Words that were left out are before the cut or after it with the word they stand beside.
        ("Walk, uh, past it then stop.", "walk past it then stop", 1, "Walk"),
        # Punctuation among the words is no word, and a word may be of two.
        ("By the chairs/stool turn. Go.", "by the chair / stool turn go", 5, "By the chairs/stool"),
        ("Into the living-room. Go.", "into the living-room go", 3, "Into the living-room"),
        ("Go left. Go left. Go.", "go left go left go", 2, "Go left"),
        # The last word is not found, but the next is.
        ("Walk by qqq. Stop here now.", "walk by zzz yyy stop here now", 4, "Walk by qqq"),
        ("Go on. ", "go on", 2, "Go on."),
        ("Go on.", "go on", 0, ""),
    ],
)
def test_the_first_words_are_found_in_peoples_own_text(text, words, count, cut):
    assert OriginalText(text, words.split()).first(count) == cut


def test_where_neither_the_last_word_nor_the_next_is_found_there_is_no_cut():
    words = ["walk", "by", "zzz", "yyy", "xxx", "stop", "here"]
    assert OriginalText("Walk by. Stop here.", words).first(4) is None
