"""Sampling of words and phrases with a speaker's habits: frequent ones first, long or short ones preferred."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

import numpy as np

from itinera.hearth.language.voices import Voice


class Sampler:
    """Samples from tables whose entries are ordered by frequency, as Zipf's law has it."""

    def __init__(self, rng: np.random.Generator, voice: Voice, *, brief: bool) -> None:
        self.voice = voice
        self._rng = rng
        self._brevity = voice.brevity + (1 if brief else -1)
        self._template = ""  # the last one used
        self._word = ""  # the last one of `fresh_word`

    def chance(self, share: float) -> bool:
        return bool(self._rng.random() < share)

    def word(self, options: Sequence[str]) -> str:
        """A random option; the first is the most frequent."""
        sums = _cumulative(len(options), self.voice.rare_words)
        return options[min(bisect(sums, float(self._rng.random()) * sums[-1]), len(options) - 1)]

    def fresh_word(self, options: Sequence[str]) -> str:
        """A random option, never the last one drawn like this."""
        self._word = self.word([option for option in options if option != self._word] or options)
        return self._word

    def phrase(self, options: Sequence[str]) -> str:
        """A random option, for brief speakers the shorter of two, for others the longer one."""
        if self._brevity == 0:
            return self.word(options)
        drawn = self.word(options), self.word(options)
        return min(drawn, key=len) if self._brevity > 0 else max(drawn, key=len)

    def template(self, options: Sequence[str]) -> str:
        """A random phrase, never the last one used."""
        fresh = [option for option in options if option != self._template]
        self._template = self.phrase(fresh or options)
        return self._template


@lru_cache(256)
def _cumulative(count: int, exponent: float) -> tuple[float, ...]:
    weights = (round((rank + 1.0) ** -exponent, 9) for rank in range(count))
    return tuple(accumulate(weights))
