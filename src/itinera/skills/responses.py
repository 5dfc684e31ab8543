"""An agent's answers beside the trials of a study: what was answered, what failed, and which pairs can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.records.action_probabilities import Leaning
from itinera.skills.trials import Skill, correct_mass
from itinera.tasks.trial import Trial
from itinera.worlds import Array, Euclidean, World


@dataclass(frozen=True)
class Count:
    """What became of the trials of a skill: asked = answered + failed + unanswered."""

    asked: int
    answered: int
    failed: int
    unanswered: int
    reasons: Mapping[str, int]  # of the failed, the commonest first
    by_arm: Mapping[str, int]  # of those asked

    def __post_init__(self) -> None:
        assert self.asked == self.answered + self.failed + self.unanswered, "a trial was lost"
        assert self.failed == sum(self.reasons.values()), "a failure was lost"


@dataclass(frozen=True, eq=False)
class Arm:
    """The answered trials of one arm of a skill, a row each."""

    trials: tuple[Trial, ...]
    leanings: tuple[Leaning, ...]
    response: Array  # (n,) what the models explain; NaN where undefined
    score: Array  # (n,) the probability of the right actions; NaN where none is right at once

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
        """(n,) nodes of the path each was led along."""
        return np.array([len(trial.episode.reference) for trial in self.trials], dtype=np.int64)

    @property
    def walks(self) -> list[str]:
        """By what trials of different arms are told to be of the same walk: the id of its control."""
        return [trial.twin or trial.id for trial in self.trials]

    def take(self, rows: Sequence[int] | NDArray[np.int64]) -> Arm:
        """These rows of it."""
        return Arm(
            tuple(self.trials[i] for i in rows),
            tuple(self.leanings[i] for i in rows),
            self.response[rows],
            self.score[rows],
        )


@dataclass(frozen=True, eq=False)
class Answers:
    """All that an agent answered about one skill."""

    skill: Skill
    arms: Mapping[str, Arm]  # by name
    count: Count

    def paired(self, first: str, second: str) -> tuple[Arm, Arm]:
        """Two arms, row by row of the same walk, where both were answered and have a response."""
        one, other = self.arms[first], self.arms[second]
        there = {walk: row for row, walk in enumerate(other.walks) if np.isfinite(other.response[row])}
        rows = [row for row, walk in enumerate(one.walks) if walk in there and np.isfinite(one.response[row])]
        matching = [there[one.walks[row]] for row in rows] if rows else []
        return one.take(np.array(rows, dtype=np.int64)), other.take(np.array(matching, dtype=np.int64))


def answers_by_skill(
    trials: Iterable[Trial],
    leanings: Iterable[Leaning],
    skills: Mapping[str, Skill],
    worlds: Mapping[str, World],
) -> dict[str, Answers]:
    """An agent's answers, by skill in the order of the trials.

    Trials without an answer are counted, answers to no trial refused. Worlds are asked for only by skills that measure
    distances.
    """
    by_skill: dict[str, list[Trial]] = {}
    for trial in trials:
        by_skill.setdefault(trial.skill, []).append(trial)
    told = {leaning.trial_id: leaning for leaning in leanings}
    known = {trial.id for group in by_skill.values() for trial in group}
    unknown = [name for name in told if name not in known]
    if unknown:
        raise BadArgument(f"{len(unknown)} answers are to no trial of the study, such as {unknown[0]}.")
    missing = [name for name in by_skill if name not in skills]
    if missing:
        raise BadArgument(f"{missing[0]!r} is no skill known here. There are {', '.join(skills)}.")
    return {name: _answers(skills[name], group, told, worlds) for name, group in by_skill.items()}


def _answers(
    skill: Skill, trials: Sequence[Trial], told: Mapping[str, Leaning], worlds: Mapping[str, World]
) -> Answers:
    found = [(trial, told[trial.id]) for trial in trials if trial.id in told]
    reasons = Counter(leaning.failed for _, leaning in found if leaning.failed)
    answered = [(trial, leaning) for trial, leaning in found if not leaning.failed]
    unanswered = len(trials) - len(found)
    by_arm = Counter(trial.arm for trial in trials)
    count = Count(len(trials), len(answered), reasons.total(), unanswered, dict(reasons.most_common()), by_arm)
    arms = {
        arm: _arm(skill, [pair for pair in answered if pair[0].arm == arm], worlds)
        for arm in dict.fromkeys(trial.arm for trial in trials)
    }
    return Answers(skill, arms, count)


def _arm(skill: Skill, answered: Sequence[tuple[Trial, Leaning]], worlds: Mapping[str, World]) -> Arm:
    return Arm(
        tuple(trial for trial, _ in answered),
        tuple(leaning for _, leaning in answered),
        np.array([skill.response(t, a, _world_of(skill, t, worlds)) for t, a in answered], dtype=np.float64),
        np.array([correct_mass(t, a) for t, a in answered], dtype=np.float64),
    )


def _world_of(skill: Skill, trial: Trial, worlds: Mapping[str, World]) -> World:
    """The world a trial is in, or one of which nothing is known, which will do where no distance is measured."""
    world_id = trial.episode.world_id
    if world_id in worlds:
        return worlds[world_id]
    if skill.unit == "m":
        raise BadArgument(f"{skill.name} measures distances in world {world_id}, which is not given. Give its graph.")
    return World(world_id, Euclidean())
