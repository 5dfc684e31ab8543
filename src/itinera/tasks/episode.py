"""One task: from this pose, follow these words to that goal, along this path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from itinera.tasks.alignment import Alignment
from itinera.tasks.brief import Brief
from itinera.worlds import Places, Pose

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _nothing() -> Mapping[str, Any]:
    return _NOTHING


@dataclass(frozen=True, eq=False, slots=True)
class Episode:
    """One task and its answer. Goals and reference are empty where they are withheld."""

    id: str
    world_id: str
    start: Pose
    goals: Places  # any of them counts
    reference: Places  # start and goal included
    brief: Brief
    path_id: str = ""  # episodes that share a path differ in their words only
    alignment: Alignment | None = None
    stated_distance: float | None = None  # metres from start to goal, as the file says; metrics measure their own
    notes: Mapping[str, Any] = field(default_factory=_nothing)  # a file's other fields, kept for writing it again

    @property
    def goals_withheld(self) -> bool:
        return len(self.goals) == 0
