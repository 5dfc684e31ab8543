"""A body that stands and moves, against the surface's own batch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.worlds.body_state import BodyState
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room, storeys

HALL = Surface.from_mesh(room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8))]), **ROBOT)
STAIRS = Surface.from_mesh(storeys(), **ROBOT)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.floats(-3, 3), st.booleans(), st.sampled_from([HALL, STAIRS]))
def test_a_footing_goes_where_the_surface_says(seed, heading, sliding, surface):
    start = surface.sample(np.random.default_rng(seed), 1)[0]
    footing = BodyState(surface, start)
    np.testing.assert_allclose(footing.place, start, atol=1e-9)
    footing.move(0.25 * np.cos(heading), 0.25 * np.sin(heading), sliding=sliding)
    expected = surface.advance(start, heading, 0.25, sliding=sliding)
    np.testing.assert_allclose(footing.place, expected, atol=1e-7)


def test_a_footing_tells_whether_something_was_in_the_way():
    footing = BodyState(HALL, np.array([1.5, 2.0, 0.0]))
    assert footing.move(0.3, 0.0, sliding=False)
    assert not footing.move(0.3, 0.0, sliding=False)
    assert footing.place[0] == pytest.approx(1.9, abs=0.025)


def test_nobody_stands_far_from_the_surface():
    with pytest.raises(BadArgument, match="is not walkable"):
        BodyState(HALL, np.array([9.0, 9.0, 0.0]))
