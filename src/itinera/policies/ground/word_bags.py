"""Weighted sums of word vectors, with a kernel on the CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from itinera.policies.ground._polar_kernels import sum_gradients, sum_rows


def sum_words(table: Tensor, words: Tensor, weights: Tensor, rows: Tensor, count: int) -> Tensor:
    """(count, dim) the sum of weights[k] * table[words[k]] over the k with rows[k] = r, for each row r."""
    if table.device.type == "cpu" and table.dtype is torch.float32:
        summed: Tensor = _SumWords.apply(table, words, weights, rows, count)  # type: ignore[no-untyped-call]
        return summed
    out = table.new_zeros(count, table.shape[1])
    return out.index_add(0, rows, table[words] * weights[:, None])


class _SumWords(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, words: Tensor, weights: Tensor, rows: Tensor, count: int) -> Tensor:
        ctx.save_for_backward(words, weights, rows)
        ctx.size = len(table)
        out = table.new_zeros(count, table.shape[1])
        sum_rows(table.detach().numpy(), words.numpy(), weights.numpy(), rows.numpy(), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None, None]:
        words, weights, rows = ctx.saved_tensors
        grad = grads[0].contiguous()
        out = grad.new_zeros(ctx.size, grad.shape[1])
        sum_gradients(grad.numpy(), words.numpy(), weights.numpy(), rows.numpy(), out.numpy())
        return out, None, None, None, None
