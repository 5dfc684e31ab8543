"""Scaled dot-product attention of queries over a few keys."""

from __future__ import annotations

import math

import torch
from torch import Tensor

PADDING = -1e8  # the score of padding, as in VLN-CE


def attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None) -> Tensor:
    """(batch, queries, values' dim) the mean of values (batch, n, …) weighted by softmax(queries · keys / sqrt(dim)).

    `mask` (batch, n) is False for padding.
    """
    scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(keys.shape[2])
    if mask is not None:
        scores = scores.masked_fill(~mask[:, None], PADDING)
    return torch.bmm(scores.softmax(dim=2), values)
