"""Panorama images: equal to views of the rasterizer, in Matterport's numbering and orientation."""

from __future__ import annotations

import io
import math

import msgspec
import numpy as np
import pytest
from PIL import Image

from itinera.formats.matterport import SUFFIX, read_scan, write_worlds
from itinera.formats.scene_export.panoramas import (
    EQUIRECTANGULAR,
    encode_jpeg,
    orient_poses,
    project_equirectangular,
    render_images,
    render_skybox,
    render_views,
    skybox_camera,
    view_camera,
)
from itinera.hearth.build import House
from itinera.rendering.camera import Camera
from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS
from itinera.rendering.rasterizer import Rasterizer
from itinera.worlds import NavGraph, World


@pytest.fixture(scope="module")
def raster(house: House) -> Rasterizer:
    return Rasterizer(house.mesh)


@pytest.fixture(scope="module")
def eye(house: House) -> np.ndarray:
    room = max(house.plan.rooms, key=lambda room: np.ptp(room.outline, axis=0).min())
    # Beside the middle: from the middle of a square room, the edges of skybox images are the corners of its walls.
    x, y = room.outline.mean(axis=0)
    return np.array([x + 0.31, y - 0.17, room.floor + 1.5])


def test_skybox_images_are_views_of_the_rasterizer(raster: Rasterizer, eye: np.ndarray) -> None:
    faces = render_skybox(raster, eye)
    for number, heading in ((3, math.pi / 2), (4, 0.0), (1, -math.pi / 2), (2, math.pi)):
        wanted = raster.render(skybox_camera(), eye, heading, channels=("rgb",)).rgb
        np.testing.assert_array_equal(faces[number], wanted)


def test_the_edges_of_skybox_images_fit_together(raster: Rasterizer, eye: np.ndarray) -> None:
    faces = render_skybox(raster, eye).astype(int)

    def fits(one: np.ndarray, other: np.ndarray) -> bool:
        return bool(np.mean(np.abs(one - other).max(axis=-1) < 24) > 0.9)

    for left, right in ((1, 2), (2, 3), (3, 4), (4, 1)):
        assert fits(faces[left][:, -1], faces[right][:, 0])
    assert fits(faces[0][0], faces[3][0, ::-1])  # above: image 3 is at the top, upside down
    assert fits(faces[5][-1], faces[3][-1, ::-1])


def test_an_equirectangular_image_shows_each_direction_as_the_rasterizer(raster: Rasterizer, eye: np.ndarray) -> None:
    image = project_equirectangular(render_skybox(raster, eye)).astype(int)
    width, height = EQUIRECTANGULAR
    same = []
    for column in range(8, width, 64):
        clockwise = ((column + 0.5) / width - 0.5) * math.tau
        view = raster.render(Camera(9, 9, math.radians(3)), eye, math.pi / 2 - clockwise, channels=("rgb",)).rgb
        same.append(np.abs(view.astype(int) - image[height // 2, column]).max(axis=-1).min() < 16)
    assert np.mean(same) > 0.9


def test_views_are_numbered_as_in_r2r(raster: Rasterizer, eye: np.ndarray) -> None:
    views = render_views(raster, eye)
    for number in (0, 12, 20, 35):
        wanted = raster.render(
            view_camera(), eye, VIEW_HEADINGS[number], VIEW_ELEVATIONS[number], channels=("rgb",)
        ).rgb
        np.testing.assert_array_equal(views[number], wanted)


def test_files_have_matterports_names_and_nearly_the_pixels_of_the_rasterizer(
    raster: Rasterizer, eye: np.ndarray
) -> None:
    graph = NavGraph(("a1",), eye[None], np.empty((0, 2), int))
    files = dict(render_images("scan", graph, raster, ("skybox", "equirectangular")))
    folder = "v1/scans/scan/matterport_skybox_images"
    names = {f"{folder}/a1_skybox{i}_sami.jpg" for i in range(6)} | {f"{folder}/a1_skybox_small.jpg"}
    assert files.keys() == names | {"v1/scans/scan/equirectangular/a1.jpg"}
    row = np.asarray(Image.open(io.BytesIO(files[f"{folder}/a1_skybox_small.jpg"]))).astype(int)
    wanted = np.concatenate(list(render_skybox(raster, eye)), axis=1)
    assert row.shape == wanted.shape
    assert np.abs(row - wanted).mean() < 4


def test_jpeg_files_of_the_same_image_have_the_same_bytes() -> None:
    image = np.random.default_rng(0).integers(0, 255, (32, 32, 3), dtype=np.uint8)
    assert encode_jpeg(image) == encode_jpeg(image)


def test_rewritten_poses_keep_positions_and_look_along_y(tmp_path) -> None:
    world = World("scan", NavGraph(("a", "b"), np.array([[0.0, 1.0, 1.5], [2.0, 1.0, 1.5]]), np.array([[0, 1]])))
    write_worlds(tmp_path, {"scan": world})
    file = tmp_path / f"scan{SUFFIX}"
    file.write_bytes(orient_poses(file.read_bytes(), height=1.5))
    read = read_scan(file).space
    np.testing.assert_array_equal(read.positions, world.space.positions)
    pose = np.array(msgspec.json.decode(file.read_bytes())[0]["pose"]).reshape(4, 4)
    np.testing.assert_array_equal(pose[:3, 2], (0, 1, 0))  # forward
    np.testing.assert_array_equal(pose[:3, 1], (0, 0, -1))  # down
    assert np.linalg.det(pose) == pytest.approx(1)
