"""RCM's navigator, as Stay on the Path trains it: one LSTM over what is seen, attention to words, then to sights.

Reference: Wang et al. 2019, Reinforced Cross-Modal Matching; Jain et al. 2019, Stay on the Path, equations 4 to 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from itinera.policies.attention import SoftDot
from itinera.policies.base import Weighed, with_stop
from itinera.policies.encoders import Meanings, WayEncoder
from itinera.policies.observation import Seen, padded
from itinera.policies.text_encoder import LSTMReader, Text, kept_share
from itinera.policies.tokenizer import Vocabulary


@dataclass(frozen=True)
class Sizes:
    """How large the parts are; the defaults are those of the authors' later code (VALAN)."""

    word: int = 300
    text: int = 512  # both directions together
    text_layers: int = 2
    sight: int = 256
    key: int = 512
    state: int = 512
    judge: int = 256  # of the judgement of a way and the state together
    dropout: float = 0.5
    env_dropout: float = 0.0


SMALL = Sizes(word=96, text=128, text_layers=1, sight=128, key=64, state=192, judge=96, dropout=0.4, env_dropout=0.3)
"""About a million numbers, which a CPU trains in minutes."""


@dataclass(frozen=True, eq=False)
class State:
    """What is kept in mind."""

    hidden: Tensor  # (walkers, state)
    cell: Tensor  # (walkers, state)
    keys: Tensor  # (walkers, longest, key) of the words
    values: Tensor  # (walkers, longest, text + word) what attention to them yields
    mask: Tensor  # (walkers, longest)
    kept: Tensor | None  # (walkers, sight) which numbers of what is seen are not dropped; None: all
    meanings: Meanings


class RCM(nn.Module):
    """The navigator. Ways on and the place itself are what it looks at; STOP is the place itself."""

    def __init__(self, columns: Sequence[str], vocabulary: Vocabulary, sizes: Sizes | None = None) -> None:
        super().__init__()
        s = sizes or Sizes()
        self.reader = LSTMReader(len(vocabulary), word=s.word, size=s.text, layers=s.text_layers, dropout=s.dropout)
        self.first = nn.Linear(s.text, 2 * s.state)
        self.word_keys = nn.Linear(s.text, s.key, bias=False)
        self.sights = WayEncoder(columns, vocabulary, word=s.word, size=s.sight, env_dropout=s.env_dropout)
        self.stopping = nn.Parameter(torch.randn(s.sight) * 0.1)
        self.look = SoftDot(s.state, s.sight)
        self.recall = SoftDot(s.state, s.key)
        self.look_again = SoftDot(s.text + s.word, s.sight)
        self.lstm = nn.LSTMCell(2 * s.sight, s.state)
        context = s.state + s.text + s.word + s.sight
        # The product of two projections, one on each side, is one matrix; on this side it is applied once a walker.
        self.decide = nn.Sequential(nn.Linear(context, s.sight), nn.ReLU(), nn.Linear(s.sight, s.sight, bias=False))
        self.compare = nn.Linear(context, s.judge)
        self.compared = nn.Linear(s.sight, s.judge, bias=False)
        self.judge = nn.Linear(s.judge, 1, bias=False)
        self.match = nn.Parameter(torch.full((1,), s.word**-0.5))
        self.value = nn.Sequential(nn.Linear(s.state + s.text + s.word, 64), nn.ReLU(), nn.Linear(64, 1))
        self.dropout = nn.Dropout(s.dropout)

    def read(self, words: Tensor, lengths: Tensor) -> State:
        text: Text = self.reader(words, lengths)
        hidden, cell = self.first(text.last).tanh().chunk(2, dim=1)
        values = torch.cat([text.states, text.words], dim=2)
        meanings = self.sights.meanings(self.reader.embedding.weight)
        kept = kept_share(len(words), self.look.size, self.dropout.p) if self.training else None
        return State(hidden, cell, self.word_keys(text.states), values, text.mask, kept, meanings)

    def step(self, state: State, seen: Seen) -> tuple[State, Weighed]:
        walkers = seen.walkers
        features = torch.cat([seen.here, seen.candidates, seen.taken])
        pooled = self.sights.pooled(features, state.meanings)
        encoded = self.sights(pooled, torch.cat([seen.here_geometry, seen.geometry, seen.taken_geometry]))
        here, candidates, taken = encoded.split([walkers, len(seen.candidates), walkers])
        # What can be done is packed, STOP of all walkers first: padding would make it more than twice as much.
        offers, who = torch.cat([here + self.stopping, candidates]), torch.cat([torch.arange(walkers), seen.who])
        if state.kept is not None:
            offers, taken = offers * state.kept.index_select(0, who), taken * state.kept

        there = torch.cat([seen.open.new_ones(walkers, 1), seen.open], dim=1)
        spread = torch.cat([offers[:walkers, None], padded(offers[walkers:], seen.slots)], dim=1)
        sight = self.look(state.hidden, spread, there, spread)
        hidden, cell = self.lstm(torch.cat([sight, taken], dim=1), (state.hidden, state.cell))
        kept = self.dropout(hidden)
        told = self.recall(kept, state.keys, state.mask, state.values)
        again = self.look_again(told, spread, there, spread)
        likes = self._fits(torch.cat([kept, told, again], dim=1), offers, who)
        likes = likes + self._matches(told, self.sights.spoken(pooled[:-walkers]), who)
        value = self.value(torch.cat([kept, told], dim=1)).squeeze(1)
        logits = with_stop(likes[:walkers], likes[walkers:], seen)
        return replace(state, hidden=hidden, cell=cell), Weighed(logits, value)

    def _fits(self, context: Tensor, offers: Tensor, who: Tensor) -> Tensor:
        """(offers,) how well each fits what its walker wants: a product, and a judgement of both together."""
        product = (offers * self.decide(context).index_select(0, who)).sum(dim=1)
        together = (self.compare(context).index_select(0, who) + self.compared(offers)).relu()
        fit: Tensor = product + self.judge(together).squeeze(1)
        return fit

    def _matches(self, told: Tensor, spoken: Tensor, who: Tensor) -> Tensor:
        """(offers,) how well the words attended to match what is seen there."""
        words = told[:, -spoken.shape[1] :].index_select(0, who)
        return (spoken * words).sum(dim=1) * self.match
