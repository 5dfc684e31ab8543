"""Recurrent layers over sequences in which episodes start anywhere: a GRU with a backward pass of its own, and an LSTM.

The products with the inputs are one matrix product for all steps, and only the products with the last state are made
step by step. Of the GRU the backward pass is written out too, which makes training on a CPU about a third faster than
recording every step. States are one tensor (batch, `state_dim`), so that a policy need not know its cell.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from itinera.errors import validate_choice

CELLS = ("gru", "lstm")


class Recurrent(nn.Module):
    """A stack of recurrent layers; weights have the layout of `nn.GRU` and `nn.LSTM`."""

    def __init__(self, cell: str, input_dim: int, hidden_dim: int, num_layers: int = 1) -> None:
        super().__init__()
        self.cell = validate_choice("cell", cell, CELLS)
        make: type[_GRULayer | _LSTMLayer] = _GRULayer if cell == "gru" else _LSTMLayer
        self.layers = nn.ModuleList(make(input_dim if k == 0 else hidden_dim, hidden_dim) for k in range(num_layers))
        self.hidden_dim = hidden_dim
        self.state_dim = num_layers * make.states * hidden_dim

    def forward(self, inputs: Tensor, state: Tensor, starts: Tensor) -> tuple[Tensor, Tensor]:
        """(steps, batch, hidden) outputs and (batch, state_dim) the last state.

        `inputs` (steps, batch, input), `state` (batch, state_dim), `starts` (steps, batch) 1.0 where an episode
        starts, which forgets the state before it.
        """
        keep = 1.0 - starts
        last = []
        for layer, part in zip(self.layers, state.chunk(len(self.layers), dim=1), strict=True):
            inputs, part = layer(inputs, part, keep)
            last.append(part)
        return inputs, torch.cat(last, dim=1)


class _Layer(nn.Module):
    states: int  # tensors of a state

    def __init__(self, gates: int, input_dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.weight_ih = nn.Parameter(torch.empty(gates * hidden_dim, input_dim))
        self.weight_hh = nn.Parameter(torch.empty(gates * hidden_dim, hidden_dim))
        self.bias_ih = nn.Parameter(torch.zeros(gates * hidden_dim))
        self.bias_hh = nn.Parameter(torch.zeros(gates * hidden_dim))
        bound = 1 / math.sqrt(hidden_dim)
        for weight in (self.weight_ih, self.weight_hh):
            nn.init.uniform_(weight, -bound, bound)


class _GRULayer(_Layer):
    states = 1

    def __init__(self, input_dim: int, hidden_dim: int) -> None:
        super().__init__(3, input_dim, hidden_dim)

    def forward(self, inputs: Tensor, state: Tensor, keep: Tensor) -> tuple[Tensor, Tensor]:
        gates = functional.linear(inputs, self.weight_ih, self.bias_ih)
        outputs: Tensor = _GRUScan.apply(gates, state, keep, self.weight_hh, self.bias_hh)  # type: ignore[no-untyped-call]
        return outputs, outputs[-1]


class _LSTMLayer(_Layer):
    states = 2  # hidden and cell

    def __init__(self, input_dim: int, hidden_dim: int) -> None:
        super().__init__(4, input_dim, hidden_dim)

    def forward(self, inputs: Tensor, state: Tensor, keep: Tensor) -> tuple[Tensor, Tensor]:
        gates = functional.linear(inputs, self.weight_ih, self.bias_ih + self.bias_hh)
        hidden, cell = state.chunk(2, dim=1)
        outputs = []
        for step, kept in zip(gates, keep[:, :, None], strict=True):
            hidden, cell = hidden * kept, cell * kept
            i, f, g, o = (step + hidden @ self.weight_hh.t()).chunk(4, dim=1)
            cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
            hidden = o.sigmoid() * cell.tanh()
            outputs.append(hidden)
        return torch.stack(outputs), torch.cat([hidden, cell], dim=1)


class _GRUScan(torch.autograd.Function):
    """The states of a GRU after each step, from the products of its inputs."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, state: Tensor, keep: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        steps, batch, hidden = *gates.shape[:2], weight.shape[1]
        before, after = gates.new_empty(steps, batch, hidden), gates.new_empty(steps, batch, hidden)
        reset_update, candidate = gates.new_empty(steps, batch, 2 * hidden), gates.new_empty(steps, batch, hidden)
        recurrent = gates.new_empty(steps, batch, hidden)  # the part of the candidate that the reset gate scales
        transposed = weight.t()
        for k in range(steps):
            torch.mul(state, keep[k, :, None], out=before[k])
            products = torch.addmm(bias, before[k], transposed)
            torch.sigmoid(gates[k, :, : 2 * hidden] + products[:, : 2 * hidden], out=reset_update[k])
            recurrent[k] = products[:, 2 * hidden :]
            reset, update = reset_update[k, :, :hidden], reset_update[k, :, hidden:]
            torch.tanh(torch.addcmul(gates[k, :, 2 * hidden :], reset, recurrent[k]), out=candidate[k])
            state = torch.lerp(candidate[k], before[k], update, out=after[k])
        ctx.save_for_backward(keep, weight, before, reset_update, candidate, recurrent)
        return after

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_after: Tensor) -> tuple[Tensor | None, ...]:
        keep, weight, before, reset_update, candidate, recurrent = ctx.saved_tensors
        steps, batch, hidden = before.shape
        reset, update = reset_update[..., :hidden], reset_update[..., hidden:]
        # What does not depend on the gradient from later steps, for all steps at once.
        to_candidate = (1 - update) * (1 - candidate * candidate)
        to_update = (before - candidate) * update * (1 - update)
        to_reset = to_candidate * recurrent * reset * (1 - reset)
        slopes = torch.cat([to_reset, to_update, to_candidate * reset], dim=2)
        grad_products = before.new_empty(steps, batch, 3 * hidden)
        flowing = before.new_empty(steps, batch, hidden)  # the whole gradient of each state
        grad_state = torch.zeros_like(before[0])
        for k in range(steps - 1, -1, -1):
            grad = torch.add(grad_after[k], grad_state, out=flowing[k])
            torch.mul(slopes[k].view(batch, 3, hidden), grad[:, None], out=grad_products[k].view(batch, 3, hidden))
            grad_state = torch.addmm(grad * update[k], grad_products[k], weight).mul_(keep[k, :, None])
        grad_gates = torch.cat([grad_products[..., : 2 * hidden], flowing * to_candidate], dim=2)
        flat = grad_products.view(-1, 3 * hidden)
        grad_weight = flat.t() @ before.view(-1, hidden)
        return grad_gates, grad_state, None, grad_weight, flat.sum(dim=0)
