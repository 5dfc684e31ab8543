"""EnvDrop's listener: its LSTM goes on from what it made of the words, and it learns in environments that lack things.

Reference: Tan et al. 2019, Learning to Navigate Unseen Environments: Back Translation with Environmental Dropout. With
CLIP's features in place of ResNet's it is the listener of Shen et al. 2022, How Much Can CLIP Benefit
Vision-and-Language Tasks?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from itinera.policies.attention import SoftDot
from itinera.policies.base import Weighed, with_stop
from itinera.policies.encoders import Meanings, WayEncoder
from itinera.policies.features import looked, within
from itinera.policies.observation import ANGLES, Seen
from itinera.policies.text_encoder import LSTMReader, Text, kept_share
from itinera.policies.tokenizer import Vocabulary


@dataclass(frozen=True)
class Sizes:
    """How large the parts are; the defaults are those of the authors' code."""

    word: int = 256
    text: int = 512  # both directions together
    sight: int = 2176
    turn: int = 64  # what is made of the angles of the way taken last
    state: int = 512
    dropout: float = 0.5
    feature_dropout: float = 0.3  # of features of views, never of angles; not in an environment that lacks some already
    around: bool = True  # looks at all 36 views, not at the place and its ways alone


PAPER = Sizes()
SMALL = Sizes(word=96, text=128, sight=192, turn=32, state=192, dropout=0.3, feature_dropout=0.3, around=False)
"""About 0.8 million numbers, which a CPU trains in minutes."""


@dataclass(frozen=True, eq=False)
class State:
    """What is kept in mind."""

    told: Tensor  # (walkers, state) what was made of the words last; the LSTM goes on from it, not from its own output
    cell: Tensor  # (walkers, state)
    words: Tensor  # (walkers, longest, text) each word in its context
    mask: Tensor  # (walkers, longest)
    kept: Tensor | None  # (walkers, features) what feature dropout leaves to see; None: all
    meanings: Meanings


class EnvDrop(nn.Module):
    """The listener."""

    def __init__(self, columns: Sequence[str], vocabulary: Vocabulary, sizes: Sizes = PAPER) -> None:
        super().__init__()
        s = sizes
        self.looks_around = s.around
        self.features, self.feature_dropout = len(columns), s.feature_dropout
        self.reader = LSTMReader(len(vocabulary), word=s.word, size=s.text, dropout=s.dropout)
        self.first = nn.Linear(s.text, 2 * s.state)
        self.sights = WayEncoder(columns, vocabulary, word=s.word, size=s.sight)
        self.turned = nn.Linear(ANGLES, s.turn)
        self.look_for = SoftDot(s.state, s.sight)
        self.lstm = nn.LSTMCell(s.turn + s.sight, s.state)
        self.recall = SoftDot(s.state, s.text)
        self.tell = nn.Linear(s.text + s.state, s.state, bias=False)
        self.want = nn.Linear(s.state, s.sight, bias=False)
        self.critic = nn.Sequential(
            nn.Linear(s.state, s.state), nn.ReLU(), nn.Dropout(s.dropout), nn.Linear(s.state, 1)
        )
        self.dropout = nn.Dropout(s.dropout)

    def read(self, words: Tensor, lengths: Tensor, *, kept: Tensor | None = None) -> State:
        """`kept` (features,) is the environment, where it lacks some features; then none are dropped besides."""
        text: Text = self.reader(words, lengths)
        most = text.states.masked_fill(~text.mask[:, :, None], -torch.inf).amax(dim=1)
        told, cell = self.first(most).tanh().chunk(2, dim=1)
        meanings = within(self.sights.meanings(self.reader.embedding.weight), kept)
        dropped = (
            kept_share(len(words), self.features, self.feature_dropout) if self.training and kept is None else None
        )
        return State(told, cell, text.states, text.mask, dropped, meanings)

    def step(self, state: State, seen: Seen) -> tuple[State, Weighed]:
        sights = looked(self.sights, state.meanings, seen, around=self.looks_around, kept=state.kept)
        # The authors give the heading of the agent; that of the way it took says the same without a north.
        turned = self.dropout(self.turned(seen.taken_geometry[:, :ANGLES]).tanh())
        sight = self.look_for(self.dropout(state.told), sights.views, sights.there, sights.views)
        hidden, cell = self.lstm(torch.cat([turned, sight], dim=1), (state.told, state.cell))
        kept = self.dropout(hidden)
        read = self.recall(kept, state.words, state.mask, state.words)
        told = self.tell(torch.cat([read, kept], dim=1)).tanh()
        wanted = self.want(self.dropout(told))
        candidates = (sights.candidates * wanted.index_select(0, sights.who)).sum(dim=1)
        logits = with_stop(candidates.new_zeros(seen.walkers), candidates, seen)  # STOP has no features: always 0
        return replace(state, told=told, cell=cell), Weighed(logits, self.critic(hidden).squeeze(1))


class Within:
    """A listener in an environment that lacks some features (`looking.environment`)."""

    def __init__(self, listener: EnvDrop, kept: Tensor) -> None:
        self.listener, self.kept = listener, kept

    def read(self, words: Tensor, lengths: Tensor) -> State:
        return self.listener.read(words, lengths, kept=self.kept)

    def step(self, state: State, seen: Seen) -> tuple[State, Weighed]:
        return self.listener.step(state, seen)
