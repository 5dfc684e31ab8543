"""Furnished rooms: nothing in walls, nothing in the way, nothing in the air, and in each what it is for."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import ndimage

from hearth.coplanar import fighting_faces
from hearth.furniture.furnished import (
    HOUSES,
    OUTLINES,
    SEED,
    Furnished,
    before,
    carries,
    corners,
    each_house,
    from_item,
    from_walls,
    furnished,
    high,
    houses,
    inside,
    low,
    one_room,
    overlap,
    stair_areas,
)
from itinera.hearth.furniture.clearances import OUTDOOR
from itinera.hearth.furniture.furnish import furnish
from itinera.hearth.furniture.room_programs import REQUIREMENTS, ROOM_PROGRAMS
from itinera.hearth.geometry.polygons import area
from itinera.hearth.geometry.shell import build_shell
from itinera.hearth.geometry.solids import HouseObject, Solids
from itinera.hearth.layout.plan import Passage, PlannedRoom
from itinera.seeding import generator
from itinera.worlds.labels import MAP_CLASSES

RADIUS = 0.2  # of the widest robot that must get everywhere


@each_house
def test_indices_follow_those_of_the_fixtures_and_every_item_is_in_the_mesh(index):
    house = furnished(index)
    assert [item.index for item in house.items] == list(
        range(len(house.fixtures) + 1, len(house.fixtures) + len(house.items) + 1)
    )
    assert {item.index for item in house.items} <= set(house.mesh.instances.tolist())
    assert 5_000 <= len(house.mesh.faces) <= 75_000


@each_house
def test_everything_is_within_its_room(index):
    house = furnished(index)
    for item in house.items:
        room = house.plan.rooms[item.room]
        assert inside(room.outline, corners(item)).all(), f"{item.name} sticks out of room {room.index}, {room.kind}"
        assert from_walls(room.outline, corners(item)).min() > 0.002, f"{item.name} touches a wall"
        assert low(item) > room.floor + 0.002, f"{item.name} is in the floor"
        assert room.kind in OUTDOOR or high(item) < room.floor + room.height - 0.002, f"{item.name} is in the ceiling"


@each_house
def test_faces_of_an_item_are_where_it_says_it_is(index):
    house = furnished(index)
    order = np.argsort(house.mesh.instances, kind="stable")
    starts = np.searchsorted(house.mesh.instances[order], np.arange(1, len(house.fixtures) + len(house.items) + 2))
    for item in house.items:
        points = house.mesh.corners[order[starts[item.index - 1] : starts[item.index]]].reshape(-1, 3)
        assert points[:, 2].min() == pytest.approx(low(item), abs=1e-3)
        assert points[:, 2].max() == pytest.approx(high(item), abs=1e-3)
        # A turned round thing is smaller than its turned box.
        box = corners(item)
        assert (points[:, :2] > box.min(axis=0) - 1e-3).all()
        assert (points[:, :2] < box.max(axis=0) + 1e-3).all()


FLAT = {"rug", "bath mat", "exercise mat"}
SEATS = {"chair", "stool", "bar stool", "office chair", "garden chair"}
UNDER = {"dining table", "desk", "kitchen island", "bar", "piano", "garden table"}
RESTED_ON = {"sofa", "sink", "bench", "chest", "workbench"}  # their boxes rise above their seats or tops
ON_DESKS = {"monitor", "laptop", "books", "table lamp"}
LET_IN = {("cushion", "sofa"), ("bed", "pillow"), ("bunk bed", "pillow"), ("kitchen counter", "sink")}


def meant(one: HouseObject, other: HouseObject) -> bool:
    """Whether these two may share room: tucked in, let in, lying on, or walked over."""
    if any(item.size[2] < 0.03 and item.name in FLAT for item in (one, other)):
        return True
    if "parasol" in (one.name, other.name):
        return True  # it stands in the middle of a table, and its canopy is above the chairs
    if any(base.name in RESTED_ON and carries(base, item) for base, item in ((one, other), (other, one))):
        return True
    names = tuple(sorted((one.name, other.name)))
    seat, partner = (one, other) if one.name in SEATS else (other, one)
    # The back of an office chair rises beside what stands on the desk it is drawn up to.
    tucked = seat.name in SEATS and (
        partner.name in UNDER or (seat.name == "office chair" and partner.name in ON_DESKS)
    )
    return tucked or names in LET_IN


@each_house
def test_things_overlap_only_where_they_are_meant_to(index):
    house = furnished(index)
    for room in house.plan.rooms:
        items = house.within(room)
        reach = np.array([np.linalg.norm(item.size) / 2 for item in items])
        centres = np.array([item.center for item in items]).reshape(-1, 3)
        near = np.linalg.norm(centres[:, None] - centres, axis=2) < reach[:, None] + reach
        for k, one in enumerate(items):
            for other in (items[m] for m in np.flatnonzero(near[k, :k])):
                if not meant(one, other):
                    assert overlap(one, other) < 1e-3, f"{one.name} and {other.name} in room {room.index}, {room.kind}"


@each_house
def test_nothing_floats(index):
    house = furnished(index)
    for room in house.plan.rooms:
        items = house.within(room)
        for item in items:
            above = low(item) - room.floor
            stands = above < 0.01
            hangs = from_walls(room.outline, corners(item)).min() < 0.09
            dangles = room.floor + room.height - high(item) < 0.01
            assert stands or hangs or dangles or any(carries(other, item) for other in items), item.name


@each_house
def test_passages_and_stairs_stay_free(index):
    house = furnished(index)
    for passage in house.plan.passages:
        for side, number in ((-1, passage.rooms[0]), (1, passage.rooms[1])):
            if number >= 0:
                zone = before(passage, side, house.plan.rooms[number].floor)
                for item in house.within(house.plan.rooms[number]):
                    assert not item.blocks or overlap(zone, item) < 1e-3, f"{item.name} stands before a passage"
    for room in house.plan.rooms:
        for x0, y0, x1, y1 in stair_areas(house.plan, room):
            for item in house.within(room):
                box = corners(item)
                apart = (box.max(axis=0) <= (x0, y0)).any() or (box.min(axis=0) >= (x1, y1)).any()
                assert apart, f"{item.name} is on the stairs"


@each_house
def test_every_room_is_for_something(index):
    house = furnished(index)
    for room in house.plan.rooms:
        items = house.within(room)
        names = {item.name for item in items}
        assert items or room.kind in "sy", f"room {room.index}, {room.kind}, is empty"
        narrow_balcony = room.kind == "y" and np.ptp(room.outline, axis=0).min() < 1.5
        if room.kind not in "sht" and not narrow_balcony:
            assert any(item.blocks for item in items), f"nothing stands in room {room.index}, {room.kind}"
        needed = REQUIREMENTS.get(room.kind, ())
        for choice in needed if room.kind != "a" else needed[:2]:
            assert not names.isdisjoint(choice), f"room {room.index}, {room.kind}, has none of {sorted(choice)}"


def test_nearly_every_bathroom_has_a_tub_or_a_shower():
    baths = [
        {item.name for item in furnished(index).within(room)}
        for index in HOUSES
        for room in furnished(index).plan.rooms
        if room.kind == "a"
    ]
    assert sum(bool(names & {"bathtub", "shower"}) for names in baths) > 0.85 * len(baths)


@pytest.mark.parametrize("index", houses()[::4])
def test_a_robot_gets_from_door_to_door_through_every_room(index):
    house = furnished(index)
    for room in house.plan.rooms:
        passages = [passage for passage in house.plan.passages if room.index in passage.rooms]
        free, share, cells = standing_room(house, room, passages)
        labels, _ = ndimage.label(free)
        found = {int(labels[cell]) for cell in cells}
        assert len(found) == 1, f"room {room.index}, {room.kind}, is cut in two"
        assert 0 not in found, f"a door of room {room.index}, {room.kind}, is blocked"
        # In a bath or a closet one turns round on little.
        wanted = 0.35 if area(room.outline) > 12 else 0.08
        assert (labels == found.pop()).sum() > wanted * share, f"little floor is left in room {room.index}, {room.kind}"


def standing_room(
    house: Furnished, room: PlannedRoom, passages: list[Passage], cell: float = 0.05
) -> tuple[np.ndarray, int, list[tuple[int, ...]]]:
    """Where a robot's centre may be, on how many cells of the bare floor it might, and the cells before the doors."""
    start = room.outline.min(axis=0)
    shape = np.ceil(np.ptp(room.outline, axis=0) / cell).astype(int)
    points = (np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, 2) + 0.5) * cell + start
    bare = inside(room.outline, points) & (from_walls(room.outline, points) >= RADIUS)
    free = bare.copy()
    for item in house.within(room):
        if low(item) - room.floor < 1.5 and item.size[2] > 0.03:
            free &= from_item(item, points) >= RADIUS
    for x0, y0, x1, y1 in stair_areas(house.plan, room):
        free &= ~((points >= (x0, y0)) & (points <= (x1, y1))).all(axis=1)
    doors = []
    for passage in passages:
        way = -passage.normal if passage.rooms[0] == room.index else passage.normal
        spot = passage.center + way * (passage.depth / 2 + RADIUS + 0.1)
        doors.append(tuple(((spot - start) / cell).astype(int).tolist()))
    return free.reshape(shape), int(bare.sum()), doors


@each_house
def test_rugs_are_thin_and_lamps_high(index):
    house = furnished(index)
    for item in house.items:
        if item.name in {"rug", "bath mat", "exercise mat"}:
            assert item.size[2] <= 0.015
            assert not item.blocks
        if item.name == "ceiling lamp":
            assert low(item) - house.plan.rooms[item.room].floor >= 2.05


@pytest.mark.parametrize("index", houses()[::5])
def test_no_faces_of_different_things_coincide(index):
    house = furnished(index)
    names = {0: "the house", **{item.index: item.name for item in (*house.fixtures, *house.items)}}
    furniture = {item.index for item in house.items}
    pairs = [tuple(int(house.mesh.instances[face]) for face in pair) for pair in fighting_faces(house.mesh)]
    fights = Counter(tuple(sorted(names[k] for k in pair)) for pair in pairs if furniture & set(pair))
    assert not fights


def test_houses_hold_every_map_class_and_many_kinds_of_things():
    items = [item for index in HOUSES for item in furnished(index).items]
    assert set(MAP_CLASSES) - {"void"} <= {item.category for item in items}
    assert len({item.name for item in items}) >= 60


def test_colours_tell_things_of_a_kind_apart():
    """Of the large things of one name in one room, nearly all have a description of their own."""
    alone = total = 0
    for index in HOUSES:
        for room in furnished(index).plan.rooms:
            items = furnished(index).within(room)
            told = Counter((item.name, item.color, item.shape, item.material) for item in items)
            for item in items:
                if item.name in {"sofa", "bookshelf", "cabinet", "picture", "desk", "bed", "dresser", "shelves"}:
                    total += 1
                    alone += told[item.name, item.color, item.shape, item.material] == 1
    assert alone > 0.96 * total


def test_dining_chairs_are_a_set():
    for index in HOUSES:
        house = furnished(index)
        for room in house.plan.rooms:
            if room.kind == "d":
                assert len({item.color for item in house.within(room) if item.name == "chair"}) <= 1


def test_the_same_seed_gives_the_same_bytes():
    once = furnished(3)
    solids = Solids()
    build_shell(once.plan, generator(SEED, "house", "3", "shell"), solids)
    items = furnish(once.plan, once.fixtures, generator(SEED, "house", "3", "furniture"), solids)
    again = solids.mesh()
    assert [(item.name, item.color, item.shape) for item in items] == [
        (item.name, item.color, item.shape) for item in once.items
    ]
    for name in ("vertices", "faces", "classes", "instances", "colors"):
        assert getattr(again, name).tobytes() == getattr(once.mesh, name).tobytes()


@pytest.mark.parametrize("shape", OUTLINES)
@pytest.mark.parametrize("kind", ROOM_PROGRAMS)
def test_any_kind_of_room_is_furnished_whatever_its_shape(kind, shape):
    plan = one_room(kind, OUTLINES[shape])
    items = furnish(plan, (), generator(5, kind, shape), Solids())
    for item in items:
        assert inside(plan.rooms[0].outline, corners(item)).all(), item.name
        zone = before(plan.passages[0], -1, 0.0)
        assert not item.blocks or overlap(zone, item) < 1e-3, item.name
    if shape in ("square", "large"):
        names = {item.name for item in items}
        assert all(not names.isdisjoint(choice) for choice in REQUIREMENTS.get(kind, ()))
