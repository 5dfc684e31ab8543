"""Noise on the candidates and views of graphs, as agents meet it on the ground: waypoints are not viewpoints.

With a `CandidateJitter` as its `jitter`, a `BatchedGraphEnv` changes every observation: candidates lie elsewhere or are
missing, rooms are mistaken, and what lies farther off is uncertain. Nothing is rendered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from itinera.policies.observation import CANDIDATE_SCALE, BatchObservation
from itinera.simulators.view_features import feature_kind

SINE, COSINE, DISTANCE, COUNT = 0, 1, 4, 7  # columns of the geometry


@dataclass(frozen=True)
class JitterConfig:
    """How much observations are changed."""

    heading: float = math.radians(15)  # radians to either side
    shortest: float = 0.7  # factors on the distance
    longest: float = 1.2
    dropped: float = 0.1  # share of candidates that are missing; an agent keeps at least one
    wrong_rooms: float = 0.12  # share of places and candidates whose room is another's
    wrong_same: float = 0.15  # share of candidates for which "to the same room" is wrong
    towards: float = 0.3  # share of what lies farther off that is missing; the rest is weighted by 0.5 to 1.5


class CandidateJitter:
    """Changes observations; `columns` are the names of the view features. Draws are from torch's global generator."""

    def __init__(self, columns: Sequence[str], config: JitterConfig | None = None) -> None:
        self.config = config or JitterConfig()
        kinds = [feature_kind(column) for column in columns]
        same = [k for k, column in enumerate(columns) if column == "to the same room"]
        self._here = torch.tensor([k for k, kind in enumerate(kinds) if kind == "in"], dtype=torch.int64, device="cpu")
        self._same = torch.tensor(same, dtype=torch.int64, device="cpu")
        self._ahead = torch.tensor(
            [k for k, kind in enumerate(kinds) if kind == "to" and k not in same], dtype=torch.int64
        )
        self._towards = torch.tensor([k for k, kind in enumerate(kinds) if kind == "towards"], dtype=torch.int64)

    def apply(self, observation: BatchObservation) -> BatchObservation:
        """The observation with noise. Actions keep their numbers: those of missing candidates are padding."""
        return self._drop(self._mistake(self._move(observation)))

    def _move(self, observation: BatchObservation) -> BatchObservation:
        c, geometry = self.config, observation.geometry.clone()
        rows = len(geometry)
        angle = (
            torch.atan2(geometry[:, SINE], geometry[:, COSINE])
            + (2 * torch.rand(rows, device=geometry.device) - 1) * c.heading
        )
        factor = c.shortest + torch.rand(rows, device=geometry.device) * (c.longest - c.shortest)
        geometry[:, SINE], geometry[:, COSINE] = angle.sin(), angle.cos()
        geometry[:, DISTANCE] = geometry[:, DISTANCE] * factor
        return replace(observation, geometry=geometry)

    def _mistake(self, observation: BatchObservation) -> BatchObservation:
        """Other rooms, and less of what lies farther off."""
        c, owners = self.config, observation.owner_index
        candidates, place = observation.candidates.clone(), observation.place.clone()
        agents, rows, device = len(place), len(candidates), place.device
        if len(self._here):
            donor = _some_other(agents, c.wrong_rooms, device)
            here = observation.place[:, self._here][donor]
            place[:, self._here], candidates[:, self._here] = here, here[owners]
        if len(self._ahead) and rows:
            candidates[:, self._ahead] = observation.candidates[:, self._ahead][
                _some_other(rows, c.wrong_rooms, device)
            ]
        if len(self._same) and rows:
            wrong = torch.rand(rows, 1, device=device) < c.wrong_same
            same = candidates[:, self._same]
            candidates[:, self._same] = torch.where(wrong, 1 - same, same)
        if len(self._towards):
            # The same for all candidates of an agent: it is the same thing that is overlooked.
            noticed = torch.rand(agents, len(self._towards), device=device) >= c.towards
            weight = noticed * (0.5 + torch.rand(agents, 1, device=device))
            place[:, self._towards] = (place[:, self._towards] * weight).clamp_max(1.0)
            candidates[:, self._towards] = (candidates[:, self._towards] * weight[owners]).clamp_max(1.0)
        return replace(observation, candidates=candidates, place=place)

    def _drop(self, observation: BatchObservation) -> BatchObservation:
        owners, rows = observation.owner_index, len(observation.candidates)
        if not rows or not self.config.dropped:
            return observation
        device = owners.device
        keep = torch.rand(rows, device=device) >= self.config.dropped
        none = torch.zeros(observation.batch_size, dtype=torch.int64, device=device)
        left = none.index_add(0, owners, keep.long())
        keep = keep | (left == 0)[owners]
        counts = none.index_add(0, owners, keep.long())
        kept = int(keep.sum())
        position = torch.cat([torch.where(keep, keep.long().cumsum(0) - 1, kept), owners.new_tensor([kept])])
        geometry, place_geometry = observation.geometry[keep].clone(), observation.place_geometry.clone()
        geometry[:, COUNT] = counts[owners[keep]] / CANDIDATE_SCALE
        place_geometry[:, COUNT] = counts / CANDIDATE_SCALE
        return replace(
            observation,
            candidates=observation.candidates[keep],
            geometry=geometry,
            padded_index=position[observation.padded_index],
            place_geometry=place_geometry,
        )


def _some_other(count: int, share: float, device: torch.device) -> Tensor:
    """(count,) the index of each, and for a random share that of any."""
    own = torch.arange(count, device=device)
    other = torch.randint(max(count, 1), (count,), device=device)
    return torch.where(torch.rand(count, device=device) < share, other, own)
