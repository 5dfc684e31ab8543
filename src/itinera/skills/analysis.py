"""What a study found about an agent: for each skill its score, what the words did, and how sure that is.

Start with `analyse`. Intervals redraw whole scenes (`stats/hierarchical.py`); the effect and its p-value are those of a
linear mixed-effects model (`stats/mixed.py`). Both take scenes, not episodes, for the sample.
Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from itinera.errors import BadArgument
from itinera.records.action_probabilities import Leaning
from itinera.seeding import generator
from itinera.skills.responses import Answers, Arm, Count, answers_by_skill
from itinera.skills.trials import Skill
from itinera.stats import (
    MODELS,
    Interval,
    LikelihoodRatio,
    MixedFit,
    fit_mixed,
    interval,
    likelihood_ratio,
    ratio_of_sums,
    resample_sums,
)
from itinera.stats.hierarchical import Flavour, OfSums
from itinera.tasks.trial import Trial
from itinera.worlds import Array, World

UNBOUNDED = (-np.inf, np.inf)
FLAVOURS: tuple[Flavour, ...] = ("t", "percentile")
CONTRASTS = (("intervention", "control"), ("intervention", "ahead"), ("control", "ahead"))
"""The arms that are compared, as far as a skill has them: the first minus the second."""


@dataclass(frozen=True)
class Effect:
    """What the words of one arm do to the response, against those of another, over walks where both were answered."""

    arms: tuple[str, str]
    pairs: int
    scenes: int
    lost: int  # trials of the first arm without such a pair
    means: tuple[Interval, Interval]  # of the response, by arm
    difference: Interval  # first minus second, by resampling
    fits: Mapping[str, MixedFit]  # by model, those that could be fitted
    ratio: LikelihoodRatio | None  # of the first of the fits
    unfitted: str = ""  # why the first model could not be fitted

    @property
    def fit(self) -> MixedFit | None:
        """The first model's."""
        return next(iter(self.fits.values()), None) if not self.unfitted else None

    @property
    def reported(self) -> MixedFit | None:
        """The model's fit, unless no scene has any effect at all: a model would doubt even that."""
        return None if self.difference.low == self.difference.high == 0 else self.fit

    @property
    def interval(self) -> Interval:
        """The effect to report: the model's, or by resampling where there is none."""
        return self.difference if self.reported is None else self.reported.interval

    @property
    def p_value(self) -> float | None:
        """Of no effect, where that can be told."""
        return None if self.reported is None else self.reported.p_value


@dataclass(frozen=True)
class Finding:
    """What was found about one skill of one agent."""

    skill: Skill
    count: Count
    score: Interval | None  # the probability of the right actions when told; None where none is right at once
    effects: tuple[Effect, ...]  # the first is intervention against control; none where too little was answered


@dataclass(frozen=True)
class Analysis:
    """How a study is analysed."""

    models: tuple[str, ...] = ("default",)  # of stats.MODELS; the first is the one that is reported
    seed: int = 0
    resamples: int = 2000
    level: float = 0.95

    def __post_init__(self) -> None:
        unknown = [name for name in self.models if name not in MODELS]
        if unknown or not self.models:
            raise BadArgument(f"There is no mixed model {(unknown or [''])[0]!r}. Choose of: {', '.join(MODELS)}.")


USUAL = Analysis()


def analyse(
    trials: Iterable[Trial],
    leanings: Iterable[Leaning],
    skills: Mapping[str, Skill],
    worlds: Mapping[str, World],
    how: Analysis = USUAL,
) -> tuple[Finding, ...]:
    """The findings about an agent, skill by skill in the order of the trials."""
    return tuple(find(answers, how) for answers in answers_by_skill(trials, leanings, skills, worlds).values())


def find(answers: Answers, how: Analysis = USUAL) -> Finding:
    """What an agent's answers tell about one skill."""
    effects = [_effect(answers, arms, how) for arms in CONTRASTS]
    return Finding(answers.skill, answers.count, _score(answers, how), tuple(e for e in effects if e is not None))


def _score(answers: Answers, how: Analysis) -> Interval | None:
    arm = answers.arms.get("intervention")
    if arm is None or not np.isfinite(arm.score).any():
        return None
    scored = arm.take(np.flatnonzero(np.isfinite(arm.score)))
    return over_scenes(scored.score, scored, how, (0.0, 1.0), answers.skill.name, "score")


def _effect(answers: Answers, arms: tuple[str, str], how: Analysis) -> Effect | None:
    """One arm against the other; None where no walk was answered in both."""
    one, other = answers.paired(*arms) if set(arms) <= answers.arms.keys() else (None, None)
    if one is None or other is None or not len(one):
        return None
    name, bounded = answers.skill.name, not answers.skill.unit
    inside, apart = ((0.0, 1.0), (-1.0, 1.0)) if bounded else (UNBOUNDED, UNBOUNDED)
    fits, ratio, why = _fitted(one, other, how)
    return Effect(
        arms,
        len(one),
        len(set(one.scenes)),
        answers.count.by_arm[arms[0]] - len(one),
        (
            over_scenes(one.response, one, how, inside, name, arms[0]),
            over_scenes(other.response, other, how, inside, name, arms[1]),
        ),
        over_scenes(one.response - other.response, one, how, apart, name, *arms),
        fits,
        ratio,
        why,
    )


def over_scenes(values: Array, arm: Arm, how: Analysis, bounds: tuple[float, float], *names: str) -> Interval:
    """The mean of one value for each row of an arm, with a bootstrap interval over scenes, no farther than the bounds.

    With one scene only there is nothing to redraw; the interval then takes its rows for independent, and says so.
    """
    if len(set(arm.scenes)) < 2:
        return interval(values, clusters=arm.scenes, bounds=bounds, level=how.level)
    columns = np.column_stack([values, np.ones(len(values))])
    return redrawn(columns, (arm.scenes, arm.trajectories), ratio_of_sums, how, bounds, *names)


def redrawn(
    columns: Array,
    levels: Sequence[Sequence[str]],
    statistic: OfSums,
    how: Analysis,
    bounds: tuple[float, float],
    *names: str,
) -> Interval:
    """A statistic of sums with a bootstrap interval over scenes; the names choose its random numbers.

    Where all but one or two scenes agree, many resamples hold scenes that agree only and have no error to compare with:
    the interval would know no end. There, quantiles of the resampled statistic itself are taken.
    """
    for flavour in FLAVOURS:
        rng = generator(how.seed, "findings", *names)
        found = resample_sums(
            columns, levels=levels, rng=rng, statistic=statistic, flavour=flavour, resamples=how.resamples,
            level=how.level,
        )  # fmt: skip
        if np.isfinite([found.low, found.high]).all():
            break
    return replace(found, low=max(found.low, bounds[0]), high=min(found.high, bounds[1]))


def _fitted(one: Arm, other: Arm, how: Analysis) -> tuple[dict[str, MixedFit], LikelihoodRatio | None, str]:
    """The models that can be fitted, the likelihood ratio of the first, and why there is none if so."""
    response = np.concatenate([one.response, other.response])
    intervention = np.repeat([1, 0], [len(one), len(other)])
    labels = {
        "scenes": one.scenes + other.scenes,
        "trajectories": one.trajectories + other.trajectories,
        "episodes": 2 * one.walks,
    }
    fits, why = {}, {}
    for model in how.models:
        try:
            fits[model] = fit_mixed(response, intervention, model=model, level=how.level, **labels)
        except BadArgument as error:
            why[model] = str(error)
    first = how.models[0]
    ratio = likelihood_ratio(response, intervention, model=first, **labels) if first in fits else None
    return fits, ratio, why.get(first, "")
