"""The contract of policies on the ground: encode an instruction, then map observations to action logits.

A policy is stepped (`forward`) while an agent acts, only remembers (`observe`) while it is guided, and is unrolled over
whole trajectories (`unroll`) when it is trained. Stepping and unrolling give the same logits. Frames are encoded apart
(`encode_frames`), so that several instructions of one path share them. `cma.py` is the policy to read first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from itinera.errors import BadArgument
from itinera.policies.base import NoConfig, select_rows
from itinera.policies.ground.observation import GroundObservation, GroundSequence

S = TypeVar("S")  # the state: a dataclass of tensors whose first dimension is the batch
F = TypeVar("F")  # the features of frames: a dataclass of tensors whose first dimension is the frames


@dataclass(frozen=True, eq=False)
class GroundOutput:
    """Action logits and progress of a batch: of one step, or of whole trajectories."""

    logits: Tensor  # (batch, 4) or (batch, steps, 4): STOP, forward, left, right
    progress: Tensor  # (batch,) or (batch, steps) the fraction of the path that is behind the agent, from -1 to 1


class GroundPolicy(nn.Module, ABC, Generic[S, F]):
    """A recurrent policy with four actions. It is made by `Class(columns, tokenizer, config)`.

    No method creates a tensor on another device than that of the weights or of its arguments.
    """

    config_class: type[Any] = NoConfig
    """The configuration: a dataclass of plain values, each with a default."""

    uses_rgb: bool = False
    uses_map: bool = False
    uses_names: bool = False
    remembers_tours: bool = False
    """Whether `observe` and `update_instruction` keep anything of earlier episodes."""

    depth_size: int
    """Pixels of a side of the depth images."""

    rgb_size: int = 0
    """Pixels of a side of the color images."""

    map_size: int = 64
    """Cells of a side of the maps."""

    @abstractmethod
    def encode_instruction(self, words: Tensor, lengths: Tensor) -> S:
        """The state before the first step of a tour; `words` (batch, max words) are token ids of a `Tokenizer`."""

    def update_instruction(self, state: S, words: Tensor, lengths: Tensor) -> S:
        """The state before the next episode of a tour. Unless overridden, earlier episodes are forgotten."""
        return self.encode_instruction(words, lengths)

    @abstractmethod
    def encode_frames(self, observation: GroundObservation) -> F:
        """The features of frames that depend neither on the instruction nor on earlier frames."""

    @abstractmethod
    def step(self, state: S, features: F) -> tuple[S, GroundOutput]:
        """The next state and the output for the features of one observation of each agent."""

    def forward(self, state: S, observation: GroundObservation) -> tuple[S, GroundOutput]:
        """The next state and the output for one observation of each agent."""
        return self.step(state, self.encode_frames(observation))

    def remember(self, state: S, features: F) -> S:
        """The state after the features of an oracle phase. Unless overridden, they are not remembered."""
        return state

    def observe(self, state: S, observation: GroundObservation) -> S:
        """The state after an observation of an oracle phase."""
        return self.remember(state, self.encode_frames(observation)) if self.remembers_tours else state

    def unroll(self, state: S, sequence: GroundSequence) -> tuple[S, GroundOutput]:
        """The last state, and the outputs (batch, max acting steps, …) of whole trajectories.

        The state has as many rows as there are trajectories, or k times as many: then rows 0 to k - 1 are k
        instructions of the first trajectory, and so on. Outputs of padding are arbitrary; see `GroundSequence.mask`.
        """
        count = texts_per_path(state, sequence)
        if not self.remembers_tours:
            sequence = sequence.without_guided()
        features = self.encode_frames(sequence.frames)
        acting_steps, outputs = sequence.mask.shape[1], []
        for step in range(sequence.steps.mask.shape[1]):
            rows, mask = (
                table[:, step].repeat_interleave(count) for table in (sequence.steps.index, sequence.steps.mask)
            )
            current = select_rows(features, rows)
            following = keep_rows(state, self.remember(state, current), mask)
            if step < acting_steps:
                acted, output = self.step(state, current)
                following = keep_rows(following, acted, sequence.mask[:, step].repeat_interleave(count))
                outputs.append(output)
            state = following
        logits = torch.stack([output.logits for output in outputs], dim=1)
        return state, GroundOutput(logits, torch.stack([output.progress for output in outputs], dim=1))


def texts_per_path(state: Any, sequence: GroundSequence) -> int:
    """The number of rows of a state for each trajectory of a sequence."""
    rows = len(getattr(state, fields(state)[0].name))
    count, left = divmod(rows, sequence.num_trajectories)
    if left or not count:
        raise BadArgument(f"{rows} instructions cannot be shared out among {sequence.num_trajectories} trajectories.")
    return count


def detach(state: S) -> S:
    """The same state without gradients to earlier steps: truncated back-propagation through time."""
    return replace(state, **{field.name: getattr(state, field.name).detach() for field in fields(state)})  # type: ignore[type-var, arg-type]


def keep_rows(state: S, following: S, mask: Tensor) -> S:
    """The `following` state in the rows of the mask (batch,), `state` in the others."""
    chosen = {}
    for field in fields(state):  # type: ignore[arg-type]
        old, new = getattr(state, field.name), getattr(following, field.name)
        if old is not new:
            chosen[field.name] = torch.where(mask.reshape(-1, *[1] * (new.dim() - 1)), new, old)
    return replace(following, **chosen)  # type: ignore[type-var]


def last_steps(values: Tensor, mask: Tensor) -> Tensor:
    """(batch, dim) the values (batch, steps, dim) of the last step of each row."""
    last = mask.long().sum(dim=1) - 1
    return values.gather(1, last[:, None, None].expand(-1, 1, values.shape[2]))[:, 0]
