"""The room classifier: its model file, and that it learns what things are in which room."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.policies.checkpoint import ModelCard, build_model, encode_model, read_model
from itinera.policies.room_classifier import load_room_classifier
from itinera.simulators.inferred_views import room_features
from itinera.simulators.views_at import NUM_ROOMS
from itinera.training.rooms import RoomSamples, join_samples, score_room_classifier, train_room_classifier
from itinera.training.trainer import Schedule, seed_torch

NAMES = ("bed", "stove", "sofa")
ROOMS = {"bed": 3, "stove": 10, "sofa": 12}  # any three types


def places(rng: np.random.Generator, panoramas: int) -> RoomSamples:
    """Observers with two places around them, each beside the thing of its room."""
    parts = []
    for _ in range(panoramas):
        things = rng.choice(NAMES, 3)
        distances = np.full((3, len(NAMES)), 6.0)
        distances[np.arange(3), [NAMES.index(thing) for thing in things]] = rng.uniform(0.3, 1.5, 3)
        offsets = np.array([[0, 0, 0], [2.0, 0, 0], [0, 2.0, 0]])
        labels = np.array([ROOMS[thing] for thing in things])
        features = room_features(distances, offsets)
        parts.append(RoomSamples(features, labels, things == things[0], np.zeros(3, dtype=np.int64)))
    return join_samples(parts)


def untrained():
    seed_torch(0, "rooms")
    return build_model(ModelCard("room-classifier", {}, NAMES, ()))


def test_joined_samples_keep_the_observer_of_every_place():
    joined = places(np.random.default_rng(0), 4)
    assert joined.observers.tolist() == [0, 0, 0, 3, 3, 3, 6, 6, 6, 9, 9, 9]
    assert joined.same[joined.observers == np.arange(12)].all()


def test_a_classifier_learns_rooms_and_whether_they_are_the_same():
    rng = np.random.default_rng(1)
    training, held_out = places(rng, 400), places(rng, 100)
    before = score_room_classifier(untrained(), held_out)
    model = train_room_classifier(untrained(), training, Schedule(steps=350, learning_rate=5e-3), seed=0)
    after = score_room_classifier(model, held_out)
    assert before.here < 0.6
    assert min(after.here, after.elsewhere, after.other_room) > 0.95
    assert after.same > 0.85 > before.same


def test_a_model_file_classifies_as_the_model_did(tmp_path):
    model, file = untrained(), tmp_path / "rooms.safetensors"
    file.write_bytes(encode_model(model))
    features = places(np.random.default_rng(2), 1).features
    model.policy.eval()
    for found, expected in zip(
        load_room_classifier(file).classify(features), model.policy.classify(features), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    assert not hasattr(read_model(file).model.policy, "encode_instruction")


def test_the_model_that_comes_with_itinera_knows_a_bedroom_from_a_kitchen():
    classifier = load_room_classifier()
    assert len(classifier.names) > 100
    distances = np.full((2, len(classifier.names)), np.inf)
    for row, names in enumerate((("bed", "wardrobe", "pillow"), ("stove", "fridge", "sink", "oven"))):
        for name in set(names) & set(classifier.names):
            distances[row, classifier.names.index(name)] = 1.0
    rooms, same = classifier.classify(room_features(distances, np.array([[0, 0, 0], [2.0, 0, 0]])))
    assert rooms.shape == (2, NUM_ROOMS)
    assert rooms.sum(axis=1) == pytest.approx(1)
    assert rooms[0].argmax() != rooms[1].argmax()
    assert same[0] > same[1]
