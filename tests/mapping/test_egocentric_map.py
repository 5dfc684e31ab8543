"""The columns of a map against its slow twin, and cases worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.mapping.config import MapConfig
from itinera.mapping.egocentric_map import EgocentricMaps, SemanticMaps
from itinera.mapping.labels import paper_table
from itinera.rendering.camera import Camera
from itinera.rendering.rasterizer import Rasterizer
from itinera.seeding import generator
from itinera.worlds import Euclidean, World
from itinera.worlds.labels import MAP_CLASSES, MPCAT40
from itinera.worlds.surface import Surface
from mapping.twin import PointCloudTwin
from worlds.rooms import ROBOT, room, storeys

EYE = 1.25
LIFT = np.array([0.0, 0.0, EYE])
CAMERA = Camera(16, 12, math.pi / 2)
MESH = room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8)), ((4, 0.5, 0), (4.6, 1.2, 0.7))])
HALL = World("hall", Surface.from_mesh(MESH, **ROBOT), mesh=MESH)
STAIRS = World("stairs", Surface.from_mesh(storeys(), **ROBOT), mesh=storeys())
# Without a mesh, whose bounds limit a map, noise may lie anywhere.
OPEN_HALL, OPEN_STAIRS = World("hall", HALL.space), World("stairs", STAIRS.space)
BORDER = 2.0  # metres: where the lower storey ends
TABLE = MAP_CLASSES.index("table")


def random_views(rng: np.random.Generator, world: World, count: int) -> tuple[np.ndarray, ...]:
    """Depth, labels, camera positions and headings of noise, seen from the ground of a world."""
    shape = (count, CAMERA.height, CAMERA.width)
    depth = rng.uniform(0.0, 11.0, shape).astype(np.float32)
    depth[rng.random(shape) < 0.1] = np.inf
    labels = rng.integers(0, 5, shape).astype(np.uint16)
    places = world.space.sample(rng, count)
    return depth, labels, places + LIFT, rng.uniform(-math.pi, math.pi, count)


def level_map(maps: SemanticMaps, x: float, y: float, heading: float, z: float = 0.0) -> EgocentricMaps:
    return maps.read([[x, y, z + EYE]], heading)[0]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**9), st.floats(-0.6, 0.6), st.sampled_from(["hall", "stairs"]))
def test_reading_equals_the_slow_twin_on_noise(seed, elevation, name):
    world, borders = (OPEN_HALL, ()) if name == "hall" else (OPEN_STAIRS, (BORDER,))
    depth, labels, eyes, headings = random_views(generator(seed, "views"), world, 3)
    maps, twin = SemanticMaps([world]), PointCloudTwin(borders)
    for k in range(3):
        maps.insert(depth[[k]], labels[[k]], eyes[[k]], headings[k], CAMERA, elevations=elevation)
        twin.insert(depth[k], labels[k], eyes[k], headings[k], CAMERA.focal, elevation)
        found, expected = maps.read(eyes[[k]], headings[k])[0], twin.read(eyes[k], headings[k])
        np.testing.assert_array_equal(found.occupancy, expected[0])
        np.testing.assert_array_equal(found.labels, expected[1])
    assert found.occupancy.any()
    assert found.labels.any()


def test_reading_equals_the_slow_twin_on_rendered_stairs():
    # An agent looks around below, on and above the stairs, and comes down again.
    camera = Camera(48, 48, math.pi / 2)
    raster, maps, twin = Rasterizer(STAIRS.mesh), SemanticMaps([STAIRS]), PointCloudTwin((BORDER,))
    floors = STAIRS.space.locate([(1.0, 0.5, 0.0), (3.0, 0.5, 0.9), (4.5, 0.5, 2.25), (6.0, 2.0, 2.7), (1.0, 2.5, 0.0)])
    for place, heading in zip(floors, (0.1, -0.2, 3.0, 2.2, -1.0), strict=True):
        eye = place + LIFT
        frame = raster.render(camera, eye, heading, channels=("depth", "classes"))
        maps.insert(frame.depth[None], frame.classes[None], eye, heading, camera)
        twin.insert(frame.depth, frame.classes, eye, heading, camera.focal)
        found, expected = maps.read(eye, heading)[0], twin.read(eye, heading)
        np.testing.assert_array_equal(found.occupancy, expected[0])
        np.testing.assert_array_equal(found.labels, expected[1])
    assert found.occupancy.sum() > 50


def test_a_box_ahead_appears_ahead():
    # From (1, 2) along +x, the side of the box, at x = 2 from y = 1 to 3, is 1 m = 10 cells ahead: row 22.
    maps, raster = SemanticMaps([HALL]), Rasterizer(MESH)
    frame = raster.render(Camera(128, 128, math.pi / 2), (1, 2, EYE), 0.0, channels=("depth", "classes"))
    maps.insert(
        frame.depth[None], frame.classes[None], [(1, 2, EYE)], 0.0, Camera(128, 128, math.pi / 2), table=paper_table()
    )
    ahead = level_map(maps, 1, 2, 0.0)
    rows, columns = np.nonzero(ahead.labels)
    assert set(rows.tolist()) == {22}
    assert (columns.min(), columns.max()) == (22, 42)
    assert set(ahead.labels[rows, columns].tolist()) == {TABLE}
    # After a turn to the left it is on the right, and from 0.5 m farther back 5 cells farther away.
    rows, columns = np.nonzero(level_map(maps, 1, 2, math.pi / 2).labels)
    assert set(columns.tolist()) == {42}
    assert set(np.nonzero(level_map(maps, 0.5, 2, 0.0).labels)[0].tolist()) == {17}


def one_pixel(maps: SemanticMaps, depth: float, label: int, eye: tuple[float, float, float], lane: int = 0) -> None:
    """Insert a point straight ahead along +x."""
    maps.insert(np.full((1, 1, 1), depth, np.float32), np.array([[[label]]]), [eye], 0.0, Camera(1, 1, 0.1), [lane])


def test_the_highest_point_of_a_column_stays_whatever_comes_later():
    maps = SemanticMaps([HALL])
    one_pixel(maps, 1.0, 3, (1.0, 2.0, 1.0))
    one_pixel(maps, 1.0, 4, (1.0, 2.0, 1.2))
    one_pixel(maps, 1.0, 5, (1.0, 2.0, 1.1))
    assert level_map(maps, 1, 2, 0.0).labels[22, 32] == 4
    one_pixel(maps, 1.0, 0, (1.0, 2.0, 1.3))  # void hides it too
    found = level_map(maps, 1, 2, 0.0)
    assert (found.labels[22, 32], found.occupancy[22, 32]) == (0, 1)


def test_void_does_not_hide_a_label_in_another_column_of_the_cell():
    maps = SemanticMaps([HALL])
    one_pixel(maps, 1.0, 7, (1.0, 2.0, 1.0))
    one_pixel(maps, 1.0, 0, (1.0, 1.96, 1.2))
    found = level_map(maps, 1, 2, 0.0)
    assert found.labels[22, 32] == 7
    assert found.occupancy.sum() == 1


def test_bands_and_depth_limits_are_those_of_the_paper():
    tilted = Camera(1, 1, 0.1)
    for height, appears in ((0.49, 1), (0.51, 0), (-0.99, 1), (-1.01, 0)):
        maps = SemanticMaps([HALL])
        elevation = math.asin(height / 2)  # of a point 2 m away
        maps.insert(
            np.full((1, 1, 1), 2.0, np.float32),
            np.ones((1, 1, 1), int),
            [(1, 2, EYE)],
            0.0,
            tilted,
            elevations=elevation,
        )
        assert maps.read([(1, 2, EYE)], 0.0).occupancy.sum() == appears
    for depth, appears in ((0.09, 0), (0.11, 1), (9.89, 1), (9.91, 0)):
        maps = SemanticMaps([OPEN_HALL])
        one_pixel(maps, depth, 1, (-4.0, 2.0, EYE))
        assert maps.read([(-4.0 + depth, 2.0, EYE)], 0.0).occupancy.sum() == appears
    for lower, appears in ((1.24, 1), (1.26, 0), (-0.74, 1), (-0.76, 0)):
        maps = SemanticMaps([HALL])
        one_pixel(maps, 1.0, 1, (1.0, 2.0, 1.0))
        assert maps.read([(1.0, 2.0, 1.0 + lower)], 0.0).occupancy.sum() == appears


def test_the_upper_floor_does_not_erase_the_lower_one():
    maps = SemanticMaps([STAIRS])
    one_pixel(maps, 1.0, 3, (1.0, 2.0, 1.0))
    one_pixel(maps, 1.0, 4, (1.0, 2.0, 2.7 + 1.0))
    assert level_map(maps, 1, 2, 0.0).labels[22, 32] == 3
    assert level_map(maps, 1, 2, 0.0, z=2.7).labels[22, 32] == 4
    assert level_map(maps, 1, 2, 0.0, z=1.35).labels.sum() == 0  # on the stairs, 0.1 to 2.1 m: above 1 m, below 3.7


def test_agents_in_different_worlds_do_not_disturb_each_other():
    rng = generator(0, "agents")
    worlds = [HALL, STAIRS, HALL]
    together, alone = SemanticMaps(worlds), [SemanticMaps([world]) for world in worlds]
    for _ in range(3):
        views = [random_views(rng, world, 1) for world in worlds]
        stacked = [np.concatenate(parts) for parts in zip(*views, strict=True)]
        some = np.flatnonzero(rng.random(3) < 0.7)
        together.insert(*(part[some] for part in stacked), CAMERA, some)
        for lane in some:
            alone[lane].insert(*views[lane], CAMERA)
        eyes, headings = stacked[2:]
        read = together.read(eyes, headings)
        for lane, maps in enumerate(alone):
            expected = maps.read(eyes[[lane]], headings[lane])
            np.testing.assert_array_equal(read[lane].occupancy, expected[0].occupancy)
            np.testing.assert_array_equal(read[lane].labels, expected[0].labels)


def test_clearing_and_moving_to_another_world_leave_nothing():
    rng = generator(1, "clear")
    maps = SemanticMaps([HALL, HALL])
    views = random_views(rng, HALL, 2)
    maps.insert(*views, CAMERA)
    before = maps.read(*views[2:])
    maps.clear([0])
    after = maps.read(*views[2:])
    assert not after[0].occupancy.any()
    np.testing.assert_array_equal(after[1].labels, before[1].labels)
    maps.place([1], [STAIRS])
    assert not np.isfinite(maps.columns(1).heights).any()
    other = random_views(rng, STAIRS, 1)
    maps.insert(*other, CAMERA, [1])
    fresh = SemanticMaps([STAIRS])
    fresh.insert(*other, CAMERA)
    np.testing.assert_array_equal(maps.columns(1).heights, fresh.columns(0).heights)
    np.testing.assert_array_equal(maps.columns(1).labels, fresh.columns(0).labels)


def test_labels_up_to_65535_are_kept():
    maps = SemanticMaps([HALL])
    one_pixel(maps, 1.0, 65535, (1.0, 2.0, 1.0))
    assert level_map(maps, 1, 2, 0.0).labels[22, 32] == 65535
    with pytest.raises(BadArgument, match="at most 65535; the highest is 65536"):
        one_pixel(maps, 1.0, 65536, (1.0, 2.0, 1.0))
    with pytest.raises(BadArgument, match="the lowest is -1"):
        one_pixel(maps, 1.0, -1, (1.0, 2.0, 1.0))


def test_the_table_gives_the_classes_of_the_paper_their_labels():
    maps = SemanticMaps([HALL])
    frame = np.array([[[MPCAT40.index("sofa")]]], dtype=np.uint8)
    maps.insert(np.ones((1, 1, 1), np.float32), frame, [(1, 2, 1)], 0.0, Camera(1, 1, 0.1), table=paper_table())
    assert level_map(maps, 1, 2, 0.0).labels.max() == MAP_CLASSES.index("sofa")


def test_wrong_arguments_are_refused_with_what_was_expected():
    maps = SemanticMaps([HALL])
    with pytest.raises(BadArgument, match=r"depth and labels of shape \(1, 12, 16\)"):
        maps.insert(np.ones((1, 5, 5)), np.ones((1, 5, 5), int), [(0, 0, 0)], 0.0, CAMERA)
    with pytest.raises(BadArgument, match="numbered from 0 to 0; got 1 to 1"):
        maps.clear([1])
    with pytest.raises(BadArgument, match="not finite"):
        maps.read([(0, 0, math.nan)], 0.0)
    with pytest.raises(BadArgument, match="no surface to map"):
        SemanticMaps([World("open", Euclidean())])
    for wrong in ({"size": 63}, {"cell": 0.0}, {"depth": (3.0, 1.0)}, {"variant": "other"}):
        with pytest.raises(BadArgument, match=next(iter(wrong))):
            MapConfig(**wrong)
