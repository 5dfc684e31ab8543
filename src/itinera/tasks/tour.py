"""A tour: episodes of one world, done one after another by an agent that may remember."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tour:
    """Episodes of one world in the order they are asked. An episode alone is a tour of one."""

    id: str
    world_id: str
    episode_ids: tuple[str, ...]
