"""Waypoints in rooms drawn by hand, and the compiled loops against slow twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.simulators import waypoints
from itinera.simulators._waypoint_kernels import map_floor, map_heights, measure_reaches, nearest_things
from itinera.simulators.surroundings import Scene, Surroundings
from itinera.simulators.waypoints import (
    CELL,
    CLIMB,
    GAP,
    LENGTH,
    MARGIN,
    MAX_WAYPOINTS,
    REACH,
    SHORTEST,
    SIDES,
    SUPPRESSED,
    DepthWaypoints,
    GraphWaypoints,
    SurfaceWaypoints,
    suppress,
)
from itinera.worlds import NavGraph, World
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room, storeys

quick = settings(max_examples=25, deadline=None)

HALL_MESH = room(12, 3)
HALL = World("hall", Surface.from_mesh(HALL_MESH, **ROBOT), mesh=HALL_MESH)
MIDDLE = np.array([6.0, 1.5, 0.0])


def around(world: World, place: np.ndarray) -> Surroundings:
    return Surroundings(Scene(world), place)


def polar(found: np.ndarray, place: np.ndarray) -> list[tuple[int, float]]:
    """(heading in degrees, metres) of each waypoint."""
    dx, dy, _ = (found - place).T
    angles = np.degrees(np.arctan2(dy, dx)).round().astype(int) % 360
    return list(zip(angles.tolist(), np.hypot(dx, dy).round(2).tolist(), strict=True))


@pytest.mark.parametrize("source", [SurfaceWaypoints(), DepthWaypoints()], ids=["surface", "depth"])
def test_in_a_long_hall_the_ways_along_it_come_first(source):
    found = source.find(around(HALL, MIDDLE))
    assert (found.names, found.here) == ((), "")
    ways = polar(found.places, MIDDLE)
    assert all(min(abs(angle - along) for along in (0, 180, 360)) <= 15 for angle, _ in ways[:2])
    assert [length for _, length in ways[:2]] == [LENGTH, LENGTH]
    assert any(abs(angle - 90) <= 45 for angle, _ in ways)  # across the hall, which is 3 m wide
    assert all(length <= 1.5 / math.cos(math.radians(angle % 90 - 45)) + LENGTH for angle, length in ways)


@pytest.mark.parametrize("source", [SurfaceWaypoints(), DepthWaypoints()], ids=["surface", "depth"])
def test_waypoints_can_be_walked_to_straight(source):
    boxes = [((2, 1, 0), (3, 2, 1.0)), ((5, 0, 0), (5.5, 2.2, 2.0))]
    mesh = room(9, 4, boxes=boxes)
    world = World("boxes", Surface.from_mesh(mesh, **ROBOT), mesh=mesh)
    for place in world.space.sample(np.random.default_rng(2), 12):
        found = source.find(around(world, place)).places
        lengths = np.linalg.norm((found - place)[:, :2], axis=1)
        assert ((lengths <= LENGTH + 1e-6) & (lengths >= SHORTEST - MARGIN - 1e-6)).all()
        if len(found):
            assert world.space.walkable(np.broadcast_to(place, found.shape), found).all()


def test_waypoints_by_depth_lead_up_and_down_stairs():
    mesh = storeys()
    world = World("stairs", Surface.from_mesh(mesh, **ROBOT), mesh=mesh)
    rises = set()
    for place in world.space.sample(np.random.default_rng(0), 60):
        found = DepthWaypoints().find(around(world, place)).places
        rises |= set(np.sign((found - place)[:, 2].round(1)).tolist())
    assert rises == {-1.0, 0.0, 1.0}


def test_waypoints_of_the_graph_are_the_neighbors_of_the_nearest_node():
    graph = NavGraph.from_edges({"a": (1, 1, 1.5), "b": (3, 1, 1.5), "c": (5, 1, 1.5)}, [("a", "b"), ("b", "c")])
    source = GraphWaypoints({"hall": World("hall", graph)})
    found = source.find(around(HALL, np.array([2.8, 1.2, 0.0])))
    assert (found.here, found.names) == ("b", ("a", "c"))
    assert found.places.tolist() == [[1, 1, 0], [5, 1, 0]]
    with pytest.raises(BadArgument, match=r"4\.\d\d m from the nearest viewpoint .* Use waypoints surface or depth"):
        source.find(around(HALL, np.array([9.0, 1.0, 0.0])))


@quick
@given(st.lists(st.floats(0, REACH), min_size=72, max_size=72))
def test_chosen_ways_are_the_farthest_and_apart(reaches):
    found = suppress(np.array(reaches))
    assert len(found) <= MAX_WAYPOINTS
    values = np.array(reaches).round(6)[found]
    assert (np.diff(values) <= 0).all()
    assert (values >= SHORTEST - 1e-6).all()
    angles = found * math.tau / 72
    for k, angle in enumerate(angles):
        aside = np.abs(np.remainder(angles[:k] - angle + math.pi, math.tau) - math.pi)
        assert (aside >= SUPPRESSED - 1e-9).all()
    if max(reaches) >= SHORTEST:
        assert values[0] == max(np.array(reaches).round(6))


def slow_reach(heights, heading, side):
    """How far the line to one side is free, step by step."""
    half, known, height = len(heights) // 2, 0.0, 0.0
    for step in range(1, round(REACH / CELL) + 1):
        far = step * CELL
        x, y = heading[0] * far - heading[1] * side, heading[1] * far + heading[0] * side
        here = heights[math.floor(x / CELL + 0.5) + half, math.floor(y / CELL + 0.5) + half]
        if here == -np.inf:
            if far - known > GAP:
                return known
        elif abs(here - height) > CLIMB:
            return known
        else:
            known, height = far, here
    return known


@quick
@given(st.integers(0, 10**6))
def test_a_way_ends_where_the_first_of_its_lines_ends(seed):
    rng = np.random.default_rng(seed)
    half = round((REACH + 0.16) / CELL) + 1
    heights = rng.choice([0.0, 0.1, 0.2, 0.6, -np.inf], (2 * half + 1, 2 * half + 1), p=[0.6, 0.2, 0.15, 0.001, 0.049])
    heights = heights.astype(np.float32)
    reaches, steps = np.empty(72), np.zeros((72, round(REACH / CELL)))
    headings = waypoints._DIRECTIONS
    measure_reaches(heights, headings, SIDES, CELL, REACH, CLIMB, GAP, reaches, steps)
    expected = [min(slow_reach(heights, heading, side) for side in SIDES) for heading in headings]
    np.testing.assert_allclose(reaches, expected, atol=1e-9)


def points(rng, count):
    """Depths along rays of depth one, and the points they show, relative to the floor."""
    rays = rng.uniform(-1, 1, (count, 3))
    depths = rng.uniform(0.2, 5, count).astype(np.float32)
    depths[rng.random(count) < 0.1] = np.inf
    with np.errstate(invalid="ignore"):
        shown = rays * depths[:, None].astype(np.float64) + [0, 0, EYE_HEIGHT]
    return rays, depths, shown


def test_the_height_map_has_the_highest_point_below_the_eye():
    rays, depths, shown = points(np.random.default_rng(1), 500)
    heights = np.empty((41, 41), np.float32)
    map_heights(depths, rays, EYE_HEIGHT, 0.2, heights)
    expected = np.full((41, 41), -np.inf, np.float32)
    for x, y, z in shown[np.isfinite(depths)]:
        i, j = math.floor(x / 0.2 + 0.5) + 20, math.floor(y / 0.2 + 0.5) + 20
        if z <= EYE_HEIGHT and 0 <= i < 41 and 0 <= j < 41:
            expected[i, j] = max(expected[i, j], np.float32(z))
    assert np.isfinite(expected).any()
    np.testing.assert_array_equal(heights, expected)


def test_floor_is_where_a_point_is_level_with_it():
    rays, depths, shown = points(np.random.default_rng(2), 2000)
    floor = np.empty((21, 21), dtype=bool)
    map_floor(depths, rays, EYE_HEIGHT, 0.1, 0.3, floor)
    expected = np.zeros((21, 21), dtype=bool)
    for (x, y, z), ray in zip(shown, rays, strict=True):
        if ray[2] < 0 and abs(z) <= 0.1:
            i, j = math.floor(x / 0.3 + 0.5) + 10, math.floor(y / 0.3 + 0.5) + 10
            if 0 <= i < 21 and 0 <= j < 21:
                expected[i, j] = True
    assert expected.any()
    np.testing.assert_array_equal(floor, expected)


def test_distances_to_things_are_those_to_their_nearest_visible_points():
    rng = np.random.default_rng(3)
    rays, depths, shown = points(rng, 400)
    depths[np.isinf(depths)] = 1.0
    shown = rays * depths[:, None].astype(np.float64) + [0, 0, EYE_HEIGHT]
    things = rng.integers(-1, 4, 400).astype(np.int32)
    things[things == 2] = -1  # nobody sees thing 2
    places = rng.uniform(-3, 3, (6, 3))
    nearest = np.empty((6, 4))
    nearest_things(depths, rays, EYE_HEIGHT, things, places, nearest)
    for n, place in enumerate(places):
        for thing in range(4):
            own = shown[things == thing]
            expected = ((own - place) ** 2).sum(axis=1).min() if len(own) else np.inf
            assert nearest[n, thing] == pytest.approx(expected)
