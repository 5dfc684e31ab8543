"""The bound with the turning at every corner: small cases by hand, a plain twin, and attacks with feasible drives."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from itinera.planners.motion import _corner_legs_kernels as leg_kernels
from itinera.planners.motion import _turning_bound_kernels as kernels
from itinera.planners.motion import _value_field_kernels as field_kernels
from itinera.planners.motion import value_field
from itinera.planners.motion.dynamics import Drive, Dynamics, holonomic, point_turn, unicycle
from itinera.planners.motion.fastest import GoalPlanner
from itinera.planners.motion.local_search import optimize_drive
from itinera.planners.motion.value_field import LowerBound, ValueField, lower_bound
from itinera.worlds import Array
from itinera.worlds._grid_kernels import move_clear, pose_after
from itinera.worlds.grid import Grid

RESOLUTION = 0.1
ROBOTS = [unicycle(wmax=math.radians(rate)) for rate in (10, 30, 60, 150)]
ROBOTS += [point_turn(), point_turn(wmax=math.radians(60))]
ROBOTS.append(Dynamics("car", 0.25, math.radians(30), min_radius=0.6, can_pivot=False))
LEG = 4.0  # metres, from start and goal to the first and last corner
RADIUS = unicycle().arc_radius


def bound_on(free: NDArray[np.bool_], goal: Array, dynamics: Dynamics, *, goal_radius: float = 0.0) -> LowerBound:
    """The bound of a robot whose center may be in these cells."""
    return lower_bound(Grid(~free, RESOLUTION), goal, dynamics, radius=0.0, goal_radius=goal_radius)


def seconds(free: NDArray[np.bool_], start: tuple[float, float, float], goal: tuple[float, float], robot: Dynamics):
    return float(bound_on(free, np.array(goal), robot).at(start)[0])


def one_corner() -> NDArray[np.bool_]:
    """A blocked quadrant: the corner is at (4, 4)."""
    free = np.ones((90, 90), dtype=np.bool_)
    free[40:, :40] = False
    return free


def thin_wall() -> NDArray[np.bool_]:
    """A wall of one cell from the left, its tip at x = 5 and y = 3 to 3.1; above and below there is much room."""
    free = np.ones((61, 80), dtype=np.bool_)
    free[30, :50] = False
    return free


def test_one_corner_costs_two_half_turns() -> None:
    """East along the wall and then north: half of the turn before the corner, half after it."""
    bend = 2 * (math.pi / 4 - math.sin(math.pi / 4))
    expected = (2 * LEG + bend * RADIUS) / 0.25
    found = seconds(one_corner(), (0.0, 4.0, 0.0), (4.0, 8.0), unicycle())
    assert expected - 0.1 <= found <= expected + 0.2  # the arc begins on the wall's line, not far behind it
    pivot = seconds(one_corner(), (0.0, 4.0, 0.0), (4.0, 8.0), point_turn())
    assert pivot == pytest.approx(2 * LEG / 0.25 + 9.0, abs=0.06)


def test_a_first_turn_is_added_to_those_at_the_corners() -> None:
    facing = seconds(one_corner(), (0.0, 4.0, -math.pi / 2), (4.0, 8.0), unicycle())
    ahead = seconds(one_corner(), (0.0, 4.0, 0.0), (4.0, 8.0), unicycle())
    assert facing - ahead < (math.pi / 2 - 1) / unicycle().wmax + 1e-6
    away = seconds(one_corner(), (0.0, 4.0, math.pi / 2), (4.0, 8.0), unicycle())
    assert away - ahead > (math.pi / 2 - 1) / unicycle().wmax  # it faces the wall, and cannot drive an arc there
    for first, turned in ((-1.5, 1.5 + math.pi / 2), (1.5, 1.5 + math.pi / 2), (0.0, math.pi / 2)):
        pivot = seconds(one_corner(), (0.0, 4.0, first), (4.0, 8.0), point_turn())
        assert pivot == pytest.approx(2 * LEG / 0.25 + turned / point_turn().wmax, abs=0.06)


def test_a_u_turn_around_a_thin_wall_is_one_arc() -> None:
    """Both corners are one bend: half of the turn before its middle, half after it, each of 90 degrees."""
    start, goal = (1.0, 3.0, 0.0), (1.0, 3.1)
    found = seconds(thin_wall(), start, goal, unicycle())
    arc = (2 * LEG + 2 * (math.pi / 2 - 1) * RADIUS) / 0.25
    drive = GoalPlanner(Grid(~thin_wall(), RESOLUTION), np.array(goal), unicycle(), 0.0).plan(start)
    assert arc <= found <= drive.upper < 1.06 * found  # start and goal are at the wall, not far from it
    pivot = seconds(thin_wall(), (1.0, 3.0, 0.0), (1.0, 3.1), point_turn())
    assert pivot == pytest.approx((2 * LEG + 0.1) / 0.25 + 18.0, abs=0.1)


def test_from_side_to_side_a_robot_turns_twice() -> None:
    """Between two walls that overlap in x: left around the first, right around the second."""
    free = np.ones((90, 100), dtype=np.bool_)
    free[:20, 40:] = False  # below right: its corner at (4, 2)
    free[30:, :60] = False  # above left: its corner at (6, 3)
    free[:, :39] = True
    free[30:, :60] = False
    start, goal = (4.0, 0.0, math.pi / 2), (6.0, 8.0)
    across = math.atan2(1.0, 2.0)
    turn = math.pi / 2 - across
    straight = 2.0 + math.hypot(2.0, 1.0) + 5.0
    pivot = seconds(free, start, goal, point_turn())
    assert pivot == pytest.approx(straight / 0.25 + 2 * turn / point_turn().wmax, abs=0.15)
    found = seconds(free, start, goal, unicycle())
    at_least = (straight + 4 * (turn / 2 - math.sin(turn / 2)) * RADIUS) / 0.25
    assert found >= at_least - 0.1


def test_a_doorway_straight_ahead_costs_nothing() -> None:
    free = np.ones((40, 80), dtype=np.bool_)
    free[:18, 40] = free[22:, 40] = False
    assert seconds(free, (1.0, 2.0, 0.0), (7.0, 2.0), unicycle()) == pytest.approx(6.0 / 0.25, abs=1e-5)


def test_the_sides_of_corners_and_the_legs_between_them() -> None:
    """One block of one cell in a free floor: a path passes each of its corners on the left or on the right."""
    free = np.ones((5, 5), dtype=np.bool_)
    free[2, 2] = False
    corners = field_kernels.find_corners(free, 1.0)
    angles = leg_kernels.corner_angles(free, 1.0, corners)
    middle = np.array([2.5, 2.5]) - corners[:, :2]
    assert np.cos(angles) == pytest.approx(middle[:, 0] / math.sqrt(0.5))
    assert np.sin(angles) == pytest.approx(middle[:, 1] / math.sqrt(0.5))
    states, lines = leg_kernels.find_legs(free, 1.0, corners, angles)
    assert len(states) == 8  # along the four sides, both ways
    assert (lines[:, 0] == 1.0).all()
    assert (states[:, 0] % 2 == states[:, 1] % 2).all()


def test_turning_costs_what_the_integral_says() -> None:
    angles = np.linspace(-4, 5, 100_001)
    middle = (angles[1:] + angles[:-1]) / 2
    for hidden, center in itertools.product((0.0, 0.5, 1.0), (-0.5, 0.0, 0.3)):
        expected = ((1 - hidden * np.maximum(np.cos(middle - center), 0)) * np.diff(angles)).sum()
        assert kernels.turn_between(-4.0, 5.0, hidden, center) == pytest.approx(expected, abs=1e-7)


def plain_chain(turns: list[float], lengths: list[float], rho: float) -> float:
    """The bound of one chain of legs, all around corners on the left, with one share for all legs: a plain twin.

    Radians, on a fine lattice of headings, by relaxing all pairs of headings; the robot starts along the first leg.
    """
    headings = np.radians(np.arange(-90, 271, 1.0))
    directions = np.concatenate(([0.0], np.cumsum(turns)))
    cost = np.zeros(len(headings))
    for k in range(len(lengths) - 1, -1, -1):
        slopes = 1 - rho * np.maximum(np.cos(headings - directions[k]), 0)
        along = np.concatenate(([0.0], np.cumsum((slopes[1:] + slopes[:-1]) / 2 * np.diff(headings))))
        within = np.abs(headings - directions[k]) <= math.pi / 2 + 1e-9
        if k == len(lengths) - 1:
            within &= headings >= directions[k] - 1e-9  # the last leg: it must face the goal or beyond
        reach = np.where(within, cost, np.inf)
        cost = rho * lengths[k] + (reach[None, :] + np.abs(along[:, None] - along[None, :])).min(axis=1)
    return float(cost[np.argmin(np.abs(headings))])


@pytest.mark.parametrize("rho", [1.0, 0.75])
def test_one_chain_against_a_plain_twin(rho: float) -> None:
    """The kernels of each leg with one share: below the twin by no more than their lattice allows."""
    turns, lengths = [0.7, 0.5], [2.0, 1.0, 2.5]
    directions = np.concatenate(([0.0], np.cumsum(turns)))
    share = np.array([rho])
    shares = kernels.Shares(share, share, np.zeros(1), 720)
    places = np.array([[0.0, 0.0], [math.cos(0.7), math.sin(0.7)]])
    legs = leg_kernels.Legs(
        places=places,
        begins=np.array([0, 1, 1, 1, 1]),
        states=np.array([[0, 2]]),
        lines=np.array([[lengths[1], directions[1]]]),
        goal_lines=np.array([[9.0, 0.0, 0.0], [lengths[2], directions[2], 0.0]]),
        goal_sides=np.array([[False, False], [True, False]]),
        short=0.0,
        bend=0.0,
        turn=0.0,
    )
    pairs = leg_kernels.find_pairs(legs)
    assert pairs.tolist() == [[0, 1 + 2, 1]]
    begins = np.searchsorted(pairs[:, 1], np.arange(6))
    ends = kernels.solve_ends(legs, shares, pairs, begins)
    gated = np.empty(720)
    first, values = kernels.leg_bound(legs, shares, 0, ends)
    kernels.move_to_gate(legs, shares, 0, 0, first, values, gated)
    ends_here = np.full((362, 1), np.inf)
    kernels.join(legs, shares, 0, 0, 0.0, -1.0, gated, ends_here)
    found = kernels.first_leg(lengths[0], 0.0, leg_kernels.LEFT, 0.0, ends_here, shares)
    twin = plain_chain(turns, lengths, rho)
    assert twin - 0.03 <= found <= twin + 0.002


def test_floors_with_very_many_corners_get_the_simpler_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    pose = np.array([[0.0, 4.0, 0.0]])
    bound = bound_on(one_corner(), np.array([4.0, 8.0]), unicycle())
    assert bound.at(pose)[0] > bound.first_turn(pose)[0] + 0.5
    monkeypatch.setattr(value_field, "MAX_CORNERS", 0)
    assert bound.at(pose)[0] == bound.first_turn(pose)[0]


def blocks(rng: np.random.Generator) -> NDArray[np.bool_]:
    """A floor of blocks of one to three cells, sparse or dense."""
    size, filled = rng.integers(1, 4), rng.choice([0.1, 0.2, 0.3, 0.4])
    coarse = rng.random((rng.integers(4, 14), rng.integers(4, 14))) > filled
    coarse[0, 0] = True
    return np.kron(coarse, np.ones((size, size))).astype(np.bool_)


def somewhere(free: NDArray[np.bool_], rng: np.random.Generator) -> Array:
    """A point in a free cell, every third time a corner of it."""
    rows, columns = np.nonzero(free)
    n = rng.integers(len(rows))
    inside = rng.integers(0, 2, 2) if rng.random() < 0.3 else rng.random(2)
    return np.array([columns[n] + inside[0], rows[n] + inside[1]]) * RESOLUTION


def random_drive(
    free: NDArray[np.bool_], robot: Dynamics, start: Array, count: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Poses (n, 3) and the seconds (n,) to each of them, over random moves that are clear, long and short ones."""
    pose, passed, poses, times = start, 0.0, [start], [0.0]
    for _ in range(count):
        metres = rng.choice([0.0, 1.0]) * 10 ** rng.uniform(-2, -0.2)
        curve = math.copysign(metres / max(robot.arc_radius, 0.05), rng.normal())
        turn = rng.choice([0.0, rng.uniform(-1, 1), curve])
        took = float(robot.durations(np.array([[metres, turn]]))[0])
        if math.isfinite(took) and move_clear(free, RESOLUTION, *pose, metres, turn):
            pose, passed = np.array(pose_after(*pose, metres, turn)), passed + took
            poses.append(pose)
            times.append(passed)
    return np.array(poses), np.array(times)


def attack_with_random_moves(seed: int, drives: int, moves: int) -> tuple[int, float]:
    """How many moves were checked, and the greatest excess of a bound over the time that a drive really takes."""
    rng, robot = np.random.default_rng(seed), ROBOTS[seed % len(ROBOTS)]
    free, checked, excess = blocks(rng), 0, -np.inf
    for _ in range(drives):
        poses, times = random_drive(free, robot, np.append(somewhere(free, rng), rng.uniform(-4, 4)), moves, rng)
        radius = rng.choice([0.0, 0.15])
        goal = poses[-1, :2] + rng.uniform(-0.7, 0.7, 2) * radius
        low = bound_on(free, goal, robot, goal_radius=radius).at(poses)
        checked, excess = checked + len(poses) - 1, max(excess, float((low - (times[-1] - times)).max()))
    return checked, excess


def attack_with_optimized_drives(seed: int) -> tuple[int, float]:
    """The same with a drive of the planners: from every pose on it the rest of it takes no less than the bound."""
    rng, robot = np.random.default_rng(seed), ROBOTS[seed % len(ROBOTS)]
    free = blocks(rng)
    start, goal = np.append(somewhere(free, rng), rng.uniform(-4, 4)), somewhere(free, rng)
    bound = bound_on(free, goal, robot)
    if not np.isfinite(bound.at(start)[0]):
        return 0, -np.inf
    field = ValueField.solve(Grid(~free, RESOLUTION), goal, robot, radius=0.0, headings=24)
    drive = optimize_drive(Grid(~free, RESOLUTION), start, goal, robot, field.rollout(start), radius=0.0)
    if drive is None:
        return 0, -np.inf
    points = Drive(drive.start, drive.moves).sample(robot, step=0.02)
    seconds_left = points[-1, 3] - points[:, 3]
    points = points[np.hypot(*(points[:, :2] - goal).T) > 1e-6]  # at the very end rounding decides where the goal is
    low = bound.at(points[:, :3])
    excess = low - seconds_left[: len(points)]
    return len(points), float(excess.max(initial=-np.inf))


def test_no_random_moves_beat_the_bound_to_where_they_lead() -> None:
    found = [attack_with_random_moves(seed, 2, 25) for seed in range(40)]
    assert sum(checked for checked, _ in found) > 900
    assert max(excess for _, excess in found) <= 1e-7


def test_no_rest_of_an_optimized_drive_beats_the_bound() -> None:
    found = [attack_with_optimized_drives(seed) for seed in range(14)]
    assert sum(checked for checked, _ in found) > 300
    assert max(excess for _, excess in found) <= 1e-7


@pytest.mark.slow
def test_a_million_random_moves_on_five_hundred_floors() -> None:
    checked, excess = 0, -np.inf
    for seed in range(1000, 1500):
        drives = 0
        while drives < 40 and checked < 2000 * (seed - 999):
            more, beyond = attack_with_random_moves(seed + 100_000 * drives, 1, 400)
            checked, excess, drives = checked + more, max(excess, beyond), drives + 1
    assert checked >= 1_000_000
    assert excess <= 1e-7


@pytest.mark.slow
def test_optimized_drives_on_five_hundred_floors() -> None:
    found = [attack_with_optimized_drives(seed) for seed in range(1000, 1500)]
    assert sum(checked for checked, _ in found) > 10_000
    assert max(excess for _, excess in found) <= 1e-7


def test_it_is_never_below_the_bound_of_the_first_turn_alone() -> None:
    rng = np.random.default_rng(0)
    for robot in [*ROBOTS[:5], holonomic()]:
        free = blocks(rng)
        bound = bound_on(free, somewhere(free, rng), robot)
        poses = np.array([np.append(somewhere(free, rng), rng.uniform(-4, 4)) for _ in range(20)])
        assert (bound.at(poses) >= bound.first_turn(poses)).all()
