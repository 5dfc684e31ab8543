"""Words as numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

PAD, UNKNOWN, END = 0, 1, 2  # the first numbers are no words: nothing, a word not known, the end of a text
FIRST = 3

_TOKEN = re.compile(r"[a-z0-9]+(?:'[a-z]+)?|[.,;:!?]")


def tokens(text: str) -> list[str]:
    """The words and marks of a text in lower case.

    >>> tokens("Don't stop: it's the 2nd door.")
    ["don't", 'stop', ':', "it's", 'the', '2nd', 'door', '.']
    """
    return _TOKEN.findall(text.lower())


@dataclass(frozen=True)
class Vocabulary:
    """The words an agent knows, each with a number."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, texts: Iterable[str], *, at_least: int = 5) -> Vocabulary:
        """The words that occur so often; the most frequent first, equally frequent ones in alphabetical order.

        Stay on the Path keeps words with five occurrences or more.
        """
        count = Counter(word for text in texts for word in tokens(text))
        kept = [word for word, times in count.items() if times >= at_least]
        return cls(tuple(sorted(kept, key=lambda word: (-count[word], word))))

    def __len__(self) -> int:
        return FIRST + len(self.words)

    @cached_property
    def index(self) -> dict[str, int]:
        return {word: FIRST + k for k, word in enumerate(self.words)}

    def encode(self, text: str, *, most: int | None = None) -> NDArray[np.int64]:
        """(n,) the numbers of a text's tokens, the first `most` of them; one END where there are none."""
        found = [self.index.get(word, UNKNOWN) for word in tokens(text)[:most]]
        return np.array(found or [END], dtype=np.int64)

    def decode(self, numbers: Sequence[int]) -> str:
        """The words of numbers up to the first END, marks joined to the word before."""
        words: list[str] = []
        for number in numbers:
            if number == END:
                break
            if number >= FIRST:
                words.append(self.words[number - FIRST])
        return re.sub(r" ([.,;:!?])", r"\1", " ".join(words))
