"""The mean of a whole split, estimated from the scores of a named subset of it. Start with `extrapolate`.

Two intervals answer two questions. That of the *full split* says what the same agent would score on all episodes of the
split: chance is only which of them were drawn, so it shrinks to nothing as the subset grows to the split. That of
*other scenes* says what it would score in other scenes of the kind: chance is which scenes the benchmark has, as in
every other table of Itinera, and no subset is large enough for it to vanish.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from itinera.analysis.sampling import main_metrics, make_design, require_whole
from itinera.errors import BadArgument
from itinera.records import Column, ScoreTable
from itinera.records.tables import TextTable, column_heading, format_number
from itinera.stats import Interval, cluster_codes, interval
from itinera.stats.finite_population import SampleDesign, estimate_population_mean
from itinera.tasks.subset import Subset
from itinera.worlds import Array

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class MetricExtrapolation:
    """One metric: the mean over the full split, and what is known of other scenes."""

    column: Column
    split: Interval  # of the mean over the full split
    scenes: Interval  # of the mean over all scenes of the kind
    standard_error: float  # of the mean over the full split
    plain_error: float  # the same without control variates

    @property
    def variance_left(self) -> float:
        """The share of the variance that control variates leave; 1 without them."""
        return (self.standard_error / self.plain_error) ** 2 if self.plain_error else 1.0


@dataclass(frozen=True)
class Extrapolation:
    """Means over a full split, from the scores of a subset. `print` shows the table."""

    subset: Subset
    source: str
    references: tuple[str, ...]  # agents whose scores on the full split are control variates
    metrics: tuple[MetricExtrapolation, ...]

    def __getitem__(self, metric: str) -> MetricExtrapolation:
        for found in self.metrics:
            if found.column.name == metric:
                return found
        raise KeyError(f"no metric {metric!r}; there are {', '.join(one.column.name for one in self.metrics)}.")

    def to_table(self) -> TextTable:
        headings = ["metric", "mean", f"full split ({self.subset.total:,} episodes)", "other scenes"]
        rows = [self._row(one) for one in self.metrics]
        if self.references:
            headings.append("variance left")
        return TextTable(tuple(headings), tuple(rows), self._title())

    def _row(self, one: MetricExtrapolation) -> tuple[str, ...]:
        def ends(found: Interval) -> str:
            return f"{format_number(one.column, found.low)} – {format_number(one.column, found.high)}"

        cells = (column_heading(one.column), format_number(one.column, one.split.mean), ends(one.split))
        more = (f"{one.variance_left:.0%}",) if self.references else ()
        return (*cells, ends(one.scenes), *more)

    def _title(self) -> str:
        using = f" · control variates: {', '.join(self.references)}" if self.references else ""
        drawn = f"{len(self.subset):,} of {self.subset.total:,} episodes ({self.subset.label})"
        return f"{self.source}: {drawn}{using}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: fractions and meters."""

        def ends(found: Interval) -> dict[str, float]:
            return {"low": found.low, "high": found.high}

        return {
            "source": self.source,
            "subset": {"split": self.subset.split, "digest": self.subset.digest, "episodes": len(self.subset)},
            "episodes": self.subset.total,
            "references": list(self.references),
            "metrics": {
                one.column.name: {
                    "mean": one.split.mean,
                    "full_split": ends(one.split),
                    "other_scenes": ends(one.scenes),
                    "standard_error": one.standard_error,
                    "variance_left": one.variance_left,
                }
                for one in self.metrics
            },
        }

    def __str__(self) -> str:
        return str(self.to_table())

    def _repr_html_(self) -> str:
        return self.to_table()._repr_html_()


def extrapolate(
    scores: ScoreTable, subset: Subset, references: Sequence[ScoreTable] = (), *, level: float = 0.95
) -> Extrapolation:
    """The means over the full split of a subset, from scores of its episodes.

    `references` are scores of other agents on the whole split. Their own value of a metric, and its mean over the path,
    are the control variates of that metric: where the reference did better on the subset than on the split, the subset
    is easy, and the estimate is lowered by as much as the agent is seen to follow the reference.
    """
    design = make_design(subset)
    table = _select(scores, subset)
    for one in references:
        require_whole(subset, one, "A reference")
        if one.suite and table.suite and one.fingerprint != table.fingerprint:
            raise BadArgument(
                f"{one.source or 'A reference'} was scored by suite {one.suite}, the subset by {table.suite}, whose "
                "definitions differ: score both by the same (--suite)."
            )
    chosen = [name for name in main_metrics(table) if all(name in main_metrics(one) for one in references)]
    if not chosen:
        raise BadArgument("No metric has a finite value for every episode of the scores and their references.")
    by_name = {column.name: column for column in table.columns}
    index = _index_rows(table, subset, references)
    metrics = [_extrapolate(by_name[name], table, index, design, references, level) for name in chosen]
    return Extrapolation(subset, scores.source, tuple(one.source for one in references), tuple(metrics))


def _select(scores: ScoreTable, subset: Subset) -> ScoreTable:
    """The rows of the subset; scores of other episodes are refused."""
    absent = set(subset.ids).difference(scores.episode_ids)
    if absent or not subset.fits(scores.episode_ids, scores.world_ids):
        raise BadArgument(
            f"{scores.source or 'The scores'} ({len(scores):,} episodes) are not those of the {subset.label} "
            f"({len(subset)} episodes): score with --episodes and the file of the subset."
        )
    return scores.select(subset.ids)


@dataclass(frozen=True, eq=False)
class _RowIndex:
    """Where the episodes of the subset, in its order, and of the split, in that of the first reference, are."""

    subset: Integers  # rows of the subset in the scores
    references: tuple[Integers, ...]  # rows of the split in each reference
    sampled: Integers  # the subset within the split
    paths: Integers  # codes of the paths of the split; empty if they are not known
    split_scenes: Integers  # codes of the scenes of the split
    scenes: Integers  # codes of the scenes of the subset
    sizes: tuple[int, ...]  # episodes of each scene that the subset has


def _index_rows(table: ScoreTable, subset: Subset, references: Sequence[ScoreTable]) -> _RowIndex:
    def find(ids: Sequence[str], wanted: Sequence[str]) -> Integers:
        row = {name: i for i, name in enumerate(ids)}
        return np.array([row[name] for name in wanted], dtype=np.int64)

    rows = find(table.episode_ids, subset.ids)
    names = list(dict.fromkeys(table.world_ids[i] for i in rows))
    number = {name: i for i, name in enumerate(names)}
    first = references[0] if references else None
    order, paths = () if first is None else first.episode_ids, np.empty(0, dtype=np.int64)
    if first is not None and all(first.path_ids):
        paths = cluster_codes(list(zip(first.world_ids, first.path_ids, strict=True)))
    in_split = [] if first is None else [number.get(name, -1) for name in first.world_ids]
    return _RowIndex(
        subset=rows,
        references=tuple(find(one.episode_ids, order) for one in references),
        sampled=find(order, subset.ids) if references else rows,
        paths=paths,
        split_scenes=np.array(in_split, dtype=np.int64),
        scenes=np.array([number[table.world_ids[i]] for i in rows]),
        sizes=tuple(subset.scenes[name] for name in names),
    )


def _extrapolate(
    column: Column,
    table: ScoreTable,
    index: _RowIndex,
    design: SampleDesign,
    references: Sequence[ScoreTable],
    level: float,
) -> MetricExtrapolation:
    values = table[column.name][index.subset]
    bounds = (0.0, 1.0) if column.unit == "" else (0.0, np.inf)
    plain = found = estimate_population_mean(values, design, bounds=bounds, level=level)
    adjusted, expected = values, np.zeros(len(index.sizes))
    if references:
        known = _control_variates(column.name, index, references)
        found = estimate_population_mean(
            values,
            design,
            covariates=known[index.sampled],
            covariate_means=known.mean(axis=0),
            bounds=bounds,
            level=level,
        )
        predicted = known @ np.array(found.slopes)
        adjusted = values - predicted[index.sampled]
        expected = _means_by(index.split_scenes, predicted, np.ones(len(predicted)))
    means = expected + _means_by(index.scenes, adjusted, design.weights)
    spread = _over_scenes(means, index.sizes, bounds, level)
    return MetricExtrapolation(column, found.interval, spread, found.standard_error, plain.standard_error)


def _control_variates(metric: str, index: _RowIndex, references: Sequence[ScoreTable]) -> Array:
    """(episodes, k) of the split: the values of each reference, and their means over the path."""
    columns = []
    for one, rows in zip(references, index.references, strict=True):
        own = one[metric][rows]
        columns.append(own)
        if len(index.paths):
            means = (np.bincount(index.paths, own) / np.bincount(index.paths))[index.paths]
            columns += [] if np.allclose(means, own, rtol=0, atol=1e-12) else [means]
    return np.column_stack(columns)


def _means_by(codes: Integers, values: Array, weights: Array) -> Array:
    """The weighted mean of the values of each code; those of code -1 are left out."""
    kept = codes >= 0
    totals = np.bincount(codes[kept], (weights * values)[kept])
    return np.asarray(totals / np.bincount(codes[kept], weights[kept]))


def _over_scenes(means: Array, sizes: Sequence[int], bounds: tuple[float, float], level: float) -> Interval:
    """The interval of the mean with scenes as the sample, each as large as in the split."""
    inside = bool(((means >= bounds[0]) & (means <= bounds[1])).all())  # control variates may carry a scene outside
    limits = bounds if inside else (-np.inf, np.inf)
    found = interval(means, clusters=list(range(len(means))), weights=sizes, bounds=limits, level=level)
    return Interval(found.mean, max(found.low, bounds[0]), min(found.high, bounds[1]), level, found.method)
