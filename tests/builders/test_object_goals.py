"""Objects to find: named so that they cannot be mistaken, near the end of the path."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import cottage
from itinera.builders.object_goals import find_unique_name, sample_object_goals
from itinera.hearth.geometry.solids import HouseObject
from itinera.seeding import generator
from itinera.tasks import Episode, Instruction
from itinera.worlds import Pose, VisibleObject, World

ROUND = HouseObject(4, "coffee table", "table", 0, np.zeros(3), np.ones(3), 0.0, "white", "round")
UPSTAIRS = replace(ROUND, index=5, room=2, color="brown", shape="long")


def house(*more: HouseObject):
    """The cottage with further things; of its own there are a door, a long brown coffee table and a red bed."""
    return replace(cottage.house(), objects=(*cottage.ITEMS, *more))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ((), "coffee table"),
        ((ROUND,), "brown coffee table"),
        ((replace(ROUND, color="brown"),), "long coffee table"),
        ((replace(ROUND, color="brown"), replace(ROUND, index=5, shape="long")), "long brown coffee table"),
        ((replace(ROUND, color="brown", shape="long"),), ""),
        ((replace(UPSTAIRS, index=4),), "coffee table"),  # in a room of another kind
    ],
)
def test_a_thing_is_called_by_the_shortest_words_that_fit_it_alone(more, words):
    assert find_unique_name(house(*more), cottage.ITEMS[1]) == words


def test_what_belongs_to_the_building_is_not_looked_for():
    assert find_unique_name(house(), cottage.ITEMS[0]) == ""


def seen(id: int, distance: float, views: int = 1) -> VisibleObject:
    return VisibleObject(str(id), "", np.arange(views), np.zeros((views, 4)), heading=0.0, distance=distance)


PATHS = [
    Episode(f"{path_id}_{i}", "cottage", Pose("b", 1.0), goals, ("b", *goals), Instruction("Go."), str(path_id))
    for path_id, goals in ((7, ("a",)), (8, ("d",)))
    for i in range(3)
]


def world(**objects: tuple[VisibleObject, ...]) -> World:
    """The cottage's viewpoints: a is in the kitchen with the table, d in the bedroom with the bed."""
    return replace(cottage.world(), objects=objects)


def test_each_path_gets_an_object_near_its_end():
    where = world(a=(seen(2, 2.0), seen(3, 3.5), seen(1, 1.0)), d=(seen(3, 2.9), seen(2, 1.0)))
    found = sample_object_goals(house(), where, PATHS, generator(1, "finding"))
    assert [(e.id, e.notes["id"], e.notes["objId"]) for e in found] == [
        *((f"7_{i}", "7", 2) for i in range(3)),
        *((f"8_{i}", "8", 3) for i in range(3)),
    ]
    for episode in found[:3]:
        assert "the coffee table" in episode.instruction.text
        assert "kitchen" in episode.instruction.text
        assert episode.instruction.text[0].isupper()
        assert episode.instruction.text[-1] == "."
    assert len({episode.instruction.text for episode in found}) == 6
    assert found[0].reference == ("b", "a")


def test_a_path_that_ends_at_nothing_is_left_out():
    where = world(a=(seen(2, 2.0, views=0), seen(3, 1.0)), d=(seen(3, 3.5),))
    assert sample_object_goals(house(), where, PATHS, generator(1, "finding")) == ()
