"""Summaries of score tables: the mean of each metric with its confidence interval and a count of undefined rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from itinera.records.runs import RunValues, run_values
from itinera.records.scores import Column, ScoreTable
from itinera.records.tables import TextTable, column_heading, format_number
from itinera.stats import Interval, RunVariation, cluster_codes, interval, interval_over_runs, run_variation
from itinera.stats.intervals import UNBOUNDED
from itinera.worlds import Array


@dataclass(frozen=True)
class Summary:
    """Means over episodes (and over tours, for tour metrics) with intervals that take scenes as the sample."""

    table: ScoreTable
    columns: tuple[Column, ...]  # episode metrics, then tour metrics
    intervals: dict[str, Interval]  # a metric that is undefined everywhere has none
    undefined: dict[str, int]  # metric -> rows without a value, only where there are some
    scenes: int

    def __str__(self) -> str:
        return str(summary_table(self))

    def _repr_html_(self) -> str:
        return summary_table(self)._repr_html_()


def summarize(table: ScoreTable, *, level: float = 0.95) -> Summary:
    """The mean of every metric over the rows where it is defined, with an interval clustered by scene.

    With a single scene the interval is about that scene only; paths, whose instructions share the difficulty of a
    trajectory, are then the sample.
    """
    columns = (*table.columns, *(() if table.tours is None else table.tours.columns))
    intervals: dict[str, Interval] = {}
    undefined: dict[str, int] = {}
    clusters = _clusters(table)
    for column in columns:
        found, missing = _column_interval(table, column, clusters, level)
        if found is not None:
            intervals[column.name] = found
        if missing:
            undefined[column.name] = missing
    return Summary(table, columns, intervals, undefined, len(set(table.world_ids)))


def metric_interval(table: ScoreTable, metric: str, *, level: float = 0.95) -> Interval:
    """The mean of one metric with its interval; NaN where the metric is undefined everywhere."""
    columns = (*table.columns, *(() if table.tours is None else table.tours.columns))
    column = next(column for column in columns if column.name == metric)
    found, _ = _column_interval(table, column, _clusters(table), level)
    return found or Interval(np.nan, np.nan, np.nan, level, "undefined")


def _column_interval(
    table: ScoreTable, column: Column, clusters: NDArray[np.int64], level: float
) -> tuple[Interval | None, int]:
    """The interval of a metric, None if it is undefined everywhere, and the number of undefined rows."""
    weights: Array | None = None
    if column.name in table:
        values = table[column.name]
        weights = table.weights.get(column.name)
    else:
        assert table.tours is not None
        values, clusters = table.tours[column.name], cluster_codes(table.tours.world_ids)
        weights = table.tours.weights[column.name]
    defined = ~np.isnan(values)
    used = defined if weights is None else defined & (weights > 0)
    undefined = int((~defined).sum())
    if not used.any():
        return None, undefined
    by_run = run_values(table, column.name) if table.runs and np.isfinite(values[used]).all() else None
    if by_run is not None:
        return _interval_over_runs(column, by_run, clusters[by_run.rows], level), undefined
    weights = None if weights is None else weights[used]
    return _interval(column, values[used], clusters[used], weights, level), undefined


def _clusters(table: ScoreTable) -> NDArray[np.int64]:
    """The cluster of each episode as a whole number, the same for all metrics."""
    several = len(set(table.world_ids)) > 1
    return cluster_codes(table.world_ids if several or not all(table.path_ids) else table.path_ids)


def _interval(
    column: Column, values: Array, clusters: NDArray[np.int64], weights: Array | None, level: float
) -> Interval:
    if not np.isfinite(values).all():  # an unreachable goal: the mean error is infinite, and so are its bounds
        mean = float(np.average(values, weights=weights))
        return Interval(mean, mean, mean, level, "infinite")
    return interval(values, clusters=clusters, weights=weights, bounds=_bounds(column), level=level)


def _interval_over_runs(column: Column, found: RunValues, clusters: NDArray[np.int64], level: float) -> Interval:
    bounds = UNBOUNDED if found.linearized else _bounds(column)
    made = interval_over_runs(found.values, clusters=clusters, weights=found.weights, bounds=bounds, level=level)
    low, high = _bounds(column)
    return replace(made, low=max(low, made.low), high=min(high, made.high))


def _bounds(column: Column) -> tuple[float, float]:
    """The range of a metric. Progress in metres may be negative; errors, lengths and times may not."""
    return (0.0, 1.0) if column.unit == "" else (-np.inf if column.better == "higher" else 0.0, np.inf)


def summarize_runs(table: ScoreTable) -> dict[str, RunVariation]:
    """How each metric varies between the runs of a system and between its scenes; empty for a single run."""
    if not table.runs:
        return {}
    found = {}
    clusters = _clusters(table)
    for column in (*table.columns, *(() if table.tours is None else table.tours.columns)):
        by_run = run_values(table, column.name)
        if by_run is not None:
            of_tours = column.name not in table
            codes = cluster_codes(table.tours.world_ids) if of_tours and table.tours is not None else clusters
            found[column.name] = run_variation(by_run.values, clusters=codes[by_run.rows], weights=by_run.weights)
    return found


def summary_table(summary: Summary, *, separate_bounds: bool = False) -> TextTable:
    """A row per metric: mean, 95 % interval and undefined rows; rates in percent.

    `separate_bounds` gives the ends of the interval in columns of their own, for spreadsheets and papers.
    """
    rows = []
    for column in drop_repeated_bound(summary.columns, [summary.table]):
        found = summary.intervals.get(column.name)
        cells = ["undefined", "", ""]
        if found is not None:
            cells = [format_number(column, value) for value in (found.mean, found.low, found.high)]
        if not separate_bounds:
            cells = [cells[0], f"{cells[1]} – {cells[2]}" if found is not None else ""]
        count = summary.undefined.get(column.name, 0)
        rows.append((column_heading(column), *cells, str(count) if count else ""))
    headings = ("metric", "mean", "low", "high") if separate_bounds else ("metric", "mean", "95 % interval")
    return TextTable((*headings, "undefined"), tuple(rows), _title(summary))


def drop_repeated_bound(columns: Sequence[Column], tables: Sequence[ScoreTable]) -> list[Column]:
    """The columns to print: SCT_high only where it differs from SCT, which it seldom does."""
    repeated = all(
        "SCT" in table and "SCT_high" in table and np.array_equal(table["SCT"], table["SCT_high"], equal_nan=True)
        for table in tables
    )
    return [column for column in columns if not (repeated and column.name == "SCT_high")]


def _title(summary: Summary) -> str:
    table = summary.table
    of = "" if table.part is None else f"{len(table)} of "
    total = len(table) if table.part is None else table.part.total
    name = f" ({table.part.name})" if table.part is not None and table.part.name else ""
    parts = [f"{of}{_count(total, 'episode')}{name} in {_count(summary.scenes, 'scene')}"]
    if table.tours is not None:
        parts[0] += f", {_count(len(table.tours), 'tour')}"
    if table.runs:
        parts.append(_count(len(table.runs), "run"))
    if table.suite:
        parts += [f"suite {table.suite}", f"protocol {table.protocol.label}"]
    return (f"{table.source}: " if table.source else "") + " · ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def summary_to_dict(summary: Summary) -> dict[str, object]:
    """The summary as plain values for JSON: fractions and metres, never percentages."""
    table = summary.table
    return {
        "suite": table.suite,
        "fingerprint": table.fingerprint,
        "protocol": {"name": table.protocol.label, "version": table.protocol.version, "digest": table.protocol.digest},
        "source": table.source,
        "episodes": len(table),
        **({} if table.part is None else {"part": asdict(table.part)}),
        "scenes": summary.scenes,
        "missing": int(table.missing.sum()),
        **({} if table.tours is None else {"tours": len(table.tours)}),
        **({} if table.robot is None else {"robot": asdict(table.robot)}),
        "metrics": {
            name: {"mean": _finite(i.mean), "low": _finite(i.low), "high": _finite(i.high)}
            for name, i in summary.intervals.items()
        },
        "undefined": summary.undefined,
    }


def _finite(value: float) -> float | str:
    return value if np.isfinite(value) else "inf"
