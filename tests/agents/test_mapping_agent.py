"""`MappingAgent`: acts as another agent does, and its map in a run is the batched one."""

from __future__ import annotations

import math

import numpy as np
import pytest

import itinera
from itinera.agents.mapping_agent import MappingAgent
from itinera.mapping.config import MapLifetime
from itinera.mapping.egocentric_map import SemanticMaps
from itinera.mapping.labels import paper_table
from itinera.mapping.mapper import EgocentricMapper
from itinera.records import Ending, Phase
from itinera.rendering.camera import Camera
from itinera.rendering.rasterizer import Rasterizer
from itinera.simulators.sensors import CameraSensor
from itinera.tasks import Episode, Instruction, Split, Tour
from itinera.worlds import Pose, World
from itinera.worlds.surface import Surface
from worlds.rooms import room

MESH = room(8, 6, boxes=[((2, 1, 0), (3, 5, 1.8)), ((6, 1, 0), (7, 2, 0.8))])
WORLD = World("house", Surface.from_mesh(MESH, radius=0.1, height=1.5), mesh=MESH)
SENSOR = CameraSensor(Camera(32, 32, math.radians(90)), channels=("depth", "classes"))
LIFT = np.array([0.0, 0.0, SENSOR.height])


class Drifter:
    """Takes random actions and stops after ten."""

    def reset(self, rng):
        self.rng = rng

    def start_episode(self, instruction):
        self.left = 10

    def act(self, observation):
        self.left -= 1
        return int(self.rng.integers(1, 4)) if self.left >= 0 else 0

    def observe(self, observation):
        pass


def tour() -> Split:
    ends = [((1, 3, 0), (5, 3, 0)), ((5, 1, 0), (1, 5, 0)), ((4, 5, 0), (1, 1, 0))]
    episodes = tuple(
        Episode(
            str(k),
            "house",
            Pose(np.array(a, float), 0.0),
            np.array([b], float),
            np.array([a, b], float),
            Instruction("Go."),
        )
        for k, (a, b) in enumerate(ends)
    )
    return Split("drawn", episodes, (Tour("t", "house", ("0", "1", "2")),), protocol="r2r-ce")


@pytest.mark.parametrize("lifetime", list(MapLifetime)[:2])
def test_the_maps_of_a_run_are_those_of_the_batched_ones(lifetime):
    split, worlds = tour(), {"house": WORLD}
    mapper = EgocentricMapper(worlds, SENSOR.camera, lifetime=lifetime)
    ended = itinera.run(MappingAgent(Drifter(), mapper), split, worlds, camera=SENSOR, record="maps", seed=3)
    plain = itinera.run(Drifter(), split, worlds, seed=3)
    raster, maps = Rasterizer(MESH), SemanticMaps([WORLD])
    for trajectory, other in zip(ended, plain, strict=True):
        assert trajectory.ending is Ending.STOPPED
        np.testing.assert_array_equal(trajectory.places, other.places)
        if lifetime is MapLifetime.EPISODIC:
            maps.clear()
        occupancy, labels = trajectory.maps.decode()
        phases = trajectory.phases or [Phase.ACTING] * len(trajectory.places)
        for k, step in enumerate(trajectory.maps.steps):
            if lifetime is MapLifetime.EPISODIC and (
                phases[step] is not Phase.ACTING or (step and phases[step - 1] is not Phase.ACTING)
            ):
                maps.clear()
            eye, heading = trajectory.places[step] + LIFT, trajectory.headings[step]
            frame = raster.render(SENSOR.camera, eye, heading, channels=SENSOR.channels)
            maps.insert(frame.depth[None], frame.classes[None], eye, heading, SENSOR.camera, table=paper_table())
            expected = maps.read(eye, heading)[0]
            np.testing.assert_array_equal(occupancy[k], expected.occupancy)
            np.testing.assert_array_equal(labels[k], expected.labels)
    assert labels.any()


def test_a_wrong_camera_is_refused_in_words():
    mapper = EgocentricMapper({"house": WORLD}, Camera(16, 16, 1.0))
    split, worlds = tour(), {"house": WORLD}
    for options, expected in (({}, "give --camera"), ({"camera": SENSOR}, "16 x 16 pixels; got (32, 32)")):
        ended = itinera.run(MappingAgent(Drifter(), mapper), split, worlds, keep_going=True, **options)
        assert all(expected in trajectory.notes["failed"] for trajectory in ended)
