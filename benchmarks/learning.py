"""Training speed: agent steps per CPU second in imitation learning on one core, and where the time goes.

`make bench` runs this: RCM with about a million parameters, batches of 128 episodes, in three Hearth houses; with
ITINERA_DATA also on R2R. Targets: 3,000 agent steps per second, better 5,000; at most 15 % of the time outside torch.
Machines differ and are shared, so the speed of matrix products is printed too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # silences torch's profiler

import torch
from rich.console import Console
from rich.table import Table

from itinera.builders.hearth import build_annotated_house, build_tasks
from itinera.policies.base import Policy
from itinera.policies.checkpoint import ModelCard, build_model, make_card
from itinera.policies.rcm import SMALL
from itinera.policies.tokenizer import Tokenizer
from itinera.simulators.view_features import annotated_views, frequent_names
from itinera.training.data import MAX_OBJECT_NAMES, REACH, load_r2r
from itinera.training.dataset import BatchSampler, EpisodeDataset
from itinera.training.experts import shortest_path_expert
from itinera.training.losses import imitation_loss
from itinera.training.malloc import tune_malloc
from itinera.training.rollout import collect_rollout, mixed_forcing, sample
from itinera.training.vector_env import BatchedGraphEnv, build_env
from timing import cpu

BATCH_SIZE, MAX_STEPS = 128, 10
HOUSES, PATHS = (0, 2, 3), 60
WARMUP, STEPS, ROUNDS, PROFILED = 5, 10, 6, 5  # batches; the fastest of several rounds through the same ones counts
PARTS = ("text encoder", "environment", "policy, forward", "backward", "optimizer", "expert, sampling, the rest")


class Clock:
    """CPU seconds by part; the time of a nested part is not counted in the outer one."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(PARTS, 0.0)
        self._nested: list[float] = []  # seconds of nested parts

    def timed(self, part: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            self._nested.append(0.0)
            begin = time.process_time()
            try:
                return work(*args, **options)
            finally:
                took = time.process_time() - begin
                self.spent[part] += took - self._nested.pop()
                if self._nested:
                    self._nested[-1] += took

        return call


class TimedPolicy(Policy[Any]):
    """A policy whose calls are timed."""

    def __init__(self, policy: Policy[Any], clock: Clock) -> None:
        super().__init__()
        self.policy = policy
        self._encode = clock.timed("text encoder", policy.encode_instruction)
        self._forward = clock.timed("policy, forward", policy.forward)

    def encode_instruction(self, words: Any, lengths: Any) -> Any:
        return self._encode(words, lengths)

    def forward(self, state: Any, observation: Any) -> Any:
        return self._forward(state, observation)


class TimedEnv:
    """An environment whose observations and steps are timed."""

    def __init__(self, env: BatchedGraphEnv, clock: Clock) -> None:
        self._env = env
        self.observe, self.step = (clock.timed("environment", work) for work in (env.observe, env.step))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)


def load_small_hearth() -> tuple[BatchedGraphEnv, EpisodeDataset, ModelCard]:
    """Three Hearth houses with training tasks."""
    homes = [build_annotated_house(1, index) for index in HOUSES]
    worlds = {home.house.id: home.world for home in homes}
    episodes = [e for home in homes for e in build_tasks(home, {"train": PATHS})["train"].graph_episodes]
    views = annotated_views(worlds, frequent_names(worlds, MAX_OBJECT_NAMES), reach=REACH)
    env = build_env(worlds, views)
    tokenizer = Tokenizer.fit(episode.instruction.text for episode in episodes)
    dataset = EpisodeDataset.from_episodes(episodes, env, tokenizer)
    return env, dataset, make_card("rcm", SMALL, views.columns, tokenizer)


def load_full_r2r(folder: Path) -> tuple[BatchedGraphEnv, EpisodeDataset, ModelCard]:
    data = load_r2r(folder)
    return data.env, data.dataset("train"), data.card("rcm", SMALL)


class Training:
    """Imitation learning, a few steps at a time."""

    def __init__(self, env: BatchedGraphEnv, dataset: EpisodeDataset, card: ModelCard) -> None:
        torch.manual_seed(0)
        self.policy = build_model(card).policy.train()
        self.env, self.batches = env, BatchSampler(dataset, BATCH_SIZE, seed=0)
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), 1e-3, fused=True)
        self.rng = torch.Generator().manual_seed(0)

    @property
    def num_parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.policy.parameters())

    def train(self, first: int, count: int, clock: Clock) -> int:
        """Make some training steps; return the number of actions of all agents."""
        policy = TimedPolicy(self.policy, clock)
        env: Any = TimedEnv(self.env, clock)
        update = clock.timed("optimizer", self._update)
        num_actions = 0
        for step in range(first, first + count):
            batch = self.batches[step]
            forced = torch.rand(batch.size, generator=self.rng) < 0.5
            select_action = mixed_forcing(forced, sample(self.rng))
            options = {"expert": shortest_path_expert, "max_steps": MAX_STEPS}
            rollout = collect_rollout(policy, env, batch, select_action=select_action, **options)
            loss = imitation_loss(rollout)
            self.optimizer.zero_grad(set_to_none=True)
            clock.timed("backward", loss.backward)()
            update()
            num_actions += rollout.num_actions
        return num_actions

    def _update(self) -> None:
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 5.0)
        self.optimizer.step()


def measure_overhead(training: Training) -> float:
    """The share of the time spent outside torch's own operations, by its profiler."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], acc_events=True) as profile:
        begin = time.perf_counter()
        training.train(0, PROFILED, Clock())
        total = time.perf_counter() - begin
    inside = sum(event.self_cpu_time_total for event in profile.key_averages()) / 1e6
    return 1 - inside / total


def measure_gflops(size: int = 512, rounds: int = 20) -> float:
    """The current speed of matrix products, GFLOP per CPU second."""
    a, b = torch.rand(size, size), torch.rand(size, size)
    torch.mm(a, b)
    return 2 * size**3 * rounds / cpu(lambda: [torch.mm(a, b) for _ in range(rounds)], 3) / 1e9


def measure(name: str, env: BatchedGraphEnv, dataset: EpisodeDataset, card: ModelCard, console: Console) -> None:
    training = Training(env, dataset, card)
    training.train(0, WARMUP, Clock())
    num_actions, seconds, clock = 0, float("inf"), Clock()
    for _ in range(ROUNDS):
        attempt = Clock()
        begin = time.process_time()
        made = attempt.timed(PARTS[-1], training.train)(WARMUP, STEPS, attempt)
        took = time.process_time() - begin
        if made / took > num_actions / seconds:
            num_actions, seconds, clock = made, took, attempt
    parameters = f"{training.num_parameters / 1e6:.2f} M parameters"
    table = Table("part", "share", title=f"{name}: {parameters}, {len(dataset):,} episodes")
    for part, spent in clock.spent.items():
        table.add_row(part, f"{spent / seconds:.0%}")
    console.print(table)
    pace = f"{num_actions / seconds:,.0f} agent steps / CPU second (≥ 3,000, aim 5,000)"
    console.print(f"{pace}; {STEPS / seconds:.1f} batches.")
    console.print(f"Matrix products: {measure_gflops():.0f} GFLOP / s.")
    console.print(f"Outside torch: {measure_overhead(training):.0%} of the time (≤ 15 %).")


def main() -> None:
    torch.set_num_threads(1)
    tune_malloc()
    console = Console(width=110)
    measure("Hearth", *load_small_hearth(), console)
    data = os.environ.get("ITINERA_DATA")
    if data:
        measure("R2R", *load_full_r2r(Path(data)), console)


if __name__ == "__main__":
    main()
