"""A table of scores told in means: each with the interval it deserves and a count of what was undefined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.records import Column, ScoreTable
from itinera.stats import Interval, interval
from itinera.worlds import Array


@dataclass(frozen=True)
class Summary:
    """Means over episodes (and over tours, for tour metrics) with intervals that take scenes as the sample."""

    table: ScoreTable
    columns: tuple[Column, ...]  # episode metrics, then tour metrics
    intervals: dict[str, Interval]  # a metric undefined everywhere has none
    undefined: dict[str, int]  # metric -> rows without a value, only where there are some
    scenes: int


def summarise(table: ScoreTable, *, level: float = 0.95) -> Summary:
    """The mean of every metric over the rows where it is defined, with an interval clustered by scene.

    With a single scene the interval says how sure the mean is for that scene; paths, whose instructions share a walk's
    difficulty, are then the sample.
    """
    clusters = _clusters(table)
    intervals: dict[str, Interval] = {}
    undefined: dict[str, int] = {}
    for column in table.columns:
        _add(column, table[column.name], clusters, None, level, intervals, undefined)
    tour_columns: tuple[Column, ...] = ()
    if table.tours is not None:
        tour_columns = table.tours.columns
        for column in tour_columns:
            weights = table.tours.weights[column.name]
            _add(column, table.tours[column.name], table.tours.world_ids, weights, level, intervals, undefined)
    columns = (*table.columns, *tour_columns)
    return Summary(table, columns, intervals, undefined, len(set(table.world_ids)))


def _clusters(table: ScoreTable) -> Sequence[str]:
    several = len(set(table.world_ids)) > 1
    return table.world_ids if several or not all(table.path_ids) else table.path_ids


def _add(
    column: Column,
    values: Array,
    clusters: Sequence[str],
    weights: Array | None,
    level: float,
    intervals: dict[str, Interval],
    undefined: dict[str, int],
) -> None:
    defined = ~np.isnan(values)
    if not defined.all():
        undefined[column.name] = int((~defined).sum())
    counted = defined if weights is None else defined & (weights > 0)
    if not counted.any():
        return
    weights = None if weights is None else weights[counted]
    intervals[column.name] = _interval(column, values[counted], np.asarray(clusters)[counted], weights, level)


def _interval(
    column: Column, values: Array, clusters: NDArray[np.str_], weights: Array | None, level: float
) -> Interval:
    if not np.isfinite(values).all():  # an unreachable goal: the mean error is infinite, and so are its bounds
        mean = float(np.average(values, weights=weights))
        return Interval(mean, mean, mean, level, "infinite")
    bounds = (0.0, 1.0) if column.unit == "" else (0.0, np.inf)
    return interval(values, clusters=clusters, weights=weights, bounds=bounds, level=level)


def as_json(summary: Summary) -> dict[str, object]:
    """The summary as plain values: fractions and metres, never percentages."""
    table = summary.table
    return {
        "suite": table.suite,
        "fingerprint": table.fingerprint,
        "protocol": {"name": table.protocol.name, "version": table.protocol.version, "digest": table.protocol.digest},
        "source": table.source,
        "episodes": len(table),
        "scenes": summary.scenes,
        "missing": int(table.missing.sum()),
        **({} if table.tours is None else {"tours": len(table.tours.tour_ids)}),
        **({} if table.robot is None else {"robot": asdict(table.robot)}),
        "metrics": {
            name: {"mean": _plain(i.mean), "low": _plain(i.low), "high": _plain(i.high)}
            for name, i in summary.intervals.items()
        },
        "undefined": summary.undefined,
    }


def _plain(value: float) -> float | str:
    return value if np.isfinite(value) else "inf"
