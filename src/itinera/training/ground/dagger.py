"""Teacher forcing, then DAgger: the expert's own trajectories first, then those of the policy with the expert's labels.

A run is a sequence of optimizer steps, divided into phases: teacher forcing, then iterations. At the beginning of an
iteration the policy, mixed with the expert, walks new trajectories; then it learns from all there are. A run that is
killed resumes with the same weights: a checkpoint is written before anything is collected, collected groups are on the
disk before they are used, and every random draw depends on the seed and the step.

References: Ross et al. 2011 (DAgger); Krantz et al. 2020 and 2022, whose schedule this is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from itinera.errors import BadArgument
from itinera.mapping.config import MapLifetime
from itinera.policies.ground.base import GroundPolicy
from itinera.runs.config import TourJob
from itinera.runs.engines import Engine
from itinera.runs.engines.processes import ProcessEngine
from itinera.seeding import generator
from itinera.tasks import Split
from itinera.training.ground.batches import (
    INFLECTION_WEIGHT,
    GroundBatch,
    LengthBuckets,
    Texts,
    imitation_loss,
    make_batch,
)
from itinera.training.ground.evaluation import evaluation_mode
from itinera.training.ground.experience import Collector, Experience
from itinera.training.ground.lane_agents import DaggerDecider, ExpertDecider
from itinera.training.ground.observation_cache import ObservationCache
from itinera.training.ground.tour_lanes import episode_jobs, tour_jobs
from itinera.training.ground.trajectories import GroupKey, TourActions, TrajectoryStore, beta_at
from itinera.training.trainer import Trainer

GROUP_LANES = 4  # a group of single episodes has this many times as many as there are lanes
_log = logging.getLogger("itinera")


@dataclass(frozen=True)
class DaggerPlan:
    """The phases of a run, and what its batches contain."""

    teacher_forcing_steps: int
    iterations: int = 6
    steps_per_iteration: int = 200
    rollouts: int = 500  # episodes walked per iteration
    beta: float = 0.5  # probability of the expert's action: beta^(n + first_exponent) in iteration n, counted from 0
    first_exponent: int = 1
    max_steps: int = 100  # of an agent in an episode while it is collected
    batch_size: int = 14  # trajectories
    texts: int = 3  # instructions of a path that learn from its frames
    expert_share: float = 1 / 3  # of a batch in DAgger that is the expert's own trajectories
    inflection_weight: float = INFLECTION_WEIGHT
    progress_weight: float = 1.0

    def __post_init__(self) -> None:
        if min(self.teacher_forcing_steps, self.iterations) < 0 or self.steps < 1:
            raise BadArgument("A plan needs at least one optimizer step, and no negative numbers of them.")
        if self.iterations and min(self.steps_per_iteration, self.rollouts, self.max_steps) < 1:
            raise BadArgument("An iteration of DAgger needs at least one step and one rollout.")
        if not 0 <= self.beta <= 1 or not 0 <= self.expert_share < 1:
            raise BadArgument("beta must be from 0 to 1, and expert_share from 0 to below 1.")
        if min(self.batch_size, self.texts) < 1:
            raise BadArgument("batch_size and texts must be at least 1.")

    @property
    def steps(self) -> int:
        """The number of optimizer steps."""
        return self.teacher_forcing_steps + self.iterations * self.steps_per_iteration

    def iteration_at(self, step: int) -> int:
        """The iteration of a step: 0 for teacher forcing, 1 for the first one of DAgger."""
        after = step - self.teacher_forcing_steps
        return 0 if after < 0 else 1 + after // self.steps_per_iteration

    def first_step(self, iteration: int) -> int:
        """The first step of an iteration."""
        return 0 if iteration == 0 else self.teacher_forcing_steps + (iteration - 1) * self.steps_per_iteration


@dataclass(frozen=True, eq=False)
class PolicyWalks:
    """How the groups of an iteration are walked: by these weights, mixed with the expert. It is sent to an engine."""

    collector: Collector
    policy: GroundPolicy[Any, Any]
    words: Any  # of the instructions, by episode
    lifetime: MapLifetime | None
    beta: float
    seed: int
    iteration: int


def walk_group(walks: PolicyWalks, jobs: Sequence[TourJob]) -> tuple[list[TourActions], list[Experience]]:
    """The actions and the experience of a group, which depend on nothing that was walked before."""
    torch.set_num_threads(1)  # in every process: sums depend on their order
    decider = DaggerDecider(
        walks.policy, walks.words, walks.collector.num_lanes, walks.lifetime,
        beta=walks.beta, seed=walks.seed, iteration=walks.iteration,
    )  # fmt: skip
    return walks.collector.collect(jobs, decider, seed=walks.seed, beta=walks.beta)


class Dagger:
    """A run of teacher forcing and DAgger: `run` makes the steps of a trainer."""

    def __init__(
        self,
        policy: GroundPolicy[Any, Any],
        split: Split,
        texts: Texts,
        collector: Collector,
        plan: DaggerPlan,
        *,
        lifetime: MapLifetime | None,
        seed: int,
        store: TrajectoryStore,
        cache: ObservationCache,
        engine: Engine | None = None,
        files: Sequence[Path] = (),
    ) -> None:
        """The split has tours if trajectories are to be walked on tours.

        engine: what walks them, by default this process; `files` are the folders that its processes read worlds from.
        """
        self._engine, self._files = engine or ProcessEngine(0), files
        self._policy, self._split, self._texts, self._collector, self._plan = policy, split, texts, collector, plan
        self._lifetime, self._seed, self._store, self._cache = lifetime, seed, store, cache
        self._device = next(policy.parameters()).device
        self._experience: dict[int, list[Experience]] = {}  # by iteration
        self._buckets: tuple[LengthBuckets, LengthBuckets | None, list[Experience]] | None = None
        self._iteration = -1

    def run(self, trainer: Trainer, on_loss: Callable[[int, float, float], None] | None = None) -> None:
        """Make the steps left; `on_loss` is called with the step and both parts of its loss."""
        for step in trainer:
            iteration = self._plan.iteration_at(step)
            if iteration != self._iteration:
                trainer.save()  # before roll-outs that depend on exactly these weights
                self._prepare(iteration)
            loss = self._loss(self.batch(step), on_loss, step)
            trainer.update(loss)

    def batch(self, step: int) -> GroundBatch:
        """The batch of a step, of an iteration that is prepared."""
        assert self._buckets is not None
        expert, rolled, rolled_pool = self._buckets
        at = step - self._plan.first_step(self._iteration)
        part = [self._experience[0][k] for k in expert[at]]
        part += [] if rolled is None else [rolled_pool[k] for k in rolled[at]]
        words = [self._texts.of_path(one.episode_id, self._plan.texts) for one in part]
        weight = self._plan.inflection_weight
        return make_batch(part, words, self._lifetime, inflection_weight=weight, device=self._device)

    def _loss(self, batch: GroundBatch, on_loss: Callable[[int, float, float], None] | None, step: int) -> Tensor:
        state = self._policy.encode_instruction(batch.words, batch.lengths)
        _, output = self._policy.unroll(state, batch.sequence)
        loss = imitation_loss(output, batch, progress_weight=self._plan.progress_weight)
        if on_loss is not None:
            on_loss(step, float(loss.actions.detach()), float(loss.progress.detach()))
        return loss.total

    def _prepare(self, iteration: int) -> None:
        """Have the experience of this iteration and of all before, and shuffle it."""
        for number in range(iteration + 1):
            if number not in self._experience:
                make = self._walk_expert if number == 0 else self._roll_out
                self._experience[number] = make(number, iteration)
        self._iteration = iteration
        plan, pool = self._plan, [one for k in range(1, iteration + 1) for one in self._experience[k]]
        count = plan.batch_size if not iteration else max(1, round(plan.batch_size * plan.expert_share))
        name = str(iteration)
        expert = LengthBuckets([*map(len, self._experience[0])], count, seed=self._seed, name=f"expert {name}")
        if not iteration:
            self._buckets = expert, None, []
            return
        size = max(1, plan.batch_size - count)
        self._buckets = expert, LengthBuckets([*map(len, pool)], size, seed=self._seed, name=f"rolled {name}"), pool

    def _walk_expert(self, number: int, current: int) -> list[Experience]:
        """The expert's trajectories: one for each path, house by house."""
        found: list[Experience] = []
        for world_id in self._split.world_ids:
            jobs = expert_jobs(self._split, world_id)

            def walk(jobs: Sequence[TourJob] = jobs) -> list[Experience]:
                return self._collector.collect(jobs, ExpertDecider(), seed=0, beta=1.0)[1]

            found += self._cache.get(f"expert-{world_id}", walk)
        steps = sum(map(len, found))
        _log.info("Expert: %d trajectories, %d steps, %.0f MB.", len(found), steps, megabytes(found))
        return found

    def _roll_out(self, number: int, current: int) -> list[Experience]:
        """The trajectories of an iteration: those that are stored are replayed, the others collected now."""
        plan = self._plan
        beta = beta_at(number - 1, base=plan.beta, first_exponent=plan.first_exponent)
        groups = self._groups(number)
        missing = [k for k in range(len(groups)) if GroupKey(number, k) not in self._store and number >= current]
        walks = PolicyWalks(
            self._collector,
            self._policy,
            self._texts.words,
            self._lifetime,
            beta=beta,
            seed=self._seed,
            iteration=number,
        )
        walked: dict[int, list[Experience]] = {}
        with evaluation_mode(self._policy):
            jobs = [groups[k] for k in missing]
            with closing(self._engine.map(partial(walk_group, walks), jobs, files=self._files)) as results:
                for index, (actions, experience) in results:
                    self._store.add(GroupKey(number, missing[index]), actions)
                    walked[missing[index]] = experience
            for k in range(len(groups)):
                if k not in walked:
                    walked[k] = self._collector.replay(self._store[GroupKey(number, k)], self._split.by_id)
        found = [one for k in range(len(groups)) for one in walked[k]]
        steps, share = sum(map(len, found)), np.mean([one.distances[-1] <= 3.0 for one in found])
        message = "Iteration %d: %d rollouts with beta %.3g, %d steps, %.0f %% end within 3 m of the goal."
        _log.info(message, number, len(found), beta, steps, 100 * share)
        return found

    def _groups(self, iteration: int) -> list[list[TourJob]]:
        """The episodes or tours of an iteration, drawn for it, in groups."""
        rng = generator(self._seed, "rollouts", str(iteration))
        if self._split.tours:
            jobs, left = [], self._plan.rollouts
            every = tour_jobs(self._split)
            for k in rng.permutation(len(every)):
                if left <= 0:
                    break
                part = every[int(k)].episodes[:left]
                jobs.append(TourJob(every[int(k)].tour, part))
                left -= len(part)
            return [jobs]
        count = min(self._plan.rollouts, len(self._split))
        rows = sorted(rng.permutation(len(self._split))[:count].tolist())
        size = GROUP_LANES * self._collector.num_lanes
        return [episode_jobs(self._split, rows[k : k + size]) for k in range(0, len(rows), size)]


def expert_jobs(split: Split, world_id: str) -> list[TourJob]:
    """The tours, or single episodes, of a house that visit every path once: its other instructions share the frames."""
    rows = split.rows_by_world[world_id].tolist()
    path_of = {split.episodes[row].id: split.episodes[row].path_id or split.episodes[row].id for row in rows}
    visited: set[str] = set()
    jobs = []
    if split.tours:
        for job in tour_jobs(split):
            new = {path_of[one.id] for one in job.episodes} - visited if job.tour.world_id == world_id else set()
            if new:
                visited |= new
                jobs.append(job)
        return jobs
    chosen = []
    for row in rows:
        path = path_of[split.episodes[row].id]
        if path not in visited:
            visited.add(path)
            chosen.append(row)
    return episode_jobs(split, chosen)


def megabytes(experience: Sequence[Experience]) -> float:
    """The memory that experience takes."""
    return sum(one.frames.size for one in experience) / 1e6
