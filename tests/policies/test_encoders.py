"""Encoders of observations: features with names, sparse sums, environmental and feature dropout."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from itinera.errors import BadArgument
from itinera.policies.encoders import (
    FeatureEmbeddings,
    VisualEncoder,
    encode_feature_names,
    encode_observation,
    group_features,
    mask_features,
    masked_attention,
    sample_environment,
)
from itinera.policies.observation import GEOMETRY_DIM
from itinera.policies.tokenizer import Tokenizer
from text_worlds import episode, world
from training.small_models import COLUMNS, WORDS, tiny_data

NAMES = ("sofa", "dining table", "in kitchen", "to kitchen", "to xyz", "towards sofa", "share of door")
TOKENIZER = Tokenizer(("table", "sofa", "kitchen", "to"))
PLACE = tiny_data({"house": world("a-b-c\n  |\n  d")}, [episode("1", "abc"), episode("2", "db")], panorama=True)


def named_encoder(columns=NAMES, **options) -> VisualEncoder:
    torch.manual_seed(0)
    return VisualEncoder(columns, TOKENIZER, word_dim=5, visual_dim=8, **options)


def test_a_row_without_keys_attends_to_nothing():
    scores, values = torch.randn(2, 3), torch.randn(2, 3, 4)
    mask = torch.tensor([[True, False, True], [False] * 3])
    found = masked_attention(scores, mask, values)
    torch.testing.assert_close(found[0], scores[0, [0, 2]].softmax(0) @ values[0, [0, 2]])
    assert not found[1].any()


def test_features_are_grouped_by_kind_and_named_by_words():
    assert group_features(NAMES) == [(0, 2), (2, 3), (3, 5), (5, 6), (6, 7)]
    assert group_features([]) == []
    words = [["sofa"], ["table"], ["kitchen"], ["kitchen"], [], ["sofa"], []]
    assert encode_feature_names(NAMES, TOKENIZER) == [[TOKENIZER.index[word] for word in row] for row in words]


def test_the_vector_of_a_feature_starts_as_the_words_of_its_name():
    encoder, words = named_encoder(), torch.randn(len(TOKENIZER), 5)
    vectors = encoder.feature_vectors(words)
    torch.testing.assert_close(vectors[0], words[TOKENIZER.index["sofa"]])
    torch.testing.assert_close(vectors[2], vectors[3])
    assert vectors[4].abs().sum() > 0  # random, because its name has no known word


def test_pooling_is_the_sum_over_the_projections_of_each_kind():
    encoder, words = named_encoder(), torch.randn(len(TOKENIZER), 5)
    with torch.no_grad():
        encoder.word_scales.copy_(torch.rand(5))
    vectors, features = encoder.feature_vectors(words), torch.rand(3, len(NAMES))
    pooled = encoder.pool(features, encoder.embed_features(words))
    visual, verbal = torch.zeros(3, 8), torch.zeros(3, 5)
    for kind, (a, b) in enumerate(encoder.groups):
        part = features[:, a:b] @ vectors[a:b]
        visual, verbal = visual + encoder.projections[kind](part), verbal + encoder.word_scales[kind] * part
    torch.testing.assert_close(pooled[:, :8], visual)
    torch.testing.assert_close(encoder.word_part(pooled), verbal)
    assert encoder(pooled, torch.rand(3, GEOMETRY_DIM)).shape == (3, 8)


@pytest.mark.parametrize("density", [0.0, 0.05, 0.5])
def test_the_sparse_product_is_the_dense_one(density):
    encoder = named_encoder(tuple(f"thing {k}" for k in range(200)))
    features = torch.rand(60, 200) * (torch.rand(60, 200) < density)
    vectors = torch.randn(200, 13, requires_grad=True)
    pooled = encoder.pool(features, FeatureEmbeddings(vectors))
    torch.testing.assert_close(pooled, features @ vectors)
    pooled.pow(2).sum().backward()
    torch.testing.assert_close(vectors.grad, 2 * features.T @ pooled.detach())


def test_environmental_dropout_lasts_a_rollout_and_is_for_training_only():
    torch.manual_seed(1)
    encoder = VisualEncoder(NAMES, TOKENIZER, word_dim=5, visual_dim=8, env_dropout=0.5)
    words = torch.randn(len(TOKENIZER), 5)
    full = encoder.eval().embed_features(words).vectors
    assert torch.equal(full, encoder.embed_features(words).vectors)
    dropped = encoder.train().embed_features(words).vectors
    gone = ~dropped.any(dim=1)
    assert 0 < gone.sum() < len(NAMES)
    torch.testing.assert_close(dropped[~gone], 2 * full[~gone])


def test_without_features_there_is_only_geometry():
    encoder = named_encoder(())
    embeddings = encoder.embed_features(torch.randn(len(TOKENIZER), 5))
    pooled = encoder.pool(torch.zeros(3, 0), embeddings)
    assert encoder(pooled, torch.rand(3, GEOMETRY_DIM)).shape == (3, 8)
    assert encoder.word_part(pooled).tolist() == [[0.0] * 5] * 3


def observe_at(*nodes: str):
    env = PLACE.env
    node = torch.tensor([env.node_index["house", name] for name in nodes])
    return env.observe(env.reset(node, torch.full((len(nodes),), 14)))


def make_encoder() -> VisualEncoder:
    torch.manual_seed(0)
    return VisualEncoder(COLUMNS, Tokenizer(WORDS), word_dim=4, visual_dim=6)


def embed(encoder: VisualEncoder) -> FeatureEmbeddings:
    return encoder.embed_features(torch.ones(len(Tokenizer(WORDS)), 4))


def test_attention_goes_to_the_place_and_its_candidates_or_to_all_views():
    encoder, observation = make_encoder(), observe_at("a", "b")
    near = encode_observation(encoder, embed(encoder), observation, use_panorama=False)
    assert near.mask.tolist() == [[True, True, False, False], [True] * 4]
    torch.testing.assert_close(near.views[:, 0], near.place)
    torch.testing.assert_close(near.views[1, 1:], near.candidates[1:])
    assert near.owner_index.tolist() == [0, 1, 1, 1]
    panorama = encode_observation(encoder, embed(encoder), observation, use_panorama=True)
    assert panorama.views.shape == (2, 36, 6)
    assert bool(panorama.mask.all())
    torch.testing.assert_close(panorama.candidates, near.candidates)


def test_a_missing_panorama_is_an_error():
    encoder, observation = make_encoder(), replace(observe_at("a"), panorama=None)
    with pytest.raises(BadArgument, match=r"uses all 36 views, but the observation contains only .* panorama=True"):
        encode_observation(encoder, embed(encoder), observation, use_panorama=True)


@pytest.mark.parametrize("panorama", [False, True])
def test_feature_dropout_is_per_agent_and_never_of_angles(panorama):
    encoder, observation = make_encoder(), observe_at("a", "b")
    mask = torch.ones(2, len(COLUMNS))
    mask[0] = 0
    dropped = encode_observation(encoder, embed(encoder), observation, use_panorama=panorama, feature_mask=mask)
    full = encode_observation(encoder, embed(encoder), observation, use_panorama=panorama)
    torch.testing.assert_close(dropped.views[1], full.views[1])
    blind = replace(
        observation,
        candidates=observation.candidates * 0,
        place=observation.place * 0,
        previous=observation.previous * 0,
        panorama=observation.panorama * 0,
    )
    expected = encode_observation(encoder, embed(encoder), blind, use_panorama=panorama)
    torch.testing.assert_close(dropped.views[0], expected.views[0])


def test_an_environment_lacks_a_share_of_features_and_keeps_the_mean():
    environment = sample_environment(20_000, 0.4, torch.Generator().manual_seed(0))
    assert sorted(set(environment.tolist())) == pytest.approx([0, 1 / 0.6])
    assert float(environment.mean()) == pytest.approx(1, abs=0.05)


def test_masked_embeddings_are_masked_features():
    encoder, observation = make_encoder(), observe_at("a", "b")
    mask = torch.tensor([0.0, 2, 0, 2, 2, 0, 2])
    lacking = encode_observation(encoder, mask_features(embed(encoder), mask), observation, use_panorama=False)
    masked = replace(
        observation,
        candidates=observation.candidates * mask,
        place=observation.place * mask,
        previous=observation.previous * mask,
    )
    expected = encode_observation(encoder, embed(encoder), masked, use_panorama=False)
    torch.testing.assert_close(lacking.views, expected.views)
    assert mask_features(embed(encoder), None).vectors.shape == (len(COLUMNS), 10)
