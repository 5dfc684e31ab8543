"""What a report is about: results grouped into contests, in which everybody did the same episodes by the same rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from itinera.records import Asked, Column, ScoreTable
from itinera.reports.charts.svg import Agent
from itinera.reports.comparison import Comparison, compare
from itinera.reports.intersection import Intersection, as_judged, intersect
from itinera.reports.markup import each_named, named
from itinera.reports.summary import Summary, summarise
from itinera.seeding import generator
from itinera.stats import Difference, Interval, interval, paired_difference, probability_of_improvement
from itinera.worlds import Array

LEADING = ("SCT", "SR", "SPL", "nDTW", "SDTW", "CLS", "OSR")  # what agents are ranked by: the first that there is
OURS = ("paper", "pointnav")  # suites by the papers' definitions, which need no word
FOLLOWING = ("t-nDTW", "nDTW", "SPL", "SR")  # and looked at by beside that


@dataclass(frozen=True, eq=False)
class Contest:
    """One or several agents on the same episodes; the rows of every table are in the order of the first one's."""

    title: str
    agents: tuple[Agent, ...]  # their names as they can be shown
    tables: tuple[ScoreTable, ...]
    summaries: tuple[Summary, ...]
    compared: Comparison | None  # where there are several
    solved: Intersection | None  # where there are several, and completion times
    scenes: NDArray[np.int64]  # (episodes,) the number of each episode's scene
    scene_ids: tuple[str, ...]  # by that number
    level: float
    seed: int

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
    def asked(self) -> Asked | None:
        """What the episodes ask, where some bundle tells it."""
        return next((table.asked for table in self.tables if table.asked is not None), None)

    @property
    def leading(self) -> Column:
        """The metric the agents are ranked by: SCT where times are told, else success, else one that ranks at all."""
        shared = self.columns
        ranked = [column for column in shared.values() if column.better != "neither"]
        return next((shared[name] for name in LEADING if name in shared), (ranked or list(shared.values()))[0])

    @property
    def following(self) -> Column | None:
        """A second metric to look at: how well the way was followed, or how short it was."""
        tours = self.tables[0].tours
        known = self.columns | ({c.name: c for c in tours.columns} if tours is not None else {})
        return next((known[n] for n in FOLLOWING if n in known and n != self.leading.name), None)

    def values(self, metric: str) -> Array:
        """(systems, episodes) a metric of every agent."""
        return np.stack([table[metric] for table in self.tables])

    def ranking(self, column: Column) -> list[int]:
        """The agents, best first; of equals the one given first."""
        sign = 1.0 if column.better == "lower" else -1.0
        means = [s.intervals[column.name].mean if column.name in s.intervals else np.nan for s in self.summaries]
        return [int(i) for i in np.argsort(sign * np.array(means), kind="stable")]

    def mean(self, column: Column, values: Array, rows: NDArray[np.bool_] | None = None) -> Interval | None:
        """The mean of some rows of an agent's values, scenes as the sample; None where nothing is finite."""
        counted = np.isfinite(values) if rows is None else np.isfinite(values) & rows
        if not counted.any():
            return None
        bounds = (0.0, 1.0) if column.unit == "" else (0.0, np.inf)
        return interval(values[counted], clusters=self.scenes[counted], bounds=bounds, level=self.level)

    def difference(self, metric: str, one: int, other: int) -> tuple[Difference, Interval] | None:
        """One agent minus another on a metric of episodes, and how often it does better; None where not comparable."""
        a, b = self.values(metric)[[one, other]]
        both = np.isfinite(a) & np.isfinite(b)
        if not both.any():
            return None
        rng = generator(self.seed, "report", metric, str(one), str(other))
        sign = -1.0 if self.columns[metric].better == "lower" else 1.0
        scenes = self.scenes[both]
        better = probability_of_improvement(sign * a[both], sign * b[both], clusters=scenes, level=self.level)
        return paired_difference(a[both], b[both], clusters=scenes, rng=rng, level=self.level), better


def contests(
    names: Sequence[str], tables: Sequence[ScoreTable], *, seed: int = 0, level: float = 0.95
) -> Iterator[Contest]:
    """The results, those of the same episodes, protocol and suite together, in the order in which they are given.

    Where completion times are told, protocols may differ in how the agent moves: that is what SCT is there to compare.
    """
    together: dict[object, list[int]] = {}
    for i, table in enumerate(tables):
        episodes = tuple(sorted(zip(table.episode_ids, table.world_ids, strict=True)))
        tours = None if table.tours is None else table.tours.tour_ids
        key = (_rules(table).protocol.digest, table.fingerprint, episodes, tours)
        together.setdefault(key, []).append(i)
    titles = each_named([_title(tables[rows[0]]) for rows in together.values()], longest=80)
    shown = [each_named([names[i] for i in rows]) for rows in together.values()]
    # Numbered by name over all contests, so that an agent looks the same in each.
    numbers = {name: i for i, name in enumerate(dict.fromkeys(name for of_contest in shown for name in of_contest))}
    for title, of_contest, rows in zip(titles, shown, together.values(), strict=True):
        agents = tuple(Agent(name, numbers[name]) for name in of_contest)
        yield _contest(title, agents, [tables[i] for i in rows], seed, level)


def _contest(title: str, agents: tuple[Agent, ...], tables: list[ScoreTable], seed: int, level: float) -> Contest:
    ordered = tuple(_in_order_of(tables[0], table) for table in tables)
    shown = [agent.name for agent in agents]
    scene_ids, scenes = np.unique(np.asarray(tables[0].world_ids), return_inverse=True)
    several, timed = len(tables) > 1, tables[0].robot is not None
    alike = [_rules(table) for table in ordered]
    return Contest(
        title=title,
        agents=agents,
        tables=ordered,
        summaries=tuple(summarise(table, level=level) for table in ordered),
        compared=compare(shown, alike, seed=seed, level=level) if several else None,
        solved=intersect(shown, alike, level=level) if several and timed and "SR" in tables[0].values else None,
        scenes=scenes.reshape(-1).astype(np.int64),
        scene_ids=tuple(map(str, scene_ids)),
        level=level,
        seed=seed,
    )


def _rules(table: ScoreTable) -> ScoreTable:
    """The table with the protocol that those it is compared with must share."""
    return table if table.robot is None else replace(table, protocol=as_judged(table.protocol))


def _title(table: ScoreTable) -> str:
    """The protocol, a released scorer's suite, and where the bundle tells it the file of the tasks."""
    tasks = "" if table.provenance is None else table.provenance.inputs.get("tasks", "")
    name = PurePath(tasks).name.split(".")[0]
    rules = [table.protocol.name]
    rules += ["tours"] if table.tours is not None else []
    rules += [f"suite {table.suite}"] if table.suite not in OURS else []
    return f"{named(name, longest=60)} ({', '.join(rules)})" if name else ", ".join(rules)


def _in_order_of(first: ScoreTable, table: ScoreTable) -> ScoreTable:
    """The table with its rows in the order of the first one's."""
    if table.episode_ids == first.episode_ids:
        return table
    where = {episode_id: i for i, episode_id in enumerate(table.episode_ids)}
    rows = np.array([where[episode_id] for episode_id in first.episode_ids], dtype=np.int64)
    asked = table.asked
    if asked is not None:
        tours = tuple(asked.tours[i] for i in rows)
        asked = Asked(asked.distances[rows], asked.lengths[rows], tours, asked.legs[rows])
    return replace(
        table,
        episode_ids=first.episode_ids,
        world_ids=tuple(table.world_ids[i] for i in rows),
        path_ids=tuple(table.path_ids[i] for i in rows),
        values={name: values[rows] for name, values in table.values.items()},
        missing=table.missing[rows],
        asked=asked,
    )
