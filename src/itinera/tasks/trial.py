"""A trial of a skill study: a truncated episode whose instruction asks for one skill at the truncation point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from itinera.tasks.episode import Episode

ARMS = ("intervention", "control", "ahead")
"""The instruction of a trial: the truncated one plus a sentence; the truncated one; or the instruction truncated one
step (or one sub-instruction) later than the path."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A truncated episode: the agent is guided along its path, then asked for its action distribution.

    The episode's reference is the guided path, from the start to the truncation point; its instruction is the one the
    agent receives.
    """

    id: str  # unique in a study
    skill: str  # "stop", "direction-left", "object", "room-1", "room-within-3"
    arm: str  # one of ARMS
    control_id: str  # id of the control trial with the same path; "" for controls themselves
    episode: Episode
    target: Mapping[str, Any] = field(
        default_factory=dict
    )  # correct actions as plain JSON values; keys depend on skill
    source: str = ""  # id of the truncated episode; episode.path_id names its trajectory

    @property
    def probe_node(self) -> str:
        """The node where the agent's action distribution is measured."""
        return str(self.episode.reference[-1])
