"""Losses against the same sums written out for each agent, and inflections worked by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
import torch

from itinera.policies.base import Policy, PolicyOutput, join_stop_logits
from itinera.training.dataset import BatchSampler
from itinera.training.experts import shortest_path_expert
from itinera.training.losses import (
    ActorCriticLoss,
    discounted_returns,
    find_inflections,
    imitation_loss,
    imitation_loss_sum,
    imitation_objective,
    inflection_weighted_loss,
    policy_gradient_objective,
)
from itinera.training.rewards import make_goal_oriented_reward
from itinera.training.rollout import collect_rollout, sample, teacher_forcing
from itinera.worlds import Pose
from text_worlds import episode, world
from training.small_models import tiny_data, tiny_model


@pytest.fixture
def policy():
    return tiny_model().policy


@pytest.fixture
def rollout(house, policy):
    batch = house.dataset.batch(range(len(house.episodes)))
    select_action = sample(torch.Generator().manual_seed(5))
    return collect_rollout(
        policy, house.env, batch, select_action=select_action, expert=shortest_path_expert, max_steps=6
    )


def test_imitation_loss_is_the_mean_cross_entropy_of_expert_actions(rollout):
    losses = [
        -float(row.log_softmax(0)[int(action)])
        for step in rollout.steps
        for row, action in zip(step.output.logits.detach(), step.expert_action, strict=True)
    ]
    assert float(imitation_loss(rollout).detach()) == pytest.approx(sum(losses) / len(losses), rel=1e-5)
    assert len(losses) == rollout.num_actions


def test_steps_without_an_expert_action_add_nothing(rollout):
    for step in rollout.steps:
        step.expert_action[:] = -1
    assert float(imitation_loss_sum(rollout).detach()) == 0.0


def test_later_rewards_count_less():
    rewards = torch.tensor([[1.0, 0.0, 4.0], [0.0, 2.0, 0.0]])
    assert discounted_returns(rewards, 0.5).tolist() == [[2.0, 2.0, 4.0], [1.0, 2.0, 0.0]]


@pytest.mark.parametrize("normalize", [False, True])
def test_policy_gradient_is_the_sum_written_out(rollout, normalize):
    rewards = torch.randn(rollout.batch.size, len(rollout.steps), generator=torch.Generator().manual_seed(0))
    loss_fn = ActorCriticLoss(discount=0.9, entropy_weight=0.02, critic_weight=0.3, normalize_advantages=normalize)
    loss = loss_fn(rollout, rewards)
    rows = []
    for k, step in enumerate(rollout.steps):
        for i, agent in enumerate(step.rows.tolist()):
            returned = sum(0.9 ** (j - k) * float(rewards[agent, j]) for j in range(k, len(rollout.steps)))
            probabilities = step.output.logits[i].detach().double().softmax(0)
            entropy = -sum(p * math.log(p) for p in probabilities.tolist() if p > 0)
            log_prob = math.log(probabilities[int(step.action[i])])
            rows.append((returned - float(step.output.value[i].detach()), log_prob, entropy))
    advantages = torch.tensor([row[0] for row in rows])
    scale = float(advantages.std()) if normalize else 1.0
    terms = [-log_prob * a / scale + 0.3 * (a / scale) ** 2 - 0.02 * entropy for a, log_prob, entropy in rows]
    assert float(loss.detach()) == pytest.approx(sum(terms) / len(terms), rel=1e-4)


def test_gradients_are_finite_with_padded_candidates(rollout, policy):
    rewards = torch.ones(rollout.batch.size, len(rollout.steps))
    (ActorCriticLoss()(rollout, rewards) + imitation_loss(rollout)).backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in policy.parameters())
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in policy.parameters())


def test_one_step_of_one_agent_has_a_finite_loss(house, policy):
    options = {"select_action": teacher_forcing, "expert": shortest_path_expert, "max_steps": 1}
    rollout = collect_rollout(policy, house.env, house.dataset.batch([0]), **options)
    assert ActorCriticLoss()(rollout, torch.ones(1, 1)).isfinite()


def test_imitation_is_added_to_the_policy_gradient_with_its_probability(house, policy):
    batches = BatchSampler(house.dataset, 4, seed=0)
    calls = []

    def imitation(step, rng):
        calls.append(step)
        return torch.tensor(10.0)

    def total(probability):
        loss_fn = policy_gradient_objective(
            policy,
            house.env,
            batches,
            make_goal_oriented_reward(house.env),
            max_steps=4,
            imitation_probability=lambda step: probability,
            imitation=imitation,
            imitation_weight=0.5,
        )
        return float(loss_fn(2, torch.Generator().manual_seed(0)).detach())

    assert total(1.0) == pytest.approx(total(0.0) + 5.0, abs=1e-5)
    assert calls == [2]
    loss_fn = imitation_objective(policy, house.env, batches, max_steps=4)
    assert loss_fn(0, torch.Generator().manual_seed(0)).isfinite()


# North is up. a to c goes east, c to d south.
DRAWING = """
    a-b-c
        |
        d
"""


@dataclass(frozen=True)
class EmptyState:
    """The state of a policy without memory."""


class UniformPolicy(Policy[EmptyState]):
    """Gives all actions the same probability."""

    def encode_instruction(self, words, lengths):
        return EmptyState()

    def forward(self, state, observation):
        zero = torch.zeros(observation.batch_size)
        candidates = torch.zeros(len(observation.candidates))
        return state, PolicyOutput(join_stop_logits(zero, candidates, observation), zero)


def follow(heading, path="abcd", drawing=DRAWING):
    """The rollout of the expert, and its environment."""
    place = tiny_data({"house": world(drawing)}, [episode("0", path, start=Pose(path[0], heading))])
    options = {"select_action": teacher_forcing, "expert": shortest_path_expert, "max_steps": 9}
    return collect_rollout(UniformPolicy(), place.env, place.dataset.batch([0]), **options), place.env


@pytest.mark.parametrize(
    ("heading_deg", "wrap", "expected"),
    [
        (0, True, [False, False, True, True]),  # east, east, right by 90 degrees, STOP
        (60, True, [False, False, True, True]),  # right by 60 degrees is not more than 60
        (90, True, [True, False, True, True]),
        (-150, True, [True, False, True, True]),
        (120, True, [True, False, True, True]),  # facing 330 degrees clockwise from north, to 90: right by 120
        (120, False, [True, False, True, True]),  # the raw difference is 240
        (60, False, [False, False, True, True]),
    ],
)
def test_turns_by_more_than_60_degrees_and_stops_are_inflections(heading_deg, wrap, expected):
    rollout, env = follow(math.radians(heading_deg))
    assert [bool(step) for step in find_inflections(rollout, env, wrap=wrap)] == expected


def test_only_the_released_rule_takes_a_small_turn_across_north_for_a_large_one():
    rollout, env = follow(math.radians(120), "cb", "b\n|\nc")  # from 330 degrees clockwise from north to north
    assert [bool(step) for step in find_inflections(rollout, env)] == [False, True]
    assert [bool(step) for step in find_inflections(rollout, env, wrap=False)] == [True, True]


def test_inflections_weigh_as_much_as_they_are_rare():
    rollout, env = follow(0.0)
    # Two of four steps are inflections, so each weighs 2. There are 2, 3, 3 and 2 actions at a, b, c and d.
    losses = [math.log(n) for n in (2, 3, 3, 2)]
    expected = (losses[0] + losses[1] + 2 * losses[2] + 2 * losses[3]) / 6
    assert float(inflection_weighted_loss(rollout, env)) == pytest.approx(expected, rel=1e-5)
