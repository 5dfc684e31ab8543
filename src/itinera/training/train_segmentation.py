"""A training of a segmentation network from worlds to a model file. Start with `train_segmentation`.

`segmentation.py` has the parts: frames, loss, calibration and scores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from itinera.errors import BadArgument
from itinera.formats.writing import atomic_write
from itinera.policies.checkpoint import Model, ModelCard, build_model, encode_model, read_model
from itinera.policies.segmentation.labeling import Segmenter
from itinera.policies.segmentation.rgbd_unet import RGBDUNetConfig
from itinera.policies.segmentation.semantics import InferredSemantics
from itinera.records.provenance import itinera_version
from itinera.runs.resume import plan_fingerprint
from itinera.seeding import generator
from itinera.simulators.sensors import CameraSensor
from itinera.training.progress import OnProgress, TrainingLog, TrainingProgress
from itinera.training.segmentation import SENSOR, FrameSampler, LossConfig, batch_loss, calibrate_offsets
from itinera.training.train_agent import load_finished, single_thread
from itinera.training.trainer import Schedule, Trainer, seed_torch
from itinera.worlds import World
from itinera.worlds.labels import MPCAT40

STEPS_PER_MINUTE = 450  # optimizer steps, about, on one core
MAX_LABELS = 256  # of a label image


@dataclass(frozen=True)
class SegmentationOptions:
    """The hyper-parameters of `train_segmentation`."""

    steps: int
    batch_size: int = 32  # frames
    learning_rate: float = 4e-3
    weight_decay: float = 0.01
    randomize: bool = False  # whether every world has random colors and light of its own
    calibration_frames: int = 20  # of each world of the calibration

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "calibration_frames"):
            if getattr(self, name) < 1:
                raise BadArgument(f"{name} must be ≥ 1 (got {getattr(self, name)}).")
        if not 0 < self.learning_rate < 1:
            raise BadArgument(f"learning_rate must be between 0 and 1 (got {self.learning_rate}).")


def train_segmentation(
    worlds: Mapping[str, World],
    labels: Sequence[str],
    options: SegmentationOptions,
    *,
    calibration: Mapping[str, World] | None = None,
    sensor: CameraSensor = SENSOR,
    seed: int = 0,
    out: Path,
    overwrite: bool = False,
    metadata: Mapping[str, Any] | None = None,
    logs: Path | None = None,
    progress: OnProgress | None = None,
) -> InferredSemantics:
    """Train the small RGB-D network on frames from random poses and write its model file; the labels it infers.

    With worlds for the `calibration`, offsets of the labels are chosen there; they should be others than those of the
    training. A training that is interrupted resumes from its checkpoint, `out` with .partial, and a finished one is
    not repeated. `metadata` is added to the model card.
    """
    check_labels(labels)
    plan = plan_fingerprint(itinera_version(), options, tuple(labels), sorted(worlds), sorted(calibration or ()),
                            sensor, seed)  # fmt: skip
    if out.exists() and not overwrite:
        return InferredSemantics(Segmenter(load_finished(out, plan, None)))
    out.parent.mkdir(parents=True, exist_ok=True)
    sampler = FrameSampler(worlds, labels, sensor=sensor, randomize=options.randomize)
    checkpoint = out.with_name(f"{out.name}.partial")
    with single_thread():
        described = {**_describe(sampler, options, seed), **(metadata or {}), "plan": plan}
        model = _train(sampler, options, described, seed, checkpoint, overwrite=overwrite, logs=logs, progress=progress)
        if calibration:
            others = FrameSampler(calibration, labels, sensor=sensor, randomize=options.randomize)
            offsets = calibrate_offsets(model.policy, others, frames_per_world=options.calibration_frames)
            model.policy.add_offsets(torch.from_numpy(offsets))
    with atomic_write(out) as stream:
        stream.write(encode_model(model, half=True))
    checkpoint.unlink(missing_ok=True)
    return InferredSemantics(Segmenter(read_model(out).model))  # as it was stored, in half precision


def check_labels(labels: Sequence[str]) -> None:
    """Refuse labels that an image cannot have."""
    if not 2 <= len(labels) <= MAX_LABELS:
        raise BadArgument(f"A label image has 2 to {MAX_LABELS} labels, void first; got {len(labels)}.")
    if len(set(labels)) != len(labels):
        raise BadArgument("Labels must be different.")
    if labels[0] in MPCAT40[1:]:
        raise BadArgument(f'The first label is void, what no other label names; got "{labels[0]}".')


def _train(
    sampler: FrameSampler,
    options: SegmentationOptions,
    metadata: Mapping[str, Any],
    seed: int,
    checkpoint: Path,
    *,
    overwrite: bool,
    logs: Path | None,
    progress: OnProgress | None,
) -> Model:
    """The model after the last step; continues from the checkpoint."""
    loss = LossConfig()
    seed_torch(seed, "segmentation")  # for the initial weights
    card = ModelCard("rgbd-unet", asdict(RGBDUNetConfig()), sampler.labels, (), metadata=dict(metadata))
    model = build_model(card)
    warmup = min(100, max(1, options.steps // 10))
    schedule = Schedule(options.steps, options.learning_rate, weight_decay=options.weight_decay, warmup_steps=warmup)
    with TrainingLog("segmentation", total=options.steps, folder=logs) as log:

        def report(step: int, value: float) -> None:
            log.on_step(step, value)
            if progress is not None:
                progress(TrainingProgress(step, options.steps, value))

        trainer = Trainer(
            model, schedule, seed=seed, name="segmentation", checkpoint=checkpoint, overwrite=overwrite, on_step=report
        )
        weights = loss.weights(sampler.frequencies)
        for step in trainer:
            batch = sampler.sample_batch(generator(seed, "segmentation batch", str(step)), options.batch_size)
            trainer.update(batch_loss(model.policy, batch, weights, loss))
    return model


def _describe(sampler: FrameSampler, options: SegmentationOptions, seed: int) -> dict[str, Any]:
    """The metadata of a model card."""
    camera, sensor = sampler.sensor.camera, sampler.sensor
    return {
        "description": f"RGB-D U-Net, {len(sampler.labels)} labels",
        "training data": f"{len(sampler.worlds)} worlds, random poses" + ", randomized" * options.randomize,
        "camera": {
            "width": camera.width,
            "height": camera.height,
            "fov_deg": round(math.degrees(camera.fov), 6),
            "height_m": sensor.height,
            "elevation_deg": 0,
        },
        "steps": options.steps,
        "seed": seed,
    }
