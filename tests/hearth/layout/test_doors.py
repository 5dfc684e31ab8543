"""Which rooms are joined, in storeys small enough to see."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.hearth.layout.doors import Doorway, join_rooms
from itinera.hearth.layout.room_grid import Sketched, Unbuildable, paint, walls


def joined(rooms: list[Sketched], seed: int = 0) -> list[Doorway]:
    return join_rooms(np.random.default_rng(seed), rooms, walls(paint(rooms)), lane_low=True)


def kinds(rooms: list[Sketched], doorways: list[Doorway]) -> list[str]:
    return sorted("".join(sorted(rooms[k].kind for k in doorway.wall.rooms)) for doorway in doorways)


HALL = Sketched("h", ((0, 0, 100, 15),))


def test_an_own_bath_opens_to_its_bedroom_though_it_touches_the_hall() -> None:
    rooms = [HALL, Sketched("b", ((0, 15, 40, 60),)), Sketched("a", ((40, 15, 65, 60),), owner=1)]
    assert kinds(rooms, joined(rooms)) == ["ab", "bh"]


def test_nobody_walks_through_a_bath() -> None:
    rooms = [HALL, Sketched("a", ((0, 15, 30, 45),)), Sketched("b", ((0, 45, 30, 90),))]
    with pytest.raises(Unbuildable, match="reached"):
        joined(rooms)


def test_bedrooms_are_not_joined_to_each_other() -> None:
    rooms = [HALL, Sketched("b", ((0, 15, 40, 60),)), Sketched("b", ((40, 15, 80, 60),))]
    for seed in range(20):
        assert kinds(rooms, joined(rooms, seed)) == ["bh", "bh"]


def test_where_public_rooms_touch_there_is_always_a_loop() -> None:
    rooms = [HALL, Sketched("k", ((0, 15, 40, 60),)), Sketched("d", ((40, 15, 80, 60),))]
    for seed in range(20):
        assert kinds(rooms, joined(rooms, seed)) == ["dh", "dk", "hk"]


def test_public_rooms_have_openings_and_private_ones_doors() -> None:
    rooms = [HALL, Sketched("l", ((0, 15, 60, 70),)), Sketched("b", ((60, 15, 100, 60),))]
    wide = {rooms[max(doorway.wall.rooms)].kind: doorway.wide for doorway in joined(rooms)}
    assert wide == {"l": True, "b": False}


def test_a_wall_too_short_for_a_door_gets_none() -> None:
    rooms = [Sketched("h", ((0, 0, 12, 15),)), Sketched("b", ((0, 15, 40, 60),))]
    with pytest.raises(Unbuildable, match="reached"):
        joined(rooms)


def test_holes_keep_their_distance_from_the_ends_of_the_wall() -> None:
    rooms = [HALL, Sketched("l", ((0, 15, 60, 70),)), Sketched("b", ((60, 15, 75, 60),))]
    for seed in range(30):
        for doorway in joined(rooms, seed):
            assert doorway.centre - doorway.width / 2 >= doorway.wall.low / 10 + 0.22 - 1e-9
            assert doorway.centre + doorway.width / 2 <= doorway.wall.high / 10 - 0.22 + 1e-9


def test_stairs_open_to_the_hall_beside_the_flight() -> None:
    rooms = [HALL, Sketched("s", ((20, 15, 45, 74),)), Sketched("l", ((45, 15, 100, 74),))]
    (stairs,) = [doorway for doorway in joined(rooms) if 1 in doorway.wall.rooms]
    assert stairs.wide
    assert stairs.centre < 3.0
