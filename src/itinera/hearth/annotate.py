"""Annotations of viewpoints: the room of each, and every visible object with its bounding box in each of 36 views.

All of it comes from one cube-map panorama per viewpoint, with the instance and the depth of every pixel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from itinera.hearth.build import House
from itinera.hearth.layout.plan import PlannedRoom
from itinera.hearth.room_lookup import locate_rooms
from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.rendering.cube_map import count_object_pixels, render_cube_maps, visible_objects
from itinera.rendering.rasterizer import Rasterizer
from itinera.worlds import Array, NavGraph, Room, VisibleObject

BATCH = 4  # panoramas in memory at once


@dataclass(frozen=True)
class Annotations:
    """The annotations of the viewpoints of a house.

    Objects are listed at any distance; REVERIE's files keep those within 3 m, which is up to the writer.
    """

    rooms: Mapping[str, Room]  # by node; region_id is the index of the room in the floor plan
    objects: Mapping[str, tuple[VisibleObject, ...]]  # by node; an object's id is its instance in the mesh
    regions: tuple[PlannedRoom, ...]  # the outline, floor and height of each region, in the order of their ids


def annotate(house: House, graph: NavGraph, raster: Rasterizer) -> Annotations:
    """The room of each viewpoint and the objects visible from it."""
    ground = graph.positions - np.array([0.0, 0.0, EYE_HEIGHT])
    rooms = (house.plan.rooms[i] for i in locate_rooms(house.plan, ground))
    return Annotations(
        rooms={node: Room(room.kind, str(room.index)) for node, room in zip(graph.nodes, rooms, strict=True)},
        objects=dict(zip(graph.nodes, _objects_by_position(house, graph.positions, raster), strict=True)),
        regions=house.plan.rooms,
    )


def _objects_by_position(house: House, positions: Array, raster: Rasterizer) -> Iterator[tuple[VisibleObject, ...]]:
    """The objects visible from each position, in the order of their instances."""
    for first in range(0, len(positions), BATCH):
        faces = render_cube_maps(raster, positions[first : first + BATCH])
        counts = count_object_pixels(faces, len(house.objects) + 1)
        for k in range(len(counts.pixels)):
            yield visible_objects(counts, k, lambda instance: house.object(instance).name)
