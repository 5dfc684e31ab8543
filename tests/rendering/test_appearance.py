"""Textures, baked light, the sky and randomization: colors change, depth and labels never do."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.hearth.build import build_house
from itinera.rendering.appearance import APPEARANCES, FLAT, MOODS, Appearance, parse_appearance
from itinera.rendering.camera import Camera
from itinera.rendering.rasterizer import Rasterizer
from itinera.worlds.labels import MATERIALS
from itinera.worlds.mesh import Mesh
from rendering.scenes import boxes, two_rooms

CAMERA = Camera(96, 72, 1.4)
EYES = np.array([(-2.0, 0.3, 1.5), (2.2, -1.0, 1.2), (0.1, 1.2, 1.7), (7.0, 0.0, 1.5)])
HEADINGS, ELEVATIONS = np.array([0.2, 2.6, -1.4, 3.0]), np.array([-0.3, 0.1, -0.6, 0.0])
EVEN = Appearance(mood="flat")


def meadow(material: str = "planks") -> Mesh:
    """A large floor."""
    corners = np.array([(-60, -60, 0), (60, -60, 0), (60, 60, 0), (-60, 60, 0)], dtype=np.float32)
    faces = np.array([(0, 1, 2), (0, 2, 3)], dtype=np.int32)
    mesh = Mesh.from_triangles(corners, faces)
    return replace(mesh, materials=np.full(2, MATERIALS.index(material), np.uint8))


def draw(mesh, appearance, camera=CAMERA):
    return Rasterizer(mesh, appearance=appearance).render_many(camera, EYES, HEADINGS, ELEVATIONS)


@pytest.mark.parametrize("appearance", [*APPEARANCES.values(), EVEN, Appearance(mood="evening", randomize=3)], ids=str)
def test_depth_and_labels_do_not_depend_on_the_appearance(appearance):
    flat, found = draw(two_rooms(), FLAT), draw(two_rooms(), appearance)
    for name in ("depth", "classes", "instances"):
        assert np.array_equal(getattr(flat, name), getattr(found, name))
    assert np.array_equal(flat.rgb, found.rgb) == (appearance == FLAT)


@pytest.mark.parametrize("size", [(1, 1), (1, 3), (7, 2), (17, 9), (65, 3), (63, 63), (129, 70)], ids=str)
def test_images_of_any_size_have_the_same_labels_and_channels_do_not_depend_on_each_other(size):
    camera, mesh = Camera(*size, 0.6), two_rooms()
    raster = Rasterizer(mesh, appearance=Appearance())
    flat, whole = draw(mesh, FLAT, camera), raster.render_many(camera, EYES, HEADINGS, ELEVATIONS)
    assert all(np.array_equal(getattr(flat, name), getattr(whole, name)) for name in ("depth", "classes", "instances"))
    for channels in (("rgb",), ("rgb", "classes"), ("rgb", "instances")):
        some = raster.render_many(camera, EYES, HEADINGS, ELEVATIONS, channels=channels)
        assert all(np.array_equal(getattr(some, name), getattr(whole, name)) for name in channels)


def test_the_default_appearance_is_flat():
    plain = Rasterizer(two_rooms()).render_many(CAMERA, EYES, HEADINGS, ELEVATIONS)
    assert np.array_equal(plain.rgb, draw(two_rooms(), FLAT).rgb)


@pytest.mark.parametrize("mood", MOODS)
def test_an_appearance_has_the_same_bytes_every_time(mood):
    assert np.array_equal(draw(two_rooms(), Appearance(mood=mood)).rgb, draw(two_rooms(), Appearance(mood=mood)).rgb)


@pytest.mark.parametrize("material", [name for name in MATERIALS if name != "plain"])
def test_a_textured_face_is_as_bright_as_a_plain_one(material):
    camera = Camera(128, 128, 1.2)
    rasters = (Rasterizer(meadow(name), appearance=EVEN) for name in (material, "plain"))
    textured, plain = (
        raster.render(camera, (0.3, 0.2, 4.0), 0.0, -math.pi / 2, channels=("rgb",)).rgb for raster in rasters
    )
    assert abs(textured.mean() - plain.mean()) < 0.02 * plain.mean()
    assert plain.std() == 0
    assert textured.std() > 0.2


@pytest.mark.parametrize("material", ["planks", "tile", "brick", "gravel", "grass"])
def test_colors_of_a_far_floor_change_little_when_the_camera_moves_a_little(material):
    raster = Rasterizer(meadow(material), appearance=EVEN)
    eyes = np.array([(0.0, 0.0, 1.5), (0.013, 0.009, 1.5)])
    one, two = raster.render_many(Camera(160, 120, 1.4), eyes, 0.7, 0.0, channels=("rgb", "depth")).rgb.astype(int)
    far = raster.render(Camera(160, 120, 1.4), eyes[0], 0.7, channels=("depth",)).depth > 9.0
    floor = far & (np.arange(120) > 61)[:, None]
    assert floor.sum() > 500
    assert np.abs(one - two)[floor].mean() < 2.0


def test_the_texture_is_fixed_to_the_world():
    """What a pixel shows of the floor depends on the place, not on the camera: a turned view has the same colors."""
    raster = Rasterizer(meadow("tile"), appearance=EVEN)
    camera = Camera(65, 65, 0.8)
    views = raster.render_many(camera, [(0.2, 0.1, 1.5)] * 2, [0.0, math.pi / 2], -math.pi / 2, channels=("rgb",)).rgb
    turned = np.rot90(views[1], 1)
    assert np.abs(views[0].astype(int) - turned.astype(int)).mean() < 1.0


def test_daylight_comes_from_the_window_and_lamplight_from_the_lamp():
    mesh = two_rooms()
    camera = Camera(32, 32, 1.0)
    means = {}
    for mood in ("day", "lamps"):
        raster = Rasterizer(mesh, appearance=Appearance(textures=False, mood=mood))
        for name, place in (("by the window", (-1.5, 0, 1.5)), ("dark room", (5.5, 0.7, 1.5))):
            means[mood, name] = raster.render(camera, place, 0.0, -math.pi / 2, channels=("rgb",)).rgb.mean()
    # In a room without windows the lamp is on by day, too, but daylight is brighter.
    assert means["day", "by the window"] > 1.2 * means["day", "dark room"]
    assert means["lamps", "dark room"] > 1.5 * means["lamps", "by the window"]


def test_corners_are_darker_than_the_middle_of_a_wall():
    raster = Rasterizer(two_rooms(), appearance=Appearance(textures=False))
    rgb = raster.render(Camera(121, 61, 1.9), (0, 0, 1.25), -math.pi / 2, channels=("rgb",)).rgb.astype(float).mean(2)
    wall = rgb[28:33]
    assert wall[:, 55:66].mean() > wall[:, :4].mean() or wall[:, 55:66].mean() > wall[:, -4:].mean()


def test_a_pane_shows_what_is_outside_by_direction_alone():
    mesh = two_rooms()
    raster = Rasterizer(mesh, appearance=Appearance())
    camera = Camera(64, 64, 0.6)
    near, far = (raster.render(camera, (x, 0, 1.5), math.pi) for x in (-1.6, -1.2))
    pane = (near.instances == 4) & (far.instances == 4)
    assert pane.sum() > 1000
    assert np.array_equal(near.rgb[pane], far.rgb[pane])
    assert near.rgb[pane].std() > 5


def test_the_sky_is_behind_everything():
    raster = Rasterizer(meadow("grass"), appearance=Appearance())
    frame = raster.render(Camera(64, 64, 1.2), (0, 0, 1.5), 0.4, 0.5)
    sky = ~np.isfinite(frame.depth)
    assert sky[:20].all()
    assert (frame.rgb[sky][:, 2] > 120).mean() > 0.9
    assert (frame.classes[sky] == 0).all()


def test_randomization_changes_colors_and_repeats():
    one, again, two = (draw(two_rooms(), Appearance(mood="flat", randomize=seed)).rgb for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert np.abs(one.astype(int) - two.astype(int)).mean() > 3


def test_faces_without_area_and_empty_meshes_render():
    mesh = meadow()
    thin = replace(
        mesh,
        faces=np.concatenate([mesh.faces, [(0, 0, 1)]]).astype(np.int32),
        **{name: np.concatenate([getattr(mesh, name), getattr(mesh, name)[:1]])
           for name in ("classes", "instances", "colors", "materials")},
    )  # fmt: skip
    draw(thin, Appearance())
    nothing = Mesh.from_triangles(np.zeros((0, 3)), np.zeros((0, 3), np.int32))
    frame = Rasterizer(nothing, appearance=Appearance()).render(CAMERA, (0, 0, 0), 0.0)
    assert not np.isfinite(frame.depth).any()


@pytest.mark.parametrize(("options", "message"), [({"mood": "noon"}, "got 'noon'"), ({"randomize": -1}, "≥ 0")])
def test_a_wrong_appearance_is_explained(options, message):
    with pytest.raises(BadArgument, match=message):
        Appearance(**options)


DARK_ROOM, DUSKY_ROOM, NIGHT = 50.0, 30.0, 15.0  # mean luminance of the views in a room or garden, of 255


@pytest.mark.parametrize("index", [3, 7, 14])
@pytest.mark.parametrize(("mood", "least"), [("day", DARK_ROOM), ("evening", DUSKY_ROOM), ("lamps", NIGHT)])
def test_every_room_is_bright_enough_to_see(index, mood, least):
    house = build_house(0, index)
    raster, camera = Rasterizer(house.mesh, appearance=APPEARANCES[mood]), Camera(48, 36, math.pi / 2)
    eyes = np.array([(*room.outline.mean(axis=0), room.floor + 1.5) for room in house.plan.rooms])
    headings = np.tile(np.arange(4) * (math.pi / 2), len(eyes))
    views = raster.render_many(camera, np.repeat(eyes, 4, axis=0), headings, -0.1, channels=("rgb",)).rgb
    luminance = (views @ np.array([0.3, 0.59, 0.11])).reshape(len(eyes), -1).mean(axis=1)
    assert luminance.min() > least


def test_by_day_lamps_are_on_only_in_rooms_without_windows():
    mesh = boxes(
        ((-3, -2, 0), (3, 2, 2.5), "wall", -1, (200, 190, 180), "plaster"),
        ((3.2, -2, 0), (8, 2, 2.5), "wall", -2, (200, 190, 180), "plaster"),
        ((-2.99, -1, 0.8), (-2.98, 1, 2.0), "window", 4, (176, 208, 232), "glass"),
        ((-0.1, -0.1, 1.9), (0.1, 0.1, 2.1), "lighting", 5, (200, 200, 200), "plain"),
        ((5.4, -0.1, 1.9), (5.6, 0.1, 2.1), "lighting", 6, (200, 200, 200), "plain"),
    )
    raster, camera = Rasterizer(mesh, appearance=Appearance(textures=False)), Camera(32, 32, 0.3)
    by_window, alone = (raster.render(camera, (x, 0, 1.0), 0.0, math.pi / 2) for x in (0.0, 5.5))
    assert by_window.instances[16, 16] == 5
    assert alone.instances[16, 16] == 6
    assert (alone.rgb[16, 16] >= (200, 180, 150)).all()  # glows by itself
    assert by_window.rgb[16, 16].max() < 190


@pytest.mark.parametrize("text", ["dawn", "", "day:", "day:x", "day:-1", "day:7:8", ":7"])
def test_an_unknown_appearance_is_explained(text):
    with pytest.raises(
        BadArgument, match="An appearance is one of flat, day, evening, lamps, or one of them with a seed"
    ):
        parse_appearance(text)
