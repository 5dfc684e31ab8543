"""Instructions split into words that are aligned with the reference path."""

from __future__ import annotations

import re

from itinera.reports.replay.data import TextSpan
from itinera.tasks import Episode

SEARCH_RANGE = 20  # characters in which an exact word is preferred to a longer one


def split_instruction(episode: Episode) -> list[TextSpan]:
    """The instruction split into words aligned with the reference path, and the text between them."""
    text, aligned = episode.instruction.text, episode.alignment
    if aligned is None or not len(episode.reference) or not (aligned.first >= 0).any():
        return [TextSpan(text, -1, -1)] if text else []
    spans: list[TextSpan] = []
    position = 0
    for word, first, last in zip(aligned.words, aligned.first.tolist(), aligned.last.tolist(), strict=True):
        begin, end = _find_word(text, word, position)
        if begin == end:
            continue  # the spoken word is not in the written text
        if begin > position:
            spans.append(TextSpan(text[position:begin], -1, -1))
        spans.append(TextSpan(text[begin:end], first, last))
        position = end
    return [*spans, TextSpan(text[position:], -1, -1)] if position < len(text) else spans


def _find_word(text: str, word: str, position: int) -> tuple[int, int]:
    """Begin and end of a word in the text from a position on; begin = end if it is not there.

    The words of Fine-Grained R2R have no capitals and no endings, so a longer word that starts with this one matches
    too, unless the word itself follows soon.
    """
    if not word.isascii() or not word:
        begin = text.find(word, position)
        return (begin, begin + len(word)) if begin >= 0 else (position, position)
    limit = position + len(word) + SEARCH_RANGE
    exact = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE).search(text, position, limit)
    found = exact or re.compile(rf"(?<!\w){re.escape(word)}\w*", re.IGNORECASE).search(text, position)
    return found.span() if found else (position, position)
