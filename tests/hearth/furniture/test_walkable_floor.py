"""Whether a room stays walkable with things in it."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.hearth.furniture.walkable_floor import WalkableFloor

ROOM = np.array([(0, 0), (4, 0), (4, 3), (0, 3)], dtype=float)
WEST, EAST = np.array((0.35, 1.5)), np.array((3.65, 1.5))
NOTHING = np.empty((0, 6))


def box(x0: float, y0: float, x1: float, y1: float) -> np.ndarray:
    return np.array([(x0, y0, 0.0, x1, y1, 1.0)])


def floor(*doors: np.ndarray, share: float = 0.4) -> WalkableFloor:
    return WalkableFloor(ROOM, list(doors), NOTHING, share)


@pytest.mark.parametrize(
    ("obstacle", "open_"),
    [
        (box(1.8, 0.0, 2.2, 3.0), False),  # from wall to wall
        (box(1.8, 0.0, 2.2, 2.6), False),  # a gap of 0.4 m, too narrow
        (box(1.8, 0.0, 2.2, 2.2), True),  # a gap of 0.8 m
        (box(0.2, 1.2, 0.6, 1.8), False),  # right before a door
        (NOTHING, True),
    ],
)
def test_a_thing_may_not_cut_doors_off_from_each_other(obstacle, open_):
    assert floor(WEST, EAST).stays_open(obstacle) == open_


def test_a_large_thing_must_leave_its_share_of_the_floor():
    table = box(0.8, 0.8, 3.2, 2.2)
    assert floor(WEST, share=0.1).stays_open(table)
    assert not floor(WEST, share=0.6).stays_open(table)


def test_what_is_in_the_room_adds_up():
    room = floor(WEST, EAST)
    one, other = box(1.8, 0.0, 2.2, 1.3), box(1.8, 1.7, 2.2, 3.0)
    assert room.stays_open(other)
    assert room.reachable == 1.0
    room.block(one)
    assert 0 < room.reachable < 1
    assert not room.stays_open(other)


def test_built_in_things_are_part_of_the_bare_room():
    room = WalkableFloor(ROOM, [WEST], box(2.0, 0.0, 4.0, 3.0), 0.4)
    assert room.reachable == 1.0
    assert room.middle[0] < 2.0


def test_a_room_too_narrow_to_stand_in_takes_anything():
    closet = np.array([(0, 0), (0.4, 0), (0.4, 1.0), (0, 1.0)], dtype=float)
    assert WalkableFloor(closet, [np.array((0.2, 0.3))], NOTHING, 0.4).stays_open(box(0, 0, 0.4, 1.0))
