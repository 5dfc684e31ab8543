"""Furniture stands as people arrange it: seats around a focus, beds at walls, desks with chairs, mirrors over sinks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from hearth.furniture.furnished import HOUSES, corners, each_house, from_walls, furnished, high, inside, low
from itinera.hearth.furniture.clearances import OUTDOOR
from itinera.hearth.geometry.solids import HouseObject
from itinera.hearth.layout.plan import PlannedRoom

ALLOWED_ROOMS = {
    "bathtub": "aS",
    "bed": "b",
    "bunk bed": "b",
    "car": "g",
    "dining table": "dklfB",
    "floor lamp": "blfnvioder",
    "lawn mower": "g",
    "nightstand": "b",
    "rug": "abdefhiklnorvBSs",
    "shower": "aS",
    "sink": "akt",
    "sofa": "lfnvoriB",
    "stove": "k",
    "toilet": "at",
    "towel": "ajtwS",
    "tree": "x",
    "tv": "lfnvbr",
    "wardrobe": "b",
}
INDOOR_ONLY = {"picture", "curtain", "ceiling lamp", "wall lamp", "clock", "mirror", "rug", "floor lamp"}


def facing(item: HouseObject) -> np.ndarray:
    return np.array([np.cos(item.heading), np.sin(item.heading)])


def ahead(item: HouseObject, other: HouseObject) -> tuple[float, float]:
    """How far another object is in front of an item's center, and how far to a side."""
    away = (other.center - item.center)[:2]
    front = facing(item)
    return float(away @ front), float(abs(away[1] * front[0] - away[0] * front[1]))


def rooms(index: int, kinds: str = "") -> Iterator[tuple[PlannedRoom, list[HouseObject]]]:
    house = furnished(index)
    for room in house.plan.rooms:
        if not kinds or room.kind in kinds:
            yield room, house.within(room)


def named(items: list[HouseObject], *names: str) -> list[HouseObject]:
    return [item for item in items if item.name in names]


@each_house
def test_every_television_is_watched_from_a_sofa_or_bed_in_front_of_it(index):
    for room, items in rooms(index):
        for screen in named(items, "tv"):
            seats = [(seat, *ahead(screen, seat)) for seat in named(items, "sofa", "bed", "bunk bed")]
            watched = [
                seat for seat, far, off in seats if 1 < far < 7 and off < 1.3 and facing(seat) @ facing(screen) < -0.9
            ]
            assert watched, f"nobody watches the television of room {room.index}, {room.kind}"


def test_nearly_every_sofa_has_a_coffee_table_or_seats_in_front():
    sofas = served = 0
    for index in HOUSES:
        for _, items in rooms(index, "lfnv"):
            for sofa in named(items, "sofa"):
                there = [ahead(sofa, other) for other in named(items, "coffee table", "sofa", "armchair", "tv stand")]
                sofas += 1
                served += any(0.3 < far < 5.5 and off < 1.9 for far, off in there)
    assert served >= 0.95 * sofas


@each_house
def test_armchairs_overlook_the_room_and_do_not_face_a_wall(index):
    for room, items in rooms(index):
        for chair in named(items, "armchair", "sofa"):
            view = chair.center[:2] + facing(chair) * 1.0
            assert inside(room.outline, view[None])[0], f"an armchair of room {room.index}, {room.kind}, faces a wall"


@each_house
def test_headboards_are_at_walls_and_nightstands_beside_beds(index):
    for room, items in rooms(index, "b"):
        beds = named(items, "bed", "bunk bed")
        for bed in beds:
            head = corners(bed)[:2]  # the back of its footprint
            sides = corners(bed)
            along_wall = (from_walls(room.outline, sides) < 0.12).sum() >= 2
            assert (from_walls(room.outline, head) < 0.12).all() or along_wall, f"a bed floats in room {room.index}"
        for stand in named(items, "nightstand"):
            gaps = [np.linalg.norm((stand.center - bed.center)[:2]) for bed in beds]
            assert min(gaps) < 1.9, f"a nightstand without a bed in room {room.index}"


@each_house
def test_desks_are_at_walls_and_have_their_chairs(index):
    for room, items in rooms(index):
        for desk in named(items, "desk"):
            assert (from_walls(room.outline, corners(desk)[:2]) < 0.12).all(), "a desk does not face a wall or window"
            chairs = [ahead(desk, chair) for chair in named(items, "office chair")]
            assert any(0 < far < 1.2 and off < 0.5 for far, off in chairs), "a desk without a chair"
        for chair in named(items, "office chair"):
            gaps = [np.linalg.norm((desk.center - chair.center)[:2]) for desk in named(items, "desk")]
            assert min(gaps, default=np.inf) < 1.2, f"an office chair without a desk in {room.index}, {room.kind}"


@each_house
def test_dining_chairs_face_their_table(index):
    for room, items in rooms(index):
        tables = named(items, "dining table", "garden table")
        for chair in named(items, "chair", "garden chair"):
            reach = [ahead(chair, table) for table in tables]
            if room.kind in "y":
                continue  # a narrow balcony may have a chair without a table
            assert any(0 < far < 2.0 and off < 1.5 for far, off in reach), f"a chair faces no table in {room.kind}"


@pytest.mark.parametrize("indices", [HOUSES, pytest.param(range(20, 200), marks=pytest.mark.slow)], ids=["20", "200"])
def test_stove_sink_and_refrigerator_are_nearly_always_close_together(indices):
    gaps = []
    for index in indices:
        for _, items in rooms(index, "k"):
            sinks = np.array([sink.center[:2] for sink in named(items, "sink")])
            others = named(items, "stove", "refrigerator")
            gaps += [np.abs(sinks - one.center[:2]).max(axis=1).min() for one in others]
    assert np.mean(np.array(gaps) < 3.6) > 0.95


@each_house
def test_every_room_indoors_has_a_lamp(index):
    for room, items in rooms(index):
        assert room.outdoor or any(item.category == "lighting" for item in items), f"room {room.index} is dark"


def test_nearly_every_washbasin_has_a_mirror_above():
    basins = mirrored = 0
    for index in HOUSES:
        for _, items in rooms(index, "at"):
            for basin in named(items, "sink"):
                basins += 1
                over = [m for m in named(items, "mirror") if low(m) > high(basin) - 0.2]
                mirrored += any(np.abs((m.center - basin.center)[:2]).max() < 0.6 for m in over)
    assert mirrored > 0.85 * basins


@each_house
def test_things_are_in_rooms_where_one_expects_them(index):
    for room, items in rooms(index):
        for item in items:
            assert room.kind in ALLOWED_ROOMS.get(item.name, room.kind), f"a {item.name} in a room {room.kind}"
            assert room.kind not in OUTDOOR or item.name not in INDOOR_ONLY, f"a {item.name} outdoors"


@pytest.mark.parametrize("index", HOUSES)
def test_small_things_rest_on_something_or_stand_at_the_side(index):
    house = furnished(index)
    for item in house.items:
        if item.name in {"cup", "plate", "book", "bowl", "remote control", "phone"}:
            assert low(item) - house.plan.rooms[item.room].floor > 0.3, f"a {item.name} on the floor"
