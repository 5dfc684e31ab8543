"""Agents side by side on all episodes, and on those that every one of them solved: SCT, SPL, success, SCT∩, SPL∩.

An agent that fails the long ways has only short ones to be fast on; the intersection asks all of them for the same
ways. It depends on who is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.records import Column, ScoreTable
from itinera.reports.comparison import refuse_mixtures, side_by_side
from itinera.reports.tables import Grid, heading, number, robot_told
from itinera.stats import Interval, interval, joint_success
from itinera.tasks import Protocol
from itinera.tasks.fastest_times import ReferenceRobot
from itinera.worlds import Array

SHOWN = ("SCT", "SPL", "SR")  # over all episodes, those of them that the results have
SHARED = ("SCT", "SPL")  # over the episodes that everybody solved


@dataclass(frozen=True)
class Mean:
    """A metric of every agent over the same episodes; no intervals where there are none."""

    column: Column
    episodes: int  # where every agent has a value
    intervals: tuple[Interval, ...]  # one for each agent, or none


@dataclass(frozen=True)
class Intersection:
    names: tuple[str, ...]
    everywhere: tuple[Mean, ...]
    shared: tuple[Mean, ...]  # their columns are named with ∩
    episodes: int
    solved: int  # by every agent
    scenes: int
    suite: str
    protocol: str
    robot: ReferenceRobot | None  # whose fastest times SCT weighs by


def intersect(names: Sequence[str], tables: Sequence[ScoreTable], *, level: float = 0.95) -> Intersection:
    """Results of the same episodes over all of these and over those that every agent solved, scenes as the sample.

    How an agent moves is its own affair here: protocols may differ in step, turn, view and drive, and in nothing else.
    Raises BadArgument where results were made by other rules, or do not tell success.
    """
    refuse_mixtures(names, [replace(table, protocol=as_judged(table.protocol)) for table in tables])
    columns = {column.name: column for column in tables[0].columns}
    if "SR" not in columns:
        raise BadArgument("These results do not tell success (SR), so nobody knows which episodes all agents solved.")
    scenes = np.asarray(tables[0].world_ids)
    solved = joint_success(side_by_side(names, tables, "SR"))

    def mean(column: Column, where: NDArray[np.bool_]) -> Mean:
        return _mean(column, side_by_side(names, tables, column.name.rstrip("∩"))[:, where], scenes[where], level)

    everywhere = np.ones(len(scenes), dtype=bool)
    return Intersection(
        names=tuple(names),
        everywhere=tuple(mean(columns[name], everywhere) for name in SHOWN if name in columns),
        shared=tuple(mean(Column(f"{name}∩"), solved) for name in SHARED if name in columns),
        episodes=len(scenes),
        solved=int(solved.sum()),
        scenes=len(set(tables[0].world_ids)),
        suite=tables[0].suite,
        protocol=tables[0].protocol.name,
        robot=tables[0].robot,
    )


def as_judged(protocol: Protocol) -> Protocol:
    """What a protocol asks of every agent, however it moves."""
    return replace(protocol, step_size=None, turn_angle=None, tilt_angle=None, drive=None)


def _mean(column: Column, values: Array, scenes: NDArray[np.str_], level: float) -> Mean:
    defined = np.isfinite(values).all(axis=0)
    if not defined.any():
        return Mean(column, 0, ())
    found = [interval(row[defined], clusters=scenes[defined], bounds=(0.0, 1.0), level=level) for row in values]
    return Mean(column, int(defined.sum()), tuple(found))


def as_grid(found: Intersection) -> Grid:
    """A row per agent; each mean with the ends of its interval."""
    means = (*found.everywhere, *found.shared)
    rows = tuple((name, *(_cell(mean, i) for mean in means)) for i, name in enumerate(found.names))
    scenes = "1 scene" if found.scenes == 1 else f"{found.scenes} scenes"
    what = f"{found.episodes} episodes in {scenes}, {found.solved} solved by every agent"
    robot = "" if found.robot is None else f" · fastest times of {robot_told(found.robot)}"
    title = f"{what} · suite {found.suite} · protocol {found.protocol}{robot}"
    return Grid(("agent", *(heading(mean.column) for mean in means)), rows, title)


def _cell(mean: Mean, agent: int) -> str:
    if not mean.intervals:
        return "undefined"
    found = mean.intervals[agent]
    low, high = (number(mean.column, x) for x in (found.low, found.high))
    return f"{number(mean.column, found.mean)} [{low}, {high}]"


def as_plain(found: Intersection) -> dict[str, object]:
    """The intersection as plain values: fractions, never percentages."""
    return {
        "systems": found.names,
        "episodes": found.episodes,
        "solved_by_all": found.solved,
        "scenes": found.scenes,
        "suite": found.suite,
        "protocol": found.protocol,
        "robot": None if found.robot is None else asdict(found.robot),
        "metrics": {
            mean.column.name: {
                "episodes": mean.episodes,
                "means": {
                    name: {"mean": i.mean, "low": i.low, "high": i.high}
                    for name, i in zip(found.names, mean.intervals, strict=False)
                },
            }
            for mean in (*found.everywhere, *found.shared)
        },
    }
