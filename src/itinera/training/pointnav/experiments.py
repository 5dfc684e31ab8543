"""Table I of "Success Weighted by Completion Time": robots with 4, 6 and 15 actions, shaped and decaying rewards.

What `recipes/sct_agents.py` is made of. Every stage writes one file and is skipped if it exists, and a training that
was killed resumes, so an interrupted recipe continues where it was. Houses are the sample of every interval.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from itinera.errors import BadArgument
from itinera.formats.catalog import read_tasks
from itinera.formats.writing import atomic_write
from itinera.policies.checkpoint import read_model
from itinera.runs.config import load_worlds
from itinera.runs.fastest_times import plan_fastest_times
from itinera.seeding import generator
from itinera.stats.intervals import Interval, interval
from itinera.stats.paired import Difference, paired_difference
from itinera.tasks import PROTOCOLS, Split
from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot
from itinera.training.pointnav.evaluation import RATES, PointNavScores
from itinera.training.pointnav.train_agent import PointNavOptions, evaluate_model, train_pointnav
from itinera.training.progress import log_to_stderr
from itinera.worlds import Array, World
from itinera.worlds.lazy import LazyMapping

DRIVES = ("point-turn", "unicycle-6", "unicycle-15")
HELD_OUT_EVERY = 8  # of the training houses, when settings are chosen
HOUSES = 70  # kept in memory
_log = logging.getLogger("itinera")


@dataclass(frozen=True)
class Experiment:
    """What all stages of the recipe share."""

    season: Path
    out: Path
    options: PointNavOptions
    houses: int | None = None  # train in the first of them only
    episodes: int | None = None  # of each house in evaluation, at most
    held_out: bool = False  # train in seven of eight training houses, and evaluate in the others

    @property
    def tables(self) -> Path:
        """The folder of goal tables."""
        return self.out / "goal-tables"


@dataclass(frozen=True)
class Variant:
    """An agent to train."""

    drive: str
    decaying: bool
    seed: int = 0

    @property
    def name(self) -> str:
        """The name of its files."""
        return f"{self.drive} {'decaying' if self.decaying else 'shaped'} seed {self.seed}"


class StoredScores(msgspec.Struct, frozen=True):
    """The scores of an agent: a row per episode."""

    episode_ids: tuple[str, ...]
    world_ids: tuple[str, ...]
    columns: dict[str, tuple[float, ...]]

    @classmethod
    def from_scores(cls, scores: PointNavScores) -> StoredScores:
        """The same rows."""
        columns = {name: tuple(values.tolist()) for name, values in scores.columns.items()}
        return cls(scores.episode_ids, scores.world_ids, columns)

    def column(self, metric: str) -> Array:
        """(episodes,) the values of a metric."""
        return np.array(self.columns[metric])


def train_variant(experiment: Experiment, variant: Variant) -> None:
    """Train an agent and write its model, unless it exists; the best by SCT in the first half of the houses."""
    log_to_stderr()
    file = model_file(experiment, variant)
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    validation = evaluation_splits(experiment)[0]
    times = fastest_times(experiment, validation)
    with count_seconds(_seconds_file(experiment, variant)):
        train_pointnav(
            training_split(experiment),
            worlds(experiment),
            replace(experiment.options, drive=variant.drive, decaying=variant.decaying),
            validation=validation,
            times=times,
            tables=experiment.tables,
            seed=variant.seed,
            out=file,
            tensorboard=experiment.out / "logs" / variant.name,
        )


@contextmanager
def count_seconds(file: Path) -> Iterator[None]:
    """Add the CPU seconds of the block to those in a file, also if it is interrupted."""
    before = msgspec.json.decode(file.read_bytes(), type=float) if file.exists() else 0.0
    begun = time.process_time()
    try:
        yield
    finally:
        with atomic_write(file) as stream:
            stream.write(msgspec.json.encode(before + time.process_time() - begun))


def training_cost(experiment: Experiment, variant: Variant) -> tuple[int, float]:
    """The steps and the CPU minutes of a trained agent, evaluations and interrupted runs included.

    Minutes are nan for a model that was trained elsewhere.
    """
    metadata = read_model(model_file(experiment, variant)).model.card.metadata
    file = _seconds_file(experiment, variant)
    seconds = msgspec.json.decode(file.read_bytes(), type=float) if file.exists() else np.nan
    return int(metadata["steps"]), seconds / 60.0


def evaluate_variant(experiment: Experiment, variant: Variant, *, sampled: bool = False) -> StoredScores:
    """The scores of an agent in the second half of the houses; read from their file if it exists."""
    log_to_stderr()
    file = experiment.out / "scores" / f"{variant.name}{' sampled' if sampled else ''}.json"
    if file.exists():
        return msgspec.json.decode(file.read_bytes(), type=StoredScores)
    split = evaluation_splits(experiment)[1]
    scores = evaluate_model(
        read_model(model_file(experiment, variant)).model,
        split,
        worlds(experiment),
        drive=variant.drive,
        sliding=experiment.options.sliding,
        times=fastest_times(experiment, split),
        tables=experiment.tables,
        sample_seed=variant.seed if sampled else None,
    )
    stored = StoredScores.from_scores(scores)
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as stream:
        stream.write(msgspec.json.encode(stored))
    _log.info("evaluated: %s, SR %s, SPL %s, SCT %s", variant.name, *map(scores.format, RATES))
    return stored


def model_file(experiment: Experiment, variant: Variant) -> Path:
    """The file of a trained agent."""
    return experiment.out / "models" / f"{variant.name}.safetensors"


def _seconds_file(experiment: Experiment, variant: Variant) -> Path:
    return experiment.out / "models" / f"{variant.name}.seconds.json"


@cache
def training_split(experiment: Experiment) -> Split:
    """The houses to train in, with their episodes."""
    split = _read(experiment, "train")
    if experiment.held_out:
        split = _in_houses(split, _held_out_houses(split, inside=False))
    return split if experiment.houses is None else _in_houses(split, split.world_ids[: experiment.houses])


@cache
def evaluation_splits(experiment: Experiment) -> tuple[Split, Split]:
    """The episodes in houses to choose models by, and those in houses to report."""
    split = _read(experiment, "train" if experiment.held_out else "val_unseen")
    if experiment.held_out:
        split = _in_houses(split, _held_out_houses(split, inside=True))
    if experiment.episodes is not None:
        split = _first_episodes(split, experiment.episodes)
    if len(split.world_ids) < 2:
        raise BadArgument(
            f"{split.name} has one house: models are chosen in half of the houses, reported in the other."
        )
    half = len(split.world_ids) // 2
    first, second = _in_houses(split, split.world_ids[:half]), _in_houses(split, split.world_ids[half:])
    return replace(first, name=f"{split.name}_1"), replace(second, name=f"{split.name}_2")


@cache
def fastest_times(experiment: Experiment, split: Split) -> FastestTimes:
    """The fastest times of a split for the unicycle of the paper, planned once and kept in a file."""
    experiment.out.mkdir(parents=True, exist_ok=True)
    file = experiment.out / f"times-{split.name}.jsonl"
    times, _ = plan_fastest_times(split, experiment.season, ReferenceRobot(), out=file, workers=0)
    return times


_OPENED: dict[Path, Mapping[str, World]] = {}


def worlds(experiment: Experiment) -> Mapping[str, World]:
    """The houses of the season for the paper's robot."""
    if experiment.season not in _OPENED:
        opened = load_worlds(experiment.season, PROTOCOLS["pointnav"])
        _OPENED[experiment.season] = LazyMapping(opened, opened.__getitem__, cache_size=HOUSES)
    return _OPENED[experiment.season]


def _read(experiment: Experiment, name: str) -> Split:
    return read_tasks(experiment.season / "pointnav" / name / f"{name}.json.gz")


def _in_houses(split: Split, world_ids: Sequence[str]) -> Split:
    kept = set(world_ids)
    return replace(split, episodes=tuple(episode for episode in split.episodes if episode.world_id in kept))


def _first_episodes(split: Split, count: int) -> Split:
    """The first episodes of each house."""
    seen: dict[str, int] = {}
    kept = []
    for episode in split.episodes:
        seen[episode.world_id] = seen.get(episode.world_id, 0) + 1
        if seen[episode.world_id] <= count:
            kept.append(episode)
    return replace(split, episodes=tuple(kept))


def _held_out_houses(split: Split, *, inside: bool) -> list[str]:
    order = generator(0, "held out").permutation(len(split.world_ids))
    held_out = {split.world_ids[int(k)] for k in order[: max(2, len(order) // HELD_OUT_EVERY)]}
    return [world_id for world_id in split.world_ids if (world_id in held_out) == inside]


# The table


@dataclass(frozen=True)
class Cell:
    """A mean over seeds: its interval over houses, and the deviation between seeds."""

    interval: Interval
    deviation: float  # nan for one seed

    def __str__(self) -> str:
        found = self.interval
        spread = f" ± {100 * self.deviation:.1f}" if np.isfinite(self.deviation) else ""
        return f"{100 * found.mean:.1f}{spread} ({100 * found.low:.1f} – {100 * found.high:.1f})"


def solved_by_all(scores: Sequence[StoredScores]) -> Array:
    """(episodes,) True where every agent succeeds."""
    return np.asarray(np.all([one.column("SR") > 0 for one in scores], axis=0))


def mean_cell(scores: Sequence[StoredScores], metric: str, masks: Sequence[Array] | None = None) -> Cell:
    """The mean of a metric over the seeds of an agent.

    With `masks`, a seed counts only the episodes of its mask, such as those that all agents of that seed solved.
    """
    values = [one.column(metric) for one in scores]
    chosen = [np.ones(len(one), dtype=bool) for one in values] if masks is None else list(masks)
    means = [float(one[mask].mean()) if mask.any() else np.nan for one, mask in zip(values, chosen, strict=True)]
    rows = np.concatenate([one[mask] for one, mask in zip(values, chosen, strict=True)])
    houses = [
        house for one, mask in zip(scores, chosen, strict=True) for house in np.array(one.world_ids)[mask].tolist()
    ]
    deviation = float(np.std(means, ddof=1)) if len(means) > 1 else np.nan
    return Cell(interval(rows, clusters=houses, bounds=(0.0, 1.0)), deviation)


def compare_agents(
    a: Sequence[StoredScores], b: Sequence[StoredScores], metric: str, *, jointly_solved: bool = True
) -> Difference:
    """a - b, seed by seed on the same episodes: those that both solve, or all. Houses are the sample."""
    differences, houses = [], []
    for one, other in zip(a, b, strict=True):
        mask = solved_by_all([one, other]) if jointly_solved else np.ones(len(one.episode_ids), dtype=bool)
        differences.append(one.column(metric)[mask] - other.column(metric)[mask])
        houses += np.array(one.world_ids)[mask].tolist()
    rows = np.concatenate(differences)
    return paired_difference(rows, np.zeros(len(rows)), rng=generator(0, "compare", metric), clusters=houses)


def judge_claim(difference: Difference, sign: int) -> str:
    """Whether a difference has the sign that is claimed: held, not held, or open if its interval contains 0."""
    low, high = sign * difference.interval.low, sign * difference.interval.high
    if min(low, high) > 0:
        return "held"
    return "not held" if max(low, high) < 0 else "open"
