"""Calls, tokens, cost and unparsable answers as columns of scores."""

from __future__ import annotations

import math

import pytest

import itinera
from itinera.records import Predictions, Trajectory
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Pose, World
from text_worlds import graph

WORLDS = {"house": World("house", graph("a-b-c"))}
EPISODES = tuple(Episode(name, "house", Pose("a", 0.0), ("c",), ("a", "b", "c"), Instruction("go")) for name in "1234")
SPLIT = Split("tiny", EPISODES)
COLUMNS = ("calls", "prompt_tokens", "completion_tokens", "cost", "unparsable")


def scored(*usages: object, **options):
    """The scores of an agent that goes to the goal and took this."""
    walks = [
        Trajectory(name, ("a", "b", "c"), notes={} if usage is None else {"usage": usage})
        for name, usage in zip("1234", usages, strict=False)
    ]
    return itinera.score(Predictions.from_trajectories("mine", walks), SPLIT, WORLDS, suite="usage", **options)


def test_records_state_what_an_agent_took():
    took = {"calls": 4, "prompt_tokens": 400, "completion_tokens": 40, "cost": 0.25, "unparsable": 1, "model": "m"}
    found = scored(took, took | {"calls": 12, "unparsable": 0, "cost": 0.75}, took, took)
    assert found["calls"].tolist() == [4, 12, 4, 4]
    assert found["cost"].tolist() == [0.25, 0.75, 0.25, 0.25]
    assert found["unparsable"].tolist() == [0.25, 0.0, 0.25, 0.25]
    assert found.interval("cost").mean == pytest.approx(0.375)
    assert found.interval("unparsable").mean == pytest.approx(3 / 24)  # of all answers
    assert found["SR"].tolist() == [1.0] * 4


def test_what_is_not_stated_is_undefined():
    found = scored({"calls": 2, "prompt_tokens": 9}, None, {}, missing="zero")
    for name in COLUMNS:
        assert math.isnan(found[name][1]), name
        assert math.isnan(found[name][3]), name  # nobody answered
    assert found["prompt_tokens"][0] == 9
    assert math.isnan(found["cost"][0])


@pytest.mark.parametrize("value", ["4", None, True, -1, float("nan"), float("inf"), [4], 10**400])
def test_values_that_are_no_amounts_are_undefined(value):
    assert math.isnan(scored({"calls": value}, missing="zero")["calls"][0])


@pytest.mark.parametrize("usage", ["much", 5, ["calls"], True])
def test_other_notes_with_this_name_are_ignored(usage):
    found = scored(usage, {"calls": 1}, missing="zero")
    assert math.isnan(found["calls"][0])
    assert found["calls"][1] == 1


def test_other_predictions_have_no_usage():
    assert all(math.isnan(value) for value in scored(None, None, None, None)["calls"])


def test_rows_of_predictions_have_these_columns():
    walk = Trajectory("1", ("a",), notes={"usage": {"calls": 3, "cost": 0.5}})
    assert Predictions.from_trajectories("mine", [walk]).to_dicts()[0]["cost"] == 0.5
