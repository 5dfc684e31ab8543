from __future__ import annotations

import pytest
import torch

from itinera.policies.encoders import Meanings, WayEncoder, kind_of, known_words, runs_of
from itinera.policies.observation import GEOMETRY
from itinera.policies.tokenizer import Vocabulary

COLUMNS = ("sofa", "dining table", "in kitchen", "to kitchen", "to xyz", "towards sofa", "share of door")
VOCABULARY = Vocabulary(("table", "sofa", "kitchen", "to"))


def test_names_tell_kinds_and_words():
    assert [kind_of(name) for name in COLUMNS] == ["", "", "in", "to", "to", "towards", "share of"]
    assert runs_of(COLUMNS) == [(0, 2), (2, 3), (3, 5), (5, 6), (6, 7)]
    assert runs_of([]) == []
    index = VOCABULARY.index
    said = [["sofa"], ["table"], ["kitchen"], ["kitchen"], [], ["sofa"], []]
    assert known_words(COLUMNS, VOCABULARY) == [[index[word] for word in words] for words in said]


def test_a_feature_means_the_words_of_its_name_at_first():
    torch.manual_seed(0)
    encoder, words = WayEncoder(COLUMNS, VOCABULARY, word=5, size=8), torch.randn(len(VOCABULARY), 5)
    vectors = encoder.vectors(words)
    torch.testing.assert_close(vectors[0], words[VOCABULARY.index["sofa"]])
    torch.testing.assert_close(vectors[2], vectors[3])
    assert vectors[4].abs().sum() > 0  # of its own, as nothing is known of its name


def test_what_is_seen_is_what_each_kind_makes_of_its_features():
    torch.manual_seed(0)
    encoder, words = WayEncoder(COLUMNS, VOCABULARY, word=5, size=8), torch.randn(len(VOCABULARY), 5)
    with torch.no_grad():
        encoder.say.copy_(torch.rand(5))
    vectors, features = encoder.vectors(words), torch.rand(3, len(COLUMNS))
    pooled = encoder.pooled(features, encoder.meanings(words))
    seen, said = torch.zeros(3, 8), torch.zeros(3, 5)
    for kind, (a, b) in enumerate(encoder.runs):
        found = features[:, a:b] @ vectors[a:b]
        seen, said = seen + encoder.things[kind](found), said + encoder.say[kind] * found
    torch.testing.assert_close(pooled[:, :8], seen)
    torch.testing.assert_close(encoder.spoken(pooled), said)
    assert encoder(pooled, torch.rand(3, GEOMETRY)).shape == (3, 8)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5])
def test_features_that_are_not_there_are_left_out_of_the_sum(share):
    torch.manual_seed(0)
    columns = tuple(f"thing {k}" for k in range(200))
    encoder = WayEncoder(columns, VOCABULARY, word=5, size=8)
    features = torch.rand(60, 200) * (torch.rand(60, 200) < share)
    looks = torch.randn(200, 13, requires_grad=True)
    pooled = encoder.pooled(features, Meanings(looks))
    torch.testing.assert_close(pooled, features @ looks)
    pooled.pow(2).sum().backward()
    torch.testing.assert_close(looks.grad, 2 * features.T @ pooled.detach())


def test_the_environment_is_dropped_for_a_whole_roll_out_in_training_only():
    torch.manual_seed(1)
    encoder = WayEncoder(COLUMNS, VOCABULARY, word=5, size=8, env_dropout=0.5)
    words = torch.randn(len(VOCABULARY), 5)
    whole = encoder.eval().meanings(words).looks
    assert torch.equal(whole, encoder.meanings(words).looks)
    dropped = encoder.train().meanings(words).looks
    gone = ~dropped.any(dim=1)
    assert 0 < gone.sum() < len(COLUMNS)
    torch.testing.assert_close(dropped[~gone], 2 * whole[~gone])


def test_without_features_the_geometry_is_all_there_is():
    encoder = WayEncoder((), VOCABULARY, word=5, size=8)
    meanings = encoder.meanings(torch.randn(len(VOCABULARY), 5))
    pooled = encoder.pooled(torch.zeros(3, 0), meanings)
    assert encoder(pooled, torch.rand(3, GEOMETRY)).shape == (3, 8)
    assert encoder.spoken(pooled).tolist() == [[0.0] * 5] * 3
