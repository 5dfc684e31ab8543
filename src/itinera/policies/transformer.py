"""Transformer layers over packed tokens: the tokens of all agents as rows of one table, without padding.

Agents differ in the numbers of their words, candidates and history steps. Layers that act on tokens one by one act on
rows; only attention works on padded tensors (`Packing`).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


@dataclass(frozen=True, eq=False)
class Packing:
    """The correspondence of packed rows and padded positions."""

    padded_index: Tensor  # (batch, max tokens) the row of each token; the number of rows for padding
    flat_index: Tensor  # (rows,) the position of each row in the flattened padded index

    @classmethod
    def from_padded_index(cls, padded_index: Tensor, rows: int) -> Packing:
        """The packing of `rows` rows, each of which occurs once in the padded index."""
        flat = padded_index.reshape(-1)
        flat_index = torch.empty(rows + 1, dtype=torch.int64, device=flat.device)
        flat_index[flat.clamp_max(rows)] = torch.arange(len(flat), device=flat.device)
        return cls(padded_index.clamp_max(rows), flat_index[:rows])

    @classmethod
    def from_mask(cls, mask: Tensor) -> Packing:
        """The packing of the tokens where a mask (batch, max tokens) is True, agent by agent."""
        flat = mask.reshape(-1)
        rows = int(flat.sum())
        padded_index = torch.where(flat, flat.cumsum(0) - 1, rows).reshape(mask.shape)
        return cls(padded_index, flat.nonzero().squeeze(1))

    @property
    def rows(self) -> int:
        return len(self.flat_index)

    @property
    def owner_index(self) -> Tensor:
        """(rows,) the agent each row belongs to."""
        return self.flat_index // self.padded_index.shape[1]

    @property
    def mask(self) -> Tensor:
        """(batch, max tokens) False for padding."""
        return self.padded_index < self.rows

    def pad(self, rows: Tensor) -> Tensor:
        """(batch, max tokens, dim) packed rows (rows, dim) at their padded positions; padding is arbitrary."""
        flat = self.padded_index.reshape(-1).clamp_max(self.rows - 1)
        return rows.index_select(0, flat).reshape(*self.padded_index.shape, -1)

    def pack(self, padded: Tensor) -> Tensor:
        """(rows, dim) the rows of a padded tensor (batch, max tokens, dim)."""
        return padded.flatten(0, 1).index_select(0, self.flat_index)


def multi_head_attention(queries: Tensor, keys_values: Tensor, mask: Tensor, num_heads: int) -> Tensor:
    """(batch, q, dim) attention of queries (batch, q, dim) to keys and values (batch, n, 2 dim), keys first.

    The mask (batch, n) must have a True in every row.
    """
    batch_size, q, dim = queries.shape
    heads = queries.reshape(batch_size, q, num_heads, -1).transpose(1, 2)
    keys, values = keys_values.reshape(batch_size, keys_values.shape[1], 2, num_heads, -1).permute(2, 0, 3, 1, 4)
    attended = scaled_dot_product_attention(heads, keys, values, attn_mask=mask[:, None, None])
    return attended.transpose(1, 2).reshape(batch_size, q, dim)


@dataclass(frozen=True)
class LayerConfig:
    """Sizes of a transformer layer."""

    dim: int  # of a token
    num_heads: int
    feedforward_dim: int
    norm_first: bool  # normalize before each sublayer, or after it as in BERT
    dropout: float


class AttentionProjections(nn.Module):
    """The linear layers of multi-head attention."""

    def __init__(self, dim: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Linear(dim, dim)
        self.key_value = nn.Linear(dim, 2 * dim)
        self.output = nn.Linear(dim, dim)


class Residual(nn.Module):
    """A residual connection with layer norm before or after the sublayer."""

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.dim, eps=1e-12)
        self.norm_first = config.norm_first
        self.dropout = nn.Dropout(config.dropout)

    def prepare(self, rows: Tensor) -> Tensor:
        """The input of the sublayer."""
        normed: Tensor = self.norm(rows) if self.norm_first else rows
        return normed

    def add(self, rows: Tensor, update: Tensor) -> Tensor:
        """The rows with the sublayer's output added."""
        total: Tensor = rows + self.dropout(update)
        normed: Tensor = total if self.norm_first else self.norm(total)
        return normed


class TransformerLayer(nn.Module):
    """Self-attention and a feed-forward network."""

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        self.attention = AttentionProjections(config.dim, config.num_heads)
        self.attention_residual = Residual(config)
        self.feedforward = nn.Sequential(
            nn.Linear(config.dim, config.feedforward_dim), nn.GELU(), nn.Linear(config.feedforward_dim, config.dim)
        )
        self.feedforward_residual = Residual(config)

    def forward(self, rows: Tensor, packing: Packing, outputs: Packing | None = None) -> Tensor:
        """The updated rows; with `outputs`, the packing of the first of them, only those are computed."""
        outputs = outputs or packing
        attention, inputs = self.attention, self.attention_residual.prepare(rows)
        keys_values = packing.pad(attention.key_value(inputs))
        queries = outputs.pad(attention.query(inputs[: outputs.rows]))
        attended = outputs.pack(multi_head_attention(queries, keys_values, packing.mask, attention.num_heads))
        rows = self.attention_residual.add(rows[: outputs.rows], attention.output(attended))
        return self.feedforward_residual.add(rows, self.feedforward(self.feedforward_residual.prepare(rows)))


class CrossModalLayer(nn.Module):
    """Cross-attention between text and vision with shared weights, then a layer for each (LXMERT)."""

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        self.cross_attention = AttentionProjections(config.dim, config.num_heads)
        self.cross_residual = Residual(config)
        self.visual_layer = TransformerLayer(config)
        self.text_layer = TransformerLayer(config)
        with torch.no_grad():  # similar tokens attend to each other from the start
            self.cross_attention.key_value.weight[: config.dim] = self.cross_attention.query.weight

    def keys_values(self, rows: Tensor, packing: Packing) -> Tensor:
        """(batch, max tokens, 2 dim) keys and values of one modality for the other."""
        return packing.pad(self.cross_attention.key_value(self.cross_residual.prepare(rows)))

    def cross_attend(self, rows: Tensor, packing: Packing, keys_values: Tensor, mask: Tensor) -> Tensor:
        """(rows, dim) the tokens of one modality after attention to the other."""
        queries = packing.pad(self.cross_attention.query(self.cross_residual.prepare(rows)))
        attended = multi_head_attention(queries, keys_values, mask, self.cross_attention.num_heads)
        return self.cross_residual.add(rows, self.cross_attention.output(packing.pack(attended)))
