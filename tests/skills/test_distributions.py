from __future__ import annotations

import numpy as np
import pytest

import crossing
from itinera.skills.analysis import AnalysisConfig
from itinera.skills.distributions import (
    forward_baseline,
    heading_changes,
    object_error_histogram,
    responses_if_stopped,
    room_change_histogram,
    stop_probability_by_length,
    turn_histogram,
)
from itinera.skills.registry import SKILLS
from itinera.skills.responses import group_responses
from text_worlds import split, world

SHARES = {"stop": 0.2, "l": 0.4, "f": 0.2, "b": 0.2}


def responses(skill: str):
    study = crossing.trials([skill])
    told = [crossing.distribution(trial, **SHARES) for trial in study]
    return group_responses(study, told, SKILLS, crossing.WORLDS)[skill]


def test_turns_are_shares_of_moving_and_stopping_is_told_apart():
    spread = turn_histogram(responses("direction-left").arms["intervention"])
    assert spread.stop_probability == pytest.approx(0.2)
    assert spread.shares.sum() == pytest.approx(1.0)
    degrees = {int(spread.edges[i]): share for i, share in enumerate(spread.shares.tolist()) if share}
    assert degrees == pytest.approx({90: 0.5, 0: 0.25, 170: 0.25})  # what lies straight behind is in the last bin


def test_someone_biased_forward_peaks_ahead():
    spread = turn_histogram(forward_baseline(responses("direction-left").arms["intervention"]))
    assert spread.edges[int(np.argmax(spread.shares))] == 0
    assert spread.shares.max() > 0.7
    assert spread.stop_probability == 0


def test_errors_are_angles_to_the_object():
    spread = object_error_histogram(responses("object").arms["intervention"])
    found = {int(spread.edges[i]): share for i, share in enumerate(spread.shares.tolist()) if share}
    assert found == pytest.approx({0: 0.5, 90: 0.5})  # the sofa is to the left; ahead and behind lie 90 degrees aside


def test_changes_are_metres_nearer_to_the_room():
    spread = room_change_histogram(responses("room-1").arms["intervention"], crossing.WORLDS)
    found = {float(spread.edges[i]): share for i, share in enumerate(spread.shares.tolist()) if share}
    assert found == pytest.approx({2.0: 0.5, -2.0: 0.5})


def test_nobody_who_stays_has_a_spread():
    study = crossing.trials(["object"])
    told = [crossing.distribution(trial, stop=1.0) for trial in study]
    arm = group_responses(study, told, SKILLS, {})["object"].arms["control"]
    assert object_error_histogram(arm).shares.sum() == 0
    assert object_error_histogram(arm).stop_probability == 1


def test_stopping_is_told_by_the_nodes_walked():
    found = stop_probability_by_length(responses("stop"), AnalysisConfig(resamples=50))
    assert {arm: list(by_length) for arm, by_length in found.items()} == {
        arm: [2, 3] for arm in ("intervention", "control", "ahead")}  # fmt: skip
    assert found["control"][3].mean == pytest.approx(0.2)


def test_had_one_stopped_the_room_would_be_as_far_as_from_the_crossing():
    of = responses("room-within-2")
    assert set(responses_if_stopped(of, of.arms["control"], crossing.WORLDS).tolist()) == {2.0}
    assert set(of.arms["control"].response.tolist()) == {0.0}


def test_heading_changes_are_those_of_each_path_once():
    place = world("""
        a-b
          |
          c-d
    """)
    turned = heading_changes(split({"1": tuple("abcd"), "2": tuple("abcd"), "3": tuple("ab")}), {"house": place})
    assert turned == pytest.approx([90, 90])
