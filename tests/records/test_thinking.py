"""How long an agent thought, by what its record says."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.errors import BadFile
from itinera.records import Ending, Phase, Predictions, Trajectory
from itinera.records.thinking import collect_thinking, motion_times
from itinera.records.trajectory import CONTINUED, NO_ACTION


def went(actions, thinking, *, phases=None, ending=Ending.STOPPED, notes=None, times=None):
    count = len(actions) + 1
    return Trajectory(
        "e", np.zeros((count, 3)), actions=np.array(actions), phases=phases, ending=ending, notes=notes or {},
        thinking=None if thinking is None else np.array(thinking), times=np.arange(count) if times is None else times,
    )  # fmt: skip


def numbers(trajectory):
    found = collect_thinking([trajectory])
    return found.acts[0], found.seconds[0], found.waiting[0]


def test_stop_is_an_action_and_going_on_is_none():
    assert numbers(went([1, CONTINUED, 2], [0.5, 0.25, 0, 2])) == (3, 2.75, 2.5)
    assert numbers(went([1, 2], [0.5, 0.5, 0], ending=Ending.OUT_OF_STEPS)) == (2, 1, 1)
    assert numbers(went([1, 2], None)) == (3, 0, 0)


def test_guidance_does_not_count():
    phases = (Phase.GUIDED_TO_START, Phase.ACTING, Phase.ACTING, Phase.GUIDED_TO_GOAL)
    assert numbers(went([1, 1, 1], [9, 1, 1, 9], phases=phases)) == (2, 2, 2)
    placed = (Phase.GUIDED_TO_START, Phase.ACTING, Phase.ACTING)
    assert numbers(went([NO_ACTION, 1], [0, 1, 1], phases=placed)) == (2, 2, 2)


def test_an_action_of_many_steps_is_one():
    assert numbers(went([1, 1, 2, 1], [3, 0, 0, 0, 3], notes={"decisions": 1})) == (2, 6, 6)


def test_without_actions_their_number_is_unknown():
    bare = Trajectory("e", ("a", "b"))
    assert np.isnan(collect_thinking([bare]).acts[0])
    assert not collect_thinking([bare]).is_known
    assert collect_thinking([]).acts.shape == (0,)
    assert np.isnan(collect_thinking([]).take(np.array([-1, -1])).seconds).all()


def test_motion_takes_the_times_without_those_of_standing_still():
    times = np.array([10.0, 11.5, 11.75, 12.75, 14.75])
    trajectory = went([1, CONTINUED, 2, 1], [0.5, 0.25, 0, 1, 0.5], times=times)
    np.testing.assert_allclose(motion_times(trajectory), [10, 11, 11.25, 12.25, 13.25])
    batch = Predictions.from_trajectories("p", [trajectory]).batch
    assert batch.durations[0] == 5.25  # until STOP, which took half a second to choose


def test_seconds_for_another_number_of_places_are_refused():
    with pytest.raises(BadFile, match="2 seconds of thinking for 3 places"):
        _ = Predictions.from_trajectories("p", [went([1, 2], [1, 1])]).batch
