"""HAMT with the heads of its pre-training: what is asked of it before it walks. `training/pretraining.py` asks."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from itinera.policies.hamt import HAMT, Sizes
from itinera.policies.tokenizer import Vocabulary


def _head(given: int, size: int, out: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(given, size), nn.ReLU(), nn.LayerNorm(size, eps=1e-12), nn.Linear(size, out))


class Proxies(nn.Module):
    """A policy that learns, and a head for each proxy task but the one its own answer serves."""

    def __init__(self, columns: Sequence[str], vocabulary: Vocabulary, sizes: Sizes | None = None) -> None:
        super().__init__()
        sizes = sizes or Sizes()
        size = sizes.size
        self.policy = HAMT(columns, vocabulary, sizes)
        self.hidden = nn.Parameter(torch.randn(size) * 0.1)  # in the place of a word that is to be guessed
        self.guess = nn.Sequential(nn.Linear(size, size), nn.GELU(), nn.LayerNorm(size, eps=1e-12))
        self.usual = nn.Parameter(torch.zeros(len(vocabulary)))
        self.turn = _head(size, size, 3)  # heading, elevation, progress
        self.apart = _head(2 * size, size, 2)  # heading and elevation from one way to another
        self.imagine = _head(size, size, len(columns))
        self.fit = _head(size, size, 1)

    def words(self, tokens: Tensor) -> Tensor:
        """(rows, words) how likely each word is where there are these tokens; by the vectors words are read with."""
        return linear(self.guess(tokens), self.policy.embedding.weight, self.usual)


def pretrained(policy: HAMT, proxies: Proxies) -> HAMT:
    """The policy with what was learned from proxy tasks; a [PREV] of its own it keeps."""
    known = policy.state_dict()
    policy.load_state_dict(known | proxies.policy.state_dict())
    return policy
