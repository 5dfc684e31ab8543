"""Which rooms are joined, in storeys small enough to see."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.hearth.layout.doors import DoorPlacement, place_doors
from itinera.hearth.layout.room_grid import InvalidLayout, RoomSketch, find_walls, rasterize_rooms


def joined(rooms: list[RoomSketch], seed: int = 0) -> list[DoorPlacement]:
    return place_doors(np.random.default_rng(seed), rooms, find_walls(rasterize_rooms(rooms)), lane_low=True)


def kinds(rooms: list[RoomSketch], doorways: list[DoorPlacement]) -> list[str]:
    return sorted("".join(sorted(rooms[k].kind for k in doorway.wall.rooms)) for doorway in doorways)


HALL = RoomSketch("h", ((0, 0, 100, 15),))


def test_an_own_bath_opens_to_its_bedroom_though_it_touches_the_hall() -> None:
    rooms = [HALL, RoomSketch("b", ((0, 15, 40, 60),)), RoomSketch("a", ((40, 15, 65, 60),), owner=1)]
    assert kinds(rooms, joined(rooms)) == ["ab", "bh"]


def test_nobody_walks_through_a_bath() -> None:
    rooms = [HALL, RoomSketch("a", ((0, 15, 30, 45),)), RoomSketch("b", ((0, 45, 30, 90),))]
    with pytest.raises(InvalidLayout, match="reached"):
        joined(rooms)


def test_bedrooms_are_not_joined_to_each_other() -> None:
    rooms = [HALL, RoomSketch("b", ((0, 15, 40, 60),)), RoomSketch("b", ((40, 15, 80, 60),))]
    for seed in range(20):
        assert kinds(rooms, joined(rooms, seed)) == ["bh", "bh"]


def test_where_public_rooms_touch_there_is_always_a_loop() -> None:
    rooms = [HALL, RoomSketch("k", ((0, 15, 40, 60),)), RoomSketch("d", ((40, 15, 80, 60),))]
    for seed in range(20):
        assert kinds(rooms, joined(rooms, seed)) == ["dh", "dk", "hk"]


def test_public_rooms_have_openings_and_private_ones_doors() -> None:
    rooms = [HALL, RoomSketch("l", ((0, 15, 60, 70),)), RoomSketch("b", ((60, 15, 100, 60),))]
    wide = {rooms[max(doorway.wall.rooms)].kind: doorway.wide for doorway in joined(rooms)}
    assert wide == {"l": True, "b": False}


def test_a_wall_too_short_for_a_door_gets_none() -> None:
    rooms = [RoomSketch("h", ((0, 0, 12, 15),)), RoomSketch("b", ((0, 15, 40, 60),))]
    with pytest.raises(InvalidLayout, match="reached"):
        joined(rooms)


def test_holes_keep_their_distance_from_the_ends_of_the_wall() -> None:
    rooms = [HALL, RoomSketch("l", ((0, 15, 60, 70),)), RoomSketch("b", ((60, 15, 75, 60),))]
    for seed in range(30):
        for doorway in joined(rooms, seed):
            assert doorway.center - doorway.width / 2 >= doorway.wall.low / 10 + 0.22 - 1e-9
            assert doorway.center + doorway.width / 2 <= doorway.wall.high / 10 - 0.22 + 1e-9


def test_stairs_open_to_the_hall_beside_the_flight() -> None:
    rooms = [HALL, RoomSketch("s", ((20, 15, 45, 74),)), RoomSketch("l", ((45, 15, 100, 74),))]
    (stairs,) = [doorway for doorway in joined(rooms) if 1 in doorway.wall.rooms]
    assert stairs.wide
    assert stairs.center < 3.0
