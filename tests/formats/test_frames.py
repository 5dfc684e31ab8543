"""Axes and headings, worked by hand and as laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.formats.frames import (
    heading_from_habitat,
    heading_from_r2r,
    heading_to_habitat,
    heading_to_r2r,
    points_from_habitat,
    points_to_habitat,
    quaternion_from_yaw,
    yaw_from_quaternion,
)

EAST, NORTH, WEST, SOUTH = 0.0, math.pi / 2, math.pi, 3 * math.pi / 2  # our headings: +x, +y, -x, -y

headings = st.floats(-20.0, 20.0)


def apart(a: float, b: float) -> float:
    """The angle between two headings."""
    return abs(math.remainder(a - b, math.tau))


@pytest.mark.parametrize(
    ("ours", "r2r"), [(NORTH, 0.0), (EAST, math.pi / 2), (SOUTH, math.pi), (WEST, 3 * math.pi / 2)]
)
def test_r2r_headings_begin_north_and_grow_clockwise(ours: float, r2r: float) -> None:
    assert heading_to_r2r(ours) == pytest.approx(r2r)
    assert apart(heading_from_r2r(r2r), ours) < 1e-12


@pytest.mark.parametrize(
    ("ours", "yaw"), [(NORTH, 0.0), (WEST, math.pi / 2), (EAST, -math.pi / 2), (SOUTH, math.pi), (-NORTH, math.pi)]
)
def test_habitat_yaw_begins_north_and_grows_to_the_left(ours: float, yaw: float) -> None:
    assert heading_to_habitat(ours) == pytest.approx(yaw)
    assert apart(heading_from_habitat(yaw), ours) < 1e-12


@given(headings)
def test_headings_come_back_from_r2r(heading: float) -> None:
    there = heading_to_r2r(heading)
    assert 0.0 <= there < math.tau
    assert apart(heading_from_r2r(there), heading) < 1e-9


@given(headings)
def test_headings_come_back_from_habitat(heading: float) -> None:
    yaw = heading_to_habitat(heading)
    assert -math.pi < yaw <= math.pi
    assert apart(heading_from_habitat(yaw), heading) < 1e-9
    assert apart(yaw_from_quaternion(quaternion_from_yaw(yaw)), yaw) < 1e-9


@pytest.mark.parametrize("hair", [-2.3e-16, 2.3e-16])
def test_a_heading_a_hair_past_the_seam_stays_in_range(hair: float) -> None:
    assert 0.0 <= heading_to_r2r(NORTH + hair) < math.tau
    assert -math.pi < heading_to_habitat(SOUTH + 4 * hair) <= math.pi


def test_arrays_of_headings_turn_as_single_ones_do() -> None:
    some = np.linspace(-7.0, 7.0, 29)
    np.testing.assert_allclose(heading_to_r2r(some), [heading_to_r2r(h) for h in some.tolist()])
    np.testing.assert_allclose(heading_from_r2r(some), [heading_from_r2r(h) for h in some.tolist()])


def test_habitat_has_y_up_and_looks_along_minus_z() -> None:
    # One metre east, two north, three up.
    np.testing.assert_array_equal(points_to_habitat(np.array([[1.0, 2.0, 3.0]])), [[1.0, 3.0, -2.0]])
    np.testing.assert_array_equal(points_from_habitat([[1.0, 3.0, -2.0]]), [[1.0, 2.0, 3.0]])


def test_no_points_are_no_points() -> None:
    assert points_from_habitat([]).shape == (0, 3)
    assert points_to_habitat(np.empty((0, 3))).shape == (0, 3)


def test_turning_left_in_habitat_is_a_quarter_turn_about_y() -> None:
    assert quaternion_from_yaw(math.pi / 2) == pytest.approx((0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5)))
    assert yaw_from_quaternion((0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5))) == pytest.approx(math.pi / 2)
