"""Training that a test can kill, in a process of its own: `python interruptible.py FILE STEPS PAUSE`."""

from __future__ import annotations

import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import torch

from itinera.policies.checkpoint import Model
from itinera.tasks import Instruction
from itinera.training.dataset import BatchSampler
from itinera.training.experts import shortest_path_expert
from itinera.training.losses import ActorCriticLoss, imitation_loss
from itinera.training.rewards import make_goal_oriented_reward
from itinera.training.rollout import collect_rollout, mixed_forcing, sample
from itinera.training.trainer import LossFn, Schedule, train_model
from text_worlds import episode, world
from training.small_models import TEXTS, TinyData, tiny_data, tiny_model

DRAWING = """
    a-b-c-d
    | | | |
    e-f-g-h
"""
PATHS = ("abc", "efgh", "dcb", "hgfe", "aef", "cghd")


@cache
def place() -> TinyData:
    """A few paths through a drawn house."""
    episodes = [episode(str(k), path, instruction=Instruction(TEXTS[k % len(TEXTS)])) for k, path in enumerate(PATHS)]
    return tiny_data({"house": world(DRAWING)}, episodes)


def make_loss_fn(model: Model, *, pause: float = 0.0) -> LossFn:
    """Imitation and policy gradient together, so that every random stream is used."""
    env, batches, actor_critic = place().env, BatchSampler(place().dataset, 4, seed=1), ActorCriticLoss()
    reward = make_goal_oriented_reward(env)

    def loss_fn(step: int, rng: torch.Generator) -> torch.Tensor:
        time.sleep(pause)
        batch = batches[step]
        select_action = mixed_forcing(torch.rand(batch.size, generator=rng) < 0.5, sample(rng))
        rollout = collect_rollout(
            model.policy, env, batch, select_action=select_action, expert=shortest_path_expert, max_steps=5
        )
        return imitation_loss(rollout) + actor_critic(rollout, reward(rollout))

    return loss_fn


def run_training(
    path: Path | None, steps: int, *, pause: float = 0.0, seed: int = 3, overwrite: bool = False, **more: Any
) -> Model:
    model = tiny_model(seed)
    schedule = Schedule(steps, warmup_steps=2, checkpoint_every=3, **more)
    loss_fn = make_loss_fn(model, pause=pause)
    return train_model(model, loss_fn, schedule, seed=seed, name="class", checkpoint=path, overwrite=overwrite)


if __name__ == "__main__":
    run_training(Path(sys.argv[1]), int(sys.argv[2]), pause=float(sys.argv[3]))
