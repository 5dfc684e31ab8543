"""The trajectories that training learns from: the actions taken, and nothing that can be rendered again.

A step takes one byte; the observations of a step take four thousand. Replaying the actions of a tour from its start
gives the same places, guided phases, pictures and maps, because the simulator is exact (`experience.py`). Trajectories
are kept in groups: a group is written as one record or not at all, and its content depends on the seed, the group's
number and the weights alone, so that a run that is killed while it collects repeats only the group it was in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import msgspec
import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadFile, Fault
from itinera.runs.resume import ResumableWriter


class EpisodeActions(msgspec.Struct, frozen=True, array_like=True):
    """The actions an agent took in an episode, a byte each; the last is STOP unless it ran out of steps."""

    episode_id: str
    actions: bytes

    @property
    def array(self) -> NDArray[np.int64]:
        """(steps,) the actions."""
        return np.frombuffer(self.actions, dtype=np.uint8).astype(np.int64)


class TourActions(msgspec.Struct, frozen=True, array_like=True):
    """The actions of an agent in the episodes of a tour, or of a single episode, in their order."""

    seed: int  # of the random draws
    beta: float  # probability of the expert's action at each step
    episodes: tuple[EpisodeActions, ...]

    @property
    def episode_ids(self) -> tuple[str, ...]:
        """The ids of the episodes, in their order."""
        return tuple(episode.episode_id for episode in self.episodes)


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(tuple[TourActions, ...])


@dataclass(frozen=True)
class GroupKey:
    """The name of a group: the iteration of DAgger, 0 for the expert's own trajectories, and a number."""

    iteration: int
    number: int

    def __str__(self) -> str:
        return f"{self.iteration:04d}-{self.number:06d}"


class TrajectoryStore:
    """Groups of trajectories on the disk, appended one by one with checksums. Use it in a `with` statement.

    The groups lie in FILE.partial, in the form of all unfinished work (`runs/resume.py`): another plan is refused, an
    incomplete end is cut off, and another process cannot write to it. Without a file they are kept in memory.
    """

    def __init__(self, file: Path | None, plan: str, *, overwrite: bool = False) -> None:
        self._writer = None if file is None else ResumableWriter(file, plan, overwrite=overwrite)
        self._memory: dict[str, bytes] = {}

    def __enter__(self) -> TrajectoryStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.__exit__(kind, error, trace)

    def __contains__(self, key: GroupKey) -> bool:
        return str(key) in (self._memory if self._writer is None else self._writer)

    def __len__(self) -> int:
        """The number of groups."""
        return len(self._memory if self._writer is None else self._writer)

    def __getitem__(self, key: GroupKey) -> tuple[TourActions, ...]:
        """The trajectories of a group; raises BadFile if it is not there."""
        if key not in self:
            where = "memory" if self._writer is None else str(self._writer.path)
            problem = f"group {key.number} of iteration {key.iteration} is missing, though training is past it."
            remedy = "Its weights are gone, so it cannot be collected again: train anew with --overwrite."
            raise BadFile(where, [Fault("", problem, remedy)])
        record = self._memory[str(key)] if self._writer is None else self._writer[str(key)]
        return _DECODER.decode(record)

    def add(self, key: GroupKey, tours: Sequence[TourActions]) -> None:
        """Keep a group of trajectories."""
        record = _ENCODER.encode(tuple(tours))
        if self._writer is None:
            self._memory[str(key)] = record
        else:
            self._writer.add(str(key), record)

    def discard(self) -> None:
        """Remove all groups, because training has ended."""
        self._memory.clear()
        if self._writer is not None:
            self._writer.discard()


def beta_at(iteration: int, *, base: float = 0.5, first_exponent: int = 1) -> float:
    """The probability of the expert's action in an iteration of DAgger, counted from 0: base^(n + first_exponent).

    Iterative VLN and VLN-CE's fine-tuning use 0.5^(n + 1); VLN-CE from scratch uses p^n, whose first iteration is the
    expert alone.

    >>> [beta_at(n) for n in range(3)], [beta_at(n, base=0.75, first_exponent=0) for n in range(3)]
    ([0.5, 0.25, 0.125], [1.0, 0.75, 0.5625])
    """
    return base ** (iteration + first_exponent)
