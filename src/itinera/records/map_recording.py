"""The egocentric maps that an agent held during an episode, compressed."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument

Legend = tuple[tuple[str, tuple[int, int, int]], ...]  # the name and color of each label, from 0

MAX_SIZE = 1024  # cells along a side
MAX_BYTES = 1 << 28  # of the maps of an episode when decoded
_PLANES = 3  # bytes of a cell: occupancy, then the low and the high byte of the label


@dataclass(frozen=True, eq=False)
class MapRecording:
    """Maps of `size` x `size` cells at some steps: the agent in the cell (size / 2, size / 2), ahead in lower rows."""

    episode_id: str
    steps: tuple[int, ...]  # (k,) indices of the trajectory's places, increasing
    size: int
    cell: float  # metres along the side of a cell
    legend: Legend  # of the labels; empty if they are numbers without names
    content: bytes  # zlib; per map the occupancy, then the low and the high bytes of the labels

    def __len__(self) -> int:
        return len(self.steps)

    def decode(self) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        """The occupancy (k, size, size) and the labels (k, size, size); raises BadArgument if they are not whole."""
        expected = len(self.steps) * _PLANES * self.size * self.size
        problem = ""
        if not (2 <= self.size <= MAX_SIZE and expected <= MAX_BYTES):
            problem = f"{len(self.steps)} maps of {self.size} x {self.size} cells are too many or too large"
        else:
            reader = zlib.decompressobj()
            try:
                found = reader.decompress(self.content, expected + 1)
            except zlib.error as error:
                problem = f"the content is not compressed by zlib ({error})"
            else:
                if len(found) != expected or not reader.eof:
                    problem = f"the content is not that of {len(self.steps)} maps of {self.size} x {self.size} cells"
        if problem:
            raise BadArgument(f"The recorded maps of episode {self.episode_id!r} cannot be read: {problem}.")
        planes = np.frombuffer(found, dtype=np.uint8).reshape(-1, _PLANES, self.size, self.size)
        return planes[:, 0], planes[:, 1].astype(np.uint16) + planes[:, 2].astype(np.uint16) * 256


class MapRecorder:
    """Compresses the maps of an episode one after another."""

    def __init__(self) -> None:
        self._steps: list[int] = []
        self._size, self._cell, self._legend = 0, 0.0, Legend()
        self._compressor, self._parts = zlib.compressobj(), list[bytes]()

    def add(
        self, step: int, occupancy: NDArray[np.uint8], labels: NDArray[np.uint16], *, cell: float, legend: Legend
    ) -> None:
        """Record the map (size, size) that the agent holds at a step; of two at one step, the first stays."""
        if self._steps and step <= self._steps[-1]:
            return
        size = len(occupancy)
        if not (occupancy.shape == labels.shape == (size, size) and 2 <= size <= MAX_SIZE):
            raise BadArgument(
                f"A map to record has occupancy and labels of one square shape of 2 to {MAX_SIZE} cells; "
                f"got {occupancy.shape} and {labels.shape}."
            )
        if self._steps and (size, cell, legend) != (self._size, self._cell, self._legend):
            raise BadArgument("The size, cell and legend of an agent's map must not change within an episode.")
        self._size, self._cell, self._legend = size, cell, legend
        low, high = (labels & 255).astype(np.uint8), (labels >> 8).astype(np.uint8)
        planes = np.stack([(occupancy > 0).astype(np.uint8), low, high])
        self._parts.append(self._compressor.compress(planes.tobytes()))
        self._steps.append(step)

    def finish(self, episode_id: str, count: int) -> MapRecording | None:
        """The recording of an episode with this many places; None if there is no map in it."""
        steps = tuple(step for step in self._steps if step < count)
        if not steps:
            return None
        assert len(steps) == len(self._steps)
        content = b"".join([*self._parts, self._compressor.copy().flush()])
        return MapRecording(episode_id, steps, self._size, self._cell, self._legend, content)
