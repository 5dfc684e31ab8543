"""How SCT, SPL and SR change with the seconds that agents think before each action: their latency.

While a body stands still, latency only adds time, so the curve of SCT is computed from one run; SR and SPL stay as they
are. A body that moves on while the agent thinks takes another path at each latency: each is a run of its own, with
`run --clock fixed:SECONDS --overlap`. Start with `latency_curves`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from itinera.metrics.completion import sct_at_latency
from itinera.records import Column, ScoreTable
from itinera.records.tables import TextTable
from itinera.reports.benchmark import BenchmarkResults
from itinera.reports.charts.svg import Series
from itinera.reports.markup import display_names
from itinera.stats import Interval
from itinera.tasks.fastest_times import FastestTimes
from itinera.worlds import Array

LATENCIES = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # seconds per action, of bodies that stand still
METRICS = ("SCT", "SPL", "SR")
DIGITS = 3  # of the mean latency of a run


@dataclass(frozen=True)
class LatencyCurve:
    """The means of an agent at each latency; None where it has no run."""

    series: Series
    means: dict[str, tuple[Interval | None, ...]]  # metric -> one per latency
    moves: bool  # whether its body moves on while it thinks
    acts: float  # actions per episode, on average
    measured: float | None  # seconds per action of its run; None if that had no clock


@dataclass(frozen=True)
class LatencyCurves:
    """The curves of the agents of a benchmark."""

    title: str  # of the benchmark
    latencies: tuple[float, ...]  # seconds per action
    curves: tuple[LatencyCurve, ...]
    level: float

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that latency changes: SCT, and if bodies move meanwhile SPL and SR too."""
        moves = any(curve.moves for curve in self.curves)
        return tuple(name for name in METRICS if name == "SCT" or (moves and name in self.curves[0].means))

    def to_table(self, metric: str) -> TextTable:
        """A row per latency: the mean of each agent with its interval, in percent."""
        rows = tuple(
            (f"{latency:g} s", *(_cell(curve.means[metric][i]) for curve in self.curves))
            for i, latency in enumerate(self.latencies)
        )
        title = f"{self.title}: {metric} % by seconds of thinking per action, mean ({100 * self.level:g} % interval)"
        return TextTable(("seconds per action", *(curve.series.name for curve in self.curves)), rows, title)


def _cell(found: Interval | None) -> str:
    return "" if found is None else f"{100 * found.mean:.1f} ({100 * found.low:.1f} – {100 * found.high:.1f})"


def latency_curves(benchmark: BenchmarkResults, times: Sequence[FastestTimes]) -> LatencyCurves | None:
    """The curves of a benchmark's agents, if their completion times and the fastest times are known; else None."""
    robot = benchmark.tables[0].robot
    fastest = next((one for one in times if one.robot == robot), None)
    pairs = [(n, t) for n, t in zip(benchmark.given_names, benchmark.given_tables, strict=True) if "acts" in t]
    if fastest is None or not pairs or not any(name in fastest.rows for name in benchmark.tables[0].episode_ids):
        return None
    moving = {table_latency(table) for _, table in pairs if moves_while_thinking(table)}
    latencies = tuple(sorted({*LATENCIES, *(latency for latency in moving if latency is not None)}))
    found = list(_curves(benchmark, pairs, fastest, latencies))
    names = display_names([curve.series.name for curve in found])
    curves = tuple(
        replace(curve, series=Series(name, i)) for i, (name, curve) in enumerate(zip(names, found, strict=True))
    )
    return LatencyCurves(benchmark.title, latencies, curves, benchmark.level)


def moves_while_thinking(table: ScoreTable) -> bool:
    """Whether a body moved while its agent thought."""
    return "thinking" in table and bool((table["thinking"] > table["waiting"]).any())


def table_latency(table: ScoreTable) -> float | None:
    """The mean seconds of thinking per action of a run; None if it had no clock."""
    if "thinking" not in table:
        return None
    known = np.isfinite(table["acts"]) & np.isfinite(table["thinking"])
    acts = table["acts"][known].sum()
    return round(float(table["thinking"][known].sum() / acts), DIGITS) if acts else None


_Means = dict[str, tuple[Interval | None, ...]]


def _curves(
    benchmark: BenchmarkResults,
    pairs: Sequence[tuple[str, ScoreTable]],
    fastest: FastestTimes,
    latencies: Sequence[float],
) -> Iterator[LatencyCurve]:
    """The curves, with names as given."""
    for name in dict.fromkeys(name for name, _ in pairs):
        own = [table for one, table in pairs if one == name]
        still = next((table for table in own if not moves_while_thinking(table)), None)
        if still is not None:
            at_each = [_values_at(still, fastest, latency) for latency in latencies]
            means = _means(benchmark, at_each)
            acts = float(np.nanmean(still["acts"]))
            yield LatencyCurve(Series(name, 0), means, False, acts, table_latency(still))
        by_latency = {table_latency(table): table for table in own if moves_while_thinking(table)}
        if by_latency:
            if still is not None:
                by_latency.setdefault(0.0, still)  # without latency, both are the same
            runs = [by_latency.get(latency) for latency in latencies]
            means = _means(benchmark, [None if run is None else _own_values(run) for run in runs])
            acts = float(np.mean([np.nanmean(run["acts"]) for run in runs if run is not None]))
            yield LatencyCurve(Series(f"{name}, moving on", 0), means, True, acts, None)


def _values_at(table: ScoreTable, fastest: FastestTimes, latency: float) -> dict[str, Array]:
    return _own_values(table) | {"SCT": sct_at_latency(table, fastest, latency)}


def _own_values(table: ScoreTable) -> dict[str, Array]:
    return {name: table[name] for name in METRICS if name in table}


def _means(benchmark: BenchmarkResults, values: Sequence[dict[str, Array] | None]) -> _Means:
    names = [name for name in METRICS if all(one is None or name in one for one in values)]
    return {
        name: tuple(None if one is None else benchmark.mean(Column(name), one[name]) for one in values)
        for name in names
    }


def describe_curve(curve: LatencyCurve, latencies: Sequence[float]) -> str:
    """An agent's number of actions, and its SCT at both ends of its curve, in a sentence."""
    known = [(s, mean.mean) for s, mean in zip(latencies, curve.means["SCT"], strict=True) if mean is not None]
    ends = [known[0], known[-1]] if len(known) > 1 else known
    sct = ", ".join(f"{100 * mean:.1f} % at {seconds:g} s per action" for seconds, mean in ends)
    measured = "" if curve.measured is None else f" It thought {curve.measured:g} s per action in its run."
    return f"{curve.series.name}: {curve.acts:.1f} actions per episode; SCT {sct}.{measured}"
