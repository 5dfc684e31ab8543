"""Rewards of batched rollouts against those of the Gymnasium environments, step by step."""

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
from itinera.training.experts import shortest_path_expert
from itinera.training.rewards import make_fidelity_oriented_reward, make_goal_oriented_reward
from itinera.training.rollout import collect_rollout
from training.small_models import tiny_datasets, tiny_model

LIMIT = 5
PAIRS = {
    "goal": (make_goal_oriented_reward, gym.goal_oriented_reward),
    "fidelity": (make_fidelity_oriented_reward, gym.fidelity_oriented_reward),
}


@pytest.mark.parametrize("kind", PAIRS)
@settings(max_examples=15)
@given(place=tiny_datasets(), numbers=st.lists(st.integers(0, 50), min_size=6 * LIMIT, max_size=6 * LIMIT))
def test_rewards_are_those_of_the_environments(kind, place, numbers):
    ours, theirs = PAIRS[kind]
    script = torch.tensor(numbers).reshape(6, LIMIT)
    steps = iter(range(LIMIT))

    def select_action(output, expert_action, rows):
        return script[rows, next(steps)] % (output.logits > -torch.inf).sum(dim=1)

    batch = place.dataset.batch(range(len(place.episodes)))
    with torch.no_grad():
        walked = collect_rollout(
            tiny_model().policy,
            place.env,
            batch,
            select_action=select_action,
            expert=shortest_path_expert,
            max_steps=LIMIT,
        )
    earned = ours(place.env)(walked)
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
@given(place=tiny_datasets(), stops=st.lists(st.booleans(), min_size=6, max_size=6))
def test_with_needs_stop_there_is_no_bonus_without_stop(kind, place, stops):
    reward = PAIRS[kind][0]
    stay = torch.tensor(stops)

    def select_action(output, expert_action, rows):
        shut = (output.logits > -torch.inf).sum(dim=1) == 1
        return torch.where(
            stay[rows] | shut, expert_action, expert_action.clamp_min(1)
        )  # some keep moving around their goals

    batch = place.dataset.batch(range(len(place.episodes)))
    with torch.no_grad():
        walked = collect_rollout(
            tiny_model().policy,
            place.env,
            batch,
            select_action=select_action,
            expert=shortest_path_expert,
            max_steps=LIMIT,
        )
    ended = walked.path.gather(1, walked.moves[:, None]).squeeze(1)
    unpaid = ~walked.stopped & (place.env.distance(ended, batch.goal) <= 3.0)
    less = reward(place.env)(walked) - reward(place.env, needs_stop=True)(walked)
    assert less.sum(dim=1).tolist() == pytest.approx(unpaid.float().tolist())
