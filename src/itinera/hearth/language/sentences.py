"""Sentences: phrases about sections of a path, joined with connectives. Start with `join_phrases`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from itinera.hearth.language.references import Reference
from itinera.hearth.language.sampling import Sampler
from itinera.hearth.language.semantics import Act, Clause

MAX_REQUESTS = 3  # in one sentence
CONJUNCTIONS = ("and", "y")  # of both languages
CONDITIONS = frozenset({Act.REACH, Act.PASS, Act.ENTER, Act.LEAVE, Act.DOOR, Act.UP, Act.DOWN})
"""Acts that can be a condition of the next one: "once you pass the sofa, …"."""


class Speaker(Protocol):
    """Words clauses in one language."""

    sampler: Sampler

    def say(self, clause: Clause, *, elliptic: bool = False) -> str: ...
    def say_turn_at(self, clause: Clause, spot: Reference) -> str: ...
    def say_stop(self, clause: Clause, before: Clause, *, facing: bool, room: str, entering: bool) -> str: ...
    def say_stop_here(self) -> str: ...
    def say_goal(self, room: str, *, other: bool, floor: str) -> str: ...
    def state_goal(self, room: str, *, floor: str) -> str: ...
    def opener(self, before: Act, *, last: bool) -> str: ...
    def link(self, *, free: bool) -> str: ...
    def subordinate(self, text: str) -> str: ...
    def fill_in(self, text: str) -> str: ...
    def remarks(self) -> tuple[str, str]: ...


@dataclass(frozen=True)
class Phrase:
    """Text about a section of the path."""

    text: str
    first: int
    last: int
    clause: Clause
    fixed: bool = False  # whether it stands as it is: without a verb, or beginning with a place


def join_phrases(phrases: Sequence[Phrase], speaker: Speaker) -> list[Phrase]:
    """The phrases as sentences: capitals, full stops, and connectives."""
    joined: list[Phrase] = []
    count = 0  # requests in the sentence so far
    opener = ""
    for k, phrase in enumerate(phrases):
        last = k == len(phrases) - 1
        text, link = phrase.text, "."
        follows = k > 0 and phrases[k - 1].clause.act is not Act.GOAL
        if _is_condition(phrase, speaker) and count == 0 and not last and not phrases[k + 1].fixed:
            text, link = speaker.subordinate(text), ""
        elif count == 0 and follows and not phrase.fixed and speaker.sampler.chance(speaker.sampler.voice.opener):
            before, opener = opener, speaker.opener(phrases[k - 1].clause.act, last=last)
            text = f"{opener} {text}" if opener != before else text
        elif not phrase.fixed and phrase.clause.act is not Act.STOP:
            text = speaker.fill_in(text) if speaker.sampler.chance(speaker.sampler.voice.filler) else text
        text = text[0].upper() + text[1:] if count == 0 else text
        count += 1
        if link and not last:
            link = _link(phrase, phrases[k + 1], count, speaker)
        count = 0 if link == "." else count
        joined.append(replace(phrase, text=text + link))
    return _add_remarks(joined, speaker)


def _is_condition(phrase: Phrase, speaker: Speaker) -> bool:
    clause = phrase.clause
    plain = clause.act in CONDITIONS and not (phrase.fixed or clause.turn or clause.avoid or clause.avoid_side)
    ends = "," in phrase.text or " until " in phrase.text or phrase.text.startswith("keep")
    return plain and not ends and speaker.sampler.chance(speaker.sampler.voice.subordinate)


def _link(phrase: Phrase, following: Phrase, count: int, speaker: Speaker) -> str:
    """The connective between two requests: a full stop, or words that join them."""
    voice = speaker.sampler.voice
    statement = phrase.clause.act is Act.GOAL
    place_first = following.fixed and following.clause.act is Act.GO and "," in following.text
    ends = statement or place_first or count >= MAX_REQUESTS
    if ends or speaker.sampler.chance(voice.full_stop if count == 1 else (1 + voice.full_stop) / 2):
        return "."
    # "Turn left and enter" would make the turn part of entering, and one "and" is enough in a request.
    turns = phrase.clause.turn or following.clause.turn
    joined = any(word in f"{phrase.text} {following.text}".split() for word in CONJUNCTIONS)
    return speaker.link(free=not (turns or joined) and count == 1 and "," not in phrase.text)


def _add_remarks(phrases: Sequence[Phrase], speaker: Speaker) -> list[Phrase]:
    """The phrases with a polite remark before or after them, if that is the speaker's habit."""
    if not speaker.sampler.chance(speaker.sampler.voice.courtesy):
        return list(phrases)
    before, after = speaker.remarks()
    first = replace(phrases[0], text=f"{before} {phrases[0].text}".strip())
    ended = [first, *phrases[1:]]
    return [*ended[:-1], replace(ended[-1], text=f"{ended[-1].text} {after}".strip())]
