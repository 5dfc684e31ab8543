"""The training loop with its learning-rate schedule and checkpoints.

A run that is killed resumes from its last checkpoint and ends with the same weights; two runs of one seed are identical
(with one thread). A checkpoint replaces the previous one when it is on the disk, and one that was damaged is refused.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import torch
from torch import Tensor, nn

from itinera.errors import BadArgument, BadFile, Fault, ItineraError
from itinera.formats.decoding import UNDECODABLE
from itinera.formats.writing import atomic_write
from itinera.policies.checkpoint import Model, ModelFile, PolicyClass, encode_model, is_external, read_model
from itinera.runs.resume import exclusive_lock
from itinera.seeding import generator

REMEDY = "Remove the checkpoint to start anew."
_log = logging.getLogger("itinera")


@dataclass(frozen=True)
class Schedule:
    """Optimizer settings: linear warmup, then cosine decay of the learning rate."""

    steps: int
    learning_rate: float = 1e-3  # the maximum
    final_ratio: float = 0.0  # learning rate at the end, as a fraction of the maximum
    warmup_steps: int = 50
    weight_decay: float = 0.01
    max_grad_norm: float = 5.0
    checkpoint_every: int = 200  # steps

    def learning_rate_at(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        cosine = 0.5 * (1 + math.cos(math.pi * step / self.steps))
        warmup = min(1.0, (step + 1) / self.warmup_steps)
        return self.learning_rate * warmup * (self.final_ratio + (1 - self.final_ratio) * cosine)


LossFn: TypeAlias = Callable[[int, torch.Generator], Tensor]
"""The loss of step k, counted from 0; random choices are drawn from the generator."""

OnStep: TypeAlias = Callable[[int, float], None]
"""Called after every step with the number of steps made and the loss."""


@dataclass(frozen=True)
class Validation:
    """Evaluation during training. The weights with the best score are the result of training."""

    evaluate: Callable[[int], float]  # the score after this number of steps; higher is better
    every: int  # steps; the last step is always evaluated
    patience: int | None = None  # training stops after this many evaluations in a row without a better score


class BestScore(msgspec.Struct, frozen=True):
    """The best score of the evaluations so far."""

    step: int
    score: float
    evaluations_since: int = 0


class NonFiniteLoss(ItineraError):
    """The loss or the norm of its gradient is not finite."""


def seed_torch(seed: int, *names: str) -> torch.Generator:
    """The generator for these names; also seeds torch's global generator, which initialization and dropout use."""
    draws = generator(seed, *names).integers(0, 1 << 62, 2)
    torch.manual_seed(int(draws[0]))
    return torch.Generator().manual_seed(int(draws[1]))


class Trainer:
    """The training loop: iterate over its steps and call `update` with the loss of each.

        trainer = Trainer(model, Schedule(steps=1000), seed=0, name="rcm", checkpoint=path)
        for step in trainer:
            rollout = collect_rollout(model.policy, env, batches[step], ...)
            trainer.update(imitation_loss(rollout))

    The optimizer is AdamW. `name` and `seed` decide every random draw: dropout uses torch's global generator,
    everything else should use `trainer.rng`. With a `checkpoint` training resumes by itself if it has the same name,
    seed, schedule and model; `overwrite` starts anew; any other checkpoint is refused. `on_step` is called after every
    step. With a `validation`, training may stop early, and ends with the weights that had the best score.
    """

    def __init__(
        self,
        model: Model,
        schedule: Schedule,
        *,
        seed: int,
        name: str,
        checkpoint: Path | None = None,
        overwrite: bool = False,
        on_step: OnStep | None = None,
        validation: Validation | None = None,
    ) -> None:
        self.model, self.schedule, self.name = model, schedule, name
        self.optimizer = torch.optim.AdamW(
            model.policy.parameters(), schedule.learning_rate, weight_decay=schedule.weight_decay, fused=True
        )
        self.rng = seed_torch(seed, "training", name)
        self.step = 0  # steps made
        self.best: BestScore | None = None
        self.carried: dict[str, Tensor] = {}  # what else a checkpoint keeps, such as states carried from step to step
        self._best_weights: dict[str, Tensor] = {}
        plan: dict[str, Any] = {"name": name, "seed": seed, "schedule": schedule}
        if validation is not None:
            plan["validation"] = {"every": validation.every, "patience": validation.patience}
        self._plan = msgspec.json.encode(plan).decode()
        self._checkpoint, self._on_step, self._validation = checkpoint, on_step, validation
        if checkpoint is not None and checkpoint.exists() and not overwrite:
            progress, tensors = resume_checkpoint(checkpoint, self._plan, model, self.optimizer, self.rng)
            self._best_weights, self.carried = _with_prefix(tensors, "best."), _with_prefix(tensors, "carried.")
            self.step, self.best = progress.step, progress.best
            _log.info("%s: resumed at step %d of %d.", name, self.step, schedule.steps)

    def __iter__(self) -> Generator[int]:
        """The numbers of the steps left, counted from 0, with the model in training mode."""
        self.model.policy.train()
        # Two processes that trained for one checkpoint would take turns at replacing it.
        with nullcontext() if self._checkpoint is None else exclusive_lock(self._checkpoint):
            while self.step < self.schedule.steps and not self.is_out_of_patience:
                step = self.step
                yield step
                if self.step == step:
                    raise RuntimeError(f"Step {step} was not updated. Call trainer.update(loss) once per step.")
        if self.best is not None:
            self.model.policy.load_state_dict(self._best_weights)

    @property
    def is_out_of_patience(self) -> bool:
        """Whether the score has not improved for as many evaluations as the validation allows."""
        patience = None if self._validation is None else self._validation.patience
        return self.best is not None and patience is not None and self.best.evaluations_since >= patience

    def update(self, loss: Tensor) -> None:
        """Take one optimizer step; write a checkpoint if it is due."""
        schedule, policy = self.schedule, self.model.policy
        for group in self.optimizer.param_groups:
            group["lr"] = schedule.learning_rate_at(self.step)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        grad_norm = nn.utils.clip_grad_norm_(policy.parameters(), schedule.max_grad_norm)
        check_finite(self.name, self.step, loss, grad_norm)
        self.optimizer.step()
        self.step += 1
        if self._on_step is not None:
            self._on_step(self.step, float(loss.detach()))
        # Before the checkpoint, which contains the best weights so far: a resumed run evaluates no step twice.
        if self._validation is not None and self._is_due(self._validation.every):
            self._evaluate(self._validation)
        if self._is_due(schedule.checkpoint_every):
            self.save()

    def save(self) -> None:
        """Write a checkpoint now, if there is a file for it: before work that depends on exactly these weights."""
        if self._checkpoint is not None:
            best = (self.best, self._best_weights)
            state = (self.model, self.optimizer, self.rng)
            save_checkpoint(self._checkpoint, self._plan, self.step, *state, best, self.carried)

    def _is_due(self, every: int) -> bool:
        return self.step % every == 0 or self.step == self.schedule.steps

    def _evaluate(self, validation: Validation) -> None:
        with torch.random.fork_rng(devices=[]):  # the weights do not depend on whether they are evaluated
            score = validation.evaluate(self.step)
        if self.best is None or score > self.best.score:
            self.best = BestScore(self.step, score)
            self._best_weights = {name: value.clone() for name, value in self.model.policy.state_dict().items()}
        else:
            since = self.best.evaluations_since + 1
            self.best = msgspec.structs.replace(self.best, evaluations_since=since)


def train_model(
    model: Model,
    loss_fn: LossFn,
    schedule: Schedule,
    *,
    seed: int,
    name: str,
    checkpoint: Path | None = None,
    overwrite: bool = False,
    on_step: OnStep | None = None,
) -> Model:
    """The model after all steps of a schedule; see `Trainer`."""
    trainer = Trainer(
        model, schedule, seed=seed, name=name, checkpoint=checkpoint, overwrite=overwrite, on_step=on_step
    )
    run_steps(trainer, loss_fn)
    return model


def run_steps(trainer: Trainer, loss_fn: LossFn) -> None:
    """Update the model of a trainer until its last step."""
    with closing(iter(trainer)) as steps:
        for step in steps:
            trainer.update(loss_fn(step, trainer.rng))


def check_finite(name: str, step: int, loss: Tensor, grad_norm: Tensor) -> None:
    """Raise NonFiniteLoss unless the loss of a step and the norm of its gradient are finite."""
    if not (math.isfinite(float(loss.detach())) and math.isfinite(float(grad_norm))):
        raise NonFiniteLoss(
            f"Training {name} stopped at step {step}: the loss is {float(loss.detach())}, the gradient norm "
            f"{float(grad_norm)}. The previous checkpoint is intact. Inspect batch {step}, or lower learning_rate."
        )


class Progress(msgspec.Struct):
    """What a checkpoint says about itself."""

    plan: str
    step: int
    digest: str  # of the rest of the checkpoint
    best: BestScore | None = None  # its weights are among the tensors


def save_checkpoint(
    path: Path,
    plan: str,
    step: int,
    model: Model,
    optimizer: torch.optim.Optimizer,
    rng: torch.Generator,
    best: tuple[BestScore | None, Mapping[str, Tensor]] = (None, {}),
    carried: Mapping[str, Tensor] | None = None,
) -> None:
    """Write a checkpoint: the model, the state of the optimizer and of the generators, and their digest.

    `best` is the best score so far with its weights; `carried` are tensors of the caller.
    """
    state: dict[str, Any] = optimizer.state_dict()["state"]
    extra = {f"optimizer.{k}.{part}": value for k, parts in state.items() for part, value in parts.items()}
    extra |= {"rng.sampling": rng.get_state(), "rng.torch": torch.get_rng_state()}
    extra |= {f"best.{name}": value for name, value in best[1].items()}
    extra |= {f"carried.{name}": value for name, value in (carried or {}).items()}
    progress = Progress(plan, step, _digest_state(plan, step, best[0], model, extra), best[0])
    with atomic_write(path) as stream:
        stream.write(encode_model(model, extra, msgspec.json.encode(progress).decode()))


def _digest_state(plan: str, step: int, best: BestScore | None, model: Model, extra: Mapping[str, Tensor]) -> str:
    """The digest of a whole checkpoint: safetensors has none of its own, and zeros are weights as any others."""
    scores = () if best is None else (best,)
    digest = hashlib.blake2b(msgspec.json.encode((plan, step, model.card, *scores)), digest_size=16)
    for name, value in sorted({**model.policy.state_dict(), **extra}.items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)} ".encode())
        digest.update(value.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def read_checkpoint(path: Path, *, policy: PolicyClass | None = None) -> tuple[ModelFile, Progress]:
    """The contents of a checkpoint; raises BadFile for a plain model, or if it is incomplete or damaged.

    `policy` is the class of the model if that is outside Itinera.
    """
    contents = read_model(path, policy=policy)
    try:
        progress = msgspec.json.decode(contents.notes, type=Progress)
    except UNDECODABLE:
        problem = "is a trained model, not a training checkpoint."
        raise BadFile(str(path), [Fault("", problem, "Write to another file, or use overwrite=True.")]) from None
    faults = _check_state(contents.extra, contents.model.policy, has_best=progress.best is not None)
    if not faults:
        found = _digest_state(progress.plan, progress.step, progress.best, contents.model, contents.extra)
        if progress.digest != found:
            faults = [Fault("", "is damaged: its digest is another.", REMEDY)]
    if faults:
        raise BadFile(str(path), faults)
    return contents, progress


def remove_damaged_checkpoint(path: Path, *, policy: PolicyClass | None = None) -> None:
    """Remove a checkpoint that cannot be used, for training to start from the beginning; a warning says so."""
    try:
        if path.exists():
            read_checkpoint(path, policy=policy)
    except BadFile as error:
        _log.warning("Training starts from the beginning: the checkpoint cannot be used.\n%s", error)
        path.unlink()


def external_class(model: Model) -> type[Any] | None:
    """The class of a model's policy if that is outside Itinera."""
    return type(model.policy) if is_external(model.card.kind) else None


def resume_checkpoint(
    path: Path, plan: str, model: Model, optimizer: torch.optim.Optimizer, rng: torch.Generator
) -> tuple[Progress, dict[str, Tensor]]:
    """The progress of a checkpoint and its tensors; restores the model, the optimizer and the generators."""
    contents, progress = read_checkpoint(path, policy=external_class(model))
    if progress.plan != plan or contents.model.card != model.card:
        raise BadArgument(
            f"{path} is a checkpoint of another training run: its plan is {progress.plan}, not {plan}, or its model "
            "differs. Write to another file, or use overwrite=True to start anew."
        )
    model.policy.load_state_dict(contents.model.policy.state_dict())
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in contents.extra.items():
        if name.startswith("optimizer."):
            _, number, part = name.split(".", 2)
            state.setdefault(int(number), {})[part] = value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})
    for parameter, moments in optimizer.state.items():
        for name, value in moments.items():
            if value.shape == parameter.shape and value.stride() != parameter.stride():
                # A fused optimizer goes through memory in order, so moments must be laid out as their weights are.
                moments[name] = torch.empty_like(parameter).copy_(value)
    rng.set_state(contents.extra["rng.sampling"])
    torch.set_rng_state(contents.extra["rng.torch"])
    return progress, contents.extra


def _with_prefix(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _check_state(extra: Mapping[str, Tensor], policy: nn.Module, *, has_best: bool) -> list[Fault]:
    """The tensors of the training state that are missing or of another shape."""
    shapes = {"rng.sampling": torch.Generator().get_state().shape, "rng.torch": torch.get_rng_state().shape}
    for k, parameter in enumerate(policy.parameters()):
        parts = {"step": torch.Size(), "exp_avg": parameter.shape, "exp_avg_sq": parameter.shape}
        own = {f"optimizer.{k}.{part}": shape for part, shape in parts.items()}
        if own.keys() & extra.keys():  # a parameter without a gradient has no state
            shapes |= own
    if has_best:
        shapes |= {f"best.{name}": value.shape for name, value in policy.state_dict().items()}
    faults = [Fault(name, "is missing.", REMEDY) for name in shapes if name not in extra]
    unknown = (name for name in extra if name not in shapes and not name.startswith("carried."))
    faults += [Fault(name, "is unknown.", REMEDY) for name in unknown]
    for name, shape in shapes.items():
        if name in extra and extra[name].shape != shape:
            faults.append(Fault(name, f"has the shape {tuple(extra[name].shape)}, expected {tuple(shape)}.", REMEDY))
        elif name.startswith("rng.") and name in extra and extra[name].dtype is not torch.uint8:
            faults.append(Fault(name, f"has the type {extra[name].dtype}, expected torch.uint8.", REMEDY))
    return faults
