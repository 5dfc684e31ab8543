"""Driving as a unicycle: the three tables of actions, exact arcs, and what happens at a wall."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.simulators.unicycle import UnicycleSimulator, point_turn, unicycle_6, unicycle_15
from itinera.worlds import Pose, World
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room

HALL = World("hall", Surface.from_mesh(room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8))]), **ROBOT))
OPEN = World("open", Surface.from_mesh(room(20, 20), **ROBOT))
W = math.radians(10)


def at(x: float, y: float, heading: float = 0.0) -> Pose:
    return Pose(np.array([x, y, 0.0]), heading)


def slow_arc(x: float, y: float, heading: float, v: float, w: float, pieces: int = 20000):
    """The midpoint rule, in very small steps."""
    for k in range(pieces):
        middle = heading + w * (k + 0.5) / pieces
        x, y = x + v * math.cos(middle) / pieces, y + v * math.sin(middle) / pieces
    return x, y, heading + w


def test_the_three_tables_of_actions():
    assert point_turn() == ((0, 0), (0.25, 0), (0, W), (0, -W))
    assert unicycle_6() == (*point_turn(), (0.25, W), (0.25, -W))
    fifteen = unicycle_15()
    assert len(fifteen) == len(set(fifteen)) == 15
    assert {v for v, _ in fifteen} == {0, 0.125, 0.25}
    assert {w for _, w in fifteen} == {0, W / 2, W, -W / 2, -W}
    for table in (point_turn(), unicycle_6(), fifteen):
        assert table[0] == (0, 0)
        assert UnicycleSimulator(table).actions == len(table)
    assert unicycle_6(0.5, 0.1)[4] == (0.5, 0.1)


@pytest.mark.parametrize("speeds", unicycle_15(0.5, math.radians(30))[1:])
def test_a_drive_in_the_open_is_an_exact_arc(speeds):
    drive = UnicycleSimulator([(0.0, 0.0), speeds])
    drive.reset(OPEN, at(10, 10, 0.7))
    x, y, heading = 10.0, 10.0, 0.7
    for second in (1, 2, 3):
        seen = drive.step(1)
        x, y, heading = slow_arc(x, y, heading, *speeds)
        np.testing.assert_allclose(seen.place, (x, y, 0), atol=1e-7)
        assert seen.heading == pytest.approx(heading)
        assert (seen.time, seen.collided) == (second, False)


def test_stop_changes_nothing_and_takes_no_time():
    drive = UnicycleSimulator()
    first, seen = drive.reset(OPEN, at(10, 10, 0.7)), drive.step(0)
    assert (seen.place.tolist(), seen.heading, seen.time) == (first.place.tolist(), first.heading, 0.0)


def test_thirty_six_turns_return_and_so_does_the_circle():
    drive = UnicycleSimulator()
    for action in (2, 3, 4, 5):
        drive.reset(OPEN, at(10, 10, 3.0))
        for _ in range(36):
            seen = drive.step(action)
        assert seen.heading == pytest.approx(3.0, abs=1e-9)
        np.testing.assert_allclose(seen.place, (10, 10, 0), atol=1e-6)


def test_speeds_may_be_held_longer():
    drive = UnicycleSimulator(point_turn(), hold=2.0)
    drive.reset(OPEN, at(10, 10))
    seen = drive.step(1)
    assert (seen.place[0], seen.time) == (pytest.approx(10.5), 2.0)


def test_a_drive_ends_at_the_first_contact_and_turns_on():
    drive = UnicycleSimulator(unicycle_6(1.0, math.radians(60)))
    drive.reset(HALL, at(1.5, 2.0))
    seen = drive.step(5)
    # Off the arc's own point at x = 1.9: r = 3 / pi, x - 1.5 = r sin a, y - 2 = r (cos a - 1).
    r = 3 / math.pi
    a = math.asin(0.4 / r)
    np.testing.assert_allclose(seen.place[:2], (1.9, 2.0 + r * (math.cos(a) - 1)), atol=0.03)
    assert seen.collided
    assert seen.heading == pytest.approx(-math.radians(60))


def test_a_sliding_drive_goes_on_along_the_wall():
    drives = [UnicycleSimulator(unicycle_6(1.0, math.radians(60)), sliding=sliding) for sliding in (False, True)]
    for drive in drives:
        drive.reset(HALL, at(1.5, 2.0))
    stopped, slid = (drive.step(5) for drive in drives)
    assert slid.collided
    assert slid.place[1] < stopped.place[1] - 0.2
    assert slid.place[0] == pytest.approx(1.9, abs=0.05)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 14), max_size=60), st.booleans())
def test_nobody_leaves_the_surface_nor_drives_faster_than_allowed(seed, actions, sliding):
    rng = np.random.default_rng(seed)
    drive = UnicycleSimulator(unicycle_15(), sliding=sliding)
    start = Pose(HALL.space.sample(rng, 1)[0], float(rng.uniform(-9, 9)))
    shown = [drive.reset(HALL, start), *map(drive.step, actions)]
    places = np.array([o.place for o in shown])
    np.testing.assert_allclose(HALL.space.locate(places), places, atol=1e-9)
    gone = np.linalg.norm(np.diff(places, axis=0), axis=1)
    speeds = np.array([unicycle_15()[action][0] for action in actions])
    assert (gone <= speeds + 1e-3).all()
    again = [drive.reset(HALL, start), *map(drive.step, actions)]
    assert [o.place.tolist() for o in again] == places.tolist()
    assert all(-math.pi < o.heading <= math.pi for o in shown)


@pytest.mark.parametrize(
    ("speeds", "options", "message"),
    [
        ((), {}, "first pair of speeds must be"),
        (((0.1, 0.0),), {}, "first pair of speeds must be"),
        (((0.0, 0.0), (-0.1, 0.0)), {}, "forward speeds at least 0"),
        (((0.0, 0.0), (math.nan, 0.0)), {}, "must be finite"),
        (point_turn(), {"hold": 0.0}, "above 0 seconds"),
    ],
)
def test_bodies_that_cannot_be_are_refused(speeds, options, message):
    with pytest.raises(BadArgument, match=message):
        UnicycleSimulator(speeds, **options)


def test_impossible_steps_are_refused():
    drive = UnicycleSimulator()
    with pytest.raises(BadArgument, match="call reset first"):
        drive.step(1)
    with pytest.raises(BadArgument, match="call reset first"):
        _ = drive.pose
    drive.reset(HALL, at(1, 1))
    with pytest.raises(BadArgument, match="action must be 0 to 5, not 6"):
        drive.step(6)
    assert drive.pose.heading == 0.0
