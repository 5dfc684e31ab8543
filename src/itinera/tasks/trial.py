"""A trial: an episode cut short, and words that ask for one skill where it was cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from itinera.tasks.episode import Episode

ARMS = ("intervention", "control", "ahead")
"""What a trial's words are: with a sentence added; cut where the walk is cut; cut one step, or one chunk, later."""


@dataclass(frozen=True, eq=False)
class Trial:
    """An episode cut short and told to go on in some way: the agent is walked along its path, then asked.

    The episode's reference is the path it is walked, from the start to where it was cut; its brief, the words told.
    """

    id: str  # unique in a study
    skill: str  # "stop", "direction-left", "object", "room-1", "room-within-3"
    arm: str  # one of ARMS
    twin: str  # id of the control trial of the same walk; "" for controls themselves
    episode: Episode
    target: Mapping[str, Any] = field(default_factory=dict)  # what counts, plain JSON values; what, each skill says
    source: str = ""  # id of the episode it was cut from; episode.path_id is the trajectory's

    @property
    def last(self) -> str:
        """The node where the agent is asked."""
        return str(self.episode.reference[-1])
