"""HAMT: a transformer over the instruction, the current observation, and a token per past step.

The instruction is encoded once. At every step, STOP, the candidates and the history are tokens of one sequence that
attends to the words and to itself; the token of an action gives its logit. Nothing is kept between episodes.
Reference: Chen et al. 2021, History Aware Multimodal Transformer for Vision-and-Language Navigation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor, nn

from itinera.policies.base import PolicyOutput, TourPolicy, join_stop_logits
from itinera.policies.encoders import FeatureEmbeddings, VisualEncoder, require_panorama
from itinera.policies.observation import ANGLE_DIM, GEOMETRY_DIM, BatchObservation
from itinera.policies.text_encoder import sample_dropout_mask
from itinera.policies.tokenizer import PAD, Tokenizer
from itinera.policies.transformer import CrossModalLayer, LayerConfig, Packing, TransformerLayer
from itinera.rendering.panorama import TURNS, VIEWS


@dataclass(frozen=True)
class HAMTConfig:
    """Layer sizes of `HAMT`; the defaults are the paper's."""

    hidden_dim: int = 768  # of every token, and of a word
    num_heads: int = 12
    feedforward_dim: int = 3072
    num_text_layers: int = 9
    num_cross_layers: int = 4
    num_panorama_layers: int = 2  # over the views of every past step, with use_panorama
    use_panorama: bool = True  # all 36 views are tokens; otherwise the candidates and the place
    text_attends: bool = True  # words attend to vision too; otherwise they are encoded once (R4R and RxR in the paper)
    norm_first: bool = False  # layer norm before each sublayer rather than after it
    dropout: float = 0.1  # inside the layers
    token_dropout: float = 0.1  # before them: the same dimensions of all tokens of an agent, for a whole episode
    env_dropout: float = 0.4
    critic_dropout: float = 0.5
    train_history: bool = True  # False: no gradient through history tokens (fine-tuning in the paper)
    max_word_positions: int = 512  # words beyond share the position of the last
    max_step_positions: int = 100  # likewise for steps


SMALL = HAMTConfig(
    hidden_dim=128,
    num_heads=4,
    feedforward_dim=256,
    num_text_layers=2,
    num_cross_layers=1,
    num_panorama_layers=0,
    use_panorama=False,
    text_attends=False,
    norm_first=True,
    dropout=0.0,
    token_dropout=0.1,
    env_dropout=0.3,
    critic_dropout=0.1,
    max_word_positions=128,
    max_step_positions=50,
)
"""About 1 M parameters; trains in minutes on a CPU."""

STOP_TOKEN, CANDIDATE_TOKEN, VIEW_TOKEN, HISTORY_TOKEN = range(4)
CRITIC_DIM = 512


@dataclass(frozen=True, eq=False)
class HAMTState:
    """The encoded instruction and the history."""

    text: Tensor  # (batch, max words, hidden_dim) with [CLS] first
    text_mask: Tensor  # (batch, max words)
    text_keys_values: Tensor | None  # (batch, layers, max words, 2 hidden_dim); None if words attend to vision too
    history: Tensor  # (batch, steps, hidden_dim) a token per past step of this episode
    history_mask: Tensor  # (batch, steps) False where an agent did not move
    moves: Tensor  # (batch,) number of moves so far
    last_place: Tensor | None  # (batch, …) raw features of the place observed last; None before the first
    embeddings: FeatureEmbeddings
    dropout_mask: Tensor | None  # (batch, hidden_dim) of tokens, in training
    # Only for policies that remember earlier episodes:
    raw_history: Tensor | None = None  # (batch, steps, …) raw features, from which tokens can be computed again
    earlier: Tensor | None = None  # (batch, earlier steps, …) the same for earlier episodes
    earlier_moves: Tensor | None = None  # (batch, earlier steps) the number of the move within its episode
    earlier_mask: Tensor | None = None  # (batch, earlier steps)
    earlier_tokens: Tensor | None = None  # (batch, earlier steps, hidden_dim)


@dataclass(frozen=True, eq=False)
class FusedTokens:
    """Output tokens of the cross-modal layers."""

    summary: Tensor  # (batch, hidden_dim) [CLS] of the history, multiplied by that of the text if words attend too
    stop: Tensor  # (batch, hidden_dim)
    candidates: Tensor  # (rows, hidden_dim)


class HAMT(TourPolicy[HAMTState]):
    """The navigator. A history step is the place that was left and the candidate that was chosen there."""

    def __init__(self, columns: Sequence[str], tokenizer: Tokenizer, config: HAMTConfig | None = None) -> None:
        super().__init__()
        c = self.config = config or HAMTConfig()
        self.num_features = len(columns)
        self.uses_panorama = c.use_panorama
        layer = LayerConfig(c.hidden_dim, c.num_heads, c.feedforward_dim, c.norm_first, c.dropout)
        self.embedding = nn.Embedding(len(tokenizer), c.hidden_dim, padding_idx=PAD)
        self.text_cls = nn.Parameter(torch.randn(c.hidden_dim) * 0.1)
        self.word_positions = nn.Embedding(c.max_word_positions + 1, c.hidden_dim)
        self.text_norm = nn.LayerNorm(c.hidden_dim, eps=1e-12)
        self.text_layers = nn.ModuleList(TransformerLayer(layer) for _ in range(c.num_text_layers))

        self.visual_encoder = VisualEncoder(
            columns, tokenizer, word_dim=c.hidden_dim, visual_dim=c.hidden_dim, env_dropout=c.env_dropout
        )
        self.token_types = nn.Embedding(4, c.hidden_dim)
        self.visual_norm = nn.LayerNorm(c.hidden_dim, eps=1e-12)

        pooled_dim = 4 * c.hidden_dim  # of the place that was left and the candidate chosen
        self.history_features = (
            nn.Sequential(nn.LayerNorm(pooled_dim), nn.Linear(pooled_dim, c.hidden_dim)) if columns else None
        )
        self.history_geometry = nn.Sequential(
            nn.Linear(GEOMETRY_DIM, c.hidden_dim), nn.ReLU(), nn.Linear(c.hidden_dim, c.hidden_dim)
        )
        self.step_positions = nn.Embedding(c.max_step_positions, c.hidden_dim)
        self.history_norm = nn.LayerNorm(c.hidden_dim, eps=1e-12)
        self.panorama_layers = nn.ModuleList(
            TransformerLayer(layer) for _ in range(c.num_panorama_layers if c.use_panorama else 0)
        )
        self.history_cls = nn.Parameter(torch.randn(c.hidden_dim) * 0.1)

        self.cross_layers = nn.ModuleList(CrossModalLayer(layer) for _ in range(c.num_cross_layers))
        self.final_norm = nn.LayerNorm(c.hidden_dim, eps=1e-12) if c.norm_first else nn.Identity()
        self.action_head = nn.Sequential(
            nn.Linear(c.hidden_dim, c.hidden_dim),
            nn.ReLU(),
            nn.LayerNorm(c.hidden_dim, eps=1e-12),
            nn.Dropout(c.dropout),
            nn.Linear(c.hidden_dim, 1),
        )
        self.critic = nn.Sequential(
            nn.Linear(c.hidden_dim, CRITIC_DIM), nn.ReLU(), nn.Dropout(c.critic_dropout), nn.Linear(CRITIC_DIM, 1)
        )
        for table in (self.embedding, self.word_positions, self.token_types, self.step_positions):
            nn.init.normal_(table.weight, std=0.1)

    @property
    def _cross_layers(self) -> list[CrossModalLayer]:
        return cast(list[CrossModalLayer], list(self.cross_layers))

    def encode_instruction(self, words: Tensor, lengths: Tensor) -> HAMTState:
        return self.encode_embedded(self.embedding(words), lengths)

    def encode_embedded(self, embedded: Tensor, lengths: Tensor) -> HAMTState:
        """The initial state from word embeddings (batch, max words, hidden_dim), `lengths` (batch,) of each."""
        batch_size, dim = len(lengths), self.config.hidden_dim
        position = torch.arange(embedded.shape[1] + 1, device=embedded.device).clamp_max(self.config.max_word_positions)
        embedded = torch.cat([self.text_cls.expand(batch_size, 1, dim), embedded], dim=1)
        embedded = embedded + self.word_positions(position)
        packing = Packing.from_mask(torch.arange(embedded.shape[1], device=embedded.device) <= lengths[:, None])
        dropout_mask = None
        if self.training:
            dropout_mask = sample_dropout_mask(batch_size, dim, self.config.token_dropout, device=embedded.device)
        rows = self.text_norm(packing.pack(embedded))
        rows = rows if dropout_mask is None else rows * dropout_mask[packing.owner_index]
        for layer in self.text_layers:
            rows = layer(rows, packing)
        return HAMTState(
            packing.pad(rows),
            packing.mask,
            None if self.config.text_attends else self._text_keys_values(rows, packing),
            history=rows.new_zeros(batch_size, 0, dim),
            history_mask=torch.zeros(batch_size, 0, dtype=torch.bool, device=rows.device),
            moves=torch.zeros(batch_size, dtype=torch.int64, device=rows.device),
            last_place=None,
            embeddings=self.visual_encoder.embed_features(self.embedding.weight),
            dropout_mask=dropout_mask,
        )

    def _text_keys_values(self, rows: Tensor, packing: Packing) -> Tensor:
        """(batch, layers, max words, 2 hidden_dim) keys and values of words that do not attend to vision."""
        keys_values = []
        for layer in self._cross_layers:
            keys_values.append(layer.keys_values(rows, packing))
            if layer is not self.cross_layers[-1]:
                rows = layer.text_layer(rows, packing)
        return torch.stack(keys_values, dim=1)

    def observe(self, state: HAMTState, observation: BatchObservation, moved: Tensor | None = None) -> HAMTState:
        """The state with the step that led here added to the history.

        `moved` (batch,) marks the agents that took one; the others are where they were.
        """
        if state.last_place is not None:
            if moved is None:
                moved = torch.ones(observation.batch_size, dtype=torch.bool, device=state.moves.device)
            raw = raw_steps(state.last_place, observation)
            token = self.history_tokens(raw, state.moves, state.embeddings)
            state = replace(
                state,
                history=torch.cat([state.history, token[:, None]], dim=1),
                history_mask=torch.cat([state.history_mask, moved[:, None]], dim=1),
                moves=state.moves + moved,
                raw_history=None if state.raw_history is None else torch.cat([state.raw_history, raw[:, None]], dim=1),
            )
        return replace(state, last_place=self.raw_place(observation))

    def raw_place(self, observation: BatchObservation) -> Tensor:
        """(batch, …) raw features of the place: the view ahead and the panorama, or the place as a whole."""
        if not self.config.use_panorama:
            return observation.place
        panorama, view_angles = require_panorama(observation)
        level = slice(TURNS, 2 * TURNS)
        ahead = TURNS + view_angles[:, level, 1].argmax(dim=1)  # the level view whose relative heading has cosine 1
        ahead_features = panorama[torch.arange(len(ahead), device=ahead.device), ahead]
        return torch.cat([ahead_features, panorama.flatten(1), view_angles.flatten(1)], dim=1)

    def history_tokens(self, raw: Tensor, moves: Tensor, embeddings: FeatureEmbeddings) -> Tensor:
        """(rows, hidden_dim) tokens of raw history steps; `moves` (rows,) is the number of each within its episode."""
        n = self.num_features
        place, panorama = raw[:, :n], raw[:, n : -(n + GEOMETRY_DIM)]
        chosen, geometry = raw[:, -(n + GEOMETRY_DIM) : -GEOMETRY_DIM], raw[:, -GEOMETRY_DIM:]
        position = moves.clamp_max(self.config.max_step_positions - 1)
        token = self.step_positions(position) + self.token_types.weight[HISTORY_TOKEN]
        token = token + self.history_geometry(geometry)
        if self.history_features is not None:
            pooled = self.visual_encoder.pool(torch.cat([place, chosen]), embeddings)
            token = token + self.history_features(torch.cat(pooled.tensor_split(2), dim=1))
        if panorama.shape[1]:
            token = token + self._encode_panorama(panorama, embeddings)
        token = cast(Tensor, self.history_norm(token))
        return token if self.config.train_history else token.detach()

    def _encode_panorama(self, panorama: Tensor, embeddings: FeatureEmbeddings) -> Tensor:
        """(rows, hidden_dim) the mean of the view tokens after self-attention."""
        views, view_angles = panorama.tensor_split([VIEWS * self.num_features], dim=1)
        rows = self._view_tokens(views.reshape(-1, self.num_features), view_angles.reshape(-1, ANGLE_DIM), embeddings)
        packing = Packing.from_mask(torch.ones(len(panorama), VIEWS, dtype=torch.bool, device=panorama.device))
        for layer in self.panorama_layers:
            rows = layer(rows, packing)
        return packing.pad(rows).mean(dim=1)

    def _view_tokens(self, views: Tensor, view_angles: Tensor, embeddings: FeatureEmbeddings) -> Tensor:
        """(rows, hidden_dim) tokens of views."""
        geometry = torch.cat([view_angles, view_angles.new_zeros(len(view_angles), GEOMETRY_DIM - ANGLE_DIM)], dim=1)
        types = torch.full((len(views),), VIEW_TOKEN, device=views.device)
        return self._visual_tokens(views, geometry, types, embeddings)

    def _action_tokens(self, observation: BatchObservation, embeddings: FeatureEmbeddings) -> Tensor:
        """(batch + rows, hidden_dim) tokens of STOP, which has the features of the place, and of the candidates."""
        types = torch.full(
            (observation.batch_size + len(observation.candidates),), CANDIDATE_TOKEN, device=observation.place.device
        )
        types[: observation.batch_size] = STOP_TOKEN
        features = torch.cat([observation.place, observation.candidates])
        geometry = torch.cat([observation.place_geometry, observation.geometry])
        return self._visual_tokens(features, geometry, types, embeddings)

    def _visual_tokens(
        self, features: Tensor, geometry: Tensor, types: Tensor, embeddings: FeatureEmbeddings
    ) -> Tensor:
        pooled = self.visual_encoder.pool(features, embeddings)
        # Adding the part in the space of words makes words and views similar from the start.
        encoded = self.visual_encoder(pooled, geometry) + self.visual_encoder.word_part(pooled)
        tokens: Tensor = self.visual_norm(encoded + self.token_types(types))
        return tokens

    def predict(self, state: HAMTState, observation: BatchObservation) -> PolicyOutput:
        tokens = self.fuse(state, observation)
        scores = self.action_head(torch.cat([tokens.stop, tokens.candidates])).squeeze(1)
        batch_size = observation.batch_size
        logits = join_stop_logits(scores[:batch_size], scores[batch_size:], observation)
        return PolicyOutput(logits, self.critic(tokens.summary).squeeze(1))

    def fuse(self, state: HAMTState, observation: BatchObservation) -> FusedTokens:
        """The tokens of the summary and of the actions after the cross-modal layers."""
        rows, packing, outputs = self.assemble_tokens(state, observation)
        words, rows = self.cross_attend(state, rows, packing, outputs)
        batch_size = observation.batch_size
        summary, stop, candidates = rows.tensor_split([batch_size, 2 * batch_size])
        if self.config.text_attends:
            text_cls = words[:, 0]
            owners = outputs.owner_index[2 * batch_size :]
            summary, stop, candidates = summary * text_cls, stop * text_cls, candidates * text_cls[owners]
        return FusedTokens(summary, stop, candidates)

    def assemble_tokens(
        self, state: HAMTState, observation: BatchObservation | None
    ) -> tuple[Tensor, Packing, Packing]:
        """Tokens of [CLS], STOP, candidates, history and views; their packing; and the packing of the first three.

        Without an observation there are only [CLS] and the history.
        """
        batch_size = len(state.text_mask)
        each = torch.arange(batch_size, device=state.text_mask.device)[:, None]
        history, history_mask = self.visible_history(state)
        parts, output_index, masks, views = [self._history_cls(batch_size)], [each], [history_mask], []
        if observation is not None:
            parts.append(self._action_tokens(observation, state.embeddings))
            output_index += [batch_size + each, 2 * batch_size + observation.padded_index]
            if self.config.use_panorama:
                panorama, view_angles = require_panorama(observation)
                others = find_other_views(observation)
                views = [self._view_tokens(panorama[others], view_angles[others], state.embeddings)]
                masks = [history_mask, others]
        first = sum(map(len, parts))
        outputs = torch.cat(output_index, dim=1)
        rows = torch.cat([*parts, history[history_mask], *views])
        padded_index = [torch.where(outputs < first, outputs, len(rows))]
        for mask in masks:
            flat = mask.reshape(-1)
            padded_index.append(torch.where(flat, first + flat.cumsum(0) - 1, len(rows)).reshape(mask.shape))
            first += int(flat.sum())
        packing = Packing.from_padded_index(torch.cat(padded_index, dim=1), len(rows))
        rows = rows if state.dropout_mask is None else rows * state.dropout_mask[packing.owner_index]
        return rows, packing, Packing.from_padded_index(outputs, sum(map(len, parts)))

    def _history_cls(self, batch_size: int) -> Tensor:
        token: Tensor = self.history_norm(self.history_cls + self.token_types.weight[HISTORY_TOKEN])
        return token.expand(batch_size, -1)

    def visible_history(self, state: HAMTState) -> tuple[Tensor, Tensor]:
        """(batch, n, hidden_dim) history tokens and (batch, n) their mask."""
        return state.history, state.history_mask

    def cross_attend(self, state: HAMTState, rows: Tensor, packing: Packing, outputs: Packing) -> tuple[Tensor, Tensor]:
        """(batch, max words, hidden_dim) words and (rows, hidden_dim) output tokens after the cross-modal layers."""
        if state.text_keys_values is None:
            return self.cross_attend_both(state, rows, packing, outputs)
        for k, layer in enumerate(self._cross_layers):
            rows = layer.cross_attend(rows, packing, state.text_keys_values[:, k], state.text_mask)
            rows = layer.visual_layer(rows, packing, outputs if layer is self.cross_layers[-1] else None)
        return state.text, self.final_norm(rows)

    def cross_attend_both(
        self, state: HAMTState, rows: Tensor, packing: Packing, outputs: Packing
    ) -> tuple[Tensor, Tensor]:
        """The same with attention in both directions, whatever `config.text_attends` says."""
        text = Packing.from_mask(state.text_mask)
        words = text.pack(state.text)
        for layer in self._cross_layers:
            from_text, from_vision = layer.keys_values(words, text), layer.keys_values(rows, packing)
            words = layer.text_layer(layer.cross_attend(words, text, from_vision, packing.mask), text)
            rows = layer.cross_attend(rows, packing, from_text, state.text_mask)
            rows = layer.visual_layer(rows, packing, outputs if layer is self.cross_layers[-1] else None)
        return text.pad(self.final_norm(words)), self.final_norm(rows)


def raw_steps(last_place: Tensor, observation: BatchObservation) -> Tensor:
    """(batch, …) raw features of steps: the place that was left, and the candidate that led to this observation."""
    return torch.cat([last_place, observation.previous, observation.previous_geometry], dim=1)


def find_other_views(observation: BatchObservation) -> Tensor:
    """(batch, 36) True for the views that contain no candidate."""
    owner_index = observation.mask.nonzero()[:, 0]
    view_angles = require_panorama(observation)[1][owner_index]
    heading = torch.atan2(view_angles[..., 0], view_angles[..., 1])
    elevation = torch.atan2(view_angles[..., 2], view_angles[..., 3])
    geometry = observation.geometry[:, :ANGLE_DIM, None]
    heading = heading - torch.atan2(geometry[:, 0], geometry[:, 1])
    elevation = elevation - torch.atan2(geometry[:, 2], geometry[:, 3])
    heading = (heading + math.pi) % math.tau - math.pi
    others = torch.ones(observation.batch_size, VIEWS, dtype=torch.bool, device=heading.device)
    others[owner_index, torch.hypot(heading, elevation).argmin(dim=1)] = False
    return others
