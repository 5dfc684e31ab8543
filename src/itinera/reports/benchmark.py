"""Results grouped by benchmark: the same episodes, scored under the same protocol with the same suite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from itinera.records import Column, EpisodeInfo, ScoreTable
from itinera.records.runs import average_runs, reorder
from itinera.records.summary import Summary, summarize
from itinera.reports.charts.svg import Series
from itinera.reports.comparison import Comparison, compare
from itinera.reports.intersection import Intersection, intersect
from itinera.reports.markup import display_name, display_names
from itinera.seeding import generator
from itinera.stats import (
    Difference,
    Interval,
    difference_over_runs,
    interval,
    paired_difference,
    probability_of_improvement,
)
from itinera.worlds import Array

PRIMARY = ("SCT", "SR", "SPL", "nDTW", "SDTW", "CLS", "OSR")  # agents are ranked by the first of these that exists
# Suites by the papers' definitions, not named in titles.
DEFAULT_SUITES = ("paper", "pointnav", "ndh", "reverie", "soon")
SECONDARY = ("t-nDTW", "nDTW", "SPL", "SR")  # the second metric of the summary


@dataclass(frozen=True, eq=False)
class BenchmarkResults:
    """Results of one or more agents on the same episodes; all tables have the row order of the first."""

    title: str
    agents: tuple[Series, ...]  # names as pages print them, and their styles in charts
    tables: tuple[ScoreTable, ...]
    summaries: tuple[Summary, ...]
    comparison: Comparison | None  # None for a single agent
    intersection: Intersection | None  # None for a single agent or without completion times
    scenes: NDArray[np.int64]  # (episodes,) index of each episode's scene
    scene_ids: tuple[str, ...]  # scene ids by that index
    level: float
    seed: int
    given_names: tuple[str, ...]  # of the agents; an agent with several clocks has its name several times
    given_tables: tuple[ScoreTable, ...]  # with the columns that only some of them have

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(agent.name for agent in self.agents)

    @property
    def columns(self) -> dict[str, Column]:
        return {column.name: column for column in self.tables[0].columns}

    @property
    def episodes(self) -> int:
        return len(self.tables[0])

    @property
    def episode_info(self) -> EpisodeInfo | None:
        """Lengths and tours of the episodes, if some bundle has them."""
        return next((table.episode_info for table in self.tables if table.episode_info is not None), None)

    @property
    def primary_metric(self) -> Column:
        """The metric that ranks the agents: SCT if times are known, else SR, else any metric with a direction."""
        shared = self.columns
        ranked = [column for column in shared.values() if column.better != "neither"]
        return next((shared[name] for name in PRIMARY if name in shared), (ranked or list(shared.values()))[0])

    @property
    def secondary_metric(self) -> Column | None:
        """The second metric of the summary: path fidelity or path length; None if there is none."""
        tours = self.tables[0].tours
        columns = self.columns | ({c.name: c for c in tours.columns} if tours is not None else {})
        return next((columns[n] for n in SECONDARY if n in columns and n != self.primary_metric.name), None)

    @property
    def has_runs(self) -> bool:
        """Whether some agent has several runs; its values are then means over them."""
        return any(table.runs for table in self.tables)

    def values(self, metric: str) -> Array:
        """(agents, episodes) values of a metric."""
        return np.stack([table[metric] for table in self.tables])

    def first_run(self, agent: int) -> ScoreTable:
        """The scores of an agent's first run, for lists of its episodes."""
        table = self.tables[agent]
        return table.runs[0] if table.runs else table

    def ranking(self, column: Column) -> list[int]:
        """Indices of the agents, best first; ties keep the given order."""
        sign = 1.0 if column.better == "lower" else -1.0
        means = [s.intervals[column.name].mean if column.name in s.intervals else np.nan for s in self.summaries]
        return [int(i) for i in np.argsort(sign * np.array(means), kind="stable")]

    def mean(self, column: Column, values: Array, rows: NDArray[np.bool_] | None = None) -> Interval | None:
        """The mean of some rows of an agent's values, clustered by scene; None if no value is finite."""
        counted = np.isfinite(values) if rows is None else np.isfinite(values) & rows
        if not counted.any():
            return None
        bounds = (0.0, 1.0) if column.unit == "" else (0.0, np.inf)
        return interval(values[counted], clusters=self.scenes[counted], bounds=bounds, level=self.level)

    def difference(self, metric: str, one: int, other: int) -> tuple[Difference, Interval] | None:
        """One agent minus another on an episode metric, and P(better); None without common finite values."""
        a, b = self.values(metric)[[one, other]]
        both = np.isfinite(a) & np.isfinite(b)
        if not both.any():
            return None
        sign = -1.0 if self.columns[metric].better == "lower" else 1.0
        scenes = self.scenes[both]
        runs, others = (
            np.stack([run[metric][both] for run in self.tables[k].runs or (self.tables[k],)]) for k in (one, other)
        )
        better = probability_of_improvement(sign * runs, sign * others, clusters=scenes, level=self.level)
        if len(runs) > 1 or len(others) > 1:
            return difference_over_runs(runs, others, clusters=scenes, level=self.level), better
        rng = generator(self.seed, "report", metric, str(one), str(other))
        return paired_difference(runs[0], others[0], clusters=scenes, rng=rng, level=self.level), better


def group_by_benchmark(
    names: Sequence[str], tables: Sequence[ScoreTable], *, seed: int = 0, level: float = 0.95
) -> Iterator[BenchmarkResults]:
    """The results grouped by episodes, protocol and suite, in the order given.

    With completion times, protocols may differ in how the agent moves: SCT exists to compare such agents.
    """
    groups: dict[object, list[int]] = {}
    for i, table in enumerate(tables):
        groups.setdefault(_benchmark_key(table), []).append(i)
    titles = display_names([_title(tables[rows[0]]) for rows in groups.values()], max_chars=80)
    labels = [display_names([names[i] for i in rows]) for rows in groups.values()]
    # Numbered by name over all benchmarks, so that an agent has the same style in each.
    styles = {name: i for i, name in enumerate(dict.fromkeys(name for group in labels for name in group))}
    for title, group, rows in zip(titles, labels, groups.values(), strict=True):
        agents = tuple(Series(name, styles[name]) for name in group)
        given_names = tuple(names[i] for i in rows)
        yield _collect(title, agents, given_names, [tables[i] for i in rows], seed, level)


def merge_runs(names: Sequence[str], tables: Sequence[ScoreTable]) -> tuple[list[str], list[ScoreTable]]:
    """The results, those of one name on one benchmark as the mean of its runs."""
    groups: dict[object, list[ScoreTable]] = {}
    for name, table in zip(names, tables, strict=True):
        groups.setdefault((name, table.protocol.digest, _benchmark_key(table)), []).append(table)
    merged = [(key[0], average_runs(key[0], runs)) for key, runs in groups.items()]  # type: ignore[index]
    return [name for name, _ in merged], [table for _, table in merged]


def _benchmark_key(table: ScoreTable) -> tuple[object, ...]:
    """Equal for results on the same benchmark."""
    episodes = tuple(sorted(zip(table.episode_ids, table.world_ids, strict=True)))
    tours = None if table.tours is None else table.tours.tour_ids
    return _comparable(table).protocol.digest, table.fingerprint, episodes, tours


def _collect(
    title: str,
    agents: tuple[Series, ...],
    given_names: tuple[str, ...],
    tables: list[ScoreTable],
    seed: int,
    level: float,
) -> BenchmarkResults:
    given = tuple(reorder(table, tables[0], agent.name) for table, agent in zip(tables, agents, strict=True))
    ordered = _keep_shared(given)
    names = [agent.name for agent in agents]
    scene_ids, scenes = np.unique(np.asarray(tables[0].world_ids), return_inverse=True)
    several, timed = len(tables) > 1, tables[0].robot is not None
    comparable = [_comparable(table) for table in ordered]
    return BenchmarkResults(
        title=title,
        agents=agents,
        tables=ordered,
        summaries=tuple(summarize(table, level=level) for table in ordered),
        comparison=compare(names, comparable, seed=seed, level=level) if several else None,
        intersection=intersect(names, comparable, level=level)
        if several and timed and "SR" in tables[0].values
        else None,
        scenes=scenes.reshape(-1).astype(np.int64),
        scene_ids=tuple(map(str, scene_ids)),
        level=level,
        seed=seed,
        given_names=given_names,
        given_tables=given,
    )


def _keep_shared(tables: Sequence[ScoreTable]) -> tuple[ScoreTable, ...]:
    """The tables without the columns that some of them lack: not every record says how long its agent thought."""
    names = [name for name in tables[0].values if all(name in table.values for table in tables)]
    return tuple(
        replace(
            table,
            columns=tuple(column for column in table.columns if column.name in names),
            values={name: table.values[name] for name in names},
        )
        for table in tables
    )


def _comparable(table: ScoreTable) -> ScoreTable:
    """The table with the part of its protocol that compared tables must share."""
    return table if table.robot is None else replace(table, protocol=table.protocol.without_motion)


def _title(table: ScoreTable) -> str:
    """The name of the task file if the bundle has it, the protocol, and the suite unless it is the default."""
    tasks = "" if table.provenance is None else table.provenance.inputs.get("tasks", "")
    name = PurePath(tasks).name.split(".")[0]
    rules = [_comparable(table).protocol.label]
    rules += ["tours"] if table.tours is not None else []
    rules += [f"suite {table.suite}"] if table.suite not in DEFAULT_SUITES else []
    return f"{display_name(name, max_chars=60)} ({', '.join(rules)})" if name else ", ".join(rules)
