from __future__ import annotations

import re

import numpy as np
import pytest

import grid_house
from itinera.errors import BadArgument
from itinera.hearth.language.faults import add_faults
from itinera.hearth.language.generate import generate_instruction
from itinera.hearth.language.voices import VOICES, choose_voice
from itinera.seeding import generator


def texts(voice: str, *, detail: str = "steps", faults: float = 0.0, count: int = 12) -> list[str]:
    place = grid_house.place(5)
    rng = generator(5, "voice", voice)
    return [
        generate_instruction(place.descriptions, path, 0.5, rng, detail=detail, voice=voice, faults=faults).text
        for path in place.paths(count, generator(5, "paths"))
    ]


@pytest.fixture(scope="module")
def spoken() -> dict[str, str]:
    return {voice.name: " ".join(texts(voice.name)) for voice in VOICES}


def rate(pattern: str, text: str) -> float:
    """Matches per word."""
    return len(re.findall(pattern, text, re.IGNORECASE)) / len(text.split())


def test_the_terse_use_few_words_and_the_chatty_many(spoken):
    lengths = {name: len(text.split()) for name, text in spoken.items()}
    assert min(lengths, key=lengths.__getitem__) == "terse"
    assert max(lengths, key=lengths.__getitem__) == "chatty"


def test_turns_and_landmarks_are_matters_of_habit(spoken):
    turns = {name: rate(r"\b(?:left|right|straight|forward|ahead)\b", text) for name, text in spoken.items()}
    assert turns["turn-counter"] > turns["landmark-lover"]


def test_only_the_chatty_are_polite(spoken):
    polite = {name for name, text in spoken.items() if re.search(r"\b(?:please|thank|kindly|job)\b|!", text)}
    assert polite == {"chatty"}


def test_shares_of_voices_are_probabilities():
    assert sum(voice.share for voice in VOICES) == pytest.approx(1.0)
    chosen = [choose_voice(None, generator(k)).name for k in range(400)]
    assert {voice.name for voice in VOICES} == set(chosen)
    assert chosen.count("neutral") > 100


def test_an_unknown_voice_is_refused():
    with pytest.raises(BadArgument, match="voice must be one of neutral, terse"):
        choose_voice("shrill", generator(0))


def test_faults_are_made_only_on_request():
    clean, faulty = texts("neutral"), texts("neutral", faults=0.2)
    changed = np.mean([a != b for a, b in zip(clean, faulty, strict=True)])
    assert changed > 0.9


def test_faults_keep_the_number_of_phrases_and_most_words():
    phrases = ["Turn left at the refrigerator.", "Walk past the dining table, then stop."] * 50
    faulty = add_faults(phrases, 0.1, generator(0))
    assert len(faulty) == len(phrases)
    assert all(faulty)
    kept = np.mean(
        [word in before.split() for before, after in zip(phrases, faulty, strict=True) for word in after.split()]
    )
    assert 0.8 < kept < 0.98
    assert add_faults(phrases, 0.0, generator(0)) == phrases
