"""PointNav agents: goals come with instructions, memory ends with the episode, and foreign robots are refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from itinera.errors import BadArgument, BadFile
from itinera.policies.checkpoint import Model, build_model, encode_model, load_agent, make_card, read_card
from itinera.policies.ground.requirements import GroundContext
from itinera.policies.pointnav.policy import SMALL, ActorCriticOutput
from itinera.policies.pointnav.requirements import PointNavRequirements
from itinera.policies.tokenizer import Tokenizer
from itinera.rendering.camera import Frame
from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction

GOAL = Instruction("", point_goal=(1.0, 2.0, 0.0))


def make_model(sensor="none", requirements=None, **changes):
    torch.manual_seed(1)
    config = replace(SMALL[sensor], **changes)
    needs = PointNavRequirements(sensor) if requirements is None else requirements
    return build_model(make_card("pointnav", config, (), Tokenizer(()), pointnav=needs))


def observe(place=(0.0, 0.0, 0.0), heading=0.0, **more):
    return Observation("house", np.array(place), heading, 0.0, **more)


def depth_frame(size=64, metres=3.0):
    none = np.zeros(0)
    return Frame(none, np.full((size, size), metres, dtype=np.float32), none, none)


def watch(agent):
    """The tensors that the agent's policy receives, in a list that grows."""
    seen = []
    policy = agent._policy

    def forward(tensors, state):
        seen.append(tensors)
        return ActorCriticOutput(torch.tensor([[[0.0, 2.0, 1.0, 0.5]]]), torch.zeros(1, 1)), state + 1

    policy.forward = forward
    return seen


def test_the_policy_gets_distance_and_bearing_of_the_goal_and_the_contact():
    agent = make_model().agent()
    seen = watch(agent)
    agent.reset(np.random.default_rng(0))
    agent.start_episode(GOAL)
    assert agent.act(observe((1.0, 0.0, 0.0), math.pi / 4)) == 1
    agent.act(observe((1.0, 2.0 + 3.0, 0.0), math.pi / 2, collided=True))
    torch.testing.assert_close(seen[0].pointgoal[0, 0], torch.tensor([2.0, math.pi / 4]))
    assert abs(float(seen[1].pointgoal[0, 0, 1])) == pytest.approx(math.pi)
    assert [float(one.contact) for one in seen] == [0.0, 1.0]
    assert [float(one.starts) for one in seen] == [1.0, 0.0]
    assert int(seen[1].last_actions) == 1


def test_an_episode_begins_without_memory_and_probabilities_take_no_step():
    agent = make_model().agent()
    here, there = observe(), observe((0.5, 0.0, 0.0))
    agent.reset(np.random.default_rng(0))
    agent.start_episode(GOAL)
    first = agent.action_probabilities(here)
    assert np.array_equal(first, agent.action_probabilities(here))
    agent.act(here)
    second = agent.action_probabilities(there)
    agent.start_episode(GOAL)
    assert np.array_equal(agent.action_probabilities(here), first)
    agent.act(here)
    assert np.array_equal(agent.action_probabilities(there), second)
    assert first.sum() == pytest.approx(1.0)


def test_with_a_gate_it_stops_only_near_the_goal():
    agent = make_model(requirements=PointNavRequirements("none", gate=0.2)).agent()
    with torch.no_grad():
        agent._policy.heads.bias[0] = 50.0  # STOP, whatever it observes
    agent.reset(np.random.default_rng(0))
    agent.start_episode(GOAL)
    assert agent.act(observe((1.0, 1.0, 0.0))) != 0
    assert agent.action_probabilities(observe((1.0, 1.0, 0.0)))[0] == 0.0
    assert agent.act(observe((1.0, 1.85, 0.0))) == 0


def test_depth_is_pooled_by_the_least_of_each_block_and_clipped():
    agent = make_model("pooled-depth").agent()
    seen = watch(agent)
    frame = depth_frame(metres=20.0)
    frame.depth[17, 5] = 0.5
    agent.reset(np.random.default_rng(0))
    agent.start_episode(GOAL)
    agent.act(observe(frame=frame))
    expected = torch.full((4, 64), 10.0)
    expected[1, 5] = 0.5
    torch.testing.assert_close(seen[0].sensed[0, 0], expected)


@pytest.mark.parametrize(("sensor", "word"), [("scan", "scan"), ("depth", "depth")])
def test_an_observation_without_the_sensor_is_refused(sensor, word):
    agent = make_model(sensor).agent()
    agent.reset(np.random.default_rng(0))
    agent.start_episode(GOAL)
    with pytest.raises(BadArgument, match=word):
        agent.act(observe())
    with pytest.raises(BadArgument, match=word):
        agent.act(observe(frame=depth_frame(32)))


def test_an_instruction_without_a_point_is_refused():
    agent = make_model().agent()
    agent.reset(np.random.default_rng(0))
    with pytest.raises(BadArgument, match="Call start_episode"):
        agent.act(observe())
    with pytest.raises(BadArgument, match="PointNav tasks"):
        agent.start_episode(Instruction("Go to the kitchen."))


def test_a_robot_with_other_actions_is_refused_with_the_drive_to_give():
    with pytest.raises(BadArgument, match="--drive unicycle-6"):
        make_model(num_actions=6).agent(context=GroundContext(num_actions=4))
    agent = make_model(num_actions=6).agent(context=GroundContext(num_actions=6))
    with pytest.raises(BadArgument, match="15"):
        agent.with_context(GroundContext(num_actions=15))


def test_a_model_file_brings_its_sensor_and_acts_as_before(tmp_path):
    model = make_model("pooled-depth", requirements=PointNavRequirements("pooled-depth", fov_deg=120.0, gate=0.2))
    file = tmp_path / "driver.safetensors"
    file.write_bytes(encode_model(model))
    assert read_card(file).requirements == model.card.pointnav
    agents = model.agent(), load_agent(file)
    for agent in agents:
        agent.reset(np.random.default_rng(0))
        agent.start_episode(GOAL)
    one, other = (agent.action_probabilities(observe(frame=depth_frame())) for agent in agents)
    assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("needs", "word"),
    [
        (PointNavRequirements("depth"), "sensor"),
        (PointNavRequirements("scan", rays=16), "rays"),
        (PointNavRequirements("scan", rays=0), "no sensor"),
        (PointNavRequirements("scan", fov_deg=0.0), "no sensor"),
        (PointNavRequirements("scan", max_range=-1.0), "no sensor"),
        (PointNavRequirements("scan", gate=-1.0), "gate"),
    ],
)
def test_a_card_whose_sensor_does_not_fit_is_refused(tmp_path, needs, word):
    file = tmp_path / "driver.safetensors"
    model = make_model("scan")
    file.write_bytes(encode_model(Model(model.policy, replace_card(model.card, needs))))
    with pytest.raises(BadFile, match=word):
        read_card(file)


def replace_card(card, needs):
    import msgspec

    return msgspec.structs.replace(card, pointnav=needs)


def test_a_card_without_a_sensor_is_refused(tmp_path):
    file = tmp_path / "driver.safetensors"
    model = build_model(make_card("pointnav", SMALL["none"], (), Tokenizer(())))
    file.write_bytes(encode_model(model))
    with pytest.raises(BadFile, match="pointnav"):
        read_card(file)
