"""What is done at each step of training: imitation, and policy gradient with some imitation in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from itinera.policies.base import Policy
from itinera.training.dataset import Shuffle
from itinera.training.experts import Teacher, to_goal
from itinera.training.losses import ActorCritic, Reward, cloning
from itinera.training.rollout import Mixed, Sampled, roll_out
from itinera.training.trainer import Chance, Lesson
from itinera.training.vector_env import Atlas


def imitation(
    policy: Policy[Any], atlas: Atlas, batches: Shuffle, *, limit: int, teacher: Teacher = to_goal, taught: float = 0.8
) -> Lesson:
    """Do as the teacher does: a share of the walkers is led by it, the others go their own way and are told what it
    would have done there (`taught=1` is teacher forcing, `taught=0` sampled forcing).

    Who mostly goes its own way early on is seldom where it should stop, and learns not to: with half of the walkers
    led, more than one in four never stop in new houses of R2R after 800 steps, with four in five led one in thirteen
    after 500 and one in six after 1,700.
    """

    def lesson(step: int, chance: Chance) -> Tensor:
        batch = batches[step]
        led = torch.rand(batch.walkers, generator=chance.rng) < taught
        return cloning(roll_out(policy, atlas, batch, choose=Mixed(led, chance.rng), teacher=teacher, limit=limit))

    return lesson


def reinforcement(
    policy: Policy[Any],
    atlas: Atlas,
    batches: Shuffle,
    reward: Reward,
    *,
    limit: int,
    cloned: Callable[[int], float],
    cloning_lesson: Lesson | None = None,
    weight: float = 0.2,
    critic: ActorCritic | None = None,
) -> Lesson:
    """Go one's own way and be paid for it; with probability `cloned(step)` a batch of imitation counts with `weight`.

    Stay on the Path puts K batches of cloning after each of policy gradient and lets K decay exponentially; below one
    batch, K is the probability of one.
    """

    judged = critic or ActorCritic()

    def lesson(step: int, chance: Chance) -> Tensor:
        walked = roll_out(policy, atlas, batches[step], choose=Sampled(chance.rng), teacher=to_goal, limit=limit)
        loss = judged(walked, reward(walked))
        if cloning_lesson is not None and float(torch.rand((), generator=chance.rng)) < cloned(step):
            loss = loss + weight * cloning_lesson(step, chance)
        return loss

    return lesson


def halving(steps: float, *, least: float = 0.0) -> Callable[[int], float]:
    """A share that is 1 at first, halves every so many steps and stays above `least`.

    >>> halving(100, least=0.2)(0), halving(100)(200), halving(100, least=0.2)(1000)
    (1.0, 0.25, 0.2)
    """
    return lambda step: max(least, 0.5 ** (step / steps))
