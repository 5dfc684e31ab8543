"""Openings for stairs in floors and ceilings, and the steps in them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from itinera.hearth.geometry.polygons import area
from itinera.hearth.geometry.stairs import find_rims, open_areas, split_rectangle
from itinera.hearth.layout.plan import FloorPlan

ROOM = np.array([(0, 0), (4, 0), (4, 5), (0, 5)], dtype=float)
L_SHAPED = (np.array([0.0, 1.0, 1.0, 4.0]), np.array([0.0, 4.0, 1.0, 5.0]), np.array([1.0, 4.0, 2.5, 5.0]))


def size(box: tuple[float, ...] | np.ndarray) -> float:
    return float((box[2] - box[0]) * (box[3] - box[1]))


def test_what_is_left_of_a_floor_and_its_opening_make_up_the_room() -> None:
    left = split_rectangle(ROOM, L_SHAPED)
    assert sum(map(size, left)) + sum(map(size, L_SHAPED)) == pytest.approx(20.0)


def test_the_rims_of_an_l_shaped_opening_are_its_eight_edges() -> None:
    rims = find_rims(ROOM, L_SHAPED)
    assert sorted((rim.start, rim.end) for rim in rims if rim.free) == [
        ((0.0, 1.0), (1.0, 1.0)),
        ((1.0, 1.0), (1.0, 4.0)),
        ((1.0, 4.0), (2.5, 4.0)),
        ((2.5, 4.0), (2.5, 5.0)),
    ]
    assert sorted((rim.start, rim.end) for rim in rims if not rim.free) == [
        ((0.0, 1.0), (0.0, 5.0)),
        ((0.0, 5.0), (2.5, 5.0)),
    ]


def test_stairs_open_the_ceiling_below_and_the_floor_above(plan_of: Callable[[int], FloorPlan]) -> None:
    plan = next(plan for plan in map(plan_of, range(20)) if plan.storeys == 3)
    for stairs in plan.staircases:
        low, high = (plan.rooms[k] for k in stairs.rooms)
        for areas in (open_areas(plan, low, above=True), open_areas(plan, high, above=False)):
            assert np.array_equal(areas, stairs.areas)
        left = split_rectangle(high.outline, stairs.areas)
        assert sum(map(size, left)) + sum(map(size, stairs.areas)) == pytest.approx(area(high.outline), abs=1e-3)
    others = [room for room in plan.rooms if room.kind != "s"]
    assert not any(open_areas(plan, room, above=above) for room in others for above in (False, True))
