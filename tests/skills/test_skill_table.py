from __future__ import annotations

import numpy as np
import pytest

import crossing
from itinera.records import Column, ScoreTable
from itinera.seeding import generator
from itinera.skills.analysis import AnalysisConfig
from itinera.skills.registry import SKILLS
from itinera.skills.responses import group_responses
from itinera.skills.skill_table import compute_skill_row
from itinera.tasks.protocol import R2R

QUICK = AnalysisConfig(resamples=200)
STUDY = crossing.trials(["stop", "direction-left", "direction-forward", "object", "room-1"])


def answered(study=STUDY):
    def answer(trial):
        share = float(generator(0, trial.id).uniform(0.2, 0.4))
        return crossing.distribution(trial, stop=0.5, l=share, f=0.5 - share)

    return group_responses(study, map(answer, study), SKILLS, crossing.WORLDS)


def scores(responses, skill) -> float:
    return float(responses[skill].arms["intervention"].score.mean())


def test_a_line_has_the_score_of_each_skill_and_turning_is_the_mean_of_the_directions():
    responses = answered()
    row = compute_skill_row("me", responses, config=QUICK)
    assert row.scores["stop"].mean == 0.5
    assert row.scores["object"].mean == pytest.approx(scores(responses, "object"))
    turn = (scores(responses, "direction-left") + scores(responses, "direction-forward")) / 2
    assert row.scores["turn"].mean == pytest.approx(turn)
    four = [0.5, turn, scores(responses, "object"), scores(responses, "room-1")]
    assert row.mean.mean == pytest.approx(np.mean(four))
    assert row.mean.low < row.mean.mean < row.mean.high


def test_a_skill_that_was_not_asked_leaves_its_column_and_the_mean_out():
    row = compute_skill_row("me", answered([trial for trial in STUDY if trial.skill != "object"]), config=QUICK)
    assert list(row.scores) == ["stop", "turn", "room"]
    assert row.mean is None


def test_one_scene_has_scores_without_an_interval():
    row = compute_skill_row("me", answered([trial for trial in STUDY if trial.episode.world_id == "one"]), config=QUICK)
    assert row.scores["stop"].mean == 0.5
    assert np.isnan(row.scores["stop"].low)


def test_success_and_fidelity_come_from_the_scores_of_walks():
    values = {"SR": np.array([1.0, 0.0, 1.0, np.nan]), "nDTW": np.array([0.5, 0.25, 0.75, 1.0])}
    table = ScoreTable(
        tuple("abcd"), ("one", "one", "two", "two"), tuple("abcd"), (Column("SR"), Column("nDTW")), values, "paper", "",
        R2R, np.zeros(4, dtype=bool),
    )  # fmt: skip
    row = compute_skill_row("me", answered(), table, QUICK)
    assert row.metrics["SR"].mean == pytest.approx(2 / 3)
    assert row.metrics["nDTW"].mean == pytest.approx(0.625)
