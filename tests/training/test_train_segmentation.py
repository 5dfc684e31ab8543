"""`itinera.train_segmentation`: one call from worlds to a model file, resumable, and refused in words."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import itinera
from itinera.errors import BadArgument
from itinera.hearth.ground import ground_world
from itinera.policies.checkpoint import read_model
from itinera.policies.segmentation.semantics import load_semantics
from itinera.rendering.camera import Camera
from itinera.seeding import generator
from itinera.training import train_segmentation as module
from itinera.training.segmentation import SENSOR, FrameSampler
from itinera.training.train_segmentation import STEPS_PER_MINUTE, SegmentationOptions, train_segmentation
from itinera.worlds.labels import MAP_CLASSES

TINY = replace(SENSOR, camera=Camera(32, 32, math.pi / 2))


@pytest.fixture(scope="module")
def house():
    return ground_world(1, 0, radius=0.1)


@pytest.fixture
def train(house, tmp_path):
    """Train on small images for a few steps."""

    def run(name="model", *, steps=3, batch_size=4, **options):
        settings = SegmentationOptions(steps, batch_size=batch_size, calibration_frames=2)
        out = tmp_path / f"{name}.safetensors"
        return train_segmentation({house.id: house}, MAP_CLASSES, settings, sensor=TINY, out=out, **options)

    return run


def weights(path):
    return {name: tensor.numpy() for name, tensor in read_model(path).model.policy.state_dict().items()}


def test_a_trained_model_labels_frames_and_is_a_source_of_semantics(house, train, tmp_path):
    losses = []
    trained = train(progress=lambda progress: losses.append(progress.loss))
    assert len(losses) == 3
    assert all(map(math.isfinite, losses))
    frames = FrameSampler({house.id: house}, MAP_CLASSES, sensor=TINY).sample_world(house.id, generator(0, "a"), 2)
    labels = trained(frames.frames)
    assert (labels.shape, trained.labels) == ((2, 32, 32), MAP_CLASSES)
    stored = load_semantics(tmp_path / "model.safetensors")
    assert stored.fingerprint == trained.fingerprint
    np.testing.assert_array_equal(stored(frames.frames), labels)
    assert not (tmp_path / "model.safetensors.partial").exists()
    metadata = read_model(tmp_path / "model.safetensors").model.card.metadata
    assert (metadata["steps"], metadata["camera"]["width"], metadata["camera"]["fov_deg"]) == (3, 32, 90.0)


def test_an_interrupted_training_ends_with_the_same_weights(train, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "Schedule", lambda *args, **more: replace(schedule(*args, **more), checkpoint_every=1))
    train("whole")

    def interrupt(progress):
        if progress.step == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("again", progress=interrupt)
    assert not (tmp_path / "again.safetensors").exists()
    made = []
    train("again", progress=lambda progress: made.append(progress.step))
    assert made in ([2, 3], [3])
    whole, again = (weights(tmp_path / f"{name}.safetensors") for name in ("whole", "again"))
    assert whole.keys() == again.keys()
    for name, values in whole.items():
        np.testing.assert_array_equal(values, again[name])


schedule = module.Schedule


def test_a_finished_training_is_not_repeated_and_another_one_does_not_replace_it(train):
    first, made = train(), []
    again = train(progress=lambda progress: made.append(progress.step))
    assert (again.fingerprint, made) == (first.fingerprint, [])
    with pytest.raises(BadArgument, match="comes from another training run"):
        train(steps=4)
    with pytest.raises(BadArgument, match="comes from another training run"):
        train(seed=1)
    assert train(seed=1, overwrite=True).fingerprint != first.fingerprint


def test_calibration_changes_the_labels_offsets_only(house, train, tmp_path):
    train("plain")
    train("calibrated", calibration={house.id: house})
    plain, calibrated = (weights(tmp_path / f"{name}.safetensors") for name in ("plain", "calibrated"))
    different = [name for name in plain if not np.array_equal(plain[name], calibrated[name])]
    assert len(different) <= 2  # the biases of the last layer
    assert all(name.endswith("bias") for name in different)


def test_the_call_takes_names_minutes_and_ids_of_worlds(house, tmp_path, monkeypatch):
    given = {}

    def note(worlds, labels, options, **more):
        given.update(worlds=list(worlds), labels=labels, options=options, **more)

    monkeypatch.setattr(module, "train_segmentation", note)
    worlds = {"a": house, "b": house}
    itinera.train_segmentation(worlds, tmp_path / "x", labels=["bed"], minutes=2, world_ids=["b"], appearance="day")
    assert (given["worlds"], given["labels"]) == (["b"], ("void", "bed"))
    assert (given["options"].steps, given["sensor"].appearance.mood) == (2 * STEPS_PER_MINUTE, "day")
    itinera.train_segmentation(worlds, tmp_path / "x", steps=5, randomize=True, calibration=worlds, seed=7)
    assert (given["worlds"], given["labels"], given["seed"]) == (["a", "b"], MAP_CLASSES, 7)
    assert (given["options"].randomize, list(given["calibration"])) == (True, ["a", "b"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "steps=… or as minutes=…"),
        ({"steps": 1, "minutes": 1}, "steps=… or as minutes=…"),
        ({"steps": 0}, r"steps must be ≥ 1 \(got 0\)"),
        ({"steps": 1, "labels": "beds"}, "map"),
        ({"steps": 1, "labels": []}, "2 to 256 labels, void first; got 1"),
        ({"steps": 1, "labels": ["bed", "bed"]}, "Labels must be different"),
        ({"steps": 1, "world_ids": ["c"]}, "World c is not among"),
    ],
)
def test_what_cannot_be_trained_is_refused(house, tmp_path, options, message):
    with pytest.raises(BadArgument, match=message):
        itinera.train_segmentation({"a": house}, tmp_path / "x.safetensors", **options)
