"""Truncated episodes: a prefix of the path with the matching prefix of the instruction. Start with `truncate`.

Spoken instructions (RxR, Hearth) are truncated at the moment their speaker reached a node; sub-instructions
(Fine-Grained R2R), which have places but no times, where one ends. An episode is never truncated at its goal, because
the words that lead there often say to stop.
Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents, section 3.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, pairwise
from typing import cast

import numpy as np

from itinera.formats.trials import FilterCounts
from itinera.skills.filter_counts import FilterCounter, RejectedTrial
from itinera.tasks import Alignment, Episode

_WORD = re.compile(r"[^\W_]+")
_STEM = 4  # letters by which an inflected word is matched: "walking" and "walk", "stairs" and "stair"


@dataclass(frozen=True, eq=False, slots=True)
class Truncation:
    """An episode truncated at one of its nodes: the path so far and the words spoken before reaching that node."""

    source: Episode
    nodes: tuple[str, ...]  # from the start to the truncation point, two or more
    text: str  # ends in a full stop
    text_ahead: str = ""  # the instruction truncated later than the path; empty if it says nothing more
    edges_ahead: int = 0  # how many edges later; 1 is "one step ahead", more are "one chunk ahead"

    @property
    def id(self) -> str:
        """The episode's id and the number of nodes in the path."""
        return f"{self.source.id}_{len(self.nodes)}"


@dataclass(frozen=True)
class TruncationRule:
    """Which episodes are truncated, and where."""

    name: str
    languages: tuple[str, ...] | None = None  # accepted language codes; None: English of any country
    max_nodes: int | None = None  # longer paths are dropped
    excluded_path_ids: frozenset[str] = frozenset()
    one_truncation_per_word: bool = False  # spoken words: each ends at most one truncation, and the last is dropped
    requires_text_ahead: bool = False  # truncations without `text_ahead` are dropped


PAPER = TruncationRule("paper")
"""As described in the paper: every interior node of every English path."""

RELEASED = TruncationRule(
    "released",
    languages=("en", "en-US"),
    max_nodes=20,  # HAMT's limit of actions on RxR
    excluded_path_ids=frozenset({"4721", "9015"}),
    one_truncation_per_word=True,
    requires_text_ahead=True,
)
"""As the released scripts do it, which drop more."""

TRUNCATION_RULES = {rule.name: rule for rule in (PAPER, RELEASED)}


@dataclass(frozen=True, eq=False)
class Truncations:
    """The truncations of a split's episodes, and the filter counts over all possible truncation points."""

    items: tuple[Truncation, ...]
    counts: FilterCounts


def truncate(episodes: Iterable[Episode], *, rule: TruncationRule = PAPER) -> Truncations:
    """Every episode truncated at every place its alignment allows, in the order of the episodes, shortest first.

    Places are the interior nodes of a path (all but its first and last), or those where a sub-instruction ends.
    """
    counter = FilterCounter()
    items = []
    for episode in episodes:
        for outcome in _truncate_episode(episode, rule):
            if isinstance(outcome, Truncation):
                items.append(outcome)
                counter.add(1, [])
            else:
                counter.add(0, [outcome.reason])
    return Truncations(tuple(items), counter.total())


def end_sentence(text: str) -> str:
    """The text with a full stop at its end, in place of any other punctuation mark.

    >>> end_sentence("Go past the sofa, ")
    'Go past the sofa.'
    """
    return text.rstrip(" \t\r\n.,;:!?-–—/") + "."


def _truncate_episode(episode: Episode, rule: TruncationRule) -> Iterator[Truncation | RejectedTrial]:
    words = episode.alignment
    if words is None or not (words.last >= 0).any():
        yield from (RejectedTrial("words not aligned with places"),) * max(len(episode.reference) - 2, 0)
    elif words.begins is None:
        yield from (_apply_rule(outcome, rule) for outcome in _at_chunks(episode, words))
    else:
        yield from (_apply_rule(outcome, rule) for outcome in _at_nodes(episode, words, rule))


def _apply_rule(outcome: Truncation | RejectedTrial, rule: TruncationRule) -> Truncation | RejectedTrial:
    if isinstance(outcome, RejectedTrial):
        return outcome
    language = outcome.source.instruction.language
    english = language == "en" or language.startswith("en-")
    if not (english if rule.languages is None else language in rule.languages):
        return RejectedTrial("not in English" if rule.languages is None else f"not in {' or '.join(rule.languages)}")
    if outcome.source.path_id in rule.excluded_path_ids:
        return RejectedTrial("path excluded by its id")
    if rule.max_nodes is not None and len(outcome.nodes) > rule.max_nodes:
        return RejectedTrial(f"more than {rule.max_nodes} nodes")
    if rule.requires_text_ahead and not outcome.text_ahead:
        return RejectedTrial("no words ahead")
    return outcome


def _at_nodes(episode: Episode, words: Alignment, rule: TruncationRule) -> Iterator[Truncation | RejectedTrial]:
    """A truncation for each interior node, with the words that ended before the speaker first reached it."""
    path = cast("tuple[str, ...]", tuple(episode.reference))
    final = len(path) - 1
    last = np.asarray(words.last)
    if rule.one_truncation_per_word:
        counts, counts_ahead = _scan_word_counts(last, 1, final), _scan_word_counts(last, 2, final)
    else:
        counts = counts_ahead = _word_counts(last, final)
    for node in range(1, final):
        obstacle = _find_obstacle(counts, node, rule)
        if obstacle:
            yield RejectedTrial(obstacle)
            continue
        silent_goal = node + 1 == final and not rule.one_truncation_per_word
        count, ahead = counts[node], counts_ahead.get(node + 1, len(words.words) if silent_goal else 0)
        # The released scan, once out of step with the speaker, uses the same words for both texts.
        has_ahead = ahead > count or (ahead and rule.one_truncation_per_word)
        text_ahead = end_sentence(" ".join(words.words[:ahead])) if has_ahead else ""
        text = end_sentence(" ".join(words.words[:count]))
        yield Truncation(episode, path[: node + 1], text, text_ahead, 1 if text_ahead else 0)


def _find_obstacle(counts: Mapping[int, int], node: int, rule: TruncationRule) -> str:
    """Why the episode cannot be truncated at a node; empty if it can."""
    if node not in counts:
        return "no words at or after the node"
    if counts[node] == 0:
        return "no words before the node"
    return "last truncation of its episode" if rule.one_truncation_per_word and node == max(counts) else ""


def _word_counts(last: np.ndarray, final: int) -> dict[int, int]:
    """By node, how many words ended before the speaker reached it; words without a place follow those before them."""
    counts = np.searchsorted(np.maximum.accumulate(last), np.arange(final + 1)).tolist()
    return {node: count for node, count in enumerate(counts) if count < len(last)}


def _scan_word_counts(last: np.ndarray, node: int, final: int) -> dict[int, int]:
    """The same from this node on, but a word that spans several nodes ends a truncation at the first of them only."""
    counts = {}
    for count, place in enumerate(last.tolist()):
        if place >= node and node <= final:
            counts[node] = count
            node += 1
    return counts


def _at_chunks(episode: Episode, words: Alignment) -> Iterator[Truncation | RejectedTrial]:
    """A truncation for each interior node where a sub-instruction ends, before any words spoken while staying there."""
    path = cast("tuple[str, ...]", tuple(episode.reference))
    ends = _chunk_ends(words)
    original: OriginalText | None = None
    for (node, count), (next_node, count_ahead) in pairwise(ends):
        if not 0 < node < len(path) - 1:
            continue
        original = original or OriginalText(episode.instruction.text, words.words)
        text, longer = original.prefix(count), original.prefix(count_ahead)
        if text is None:
            yield RejectedTrial("words not found in the text")
        elif not text:
            yield RejectedTrial("no words before the node")
        else:
            ahead = end_sentence(longer) if longer is not None and len(longer) > len(text) else ""
            yield Truncation(episode, path[: node + 1], end_sentence(text), ahead, next_node - node if ahead else 0)


def _chunk_ends(words: Alignment) -> Sequence[tuple[int, int]]:
    """Each node where a sub-instruction ends, and how many words lead there."""
    ends: dict[int, int] = {}
    count = 0
    for (_, last), chunk in groupby(zip(words.first.tolist(), words.last.tolist(), strict=True)):
        count += len(list(chunk))
        ends.setdefault(last, count)
    return sorted(ends.items())


class OriginalText:
    """A text aligned with words that were derived from it: lower case, lemmatised, without punctuation.

    >>> original = OriginalText("Walk past the couches, then stop.", ["walk", "past", "the", "couch", "then", "stop"])
    >>> original.prefix(4)
    'Walk past the couches'
    """

    def __init__(self, text: str, words: Sequence[str]) -> None:
        self._text = text
        self._spans = [match.span() for match in _WORD.finditer(text)]
        # A word may consist of several pieces, "living-room", and punctuation of none.
        pieces = [(i, piece) for i, word in enumerate(words) for piece in _WORD.findall(word)]
        self._owners = [i for i, _ in pieces]  # by piece, the word it belongs to
        self._matches = _match_words([piece for _, piece in pieces], [text[a:b] for a, b in self._spans])

    def prefix(self, count: int) -> str | None:
        """The text of the first `count` words; None if neither the last of them nor the next is found in it."""
        pieces = sum(owner < count for owner in self._owners)
        if pieces == len(self._owners):
            return self._text.rstrip()
        if pieces and self._matches[pieces - 1] >= 0:
            return self._text[: self._spans[self._matches[pieces - 1]][1]]
        following = self._matches[pieces]
        if following < 0:
            return None
        return self._text[: self._spans[following - 1][1]] if following else ""


def _match_words(pieces: Sequence[str], originals: Sequence[str]) -> list[int]:
    """The index of the original of each piece, -1 if there is none."""
    indices = [-1] * len(pieces)
    stems, others = ([word.lower()[:_STEM] for word in words] for words in (pieces, originals))
    for kind, a, b, c, d in SequenceMatcher(None, stems, others, autojunk=False).get_opcodes():
        # Equally many words between two matches are taken to be the same words: "is" became "be".
        if kind == "equal" or b - a == d - c:
            indices[a:b] = range(c, d)
    return indices
