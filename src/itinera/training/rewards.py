"""Rewards of whole roll-outs: the equations of Stay on the Path for many walkers at once.

`itinera.gym.rewards` has the same for one walker, step by step; a test holds them equal. Both ask the metrics.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from itinera.metrics.fidelity import cls
from itinera.metrics.reaching import success
from itinera.training.evaluation import attempts_of
from itinera.training.losses import Reward
from itinera.training.rollout import RollOut
from itinera.training.vector_env import Atlas


def goal_oriented(atlas: Atlas, *, radius: float = 3.0, needs_stop: bool = False) -> Reward:
    """Metres nearer to the goal at each step, and 1 at the last for ending within the radius (equation 11).

    With `needs_stop` whoever runs out of moves has not succeeded, wherever it is.
    """

    def reward(walked: RollOut) -> Tensor:
        to_goal = atlas.distance(walked.path, walked.batch.goal[:, None])
        nearer = to_goal[:, :-1] - to_goal[:, 1:]  # nothing after the end, where the last place is repeated
        earned = torch.cat([nearer, nearer.new_zeros(len(nearer), 1)], dim=1)[:, : len(walked.steps)]
        arrived = success(attempts_of(atlas, walked), radius=radius, needs_stop=needs_stop)
        return _at_the_end(earned, walked, arrived)

    return reward


def fidelity_oriented(atlas: Atlas, *, radius: float = 3.0, needs_stop: bool = False) -> Reward:
    """Nothing until the last step, then 1 for ending within the radius, and CLS (equation 12)."""

    def reward(walked: RollOut) -> Tensor:
        attempts = attempts_of(atlas, walked)
        worth = success(attempts, radius=radius, needs_stop=needs_stop) + cls(attempts, threshold=radius)
        return _at_the_end(torch.zeros(walked.batch.walkers, len(walked.steps)), walked, worth)

    return reward


def _at_the_end(earned: Tensor, walked: RollOut, worth: np.ndarray) -> Tensor:
    """The same with so much more at each walker's last step: its STOP, or its last move where it ran out of them."""
    last = torch.where(walked.stopped, walked.moves, walked.moves - 1)
    return earned.scatter_add(1, last[:, None], torch.from_numpy(worth).float()[:, None])
