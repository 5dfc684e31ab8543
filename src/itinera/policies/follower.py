"""Speaker-Follower's follower: looks around by what it had in mind, then at the words, then chooses among the ways on.

Reference: Fried et al. 2018, Speaker-Follower Models for Vision-and-Language Navigation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from itinera.policies.attention import SoftDot
from itinera.policies.base import Weighed, with_stop
from itinera.policies.encoders import Meanings, WayEncoder
from itinera.policies.features import Sights, looked
from itinera.policies.observation import Seen
from itinera.policies.text_encoder import LSTMReader, Text
from itinera.policies.tokenizer import Vocabulary


@dataclass(frozen=True)
class Sizes:
    """How large the parts are; the defaults are those of the authors' code."""

    word: int = 300
    text: int = 512  # both directions together
    sight: int = 2176
    key: int = 256
    state: int = 512
    dropout: float = 0.5
    env_dropout: float = 0.0
    around: bool = True  # looks at all 36 views, not at the place and its ways alone


PAPER = Sizes()
SMALL = Sizes(word=96, text=128, sight=192, key=96, state=192, dropout=0.3, env_dropout=0.3, around=False)
"""About 0.9 million numbers, which a CPU trains in minutes."""


@dataclass(frozen=True, eq=False)
class State:
    """What is kept in mind."""

    hidden: Tensor  # (walkers, state)
    cell: Tensor  # (walkers, state)
    words: Tensor  # (walkers, longest, text) each word in its context
    mask: Tensor  # (walkers, longest)
    meanings: Meanings


class Follower(nn.Module):
    """The follower. It has no critic: the return it expects is 0.

    Unlike the authors' it reads in both directions, learns its word vectors, and encodes what it sees (`WayEncoder`).
    """

    def __init__(self, columns: Sequence[str], vocabulary: Vocabulary, sizes: Sizes = PAPER) -> None:
        super().__init__()
        s = sizes
        self.looks_around = s.around
        self.reader = LSTMReader(len(vocabulary), word=s.word, size=s.text, dropout=s.dropout)
        self.first = nn.Linear(s.text, 2 * s.state)
        self.sights = WayEncoder(columns, vocabulary, word=s.word, size=s.sight, env_dropout=s.env_dropout)
        self.look_for = SoftDot(s.state, s.key)
        self.view_keys = nn.Linear(s.sight, s.key)
        self.lstm = nn.LSTMCell(2 * s.sight, s.state)
        self.recall = SoftDot(s.state, s.text)
        self.tell = nn.Linear(s.text + s.state, s.state, bias=False)
        self.want = nn.Linear(s.state, s.key)
        self.offer = nn.Linear(s.sight, s.key)
        self.dropout = nn.Dropout(s.dropout)

    def read(self, words: Tensor, lengths: Tensor) -> State:
        text: Text = self.reader(words, lengths)
        hidden, cell = self.first(text.last).tanh().chunk(2, dim=1)
        return State(hidden, cell, text.states, text.mask, self.sights.meanings(self.reader.embedding.weight))

    def step(self, state: State, seen: Seen) -> tuple[State, Weighed]:
        sights = looked(self.sights, state.meanings, seen, around=self.looks_around)
        sight = self.look_for(state.hidden, self.view_keys(sights.views), sights.there, sights.views)
        entering = self.dropout(torch.cat([sights.taken, sight], dim=1))
        hidden, cell = self.lstm(entering, (state.hidden, state.cell))
        kept = self.dropout(hidden)
        read = self.recall(kept, state.words, state.mask, state.words)
        told = self.tell(torch.cat([read, kept], dim=1)).tanh()
        logits = self._fits(told, sights, seen)
        return replace(state, hidden=hidden, cell=cell), Weighed(logits, logits.new_zeros(len(logits)))

    def _fits(self, told: Tensor, sights: Sights, seen: Seen) -> Tensor:
        """(walkers, 1 + most) how much of what is wanted each way offers; STOP, a way without features, its bias.

        The authors weigh each number of the product by a learned one, which `want` can do as well.
        """
        wanted = self.want(told)
        candidates = (self.offer(sights.candidates) * wanted.index_select(0, sights.who)).sum(dim=1)
        return with_stop((self.offer.bias * wanted).sum(dim=1), candidates, seen)
