"""What the agents of all lanes see: one rendering pass makes depth, color, and maps of several lifetimes.

The maps are those that `EgocentricMapper` builds for one agent in `itinera run`: an episodic map begins with an
episode and knows nothing of guided phases, an iterative one lives as long as a tour, a known one never changes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from itinera.mapping.config import MapLifetime
from itinera.mapping.egocentric_map import Columns, SemanticMaps
from itinera.policies.ground.agent import make_known_map
from itinera.policies.ground.base import GroundPolicy
from itinera.policies.ground.observation import encode_depth, encode_rgb, merge_map
from itinera.policies.ground.requirements import GroundRequirements
from itinera.policies.segmentation.semantics import SemanticSource, load_semantics
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.vectorized import VectorizedGround
from itinera.training.ground.frames import Frames
from itinera.training.ground.tour_lanes import Lanes
from itinera.worlds import World
from itinera.worlds.lazy import LazyMapping

HOUSES = 64  # known maps in memory, 1 to 3 MB each


@dataclass(frozen=True)
class Sensors:
    """What a policy observes on the ground, and in which sizes it sees it."""

    requirements: GroundRequirements
    depth_size: int  # pixels of a side of the depth image
    rgb_size: int = 0  # of the color image; 0: none

    @classmethod
    def from_policy(cls, policy: GroundPolicy[Any, Any], requirements: GroundRequirements) -> Sensors:
        """The sensors of a policy with the camera and maps of its card."""
        return cls(requirements, policy.depth_size, policy.rgb_size if policy.uses_rgb else 0)

    @property
    def camera(self) -> CameraSensor:
        """The camera that sees all of it."""
        return self.requirements.camera()

    @property
    def fingerprint(self) -> tuple[object, ...]:
        """What decides the frames; the lifetime of the map does not, as frames may have several."""
        unnamed = msgspec.structs.replace(self.requirements, lifetime=MapLifetime.EPISODIC)
        source = None if unnamed.map is None else load_semantics(unnamed.semantics).fingerprint
        return msgspec.json.encode(unnamed), source, self.depth_size, self.rgb_size


@dataclass(eq=False)
class Perception:
    """Sensors in all lanes of a stage, with a map of each lifetime in each lane."""

    stage: VectorizedGround
    worlds: Mapping[str, World]
    sensors: Sensors
    lifetimes: Collection[MapLifetime] = ()
    keep_guided: bool = False  # whether guided phases have frames, for policies that remember them
    known: Mapping[str, Columns] | None = None  # known maps by world
    _maps: dict[MapLifetime, SemanticMaps] = field(default_factory=dict)
    _semantics: SemanticSource | None = None

    def __post_init__(self) -> None:
        self._camera = self.sensors.camera.camera
        if self.lifetimes and set(self.lifetimes) != {MapLifetime.KNOWN}:
            self._semantics = load_semantics(self.sensors.requirements.semantics)

    def start_tours(self, lanes: Lanes, world_ids: Sequence[str]) -> None:
        """Tours begin in these lanes."""
        worlds = [self.worlds[world_id] for world_id in world_ids]
        for life in self.lifetimes:
            if life not in self._maps:
                self._maps[life] = SemanticMaps([worlds[0]] * self.stage.num_envs, self.sensors.requirements.map)
            self._maps[life].place(lanes, worlds)
        if MapLifetime.KNOWN in self._maps:
            if self.known is None:
                self.known = LazyMapping(self.worlds, self._make_known, cache_size=HOUSES)
            self._maps[MapLifetime.KNOWN].load(lanes, [self.known[world_id] for world_id in world_ids])

    def start_episodes(self, lanes: Lanes) -> None:
        """Episodes begin in these lanes."""
        if MapLifetime.EPISODIC in self._maps:
            self._maps[MapLifetime.EPISODIC].clear(lanes)

    def look(self, acting: Lanes, guided: Lanes) -> tuple[Frames, Frames | None]:
        """The frames of the lanes that act, and of those that are guided if `keep_guided`.

        Guided lanes are not even rendered unless somebody remembers what they see.
        """
        if not self.keep_guided and MapLifetime.ITERATIVE not in self._maps:
            guided = guided[:0]
        lanes = np.concatenate([acting, guided])
        frame = self.stage.render(lanes)
        labels = None if self._semantics is None else self._semantics(frame)
        positions, headings = self.stage.positions[lanes], self.stage.headings[lanes]
        positions[:, 2] += self.sensors.requirements.camera_height
        shown = lanes if self.keep_guided else acting
        read = slice(0, len(shown))
        cells = {}
        for life, maps in self._maps.items():
            if self.keep_guided and life is MapLifetime.EPISODIC and len(guided):
                maps.clear(guided)
            if life is not MapLifetime.KNOWN:
                seen = slice(0, len(lanes) if life is MapLifetime.ITERATIVE else len(shown))
                if seen.stop:
                    assert labels is not None
                    views = frame.depth[seen], labels[seen], positions[seen], headings[seen]
                    maps.insert(*views, self._camera, lanes[seen])
            if len(shown):
                found = maps.read(positions[read], headings[read], shown)
                cells[life] = merge_map(found.occupancy, found.labels)
            else:
                cells[life] = np.empty((0, maps.config.size, maps.config.size), dtype=np.uint8)
        size = self.sensors.rgb_size
        frames = Frames(
            encode_depth(frame.depth[read], self.sensors.depth_size),
            encode_rgb(frame.rgb[read], size) if size else None,
            cells,
        )
        if not self.keep_guided:
            return frames, None
        return frames.take(slice(0, len(acting))), frames.take(slice(len(acting), len(lanes)))

    def _make_known(self, world_id: str) -> Columns:
        requirements = self.sensors.requirements
        semantics = load_semantics(requirements.semantics)
        return make_known_map(self.worlds[world_id], requirements=requirements, semantics=semantics)
