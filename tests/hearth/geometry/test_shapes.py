"""Simple solids: closed, wound outward, of the volume their measures say."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.hearth.geometry.shapes import (
    ball,
    bar,
    block,
    disc,
    legs,
    rotate,
    rounded_cos_sin,
    slanted_block,
    tube,
    wheel,
)


def leaks(corners: np.ndarray) -> bool:
    """Whether some edge of a solid has no neighbour that runs along it the other way."""
    _, corner = np.unique(np.round(corners.reshape(-1, 3), 6) + 0.0, axis=0, return_inverse=True)
    faces = corner.reshape(-1, 3)
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    there, back = (edges[:, k] * len(faces) * 3 + edges[:, 1 - k] for k in (0, 1))
    return not np.array_equal(np.sort(there), np.sort(back))


def volume(corners: np.ndarray) -> float:
    return float((corners[:, 0] * np.cross(corners[:, 1], corners[:, 2])).sum() / 6)


@pytest.mark.parametrize(
    ("solid", "expected"),
    [
        (block(2, 3, 1, 2), 6.0),
        (slanted_block(1, 1, 0, 2, over=0.5), 2.0),
        (legs(1, 1, 0.5, 0.1), 4 * 0.005),
        (tube(1, 0, 1, sides=64), np.pi),
        (tube(1, 0, 1, top=0.5, sides=64), np.pi * (1 + 0.5 + 0.25) / 3),
        (wheel(1, 0.5, 0, 0, 3, sides=64), np.pi / 2),
        (disc(1, 0.5, 1, 2, 3, sides=64), np.pi / 2),
        (bar((0, 0, 0), (1, 2, 2), 0.1), 0.03),
        (bar((1, 1, 1), (1, 1, 4), 0.1), 0.03),
        (rotate(block(2, 3, 1, 2, 5, 5), 0.7), 6.0),
    ],
)
def test_a_solid_is_closed_and_wound_outward(solid, expected):
    assert not leaks(solid)
    assert volume(solid) == pytest.approx(expected, rel=2e-3)


def test_a_ball_fills_its_box():
    solid = ball(2, 1, 0.5, 3, 4, 5)
    assert not leaks(solid)
    assert 0.4 < volume(solid) < 1.0
    assert np.ptp(solid[..., 2]) == pytest.approx(0.5)


def test_a_square_tube_has_its_faces_along_the_axes():
    solid = tube(1, 0, 1, sides=4)
    assert np.ptp(solid[..., 0]) == pytest.approx(np.sqrt(2), abs=1e-5)


def test_quarter_turns_are_exact():
    assert [rounded_cos_sin(k * np.pi / 2) for k in range(4)] == [(1, 0), (0, 1), (-1, 0), (0, -1)]
    np.testing.assert_array_equal(rotate(block(2, 1, 0, 1), np.pi / 2).min(axis=(0, 1)), [-0.5, -1, 0])
