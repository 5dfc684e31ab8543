"""Learning to segment: frames, the loss, scores, and that a network learns."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from itinera.errors import BadArgument
from itinera.hearth.ground import ground_world
from itinera.policies.checkpoint import ModelCard, build_model
from itinera.policies.segmentation.rednet import RedNet, RedNetConfig
from itinera.policies.segmentation.rgbd_unet import RGBDUNet, RGBDUNetConfig
from itinera.policies.segmentation.semantics import TrueSemantics
from itinera.rendering.camera import Camera, Frame
from itinera.rendering.rasterizer import Rasterizer
from itinera.seeding import generator
from itinera.training.segmentation import (
    SENSOR,
    FrameSampler,
    LabeledFrames,
    LossConfig,
    SegmentationScores,
    batch_loss,
    calibrate_offsets,
    evaluate_segmentation,
    soft_jaccard_loss,
)
from itinera.training.trainer import Schedule, Trainer
from itinera.worlds import NavGraph, World
from itinera.worlds.labels import MAP_CLASSES

SMALL = replace(SENSOR, camera=Camera(64, 64, math.pi / 2))


@pytest.fixture(scope="module")
def house():
    return ground_world(1, 0, radius=0.1)


@pytest.fixture(scope="module")
def sampler(house):
    return FrameSampler({house.id: house}, MAP_CLASSES, sensor=SMALL)


def test_the_same_generator_gives_the_same_batch(sampler):
    a, b, c = (sampler.sample_batch(generator(seed, "batch"), 6) for seed in (0, 0, 1))
    for name in ("rgb", "depth"):
        np.testing.assert_array_equal(getattr(a.frames, name), getattr(b.frames, name))
    np.testing.assert_array_equal(a.labels, b.labels)
    assert a.labels.shape == (6, 64, 64)
    assert (a.labels != c.labels).any()


def test_cameras_are_at_their_height_above_the_floor(house, sampler):
    seen = sampler.sample_world(house.id, generator(0, "poses"), 40)
    rows = np.arange(64) + 0.5 - 32
    heights = SMALL.height - (seen.frames.depth * rows[:, None] / 32).max(axis=(1, 2))
    assert np.median(heights) == pytest.approx(0, abs=0.02)  # the lowest visible point is the floor


def test_labels_of_categories_are_those_of_the_scene(house, sampler):
    seen = sampler.sample_world(house.id, generator(0, "poses"), 10)
    np.testing.assert_array_equal(TrueSemantics()(seen.frames), seen.labels)


def test_other_labels_are_the_names_of_instances(house):
    names = sorted({instance.name for instance in house.instances.values()})
    labels = ("void", *names[::2])
    found = FrameSampler({house.id: house}, labels, sensor=SMALL).sample_world(house.id, generator(0, "poses"), 10)
    raster = Rasterizer(house.mesh)
    rng = generator(0, "poses")
    places = house.space.sample(rng, 10) + np.array([0.0, 0.0, SMALL.height])
    frames = raster.render_many(SMALL.camera, places, rng.uniform(0, 2 * math.pi, 10), channels=("instances",))
    for instance, label in zip(frames.instances.ravel(), found.labels.ravel(), strict=True):
        name = house.instances[instance].name if instance else ""
        assert label == (labels.index(name) if name in labels else 0)


def test_random_colors_change_neither_depth_nor_labels(house, sampler):
    other = FrameSampler({house.id: house}, MAP_CLASSES, sensor=SMALL, randomize=True)
    a, b = (one.sample_world(house.id, generator(0, "poses"), 5) for one in (sampler, other))
    np.testing.assert_array_equal(a.labels, b.labels)
    np.testing.assert_array_equal(a.frames.depth, b.frames.depth)
    assert (a.frames.rgb != b.frames.rgb).mean() > 0.5


def test_half_of_a_batch_is_mirrored_with_its_labels(sampler, monkeypatch):
    seen = []
    sample_world = FrameSampler.sample_world

    def remember(self, *args):
        seen.append(sample_world(self, *args))
        return LabeledFrames(Frame(*(part.copy() for part in seen[-1].frames.channels)), seen[-1].labels.copy())

    monkeypatch.setattr(FrameSampler, "sample_world", remember)
    batch = sampler.sample_batch(generator(0, "batch"), 4)
    depths = seen[-1].frames.depth
    for k in range(4):
        same = [i for i in range(len(depths)) if np.array_equal(depths[i], batch.frames.depth[k])]
        mirrored = [i for i in range(len(depths)) if np.array_equal(depths[i][:, ::-1], batch.frames.depth[k])]
        (i,) = mirrored if k < 2 else same
        flip = slice(None, None, -1 if k < 2 else 1)
        np.testing.assert_array_equal(seen[-1].labels[i][:, flip], batch.labels[k])
        np.testing.assert_array_equal(seen[-1].frames.rgb[i][:, flip], batch.frames.rgb[k])


def test_frames_with_rare_labels_are_preferred(sampler, house):
    plain = sampler.sample_world(house.id, generator(0, "poses"), 400).labels
    chosen = np.concatenate([sampler.sample_batch(generator(k, "batch"), 20).labels for k in range(20)])
    assert (chosen > 0).mean() > 1.1 * (plain > 0).mean()


def test_worlds_without_a_surface_are_refused():
    world = World("graph", NavGraph.from_edges({"a": (0, 0, 0), "b": (1, 0, 0)}, [("a", "b")]))
    with pytest.raises(BadArgument, match="World graph has no mesh or no surface"):
        FrameSampler({"graph": world}, MAP_CLASSES).sample_world("graph", generator(0), 1)


def test_the_soft_jaccard_loss_of_certain_predictions_is_that_of_their_labels():
    truth = torch.tensor([[0, 1, 1, 2]])
    predicted = torch.tensor([[0, 1, 0, 2]])
    logits = 100 * torch.nn.functional.one_hot(predicted, 4).movedim(-1, 1).float()
    # IoU: 1/2, 1/2, 1; label 3 does not occur.
    assert float(soft_jaccard_loss(logits, truth)) == pytest.approx(1 - 2 / 3, abs=1e-6)


def test_weights_of_labels_have_mean_one_over_the_pixels():
    frequencies = np.array([0.9, 0.09, 0.01])
    weights = LossConfig(power=0.5).weights(frequencies).numpy()
    assert weights @ frequencies == pytest.approx(1)
    np.testing.assert_allclose(weights[1:] / weights[0], [math.sqrt(10), math.sqrt(90)], rtol=1e-6)


def test_scores_by_hand():
    # World 1: truth 0 0 0 1 1, found 0 0 1 1 0. World 2: truth 1 2 2, found 1 2 2. Label 3 never occurs.
    confusion = np.zeros((2, 4, 4), np.int64)
    confusion[0, 0, 0], confusion[0, 0, 1], confusion[0, 1, 1], confusion[0, 1, 0] = 2, 1, 1, 1
    confusion[1, 1, 1], confusion[1, 2, 2] = 1, 2
    scores = SegmentationScores(("void", "a", "b", "c"), confusion)
    np.testing.assert_allclose(scores.iou, [2 / 4, 2 / 4, 1, np.nan])
    np.testing.assert_allclose(scores.recall, [2 / 3, 2 / 3, 1, np.nan])
    np.testing.assert_allclose(scores.precision, [2 / 3, 2 / 3, 1, np.nan])
    found = {name: scores.interval(name) for name in ("mIoU", "object mIoU", "object recall", "accuracy")}
    means = [interval.mean for interval in found.values()]
    assert means == pytest.approx([2 / 3, 3 / 4, 4 / 5, 6 / 8])
    assert all(interval.low <= interval.mean <= interval.high for interval in found.values())


def test_the_truth_scores_everything(house, sampler):
    scores = evaluate_segmentation(TrueSemantics(), sampler, frames_per_world=20)
    found = scores.interval("mIoU")
    assert found.mean == 1.0
    assert math.isnan(found.low)  # one house says nothing about others
    assert scores.confusion.sum() == 20 * 64 * 64


def test_a_small_network_learns_a_house(sampler):
    torch.manual_seed(0)
    sizes = {"dim_2": 16, "dim_4": 16, "dim_8": 16, "dim_16": 16}
    model = build_model(ModelCard("rgbd-unet", sizes, MAP_CLASSES, ()))
    losses, loss = [], LossConfig()
    weights = loss.weights(sampler.frequencies)
    trainer = Trainer(model, Schedule(24, 1e-2, warmup_steps=3), seed=0, name="segmentation")
    for step in trainer:
        batch = sampler.sample_batch(generator(0, "batch", str(step)), 8)
        trainer.update(batch_loss(model.policy, batch, weights, loss))
        with torch.no_grad():
            losses.append(float(batch_loss(model.policy, batch, weights, loss)))
    assert np.mean(losses[-5:]) < 0.75 * np.mean(losses[:3])


def test_offsets_take_back_what_the_weights_of_rare_labels_added(sampler, monkeypatch):
    torch.manual_seed(0)
    network = RGBDUNet(MAP_CLASSES, config=RGBDUNetConfig(dim_2=4, dim_4=4, dim_8=4, dim_16=4))
    bed, house = MAP_CLASSES.index("bed"), next(iter(sampler.worlds))

    def exaggerated(rgb, depth):
        """The true labels, but every third pixel without one looks a little more like a bed."""
        truth = sampler.sample_world(house, generator(0, "calibration", house), 6).labels[:, ::2, ::2]
        logits = np.moveaxis(np.eye(len(MAP_CLASSES))[truth], -1, 1)
        logits[:, bed, :, ::3] += 1.1 * (truth == 0)[:, :, ::3]
        return torch.from_numpy(logits).float()

    monkeypatch.setattr(network, "coarse_logits", exaggerated)
    before = exaggerated(None, None).numpy()
    offsets = calibrate_offsets(network, sampler, frames_per_world=6)
    after = before + offsets[:, None, None]
    truth = sampler.sample_world(house, generator(0, "calibration", house), 6).labels[:, ::2, ::2]
    assert (before.argmax(axis=1) != truth).mean() > 0.2
    np.testing.assert_array_equal(after.argmax(axis=1), truth)


def test_rednet_learns_at_all_its_resolutions(sampler):
    torch.manual_seed(0)
    network = RedNet(MAP_CLASSES, config=RedNetConfig(width=2)).train()
    batch = sampler.sample_batch(generator(0, "batch"), 2)
    batch_loss(network, batch, torch.ones(len(MAP_CLASSES)), LossConfig()).backward()
    assert all(parameter.grad is not None for parameter in network.parameters())
