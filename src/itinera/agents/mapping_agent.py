"""An agent that acts as another one does, and keeps a map meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from itinera.agents.agent import Agent
from itinera.errors import BadArgument
from itinera.mapping.egocentric_map import EgocentricMaps
from itinera.mapping.mapper import EgocentricMapper
from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction


@dataclass(eq=False)
class MappingAgent:
    """Acts as `agent` does on the ground, and holds the map that `mapper` makes of its observations.

    Its camera needs depth and classes, unless the map is a known one.
    """

    agent: Agent
    mapper: EgocentricMapper

    def reset(self, rng: np.random.Generator) -> None:
        self.mapper.reset()
        self.agent.reset(rng)

    def start_episode(self, instruction: Instruction) -> None:
        self.mapper.start_episode()
        self.agent.start_episode(instruction)

    def act(self, observation: Observation) -> Any:
        self._update(observation, guided=False)
        return self.agent.act(observation)

    def observe(self, observation: Observation) -> None:
        self._update(observation, guided=True)
        self.agent.observe(observation)

    def held_map(self) -> EgocentricMaps | None:
        """The map after the last observation."""
        return self.mapper.held

    def _update(self, observation: Observation, *, guided: bool) -> None:
        frame = observation.frame
        if frame is None or isinstance(observation.place, str):
            raise BadArgument("A map needs depth and classes on the ground: give --camera (camera=).")
        camera = self.mapper.camera
        if frame.depth.shape != (camera.height, camera.width) or frame.classes.shape != frame.depth.shape:
            raise BadArgument(
                f"The map is made for depth and classes of {camera.width} x {camera.height} pixels; got "
                f"{frame.depth.shape} and {frame.classes.shape} (--camera, --channels)."
            )
        self.mapper.update(
            observation.world_id,
            observation.place,
            observation.heading,
            frame.depth,
            frame.classes,
            elevation=observation.elevation,
            guided=guided,
        )
