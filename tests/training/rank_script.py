"""One rank of a training in an open field, run by tests: prints what became of it as one line of JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch

from itinera.errors import ItineraError
from itinera.policies.checkpoint import build_model, make_card
from itinera.policies.pointnav.policy import SMALL
from itinera.policies.pointnav.requirements import PointNavRequirements
from itinera.policies.tokenizer import Tokenizer
from itinera.training.distributed import join_ranks, leave_ranks
from itinera.training.ppo import PPO
from itinera.training.ppo_config import Curriculum, PPOConfig, StopGate

sys.path.insert(0, str(Path(__file__).parents[1]))
from training.open_field import Field, OpenField

ENVS = 8


class Log:
    def __init__(self):
        self.preempted = 0.0

    def log_values(self, step, values):
        self.preempted += values["roll-outs preempted"]
        return True


class SlowField(OpenField):
    """Each step takes `delay` seconds; the process ends by itself after `die_after` steps."""

    delay, die_after = 0.0, 0

    def step(self, actions):
        self.count = getattr(self, "count", 0) + 1
        if self.die_after and self.count >= self.die_after:
            os._exit(9)
        time.sleep(self.delay)
        return super().step(actions)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--updates", type=int, default=6)
    parser.add_argument("--slow-rank", type=int, default=-1)
    parser.add_argument("--dying-rank", type=int, default=-1)
    parser.add_argument("--preempt-share", type=float)
    parser.add_argument("--drift", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    ranks = join_ranks(preempt_share=options.preempt_share)
    torch.manual_seed(0)
    config, needs = replace(SMALL["none"], hidden_dim=16), PointNavRequirements("none")
    model = build_model(make_card("pointnav", config, (), Tokenizer(()), pointnav=needs))
    field = Field()
    stage = SlowField(ENVS, field, first_env=ENVS * ranks.rank)
    if ranks.rank == options.slow_rank:
        stage.delay = 0.1  # far above what a loaded machine adds to a step of the others
    if ranks.rank == options.dying_rank:
        stage.die_after = 16 * 4
    if options.drift and ranks.rank == 1:
        with torch.no_grad():
            next(model.policy.parameters())[0] += 1e-6
    steps = options.updates * 16 * ENVS * ranks.size
    settings = PPOConfig(
        steps, rollout_steps=16, minibatches=2, curriculum=Curriculum(1.0, 3.0, window=50), gate=StopGate(0.3),
        checkpoint_every=2 * 16 * ENVS * ranks.size,
    )  # fmt: skip
    log = Log()
    try:
        ppo = PPO(model, stage, settings, seed=0, starts=field, checkpoint=options.checkpoint, ranks=ranks, log=log)
        begin = ppo.step
        ppo.run()
    except ItineraError as error:
        print(json.dumps({"error": type(error).__name__, "message": str(error)}), flush=True)
        os._exit(1)
    total = float(sum(value.double().sum() for value in model.policy.state_dict().values()))
    result = {"rank": ranks.rank, "begin": begin, "step": ppo.step, "sum": total.hex(), "preempted": log.preempted}
    leave_ranks()
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
