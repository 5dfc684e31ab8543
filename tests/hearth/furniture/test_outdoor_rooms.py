"""Terraces, balconies and gardens on plans made by hand: inside their border, nothing on walls that do not exist."""

from __future__ import annotations

import numpy as np
import pytest

from hearth.furniture.furnished import corners, furnish_plan, inside, low, overlap
from itinera.hearth.furniture.interior import find_house_walls, find_straight_walls
from itinera.hearth.geometry.solids import HouseObject
from itinera.hearth.layout.plan import FloorPlan, Passage, PlannedRoom

HOUSE = [(0.0, 0.0), (6.0, 0.0), (6.0, 5.0), (0.0, 5.0)]
SIDES = {
    "beside": [(0.0, -4.15), (6.0, -4.15), (6.0, -0.15), (0.0, -0.15)],
    "wide": [(-3.0, -9.15), (12.0, -9.15), (12.0, -0.15), (-3.0, -0.15)],
    "bent": [(-4.0, -5.15), (6.0, -5.15), (6.0, -0.15), (-0.15, -0.15), (-0.15, 5.0), (-4.0, 5.0)],
    "narrow": [(1.0, -1.75), (5.0, -1.75), (5.0, -0.15), (1.0, -0.15)],
    "slanted": [(0.0, -6.15), (4.0, -7.0), (6.0, -4.0), (6.0, -0.15), (0.0, -0.15)],
}
NEEDS_WALL = {"grill"}


def beside_house(kind: str, outline: list[tuple[float, float]], *, upper: bool = False) -> FloorPlan:
    """A living room with an outdoor room south of it, and a door between; perhaps a balcony above the door."""
    rooms = [
        PlannedRoom(0, 0, "l", np.array(HOUSE), 0.0, 2.6),
        PlannedRoom(1, 0, kind, np.array(outline), 0.0, 2.6),
    ]
    if upper:
        rooms.append(PlannedRoom(2, 1, "y", np.array([(1.0, -2.0), (5.0, -2.0), (5.0, -0.15), (1.0, -0.15)]), 2.9, 2.6))
    door = Passage(0, (0, 1), False, np.array((3.0, -0.075)), np.array((0.0, -1.0)), 0.9, 2.1, 0.15, 0.0)
    return FloorPlan(tuple(rooms), (door,), (), ())


every_plan = pytest.mark.parametrize(("kind", "shape"), [(kind, shape) for kind in "pxy" for shape in SIDES])


@every_plan
@pytest.mark.parametrize("seed", range(4))
def test_an_outdoor_room_is_furnished_within_its_border(kind, shape, seed):
    plan = beside_house(kind, SIDES[shape])
    items = [item for item in furnish_plan(plan, seed) if item.room == 1]
    assert any(item.blocks for item in items)
    for item in items:
        assert inside(plan.rooms[1].outline, corners(item)).all(), item.name
        assert low(item) < 0.05 or item.category != "picture"
        assert item.category not in {"picture", "curtain", "mirror"}, item.name


@every_plan
def test_things_outdoors_stand_on_the_ground_or_on_each_other(kind, shape):
    items = [item for item in furnish_plan(beside_house(kind, SIDES[shape]), 3) if item.room == 1]
    for item in items:
        held = [base for base in items if base is not item and overlap_flat(base, item) and low(base) < low(item)]
        assert low(item) < 0.01 or held, f"a {item.name} in the air"


def overlap_flat(base: HouseObject, item: HouseObject) -> bool:
    return bool(inside(corners(base), item.center[None, :2])[0])


@pytest.mark.parametrize("seed", range(6))
def test_no_tree_grows_into_a_balcony(seed):
    plan = beside_house("x", SIDES["wide"], upper=True)
    floor = HouseObject(0, "balcony", "floor", 2, np.array((3.0, -1.075, 3.2)), np.array((4.0, 1.85, 1.4)), np.pi / 2)
    for item in furnish_plan(plan, seed):
        if item.room == 1:
            assert overlap(item, floor) < 0, item.name


def test_walls_outdoors_are_where_the_house_is():
    plan = beside_house("p", SIDES["wide"])
    walls = find_house_walls(plan, plan.rooms[1], find_straight_walls(plan.rooms[1].outline))
    assert len(walls) == 1
    assert walls[0].length == pytest.approx(6.0, abs=0.25)
    assert walls[0].start[1] == pytest.approx(-0.15)


@pytest.mark.parametrize("seed", range(8))
def test_what_needs_a_wall_stands_at_the_house(seed):
    for item in furnish_plan(beside_house("p", SIDES["wide"]), seed):
        if item.room == 1 and item.name in NEEDS_WALL:
            assert corners(item)[:, 1].max() > -0.25, f"a {item.name} at no wall"


def test_gardens_have_trees_and_terraces_have_seats():
    gardens = terraces = 0
    for seed in range(4):
        gardens += any(item.name == "tree" for item in furnish_plan(beside_house("x", SIDES["wide"]), seed))
        seats = {"garden chair", "lounger", "bench"}
        terraces += any(item.name in seats for item in furnish_plan(beside_house("p", SIDES["beside"]), seed))
    assert gardens == terraces == 4


def test_a_garage_has_a_car_along_its_longer_side():
    outline = [(0.0, 0.0), (4.2, 0.0), (4.2, 6.5), (0.0, 6.5)]
    room = PlannedRoom(0, 0, "g", np.array(outline), 0.0, 2.6)
    door = Passage(0, (0, -1), False, np.array((3.6, -0.07)), np.array((0.0, -1.0)), 0.8, 2.1, 0.14, 0.0)
    for seed in range(5):
        items = furnish_plan(FloorPlan((room,), (door,), (), ()), seed)
        car = next(item for item in items if item.name == "car")
        assert abs(np.sin(car.heading)) > 0.9
        assert {"garbage bin", "shelves"} & {item.name for item in items}
