"""ROS maps of a house: read back by our own reader, with rooms, and the geodesics of the house."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from itinera.formats.rosmap import find_unknown_cells, read_map
from itinera.formats.scene_export.ros import CLIMB, encode_maps
from itinera.hearth.build import House
from itinera.hearth.ground import ROBOT_HEIGHT
from itinera.planners.motion.dynamics import holonomic
from itinera.planners.motion.value_field import lower_bound
from itinera.worlds.regions import distance_to_polygon
from itinera.worlds.surface import Surface

RADIUS = 0.18  # metres


@pytest.fixture(scope="module")
def maps(house: House, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("maps")
    for name, content in encode_maps(house).items():
        (folder / name).write_bytes(content)
    return folder


def test_there_is_a_map_of_every_storey_with_free_occupied_and_unknown_cells(maps: Path, house: House) -> None:
    assert len(list(maps.glob("*.yaml"))) == house.plan.storeys
    grid, unknown = read_map(maps / "storey_0.yaml"), find_unknown_cells(maps / "storey_0.yaml")
    assert (~grid.blocked).sum() * grid.resolution**2 > 20
    assert unknown.any()
    assert (grid.blocked & ~unknown).any()


def test_free_ground_is_inside_rooms_or_doorways(maps: Path, house: House) -> None:
    for storey in range(house.plan.storeys):
        grid = read_map(maps / f"storey_{storey}.yaml")
        rows, columns = np.nonzero(~grid.blocked)
        points = grid.to_map((np.stack([columns, rows], axis=1)[::17] + 0.5) * grid.resolution)
        rooms = [room for room in house.plan.rooms if room.storey == storey]
        away = np.min([distance_to_polygon(room.outline, points) for room in rooms], axis=0)
        assert away.max() < 0.4


def test_geodesics_on_the_map_are_those_of_the_house(maps: Path, house: House) -> None:
    grid = read_map(maps / "storey_0.yaml")
    surface = Surface.from_mesh(house.mesh, radius=RADIUS + grid.resolution / 2, height=ROBOT_HEIGHT, climb=CLIMB)
    points = surface.sample(np.random.default_rng(5), 1500, island=None)
    levels = [room.floor for room in house.plan.rooms if room.storey == 0]
    points = points[np.abs(points[:, 2:] - levels).min(axis=1) < CLIMB]
    components = grid.component_at(points[:, :2], RADIUS)
    largest = np.bincount(components[components > 0]).argmax()
    points = points[components == largest][:30]
    ratios = []
    for goal in points[:2]:
        ours = surface.between(points, goal[None])[:, 0]
        theirs = lower_bound(grid, goal[:2], holonomic(1.0), radius=RADIUS).shortest(points[:, :2])
        far = (ours > 2) & np.isfinite(ours)
        assert np.isfinite(theirs[far]).all()
        ratios += (theirs[far] / ours[far]).tolist()
    assert len(ratios) > 20
    assert abs(np.mean(ratios) - 1) < 0.02
    assert np.quantile(np.abs(np.array(ratios) - 1), 0.9) < 0.02


def test_rooms_are_closed_polygons_with_names(maps: Path, house: House) -> None:
    names = [
        feature["properties"]["name"]
        for file in sorted(maps.glob("*.geojson"))
        for feature in json.loads(file.read_text())["features"]
    ]
    assert len(names) == len(house.plan.rooms)
    feature = json.loads((maps / "storey_0.rooms.geojson").read_text())["features"][0]
    (ring,) = feature["geometry"]["coordinates"]
    assert ring[0] == ring[-1]
    np.testing.assert_allclose(ring[:-1], house.plan.rooms[feature["id"]].outline, atol=1e-4)
