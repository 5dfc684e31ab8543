"""The rasteriser against a slow twin that tries every face for every pixel, and against Embree where that is there."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from itinera.errors import BadArgument
from itinera.hearth.build import build_house
from itinera.hearth.geometry.solids import Solids
from itinera.rendering._rasterizer_kernels import HEADLIGHT, draw_views
from itinera.rendering.camera import CHANNELS, Camera, Frame, blank_frames
from itinera.rendering.rasterizer import AMBIENT, SUN, Rasterizer
from itinera.seeding import generator
from itinera.worlds.mesh import Mesh

SQUARE = Camera(16, 16, math.pi / 2)  # eight pixels to the metre, one metre away


def rays(camera, heading, elevation):
    """(h * w, 3) the direction through each pixel, one long along the optical axis."""
    forward = np.array(
        [math.cos(elevation) * math.cos(heading), math.cos(elevation) * math.sin(heading), math.sin(elevation)]
    )
    right = np.array([math.sin(heading), -math.cos(heading), 0.0])
    up = np.cross(right, forward)
    half = math.tan(camera.fov / 2)
    x = (2 * (np.arange(camera.width) + 0.5) / camera.width - 1) * half
    y = (1 - 2 * (np.arange(camera.height) + 0.5) / camera.height) * half * camera.height / camera.width
    return (forward + x[None, :, None] * right + y[:, None, None] * up).reshape(-1, 3)


def twin(mesh, camera, position, heading, elevation=0.0):
    """Depth and face of each pixel by trying every face, and whether it is clear: not on the edge of any face."""
    directions = rays(camera, heading, elevation)
    corners = mesh.corners.astype(np.float64) - np.asarray(position, dtype=np.float64)
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    # The ray is on the inner side of the three planes through the eye and an edge.
    sides = np.stack([directions @ np.cross(q, p).T for p, q in ((a, b), (b, c), (c, a))])
    sides /= np.maximum(np.linalg.norm(np.stack([np.cross(q, p) for p, q in ((a, b), (b, c), (c, a))]), axis=2), 1e-12)[
        :, None
    ]
    normals = np.cross(b - a, c - a)
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = np.einsum("fi,fi->f", normals, a) / (directions @ normals.T)
    inside = (sides > 0).all(axis=0) & (depth >= camera.near) & (depth <= camera.far)
    depth = np.where(inside & (directions @ normals.T < 0), depth, np.inf)
    face = np.where(np.isfinite(depth.min(axis=1)), depth.argmin(axis=1), -1)
    clear = (np.abs(sides).min(axis=(0, 2)) > 1e-6) & (np.abs(depth.min(axis=1) - camera.near) > 1e-6)
    shape = camera.height, camera.width
    return depth.min(axis=1).reshape(shape), face.reshape(shape), clear.reshape(shape)


def soup(rng, count, size=0.6, reach=4.0):
    """Triangles every which way, each a thing of its own."""
    middles = rng.uniform(-reach, reach, (count, 1, 3))
    corners = middles + rng.normal(0, size, (count, 3, 3))
    return Mesh(
        corners.reshape(-1, 3),
        np.arange(3 * count).reshape(-1, 3),
        rng.integers(0, 41, count),
        np.arange(1, count + 1),
        rng.integers(0, 256, (count, 3)),
    )


def room(pillars=6):
    """A room 6 x 4 x 2.5 m, seen from inside, with a bench in it and round pillars."""
    solids = Solids()
    solids.box((-3, -2, 0), (3, 2, 2.5), "wall", 0, (200, 190, 180))
    outside = solids.mesh()
    solids = Solids()
    solids.box((0.5, 0.5, 0.001), (1.5, 1.2, 0.45), "seating", 1, (180, 40, 40))
    turn = np.linspace(0, 2 * math.pi, 13)[:-1]
    for k in range(pillars):
        x, y = -2.5 + k, (-1.5, 1.6)[k % 2]
        base = np.column_stack([x + 0.15 * np.cos(turn), y + 0.15 * np.sin(turn)])
        solids.prism(base, 0.001, 2.4, "column", k + 2, (90, 120, 160))
    things = solids.mesh()
    return Mesh(
        np.concatenate([outside.vertices, things.vertices]),
        np.concatenate([outside.faces[:, ::-1], things.faces + len(outside.vertices)]),
        np.concatenate([outside.classes, things.classes]),
        np.concatenate([outside.instances, things.instances]),
        np.concatenate([outside.colors, things.colors]),
    )


def board(points, triangles=None):
    """A flat board one metre ahead of an eye at the origin that looks along +x; points are (right, up)."""
    points = np.asarray(points, dtype=np.float64)
    vertices = np.column_stack([np.ones(len(points)), -points[:, 0], points[:, 1]])
    if triangles is None:
        triangles = Delaunay(points).simplices
    a, b, c = (points[np.asarray(triangles)[:, k]] for k in range(3))
    turned = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0]) < 0
    return Mesh.from_triangles(vertices, np.where(turned[:, None], np.asarray(triangles)[:, ::-1], triangles))


def same(a: Frame, b: Frame) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in CHANNELS)


@pytest.mark.parametrize("shape", [(24, 16), (17, 31), (8, 8), (3, 5)])
@pytest.mark.parametrize("seed", range(4))
def test_every_pixel_shows_the_nearest_face_that_looks_at_the_eye(shape, seed):
    rng = generator(seed, "soup", str(shape))
    mesh = soup(rng, 400)
    camera = Camera(*shape, rng.uniform(0.5, 1.4), near=0.2, far=6.0)
    heading, elevation = rng.uniform(-math.pi, math.pi), rng.uniform(-1.5, 1.5)
    frame = Rasterizer(mesh).render(camera, (0.1, 0.2, 0.3), heading, elevation)
    depth, face, clear = twin(mesh, camera, (0.1, 0.2, 0.3), heading, elevation)
    assert clear.mean() > 0.9
    assert np.array_equal(np.isinf(frame.depth[clear]), np.isinf(depth[clear]))
    assert frame.depth[clear] == pytest.approx(depth[clear], rel=1e-4)
    assert np.array_equal(frame.instances[clear], np.where(face < 0, 0, mesh.instances[face])[clear])
    assert np.array_equal(frame.classes[clear], np.where(face < 0, 0, mesh.classes[face])[clear])
    assert not frame.rgb[np.isinf(frame.depth)].any()


@pytest.mark.parametrize("seed", range(6))
def test_faces_close_enough_to_be_cut_are_drawn_right(seed):
    rng = generator(seed, "close")
    mesh = soup(rng, 60, size=2.0, reach=0.5)
    camera = Camera(20, 20, 1.9, near=0.05, far=20.0)
    frame = Rasterizer(mesh).render(camera, (0, 0, 0), 0.3 * seed, 0.2)
    depth, face, clear = twin(mesh, camera, (0, 0, 0), 0.3 * seed, 0.2)
    assert np.array_equal(frame.instances[clear], np.where(face < 0, 0, mesh.instances[face])[clear])
    assert frame.depth[clear] == pytest.approx(depth[clear], rel=1e-3)


def test_a_closed_room_has_no_holes():
    rng = generator(0, "room")
    raster, camera = Rasterizer(room()), Camera(61, 45, 1.7)
    eyes = rng.uniform((-2.9, -1.9, 0.05), (2.9, 1.9, 2.4), (200, 3))
    frames = raster.render_many(camera, eyes, rng.uniform(-4, 4, 200), rng.uniform(-1.5, 1.5, 200))
    assert np.isfinite(frames.depth).all()


@settings(max_examples=60)
@given(st.sets(st.tuples(st.integers(-24, 24), st.integers(-24, 24)), min_size=1, max_size=12))
def test_faces_side_by_side_leave_no_pixel_out_and_draw_none_twice(points):
    corners = {(-30, -30), (30, -30), (30, 30), (-30, 30)}
    # Sixteenths of a metre are half pixels: many corners and edges run through the centres of pixels.
    whole = board(np.array(sorted(points | corners)) / 16)
    covered = np.zeros((16, 16), dtype=int)
    for face in range(len(whole.faces)):
        alone = Mesh.from_triangles(whole.vertices, whole.faces[face : face + 1])
        covered += np.isfinite(Rasterizer(alone).render(SQUARE, (0, 0, 0), 0.0).depth)
    assert (covered == 1).all()


def test_pixels_are_where_the_camera_says():
    # A pixel's square, from its left upper corner to the right lower one, for row 3, column 12.
    left, right, top, bottom = (12 - 8) / 8, (13 - 8) / 8, (8 - 3) / 8, (8 - 4) / 8
    mesh = board([(left, bottom), (right, bottom), (right, top), (left, top)])
    depth = Rasterizer(mesh).render(SQUARE, (0, 0, 0), 0.0).depth
    assert np.argwhere(np.isfinite(depth)).tolist() == [[3, 12]]
    assert depth[3, 12] == pytest.approx(1.0, rel=1e-6)


def test_headings_run_counter_clockwise_and_elevations_up():
    mesh = Mesh.from_triangles(np.array([(0, 5, 2), (2, 5, 5), (-2, 5, 5)]), [(0, 1, 2)])
    raster, towards = Rasterizer(mesh), math.atan2(4, 5)
    seen = {
        (heading, elevation): np.isfinite(raster.render(SQUARE, (0, 0, 0), heading, elevation).depth[7:9, 7:9]).any()
        for heading in (math.pi / 2, -math.pi / 2)
        for elevation in (towards, -towards)
    }
    assert [key for key, found in seen.items() if found] == [(math.pi / 2, towards)]


def test_depth_is_measured_along_the_optical_axis():
    depth = Rasterizer(board([(-9, -9), (9, -9), (9, 9), (-9, 9)])).render(SQUARE, (0, 0, 0), 0.0).depth
    assert depth == pytest.approx(np.ones((16, 16)), rel=1e-6)


def test_nothing_shows_before_near_nor_behind_far_nor_from_behind():
    mesh = board([(-9, -9), (9, -9), (9, 9), (-9, 9)])
    raster = Rasterizer(mesh)

    def anything(camera, position=(0, 0, 0), heading=0.0):
        return np.isfinite(raster.render(camera, position, heading).depth).any()

    assert anything(Camera(16, 16, 1.5, near=0.99, far=1.01))
    assert not anything(Camera(16, 16, 1.5, near=1.01))
    assert not anything(Camera(16, 16, 1.5, far=0.99))
    assert not anything(SQUARE, position=(2, 0, 0), heading=math.pi)
    assert not anything(SQUARE, heading=math.pi)


def test_many_views_are_the_single_ones_and_a_canvas_is_left_clean():
    rng = generator(2, "many")
    mesh, camera = room(), Camera(30, 21, 1.4)
    eyes, headings = rng.uniform((-2.5, -1.5, 0.5), (2.5, 1.5, 2), (9, 3)), rng.uniform(-4, 4, 9)
    raster = Rasterizer(mesh)
    many = raster.render_many(camera, eyes, headings, 0.1)
    for k in range(9):
        assert same(many[k], Rasterizer(mesh).render(camera, eyes[k], headings[k], 0.1))
    again = raster.render_many(camera, eyes, headings, 0.1, out=blank_frames(camera, 9))
    assert same(many, again)


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_channel_alone_is_the_same_and_the_others_stay_away(channel):
    raster = Rasterizer(room())
    whole = raster.render(SQUARE, (0, 0, 1.5), 0.4)
    alone = raster.render(SQUARE, (0, 0, 1.5), 0.4, channels=(channel,))
    for name in CHANNELS:
        if name == channel:
            assert np.array_equal(getattr(whole, name), getattr(alone, name))
        else:
            assert len(getattr(alone, name)) == 0


def test_kernels_are_compiled_for_depth_alone_and_for_all_else():
    raster, position = Rasterizer(room()), np.array([0.0, 0.0, 1.5])
    position.flags.writeable = False
    raster.render(Camera(np.int32(16), 16, np.float32(1), near=1, far=9), position, 0, 0)
    raster.render_many(SQUARE, np.zeros((3, 6), dtype=np.float32)[:, ::2], np.zeros(3, dtype=int))
    raster.render_top_down((0, 0, 1, 1), low=0, high=1)
    raster.render(SQUARE, position, 0, 0, channels=("depth",))
    raster.render(SQUARE, position, 0, 0, channels=("depth", "classes"))
    flat = [types for types in draw_views.signatures if "surfaces" not in str(types).lower()]
    assert len(flat) == 2  # depth alone has a version of its own


def test_threads_may_share_a_raster():
    raster, camera = Rasterizer(room()), Camera(48, 48, 1.5)
    headings = np.linspace(0, 6, 40)
    wanted = [raster.render(camera, (0, 0, 1.5), heading) for heading in headings]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda heading: raster.render(camera, (0, 0, 1.5), heading), headings))
    assert all(map(same, wanted, found))


def test_an_order_of_faces_changes_nothing():
    rng = generator(3, "order")
    mesh = soup(rng, 300)
    order = rng.permutation(300)
    mixed = Mesh(mesh.vertices, mesh.faces[order], mesh.classes[order], mesh.instances[order], mesh.colors[order])
    camera = Camera(40, 30, 1.2)
    assert same(Rasterizer(mesh).render(camera, (0, 0, 0), 1.0), Rasterizer(mixed).render(camera, (0, 0, 0), 1.0))


def test_a_place_keeps_its_brightness_when_the_eye_turns():
    raster, camera = Rasterizer(room(0)), Camera(81, 81, math.pi / 2)
    for turn in (0.2, 0.5, -0.6):
        ahead = raster.render(camera, (0, 0, 1.2), turn).rgb[40, 40].astype(int)
        column = round(40.5 + 40.5 * math.tan(turn) - 0.5)
        aside = raster.render(camera, (0, 0, 1.2), 0.0).rgb[40, 80 - column].astype(int)
        assert np.abs(ahead - aside).max() <= 2


def test_colours_are_never_brighter_than_painted_and_faces_differ_by_the_way_they_look():
    frame = Rasterizer(room()).render(Camera(64, 48, 1.5), (0, 0, 1.5), 0.6, -0.3)
    painted = {0: (200, 190, 180), 1: (180, 40, 40)}
    for instance, color in painted.items():
        seen = frame.rgb[frame.instances == instance]
        assert (seen <= color).all()
        assert (seen.max(axis=0) > 0.6 * np.array(color)).all()
        assert len(np.unique(seen[:, 0])) > 5


def test_all_light_together_is_no_more_than_there_is():
    assert AMBIENT + math.hypot(*SUN) + HEADLIGHT <= 256  # brighter colours would run over into their neighbours


def test_a_mesh_without_faces_and_faces_without_area_show_nothing():
    flat = Mesh.from_triangles(np.array([(1, 0, 0), (1, 1, 0), (1, 2, 0)]), [(0, 1, 2)])
    for mesh in (flat, Mesh.from_triangles(np.empty((0, 3)), np.empty((0, 3), dtype=np.int32))):
        frame = Rasterizer(mesh).render(SQUARE, (0, 0, 0), 0.0)
        assert np.isinf(frame.depth).all()
        assert not frame.rgb.any()


def test_a_plan_shows_what_is_between_two_heights():
    plan = Rasterizer(room()).render_top_down((-4, -3, 4, 3), low=-0.1, high=1.0, pixel=0.05)
    assert plan.rgb.shape == (120, 160, 3)

    def at(x, y):
        row, column = int((3 - y) / 0.05), int((x + 4) / 0.05)
        return plan.instances[row, column], plan.depth[row, column]

    assert at(0.02, 0.02) == (0, pytest.approx(1.0, abs=1e-3))  # the floor, not the ceiling
    assert at(1.02, 0.82) == (1, pytest.approx(0.55, abs=1e-3))
    assert at(3.52, 0.02) == (0, math.inf)
    assert at(-2.48, -1.52)[1] > 0.99  # inside a pillar cut at one metre there is only the floor


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: Camera(0, 4, 1.0), "at least one pixel; got 0 x 4"),
        (lambda: Camera(4, 4, 1.0, near=0.0), "0 < near < far; got near 0.0 m"),
        (lambda: Camera(4, 4, 1.0, near=2.0, far=1.0), "got near 2.0 m and far 1.0 m"),
        (lambda: Camera(4, 4, math.radians(130)), "at most 120 degrees; got 130 x 130"),
        (lambda: Camera(4, 40, 1.0), "at most 120 degrees; got 57.3 x 159.3. Combine several"),
        (lambda: Rasterizer(room()).render(SQUARE, (0, 0, math.nan), 0.0), "not finite"),
        (lambda: Rasterizer(room()).render(SQUARE, (0, 0, 1), math.inf), "not finite"),
        (lambda: Rasterizer(room()).render(SQUARE, (0, 0, 1), 0.0, channels=("colour",)), "rgb, depth, .* got colour"),
        (lambda: Rasterizer(room()).render_many(SQUARE, np.zeros((3, 3)), [0, 1]), "3 positions need 3 headings"),
        (
            lambda: Rasterizer(room()).render_many(SQUARE, np.zeros((3, 3)), 0, out=blank_frames(SQUARE, 2)),
            r"3 views of 16 x 16 pixels do not fit into \(2, 16, 16, 3\)",
        ),
        (lambda: Rasterizer(room()).render_top_down((0, 0, 0, 1), low=0, high=1), "x0 < x1"),
    ],
)
def test_wrong_arguments_are_told(wrong, told):
    with pytest.raises(BadArgument, match=told):
        wrong()


def embree(mesh, camera, position, heading, elevation):
    """Depth and face of each pixel by Embree, which sees both sides: it gets the faces that face the camera only.

    Casting on behind the back of a face would miss a front in the same plane, as where two boards touch.
    """
    scene = pytest.importorskip("embreex.rtcore_scene").EmbreeScene()
    corners = mesh.corners.astype(np.float64)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    fronts = np.flatnonzero(np.einsum("fi,fi->f", normals, np.asarray(position) - corners[:, 0]) > 0)
    pytest.importorskip("embreex.mesh_construction").TriangleMesh(scene, mesh.vertices, mesh.faces[fronts])
    directions = rays(camera, heading, elevation)
    starts = np.asarray(position) + camera.near * directions
    met = scene.run(starts.astype(np.float32), directions.astype(np.float32), query="INTERSECT", output=1)
    hit = met["primID"] >= 0
    depth, face = np.where(hit, camera.near + met["tfar"], np.inf), np.where(hit, fronts[met["primID"]], -1)
    return depth.reshape(camera.height, camera.width), face.reshape(camera.height, camera.width)


def test_a_house_looks_as_embree_sees_it():
    house = build_house(0, 0)
    mesh, camera, rng = house.mesh, Camera(64, 64, math.pi / 2), generator(0, "embree")
    raster, right, labelled = Rasterizer(mesh), 0, 0
    for _ in range(100):
        place = house.plan.rooms[rng.integers(len(house.plan.rooms))]
        middle = place.outline.mean(axis=0) + rng.uniform(-0.5, 0.5, 2)
        eye = (*middle, place.floor + 1.5)
        heading, elevation = rng.uniform(-math.pi, math.pi), rng.uniform(-0.6, 0.4)
        frame = raster.render(camera, eye, heading, elevation)
        depth, face = embree(mesh, camera, eye, heading, elevation)
        both = np.isinf(depth) & np.isinf(frame.depth)
        with np.errstate(invalid="ignore"):
            right += (both | (np.abs(frame.depth - depth) <= 0.01)).sum()
        instances, classes = (np.where(face < 0, 0, a[face]) for a in (mesh.instances, mesh.classes))
        labelled += ((instances == frame.instances) & (classes == frame.classes)).sum()
    pixels = 100 * camera.width * camera.height
    assert right >= 0.9999 * pixels
    assert labelled >= 0.9999 * pixels
