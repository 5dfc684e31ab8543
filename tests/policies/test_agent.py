"""A policy as an agent. That it walks as it did in training is shown in `tests/learning/test_rollouts.py`."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from drawn import STREET, world
from itinera.agents.agent import ProbabilisticAgent
from itinera.agents.checks import check_agent
from itinera.errors import BadArgument
from itinera.policies.agent import Walker
from itinera.policies.tokenizer import Vocabulary
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction
from itinera.worlds import Pose
from training.pupils import COLUMNS, WORDS, Numbered, Watched, pupil


def seeing():
    watched = Watched(pupil().policy)
    return Walker(watched, Vocabulary(WORDS), COLUMNS, shown=COLUMNS), watched


def begun(walker, text="go left"):
    walker.reset(np.random.default_rng(0))
    walker.start_episode(Instruction(text))
    return walker


@pytest.fixture
def body():
    return GraphSimulator(Numbered())


def test_it_keeps_the_promises_of_agents():
    check_agent(pupil(columns=()).walker())


def test_it_weighs_what_it_does(body):
    walker, watched = seeing()
    begun(walker)
    assert isinstance(walker, ProbabilisticAgent)
    seen = body.reset(world(STREET), Pose("b"))
    weights = walker.action_probabilities(seen)
    assert (weights.shape, weights.dtype) == ((3,), np.float64)
    assert weights.sum() == pytest.approx(1.0)
    assert walker.act(seen) == weights.argmax()
    walker.observe(seen)
    assert len(watched.shown) == 2  # read once, looked once


def test_episodes_are_told_apart_and_places_forgotten(body):
    walker, _ = seeing()
    begun(walker)
    answers = []
    for _ in range(2):
        walker.start_episode(Instruction("go left"))
        first = walker.action_probabilities(body.reset(world(STREET), Pose("b")))
        answers.append((first, walker.action_probabilities(body.step(1))))
    np.testing.assert_array_equal(answers[0], answers[1])


def test_columns_are_found_by_name_whatever_their_order(body):
    order = np.random.default_rng(0).permutation(len(COLUMNS) + 2)
    names = np.array([*COLUMNS, "more", "and more"])[order]

    class Turned(Numbered):
        def at(self, world_id, node):
            return np.concatenate([super().at(world_id, node), np.ones((36, 2), np.float32)], axis=1)[:, order]

    plain, _ = seeing()
    turned = Walker(pupil().policy, Vocabulary(WORDS), COLUMNS, shown=tuple(names))
    seen = [
        begun(walker).action_probabilities(GraphSimulator(views).reset(world(STREET), Pose("c")))
        for walker, views in ((plain, Numbered()), (turned, Turned()))
    ]
    np.testing.assert_array_equal(*seen)


def test_what_it_cannot_do_without_is_told():
    with pytest.raises(BadArgument, match='views that tell of "red" and 1 more, and those it is shown do not'):
        pupil().walker(tuple(name for name in COLUMNS if name not in ("red", "to hallway")))
    walker, _ = seeing()
    with pytest.raises(BadArgument, match="was not told what to do"):
        walker.act(GraphSimulator(Numbered()).reset(world(STREET), Pose("a")))
    begun(walker)
    with pytest.raises(BadArgument, match="was shown none"):
        walker.act(GraphSimulator().reset(world(STREET), Pose("a")))
    with pytest.raises(BadArgument, match="walks on graphs"):
        walker.act(Observation("house", np.zeros(3), 0.0, 0.0))
    unnamed = begun(pupil(columns=("",) * 5).walker())
    with pytest.raises(BadArgument, match="learned with 5 features of a view, and is shown 7"):
        unnamed.act(GraphSimulator(Numbered()).reset(world(STREET), Pose("a")))


def test_nothing_is_kept_for_a_gradient(body):
    walker, watched = seeing()
    begun(walker).act(body.reset(world(STREET), Pose("a")))
    _, weighed = watched.shown[1]
    assert not weighed.logits.requires_grad
    assert torch.is_grad_enabled()


def test_who_is_led_sees_as_if_it_walked(body):
    walker, _ = seeing()
    other, _ = seeing()
    here = world(STREET)
    begun(walker).act(body.reset(here, Pose("b")))
    begun(other).observe(GraphSimulator(Numbered()).reset(here, Pose("b")))
    onward = [walk.step(1) if k else body.step(1) for k, walk in enumerate((body, _at(here, "b")))]
    np.testing.assert_array_equal(walker.action_probabilities(onward[0]), other.action_probabilities(onward[1]))


def _at(here, node):
    walk = GraphSimulator(Numbered())
    walk.reset(here, Pose(node))
    return walk
