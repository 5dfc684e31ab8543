"""An agent's responses, grouped by skill and arm: which trials have one, which failed, which pairs can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.records.action_probabilities import ActionDistribution
from itinera.skills.trials import Skill, correct_probability
from itinera.tasks.trial import Trial
from itinera.worlds import Array, Euclidean, World


@dataclass(frozen=True)
class TrialCounts:
    """The trials of a skill by outcome: total = completed + failed + missing."""

    total: int
    completed: int
    failed: int
    missing: int  # without a record
    failure_reasons: Mapping[str, int]  # the most frequent first
    by_arm: Mapping[str, int]  # total by arm

    def __post_init__(self) -> None:
        assert self.total == self.completed + self.failed + self.missing, "a trial was lost"
        assert self.failed == sum(self.failure_reasons.values()), "a failure was lost"


@dataclass(frozen=True, eq=False)
class ArmResponses:
    """The completed trials of one arm of a skill, a row each."""

    trials: tuple[Trial, ...]
    distributions: tuple[ActionDistribution, ...]
    response: Array  # (n,) the dependent variable of the models; NaN where undefined
    score: Array  # (n,) the probability of the correct actions; NaN where no single action is correct

    def __len__(self) -> int:
        return len(self.trials)

    @property
    def scenes(self) -> list[str]:
        return [trial.episode.world_id for trial in self.trials]

    @property
    def trajectories(self) -> list[str]:
        return [trial.episode.path_id or trial.source for trial in self.trials]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(n,) the number of nodes of each guided path."""
        return np.array([len(trial.episode.reference) for trial in self.trials], dtype=np.int64)

    @property
    def pair_ids(self) -> list[str]:
        """The id of each trial's control, which trials of different arms with the same path share."""
        return [trial.control_id or trial.id for trial in self.trials]

    def take(self, rows: Sequence[int] | NDArray[np.int64]) -> ArmResponses:
        """These rows."""
        return ArmResponses(
            tuple(self.trials[i] for i in rows),
            tuple(self.distributions[i] for i in rows),
            self.response[rows],
            self.score[rows],
        )


@dataclass(frozen=True, eq=False)
class SkillResponses:
    """All responses of an agent to the trials of one skill."""

    skill: Skill
    arms: Mapping[str, ArmResponses]  # by name
    counts: TrialCounts

    def scored_arm(self) -> ArmResponses | None:
        """The rows of the intervention that have a score; None if there are none."""
        arm = self.arms.get("intervention")
        if arm is None or not np.isfinite(arm.score).any():
            return None
        return arm.take(np.flatnonzero(np.isfinite(arm.score)))

    def pair_arms(self, first: str, second: str) -> tuple[ArmResponses, ArmResponses]:
        """Two arms, row by row with the same path, where both trials have a response."""
        one, other = self.arms[first], self.arms[second]
        row_by_pair = {pair: row for row, pair in enumerate(other.pair_ids) if np.isfinite(other.response[row])}
        pairs = one.pair_ids
        rows = [row for row, pair in enumerate(pairs) if pair in row_by_pair and np.isfinite(one.response[row])]
        other_rows = [row_by_pair[pairs[row]] for row in rows]
        return one.take(np.array(rows, dtype=np.int64)), other.take(np.array(other_rows, dtype=np.int64))


def group_responses(
    trials: Iterable[Trial],
    distributions: Iterable[ActionDistribution],
    skills: Mapping[str, Skill],
    worlds: Mapping[str, World],
) -> dict[str, SkillResponses]:
    """An agent's responses, by skill in the order of the trials.

    Trials without a record are counted; records of unknown trials raise BadArgument. `worlds` are needed only for
    skills that measure distances.
    """
    by_skill: dict[str, list[Trial]] = {}
    for trial in trials:
        by_skill.setdefault(trial.skill, []).append(trial)
    by_trial = {distribution.trial_id: distribution for distribution in distributions}
    trial_ids = {trial.id for group in by_skill.values() for trial in group}
    unknown = [name for name in by_trial if name not in trial_ids]
    if unknown:
        raise BadArgument(f"{len(unknown)} action distributions belong to no trial of the study, such as {unknown[0]}.")
    missing = [name for name in by_skill if name not in skills]
    if missing:
        raise BadArgument(f"{missing[0]!r} is not a skill. Use one of {', '.join(skills)}.")
    return {name: _group_skill(skills[name], group, by_trial, worlds) for name, group in by_skill.items()}


def _group_skill(
    skill: Skill, trials: Sequence[Trial], by_trial: Mapping[str, ActionDistribution], worlds: Mapping[str, World]
) -> SkillResponses:
    recorded = [(trial, by_trial[trial.id]) for trial in trials if trial.id in by_trial]
    reasons = Counter(distribution.failed for _, distribution in recorded if distribution.failed)
    completed = [(trial, distribution) for trial, distribution in recorded if not distribution.failed]
    missing = len(trials) - len(recorded)
    by_arm = Counter(trial.arm for trial in trials)
    counts = TrialCounts(len(trials), len(completed), reasons.total(), missing, dict(reasons.most_common()), by_arm)
    arms = {
        arm: _group_arm(skill, [pair for pair in completed if pair[0].arm == arm], worlds)
        for arm in dict.fromkeys(trial.arm for trial in trials)
    }
    return SkillResponses(skill, arms, counts)


def _group_arm(
    skill: Skill, completed: Sequence[tuple[Trial, ActionDistribution]], worlds: Mapping[str, World]
) -> ArmResponses:
    return ArmResponses(
        tuple(trial for trial, _ in completed),
        tuple(distribution for _, distribution in completed),
        np.array([skill.response(t, d, _find_world(skill, t, worlds)) for t, d in completed], dtype=np.float64),
        np.array([correct_probability(t, d) for t, d in completed], dtype=np.float64),
    )


def _find_world(skill: Skill, trial: Trial, worlds: Mapping[str, World]) -> World:
    """The world of a trial, or an empty one, which is enough where no distance is measured."""
    world_id = trial.episode.world_id
    if world_id in worlds:
        return worlds[world_id]
    if skill.unit == "m":
        raise BadArgument(f"{skill.name} measures distances in world {world_id}, which is missing. Give its graph.")
    return World(world_id, Euclidean())
