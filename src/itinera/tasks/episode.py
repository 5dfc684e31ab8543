"""Tasks: `Instruction`, the `Alignment` of its words with the path, `Episode` and `Tour`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.worlds import Array, Places, Pose

PART_KEYS = ("first_path_id", "second_path_id", "third_path_id", "fourth_path_id")
"""The notes of an episode joined from several paths (R4R, R6R, R8R) that name these paths, in order."""

_NO_NOTES: Mapping[str, Any] = MappingProxyType({})


def _no_notes() -> Mapping[str, Any]:
    return _NO_NOTES


@dataclass(frozen=True)
class Instruction:
    """The text of a task: all of it that an agent may read. In PointNav it is a point instead."""

    text: str
    language: str = "en"
    point_goal: tuple[float, float, float] | None = None  # metres, where the task says so: PointNav

    @classmethod
    def to_point(cls, goals: Places) -> Instruction:
        """The instruction of a PointNav episode: no text, and its goal if there is one."""
        if len(goals) != 1:
            return cls("")
        x, y, z = (float(number) for number in goals[0])
        return cls("", point_goal=(x, y, z))


@dataclass(frozen=True, eq=False)
class Alignment:
    """The words of an instruction with the places of the reference path they describe.

    `first` and `last` are indices into the episode's reference, -1 where a word's place is unknown.
    Times are seconds of the recording, NaN where unknown.
    """

    words: tuple[str, ...]
    first: NDArray[np.int64]  # (words,)
    last: NDArray[np.int64]  # (words,)
    begins: Array | None = None  # (words,) seconds
    ends: Array | None = None  # (words,) seconds


@dataclass(frozen=True, eq=False, slots=True)
class Episode:
    """One task with its solution. Goals and reference path are empty where the host of a benchmark withholds them."""

    id: str
    world_id: str
    start: Pose
    goals: Places  # reaching any of them counts
    reference: Places  # start and goal included
    instruction: Instruction
    path_id: str = ""  # episodes with the same path differ in their instruction only
    alignment: Alignment | None = None
    stated_distance: float | None = None  # metres from start to goal as the file states; metrics measure their own
    notes: Mapping[str, Any] = field(default_factory=_no_notes)  # a file's other fields, kept for writing it again

    @property
    def goals_withheld(self) -> bool:
        return len(self.goals) == 0


@dataclass(frozen=True)
class Tour:
    """Episodes of one world in their order. A single episode is a tour of one."""

    id: str
    world_id: str
    episode_ids: tuple[str, ...]
