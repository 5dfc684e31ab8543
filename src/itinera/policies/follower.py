"""The follower of Speaker-Follower: attention to views, an LSTM, attention to text, then a choice among candidates.

Reference: Fried et al. 2018, Speaker-Follower Models for Vision-and-Language Navigation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from itinera.policies.base import Policy, PolicyOutput, join_stop_logits
from itinera.policies.encoders import (
    EncodedObservation,
    FeatureEmbeddings,
    SoftDotAttention,
    VisualEncoder,
    encode_observation,
)
from itinera.policies.observation import BatchObservation
from itinera.policies.text_encoder import BiLSTMTextEncoder, EncodedText
from itinera.policies.tokenizer import Tokenizer


@dataclass(frozen=True)
class FollowerConfig:
    """Layer sizes of `Follower`; the defaults are those of the authors' code."""

    word_dim: int = 300
    text_dim: int = 512  # both directions together
    visual_dim: int = 2176
    key_dim: int = 256
    hidden_dim: int = 512
    dropout: float = 0.5
    env_dropout: float = 0.0
    use_panorama: bool = True  # attend to all 36 views; otherwise to the place and its candidates


PAPER = FollowerConfig()
SMALL = FollowerConfig(
    word_dim=96,
    text_dim=128,
    visual_dim=192,
    key_dim=96,
    hidden_dim=192,
    dropout=0.3,
    env_dropout=0.3,
    use_panorama=False,
)
"""About 0.9 M parameters; trains in minutes on a CPU."""


@dataclass(frozen=True, eq=False)
class FollowerState:
    """The recurrent state and the encoded instruction."""

    hidden: Tensor  # (batch, hidden_dim)
    cell: Tensor  # (batch, hidden_dim)
    words: Tensor  # (batch, max words, text_dim) each word in its context
    mask: Tensor  # (batch, max words)
    embeddings: FeatureEmbeddings


class Follower(Policy[FollowerState]):
    """The follower. It has no critic: its value is 0.

    Differences from the authors' model: a bidirectional text encoder, learned word embeddings, and a `VisualEncoder`.
    """

    def __init__(self, columns: Sequence[str], tokenizer: Tokenizer, config: FollowerConfig = PAPER) -> None:
        super().__init__()
        c = config
        self.uses_panorama = c.use_panorama
        self.text_encoder = BiLSTMTextEncoder(
            len(tokenizer), word_dim=c.word_dim, hidden_dim=c.text_dim, dropout=c.dropout
        )
        self.initial_state = nn.Linear(c.text_dim, 2 * c.hidden_dim)
        self.visual_encoder = VisualEncoder(
            columns, tokenizer, word_dim=c.word_dim, visual_dim=c.visual_dim, env_dropout=c.env_dropout
        )
        self.visual_attention = SoftDotAttention(c.hidden_dim, c.key_dim)
        self.view_keys = nn.Linear(c.visual_dim, c.key_dim)
        self.lstm = nn.LSTMCell(2 * c.visual_dim, c.hidden_dim)
        self.text_attention = SoftDotAttention(c.hidden_dim, c.text_dim)
        self.context = nn.Linear(c.text_dim + c.hidden_dim, c.hidden_dim, bias=False)
        self.action_query = nn.Linear(c.hidden_dim, c.key_dim)
        self.action_keys = nn.Linear(c.visual_dim, c.key_dim)
        self.dropout = nn.Dropout(c.dropout)

    def encode_instruction(self, words: Tensor, lengths: Tensor) -> FollowerState:
        text: EncodedText = self.text_encoder(words, lengths)
        hidden, cell = self.initial_state(text.summary).tanh().chunk(2, dim=1)
        embeddings = self.visual_encoder.embed_features(self.text_encoder.embedding.weight)
        return FollowerState(hidden, cell, text.states, text.mask, embeddings)

    def forward(self, state: FollowerState, observation: BatchObservation) -> tuple[FollowerState, PolicyOutput]:
        encoded = encode_observation(
            self.visual_encoder, state.embeddings, observation, use_panorama=self.uses_panorama
        )
        visual = self.visual_attention(state.hidden, self.view_keys(encoded.views), encoded.mask, encoded.views)
        inputs = self.dropout(torch.cat([encoded.previous, visual], dim=1))
        hidden, cell = self.lstm(inputs, (state.hidden, state.cell))
        dropped = self.dropout(hidden)
        text = self.text_attention(dropped, state.words, state.mask, state.words)
        context = self.context(torch.cat([text, dropped], dim=1)).tanh()
        logits = self._score_actions(context, encoded, observation)
        return replace(state, hidden=hidden, cell=cell), PolicyOutput(logits, logits.new_zeros(len(logits)))

    def _score_actions(self, context: Tensor, encoded: EncodedObservation, observation: BatchObservation) -> Tensor:
        """(batch, 1 + max candidates) logits. STOP is a candidate without features, so its key is the bias.

        The authors multiply each dimension of the product by a learned weight; `action_query` can represent that.
        """
        query = self.action_query(context)
        candidates = (self.action_keys(encoded.candidates) * query.index_select(0, encoded.owner_index)).sum(dim=1)
        return join_stop_logits((self.action_keys.bias * query).sum(dim=1), candidates, observation)
