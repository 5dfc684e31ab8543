from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS, VIEWS, nearest_view


@pytest.mark.parametrize(
    ("view", "heading", "elevation"),
    [(0, 90, -30), (3, 0, -30), (12, 90, 0), (21, 180, 0), (22, 150, 0), (35, 120, 30)],
)
def test_views_run_clockwise_from_y_in_three_rows(view, heading, elevation):
    assert math.degrees(VIEW_HEADINGS[view]) == pytest.approx(heading)
    assert math.degrees(VIEW_ELEVATIONS[view]) == pytest.approx(elevation, abs=1e-12)


@given(st.integers(0, VIEWS - 1), st.floats(-14.9, 14.9), st.floats(-14.9, 14.9), st.integers(-2, 2))
def test_whoever_looks_near_the_middle_of_a_view_is_turned_to_it(view, aside, up, whole_turns):
    heading = VIEW_HEADINGS[view] + math.radians(aside) + whole_turns * math.tau
    assert nearest_view(heading, VIEW_ELEVATIONS[view] + math.radians(up)) == view


@pytest.mark.parametrize(("heading", "view"), [(75, 13), (105, 12), (-105, 19), (15, 15)])
def test_half_way_between_two_headings_the_right_hand_one_is_taken(heading, view):
    assert nearest_view(math.radians(heading), 0.0) == view


@pytest.mark.parametrize(("elevation", "row"), [(-90, 0), (-15.1, 0), (-15, 1), (15, 1), (15.1, 2), (80, 2)])
def test_one_looks_level_up_to_half_a_step_from_the_horizon(elevation, row):
    assert nearest_view(0.0, math.radians(elevation)) // 12 == row
