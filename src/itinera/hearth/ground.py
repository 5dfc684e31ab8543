"""The walkable surfaces of houses, for continuous tasks and robots."""

from __future__ import annotations

from collections.abc import Mapping

from itinera.hearth.build import build_house
from itinera.hearth.season import check_radius
from itinera.worlds import World
from itinera.worlds.lazy import LazyMapping
from itinera.worlds.surface import Surface

ROBOT_HEIGHT = 1.5  # metres


def ground_world(seed: int, index: int, *, id: str = "", radius: float, height: float = ROBOT_HEIGHT) -> World:
    """A house as a surface for a robot of this radius and height, metres, with its mesh and without viewpoints."""
    check_radius(radius)
    house = build_house(seed, index, id=id)
    return World(house.id, Surface.from_mesh(house.mesh, radius=radius, height=height), mesh=house.mesh)


def ground_worlds(
    houses: Mapping[str, tuple[int, int]], *, radius: float, height: float = ROBOT_HEIGHT
) -> Mapping[str, World]:
    """The surfaces of several houses, given by id as (seed, index), each built on first access."""

    def build(world_id: str) -> World:
        return ground_world(*houses[world_id], id=world_id, radius=radius, height=height)

    return LazyMapping(houses, build)
