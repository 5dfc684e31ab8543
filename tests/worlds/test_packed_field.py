"""Packed distance fields: small, and equal to the last bit when they are unpacked."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.worlds.distance_field import DistanceField, snap_to_ground
from itinera.worlds.packed_field import PackedField
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room, storeys

HALL = Surface.from_mesh(room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8))]), **ROBOT)
STAIRS = Surface.from_mesh(storeys(), **ROBOT)
APART = Surface.from_mesh(storeys(stairs=False), **ROBOT)


@pytest.mark.parametrize("surface", [HALL, STAIRS, APART], ids=["hall", "stairs", "apart"])
@pytest.mark.parametrize("margin", [0.5, None], ids=["part", "whole"])
def test_a_field_is_unpacked_to_the_last_bit(surface, margin):
    goal, body = (snap_to_ground(surface.ground, place[None]) for place in surface.sample(np.random.default_rng(2), 2))
    options = {} if margin is None else {"until": body, "margin": margin}
    field = DistanceField.compute(surface.ground, goal, **options)
    packed = PackedField.pack(field)
    again = packed.unpack(surface.ground)
    for name in ("cell_distances", "turn", "turns"):
        np.testing.assert_array_equal(getattr(again, name), getattr(field, name))
        assert getattr(again, name).dtype == getattr(field, name).dtype
    # Over stairs, the lengths of lines are not those of level ones.
    assert packed.nbytes < (0.65 if surface is STAIRS else 0.25) * (field.cell_distances.nbytes + field.turn.nbytes)
