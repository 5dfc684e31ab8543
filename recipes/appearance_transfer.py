"""Does texture matter? Agents that see rendered images, trained on one appearance of Hearth's houses, tested on each.

A small convolutional network learns, from color images of the training houses, which objects a view contains and what
kind of room it was taken in. Its estimates are the view features of RCM's navigator, which learns on the same houses by
imitation and then by policy gradient. Both see one appearance:

    textured      textures and baked daylight
    flat          plain colors in even light
    randomized    textures and daylight with colors, sizes and brightness drawn at random, anew for each house

Then every pair acts in val-unseen houses in each of the three. "Annotations" is the same navigator with true labels
instead of estimates: the ceiling. Nothing was tuned: network and steps were fixed before val-unseen was evaluated, and
scores are those of the last step. If interrupted, rerun the command to resume.

    itinera build hearth --out .tables/hearth
    python recipes/appearance_transfer.py .tables/hearth --minutes 5 --seeds 3
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from safetensors.torch import load, save
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from itinera.formats.season_tasks import read_season_houses
from itinera.formats.writing import atomic_write
from itinera.hearth.build import build_house
from itinera.policies import rcm
from itinera.policies.checkpoint import build_model, encode_model, read_model
from itinera.rendering.appearance import APPEARANCES, FLAT, Appearance
from itinera.rendering.camera import Camera
from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_FOV, VIEW_HEADINGS, VIEWS
from itinera.rendering.rasterizer import Rasterizer
from itinera.runs.engines.processes import parallel_map
from itinera.seeding import generator
from itinera.simulators.view_features import WorldViews, annotated_views, feature_kind, frequent_names
from itinera.training.data import TrainingData, load_hearth
from itinera.training.dataset import BatchSampler
from itinera.training.evaluation import EvaluationScores, average_seeds, evaluate
from itinera.training.losses import exponential_decay, imitation_objective, policy_gradient_objective
from itinera.training.malloc import tune_malloc
from itinera.training.progress import TrainingLog, log_to_stderr
from itinera.training.rewards import make_fidelity_oriented_reward
from itinera.training.trainer import Schedule, Trainer, seed_torch
from itinera.training.vector_env import build_env
from itinera.worlds import World

NUM_NAMES = 80  # objects that the network learns to recognize: the most frequent ones of the training houses
MIN_SIZE = 0.12  # square root of the share of a view that an object must fill to be recognized
CAMERA = Camera(48, 36, 2 * math.atan(math.tan(VIEW_FOV / 2) * 48 / 36))
CHANNELS = (24, 48, 96, 128)  # of the network
IMAGE_BATCH, IMAGE_RATE = 128, 2e-3  # images, learning rate
EPOCHS = 2.0  # of the network over the images of the training houses
CONFIG = replace(rcm.SMALL, dropout=0.2, env_dropout=0.1)
BATCH_SIZE = 64  # episodes
STEPS_PER_MINUTE = 260  # optimizer steps of the navigator, about, on one core
IMITATION_SHARE = 0.65  # of its steps; the rest is policy gradient
IMITATION_RATE, REWARD_RATE, FINAL_RATIO = 1.5e-3, 4e-4, 0.05
IMITATION_MAX_STEPS, MAX_STEPS = 10, 15
ANNOTATIONS = "annotations"
TRAINED_ON = ("textured", "flat", "randomized")
METRICS = ("SR", "SPL", "CLS")


def choose_appearance(name: str, number: int) -> Appearance:
    """The appearance of the house with this number."""
    day = APPEARANCES["day"]
    return {"textured": day, "flat": FLAT, "randomized": replace(day, randomize=number)}[name]


@cache
def load_labels(season: Path) -> tuple[TrainingData, WorldViews]:
    """The season, and the labels that the network learns: objects and the kind of room, for each view."""
    data = load_hearth(season)
    training = {episode.world_id for episode in data.splits["train"].episodes}
    names = frequent_names({id: data.worlds[id] for id in sorted(training)}, NUM_NAMES)
    near = annotated_views(data.worlds, names)
    kept = [k for k, column in enumerate(near.columns) if feature_kind(column) in ("", "in")]

    def label_world(world_id: str) -> Mapping[str, NDArray[np.float32]]:
        nodes = data.worlds[world_id].space.nodes
        return {node: (near.at(world_id, node)[:, kept] >= MIN_SIZE).astype(np.float32) for node in nodes}

    return data, WorldViews([near.columns[k] for k in kept], label_world)


def house_ids(data: TrainingData, split: str) -> list[str]:
    return sorted({episode.world_id for episode in data.splits[split].episodes})


# Images


def image_file(out: Path, name: str, world_id: str) -> Path:
    return out / "images" / name / f"{world_id}.npy"


def render_images(out: Path, season: Path, job: tuple[str, str]) -> None:
    """Render the 36 views of each viewpoint of a house."""
    (name, world_id), data = job, load_labels(season)[0]
    file = image_file(out, name, world_id)
    if file.exists():
        return
    seed, number = read_season_houses(season)[world_id]
    raster = Rasterizer(build_house(seed, number).mesh, appearance=choose_appearance(name, number))
    positions = data.worlds[world_id].space.positions
    images = np.empty((len(positions), VIEWS, CAMERA.height, CAMERA.width, 3), np.uint8)
    for k, position in enumerate(positions):
        places = np.repeat(position[None], VIEWS, axis=0)
        images[k] = raster.render_many(CAMERA, places, VIEW_HEADINGS, VIEW_ELEVATIONS, channels=("rgb",)).rgb
    with atomic_write(file) as stream:
        np.save(stream, images, allow_pickle=False)


def read_images(out: Path, name: str, world_id: str) -> NDArray[np.uint8]:
    images: NDArray[np.uint8] = np.load(image_file(out, name, world_id), allow_pickle=False)
    return images


# Recognition


class Recognizer(nn.Module):
    """Logits of labels from color images (n, height, width, 3) of bytes."""

    def __init__(self, num_labels: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before = 3
        for k, channels in enumerate(CHANNELS):
            size = 5 if k == 0 else 3
            layers += [
                nn.Conv2d(before, channels, size, 2 if k < 3 else 1, size // 2),
                nn.GroupNorm(8, channels),
                nn.ReLU(),
            ]
            before = channels
        self.convolutions = nn.Sequential(*layers)
        self.head = nn.Linear(2 * before, num_labels)

    def forward(self, images: Tensor) -> Tensor:
        pixels = images.permute(0, 3, 1, 2).float() / 128 - 1
        maps = self.convolutions(pixels).flatten(2)
        logits: Tensor = self.head(torch.cat([maps.mean(dim=2), maps.amax(dim=2)], dim=1))
        return logits


def image_batches(total: int, steps: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Indices of images in random order, epoch after epoch."""
    rng, at = generator(seed, "image batches"), 0
    order = rng.permutation(total)
    for _ in range(steps):
        if at + IMAGE_BATCH > total:
            order, at = rng.permutation(total), 0
        yield np.sort(order[at : at + IMAGE_BATCH])
        at += IMAGE_BATCH


def train_recognizer(out: Path, season: Path, job: tuple[str, int, float]) -> None:
    """Train the network of one appearance and seed for a number of epochs."""
    name, seed, epochs = job
    file = recognizer_file(out, name, seed)
    if file.exists():
        return
    torch.set_num_threads(1)
    tune_malloc()
    log_to_stderr()
    data, labels = load_labels(season)
    houses = house_ids(data, "train")
    images = np.concatenate([read_images(out, name, id).reshape(-1, CAMERA.height, CAMERA.width, 3) for id in houses])
    nodes = [(id, node) for id in houses for node in data.worlds[id].space.nodes]
    targets = np.concatenate([labels.at(*node) for node in nodes])
    seed_torch(seed, "recognizer", name)
    network = Recognizer(labels.size)
    steps = max(1, round(epochs * len(images) / IMAGE_BATCH))
    optimizer = torch.optim.AdamW(network.parameters(), IMAGE_RATE, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, IMAGE_RATE, total_steps=steps + 1, pct_start=0.1)
    console, losses = Console(stderr=True), []
    for step, batch in enumerate(image_batches(len(images), steps, seed), 1):
        loss = binary_cross_entropy_with_logits(
            network(torch.from_numpy(images[batch])), torch.from_numpy(targets[batch])
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % max(1, steps // 10) == 0:
            console.print(f"recognizer {name} {seed}: step {step} of {steps}, loss {np.mean(losses[-200:]):.4f}")
    with atomic_write(file) as stream:
        stream.write(save(network.state_dict()))


def recognizer_file(out: Path, name: str, seed: int) -> Path:
    return out / "recognizers" / f"{name} {seed}.safetensors"


def load_recognizer(out: Path, season: Path, name: str, seed: int) -> Recognizer:
    network = Recognizer(load_labels(season)[1].size)
    network.load_state_dict(load(recognizer_file(out, name, seed).read_bytes()))
    network.eval()
    return network


def estimate_labels(out: Path, season: Path, trained_on: str, seen: str, seed: int) -> WorldViews:
    """The view features of houses in the appearance `seen`, estimated by the network trained on another or the same."""
    data, labels = load_labels(season)
    network = load_recognizer(out, season, trained_on, seed)

    def estimate_world(world_id: str) -> Mapping[str, NDArray[np.float32]]:
        images = torch.from_numpy(read_images(out, seen, world_id))
        with torch.no_grad():
            return {
                node: network(views).sigmoid().numpy()
                for node, views in zip(data.worlds[world_id].space.nodes, images, strict=True)
            }

    return WorldViews(labels.columns, estimate_world)


# Navigation


@dataclass(frozen=True)
class Training:
    """A navigator to train."""

    trained_on: str  # an appearance, or ANNOTATIONS
    seed: int
    steps: int

    @property
    def name(self) -> str:
        return f"{self.trained_on} {self.seed}"


def navigation_data(out: Path, season: Path, trained_on: str, seen: str, seed: int, split: str) -> TrainingData:
    """The houses of a split as the navigator observes them."""
    data, labels = load_labels(season)
    views = labels if trained_on == ANNOTATIONS else estimate_labels(out, season, trained_on, seen, seed)
    worlds: dict[str, World] = {id: data.worlds[id] for id in house_ids(data, split)}
    env = build_env(worlds, views)
    return TrainingData(data.name, worlds, {split: data.splits[split]}, views.columns, env, data.tokenizer)


def model_file(out: Path, name: str) -> Path:
    return out / "models" / f"{name}.safetensors"


def train_navigator(out: Path, season: Path, job: Training) -> None:
    """Imitation, then policy gradient."""
    if model_file(out, job.name).exists():
        return
    torch.set_num_threads(1)
    tune_malloc()
    log_to_stderr()
    data = navigation_data(out, season, job.trained_on, job.trained_on, job.seed, "train")
    seed_torch(job.seed, "navigator", job.trained_on)
    model, env = build_model(data.card("rcm", CONFIG, seed=job.seed)), data.env
    batches = BatchSampler(data.dataset("train"), BATCH_SIZE, seed=job.seed)
    imitation = imitation_objective(model.policy, env, batches, max_steps=IMITATION_MAX_STEPS)
    imitation_steps = max(1, round(IMITATION_SHARE * job.steps))
    reward_steps = max(1, job.steps - imitation_steps)
    policy_gradient = policy_gradient_objective(
        model.policy,
        env,
        batches,
        make_fidelity_oriented_reward(env, needs_stop=True),
        max_steps=MAX_STEPS,
        imitation=imitation,
        imitation_probability=exponential_decay(reward_steps / 6, minimum=0.2),
    )
    stages = (
        ("imitation", imitation_steps, IMITATION_RATE, imitation),
        ("reward", reward_steps, REWARD_RATE, policy_gradient),
    )
    for part, steps, rate, loss_fn in stages:
        name = f"{job.name} {part}"
        with TrainingLog(name, total=steps, folder=out / "logs" / name) as log:
            schedule = Schedule(steps, rate, final_ratio=FINAL_RATIO)
            checkpoint = out / "drafts" / f"{name}.safetensors"
            trainer = Trainer(model, schedule, seed=job.seed, name=name, checkpoint=checkpoint, on_step=log.on_step)
            for step in trainer:
                trainer.update(loss_fn(step, trainer.rng))
    with atomic_write(model_file(out, job.name)) as stream:
        stream.write(encode_model(model))


@dataclass(frozen=True)
class Evaluation:
    """A navigator to evaluate in one appearance."""

    trained_on: str
    seen: str
    seed: int


def evaluate_navigator(out: Path, season: Path, job: Evaluation) -> tuple[EvaluationScores, float]:
    """Its scores on val-unseen, and the mean average precision of its recognizer there (nan for annotations)."""
    torch.set_num_threads(1)
    data = navigation_data(out, season, job.trained_on, job.seen, job.seed, "val_unseen")
    policy = read_model(model_file(out, f"{job.trained_on} {job.seed}")).model.policy
    scores = evaluate(policy, data.env, data.dataset("val_unseen"), max_steps=MAX_STEPS)
    if job.trained_on == ANNOTATIONS:
        return scores, math.nan
    labels, estimates = load_labels(season)[1], estimate_labels(out, season, job.trained_on, job.seen, job.seed)
    nodes = [(id, node) for id, world in data.worlds.items() for node in world.space.nodes]
    truth = np.concatenate([labels.at(*node) for node in nodes])
    found = np.concatenate([estimates.at(*node) for node in nodes])
    return scores, float(np.nanmean([average_precision(truth[:, k], found[:, k]) for k in range(truth.shape[1])]))


def average_precision(truth: NDArray[np.float32], estimate: NDArray[np.float32]) -> float:
    """The area below the curve of precision over recall; nan if the label does not occur."""
    ordered = truth[np.argsort(-estimate, kind="stable")]
    hits = np.cumsum(ordered)
    if hits[-1] == 0:
        return math.nan
    return float((ordered * hits / np.arange(1, len(hits) + 1)).sum() / hits[-1])


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("season", type=Path, help="a public folder of `itinera build hearth`")
    parser.add_argument("--minutes", type=float, default=5.0, help="training time of a navigator on one core (5)")
    parser.add_argument("--epochs", type=float, default=EPOCHS, help=f"of the recognizer over all images ({EPOCHS:g})")
    parser.add_argument("--seeds", type=int, default=3, help="number of agents of each kind (3)")
    parser.add_argument("--out", type=Path, default=Path(".learning/appearance_transfer"), help="folder for results")
    parser.add_argument("--workers", type=int, default=2, help="number of worker processes (2)")
    return parser.parse_args()


def main() -> int:
    """Render, train, evaluate, and print success by the appearance trained on and the one tested on."""
    args = parse_arguments()
    out, console = args.out / f"{args.minutes:g} minutes", Console(width=120)
    data, _ = load_labels(args.season)
    houses = sorted({*house_ids(data, "train"), *house_ids(data, "val_unseen")})
    steps = max(2, round(args.minutes * STEPS_PER_MINUTE))

    def map_jobs(work: Callable[..., Any], jobs: Sequence[Any], title: str) -> dict[int, Any]:
        results: dict[int, Any] = {}
        for k, result in parallel_map(partial(work, out, args.season), jobs, workers=args.workers):
            results[k] = result
            console.print(f"{title}: {len(results)} of {len(jobs)}", style="dim")
        return results

    map_jobs(render_images, [(name, id) for name in TRAINED_ON for id in houses], "houses rendered")
    seeds = range(args.seeds)
    map_jobs(
        train_recognizer, [(name, seed, args.epochs) for seed in seeds for name in TRAINED_ON], "recognizers trained"
    )
    trainings = [Training(name, seed, steps) for seed in seeds for name in (*TRAINED_ON, ANNOTATIONS)]
    map_jobs(train_navigator, trainings, "navigators trained")
    cells = [(name, seen) for name in TRAINED_ON for seen in TRAINED_ON] + [(ANNOTATIONS, ANNOTATIONS)]
    jobs = [Evaluation(name, seen, seed) for name, seen in cells for seed in seeds]
    results = map_jobs(evaluate_navigator, jobs, "evaluations")
    table = Table(title=f"Val-unseen, mean over {args.seeds} seeds (95 % interval over houses) ± s.d. over seeds")
    for column in ("trained on", "tested on", *METRICS, "recognition, mAP"):
        table.add_column(column)
    for name, seen in cells:
        chosen = [results[k] for k, job in enumerate(jobs) if (job.trained_on, job.seen) == (name, seen)]
        scores, precisions = [one for one, _ in chosen], [value for _, value in chosen]
        spreads = {metric: 100 * np.std([one.mean(metric) for one in scores]) for metric in METRICS}
        line = [f"{average_seeds(scores).format(metric)} ±{spreads[metric]:.1f}" for metric in METRICS]
        table.add_row(name, seen, *line, "" if name == ANNOTATIONS else f"{np.mean(precisions):.3f}")
    console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
