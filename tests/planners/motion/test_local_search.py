"""Polishing: from any clear chain of waypoints to a drive that is clear, ends in the goal and is hard to beat."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.planners.motion._local_search_kernels import chain_moves, chain_seconds, needed_waypoints
from itinera.planners.motion._steering_kernels import leg_clear, shaped_leg
from itinera.planners.motion.dynamics import Drive, Dynamics, holonomic, plan_leg, point_turn, unicycle
from itinera.planners.motion.local_search import optimize_drive
from itinera.worlds.grid import Grid
from planners.floors import ROOMS, grid, way
from planners.plain_rrt import after, clear

RADIUS = 0.2
FLOOR = grid(ROOMS)
ALLOWED = FLOOR.free_cells(RADIUS)
OPEN = Grid(np.zeros((80, 80), dtype=bool), 0.1)
DYNAMICS = [unicycle(), unicycle(wmax=math.radians(30)), unicycle(reverse=True), point_turn(), holonomic()]
cells = st.sampled_from([tuple(cell) for cell in np.argwhere(ALLOWED)])


def at(cell: tuple[int, int]) -> np.ndarray:
    return (np.array(cell[::-1]) + 0.5) * FLOOR.resolution


def pivoting(start: np.ndarray, places: np.ndarray) -> Drive:
    """Straight lines through places, with pivots between them."""
    heading, here, moves = start[2], start[:2], []
    for place in places:
        step = place - here
        bearing = math.atan2(step[1], step[0])
        moves += [(0.0, (bearing - heading + math.pi) % (2 * math.pi) - math.pi), (float(np.hypot(*step)), 0.0)]
        heading, here = bearing, place
    return Drive(start, moves)


@pytest.mark.parametrize("dynamics", DYNAMICS, ids=lambda d: f"{d.name} {d.wmax:.2f} {d.reverse}")
@settings(max_examples=8)
@given(begin=cells, end=cells, heading=st.floats(-3, 3), goal_radius=st.sampled_from([0.0, 0.2]))
def test_a_chain_that_is_clear_becomes_a_drive_that_is(dynamics, begin, end, heading, goal_radius):
    start, goal = np.array([*at(begin), heading]), at(end)
    waypoints = way(ALLOWED, FLOOR.resolution, start, goal)
    drive = optimize_drive(FLOOR, start, goal, dynamics, waypoints, radius=RADIUS, goal_radius=goal_radius)
    assert drive is not None
    assert drive.is_collision_free(FLOOR, RADIUS)
    assert math.dist(drive.poses[-1, :2], goal) <= goal_radius + 1e-9
    straight = pivoting(start, [*waypoints, goal])
    if goal_radius == 0:
        assert drive.duration(dynamics) <= straight.duration(dynamics) + 1e-6
        assert drive.duration(dynamics) >= math.dist(start[:2], goal) / dynamics.vmax - 1e-9


@pytest.mark.parametrize("dynamics", [*DYNAMICS, Dynamics("car", 0.25, 0.5, min_radius=0.5, can_pivot=False)])
def test_in_the_open_the_fastest_leg_is_found(dynamics):
    start, goal = np.array([4.0, 4.0, 1.0]), np.array([2.5, 4.4])
    fastest = dynamics.durations(plan_leg(dynamics, start, goal)).sum()
    drive = optimize_drive(OPEN, start, goal, dynamics, np.array([[5.0, 5.0], [2.0, 6.0]]), radius=0.0)
    assert drive.duration(dynamics) == pytest.approx(fastest, abs=1e-3)


def test_the_shortest_path_goes_round_the_corner():
    wall = Grid(np.pad(np.ones((30, 10), dtype=bool), ((0, 30), (25, 25))), 0.1)
    start, goal = np.array([1.05, 1.05, 0.0]), np.array([5.05, 1.55])
    over = np.array([[1.0, 5.0], [5.0, 5.0]])
    drive = optimize_drive(wall, start, goal, holonomic(), over, radius=0.0)
    corners = np.array([[2.5, 3.0], [3.5, 3.0]])
    shortest = np.hypot(*np.diff(np.vstack((start[:2], corners, goal)), axis=0).T).sum()
    assert drive.length == pytest.approx(shortest, abs=1e-3)
    # The goal as a disc saves its radius, as its last straight aims at the middle.
    disc = optimize_drive(wall, start, goal, holonomic(), over, radius=0.0, goal_radius=0.3)
    assert disc.length == pytest.approx(shortest - 0.3, abs=1e-3)


def test_narrow_ways_are_turned_in_on_the_spot():
    maze = grid("#####\n#...#\n###.#\n###.#\n#####", size=0.1)
    start, goal = np.array([0.15, 0.35, 0.0]), np.array([0.35, 0.15])
    drive = optimize_drive(maze, start, goal, unicycle(), way(maze.free_cells(0), 0.1, start, goal), radius=0.0)
    assert drive.is_collision_free(maze, 0.0)
    assert (drive.moves[:, 0] == 0).any()


def test_round_ways_tighter_than_the_own_curve_cost_no_more_than_the_turn():
    up, across = np.mgrid[:40, :40] * 0.05 + 0.025 - 1.0
    ring = Grid(~((np.hypot(across, up) > 0.6) & (np.hypot(across, up) < 0.95)), 0.05)
    start, goal, dynamics = np.array([1.78, 1.0, math.pi / 2]), np.array([0.22, 1.0]), unicycle()
    angles = np.linspace(0.1, math.pi - 0.1, 20)
    round_ = 1.0 + 0.78 * np.column_stack((np.cos(angles), np.sin(angles)))
    drive = optimize_drive(ring, start, goal, dynamics, round_, radius=0.0)
    # Turning all along takes as long as half a turn on the spot; pivots between straight lines take far longer.
    assert drive.duration(dynamics) < 1.1 * math.pi / dynamics.wmax
    still = optimize_drive(ring, start, goal, point_turn(), round_, radius=0.0)
    assert still.duration(point_turn()) > 1.3 * drive.duration(dynamics)


def test_no_drive_where_no_chain_is_clear():
    closed = grid("#####\n#.#.#\n#####", size=0.5)
    start, goal = np.array([0.75, 0.75, 0.0]), np.array([1.75, 0.75])
    assert optimize_drive(closed, start, goal, unicycle(), np.empty((0, 2)), radius=0.0) is None


def test_nothing_is_to_be_done_inside_the_goal():
    drive = optimize_drive(
        FLOOR,
        np.array([1.0, 1.0, 0.0]),
        np.array([1.1, 1.0]),
        unicycle(),
        np.empty((0, 2)),
        radius=RADIUS,
        goal_radius=0.2,
    )
    assert len(drive.moves) == 0
    assert drive.duration(unicycle()) == 0


def test_the_same_question_has_the_same_answer():
    start, goal = np.array([1.0, 1.0, 0.0]), np.array([8.0, 5.0])
    waypoints = way(ALLOWED, 0.1, start, goal)
    first, second = (optimize_drive(FLOOR, start, goal, unicycle(), waypoints, radius=RADIUS) for _ in range(2))
    assert np.array_equal(first.moves, second.moves)


def test_a_pose_and_a_place_are_asked_for():
    with pytest.raises(BadArgument, match="start must be"):
        optimize_drive(FLOOR, np.zeros(2), np.zeros(2), unicycle(), np.empty((0, 2)), radius=RADIUS)


@settings(max_examples=60)
@given(
    # Off the borders of cells, where the plain check does not know what touching is.
    places=st.lists(st.tuples(st.integers(8, 90), st.integers(8, 50)), min_size=1, max_size=4).map(
        lambda cells: np.array(cells) * 0.1 + 0.0337
    ),
    shapes=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=4, max_size=4).map(np.array),
    heading=st.floats(-3, 3),
)
def test_a_chain_takes_what_its_moves_take_and_is_clear_where_they_are(places, shapes, heading):
    start, motion, count = np.array([1.03, 1.04, heading]), unicycle().motion, len(places)
    allowed = ALLOWED.view()
    states, unknown = np.zeros((count + 1, 4)), np.full((count + 1, 4), np.inf)
    states[0, :3] = start
    seconds = chain_seconds(
        allowed, 0.1, places, shapes[:count].copy(), count, motion, 0, states, unknown, count, np.inf
    )
    drive = Drive(start, chain_moves(start, places, shapes[:count].copy(), motion))
    assert np.allclose(drive.poses[-1, :2], places[-1])
    pose, free = tuple(start), True
    for move in drive.moves:
        free = free and (move[0] == 0 or clear(ALLOWED, 0.1, pose, tuple(move)))
        pose = after(pose, tuple(move))
    assert np.isfinite(seconds) == free
    if free:
        assert seconds == pytest.approx(drive.duration(unicycle()))


@given(point=st.tuples(st.floats(-2, 2), st.floats(-2, 2)), share=st.floats(0, 1), tighter=st.floats(0, 1))
def test_every_shape_of_a_leg_arrives_and_none_is_faster_than_the_fastest(point, share, tighter):
    for dynamics in (unicycle(), unicycle(reverse=True), point_turn()):
        seconds, *five = shaped_leg(0.0, 0.0, 0.3, *point, dynamics.motion, share, tighter)
        drive = Drive(np.array([0.0, 0.0, 0.3]), [five[0:2], five[2:4], (five[4], 0.0)])
        assert np.allclose(drive.poses[-1, :2], point, atol=1e-9)
        assert drive.duration(dynamics) == pytest.approx(seconds)
        assert seconds >= dynamics.durations(plan_leg(dynamics, (0, 0, 0.3), point)).sum() - 1e-9


def test_places_in_sight_of_each_other_are_not_needed():
    chain = np.array([[1.0, 1.0], [1.5, 1.0], [2.0, 1.0], [4.0, 3.75], [5.5, 3.75], [6.0, 3.75]])
    keep = needed_waypoints(ALLOWED.view(), 0.1, chain)
    assert keep.tolist()[0]
    assert keep.tolist()[-1]
    assert not keep[1]
    assert keep[3]
    assert leg_clear(ALLOWED.view(), 0.1, 1.0, 1.0, 0.0, (0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
