"""What is found about agents whose skills are known."""

from __future__ import annotations

import numpy as np
import pytest

import crossing
from itinera.errors import BadArgument
from itinera.records.action_probabilities import ActionDistribution
from itinera.seeding import generator
from itinera.skills.analysis import AnalysisConfig, SkillFinding, analyze, bootstrap_interval
from itinera.skills.registry import SKILLS
from itinera.skills.responses import group_responses

QUICK = AnalysisConfig(resamples=200)
STUDY = crossing.trials(["stop", "direction-left", "object", "room-1", "room-within-2"])


def found(answer, study=STUDY, config=QUICK) -> dict[str, SkillFinding]:
    findings = analyze(study, [answer(trial) for trial in study], SKILLS, crossing.WORLDS, config)
    return {finding.skill.name: finding for finding in findings}


def still(trial) -> ActionDistribution:
    return crossing.distribution(trial, stop=1.0)


def skilled(trial) -> ActionDistribution:
    """Does as it is told four times in five, give or take what it draws; else it stops."""
    sure = 0.8 + 0.1 * float(generator(0, trial.id).uniform(-1, 1))
    if trial.arm != "intervention" or trial.skill == "stop":
        return crossing.distribution(trial, stop=1 - 0.2 * sure, f=0.2 * sure)
    return crossing.distribution(trial, stop=1 - sure, l=sure)


def test_the_still_agent_scores_exactly_one_on_stopping_and_zero_elsewhere():
    findings = found(still)
    assert findings["stop"].score.mean == 1.0
    assert [findings[name].score.mean for name in ("direction-left", "object", "room-1")] == [0.0] * 3
    assert findings["room-within-2"].score is None
    for finding in findings.values():
        effect = finding.effects[0]
        assert (effect.interval.mean, effect.interval.low, effect.interval.high) == (0, 0, 0)
        assert effect.p_value is None


def test_a_skilled_agent_is_told_from_chance_with_the_effect_it_has():
    findings = found(skilled)
    left = findings["direction-left"]
    effect = left.effects[0]
    assert effect.arms == ("intervention", "control")
    assert (effect.pairs, effect.scenes, effect.unpaired) == (18, 3, 0)
    assert effect.interval.mean == pytest.approx(0.8, abs=0.05)
    assert effect.interval.low < 0.8 < effect.interval.high
    assert effect.p_value < 0.01
    assert effect.ratio is not None
    assert effect.ratio.p_value < 0.001
    assert left.score.low < left.score.mean < left.score.high <= 1
    assert findings["room-1"].effects[0].interval.mean == pytest.approx(4.0, abs=0.2)  # from away by 2 m to nearer by 2
    assert findings["room-within-2"].effects[0].interval.mean == pytest.approx(-2.0)


def test_stopping_is_also_compared_with_words_that_lead_on():
    stop = found(skilled)["stop"]
    assert [effect.arms for effect in stop.effects] == [
        ("intervention", "control"), ("intervention", "ahead"), ("control", "ahead")]  # fmt: skip


def test_an_agent_without_the_skill_cannot_be_told_from_chance():
    def whim(trial):
        share = float(generator(1, trial.id).uniform(0, 1))
        return crossing.distribution(trial, stop=1 - share, l=share)

    effect = found(whim)["direction-left"].effects[0]
    assert effect.p_value > 0.05
    assert effect.interval.low < 0 < effect.interval.high


def test_trials_that_failed_are_counted_and_their_pairs_left_out():
    def failing(trial):
        return ActionDistribution.failure(trial.id, "rain") if trial.episode.path_id == "p0" else skilled(trial)

    finding = found(failing)["object"]
    assert (finding.counts.total, finding.counts.failed) == (36, 12)
    assert (finding.effects[0].pairs, finding.effects[0].unpaired) == (12, 6)


def test_where_nothing_was_answered_nothing_is_compared():
    finding = found(lambda trial: ActionDistribution.failure(trial.id, "rain"))["stop"]
    assert finding.effects == ()
    assert finding.score is None
    assert finding.counts.failed == finding.counts.total


def test_one_scene_gives_an_interval_that_says_what_it_is():
    study = [trial for trial in STUDY if trial.episode.world_id == "one" and trial.skill == "object"]
    effect = found(skilled, study)["object"].effects[0]
    assert effect.scenes == 1
    assert "one cluster" in effect.difference.method
    assert "scene" in effect.fit_error
    assert effect.p_value is None


def test_the_models_of_the_paper_can_be_fitted_side_by_side():
    effect = found(skilled, config=AnalysisConfig(("default", "fm1", "fm2", "fm3"), resamples=50))[
        "direction-left"
    ].effects[0]
    assert list(effect.fits) == ["default", "fm1", "fm2", "fm3"]
    assert effect.fit is effect.fits["default"]
    assert len({round(fit.effect.estimate, 6) for fit in effect.fits.values()}) == 1  # a balanced design
    assert effect.fit.effect_size > 3


def test_an_unknown_model_is_refused():
    with pytest.raises(BadArgument, match="'fm9' is not a mixed model"):
        AnalysisConfig(("fm9",))


def test_the_same_seed_finds_the_same_whatever_else_is_asked():
    some = [trial for trial in STUDY if trial.skill == "object"]
    alone, together = found(skilled, some)["object"], found(skilled)["object"]
    assert alone.score == together.score
    assert found(skilled, some, AnalysisConfig(seed=1, resamples=200))["object"].score != alone.score


def test_an_interval_has_ends_even_where_most_scenes_agree():
    scenes = [str(k) for k in range(11) for _ in range(4)]
    values = np.ones(44)
    values[0] = 0.0
    columns = np.column_stack([values, np.ones(44)])
    interval = bootstrap_interval(columns, (scenes,), lambda sums: sums[..., 0] / sums[..., 1], QUICK, (0.0, 1.0), "x")
    assert interval.low > 0.8
    assert "percentile" in interval.method


def test_undefined_responses_are_left_out_of_pairs():
    responses = group_responses(STUDY, map(skilled, STUDY), SKILLS, crossing.WORLDS)["room-within-2"]
    responses.arms["intervention"].response[0] = np.inf
    assert len(responses.pair_arms("intervention", "control")[0]) == 17
