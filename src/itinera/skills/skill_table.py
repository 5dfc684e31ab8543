"""Agents side by side: the score of each skill, their mean, and how well the agent does the task itself.

Scores are the mean probability of the right actions, as in the paper's table: to stop, to turn (the mean over the six
directions), to go towards an object, and into a room one step away.
Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents, equation 1 and table 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from itinera.records import ScoreTable
from itinera.skills.analysis import USUAL, Analysis, redrawn
from itinera.skills.responses import Answers, Arm
from itinera.skills.turning import RANGES
from itinera.stats import Interval, interval
from itinera.stats.hierarchical import OfSums
from itinera.worlds import Array

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "stop": ("stop",),
    "turn": tuple(f"direction-{direction.replace(' ', '-')}" for direction in RANGES),
    "object": ("object",),
    "room": ("room-1",),
}
"""The columns of the table, and the skills each is the mean of."""

METRICS = ("SR", "nDTW")


@dataclass(frozen=True)
class SkillRow:
    """One agent's line."""

    agent: str
    scores: Mapping[str, Interval]  # by column, those with a score
    mean: Interval | None  # of all four; None where one is missing
    metrics: Mapping[str, Interval]  # SR and nDTW, where a score bundle was given


def skill_row(
    agent: str, answers: Mapping[str, Answers], table: ScoreTable | None = None, how: Analysis = USUAL
) -> SkillRow:
    """An agent's line of the table; `table`, the scores of its walks, adds success and fidelity."""
    scored = {
        column: [arm for name in names if name in answers and (arm := _scored(answers[name])) is not None]
        for column, names in COLUMNS.items()
    }
    scored = {column: arms for column, arms in scored.items() if arms}
    scores = {column: mean_of_means([arms], how, column) for column, arms in scored.items()}
    mean = mean_of_means(list(scored.values()), how, "mean") if len(scored) == len(COLUMNS) else None
    return SkillRow(agent, scores, mean, {} if table is None else _metrics(table, how))


def _scored(answers: Answers) -> Arm | None:
    arm = answers.arms.get("intervention")
    if arm is None or not np.isfinite(arm.score).any():
        return None
    return arm.take(np.flatnonzero(np.isfinite(arm.score)))


def mean_of_means(columns: Sequence[Sequence[Arm]], how: Analysis, name: str) -> Interval:
    """The mean over columns of the mean over their skills of the mean score, scenes redrawn for all together."""
    arms = [arm for column in columns for arm in column]
    shares = np.array([1 / len(column) for column in columns for _ in column])
    scenes = [scene for arm in arms for scene in arm.scenes]
    trajectories = [path for arm in arms for path in arm.trajectories]
    sums, statistic = _blocks(arms), _weighted(shares)
    if len(set(scenes)) < 2:
        return Interval(float(statistic(sums.sum(axis=0))), np.nan, np.nan, how.level, "one scene")
    return redrawn(sums, (scenes, trajectories), statistic, how, (0.0, 1.0), "skill table", name)


def _blocks(arms: Sequence[Arm]) -> Array:
    """(rows of all arms, 2 x arms) each arm's scores and a count of them, in columns of their own."""
    starts = np.cumsum([0, *map(len, arms)])
    sums = np.zeros((starts[-1], 2 * len(arms)))
    for k, arm in enumerate(arms):
        rows = slice(starts[k], starts[k + 1])
        sums[rows, 2 * k], sums[rows, 2 * k + 1] = arm.score, 1.0
    return sums


def _weighted(shares: Array) -> OfSums:
    """The weighted mean of ratios of sums; a skill of which a resample has no trial is left out of it there."""

    def statistic(sums: Array) -> Array:
        totals, counts = sums[..., ::2], sums[..., 1::2]
        there = counts > 0
        means = np.divide(totals, counts, out=np.zeros_like(totals), where=there)
        return np.asarray((means * shares).sum(axis=-1) / (there * shares).sum(axis=-1))

    return statistic


def _metrics(table: ScoreTable, how: Analysis) -> dict[str, Interval]:
    found = {}
    for name in METRICS:
        values = np.asarray(table.values.get(name, ()), dtype=np.float64)
        defined = np.isfinite(values)
        if defined.any():
            scenes = np.asarray(table.world_ids)[defined]
            found[name] = interval(values[defined], clusters=scenes, bounds=(0, 1), level=how.level)
    return found
