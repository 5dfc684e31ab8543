"""Subsets of a split: does the stated error hold, how much do control variates save, does stopping keep its coverage?

First part. From a split whose scores are known for every episode, `--draws` subsets of `--size` episodes are drawn. For
each, the mean of the full split is estimated from the subset alone, without and with another agent as control variate.
"stated" is the share of the draws in which the estimate lies within the error that was stated when the subset was
drawn, "covers" the share in which the 95 % interval contains the mean of the full split, without and with the control
variate. "variance" is that of the estimate relative to the mean of equally many episodes drawn without strata, as
subsets are usually drawn: by strata and paths alone, and with the control variate.

With ITINERA_DATA, the splits are R2R val-unseen with the two prediction files of PREVALENT: one of them answers all
instructions of a path alike ("per path"), the other each on its own ("per instruction"). Without, or with --simulated,
the agents are simulated on a split of the same shape.

Expected: stated error and intervals hold in 93 – 97 % of the draws. For the agent "per path", the other as control
variate leaves less than half of the variance. In the other direction it cannot: 46 % of the variance of the agent "per
instruction" lies between the instructions of a path, which the other answers alike.

Second part. The episodes of a split are run in random order until the confidence sequence is short enough. "ever" is
the share of `--orders` random orders in which the sequence misses the mean of the split at any moment, from the first
episode to the last: at most 5 %. It does where a fortune of the true mean exceeds its limit, so only that mean is
followed. "naive" is the share in which an interval made for a fixed number of episodes, looked at from the thirtieth
on, misses when it is first short enough. "episodes" is where the run stops, on average over 20 orders, and "excess" by
how much that exceeds the number of episodes which a fixed sample needs for the same width.

    ITINERA_DATA=… python recipes/subsets.py --draws 1000
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

import itinera
from itinera.analysis.extrapolation import extrapolate
from itinera.analysis.sampling import draw_subset
from itinera.records import Column, ScoreTable
from itinera.seeding import generator
from itinera.stats.sequential import ConfidenceSequence
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Pose

Floats = NDArray[np.float64]

METRICS = ("SR", "SPL", "NE", "nDTW")
LOWEST, HIGHEST = 0.93, 0.97  # share of the draws
CHANCE = 0.007  # the standard deviation of such a share in a thousand draws
R2R_SIZES = (6, 15, 47, 60, 64, 93, 98, 100, 100, 100, 100)  # paths of the scenes of R2R val-unseen
INSTRUCTIONS = 3
PREVALENT = "prevalent_seq2seq_teacher_imagenet_val_unseen_iter_36000"
PER_PATH, PER_INSTRUCTION = "per path", "per instruction"
HALF_WIDTHS = (0.02, 0.05)
STOPPED_ORDERS = 20  # of which the number of episodes is counted
FIRST_LOOK = 30


@dataclass(frozen=True)
class SubsetQuality:
    """What the draws of one agent and metric show."""

    agent: str
    metric: str
    stated: float  # share of the draws
    covers: float
    covers_adjusted: float  # with the control variate
    variance: float  # relative to a simple random sample
    variance_adjusted: float

    @property
    def holds(self) -> bool:
        shares = (self.stated, self.covers, self.covers_adjusted)
        return all(LOWEST - CHANCE <= share <= HIGHEST + CHANCE for share in shares)


@dataclass(frozen=True)
class StoppingQuality:
    """What runs in random orders show."""

    ever: float
    naive: float
    episodes: float
    excess: float


def real_split(data: Path) -> tuple[Split, dict[str, ScoreTable]]:
    """R2R val-unseen, scored for the two prediction files."""
    tasks, worlds = itinera.read_tasks(data / "r2r/R2R_val_unseen.json.gz"), data / "connectivity.tar.xz"
    files = {PER_PATH: f"{PREVALENT}.json.gz", PER_INSTRUCTION: f"{PREVALENT}_add.json.gz"}
    graphs = itinera.read_worlds(worlds)
    scores = {name: itinera.score(data / "predictions/r2r" / file, tasks, graphs) for name, file in files.items()}
    return tasks, {name: _restrict(table) for name, table in scores.items()}


def simulated_split(seed: int) -> tuple[Split, dict[str, ScoreTable]]:
    """A split of the shape of R2R val-unseen, with two agents that find much the same paths hard."""
    rng = generator(seed, "subsets")
    episodes, difficulty = [], []
    for scene, paths in enumerate(R2R_SIZES):
        scene_effect = rng.normal(0, 0.4)
        for path in range(paths):
            edges = int(rng.integers(4, 8))
            effect = scene_effect + rng.normal(0, 1.5) + 0.2 * (edges - 5.5)
            reference = tuple(f"n{k}" for k in range(edges + 1))
            for k in range(INSTRUCTIONS):
                name = f"{scene}-{path}"
                episodes.append(_episode(f"{name}_{k}", f"scene{scene}", name, reference))
                difficulty.append(effect)
    split = Split("simulated", tuple(episodes))
    hard, per_path = np.array(difficulty), np.repeat(np.arange(sum(R2R_SIZES)), INSTRUCTIONS)
    alike = rng.logistic(size=sum(R2R_SIZES))[per_path]
    logits = {PER_PATH: 0.5 - hard + alike, PER_INSTRUCTION: -hard + rng.logistic(size=len(hard))}
    return split, {name: _make_scores(name, split, logit, rng) for name, logit in logits.items()}


def _episode(name: str, scene: str, path: str, reference: tuple[str, ...]) -> Episode:
    return Episode(
        id=name,
        world_id=scene,
        path_id=path,
        start=Pose(reference[0]),
        goals=reference[-1:],
        reference=reference,
        instruction=Instruction("go"),
    )


def _make_scores(name: str, split: Split, logit: Floats, rng: np.random.Generator) -> ScoreTable:
    """Success where the logit is above 0; the other metrics follow it."""
    success = (logit > 0).astype(np.float64)
    values = {
        "SR": success,
        "SPL": success * (1 - 0.3 / (1 + np.exp(logit))),
        "NE": 6 / (1 + np.exp(logit)) + np.where(success == 1, 0.0, 2.0),
        "nDTW": 1 / (1 + np.exp(-0.7 * logit)),
    }
    table = ScoreTable.from_values(
        values,
        world_ids=[one.world_id for one in split],
        episode_ids=[one.id for one in split],
        path_ids=[one.path_id for one in split],
    )
    columns = tuple(replace(one, unit="m", better="lower") if one.name == "NE" else one for one in table.columns)
    return replace(table, columns=columns, source=name)


def _restrict(table: ScoreTable) -> ScoreTable:
    columns: tuple[Column, ...] = tuple(one for one in table.columns if one.name in METRICS)
    return replace(table, columns=columns, values={name: table[name] for name in METRICS})


def measure_subsets(
    split: Split, agent: ScoreTable, reference: ScoreTable, *, draws: int, size: int, seed: int
) -> list[SubsetQuality]:
    """What `draws` subsets of a split show for one agent, with another as control variate."""
    found: dict[str, list[tuple[float, ...]]] = {metric: [] for metric in METRICS}
    for draw in range(draws):
        subset = draw_subset(split, size, seed=seed * draws + draw, reference=agent)
        plain, adjusted = extrapolate(agent, subset), extrapolate(agent, subset, [reference])
        for metric in METRICS:
            truth, one, other = agent[metric].mean(), plain[metric].split, adjusted[metric].split
            found[metric].append((
                one.mean - truth, other.mean - truth,
                abs(one.mean - truth) <= subset.half_widths[metric],
                one.low <= truth <= one.high, other.low <= truth <= other.high,
            ))  # fmt: skip
    simple = {metric: (1 - size / len(split)) * agent[metric].var(ddof=1) / size for metric in METRICS}
    return [
        _summarize(agent.source, metric, np.array(rows, dtype=np.float64), simple[metric])
        for metric, rows in found.items()
    ]


def _summarize(agent: str, metric: str, rows: Floats, simple: float) -> SubsetQuality:
    """The quality of the draws; `simple` is the variance of the mean of a simple random sample."""
    strata, adjusted = (rows[:, :2] ** 2).mean(axis=0).tolist()
    return SubsetQuality(agent, metric, *rows[:, 2:].mean(axis=0).tolist(), strata / simple, adjusted / simple)


def measure_stopping(values: Floats, half_width: float, *, orders: int, seed: int) -> StoppingQuality:
    """What runs in random orders show for the values of a metric."""
    rng = generator(seed, "orders", str(half_width), str(len(values)), str(float(values.mean())))
    drawn = rng.permuted(np.tile(values, (orders, 1)), axis=1)
    counts = [count_until_short(row, half_width) for row in drawn[:STOPPED_ORDERS]]
    needed = 1.96**2 * float(values.var()) / half_width**2
    excess = float(np.mean(counts)) / (needed / (1 + needed / len(values))) - 1
    ever, naive = float(miss_ever(drawn, half_width).mean()), float(miss_naively(drawn, half_width).mean())
    return StoppingQuality(ever, naive, float(np.mean(counts)), excess)


def count_until_short(values: Floats, half_width: float) -> int:
    """The number of episodes after which the confidence sequence is short enough."""
    sequence = ConfidenceSequence(len(values), half_width=half_width)
    while not sequence.is_done:
        sequence.add(float(values[sequence.count]))
    return sequence.count


def miss_ever(drawn: Floats, half_width: float, level: float = 0.95) -> NDArray[np.bool_]:
    """(orders,) whether the sequence excludes the true mean at any moment; a twin of `ConfidenceSequence` for one mean.

    drawn: (orders, episodes), the values in the order of each run.
    """
    size, mean, limit = drawn.shape[1], float(drawn[0].mean()), math.log(2 / (1 - level))
    sums, squares = np.zeros(len(drawn)), np.zeros(len(drawn))
    up, down, missed = np.zeros(len(drawn)), np.zeros(len(drawn)), np.zeros(len(drawn), dtype=bool)
    for count, value in enumerate(drawn.T):
        fair = np.clip((size * mean - sums) / (size - count), 0.0, 1.0)
        seen = (sums + 1) / (count + 2)
        variance = np.maximum((squares + 0.5) / (count + 2) - (seen - 0.5) ** 2, 1e-3)
        bet = half_width * size / (size - count) / variance
        with np.errstate(divide="ignore"):
            up += np.log1p(np.minimum(bet, 0.5 / fair) * (value - fair))
            down += np.log1p(-np.minimum(bet, 0.5 / (1 - fair)) * (value - fair))
        missed |= np.maximum(up, down) >= limit
        sums += value
        squares += (value - 0.5) ** 2
    return missed


def miss_naively(drawn: Floats, half_width: float) -> NDArray[np.bool_]:
    """(orders,) whether an ordinary interval, looked at from the thirtieth episode on, misses when it is short."""
    size = drawn.shape[1]
    count = np.arange(1, size + 1)
    means = np.cumsum(drawn, axis=1) / count
    variances = np.maximum(np.cumsum(drawn**2, axis=1) / count - means**2, 0.0)
    reach = 1.96 * np.sqrt(variances / count * (1 - count / size))
    stops = ((count >= FIRST_LOOK) & (reach <= half_width)).argmax(axis=1)
    rows = np.arange(len(drawn))
    return np.asarray(np.abs(means[rows, stops] - drawn[0].mean()) > reach[rows, stops] + 1e-12)


def populations(scores: Mapping[str, ScoreTable]) -> dict[str, Floats]:
    """The values whose runs are stopped: real or simulated ones, and rates near their ends."""
    table = scores[PER_INSTRUCTION]
    size = len(table)
    named = {metric: np.clip(table[metric], 0, 1) for metric in ("SR", "SPL", "nDTW")}
    rates = {f"SR {rate:.0%}": (np.arange(size) < rate * size).astype(np.float64) for rate in (0.02, 0.1, 0.95)}
    return named | rates


def main(
    draws: Annotated[int, typer.Option(min=2, help="Number of subsets to draw.")] = 1000,
    orders: Annotated[int, typer.Option(min=2, help="Number of orders to run each split in.")] = 2000,
    size: Annotated[int, typer.Option(min=2, help="Episodes of a subset.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 1,
    simulated: Annotated[bool, typer.Option("--simulated", help="Simulated agents, also with ITINERA_DATA.")] = False,
) -> None:
    """Print both tables; exit 1 if an error or a coverage is not as stated."""
    data = os.environ.get("ITINERA_DATA")
    split, scores = simulated_split(seed) if simulated or not data else real_split(Path(data))
    scores = {name: replace(table, source=name) for name, table in scores.items()}
    console = Console(width=120)
    failures = _print_subsets(console, split, scores, draws, size, seed)
    failures += _print_stopping(console, scores, orders, seed)
    if failures:
        raise typer.Exit(1)


def _print_subsets(
    console: Console, split: Split, scores: Mapping[str, ScoreTable], draws: int, size: int, seed: int
) -> int:
    title = f"{draws} subsets of {size} of the {len(split)} episodes of {split.name}"
    table = Table("agent", "metric", "stated", "covers", "with control variate", "", "variance", "with it", title=title)
    slack = 2 * math.sqrt(0.05 * 0.95 / draws) if draws < 1000 else 0.0  # few draws fail by chance
    found: list[SubsetQuality] = []
    for name, other in track(((PER_PATH, PER_INSTRUCTION), (PER_INSTRUCTION, PER_PATH)), console=_progress()):
        found += measure_subsets(split, scores[name], scores[other], draws=draws, size=size, seed=seed)
    failures = 0
    for one in found:
        passed = one.holds or bool(slack)
        failures += not passed
        shares = (f"{share:.1%}" for share in (one.stated, one.covers, one.covers_adjusted))
        verdict = "[green]PASS[/]" if passed else "[red]FAIL[/]"
        table.add_row(one.agent, one.metric, *shares, verdict, f"{one.variance:.2f}", f"{one.variance_adjusted:.2f}")
    console.print(table)
    if split.name == "simulated":
        return failures
    halved = all(one.variance_adjusted <= 0.5 for one in found if one.agent == PER_PATH)
    console.print(f"The variance of the agent {PER_PATH!r} is at least halved: {'yes' if halved else 'no'}.")
    return failures + (not halved)


def _print_stopping(console: Console, scores: Mapping[str, ScoreTable], orders: int, seed: int) -> int:
    title = f"{orders} runs in random order, stopped by a confidence sequence"
    table = Table("metric", "until", "ever", "", "naive", "episodes", "excess", title=title)
    cases: Sequence[tuple[str, Floats, float]] = [
        (name, values, width) for name, values in populations(scores).items() for width in HALF_WIDTHS
    ]
    failures = 0
    for name, values, width in track(cases, console=_progress()):
        one = measure_stopping(values, width, orders=orders, seed=seed)
        passed = one.ever <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / orders)
        failures += not passed
        verdict = "[green]PASS[/]" if passed else "[red]FAIL[/]"
        shares = f"{one.ever:.1%}", verdict, f"{one.naive:.1%}"
        table.add_row(name, f"± {100 * width:g}", *shares, f"{one.episodes:.0f}", f"{one.excess:+.0%}")
    console.print(table)
    return failures


def _progress() -> Console:
    return Console(stderr=True)


if __name__ == "__main__":
    typer.run(main)
