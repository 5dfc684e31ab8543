"""One agent's mapper: equal to the batched maps, in each of the three lifetimes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.mapping.config import MapConfig, MapLifetime
from itinera.mapping.egocentric_map import EgocentricMaps, SemanticMaps
from itinera.mapping.known_map import known_map
from itinera.mapping.labels import paper_labels, paper_table
from itinera.mapping.mapper import EgocentricMapper
from itinera.rendering.camera import Camera
from itinera.seeding import generator
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.simulator import Observation
from itinera.worlds import Pose
from mapping.test_egocentric_map import EYE, HALL, LIFT, STAIRS

WORLDS = {"hall": HALL, "stairs": STAIRS}
CAMERA = Camera(64, 64, math.pi / 2)


def walk(name: str, steps: int, seed: int = 0) -> Iterator[Observation]:
    """The observations of random actions."""
    rng = generator(seed, "walk", name)
    simulator = GroundSimulator(camera=CameraSensor(CAMERA, channels=("depth", "classes")))
    yield simulator.reset(WORLDS[name], Pose(WORLDS[name].space.sample(rng, 1)[0], rng.uniform(-math.pi, math.pi)))
    for _ in range(steps):
        yield simulator.step(int(rng.integers(1, 4)))


def update(mapper: EgocentricMapper, seen: Observation, *, guided: bool = False) -> EgocentricMaps:
    return mapper.update(seen.world_id, seen.place, seen.heading, seen.frame.depth, seen.frame.classes, guided=guided)


def assert_equal(a: EgocentricMaps, b: EgocentricMaps) -> None:
    np.testing.assert_array_equal(a.occupancy, b.occupancy)
    np.testing.assert_array_equal(a.labels, b.labels)


@pytest.mark.parametrize("variant", ["columns", "released"])
def test_the_mapper_equals_the_batched_maps(variant):
    config = MapConfig(variant=variant)
    mapper, maps = EgocentricMapper(WORLDS, CAMERA, config=config), SemanticMaps([HALL, STAIRS])
    walks = [list(walk(name, 8)) for name in WORLDS]
    for lane, observations in enumerate(walks):
        mapper.reset()
        mapper.start_episode()
        for seen in observations:
            found = update(mapper, seen)
            eye = seen.place + LIFT
            depth, classes = seen.frame.depth[None], seen.frame.classes[None]
            maps.insert(depth, classes, eye, seen.heading, CAMERA, [lane], table=paper_table())
            assert mapper.held is found
            if variant == "columns":
                assert_equal(found, maps.read(eye, seen.heading, [lane]))
        assert found.occupancy.any()


def test_an_episodic_map_holds_one_episode_and_an_iterative_one_the_tour():
    first, second = list(walk("hall", 6, seed=1)), list(walk("hall", 6, seed=3))
    both = {lifetime: EgocentricMapper(WORLDS, CAMERA, lifetime=lifetime) for lifetime in MapLifetime}
    alone = EgocentricMapper(WORLDS, CAMERA)
    for mapper in both.values():
        mapper.reset()
        mapper.start_episode()
        for seen in first:
            update(mapper, seen)
        mapper.start_episode()
    for seen in second:
        expected = update(alone, seen)
        held = {lifetime: update(mapper, seen) for lifetime, mapper in both.items()}
        assert_equal(held[MapLifetime.EPISODIC], expected)
    iterative = held[MapLifetime.ITERATIVE].occupancy
    assert (iterative >= held[MapLifetime.EPISODIC].occupancy).all()
    assert iterative.sum() > held[MapLifetime.EPISODIC].occupancy.sum()
    # A new tour forgets everything.
    both[MapLifetime.ITERATIVE].reset()
    assert both[MapLifetime.ITERATIVE].held is None
    both[MapLifetime.ITERATIVE].start_episode()
    alone.start_episode()
    for seen in first:
        assert_equal(update(both[MapLifetime.ITERATIVE], seen), update(alone, seen))


def test_guided_steps_enter_an_iterative_map_and_leave_nothing_in_an_episodic_one():
    guided, acted = list(walk("hall", 5, seed=3)), list(walk("hall", 5, seed=4))
    episodic, iterative, alone = (
        EgocentricMapper(WORLDS, CAMERA, lifetime=lifetime)
        for lifetime in (MapLifetime.EPISODIC, MapLifetime.ITERATIVE, MapLifetime.EPISODIC)
    )
    for mapper in (episodic, iterative):
        mapper.reset()
        for seen in guided:
            held = update(mapper, seen, guided=True)
        mapper.start_episode()
    one = EgocentricMapper(WORLDS, CAMERA)
    one.reset()
    last = guided[-1]
    episodic.reset()
    for seen in guided:
        held = update(episodic, seen, guided=True)
    assert_equal(held, update(one, last))
    episodic.start_episode()
    for seen in acted:
        assert_equal(update(episodic, seen), update(alone, seen))
    for seen in acted:
        more = update(iterative, seen)
    assert more.occupancy.sum() > alone.held.occupancy.sum()


def test_a_known_map_is_that_of_the_mesh_whatever_is_observed():
    mapper, maps = EgocentricMapper(WORLDS, CAMERA, lifetime=MapLifetime.KNOWN), SemanticMaps([HALL])
    maps.load([0], [known_map(HALL)])
    mapper.reset()
    for seen in walk("hall", 5):
        assert_equal(update(mapper, seen), maps.read(seen.place + LIFT, seen.heading))
    mapper.start_episode()
    assert_equal(update(mapper, seen), maps.read(seen.place + LIFT, seen.heading))


def test_a_worlds_map_is_made_anew_when_the_world_changes():
    mapper = EgocentricMapper(WORLDS, CAMERA, lifetime=MapLifetime.ITERATIVE)
    mapper.reset()
    here, there = next(walk("hall", 0)), next(walk("stairs", 0))
    first = update(mapper, here)
    update(mapper, there)
    assert_equal(update(mapper, here), first)
    with pytest.raises(BadArgument, match="World attic is not among"):
        mapper.update("attic", here.place, 0.0, here.frame.depth, here.frame.classes)


def test_a_map_of_instances_tells_which_object_is_where():
    camera = CameraSensor(CAMERA, channels=("depth", "instances"))
    simulator = GroundSimulator(camera=camera)
    seen = simulator.reset(HALL, Pose(np.array([1.0, 2.0, 0.0]), 0.0))
    for lifetime in MapLifetime:
        mapper = EgocentricMapper(WORLDS, CAMERA, lifetime=lifetime, instances=True)
        held = mapper.update(seen.world_id, seen.place, seen.heading, seen.frame.depth, seen.frame.instances)
        assert held.legend == ()
        assert set(np.unique(held.labels).tolist()) == {0, 1}  # the boxes of the hall are one instance
    assert (
        EgocentricMapper(WORLDS, CAMERA).update("hall", seen.place, 0.0, seen.frame.depth, seen.frame.instances).legend
    )


def test_labels_of_a_segmentation_enter_as_they_are():
    mapper, other = EgocentricMapper(WORLDS, CAMERA), EgocentricMapper(WORLDS, CAMERA)
    for seen in walk("hall", 4):
        labels = paper_labels(seen.frame.classes)
        found = mapper.update(seen.world_id, seen.place, seen.heading, seen.frame.depth, labels, classes=False)
        assert_equal(found, update(other, seen))
    assert found.labels.any()
    assert mapper.config.camera_height == EYE
