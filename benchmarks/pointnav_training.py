"""Speed of training for PointNav: roll-outs and updates together, steps per CPU second, beside Stable-Baselines3.

`make bench` runs this in eight Hearth houses. Stable-Baselines3 has the defaults of its PPO, on eight environments of
one robot, as a user would start, and on the vector environment of 128 robots. On a quiet machine, with a core for each
process,

    python benchmarks/pointnav_training.py --processes 2

prints how much faster several processes train together than one (DD-PPO), by wall-clock time.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import socket
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import gymnasium
import torch
from rich.console import Console
from rich.table import Table
from stable_baselines3 import PPO as BaselinePPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

import itinera.gym
from itinera.gym.stable_baselines import PointNavVecEnv
from itinera.policies.checkpoint import build_model, make_card
from itinera.policies.pointnav.policy import SMALL
from itinera.policies.pointnav.requirements import PointNavRequirements
from itinera.policies.tokenizer import Tokenizer
from itinera.simulators.pointnav.episodes import TrainingStarts
from itinera.simulators.pointnav.sensors import ScanSensor
from itinera.simulators.pointnav.vectorized import VectorizedPointNav
from itinera.simulators.sensors import CameraSensor
from itinera.training.distributed import ALONE, Ranks, join_ranks, leave_ranks
from itinera.training.malloc import tune_malloc
from itinera.training.ppo import PPO
from itinera.training.ppo_config import PPOConfig
from pointnav import ROBOTS, Setting
from pointnav import SMALL as CAMERA

ROLLOUT, UPDATES, DEPTH_UPDATES, RANK_UPDATES = 64, 12, 3, 30
SINGLE_ENVS, SINGLE_STEPS, VECTOR_STEPS = 8, 1024, 16_384
EPISODES = 64  # whose goals the vector environment has tables of


def make_ppo(setting: Setting, sensor: str, updates: int, ranks: Ranks = ALONE) -> PPO:
    """Our PPO for this many updates, with the small network of a sensor."""
    needs = PointNavRequirements(sensor)
    starts = TrainingStarts(setting.houses, max_distance=12.0, steps_per_metre=14.0)
    stage = VectorizedPointNav(
        setting.houses, starts, ROBOTS, sliding=True, scan=needs.scan, depth=needs.depth,
        first_env=ROBOTS * ranks.rank,
    )  # fmt: skip
    model = build_model(make_card("pointnav", SMALL[sensor], (), Tokenizer(()), pointnav=needs))
    steps = updates * ROBOTS * ROLLOUT * ranks.size
    never = PPOConfig(steps, ROLLOUT, evaluate_every=10 * steps, checkpoint_every=10 * steps)
    return PPO(model, stage, never, starts=starts, seed=0, ranks=ranks)


def loop_rate(setting: Setting, sensor: str, updates: int) -> float:
    """Steps of our PPO per CPU second, after a first update."""
    make_ppo(setting, sensor, 1).run()
    ppo = make_ppo(setting, sensor, updates)
    return ppo.config.steps / seconds(ppo.run, time.process_time)


def baseline_rate(envs: VecEnv, steps: int) -> float:
    """Steps of the PPO of Stable-Baselines3 per CPU second."""
    rollout = max(16, steps // envs.num_envs // 2)
    model = BaselinePPO("MultiInputPolicy", envs, n_steps=rollout, batch_size=256, seed=0, device="cpu")
    torch.set_num_threads(1)
    return steps / seconds(partial(model.learn, steps), time.process_time)


def single_envs(setting: Setting, camera: CameraSensor | None) -> VecEnv:
    """Eight environments of one robot, with goals that they have not seen before."""
    split = setting.split(200)

    def make() -> Any:
        return gymnasium.make("itinera/PointNav-v0", tasks=split, worlds=setting.worlds, camera=camera)

    return DummyVecEnv([make] * SINGLE_ENVS)


def vector_envs(setting: Setting, camera: CameraSensor | None, scan: ScanSensor | None = None) -> VecEnv:
    """The vector environment of 128 robots, with starts drawn without end."""
    return PointNavVecEnv(
        gymnasium.make_vec(
            "itinera/PointNav-v0", num_envs=ROBOTS, tasks=setting.split(EPISODES), worlds=setting.worlds,
            camera=camera, scan=scan, episodes=partial(TrainingStarts, max_distance=12.0, steps_per_metre=14.0),
        )
    )  # fmt: skip


def seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """The time that `work` takes by a clock."""
    begun = clock()
    work()
    return clock() - begun


def print_rates(console: Console) -> None:
    setting = Setting()
    depth = CameraSensor(CAMERA, channels=("depth",))
    table = Table("roll-outs and updates", "steps / CPU second", "target")
    scan = loop_rate(setting, "scan", UPDATES)
    table.add_row("scan of 32 rays", f"{scan:,.0f}", "≥ 12,000/s")
    pooled = loop_rate(setting, "pooled-depth", DEPTH_UPDATES)
    table.add_row("depth 64 × 64 pooled to 4 × 64", f"{pooled:,.0f}", "≥ 3,000/s")
    single = baseline_rate(single_envs(setting, depth), SINGLE_STEPS)
    blind = baseline_rate(single_envs(setting, None), SINGLE_STEPS)
    vector = baseline_rate(vector_envs(setting, None, ScanSensor(32)), VECTOR_STEPS)
    table.add_row(f"Stable-Baselines3, {SINGLE_ENVS} environments, depth 64 × 64", f"{single:,.0f}", "")
    table.add_row(f"Stable-Baselines3, {SINGLE_ENVS} environments, no sensor", f"{blind:,.0f}", "")
    table.add_row(f"Stable-Baselines3, {ROBOTS} robots, scan", f"{vector:,.0f}", "")
    image = baseline_rate(vector_envs(setting, depth), 2 * ROBOTS * 16)
    table.add_row(f"Stable-Baselines3, {ROBOTS} robots, depth 64 × 64", f"{image:,.0f}", "")
    console.print(table)
    console.print(f"Our loop with scan / Stable-Baselines3 on single environments: {scan / single:.0f} × (target ≥ 50)")
    console.print(f"Stable-Baselines3 on 128 robots with scan / on single environments: {vector / single:.0f} × (≥ 10)")


def train_rank(rank: int, size: int, port: int, queue: Any) -> None:
    """Train in one of several processes, and report the steps of all per second of the clock."""
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    torch.set_num_threads(1)
    tune_malloc()
    ranks = ALONE if size == 1 else join_ranks(preempt_share=None)
    setting = Setting()
    make_ppo(setting, "scan", 1, ranks).run()
    ppo = make_ppo(setting, "scan", RANK_UPDATES, ranks)
    queue.put(ppo.config.steps / seconds(ppo.run, time.perf_counter))
    if size > 1:
        leave_ranks()


def wall_rate(size: int) -> float:
    """Steps of all processes per second of the clock."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    processes = [context.Process(target=train_rank, args=(rank, size, port, queue)) for rank in range(size)]
    for process in processes:
        process.start()
    rates = [queue.get() for _ in processes]
    for process in processes:
        process.join()
    return min(rates)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Speed of training for PointNav.")
    parser.add_argument("--processes", type=int, help="Compare this many processes with one, by wall-clock time.")
    processes = parser.parse_args(words).processes
    assert itinera.gym  # registers the environment
    torch.set_num_threads(1)
    tune_malloc()
    console = Console(width=110)
    if processes is None:
        print_rates(console)
        return
    one, many = wall_rate(1), wall_rate(processes)
    console.print(f"One process: {one:,.0f} steps/s; {processes}: {many:,.0f} steps/s, {many / one:.2f} times as fast.")


if __name__ == "__main__":
    main()
