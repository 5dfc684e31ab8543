"""Batches of observations on the ground as tensors: camera images, egocentric maps, the previous action.

`GroundObservation` is one step of a batch of agents. `GroundSequence` holds the steps of whole trajectories without
padding, so that a network sees every frame once; `pad` and `pack` convert between the two layouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from itinera.errors import BadArgument
from itinera.policies.base import select_rows
from itinera.policies.ground._kernels import reduce_depth, reduce_rgb

NUM_ACTIONS = 4  # STOP, forward, left, right
NO_PREVIOUS, COLLIDED = 0, 5  # previous actions: none yet; forward into an obstacle. Others are the action + 1
NUM_PREVIOUS = 6
DEPTH_RANGE = 10.0  # metres; what is farther away is coded like this distance
_FORWARD = 1


@dataclass(frozen=True, eq=False)
class GroundObservation:
    """The observations of a batch of agents. Fields that a policy does not use may be None."""

    depth: Tensor  # (batch, 1, size, size) uint8, 255 for 10 m and more; or floats from 0 to 1
    previous_action: Tensor  # (batch,) int64: 0 at the start of an episode, else action + 1; 5 for a collision
    rgb: Tensor | None = None  # (batch, 3, size, size) uint8; or floats from 0 to 1
    map: Tensor | None = None  # (batch, cells, cells) uint8: 0 for empty cells, else 1 + class

    @property
    def batch_size(self) -> int:
        return len(self.previous_action)


@dataclass(frozen=True, eq=False)
class Layout:
    """How the steps of trajectories lie in a table with a row per trajectory, and one after another without padding."""

    index: Tensor  # (trajectories, max steps) the number of each step; any number for padding
    mask: Tensor  # (trajectories, max steps) False for padding
    position: Tensor  # (steps,) the place of each step in the flattened table

    @classmethod
    def from_lengths(cls, lengths: NDArray[np.int64], device: torch.device) -> Layout:
        """The layout of trajectories with these numbers of steps."""
        column = np.arange(lengths.max())
        mask = column < lengths[:, None]
        index = np.where(mask, column + (lengths.cumsum() - lengths)[:, None], 0)
        return cls(*(torch.from_numpy(array).to(device) for array in (index, mask, np.flatnonzero(mask))))

    def pad(self, values: Tensor) -> Tensor:
        """(trajectories, max steps, …) from values (steps, …)."""
        return values.index_select(0, self.index.reshape(-1)).reshape(*self.index.shape, *values.shape[1:])

    def pack(self, values: Tensor) -> Tensor:
        """(steps, …) from values (trajectories, max steps or more, …)."""
        return values[:, : self.index.shape[1]].flatten(0, 1).index_select(0, self.position)


@dataclass(frozen=True, eq=False)
class GroundSequence:
    """The observations of whole trajectories: all frames of the first one, then all of the second, and so on.

    An agent may be guided at the end of a trajectory, to a goal it missed and to the next start. These frames are
    remembered, but no action is predicted for them.
    """

    frames: GroundObservation  # (frames, …) of all trajectories
    steps: Layout  # of all frames
    acting: Layout  # of the steps at which the agent acts; the same as `steps` if it is never guided
    acting_frames: Tensor | None  # (acting steps,) their frames; None for all

    @classmethod
    def from_lengths(
        cls, frames: GroundObservation, lengths: Sequence[int], guided: Sequence[int] | None = None
    ) -> GroundSequence:
        """The sequence of trajectories with these numbers of frames, of which the last `guided` are guided."""
        total = np.asarray(lengths, dtype=np.int64)
        if not len(total) or total.min() < 1 or total.sum() != frames.batch_size:
            raise BadArgument(
                f"{frames.batch_size} frames are not {len(total)} trajectories of {total.sum()} frames in all; every "
                "trajectory needs at least one."
            )
        device = frames.previous_action.device
        steps = Layout.from_lengths(total, device)
        if guided is None or not any(guided):
            return cls(frames, steps, steps, None)
        count = total - np.asarray(guided, dtype=np.int64)
        if count.shape != total.shape or count.min() < 1 or (count > total).any():
            raise BadArgument("guided must be the number of guided frames of each trajectory, fewer than its frames.")
        rows = np.concatenate([np.arange(n) + first for n, first in zip(count, total.cumsum() - total, strict=True)])
        return cls(frames, steps, Layout.from_lengths(count, device), torch.from_numpy(rows).to(device))

    def without_guided(self) -> GroundSequence:
        """The same trajectories without their guided frames."""
        if self.acting_frames is None:
            return self
        return GroundSequence(select_rows(self.frames, self.acting_frames), self.acting, self.acting, None)

    @property
    def num_trajectories(self) -> int:
        return len(self.steps.index)

    @property
    def mask(self) -> Tensor:
        """(trajectories, max acting steps) True where an action is predicted."""
        return self.acting.mask


def encode_previous_actions(actions: NDArray[Any], collided: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The codes of actions for `GroundObservation.previous_action`; -1 for none yet."""
    codes = np.asarray(actions, dtype=np.int64) + 1
    return np.where(np.asarray(collided) & (codes == _FORWARD + 1), COLLIDED, codes)


def encode_depth(depth: NDArray[np.floating], size: int) -> NDArray[np.uint8]:
    """(…, 1, size, size) depth images (…, height, width) in metres as bytes: the nearest point of every pixel."""
    height, width = depth.shape[-2:]
    if height % size or width % size:
        raise BadArgument(f"A depth image of {width} x {height} pixels cannot be reduced to {size} x {size}.")
    images = np.ascontiguousarray(depth, dtype=np.float32).reshape(-1, height, width)
    codes = np.empty((len(images), size, size), dtype=np.uint8)
    reduce_depth(images, DEPTH_RANGE, codes)
    return codes.reshape(*depth.shape[:-2], 1, size, size)


def encode_rgb(rgb: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """(…, 3, size, size) color images (…, height, width, 3), smaller by averaging."""
    height, width = rgb.shape[-3:-1]
    images = np.ascontiguousarray(rgb).reshape(-1, height, width, 3)
    if height % size or width % size:  # such as 256 to 224 pixels
        flat = torch.from_numpy(images).permute(0, 3, 1, 2).float()
        smaller = functional.adaptive_avg_pool2d(flat, size).round().to(torch.uint8).numpy()
    else:
        smaller = np.empty((len(images), 3, size, size), dtype=np.uint8)
        reduce_rgb(images, smaller)
    return smaller.reshape(*rgb.shape[:-3], 3, size, size)


def to_unit(image: Tensor) -> Tensor:
    """An image as floats from 0 to 1."""
    return image.float() / 255 if image.dtype is torch.uint8 else image


def merge_map(occupancy: NDArray[np.uint8], classes: NDArray[Any]) -> NDArray[np.uint8]:
    """(…, rows, columns) the code of each cell of a map: 0 for empty cells, else 1 + class."""
    return np.where(occupancy != 0, classes.astype(np.uint8) + 1, 0).astype(np.uint8)
