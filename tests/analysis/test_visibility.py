"""Cells observed by depth images: a slow twin, rooms whose answer is plain, and tours worked by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.analysis._kernels import mark_cells
from itinera.analysis.visibility import (
    FLOOR,
    RELEASED,
    CameraPoses,
    CellGrid,
    VisibilityRule,
    concatenate_coverage,
    make_cell_grid,
    mark_visible_cells,
    measure_visibility,
)
from itinera.errors import BadArgument
from itinera.records import Phase, Rollout, Trajectory
from itinera.rendering.camera import Camera
from itinera.rendering.rasterizer import Rasterizer
from itinera.worlds import World
from itinera.worlds.mesh import Mesh
from itinera.worlds.space import Array
from itinera.worlds.surface import Surface
from text_worlds import STREET, graph
from worlds.rooms import ROBOT, room, storeys

SMALL = Camera(48, 48, math.pi / 2)
COARSE = replace(RELEASED, camera=SMALL, cell_size=0.25)
EAST, NORTH, WEST, SOUTH = 0.0, math.pi / 2, math.pi, -math.pi / 2
TO_START, ACTING, TO_GOAL = Phase.GUIDED_TO_START, Phase.ACTING, Phase.GUIDED_TO_GOAL

# Two rooms of 4 x 4 m, left and right of a wall, with a door in its middle.
PARTED = [((3.95, 0.0, 0.0), (4.05, 1.5, 2.5)), ((3.95, 2.5, 0.0), (4.05, 4.0, 2.5))]


def world_of(mesh: Mesh) -> World:
    return World("house", Surface.from_mesh(mesh, **ROBOT), mesh=mesh)


def looking(*stands: tuple[float, float, float], z: float = 0.0) -> CameraPoses:
    """A view from each (x, y, heading), all in one row."""
    x, y, headings = np.array(stands, dtype=np.float64).T
    level = np.zeros(len(stands))
    return CameraPoses(np.column_stack([x, y, level + z]), headings, level, np.zeros(len(stands), dtype=np.int64))


def middles(world: World, views: CameraPoses, rule: VisibilityRule) -> Array:
    """(k, 2) the middles of the cells seen."""
    cells = make_cell_grid(world, rule)
    seen = mark_visible_cells(Rasterizer(world.mesh), cells, views, rule, rows=1).reshape(-1, *cells.shape)
    return cells.origin + (np.argwhere(seen.any(axis=0)) + 0.5) * cells.size


# A cell the slow way: pixel by pixel, with the rules as documented.


def points(depth: Array, eye: Array, heading: float, elevation: float, camera: Camera) -> Iterator[Array]:
    ahead = np.array([math.cos(elevation) * math.cos(heading), math.cos(elevation) * math.sin(heading)])
    forward = np.array([*ahead, math.sin(elevation)])
    right = np.array([math.sin(heading), -math.cos(heading), 0.0])
    up = np.cross(right, forward)
    for v in range(camera.height):
        for u in range(camera.width):
            x, y = u + 0.5 - camera.width / 2, camera.height / 2 - v - 0.5
            yield depth[v, u], eye + depth[v, u] * (forward + (x * right + y * up) / camera.focal)


def slowly(
    depth: Array, eyes: Array, angles: Array, rows: Array, rule: VisibilityRule, cells: CellGrid
) -> set[tuple[int, int, int, int]]:
    found = set()
    for image, eye, (heading, elevation), row in zip(depth, eyes, angles, rows, strict=True):
        for far, point in points(image, eye, heading, elevation, rule.camera):
            rise = point[2] - eye[2]
            if rule.min_depth < far < rule.max_depth and rule.min_height < rise < rule.max_height:
                i, j = np.floor((point[:2] - cells.origin) / cells.size).astype(int)
                storey = max(np.count_nonzero(cells.floors - 0.1 <= point[2]) - 1, 0)
                if 0 <= i < cells.shape[0] and 0 <= j < cells.shape[1]:
                    found.add((int(row), int(storey), int(i), int(j)))
    return found


def test_the_kernel_marks_what_its_slow_twin_does():
    rng = np.random.default_rng(3)
    camera = Camera(11, 7, math.radians(100))
    rule = VisibilityRule(camera=camera, min_depth=0.5, max_depth=6.0, min_height=-1.4, max_height=1.3, cell_size=0.37)
    cells = CellGrid(np.array([-3.1, -2.7]), 0.37, (19, 14), np.array([0.0, 1.7, 3.1]))
    depth = rng.uniform(0.0, 9.0, (12, 7, 11)).astype(np.float32)
    depth[rng.random(depth.shape) < 0.1] = np.inf
    eyes, angles = rng.uniform((-2, -2, 0.5), (3, 2, 3.5), (12, 3)), rng.uniform(-1.2, 1.2, (12, 2)) * (2.6, 1.0)
    rows = np.repeat(np.arange(4), 3)
    seen = np.zeros((4, 3, 19, 14), dtype=np.bool_)
    (h, e), zero = angles.T, np.zeros(12)
    bases = np.stack(
        [
            np.stack([np.sin(h), -np.cos(h), zero], axis=1),
            np.stack([np.sin(e) * np.cos(h), np.sin(e) * np.sin(h), -np.cos(e)], axis=1),
            np.stack([np.cos(e) * np.cos(h), np.cos(e) * np.sin(h), np.sin(e)], axis=1),
        ],
        axis=1,
    )
    limits = np.array([0.5, 6.0, -1.4, 1.3])
    mark_cells(depth, eyes, bases, rows, camera.focal, limits, cells.origin, 0.37, cells.floors - 0.1, seen)
    expected = slowly(depth, eyes, angles, rows, rule, cells)
    assert len(expected) > 100
    assert {tuple(found) for found in np.argwhere(seen).tolist()} == expected


def test_images_of_a_room_show_the_same_as_pixel_by_pixel():
    world = world_of(room(5.03, 4.07, boxes=[((2.03, 1.04, 0.0), (2.51, 1.55, 1.1))]))
    rule = VisibilityRule(camera=Camera(16, 12, math.radians(80)), cell_size=0.29)
    views = CameraPoses(
        np.array([[1.0, 1.0, 0.0], [4.0, 3.0, 0.0]]), np.array([0.3, 2.9]), np.array([-0.2, 0.1]), np.arange(2)
    )
    cells, raster = make_cell_grid(world, rule), Rasterizer(world.mesh)
    found = mark_visible_cells(raster, cells, views, rule, rows=2).reshape(2, 1, *cells.shape)
    eyes, angles = np.add(views.places, (0.0, 0.0, 1.25)), np.column_stack([views.headings, views.elevations])
    depth = raster.render_many(rule.camera, eyes, *angles.T, channels=("depth",)).depth.astype(np.float64)
    expected = slowly(depth, eyes, angles, views.rows, rule, cells)
    assert {tuple(cell) for cell in np.argwhere(found).tolist()} == expected


def test_an_empty_room_shows_its_walls_ahead_and_no_floor():
    found = middles(world_of(room(6, 4)), looking((2.0, 2.03, EAST)), COARSE)
    # A quarter of the room: the wall at x = 6 and, from where it is in view on, the walls beside.
    off_wall = np.min([np.abs(found[:, 0] - 6), np.abs(found[:, 1]), np.abs(found[:, 1] - 4)], axis=0)
    assert off_wall.max() < 0.26
    assert found[:, 0].min() > 3.7
    far = found[found[:, 0] > 5.8]
    assert len(np.unique(far[:, 1])) >= 16  # all 4 m of it


def test_an_empty_room_shows_the_floor_from_where_the_image_ends():
    found = middles(world_of(room(6, 4)), looking((1.0, 2.03, EAST)), FLOOR)
    ahead, aside = found[:, 0] - 1.0, np.abs(found[:, 1] - 2.03)
    assert ahead.min() > 1.25 - 0.1  # below the eye the image ends at 45 degrees
    assert (aside < ahead + 0.1).all()
    # Farther than four metres away, rows of pixels lie more than a cell apart on the floor.
    inside = np.array([(x, y) for x in np.arange(2.45, 4.9, 0.1) for y in np.arange(0.75, 3.3, 0.1)])
    inside = inside[np.abs(inside[:, 1] - 2.03) < inside[:, 0] - 1.15]
    missed = [p for p in inside if np.abs(found - p).max(axis=1).min() > 0.051]
    assert not missed


def test_nothing_is_seen_through_walls_nor_from_too_far():
    world = world_of(room(8, 4, boxes=PARTED))
    hidden = middles(world, looking((1.0, 0.7, EAST), (1.0, 0.7, WEST), (1.0, 0.7, NORTH), (1.0, 0.7, SOUTH)), COARSE)
    beyond = hidden[hidden[:, 0] > 4.3]
    assert len(beyond)  # through the door
    assert beyond[:, 1].min() > 1.5  # which is ahead on the left, so nothing to the right of it
    through = looking((1.0, 2.0, EAST))
    assert middles(world, through, COARSE)[:, 0].max() > 7.7
    near = replace(COARSE, max_depth=6.0)
    assert middles(world, through, near)[:, 0].max() < 7.25


def test_storeys_are_told_apart_where_they_lie_over_one_another():
    world = world_of(storeys())
    apart = replace(COARSE, per_storey=True)
    cells, raster = make_cell_grid(world, apart), Rasterizer(world.mesh)
    assert cells.floors == pytest.approx([0.0, 2.7])
    for storey, z in enumerate(cells.floors):
        views = looking((6.0, 2.5, WEST), (2.0, 2.5, EAST), z=z)
        seen = mark_visible_cells(raster, cells, views, apart, rows=1).reshape(2, -1)
        assert seen[storey].any()
        assert not seen[1 - storey].any()
        on_one_sheet = mark_visible_cells(raster, make_cell_grid(world, COARSE), views, COARSE, rows=1)
        np.testing.assert_array_equal(on_one_sheet[0], seen[storey])


# Tours in the two rooms. From a and b one looks into the left room, from c and d into the right one.

ROOMS = world_of(room(8, 4, boxes=PARTED))
A, B = (3.0, 0.5, WEST), (3.0, 3.5, WEST)
C, D = (5.0, 0.5, EAST), (5.0, 3.5, EAST)


def episode(name: str, *steps: tuple[Phase, tuple[float, float, float]]) -> Trajectory:
    x, y, headings = np.array([pose for _, pose in steps]).T
    places = np.column_stack([x, y, np.zeros(len(x))])
    return Trajectory(name, places, headings=headings, phases=tuple(phase for phase, _ in steps))


def seen_on(*episodes: Trajectory, rule: VisibilityRule = COARSE) -> tuple[list[float], list[float], list[float]]:
    found = measure_visibility([Rollout("tour", episodes)], ROOMS, rule=rule)
    return found.upcoming[0].tolist(), found.tour[0].tolist(), found.scene[0].tolist()


def test_what_was_walked_before_is_known_and_another_room_is_not():
    upcoming, tour, scene = seen_on(
        episode("1", (ACTING, A)), episode("2", (ACTING, A)), episode("3", (ACTING, C)), episode("4", (ACTING, C))
    )
    assert upcoming == [0.0, 1.0, 0.0, 1.0]
    assert tour[0] == 0.0
    assert tour[1] == tour[2] == pytest.approx(0.5, abs=0.1)
    assert tour[3] == 1.0
    assert 0 < scene[1] == scene[2] < scene[3] < 1


def test_an_agent_sees_while_it_is_led():
    led = episode("2", (TO_START, C), (ACTING, A), (ACTING, C))
    upcoming, tour, _ = seen_on(episode("1", (ACTING, A)), led)
    assert (upcoming, tour) == ([0.0, 1.0], [0.0, 1.0])
    missed = episode("1", (ACTING, A), (TO_GOAL, C))
    upcoming, tour, _ = seen_on(missed, episode("2", (ACTING, C)))
    assert (upcoming, tour) == ([0.0, 1.0], [0.0, 1.0])
    # What is seen on the way to a goal is not what the episode itself asks for.
    upcoming, _, _ = seen_on(episode("0", (ACTING, A)), missed, episode("2", (ACTING, C)))
    assert upcoming == [0.0, 1.0, 1.0]


def test_the_first_view_of_an_episode_is_its_own():
    upcoming, _, _ = seen_on(episode("1", (ACTING, A)), episode("2", (TO_START, A), (ACTING, D)))
    assert upcoming == [0.0, 0.0]


def test_a_trajectory_without_phases_acted_throughout():
    bare = Trajectory("1", np.array([[*A[:2], 0.0]]), headings=np.array(A[2:]))
    upcoming, tour, _ = seen_on(bare, episode("2", (ACTING, A)))
    assert (upcoming, tour) == ([0.0, 1.0], [0.0, 1.0])


def test_looking_around_everywhere_shows_the_whole_scene():
    everywhere = [
        (ACTING, (x, y, heading))
        for x in (0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5)
        for y in (0.5, 1.5, 2.5, 3.5)
        for heading in (EAST, NORTH, WEST, SOUTH)
    ]
    fine = replace(COARSE, camera=Camera(128, 128, math.pi / 2))
    _, _, scene = seen_on(episode("1", *everywhere), episode("2", (ACTING, A)), rule=fine)
    assert scene == [0.0, pytest.approx(1.0, abs=0.02)]


stands = st.sampled_from([A, B, C, D, (2.0, 2.0, EAST), (6.0, 2.0, NORTH)])
steps = st.lists(st.tuples(st.sampled_from([TO_START, ACTING, TO_GOAL]), stands), max_size=4)


@given(st.lists(st.tuples(steps, stands), min_size=1, max_size=4))
@settings(max_examples=20, deadline=None)
def test_shares_are_shares_and_what_was_seen_stays_seen(tour):
    order = [TO_START, ACTING, TO_GOAL].index
    episodes = [
        episode(str(k), *sorted([*led, (ACTING, own)], key=lambda step: order(step[0])))
        for k, (led, own) in enumerate(tour)
    ]
    upcoming, whole, scene = map(
        np.array, seen_on(*episodes, rule=VisibilityRule(camera=Camera(8, 8, 1.5), cell_size=0.5))
    )
    for shares in (upcoming, whole, scene):
        assert ((shares >= 0) & (shares <= 1)).all()
    assert (np.diff(whole) >= 0).all()
    assert (np.diff(scene) >= 0).all()


def test_worlds_are_put_together_tour_by_tour():
    one = measure_visibility([Rollout("a", (episode("1", (ACTING, A)), episode("2", (ACTING, A))))], ROOMS, rule=COARSE)
    two = measure_visibility([Rollout("b", (episode("1", (ACTING, C)),))], ROOMS, rule=COARSE)
    both = concatenate_coverage([one, two])
    assert both.world_ids == ("house", "house")
    assert [both.upcoming[k].tolist() for k in range(2)] == [[0.0, 1.0], [0.0]]
    assert both.scene.counts.tolist() == [2, 1]


def test_what_cannot_be_looked_at_is_refused():
    walk = Rollout("tour", (episode("1", (ACTING, A)),))
    with pytest.raises(BadArgument, match="World bare has no mesh"):
        measure_visibility([walk], World("bare", ROOMS.space), rule=COARSE)
    with pytest.raises(BadArgument, match="World street has no surface"):
        measure_visibility([walk], World("street", graph(STREET), mesh=ROOMS.mesh), rule=COARSE)
    blind = Rollout("tour", (Trajectory("1", np.array([[1.0, 1.0, 0.0]])),))
    with pytest.raises(BadArgument, match="lack positions or headings"):
        measure_visibility([blind], ROOMS, rule=COARSE)
    on_graph = Rollout("tour", (Trajectory("1", ("a", "b"), headings=np.zeros(2)),))
    with pytest.raises(BadArgument, match="lack positions or headings"):
        measure_visibility([on_graph], ROOMS, rule=COARSE)
    nothing = VisibilityRule(camera=SMALL, min_height=20.0, max_height=30.0)
    with pytest.raises(BadArgument, match="shows no cell within"):
        measure_visibility([walk], ROOMS, rule=nothing)


@pytest.mark.parametrize("wrong", [{"min_depth": 3.0, "max_depth": 2.0}, {"min_height": 1.0}, {"cell_size": 0.0}])
def test_seeing_that_sees_nothing_is_refused(wrong):
    with pytest.raises(BadArgument):
        VisibilityRule(**wrong)
