"""The agent of a policy on the ground: what it observes, its map, its memory, and what it refuses."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from gym.playing import GROUNDS, HALL, on_ground
from itinera.agents.checks import check_agent, make_ground_world
from itinera.errors import BadArgument
from itinera.mapping.config import MapConfig, MapLifetime
from itinera.mapping.mapper import EgocentricMapper
from itinera.policies.ground.agent import GroundPolicyAgent
from itinera.policies.ground.observation import GroundObservation, encode_depth, merge_map
from itinera.policies.ground.requirements import GroundContext, GroundRequirements
from itinera.runs.rollout import rollout
from itinera.seeding import generator
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction, Tour
from itinera.tasks.protocol import IVLN_CE
from itinera.worlds import Pose
from policies.ground.examples import TOKENIZER, make_policy

MAPS = GroundRequirements(64, 64, map=MapConfig())
WIDE = GroundRequirements(128, 64, map=MapConfig())
COLORS = GroundRequirements(64, 64, rgb=True)
START = Pose(np.array([2.0, 2.0, 0.0]), 0.4)
TEXT = Instruction("Word1 word2, and word3.")


def make_agent(name="map-cma", requirements=MAPS, **context):
    return GroundPolicyAgent(make_policy(name), TOKENIZER, requirements, context=GroundContext(GROUNDS, **context))


def make_simulator(requirements=MAPS, **more):
    return GroundSimulator(camera=replace(requirements.camera(), **more))


def begin(agent):
    agent.reset(generator(0, "test"))
    agent.start_episode(TEXT)
    return agent


def test_an_agent_does_what_its_policy_does_step_by_step():
    agent, simulator = begin(make_agent()), make_simulator()
    policy, mapper = make_policy("map-cma"), EgocentricMapper(GROUNDS, MAPS.camera().camera)
    words = torch.from_numpy(TOKENIZER.encode(TEXT.text))[None]
    state, previous = policy.encode_instruction(words, torch.tensor([words.shape[1]])), 0
    observation = simulator.reset(HALL, START)
    for action in (1, 2, 1, 1, 3):
        frame = observation.frame
        maps = mapper.update("house", observation.place, observation.heading, frame.depth, frame.classes)
        given = GroundObservation(
            torch.from_numpy(encode_depth(frame.depth[None], 64)),
            torch.tensor([previous]),
            map=torch.from_numpy(merge_map(maps.occupancy, maps.labels)),
        )
        with torch.no_grad():
            state, output = policy(state, given)
        expected = output.logits[0].double().softmax(dim=0).numpy()
        np.testing.assert_allclose(agent.action_probabilities(observation), expected, rtol=1e-6)
        previous = agent.act(observation) + 1
        assert previous - 1 == expected.argmax()
        observation = simulator.step(action)


@pytest.mark.parametrize("name", ["map-cma", "tour-cma", "pool-end-cma", "seq2seq"])
def test_agents_keep_their_contract(name):
    requirements = MAPS if name == "map-cma" else COLORS
    context = GroundContext({"check": make_ground_world()})
    agent = GroundPolicyAgent(make_policy(name), TOKENIZER, requirements, context=context)
    check_agent(agent, body="ground", simulator=make_simulator(requirements))


def test_a_body_with_more_actions_gets_a_probability_for_each():
    agent, simulator = begin(make_agent(num_actions=6)), make_simulator()
    probabilities = agent.action_probabilities(simulator.reset(HALL, START))
    assert probabilities.shape == (6,)
    assert probabilities[4:].tolist() == [0, 0]
    assert math.isclose(probabilities.sum(), 1, rel_tol=1e-9)


def occupied_cells(lifetime):
    """The occupied cells of an agent's map at every observation of a tour of two episodes."""
    agent, found = make_agent(lifetime=lifetime), []
    record = agent._mapper.update

    def update(*given, **more):
        found.append((int(record(*given, **more).occupancy.sum()), more["guided"]))
        return agent.held_map()

    agent._mapper.update = update
    episodes = tuple(on_ground((2, 4), (5, 8)))
    tour = Tour("t", "house", ("0", "1"))
    protocol = replace(IVLN_CE, step_limit=6)
    rollout(agent, make_simulator(), HALL, tour, episodes, protocol=protocol, seed=0)
    return found


def test_maps_live_as_long_as_asked():
    episodic, iterative, known = map(occupied_cells, MapLifetime)
    assert len(episodic) == len(iterative) == len(known)
    guided = [k for k, (_, is_guided) in enumerate(iterative) if is_guided]
    assert guided
    first = guided[0]
    assert episodic[:first] == iterative[:first]
    # The second episode begins with what was seen before, or with a new map.
    begins = guided[-1] + 1
    assert iterative[begins][0] > episodic[begins][0] > 0
    assert known[0][0] > iterative[0][0]


def test_the_map_of_an_agent_lives_as_in_its_training_unless_the_run_says_otherwise():
    trained = GroundRequirements(64, 64, map=MapConfig(), lifetime=MapLifetime.ITERATIVE)
    assert make_agent(requirements=trained).lifetime is MapLifetime.ITERATIVE
    assert make_agent(requirements=trained, lifetime=MapLifetime.KNOWN).lifetime is MapLifetime.KNOWN
    agent = begin(make_agent(requirements=trained))
    agent.act(make_simulator().reset(HALL, START))
    assert agent.held_map().occupancy.shape == (1, 64, 64)
    assert begin(make_agent("cma", COLORS)).held_map() is None


def test_an_agent_in_another_context_has_no_memory_and_the_same_policy():
    agent = begin(make_agent())
    other = agent.with_context(GroundContext(GROUNDS, MapLifetime.KNOWN))
    assert other.lifetime is MapLifetime.KNOWN
    observation = make_simulator().reset(HALL, START)
    with pytest.raises(BadArgument, match="no instruction yet"):
        other.act(observation)
    other.observe(observation)  # before any episode there is nothing to remember


@pytest.mark.parametrize(
    ("observation", "message"),
    [
        (Observation("house", "n1", 0, 0), "needs a camera of 64x64 pixels, 90 degrees wide, 1.25 m .* has no camera"),
        (GroundSimulator(camera=MAPS.camera()).reset(HALL, START), None),
        (make_simulator(channels=("depth",)).reset(HALL, START), "also needs the camera's classes"),
        (make_simulator(COLORS).reset(HALL, START), "also needs the camera's classes"),
        (
            make_simulator(GroundRequirements(128, 64, map=MapConfig())).reset(HALL, START),
            "but depth has 128x64 pixels",
        ),
    ],
)
def test_another_camera_is_refused(observation, message):
    agent = begin(make_agent())
    if message is None:
        assert 0 <= agent.act(observation) < 4
    else:
        with pytest.raises(BadArgument, match=message):
            agent.act(observation)


def test_maps_need_the_worlds():
    agent = begin(GroundPolicyAgent(make_policy("map-cma"), TOKENIZER, MAPS))
    with pytest.raises(BadArgument, match=r"needs world house: give the worlds as agent\.with_context"):
        agent.act(make_simulator().reset(HALL, START))


def test_action_scores_that_are_not_finite_are_refused():
    agent = make_agent("cma", COLORS)
    torch.nn.init.constant_(agent._policy.action_head.bias, math.nan)
    with pytest.raises(BadArgument, match="action scores are not finite"):
        begin(agent).act(make_simulator(COLORS).reset(HALL, START))
