"""Encoders of what is seen along a way: features of any view source, and where the way leads.

Where features have names ("sofa", "to kitchen", "share of door"), a feature's vector begins as the mean of the vectors
of the words in its name, so that what is read and what is seen meet from the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from itinera.agents.neural.seen import GEOMETRY
from itinera.agents.neural.vocabulary import Vocabulary, tokens
from itinera.simulators.views import kind_of

LEADS = 64  # numbers made of where a way leads, before they are mixed with what is seen


def runs_of(columns: Sequence[str]) -> list[tuple[int, int]]:
    """Where runs of features of one kind begin and end.

    >>> runs_of(["sofa", "bed", "to kitchen", "to hallway"])
    [(0, 2), (2, 4)]
    """
    kinds = [kind_of(column) for column in columns]
    starts = [k for k in range(len(kinds)) if k == 0 or kinds[k] != kinds[k - 1]]
    return list(pairwise([*starts, len(kinds)]))


def known_words(columns: Sequence[str], vocabulary: Vocabulary) -> list[list[int]]:
    """For each feature the known words in its name."""
    names = [column.removeprefix(kind_of(column)) for column in columns]
    return [[vocabulary.index[word] for word in tokens(name) if word in vocabulary.index] for name in names]


@dataclass(frozen=True, eq=False)
class Meanings:
    """The vector of each feature, the same for all steps of a roll-out."""

    vectors: Tensor  # (features, word)


class WayEncoder(nn.Module):
    """Turns features of views and the geometry of ways into vectors.

    `env_dropout` is the share of features that are not seen for the whole of a roll-out, the same ones in all views,
    steps and walkers, as if the environment had none of them (Tan et al. 2019, Learning to Navigate Unseen
    Environments).
    """

    def __init__(
        self, columns: Sequence[str], vocabulary: Vocabulary, *, word: int, size: int, env_dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.runs = runs_of(columns)
        self.env_dropout = env_dropout
        known = known_words(columns, vocabulary)
        counts = torch.tensor([len(numbers) for numbers in known], dtype=torch.int64)
        words = torch.tensor([number for numbers in known for number in numbers], dtype=torch.int64)
        self.register_buffer("names", words, persistent=False)
        self.register_buffer("name_starts", counts.cumsum(0) - counts, persistent=False)
        self.own = nn.Parameter(torch.zeros(len(columns), word))
        unnamed = counts == 0
        with torch.no_grad():
            self.own[unnamed] = torch.randn(int(unnamed.sum()), word) * 0.1
        self.say = nn.Parameter(torch.ones(len(self.runs)))
        seen = len(self.runs) * word
        self.things = nn.Sequential(nn.LayerNorm(seen), nn.Linear(seen, size)) if seen else None
        # Where a way leads is a few numbers beside hundreds: given a way of their own, they are not drowned.
        self.leads = nn.Sequential(nn.Linear(GEOMETRY, LEADS), nn.ReLU(), nn.Linear(LEADS, size))
        self.norm = nn.LayerNorm(size)

    names: Tensor
    name_starts: Tensor

    def meanings(self, embedding: Tensor) -> Meanings:
        """What each feature means, by the embedding of words (words, word)."""
        if not self.runs:
            return Meanings(self.own)
        vectors = embedding_bag(self.names, embedding, self.name_starts, mode="mean") + self.own
        if self.training and self.env_dropout:
            kept = torch.rand(len(vectors), 1) >= self.env_dropout
            vectors = vectors * kept / (1 - self.env_dropout)
        return Meanings(vectors)

    def pooled(self, features: Tensor, meanings: Meanings) -> Tensor:
        """(rows, kinds, word) the sum of the vectors of what is seen, for each kind of feature."""
        if not self.runs:  # nothing is seen but where the ways lead
            return features.new_zeros(len(features), 0, meanings.vectors.shape[1])
        return torch.stack([features[:, a:b] @ meanings.vectors[a:b] for a, b in self.runs], dim=1)

    def forward(self, pooled: Tensor, geometry: Tensor) -> Tensor:
        """(rows, size)"""
        leading = self.leads(geometry)
        whole: Tensor = self.norm((leading if self.things is None else leading + self.things(pooled.flatten(1))).relu())
        return whole

    def spoken(self, pooled: Tensor) -> Tensor:
        """(rows, word) all that is seen as one vector among those of words."""
        return (pooled * self.say[:, None]).sum(dim=1)
