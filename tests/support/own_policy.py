"""A policy as a user of Itinera writes it: a file of its own, named as own_policy:GeometryPolicy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from itinera.policies.base import Policy, PolicyOutput, join_stop_logits
from itinera.policies.observation import GEOMETRY_DIM, BatchObservation
from itinera.policies.tokenizer import Tokenizer


@dataclass(frozen=True)
class GeometryConfig:
    """Layer sizes."""

    word_dim: int = 8
    hidden_dims: tuple[int, ...] = (12,)  # JSON has no tuples, so this tests that they come back
    share_words: bool = True


@dataclass(frozen=True, eq=False)
class TextState:
    """The mean embedding of the instruction."""

    text: Tensor  # (batch, word_dim)


class GeometryPolicy(Policy[TextState]):
    """Scores each candidate by its geometry and the words."""

    config_class = GeometryConfig

    def __init__(self, columns: Sequence[str], tokenizer: Tokenizer, config: GeometryConfig) -> None:
        super().__init__()
        assert isinstance(config.hidden_dims, tuple)
        self.words = nn.Embedding(len(tokenizer), config.word_dim)
        self.other_words = nn.Embedding(len(tokenizer), config.word_dim)
        if config.share_words:
            self.other_words.weight = self.words.weight
        sizes = [GEOMETRY_DIM + config.word_dim, *config.hidden_dims, 1]
        layers = [nn.Linear(a, b) for a, b in pairwise(sizes)]
        self.score = nn.Sequential(*(part for layer in layers for part in (layer, nn.Tanh())))
        self.stop = nn.Linear(config.word_dim, 1)

    def encode_instruction(self, words: Tensor, lengths: Tensor) -> TextState:
        return TextState((self.words(words) + self.other_words(words)).mean(dim=1))

    def forward(self, state: TextState, observation: BatchObservation) -> tuple[TextState, PolicyOutput]:
        text = state.text.index_select(0, observation.owner_index)
        scores = self.score(torch.cat([observation.geometry, text], dim=1)).squeeze(1)
        stop = self.stop(state.text).squeeze(1)
        return state, PolicyOutput(join_stop_logits(stop, scores, observation), torch.zeros(len(stop)))


class StubbornPolicy(GeometryPolicy):
    """A policy whose constructor computes with values, so that it cannot be built without memory."""

    def __init__(self, columns: Sequence[str], tokenizer: Tokenizer, config: GeometryConfig) -> None:
        super().__init__(columns, tokenizer, config)
        if float(self.stop.weight.detach().abs().sum()) == 0.0:
            raise ValueError("no weights")
