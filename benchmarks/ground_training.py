"""Speed of training on the ground: steps per CPU second on one core, in collecting and in learning.

`make bench` runs this: MAP-CMA of the small size in Hearth houses, cameras of 128 x 128 pixels, 64 agents at once.
Gates, with aims in brackets: 1,600 (2,500) steps of roll-outs with map, depth and policy; 3,500 (6,000) agent steps of
teacher forcing with three instructions a path; 2,200 agent steps of DAgger with one instruction a path.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from itinera.builders.hearth import build_annotated_house, build_tasks
from itinera.hearth.ground import ground_world
from itinera.mapping.config import MapConfig, MapLifetime
from itinera.planners.motion.geodesic_follower import ExpertLabels
from itinera.policies.checkpoint import build_model, make_card
from itinera.policies.ground.map_cma import SMALL
from itinera.policies.ground.requirements import GroundRequirements
from itinera.policies.tokenizer import Tokenizer
from itinera.tasks import Split
from itinera.tasks.protocol import R2R_CE
from itinera.training.ground.batches import LengthBuckets, Texts, imitation_loss, make_batch
from itinera.training.ground.experience import Collector, Experience
from itinera.training.ground.lane_agents import DaggerDecider, ExpertDecider, PolicyDecider
from itinera.training.ground.perception import Sensors
from itinera.training.ground.tour_lanes import Lanes, episode_jobs
from itinera.training.malloc import tune_malloc

HOUSES, PATHS, LANES, MAX_STEPS = (0, 2, 3), 64, 64, 60
BATCH, ROUNDS, WARMUP = 14, 8, 2  # trajectories; batches
EPISODIC = MapLifetime.EPISODIC


class SamplingDecider(PolicyDecider):
    """Samples actions of the policy, without an expert."""

    rng = np.random.default_rng(0)

    def choose(self, lanes: Lanes, logits: NDArray[np.float64], labels: ExpertLabels | None) -> NDArray[np.int64]:
        weights = np.exp(logits - logits.max(axis=1, keepdims=True)).cumsum(axis=1)
        # STOP is not among them: an untrained policy would stop at once.
        chosen: NDArray[np.int64] = 1 + (self.rng.random((len(lanes), 1)) * weights[:, 2:3] >= weights[:, :3]).sum(
            axis=1
        ).clip(max=2)
        return chosen


def cpu_time(work: Callable[[], int]) -> float:
    """What `work` returns per CPU second."""
    begin = time.process_time()
    count = work()
    return count / (time.process_time() - begin)


class Setting:
    """Houses, episodes, a policy and a stage."""

    def __init__(self) -> None:
        homes = [build_annotated_house(1, index) for index in HOUSES]
        episodes = tuple(e for home in homes for e in build_tasks(home, {"train": PATHS})["train"].ground_episodes)
        self.split = Split("train", episodes, protocol="r2r-ce")
        worlds = {h.house.id: ground_world(1, k, radius=0.10) for k, h in zip(HOUSES, homes, strict=True)}
        tokenizer = Tokenizer.fit(episode.instruction.text for episode in episodes)
        ground = GroundRequirements(128, 128, map=MapConfig())
        torch.manual_seed(0)
        self.policy = build_model(make_card("map-cma", SMALL, (), tokenizer, ground=ground)).policy
        self.texts = Texts.from_split(self.split, tokenizer)
        sensors = Sensors.from_policy(self.policy, ground)
        protocol = replace(R2R_CE, step_limit=MAX_STEPS)
        self.collector = Collector(worlds, protocol, sensors, lifetimes=[EPISODIC], lanes=LANES)
        rows = [k for k, episode in enumerate(episodes) if k == 0 or episode.path_id != episodes[k - 1].path_id]
        self.jobs = episode_jobs(self.split, rows)

    def roll_out(self) -> int:
        """The number of steps of a sampling policy, with maps, and without an expert."""
        decider = SamplingDecider(self.policy.eval(), self.texts.words, LANES, EPISODIC)
        rollouts = self.collector.walk(self.jobs[: 2 * LANES], decider)
        return sum(len(trajectory.places) - 1 for rollout in rollouts for trajectory in rollout.trajectories)

    def collect(self) -> list[Experience]:
        """Experience of the expert."""
        return self.collector.collect(self.jobs, ExpertDecider(), seed=0, beta=1.0)[1]

    def collect_dagger(self) -> list[Experience]:
        """Experience of a mixture of policy and expert, as DAgger collects it."""
        policy, words = self.policy.eval(), self.texts.words
        decider = DaggerDecider(policy, words, LANES, EPISODIC, beta=0.5, seed=0, iteration=1)
        return self.collector.collect(self.jobs, decider, seed=0, beta=0.5)[1]

    def learn(self, experience: list[Experience], texts: int) -> float:
        """Agent steps learned per CPU second."""
        policy, optimizer = self.policy.train(), torch.optim.AdamW(self.policy.parameters(), 1e-4, fused=True)
        buckets = LengthBuckets([*map(len, experience)], BATCH, seed=0, name="benchmark")

        def step(k: int) -> int:
            part = [experience[row] for row in buckets[k]]
            batch = make_batch(part, [self.texts.of_path(one.episode_id, texts) for one in part], EPISODIC)
            _, output = policy.unroll(policy.encode_instruction(batch.words, batch.lengths), batch.sequence)
            optimizer.zero_grad(set_to_none=True)
            imitation_loss(output, batch).total.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            return batch.agent_steps

        for k in range(WARMUP):
            step(k)
        return cpu_time(lambda: sum(step(WARMUP + k) for k in range(ROUNDS)))


def main() -> None:
    torch.set_num_threads(1)
    tune_malloc()
    setting = Setting()
    setting.roll_out()  # compiled, and houses and fields made
    expert = setting.collect()
    table = Table("what", "steps / CPU second", "gate (aim)", title="Training on the ground")
    found = max(cpu_time(setting.roll_out) for _ in range(2))
    table.add_row("roll-outs with map, depth and policy", f"{found:,.0f}", "1,600 (2,500)")
    found = cpu_time(lambda: sum(map(len, setting.collect())))
    table.add_row("expert's steps with map and depth, stored", f"{found:,.0f}", "")
    mixed: list[Experience] = []
    found = cpu_time(lambda: mixed.extend(setting.collect_dagger()) or sum(map(len, mixed)))  # type: ignore[func-returns-value]
    table.add_row("DAgger's roll-outs with labels, stored", f"{found:,.0f}", "")
    table.add_row("teacher forcing, three texts a path", f"{setting.learn(expert, 3):,.0f}", "3,500 (6,000)")
    table.add_row("DAgger, one text a path", f"{setting.learn(mixed, 1):,.0f}", "2,200")
    table.add_row("DAgger, three texts a path", f"{setting.learn(mixed, 3):,.0f}", "")
    console = Console(width=110)
    console.print(table)
    steps, size = sum(map(len, expert)), sum(one.frames.size for one in expert)
    console.print(
        f"A step in memory: {size / steps:,.0f} bytes; 236,000 of train: {236e3 * size / steps / 1e9:.2f} GB."
    )


if __name__ == "__main__":
    main()
