"""Rows of recurrent states: dataclasses of tensors whose first dimension is the batch, with texts of any length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


def state_tensors(state: Any) -> dict[str, Tensor]:
    """The tensors of a state by name."""
    found = ((field.name, getattr(state, field.name)) for field in fields(state))
    return {name: value for name, value in found if isinstance(value, Tensor)}


def choose_rows(mask: Tensor, a: Any, b: Any) -> Any:
    """The rows of state `a` where the mask (batch,) is true, those of `b` elsewhere."""
    chosen = {}
    for name, value in state_tensors(a).items():
        other = getattr(b, name)
        chosen[name] = torch.where(mask.reshape(-1, *[1] * (value.dim() - 1)), value, other)
    return replace(a, **chosen)


def merge_rows(state: Any, index: Tensor, rows: Any) -> Any:
    """A state with other rows; where texts differ in length, the shorter are padded."""
    merged = {}
    for name, old in state_tensors(state).items():
        new = getattr(rows, name)
        sizes = [max(pair) for pair in zip(old.shape[1:], new.shape[1:], strict=True)]
        merged[name] = _pad_to(old, sizes).index_copy(0, index, _pad_to(new, sizes))
    return replace(state, **merged)


def _pad_to(values: Tensor, sizes: Sequence[int]) -> Tensor:
    """Values whose dimensions after the first have these sizes, padded with zeros."""
    missing = [size - have for size, have in zip(sizes, values.shape[1:], strict=True)]
    if not any(missing):
        return values
    return functional.pad(values, [pad for more in reversed(missing) for pad in (0, more)])
