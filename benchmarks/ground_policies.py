"""Speed of the small policies on the ground: teacher forcing, and a step of 64 agents.

`make bench` runs this. Teacher forcing is forward, backward and optimizer for 8 paths of 40 to 59 steps with three
instructions each, which share the frames; an agent step is a step with one instruction. Observations are random, with
as many occupied cells as the maps of a tour have. Targets per CPU second: 3,500 agent steps, better 6,000; a policy
step in at most 0.3 ms an agent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch.nn import functional

from itinera.policies.ground import cma, map_cma, pool_cma, seq2seq, tour_cma
from itinera.policies.ground.base import GroundPolicy
from itinera.policies.ground.map_encoder import BagMapEncoder, ConvolutionalMapEncoder
from itinera.policies.ground.observation import GroundObservation, GroundSequence, merge_map
from itinera.policies.tokenizer import Tokenizer
from itinera.seeding import generator
from timing import cpu

POLICIES: dict[str, tuple[type[GroundPolicy[Any, Any]], Any]] = {
    "seq2seq": (seq2seq.Seq2Seq, seq2seq.SMALL),
    "cma": (cma.CMA, cma.SMALL),
    "tour-cma": (tour_cma.TourCMA, tour_cma.SMALL),
    "pool-cma": (pool_cma.PoolCMA, pool_cma.SMALL),
    "pool-end-cma": (pool_cma.PoolEndCMA, pool_cma.SMALL),
    "map-cma": (map_cma.MapCMA, map_cma.SMALL),
}
PATHS, TEXTS, AGENTS = 8, 3, 64
WORDS, OCCUPIED = 300, 0.15  # of the vocabulary; the fraction of a map's cells
INFLECTION_WEIGHT = 3.2
ROUNDS = 5  # of which the fastest counts


def make_frames(count: int) -> GroundObservation:
    """Random observations of small policies."""
    rng = generator(0, "frames")
    occupancy = (rng.random((count, 64, 64)) < OCCUPIED).astype(np.uint8)
    arrays = {
        "depth": rng.integers(0, 256, (count, 1, 64, 64), dtype=np.uint8),
        "previous_action": rng.integers(0, 5, count),
        "rgb": rng.integers(0, 256, (count, 3, 32, 32), dtype=np.uint8),
        "map": merge_map(occupancy, rng.integers(0, 13, occupancy.shape)),
    }
    return GroundObservation(**{name: torch.from_numpy(values) for name, values in arrays.items()})


def make_texts(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Random instructions of 8 to 44 words."""
    rng = generator(0, "texts")
    lengths = rng.integers(8, 45, count)
    return torch.from_numpy(rng.integers(3, WORDS, (count, lengths.max()))), torch.from_numpy(lengths)


def teacher_forcing(policy: GroundPolicy[Any, Any]) -> tuple[Callable[[], None], int]:
    """An optimizer step, and the number of agent steps it learns from."""
    lengths = generator(0, "lengths").integers(40, 60, PATHS).tolist()
    sequence = GroundSequence.from_lengths(make_frames(sum(lengths)), lengths)
    texts, mask = make_texts(PATHS * TEXTS), sequence.mask.repeat_interleave(TEXTS, dim=0)
    count = TEXTS * sum(lengths)
    rng = generator(0, "labels")
    actions, progress = torch.from_numpy(rng.integers(0, 4, count)), torch.from_numpy(rng.random(count)).float()
    weights = torch.from_numpy(np.where(rng.random(count) < 0.3, INFLECTION_WEIGHT, 1.0)).float()
    optimizer = torch.optim.AdamW(policy.parameters(), 1e-3)

    def step() -> None:
        _, output = policy.unroll(policy.encode_instruction(*texts), sequence)
        errors = functional.cross_entropy(output.logits[mask], actions, reduction="none")
        loss = (errors * weights).sum() / weights.sum() + functional.mse_loss(output.progress[mask], progress)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 5.0)
        optimizer.step()

    return step, count


def milliseconds_per_agent(policy: GroundPolicy[Any, Any]) -> float:
    """CPU time of a step of 64 agents, per agent."""
    frames, state = make_frames(AGENTS), policy.encode_instruction(*make_texts(AGENTS))

    def steps() -> None:
        last = state
        for _ in range(10):
            last, _ = policy(last, frames)

    with torch.no_grad():
        steps()
        return cpu(steps, ROUNDS) / 10 / AGENTS * 1000


def encoder_milliseconds(encoder: torch.nn.Module, count: int) -> float:
    """CPU time of a map encoder per map, forward and backward."""
    maps = make_frames(count).map
    work: Callable[[], object] = lambda: encoder(maps).square().mean().backward()  # noqa: E731
    work()
    return cpu(work, 2) / count * 1000


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokenizer = Tokenizer(tuple(f"word{k}" for k in range(WORDS - 3)))
    table = Table(
        "policy", "parameters", "agent steps / CPU second", "target", "ms / agent step", "target",
        title="Small policies on the ground",
    )  # fmt: skip
    for name, (make, config) in POLICIES.items():
        policy = make((), tokenizer, config)
        step, count = teacher_forcing(policy)
        step()
        rate = count / cpu(step, ROUNDS)
        size = sum(value.numel() for value in policy.parameters())
        spent = milliseconds_per_agent(policy.eval())
        table.add_row(name, f"{size:,}", f"{rate:,.0f}", "≥ 3,500 (6,000)", f"{spent:.2f}", "≤ 0.3")
    console = Console(width=110)
    console.print(table)
    small, paper = encoder_milliseconds(BagMapEncoder(13), 128), encoder_milliseconds(ConvolutionalMapEncoder(13), 8)
    console.print(f"Map encoders, forward and backward: {small:.2f} ms a map, the paper's {paper:.1f} ms.")


if __name__ == "__main__":
    main()
