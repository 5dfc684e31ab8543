"""Rectangles in outlines and over each other, against slow twins that look at points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.hearth.geometry.rectangles import (
    TOUCHING,
    contains,
    distance_to_outline,
    rectangles_inside,
    rectangles_overlap,
)

ELL = np.array([(0, 0), (6, 0), (6, 3), (3, 3), (3, 6), (0, 6)], dtype=float)
CHAMFERED = np.array([(0, 0), (5, 0), (5, 4), (4, 5), (0, 5)], dtype=float)
OUTLINES = {"ell": ELL, "chamfered": CHAMFERED}

# Off the raster of the outlines, so that nothing touches exactly.
places = st.integers(-5, 65).map(lambda k: k / 10 + 0.03)
sizes = st.integers(1, 50).map(lambda k: k / 10)


def scattered(box: tuple[float, float, float, float], count: int = 41) -> np.ndarray:
    x0, y0, x1, y1 = box
    return np.stack(np.meshgrid(np.linspace(x0, x1, count), np.linspace(y0, y1, count)), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("shape", OUTLINES)
@given(x=places, y=places, width=sizes, depth=sizes)
def test_a_rectangle_is_within_when_all_its_points_are(shape, x, y, width, depth):
    box = (x, y, x + width, y + depth)
    # Points of the twin may miss a corner that is cut by less than their distance.
    expected = contains(OUTLINES[shape], scattered(box)).all()
    found = bool(rectangles_inside(OUTLINES[shape], np.array([box]))[0])
    assert found <= expected
    if distance_to_outline(OUTLINES[shape], scattered(box)).min() > 0.2:
        assert found == expected


@pytest.mark.parametrize(
    ("point", "expected"), [((1, 1), True), ((5, 5), False), ((-1, 2), False), ((2.9, 5.9), True), ((3.1, 3.1), False)]
)
def test_points_are_told_in_and_out(point, expected):
    assert contains(ELL, np.array([point], dtype=float))[0] == expected


def test_distance_is_to_the_nearest_side_or_corner():
    points = np.array([(1.0, 2.0), (3.5, 3.5), (2.5, 2.5), (7.0, -1.0)])
    np.testing.assert_allclose(distance_to_outline(ELL, points), [1.0, 0.5, np.sqrt(0.5), np.sqrt(2)])


@given(x=places, y=places, width=sizes, depth=sizes)
def test_rectangles_overlap_when_they_share_points(x, y, width, depth):
    still, moved = (2.0, 2.0, 4.0, 4.0), (x, y, x + width, y + depth)
    shared = min(4.0, x + width) - max(2.0, x) > -TOUCHING and min(4.0, y + depth) - max(2.0, y) > -TOUCHING
    assert bool(rectangles_overlap(np.array([still]), np.array([moved]))[0, 0]) == shared


def test_nothing_overlaps_nothing():
    assert rectangles_overlap(np.ones((3, 4)), np.empty((0, 4))).shape == (3, 0)
    assert rectangles_inside(ELL, np.empty((0, 4))).shape == (0,)
