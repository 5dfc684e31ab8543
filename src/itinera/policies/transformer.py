"""Parts of transformers over packed tokens: those of all walkers in one table of rows, without gaps.

Walkers have as many tokens as they have words, ways on and steps behind them. All that is done to tokens one by one is
done to rows; only attention sees them walker by walker.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


@dataclass(frozen=True, eq=False)
class Packing:
    """Where the tokens of each walker stand among packed rows."""

    slots: Tensor  # (walkers, most) the row of each token; as many as there are rows where there is none
    cells: Tensor  # (rows,) where each row stands in the slots, counted through

    @property
    def rows(self) -> int:
        return len(self.cells)

    @property
    def walkers(self) -> Tensor:
        """(rows,) whose each row is."""
        return self.cells // self.slots.shape[1]

    @property
    def mask(self) -> Tensor:
        """(walkers, most) whether there is such a token."""
        return self.slots < self.rows

    def spread(self, rows: Tensor) -> Tensor:
        """(walkers, most, size) rows (rows, size) in their slots; where there is none, any."""
        flat = self.slots.reshape(-1).clamp_max(self.rows - 1)
        return rows.index_select(0, flat).reshape(*self.slots.shape, -1)

    def gather(self, table: Tensor) -> Tensor:
        """(rows, size) the rows of a table (walkers, most, size)."""
        return table.flatten(0, 1).index_select(0, self.cells)


def packing_of(slots: Tensor, rows: int) -> Packing:
    """The packing of so many rows, each of which stands in one of the slots."""
    flat = slots.reshape(-1)
    cells = torch.empty(rows + 1, dtype=torch.int64)
    cells[flat.clamp_max(rows)] = torch.arange(len(flat))
    return Packing(slots.clamp_max(rows), cells[:rows])


def packing_of_mask(mask: Tensor) -> Packing:
    """The packing of the tokens that are there (walkers, most), walker by walker."""
    flat = mask.reshape(-1)
    rows = int(flat.sum())
    slots = torch.where(flat, flat.cumsum(0) - 1, rows).reshape(mask.shape)
    return Packing(slots, flat.nonzero().squeeze(1))


def attend(asked: Tensor, offered: Tensor, mask: Tensor, heads: int) -> Tensor:
    """(walkers, q, size) what is found where `asked` (walkers, q, size) fits `offered` (walkers, n, 2 size).

    The first half of what is offered are keys, the second values. Of every walker the mask (walkers, n) leaves
    something to look at.
    """
    walkers, q, size = asked.shape
    queries = asked.reshape(walkers, q, heads, -1).transpose(1, 2)
    keys, values = offered.reshape(walkers, offered.shape[1], 2, heads, -1).permute(2, 0, 3, 1, 4)
    found = scaled_dot_product_attention(queries, keys, values, attn_mask=mask[:, None, None])
    return found.transpose(1, 2).reshape(walkers, q, size)


@dataclass(frozen=True)
class Shape:
    """How the layers of a transformer are built."""

    size: int  # of a token
    heads: int
    inner: int  # of a thought about it
    first: bool  # whether tokens are normed before each part, or after it as in BERT
    dropout: float


class Attention(nn.Module):
    """The projections of attention with several heads."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.ask = nn.Linear(size, size)
        self.offer = nn.Linear(size, 2 * size)
        self.join = nn.Linear(size, size)


class Residual(nn.Module):
    """Adding to tokens, which are normed before or after it."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(shape.size, eps=1e-12)
        self.first = shape.first
        self.dropout = nn.Dropout(shape.dropout)

    def before(self, rows: Tensor) -> Tensor:
        """What the addition is made from."""
        normed: Tensor = self.norm(rows) if self.first else rows
        return normed

    def after(self, rows: Tensor, added: Tensor) -> Tensor:
        total: Tensor = rows + self.dropout(added)
        normed: Tensor = total if self.first else self.norm(total)
        return normed


class Block(nn.Module):
    """Attention of tokens to one another, then a thought about each."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attention = Attention(shape.size, shape.heads)
        self.met = Residual(shape)
        self.think = nn.Sequential(nn.Linear(shape.size, shape.inner), nn.GELU(), nn.Linear(shape.inner, shape.size))
        self.thought = Residual(shape)

    def forward(self, rows: Tensor, packing: Packing, asked: Packing | None = None) -> Tensor:
        """The rows anew; with `asked`, the packing of the first of them, only those, the others being looked at."""
        asked = asked or packing
        attention, into = self.attention, self.met.before(rows)
        offered = packing.spread(attention.offer(into))
        queries = asked.spread(attention.ask(into[: asked.rows]))
        found = asked.gather(attend(queries, offered, packing.mask, attention.heads))
        rows = self.met.after(rows[: asked.rows], attention.join(found))
        return self.thought.after(rows, self.think(self.thought.before(rows)))


class CrossLayer(nn.Module):
    """Words and sights look at each other, by the same weights both ways; then each look among themselves (LXMERT)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.cross = Attention(shape.size, shape.heads)
        self.met = Residual(shape)
        self.see = Block(shape)
        self.say = Block(shape)
        with torch.no_grad():  # what is alike finds each other from the start
            self.cross.offer.weight[: shape.size] = self.cross.ask.weight

    def offered(self, rows: Tensor, packing: Packing) -> Tensor:
        """(walkers, most, 2 size) what the tokens of one side offer to the other."""
        return packing.spread(self.cross.offer(self.met.before(rows)))

    def look(self, rows: Tensor, packing: Packing, offered: Tensor, mask: Tensor) -> Tensor:
        """(rows, size) the tokens of one side after looking at what the other offered."""
        queries = packing.spread(self.cross.ask(self.met.before(rows)))
        found = packing.gather(attend(queries, offered, mask, self.cross.heads))
        return self.met.after(rows, self.cross.join(found))
