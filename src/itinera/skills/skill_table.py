"""The skill table: an agent's score in each skill, their mean, and its success and fidelity in the task itself.

Scores are the mean probability of the correct actions, as in the paper's table: stopping, turning (the mean over the
six directions), going towards an object, and going into a room one step away.
Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents, equation 1 and table 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from itinera.records import ScoreTable
from itinera.skills.analysis import DEFAULT_CONFIG, AnalysisConfig, bootstrap_interval
from itinera.skills.responses import ArmResponses, SkillResponses
from itinera.skills.turning import RANGES
from itinera.stats import Interval, interval
from itinera.stats.hierarchical import SumStatistic
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
    """One agent's row of the skill table."""

    agent: str
    scores: Mapping[str, Interval]  # by column, those with a score
    mean: Interval | None  # of all four; None if one is missing
    metrics: Mapping[str, Interval]  # SR and nDTW, if scores were given


def compute_skill_row(
    agent: str,
    responses: Mapping[str, SkillResponses],
    table: ScoreTable | None = None,
    config: AnalysisConfig = DEFAULT_CONFIG,
) -> SkillRow:
    """An agent's row of the skill table; `table`, the scores of its predictions, adds SR and nDTW."""
    scored = {
        column: [arm for name in names if name in responses and (arm := responses[name].scored_arm()) is not None]
        for column, names in COLUMNS.items()
    }
    scored = {column: arms for column, arms in scored.items() if arms}
    scores = {column: _mean_score([arms], config, column) for column, arms in scored.items()}
    mean = _mean_score(list(scored.values()), config, "mean") if len(scored) == len(COLUMNS) else None
    return SkillRow(agent, scores, mean, {} if table is None else _mean_metrics(table, config))


def _mean_score(columns: Sequence[Sequence[ArmResponses]], config: AnalysisConfig, name: str) -> Interval:
    """The mean over columns of the mean over their skills of the mean score, scenes resampled jointly."""
    arms = [arm for column in columns for arm in column]
    weights = np.array([1 / len(column) for column in columns for _ in column])
    scenes = [scene for arm in arms for scene in arm.scenes]
    trajectories = [path for arm in arms for path in arm.trajectories]
    sums, statistic = _stack_scores(arms), _weighted_mean(weights)
    if len(set(scenes)) < 2:
        return Interval(float(statistic(sums.sum(axis=0))), np.nan, np.nan, config.level, "one scene")
    return bootstrap_interval(sums, (scenes, trajectories), statistic, config, (0.0, 1.0), "skill table", name)


def _stack_scores(arms: Sequence[ArmResponses]) -> Array:
    """(rows of all arms, 2 x arms) each arm's scores and a count of them, in columns of their own."""
    starts = np.cumsum([0, *map(len, arms)])
    sums = np.zeros((starts[-1], 2 * len(arms)))
    for k, arm in enumerate(arms):
        rows = slice(starts[k], starts[k + 1])
        sums[rows, 2 * k], sums[rows, 2 * k + 1] = arm.score, 1.0
    return sums


def _weighted_mean(weights: Array) -> SumStatistic:
    """The weighted mean of ratios of sums; a skill without trials in a resample is left out of it there."""

    def statistic(sums: Array) -> Array:
        totals, counts = sums[..., ::2], sums[..., 1::2]
        mask = counts > 0
        means = np.divide(totals, counts, out=np.zeros_like(totals), where=mask)
        return np.asarray((means * weights).sum(axis=-1) / (mask * weights).sum(axis=-1))

    return statistic


def _mean_metrics(table: ScoreTable, config: AnalysisConfig) -> dict[str, Interval]:
    means = {}
    for name in METRICS:
        values = np.asarray(table.values.get(name, ()), dtype=np.float64)
        defined = np.isfinite(values)
        if defined.any():
            scenes = np.asarray(table.world_ids)[defined]
            means[name] = interval(values[defined], clusters=scenes, bounds=(0, 1), level=config.level)
    return means
