"""Agents on all episodes and on the episodes that every agent solved: SCT, SPL, SR, SCT∩ and SPL∩.

Agents solve different episodes; one may solve only the short ones. The intersection compares all agents on the
episodes that each of them solved, so it depends on the set of agents compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.records import Column, ScoreTable
from itinera.records.tables import (
    TextTable,
    column_heading,
    count_episodes,
    count_noun,
    describe_robot,
    format_number,
    to_html,
    to_text,
)
from itinera.reports.alignment import check_comparable, stack_values
from itinera.stats import Interval, interval, joint_success
from itinera.tasks.fastest_times import ReferenceRobot
from itinera.tasks.split import SplitPart
from itinera.worlds import Array

ALL_EPISODES = ("SCT", "SPL", "SR")  # metrics over all episodes, if the results have them
SOLVED_BY_ALL = ("SCT", "SPL")  # metrics over the episodes that every agent solved


@dataclass(frozen=True)
class MetricMeans:
    """A metric of every agent over the same episodes."""

    column: Column
    episodes: int  # on which every agent has a value
    intervals: tuple[Interval, ...]  # one per agent; empty if no episode counts


@dataclass(frozen=True)
class Intersection:
    """Means of every agent over all episodes and over those solved by all of them. `print` shows the table."""

    names: tuple[str, ...]
    all_episodes: tuple[MetricMeans, ...]
    solved_by_all: tuple[MetricMeans, ...]  # their columns are named with ∩
    episodes: int
    solved: int  # episodes solved by every agent
    scenes: int
    suite: str
    protocol: str
    robot: ReferenceRobot | None  # whose fastest times SCT is relative to
    part: SplitPart | None = None  # which part of the split the episodes are; None for the whole

    def __repr__(self) -> str:
        return f"Intersection({', '.join(self.names)}: {self.solved} of {self.episodes} episodes solved by all)"

    def __str__(self) -> str:
        return to_text(self.to_table())

    def _repr_html_(self) -> str:
        return to_html(self.to_table())

    def to_table(self) -> TextTable:
        """A row per agent: each mean with its interval."""
        means = (*self.all_episodes, *self.solved_by_all)
        rows = tuple((name, *(_cell(mean, i) for mean in means)) for i, name in enumerate(self.names))
        scenes = count_noun(self.scenes, "scene")
        what = f"{count_episodes(self.episodes, self.part)} in {scenes}, {self.solved} solved by every agent"
        robot = "" if self.robot is None else f" · fastest times of {describe_robot(self.robot)}"
        title = f"{what} · suite {self.suite} · protocol {self.protocol}{robot}"
        return TextTable(("agent", *(column_heading(mean.column) for mean in means)), rows, title)

    def to_dict(self) -> dict[str, object]:
        """The intersection as plain values for JSON: fractions, never percentages."""
        return {
            "systems": self.names,
            "episodes": self.episodes,
            "solved_by_all": self.solved,
            "scenes": self.scenes,
            "suite": self.suite,
            "protocol": self.protocol,
            "robot": None if self.robot is None else asdict(self.robot),
            "metrics": {
                mean.column.name: {
                    "episodes": mean.episodes,
                    "means": {
                        name: {"mean": i.mean, "low": i.low, "high": i.high}
                        for name, i in zip(self.names, mean.intervals, strict=False)
                    },
                }
                for mean in (*self.all_episodes, *self.solved_by_all)
            },
        }


def intersect(names: Sequence[str], tables: Sequence[ScoreTable], *, level: float = 0.95) -> Intersection:
    """Means over all episodes and over the episodes that every agent solved, clustered by scene.

    Protocols may differ in step size, turn angle, tilt angle and drive, and in nothing else. Raises BadArgument if they
    do, or if the results have no success rate (SR).
    """
    check_comparable(names, [replace(table, protocol=table.protocol.without_motion) for table in tables])
    columns = {column.name: column for column in tables[0].columns}
    if "SR" not in columns:
        raise BadArgument(
            f"Suite {tables[0].suite} does not measure the success rate (SR), so the episodes solved by all "
            "agents are unknown. Score with another --suite."
        )
    scenes = np.asarray(tables[0].world_ids)
    solved = joint_success(stack_values(names, tables, "SR"))

    def mean(column: Column, where: NDArray[np.bool_]) -> MetricMeans:
        return _mean(column, stack_values(names, tables, column.name.rstrip("∩"))[:, where], scenes[where], level)

    every = np.ones(len(scenes), dtype=bool)
    return Intersection(
        names=tuple(names),
        all_episodes=tuple(mean(columns[name], every) for name in ALL_EPISODES if name in columns),
        solved_by_all=tuple(mean(Column(f"{name}∩"), solved) for name in SOLVED_BY_ALL if name in columns),
        episodes=len(scenes),
        solved=int(solved.sum()),
        scenes=len(set(tables[0].world_ids)),
        suite=tables[0].suite,
        protocol=tables[0].protocol.without_motion.label,
        robot=tables[0].robot,
        part=tables[0].part,
    )


def _mean(column: Column, values: Array, scenes: NDArray[np.str_], level: float) -> MetricMeans:
    defined = np.isfinite(values).all(axis=0)
    if not defined.any():
        return MetricMeans(column, 0, ())
    found = [interval(row[defined], clusters=scenes[defined], bounds=(0.0, 1.0), level=level) for row in values]
    return MetricMeans(column, int(defined.sum()), tuple(found))


def _cell(mean: MetricMeans, agent: int) -> str:
    if not mean.intervals:
        return "undefined"
    found = mean.intervals[agent]
    low, high = (format_number(mean.column, x) for x in (found.low, found.high))
    return f"{format_number(mean.column, found.mean)} [{low}, {high}]"
