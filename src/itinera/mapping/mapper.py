"""`EgocentricMapper`: the map that one agent keeps while it acts in `itinera run` or in a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.mapping.config import MapConfig, MapLifetime
from itinera.mapping.egocentric_map import Columns, EgocentricMaps, SemanticMaps
from itinera.mapping.known_map import known_instances, known_map
from itinera.mapping.labels import PAPER_LEGEND, paper_table
from itinera.mapping.point_cloud import PointCloudMaps
from itinera.records.map_recording import Legend
from itinera.rendering.camera import Camera
from itinera.worlds import Array, World


def make_maps(
    worlds: Sequence[World], config: MapConfig, *, legend: Legend = PAPER_LEGEND
) -> SemanticMaps | PointCloudMaps:
    """Empty maps of the configuration's variant."""
    kind = PointCloudMaps if config.variant == "released" else SemanticMaps
    return kind(worlds, config, legend=legend)


class EgocentricMapper:
    """The map of one agent. Call `reset` for a tour, `start_episode` for an episode, `update` for every observation.

    Observations of guided phases are `update`s too: they enter an iterative map, and an episodic one is cleared before
    each of them.
    """

    def __init__(
        self,
        worlds: Mapping[str, World],
        camera: Camera,
        *,
        lifetime: MapLifetime = MapLifetime.EPISODIC,
        config: MapConfig | None = None,
        camera_elevation: float = 0.0,  # radians above the agent's own
        instances: bool = False,  # the labels are instances of the mesh instead of classes
        make_known: Callable[[World], Columns] | None = None,  # of a known map; None: from the labels of the mesh
    ) -> None:
        self._instances = instances
        self.config = MapConfig() if config is None else config
        self.lifetime, self.camera = lifetime, camera
        self._worlds, self._camera_elevation = worlds, camera_elevation
        self._make_known = make_known or partial(known_instances if instances else known_map, config=self.config)
        self._maps: SemanticMaps | PointCloudMaps | None = None
        self._world: World | None = None
        self._known: WeakKeyDictionary[World, Columns] = WeakKeyDictionary()
        self._held: EgocentricMaps | None = None
        self._table = paper_table()

    @property
    def held(self) -> EgocentricMaps | None:
        """The egocentric map (1, size, size) after the last update."""
        return self._held

    def reset(self) -> None:
        """Forget everything: a new tour."""
        self._world = self._held = None

    def start_episode(self) -> None:
        """Begin an episode: an episodic map is cleared."""
        if self.lifetime is MapLifetime.EPISODIC and self._maps is not None:
            self._maps.clear()
        self._held = None

    def update(
        self,
        world_id: str,
        place: Array,
        heading: float,
        depth: NDArray[np.float32],
        labels: NDArray[Any],
        *,
        elevation: float = 0.0,
        guided: bool = False,
        classes: bool = True,
    ) -> EgocentricMaps:
        """The egocentric map (1, size, size) with this observation, made from the position on the floor (3,).

        `labels` (h, w) are the classes of the frame, indices into MPCAT40, or of a map of instances its instances; with
        `classes=False`, they are labels of the map already.
        """
        maps = self._enter(world_id)
        if guided and self.lifetime is MapLifetime.EPISODIC:
            maps.clear()
        eye = np.asarray(place, dtype=np.float64)[None] + [0.0, 0.0, self.config.camera_height]
        if self.lifetime is not MapLifetime.KNOWN:
            maps.insert(
                depth[None],
                labels[None],
                eye,
                heading,
                self.camera,
                elevations=elevation + self._camera_elevation,
                table=self._table if classes and not self._instances else None,
            )
        self._held = maps.read(eye, heading)
        return self._held

    def _enter(self, world_id: str) -> SemanticMaps | PointCloudMaps:
        """The map of the world, made or cleared if the agent was not there before."""
        if self._maps is not None and self._world is not None and self._world.id == world_id:
            return self._maps
        if world_id not in self._worlds:
            raise BadArgument(f"World {world_id} is not among the worlds of the mapper.")
        self._world = world = self._worlds[world_id]
        if self._maps is None:
            self._maps = make_maps([world], self.config, legend=() if self._instances else PAPER_LEGEND)
        else:
            self._maps.place([0], [world])
        if self.lifetime is MapLifetime.KNOWN:
            if world not in self._known:
                self._known[world] = self._make_known(world)
            self._maps.load([0], [self._known[world]])
        return self._maps
