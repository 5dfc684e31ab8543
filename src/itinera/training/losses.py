"""What training makes smaller: disagreement with a teacher, and returns that were missed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from itinera.training.rollout import RollOut

Reward: TypeAlias = Callable[[RollOut], Tensor]
"""(walkers, steps) what each step of each walker earned; zeros after its end."""


def cloning(walked: RollOut) -> Tensor:
    """Cross-entropy with what was taught, mean over all steps of all walkers."""
    return sum_of_cloning(walked) / walked.acted


def sum_of_cloning(walked: RollOut) -> Tensor:
    """Cross-entropy with what was taught, summed over steps and walkers; -1 teaches nothing."""
    losses = [
        cross_entropy(step.weighed.logits, step.taught, reduction="sum", ignore_index=-1) for step in walked.steps
    ]
    return torch.stack(losses).sum()


@dataclass(frozen=True)
class ActorCritic:
    """Policy gradient with a learned baseline (REINFORCE; A2C where the critic judges what is cut off)."""

    discount: float = 0.95
    entropy: float = 0.01  # its weight
    critic: float = 0.5  # weight of the critic's squared error
    even: bool = True  # what was missed is divided by its standard deviation, for the policy and for the critic

    def __call__(self, walked: RollOut, rewards: Tensor) -> Tensor:
        """The loss, mean over all steps of all walkers; `rewards` (walkers, steps)."""
        returns = discounted(rewards, self.discount)
        sums = walked.path.new_zeros((), dtype=torch.float32)
        gained = [returns[step.rows, k] for k, step in enumerate(walked.steps)]
        missed = [gain - step.weighed.value for gain, step in zip(gained, walked.steps, strict=True)]
        if self.even and walked.acted > 1:
            spread = torch.cat([gap.detach() for gap in missed]).std().clamp_min(1e-3)
            missed = [gap / spread for gap in missed]
        for step, gap in zip(walked.steps, missed, strict=True):
            likely = step.weighed.logits.log_softmax(dim=1)
            did = likely.gather(1, step.action[:, None]).squeeze(1)
            # Ways that are not there have probability 0, which adds nothing to the entropy.
            entropy = -(likely.exp() * likely.masked_fill(likely.isinf(), 0.0)).sum(dim=1)
            sums = sums + (-did * gap.detach() + self.critic * gap**2 - self.entropy * entropy).sum()
        return sums / walked.acted


def discounted(rewards: Tensor, discount: float) -> Tensor:
    """(walkers, steps) what is earned from each step on, later rewards counting less."""
    returns, later = torch.zeros_like(rewards), torch.zeros(len(rewards))
    for k in range(rewards.shape[1] - 1, -1, -1):
        later = rewards[:, k] + discount * later
        returns[:, k] = later
    return returns
