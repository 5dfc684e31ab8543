"""The small faults of hurried writers: typos, missing articles, wrong capitals, run-on sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

HABITUAL = {
    "dining": "dinning",
    "past": "passed",
    "hallway": "hall way",
    "doorway": "door way",
    "stairs": "stair",
    "straight": "strait",
    "through": "thru",
    "your": "you",
    "the": "teh",
    "and": "adn",
    "towards": "torwards",
    "refrigerator": "refridgerator",
    "entrance": "enterance",
    "until": "untill",
    "right": "rigth",
    "you're": "your",
    "stop": "sotp",
    "kitchen": "kichen",
    "living": "livng",
    "beside": "besides",
}
"""Misspellings that recur in collected instructions."""

MIN_LETTERS = 4  # of a word with two letters swapped or one missing


def add_faults(texts: Sequence[str], share: float, rng: np.random.Generator) -> list[str]:
    """The texts, with a fault in this share of the words. The number of texts is kept, so that words stay aligned."""
    faulty = []
    for text in texts:
        words = [_fault(word, rng) if rng.random() < share else word for word in text.split()]
        kept = " ".join(word for word in words if word)
        faulty.append(kept or text)
    return faulty


def _fault(word: str, rng: np.random.Generator) -> str:
    """The word with a fault; empty for an article left out."""
    if word == "the" and rng.random() < 0.8:
        return ""
    if word.endswith(".") and rng.random() < 0.4:  # a run-on sentence
        return word[:-1]
    if word[0].isupper() and rng.random() < 0.5:
        return word[0].lower() + word[1:]
    letters = re.fullmatch(r"([A-Za-z'-]+)([.,!?]*)", word)
    if letters is None:
        return word
    plain, end = letters[1], letters[2]
    if plain.lower() in HABITUAL and rng.random() < 0.7:
        wrong = HABITUAL[plain.lower()]
        return (wrong.capitalize() if plain[0].isupper() else wrong) + end
    return (_typo(plain, rng) if len(plain) >= MIN_LETTERS else plain) + end


def _typo(word: str, rng: np.random.Generator) -> str:
    """The word with two letters swapped, one missing, or one doubled; never the first."""
    k = int(rng.integers(1, len(word) - 1))
    kind = int(rng.integers(3))
    if kind == 0:
        return word[:k] + word[k + 1] + word[k] + word[k + 2 :]
    return word[:k] + word[k + 1 :] if kind == 1 else word[:k] + word[k] + word[k:]
