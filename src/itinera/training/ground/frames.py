"""Frames: what agents see at their steps, as small as they can be stored and as the networks take them.

A frame is a depth image and, where a policy uses them, a color image and a map: bytes all of them. A step of 64 x 64
pixels and cells takes 8 KB, and a tenth of that packed. Acting, replaying and learning use the same bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from itinera.mapping.config import MapLifetime
from itinera.policies.ground.observation import GroundObservation

Bytes = NDArray[np.uint8]
LEVEL = 1  # of zlib: higher ones save a tenth and take four times as long


@dataclass(frozen=True, eq=False)
class Frames:
    """The images and maps of n steps."""

    depth: Bytes  # (n, 1, size, size) as `encode_depth`
    rgb: Bytes | None  # (n, 3, size, size)
    maps: Mapping[MapLifetime, Bytes]  # each (n, cells, cells): 0 for an empty cell, else its class + 1

    def __len__(self) -> int:
        return len(self.depth)

    def take(self, rows: NDArray[np.int64] | slice) -> Frames:
        """The frames of some steps."""
        rgb = None if self.rgb is None else self.rgb[rows]
        return Frames(self.depth[rows], rgb, {life: cells[rows] for life, cells in self.maps.items()})

    def observation(
        self, previous_action: NDArray[np.int64], lifetime: MapLifetime | None, device: torch.device | str = "cpu"
    ) -> GroundObservation:
        """The frames as tensors, with the map of one lifetime."""
        images = self.depth, self.rgb, None if lifetime is None else self.maps[lifetime]
        depth, rgb, cells = (None if one is None else torch.from_numpy(one).to(device) for one in images)
        assert depth is not None
        actions = torch.from_numpy(np.asarray(previous_action, dtype=np.int64)).to(device)
        return GroundObservation(depth, actions, rgb, cells)


def stack_frames(parts: Sequence[Frames]) -> Frames:
    """The frames of several parts one after another."""
    rgb = None if parts[0].rgb is None else np.concatenate([part.rgb for part in parts if part.rgb is not None])
    maps = {life: np.concatenate([part.maps[life] for part in parts]) for life in parts[0].maps}
    return Frames(np.concatenate([part.depth for part in parts]), rgb, maps)


@dataclass(frozen=True, eq=False)
class PackedFrames:
    """Frames, compressed one array at a time."""

    count: int
    shapes: Mapping[str, tuple[int, ...]]  # of one frame, by array: "depth", "rgb", or the lifetime of a map
    arrays: Mapping[str, bytes]

    def unpack(self) -> Frames:
        """The frames."""
        found = {
            name: np.frombuffer(zlib.decompress(packed), dtype=np.uint8).reshape(self.count, *self.shapes[name])
            for name, packed in self.arrays.items()
        }
        depth, rgb = found.pop("depth"), found.pop("rgb", None)
        return Frames(depth, rgb, {MapLifetime(name): cells for name, cells in found.items()})

    @property
    def size(self) -> int:
        """The number of bytes."""
        return sum(map(len, self.arrays.values()))


def pack_frames(frames: Frames) -> PackedFrames:
    """Frames, compressed."""
    arrays = {"depth": frames.depth, **({} if frames.rgb is None else {"rgb": frames.rgb})}
    arrays |= {life.value: cells for life, cells in frames.maps.items()}
    packed = {name: zlib.compress(np.ascontiguousarray(array).tobytes(), LEVEL) for name, array in arrays.items()}
    return PackedFrames(len(frames), {name: array.shape[1:] for name, array in arrays.items()}, packed)
