"""Where lemmatised words end in the text they were made from, so that people's own words can be cut."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

_WORD = re.compile(r"[^\W_]+")
_STEM = 4  # letters by which an inflected word is known again: "walking" and "walk", "stairs" and "stair"


class OriginalText:
    """A text beside the words somebody made of it: lower case, lemmatised, without punctuation.

    >>> original = OriginalText("Rollout past the couches, then stop.", ["walk", "past", "the", "couch", "then", "stop"])
    >>> original.first(4)
    'Walk past the couches'
    """

    def __init__(self, text: str, words: Sequence[str]) -> None:
        self._text = text
        self._spans = [found.span() for found in _WORD.finditer(text)]
        # A word may be of several pieces, "living-room", and punctuation is of none.
        pieces = [(i, piece) for i, word in enumerate(words) for piece in _WORD.findall(word)]
        self._owners = [i for i, _ in pieces]  # by piece, the word it belongs to
        self._places = _matched([piece for _, piece in pieces], [text[a:b] for a, b in self._spans])

    def first(self, count: int) -> str | None:
        """The text of the first so many words; None where neither the last of them nor the next was found in it."""
        pieces = sum(owner < count for owner in self._owners)
        if pieces == len(self._owners):
            return self._text.rstrip()
        if pieces and self._places[pieces - 1] >= 0:
            return self._text[: self._spans[self._places[pieces - 1]][1]]
        following = self._places[pieces]
        if following < 0:
            return None
        return self._text[: self._spans[following - 1][1]] if following else ""


def _matched(pieces: Sequence[str], originals: Sequence[str]) -> list[int]:
    """The number of the original of each piece, -1 where there is none."""
    places = [-1] * len(pieces)
    stems, others = ([word.lower()[:_STEM] for word in words] for words in (pieces, originals))
    for kind, a, b, c, d in SequenceMatcher(None, stems, others, autojunk=False).get_opcodes():
        # As many words between two that agree are taken to be the same: "is" became "be".
        if kind == "equal" or b - a == d - c:
            places[a:b] = range(c, d)
    return places
