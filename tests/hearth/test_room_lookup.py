"""Places and the rooms they are in."""

from __future__ import annotations

import numpy as np

from itinera.hearth.layout.plan import FloorPlan, PlannedRoom
from itinera.hearth.room_lookup import locate_rooms


def room(index, kind, outline, *, floor=0.0, storey=0, height=2.7):
    return PlannedRoom(index, storey, kind, np.array(outline, dtype=float), floor, height)


CORNERED = [(0, 0), (6, 0), (6, 2), (2, 2), (2, 5), (0, 5)]  # an L
PLAN = FloorPlan(
    rooms=(
        room(0, "l", CORNERED),
        room(1, "s", [(2.15, 2.15), (6, 2.15), (6, 5), (2.15, 5)]),
        room(2, "s", [(2.15, 2.15), (6, 2.15), (6, 5), (2.15, 5)], floor=3.0, storey=1),
        room(3, "b", CORNERED, floor=3.0, storey=1),
    ),
    passages=(),
    windows=(),
    staircases=(),
)


def test_a_place_is_in_the_room_whose_outline_holds_it():
    places = np.array([(1, 4, 0), (5, 1, 0), (4, 4, 0), (4, 4, 3.0), (1, 4, 3.0)], dtype=float)
    assert locate_rooms(PLAN, places).tolist() == [0, 0, 1, 2, 3]


def test_a_doorway_belongs_to_the_nearer_room():
    places = np.array([(4, 2.05, 0), (4, 2.12, 0), (4, 2.12, 3.0)])
    assert locate_rooms(PLAN, places).tolist() == [0, 1, 2]


def test_stairs_belong_to_the_room_they_rise_from_until_the_upper_floor_is_reached():
    heights = [0.0, 1.4, 2.6, 2.9, 3.0]
    assert locate_rooms(PLAN, np.array([(4, 4, z) for z in heights])).tolist() == [1, 1, 1, 2, 2]
