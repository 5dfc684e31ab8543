"""Word-level tokenizer of instructions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

PAD, UNKNOWN, END = 0, 1, 2  # special token ids
FIRST_WORD = 3

_TOKEN = re.compile(r"[a-z0-9]+(?:'[a-z]+)?|[.,;:!?]")


def tokenize(text: str) -> list[str]:
    """The words and punctuation marks of a text, in lower case.

    >>> tokenize("Don't stop: it's the 2nd door.")
    ["don't", 'stop', ':', "it's", 'the', '2nd', 'door', '.']
    """
    return _TOKEN.findall(text.lower())


@dataclass(frozen=True)
class Tokenizer:
    """Maps texts to token ids and back.

    >>> tokenizer = Tokenizer(("go", "left", "."))
    >>> tokenizer.encode("Go left now.").tolist()
    [3, 4, 1, 5]
    """

    words: tuple[str, ...]  # the vocabulary, without special tokens

    @classmethod
    def fit(cls, texts: Iterable[str], *, min_count: int = 5) -> Tokenizer:
        """A tokenizer of the words that occur at least `min_count` times, the most frequent first, ties alphabetical.

        The default is that of Stay on the Path.
        """
        count = Counter(word for text in texts for word in tokenize(text))
        frequent = [word for word, times in count.items() if times >= min_count]
        return cls(tuple(sorted(frequent, key=lambda word: (-count[word], word))))

    def __len__(self) -> int:
        """The size of the vocabulary, special tokens included."""
        return FIRST_WORD + len(self.words)

    @cached_property
    def index(self) -> dict[str, int]:
        return {word: FIRST_WORD + k for k, word in enumerate(self.words)}

    def encode(self, text: str, *, max_length: int | None = None) -> NDArray[np.int64]:
        """(n,) the ids of the first `max_length` tokens of a text; a single END for a text without tokens."""
        ids = [self.index.get(word, UNKNOWN) for word in tokenize(text)[:max_length]]
        return np.array(ids or [END], dtype=np.int64)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of token ids up to the first END; punctuation is joined to the preceding word."""
        words: list[str] = []
        for token_id in ids:
            if token_id == END:
                break
            if token_id >= FIRST_WORD:
                words.append(self.words[token_id - FIRST_WORD])
        return re.sub(r" ([.,;:!?])", r"\1", " ".join(words))
