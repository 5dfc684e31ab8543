from __future__ import annotations

import math

import numpy as np
import pytest

import cottage
import grid_house
from itinera.hearth.build import House
from itinera.hearth.language.scene_description import anonymize, describe_scenes
from itinera.hearth.layout.plan import OUTSIDE, FloorPlan, Passage, PlannedRoom
from itinera.worlds import NavGraph, Room


@pytest.fixture(scope="module")
def seen():
    objects = {"a": tuple(grid_house.seen_object(item) for item in cottage.ITEMS)}
    known = grid_house.Seen(dict(cottage.world().rooms), objects)
    return describe_scenes(cottage.house(), cottage.world().space, known)


def test_a_thing_is_seen_where_it_stands(seen):
    table = next(landmark for landmark in seen["a"].objects if landmark.name == "coffee table")
    assert (table.color, table.shape, table.instance) == ("brown", "long", 2)
    assert (table.heading, table.distance, table.size) == (0.0, 1.0, 1.0)


def test_doors_are_no_things(seen):
    assert "door" not in {landmark.name for landmark in seen["a"].objects}


def test_what_hangs_overhead_is_no_landmark():
    lamp = grid_house.thing(1, "ceiling lamp", (1.0, 1.0))
    lamp.center[2] = 2.2
    low = grid_house.thing(2, "floor lamp", (1.0, 1.0))
    room = grid_house.square(0, "k", np.zeros(2))
    place = grid_house.furnished([room], [], [], [lamp, low], [np.array([2.0, 1.0]), np.array([3.0, 2.0])], [0, 0])
    assert [[landmark.name for landmark in view.objects] for view in place.descriptions.values()] == [
        ["floor lamp"]
    ] * 2


def test_a_way_tells_what_it_leads_through_and_where(seen):
    (way,) = seen["a"].candidates
    assert (way.node, way.room, way.exit, way.climb) == ("b", "h", "door", 0)
    assert (way.heading, way.distance) == (0.0, 4.0)
    assert {(way.node, way.climb, way.exit) for way in seen["b"].candidates} == {("a", 0, "door"), ("c", 1, "")}


def test_doors_of_the_room_are_seen_with_what_lies_beyond(seen):
    doors = sorted(seen["a"].doors, key=lambda door: door.wide)
    assert [(door.wide, door.room, door.color) for door in doors] == [(False, "h", "white"), (True, "h", "")]
    assert doors[0].distance == pytest.approx(math.hypot(3.05, 0.5))


def test_the_front_door_is_a_door_to_no_room_one_knows(seen):
    assert [door.room for door in seen["b"].doors if door.heading == pytest.approx(0.0)] == [""]


def test_the_room_beyond_an_askew_or_distant_door_is_not_known():
    long = grid_house.square(0, "h", np.zeros(2), (12.0, 2.0))
    landmark_at = grid_house.square(1, "b", np.array([9.0, 2.0]), (3.0, 3.0))
    door = Passage(0, (0, 1), False, np.array([10.0, 2.0]), np.array([0.0, 1.0]), 0.9, 2.1, 0.14, 0.0)
    points = [np.array([x, 1.0]) for x in (1.0, 4.0, 7.0, 10.0)]
    place = grid_house.furnished([long, landmark_at], [door], [], [], points, [0] * 4)
    assert [view.doors[0].room for view in place.descriptions.values()] == ["", "", "", "b"]


def test_a_door_around_the_corner_is_not_seen():
    bent = PlannedRoom(0, 0, "h", np.array([(0, 0), (6, 0), (6, 6), (5, 6), (5, 1), (0, 1)], dtype=float), 0.0, 2.7)
    door = Passage(0, (0, OUTSIDE), False, np.array([5.5, 6.1]), np.array([0.0, 1.0]), 0.9, 2.1, 0.2, 0.0)
    points = [np.array([1.0, 0.5]), np.array([5.5, 2.0])]
    place = grid_house.furnished([bent], [door], [], [], points, [0, 0])
    assert [len(view.doors) for view in place.descriptions.values()] == [0, 1]


def test_someone_in_a_doorway_sees_the_doors_of_the_room():
    rooms = [grid_house.square(k, "b", np.array([k * 4.0, 0.0]), (4.0, 4.0)) for k in (0, 1)]
    normal = np.array([1.0, 0.0])
    between = Passage(0, (0, 1), False, np.array([4.0, 2.0]), normal, 0.9, 2.1, 0.14, 0.0)
    farther = Passage(1, (1, OUTSIDE), False, np.array([8.0, 2.0]), normal, 0.9, 2.1, 0.14, 0.0)
    graph = NavGraph.from_edges(
        {"in the doorway": (4.01, 2.0, 1.5), "beyond": (6.0, 2.0, 1.5)}, [("in the doorway", "beyond")]
    )
    plan = FloorPlan(tuple(rooms), (between, farther), (), ())
    here = House("two rooms", plan, (), cottage.house().mesh)
    seen = describe_scenes(here, graph, grid_house.Seen(dict.fromkeys(graph.nodes, Room("b", "1")), {}))
    assert [round(door.distance, 2) for door in seen["in the doorway"].doors] == [0.01, 3.99]


def test_a_stranger_sees_no_names_of_places_and_things(seen):
    for view in map(anonymize, seen.values()):
        assert view.node == ""
        assert all(way.node == "" for way in view.candidates)
        assert all(landmark.instance == 0 for landmark in view.objects)


def test_a_stranger_sees_all_the_rest(seen):
    for view in seen.values():
        strange = anonymize(view)
        assert [(way.heading, way.distance, way.room) for way in strange.candidates] == [
            (way.heading, way.distance, way.room) for way in view.candidates
        ]
        assert strange.doors == view.doors
