"""Why a query on a map has no answer: the reason at each end, the nearest free points, the extent of the map."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.planners.motion.fastest import fastest
from itinera.planners.motion.query_diagnosis import InfeasibleQuery, diagnose_query
from itinera.worlds.grid import Grid

# Two rooms of 2.9 x 4 m, in cells of 10 cm, with a wall of 20 cm between them and a door of 40 cm in it.
CELLS = np.zeros((40, 60), dtype=bool)
CELLS[:, 29:31] = True
CELLS[18:22, 29:31] = False
MAP = Grid(CELLS, 0.1, origin=(-1.0, -2.0))
START, GOAL = (0.0, -1.0, 0.0), (4.0, -1.0)


def explain(start=START, goal=GOAL, radius=0.1, **options):
    return diagnose_query(MAP, start, goal, radius=radius, **options)


def test_an_end_outside_the_map_is_told_with_how_far():
    found = explain(start=(-1.3, 2.4, 0.0)).start
    assert found.reason == "outside the map"
    assert "by 0.50 m" in found.detail  # 0.3 m to the left and 0.4 m above
    # The nearest cell whose center is 0.15 m from the border: at the upper left corner.
    np.testing.assert_allclose(found.nearest, (-0.85, 1.85))


def test_an_end_in_a_wall_is_told():
    found = explain(goal=(2.0, -1.0)).goal
    assert found.reason == "inside an obstacle"
    # The wall fills 1.9 to 2.1; the cells beside it at 1.85 and 2.15 are too close, those at 1.75 and 2.25 are free.
    assert found.nearest[0] in (1.75, 2.25)


def test_an_end_in_an_unknown_area_is_told_from_one_in_a_wall():
    unknown = np.zeros_like(CELLS)
    unknown[:, 29:31] = True
    assert explain(goal=(2.0, -1.0), unknown=unknown).goal.reason == "in an unknown area"


def test_an_end_too_close_to_a_wall_is_told_with_the_distance():
    found = explain(goal=(2.16, -1.0)).goal
    assert found.reason == "too close to an obstacle"
    assert "only 0.06 m" in found.detail
    assert explain(start=(-0.97, -1.0, 0.0)).start.detail.startswith("only 0.03 m")  # from the border


def test_both_ends_and_the_extent_are_told_together():
    found = str(explain(start=(-7.0, 0.0, 0.0), goal=(2.0, -1.0)))
    assert "cannot be at the start, (-7, 0): it is outside the map, by 6.00 m." in found
    assert "cannot be at the goal, (2, -1): it is inside an obstacle." in found
    assert "x from -1.00 to 5.00 m and y from -2.00 to 2.00 m" in found
    assert found.count("The nearest free point is") == 2


def test_an_unreachable_goal_is_told_with_the_radius_that_fits():
    found = explain(radius=0.25)
    assert found.start.reason is None
    assert found.goal.reason == "unreachable"
    # The door is four cells wide: the centers of the two in the middle are 0.15 m from its sides.
    assert "A robot of radius 0.15 m or less gets from one to the other." in str(found)
    assert found.goal.nearest[0] < 2.0  # on the side of the start
    # Rooms of 29 x 40 cells without two at each side, whose centers are 0.05 and 0.15 m from a wall: 25 x 36.
    assert "a region of 9.0 m² that is not connected to that of the start, of 9.0 m²" in found.goal.detail


def test_walls_without_a_gap_separate_robots_of_any_size():
    cells = CELLS.copy()
    cells[:, 29] = True
    found = diagnose_query(Grid(cells, 0.1, origin=(-1.0, -2.0)), START, GOAL, radius=0.1)
    assert "Obstacles separate the two for a robot of any size." in str(found)


def test_a_disc_without_a_reachable_point_is_told():
    found = explain(goal=(2.0, -1.0), goal_radius=0.05)
    assert found.goal.reason == "unreachable"
    assert "no point within 0.05 m of it" in found.goal.detail


def test_a_robot_that_fits_nowhere_is_told():
    found = explain(radius=3.0)
    assert "fits nowhere" in str(found)
    assert found.start.nearest is None


def test_free_points_are_in_a_large_region_from_which_the_other_end_can_be_reached():
    cells = CELLS.copy()
    cells[:3] = True
    cells[1, 1] = False  # a speck at the lower left corner
    grid = Grid(cells, 0.1, origin=(-1.0, -2.0))
    both = diagnose_query(grid, (-1.2, -2.2, 0.0), (-1.1, -2.1), radius=0.0)
    assert both.start.nearest[1] > -1.7
    one = diagnose_query(grid, (-1.2, -2.2, 0.0), GOAL, radius=0.0)
    assert one.start.nearest[1] > -1.7


@pytest.mark.parametrize("resolution", [0.05, 0.013, 0.005])
def test_nearest_free_points_are_free_as_printed(resolution):
    grid = Grid(CELLS, resolution, origin=(0.123, -4.567), rotation=0.4)
    rng = np.random.default_rng(1)
    for point in grid.to_map(rng.uniform(-0.5, 1.5, size=(20, 2)) * grid.size):
        found = diagnose_query(grid, (*point, 0.0), point, radius=2 * resolution)
        if found.start.reason is not None:
            assert grid.component_at(found.start.nearest, 2 * resolution)[0]


def test_planning_raises_one_error_with_both_ends_or_says_why_there_is_no_path():
    with pytest.raises(InfeasibleQuery, match="cannot be at the start") as refused:
        fastest(MAP, (-7.0, 0.0, 0.0), (2.0, -1.0), radius=0.1, trees=0)
    assert refused.value.diagnosis.goal.reason == "inside an obstacle"
    found = fastest(MAP, START, GOAL, radius=0.25, trees=0)
    assert found.lower == np.inf
    assert "cannot reach the goal, (4, -1)" in found.reason
    assert fastest(MAP, START, GOAL, radius=0.1, trees=0).reason == ""
