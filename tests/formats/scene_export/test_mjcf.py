"""MuJoCo models: compiled, complete, and driven by a rolling robot."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from itinera.formats.scene_export.convex_pieces import find_pieces
from itinera.formats.scene_export.mjcf import encode_mjcf
from itinera.hearth.build import House
from itinera.worlds.regions import distance_to_polygon
from itinera.worlds.surface import Surface

mujoco = pytest.importorskip("mujoco")


@pytest.fixture(scope="module")
def model_file(house: House) -> bytes:
    return encode_mjcf(house)


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "recipes"))
    import drive_mujoco

    yield drive_mujoco
    sys.modules.pop("drive_mujoco", None)


def test_every_piece_is_a_geom_of_a_body_with_its_label(model_file: bytes, house: House) -> None:
    model = mujoco.MjModel.from_xml_string(model_file.decode())
    assert model.ngeom == len(find_pieces(house.mesh))
    names = {model.body(i).name for i in range(1, model.nbody)}
    labels = {f"{item.index}_{item.category}" for item in house.objects}
    assert labels <= names
    assert {"0_wall", "0_floor"} <= names


def test_rays_hit_the_house_where_our_rasterizer_sees_it(model_file: bytes, house: House) -> None:
    from itinera.rendering.camera import Camera
    from itinera.rendering.rasterizer import Rasterizer

    model = mujoco.MjModel.from_xml_string(model_file.decode())
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    room = max(
        (room for room in house.plan.rooms if room.storey == 0), key=lambda room: np.ptp(room.outline, axis=0).min()
    )
    eye = np.array([*room.outline.mean(axis=0), room.floor + 1.45])
    camera = Camera(12, 12, math.pi / 2)
    raster, errors = Rasterizer(house.mesh), []
    for heading in np.arange(4) * math.pi / 2:
        depth = raster.render(camera, eye, heading, channels=("depth",)).depth
        for row, column in np.ndindex(12, 12):
            x, y = (column + 0.5 - 6) / camera.focal, (row + 0.5 - 6) / camera.focal
            cos, sin = math.cos(heading), math.sin(heading)
            ray = np.array([cos + x * sin, sin - x * cos, -y])
            found = mujoco.mj_ray(model, data, eye, ray, None, 1, -1, np.zeros(1, np.int32))
            if np.isfinite(depth[row, column]):
                errors.append(abs(found - depth[row, column]))
    assert np.mean(np.array(errors) < 0.01) > 0.96  # the rest are rays along edges, and backs of faces


def indoor_points(house: House, surface: Surface) -> np.ndarray:
    """Points on the ground floor, indoors."""
    points = surface.sample(np.random.default_rng(3), 2000, island=None)
    floors = [room for room in house.plan.rooms if room.storey == 0 and room.kind not in "pxygs"]
    inside = [
        (distance_to_polygon(r.outline, points[:, :2]) == 0) & (abs(points[:, 2] - r.floor) < 0.02) for r in floors
    ]
    return points[np.any(inside, axis=0)]


def test_a_rolling_robot_reaches_a_goal_and_touches_nothing(
    model_file: bytes, house: House, recipe: ModuleType
) -> None:
    surface = recipe.wheeled_surface(house.mesh)
    points = indoor_points(house, surface)
    lengths = surface.between(points[:1], points[:300])[0]
    goal = points[np.flatnonzero((lengths > 3) & (lengths < 9))[0]]
    drive = recipe.Simulation(model_file.decode()).drive("0", np.asarray(surface.route(points[0], goal)), 0.0)
    assert drive.success
    assert drive.contacts == 0


def test_a_robot_that_drives_into_a_wall_is_stopped_by_it(model_file: bytes, house: House, recipe: ModuleType) -> None:
    start = indoor_points(house, recipe.wheeled_surface(house.mesh))[0]
    beyond = start + np.array([25.0, 0.0, 0.0])
    drive = recipe.Simulation(model_file.decode()).drive("0", np.array([start, beyond]), 0.0)
    assert not drive.success
    assert drive.contacts > 0
