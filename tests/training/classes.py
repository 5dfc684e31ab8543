"""Training that can be killed, begun by a test in a process of its own: `python classes.py FILE STEPS PAUSE`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch

from drawn import episode, world
from itinera.policies.checkpoint import Model
from itinera.tasks import Instruction
from itinera.training.dataset import Shuffle
from itinera.training.experts import to_goal
from itinera.training.losses import ActorCritic, cloning
from itinera.training.rewards import goal_oriented
from itinera.training.rollout import Mixed, roll_out
from itinera.training.trainer import Chance, Schedule, train
from training.pupils import TEXTS, School, pupil, school

DRAWING = """
    a-b-c-d
    | | | |
    e-f-g-h
"""
PATHS = ("abc", "efgh", "dcb", "hgfe", "aef", "cghd")


@cache
def place() -> School:
    """A few paths through a drawn house."""
    episodes = [episode(str(k), path, instruction=Instruction(TEXTS[k % len(TEXTS)])) for k, path in enumerate(PATHS)]
    return school({"house": world(DRAWING)}, episodes)


def lesson(model: Model, *, pause: float = 0.0) -> Callable[[int, Chance], torch.Tensor]:
    """Cloning and policy gradient together, so that every stream of random numbers is drawn from."""
    atlas, batches, gain = place().atlas, Shuffle(place().lessons, 4, seed=1), ActorCritic()
    reward = goal_oriented(atlas)

    def loss(step: int, chance: Chance) -> torch.Tensor:
        time.sleep(pause)
        batch = batches[step]
        choose = Mixed(torch.rand(batch.walkers, generator=chance.rng) < 0.5, chance.rng)
        walked = roll_out(model.policy, atlas, batch, choose=choose, teacher=to_goal, limit=5)
        return cloning(walked) + gain(walked, reward(walked))

    return loss


def trained(path: Path | None, steps: int, *, pause: float = 0.0, seed: int = 3, **more: Any) -> Model:
    model = pupil(seed)
    schedule = Schedule(steps, warm_up=2, every=3, **more)
    return train(model, lesson(model, pause=pause), schedule, seed=seed, name="class", checkpoint=path)


if __name__ == "__main__":
    trained(Path(sys.argv[1]), int(sys.argv[2]), pause=float(sys.argv[3]))
