"""Rewards of batched rollouts: the equations of Stay on the Path.

`itinera.gym.rewards` has the same rewards for one agent, step by step; a test compares them. Both call the metrics.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from itinera.metrics.fidelity import cls
from itinera.metrics.goal import success
from itinera.training.evaluation import rollout_attempts
from itinera.training.losses import Reward
from itinera.training.rollout import BatchRollout
from itinera.training.vector_env import BatchedGraphEnv


def make_goal_oriented_reward(env: BatchedGraphEnv, *, radius: float = 3.0, needs_stop: bool = False) -> Reward:
    """The decrease of the distance to the goal at each step, plus 1 at the last step for success (equation 11).

    With `needs_stop`, an agent that runs out of steps does not succeed, wherever it is.
    """

    def reward(rollout: BatchRollout) -> Tensor:
        to_goal = env.distance(rollout.path, rollout.batch.goal[:, None])
        progress = to_goal[:, :-1] - to_goal[:, 1:]  # 0 after the end, where the path is padded with its last node
        rewards = torch.cat([progress, progress.new_zeros(len(progress), 1)], dim=1)[:, : len(rollout.steps)]
        bonus = success(rollout_attempts(env, rollout), radius=radius, needs_stop=needs_stop)
        return _add_at_last_step(rewards, rollout, bonus)

    return reward


def make_fidelity_oriented_reward(env: BatchedGraphEnv, *, radius: float = 3.0, needs_stop: bool = False) -> Reward:
    """0 until the last step, then 1 for success plus CLS (equation 12)."""

    def reward(rollout: BatchRollout) -> Tensor:
        attempts = rollout_attempts(env, rollout)
        bonus = success(attempts, radius=radius, needs_stop=needs_stop) + cls(attempts, threshold=radius)
        return _add_at_last_step(_no_rewards(rollout), rollout, bonus)

    return reward


def _no_rewards(rollout: BatchRollout) -> Tensor:
    return torch.zeros(rollout.batch.size, len(rollout.steps), device=rollout.path.device)


def _add_at_last_step(rewards: Tensor, rollout: BatchRollout, bonus: np.ndarray) -> Tensor:
    """The rewards plus a bonus (batch,) at each agent's last step: STOP, or the last move if it ran out of steps."""
    last = torch.where(rollout.stopped, rollout.moves, rollout.moves - 1)
    return rewards.scatter_add(1, last[:, None], torch.from_numpy(bonus).float().to(rewards.device)[:, None])
