"""What walkers see, as tensors: one `Seen` for a batch of them, whether they train together or one walks alone.

`sighted` makes the numbers that tell of the ways on; training reads them from tables (`training/vector_env.py`), an agent
that walks makes them from its observation (`policies/agent.py`). A test holds the two equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS

ANGLES = 4  # the first of the numbers that tell where a way leads: sine and cosine of heading and of elevation
GEOMETRY = 9  # those; the length of the way, whether one was there, came from there; how many ways on; how many moves
NEAR = 5.0  # metres, the length of a way that counts as 1
MANY = 8.0  # ways on, which count as 1
LONG = 10.0  # moves, which count as 1

_HEADINGS = torch.tensor(VIEW_HEADINGS, dtype=torch.float32)
_ELEVATIONS = torch.tensor(VIEW_ELEVATIONS, dtype=torch.float32)


@dataclass(frozen=True, eq=False)
class Seen:
    """What each of a batch of walkers sees. Ways are packed: all of the first walker, all of the second, …"""

    candidates: Tensor  # (rows, size) features of the view in which each way lies
    geometry: Tensor  # (rows, GEOMETRY) where it leads, seen from where the walker is turned to
    slots: Tensor  # (walkers, most) the row of each way of each walker; `rows` where it has no more
    here: Tensor  # (walkers, size) of each feature the most that any view has of it
    here_geometry: Tensor  # (walkers, GEOMETRY) how many ways on, how many moves; staying leads nowhere
    taken: Tensor  # (walkers, size) features of the way taken last; zeros at the start
    taken_geometry: Tensor  # (walkers, GEOMETRY)
    around: Tensor | None = None  # (walkers, 36, size) all views, for those who look around
    facing: Tensor | None = None  # (walkers, 36, ANGLES) where each view lies, seen from where the walker is turned to

    @property
    def walkers(self) -> int:
        return len(self.slots)

    @property
    def who(self) -> Tensor:
        """(rows,) whose way it is."""
        counts = self.open.sum(dim=1)
        return torch.repeat_interleave(torch.arange(self.walkers), counts, output_size=len(self.candidates))

    @property
    def open(self) -> Tensor:
        """(walkers, most) whether there is such a way."""
        return self.slots < len(self.candidates)


def slots_of(counts: Tensor) -> Tensor:
    """(walkers, most) the row of each way of each walker, where they have so many and rows are packed."""
    most, rows = int(counts.max()) if len(counts) else 0, int(counts.sum())
    column = torch.arange(most)
    numbers = (counts.cumsum(0) - counts)[:, None] + column
    return torch.where(column < counts[:, None], numbers, rows)


def geometry_of(
    headings: Tensor,
    elevations: Tensor,
    distances: Tensor,
    *,
    facing: Tensor,
    visited: Tensor,
    back: Tensor,
    counts: Tensor,
    moves: Tensor,
) -> Tensor:
    """(rows, GEOMETRY) where ways lead: all (rows,), headings and `facing` in radians, distances in metres.

    What is the same for all rows may be given once.
    """
    aside = headings - facing
    columns = (
        aside.sin(),
        aside.cos(),
        elevations.sin(),
        elevations.cos(),
        distances / NEAR,
        visited.float(),
        back.float(),
        (counts / MANY).expand_as(aside),
        (moves / LONG).expand_as(aside),
    )
    return torch.stack(columns, dim=1)


def moment(counts: Tensor, moves: Tensor) -> Tensor:
    """(walkers, GEOMETRY) what geometry tells of staying: how many ways on there are, and how many moves were made."""
    told = torch.zeros(len(counts), GEOMETRY)
    told[:, -2], told[:, -1] = counts / MANY, moves / LONG
    return told


def padded(rows: Tensor, slots: Tensor) -> Tensor:
    """(walkers, most, …) the rows in their slots, zeros where there is none."""
    zero = rows.new_zeros((1, *rows.shape[1:]))
    return torch.cat([rows, zero]).index_select(0, slots.reshape(-1)).reshape(*slots.shape, *rows.shape[1:])


def facing_views(view: Tensor) -> Tensor:
    """(walkers, 36, ANGLES) where the views lie for walkers turned to this one."""
    aside = _HEADINGS - _HEADINGS[view][:, None]
    lifted = _ELEVATIONS.expand_as(aside)
    return torch.stack((aside.sin(), aside.cos(), lifted.sin(), lifted.cos()), dim=-1)


def heading_of(view: Tensor) -> Tensor:
    """The heading of someone turned to this view, radians."""
    return _HEADINGS[view]
