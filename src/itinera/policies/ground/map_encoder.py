"""Encoders of egocentric maps of 64 x 64 cells into 4 x 4 cells of features.

A map is (n, 64, 64) uint8: 0 for empty cells, else 1 + class (`observation.merge_map`).

`ConvolutionalMapEncoder` is the paper's: four blocks of 7 x 7 convolution, batch normalization, ReLU and average
pooling of 14 channels. `BagMapEncoder` is far cheaper: its first layer sums an embedding of each occupied cell over
patches of 4 x 4 cells. That equals a 4 x 4 convolution with stride 4 over one-hot channels, computed from the few
occupied cells.

Reference: Krantz et al. 2022, Iterative Vision-and-Language Navigation, section 4.2.2.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from itinera.policies.ground._kernels import PATCH, add_embedding_gradients, sum_embeddings

TOKENS = 16  # 4 x 4 cells of features


class ConvolutionalMapEncoder(nn.Module):
    """The map encoder of MAP-CMA: (n, 16, dim) features. Its channels are occupancy, then a one-hot class.

    As in the released code, an empty cell has class 0.
    """

    def __init__(self, num_classes: int, dim: int = 128) -> None:
        super().__init__()
        self.num_classes = num_classes
        channels = [1 + num_classes, dim // 4, dim // 2, dim, dim]
        blocks: list[nn.Module] = []
        for inputs, outputs in pairwise(channels):
            blocks += [nn.Conv2d(inputs, outputs, 7, padding=3), nn.BatchNorm2d(outputs), nn.ReLU(), nn.AvgPool2d(2)]
        self.blocks = nn.Sequential(*blocks)

    def forward(self, cells: Tensor) -> Tensor:
        occupied = cells != 0
        one_hot = functional.one_hot(cells.long() - occupied.long(), self.num_classes).permute(0, 3, 1, 2)
        channels = torch.cat([occupied[:, None].float(), one_hot.float()], dim=1)
        features: Tensor = self.blocks(channels)
        return features.flatten(2).transpose(1, 2)


class BagMapEncoder(nn.Module):
    """A small map encoder: (n, 16, dim) features."""

    def __init__(self, num_classes: int, dim: int = 48) -> None:
        super().__init__()
        first, second = dim // 2, 2 * dim // 3
        self.bag = CellBag(num_classes, first)
        self.second = nn.Conv2d(first, second, 3, stride=2, padding=1)
        self.third = nn.Conv2d(second, dim, 3, stride=2, padding=1)

    def forward(self, cells: Tensor) -> Tensor:
        features = torch.relu(self.bag(cells))
        features = torch.relu(self.third(torch.relu(self.second(features))))
        return features.flatten(2).transpose(1, 2)


class CellBag(nn.Module):
    """(n, dim, rows / 4, columns / 4) the sum of the embeddings of a patch's occupied cells, plus a bias.

    Cells (n, rows, columns) are uint8: 0 where empty, else 1 + class.
    """

    def __init__(self, num_classes: int, dim: int) -> None:
        super().__init__()
        table = torch.randn(PATCH * PATCH, 1 + num_classes, dim) * 0.2
        self.table = nn.Parameter(table)
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, cells: Tensor) -> Tensor:
        if cells.device.type == "cpu":
            sums: Tensor = _SumEmbeddings.apply(cells, self.table)  # type: ignore[no-untyped-call]
        else:
            sums = sum_embeddings_dense(cells, self.table)
        return (sums + self.bias).permute(0, 3, 1, 2)


def sum_embeddings_dense(cells: Tensor, table: Tensor) -> Tensor:
    """(n, rows / 4, columns / 4, dim) the sums of `CellBag`, on any device: a convolution of one-hot channels."""
    kinds = table.shape[1]
    one_hot = functional.one_hot(cells.long(), kinds)[..., 1:].permute(0, 3, 1, 2).to(table.dtype)
    weight = table[:, 1:].permute(2, 1, 0).reshape(-1, kinds - 1, PATCH, PATCH)
    return functional.conv2d(one_hot, weight, stride=PATCH).permute(0, 2, 3, 1)


class _SumEmbeddings(torch.autograd.Function):
    """The same on the CPU, from occupied cells alone."""

    @staticmethod
    def forward(ctx: Any, cells: Tensor, table: Tensor) -> Tensor:
        cells = cells.contiguous()
        count, height, width = cells.shape
        sums = table.new_zeros(count, height // PATCH, width // PATCH, table.shape[2])
        sum_embeddings(cells.numpy(), table.detach().contiguous().numpy(), sums.numpy())
        ctx.save_for_backward(cells)
        ctx.table_shape = table.shape
        return sums

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        (cells,) = ctx.saved_tensors
        table = gradient.new_zeros(ctx.table_shape)
        add_embedding_gradients(cells.numpy(), gradient.contiguous().numpy(), table.numpy())
        return None, table
