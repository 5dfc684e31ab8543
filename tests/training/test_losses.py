"""Losses, against the same sums written out for each walker."""

from __future__ import annotations

import math

import pytest
import torch

from itinera.training.experts import to_goal
from itinera.training.losses import ActorCritic, cloning, discounted, sum_of_cloning
from itinera.training.rollout import Sampled, as_taught, roll_out
from training.pupils import pupil


@pytest.fixture
def policy():
    return pupil().policy


@pytest.fixture
def walked(house, policy):
    batch = house.lessons.batch(range(len(house.episodes)))
    choose = Sampled(torch.Generator().manual_seed(5))
    return roll_out(policy, house.atlas, batch, choose=choose, teacher=to_goal, limit=6)


def test_cloning_is_the_mean_surprise_at_what_was_taught(walked):
    surprise = [
        -float(row.log_softmax(0)[int(taught)])
        for step in walked.steps
        for row, taught in zip(step.weighed.logits.detach(), step.taught, strict=True)
    ]
    assert float(cloning(walked).detach()) == pytest.approx(sum(surprise) / len(surprise), rel=1e-5)
    assert len(surprise) == walked.acted


def test_what_is_not_taught_teaches_nothing(walked):
    for step in walked.steps:
        step.taught[:] = -1
    assert float(sum_of_cloning(walked).detach()) == 0.0


def test_later_rewards_count_less():
    rewards = torch.tensor([[1.0, 0.0, 4.0], [0.0, 2.0, 0.0]])
    assert discounted(rewards, 0.5).tolist() == [[2.0, 2.0, 4.0], [1.0, 2.0, 0.0]]


@pytest.mark.parametrize("even", [False, True])
def test_policy_gradient_is_the_sum_written_out(walked, even):
    rewards = torch.randn(walked.batch.walkers, len(walked.steps), generator=torch.Generator().manual_seed(0))
    loss = ActorCritic(discount=0.9, entropy=0.02, critic=0.3, even=even)(walked, rewards)
    rows = []
    for k, step in enumerate(walked.steps):
        for i, walker in enumerate(step.rows.tolist()):
            gained = sum(0.9 ** (j - k) * float(rewards[walker, j]) for j in range(k, len(walked.steps)))
            likely = step.weighed.logits[i].detach().double().softmax(0)
            spread = -sum(p * math.log(p) for p in likely.tolist() if p > 0)
            rows.append((gained - float(step.weighed.value[i].detach()), math.log(likely[int(step.action[i])]), spread))
    missed = torch.tensor([row[0] for row in rows])
    scale = float(missed.std()) if even else 1.0
    wanted = sum(-did * gap / scale + 0.3 * (gap / scale) ** 2 - 0.02 * entropy for gap, did, entropy in rows) / len(
        rows
    )
    assert float(loss.detach()) == pytest.approx(wanted, rel=1e-4)


def test_gradients_are_finite_where_ways_are_missing(walked, policy):
    rewards = torch.ones(walked.batch.walkers, len(walked.steps))
    (ActorCritic()(walked, rewards) + cloning(walked)).backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in policy.parameters())
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in policy.parameters())


def test_one_step_of_one_walker_can_be_learned_from(house, policy):
    walked = roll_out(policy, house.atlas, house.lessons.batch([0]), choose=as_taught, teacher=to_goal, limit=1)
    assert ActorCritic()(walked, torch.ones(1, 1)).isfinite()
