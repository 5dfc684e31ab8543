"""Agents that neither learn nor listen do what the papers say they do."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from itinera.agents.baselines import (
    ForwardBiasedAgent,
    GroundRandomAgent,
    HandcraftedAgent,
    RandomWalkAgent,
    StationaryAgent,
    UniformAgent,
    count_moves,
)
from itinera.errors import BadArgument
from itinera.runs.rollout import rollout
from itinera.seeding import generator
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Instruction, Tour
from itinera.tasks.protocol import R4R
from itinera.worlds import Pose, World
from text_worlds import episode, graph

HOUSE = World("house", graph("a-b---c\n  |\n  d"))
ON_GROUND = Observation("hall", np.zeros(3), 0.0, 0.0)


def at(node: str, heading: float = 0.0) -> Observation:
    return GraphSimulator().reset(HOUSE, Pose(node, heading))


def entered(agent, seed=0):
    agent.reset(generator(seed))
    agent.start_episode(Instruction("go"))
    return agent


def walked(agent, seed):
    tour = Tour(str(seed), "house", ("1",))
    return (
        rollout(agent, GraphSimulator(), HOUSE, tour, [episode("1", "ab")], protocol=R4R, seed=seed)
        .trajectories[0]
        .places
    )


def test_who_is_still_stops_at_once_and_is_sure_of_it():
    agent = entered(StationaryAgent())
    assert agent.act(at("b")) == STOP
    assert agent.action_probabilities(at("b")).tolist() == [1, 0, 0, 0]
    assert entered(StationaryAgent(ground_actions=6)).action_probabilities(ON_GROUND).tolist() == [1, 0, 0, 0, 0, 0]


def test_random_walks_end_at_each_node_as_often_as_the_chain_says():
    space = HOUSE.space
    chain = space.adjacency / space.adjacency.sum(axis=1, keepdims=True)
    first = np.eye(4)[space.index["a"]]
    # Two moves one time in three, else three.
    expected = (first @ np.linalg.matrix_power(chain, 2) + 2 * first @ np.linalg.matrix_power(chain, 3)) / 3
    agent, count = RandomWalkAgent([2, 3, 3]), 3000
    walks = [walked(agent, seed) for seed in range(count)]
    ends = Counter(places[-1] for places in walks)
    found = np.array([ends[node] / count for node in space.nodes])
    assert np.abs(found - expected).max() < 4 * math.sqrt(0.25 / count)
    assert {len(places) for places in walks} == {3, 4}


def test_a_random_walk_weighs_as_it_walks():
    agent = entered(RandomWalkAgent([1]))
    assert agent.action_probabilities(at("b")).tolist() == [0, 1 / 3, 1 / 3, 1 / 3]
    agent.act(at("b"))
    assert agent.action_probabilities(at("b")).tolist() == [1, 0, 0, 0]
    assert agent.act(at("b")) == STOP


def test_moves_are_those_of_the_references_that_are_known():
    assert count_moves([tuple("abc"), tuple("ab"), ()]) == (2, 1)
    for none in ([], [()]):
        with pytest.raises(BadArgument, match="contain no reference paths"):
            count_moves(none)


def test_forward_is_weighed_by_the_relative_heading():
    agent = entered(ForwardBiasedAgent())
    seen = at("b", math.pi)  # faces a
    weights = dict(zip(("stop", *seen.candidates.nodes), agent.action_probabilities(seen).tolist(), strict=True))
    ahead, aside, behind = 1 / 0.1, 1 / (0.1 + math.pi / 2), 1 / (0.1 + math.pi)
    total = ahead + aside + behind
    assert weights == pytest.approx({"stop": 0, "a": ahead / total, "d": aside / total, "c": behind / total})
    assert entered(ForwardBiasedAgent(stop_once_in=4)).action_probabilities(seen)[0] == 0.25
    drawn = Counter(agent.act(seen) for _ in range(2000))
    for action, weight in enumerate(agent.action_probabilities(seen).tolist()):
        assert drawn[action] / 2000 == pytest.approx(weight, abs=0.05)
    assert drawn[STOP] == 0


def test_uniform_is_as_likely_to_stop_as_to_go_anywhere():
    agent = entered(UniformAgent())
    assert agent.action_probabilities(at("b")).tolist() == [0.25] * 4
    drawn = Counter(agent.act(at("b")) for _ in range(2000))
    assert all(abs(drawn[action] / 2000 - 0.25) < 0.05 for action in range(4))
    assert {agent.act(ON_GROUND) for _ in range(100)} == {0, 1, 2, 3}


def test_the_random_agent_of_the_ground_draws_as_published():
    agent = entered(GroundRandomAgent())
    assert agent.action_probabilities(ON_GROUND).tolist() == [0.02, 0.68, 0.15, 0.15]
    drawn = Counter(agent.act(ON_GROUND) for _ in range(5000))
    for action, weight in enumerate([0.02, 0.68, 0.15, 0.15]):
        assert drawn[action] / 5000 == pytest.approx(weight, abs=0.03)


def test_the_handcrafted_agent_turns_right_goes_ahead_and_stops():
    agent = HandcraftedAgent()
    turns = set()
    agent.reset(generator(1))
    for _ in range(600):
        agent.start_episode(Instruction("go"))
        actions = []
        while not actions or actions[-1] != STOP:
            actions.append(agent.act(ON_GROUND))
        right = actions.count(3)
        assert actions == [3] * right + [1] * 37 + [0]
        turns.add(right)
    assert turns == set(range(25))


@pytest.mark.parametrize("agent", [UniformAgent, lambda: RandomWalkAgent([3, 9]), ForwardBiasedAgent])
def test_walks_are_those_of_the_seed(agent):
    assert [walked(agent(), seed) for seed in range(9)] == [walked(agent(), seed) for seed in range(9)]
    assert len({walked(agent(), seed) for seed in range(9)}) > 1


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: RandomWalkAgent([]), "moves must be numbers"),
        (lambda: RandomWalkAgent([2, -1]), "none negative"),
        (lambda: ForwardBiasedAgent(stop_once_in=0.5), "stop_once_in must be"),
        (lambda: GroundRandomAgent((0.5, 0.4)), "sum to 1"),
        (lambda: HandcraftedAgent(steps=-1), "max_turns and steps must be"),
        (lambda: entered(RandomWalkAgent([1])).act(ON_GROUND), "for graphs only"),
    ],
)
def test_what_cannot_be_is_refused(make, told):
    with pytest.raises(BadArgument, match=told):
        make()
