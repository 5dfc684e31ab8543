"""Several runs of one system (training seeds, repeated evaluations) as one score table. Start with `average_runs`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.records.scores import ScoreTable, TourTable
from itinera.worlds import Array


def average_runs(name: str, tables: Sequence[ScoreTable]) -> ScoreTable:
    """The table of a system: each episode's mean over its runs, and the runs, from which intervals are computed.

    Raises BadArgument unless protocol, suite and episodes of all runs are the same. An episode that is undefined in a
    run is undefined. A single run is returned as it is.
    """
    first, *others = tables
    if not others:
        return first
    for number, table in enumerate(others, start=2):
        check_same_rules((f"run 1 of {name}", f"run {number} of {name}"), first, table)
    runs = [first, *(reorder(table, first, f"Run {number} of {name}") for number, table in enumerate(others, start=2))]
    columns = tuple(column for column in first.columns if all(column.name in run for run in runs))
    weights = {w: np.mean([run.weights[w] for run in runs], axis=0) for w in first.weights}
    return replace(
        first,
        columns=columns,
        values={c.name: _mean([run[c.name] for run in runs], [run.weights.get(c.name) for run in runs])
                for c in columns},
        weights=weights,
        missing=np.any([run.missing for run in runs], axis=0),
        tours=_average_tours(name, [run.tours for run in runs]),
        runs=tuple(runs),
    )  # fmt: skip


def reorder(table: ScoreTable, first: ScoreTable, name: str) -> ScoreTable:
    """The table with its episodes in the order of the first; raises BadArgument if they are not the same episodes."""
    if table.episode_ids == first.episode_ids:
        return table
    return table.take(find_order(first, table, name))


def find_order(first: ScoreTable, table: ScoreTable, name: str) -> NDArray[np.int64]:
    """The row in a table of each episode of the first; raises BadArgument if they are not the same episodes."""
    where = {episode_id: i for i, episode_id in enumerate(table.episode_ids)}
    absent = [episode_id for episode_id in first.episode_ids if episode_id not in where]
    if absent or len(where) != len(first.episode_ids):
        example = f', for example "{absent[0]}"' if absent else ""
        raise BadArgument(
            f"{name} does not have the same episodes as the first result{example}. Score both on one split."
        )
    return np.array([where[episode_id] for episode_id in first.episode_ids], dtype=np.int64)


def check_same_rules(names: tuple[str, str], first: ScoreTable, table: ScoreTable) -> None:
    """Raise BadArgument unless protocol and suite are the same."""
    if table.protocol.digest != first.protocol.digest:
        raise BadArgument(
            f"{names[0]} was scored under protocol {first.protocol.name} ({first.protocol.digest}), {names[1]} under "
            f"{table.protocol.name} ({table.protocol.digest}). Results of different protocols cannot be compared."
        )
    if table.fingerprint != first.fingerprint:
        raise BadArgument(
            f"{names[0]} was scored with suite {first.suite} ({first.fingerprint}), {names[1]} with {table.suite} "
            f"({table.fingerprint}). Score both with the same suite and version."
        )


@dataclass(frozen=True, eq=False)
class RunValues:
    """The values of a metric on the episodes or tours where every run has one."""

    values: Array  # (runs, rows), whose plain or weighted means are those of the runs
    rows: NDArray[np.bool_]  # which of the table these are
    weights: Array | None = None  # (rows,)
    linearized: bool = False  # of a pooled metric: values may be outside the metric's range


def run_values(table: ScoreTable, metric: str) -> RunValues | None:
    """The values of a metric by run; None where no row has finite values in all runs. A single run is one row."""
    runs = table.runs or (table,)
    weights: list[Array] | None = None
    if metric in table:
        values = np.stack([run[metric] for run in runs])
        if metric in table.weights:
            weights = [run.weights[metric] for run in runs]
    else:
        tours = [run.tours for run in runs if run.tours is not None]
        values = np.stack([one[metric] for one in tours])
        weights = [one.weights[metric] for one in tours]
    rows = np.asarray(np.isfinite(values).all(axis=0))
    if weights is None:
        return RunValues(values[:, rows], rows) if rows.any() else None
    rows = np.asarray(rows & (np.stack(weights) > 0).all(axis=0))
    if not rows.any():
        return None
    kept = [weight[rows] for weight in weights]
    if metric not in table.weights and all(np.array_equal(kept[0], weight) for weight in kept):
        return RunValues(values[:, rows], rows, kept[0])
    linearized = [linearize(run[rows], weight) for run, weight in zip(values, kept, strict=True)]
    return RunValues(np.stack(linearized), rows, linearized=True)


def linearize(values: Array, weights: Array) -> Array:
    """Values whose plain mean is the weighted one, and whose spread is its spread: mean + w (x - mean) / mean(w)."""
    mean = np.average(values, weights=weights)
    return np.asarray(mean + weights * (values - mean) / weights.mean())


def _mean(values: Sequence[Array], weights: Sequence[Array | None]) -> Array:
    """The mean over runs of each row; a row without a value in some run has none."""
    known = [weight for weight in weights if weight is not None]
    if not known:
        return np.asarray(np.mean(values, axis=0))
    total = np.sum(known, axis=0)
    weighted = np.sum([value * weight for value, weight in zip(values, known, strict=True)], axis=0)
    return np.asarray(np.divide(weighted, total, out=np.mean(values, axis=0), where=total > 0))


def _average_tours(name: str, tables: Sequence[TourTable | None]) -> TourTable | None:
    known = [table for table in tables if table is not None]
    if len(known) < len(tables):
        return None
    first = known[0]
    if any(table.tour_ids != first.tour_ids for table in known):
        raise BadArgument(f"Runs of {name} were scored on different tours. Score them with the same --tours file.")
    return replace(
        first,
        values={n: _mean([table[n] for table in known], [table.weights[n] for table in known]) for n in first},
        weights={n: np.mean([table.weights[n] for table in known], axis=0) for n in first},
    )
