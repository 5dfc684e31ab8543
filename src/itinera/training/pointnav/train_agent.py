"""`train_pointnav`: a policy learns to drive to a point by PPO, in the houses of a split. See `itinera.api.train`.

The algorithm is `training/ppo.py`, the robots are `simulators/pointnav/vectorized.py`; this module joins them: goals in
the houses, a robot and its sensor, evaluation on other houses, and the model file. Under `torchrun` every process runs
it, and the first one writes.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import torch

from itinera.errors import BadArgument, validate_choice
from itinera.formats.goal_tables import GoalTableFolder
from itinera.formats.writing import atomic_write
from itinera.policies.checkpoint import Model, build_model, encode_model, make_card
from itinera.policies.pointnav.agent import PointNavAgent
from itinera.policies.pointnav.policy import SMALL, PointNavPolicy
from itinera.policies.pointnav.requirements import SENSORS, PointNavRequirements
from itinera.policies.tokenizer import Tokenizer
from itinera.records.provenance import itinera_version
from itinera.simulators.factory import DRIVES, apply_drive
from itinera.simulators.motion import Motion
from itinera.simulators.pointnav.episodes import EpisodeList, TrainingStarts
from itinera.simulators.pointnav.house_set import PointNavHouses, compute_table, episode_goals, sample_goals
from itinera.simulators.pointnav.vectorized import VectorizedPointNav
from itinera.tasks import PROTOCOLS, Protocol, Split
from itinera.tasks.fastest_times import FastestTimes
from itinera.training.distributed import ALONE, Ranks
from itinera.training.malloc import tune_malloc
from itinera.training.pointnav.evaluation import PointNavScores, evaluate_pointnav
from itinera.training.policy_config import merge_config
from itinera.training.ppo import PPO
from itinera.training.ppo_config import Curriculum, PPOConfig, StopGate
from itinera.training.progress import TrainingLog, print_messages
from itinera.training.train_agent import load_finished, single_thread
from itinera.training.trainer import remove_damaged_checkpoint, seed_torch
from itinera.worlds import World

STEPS_PER_MINUTE = {
    "none": 1_400_000,
    "scan": 1_000_000,
    "pooled-depth": 350_000,
    "depth": 60_000,
}  # of one core, about
DECAY_SHARE = 80 / 150  # of all steps over which the paper's decaying reward decays
EVALUATION_ENVS = 64
LIFT_FROM, LIFT_UNTIL = 0.5, 0.8  # shares of all steps between which the stop gate lifts
MESSAGES = 40  # of a training run
_log = logging.getLogger("itinera")


@dataclass(frozen=True)
class PointNavOptions:
    """The hyper-parameters of `train_pointnav`."""

    sensor: str = "scan"  # none, scan, pooled-depth or depth
    drive: str = "point-turn"  # or unicycle-6, unicycle-15
    sliding: bool = True  # whether robots slide along walls
    decaying: bool = False  # equation 4 of the paper: the reward for progress decays; else equation 3
    steps: int | None = None  # of all environments
    minutes: float | None = None  # instead: as many as the processes make in about this time
    num_envs: int = 128  # of each process
    rollout_steps: int = 64
    learning_rate: float = 7e-4
    goals: int = 32  # in each house
    max_distance: float = 30.0  # metres, geodesic, of the farthest starts
    curriculum: bool = True  # whether training begins near the goals
    gate: float | None = 0.2  # metres from the goal beyond which STOP is forbidden; None: never
    lift_gate: bool = False  # whether the gate lifts in the second half, so that stopping is learned
    evaluate_every: int | None = None  # steps; None: a tenth of them

    def __post_init__(self) -> None:
        validate_choice("sensor", self.sensor, SENSORS)
        validate_choice("drive", self.drive, DRIVES)
        if (self.steps is None) == (self.minutes is None):
            raise BadArgument("Give the length of training as steps=… or as minutes=…, one of them.")
        if self.minutes is not None and not 0 < self.minutes < math.inf:
            raise BadArgument(f"minutes must be > 0 (got {self.minutes}).")
        if self.lift_gate and self.gate is None:
            raise BadArgument("lift_gate lifts a gate: give gate=… too.")

    def ppo_config(self, ranks: int) -> PPOConfig:
        """The settings of PPO for this many processes."""
        steps = self.steps
        if steps is None:
            assert self.minutes is not None
            steps = max(1, round(self.minutes * STEPS_PER_MINUTE[self.sensor] * ranks))
        curriculum = Curriculum(last=self.max_distance) if self.curriculum else None
        gate = None
        if self.gate is not None:
            gate = StopGate(self.gate, LIFT_FROM if self.lift_gate else None, LIFT_UNTIL)
        every = max(1, steps // 10) if self.evaluate_every is None else self.evaluate_every
        return PPOConfig(
            steps, self.rollout_steps, learning_rate=self.learning_rate, curriculum=curriculum, gate=gate,
            evaluate_every=every,
        )  # fmt: skip

    @property
    def protocol(self) -> Protocol:
        """PointNav with this robot."""
        return replace(apply_drive(PROTOCOLS["pointnav"], self.drive), sliding=self.sliding)

    @property
    def requirements(self) -> PointNavRequirements:
        """What an agent needs that was trained so."""
        return PointNavRequirements(self.sensor, gate=None if self.lift_gate else self.gate)


def train_pointnav(
    split: Split,
    worlds: Mapping[str, World],
    options: PointNavOptions,
    *,
    config: Any = None,
    start_from: Model | None = None,
    validation: Split | None = None,
    times: FastestTimes | None = None,
    tables: Path | None = None,
    seed: int = 0,
    device: str = "cpu",
    out: Path | None = None,
    overwrite: bool = False,
    tensorboard: Path | None = None,
    ranks: Ranks = ALONE,
    verbose: bool = False,
) -> PointNavAgent:
    """The agent of a policy that was trained in the houses of a split; its episodes are not used, only its houses.

    config: sizes of the network (`SMALL` by default) or some of its fields; `start_from` is a model to go on from.
    validation: episodes to evaluate on; the model with the best SCT if there are `times`, else SPL, is the result.
    tables: a folder that keeps the distances to goals, which take about a second per house otherwise.
    out: the model file; OUT.partial is the checkpoint until training ends.
    """
    tune_malloc()
    settings = options.ppo_config(ranks.size)
    model = _make_model(options, config, start_from, seed)
    plan = _fingerprint(model, split, validation, options, settings, seed, ranks.size)
    metadata = {"steps": settings.steps, "seed": seed, "drive": options.drive, "sliding": options.sliding,
                "decaying": options.decaying, "split": split.name, "plan": plan}  # fmt: skip
    model = replace(model, card=msgspec.structs.replace(model.card, metadata=metadata))
    partial = None if out is None else out.with_name(f"{out.name}.partial")
    if out is not None and out.exists() and not overwrite:
        return _agent(load_finished(out, plan, None))
    if partial is not None and not overwrite and ranks.is_first:
        remove_damaged_checkpoint(partial)
    model.policy.to(device)
    with print_messages() if verbose and ranks.is_first else nullcontext(), single_thread():
        stage, starts = _training_stage(split, worlds, options, settings.steps, tables, ranks)
        every = max(1, settings.steps // MESSAGES)
        with TrainingLog("pointnav", total=settings.steps, every=every, folder=tensorboard) as log:
            ppo = PPO(
                model, stage, settings, starts=starts, seed=seed, plan=plan, checkpoint=partial, overwrite=overwrite,
                ranks=ranks, log=log,
                evaluate=_evaluation(model, validation, worlds, options, tables, times, log) if validation else None,
            )  # fmt: skip
            model = ppo.run()
    model.policy.to("cpu")
    if out is not None and partial is not None and ranks.is_first:
        with atomic_write(out) as stream:
            stream.write(encode_model(model))
        partial.unlink(missing_ok=True)
    return _agent(model)


def evaluate_model(
    model: Model,
    split: Split,
    worlds: Mapping[str, World],
    *,
    drive: str,
    sliding: bool,
    times: FastestTimes | None = None,
    tables: Path | None = None,
    sample_seed: int | None = None,
) -> PointNavScores:
    """The scores of a model on the episodes of a split: greedy, or with sampled actions of this seed."""
    requirements = model.card.requirements
    assert isinstance(requirements, PointNavRequirements)
    protocol = replace(apply_drive(PROTOCOLS["pointnav"], drive), sliding=sliding)
    stage, _ = _list_stage(split, worlds, protocol, requirements, tables)
    rng = None if sample_seed is None else torch.Generator().manual_seed(sample_seed)
    return evaluate_pointnav(model.policy, stage, split.episodes, gate=requirements.gate, times=times, rng=rng)


def _agent(model: Model) -> PointNavAgent:
    agent = model.agent()
    assert isinstance(agent, PointNavAgent)
    return agent


def _make_model(options: PointNavOptions, config: Any, start_from: Model | None, seed: int) -> Model:
    if start_from is not None:
        if not isinstance(start_from.policy, PointNavPolicy):
            raise BadArgument(f"A model of kind {start_from.card.kind} cannot learn PointNav: give one that did.")
        return start_from
    default = replace(SMALL[options.sensor], num_actions=len(Motion.for_protocol(options.protocol)))
    card = make_card("pointnav", merge_config(default, config), (), Tokenizer(()), pointnav=options.requirements)
    with torch.random.fork_rng(devices=[]):
        seed_torch(seed, "begun", "pointnav")
        return build_model(card)


def _training_stage(
    split: Split,
    worlds: Mapping[str, World],
    options: PointNavOptions,
    steps: int,
    tables: Path | None,
    ranks: Ranks,
) -> tuple[VectorizedPointNav, TrainingStarts]:
    inside = {name: worlds[name] for name in split.world_ids}
    houses = _load_houses(inside, sample_goals(inside, options.goals, 0), options.requirements, tables)
    starts = TrainingStarts(houses, max_distance=options.max_distance, steps_per_metre=14)
    needs = options.requirements
    stage = VectorizedPointNav.for_protocol(
        options.protocol, houses, starts, options.num_envs, scan=needs.scan, depth=needs.depth,
        decay_steps=round(steps * DECAY_SHARE) if options.decaying else None, first_env=options.num_envs * ranks.rank,
    )  # fmt: skip
    return stage, starts


def _list_stage(
    split: Split,
    worlds: Mapping[str, World],
    protocol: Protocol,
    requirements: PointNavRequirements,
    tables: Path | None,
) -> tuple[VectorizedPointNav, EpisodeList]:
    houses = _load_houses(worlds, episode_goals(split.episodes), requirements, tables)
    listed = EpisodeList(houses, split.episodes, step_limit=protocol.step_limit or 500)
    stage = VectorizedPointNav.for_protocol(
        protocol, houses, listed, EVALUATION_ENVS, scan=requirements.scan, depth=requirements.depth, exact_lengths=True
    )
    return stage, listed


def _load_houses(
    worlds: Mapping[str, World], goals: Mapping[str, Any], requirements: PointNavRequirements, tables: Path | None
) -> PointNavHouses:
    has_scan, has_depth = requirements.scan is not None, requirements.depth is not None
    find_table = compute_table if tables is None else GoalTableFolder(tables)
    return PointNavHouses.load(worlds, goals, scan=has_scan, depth=has_depth, find_table=find_table)


def _evaluation(
    model: Model,
    split: Split,
    worlds: Mapping[str, World],
    options: PointNavOptions,
    tables: Path | None,
    times: FastestTimes | None,
    log: TrainingLog,
) -> Any:
    """The function that scores the policy during training."""
    stage, listed = _list_stage(split, worlds, options.protocol, options.requirements, tables)
    metrics = ("SR", "SPL") if times is None else ("SR", "SPL", "SCT")

    def score(step: int) -> float:
        listed.rewind()
        scores = evaluate_pointnav(model.policy, stage, split.episodes, gate=options.gate, times=times)
        log.log_scores(step, split.name, scores, metrics)
        return scores.mean(metrics[-1])

    return score


def _fingerprint(
    model: Model,
    split: Split,
    validation: Split | None,
    options: PointNavOptions,
    settings: PPOConfig,
    seed: int,
    ranks: int,
) -> str:
    """The fingerprint of everything that decides the weights."""
    held_out = () if validation is None else tuple(episode.id for episode in validation.episodes)
    decisive = (itinera_version(), options, settings, seed, ranks, split.world_ids, held_out, model.fingerprint)
    return hashlib.blake2b(repr(decisive).encode(), digest_size=16).hexdigest()
