"""What a policy is: something that reads, then weighs at every step what it sees. Every learned agent is one."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from itinera.policies.observation import Seen

S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Weighed:
    """What a policy makes of what is seen."""

    logits: Tensor  # (walkers, 1 + most) STOP first; minus infinity where there is no way
    value: Tensor  # (walkers,) the return it expects


class Policy(Protocol[S]):
    """Reads instructions, then weighs the ways on step by step. Its state is a dataclass of tensors, walkers first."""

    def read(self, words: Tensor, lengths: Tensor) -> S:
        """What is kept in mind after reading: words (walkers, longest), numbers of a `Vocabulary`."""
        ...

    def step(self, state: S, seen: Seen) -> tuple[S, Weighed]:
        """What is kept in mind and what is made of what is seen."""
        ...


def take(state: Any, index: Tensor) -> Any:
    """The state of these walkers: every tensor of a dataclass, its first axis by index; None stays None."""
    changed = {
        field.name: value.index_select(0, index)
        for field in fields(state)
        if isinstance(value := getattr(state, field.name), Tensor)
    }
    return replace(state, **changed)


def with_stop(stop: Tensor, candidates: Tensor, seen: Seen) -> Tensor:
    """(walkers, 1 + most) logits of STOP (walkers,) and of the ways (rows,), minus infinity where there is none."""
    closed = candidates.new_full((1,), -torch.inf)
    spread = torch.cat([candidates, closed]).index_select(0, seen.slots.reshape(-1)).reshape(seen.slots.shape)
    return torch.cat([stop[:, None], spread], dim=1)
