"""Scans against a ray that goes from cell to cell, on each storey, and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.rendering.camera import Camera
from itinera.simulators.pointnav.episodes import EpisodeList
from itinera.simulators.pointnav.house_set import PointNavHouses
from itinera.simulators.pointnav.sensors import DepthSensor, ScanSensor
from itinera.simulators.pointnav.vectorized import VectorizedPointNav
from itinera.tasks import Episode, Instruction
from itinera.worlds import Pose, World
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room, storeys

MESHES = {
    "empty": room(6, 4),
    "boxes": room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8)), ((4.5, 0, 0), (4.7, 2.5, 2)), ((1, 3.5, 0), (1.3, 3.8, 0.2))]),
    "stairs": storeys(),
}
WORLDS = {name: World(name, Surface.from_mesh(mesh, **ROBOT), mesh=mesh) for name, mesh in MESHES.items()}
GOALS = {
    "empty": np.array([[1.0, 1.0, 0.0]]),
    "boxes": np.array([[1.0, 1.0, 0.0]]),
    "stairs": np.array([[1.0, 2.0, 0.0]]),
}
HOUSES = PointNavHouses.load(WORLDS, GOALS, scan=True, depth=True)
OPEN = {name: Surface.from_mesh(mesh, radius=1e-6, height=1.5).ground for name, mesh in MESHES.items()}


def observe(name, places, headings, **sensors):
    """The first observations at these poses."""
    episodes = [
        Episode(str(k), name, Pose(np.array(place), heading), GOALS[name], (), Instruction(""))
        for k, (place, heading) in enumerate(zip(places, headings, strict=True))
    ]
    stage = VectorizedPointNav(HOUSES, EpisodeList(HOUSES, episodes), len(episodes), **sensors)
    return stage.reset(), stage


def scan(name, place, heading, **options):
    return observe(name, [place], [heading], scan=ScanSensor(**options))[0]["scan"][0]


def test_a_ray_ends_at_the_wall_ahead():
    for heading, metres in ((0.0, 5.0), (math.pi / 2, 3.0), (math.pi, 1.0), (-math.pi / 2, 1.0)):
        assert scan("empty", (1.0, 1.0, 0.0), heading, rays=1)[0] == pytest.approx(metres, abs=0.051)


def test_rays_go_from_right_to_left():
    assert ScanSensor(4, math.pi).angles == pytest.approx(np.array([-3, -1, 1, 3]) * math.pi / 8)
    right, *_, left = scan("empty", (3.0, 1.0, 0.0), 0.0, rays=9, fov=math.pi * 9 / 8)
    assert right == pytest.approx(1.0, abs=0.051)
    assert left == pytest.approx(3.0, abs=0.051)


def test_what_a_robot_climbs_does_not_end_a_ray_and_the_range_does():
    assert scan("boxes", (0.5, 3.65, 0.0), 0.0, rays=1)[0] > 5.0  # over a box of 0.2 m
    assert scan("boxes", (0.5, 2.0, 0.0), 0.0, rays=1)[0] == pytest.approx(1.5, abs=0.051)
    assert scan("boxes", (0.5, 2.0, 0.0), 0.0, rays=1, max_range=1.0)[0] == 1.0


def test_storeys_do_not_see_each_other():
    below, above = (scan("stairs", (4.0, 2.0, z), 0.0, rays=32, fov=math.tau) for z in (0.0, 2.7))
    assert below[16:] == pytest.approx(above[16:], abs=0.11)  # the walls to the left
    # To the right, the side of the stairs from below; from above the last steps, which one can go down.
    assert below[8:12].max() < 1.35
    assert above[11] == pytest.approx(2.5, abs=0.1)
    ahead = scan("stairs", (1.0, 0.5, 0.0), 0.0, rays=1)[0]
    assert 3.2 < ahead < 4.3  # up the stairs, to where the floor above begins to hide their end
    # From the lower half of the stairs down to the wall, from the upper half to their foot.
    assert scan("stairs", (2.9, 0.5, 0.8), math.pi, rays=1)[0] == pytest.approx(2.9, abs=0.06)
    assert scan("stairs", (4.1, 0.5, 1.9), math.pi, rays=1)[0] == pytest.approx(2.1, abs=0.2)


def slow_ray(name, ground, cell, u, v, du, dv, most):
    """The distance to the first border that no link crosses, from cell to cell, in cells."""
    t, i, j = 0.0, math.floor(u), math.floor(v)
    while t < most:
        next_u = ((i + 1 - u) / du if du > 0 else (i - u) / du) if du else math.inf
        next_v = ((j + 1 - v) / dv if dv > 0 else (j - v) / dv) if dv else math.inf
        t = min(next_u, next_v)
        side = (0 if du > 0 else 2) if next_u < next_v else (1 if dv > 0 else 3)
        cell = int(ground.links[cell, side])
        if cell < 0:
            break
        i, j = i + (side == 0) - (side == 2), j + (side == 1) - (side == 3)
    return min(t, most)


@pytest.mark.parametrize("name", ["empty", "boxes"])
def test_scans_equal_those_of_rays_from_cell_to_cell(name):
    rng, ground, sensor = np.random.default_rng(2), OPEN[name], ScanSensor(24, math.tau)
    places, headings = WORLDS[name].space.sample(rng, 40), rng.uniform(-3.0, 3.0, size=40)
    scans = observe(name, places, headings, scan=sensor)[0]["scan"]
    spots = (places[:, :2] - ground.origin) / ground.size
    for place, heading, (u, v), found in zip(places, headings, spots, scans, strict=True):
        column = math.floor(u) + ground.shape[0] * math.floor(v)
        cells = range(ground.starts[column], ground.starts[column + 1])
        cell = min(cells, key=lambda n: abs(ground.heights[n] - place[2]))
        for angle, metres in zip(heading + sensor.angles, found, strict=True):
            ray = slow_ray(name, ground, cell, u, v, math.cos(angle), math.sin(angle), 10.0 / ground.size)
            assert metres == pytest.approx(ray * ground.size, abs=1e-4)


@given(st.floats(0.3, 5.7), st.floats(0.3, 3.7), st.floats(-9.0, 9.0), st.floats(-1.0, 1.0))
def test_turning_the_robot_turns_its_scan(x, y, heading, turn):
    sensor = {"rays": 16, "fov": math.tau}
    one = scan("empty", (x, y, 0.0), heading, **sensor)
    other = scan("empty", (x, y, 0.0), heading + math.tau / 16, **sensor)
    np.testing.assert_allclose(np.roll(one, -1), other, atol=0.11)
    assert (one > 0.09).all()  # the robot has a radius
    assert scan("empty", (x, y, 0.0), heading + turn, rays=1)[0] <= math.hypot(6, 4) + 0.1


def test_pooled_depth_is_the_least_of_each_block_and_clipped():
    places, headings = WORLDS["boxes"].space.sample(np.random.default_rng(1), 5), np.linspace(-3.0, 3.0, 5)
    camera = Camera(32, 24, math.radians(90))
    plain, stage = observe("boxes", places, headings, depth=DepthSensor(camera, max_range=2.0))
    pooled, _ = observe("boxes", places, headings, depth=DepthSensor(camera, pool=(6, 8), max_range=2.0))
    assert plain["depth"].shape == (5, 24, 32)
    assert plain["depth"].max() == 2.0
    blocks = plain["depth"].reshape(5, 4, 6, 4, 8).min(axis=(2, 4))
    np.testing.assert_array_equal(pooled["depth"], blocks)
    frame = HOUSES.rasters[1].render(camera, stage.positions[2] + (0, 0, 1.25), headings[2], channels=("depth",))
    np.testing.assert_array_equal(plain["depth"][2], np.minimum(frame.depth, 2.0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ScanSensor(0), "rays must be at least 1"),
        (lambda: ScanSensor(8, 7.0), "fov must be above 0 and at most"),
        (lambda: ScanSensor(8, 1.0, 0.0), "max_range above 0"),
        (lambda: DepthSensor(pool=(3, 1)), "pool must divide the rows and columns of 64 x 64 pixels"),
        (lambda: DepthSensor(pool=(0, 1)), "pool must divide"),
    ],
)
def test_sensors_that_cannot_be_are_refused(make, message):
    with pytest.raises(BadArgument, match=message):
        make()
