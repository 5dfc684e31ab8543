"""Drives: exact poses, times and contacts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.planners.motion.dynamics import Drive, point_turn, unicycle
from planners.floors import ROOMS, grid

moves = st.lists(st.tuples(st.floats(0, 2), st.floats(-4, 4)), min_size=1, max_size=6).map(np.array)
SQUARE = [(1.0, 0.0), (0.0, math.pi / 2)] * 4


def integrated(drive: Drive, pieces: int = 20_000) -> np.ndarray:
    """Where one gets by so many short steps per move, each straight along its middle heading."""
    x, y, heading = drive.start
    for metres, turn in drive.moves:
        headings = heading + turn * (np.arange(pieces) + 0.5) / pieces
        x, y = x + metres * np.cos(headings).mean(), y + metres * np.sin(headings).mean()
        heading += turn
    return np.array([x, y, heading])


@given(driven=moves)
def test_poses_are_where_many_small_steps_lead(driven):
    drive = Drive(np.array([1.0, 2.0, 3.0]), driven)
    assert np.allclose(drive.poses[-1], integrated(drive), atol=1e-6)
    assert len(drive.poses) == len(driven) + 1


def test_four_sides_and_corners_lead_back():
    drive = Drive(np.array([1.0, 1.0, 0.0]), SQUARE)
    assert np.allclose(drive.poses[-1], [1.0, 1.0, 2 * math.pi])
    assert drive.length == 4.0
    assert drive.duration(point_turn(0.5, math.pi)) == pytest.approx(4 / 0.5 + 2)
    assert drive.times(point_turn(0.5, math.pi))[:3].tolist() == [0.0, 2.0, 2.5]


@given(driven=moves, step=st.floats(0.03, 0.5))
def test_samples_lie_on_the_drive_and_close_together(driven, step):
    drive, dynamics = Drive(np.zeros(3), driven), unicycle()
    samples = drive.sample(dynamics, step=step, turn=0.3)
    assert np.allclose(samples[-1], [*drive.poses[-1], drive.duration(dynamics)])
    assert (np.diff(samples[:, 3]) >= 0).all()
    assert (np.hypot(*np.diff(samples[:, :2], axis=0).T) <= step + 1e-6).all()
    assert (np.abs(np.diff(samples[:, 2])) <= 0.3 + 1e-6).all()
    # Every pose where a move ends is among the samples.
    gaps = np.abs(drive.poses[:, None, :] - samples[None, :, :3]).max(axis=2).min(axis=1)
    assert gaps.max() < 1e-9


def test_contact_is_told_by_its_move():
    rooms = grid(ROOMS)
    start = np.array([1.0, 2.0, 0.0])
    through = Drive(start, [(1.0, 0.0), (0.0, math.pi / 2), (1.6, 0.0), (0.0, -math.pi / 2), (6.0, 0.0)])
    assert through.is_collision_free(rooms, 0.2)
    into = Drive(start, [(1.0, 0.0), (0.0, 0.1), (6.0, 0.0)])
    assert into.first_collision(rooms, 0.2) == 2
    assert not into.is_collision_free(rooms, 0.2)


def test_a_drive_needs_numbers():
    with pytest.raises(BadArgument, match="all of them finite"):
        Drive(np.zeros(3), [(math.inf, 0.0)])
    with pytest.raises(BadArgument, match="start"):
        Drive(np.zeros(2), [])
    with pytest.raises(BadArgument, match="above 0"):
        Drive(np.zeros(3), SQUARE).sample(unicycle(), step=0)


def test_a_drive_cannot_be_changed():
    drive = Drive(np.zeros(3), SQUARE)
    for values in (drive.start, drive.moves, drive.poses):
        assert not values.flags.writeable
