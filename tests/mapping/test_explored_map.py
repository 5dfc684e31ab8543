"""Maps of all that is visible from all over the ground: rooms worked by hand, and the point cloud of the slow twin."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.mapping import explored_map as module
from itinera.mapping.config import MapConfig
from itinera.mapping.explored_map import AREA, HEADINGS, MAX_PLACES, explored_map
from itinera.mapping.known_map import known_map
from itinera.rendering.camera import Camera, Frame
from itinera.rendering.rasterizer import Rasterizer
from itinera.seeding import generator
from itinera.worlds import Euclidean, World
from itinera.worlds.surface import Surface
from mapping.twin import COLUMN, PointCloudTwin
from worlds.rooms import ROBOT, room, storeys

EYE = 1.25
TOP = 0.6  # metres: the box is low enough to be seen from above, and higher than the lowest point of a map
MESH = room(6, 4, boxes=[((2, 1, 0), (3, 3, TOP))])
HALL = World("hall", Surface.from_mesh(MESH, **ROBOT), mesh=MESH)
CAMERA = Camera(48, 36, math.pi / 2)
LOW, HIGH = 1, 2


def label_by_height(frames: Frame) -> np.ndarray:
    """LOW for what is less than a metre above the floor, else HIGH: a network that knows nothing but depth."""
    rows = np.arange(CAMERA.height)
    down = (rows + 0.5 - CAMERA.height / 2) / CAMERA.focal
    below = frames.depth * down[None, :, None]
    return np.where(below > EYE - 1.0, LOW, HIGH).astype(np.uint8)


def cells(columns, storey: int = 0) -> dict[tuple[int, int], tuple[float, int]]:
    """The height and label of each known column, by its number along x and y."""
    heights, labels = columns.storey(storey)
    first_x, first_y = columns.grids.grids[storey, :2].tolist()
    known = np.argwhere(np.isfinite(heights)).tolist()
    return {(i + first_x, j + first_y): (float(heights[j, i]), int(labels[j, i])) for j, i in known}


@pytest.fixture(scope="module")
def explored():
    return explored_map(HALL, CAMERA, label_by_height)


def test_the_box_is_low_and_the_walls_are_high(explored):
    found = cells(explored)
    top = [found.get((i, j)) for i, j in product(range(44, 57), range(24, 57))]  # 20 cm inside its edges
    seen = [cell for cell in top if cell is not None]
    assert len(seen) > 0.5 * len(top)
    for height, label in seen:
        assert (height, label) == (pytest.approx(TOP, abs=1e-3), LOW)
    wall = [found.get((i, 0)) for i in range(5, 116)]  # along y = 0
    seen = [cell for cell in wall if cell is not None]
    assert len(seen) > 0.8 * len(wall)
    assert sum(label == HIGH for _, label in seen) > 0.9 * len(seen)
    assert max(height for height, _ in seen) == pytest.approx(1.75, abs=0.1)  # the top of the band


def test_the_floor_is_in_no_map(explored):
    inside = [(i, j) for i, j in cells(explored) if 4 <= i <= 36 and 4 <= j <= 76]  # between the wall and the box
    assert inside == []


def test_only_what_the_mesh_has_is_seen(explored):
    """Each column is one of the known map, or next to one: points of edges fall to either side."""
    known = cells(known_map(HALL))
    near = {(i + a, j + b) for (i, j), a, b in product(known, (-1, 0, 1), (-1, 0, 1))}
    assert set(cells(explored)) <= near


def test_columns_equal_the_point_cloud_of_the_same_views():
    camera = Camera(16, 12, math.pi / 2)
    twin, raster = PointCloudTwin(), Rasterizer(MESH)
    rng = generator(0, "explored map", HALL.id)
    count = round(float(HALL.space.area.sum()) / AREA)
    assert 4 < count < MAX_PLACES
    places = HALL.space.sample(rng, count)
    seen = 0

    def number_views(frames):
        """Labels that tell every view apart."""
        nonlocal seen
        views = np.arange(seen + 1, seen + 1 + len(frames.depth), dtype=np.uint8)
        seen += len(frames.depth)
        return np.broadcast_to(views[:, None, None], frames.depth.shape).copy()

    found = explored_map(HALL, camera, number_views, channels=["depth"])
    label = 0
    for place, first in zip(places, rng.uniform(-math.pi, math.pi, count), strict=True):
        for k in range(HEADINGS):
            eye, heading, label = place + np.array([0, 0, EYE]), first + k * math.pi / 2, label + 1
            frame = raster.render(camera, eye, heading, 0.0, channels=["depth"])
            twin.insert(frame.depth, np.full(frame.depth.shape, label), eye, heading, camera.focal)
    assert seen == label == count * HEADINGS
    expected = {(round(p.x / COLUMN), round(-p.z / COLUMN)): (p.y, p.label) for p in twin.points}
    own = cells(found)
    assert own.keys() == expected.keys()
    for place, (height, view) in expected.items():
        assert own[place] == (pytest.approx(height, abs=1e-6), view)


def test_every_storey_is_explored():
    mesh = storeys()
    world = World("stairs", Surface.from_mesh(mesh, **ROBOT), mesh=mesh)
    found = explored_map(world, CAMERA, label_by_height)
    assert len(found.grids.grids) == 2
    for storey in (0, 1):
        assert len(cells(found, storey)) > 100


def test_the_map_is_the_same_in_every_call(explored):
    again = explored_map(HALL, CAMERA, label_by_height)
    np.testing.assert_array_equal(again.heights, explored.heights)
    np.testing.assert_array_equal(again.labels, explored.labels)
    other = explored_map(World("other", HALL.space, mesh=MESH), CAMERA, label_by_height)
    assert not np.array_equal(other.heights, explored.heights)  # from other places: they depend on the name


def test_the_number_of_places_is_limited(monkeypatch):
    monkeypatch.setattr(module, "MAX_PLACES", 2)
    views = []

    def count_views(frames):
        views.append(len(frames.depth))
        return np.zeros(frames.depth.shape, np.uint8)

    explored_map(HALL, CAMERA, count_views, MapConfig(camera_height=1.0), channels=["depth"])
    assert views == [HEADINGS, HEADINGS]


@pytest.mark.parametrize("world", [World("bare", HALL.space), World("open", Euclidean(), mesh=MESH)])
def test_a_world_without_mesh_or_surface_is_refused(world):
    with pytest.raises(BadArgument, match="has no mesh and surface to explore"):
        explored_map(world, CAMERA, label_by_height)
