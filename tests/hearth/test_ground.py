"""Houses as worlds for robots: names of instances and rooms on the ground."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.hearth.build import build_house
from itinera.hearth.ground import ground_world
from itinera.hearth.room_lookup import locate_rooms
from itinera.worlds import Instance, Room, World
from itinera.worlds.euclidean import Euclidean
from itinera.worlds.labels import MPCAT40


@pytest.fixture(scope="module")
def house():
    return build_house(1, 1)


@pytest.fixture(scope="module")
def world():
    return ground_world(1, 1, radius=0.2)


def test_each_instance_of_the_mesh_has_the_names_of_its_object(house, world):
    drawn = set(np.unique(world.mesh.instances).tolist()) - {0}
    assert drawn <= set(world.instances)
    for thing in house.objects:
        named = Instance(thing.name, thing.color, thing.shape, thing.material, thing.category)
        assert world.instances[thing.index] == named


def test_the_category_of_an_instance_is_among_the_classes_of_its_faces(world):
    for instance in np.unique(world.mesh.instances)[1:].tolist():
        classes = {MPCAT40[c] for c in np.unique(world.mesh.classes[world.mesh.instances == instance]).tolist()}
        assert world.instances[instance].category in classes


def test_a_place_on_the_ground_is_in_a_room_of_the_floor_plan(house, world):
    places = np.array([[*room.outline.mean(axis=0), room.floor] for room in house.plan.rooms])
    for place, index in zip(places, locate_rooms(house.plan, places).tolist(), strict=True):
        assert world.room_at(place) == Room(house.plan.rooms[index].kind, str(index))


def test_a_world_without_names_has_neither_instances_nor_rooms():
    world = World("plain", Euclidean())
    assert not world.instances
    assert world.room_at(np.zeros(3)) is None
