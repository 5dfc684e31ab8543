"""Encoders of what is seen along a way: features of any view source, and where the way leads.

Where features have names ("sofa", "to kitchen", "share of door"), a feature's vector begins as the mean of the vectors
of the words in its name, so that what is read and what is seen meet from the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from itinera.policies._kernels import add, there
from itinera.policies.observation import GEOMETRY
from itinera.policies.tokenizer import Vocabulary, tokens
from itinera.simulators.view_features import kind_of

MOSTLY_NOTHING = 1 / 16  # the share of features that are there below which the others are not multiplied
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
    """What each feature means, the same for all steps of a roll-out."""

    looks: Tensor  # (features, size + word) what it adds to what is seen, and to what could be said of it


class WayEncoder(nn.Module):
    """Turns features of views and the geometry of ways into vectors.

    A feature has a vector among those of words. A matrix for each kind of feature makes of it what the feature adds to
    what is seen; that is done once a roll-out, so that looking is a sum over the features that are there, of which
    annotations have but a few.

    `env_dropout` is the share of features that are not seen for the whole of a roll-out, the same ones in all views,
    steps and walkers, as if the environment had none of them (Tan et al. 2019, Learning to Navigate Unseen
    Environments).
    """

    def __init__(
        self, columns: Sequence[str], vocabulary: Vocabulary, *, word: int, size: int, env_dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.runs = runs_of(columns)
        self.size, self.env_dropout = size, env_dropout
        known = known_words(columns, vocabulary)
        counts = torch.tensor([len(numbers) for numbers in known], dtype=torch.int64)
        words = torch.tensor([number for numbers in known for number in numbers], dtype=torch.int64)
        self.register_buffer("names", words, persistent=False)
        self.register_buffer("name_starts", counts.cumsum(0) - counts, persistent=False)
        self.own = nn.Parameter(torch.zeros(len(columns), word))
        unnamed = counts == 0
        with torch.no_grad():
            self.own[unnamed] = torch.randn(int(unnamed.sum()), word) * 0.1
        self.things = nn.ModuleList(nn.Linear(word, size, bias=False) for _ in self.runs)
        self.say = nn.Parameter(torch.ones(len(self.runs)))
        self.things_norm = nn.LayerNorm(size)
        # Where a way leads is a few numbers beside hundreds: given a way of their own, they are not drowned.
        self.leads = nn.Sequential(nn.Linear(GEOMETRY, LEADS), nn.ReLU(), nn.Linear(LEADS, size))
        self.norm = nn.LayerNorm(size)

    names: Tensor
    name_starts: Tensor

    def vectors(self, embedding: Tensor) -> Tensor:
        """(features, word) each feature among words, whose embedding is (words, word)."""
        return embedding_bag(self.names, embedding, self.name_starts, mode="mean") + self.own

    def meanings(self, embedding: Tensor) -> Meanings:
        """What each feature means, by the embedding of words."""
        if not self.runs:
            return Meanings(self.own.new_zeros(0, self.size + self.own.shape[1]))
        vectors = self.vectors(embedding)
        if self.training and self.env_dropout:
            kept = torch.rand(len(vectors), 1) >= self.env_dropout
            vectors = vectors * kept / (1 - self.env_dropout)
        parts = [vectors[a:b] for a, b in self.runs]
        seen = torch.cat([look(part) for look, part in zip(self.things, parts, strict=True)])
        said = torch.cat([part * say for part, say in zip(parts, self.say, strict=True)])
        return Meanings(torch.cat([seen, said], dim=1))

    def pooled(self, features: Tensor, meanings: Meanings) -> Tensor:
        """(rows, size + word) what the features that are there mean together."""
        some = features[:32]
        if int(some.count_nonzero()) > MOSTLY_NOTHING * some.numel():
            return features @ meanings.looks
        together: Tensor = _Together.apply(features, meanings.looks)  # type: ignore[no-untyped-call]
        return together

    def forward(self, pooled: Tensor, geometry: Tensor) -> Tensor:
        """(rows, size)"""
        whole: Tensor = self.norm((self.leads(geometry) + self.things_norm(pooled[:, : self.size])).relu())
        return whole

    def spoken(self, pooled: Tensor) -> Tensor:
        """(rows, word) all that is seen as one vector among those of words."""
        return pooled[:, self.size :]


class _Together(torch.autograd.Function):
    """The product of features (rows, features) that are mostly 0 with a matrix, whose gradient alone is wanted.

    To find them by torch and sum them as a bag of embeddings took three times as long.
    """

    @staticmethod
    def forward(ctx: Any, features: Tensor, looks: Tensor) -> Tensor:
        rows, columns, amounts = (torch.from_numpy(part) for part in there(features.numpy()))
        ctx.save_for_backward(rows, columns, amounts)
        ctx.features = len(looks)
        return _gathered(looks, columns, rows, amounts, len(features))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        rows, columns, amounts = ctx.saved_tensors
        return None, _gathered(gradients[0], rows, columns, amounts, ctx.features)


def _gathered(values: Tensor, taken: Tensor, given: Tensor, amounts: Tensor, rows: int) -> Tensor:
    """(rows, …) to each row that is given something, so much of the values that are taken."""
    found = torch.zeros(rows, values.shape[1])
    add(values.detach().contiguous().numpy(), taken.numpy(), given.numpy(), amounts.numpy(), found.numpy())
    return found
