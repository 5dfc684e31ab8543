"""A policy as an agent. `tests/training/test_rollout.py` shows that it acts as in training."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from itinera.agents.agent import ProbabilisticAgent
from itinera.agents.checks import check_agent
from itinera.errors import BadArgument
from itinera.policies.agent import PolicyAgent
from itinera.policies.tokenizer import Tokenizer
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction
from itinera.worlds import Pose
from text_worlds import STREET, world
from training.small_models import COLUMNS, WORDS, NumberedViews, RecordingPolicy, tiny_model


def make_agent():
    policy = RecordingPolicy(tiny_model().policy)
    return PolicyAgent(policy, Tokenizer(WORDS), COLUMNS, view_columns=COLUMNS), policy


def start(agent, text="go left"):
    agent.reset(np.random.default_rng(0))
    agent.start_episode(Instruction(text))
    return agent


@pytest.fixture
def simulator():
    return GraphSimulator(NumberedViews())


def test_it_fulfills_the_agent_contract():
    check_agent(tiny_model(columns=()).agent())


def test_it_takes_the_most_probable_action(simulator):
    agent, policy = make_agent()
    start(agent)
    assert isinstance(agent, ProbabilisticAgent)
    seen = simulator.reset(world(STREET), Pose("b"))
    weights = agent.action_probabilities(seen)
    assert (weights.shape, weights.dtype) == ((3,), np.float64)
    assert weights.sum() == pytest.approx(1.0)
    assert agent.act(seen) == weights.argmax()
    agent.observe(seen)
    assert len(policy.records) == 2  # one instruction, one observation


def test_nothing_is_remembered_between_episodes(simulator):
    agent, _ = make_agent()
    start(agent)
    answers = []
    for _ in range(2):
        agent.start_episode(Instruction("go left"))
        first = agent.action_probabilities(simulator.reset(world(STREET), Pose("b")))
        answers.append((first, agent.action_probabilities(simulator.step(1))))
    np.testing.assert_array_equal(answers[0], answers[1])


def test_columns_are_found_by_name_in_any_order(simulator):
    order = np.random.default_rng(0).permutation(len(COLUMNS) + 2)
    names = np.array([*COLUMNS, "more", "and more"])[order]

    class Shuffled(NumberedViews):
        def at(self, world_id, node):
            return np.concatenate([super().at(world_id, node), np.ones((36, 2), np.float32)], axis=1)[:, order]

    plain, _ = make_agent()
    shuffled = PolicyAgent(tiny_model().policy, Tokenizer(WORDS), COLUMNS, view_columns=tuple(names))
    probabilities = [
        start(agent).action_probabilities(GraphSimulator(views).reset(world(STREET), Pose("c")))
        for agent, views in ((plain, NumberedViews()), (shuffled, Shuffled()))
    ]
    np.testing.assert_array_equal(*probabilities)


def test_errors_say_what_is_missing():
    with pytest.raises(BadArgument, match='view feature "red" and 1 more, which these views do not have'):
        tiny_model().agent(tuple(name for name in COLUMNS if name not in ("red", "to hallway")))
    agent, _ = make_agent()
    with pytest.raises(BadArgument, match=r"has no instruction yet\. Call start_episode"):
        agent.act(GraphSimulator(NumberedViews()).reset(world(STREET), Pose("a")))
    start(agent)
    with pytest.raises(BadArgument, match="but the observation has none"):
        agent.act(GraphSimulator().reset(world(STREET), Pose("a")))
    with pytest.raises(BadArgument, match="acts on navigation graphs"):
        agent.act(Observation("house", np.zeros(3), 0.0, 0.0))
    unnamed = start(tiny_model(columns=("",) * 5).agent())
    with pytest.raises(BadArgument, match="trained with 5 features per view, but the observation has 7"):
        unnamed.act(GraphSimulator(NumberedViews()).reset(world(STREET), Pose("a")))


def test_no_gradients_are_recorded(simulator):
    agent, policy = make_agent()
    start(agent).act(simulator.reset(world(STREET), Pose("a")))
    _, output = policy.records[1]
    assert not output.logits.requires_grad
    assert torch.is_grad_enabled()


def test_guided_steps_count_as_its_own(simulator):
    agent, _ = make_agent()
    other, _ = make_agent()
    here = world(STREET)
    start(agent).act(simulator.reset(here, Pose("b")))
    start(other).observe(GraphSimulator(NumberedViews()).reset(here, Pose("b")))
    own, guided = simulator.step(1), _at(here, "b").step(1)
    np.testing.assert_array_equal(agent.action_probabilities(own), other.action_probabilities(guided))


def _at(here, node):
    simulator = GraphSimulator(NumberedViews())
    simulator.reset(here, Pose(node))
    return simulator


def test_agents_with_other_weights_have_other_fingerprints():
    one, same, other = (tiny_model(seed).agent() for seed in (0, 0, 1))
    assert one.fingerprint == same.fingerprint != other.fingerprint
    assert one.requirements.columns == COLUMNS


def test_it_acts_in_one_thread_however_it_was_made():
    agent, _ = make_agent()
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        start(agent)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(threads)
