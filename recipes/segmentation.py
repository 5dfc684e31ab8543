"""Semantic segmentation from color and depth: train the small RGB-D network on Hearth's training houses.

Frames come from random poses of a robot in the 61 training houses of a season, rendered while training; nothing is read
from disk. The network is scored in the 11 houses of val-unseen, with intervals that resample houses. `--held-out`
trains on 53 of the training houses and scores on the other 8: settings are chosen there. If interrupted, rerun the
command to resume.

    python recipes/segmentation.py --minutes 60                  # the 13 classes of semantic maps
    python recipes/segmentation.py --minutes 60 --labels names   # the objects that pretrained agents know by name

Minutes are those of one core; the number of steps follows from them, so the result does not depend on the machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import torch
from rich.console import Console
from rich.table import Table

import itinera
from itinera.formats.writing import atomic_write
from itinera.hearth.ground import ground_worlds
from itinera.hearth.season import HOUSE_CYCLE, house_role, public_season
from itinera.policies.checkpoint import encode_model, read_model
from itinera.policies.pretrained import model_requirements, pretrained_models
from itinera.rendering.appearance import parse_appearance
from itinera.training.malloc import tune_malloc
from itinera.training.progress import log_to_stderr
from itinera.training.segmentation import (
    SENSOR,
    SUMMARIES,
    FrameSampler,
    SegmentationScores,
    evaluate_segmentation,
)
from itinera.worlds import World
from itinera.worlds.labels import MAP_CLASSES, MPCAT40

RADIUS = 0.1  # metres, of the robot
HELD_OUT_EVERY = 8  # of the training houses, with --held-out
CALIBRATION_HOUSES = 24
EVALUATION_FRAMES = 200  # per house
NUM_NAMES = 100  # the most frequent ones
NAMES_FROM = "rcm-fidelity"  # the pretrained agent whose object names `--labels names` learns


def house_indices(role: str, *, held_out: bool) -> tuple[list[int], list[int]]:
    """The indices of the houses to train on, and of those to score."""
    train = [index for index in range(HOUSE_CYCLE) if house_role(index) == "train"]
    if held_out:
        return [index for index in train if index not in train[::HELD_OUT_EVERY]], train[::HELD_OUT_EVERY]
    return train, [index for index in range(HOUSE_CYCLE) if house_role(index) == role]


def load_worlds(season: int, indices: list[int]) -> Mapping[str, World]:
    """Houses as surfaces with meshes, each built when it is needed, in about half a second."""
    houses = {public_season(season).house_id(index): (season, index) for index in indices}
    return ground_worlds(houses, radius=RADIUS)


def load_labels(name: str) -> tuple[str, ...]:
    if name == "names":
        return ("void", *model_requirements(pretrained_models()[NAMES_FROM]).names[:NUM_NAMES])
    return {"map": MAP_CLASSES, "mpcat40": MPCAT40}[name]


def print_scores(console: Console, title: str, scores: SegmentationScores) -> None:
    console.print(title)  # as the title of the narrow table it would be wrapped
    summary = Table("measure", "%", "95 % interval")
    for name in SUMMARIES:
        found = scores.interval(name)
        summary.add_row(name, f"{100 * found.mean:.1f}", f"{100 * found.low:.1f} – {100 * found.high:.1f}")
    console.print(summary)
    table = Table("label", "IoU", "recall", "precision", "pixels, %", title="By label, %")
    shares = scores.confusion.sum(axis=(0, 2)) / scores.confusion.sum()
    rows = zip(scores.labels, scores.iou, scores.recall, scores.precision, shares, strict=True)
    for label, *values in rows:
        table.add_row(label, *(f"{100 * value:.1f}" for value in values))
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60, help="minutes of one core to train (60)")
    parser.add_argument("--labels", choices=("map", "mpcat40", "names"), default="map", help="what to learn (map)")
    parser.add_argument("--appearance", default="flat", help="of the training houses: flat, day, … (flat)")
    parser.add_argument("--randomize", action="store_true", help="random colors and light for each training house")
    parser.add_argument("--score-appearance", help="of the houses to score in (that of training, not randomized)")
    parser.add_argument("--held-out", action="store_true", help="train on 53 training houses, score on the other 8")
    parser.add_argument("--season", type=int, default=1, help="seed of the Hearth season (1)")
    parser.add_argument("--seed", type=int, default=0, help="of the training (0)")
    parser.add_argument("--houses", type=int, help="use only the first so many houses of each part")
    parser.add_argument("--frames", type=int, default=EVALUATION_FRAMES, help="frames to score in each house (200)")
    parser.add_argument("--out", type=Path, default=Path(".learning/segmentation"), help="folder for models and logs")
    args = parser.parse_args()
    torch.set_num_threads(1)
    tune_malloc()
    log_to_stderr()
    labels = load_labels(args.labels)
    training, scoring = (houses[: args.houses] for houses in house_indices("val_unseen", held_out=args.held_out))
    parts = [args.labels, args.appearance.replace(":", "-"), "randomized" * args.randomize, "held-out" * args.held_out]
    name = " ".join(filter(None, [*parts, f"{args.minutes:g} min", f"seed {args.seed}"]))
    file = args.out / f"{name}.safetensors"
    source = itinera.train_segmentation(
        load_worlds(args.season, training),
        file,
        labels=labels[1:],
        minutes=args.minutes,
        # In houses of the next season, because the network is too sure of itself in those it was trained on.
        calibration=load_worlds(args.season + 1, list(range(CALIBRATION_HOUSES))[: args.houses]),
        appearance=args.appearance,
        randomize=args.randomize,
        seed=args.seed,
        tensorboard=args.out / "logs" / name,
    )
    scored = replace(SENSOR, appearance=parse_appearance(args.score_appearance or args.appearance))
    unseen = FrameSampler(load_worlds(args.season, scoring), labels, sensor=scored)
    scores = evaluate_segmentation(source, unseen, frames_per_world=args.frames)
    part = "held-out" if args.held_out else "val-unseen"
    found = {key: scores.interval(key) for key in SUMMARIES}
    texts = {key: f"{100 * one.mean:.1f} [{100 * one.low:.1f}, {100 * one.high:.1f}]" for key, one in found.items()}
    model = read_model(file).model
    card = msgspec.structs.replace(model.card, metadata={**model.card.metadata, f"{part}, %": texts})
    with atomic_write(file) as stream:
        stream.write(encode_model(replace(model, card=card), half=True))
    print_scores(Console(width=110), f"{name}: {len(unseen.worlds)} {part} houses", scores)


if __name__ == "__main__":
    main()
