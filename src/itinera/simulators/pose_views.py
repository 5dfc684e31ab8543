"""Views at any pose on the ground, from annotations: what `annotated_views` has at nodes, wherever the body is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from itinera.simulators.simulator import Candidates
from itinera.simulators.surroundings import Surroundings
from itinera.simulators.view_features import graph_contents
from itinera.simulators.views_at import ViewColumns, Views, room_index
from itinera.worlds import Array, NavGraph, Room, World
from itinera.worlds.regions import locate_regions

NEAR = 3.0  # metres within which objects are annotated, as in REVERIE's files
HERE = 0.3  # metres; a node this close is here, and lies in no direction


class AnnotatedPoseViews:
    """Features from annotations, as `annotated_views` has them at nodes; at the eye of a node they are equal.

    Objects are those visible in a panorama, rooms those of the floor plan, and "towards" columns come from the nodes
    of the graph that are visible from here. The worlds are graphs with annotations, by the ids of the ground worlds.
    """

    def __init__(self, worlds: Mapping[str, World], names: Sequence[str], *, reach: float = 0.0) -> None:
        self._worlds, self._layout = worlds, ViewColumns(tuple(names), reach)
        self._contents: WeakKeyDictionary[World, NDArray[np.float32]] = WeakKeyDictionary()

    @property
    def columns(self) -> tuple[str, ...]:
        return self._layout.columns

    def at(self, surroundings: Surroundings, candidates: Candidates, places: Array) -> Views:
        room, *rooms = rooms_at(surroundings.world, np.concatenate([surroundings.place[None], places]))
        views = candidates.views.tolist()
        objects = surroundings.visible_objects(NEAR)
        near = self._layout.near(objects, room_index(room), views, [room_index(other) for other in rooms])
        if not self._layout.reach:
            return near
        same = [view for view, other in zip(views, rooms, strict=True) if room is not None and room == other]
        return np.concatenate([near, self._direction(surroundings, same)], axis=1)

    def _direction(self, surroundings: Surroundings, same_room_views: Sequence[int]) -> Views:
        world = self._worlds[surroundings.world.id]
        graph = world.space
        assert isinstance(graph, NavGraph)
        contents = self._contents.get(world)
        if contents is None:
            contents = self._contents[world] = graph_contents(graph, world, self._layout)
        offsets = graph.positions - surroundings.eye
        distances = np.linalg.norm(offsets, axis=1)
        close = np.flatnonzero((distances <= self._layout.reach) & (distances > HERE))
        visible = np.zeros(len(offsets), dtype=bool)
        visible[close] = surroundings.sees(graph.positions[close])
        return self._layout.direction(offsets, visible, contents, same_room_views)


def rooms_at(world: World, places: Array) -> list[Room | None]:
    """The room of each place (n, 3) on the ground; None in a scene without regions."""
    if not world.regions:
        return [None] * len(places)
    found = (world.regions[k] for k in locate_regions(world.regions, places))
    return [Room(region.label, region.id) for region in found]
