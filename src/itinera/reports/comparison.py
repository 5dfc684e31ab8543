"""Pairwise comparison of results on the same episodes: differences, intervals, permutation tests, tie groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.records import Column, ScoreTable, TourTable
from itinera.records.summary import drop_repeated_bound
from itinera.records.tables import (
    TextTable,
    column_heading,
    count_episodes,
    count_noun,
    format_difference,
    format_number,
    table_width,
    to_html,
    to_text,
)
from itinera.seeding import generator
from itinera.stats import Difference, Interval, paired_difference, probability_of_improvement, tie_groups
from itinera.tasks.split import SplitPart
from itinera.worlds import Array

PERMUTATIONS = 10_000  # random ones, if there are too many scenes to try all
BESIDE_A_DIFFERENCE = ("p", "P(better)")  # columns of the table


@dataclass(frozen=True)
class MetricComparison:
    """One metric of all systems; differences are each later system minus the first."""

    column: Column
    episodes: int  # or tours, for a tour metric: those on which every system has a value
    means: tuple[float, ...]
    differences: tuple[Difference, ...]
    improvements: tuple[Interval, ...]  # P(the later system is better on an episode), ties halved
    letters: tuple[str, ...]  # systems that share a letter do not differ significantly


@dataclass(frozen=True)
class Comparison:
    """Results of two or more systems on the same episodes, by one protocol and suite. `print` shows the table."""

    names: tuple[str, ...]
    metrics: tuple[MetricComparison, ...]
    episodes: int
    scenes: int
    suite: str
    protocol: str
    part: SplitPart | None = None  # which part of the split the episodes are; None for the whole

    def __getitem__(self, metric: str) -> MetricComparison:
        for found in self.metrics:
            if found.column.name == metric:
                return found
        known = ", ".join(m.column.name for m in self.metrics)
        raise KeyError(f"no metric {metric!r} in this comparison; there are {known}")

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.names)}: {count_noun(len(self.metrics), 'metric')}, {self._sample})"

    @property
    def _sample(self) -> str:
        return f"{count_episodes(self.episodes, self.part)} in {count_noun(self.scenes, 'scene')}"

    def __str__(self) -> str:
        return to_text(self.to_table())

    def _repr_html_(self) -> str:
        return to_html(self.to_table())

    def to_table(self, *, max_width: int | None = None) -> TextTable:
        """A row per metric: each system's mean and letters, then each difference with its interval, p and P(better).

        If that is wider than `max_width` columns of a terminal, numbers stand for the names, which the title explains;
        if that does not suffice, each system has its own row.
        """
        for layout in (self._wide_table(self.names), self._wide_table(self._numbers)):
            if max_width is None or table_width(layout) <= max_width:
                return layout
        return self._long_table()

    @property
    def _numbers(self) -> tuple[str, ...]:
        return tuple(str(k) for k in range(1, len(self.names) + 1))

    def _title(self, names: Sequence[str]) -> str:
        title = f"{self._sample} · suite {self.suite} · protocol {self.protocol}"
        if names is self.names:
            return title
        return f"{title} · {', '.join(f'{k}: {name}' for k, name in zip(names, self.names, strict=True))}"

    def _wide_table(self, names: Sequence[str]) -> TextTable:
        headings = ["metric", *names]
        for name in names[1:]:
            headings += [f"{name} − {names[0]}", *BESIDE_A_DIFFERENCE]
        return TextTable(tuple(headings), tuple(_row(metric) for metric in self.metrics), self._title(names))

    def _long_table(self) -> TextTable:
        """A row per metric and system."""
        count, stride = len(self.names), 1 + len(BESIDE_A_DIFFERENCE)
        rows = []
        for metric in self.metrics:
            heading, *cells = _row(metric)
            for k, number in enumerate(self._numbers):
                compared = cells[count + stride * (k - 1) :][:stride] if k else [""] * stride
                rows.append((heading if k == 0 else "", number, cells[k], *compared))
        headings = ("metric", "", "mean", "difference from 1", *BESIDE_A_DIFFERENCE)
        return TextTable(headings, tuple(rows), self._title(self._numbers))

    def colors(self, *, max_width: int | None = None) -> dict[tuple[int, int], str]:
        """Green or red for each difference that is significant, by row and column of the table."""
        count, stride = len(self.names), 1 + len(BESIDE_A_DIFFERENCE)
        is_long = len(self.to_table(max_width=max_width).rows) > len(self.metrics)
        return {
            (row * count + k, 3) if is_long else (row, 1 + count + stride * (k - 1)): "green"
            if (gap.interval.mean > 0) == (metric.column.better == "higher")
            else "red"
            for row, metric in enumerate(self.metrics)
            for k, gap in enumerate(metric.differences, start=1)
            if metric.column.better != "neither" and not set(metric.letters[0]) & set(metric.letters[k])
        }

    def remarks(self) -> Iterator[str]:
        """A sentence on p-values that are the smallest possible, so that nobody reads a size of the effect in them."""
        gaps = [gap for metric in self.metrics if metric.column.better != "neither" for gap in metric.differences]
        if self.scenes == 1:
            yield "One scene: there is nothing to permute, so p is 1 whatever the difference."
            return
        exact = [gap.p_value for gap in gaps if gap.exact and gap.p_value <= 1.5 * 2.0 ** (1 - self.scenes)]
        if exact:
            yield (
                f"p = {min(exact):.3g} is the smallest possible with {self.scenes} scenes, however large the "
                "difference. More scenes would give smaller ones, more episodes would not."
            )
        sampled = [gap.p_value for gap in gaps if not gap.exact and gap.p_value <= 1.5 / PERMUTATIONS]
        if sampled:
            yield f"p = {min(sampled):.3g} is the smallest possible with {PERMUTATIONS:,} random permutations."

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain values for JSON: fractions, metres and seconds, never percentages."""
        return {
            "systems": self.names,
            "episodes": self.episodes,
            **({} if self.part is None else {"part": asdict(self.part)}),
            "scenes": self.scenes,
            "suite": self.suite,
            "protocol": self.protocol,
            "metrics": {metric.column.name: _metric_dict(self.names, metric) for metric in self.metrics},
        }


def _row(metric: MetricComparison) -> tuple[str, ...]:
    column, ranked = metric.column, metric.column.better != "neither"
    letters = metric.letters if ranked else [""] * len(metric.letters)
    cells = [column_heading(column)]
    cells += [f"{format_number(column, mean)} {s}".strip() for mean, s in zip(metric.means, letters, strict=True)]
    for difference, better in zip(metric.differences, metric.improvements, strict=True):
        gap = difference.interval
        low, high = (format_difference(column, x) for x in (gap.low, gap.high))
        cells += [f"{format_difference(column, gap.mean)} [{low}, {high}]", f"{difference.p_value:.3g}"]
        cells.append(f"{better.mean:.2f}" if ranked else "")
    return tuple(cells)


def _metric_dict(names: Sequence[str], metric: MetricComparison) -> dict[str, Any]:
    return {
        "episodes": metric.episodes,
        "means": dict(zip(names, metric.means, strict=True)),
        "letters": dict(zip(names, metric.letters, strict=True)),
        "differences": {
            name: {
                "mean": difference.interval.mean,
                "low": difference.interval.low,
                "high": difference.interval.high,
                "p_value": difference.p_value,
                "probability_of_improvement": better.mean,
            }
            for name, difference, better in zip(names[1:], metric.differences, metric.improvements, strict=True)
        },
    }


def compare(names: Sequence[str], tables: Sequence[ScoreTable], *, seed: int = 0, level: float = 0.95) -> Comparison:
    """Results on the same episodes compared pair by pair: each later one minus the first, clustered by scene.

    Raises BadArgument unless protocol, suite and episodes of all results are the same.
    """
    check_comparable(names, tables)
    first = tables[0]
    metrics = [_compare_metric(metric, seed, level) for metric in align_metrics(names, tables)]
    return Comparison(
        names=tuple(names),
        metrics=tuple(metrics),
        episodes=len(first),
        scenes=len(set(first.world_ids)),
        suite=first.suite,
        protocol=first.protocol.label,
        part=first.part,
    )


@dataclass(frozen=True, eq=False)
class AlignedMetric:
    """The values of a metric that all systems have, on the same episodes or tours."""

    column: Column
    values: Array  # (systems, rows)
    scenes: NDArray[np.str_]  # (rows,)
    weights: Array | None = None  # (rows,)
    outcomes: Array | None = None  # compared episode by episode, if these are not the values

    def letters(self, *, level: float = 0.95) -> tuple[str, ...]:
        """The tie groups of each system: systems that share a letter do not differ significantly."""
        sign = -1.0 if self.column.better == "lower" else 1.0
        ties = tie_groups(sign * self.values, clusters=self.scenes, weights=self.weights, level=level)
        return tuple("".join(sorted(group)) for group in ties.groups)


def align_metrics(names: Sequence[str], tables: Sequence[ScoreTable]) -> Iterator[AlignedMetric]:
    """Every metric that all results have, of episodes and then of tours."""
    shared = [column for column in tables[0].columns if all(column.name in table.values for table in tables)]
    for column in drop_repeated_bound(shared, tables):
        values, scenes = align_values(names, tables, column.name)
        if all(column.name in table.weights for table in tables):
            yield from _align_pooled(names, tables, column)
        elif values.size:
            yield AlignedMetric(column, values, scenes)
    tour_tables = [table.tours for table in tables if table.tours is not None]
    if len(tour_tables) == len(tables):
        for column in tour_tables[0].columns:
            values, weights, scenes = _aligned_tours(names, tour_tables, column.name)
            if values.size:
                yield AlignedMetric(column, values, scenes, weights)


def align_values(names: Sequence[str], tables: Sequence[ScoreTable], metric: str) -> tuple[Array, NDArray[np.str_]]:
    """(systems, episodes) values where every system has a finite one, and (episodes,) the scene of each."""
    values = stack_values(names, tables, metric)
    defined = np.isfinite(values).all(axis=0)
    return values[:, defined], np.asarray(tables[0].world_ids)[defined]


def stack_values(names: Sequence[str], tables: Sequence[ScoreTable], metric: str) -> Array:
    """(systems, episodes) values of a metric, in the episode order of the first system."""
    order = [_order(tables[0], table, name) for table, name in zip(tables, names, strict=True)]
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
        if table.protocol.digest != first.protocol.digest:
            raise BadArgument(
                f"{names[0]} was scored under protocol {first.protocol.name} ({first.protocol.digest}), {name} under "
                f"{table.protocol.name} ({table.protocol.digest}). Results of different protocols cannot be compared."
            )
        if table.fingerprint != first.fingerprint:
            raise BadArgument(
                f"{names[0]} was scored with suite {first.suite} ({first.fingerprint}), {name} with {table.suite} "
                f"({table.fingerprint}). Score both with the same suite and version."
            )


def _order(first: ScoreTable, table: ScoreTable, name: str) -> NDArray[np.int64]:
    where = {episode_id: i for i, episode_id in enumerate(table.episode_ids)}
    absent = [episode_id for episode_id in first.episode_ids if episode_id not in where]
    if absent or len(where) != len(first.episode_ids):
        example = f', for example "{absent[0]}"' if absent else ""
        raise BadArgument(
            f"{name} does not have the same episodes as the first result{example}. Score both on one split."
        )
    return np.array([where[episode_id] for episode_id in first.episode_ids], dtype=np.int64)


def _aligned_tours(
    names: Sequence[str], tables: Sequence[TourTable], metric: str
) -> tuple[Array, Array, NDArray[np.str_]]:
    """As `align_values`, over tours, with (tours,) the weight of each."""
    first = tables[0]
    for name, table in zip(names, tables, strict=True):
        if table.tour_ids != first.tour_ids:
            raise BadArgument(
                f"{name} was scored on other tours than {names[0]}. Score both with the same --tours file."
            )
    values = np.stack([table[metric] for table in tables])
    counted = np.isfinite(values).all(axis=0) & (first.weights[metric] > 0)
    return values[:, counted], first.weights[metric][counted], np.asarray(first.world_ids)[counted]


def _align_pooled(names: Sequence[str], tables: Sequence[ScoreTable], column: Column) -> Iterator[AlignedMetric]:
    """A metric whose mean is pooled over steps. Every system has weights of its own, so a difference of such means is
    tested on linearized values, whose plain means are the pooled ones: mean + w (x - mean) / mean(w)."""
    values = stack_values(names, tables, column.name)
    weights = stack_values(names, [replace(table, values=table.weights) for table in tables], column.name)
    counted = np.isfinite(values).all(axis=0) & (weights > 0).all(axis=0)
    if not counted.any():
        return
    values, weights = values[:, counted], weights[:, counted]
    mean = np.average(values, axis=1, weights=weights)[:, None]
    linearized = mean + weights * (values - mean) / weights.mean(axis=1, keepdims=True)
    yield AlignedMetric(column, linearized, np.asarray(tables[0].world_ids)[counted], outcomes=values)


def _compare_metric(metric: AlignedMetric, seed: int, level: float) -> MetricComparison:
    column, values, weights, scenes = metric.column, metric.values, metric.weights, metric.scenes
    outcomes = values if metric.outcomes is None else metric.outcomes
    differences, improvements = [], []
    sign = -1.0 if column.better == "lower" else 1.0
    for k in range(1, len(values)):
        rng = generator(seed, "compare", column.name, str(k))
        differences.append(
            paired_difference(
                values[k], values[0], clusters=scenes, weights=weights, permutations=PERMUTATIONS, level=level, rng=rng
            )
        )
        improvements.append(
            probability_of_improvement(
                sign * outcomes[k], sign * outcomes[0], clusters=scenes, weights=weights, level=level
            )
        )
    return MetricComparison(
        column=column,
        episodes=values.shape[1],
        means=tuple(map(float, np.average(values, axis=1, weights=weights))),
        differences=tuple(differences),
        improvements=tuple(improvements),
        letters=metric.letters(level=level),
    )
