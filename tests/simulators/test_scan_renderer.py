"""Scans of a simulator with one robot: distances by hand, the same as those of a stage, and messages."""

import math
from dataclasses import replace

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.simulators.factory import apply_drive, make_simulator
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.pointnav.episodes import EpisodeList
from itinera.simulators.pointnav.house_set import PointNavHouses, episode_goals
from itinera.simulators.pointnav.sensors import ScanSensor
from itinera.simulators.pointnav.vectorized import VectorizedPointNav
from itinera.tasks import Episode, Instruction
from itinera.tasks.protocol import POINTNAV
from itinera.worlds import Pose, World
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room, storeys

MESHES = {"boxes": room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8))]), "stairs": storeys()}
WORLDS = {name: World(name, Surface.from_mesh(mesh, **ROBOT), mesh=mesh) for name, mesh in MESHES.items()}
CELL = 0.1  # metres: two cells of the ground


def test_rays_end_at_walls_and_furniture_and_at_the_maximum_range():
    sensor = ScanSensor(4, math.tau, 3.5)  # at 225, 315, 45 and 135 degrees to the left
    simulator = GroundSimulator(scan=sensor, turn=math.radians(45))
    first = simulator.reset(WORLDS["boxes"], Pose(np.array([1.0, 2.0, 0.0]), math.pi / 4))
    # To the left, behind, to the right, ahead: wall y = 4, wall x = 0, wall y = 0 and the table at x = 2.
    ahead, left, behind, right = first.scan[1], first.scan[2], first.scan[3], first.scan[0]
    assert [ahead, left, behind, right] == pytest.approx([1.0, 2.0, 1.0, 2.0], abs=CELL)
    turned = simulator.step(2)
    assert turned.scan[2] == pytest.approx(math.sqrt(2), abs=CELL)  # now to the back left corner
    far = simulator.reset(WORLDS["boxes"], Pose(np.array([1.0, 3.6, 0.0]), math.pi / 4))
    assert far.scan[1] == pytest.approx(3.5)


@pytest.mark.parametrize("drive", [None, "unicycle-6"])
def test_scans_are_those_of_a_stage(drive):
    protocol = replace(POINTNAV, step_limit=30, robot_radius=ROBOT["radius"])
    protocol = apply_drive(protocol, drive, wmax=None if drive is None else math.radians(30))
    starts = {"boxes": ((1.0, 2.0, 0.0), (4.0, 2.0, 0.0)), "stairs": ((1.5, 0.5, 0.0), (6.0, 0.5, 2.7))}
    episodes = [
        Episode(name, name, Pose(np.array(start), 0.3), np.array([goal]), (), Instruction.to_point([goal]))
        for name, (start, goal) in starts.items()
    ]
    sensor = ScanSensor(16, math.radians(200))
    houses = PointNavHouses.load(WORLDS, episode_goals(episodes), scan=True)
    stage = VectorizedPointNav.for_protocol(protocol, houses, EpisodeList(houses, episodes), 2, scan=sensor)
    simulators = [make_simulator(protocol, scan=sensor) for _ in episodes]
    seen = stage.reset()
    alone = [one.reset(WORLDS[e.world_id], e.start) for one, e in zip(simulators, episodes, strict=True)]
    rng = np.random.default_rng(0)
    for _ in range(25):
        assert np.array_equal(seen["scan"], np.array([one.scan for one in alone]))
        actions = rng.integers(1, stage.num_actions, size=2)
        seen = stage.step(actions).observations
        alone = [one.step(int(action)) for one, action in zip(simulators, actions, strict=True)]


def test_a_world_without_a_mesh_cannot_be_scanned():
    bare = World("bare", WORLDS["boxes"].space)
    with pytest.raises(BadArgument, match="bare has no mesh to scan"):
        GroundSimulator(scan=ScanSensor()).reset(bare, Pose(np.array([1.0, 2.0, 0.0])))


def test_without_a_sensor_there_is_no_scan():
    assert GroundSimulator().reset(WORLDS["boxes"], Pose(np.array([1.0, 2.0, 0.0]))).scan is None
