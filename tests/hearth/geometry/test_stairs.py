"""Floors and ceilings with a hole for the stairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from itinera.hearth.geometry.polygons import area
from itinera.hearth.geometry.stairs import outline_without_stairwell
from itinera.hearth.layout.plan import FloorPlan


def test_a_stairwell_is_cut_out_of_the_ceiling_below_and_the_floor_above(plan_of: Callable[[int], FloorPlan]) -> None:
    plan = next(plan for plan in map(plan_of, range(20)) if plan.flights)
    (flight,) = plan.flights
    x0, y0, x1, y1 = flight.stairwell
    for room in plan.rooms:
        for above in (False, True):
            lost = area(room.outline) - area(outline_without_stairwell(plan, room, above=above))
            cut = room.index == flight.rooms[0 if above else 1]
            assert lost == pytest.approx((x1 - x0) * (y1 - y0) if cut else 0.0, abs=1e-9)


def test_a_stairwell_covers_its_flight(plan_of: Callable[[int], FloorPlan]) -> None:
    for plan in map(plan_of, range(20)):
        for flight in plan.flights:
            x0, y0, x1, y1 = flight.stairwell
            run = np.hypot(*(flight.head - flight.foot)[:2])
            assert sorted((x1 - x0, y1 - y0)) == pytest.approx(sorted((run, flight.width)), abs=1e-3)
