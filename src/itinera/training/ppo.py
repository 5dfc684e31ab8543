"""Proximal policy optimization of a recurrent policy, on one process or on many (DD-PPO).

Read `PPO.run` first: roll out, estimate advantages, update, and once in a while write a checkpoint. Every schedule is a
function of the environment steps of all processes together, so that all agree on it, and nothing depends on time. At a
checkpoint all environments start new episodes from generators that the seed and the number of steps decide: a run that
resumes there is the same run, without saved environments. With one process and one thread, equal seeds give equal
weights.

References: Schulman et al. 2017, Proximal Policy Optimization Algorithms; Wijmans et al. 2020, DD-PPO; Yokoyama et al.
2021, Success Weighted by Completion Time. The settings are in `ppo_config.py`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from itinera.errors import BadArgument
from itinera.policies.checkpoint import Model
from itinera.policies.pointnav.observation import PointNavTensors, make_tensors, stack_steps
from itinera.policies.pointnav.policy import PointNavPolicy
from itinera.runs.resume import exclusive_lock
from itinera.seeding import generator
from itinera.simulators.pointnav.vectorized import Endings, Observations, StageStep
from itinera.training.distributed import ALONE, Ranks
from itinera.training.ppo_config import PPOConfig, linear
from itinera.training.progress import TrainingLog
from itinera.training.trainer import BestScore, check_finite, resume_checkpoint, save_checkpoint

EPSILON = 1e-5  # of Adam
_log = logging.getLogger("itinera")


class PointNavStage(Protocol):
    """Environments that step together and start new episodes by themselves, such as `VectorizedPointNav`."""

    num_envs: int
    steps_taken: int

    @property
    def num_actions(self) -> int: ...

    def reset(self, seed: int | None = None) -> Observations: ...

    def step(self, actions: NDArray[np.int64]) -> StageStep: ...


class Starts(Protocol):
    """Where the stage takes its episodes from."""

    max_distance: float


@dataclass(frozen=True, eq=False)
class RolloutBatch:
    """A roll-out of all environments of this process: (steps, envs) each."""

    observations: PointNavTensors
    state: Tensor  # (envs, state_dim) of the policy before the first step
    actions: Tensor
    log_probs: Tensor  # of the actions, by the policy that took them
    values: Tensor
    advantages: Tensor
    returns: Tensor
    far: Tensor  # 1.0 where STOP is gated

    def select(self, index: Tensor) -> RolloutBatch:
        """The sequences of some environments."""
        rows = (self.actions, self.log_probs, self.values, self.advantages, self.returns, self.far)
        parts = (part.index_select(1, index) for part in rows)
        return RolloutBatch(self.observations.select(index), self.state.index_select(0, index), *parts)


def estimate_advantages(
    rewards: Tensor, values: Tensor, last_values: Tensor, done: Tensor, *, discount: float, gae_lambda: float
) -> Tensor:
    """(steps, envs) generalized advantage estimates; `done` is 1.0 where the episode ended with that step.

    Episodes cut off by a limit are `done` too: the discounted value of their last observation is part of their reward.
    Reference: Schulman et al. 2016, High-Dimensional Continuous Control Using Generalized Advantage Estimation.
    """
    advantages, following = torch.zeros_like(rewards), torch.zeros_like(last_values)
    for k in range(len(rewards) - 1, -1, -1):
        keep = 1.0 - done[k]
        error = rewards[k] + discount * last_values * keep - values[k]
        following = error + discount * gae_lambda * keep * following
        advantages[k], last_values = following, values[k]
    return advantages


class PPO:
    """Trains the policy of a model on a stage.

    `starts` are where the stage takes its episodes from, whose distance the curriculum sets. `evaluate` returns a score
    of the policy, higher being better; the model with the best score is the result. With a `checkpoint` training
    resumes by itself; `plan` identifies what else decides the weights, and a checkpoint of another plan is refused.
    """

    def __init__(
        self,
        model: Model,
        stage: PointNavStage,
        config: PPOConfig,
        *,
        starts: Starts | None = None,
        seed: int,
        name: str = "ppo",
        plan: str = "",
        checkpoint: Path | None = None,
        overwrite: bool = False,
        ranks: Ranks = ALONE,
        log: TrainingLog | None = None,
        evaluate: Callable[[int], float] | None = None,
    ) -> None:
        assert isinstance(model.policy, PointNavPolicy)
        if config.minibatches > stage.num_envs:
            raise BadArgument(f"{config.minibatches} minibatches need as many environments, not {stage.num_envs}.")
        if config.curriculum is not None and starts is None:
            raise BadArgument("A curriculum needs starts whose distance it sets: starts=…, or curriculum=None.")
        if stage.num_actions != model.policy.config.num_actions:
            raise BadArgument(
                f"The policy has {model.policy.config.num_actions} actions, but the robot {stage.num_actions}."
            )
        self.model, self.policy, self.stage, self.config = model, model.policy, stage, config
        self._starts = starts
        self.seed, self.name, self.ranks, self.log = seed, name, ranks, log
        self.device = next(self.policy.parameters()).device
        self.optimizer = torch.optim.Adam(self.policy.parameters(), config.learning_rate, eps=EPSILON, fused=True)
        self.rng = torch.Generator()
        self.step = self.updates = 0  # environment steps of all ranks, and updates of the weights
        self.distance = 0.0 if config.curriculum is None else config.curriculum.first  # of starts, at most
        self.window = [0.0, 0.0]  # episodes and successes since the distance changed or was kept
        self.best: BestScore | None = None
        self._best_weights: dict[str, Tensor] = {}
        self._checkpoint, self._evaluate = checkpoint, evaluate
        self._totals = np.zeros(6)  # since the last message: episodes, successes, SPL, steps, contacts, preempted
        self._plan = msgspec.json.encode(
            {"name": name, "plan": plan, "seed": seed, "config": config, "ranks": ranks.size}
        ).decode()
        if checkpoint is not None and checkpoint.exists() and not overwrite:
            self._resume(checkpoint)
        self.ranks.check_equal(self._digest(), "begin")

    @property
    def progress(self) -> float:
        """The share of all steps that is behind."""
        return min(1.0, self.step / self.config.steps)

    def run(self) -> Model:
        """The model after all steps; with an evaluation that of the best one."""
        lock = self._checkpoint if self.ranks.is_first else None
        with nullcontext() if lock is None else exclusive_lock(lock):
            self.policy.train()
            self._start_segment()
            while self.step < self.config.steps:
                before = self.step
                batch, steps = self._collect()
                self._update(batch)
                self.step += steps
                self._report()
                if self._passes(self.config.evaluate_every, before):
                    self._score()
                if self._passes(self.config.checkpoint_every, before):
                    self._save()
                    self._start_segment()
        if self.best is not None:
            self.policy.load_state_dict(self._best_weights)
        return self.model

    def _passes(self, every: int, before: int) -> bool:
        return self.step // every > before // every or self.step >= self.config.steps

    def _start_segment(self) -> None:
        """Start new episodes and random streams, which the seed and the number of steps decide."""
        names = ("ppo", self.name, str(self.step))
        self.rng.manual_seed(int(generator(self.seed, *names, str(self.ranks.rank)).integers(1 << 62)))
        self._set_distance()
        self._observations = self.stage.reset(int(generator(self.seed, *names).integers(1 << 31)))
        count = self.stage.num_envs
        self._state = self.policy.start(count)
        self._last_actions, self._first = torch.zeros(count, dtype=torch.int64), torch.ones(count)

    def _set_distance(self) -> None:
        if self._starts is not None and self.config.curriculum is not None:
            self._starts.max_distance = self.distance

    # Roll-outs

    def _collect(self) -> tuple[RolloutBatch, int]:
        """A roll-out by the current policy, and its steps on all ranks; ends early if most other ranks are done."""
        config, stage = self.config, self.stage
        self._set_distance()
        stage.steps_taken = self.step  # of all ranks, by which the stage decays its reward
        first_state, seen, rows = self._state, [], []
        counts = np.zeros(6)
        self.ranks.begin_rollout()
        with torch.no_grad():
            for k in range(config.rollout_steps):
                tensors = self._tensors(self._observations, self._last_actions, self._first)
                output, self._state = self.policy(tensors, self._state)
                far = self._far(tensors)
                log_probs = self._log_probs(output.logits, far)[0].cpu()
                actions = torch.multinomial(log_probs.exp(), 1, generator=self.rng)[:, 0]
                result = stage.step(actions.numpy())
                rewards = torch.from_numpy(result.rewards.astype(np.float32))
                if (result.truncated & ~result.terminated).any():
                    self._add_final_values(rewards, result, actions)
                done = torch.from_numpy((result.terminated | result.truncated).astype(np.float32))
                taken = log_probs.gather(1, actions[:, None])[:, 0]
                seen.append(tensors)
                rows.append((actions, taken, output.value[0].cpu(), rewards, done, far[0].cpu()))
                self._observations, self._last_actions, self._first = result.observations, actions, done
                counts[:5] += _count(result.endings)
                if k + 1 < config.rollout_steps and self.ranks.should_stop(k + 1, config.rollout_steps):
                    counts[5] = 1.0
                    break
            self.ranks.end_rollout()
            tensors = self._tensors(self._observations, self._last_actions, self._first)
            last_values = self.policy(tensors, self._state)[0].value[0].cpu()
        steps = self._count_steps(len(rows) * stage.num_envs, counts)
        actions, taken, values, rewards, done, far = (torch.stack(part) for part in zip(*rows, strict=True))
        advantages = estimate_advantages(
            rewards, values, last_values, done, discount=config.discount, gae_lambda=config.gae_lambda
        )
        batch = RolloutBatch(
            stack_steps(seen), first_state, actions, taken, values, advantages, advantages + values, far
        )
        return batch, steps

    def _tensors(self, observations: Observations, last_actions: Tensor, starts: Tensor) -> PointNavTensors:
        tensors = make_tensors(observations, self.policy.config.sensor, last_actions, starts)
        return tensors if self.device.type == "cpu" else tensors.to(self.device)

    def _add_final_values(self, rewards: Tensor, result: StageStep, actions: Tensor) -> None:
        """Add the discounted values of the last observations of the episodes that a limit cut off."""
        cut = np.flatnonzero(~result.terminated[result.endings.index])  # among the episodes that ended
        index = torch.from_numpy(result.endings.index[cut])
        last = {name: values[cut] for name, values in result.final_observations.items()}
        tensors = self._tensors(last, actions[index], torch.zeros(len(index)))
        output, _ = self.policy(tensors, self._state[index.to(self.device)])
        rewards[index] += self.config.discount * output.value[0].cpu()

    def _far(self, tensors: PointNavTensors) -> Tensor:
        gate = self.config.gate
        distances = tensors.pointgoal[..., 0]
        return torch.zeros_like(distances) if gate is None else (distances >= gate.radius).float()

    def _log_probs(self, logits: Tensor, far: Tensor) -> Tensor:
        gate = self.config.gate
        if gate is not None:
            gated = logits[..., :1] - gate.penalty_at(self.progress) * far[..., None]
            logits = torch.cat([gated, logits[..., 1:]], dim=-1)
        return logits.log_softmax(dim=-1)

    def _count_steps(self, steps: int, counts: NDArray[np.float64]) -> int:
        """The steps of all ranks, which also agree on the distance of the next starts."""
        total = self.ranks.add(torch.tensor([float(steps), *counts], dtype=torch.float64)).numpy()
        self._totals += total[1:]
        curriculum = self.config.curriculum
        if curriculum is not None:
            self.window = [self.window[0] + float(total[1]), self.window[1] + float(total[2])]
            if self.window[0] >= curriculum.window:
                if self.window[1] > curriculum.success_rate * self.window[0]:
                    self.distance = min(curriculum.last, self.distance * curriculum.factor)
                self.window = [0.0, 0.0]
        return int(total[0])

    # Updates

    def _update(self, batch: RolloutBatch) -> None:
        config = self.config
        rate = linear(self.step, config.learning_rate, config.final_rate, 0, config.steps)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        if config.normalize_advantages:
            batch = replace(batch, advantages=self._normalize(batch.advantages))
        for _ in range(config.epochs):
            order = torch.randperm(self.stage.num_envs, generator=self.rng)
            for index in order.tensor_split(config.minibatches):
                self._descend(batch.select(index))
        if self.updates % 10 == 0:
            self.ranks.check_equal(self._digest(), f"update {self.updates}")
        self.updates += 1

    def _normalize(self, advantages: Tensor) -> Tensor:
        """Advantages with the mean 0 and the deviation 1 over all ranks."""
        values = advantages.double()
        sums = torch.stack([torch.full((), values.numel()).double(), values.sum(), (values * values).sum()])
        count, total, squares = self.ranks.add(sums).tolist()
        mean = total / count
        deviation = math.sqrt(max(0.0, squares / count - mean * mean))
        normalized: Tensor = (advantages - mean) / (deviation + 1e-8)
        return normalized

    def _descend(self, batch: RolloutBatch) -> None:
        """A step down the gradient of all ranks, each sample with the same weight."""
        batch = batch if self.device.type == "cpu" else _move(batch, self.device)
        loss = self._loss(batch)
        self.optimizer.zero_grad(set_to_none=False)
        loss.backward()  # type: ignore[no-untyped-call]
        self.ranks.average_gradients(self.policy, batch.actions.numel())
        norm = nn.utils.clip_grad_norm_(self.policy.parameters(), self.config.max_grad_norm)
        check_finite(self.name, self.step, loss, norm)
        self.optimizer.step()

    def _loss(self, batch: RolloutBatch) -> Tensor:
        """The sum over all steps of the clipped objective, the clipped value loss, and the entropy bonus."""
        config = self.config
        output, _ = self.policy(batch.observations, batch.state)
        log_probs = self._log_probs(output.logits, batch.far)
        ratio = (log_probs.gather(2, batch.actions[..., None])[..., 0] - batch.log_probs).exp()
        clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
        gain = torch.minimum(ratio * batch.advantages, clipped * batch.advantages)
        near = batch.values + (output.value - batch.values).clamp(-config.clip, config.clip)
        value_loss = 0.5 * torch.maximum((output.value - batch.returns) ** 2, (near - batch.returns) ** 2)
        entropy = -(log_probs.exp() * log_probs).sum(dim=-1)
        loss: Tensor = -gain + config.value_coefficient * value_loss - config.entropy_coefficient * entropy
        return loss.sum()

    # Evaluation, messages and checkpoints

    def _score(self) -> None:
        assert self.config.evaluate_every > 0
        if self._evaluate is None or not self.ranks.is_first:
            return
        score = self._evaluate(self.step)
        self.policy.train()
        if self.best is None or score > self.best.score:
            self.best = BestScore(self.step, score)
            self._best_weights = {name: value.clone() for name, value in self.policy.state_dict().items()}
        else:
            self.best = msgspec.structs.replace(self.best, evaluations_since=self.best.evaluations_since + 1)

    def _report(self) -> None:
        episodes, successes, spl, steps, contacts, preempted = self._totals.tolist()
        if self.log is None or not self.ranks.is_first:
            return
        count = max(1.0, episodes)
        values = {"SR": successes / count, "SPL": spl / count, "steps of an episode": steps / count,
                  "contacts of an episode": contacts / count, "start distance": self.distance,
                  "roll-outs preempted": preempted}  # fmt: skip
        if self.log.log_values(self.step, values):
            self._totals[:] = 0.0

    def _save(self) -> None:
        self.ranks.check_equal(self._digest(), f"step {self.step}")
        if self._checkpoint is None or not self.ranks.is_first:
            return
        numbers = [self.step, self.updates, self.distance, *self.window]
        carried = {"progress": torch.tensor(numbers, dtype=torch.float64)}
        best = (self.best, self._best_weights)
        save_checkpoint(self._checkpoint, self._plan, self.updates, self.model, self.optimizer, self.rng, best, carried)

    def _resume(self, path: Path) -> None:
        progress, tensors = resume_checkpoint(path, self._plan, self.model, self.optimizer, self.rng)
        step, updates, self.distance, *self.window = tensors["carried.progress"].tolist()
        self.step, self.updates, self.best = int(step), int(updates), progress.best
        prefix = "best."
        self._best_weights = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
        _log.info("%s: resumed at step %d of %d.", self.name, self.step, self.config.steps)

    def _digest(self) -> bytes:
        values = [value.detach().cpu().contiguous().numpy().tobytes() for value in self.policy.state_dict().values()]
        return repr((self.step, self.distance)).encode() + b"".join(values)


def _count(endings: Endings) -> NDArray[np.float64]:
    """Episodes, successes, and the sums of their SPL, steps and contacts."""
    parts = (endings.success, endings.spl, endings.steps, endings.contacts)
    return np.array([len(endings.success), *(float(np.sum(part)) for part in parts)])


def _move(batch: RolloutBatch, device: torch.device) -> RolloutBatch:
    names = ("actions", "log_probs", "values", "advantages", "returns", "far")
    moved = {name: getattr(batch, name).to(device) for name in names}
    return replace(batch, observations=batch.observations.to(device), state=batch.state.to(device), **moved)
