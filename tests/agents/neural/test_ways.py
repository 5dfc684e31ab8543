from __future__ import annotations

import torch

from itinera.agents.neural.seen import GEOMETRY
from itinera.agents.neural.vocabulary import Vocabulary
from itinera.agents.neural.ways import WayEncoder, kind_of, known_words, runs_of

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
    vectors = encoder.meanings(words).vectors
    torch.testing.assert_close(vectors[0], words[VOCABULARY.index["sofa"]])
    torch.testing.assert_close(vectors[2], vectors[3])
    assert vectors[4].abs().sum() > 0  # of its own, as nothing is known of its name


def test_what_is_seen_is_pooled_by_kind():
    encoder, words = WayEncoder(COLUMNS, VOCABULARY, word=5, size=8), torch.randn(len(VOCABULARY), 5)
    meanings = encoder.meanings(words)
    features = torch.rand(3, len(COLUMNS))
    pooled = encoder.pooled(features, meanings)
    assert pooled.shape == (3, 5, 5)
    torch.testing.assert_close(pooled[:, 0], features[:, :2] @ meanings.vectors[:2])
    assert encoder(pooled, torch.rand(3, GEOMETRY)).shape == (3, 8)
    torch.testing.assert_close(encoder.spoken(pooled), pooled.sum(dim=1))


def test_the_environment_is_dropped_for_a_whole_roll_out_in_training_only():
    torch.manual_seed(1)
    encoder = WayEncoder(COLUMNS, VOCABULARY, word=5, size=8, env_dropout=0.5)
    words = torch.randn(len(VOCABULARY), 5)
    whole = encoder.eval().meanings(words).vectors
    assert torch.equal(whole, encoder.meanings(words).vectors)
    dropped = encoder.train().meanings(words).vectors
    gone = ~dropped.any(dim=1)
    assert 0 < gone.sum() < len(COLUMNS)
    torch.testing.assert_close(dropped[~gone], 2 * whole[~gone])


def test_without_features_the_geometry_is_all_there_is():
    encoder = WayEncoder((), VOCABULARY, word=5, size=8)
    meanings = encoder.meanings(torch.randn(len(VOCABULARY), 5))
    pooled = encoder.pooled(torch.zeros(3, 0), meanings)
    assert encoder(pooled, torch.rand(3, GEOMETRY)).shape == (3, 8)
    assert encoder.spoken(pooled).tolist() == [[0.0] * 5] * 3
