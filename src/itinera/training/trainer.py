"""Training: steps, a schedule, checkpoints. A run that was killed goes on from its last checkpoint and ends in the same
numbers; two runs of one seed are identical (with one thread)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor, nn

from itinera.errors import BadArgument, BadFile, Fault, ItineraError
from itinera.formats.io import atomic_write
from itinera.policies.checkpoint import Model, encode, read_model
from itinera.seeding import generator


@dataclass(frozen=True)
class Schedule:
    """How training goes on: so many steps, warming up, then slower and slower along a cosine."""

    steps: int
    rate: float = 1e-3  # the highest learning rate
    last_rate: float = 0.0  # the rate at the end, as a share of the highest
    warm_up: int = 50  # steps
    decay: float = 0.01  # of weights
    clip: float = 5.0  # the largest norm of the gradient
    every: int = 200  # steps from checkpoint to checkpoint

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        cosine = 0.5 * (1 + math.cos(math.pi * step / self.steps))
        return self.rate * min(1.0, (step + 1) / self.warm_up) * (self.last_rate + (1 - self.last_rate) * cosine)


@dataclass(frozen=True, eq=False)
class Chance:
    """The streams of random numbers of a training run; dropout draws from torch's own."""

    rng: torch.Generator

    @classmethod
    def of(cls, seed: int, *names: str) -> Chance:
        draws = generator(seed, *names).integers(0, 1 << 62, 2)
        torch.manual_seed(int(draws[0]))
        return cls(torch.Generator().manual_seed(int(draws[1])))


Lesson = Callable[[int, Chance], Tensor]
"""The loss of step k, counted from 0; whatever is left to chance is drawn from the stream given."""

Heard = Callable[[int, float], None]
"""Told after every step: how many were made, and the loss."""


class NotFinite(ItineraError):
    """A loss is not a number, or the gradient has no end."""


def train(
    model: Model,
    lesson: Lesson,
    schedule: Schedule,
    *,
    seed: int,
    name: str,
    checkpoint: Path | None = None,
    heard: Heard | None = None,
) -> Model:
    """The model after all steps of a schedule.

    `name` and `seed` decide all that is left to chance. With a `checkpoint`, training goes on from there if it is of
    the same name, seed and schedule, and keeps itself there.
    """
    policy: nn.Module = model.policy
    optimiser = torch.optim.AdamW(policy.parameters(), schedule.rate, weight_decay=schedule.decay, fused=True)
    chance = Chance.of(seed, "training", name)
    plan = msgspec.json.encode({"name": name, "seed": seed, "schedule": schedule}).decode()
    first = 0
    if checkpoint is not None and checkpoint.exists():
        first = _resume(checkpoint, plan, model, optimiser, chance)
    policy.train()
    for step in range(first, schedule.steps):
        for group in optimiser.param_groups:
            group["lr"] = schedule.rate_at(step)
        loss = lesson(step, chance)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(policy.parameters(), schedule.clip)
        _check_finite(name, step, loss, norm)
        optimiser.step()
        if heard is not None:
            heard(step + 1, float(loss.detach()))
        if checkpoint is not None and ((step + 1) % schedule.every == 0 or step + 1 == schedule.steps):
            _keep(checkpoint, plan, step + 1, model, optimiser, chance)
    return model


def _check_finite(name: str, step: int, loss: Tensor, norm: Tensor) -> None:
    if not (math.isfinite(float(loss.detach())) and math.isfinite(float(norm))):
        raise NotFinite(
            f"Training {name} stopped at step {step}: the loss of its batch is {float(loss.detach())}, the norm of the "
            f"gradient {float(norm)}. The checkpoint before it is whole. Look at batch {step}, or lower the rate."
        )


class _Kept(msgspec.Struct):
    plan: str
    step: int


def _keep(path: Path, plan: str, step: int, model: Model, optimiser: torch.optim.Optimizer, chance: Chance) -> None:
    state: dict[str, Any] = optimiser.state_dict()["state"]
    more = {f"optimiser.{k}.{part}": value for k, parts in state.items() for part, value in parts.items()}
    more |= {"chance.own": chance.rng.get_state(), "chance.torch": torch.get_rng_state()}
    notes = msgspec.json.encode(_Kept(plan, step)).decode()
    with atomic_write(path) as stream:
        stream.write(encode(model, more, notes))


def _resume(path: Path, plan: str, model: Model, optimiser: torch.optim.Optimizer, chance: Chance) -> int:
    """How many steps the checkpoint has behind it; all state becomes what it was then."""
    opened = read_model(path)
    try:
        kept = msgspec.json.decode(opened.notes, type=_Kept)
    except msgspec.DecodeError:
        raise BadFile(str(path), [Fault("notes", "is not there.", "This is a model, not a checkpoint.")]) from None
    if kept.plan != plan or opened.model.card != model.card:
        raise BadArgument(
            f"{path} is a checkpoint of other training: {kept.plan}, not {plan}, or of another model. "
            "Remove it to begin anew."
        )
    faults = _faults(opened.more, model.policy, chance)
    if faults:
        raise BadFile(str(path), faults)
    model.policy.load_state_dict(opened.model.policy.state_dict())
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in opened.more.items():
        if name.startswith("optimiser."):
            _, number, part = name.split(".", 2)
            state.setdefault(int(number), {})[part] = value
    whole = optimiser.state_dict()
    optimiser.load_state_dict({"state": state, "param_groups": whole["param_groups"]})
    chance.rng.set_state(opened.more["chance.own"])
    torch.set_rng_state(opened.more["chance.torch"])
    return kept.step


def _faults(more: Mapping[str, Tensor], policy: nn.Module, chance: Chance) -> list[Fault]:
    """What is missing of the state of training, or of another shape."""
    shapes = {"chance.own": chance.rng.get_state().shape, "chance.torch": torch.get_rng_state().shape}
    for k, parameter in enumerate(policy.parameters()):
        parts = {"step": torch.Size(), "exp_avg": parameter.shape, "exp_avg_sq": parameter.shape}
        own = {f"optimiser.{k}.{part}": shape for part, shape in parts.items()}
        if own.keys() & more.keys():  # one that no loss depended on has none
            shapes |= own
    faults = [Fault(name, "is missing.", "Remove the checkpoint to begin anew.") for name in shapes if name not in more]
    for name, shape in shapes.items():
        if name in more and more[name].shape != shape:
            faults.append(Fault(name, f"is of shape {tuple(more[name].shape)}, not {tuple(shape)}."))
    return faults
