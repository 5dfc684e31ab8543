"""RCM's navigator as trained in Stay on the Path: an LSTM over observations with attention to text, then to views.

Reference: Wang et al. 2019, Reinforced Cross-Modal Matching; Jain et al. 2019, Stay on the Path, equations 4 to 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from itinera.policies.base import Policy, PolicyOutput, join_stop_logits
from itinera.policies.encoders import FeatureEmbeddings, SoftDotAttention, VisualEncoder
from itinera.policies.observation import BatchObservation, pad_rows
from itinera.policies.text_encoder import BiLSTMTextEncoder, EncodedText, sample_dropout_mask
from itinera.policies.tokenizer import Tokenizer


@dataclass(frozen=True)
class RCMConfig:
    """Layer sizes of `RCM`; the defaults are those of the authors' later code (VALAN)."""

    word_dim: int = 300
    text_dim: int = 512  # both directions together
    num_text_layers: int = 2
    visual_dim: int = 256
    key_dim: int = 512  # of the attention to text
    hidden_dim: int = 512
    scorer_dim: int = 256  # hidden layer of the additive scorer of candidates
    dropout: float = 0.5
    env_dropout: float = 0.0


SMALL = RCMConfig(
    word_dim=96,
    text_dim=128,
    num_text_layers=1,
    visual_dim=128,
    key_dim=64,
    hidden_dim=192,
    scorer_dim=96,
    dropout=0.4,
    env_dropout=0.3,
)
"""About 1 M parameters; trains in minutes on a CPU."""


@dataclass(frozen=True, eq=False)
class RCMState:
    """The recurrent state and the encoded instruction."""

    hidden: Tensor  # (batch, hidden_dim)
    cell: Tensor  # (batch, hidden_dim)
    keys: Tensor  # (batch, max words, key_dim)
    values: Tensor  # (batch, max words, text_dim + word_dim)
    mask: Tensor  # (batch, max words)
    dropout_mask: Tensor | None  # (batch, visual_dim) of encoded candidates, in training
    embeddings: FeatureEmbeddings


class RCM(Policy[RCMState]):
    """The navigator. It attends to the candidates and to the place itself, which stands for STOP."""

    def __init__(self, columns: Sequence[str], tokenizer: Tokenizer, config: RCMConfig | None = None) -> None:
        super().__init__()
        c = config or RCMConfig()
        self.text_encoder = BiLSTMTextEncoder(
            len(tokenizer),
            word_dim=c.word_dim,
            hidden_dim=c.text_dim,
            num_layers=c.num_text_layers,
            dropout=c.dropout,
        )
        self.initial_state = nn.Linear(c.text_dim, 2 * c.hidden_dim)
        self.text_keys = nn.Linear(c.text_dim, c.key_dim, bias=False)
        self.visual_encoder = VisualEncoder(
            columns, tokenizer, word_dim=c.word_dim, visual_dim=c.visual_dim, env_dropout=c.env_dropout
        )
        self.stop_embedding = nn.Parameter(torch.randn(c.visual_dim) * 0.1)
        self.visual_attention = SoftDotAttention(c.hidden_dim, c.visual_dim)
        self.text_attention = SoftDotAttention(c.hidden_dim, c.key_dim)
        self.grounded_attention = SoftDotAttention(c.text_dim + c.word_dim, c.visual_dim)
        self.lstm = nn.LSTMCell(2 * c.visual_dim, c.hidden_dim)
        context_dim = c.hidden_dim + c.text_dim + c.word_dim + c.visual_dim
        # The product of two projections, one per side, is one matrix; on this side it is applied once per agent.
        self.action_query = nn.Sequential(
            nn.Linear(context_dim, c.visual_dim), nn.ReLU(), nn.Linear(c.visual_dim, c.visual_dim, bias=False)
        )
        self.scorer_context = nn.Linear(context_dim, c.scorer_dim)
        self.scorer_action = nn.Linear(c.visual_dim, c.scorer_dim, bias=False)
        self.scorer_output = nn.Linear(c.scorer_dim, 1, bias=False)
        self.word_match_scale = nn.Parameter(torch.full((1,), c.word_dim**-0.5))
        self.critic = nn.Sequential(nn.Linear(c.hidden_dim + c.text_dim + c.word_dim, 64), nn.ReLU(), nn.Linear(64, 1))
        self.dropout = nn.Dropout(c.dropout)

    def encode_instruction(self, words: Tensor, lengths: Tensor) -> RCMState:
        text: EncodedText = self.text_encoder(words, lengths)
        hidden, cell = self.initial_state(text.summary).tanh().chunk(2, dim=1)
        values = torch.cat([text.states, text.embeddings], dim=2)
        embeddings = self.visual_encoder.embed_features(self.text_encoder.embedding.weight)
        dropout_mask = self._sample_dropout(words)
        return RCMState(hidden, cell, self.text_keys(text.states), values, text.mask, dropout_mask, embeddings)

    def _sample_dropout(self, words: Tensor) -> Tensor | None:
        """(batch, visual_dim) the mask of encoded candidates for a whole rollout, in training."""
        if not self.training:
            return None
        return sample_dropout_mask(len(words), self.visual_attention.key_dim, self.dropout.p, device=words.device)

    def forward(self, state: RCMState, observation: BatchObservation) -> tuple[RCMState, PolicyOutput]:
        batch_size = observation.batch_size
        features = torch.cat([observation.place, observation.candidates, observation.previous])
        pooled = self.visual_encoder.pool(features, state.embeddings)
        geometry = torch.cat([observation.place_geometry, observation.geometry, observation.previous_geometry])
        encoded = self.visual_encoder(pooled, geometry)
        place, candidates, previous = encoded.split([batch_size, len(observation.candidates), batch_size])
        # Actions are packed, STOP of all agents first: padding would more than double the work.
        actions = torch.cat([place + self.stop_embedding, candidates])
        owner_index = torch.cat([torch.arange(batch_size, device=place.device), observation.owner_index])
        if state.dropout_mask is not None:
            actions = actions * state.dropout_mask.index_select(0, owner_index)
            previous = previous * state.dropout_mask

        mask = torch.cat([observation.mask.new_ones(batch_size, 1), observation.mask], dim=1)
        padded = torch.cat(
            [actions[:batch_size, None], pad_rows(actions[batch_size:], observation.padded_index)], dim=1
        )
        visual = self.visual_attention(state.hidden, padded, mask, padded)
        hidden, cell = self.lstm(torch.cat([visual, previous], dim=1), (state.hidden, state.cell))
        dropped = self.dropout(hidden)
        text = self.text_attention(dropped, state.keys, state.mask, state.values)
        grounded = self.grounded_attention(text, padded, mask, padded)
        scores = self._score_actions(torch.cat([dropped, text, grounded], dim=1), actions, owner_index)
        word_parts = self.visual_encoder.word_part(pooled[:-batch_size])
        scores = scores + self._match_words(text, word_parts, owner_index)
        value = self.critic(torch.cat([dropped, text], dim=1)).squeeze(1)
        logits = join_stop_logits(scores[:batch_size], scores[batch_size:], observation)
        return replace(state, hidden=hidden, cell=cell), PolicyOutput(logits, value)

    def _score_actions(self, context: Tensor, actions: Tensor, owner_index: Tensor) -> Tensor:
        """(actions,) a bilinear and an additive score of each action in the context of its agent."""
        product = (actions * self.action_query(context).index_select(0, owner_index)).sum(dim=1)
        joint = (self.scorer_context(context).index_select(0, owner_index) + self.scorer_action(actions)).relu()
        scores: Tensor = product + self.scorer_output(joint).squeeze(1)
        return scores

    def _match_words(self, text: Tensor, word_parts: Tensor, owner_index: Tensor) -> Tensor:
        """(actions,) the similarity of the attended words to the features of each action."""
        words = text[:, -word_parts.shape[1] :].index_select(0, owner_index)
        return (word_parts * words).sum(dim=1) * self.word_match_scale
