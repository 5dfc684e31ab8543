"""PPO of Stable-Baselines3 on PointNav, with many robots in one call.

    pip install "itinera[gym]" stable-baselines3
    python examples/sb3_pointnav.py                       # a small built-in house, half a minute of one core
    python examples/sb3_pointnav.py --steps 2000000 --tasks season/pointnav/train/train.json.gz --worlds season

Robots observe a scan and the direction of the goal. Starts are drawn without end, at first near their goals and then
farther away. It prints the success rate as it learns.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

from itinera.gym.stable_baselines import PointNavVecEnv
from itinera.simulators.pointnav.episodes import TrainingStarts
from itinera.simulators.pointnav.sensors import ScanSensor
from itinera.tasks.protocol import POINTNAV


class Curriculum(BaseCallback):
    """Starts are a third farther away whenever seven of ten episodes succeed."""

    def __init__(self, source: TrainingStarts, *, farthest: float = 30.0) -> None:
        super().__init__()
        self.source, self.farthest = source, farthest
        self.recent: list[bool] = []
        self.rates: list[float] = []

    def _on_step(self) -> bool:
        self.recent += [bool(info["episode"]["success"]) for info in self.locals["infos"] if "episode" in info]
        return True

    def _on_rollout_end(self) -> None:
        if not self.recent:
            return
        self.rates.append(float(np.mean(self.recent)))
        steps, count = f"{self.num_timesteps:,} steps", f"{len(self.recent)} episodes"
        print(f"{steps}, starts up to {self.source.max_distance:.1f} m: SR {100 * self.rates[-1]:.0f} % of {count}")
        if self.rates[-1] > 0.7:
            self.source.max_distance = min(1.3 * self.source.max_distance, self.farthest)
        self.recent = []


def main(words: list[str] | None = None) -> list[float]:
    """The success rate of each roll-out."""
    parser = argparse.ArgumentParser(description="PPO of Stable-Baselines3 on PointNav.")
    parser.add_argument("--tasks", help="PointNav tasks. Default: a built-in Hearth house.")
    parser.add_argument("--worlds", help="Hearth season or folder of scenes.")
    parser.add_argument("--steps", type=int, default=200_000, help="Steps of all robots together.")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(words)

    torch.set_num_threads(1)  # small networks gain nothing from threads
    given: dict[str, Any] = {}
    if options.tasks is not None:
        given = {"tasks": options.tasks, "worlds": options.worlds}
    envs = gymnasium.make_vec(
        "itinera/PointNav-v0",
        num_envs=options.num_envs,
        protocol=replace(POINTNAV, sliding=True),
        camera=None,
        scan=ScanSensor(32),
        episodes=partial(TrainingStarts, max_distance=2.0, steps_per_metre=14.0),
        **given,
    )
    curriculum = Curriculum(envs.source)
    model = PPO(
        "MultiInputPolicy",
        PointNavVecEnv(envs),
        n_steps=128,
        batch_size=1024,
        n_epochs=4,
        learning_rate=1e-3,
        ent_coef=0.01,
        seed=options.seed,
        policy_kwargs={"net_arch": [64, 64]},
        device="cpu",
    )
    model.learn(options.steps, callback=curriculum)
    return curriculum.rates


if __name__ == "__main__":
    main()
