"""Losses of rollouts, and the training objectives built from them.

A loss maps a rollout to a number. An objective returns a `LossFn`, which `train_model` calls once per step: it takes
the batch of that step, collects a rollout and returns its loss. `imitation_objective` is the shortest example.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from itinera.policies.base import Policy
from itinera.rendering.panorama import TURNS
from itinera.training.dataset import BatchSampler
from itinera.training.experts import Expert, shortest_path_expert
from itinera.training.rollout import BatchRollout, collect_rollout, draw_uniform, mixed_forcing, sample
from itinera.training.trainer import LossFn
from itinera.training.vector_env import BatchedGraphEnv

MAX_STRAIGHT_VIEWS = 2  # views of 30 degrees; a turn by more of them is an inflection

Reward: TypeAlias = Callable[[BatchRollout], Tensor]
"""(batch, steps) the reward of each step of each agent; zeros after its end."""


def imitation_loss(rollout: BatchRollout) -> Tensor:
    """Cross-entropy of the expert's actions, mean over all steps of all agents."""
    return imitation_loss_sum(rollout) / rollout.num_actions


def imitation_loss_sum(rollout: BatchRollout) -> Tensor:
    """Cross-entropy of the expert's actions, summed over steps and agents; -1 is ignored."""
    losses = [
        cross_entropy(step.output.logits, step.expert_action, reduction="sum", ignore_index=-1)
        for step in rollout.steps
    ]
    return torch.stack(losses).sum()


@dataclass(frozen=True)
class ActorCriticLoss:
    """Policy gradient with a learned baseline (REINFORCE; A2C where the critic estimates truncated returns)."""

    discount: float = 0.95
    entropy_weight: float = 0.01
    critic_weight: float = 0.5  # of the squared error of the value
    normalize_advantages: bool = True  # by their standard deviation, for the policy and for the critic

    def __call__(self, rollout: BatchRollout, rewards: Tensor) -> Tensor:
        """The loss, mean over all steps of all agents; `rewards` (batch, steps)."""
        returns = discounted_returns(rewards, self.discount)
        total = rollout.path.new_zeros((), dtype=torch.float32)
        advantages = [returns[step.rows, k] - step.output.value for k, step in enumerate(rollout.steps)]
        if self.normalize_advantages and rollout.num_actions > 1:
            scale = torch.cat([advantage.detach() for advantage in advantages]).std().clamp_min(1e-3)
            advantages = [advantage / scale for advantage in advantages]
        for step, advantage in zip(rollout.steps, advantages, strict=True):
            log_probs = step.output.logits.log_softmax(dim=1)
            log_prob = log_probs.gather(1, step.action[:, None]).squeeze(1)
            # Padding has probability 0 and adds nothing to the entropy.
            entropy = -(log_probs.exp() * log_probs.masked_fill(log_probs.isinf(), 0.0)).sum(dim=1)
            policy_loss, value_loss = -log_prob * advantage.detach(), advantage**2
            total = total + (policy_loss + self.critic_weight * value_loss - self.entropy_weight * entropy).sum()
        return total / rollout.num_actions


def discounted_returns(rewards: Tensor, discount: float) -> Tensor:
    """(batch, steps) the discounted sum of rewards from each step on."""
    returns, later = torch.zeros_like(rewards), rewards.new_zeros(len(rewards))
    for k in range(rewards.shape[1] - 1, -1, -1):
        later = rewards[:, k] + discount * later
        returns[:, k] = later
    return returns


def find_inflections(rollout: BatchRollout, env: BatchedGraphEnv, *, wrap: bool = True) -> list[Tensor]:
    """For each step (n,) whether the expert stops or turns by more than 60 degrees.

    `wrap=False` is the rule of the released code, which takes 330 degrees to the right for another turn than 30 to the
    left.
    """
    view = rollout.batch.view.clone()
    inflections = []
    for step in rollout.steps:
        turn = (_heading_view(env, step.node, step.expert_action) - view[step.rows] % TURNS).abs()
        if wrap:
            turn = torch.minimum(turn, TURNS - turn)
        inflections.append((step.expert_action == 0) | ((step.expert_action > 0) & (turn > MAX_STRAIGHT_VIEWS)))
        edge = env.first_edge[step.node] + step.action.clamp_min(1) - 1
        view[step.rows] = torch.where(step.action > 0, env.edge_view[edge], view[step.rows])
    return inflections


def _heading_view(env: BatchedGraphEnv, node: Tensor, action: Tensor) -> Tensor:
    """The heading after an action, in views of 30 degrees."""
    return env.edge_view[env.first_edge[node] + action.clamp_min(1) - 1] % TURNS


def inflection_weighted_loss(rollout: BatchRollout, env: BatchedGraphEnv, *, wrap: bool = True) -> Tensor:
    """Cross-entropy of the expert's actions, a weighted mean over all steps of all agents.

    Inflections, where the expert turns or stops, are rare and decide where an agent ends. In each episode they weigh
    the number of steps divided by the number of inflections, other steps weigh 1.
    Reference: Wijmans et al. 2019, Embodied Question Answering in Photorealistic Environments; on graphs as in Krantz
    et al. 2022, Iterative Vision-and-Language Navigation.
    """
    inflections = find_inflections(rollout, env, wrap=wrap)
    num_steps = torch.zeros(rollout.batch.size, device=rollout.path.device)
    num_inflections = torch.zeros_like(num_steps)
    for step, inflection in zip(rollout.steps, inflections, strict=True):
        num_steps[step.rows[step.expert_action >= 0]] += 1
        num_inflections[step.rows[inflection]] += 1
    inflection_weight = num_steps / num_inflections.clamp_min(1)
    losses, weights = [], []
    for step, inflection in zip(rollout.steps, inflections, strict=True):
        weight = torch.where(inflection, inflection_weight[step.rows], 1.0) * (step.expert_action >= 0)
        loss = cross_entropy(step.output.logits, step.expert_action, reduction="none", ignore_index=-1)
        losses.append((weight * loss).sum())
        weights.append(weight.sum())
    return torch.stack(losses).sum() / torch.stack(weights).sum()


def imitation_objective(
    policy: Policy[Any],
    env: BatchedGraphEnv,
    batches: BatchSampler,
    *,
    max_steps: int,
    expert: Expert = shortest_path_expert,
    teacher_forcing_ratio: float = 0.8,
) -> LossFn:
    """Imitation learning: each agent follows the expert or samples from the policy for a whole episode, and the
    expert's action is the target at every step.

    `teacher_forcing_ratio` is the probability of following the expert: 1 is teacher forcing, 0 sampling (DAgger-like).
    An agent that mostly samples early in training is rarely where it should stop, and learns not to. On val-unseen of
    R2R, with a ratio of 0.5 more than 1 in 4 agents never stop after 800 steps; with 0.8, 1 in 13 after 500 steps and
    1 in 6 after 1,700.
    """

    def loss_fn(step: int, rng: torch.Generator) -> Tensor:
        batch = batches[step]
        forced = draw_uniform((batch.size,), rng, env.device) < teacher_forcing_ratio
        select_action = mixed_forcing(forced, sample(rng))
        return imitation_loss(
            collect_rollout(policy, env, batch, select_action=select_action, expert=expert, max_steps=max_steps)
        )

    return loss_fn


def policy_gradient_objective(
    policy: Policy[Any],
    env: BatchedGraphEnv,
    batches: BatchSampler,
    reward: Reward,
    *,
    max_steps: int,
    imitation_probability: Callable[[int], float],
    imitation: LossFn | None = None,
    imitation_weight: float = 0.2,
    loss: ActorCriticLoss | None = None,
) -> LossFn:
    """Policy gradient on sampled rollouts, plus `imitation_weight` times an `imitation` loss with probability
    `imitation_probability(step)`.

    Stay on the Path alternates one policy-gradient batch with K imitation batches and lets K decay exponentially; below
    one batch, K is a probability.
    """
    actor_critic_loss = loss or ActorCriticLoss()

    def loss_fn(step: int, rng: torch.Generator) -> Tensor:
        rollout = collect_rollout(
            policy, env, batches[step], select_action=sample(rng), expert=shortest_path_expert, max_steps=max_steps
        )
        total = actor_critic_loss(rollout, reward(rollout))
        if imitation is not None and float(draw_uniform((), rng, rng.device)) < imitation_probability(step):
            total = total + imitation_weight * imitation(step, rng)
        return total

    return loss_fn


def exponential_decay(half_life: float, *, minimum: float = 0.0) -> Callable[[int], float]:
    """A function of the step that starts at 1, halves every `half_life` steps and stays above `minimum`.

    >>> exponential_decay(100, minimum=0.2)(0), exponential_decay(100)(200), exponential_decay(100, minimum=0.2)(1000)
    (1.0, 0.25, 0.2)
    """
    return lambda step: max(minimum, 0.5 ** (step / half_life))
