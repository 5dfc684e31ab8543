"""Metrics by scene, by path length and by position in a tour, and failures by kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from itinera.records import Column, ScoreTable
from itinera.reports.benchmark import BenchmarkResults
from itinera.stats import Interval, interval

LENGTH_GROUPS = 5  # groups with about the same number of episodes
POSITIONS = (0, 1, 2, 3, 5, 8, 12, 20, 35, 60, 100)  # first positions of the groups: finer early in a tour

MISSING = "no trajectory"
FELL = "fell"
STUCK = "got stuck"
NEVER_LEFT = "never left the start"
NO_STOP = "ended at the goal without STOP"
OVERSHOT = "passed the goal and ended elsewhere"
OUT_OF_STEPS = "ran out of steps"
CLOSER = "ended closer to the goal than the start"
NO_CLOSER = "ended no closer to the goal than the start"
ELSEWHERE = "ended elsewhere"
KINDS = (MISSING, FELL, STUCK, NEVER_LEFT, NO_STOP, OVERSHOT, OUT_OF_STEPS, CLOSER, NO_CLOSER, ELSEWHERE)


@dataclass(frozen=True)
class Slice:
    """A group of episodes, and the mean of every agent on them."""

    label: str
    episodes: int
    means: tuple[Interval | None, ...]  # by agent; None if undefined


@dataclass(frozen=True)
class Breakdown:
    """A metric over groups of episodes."""

    column: Column
    slices: tuple[Slice, ...]


def group_by_scene(benchmark: BenchmarkResults, column: Column) -> Breakdown:
    """The metric by scene, clustered by path; the scenes with the worst mean over agents first."""
    values = benchmark.values(column.name)
    paths = np.unique(np.asarray(benchmark.tables[0].path_ids), return_inverse=True)[1].reshape(-1)
    distinct = len(set(paths.tolist())) > 1
    bounds = (0.0, 1.0) if column.unit == "" else (0.0, np.inf)
    slices = []
    for number, scene in enumerate(benchmark.scene_ids):
        rows = benchmark.scenes == number
        means: list[Interval | None] = []
        for agent_values in values:
            counted = rows & np.isfinite(agent_values)
            clusters = paths[counted] if distinct else None
            found = counted.any()
            means.append(
                interval(agent_values[counted], clusters=clusters, bounds=bounds, level=benchmark.level)
                if found
                else None
            )
        slices.append(Slice(scene, int(rows.sum()), tuple(means)))
    sign = -1.0 if column.better == "lower" else 1.0
    return Breakdown(column, tuple(sorted(slices, key=lambda s: (sign * _mean_over_agents(s), s.label))))


def _mean_over_agents(one: Slice) -> float:
    """The mean over agents; inf if it is undefined for all, so that such slices come last."""
    known = [mean.mean for mean in one.means if mean is not None]
    return round(float(np.mean(known)), 12) if known else np.inf


def group_by_length(benchmark: BenchmarkResults, column: Column) -> Breakdown | None:
    """The metric by path length, in groups of similar size; None if no bundle has lengths."""
    lengths = path_lengths(benchmark)
    if lengths is None:
        return None
    known = lengths[np.isfinite(lengths)]
    edges = np.unique(np.round(np.quantile(known, np.linspace(0, 1, LENGTH_GROUPS + 1)[1:-1])))
    edges = edges[(edges > known.min()) & (edges < known.max())]
    groups = np.where(np.isfinite(lengths), np.searchsorted(edges, lengths, side="right"), -1)
    return _slice(benchmark, column, groups, _length_labels(edges))


def path_lengths(benchmark: BenchmarkResults) -> NDArray[np.float64] | None:
    """(episodes,) metres: length of the reference path, or the distance to the goal without one; None if unknown."""
    info = benchmark.episode_info
    if info is None:
        return None
    lengths = np.where(np.isnan(info.reference_lengths), info.goal_distances, info.reference_lengths)
    return lengths if np.isfinite(lengths).any() else None


def _length_labels(edges: NDArray[np.float64]) -> list[str]:
    if not len(edges):
        return ["all"]
    between = [f"{low:g} – {high:g} m" for low, high in pairwise(edges)]
    return [f"under {edges[0]:g} m", *between, f"{edges[-1]:g} m or more"]


def group_by_tour_position(benchmark: BenchmarkResults, column: Column) -> Breakdown | None:
    """The metric by position of the episode in its tour; None without tours."""
    legs = None if benchmark.episode_info is None else benchmark.episode_info.tour_positions
    if legs is None or legs.max(initial=-1) < 1:
        return None
    starts = np.array([start for start in POSITIONS if start <= legs.max()])
    ends = [*starts[1:], int(legs.max()) + 1]
    groups = np.where(legs >= 0, np.searchsorted(starts, legs, side="right") - 1, -1)
    labels = [
        f"{low + 1}" if high == low + 1 else f"{low + 1} – {high}" for low, high in zip(starts, ends, strict=True)
    ]
    return _slice(benchmark, column, groups, labels)


def _slice(benchmark: BenchmarkResults, column: Column, groups: NDArray[np.int64], labels: Sequence[str]) -> Breakdown:
    values = benchmark.values(column.name)
    slices = []
    for number, label in enumerate(labels):
        rows = groups == number
        if rows.any():
            means = tuple(benchmark.mean(column, agent_values, rows) for agent_values in values)
            slices.append(Slice(label, int(rows.sum()), means))
    return Breakdown(column, tuple(slices))


def compute_tour_gain(benchmark: BenchmarkResults, column: Column, agent: int) -> Interval | None:
    """Mean of the second half of a tour minus mean of its first half, over tours, clustered by scene."""
    info = benchmark.episode_info
    if info is None or info.tour_positions.max(initial=-1) < 1:
        return None
    values = benchmark.tables[agent][column.name]
    usable = (info.tour_positions >= 0) & np.isfinite(values)
    tours = np.unique(np.asarray(info.tour_ids), return_inverse=True)[1].reshape(-1)
    distance_gains, scenes = [], []
    for tour in np.unique(tours[usable]):
        rows = np.flatnonzero(usable & (tours == tour))
        late = info.tour_positions[rows] > info.tour_positions[rows].max() / 2
        if late.any() and not late.all():
            distance_gains.append(values[rows][late].mean() - values[rows][~late].mean())
            scenes.append(benchmark.scenes[rows[0]])
    if not distance_gains:
        return None
    return interval(distance_gains, clusters=scenes, bounds=(-np.inf, np.inf), level=benchmark.level)


@dataclass(frozen=True)
class Failures:
    """An agent's failures by kind."""

    succeeded: int
    kinds: dict[str, NDArray[np.int64]]  # kind -> its rows, farthest from the goal first

    @property
    def total(self) -> int:
        return sum(map(len, self.kinds.values()))


def classify_failures(benchmark: BenchmarkResults, agent: int) -> Failures | None:
    """The agent's failures in its first run, each counted once, by the first kind that applies; None without SR."""
    table = benchmark.first_run(agent)
    if "SR" not in table.values:
        return None
    failed = table["SR"] < 1
    errors = table.values.get("NE", np.zeros(len(table)))
    kinds = {}
    for kind, applies in _kinds(benchmark, table):
        rows = np.flatnonzero(failed & applies)
        failed = failed & ~applies
        if len(rows):
            kinds[kind] = rows[np.argsort(-np.nan_to_num(errors[rows], posinf=1e9), kind="stable")]
    return Failures(int((table["SR"] >= 1).sum()), kinds)


def _kinds(benchmark: BenchmarkResults, table: ScoreTable) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    unknown = np.full(len(table), np.nan)
    path_length, error, steps = (table.values.get(name, unknown) for name in ("PL", "NE", "steps"))
    initial = unknown if benchmark.episode_info is None else benchmark.episode_info.goal_distances
    limit = np.inf if table.protocol.step_limit is None else table.protocol.step_limit
    yield MISSING, table.missing
    yield FELL, table.values.get("FR", unknown) == 1
    yield STUCK, table.values.get("StR", unknown) == 1
    yield NEVER_LEFT, path_length == 0
    yield NO_STOP, (error <= table.protocol.success_radius) & table.protocol.needs_stop
    yield OVERSHOT, table.values.get("OSR", unknown) == 1
    yield OUT_OF_STEPS, steps >= limit
    yield CLOSER, error < initial - 1e-6
    yield NO_CLOSER, error >= initial - 1e-6
    yield ELSEWHERE, np.ones(len(table), dtype=bool)


def find_unsolved(benchmark: BenchmarkResults) -> NDArray[np.int64]:
    """The rows that no agent solved in any run; empty without SR."""
    if "SR" not in benchmark.columns:
        return np.zeros(0, dtype=np.int64)
    runs = [run["SR"] for table in benchmark.tables for run in table.runs or (table,)]
    return np.flatnonzero((np.stack(runs) < 1).all(axis=0))
