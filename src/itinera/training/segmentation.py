"""Learning to segment: labeled frames from random poses, the loss, and scores by house.

Frames are rendered when they are needed, by a generator for each step, so that nothing is stored and a run that resumes
sees the same frames. Rendering a frame takes a tenth of the time of learning from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from itinera.errors import BadArgument
from itinera.policies.segmentation.labeling import image_tensors
from itinera.policies.segmentation.network import SegmentationNetwork
from itinera.policies.segmentation.rgbd_unet import RGBDUNet
from itinera.policies.segmentation.semantics import SemanticSource, class_table, name_table
from itinera.rendering.camera import Camera, Frame
from itinera.rendering.rasterizer import Rasterizer
from itinera.seeding import generator
from itinera.simulators.sensors import CameraSensor
from itinera.stats.bootstrap import cluster_bootstrap
from itinera.stats.intervals import Interval
from itinera.worlds import World
from itinera.worlds.labels import MPCAT40
from itinera.worlds.surface import Surface

SENSOR = CameraSensor(Camera(128, 128, math.pi / 2))
WORLDS_PER_BATCH = 8
CANDIDATES = 2  # poses rendered for each frame of a training batch; those that show more rare labels are preferred
CALIBRATION_ROUNDS = 2
OFFSETS = (-1.6, -0.8, -0.4, -0.2, 0.0, 0.2, 0.4, 0.8)  # of the logits of a label, tried in a round


@dataclass(frozen=True, eq=False)
class LabeledFrames:
    """Frames with the label of each pixel."""

    frames: Frame  # rgb and depth
    labels: NDArray[np.uint8]  # (n, height, width)


class FrameSampler:
    """Frames from random poses on the surfaces of worlds.

    Labels that are all MPCAT40 categories are looked up by the class of a pixel, others by the name of its instance.
    With `randomize`, every world has random colors and light of its own; depth and labels stay as they are.
    """

    def __init__(
        self,
        worlds: Mapping[str, World],
        labels: Sequence[str],
        *,
        sensor: CameraSensor = SENSOR,
        randomize: bool = False,
    ) -> None:
        self.worlds, self.labels, self.sensor = worlds, tuple(labels), sensor
        self._ids = sorted(worlds)
        self._randomize = randomize
        self._by_class = set(self.labels[1:]) <= set(MPCAT40)
        self._scenes: dict[str, _Scene] = {}

    @cached_property
    def frequencies(self) -> NDArray[np.float64]:
        """(labels,) the share of each label in the pixels of random frames of all worlds, an estimate."""
        counts = np.ones(len(self.labels))
        for world_id in self._ids:
            seen = self.sample_world(world_id, generator(0, "label frequencies", world_id), 40)
            counts += np.bincount(seen.labels.ravel(), minlength=len(counts))
        return np.asarray(counts / counts.sum())

    def sample_world(self, world_id: str, rng: np.random.Generator, count: int) -> LabeledFrames:
        """Frames from poses in one world: places uniform over its largest island, headings uniform."""
        scene = self._scene(world_id)
        places = scene.surface.sample(rng, count) + np.array([0.0, 0.0, self.sensor.height])
        headings = rng.uniform(0, 2 * math.pi, count)
        label_channel = "classes" if self._by_class else "instances"
        frames = scene.raster.render_many(
            self.sensor.camera, places, headings, self.sensor.elevation, channels=("rgb", "depth", label_channel)
        )
        return LabeledFrames(frames, scene.table[getattr(frames, label_channel)])

    def sample_batch(self, rng: np.random.Generator, count: int) -> LabeledFrames:
        """Frames of several worlds for training: half of them mirrored, and those with rare labels preferred."""
        chosen = rng.permutation(len(self._ids))[:WORLDS_PER_BATCH]
        share = -(-count * CANDIDATES // len(chosen))
        parts = [self.sample_world(self._ids[k], rng, share) for k in chosen]
        labels = np.concatenate([part.labels for part in parts])
        kept = _choose_frames(rng, labels, self.frequencies, count)
        rgb, depth = (np.concatenate([getattr(part.frames, name) for part in parts])[kept] for name in ("rgb", "depth"))
        labels = labels[kept]
        flip = slice(0, count // 2)
        for images in (rgb, depth, labels):
            images[flip] = images[flip, :, ::-1].copy()
        return LabeledFrames(Frame(rgb, depth, labels[:0], np.empty(0, np.int32)), labels)

    def _scene(self, world_id: str) -> _Scene:
        if world_id not in self._scenes:
            world = self.worlds[world_id]
            if world.mesh is None or not isinstance(world.space, Surface):
                raise BadArgument(f"World {world_id} has no mesh or no surface, so no frames can be rendered in it.")
            appearance = self.sensor.appearance
            if self._randomize:
                appearance = replace(appearance, randomize=int(generator(0, "appearance", world_id).integers(1 << 31)))
            table = class_table(self.labels) if self._by_class else _instance_table(world, self.labels)
            self._scenes[world_id] = _Scene(world.space, Rasterizer(world.mesh, appearance=appearance), table)
        return self._scenes[world_id]


@dataclass(frozen=True, eq=False)
class _Scene:
    surface: Surface
    raster: Rasterizer
    table: NDArray[np.uint8]  # the label of each class, or of each instance


def _instance_table(world: World, labels: Sequence[str]) -> NDArray[np.uint8]:
    table = np.zeros(max(world.instances, default=0) + 1, np.uint8)
    names = [instance.name for instance in world.instances.values()]
    table[list(world.instances)] = name_table(names, labels)
    return table


def _choose_frames(
    rng: np.random.Generator, labels: NDArray[np.uint8], frequencies: NDArray[np.float64], count: int
) -> NDArray[np.int64]:
    """Indices of `count` frames, drawn without replacement with probabilities that grow with rare labels."""
    n = len(labels)
    pixels = np.zeros((n, len(frequencies)))
    np.add.at(pixels, (np.arange(n)[:, None], labels.reshape(n, -1)[:, ::7]), 1)
    shares = np.sqrt(pixels / pixels.sum(axis=1, keepdims=True))
    weights = 0.1 + shares[:, 1:] @ _balance(frequencies)[1:]
    chosen: NDArray[np.int64] = np.argsort(rng.exponential(size=n) / weights)[:count]
    return chosen


def _balance(frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
    """(labels,) one over the square root of the frequency, 1 for the median label, at most 3."""
    roots = 1 / np.sqrt(frequencies)
    return np.minimum(roots / np.median(roots), 3.0)


# Loss


def segmentation_loss(logits: Tensor, labels: Tensor, weights: Tensor, *, jaccard: float) -> Tensor:
    """Weighted cross-entropy of logits (n, labels, …) plus `jaccard` times the soft Jaccard loss."""
    loss = cross_entropy(logits, labels, weights)
    return loss + jaccard * soft_jaccard_loss(logits, labels) if jaccard > 0 else loss


def soft_jaccard_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """One minus the mean over the labels that occur of intersection over union, with probabilities for memberships."""
    probabilities = logits.softmax(dim=1)
    total = probabilities.movedim(1, 0).flatten(1).sum(dim=1)
    own, truth = probabilities.gather(1, labels[:, None]).flatten(), labels.flatten()
    both = torch.zeros_like(total).index_add(0, truth, own)
    size = torch.zeros_like(total).index_add(0, truth, torch.ones_like(own))
    return 1 - (both / (total + size - both).clamp_min(1e-6))[size > 0].mean()


@dataclass(frozen=True)
class LossConfig:
    """How the loss weighs labels."""

    power: float = 0.4  # a label's weight in the cross-entropy is its frequency to minus this
    jaccard: float = 1.0  # weight of the soft Jaccard loss

    def weights(self, frequencies: NDArray[np.float64]) -> Tensor:
        """(labels,) with mean 1 over the pixels."""
        raw = frequencies**-self.power
        return torch.from_numpy(raw / (raw * frequencies).sum()).float()


def batch_loss(network: SegmentationNetwork, batch: LabeledFrames, weights: Tensor, config: LossConfig) -> Tensor:
    """The loss of a network in training mode on labeled frames: the mean over the resolutions it predicts."""
    device = weights.device
    rgb, depth, labels = (
        torch.from_numpy(part).to(device) for part in (batch.frames.rgb, batch.frames.depth, batch.labels)
    )
    images = image_tensors(rgb, depth)
    outputs = network.coarse_logits(*images) if isinstance(network, RGBDUNet) else network(*images)
    scales = outputs if isinstance(outputs, tuple) else (outputs,)
    return torch.stack([_scaled_loss(logits, labels.long(), weights, config) for logits in scales]).mean()


def _scaled_loss(logits: Tensor, labels: Tensor, weights: Tensor, config: LossConfig) -> Tensor:
    step = labels.shape[-1] // logits.shape[-1]
    return segmentation_loss(logits, labels[:, ::step, ::step], weights, jaccard=config.jaccard)


# Calibration


def calibrate_offsets(network: RGBDUNet, sampler: FrameSampler, *, frames_per_world: int) -> NDArray[np.float64]:
    """(labels,) what to add to the logits for the best mIoU on frames of the sampler's worlds, found label by label.

    The loss weighs rare labels up, and training frames prefer them, so a network predicts them too often. The worlds
    should be others than those of the training, in which a network is too certain.
    """
    logits, truth = _collect_logits(network, sampler, frames_per_world)
    offsets = np.zeros(len(logits))
    for _ in range(CALIBRATION_ROUNDS):
        for label in range(len(logits)):
            offsets[label] += _best_offset(logits + offsets[:, None].astype(np.float32), truth, label)
    relative: NDArray[np.float64] = offsets - offsets[0]
    return relative


def _collect_logits(
    network: RGBDUNet, sampler: FrameSampler, frames_per_world: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """(labels, pixels) the logits of some pixels, and (pixels,) their labels."""
    logits, truth = [], []
    network.eval()
    with torch.inference_mode():
        for world_id in sorted(sampler.worlds):
            rng = generator(0, "calibration", world_id)
            seen = sampler.sample_world(world_id, rng, frames_per_world)
            images = image_tensors(torch.from_numpy(seen.frames.rgb), torch.from_numpy(seen.frames.depth))
            found = network.coarse_logits(*images)[..., ::3, ::3]
            logits.append(found.movedim(1, 0).reshape(found.shape[1], -1).numpy())
            truth.append(seen.labels[:, ::6, ::6].astype(np.int64).ravel())
    return np.concatenate(logits, axis=1), np.concatenate(truth)


def _best_offset(logits: NDArray[np.float32], truth: NDArray[np.int64], label: int) -> float:
    """Which of `OFFSETS` gives the best mIoU when added to the logits of a label; the smallest change of equals."""
    count = len(logits)
    others = np.delete(logits, label, axis=0)
    second = others.argmax(axis=0)
    greatest, second = others.max(axis=0), second + (second >= label)

    def score(offset: float) -> float:
        found = np.where(logits[label] + offset > greatest, label, second)
        total = np.bincount(truth * count + found, minlength=count * count).reshape(count, count)
        return SUMMARIES["mIoU"](total)

    return max(sorted(OFFSETS, key=abs), key=score)


# Scores


@dataclass(frozen=True, eq=False)
class SegmentationScores:
    """Confusion matrices by world, and what follows from them. Intervals resample whole worlds."""

    labels: tuple[str, ...]
    confusion: NDArray[np.int64]  # (worlds, labels, labels) pixels by true and by predicted label

    @property
    def iou(self) -> NDArray[np.float64]:
        """(labels,) intersection over union; NaN for a label that neither occurs nor is predicted."""
        return _iou(self.confusion.sum(axis=0))

    @property
    def recall(self) -> NDArray[np.float64]:
        """(labels,) the share of a label's pixels that are found."""
        total = self.confusion.sum(axis=0)
        return _ratio(np.diagonal(total), total.sum(axis=1))

    @property
    def precision(self) -> NDArray[np.float64]:
        """(labels,) the share of right pixels among those predicted as a label."""
        total = self.confusion.sum(axis=0)
        return _ratio(np.diagonal(total), total.sum(axis=0))

    def interval(self, name: str) -> Interval:
        """One of `SUMMARIES`, with a 95 % interval; NaN for its ends if there is one world only."""
        summary, confusion = SUMMARIES[name], self.confusion
        if len(confusion) < 2:
            return Interval(summary(confusion.sum(axis=0)), math.nan, math.nan)

        def compute(rows: NDArray[np.float64]) -> float:
            return summary(confusion[rows.astype(np.int64)].sum(axis=0))

        worlds = np.arange(len(confusion))
        return cluster_bootstrap(worlds, worlds, rng=generator(0, "segmentation", name), statistic=compute)


def _iou(total: NDArray[np.int64]) -> NDArray[np.float64]:
    both = np.diagonal(total)
    return _ratio(both, total.sum(axis=0) + total.sum(axis=1) - both)


def _ratio(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
    return found


SUMMARIES: Mapping[str, Callable[[NDArray[np.int64]], float]] = {
    "mIoU": lambda total: float(np.nanmean(_iou(total))),
    "object mIoU": lambda total: float(np.nanmean(_iou(total)[1:])),
    "object recall": lambda total: float(np.diagonal(total)[1:].sum() / max(total[1:].sum(), 1)),
    "mean recall": lambda total: float(np.nanmean(_ratio(np.diagonal(total), total.sum(axis=1)))),
    "accuracy": lambda total: float(np.trace(total) / max(total.sum(), 1)),
}
"""Numbers from a confusion matrix. Label 0, void, counts in mIoU, mean recall and accuracy, but not in the others."""


def evaluate_segmentation(
    source: SemanticSource, sampler: FrameSampler, *, frames_per_world: int, seed: int = 0
) -> SegmentationScores:
    """The scores of a source of labels on frames from random poses in every world of the sampler."""
    count = len(sampler.labels)
    confusion = np.zeros((len(sampler.worlds), count, count), np.int64)
    for k, world_id in enumerate(sorted(sampler.worlds)):
        seen = sampler.sample_world(world_id, generator(seed, "evaluation frames", world_id), frames_per_world)
        found = source(seen.frames)
        pairs = seen.labels.astype(np.int64) * count + found
        confusion[k] = np.bincount(pairs.ravel(), minlength=count * count).reshape(count, count)
    return SegmentationScores(sampler.labels, confusion)
