"""Encoders of observations: features of views and geometry in, vectors out; and attention over them.

Features may have names ("sofa", "to kitchen", "share of door"). The vector of a named feature starts as the mean of
the embeddings of the words in its name, so that language and vision share a space from the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, pad

from itinera.errors import BadArgument
from itinera.policies._kernels import add_scaled_rows, nonzero_entries
from itinera.policies.observation import ANGLE_DIM, GEOMETRY_DIM, BatchObservation, pad_rows
from itinera.policies.tokenizer import Tokenizer, tokenize
from itinera.simulators.view_features import feature_kind

MAX_DENSITY = 1 / 16  # share of nonzero features up to which the sparse product is used
GEOMETRY_HIDDEN_DIM = 64


def masked_attention(scores: Tensor, mask: Tensor, values: Tensor) -> Tensor:
    """(batch, d) values (batch, n, d) weighted by the softmax of scores (batch, n) where the mask is True.

    A row without any True gives zeros.
    """
    weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim=1) * mask
    return torch.bmm(weights[:, None], values).squeeze(1)


class SoftDotAttention(nn.Module):
    """Dot-product attention of one query; the query is projected to the dimension of the keys, keys are not."""

    def __init__(self, query_dim: int, key_dim: int) -> None:
        super().__init__()
        self.query = nn.Linear(query_dim, key_dim, bias=False)
        self.key_dim = key_dim
        self.scale = key_dim**-0.5

    def forward(self, query: Tensor, keys: Tensor, mask: Tensor, values: Tensor) -> Tensor:
        # For one query, a product and a sum take a third of the time of a batched matrix product with its transpose.
        scores = (self.query(query)[:, None] * keys).sum(dim=2) * self.scale
        return masked_attention(scores, mask, values)


def group_features(columns: Sequence[str]) -> list[tuple[int, int]]:
    """First and last (exclusive) column of each run of features of one kind.

    >>> group_features(["sofa", "bed", "to kitchen", "to hallway"])
    [(0, 2), (2, 4)]
    """
    kinds = [feature_kind(column) for column in columns]
    starts = [k for k in range(len(kinds)) if k == 0 or kinds[k] != kinds[k - 1]]
    return list(pairwise([*starts, len(kinds)]))


def encode_feature_names(columns: Sequence[str], tokenizer: Tokenizer) -> list[list[int]]:
    """For each feature, the ids of the words of its name that are in the vocabulary."""
    names = [column.removeprefix(feature_kind(column)) for column in columns]
    return [[tokenizer.index[word] for word in tokenize(name) if word in tokenizer.index] for name in names]


@dataclass(frozen=True, eq=False)
class FeatureEmbeddings:
    """A vector per feature, the same for all steps of a rollout."""

    vectors: Tensor  # (features, visual_dim + word_dim): its visual part, and its part in the space of words


class VisualEncoder(nn.Module):
    """Encodes features of views and geometry as vectors.

    Each feature has a vector in the space of word embeddings; a matrix per kind of feature projects it to the visual
    space. This is done once per rollout, so that encoding a view is a sum over its nonzero features, which are few for
    annotations.

    `env_dropout` is the share of features dropped for a whole rollout, the same ones in all views, steps and agents, as
    if the environment did not contain them (Tan et al. 2019, Learning to Navigate Unseen Environments).
    """

    def __init__(
        self, columns: Sequence[str], tokenizer: Tokenizer, *, word_dim: int, visual_dim: int, env_dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.groups = group_features(columns)
        self.visual_dim, self.env_dropout = visual_dim, env_dropout
        name_ids = encode_feature_names(columns, tokenizer)
        # Counted without tensors, so that the shapes of a model can be computed without memory for it (device "meta").
        starts = list(accumulate(map(len, name_ids), initial=0))[: len(name_ids)]
        flat_ids = torch.tensor([token_id for ids in name_ids for token_id in ids], dtype=torch.int64)
        self.register_buffer("name_ids", flat_ids, persistent=False)
        self.register_buffer("name_starts", torch.tensor(starts, dtype=torch.int64), persistent=False)
        self.offsets = nn.Parameter(torch.zeros(len(columns), word_dim))  # added to the mean of the name's words
        unnamed = [k for k, ids in enumerate(name_ids) if not ids]
        with torch.no_grad():
            self.offsets[unnamed] = torch.randn(len(unnamed), word_dim) * 0.1
        self.projections = nn.ModuleList(nn.Linear(word_dim, visual_dim, bias=False) for _ in self.groups)
        self.word_scales = nn.Parameter(torch.ones(len(self.groups)))
        self.feature_norm = nn.LayerNorm(visual_dim)
        # A branch of its own, or the few numbers of the geometry would be lost among hundreds of features.
        self.geometry_mlp = nn.Sequential(
            nn.Linear(GEOMETRY_DIM, GEOMETRY_HIDDEN_DIM), nn.ReLU(), nn.Linear(GEOMETRY_HIDDEN_DIM, visual_dim)
        )
        self.output_norm = nn.LayerNorm(visual_dim)

    name_ids: Tensor
    name_starts: Tensor

    def feature_vectors(self, embedding: Tensor) -> Tensor:
        """(features, word_dim) each feature in the space of words, whose embedding is (words, word_dim)."""
        return embedding_bag(self.name_ids, embedding, self.name_starts, mode="mean") + self.offsets

    def embed_features(self, embedding: Tensor) -> FeatureEmbeddings:
        """The embedding of every feature, from the embedding of words."""
        if not self.groups:
            return FeatureEmbeddings(self.offsets.new_zeros(0, self.visual_dim + self.offsets.shape[1]))
        vectors = self.feature_vectors(embedding)
        if self.training and self.env_dropout:
            keep = torch.rand(len(vectors), 1, device=vectors.device) >= self.env_dropout
            vectors = vectors * keep / (1 - self.env_dropout)
        parts = [vectors[a:b] for a, b in self.groups]
        visual = torch.cat([project(part) for project, part in zip(self.projections, parts, strict=True)])
        verbal = torch.cat([part * scale for part, scale in zip(parts, self.word_scales, strict=True)])
        return FeatureEmbeddings(torch.cat([visual, verbal], dim=1))

    def pool(self, features: Tensor, embeddings: FeatureEmbeddings) -> Tensor:
        """(rows, visual_dim + word_dim) the sum of the embeddings of the features of each row, weighted by them."""
        sample = features[:32]
        if features.device.type != "cpu" or int(sample.count_nonzero()) > MAX_DENSITY * sample.numel():
            return features @ embeddings.vectors
        pooled: Tensor = _SparseProduct.apply(features, embeddings.vectors)  # type: ignore[no-untyped-call]
        return pooled

    def forward(self, pooled: Tensor, geometry: Tensor) -> Tensor:
        """(rows, visual_dim) from pooled features and geometry."""
        visual = self.feature_norm(pooled[:, : self.visual_dim])
        encoded: Tensor = self.output_norm((self.geometry_mlp(geometry) + visual).relu())
        return encoded

    def word_part(self, pooled: Tensor) -> Tensor:
        """(rows, word_dim) the part of pooled features in the space of words."""
        return pooled[:, self.visual_dim :]


class _SparseProduct(torch.autograd.Function):
    """The product of a mostly zero matrix (rows, features), which needs no gradient, with a dense one, which does.

    Finding the entries with torch and summing them by `embedding_bag` took three times as long.
    """

    @staticmethod
    def forward(ctx: Any, features: Tensor, vectors: Tensor) -> Tensor:
        rows, columns, weights = (torch.from_numpy(part) for part in nonzero_entries(features.numpy()))
        ctx.save_for_backward(rows, columns, weights)
        ctx.num_features = len(vectors)
        return _scatter_sum(vectors, columns, rows, weights, len(features))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        rows, columns, weights = ctx.saved_tensors
        return None, _scatter_sum(gradients[0], rows, columns, weights, ctx.num_features)


def _scatter_sum(values: Tensor, source: Tensor, target: Tensor, weights: Tensor, rows: int) -> Tensor:
    """(rows, …) for each target row the weighted sum of its source rows."""
    sums = torch.zeros(rows, values.shape[1], device=values.device)
    add_scaled_rows(values.detach().contiguous().numpy(), source.numpy(), target.numpy(), weights.numpy(), sums.numpy())
    return sums


@dataclass(frozen=True, eq=False)
class EncodedObservation:
    """An observation as vectors."""

    candidates: Tensor  # (rows, visual_dim) packed as in `BatchObservation`
    place: Tensor  # (batch, visual_dim)
    previous: Tensor  # (batch, visual_dim) the candidate chosen last
    views: Tensor  # (batch, n, visual_dim) what attention goes to
    mask: Tensor  # (batch, n) False for padding
    owner_index: Tensor  # (rows,) the agent each candidate belongs to
    pooled: Tensor  # (rows + batch, …) candidates and places before geometry is added


def encode_observation(
    encoder: VisualEncoder,
    embeddings: FeatureEmbeddings,
    observation: BatchObservation,
    *,
    use_panorama: bool,
    feature_mask: Tensor | None = None,
) -> EncodedObservation:
    """The encoded candidates, place, previous candidate and views of an observation.

    The views are all 36 with `use_panorama`, otherwise the place and its candidates. `feature_mask` (batch, features)
    multiplies the features of each agent: feature dropout.
    """
    rows, batch_size = len(observation.candidates), observation.batch_size
    owner_index = observation.owner_index
    each = torch.arange(batch_size, device=owner_index.device)
    features = [observation.candidates, observation.place, observation.previous]
    owners = [owner_index, each, each]
    geometry = [observation.geometry, observation.place_geometry, observation.previous_geometry]
    if use_panorama:
        panorama, view_angles = require_panorama(observation)
        features.append(panorama.flatten(0, 1))
        owners.append(each.repeat_interleave(panorama.shape[1]))
        geometry.append(pad(view_angles.flatten(0, 1), (0, GEOMETRY_DIM - ANGLE_DIM)))
    packed = torch.cat(features)
    if feature_mask is not None:
        packed = packed * feature_mask.index_select(0, torch.cat(owners))
    pooled = encoder.pool(packed, embeddings)
    encoded, head = encoder(pooled, torch.cat(geometry)), pooled[: rows + batch_size]
    sizes = [rows, batch_size, batch_size, len(encoded) - rows - 2 * batch_size]
    candidates, place, previous, views = encoded.split(sizes)
    if use_panorama:
        views = views.reshape(batch_size, -1, views.shape[1])
        mask = observation.mask.new_ones(views.shape[:2])
        return EncodedObservation(candidates, place, previous, views, mask, owner_index, head)
    views = torch.cat([place[:, None], pad_rows(candidates, observation.padded_index)], dim=1)
    mask = torch.cat([observation.mask.new_ones(batch_size, 1), observation.mask], dim=1)
    return EncodedObservation(candidates, place, previous, views, mask, owner_index, head)


def require_panorama(observation: BatchObservation) -> tuple[Tensor, Tensor]:
    """The panorama of an observation and the angles of its views; raises BadArgument if it has none."""
    if observation.panorama is None or observation.view_angles is None:
        raise BadArgument(
            "This policy uses all 36 views, but the observation contains only the candidates. "
            "Build the environment with panorama=True."
        )
    return observation.panorama, observation.view_angles


def sample_environment(num_features: int, rate: float, rng: torch.Generator) -> Tensor:
    """(features,) environmental dropout: 0 with probability `rate`, else 1 / (1 - rate).

    One sample serves all views, steps and agents, and both the speaker and the listener (Tan et al. 2019).
    """
    return (torch.rand(num_features, generator=rng) >= rate) / (1 - rate)


def mask_features(embeddings: FeatureEmbeddings, environment: Tensor | None) -> FeatureEmbeddings:
    """Embeddings multiplied by a sample of `sample_environment`; None changes nothing."""
    return embeddings if environment is None else FeatureEmbeddings(embeddings.vectors * environment[:, None])
