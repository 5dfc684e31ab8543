"""The walkable surfaces of houses, for continuous tasks and robots."""

from __future__ import annotations

from collections.abc import Mapping

from itinera.hearth.build import House, build_house
from itinera.hearth.season import check_radius
from itinera.worlds import Instance, Region, World
from itinera.worlds.lazy import LazyMapping
from itinera.worlds.surface import Surface

ROBOT_HEIGHT = 1.5  # metres


def ground_world(seed: int, index: int, *, id: str = "", radius: float, height: float = ROBOT_HEIGHT) -> World:
    """A house as a surface for a robot of this radius and height, metres, with its mesh and without viewpoints.

    It has the names of the mesh's instances, and the house's rooms as regions.
    """
    check_radius(radius)
    house = build_house(seed, index, id=id)
    surface = Surface.from_mesh(house.mesh, radius=radius, height=height)
    return World(house.id, surface, mesh=house.mesh, instances=name_instances(house), regions=house_regions(house))


def name_instances(house: House) -> dict[int, Instance]:
    """The names of the objects of a house, by instance of its mesh."""
    return {
        thing.index: Instance(thing.name, thing.color, thing.shape, thing.material, thing.category)
        for thing in house.objects
    }


def house_regions(house: House) -> tuple[Region, ...]:
    """The rooms of a house, in the order of its floor plan; their ids are those of its annotations."""
    return tuple(Region(str(room.index), room.kind, room.outline, room.floor, room.height) for room in house.plan.rooms)


def ground_worlds(
    houses: Mapping[str, tuple[int, int]], *, radius: float, height: float = ROBOT_HEIGHT
) -> Mapping[str, World]:
    """The surfaces of several houses, given by id as (seed, index), each built on first access."""

    def build(world_id: str) -> World:
        return ground_world(*houses[world_id], id=world_id, radius=radius, height=height)

    return LazyMapping(houses, build)
