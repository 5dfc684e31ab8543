"""Episodes cut short where their words say where one is: so far the path, so far the instruction. Start with `cut`.

Spoken words (RxR, Hearth) are cut at the moment their speaker came to a node; sub-instructions (Fine-Grained R2R), with
places but no times, where one ends. Never at the goal: the words that lead there often say to stop.
Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents, section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import cast

import numpy as np

from itinera.skills.filter_counts import Dropped, Tally, TallySheet
from itinera.skills.original_text import OriginalText
from itinera.tasks import Alignment, Episode


@dataclass(frozen=True, eq=False, slots=True)
class Cut:
    """An episode up to one of its places: the nodes walked and the words said before one came to the last of them."""

    source: Episode
    nodes: tuple[str, ...]  # from the start to where it is cut, two or more
    text: str  # ends in a full stop
    ahead: str = ""  # the words that also lead on from there; empty where no more are said
    edges: int = 0  # how many edges they lead on; one is "one step ahead", several are "one chunk ahead"

    @property
    def id(self) -> str:
        """The id of its episode and how many nodes are walked."""
        return f"{self.source.id}_{len(self.nodes)}"


@dataclass(frozen=True)
class CuttingRule:
    """Which episodes are cut, and how."""

    name: str
    dialects: tuple[str, ...] | None = None  # languages taken; None: English of any country
    longest: int | None = None  # nodes; longer cuts are left out
    without_paths: frozenset[str] = frozenset()  # ids of paths left out
    one_at_a_time: bool = False  # of spoken words: each ends one cut at most, and the last cut is thrown away
    needs_ahead: bool = False  # cuts without words that lead on are left out


PAPER = CuttingRule("paper")
"""As the paper words it: every interior node of every English path."""

RELEASED = CuttingRule(
    "released",
    dialects=("en", "en-US"),
    longest=20,  # the most actions that HAMT takes on RxR
    without_paths=frozenset({"4721", "9015"}),
    one_at_a_time=True,
    needs_ahead=True,
)
"""As the released scripts do it, which drop more."""

CUTTING_RULES = {rule.name: rule for rule in (PAPER, RELEASED)}


@dataclass(frozen=True, eq=False)
class Cuttings:
    """The cuts of a split's episodes, and what became of every place where one could cut."""

    cuts: tuple[Cut, ...]
    tally: Tally


def cut(episodes: Iterable[Episode], *, rule: CuttingRule = PAPER) -> Cuttings:
    """Every episode cut at every place its alignment allows, in their order, shortest first.

    Places are the interior nodes of a path (all but its first and last), or those where a sub-instruction ends.
    """
    sheet = TallySheet()
    cuts = []
    for episode in episodes:
        for outcome in _outcomes(episode, rule):
            if isinstance(outcome, Cut):
                cuts.append(outcome)
                sheet.cut(1, [])
            else:
                sheet.cut(0, [outcome.reason])
    return Cuttings(tuple(cuts), sheet.total())


def ended(text: str) -> str:
    """The text with a full stop at its end, in place of any other mark.

    >>> ended("Go past the sofa, ")
    'Go past the sofa.'
    """
    return text.rstrip(" \t\r\n.,;:!?-–—/") + "."


def _outcomes(episode: Episode, rule: CuttingRule) -> Iterator[Cut | Dropped]:
    words = episode.alignment
    if words is None or not (words.last >= 0).any():
        yield from (Dropped("words not tied to places"),) * max(len(episode.reference) - 2, 0)
    elif words.begins is None:
        yield from (_ruled(outcome, rule) for outcome in _at_chunks(episode, words))
    else:
        yield from (_ruled(outcome, rule) for outcome in _at_nodes(episode, words, rule))


def _ruled(outcome: Cut | Dropped, rule: CuttingRule) -> Cut | Dropped:
    if isinstance(outcome, Dropped):
        return outcome
    language = outcome.source.instruction.language
    english = language == "en" or language.startswith("en-")
    if not (english if rule.dialects is None else language in rule.dialects):
        return Dropped("not in English" if rule.dialects is None else f"not in {' or '.join(rule.dialects)}")
    if outcome.source.path_id in rule.without_paths:
        return Dropped("path left out by name")
    if rule.longest is not None and len(outcome.nodes) > rule.longest:
        return Dropped(f"more than {rule.longest} nodes")
    if rule.needs_ahead and not outcome.ahead:
        return Dropped("no words that lead on")
    return outcome


def _at_nodes(episode: Episode, words: Alignment, rule: CuttingRule) -> Iterator[Cut | Dropped]:
    """A cut for each interior node, with the words that were over when the speaker first came there."""
    path = cast("tuple[str, ...]", tuple(episode.reference))
    final = len(path) - 1
    last = np.asarray(words.last)
    if rule.one_at_a_time:
        said, further = _scanned(last, 1, final), _scanned(last, 2, final)
    else:
        said = further = _over_before(last, final)
    for node in range(1, final):
        obstacle = _obstacle(said, node, rule)
        if obstacle:
            yield Dropped(obstacle)
            continue
        silent_goal = node + 1 == final and not rule.one_at_a_time
        count, more = said[node], further.get(node + 1, len(words.words) if silent_goal else 0)
        # The released scan, once out of step with the speaker, takes the same words for both.
        ahead = ended(" ".join(words.words[:more])) if more > count or (more and rule.one_at_a_time) else ""
        text = ended(" ".join(words.words[:count]))
        yield Cut(episode, path[: node + 1], text, ahead, 1 if ahead else 0)


def _obstacle(said: Mapping[int, int], node: int, rule: CuttingRule) -> str:
    """Why one cannot cut at a node; empty where one can."""
    if node not in said:
        return "no word said there or beyond"
    if said[node] == 0:
        return "nothing said before it"
    return "last of its episode" if rule.one_at_a_time and node == max(said) else ""


def _over_before(last: np.ndarray, final: int) -> dict[int, int]:
    """By node, how many words were over before the speaker came there; words of unknown place go with those before."""
    counts = np.searchsorted(np.maximum.accumulate(last), np.arange(final + 1)).tolist()
    return {node: count for node, count in enumerate(counts) if count < len(last)}


def _scanned(last: np.ndarray, node: int, final: int) -> dict[int, int]:
    """The same from this node on, but a word that goes on past several nodes ends a cut at the first of them alone."""
    counts = {}
    for count, place in enumerate(last.tolist()):
        if place >= node and node <= final:
            counts[node] = count
            node += 1
    return counts


def _at_chunks(episode: Episode, words: Alignment) -> Iterator[Cut | Dropped]:
    """A cut for each interior node where a sub-instruction ends, before what is said without leaving it."""
    path = cast("tuple[str, ...]", tuple(episode.reference))
    ends = _chunk_ends(words)
    original: OriginalText | None = None
    for (node, count), (following, more) in pairwise(ends):
        if not 0 < node < len(path) - 1:
            continue
        original = original or OriginalText(episode.instruction.text, words.words)
        text, ahead = original.first(count), original.first(more)
        if text is None:
            yield Dropped("words not found in the text")
        elif not text:
            yield Dropped("nothing said before it")
        else:
            on = ended(ahead) if ahead is not None and len(ahead) > len(text) else ""
            yield Cut(episode, path[: node + 1], ended(text), on, following - node if on else 0)


def _chunk_ends(words: Alignment) -> Sequence[tuple[int, int]]:
    """Each node that a sub-instruction leads to, and how many words lead there."""
    ends: dict[int, int] = {}
    count = 0
    for (_, last), chunk in groupby(zip(words.first.tolist(), words.last.tolist(), strict=True)):
        count += len(list(chunk))
        ends.setdefault(last, count)
    return sorted(ends.items())
