"""Tasks told with fewer words, or with wrong ones: how much of what an agent does hangs on what it reads?

Places, goals and references stay as they are. Whatever else tied the old words to places is left out.
Reference: Jain et al. 2019, Stay on the Path, section 5.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from itinera.errors import BadArgument
from itinera.hearth.language.vocabulary import DIRECTION_WORDS, ROOM_KINDS, THING_WORDS
from itinera.seeding import generator
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds.labels import MPCAT40, ROOM_NAMES

MASK = "xxx"  # for each word that is masked; no agent has it in its vocabulary
TOLD = ("new_instructions", "chunk_view", "instruction_tokens", "dialog_history", "target")
"""Notes of files that tell the words again, or where they belong."""

_TOKEN = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z]+)?|[^\sA-Za-z0-9]")
_NO_THINGS = {"void", "misc", "unlabeled", "objects", "furniture"}
_NO_ROOMS = {"no label", "other room", "rec", "junk", "tv", "bar", "outdoor"}  # which are other words, or no name

KINDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "turns": DIRECTION_WORDS,
        "rooms": frozenset({*ROOM_KINDS, *(w for names in ROOM_NAMES.values() for w in names.split("/"))} - _NO_ROOMS),
        "objects": frozenset(
            {word for names in THING_WORDS.values() for word in names}
            | {name.replace("_", " ") for name in MPCAT40 if name not in _NO_THINGS}
        ),
    }
)
"""By kind, the words that can be masked."""

RULES = ("full", "last-N", "none", "other", *(f"without-{kind}" for kind in KINDS))


def ablated(split: Split, rule: str, *, seed: int = 0, kinds: Mapping[str, Collection[str]] = KINDS) -> Split:
    """The split with other texts. Its episodes keep their ids.

    full: as they are. last-5: the last five tokens, marks counted too. none: no text. other: the text of an episode of
    another path, in the same language, drawn by the seed and the episode's id. without-turns, without-rooms,
    without-objects: words of that kind, singular or plural, masked by `MASK`; `kinds` says which they are.
    """
    change = _change(split, rule, seed, kinds)
    return replace(split, episodes=tuple(_told(episode, change(episode)) for episode in split.episodes))


def _told(episode: Episode, text: str) -> Episode:
    if text == episode.instruction.text:
        return episode
    notes = {name: value for name, value in episode.notes.items() if name not in TOLD}
    return replace(episode, instruction=Instruction(text, episode.instruction.language), alignment=None, notes=notes)


_Change = Callable[[Episode], str]


def _change(split: Split, rule: str, seed: int, kinds: Mapping[str, Collection[str]]) -> _Change:
    last = re.fullmatch(r"last-([1-9][0-9]{0,4})", rule)
    if last is not None:
        return partial(_last, int(last[1]))
    if rule.startswith("without-") and rule.removeprefix("without-") in kinds:
        pattern = _any_of(kinds[rule.removeprefix("without-")])
        return lambda episode: pattern.sub(_mask, episode.instruction.text)
    if rule == "other":
        return _Others(split, seed)
    plain: dict[str, _Change] = {"full": lambda episode: episode.instruction.text, "none": lambda episode: ""}
    if rule not in plain:
        raise BadArgument(f"There is no rule {rule!r}. There are {', '.join(RULES)}, with a number for N.")
    return plain[rule]


def _last(count: int, episode: Episode) -> str:
    text = episode.instruction.text.rstrip()
    starts = [found.start() for found in _TOKEN.finditer(text)]
    return text[starts[-count] :] if len(starts) > count else episode.instruction.text


def _any_of(words: Collection[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    said = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in longest_first)
    return re.compile(rf"\b(?:{said})(?:s|es)?\b", re.IGNORECASE)


def _mask(found: re.Match[str]) -> str:
    return re.sub(r"[A-Za-z0-9']+", MASK, found[0])


class _Others:
    """Texts of other paths."""

    def __init__(self, split: Split, seed: int) -> None:
        self._seed = seed
        self._texts: dict[str, list[tuple[str, str]]] = {}  # by language: path and text of every episode
        for episode in split.episodes:
            self._texts.setdefault(episode.instruction.language, []).append((_path(episode), episode.instruction.text))

    def __call__(self, episode: Episode) -> str:
        told = self._texts[episode.instruction.language]
        if all(path == _path(episode) for path, _ in told):
            raise BadArgument(f"Episode {episode.id} has the only path in its language: there is no other's text.")
        rng = generator(self._seed, "another's words", episode.id)
        while True:  # few episodes are of the same path
            path, text = told[int(rng.integers(len(told)))]
            if path != _path(episode):
                return text


def _path(episode: Episode) -> str:
    return episode.path_id or episode.id
