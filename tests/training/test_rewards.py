"""What roll-outs earn is what environments of Gymnasium give, step by step."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera import gym
from itinera.gym import GraphVLN
from itinera.tasks import Split
from itinera.tasks.protocol import R2R
from itinera.training.experts import to_goal
from itinera.training.rewards import fidelity_oriented, goal_oriented
from itinera.training.rollout import roll_out
from training.pupils import pupil, schools

LIMIT = 5
PAIRS = {"goal": (goal_oriented, gym.goal_oriented), "fidelity": (fidelity_oriented, gym.fidelity_oriented)}


@pytest.mark.parametrize("kind", PAIRS)
@settings(max_examples=15)
@given(place=schools(), numbers=st.lists(st.integers(0, 50), min_size=6 * LIMIT, max_size=6 * LIMIT))
def test_rewards_are_those_of_the_environments(kind, place, numbers):
    ours, theirs = PAIRS[kind]
    told = torch.tensor(numbers).reshape(6, LIMIT)
    steps = iter(range(LIMIT))

    def choose(weighed, taught, rows):
        return told[rows, next(steps)] % (weighed.logits > -torch.inf).sum(dim=1)

    batch = place.lessons.batch(range(len(place.episodes)))
    with torch.no_grad():
        walked = roll_out(pupil().policy, place.atlas, batch, choose=choose, teacher=to_goal, limit=LIMIT)
    earned = ours(place.atlas)(walked)
    protocol = replace(R2R, step_limit=LIMIT)
    for k, episode in enumerate(place.episodes):
        env = GraphVLN(Split("drawn", (episode,)), place.worlds, protocol=protocol, reward=theirs)
        env.reset(seed=0)
        actions = [int(step.action[step.rows == k]) for step in walked.steps if (step.rows == k).any()]
        given = [env.step(action)[1] for action in actions]
        assert earned[k, : len(given)].tolist() == pytest.approx(given, abs=1e-5)
        assert not earned[k, len(given) :].any()


@pytest.mark.parametrize("kind", PAIRS)
@settings(max_examples=10)
@given(place=schools(), stops=st.lists(st.booleans(), min_size=6, max_size=6))
def test_who_must_stop_is_not_paid_for_where_it_ran_out_of_moves(kind, place, stops):
    reward = PAIRS[kind][0]
    stay = torch.tensor(stops)

    def choose(weighed, taught, rows):
        shut = (weighed.logits > -torch.inf).sum(dim=1) == 1
        return torch.where(stay[rows] | shut, taught, taught.clamp_min(1))  # some go on and on about their goals

    batch = place.lessons.batch(range(len(place.episodes)))
    with torch.no_grad():
        walked = roll_out(pupil().policy, place.atlas, batch, choose=choose, teacher=to_goal, limit=LIMIT)
    ended = walked.path.gather(1, walked.moves[:, None]).squeeze(1)
    unpaid = ~walked.stopped & (place.atlas.distance(ended, batch.goal) <= 3.0)
    less = reward(place.atlas)(walked) - reward(place.atlas, needs_stop=True)(walked)
    assert less.sum(dim=1).tolist() == pytest.approx(unpaid.float().tolist())
