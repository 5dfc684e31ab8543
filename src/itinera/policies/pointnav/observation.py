"""The tensors of a PointNav policy, made of the arrays of a stage or of the observation of one simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

NEAR, FAR = 0.8, 3.0  # metres over which the two encodings of a distance fall to 1/e
RADIUS = 0.2  # metres, of success


@dataclass(frozen=True, eq=False)
class PointNavTensors:
    """Observations of steps and environments."""

    pointgoal: Tensor  # (steps, batch, 2) metres to the goal, and its bearing in radians
    sensed: Tensor  # (steps, batch, rays), (steps, batch, rows, columns), or (steps, batch, 0) metres
    contact: Tensor  # (steps, batch) 1.0 where the last action touched a wall
    last_actions: Tensor  # (steps, batch) the action before
    starts: Tensor  # (steps, batch) 1.0 at the first step of an episode

    def select(self, index: Tensor) -> PointNavTensors:
        """The same for some environments."""
        parts = (self.pointgoal, self.sensed, self.contact, self.last_actions, self.starts)
        return PointNavTensors(*(part.index_select(1, index) for part in parts))

    def to(self, device: torch.device | str) -> PointNavTensors:
        """The same on another device."""
        parts = (self.pointgoal, self.sensed, self.contact, self.last_actions, self.starts)
        return PointNavTensors(*(part.to(device) for part in parts))


def make_tensors(
    observations: Mapping[str, NDArray[np.float32]], sensor: str, last_actions: Tensor, starts: Tensor
) -> PointNavTensors:
    """The tensors (1, batch, …) of the arrays of a stage."""
    count = len(last_actions)
    name = {"scan": "scan", "pooled-depth": "depth", "depth": "depth"}.get(sensor)
    sensed = torch.zeros(count, 0) if name is None else torch.from_numpy(np.array(observations[name], np.float32))
    return PointNavTensors(
        torch.from_numpy(np.array(observations["pointgoal"], np.float32))[None],
        sensed[None],
        torch.from_numpy(np.array(observations["contact"], np.float32))[None],
        last_actions[None],
        starts[None],
    )


def stack_steps(steps: list[PointNavTensors]) -> PointNavTensors:
    """The tensors of consecutive steps as one."""
    names = ("pointgoal", "sensed", "contact", "last_actions", "starts")
    return PointNavTensors(*(torch.cat([getattr(step, name) for step in steps]) for name in names))


def goal_features(pointgoal: Tensor) -> Tensor:
    """(..., 7) the goal as features with contrast near and far: r/10, e^-r, min(r, 1), whether r < 0.2, cos, sin, and
    the bearing over pi."""
    r, bearing = pointgoal[..., 0], pointgoal[..., 1]
    return torch.stack(
        [
            r / 10,
            torch.exp(-r),
            r.clamp(max=1.0),
            (r < RADIUS).float(),
            bearing.cos(),
            bearing.sin(),
            bearing / torch.pi,
        ],
        dim=-1,
    )


def encode_ranges(metres: Tensor, *, dim: int) -> Tensor:
    """Distances as two channels at `dim`, with contrast at 0.2 to 2 m and at 1 to 10 m."""
    return torch.stack([torch.exp(metres / -NEAR), torch.exp(metres / -FAR)], dim=dim)
