"""Experiments on the ground: train variants of agents, evaluate them on tours, and keep the scores of every stage.

What the recipes of Tables 3 and 4 of Iterative VLN share; their options and tables are in `experiment_tables.py`.
Every stage writes one file and is skipped if it exists, and a training that was killed resumes: an interrupted recipe
continues where it was.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch

from itinera.builders.tours import tour_scene
from itinera.formats.catalog import read_tasks
from itinera.formats.ivln import read_tours, write_tours
from itinera.formats.writing import atomic_write
from itinera.mapping.config import MapLifetime
from itinera.policies.checkpoint import read_model
from itinera.policies.ground.requirements import GroundRequirements
from itinera.records.scores import ScoreTable
from itinera.runs.config import load_worlds, select_protocol
from itinera.seeding import generator
from itinera.tasks import PROTOCOLS, Split, Tour
from itinera.training.ground.batches import Texts
from itinera.training.ground.evaluation import evaluate_on_ground
from itinera.training.ground.experience import HOUSES, Collector
from itinera.training.ground.perception import Sensors
from itinera.training.ground.tour_order import order_tours
from itinera.training.ground.train_agent import GroundOptions, train_on_ground
from itinera.training.progress import log_to_stderr
from itinera.worlds import World
from itinera.worlds.lazy import LazyMapping

EPISODE_METRICS = ("PL", "NE", "OSR", "nDTW", "SR", "SPL")
METRICS = (*EPISODE_METRICS, "t-nDTW")  # the columns of the paper's tables, in their order; PL is its TL, OSR its OS
METRES = ("PL", "NE")  # all other metrics are printed in percent
HELD_OUT_EVERY = 8  # of the training houses, when settings are chosen
_log = logging.getLogger("itinera")


@dataclass(frozen=True)
class Experiment:
    """What all stages of a recipe share."""

    season: Path
    out: Path
    options: GroundOptions
    houses: int | None = None  # train and evaluate in the first houses of each split only
    tour_episodes: int | None = None  # of a tour in evaluation, at most
    held_out: bool = False  # train in seven of eight training houses and evaluate in the others

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that agents are evaluated on."""
        return ("held_out",) if self.held_out else ("val_seen", "val_unseen")


@dataclass(frozen=True)
class Variant:
    """An agent to train."""

    kind: str
    seed: int
    lifetime: MapLifetime = MapLifetime.EPISODIC
    semantics: str = "true"

    @property
    def name(self) -> str:
        """The name of its files."""
        maps = f" {self.lifetime.value} {_plain(self.semantics)}" if self.kind == "map-cma" else ""
        return f"{self.kind}{maps} seed {self.seed}"


@dataclass(frozen=True)
class Trial:
    """An evaluation of an agent on a split."""

    variant: Variant
    split: str
    lifetime: MapLifetime = MapLifetime.EPISODIC  # of its maps in the evaluation

    @property
    def name(self) -> str:
        """The name of its file."""
        maps = f" in {self.lifetime.value} maps" if self.variant.kind == "map-cma" else ""
        return f"{self.variant.name}{maps} {self.split}"


class TourScores(msgspec.Struct, frozen=True):
    """The scores of an evaluation: a row per episode, in the order of the split, and per tour."""

    world_ids: tuple[str, ...]
    values: dict[str, tuple[float, ...]]  # EPISODE_METRICS
    tour_world_ids: tuple[str, ...]
    tours: tuple[float, ...]  # t-nDTW
    tour_weights: tuple[float, ...]

    @classmethod
    def from_table(cls, table: ScoreTable) -> TourScores:
        """The columns of the paper's tables."""
        assert table.tours is not None
        return cls(
            table.world_ids,
            {name: tuple(table[name].tolist()) for name in EPISODE_METRICS},
            table.tours.world_ids,
            tuple(table.tours["t-nDTW"].tolist()),
            tuple(table.tours.weights["t-nDTW"].tolist()),
        )

    def rows(self, metric: str) -> tuple[Any, Sequence[str], Any]:
        """The values of a metric, the houses they are from, and their weights."""
        if metric == "t-nDTW":
            return np.array(self.tours), self.tour_world_ids, np.array(self.tour_weights)
        return np.array(self.values[metric]), self.world_ids, np.ones(len(self.world_ids))


def train_variant(experiment: Experiment, variant: Variant) -> None:
    """Train an agent and write its model, unless it exists."""
    log_to_stderr()
    file = model_file(experiment, variant)
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    remembers = variant.kind in ("tour-cma", "pool-cma", "pool-end-cma")
    options = replace(experiment.options, iterations=0) if remembers else experiment.options
    train_on_ground(
        variant.kind,
        training_split(experiment),
        _worlds(experiment),
        options,
        season=experiment.season,
        lifetime=variant.lifetime,
        semantics=variant.semantics,
        seed=variant.seed,
        out=file,
        cache=experiment.out / "observations",
        tensorboard=experiment.out / "logs" / variant.name,
    )


def evaluate_trial(experiment: Experiment, trial: Trial) -> TourScores:
    """The scores of a trained agent on the tours of a split; read from their file if it exists."""
    log_to_stderr()
    file = experiment.out / "scores" / f"{trial.name}.json"
    if file.exists():
        return msgspec.json.decode(file.read_bytes(), type=TourScores)
    torch.set_num_threads(1)
    model = read_model(model_file(experiment, trial.variant)).model
    split, worlds = evaluation_split(experiment, trial.split), _worlds(experiment)
    requirements = model.card.ground
    assert isinstance(requirements, GroundRequirements)
    lifetime = None if requirements.map is None else trial.lifetime
    collector = Collector(
        worlds,
        select_protocol(None, split),
        Sensors.from_policy(model.policy, requirements),
        lifetimes=() if lifetime is None else (lifetime,),
        keep_guided=model.policy.remembers_tours,
        lanes=min(48, len(split.tours)),
    )
    texts = Texts.from_split(split, model.tokenizer, max_words=model.card.max_words)
    scores = TourScores.from_table(evaluate_on_ground(model.policy, split, texts, collector, lifetime))
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as stream:
        stream.write(msgspec.json.encode(scores))
    _log.info("evaluated: %s", trial.name)
    return scores


def model_file(experiment: Experiment, variant: Variant) -> Path:
    """The file of a trained agent."""
    return experiment.out / "models" / f"{variant.name}.safetensors"


@cache
def training_split(experiment: Experiment) -> Split:
    """The episodes to train on."""
    split = _read(experiment, "train")
    return _in_houses(split, _held_out_houses(split, inside=False)) if experiment.held_out else split


@cache
def evaluation_split(experiment: Experiment, name: str) -> Split:
    """A split with its tours, in the order that needs the least guidance; made once and kept in a file."""
    split = _read(experiment, "train" if name == "held_out" else name)
    if name == "held_out":
        # By straight lines, as training: exact orders of these houses would take longer than the evaluation.
        return _cut(order_tours(_in_houses(split, _held_out_houses(split, inside=True))), experiment.tour_episodes)
    file = experiment.out / f"tours-{name}.json"
    if not file.exists():
        worlds, tours = _worlds(experiment), dict[str, list[Tour]]()
        for world_id in split.world_ids:
            of_scene = [ids for group in tour_scene(split, world_id, worlds) for ids in group.tours]
            tours[world_id] = [Tour(f"{world_id}-{k}", world_id, ids) for k, ids in enumerate(of_scene)]
        file.parent.mkdir(parents=True, exist_ok=True)
        write_tours(file, {split.name: [tour for of_scene in tours.values() for tour in of_scene]})
    return _cut(split.with_tours(read_tours(file, split.name)), experiment.tour_episodes)


def _cut(split: Split, count: int | None) -> Split:
    """The split with the episodes of its tours, of each the first `count`."""
    tours = tuple(replace(tour, episode_ids=tour.episode_ids[:count]) for tour in split.tours)
    inside = {name for tour in tours for name in tour.episode_ids}
    kept = tuple(episode for episode in split.episodes if episode.id in inside)
    return Split(split.name, kept, protocol=split.protocol).with_tours(tours)


def _read(experiment: Experiment, name: str) -> Split:
    split = read_tasks(experiment.season / "vlnce" / name / f"{name}.json.gz")
    return split if experiment.houses is None else _in_houses(split, split.world_ids[: experiment.houses])


def _in_houses(split: Split, world_ids: Sequence[str]) -> Split:
    kept = tuple(episode for episode in split.episodes if episode.world_id in set(world_ids))
    return Split(split.name, kept, protocol=split.protocol)


def _held_out_houses(split: Split, *, inside: bool) -> list[str]:
    order = generator(0, "held out").permutation(len(split.world_ids))
    held_out = {split.world_ids[int(k)] for k in order[: max(1, len(order) // HELD_OUT_EVERY)]}
    return [world_id for world_id in split.world_ids if (world_id in held_out) == inside]


_OPENED: dict[Path, Mapping[str, World]] = {}


def _worlds(experiment: Experiment) -> Mapping[str, World]:
    if experiment.season not in _OPENED:
        opened = load_worlds(experiment.season, PROTOCOLS["r2r-ce"])
        _OPENED[experiment.season] = LazyMapping(opened, opened.__getitem__, cache_size=HOUSES)
    return _OPENED[experiment.season]


def _plain(semantics: str) -> str:
    return semantics if semantics in ("true", "inferred") else Path(semantics).stem
