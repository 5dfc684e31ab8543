"""Decisions: bearings, and the primitive actions that carry one out."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from itinera.agents.decisions import BINS, STOP_HERE, Decision, DecisionController, back_bin, bearing_bin
from itinera.errors import BadArgument
from itinera.simulators.ground import FORWARD, LEFT, RIGHT, GroundSimulator
from itinera.tasks.protocol import R2R, R2R_CE, RXR_CE
from itinera.worlds import Pose
from named_rooms import named_world


def carry_out(decision, pose=((2.0, 2.0, 0.0), 0.0), protocol=R2R_CE):
    """The actions of a decision in the kitchen, the last observation, and the controller."""
    simulator, controller = GroundSimulator.for_protocol(protocol), DecisionController(protocol)
    observation, actions = simulator.reset(named_world(), Pose(np.array(pose[0]), pose[1])), []
    controller.start(decision)
    while (action := controller.act(observation)) is not None:
        actions.append(action)
        observation = simulator.step(action)
    return actions, observation, controller


def test_a_decision_turns_by_the_shorter_side_and_then_goes_its_steps():
    assert carry_out(Decision(3, 2))[0] == [LEFT] * 3 + [FORWARD] * 2
    assert carry_out(Decision(21, 1))[0] == [RIGHT] * 3 + [FORWARD]
    assert carry_out(Decision(12, 1))[0] == [LEFT] * 12 + [FORWARD]


def test_with_turns_of_thirty_degrees_a_bin_of_fifteen_is_rounded():
    actions, *_ = carry_out(Decision(4, 1), protocol=RXR_CE)
    assert actions == [LEFT, LEFT, FORWARD]


def test_a_decision_goes_as_far_as_its_steps_say():
    _, observation, controller = carry_out(Decision(0, 6))
    np.testing.assert_allclose(observation.place, (3.5, 2.0, 0.0), atol=1e-6)
    assert not controller.blocked


def test_a_blocked_step_ends_the_decision():
    actions, observation, controller = carry_out(Decision(0, 8), pose=((2.9, 0.7, 0.0), 0.0))  # the wall is at 3.95
    assert len(actions) < 8
    assert controller.blocked
    assert observation.place[0] == pytest.approx(3.85, abs=0.06)


def test_a_new_decision_forgets_that_the_last_one_was_blocked():
    *_, controller = carry_out(Decision(0, 8), pose=((2.9, 0.7, 0.0), 0.0))
    controller.start(Decision(1, 1))
    assert not controller.blocked


@pytest.mark.parametrize("bin", range(BINS))
def test_the_bin_of_the_middle_of_a_bin_is_that_bin(bin):
    assert bearing_bin(bin * math.tau / BINS) == bin
    assert bearing_bin(bin * math.tau / BINS + 0.12) == bin
    assert bearing_bin(bin * math.tau / BINS - math.tau) == bin


def test_the_way_back_after_going_ahead_is_behind():
    start = np.array([2.0, 2.0, 0.0])
    _, observation, _ = carry_out(Decision(0, 4))
    assert back_bin(start, observation) == BINS // 2
    assert back_bin(None, observation) == -1
    assert back_bin(np.array(observation.place), observation) == -1


def test_stop_is_the_decision_without_steps():
    assert STOP_HERE.stops
    assert not Decision(0, 1).stops


def test_graphs_have_no_turns_that_decisions_could_use():
    with pytest.raises(BadArgument, match="step size"):
        DecisionController(R2R)
    DecisionController(replace(R2R_CE, name="other"))
