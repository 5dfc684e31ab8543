"""The maps of an agent, recorded while it acts: one recorder for each episode of a tour."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from itinera.agents.loading import describe_agent
from itinera.errors import BadArgument
from itinera.records import Trajectory
from itinera.records.map_recording import MapRecorder

if TYPE_CHECKING:
    from itinera.mapping.egocentric_map import EgocentricMaps


@runtime_checkable
class MapHolder(Protocol):
    """An agent that has a map."""

    def held_map(self) -> EgocentricMaps | None:
        """The map after the last observation, (size, size) or (1, size, size); None if there is none yet."""
        ...


def require_map(agent: Any) -> MapHolder:
    """The agent, if it holds a map."""
    if not isinstance(agent, MapHolder):
        raise BadArgument(
            f"{describe_agent(agent)} holds no map to record: it has no method held_map. Choose an agent with a map, "
            "or leave out --record maps (record=)."
        )
    return agent


class MapRecorders:
    """The recorders of the episodes of a tour."""

    def __init__(self, agent: Any) -> None:
        self._agent = require_map(agent)
        self._recorders: dict[int, MapRecorder] = {}  # by the index of the episode

    def record(self, episode_index: int, step: int, *, acting: bool) -> None:
        """Record the map that the agent holds at a step of an episode; while it acts it must have one."""
        held = self._agent.held_map()
        if held is None:
            if acting:
                raise BadArgument("The agent holds no map to record: held_map() returned None after an action.")
            return
        occupancy, labels = np.asarray(held.occupancy), np.asarray(held.labels)
        if occupancy.ndim == 3 and len(occupancy) == 1:
            occupancy, labels = occupancy[0], labels[0]
        recorder = self._recorders.setdefault(episode_index, MapRecorder())
        recorder.add(step, occupancy, labels, cell=held.cell, legend=held.legend)

    def add_to(self, trajectory: Trajectory, episode_index: int) -> Trajectory:
        """The trajectory with the maps of its episode."""
        recorder = self._recorders.get(episode_index)
        if recorder is None:
            return trajectory
        return replace(trajectory, maps=recorder.finish(trajectory.episode_id, len(trajectory.places)))
