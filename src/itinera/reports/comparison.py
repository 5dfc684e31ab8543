"""Two or more results of the same episodes side by side: who is better, by how much, how sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.records import Column, ScoreTable, TourTable
from itinera.seeding import generator
from itinera.stats import Difference, Interval, paired_difference, probability_of_improvement, tie_groups
from itinera.worlds import Array


@dataclass(frozen=True)
class MetricComparison:
    """One metric over all systems: differences are each later system minus the first."""

    column: Column
    episodes: int  # or tours, for a tour metric: those where every system has a value
    means: tuple[float, ...]
    differences: tuple[Difference, ...]
    improvements: tuple[Interval, ...]  # probability that the later system does better on an episode
    letters: tuple[str, ...]  # systems that share a letter cannot be told apart


@dataclass(frozen=True)
class Comparison:
    names: tuple[str, ...]
    metrics: tuple[MetricComparison, ...]
    episodes: int
    scenes: int
    suite: str
    protocol: str


def compare(names: Sequence[str], tables: Sequence[ScoreTable], *, seed: int = 0, level: float = 0.95) -> Comparison:
    """Results of the same episodes compared pair by pair, scenes as the sample.

    Raises BadArgument where results were made by other rules: protocols, suites and episodes must be the same.
    """
    refuse_mixtures(names, tables)
    first = tables[0]
    metrics = []
    for column in first.columns:
        values, scenes = aligned(names, tables, column.name)
        if values.size:
            metrics.append(_compared(column, values, None, scenes, seed, level))
    toured = [table.tours for table in tables if table.tours is not None]
    if len(toured) == len(tables):
        for column in toured[0].columns:
            values, weights, scenes = _aligned_tours(names, toured, column.name)
            if values.size:
                metrics.append(_compared(column, values, weights, scenes, seed, level))
    return Comparison(
        names=tuple(names),
        metrics=tuple(metrics),
        episodes=len(first),
        scenes=len(set(first.world_ids)),
        suite=first.suite,
        protocol=first.protocol.name,
    )


def aligned(names: Sequence[str], tables: Sequence[ScoreTable], metric: str) -> tuple[Array, NDArray[np.str_]]:
    """(systems, episodes) the metric where every system has a finite value, and (episodes,) the scene of each."""
    values = side_by_side(names, tables, metric)
    defined = np.isfinite(values).all(axis=0)
    return values[:, defined], np.asarray(tables[0].world_ids)[defined]


def side_by_side(names: Sequence[str], tables: Sequence[ScoreTable], metric: str) -> Array:
    """(systems, episodes) the metric of every system, in the order of the first one's episodes."""
    order = [_order(tables[0], table, name) for table, name in zip(tables, names, strict=True)]
    return np.stack([table[metric][rows] for table, rows in zip(tables, order, strict=True)])


def refuse_mixtures(names: Sequence[str], tables: Sequence[ScoreTable]) -> None:
    """Raise BadArgument unless there are two results or more, made by the same rules."""
    if len(tables) < 2:
        raise BadArgument("A comparison needs at least two results.")
    first = tables[0]
    for name, table in zip(names[1:], tables[1:], strict=True):
        if table.protocol.digest != first.protocol.digest:
            raise BadArgument(
                f"{names[0]} was judged by protocol {first.protocol.name} ({first.protocol.digest}), {name} by "
                f"{table.protocol.name} ({table.protocol.digest}). Results of different protocols cannot share a table."
            )
        if table.fingerprint != first.fingerprint:
            raise BadArgument(
                f"{names[0]} was scored by suite {first.suite} ({first.fingerprint}), {name} by {table.suite} "
                f"({table.fingerprint}). Score both with one suite and one version."
            )


def _order(first: ScoreTable, table: ScoreTable, name: str) -> NDArray[np.int64]:
    where = {episode_id: i for i, episode_id in enumerate(table.episode_ids)}
    absent = [episode_id for episode_id in first.episode_ids if episode_id not in where]
    if absent or len(where) != len(first.episode_ids):
        example = f', "{absent[0]}" for one' if absent else ""
        raise BadArgument(f"{name} does not hold the same episodes as the first result{example}. Compare one split.")
    return np.array([where[episode_id] for episode_id in first.episode_ids], dtype=np.int64)


def _aligned_tours(
    names: Sequence[str], tables: Sequence[TourTable], metric: str
) -> tuple[Array, Array, NDArray[np.str_]]:
    """As `aligned`, over tours, with (tours,) what each weighs."""
    first = tables[0]
    for name, table in zip(names, tables, strict=True):
        if table.tour_ids != first.tour_ids:
            raise BadArgument(f"{name} was scored over other tours than {names[0]}. Compare results of one tours file.")
    values = np.stack([table[metric] for table in tables])
    counted = np.isfinite(values).all(axis=0) & (first.weights[metric] > 0)
    return values[:, counted], first.weights[metric][counted], np.asarray(first.world_ids)[counted]


def _compared(
    column: Column, values: Array, weights: Array | None, scenes: NDArray[np.str_], seed: int, level: float
) -> MetricComparison:
    differences, improvements = [], []
    sign = -1.0 if column.better == "lower" else 1.0
    for k in range(1, len(values)):
        rng = generator(seed, "compare", column.name, str(k))
        differences.append(
            paired_difference(values[k], values[0], clusters=scenes, weights=weights, level=level, rng=rng)
        )
        improvements.append(
            probability_of_improvement(
                sign * values[k], sign * values[0], clusters=scenes, weights=weights, level=level
            )
        )
    ties = tie_groups(sign * values, clusters=scenes, weights=weights, level=level)
    return MetricComparison(
        column=column,
        episodes=values.shape[1],
        means=tuple(map(float, np.average(values, axis=1, weights=weights))),
        differences=tuple(differences),
        improvements=tuple(improvements),
        letters=tuple("".join(sorted(group)) for group in ties.groups),
    )
