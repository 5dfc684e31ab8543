from __future__ import annotations

import numpy as np
import pytest

import crossing
from itinera.errors import BadArgument
from itinera.records.action_probabilities import unasked
from itinera.skills.registry import SKILLS
from itinera.skills.responses import answers_by_skill

STUDY = crossing.trials(["stop", "room-1"], paths=1)
TOLD = [crossing.leaning(trial, stop=0.5, l=0.5) for trial in STUDY]


def test_answers_are_sorted_by_skill_and_arm():
    found = answers_by_skill(STUDY, TOLD, SKILLS, crossing.WORLDS)
    assert list(found) == ["stop", "room-1"]
    assert {name: len(arm) for name, arm in found["stop"].arms.items()} == {"intervention": 6, "control": 6, "ahead": 6}
    assert found["stop"].arms["intervention"].response.tolist() == [0.5] * 6
    assert found["room-1"].arms["control"].score.tolist() == [0.5] * 6
    assert found["room-1"].arms["control"].response.tolist() == [2.0] * 6
    assert found["stop"].arms["control"].lengths.tolist() == [3] * 6


def test_every_trial_is_answered_failed_or_unanswered():
    some = [*TOLD[:10], unasked(STUDY[10].id, "rain"), unasked(STUDY[11].id, "rain"), unasked(STUDY[12].id, "snow")]
    count = answers_by_skill(STUDY, some, SKILLS, crossing.WORLDS)["stop"].count
    assert (count.asked, count.answered, count.failed, count.unanswered) == (18, 10, 3, 5)
    assert count.reasons == {"rain": 2, "snow": 1}
    assert count.by_arm == {"intervention": 6, "control": 6, "ahead": 6}


def test_pairs_are_of_the_same_walk_and_both_answered():
    lost = {STUDY[0].id, STUDY[4].id}  # an intervention, and the control of another
    found = answers_by_skill(STUDY, [a for a in TOLD if a.trial_id not in lost], SKILLS, crossing.WORLDS)["stop"]
    one, other = found.paired("intervention", "control")
    assert len(one) == len(other) == 4
    assert [trial.twin for trial in one.trials] == [trial.id for trial in other.trials]


def test_an_answer_to_no_trial_is_refused():
    with pytest.raises(BadArgument, match="1 answers are to no trial of the study, such as x"):
        answers_by_skill(STUDY, [unasked("x", "")], SKILLS, crossing.WORLDS)


def test_an_unknown_skill_is_refused():
    with pytest.raises(BadArgument, match=r"'room-1' is no skill known here\. There are stop"):
        answers_by_skill(STUDY, TOLD, {"stop": SKILLS["stop"]}, crossing.WORLDS)


def test_distances_ask_for_their_world_and_probabilities_do_not():
    stops = [trial for trial in STUDY if trial.skill == "stop"]
    assert np.isfinite(answers_by_skill(stops, TOLD[: len(stops)], SKILLS, {})["stop"].arms["control"].response).all()
    with pytest.raises(BadArgument, match="room-1 measures distances in world one, which is not given"):
        answers_by_skill(STUDY, TOLD, SKILLS, {})
