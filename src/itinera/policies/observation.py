"""Observations of a batch of agents as tensors.

`encode_geometry` computes the geometric features of candidates. Training reads the rest from tables
(`training/vector_env.py`); an agent in a simulator computes it from its `Observation` (`policies/agent.py`). A test
checks that both give the same tensors.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS

ANGLE_DIM = 4  # sine and cosine of relative heading and elevation: the first columns of the geometry
GEOMETRY_DIM = 9  # angles, distance, visited before, leads back, number of candidates, number of moves
DISTANCE_SCALE = 5.0  # metres that count as 1
CANDIDATE_SCALE = 8.0  # candidates that count as 1
MOVE_SCALE = 10.0  # moves that count as 1

_HEADINGS = torch.tensor(VIEW_HEADINGS, dtype=torch.float32)
_ELEVATIONS = torch.tensor(VIEW_ELEVATIONS, dtype=torch.float32)


@dataclass(frozen=True, eq=False)
class BatchObservation:
    """Observations of a batch of agents. Candidates are packed: all of the first agent, then all of the second, …"""

    candidates: Tensor  # (rows, features) of the view that contains each candidate
    geometry: Tensor  # (rows, GEOMETRY_DIM) of each candidate, relative to the agent's heading
    padded_index: Tensor  # (batch, max candidates) the row of each candidate; the number of rows for padding
    place: Tensor  # (batch, features) the maximum of each feature over all views
    place_geometry: Tensor  # (batch, GEOMETRY_DIM) of staying: only the numbers of candidates and moves are not 0
    previous: Tensor  # (batch, features) of the candidate chosen last; zeros at the start
    previous_geometry: Tensor  # (batch, GEOMETRY_DIM)
    panorama: Tensor | None = None  # (batch, 36, features) all views, for policies that use them
    view_angles: Tensor | None = None  # (batch, 36, ANGLE_DIM) direction of each view, relative to the agent's heading

    @property
    def batch_size(self) -> int:
        return len(self.padded_index)

    @property
    def owner_index(self) -> Tensor:
        """(rows,) the agent each candidate belongs to."""
        counts = self.mask.sum(dim=1)
        return torch.repeat_interleave(
            torch.arange(self.batch_size, device=counts.device), counts, output_size=len(self.candidates)
        )

    @property
    def mask(self) -> Tensor:
        """(batch, max candidates) False for padding."""
        return self.padded_index < len(self.candidates)


def make_padded_index(counts: Tensor) -> Tensor:
    """(batch, max count) row numbers of packed rows, `counts` (batch,) of each; the number of rows for padding."""
    longest, rows = int(counts.max()) if len(counts) else 0, int(counts.sum())
    column = torch.arange(longest, device=counts.device)
    numbers = (counts.cumsum(0) - counts)[:, None] + column
    return torch.where(column < counts[:, None], numbers, rows)


def pad_rows(rows: Tensor, padded_index: Tensor) -> Tensor:
    """(batch, max count, …) packed rows by their padded index, zeros for padding."""
    zero = rows.new_zeros((1, *rows.shape[1:]))
    padded = torch.cat([rows, zero]).index_select(0, padded_index.reshape(-1))
    return padded.reshape(*padded_index.shape, *rows.shape[1:])


def encode_geometry(
    headings: Tensor,
    elevations: Tensor,
    distances: Tensor,
    *,
    agent_heading: Tensor,
    visited: Tensor,
    back: Tensor,
    counts: Tensor,
    moves: Tensor,
) -> Tensor:
    """(rows, GEOMETRY_DIM) of candidates: every argument (rows,), angles in radians, distances in metres.

    `counts` and `moves` may be scalars if they are the same for all rows.
    """
    relative = headings - agent_heading
    columns = (
        relative.sin(),
        relative.cos(),
        elevations.sin(),
        elevations.cos(),
        distances / DISTANCE_SCALE,
        visited.float(),
        back.float(),
        (counts / CANDIDATE_SCALE).expand_as(relative),
        (moves / MOVE_SCALE).expand_as(relative),
    )
    return torch.stack(columns, dim=1)


def encode_place_geometry(counts: Tensor, moves: Tensor) -> Tensor:
    """(batch, GEOMETRY_DIM) the geometry of staying, from the numbers of candidates and of moves made."""
    geometry = torch.zeros(len(counts), GEOMETRY_DIM, device=counts.device)
    geometry[:, -2], geometry[:, -1] = counts / CANDIDATE_SCALE, moves / MOVE_SCALE
    return geometry


def encode_view_angles(view: Tensor) -> Tensor:
    """(batch, 36, ANGLE_DIM) directions of all views for agents that face the views `view` (batch,)."""
    headings = _HEADINGS.to(view.device)
    relative = headings - headings[view][:, None]
    elevations = _ELEVATIONS.to(view.device).expand_as(relative)
    return torch.stack((relative.sin(), relative.cos(), elevations.sin(), elevations.cos()), dim=-1)


def view_headings(view: Tensor) -> Tensor:
    """(batch,) the headings of these views, radians."""
    return _HEADINGS.to(view.device)[view]
