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


def test_the_same_house_gives_the_same_bytes(model_file: bytes, house: House) -> None:
    assert encode_mjcf(house) == model_file


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
    camera = Camera(24, 24, math.pi / 2)
    errors = []
    for heading in np.arange(4) * math.pi / 2:
        depth = Rasterizer(house.mesh).render(camera, eye, heading, channels=("depth",)).depth
        for row, column in np.ndindex(24, 24):
            x, y = (column + 0.5 - 12) / camera.focal, (row + 0.5 - 12) / camera.focal
            cos, sin = math.cos(heading), math.sin(heading)
            ray = np.array([cos + x * sin, sin - x * cos, -y])
            found = mujoco.mj_ray(model, data, eye, ray, None, 1, -1, np.zeros(1, np.int32))
            if np.isfinite(depth[row, column]):
                errors.append(abs(found - depth[row, column]))
    assert np.mean(np.array(errors) < 0.01) > 0.97  # the rest are rays along edges, and backs of faces


def test_a_rolling_robot_reaches_a_goal_and_touches_nothing(
    model_file: bytes, house: House, recipe: ModuleType
) -> None:
    surface = recipe.wheeled_surface(house.mesh)
    points = surface.sample(np.random.default_rng(3), 40)
    lengths = surface.between(points[:1], points)[0]
    goal = points[np.flatnonzero((lengths > 2) & (lengths < 4))[0]]
    drive = recipe.Simulation(model_file.decode()).drive("0", np.asarray(surface.route(points[0], goal)), 0.0)
    assert drive.success
    assert drive.contacts == 0


def test_a_robot_that_drives_into_a_wall_is_stopped_by_it(model_file: bytes, house: House, recipe: ModuleType) -> None:
    surface = recipe.wheeled_surface(house.mesh)
    start = surface.sample(np.random.default_rng(3), 1)[0]
    away = start + np.array([60.0, 0.0, 0.0])
    simulation = recipe.Simulation(model_file.decode())
    recipe_limit = simulation.drive("0", np.array([start, start + (away - start) * 0.1]), 0.0)
    assert not recipe_limit.success
    assert recipe_limit.contacts > 0
