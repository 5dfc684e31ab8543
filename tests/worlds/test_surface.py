"""The navigable surface as a space, and moving over it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument, NoRoute
from itinera.worlds import BatchSpace, Ragged
from itinera.worlds.checks import check_space
from itinera.worlds.surface import Surface
from text_worlds import quick
from worlds.rooms import ROBOT, mapped, of_cells, room, storeys, turned

WALL = ((2, 0, 0), (2.2, 3, 2.5))
HALL = Surface.from_mesh(room(6, 4, boxes=[WALL, ((4, 1, 0), (4.2, 4, 2.5))]), **ROBOT)
HOUSE = Surface.from_mesh(storeys(), **ROBOT)
CELL = 0.05


@pytest.mark.parametrize("surface", [HALL, HOUSE], ids=["hall", "house"])
def test_surfaces_keep_the_laws_to_a_cell(surface):
    assert isinstance(surface, BatchSpace)
    check_space(surface, surface.sample(np.random.default_rng(4), 8), tolerance=CELL)


@pytest.mark.parametrize("surface", [HALL, HOUSE], ids=["hall", "house"])
def test_routes_are_as_long_as_distances_and_as_the_lines_they_are_drawn_by(surface):
    places = surface.sample(np.random.default_rng(6), 20)
    for start, goal in zip(places[::2], places[1::2], strict=True):
        route = surface.route(start, goal)
        apart = surface.between([start], [goal])[0, 0]
        assert surface.along(route).sum() == pytest.approx(apart, rel=1e-6)
        assert np.linalg.norm(np.diff(route, axis=0), axis=1).sum() == pytest.approx(apart, rel=0.01)
        assert surface.walkable(route[:-1], route[1:]).all()
        np.testing.assert_allclose(route[[0, -1]], [start, goal], atol=1e-9)


def test_distances_are_the_same_there_and_back_to_a_cell():
    for surface in (HALL, HOUSE):
        places = surface.sample(np.random.default_rng(7), 20)
        there = surface.between(places, places)
        np.testing.assert_allclose(there, there.T, atol=CELL)


def test_a_route_to_the_other_storey_goes_by_the_stairs():
    route = HOUSE.route([7, 3, 0], [7, 3, 2.7])
    on_stairs = (route[:, 0] > 2) & (route[:, 0] < 5) & (route[:, 1] < 1)
    assert on_stairs.any()
    between = (route[:, 2] > 0.3) & (route[:, 2] < 2.4)
    assert on_stairs[between].all()


def test_no_route_leads_to_another_island():
    surface = mapped(".#.")
    with pytest.raises(NoRoute, match="different islands"):
        surface.route([0.5, 0.5, 0], [2.5, 0.5, 0])
    assert surface.between([[0.5, 0.5, 0]], [[2.5, 0.5, 0]])[0, 0] == np.inf


def test_rows_of_a_batch_are_measured_as_they_are_alone():
    rng = np.random.default_rng(8)
    a, b = (Ragged.from_rows([HALL.sample(rng, n) for n in counts]) for counts in ((3, 1, 4), (2, 5, 4)))
    alone = [HALL.between(a[k], b[k]).ravel() for k in range(3)]
    np.testing.assert_array_equal(HALL.blocks(a, b), np.concatenate(alone))
    np.testing.assert_array_equal(HALL.steps(a), np.concatenate([HALL.along(a[k]) for k in range(3)]))
    empty = Ragged.from_rows([])
    assert HALL.blocks(empty, empty).size == HALL.steps(empty).size == HALL.along([]).size == 0


def test_a_step_through_a_wall_is_as_long_as_the_way_round_it():
    points = [[1.5, 1.0, 0], [2.5, 1.0, 0]]
    assert HALL.along(points)[0] == pytest.approx(HALL.between(points[:1], points[1:])[0, 0])
    assert HALL.along(points)[0] > 4.0


def test_places_are_put_onto_the_surface():
    found = HOUSE.locate([[7, 3, 0.1], [7, 3, 2.6], [0.02, 2, 0]])
    np.testing.assert_allclose(found, [[7, 3, 0], [7, 3, 2.7], [0.1, 2, 0]], atol=1e-3)
    np.testing.assert_allclose(HOUSE.locate(found), found, atol=1e-12)


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ([9.0, 2.0, 0.0], r"Place 1, \(9.00, 2.00, 0.00\), is not walkable: .* is 1.10 m away .limit 0.5 m"),
        ([1.0, 2.0, -7.0], r"is 7.00 m away"),
        ([100.0, 2.0, 0.0], r"is 92.10 m away"),
    ],
)
def test_a_place_off_the_surface_is_refused_with_how_far_it_is(place, told):
    with pytest.raises(BadArgument, match=told):
        HOUSE.locate([[1, 2, 0], place])


@pytest.mark.parametrize("places", [[[0.0, 0.0]], [[0.0, np.nan, 0.0]]], ids=str)
def test_anything_but_finite_triples_is_refused(places):
    with pytest.raises(BadArgument, match=r"finite \(n, 3\) metres"):
        HALL.locate(places)


def test_snapping_finds_the_nearest_place_of_all():
    rng = np.random.default_rng(9)
    ground = HOUSE.ground
    middles = np.column_stack([(ground.columns + 0.5) * ground.size + ground.origin, ground.heights])
    points = rng.uniform((-1, -1, -1), (9, 5, 4), size=(50, 3))
    found, gaps = HOUSE.snap(points, reach=3.0)
    nearest = np.linalg.norm(middles - points[:, None], axis=2).min(axis=1)
    # One hanging just over the surface is let down straight; others go to the nearest border of a cell.
    hanging = (np.abs(found - points)[:, :2] < 1e-9).all(axis=1)
    assert (gaps <= nearest + 1e-9)[~hanging].all()
    assert (gaps >= nearest - 0.71 * CELL - 1e-9)[~hanging].all()
    assert (gaps[hanging] <= 0.25).sum() > 3


def test_snapping_gives_up_beyond_its_reach():
    found, gaps = HALL.snap([[-1.0, 2.0, 0.0], [1.0, 2.0, 0.0]], reach=0.9)
    assert np.isnan(found[0]).all()
    assert gaps.tolist() == [np.inf, 0.0]


def test_snapping_to_an_island_leaves_out_the_others():
    surface = Surface.from_mesh(room(6, 4, boxes=[((2, 1, 0), (4, 3, 0.5))]), **ROBOT)
    found, _ = surface.snap([[3, 2, 0.5]], reach=5.0)
    assert found[0].tolist() == [3.0, 2.0, 0.5]
    found, gaps = surface.snap([[3, 2, 0.5]], reach=5.0, island=0)
    assert found[0, 2] == 0.0
    assert gaps[0] == pytest.approx(np.hypot(1.1, 0.5), abs=CELL)


def test_samples_lie_evenly_over_the_largest_island():
    places = HOUSE.sample(np.random.default_rng(10), 4000)
    assert (HOUSE.island(places) == 0).all()
    np.testing.assert_allclose(HOUSE.locate(places), places, atol=1e-9)
    level = places[places[:, 2] < 0.01]
    right, left = (level[:, 0] > 6).sum(), (level[:, 0] < 2).sum()
    assert right / left == pytest.approx(1.0, abs=0.2)


def test_there_is_no_sampling_an_island_that_is_not():
    with pytest.raises(BadArgument, match="no island 7; they are numbered 0 to 0"):
        HALL.sample(np.random.default_rng(0), 1, island=7)


def crossed(a: np.ndarray, b: np.ndarray, wide: int, tall: int) -> list[tuple[int, int]]:
    """The cells through whose inside the line from a to b runs, by clipping it to every one."""
    cells = []
    for x in range(wide):
        for y in range(tall):
            low, high = np.array([x, y]), np.array([x + 1, y + 1])
            with np.errstate(divide="ignore", invalid="ignore"):
                sides = np.sort(np.stack([(low - a) / (b - a), (high - a) / (b - a)]), axis=0)
            outside = (a == b) & ((a <= low) | (a >= high))
            sides = np.where(a == b, [[0.0], [1.0]], sides)
            if not outside.any() and min(sides[1].min(), 1) > max(sides[0].max(), 0) + 1e-9:
                cells.append((x, y))
    return cells


def passed(a: np.ndarray, b: np.ndarray, wide: int, tall: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """For each corner that the line from a to b passes exactly, the two cells there through which it does not run."""
    pairs = []
    (du, dv), low, high = b - a, np.minimum(a, b), np.maximum(a, b)
    for x in range(1, wide):
        for y in range(1, tall):
            on_line = abs(du * (y - a[1]) - dv * (x - a[0])) < 1e-9
            if on_line and (low < (x, y)).all() and (high > (x, y)).all():
                rising = du * dv > 0
                pairs.append(((x - 1, y), (x, y - 1)) if rising else ((x - 1, y - 1), (x, y)))
    return pairs


def is_clear(rows: list[str], a: np.ndarray, b: np.ndarray) -> bool:
    """Whether every cell that the line runs through is free, and one of the other two at every corner it passes."""
    wide, tall = len(rows[0]), len(rows)
    through = all(rows[y][x] == "." for x, y in crossed(a, b, wide, tall))
    return through and all(any(rows[y][x] == "." for x, y in pair) for pair in passed(a, b, wide, tall))


@quick
@given(st.lists(st.text("..#", min_size=5, max_size=5), min_size=5, max_size=5), st.data())
def test_a_line_is_walkable_if_every_cell_it_runs_through_is_and_no_corner_it_passes_is_closed(rows, data):
    free = [(x, y) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark == "."]
    if not free:
        return
    surface = of_cells(rows)
    inner = st.tuples(*[st.integers(1, 98)] * 2).map(lambda part: np.array(part) / 99.0)
    a, b = (np.array(data.draw(st.sampled_from(free))) + data.draw(inner) for _ in range(2))
    ends = np.array([[*a, 0.0]]), np.array([[*b, 0.0]])
    assert surface.walkable(*ends)[0] == surface.walkable(*ends[::-1])[0] == is_clear(rows, a, b)


# Rows from y = 0 up, the ends of a line through the corner of four cells, and whether it is walkable.
NEAR = (1 / 99, 1 / 99)  # no coordinate is exact in binary
FAR = (3 + 1 / 99, 3 + 1 / 99)
CORNERS = {
    # Cells (3, 2) and (2, 3) meet at the corner (3, 3) and close it.
    "two blocked cells": (["....#", "....#", "...#.", "###..", "....."], NEAR, FAR, False),
    "two blocked cells, falling": (["#.", ".#"], (0.25, 1.75), (1.75, 0.25), False),
    # One blocked cell is only touched, on either side.
    "one blocked cell on the right": (["....#", "....#", "...#.", "##...", "....."], NEAR, FAR, True),
    "one blocked cell on the left": (["....#", "....#", ".....", "###..", "....."], NEAR, FAR, True),
    "no blocked cell": (["....", "....", "....", "...."], NEAR, FAR, True),
}


@pytest.mark.parametrize(("rows", "start", "end", "walkable"), CORNERS.values(), ids=CORNERS)
def test_two_blocked_cells_close_the_corner_where_they_meet_and_one_may_be_touched(rows, start, end, walkable):
    surface = of_cells(rows)
    a, b = np.array([[*start, 0.0]]), np.array([[*end, 0.0]])
    assert surface.walkable(a, b)[0] == surface.walkable(b, a)[0] == walkable
    assert is_clear(rows, np.array(start), np.array(end)) == walkable
    # The same rule decides how far a robot gets.
    heading, length = np.arctan2(*(b - a)[0, 1::-1]), np.linalg.norm(b - a)
    gone = surface.advance(a[0], heading, length, sliding=False)
    assert np.allclose(gone, b[0], atol=1e-5) == walkable


def test_going_forward_in_the_open_goes_as_far_as_asked():
    start = np.array([0.5, 3.5, 0.0])
    for heading in np.arange(-3, 1) * 0.5:
        gone = HALL.advance(start, heading, 0.25, sliding=False)
        np.testing.assert_allclose(gone, start + 0.25 * np.array([np.cos(heading), np.sin(heading), 0]), atol=1e-9)


def test_without_sliding_a_robot_stops_where_it_touches():
    gone = HALL.advance(np.array([1.5, 1.0, 0.0]), 0.5, 3.0, sliding=False)
    assert gone[0] == pytest.approx(1.9, abs=CELL / 2)
    assert (gone[1] - 1.0) / (gone[0] - 1.5) == pytest.approx(np.tan(0.5), rel=0.02)


def test_with_sliding_a_robot_goes_on_along_the_wall():
    gone = HALL.advance(np.array([1.5, 1.0, 0.0]), 0.5, 1.0, sliding=True)
    assert gone[0] == pytest.approx(1.9, abs=CELL / 2)
    assert gone[1] == pytest.approx(1.0 + np.sin(0.5), abs=CELL)


@pytest.mark.parametrize("angle", [0.2, 0.5, 1.0, 1.4])
def test_sliding_works_along_walls_at_any_angle(angle):
    along = np.array([np.cos(angle), np.sin(angle)])
    wall = turned(6.0, 0.2, (3, 3), angle)
    surface = Surface.from_mesh(room(6, 6, prisms=[wall]), **ROBOT)
    beside = np.array([3, 3]) + 0.25 * np.array([along[1], -along[0]]) - 0.5 * along
    # Towards the wall at 30 degrees.
    gone = surface.advance(np.array([*beside, 0.0]), angle + np.pi / 6, 1.0, sliding=True)
    travelled = (gone[:2] - beside) @ along
    assert 0.6 < travelled < 1.0


@quick
@given(st.integers(0, 10**6), st.floats(-10, 10), st.floats(0.01, 3.0), st.booleans())
def test_a_robot_never_leaves_the_surface_nor_goes_further_than_it_may(seed, heading, distance, sliding):
    start = HALL.sample(np.random.default_rng(seed), 5)
    gone = HALL.advance(start, np.full(5, heading), distance, sliding=sliding)
    np.testing.assert_allclose(HALL.locate(gone), gone, atol=1e-9)
    assert (np.linalg.norm(gone - start, axis=1) <= distance + 0.01 * CELL).all()
    straight = HALL.advance(start, np.full(5, heading), distance, sliding=False)
    assert HALL.walkable(start, straight).all()


def test_many_robots_go_as_each_alone():
    start, headings = HALL.sample(np.random.default_rng(11), 20), np.linspace(-3, 3, 20)
    together = HALL.advance(start, headings, 0.5, sliding=True)
    alone = [HALL.advance(p, h, 0.5, sliding=True) for p, h in zip(start, headings, strict=True)]
    np.testing.assert_array_equal(together, alone)


def test_places_on_the_borders_of_cells_are_as_good_as_any():
    surface = mapped(
        """
        ....
        ....
        ....
        """
    )
    corners = np.array([(x, y, 0.0) for x in (1, 2, 3) for y in (1, 2)])
    straight = np.linalg.norm(corners[:, None] - corners, axis=2)
    np.testing.assert_allclose(surface.between(corners, corners), straight, atol=1e-9)
    for heading in np.arange(8) * np.pi / 4:
        gone = surface.advance(corners, np.full(6, heading), 0.5, sliding=True)
        np.testing.assert_allclose(np.linalg.norm(gone - corners, axis=1), 0.5, atol=1e-6)
