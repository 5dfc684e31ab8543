"""Many ways at once: each as if it were alone, on the floor it needs, and known again by what decides its time."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from itinera.planners.motion.batch_fastest import (
    Queries,
    fingerprints,
    group_by_goal,
    plan_batch,
    robot_dynamics,
    snap_distances,
)
from itinera.planners.motion.fastest import GoalPlanner
from itinera.tasks.fastest_times import ReferenceRobot
from itinera.worlds.storey_grid import grid_from_surface
from itinera.worlds.surface import Surface
from worlds.rooms import room, storeys

ROBOT = ReferenceRobot()
STANDING = {"radius": 0.2, "height": 1.5}


@pytest.fixture(scope="module")
def hall() -> Surface:
    """4 x 3 m with a table in the middle."""
    return Surface.from_mesh(room(4, 3, boxes=[((1.6, 1.0, 0.0), (2.2, 2.0, 0.8))]), **STANDING)


@pytest.fixture(scope="module")
def house() -> Surface:
    """Two storeys of 8 x 4 m joined by stairs."""
    return Surface.from_mesh(storeys(), **STANDING)


def ways(*asked: tuple[tuple[float, float, float], float, tuple[float, float, float]]) -> Queries:
    """From a place at a heading to a goal, each."""
    starts, headings, goals = zip(*asked, strict=True)
    return Queries(np.array(starts), np.array(headings), np.array(goals))


ACROSS = ways(
    ((0.5, 1.5, 0.0), 0.0, (3.5, 1.5, 0.0)),
    ((3.4, 0.5, 0.0), 2.0, (0.5, 0.5, 0.0)),
    ((0.6, 2.5, 0.0), 3.0, (3.5, 1.5, 0.0)),
)


def test_ways_to_one_goal_are_one_batch(hall):
    found = list(group_by_goal(hall, ACROSS, 0.0))
    assert [batch.rows.tolist() for batch in found] == [[0, 2], [1]]
    assert all(batch.on_floor.all() for batch in found)


@pytest.mark.parametrize("robot", [ROBOT, ReferenceRobot("point-turn"), ReferenceRobot("holonomic", wmax=None)])
def test_each_is_as_fast_as_if_it_were_alone(hall, robot):
    grid = grid_from_surface(hall, 0.0)
    for batch in group_by_goal(hall, ACROSS, 0.0):
        found = plan_batch(batch, robot)
        for row, lower, upper in zip(batch.rows, found.lower, found.upper, strict=True):
            pose, goal = np.append(ACROSS.starts[row, :2], ACROSS.headings[row]), ACROSS.goals[row, :2]
            alone = GoalPlanner(grid, goal, robot_dynamics(robot), 0.0).plan(pose)
            # Rounded outwards, to a millionth.
            assert 0 <= alone.lower - lower < 1e-6
            assert 0 <= upper - alone.upper < 1e-6


def test_a_way_over_stairs_is_bounded_from_below_only(house):
    up = ways(((1.0, 3.0, 0.0), 0.0, (1.0, 3.0, 2.7)), ((6.0, 3.0, 2.7), 0.0, (1.0, 3.0, 2.7)))
    (batch,) = group_by_goal(house, up, 0.0)
    found = plan_batch(batch, ROBOT)
    assert batch.on_floor.tolist() == [False, True]
    assert np.isinf(found.upper).tolist() == [True, False]
    # Straight up through the floor: 2.7 m at full speed, which nobody beats by way of the stairs.
    assert found.lower[0] == pytest.approx(2.7 / ROBOT.vmax, abs=1e-4)
    assert found.lower[0] <= house.between(up.starts[:1], up.goals[:1])[0, 0] / ROBOT.vmax
    assert 5.0 / ROBOT.vmax < found.lower[1] <= found.upper[1] < math.inf
    (disc,) = group_by_goal(house, up, 0.5)
    wider = plan_batch(disc, replace(ROBOT, goal_radius=0.5))
    assert 0 < wider.lower[0] < found.lower[0]
    assert np.isinf(wider.upper).tolist() == [True, False]


def test_without_stairs_no_way_leads_up():
    apart = Surface.from_mesh(storeys(stairs=False), **STANDING)
    (batch,) = group_by_goal(apart, ways(((1.0, 3.0, 0.0), 0.0, (1.0, 3.0, 2.7))), 0.0)
    found = plan_batch(batch, ROBOT)
    assert np.isinf([found.lower, found.upper]).all()
    assert found.goal_seconds == 0


def test_a_goal_with_a_radius_may_lie_in_a_table(hall):
    asked = ways(((0.5, 1.5, 0.0), 0.0, (1.45, 1.5, 0.0)))
    assert snap_distances(hall, asked, 0.0)[1] > 0
    assert snap_distances(hall, asked, 0.2)[1] == 0
    (batch,) = group_by_goal(hall, asked, 0.2)
    found = plan_batch(batch, replace(ROBOT, goal_radius=0.2))
    # Straight ahead until 0.2 m are left.
    assert found.lower[0] <= 0.75 / 0.25 <= found.upper[0] < 3.1


def test_what_strays_is_told_by_how_far(hall):
    asked = ways(((0.5, 1.5, 0.0), 0.0, (1.7, 1.5, 0.0)), ((9.0, 1.5, 0.0), 0.0, (3.5, 1.5, 0.0)))
    starts, goals = snap_distances(hall, asked, 0.0)
    assert starts.tolist() == [0.0, math.inf]
    assert goals[1] == 0.0
    assert goals[0] == pytest.approx(0.3, abs=0.05)


def test_a_time_is_known_by_all_that_decides_it(hall):
    def keys(surface=hall, asked=ACROSS, robot=ROBOT):
        return [key for batch in group_by_goal(surface, asked, robot.goal_radius) for key in fingerprints(batch, robot)]

    same = keys()
    assert len(set(same)) == 3
    assert keys() == same
    turned = replace(ACROSS, headings=ACROSS.headings + 0.1)
    empty = Surface.from_mesh(room(4, 3), **STANDING)
    others = [replace(ROBOT, vmax=0.5), replace(ROBOT, reverse=True), replace(ROBOT, goal_radius=0.1)]
    for other in (keys(asked=turned), keys(surface=empty), *(keys(robot=robot) for robot in others)):
        assert not set(other) & set(same)


def test_a_batch_in_parts_gives_the_same_times(hall):
    batch = next(group_by_goal(hall, ACROSS, 0.0))
    whole, last = plan_batch(batch, ROBOT), plan_batch(batch.select(np.array([False, True])), ROBOT)
    assert (last.lower[0], last.upper[0]) == (whole.lower[1], whole.upper[1])
