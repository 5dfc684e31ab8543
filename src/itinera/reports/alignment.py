"""Metrics of several results on the same episodes, row by row: what comparisons are computed from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.records import Column, ScoreTable
from itinera.records.runs import check_same_rules, find_order, linearize
from itinera.records.summary import drop_repeated_bound
from itinera.stats import BestOfRuns, RunVariation, run_variation, tie_groups
from itinera.worlds import Array


@dataclass(frozen=True, eq=False)
class AlignedMetric:
    """The values of a metric that all systems have, on the same episodes or tours."""

    column: Column
    runs: tuple[Array, ...]  # by system: (runs, rows)
    scenes: NDArray[np.str_]  # (rows,)
    weights: Array | None = None  # (rows,)
    outcomes: tuple[Array, ...] | None = None  # compared episode by episode, if these are not the values
    corrections: tuple[BestOfRuns | None, ...] = ()  # by system, where its values have been corrected

    @property
    def values(self) -> Array:
        """(systems, rows), averaged over runs."""
        return np.stack([runs.mean(axis=0) for runs in self.runs])

    @property
    def variations(self) -> tuple[RunVariation | None, ...]:
        """The variation between the runs of each system; None for a single run."""
        return tuple(
            run_variation(runs, clusters=self.scenes, weights=self.weights) if len(runs) > 1 else None
            for runs in self.runs
        )

    @property
    def extra(self) -> list[list[tuple[float, float]]]:
        """By system: further variances of its mean, with their degrees of freedom."""
        return [[] if found is None else [found.variance] for found in self.corrections or (None,) * len(self.runs)]

    def correct(self, best_of: Sequence[BestOfRuns | None]) -> AlignedMetric:
        """The metric with the values of systems that report the best of their runs moved by the expected gain."""
        sign = -1.0 if self.column.better == "lower" else 1.0
        runs = tuple(
            values if found is None else values - sign * found.gain
            for values, found in zip(self.runs, best_of, strict=True)
        )
        # P(better) compares the values as they are: moved ones would no longer be equal where both systems succeed.
        return replace(self, runs=runs, outcomes=self.outcomes or self.runs, corrections=tuple(best_of))

    def letters(self, *, level: float = 0.95) -> tuple[str, ...]:
        """The tie groups of each system: systems that share a letter do not differ significantly."""
        sign = -1.0 if self.column.better == "lower" else 1.0
        ties = tie_groups(
            [sign * runs for runs in self.runs], clusters=self.scenes, weights=self.weights, extra=self.extra,
            level=level,
        )  # fmt: skip
        return tuple("".join(sorted(group)) for group in ties.groups)


def align_metrics(names: Sequence[str], tables: Sequence[ScoreTable]) -> Iterator[AlignedMetric]:
    """Every metric that all results have, of episodes and then of tours."""
    shared = [column for column in tables[0].columns if all(column.name in table.values for table in tables)]
    for column in drop_repeated_bound(shared, tables):
        if all(column.name in table.weights for table in tables):
            yield from _align_pooled(names, tables, column)
            continue
        runs, scenes = align_runs(names, tables, column.name)
        if len(scenes):
            yield AlignedMetric(column, runs, scenes)
    tour_tables = [table.tours for table in tables if table.tours is not None]
    if len(tour_tables) == len(tables):
        for column in tour_tables[0].columns:
            aligned = _align_tours(names, tables, column)
            if len(aligned.scenes):
                yield aligned


def align_runs(
    names: Sequence[str], tables: Sequence[ScoreTable], metric: str
) -> tuple[tuple[Array, ...], NDArray[np.str_]]:
    """By system (runs, episodes) values where every run has a finite one, and (episodes,) the scene of each."""
    runs = _stack_runs(names, tables, metric)
    defined = np.all([np.isfinite(values).all(axis=0) for values in runs], axis=0)
    return tuple(values[:, defined] for values in runs), np.asarray(tables[0].world_ids)[defined]


def _stack_runs(names: Sequence[str], tables: Sequence[ScoreTable], metric: str) -> list[Array]:
    """By system (runs, episodes) values of a metric, in the episode order of the first system."""
    found = []
    for name, table in zip(names, tables, strict=True):
        order = find_order(tables[0], table, name)
        found.append(np.stack([run[metric][order] for run in table.runs or (table,)]))
    return found


def align_values(names: Sequence[str], tables: Sequence[ScoreTable], metric: str) -> tuple[Array, NDArray[np.str_]]:
    """(systems, episodes) values where every system has a finite one, and (episodes,) the scene of each."""
    values = stack_values(names, tables, metric)
    defined = np.isfinite(values).all(axis=0)
    return values[:, defined], np.asarray(tables[0].world_ids)[defined]


def stack_values(names: Sequence[str], tables: Sequence[ScoreTable], metric: str) -> Array:
    """(systems, episodes) values of a metric, in the episode order of the first system."""
    order = [find_order(tables[0], table, name) for table, name in zip(tables, names, strict=True)]
    return np.stack([table[metric][rows] for table, rows in zip(tables, order, strict=True)])


def check_comparable(names: Sequence[str], tables: Sequence[ScoreTable]) -> None:
    """Raise BadArgument unless there are at least two results, of the same protocol and suite."""
    if len(tables) < 2:
        raise BadArgument(
            'A comparison needs at least two results: compare({"mine": scores, "baseline": other}), or two bundles of '
            "`itinera score --out`."
        )
    first = tables[0]
    for name, table in zip(names[1:], tables[1:], strict=True):
        check_same_rules((names[0], name), first, table)


def _align_tours(names: Sequence[str], tables: Sequence[ScoreTable], column: Column) -> AlignedMetric:
    """A metric of tours, each with its weight, where every run has a value."""
    first = tables[0].tours
    assert first is not None
    for name, table in zip(names, tables, strict=True):
        if table.tours is None or table.tours.tour_ids != first.tour_ids:
            raise BadArgument(
                f"{name} was scored on other tours than {names[0]}. Score both with the same --tours file."
            )
    weights = first.weights[column.name]
    runs = [
        np.stack([run.tours[column.name] for run in table.runs or (table,) if run.tours is not None])
        for table in tables
    ]
    counted = np.all([np.isfinite(values).all(axis=0) for values in runs], axis=0) & (weights > 0)
    scenes = np.asarray(first.world_ids)[counted]
    return AlignedMetric(column, tuple(values[:, counted] for values in runs), scenes, weights[counted])


def _align_pooled(names: Sequence[str], tables: Sequence[ScoreTable], column: Column) -> Iterator[AlignedMetric]:
    """A metric whose mean is pooled over steps. Every run has weights of its own, so a difference of such means is
    tested on linearized values, whose plain means are the pooled ones."""
    values = _stack_runs(names, tables, column.name)
    weights = _stack_runs(names, [_weights_as_values(table) for table in tables], column.name)
    counted = np.all([(np.isfinite(x) & (w > 0)).all(axis=0) for x, w in zip(values, weights, strict=True)], axis=0)
    if not counted.any():
        return
    outcomes = tuple(x[:, counted] for x in values)
    linearized = tuple(
        np.stack([linearize(run, weight[counted]) for run, weight in zip(x, w, strict=True)])
        for x, w in zip(outcomes, weights, strict=True)
    )
    yield AlignedMetric(column, linearized, np.asarray(tables[0].world_ids)[counted], outcomes=outcomes)


def _weights_as_values(table: ScoreTable) -> ScoreTable:
    return replace(table, values=table.weights, runs=tuple(replace(run, values=run.weights) for run in table.runs))
