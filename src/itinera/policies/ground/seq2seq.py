"""Seq2Seq: one GRU over the whole instruction and both images, without attention.

Reference: Krantz et al. 2020, Beyond the Nav-Graph: Vision-and-Language Navigation in Continuous Environments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from itinera.policies.ground.base import GroundOutput, GroundPolicy, last_steps, texts_per_path
from itinera.policies.ground.image_encoders import TOKENS, make_depth_encoder, make_image_encoder
from itinera.policies.ground.instruction_encoder import SentenceEncoder
from itinera.policies.ground.observation import (
    COLLIDED,
    NUM_ACTIONS,
    NUM_PREVIOUS,
    GroundObservation,
    GroundSequence,
)
from itinera.policies.tokenizer import Tokenizer


@dataclass(frozen=True)
class Seq2SeqConfig:
    """Layer sizes of `Seq2Seq`; the defaults are the paper's."""

    word_dim: int = 50
    text_dim: int = 128
    hidden_dim: int = 512
    image_dim: int = 256
    depth_dim: int = 128
    action_dim: int = 32
    observe_previous_action: bool = False
    image_encoder: Literal["resnet50", "small"] = "resnet50"
    depth_encoder: Literal["resnet50", "small"] = "resnet50"
    image_channels: int = 2048  # features of a cell; those of "resnet50" are fixed
    depth_channels: int = 128
    rgb_size: int = 224  # pixels of a side
    depth_size: int = 256
    train_encoders: bool = False  # of images; frozen ones need weights from elsewhere, see `weights.py`
    train_words: bool = True  # the paper's GloVe vectors are frozen


SMALL = Seq2SeqConfig(
    word_dim=64,
    hidden_dim=128,
    image_dim=96,
    depth_dim=64,
    action_dim=16,
    observe_previous_action=True,
    image_encoder="small",
    depth_encoder="small",
    image_channels=48,
    depth_channels=32,
    rgb_size=32,
    depth_size=64,
    train_encoders=True,
)
"""Sizes that train on a CPU, with image encoders of their own."""


@dataclass(frozen=True, eq=False)
class Seq2SeqState:
    """The encoded instruction and the state of the GRU."""

    hidden: Tensor  # (batch, hidden_dim)
    text: Tensor  # (batch, text_dim)


@dataclass(frozen=True, eq=False)
class Seq2SeqFeatures:
    """What a step needs of its frames."""

    visual: Tensor  # (frames, …) depth, image and previous action


class Seq2Seq(GroundPolicy[Seq2SeqState, Seq2SeqFeatures]):
    """The baseline without attention; every episode starts without memory."""

    config_class: type[Any] = Seq2SeqConfig
    uses_rgb = True

    def __init__(self, columns: Sequence[str], tokenizer: Tokenizer, config: Seq2SeqConfig | None = None) -> None:
        super().__init__()
        self.config = c = config or Seq2SeqConfig()
        self.depth_size, self.rgb_size = c.depth_size, c.rgb_size
        self.text_encoder = SentenceEncoder(
            tokenizer, word_dim=c.word_dim, text_dim=c.text_dim, train_words=c.train_words
        )
        self.depth_encoder = make_depth_encoder(
            c.depth_encoder, c.depth_size, c.depth_channels, trained=c.train_encoders
        )
        self.image_encoder = make_image_encoder(c.image_encoder, c.rgb_size, c.image_channels, trained=c.train_encoders)
        self.depth_input = nn.Linear(TOKENS * self.depth_encoder.dim, c.depth_dim)
        self.image_input = nn.Linear(self.image_encoder.dim, c.image_dim)
        self.action_embedding = nn.Embedding(NUM_PREVIOUS - 1, c.action_dim) if c.observe_previous_action else None
        action_dim = c.action_dim if c.observe_previous_action else 0
        self.gru = nn.GRU(c.text_dim + c.depth_dim + c.image_dim + action_dim, c.hidden_dim, batch_first=True)
        self.action_head = nn.Linear(c.hidden_dim, NUM_ACTIONS)
        self.progress_head = nn.Linear(c.hidden_dim, 1)
        nn.init.orthogonal_(self.action_head.weight, gain=0.01)
        nn.init.zeros_(self.action_head.bias)

    def encode_instruction(self, words: Tensor, lengths: Tensor) -> Seq2SeqState:
        text = self.text_encoder(words, lengths)
        return Seq2SeqState(text.new_zeros(len(words), self.config.hidden_dim), text)

    def encode_frames(self, observation: GroundObservation) -> Seq2SeqFeatures:
        assert observation.rgb is not None
        depth = self.depth_input(self.depth_encoder(observation.depth).flatten(1))
        image = self.image_input(self.image_encoder(observation.rgb).mean(dim=1))
        parts = [torch.relu(depth), torch.relu(image)]
        if self.action_embedding is not None:
            previous = observation.previous_action
            parts.append(self.action_embedding(torch.where(previous == COLLIDED, 2, previous)))
        return Seq2SeqFeatures(torch.cat(parts, dim=1))

    def step(self, state: Seq2SeqState, features: Seq2SeqFeatures) -> tuple[Seq2SeqState, GroundOutput]:
        inputs = torch.cat([state.text, features.visual], dim=1)
        hidden = self.gru(inputs[:, None], state.hidden[None])[1][0]
        return replace(state, hidden=hidden), self.predict(hidden)

    def unroll(self, state: Seq2SeqState, sequence: GroundSequence) -> tuple[Seq2SeqState, GroundOutput]:
        """See `GroundPolicy.unroll`."""
        count = texts_per_path(state, sequence)
        sequence = sequence.without_guided()
        visual = sequence.acting.pad(self.encode_frames(sequence.frames).visual).repeat_interleave(count, dim=0)
        text = state.text[:, None].expand(-1, visual.shape[1], -1)
        hidden, _ = self.gru(torch.cat([text, visual], dim=2), state.hidden[None])
        last = last_steps(hidden, sequence.mask.repeat_interleave(count, dim=0))
        return replace(state, hidden=last), self.predict(hidden)

    def predict(self, hidden: Tensor) -> GroundOutput:
        """The output for states (…, hidden_dim) of the GRU."""
        return GroundOutput(self.action_head(hidden), torch.tanh(self.progress_head(hidden)[..., 0]))
