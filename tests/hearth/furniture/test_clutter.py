"""Small things: none, some or many, and the same furniture below them."""

from __future__ import annotations

from collections import Counter

import pytest

from hearth.furniture.furnished import (
    HOUSES,
    OUTLINES,
    corners,
    furnish_plan,
    furnished,
    inside,
    low,
    one_room,
    overlap,
)
from itinera.errors import BadArgument
from itinera.hearth.build import build_house
from itinera.hearth.furniture import belongings, tableware
from itinera.hearth.furniture.clutter import ON_FLOORS, ON_SURFACES, TOYS
from itinera.hearth.furniture.model import FurnitureKind
from itinera.hearth.furniture.room_programs import ROOM_PROGRAMS

SMALL = {
    kind.name for module in (belongings, tableware) for kind in vars(module).values() if isinstance(kind, FurnitureKind)
} - {"towel"}  # a towel may also hang on a rail


@pytest.mark.parametrize("kind", "bdklo")
def test_the_furniture_is_the_same_for_every_clutter(kind):
    plan = one_room(kind, OUTLINES["large"])
    bare, usual, messy = (furnish_plan(plan, 4, clutter=clutter) for clutter in (0.0, 1.0, 2.0))
    for more in (usual, messy):
        for one, other in zip(bare, more, strict=False):
            assert (one.index, one.name, one.color, one.heading) == (
                other.index,
                other.name,
                other.color,
                other.heading,
            )
            assert (one.center == other.center).all()
    assert not SMALL & {item.name for item in bare}
    assert len(bare) < len(usual) < len(messy)


def test_every_small_thing_occurs_somewhere():
    used = {kind.name for kinds in (*ON_SURFACES.values(), *ON_FLOORS.values(), TOYS) for kind in kinds}
    assert used >= SMALL


def test_every_kind_of_room_has_things_on_its_floor():
    assert set(ON_FLOORS) == set(ROOM_PROGRAMS)


def test_small_things_take_at_most_a_quarter_of_the_triangles():
    small = total = 0
    for index in HOUSES:
        house = furnished(index)
        faces = Counter(house.mesh.instances.tolist())
        of_this = sum(faces[item.index] for item in house.items if item.name in SMALL)
        assert of_this < 0.3 * len(house.mesh.faces)
        small, total = small + of_this, total + len(house.mesh.faces)
    assert small < 0.25 * total


@pytest.mark.parametrize("shape", ["square", "bent"])
@pytest.mark.parametrize("kind", ROOM_PROGRAMS)
def test_a_messy_room_is_still_in_order(kind, shape):
    plan = one_room(kind, OUTLINES[shape])
    items = furnish_plan(plan, 2, clutter=2.0)
    small = [item for item in items if item.name in SMALL]
    for k, item in enumerate(small):
        assert inside(plan.rooms[0].outline, corners(item)).all(), item.name
        assert all(overlap(item, other) < 1e-3 for other in small[:k]), item.name
        if low(item) > 0.05:
            assert any(inside(corners(base), item.center[None, :2])[0] for base in items if base is not item)


@pytest.mark.parametrize("clutter", [-0.1, 3.5, float("nan")])
def test_clutter_has_limits(clutter):
    with pytest.raises(BadArgument, match="clutter must be between 0"):
        build_house(1, 0, clutter=clutter)
