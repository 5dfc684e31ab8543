"""EnvDrop's listener: an LSTM that continues from its attended hidden state, trained with environmental dropout.

Reference: Tan et al. 2019, Learning to Navigate Unseen Environments: Back Translation with Environmental Dropout. With
CLIP features in place of ResNet's it is the listener of Shen et al. 2022, How Much Can CLIP Benefit
Vision-and-Language Tasks?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from itinera.policies.base import Policy, PolicyOutput, join_stop_logits
from itinera.policies.encoders import (
    FeatureEmbeddings,
    SoftDotAttention,
    VisualEncoder,
    encode_observation,
    mask_features,
)
from itinera.policies.observation import ANGLE_DIM, BatchObservation
from itinera.policies.text_encoder import BiLSTMTextEncoder, EncodedText, sample_dropout_mask
from itinera.policies.tokenizer import Tokenizer


@dataclass(frozen=True)
class EnvDropConfig:
    """Layer sizes of `EnvDrop`; the defaults are those of the authors' code."""

    word_dim: int = 256
    text_dim: int = 512  # both directions together
    visual_dim: int = 2176
    angle_dim: int = 64  # of the embedded angles of the previous candidate
    hidden_dim: int = 512
    dropout: float = 0.5
    feature_dropout: float = 0.3  # of view features, never of angles; not combined with environmental dropout
    use_panorama: bool = True  # attend to all 36 views; otherwise to the place and its candidates


PAPER = EnvDropConfig()
SMALL = EnvDropConfig(
    word_dim=96,
    text_dim=128,
    visual_dim=192,
    angle_dim=32,
    hidden_dim=192,
    dropout=0.3,
    feature_dropout=0.3,
    use_panorama=False,
)
"""About 0.8 M parameters; trains in minutes on a CPU."""


@dataclass(frozen=True, eq=False)
class EnvDropState:
    """The recurrent state and the encoded instruction."""

    hidden: Tensor  # (batch, hidden_dim) after attention to text, which is what the LSTM continues from
    cell: Tensor  # (batch, hidden_dim)
    words: Tensor  # (batch, max words, text_dim) each word in its context
    mask: Tensor  # (batch, max words)
    feature_mask: Tensor | None  # (batch, features) feature dropout, in training
    embeddings: FeatureEmbeddings


class EnvDrop(Policy[EnvDropState]):
    """The listener."""

    def __init__(self, columns: Sequence[str], tokenizer: Tokenizer, config: EnvDropConfig = PAPER) -> None:
        super().__init__()
        c = config
        self.uses_panorama = c.use_panorama
        self.num_features, self.feature_dropout = len(columns), c.feature_dropout
        self.text_encoder = BiLSTMTextEncoder(
            len(tokenizer), word_dim=c.word_dim, hidden_dim=c.text_dim, dropout=c.dropout
        )
        self.initial_state = nn.Linear(c.text_dim, 2 * c.hidden_dim)
        self.visual_encoder = VisualEncoder(columns, tokenizer, word_dim=c.word_dim, visual_dim=c.visual_dim)
        self.angle_embedding = nn.Linear(ANGLE_DIM, c.angle_dim)
        self.visual_attention = SoftDotAttention(c.hidden_dim, c.visual_dim)
        self.lstm = nn.LSTMCell(c.angle_dim + c.visual_dim, c.hidden_dim)
        self.text_attention = SoftDotAttention(c.hidden_dim, c.text_dim)
        self.context = nn.Linear(c.text_dim + c.hidden_dim, c.hidden_dim, bias=False)
        self.action_query = nn.Linear(c.hidden_dim, c.visual_dim, bias=False)
        self.critic = nn.Sequential(
            nn.Linear(c.hidden_dim, c.hidden_dim), nn.ReLU(), nn.Dropout(c.dropout), nn.Linear(c.hidden_dim, 1)
        )
        self.dropout = nn.Dropout(c.dropout)

    def encode_instruction(self, words: Tensor, lengths: Tensor, *, environment: Tensor | None = None) -> EnvDropState:
        """The initial state; with an `environment` (features,) of `sample_environment` there is no feature dropout."""
        text: EncodedText = self.text_encoder(words, lengths)
        maximum = text.states.masked_fill(~text.mask[:, :, None], -torch.inf).amax(dim=1)
        hidden, cell = self.initial_state(maximum).tanh().chunk(2, dim=1)
        embeddings = self.visual_encoder.embed_features(self.text_encoder.embedding.weight)
        embeddings = mask_features(embeddings, environment)
        feature_mask = None
        if self.training and environment is None:
            feature_mask = sample_dropout_mask(len(words), self.num_features, self.feature_dropout, device=words.device)
        return EnvDropState(hidden, cell, text.states, text.mask, feature_mask, embeddings)

    def forward(self, state: EnvDropState, observation: BatchObservation) -> tuple[EnvDropState, PolicyOutput]:
        encoded = encode_observation(
            self.visual_encoder,
            state.embeddings,
            observation,
            use_panorama=self.uses_panorama,
            feature_mask=state.feature_mask,
        )
        # The authors use the agent's absolute heading; the relative angle of its last move needs no north.
        angles = self.dropout(self.angle_embedding(observation.previous_geometry[:, :ANGLE_DIM]).tanh())
        visual = self.visual_attention(self.dropout(state.hidden), encoded.views, encoded.mask, encoded.views)
        hidden, cell = self.lstm(torch.cat([angles, visual], dim=1), (state.hidden, state.cell))
        dropped = self.dropout(hidden)
        text = self.text_attention(dropped, state.words, state.mask, state.words)
        context = self.context(torch.cat([text, dropped], dim=1)).tanh()
        query = self.action_query(self.dropout(context))
        candidates = (encoded.candidates * query.index_select(0, encoded.owner_index)).sum(dim=1)
        stop = candidates.new_zeros(observation.batch_size)  # STOP has no features, so its logit is 0
        logits = join_stop_logits(stop, candidates, observation)
        return replace(state, hidden=context, cell=cell), PolicyOutput(logits, self.critic(hidden).squeeze(1))


class EnvDropInEnvironment(Policy[EnvDropState]):
    """A listener in one environment of `encoders.sample_environment`, which lacks some features."""

    def __init__(self, listener: EnvDrop, environment: Tensor) -> None:
        super().__init__()
        self.listener, self.environment = listener, environment
        self.uses_panorama = listener.uses_panorama

    def encode_instruction(self, words: Tensor, lengths: Tensor) -> EnvDropState:
        return self.listener.encode_instruction(words, lengths, environment=self.environment)

    def forward(self, state: EnvDropState, observation: BatchObservation) -> tuple[EnvDropState, PolicyOutput]:
        return self.listener.forward(state, observation)
