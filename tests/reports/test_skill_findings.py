"""Findings in words: what is said of an effect, of what was filtered out and of what was lost."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

import crossing
from itinera.formats.trials import FilterCounts
from itinera.records.action_probabilities import ActionDistribution
from itinera.reports.skill_findings import (
    effects_table,
    format_filter_counts,
    format_missing_trials,
    format_signed,
    format_verdicts,
    judge_effect,
    skill_table,
    to_dict,
)
from itinera.seeding import generator
from itinera.skills.analysis import AnalysisConfig, analyze_skill
from itinera.skills.registry import SKILLS
from itinera.skills.responses import group_responses
from itinera.skills.skill_table import compute_skill_row

QUICK = AnalysisConfig(resamples=100)
STUDY = crossing.trials(["stop", "direction-left", "object", "room-1", "room-within-2"])


def obedient(trial):
    share = 0.8 + 0.1 * float(generator(0, trial.id).uniform(-1, 1))
    return crossing.distribution(
        trial, **({"l": share, "stop": 1 - share} if trial.arm == "intervention" else {"stop": 1.0})
    )


def contrary(trial):
    share = 0.8 + 0.1 * float(generator(0, trial.id).uniform(-1, 1))
    return crossing.distribution(trial, **({"l": share, "stop": 1 - share} if trial.arm == "control" else {"f": 1.0}))


def whimsical(trial):
    share = float(generator(1, trial.id).uniform(0, 1))
    return crossing.distribution(trial, stop=1 - share, l=share)


def still(trial):
    return crossing.distribution(trial, stop=1.0)


def certain(trial):
    return crossing.distribution(trial, **({"l": 1.0} if trial.arm == "intervention" else {"stop": 1.0}))


def sentences_about(answer, skill="direction-left", study=STUDY) -> list[str]:
    responses = group_responses(study, map(answer, study), SKILLS, crossing.WORLDS)
    return list(format_verdicts("me", analyze_skill(responses[skill], QUICK)))


@pytest.mark.parametrize(
    ("answer", "skill", "begins", "ends"),
    [
        (obedient, "direction-left", "me, direction-left: probability of the direction 0.781 ",
         "; significant, in the intended direction."),
        (contrary, "direction-left", "me, direction-left: ", "; significant, opposite to the intended direction."),
        (whimsical, "direction-left", "me, direction-left: ", "; not significant."),
        (still, "direction-left", "me, direction-left: probability of the direction 0.000 with the sentence, 0.000 "
         "without: 0.000 (95 % 0.000 to 0.000, no p-value, 18 pairs in 3 scenes)", "; no effect in any scene."),
        (certain, "direction-left", "me, direction-left: ", "; the same in every scene, in the intended direction."),
        (obedient, "room-within-2", "me, room-within-2: distance to the room at the end 0.00 m with the sentence, "
         "2.00 m without: −2.00 m (95 % −2.00 m to −2.00 m", "; the same in every scene, in the intended direction."),
    ],
)  # fmt: skip
def test_a_verdict_says_how_much_how_sure_and_what_to_make_of_it(answer, skill, begins, ends):
    sentence = sentences_about(answer, skill)[0]
    assert sentence.startswith(begins)
    assert ends in sentence


def verdict_on(answer, study=STUDY, skill="direction-left") -> str:
    responses = group_responses(study, map(answer, study), SKILLS, crossing.WORLDS)
    finding = analyze_skill(responses[skill], QUICK)
    return judge_effect(finding, finding.effects[0])


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (obedient, "responds"),
        (certain, "responds"),
        (contrary, "wrong direction"),
        (still, "no effect"),
        (whimsical, "too few trials"),  # 18 pairs
    ],
)
def test_the_verdict_in_two_words(answer, verdict):
    assert verdict_on(answer) == verdict


def test_few_scenes_allow_no_verdict_but_that():
    first = [trial for trial in STUDY if trial.episode.world_id == STUDY[0].episode.world_id]
    assert verdict_on(whimsical, first) == "too few scenes"
    assert verdict_on(still, first) == "no effect"


def test_many_pairs_without_a_difference_are_no_effect():
    responses = group_responses(STUDY, map(whimsical, STUDY), SKILLS, crossing.WORLDS)
    finding = analyze_skill(responses["direction-left"], QUICK)
    assert judge_effect(finding, replace(finding.effects[0], pairs=20)) == "no effect"


def test_the_table_of_effects_has_a_row_for_each():
    responses = group_responses(STUDY, map(obedient, STUDY), SKILLS, crossing.WORLDS)
    lost = group_responses(STUDY, [ActionDistribution.failure(t.id, "rain") for t in STUDY], SKILLS, crossing.WORLDS)
    table = effects_table({"me": [analyze_skill(responses["stop"], QUICK)],
                           "you": [analyze_skill(lost["object"], QUICK)]})  # fmt: skip
    assert table.headings == ("agent, skill", "with", "without", "difference", "p", "pairs", "verdict")
    assert [row[0] for row in table.rows] == [
        "me, stop", "me, stop vs. continued", "me, stop, truncated vs. continued", "you, object"]  # fmt: skip
    assert table.rows[3] == ("you, object", "", "", "", "", "0", "too few trials")


def test_a_verdict_has_the_interval_the_p_value_and_the_score():
    sentence = sentences_about(obedient)[0]
    assert "p < 0.001, 18 pairs in 3 scenes" in sentence or "p = 0.00" in sentence
    assert " Score 78.1 % (" in sentence
    assert sentence.endswith(").")


def test_stopping_has_a_sentence_for_each_comparison():
    sentences = sentences_about(obedient, "stop")
    assert len(sentences) == 3
    assert "with the instruction continued" in sentences[1]
    assert "with the truncated instruction" in sentences[2]


def test_where_nothing_was_answered_the_counts_say_so():
    sentence = sentences_about(lambda trial: ActionDistribution.failure(trial.id, "rain"))[0]
    assert sentence == (
        "me, direction-left: nothing to compare; of 36 trials 0 were completed, 36 failed and 0 are missing."
    )


def test_what_was_filtered_out_is_told_with_the_reason():
    filter_counts = {"stop": FilterCounts(3, 3), "object": FilterCounts(9, 4, {"no neighbour": 3, "too far": 2})}
    assert list(format_filter_counts(filter_counts)) == [
        "stop: 3 of 3 candidates kept.",
        "object: 4 of 9 candidates kept; dropped: 3 no neighbour; 2 too far.",
    ]


def test_losses_are_told_only_where_there_are_some():
    def failing(trial):
        return ActionDistribution.failure(trial.id, "rain") if trial.episode.path_id == "p0" else obedient(trial)

    def lost(answer):
        responses = group_responses(STUDY, map(answer, STUDY), SKILLS, crossing.WORLDS)
        return list(format_missing_trials("me", analyze_skill(responses["object"], QUICK)))

    assert lost(obedient) == []
    assert lost(failing) == [
        "me, object: of 36 trials 24 completed, 12 failed (12 rain), 0 missing; 6 interventions are left out."
    ]


def test_differences_have_their_sign():
    assert (format_signed(0.25, ""), format_signed(-0.25, ""), format_signed(0.0, ""), format_signed(-0.0001, "")) == (
        "+0.250", "−0.250", "0.000", "0.000")  # fmt: skip
    assert format_signed(-1.5, "m") == "−1.50 m"


def test_the_table_has_a_row_for_each_agent_and_a_column_for_each_skill():
    rows = []
    for name, answer in {"obedient": obedient, "still": still}.items():
        responses = group_responses(STUDY, map(answer, STUDY), SKILLS, crossing.WORLDS)
        rows.append(compute_skill_row(name, responses, config=QUICK))
    grid = skill_table(rows)
    assert grid.headings == ("agent", "stop %", "turn %", "object %", "room %", "mean %")
    assert grid.rows[1] == ("still", "100.0 (100.0 – 100.0)", *["0.0 (0.0 – 0.0)"] * 3, "25.0 (25.0 – 25.0)")


def test_everything_found_fits_into_json():
    responses = group_responses(STUDY, map(obedient, STUDY), SKILLS, crossing.WORLDS)
    findings = [analyze_skill(of_skill, QUICK) for of_skill in responses.values()]
    plain = to_dict({"me": findings}, [compute_skill_row("me", responses, config=QUICK)], {"stop": FilterCounts(3, 3)})
    read = msgspec.json.decode(msgspec.json.encode(plain))
    effect = read["agents"]["me"]["direction-left"]["effects"][0]
    assert effect["models"]["default"]["estimate"] == pytest.approx(effect["effect"]["mean"])
    assert read["table"]["me"]["turn"]["low"] < read["table"]["me"]["turn"]["mean"]
    assert read["designed"]["stop"] == {"candidates": 3, "kept": 3, "dropped": {}}
