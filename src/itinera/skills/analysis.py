"""The findings of a skill study: for each skill an agent's score, the effect of the sentences, and its uncertainty.

Start with `analyze`. Bootstrap intervals resample whole scenes (`stats/hierarchical.py`); the effect and its p-value
are those of a linear mixed-effects model (`stats/mixed.py`). Both treat scenes, not episodes, as the sample.
Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from itinera.errors import BadArgument
from itinera.records.action_probabilities import ActionDistribution
from itinera.seeding import generator
from itinera.skills.responses import ArmResponses, SkillResponses, TrialCounts, group_responses
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
from itinera.stats.bootstrap import BootstrapMethod
from itinera.stats.hierarchical import SumStatistic
from itinera.tasks.trial import Trial
from itinera.worlds import Array, World

UNBOUNDED = (-np.inf, np.inf)
BOOTSTRAP_METHODS: tuple[BootstrapMethod, ...] = ("t", "percentile")
CONTRASTS = (("intervention", "control"), ("intervention", "ahead"), ("control", "ahead"))
"""The pairs of arms that are compared, if a skill has them: the first minus the second."""


@dataclass(frozen=True)
class Effect:
    """The difference of the response between two arms, over paths where both trials were completed."""

    arms: tuple[str, str]
    pairs: int
    scenes: int
    unpaired: int  # trials of the first arm without such a pair
    means: tuple[Interval, Interval]  # of the response, by arm
    difference: Interval  # first minus second, by bootstrap
    fits: Mapping[str, MixedFit]  # by model, those that could be fitted
    ratio: LikelihoodRatio | None  # of the first of the fits
    fit_error: str = ""  # why the first model could not be fitted

    @property
    def fit(self) -> MixedFit | None:
        """The fit of the first model."""
        return next(iter(self.fits.values()), None) if not self.fit_error else None

    @property
    def reported_fit(self) -> MixedFit | None:
        """The fit to report; None if no scene has any effect, for which a model would still report uncertainty."""
        return None if self.difference.low == self.difference.high == 0 else self.fit

    @property
    def interval(self) -> Interval:
        """The effect to report: the model's, or the bootstrap's if there is no fit."""
        return self.difference if self.reported_fit is None else self.reported_fit.interval

    @property
    def p_value(self) -> float | None:
        """The p-value of no effect; None without a fit."""
        return None if self.reported_fit is None else self.reported_fit.p_value


@dataclass(frozen=True)
class SkillFinding:
    """The result for one skill of one agent."""

    skill: Skill
    counts: TrialCounts
    score: Interval | None  # the probability of the correct actions in the intervention; None where none is defined
    effects: tuple[Effect, ...]  # the first is intervention against control; empty if too few trials were completed


@dataclass(frozen=True)
class AnalysisConfig:
    """The options of an analysis."""

    models: tuple[str, ...] = ("default",)  # of stats.MODELS; the first is the one reported
    seed: int = 0
    resamples: int = 2000
    level: float = 0.95

    def __post_init__(self) -> None:
        unknown = [name for name in self.models if name not in MODELS]
        if unknown or not self.models:
            raise BadArgument(f"{(unknown or [''])[0]!r} is not a mixed model. Use one of {', '.join(MODELS)}.")


DEFAULT_CONFIG = AnalysisConfig()


def analyze(
    trials: Iterable[Trial],
    distributions: Iterable[ActionDistribution],
    skills: Mapping[str, Skill],
    worlds: Mapping[str, World],
    config: AnalysisConfig = DEFAULT_CONFIG,
) -> tuple[SkillFinding, ...]:
    """The findings about an agent, skill by skill in the order of the trials."""
    responses = group_responses(trials, distributions, skills, worlds)
    return tuple(analyze_skill(of_skill, config) for of_skill in responses.values())


def analyze_skill(responses: SkillResponses, config: AnalysisConfig = DEFAULT_CONFIG) -> SkillFinding:
    """The finding about one skill of an agent."""
    effects = [_estimate_effect(responses, arms, config) for arms in CONTRASTS]
    defined = tuple(effect for effect in effects if effect is not None)
    return SkillFinding(responses.skill, responses.counts, _mean_score(responses, config), defined)


def _mean_score(responses: SkillResponses, config: AnalysisConfig) -> Interval | None:
    scored = responses.scored_arm()
    if scored is None:
        return None
    return mean_over_scenes(scored.score, scored, config, (0.0, 1.0), responses.skill.name, "score")


def _estimate_effect(responses: SkillResponses, arms: tuple[str, str], config: AnalysisConfig) -> Effect | None:
    """One arm against the other; None if no path was completed in both."""
    one, other = responses.pair_arms(*arms) if set(arms) <= responses.arms.keys() else (None, None)
    if one is None or other is None or not len(one):
        return None
    name, is_probability = responses.skill.name, not responses.skill.unit
    bounds, difference_bounds = ((0.0, 1.0), (-1.0, 1.0)) if is_probability else (UNBOUNDED, UNBOUNDED)
    fits, ratio, fit_error = _fit_models(one, other, config)
    return Effect(
        arms,
        len(one),
        len(set(one.scenes)),
        responses.counts.by_arm[arms[0]] - len(one),
        (
            mean_over_scenes(one.response, one, config, bounds, name, arms[0]),
            mean_over_scenes(other.response, other, config, bounds, name, arms[1]),
        ),
        mean_over_scenes(one.response - other.response, one, config, difference_bounds, name, *arms),
        fits,
        ratio,
        fit_error,
    )


def mean_over_scenes(
    values: Array, arm: ArmResponses, config: AnalysisConfig, bounds: tuple[float, float], *names: str
) -> Interval:
    """The mean of one value per row of an arm, with a bootstrap interval over scenes, clipped to the bounds.

    With a single scene there is nothing to resample: the interval treats its rows as independent, and its method says
    so.
    """
    if len(set(arm.scenes)) < 2:
        return interval(values, clusters=arm.scenes, bounds=bounds, level=config.level)
    columns = np.column_stack([values, np.ones(len(values))])
    return bootstrap_interval(columns, (arm.scenes, arm.trajectories), ratio_of_sums, config, bounds, *names)


def bootstrap_interval(
    columns: Array,
    levels: Sequence[Sequence[str]],
    statistic: SumStatistic,
    config: AnalysisConfig,
    bounds: tuple[float, float],
    *names: str,
) -> Interval:
    """A statistic of sums with a bootstrap interval over scenes; the names select the random stream.

    If all but one or two scenes agree, many resamples contain only scenes that agree and have a standard error of zero,
    which makes the bootstrap-t interval infinite. The percentile interval is used instead.
    """
    for method in BOOTSTRAP_METHODS:
        rng = generator(config.seed, "findings", *names)
        found = resample_sums(
            columns, levels=levels, rng=rng, statistic=statistic, method=method, resamples=config.resamples,
            level=config.level,
        )  # fmt: skip
        if np.isfinite([found.low, found.high]).all():
            break
    return replace(found, low=max(found.low, bounds[0]), high=min(found.high, bounds[1]))


def _fit_models(
    one: ArmResponses, other: ArmResponses, config: AnalysisConfig
) -> tuple[dict[str, MixedFit], LikelihoodRatio | None, str]:
    """The models that can be fitted, the likelihood ratio of the first, and why the first cannot be fitted, if so."""
    response = np.concatenate([one.response, other.response])
    intervention = np.repeat([1, 0], [len(one), len(other)])
    labels = {
        "scenes": one.scenes + other.scenes,
        "trajectories": one.trajectories + other.trajectories,
        "episodes": 2 * one.pair_ids,
    }
    fits, errors = {}, {}
    for model in config.models:
        try:
            fits[model] = fit_mixed(response, intervention, model=model, level=config.level, **labels)
        except BadArgument as error:
            errors[model] = str(error)
    first = config.models[0]
    ratio = likelihood_ratio(response, intervention, model=first, **labels) if first in fits else None
    return fits, ratio, errors.get(first, "")
