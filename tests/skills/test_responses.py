from __future__ import annotations

import numpy as np
import pytest

import crossing
from itinera.errors import BadArgument
from itinera.records.action_probabilities import ActionDistribution
from itinera.skills.registry import SKILLS
from itinera.skills.responses import group_responses

STUDY = crossing.trials(["stop", "room-1"], paths=1)
TOLD = [crossing.distribution(trial, stop=0.5, l=0.5) for trial in STUDY]


def test_answers_are_sorted_by_skill_and_arm():
    found = group_responses(STUDY, TOLD, SKILLS, crossing.WORLDS)
    assert list(found) == ["stop", "room-1"]
    assert {name: len(arm) for name, arm in found["stop"].arms.items()} == {"intervention": 6, "control": 6, "ahead": 6}
    assert found["stop"].arms["intervention"].response.tolist() == [0.5] * 6
    assert found["room-1"].arms["control"].score.tolist() == [0.5] * 6
    assert found["room-1"].arms["control"].response.tolist() == [2.0] * 6
    assert found["stop"].arms["control"].lengths.tolist() == [3] * 6


def test_every_trial_is_answered_failed_or_unanswered():
    some = [
        *TOLD[:10],
        ActionDistribution.failure(STUDY[10].id, "rain"),
        ActionDistribution.failure(STUDY[11].id, "rain"),
        ActionDistribution.failure(STUDY[12].id, "snow"),
    ]
    count = group_responses(STUDY, some, SKILLS, crossing.WORLDS)["stop"].counts
    assert (count.total, count.completed, count.failed, count.missing) == (18, 10, 3, 5)
    assert count.failure_reasons == {"rain": 2, "snow": 1}
    assert count.by_arm == {"intervention": 6, "control": 6, "ahead": 6}


def test_pairs_are_of_the_same_walk_and_both_answered():
    lost = {STUDY[0].id, STUDY[4].id}  # an intervention, and the control of another
    found = group_responses(STUDY, [a for a in TOLD if a.trial_id not in lost], SKILLS, crossing.WORLDS)["stop"]
    one, other = found.pair_arms("intervention", "control")
    assert len(one) == len(other) == 4
    assert [trial.control_id for trial in one.trials] == [trial.id for trial in other.trials]


def test_an_answer_to_no_trial_is_refused():
    with pytest.raises(BadArgument, match="1 action distributions belong to no trial of the study, such as x"):
        group_responses(STUDY, [ActionDistribution.failure("x", "")], SKILLS, crossing.WORLDS)


def test_an_unknown_skill_is_refused():
    with pytest.raises(BadArgument, match=r"'room-1' is not a skill\. Use one of stop"):
        group_responses(STUDY, TOLD, {"stop": SKILLS["stop"]}, crossing.WORLDS)


def test_distances_ask_for_their_world_and_probabilities_do_not():
    stops = [trial for trial in STUDY if trial.skill == "stop"]
    assert np.isfinite(group_responses(stops, TOLD[: len(stops)], SKILLS, {})["stop"].arms["control"].response).all()
    with pytest.raises(BadArgument, match="room-1 measures distances in world one, which is missing"):
        group_responses(STUDY, TOLD, SKILLS, {})
