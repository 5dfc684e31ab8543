"""The policy contract: encode an instruction, then map observations to action logits, step by step.

`Policy` is the base class of every learned agent; `TourPolicy` is for those that can also update their memory without
acting, as an agent does while it is guided through a tour. `rcm.py` is a short example.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from itinera.policies.observation import BatchObservation

S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class PolicyOutput:
    """Action logits and value estimates of a batch."""

    logits: Tensor  # (batch, 1 + max candidates), STOP first; -inf for padding
    value: Tensor  # (batch,) expected return; zeros for a policy without a critic


@dataclass(frozen=True)
class NoConfig:
    """The configuration of a policy that has none."""


class Policy(nn.Module, ABC, Generic[S]):
    """A recurrent policy. Its state is a dataclass of tensors whose first dimension is the batch.

    A policy outside Itinera is made by `Class(columns, tokenizer, config)`: the names of the view features, a
    `Tokenizer`, and an instance of its `config_class`.
    """

    config_class: type[Any] = NoConfig
    """The configuration of a policy outside Itinera: a dataclass of plain values, each with a default."""

    uses_panorama: bool = False
    """Whether observations must contain all 36 views (`BatchObservation.panorama`)."""

    @abstractmethod
    def encode_instruction(self, words: Tensor, lengths: Tensor) -> S:
        """The state before the first step of an episode; `words` (batch, max words) are token ids of a `Tokenizer`."""

    def update_instruction(self, state: S, words: Tensor, lengths: Tensor) -> S:
        """The state before the next episode of a tour. Unless overridden, earlier episodes are forgotten."""
        return self.encode_instruction(words, lengths)

    @abstractmethod
    def forward(self, state: S, observation: BatchObservation) -> tuple[S, PolicyOutput]:
        """The next state, and the action logits and value for an observation."""


class TourPolicy(Policy[S]):
    """A policy whose step has two parts: update the state (`observe`), then score the actions (`predict`)."""

    @abstractmethod
    def observe(self, state: S, observation: BatchObservation, moved: Tensor | None = None) -> S:
        """The state after an observation; `moved` (batch,) marks the agents that took a step to get here."""

    @abstractmethod
    def predict(self, state: S, observation: BatchObservation) -> PolicyOutput:
        """Logits and values for an observation that `observe` has already added to the state."""

    def forward(self, state: S, observation: BatchObservation) -> tuple[S, PolicyOutput]:
        state = self.observe(state, observation)
        return state, self.predict(state, observation)


def select_rows(state: Any, index: Tensor) -> Any:
    """A dataclass of tensors restricted to these rows of the batch; fields that are not tensors stay as they are."""
    selected = {
        field.name: value.index_select(0, index)
        for field in fields(state)
        if isinstance(value := getattr(state, field.name), Tensor)
    }
    return replace(state, **selected)


def join_stop_logits(stop: Tensor, candidates: Tensor, observation: BatchObservation) -> Tensor:
    """(batch, 1 + max candidates) from logits of STOP (batch,) and of packed candidates (rows,); -inf for padding."""
    padding = candidates.new_full((1,), -torch.inf)
    index = observation.padded_index
    padded = torch.cat([candidates, padding]).index_select(0, index.reshape(-1)).reshape(index.shape)
    return torch.cat([stop[:, None], padded], dim=1)
