"""The speaker: what it saw along a path in, words out. It makes instructions for paths nobody described, and says how
well an instruction fits a path.

Reference: Fried et al. 2018 had one first; this is the one of Tan et al. 2019 (EnvDrop), which reads a path twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from itinera.policies.attention import SoftDot
from itinera.policies.encoders import WayEncoder
from itinera.policies.features import looked, within
from itinera.policies.observation import Seen, padded, slots_of
from itinera.policies.text_encoder import locked_dropout, reversed_within, whole
from itinera.policies.tokenizer import END, PAD, UNKNOWN, Vocabulary


@dataclass(frozen=True)
class Sizes:
    """How large the parts are; the defaults are those of the authors' code."""

    word: int = 256
    sight: int = 2176
    path: int = 512  # both directions together
    state: int = 512
    dropout: float = 0.6
    around: bool = True  # looks at all 36 views, not at the place and its ways alone


PAPER = Sizes()
SMALL = Sizes(word=96, sight=192, path=192, state=192, dropout=0.2, around=False)
"""About 1.2 million numbers, which a CPU trains in minutes."""


@dataclass(frozen=True, eq=False)
class Route:
    """Paths: what was seen at each place of them, and which way was taken there."""

    seen: Seen  # of all places of the first path, of the second, …
    action: Tensor  # (places,) STOP at the last of each path
    counts: Tensor  # (paths,) places of each


@dataclass(frozen=True, eq=False)
class Memory:
    """What is remembered of paths, and how far they are told."""

    places: Tensor  # (paths, longest, path)
    things: Tensor  # (paths, longest, word) what was seen along the way taken there, as a vector among those of words
    mask: Tensor  # (paths, longest)
    hidden: Tensor  # (paths, state)
    cell: Tensor  # (paths, state)


class BothWays(nn.Module):
    """LSTMs over a sequence, one in each direction."""

    def __init__(self, given: int, size: int) -> None:
        super().__init__()
        self.onward = nn.LSTM(given, size // 2, batch_first=True)
        self.back = nn.LSTM(given, size // 2, batch_first=True)

    def forward(self, steps: Tensor, counts: Tensor) -> Tensor:
        ahead, _ = self.onward(steps)
        behind, _ = self.back(reversed_within(steps, counts))
        return torch.cat([ahead, reversed_within(behind, counts)], dim=2)


class Speaker(nn.Module):
    """Looks along a path, then tells it word by word.

    Unlike the authors' it can name what it sees: features whose names have known words make these words likelier.
    """

    def __init__(self, columns: Sequence[str], vocabulary: Vocabulary, sizes: Sizes = PAPER) -> None:
        super().__init__()
        s = sizes
        self.looks_around = s.around
        self.embedding = nn.Embedding(len(vocabulary), s.word, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.sights = WayEncoder(columns, vocabulary, word=s.word, size=s.sight)
        self.stopping = nn.Parameter(torch.randn(s.sight) * 0.1)
        self.along = BothWays(s.sight, s.path)
        self.look_for = SoftDot(s.path, s.sight)
        self.noted = nn.Linear(s.sight + s.path, s.path, bias=False)
        self.again = BothWays(s.path, s.path)
        self.first = nn.Linear(s.path, 2 * s.state)
        self.lstm = nn.LSTM(s.word, s.state, batch_first=True)
        self.recall = nn.Linear(s.state, s.path, bias=False)
        self.tell = nn.Linear(s.path + s.state, s.state, bias=False)
        self.say = nn.Linear(s.state, len(vocabulary))
        self.name = nn.Linear(s.state, s.word)
        nn.init.ones_(self.name.bias)
        self.dropout = nn.Dropout(s.dropout)

    def remember(self, route: Route, *, kept: Tensor | None = None) -> Memory:
        """What is remembered of paths; `kept` (features,) is an environment that lacks some features."""
        meanings = within(self.sights.meanings(self.embedding.weight), kept)
        sights = looked(self.sights, meanings, route.seen, around=self.looks_around)
        slots = slots_of(route.counts)
        mask = slots < len(route.action)
        spoken, rows = self.sights.spoken(sights.pooled), len(sights.candidates)
        things = padded(_chosen(route, spoken[:rows], spoken[rows:]), slots)
        chosen = self._locked(padded(_chosen(route, sights.candidates, sights.here + self.stopping), slots))
        steps = self.along(chosen, route.counts)[mask]  # packed again, place after place
        noticed = self.look_for(self.dropout(steps), sights.views, sights.there, sights.views)
        noted = self.noted(torch.cat([noticed, steps], dim=1)).tanh()
        places = self._locked(self.again(self._locked(padded(noted, slots)), route.counts))
        hidden, cell = self.first(whole(places, route.counts)).tanh().chunk(2, dim=1)
        return Memory(places, things, mask, hidden.contiguous(), cell.contiguous())

    def _locked(self, values: Tensor) -> Tensor:
        return locked_dropout(values, self.dropout.p, training=self.training)

    def tell_on(self, memory: Memory, before: Tensor) -> tuple[Memory, Tensor]:
        """The memory and (paths, n, vocabulary) logits of the words that follow each of those before (paths, n)."""
        words = self._locked(self.embedding(before))
        states, (hidden, cell) = self.lstm(words, (memory.hidden[None], memory.cell[None]))
        states = self._locked(states)
        scores = self.recall(states) @ memory.places.transpose(1, 2)
        weights = scores.masked_fill(~memory.mask[:, None], -torch.inf).softmax(dim=2)
        told = self._locked(self.tell(torch.cat([weights @ memory.places, states], dim=2)).tanh())
        named = (weights @ memory.things * self.name(told)) @ self.embedding.weight.t()
        return replace(memory, hidden=hidden[0], cell=cell[0]), self.say(told) + named

    def surprise(self, memory: Memory, words: Tensor, lengths: Tensor) -> Tensor:
        """(paths, longest + 1) minus the log-probability of each word of texts, and of END behind them; then zeros."""
        following = torch.cat([words, words.new_full((len(words), 1), PAD)], dim=1)
        following = following.scatter(1, lengths[:, None], END)
        before = following.roll(1, dims=1)
        before[:, 0] = END  # what stands before a text: the end of the one before
        _, logits = self.tell_on(memory, before)
        return cross_entropy(logits.transpose(1, 2), following, ignore_index=PAD, reduction="none")

    @torch.no_grad()
    def describe(self, memory: Memory, *, most: int = 80, rng: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Words (paths, longest) and how many (paths,): the likeliest at every step, or with `rng` drawn by chance.

        Words that are not known are never said; a text of END alone says nothing.
        """
        before = torch.full((len(memory.places), 1), END)
        done, said = torch.zeros(len(before), dtype=torch.bool), list[Tensor]()
        while len(said) < most and not bool(done.all()):
            memory, logits = self.tell_on(memory, before)
            logits[:, 0, [PAD, UNKNOWN]] = -torch.inf
            before = logits[:, 0].argmax(1, keepdim=True) if rng is None else _drawn(logits[:, 0], rng)
            before = before.masked_fill(done[:, None], PAD)
            said.append(before)
            done = done | (before.squeeze(1) == END)
        words = torch.cat(said, dim=1)
        lengths = ((words != PAD) & (words != END)).sum(dim=1)
        lengths = lengths.clamp_min(1)  # nothing said is END, as an empty text is read
        words = words.masked_fill(torch.arange(words.shape[1]) >= lengths[:, None], PAD)
        return words[:, : int(lengths.max())], lengths


def _chosen(route: Route, candidates: Tensor, here: Tensor) -> Tensor:
    """(places, size) the way that was taken at each place, or the place itself where one stopped."""
    moving = route.action.nonzero().squeeze(1)
    rows = route.seen.slots[moving, route.action[moving] - 1]
    return here.index_copy(0, moving, candidates.index_select(0, rows))


def _drawn(logits: Tensor, rng: torch.Generator) -> Tensor:
    return torch.multinomial(logits.softmax(dim=1), 1, generator=rng)
