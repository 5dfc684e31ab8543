"""The released variant: the point cloud of the twin, and the fault of its thinning worked by hand."""

from __future__ import annotations

import math

import numpy as np

from itinera.mapping.config import MapConfig
from itinera.mapping.known_map import known_map
from itinera.mapping.mapper import make_maps
from itinera.mapping.point_cloud import PointCloudMaps, find_highest, list_points
from itinera.rendering.camera import Camera
from itinera.rendering.rasterizer import Rasterizer
from itinera.seeding import generator
from mapping.test_egocentric_map import EYE, HALL, LIFT, OPEN_HALL, STAIRS, one_pixel
from mapping.twin import COLUMN, PointCloudTwin

RELEASED = MapConfig(variant="released")
WIDE = Camera(32, 32, math.pi / 2)


def test_the_last_column_of_a_row_is_taken_for_the_first_of_the_next():
    # Columns 0 to 2 and rows 0 to 1: the flat index of row 0, column 2 is 0 * 2 + 2, that of row 1, column 0 is 1 * 2.
    points = np.array([(0.0, 0.0, 0.5), (0.10, 0.0, 0.7), (0.0, -0.05, 0.6), (0.10, -0.05, 0.4)])
    assert find_highest(points, np.zeros(4, np.int64), 0.05).tolist() == [0, 1, 3]
    # A rectangle of one column is a single one: its last column has the index 0.
    assert find_highest(points[[0, 2]], np.zeros(2, np.int64), 0.05).tolist() == [1]
    assert find_highest(points[[0, 1]], np.zeros(2, np.int64), 0.05).tolist() == [0, 1]


def test_the_last_row_of_an_agent_is_taken_for_the_first_of_the_next_agent():
    # One column and rows 0 to 2 each, and a wide row to make the stride 1: the flat index of agent 0, row 2 is that of
    # agent 1, row 0.
    points = np.array([(0.0, 0.0, 0.5), (0.05, 0.0, 0.2), (0.0, -0.10, 0.6), (0.0, 0.0, 0.9), (0.0, -0.10, 0.8)])
    lanes = np.array([0, 0, 0, 1, 1])
    assert find_highest(points, lanes, 0.05).tolist() == [0, 1, 3, 4]
    maps = PointCloudMaps([OPEN_HALL] * 2, RELEASED)
    for x, y, z, lane in zip(*points.T, lanes, strict=True):
        one_pixel(maps, 1.0, 1, (x - 1.0, y, z + 1.0), lane)
    assert maps.read([(0.0, 0.0, 1.5)], 0.0, [0]).occupancy.sum() < 3


def faulty_thin(twin: PointCloudTwin) -> None:
    """The thinning of the released code, for one agent, point by point."""
    places = [(round(p.x / COLUMN), round(p.z / COLUMN)) for p in twin.points]
    x0, z0 = min(x for x, _ in places), min(z for _, z in places)
    last = max(x - x0 for x, _ in places)
    highest = {}
    for point, (x, z) in zip(twin.points, places, strict=True):
        flat = (z - z0) * last + (x - x0)
        if flat not in highest or point.y > highest[flat].y:
            highest[flat] = point
    twin.points = list(highest.values())


def test_the_released_variant_equals_the_twin_with_its_fault(monkeypatch):
    monkeypatch.setattr(PointCloudTwin, "thin", faulty_thin)
    rng = generator(3, "released")
    raster, maps, twin = Rasterizer(STAIRS.mesh), make_maps([STAIRS], RELEASED), PointCloudTwin(centered=False)
    for place in STAIRS.space.sample(rng, 6):
        eye, heading = place + LIFT, rng.uniform(-math.pi, math.pi)
        frame = raster.render(WIDE, eye, heading, channels=("depth", "classes"))
        # As the released code does, thin the new points before and after joining them to the cloud.
        before, twin.points = twin.points, []
        twin.insert(frame.depth, frame.classes, eye, heading, WIDE.focal)
        twin.points = before + twin.points
        twin.thin()
        maps.insert(frame.depth[None], frame.classes[None], eye, heading, WIDE)
        found, expected = maps.read(eye, heading)[0], twin.read(eye, heading)
        np.testing.assert_array_equal(found.occupancy, expected[0])
        np.testing.assert_array_equal(found.labels, expected[1])
    assert isinstance(maps, PointCloudMaps)


def test_the_fault_loses_points_and_the_upper_floor_erases_the_lower():
    # The walls at x = 0 and x = 6 are the first and the last column of every row.
    points, _ = list_points(known_map(HALL), COLUMN)
    kept = find_highest(points, np.zeros(len(points), np.int64), COLUMN)
    lost = np.delete(points, kept, axis=0)
    assert len(lost) > 70
    assert set(lost[:, 0].round(6)) == {6.0}  # of two equally high points the first stays
    maps = make_maps([STAIRS], RELEASED)
    one_pixel(maps, 1.0, 3, (1.0, 2.0, 1.0))
    assert maps.read([(1.0, 2.0, EYE)], 0.0).labels.max() == 3
    one_pixel(maps, 1.0, 4, (1.0, 2.0, 3.7))
    assert maps.read([(1.0, 2.0, EYE)], 0.0).labels.max() == 0


def test_columns_and_exact_points_differ_by_less_than_a_cell():
    raster, camera = Rasterizer(HALL.mesh), Camera(128, 128, math.pi / 2)
    columns, twin = make_maps([HALL], MapConfig()), PointCloudTwin(centered=False)
    frame = raster.render(camera, (1, 2, EYE), 0.3, channels=("depth", "classes"))
    columns.insert(frame.depth[None], frame.classes[None], [(1, 2, EYE)], 0.3, camera)
    twin.insert(frame.depth, frame.classes, (1, 2, EYE), 0.3, camera.focal)
    found, exact = columns.read([(1, 2, EYE)], 0.3)[0].occupancy, twin.read((1, 2, EYE), 0.3)[0]
    for one, other in ((found, exact), (exact, found)):
        padded = np.pad(other, 1)
        near = np.max([padded[1 + i : 65 + i, 1 + j : 65 + j] for i in (-1, 0, 1) for j in (-1, 0, 1)], axis=0)
        assert not (one & ~near & 1).any()
    assert (found == exact).mean() > 0.98


def test_known_maps_load_into_the_released_variant_too():
    known = known_map(HALL)
    cloud, columns = make_maps([HALL], RELEASED), make_maps([HALL], MapConfig())
    for maps in (cloud, columns):
        maps.load([0], [known])
    a, b = (maps.read([(1.2, 2.0, EYE)], 0.7)[0] for maps in (cloud, columns))
    np.testing.assert_array_equal(a.occupancy, b.occupancy)
    np.testing.assert_array_equal(a.labels, b.labels)
    cloud.clear([0])
    assert not cloud.read([(1.2, 2.0, EYE)], 0.7).occupancy.any()
