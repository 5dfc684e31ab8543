"""Cameras on bodies: what is seen is what the world's mesh shows from there."""

from __future__ import annotations

import math

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.rendering.appearance import parse_appearance
from itinera.rendering.camera import Camera
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.unicycle import UnicycleSimulator
from itinera.worlds import Pose, World
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room

CAMERA = Camera(32, 24, math.radians(60))
MESH = room(6, 4)
HALL = World("hall", Surface.from_mesh(MESH, **ROBOT), mesh=MESH)
START = Pose(np.array([1.0, 2.0, 0.0]))


@pytest.mark.parametrize("body", [GroundSimulator, UnicycleSimulator])
def test_walking_towards_a_wall_brings_it_nearer_by_a_step(body):
    walk = body(camera=CameraSensor(CAMERA, channels=("depth",)))
    frames = [walk.reset(HALL, START).frame, walk.step(1).frame, walk.step(2).frame]
    assert [frame.depth.shape for frame in frames] == [(24, 32)] * 3
    assert len(frames[0].rgb) == 0
    assert frames[0].depth[12, 16] == pytest.approx(5.0, abs=1e-3)
    assert frames[1].depth[12, 16] == pytest.approx(4.75, abs=1e-3)
    assert frames[2].depth[12, 16] != pytest.approx(4.75, abs=1e-3)


def test_a_camera_is_mounted_at_its_height_and_tilts_with_the_view():
    low, high = (GroundSimulator(camera=CameraSensor(CAMERA, height=h), tilt=math.radians(30)) for h in (0.5, 1.25))
    floors = [walk.reset(HALL, START).frame.depth[-1, 16] for walk in (low, high)]
    assert floors[1] == pytest.approx(2.5 * floors[0], rel=1e-3)  # proportional to the height of the camera
    looking_down, tilted = high.step(5).frame, GroundSimulator(camera=CameraSensor(CAMERA, elevation=-math.radians(30)))
    np.testing.assert_array_equal(looking_down.depth, tilted.reset(HALL, START).frame.depth)


def test_a_panorama_has_36_views_that_do_not_turn_with_the_body():
    walk = GroundSimulator(camera=CameraSensor(CAMERA, panorama=True, channels=("depth",)))
    before = walk.reset(HALL, START).frame.depth
    assert before.shape == (36, 24, 32)
    np.testing.assert_array_equal(walk.step(2).frame.depth, before)
    # View 12 looks level along +y, 15 along +x.
    assert (before[12, 12, 16], before[15, 12, 16]) == pytest.approx((2.0, 5.0), abs=1e-3)


def test_views_around_the_body_turn_with_it():
    walk = GroundSimulator(camera=CameraSensor(CAMERA, around=4, channels=("depth",)))
    before = walk.reset(HALL, START).frame.depth
    assert before.shape == (4, 24, 32)
    # Ahead, to the left, behind, to the right.
    assert before[:, 12, 16] == pytest.approx([5.0, 2.0, 1.0, 2.0], abs=1e-3)
    ahead = GroundSimulator(camera=CameraSensor(CAMERA, channels=("depth",)))
    ahead.reset(HALL, START)
    for action in (2, 2, 1):
        turned, front = walk.step(action).frame.depth, ahead.step(action).frame.depth
    np.testing.assert_array_equal(turned[0], front)


def test_a_world_without_a_mesh_cannot_be_seen():
    with pytest.raises(BadArgument, match="World bare has no mesh"):
        GroundSimulator(camera=CameraSensor(CAMERA)).reset(World("bare", HALL.space), START)


def test_an_impossible_camera_is_refused():
    with pytest.raises(BadArgument, match="channels must be among rgb, depth, classes, instances, not smell"):
        CameraSensor(CAMERA, channels=("smell",))
    with pytest.raises(BadArgument, match="must be finite, not nan"):
        CameraSensor(CAMERA, height=math.nan)
    with pytest.raises(BadArgument, match="around must be at least 1"):
        CameraSensor(CAMERA, around=0)


def test_the_appearance_of_a_camera_changes_its_colors_alone():
    plain, day = (
        GroundSimulator(camera=CameraSensor(CAMERA, appearance=parse_appearance(name))).reset(HALL, START).frame
        for name in ("flat", "day")
    )
    assert not np.array_equal(plain.rgb, day.rgb)
    for channel in ("depth", "classes", "instances"):
        assert np.array_equal(getattr(plain, channel), getattr(day, channel))
