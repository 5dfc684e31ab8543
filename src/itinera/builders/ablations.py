"""Instruction ablations: the same tasks with truncated, masked, removed or swapped instructions.

Start poses, goals and reference paths stay as they are. Alignments of the old words are removed.
Reference: Jain et al. 2019, Stay on the Path, section 5.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from itinera.errors import BadArgument
from itinera.hearth.language.object_words import OBJECT_WORDS
from itinera.hearth.language.vocabulary import DIRECTION_WORDS, ROOM_KINDS
from itinera.seeding import generator
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds.labels import MPCAT40, ROOM_NAMES

MASK = "xxx"  # replaces each masked word; no agent has it in its vocabulary
TEXT_NOTES = ("new_instructions", "chunk_view", "instruction_tokens", "dialog_history", "target")
"""Notes of source files that contain the words again, or their alignment."""

_TOKEN = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z]+)?|[^\sA-Za-z0-9]")
_NO_THINGS = {"void", "misc", "unlabeled", "objects", "furniture"}
_NO_ROOMS = {"no label", "other room", "rec", "junk", "tv", "bar", "outdoor"}  # other words, or no name

MASKED_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "turns": DIRECTION_WORDS,
        "rooms": frozenset({*ROOM_KINDS, *(w for names in ROOM_NAMES.values() for w in names.split("/"))} - _NO_ROOMS),
        "objects": frozenset(
            {word for names in OBJECT_WORDS.values() for word in names}
            | {name.replace("_", " ") for name in MPCAT40 if name not in _NO_THINGS}
        ),
    }
)
"""The words that can be masked, by kind."""

RULES = ("full", "last-N", "none", "other", *(f"without-{kind}" for kind in MASKED_WORDS))


@dataclass(frozen=True)
class Ablation:
    """Tasks with ablated instructions."""

    split: Split
    changed: int  # episodes whose instruction differs
    file: Path | None = None


def ablate(split: Split, rule: str, *, seed: int = 0, kinds: Mapping[str, Collection[str]] = MASKED_WORDS) -> Split:
    """The split with changed instructions. Its episodes keep their ids.

    full: unchanged. last-5: the last five tokens, punctuation included. none: empty. other: the instruction of another
    path in the same language, drawn by the seed and the episode's id. without-turns, without-rooms, without-objects:
    words of that kind, singular or plural, replaced by `MASK`; `kinds` defines them.
    """
    change = _change(split, rule, seed, kinds)
    return replace(split, episodes=tuple(_with_text(episode, change(episode)) for episode in split.episodes))


def _with_text(episode: Episode, text: str) -> Episode:
    if text == episode.instruction.text:
        return episode
    notes = {name: value for name, value in episode.notes.items() if name not in TEXT_NOTES}
    return replace(episode, instruction=Instruction(text, episode.instruction.language), alignment=None, notes=notes)


_Change = Callable[[Episode], str]


def _change(split: Split, rule: str, seed: int, kinds: Mapping[str, Collection[str]]) -> _Change:
    last = re.fullmatch(r"last-([1-9][0-9]{0,4})", rule)
    if last is not None:
        return partial(_last_tokens, int(last[1]))
    if rule.startswith("without-") and rule.removeprefix("without-") in kinds:
        pattern = _word_pattern(kinds[rule.removeprefix("without-")])
        return lambda episode: pattern.sub(_mask, episode.instruction.text)
    if rule == "other":
        return _OtherTexts(split, seed)
    plain: dict[str, _Change] = {"full": lambda episode: episode.instruction.text, "none": lambda episode: ""}
    if rule not in plain:
        raise BadArgument(f"rule must be one of {', '.join(RULES)} (with a number for N), not {rule!r}.")
    return plain[rule]


def _last_tokens(count: int, episode: Episode) -> str:
    text = episode.instruction.text.rstrip()
    starts = [found.start() for found in _TOKEN.finditer(text)]
    return text[starts[-count] :] if len(starts) > count else episode.instruction.text


def _word_pattern(words: Collection[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    alternatives = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in longest_first)
    return re.compile(rf"\b(?:{alternatives})(?:s|es)?\b", re.IGNORECASE)


def _mask(found: re.Match[str]) -> str:
    return re.sub(r"[A-Za-z0-9']+", MASK, found[0])


class _OtherTexts:
    """Instructions of other paths."""

    def __init__(self, split: Split, seed: int) -> None:
        self._seed = seed
        self._texts: dict[str, list[tuple[str, str]]] = {}  # by language: path and instruction of every episode
        for episode in split.episodes:
            self._texts.setdefault(episode.instruction.language, []).append((_path(episode), episode.instruction.text))

    def __call__(self, episode: Episode) -> str:
        texts = self._texts[episode.instruction.language]
        if all(path == _path(episode) for path, _ in texts):
            raise BadArgument(f"Episode {episode.id} has the only path in its language: no other instruction exists.")
        rng = generator(self._seed, "another's words", episode.id)
        while True:  # few episodes share a path
            path, text = texts[int(rng.integers(len(texts)))]
            if path != _path(episode):
                return text


def _path(episode: Episode) -> str:
    return episode.path_id or episode.id
