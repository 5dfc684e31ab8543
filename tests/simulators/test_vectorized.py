"""Many bodies at once: each moves, sees and is led as if it were alone, bit by bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.hearth.ground import ground_world
from itinera.planners.motion.geodesic_follower import follow_geodesic
from itinera.records import Phase
from itinera.rendering.camera import Camera, blank_frames
from itinera.runs.tour_loop import TourLoop
from itinera.simulators._vectorized_kernels import round_unit, wrap
from itinera.simulators.ground import GroundSimulator, wrap_angle
from itinera.simulators.motion import Motion
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.unicycle import UnicycleSimulator, point_turn, unicycle_6, unicycle_15
from itinera.simulators.vectorized import VectorizedGround
from itinera.tasks import PROTOCOLS
from itinera.tasks.protocol import IVLN_CE
from itinera.worlds import Euclidean, Pose, World
from itinera.worlds.lazy import LazyMapping
from itinera.worlds.surface import Surface
from text_worlds import episode, quick
from worlds.rooms import ROBOT, room, storeys

BOXES = room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8)), ((4.5, 0, 0), (4.7, 2.5, 2))])
STAIRS = storeys()


def make_world(name):
    if name == "hearth":
        return ground_world(1, 1, id=name, **ROBOT)  # three storeys
    mesh = STAIRS if name == "stairs" else BOXES
    return World(name, Surface.from_mesh(mesh, **ROBOT), mesh=mesh)


NAMES = "boxes", "stairs", "hearth"
WORLDS = LazyMapping(NAMES, make_world)
BODIES = 12
CAMERA = CameraSensor(Camera(40, 32, math.radians(90)), elevation=-0.1)
STOP, FORWARD, LEFT, RIGHT = range(4)


def make_starts(rng, count=BODIES):
    """World ids, one after the other, and poses anywhere in them."""
    ids = [NAMES[k % len(NAMES)] for k in range(count)]
    return ids, [draw_pose(rng, world_id) for world_id in ids]


def draw_pose(rng, world_id):
    return Pose(
        WORLDS[world_id].space.sample(rng, 1, island=None)[0], float(rng.uniform(-9, 9)), rng.uniform(-0.3, 0.3)
    )


def assert_same(stage, observations):
    np.testing.assert_array_equal(stage.positions, [seen.place for seen in observations])
    np.testing.assert_array_equal(stage.headings, [seen.heading for seen in observations])
    np.testing.assert_array_equal(stage.elevations, [seen.elevation for seen in observations])
    assert stage.collided.tolist() == [seen.collided for seen in observations]
    assert [stage.observation(k).time for k in range(len(observations))] == [seen.time for seen in observations]


STEPS = [Motion.steps(), Motion.steps(0.3, math.radians(7)), Motion.steps(0.25, math.radians(30))]  # 7: never closes
SPEEDS = [point_turn(), unicycle_6(), unicycle_15(vmax=0.4)]


@pytest.mark.parametrize("sliding", [True, False])
@pytest.mark.parametrize("motion", STEPS, ids=["15", "7", "30"])
def test_steps_and_turns_equal_those_of_the_ground_simulator(motion, sliding):
    step, turn = motion.step_and_turn
    walk_as_one_by_one(motion, sliding, lambda: GroundSimulator(step=step, turn=turn, sliding=sliding))


@pytest.mark.parametrize("sliding", [True, False])
@pytest.mark.parametrize("speeds", SPEEDS, ids=["point-turn", "unicycle-6", "unicycle-15"])
def test_speeds_equal_those_of_the_unicycle_simulator(speeds, sliding):
    motion = Motion.speeds(speeds, hold=1.5)
    walk_as_one_by_one(motion, sliding, lambda: UnicycleSimulator(speeds, hold=1.5, sliding=sliding))


def walk_as_one_by_one(motion, sliding, make_simulator, steps=250):
    rng = np.random.default_rng(7)
    stage, bodies = (
        VectorizedGround(WORLDS, BODIES, motion=motion, sliding=sliding),
        [make_simulator() for _ in range(BODIES)],
    )
    ids, poses = make_starts(rng)
    stage.reset(range(BODIES), ids, poses)
    seen = [body.reset(WORLDS[i], pose) for body, i, pose in zip(bodies, ids, poses, strict=True)]
    assert_same(stage, seen)
    weights = np.array([0.05, 0.55, 0.2, 0.2]) if len(motion) == 4 else None
    hits = 0
    for step in range(steps):
        if step % 50 == 49:  # some begin anew while the others go on
            again = [int(k) for k in rng.choice(BODIES, size=3, replace=False)]
            fresh = [draw_pose(rng, NAMES[k % 3]) for k in range(3)]
            stage.reset(again, NAMES, fresh)
            for k, world_id, pose in zip(again, NAMES, fresh, strict=True):
                seen[k] = bodies[k].reset(WORLDS[world_id], pose)
        actions = rng.choice(len(motion), size=BODIES, p=weights)
        collided = stage.step(actions)
        seen = [body.step(int(action)) for body, action in zip(bodies, actions, strict=True)]
        assert_same(stage, seen)
        hits += collided.sum()
    assert 0 < hits < BODIES * steps


def test_only_the_bodies_of_an_index_move():
    stage, (ids, poses) = VectorizedGround(WORLDS, BODIES), make_starts(np.random.default_rng(1))
    stage.reset(range(BODIES), ids, poses)
    before = stage.positions, stage.headings
    assert stage.step([LEFT, FORWARD], [5, 2]).shape == (2,)
    moved = (stage.positions != before[0]).any(axis=1) | (stage.headings != before[1])
    assert np.flatnonzero(moved).tolist() == [2, 5]
    assert stage.world_ids == tuple(ids)
    assert stage.world_index.tolist() == [k % 3 for k in range(BODIES)]


@pytest.mark.parametrize("channels", [("depth",), ("depth", "classes"), ("rgb", "instances")])
def test_frames_equal_those_of_the_ground_simulator(channels):
    sensor = CameraSensor(CAMERA.camera, elevation=CAMERA.elevation, channels=channels)
    stage, body = VectorizedGround(WORLDS, BODIES, camera=sensor), GroundSimulator(camera=sensor)
    ids, poses = make_starts(np.random.default_rng(3))
    stage.reset(range(BODIES), ids, poses)
    expected = [body.reset(WORLDS[i], pose).frame for i, pose in zip(ids, poses, strict=True)]
    index = [4, 5, 0, 3, 9, 9]
    for frames, rows in ((stage.render(), range(BODIES)), (stage.render(index), index)):
        for k, row in enumerate(rows):
            for found, wanted in zip(frames[k].channels, expected[row].channels, strict=True):
                np.testing.assert_array_equal(found, wanted)
    buffer = blank_frames(sensor.camera, BODIES, sensor.channels)
    assert stage.render(out=buffer) is buffer
    np.testing.assert_array_equal(stage.camera_positions - stage.positions, [[0, 0, 1.25]] * BODIES)


@pytest.mark.parametrize("sliding", [True, False])
def test_labels_equal_what_the_geodesic_follower_does_on_and_off_the_path(sliding):
    rng = np.random.default_rng(11)
    stage, (ids, poses) = VectorizedGround(WORLDS, BODIES, sliding=sliding), make_starts(rng)
    goals = [WORLDS[i].space.sample(rng, 1)[0] for i in ids]
    goals[3] = goals[0]
    fields = [WORLDS[i].space.field(goal[None]) for i, goal in zip(ids, goals, strict=True)]
    stage.reset(range(BODIES), ids, poses)
    stage.set_goals(range(BODIES), goals)
    met = set()
    for step in range(60):
        labels = stage.expert(0.5)
        for k in range(BODIES) if step % 3 == 0 else ():
            pose = Pose(stage.positions[k], stage.headings[k])
            trail = follow_geodesic(WORLDS[ids[k]].space, pose, fields[k], radius=0.5, sliding=sliding)
            turns = trail.actions[: int(np.argmax(trail.actions < LEFT))]
            assert labels.actions[k] == trail.actions[0]
            assert labels.bearings[k] == (turns == LEFT).sum() - (turns == RIGHT).sum()
            assert labels.distances[k] == fields[k].distances(pose.place[None])[0]
            met.add(int(labels.actions[k]))
        strays = rng.random(BODIES) < (0.6 if step < 30 else 0.1)
        stage.step(np.where(strays, rng.integers(1, 4, size=BODIES), labels.actions))
    assert met == {STOP, FORWARD, LEFT, RIGHT}


def test_an_expert_gives_up_where_no_way_leads():
    walled = storeys(stairs=False)
    stage = VectorizedGround({"apart": World("apart", Surface.from_mesh(walled, **ROBOT))}, 2)
    stage.reset([0, 1], ["apart"] * 2, [Pose(np.array([1.0, 2.0, 0.0]))] * 2)
    stage.set_goals([0, 1], [np.array([6.0, 3.0, 2.7]), np.array([1.0, 3.0, 0.0])])
    labels = stage.expert(0.25)
    assert labels.actions.tolist() == [STOP, LEFT]
    assert labels.distances.tolist() == [np.inf, pytest.approx(1.0)]


def test_a_tour_on_a_body_of_the_stage_is_the_tour_on_a_simulator():
    rng = np.random.default_rng(5)
    stage = VectorizedGround.for_protocol(IVLN_CE, WORLDS, 4)
    for k, world_id in enumerate(("stairs", "hearth")):
        world = WORLDS[world_id]
        places = world.space.sample(rng, 6)
        episodes = [
            episode(str(j), np.stack([a, b]), world_id=world_id, start=Pose(a, 0.5 * j))
            for j, (a, b) in enumerate(zip(places[::2], places[1::2], strict=True))
        ]
        found = [
            take_tour(TourLoop(simulator, world, episodes, protocol=IVLN_CE))
            for simulator in (stage.body(k), GroundSimulator.for_protocol(IVLN_CE))
        ]
        assert len(found[0]) == len(found[1]) == 3
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one.places, other.places)
            for name in ("headings", "actions", "collided", "times"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
            assert (one.phases, one.ending, one.notes) == (other.phases, other.ending, other.notes)
        assert any(one.phases is not None for one in found[0])


def take_tour(loop):
    rng = np.random.default_rng(2)
    loop.reset()
    while not loop.done:
        if loop.phase is Phase.ACTING:
            loop.act(int(rng.choice(4, p=[0.1, 0.5, 0.2, 0.2])))
        else:
            loop.guide()
    return loop.trajectories


def test_houses_and_fields_are_kept_within_bounds_and_made_when_needed():
    made = []

    def make(world_id):
        made.append(world_id)
        return WORLDS[world_id]

    stage = VectorizedGround(LazyMapping(NAMES, make, cache_size=1), 2, camera=CAMERA, houses=1, fields=1)
    assert made == []
    rng = np.random.default_rng(0)
    poses = {name: draw_pose(rng, name) for name in NAMES}
    stage.reset([0, 1], ["boxes", "boxes"], [poses["boxes"]] * 2)
    assert made == ["boxes"]
    stage.reset([1], ["stairs"], [poses["stairs"]])
    stage.reset([1], ["stairs"], [poses["stairs"]])
    assert made == ["boxes", "stairs"]
    stage.step([FORWARD, FORWARD])  # the house in use is there, though forgotten
    assert stage.render().depth.shape == (2, 32, 40)
    stage.reset([1], ["boxes"], [poses["boxes"]])
    assert made == ["boxes", "stairs", "boxes"]


@quick
@given(st.floats(-1, 1))
@example(5e-13)
@example(0.9999999999995)
@example(-0.5000000000005)
def test_unit_vectors_are_rounded_as_python_does(value):
    assert round_unit(value) == round(value, 12)


@quick
@given(st.floats(-1e6, 1e6) | st.integers(-20, 20).map(lambda k: k * math.pi))
def test_angles_are_wrapped_as_python_does(angle):
    assert wrap(angle) == wrap_angle(angle)


def test_a_motion_of_a_protocol():
    assert Motion.for_protocol(PROTOCOLS["pointnav"]).step_and_turn == (0.25, math.radians(10))
    assert len(VectorizedGround.for_protocol(PROTOCOLS["r2r-ce"], WORLDS, 1)._motion) == 4
    with pytest.raises(BadArgument, match="Protocol r2r has no step size"):
        Motion.for_protocol(PROTOCOLS["r2r"])
    with pytest.raises(BadArgument, match="rxr-ce tilts the camera"):
        Motion.for_protocol(PROTOCOLS["rxr-ce"])
    with pytest.raises(BadArgument, match="actions 1 to 3 to be forward, left and right"):
        _ = Motion.speeds(unicycle_15()).step_and_turn
    with pytest.raises(BadArgument, match="turn must be"):
        Motion.steps(turn=0.0)


def test_what_cannot_be_is_refused():
    start = Pose(np.array([1.0, 1.0, 0.0]))
    stage = VectorizedGround({"boxes": WORLDS["boxes"], "open": World("open", Euclidean())}, 2)
    with pytest.raises(BadArgument, match="num_envs must be at least 1"):
        VectorizedGround(WORLDS, 0)
    with pytest.raises(BadArgument, match="not panoramas"):
        VectorizedGround(WORLDS, 1, camera=CameraSensor(CAMERA.camera, panorama=True))
    with pytest.raises(BadArgument, match="Body 0 is nowhere: call reset first"):
        stage.step([FORWARD, FORWARD])
    with pytest.raises(BadArgument, match="as many worlds and poses, not 1 and 2"):
        stage.reset([0, 1], ["boxes"], [start] * 2)
    with pytest.raises(BadArgument, match="World open has no surface"):
        stage.reset([0], ["open"], [start])
    with pytest.raises(BadArgument, match="is not walkable"):
        stage.reset([0], ["boxes"], [Pose(np.array([50.0, 1.0, 0.0]))])
    stage.reset([0, 1], ["boxes"] * 2, [start] * 2)
    with pytest.raises(BadArgument, match="action must be 0 to 3, not 4"):
        stage.step([FORWARD, 4])
    with pytest.raises(BadArgument, match=r"2 bodies need \(2,\) integer actions"):
        stage.step([FORWARD])
    for index in ([2], [-1], [True, False], [[0, 1]]):
        with pytest.raises(BadArgument, match="a list of bodies, 0 to 1, not"):
            stage.step([FORWARD, FORWARD], index)
    with pytest.raises(BadArgument, match="There is no camera"):
        stage.render()
    stage.set_goals([0], [start.place])
    with pytest.raises(BadArgument, match="Body 1 has no goal: call set_goals"):
        stage.expert(0.5)
    with pytest.raises(BadArgument, match="2 bodies need as many goals, not 1"):
        stage.set_goals([0, 1], [start.place])
    with pytest.raises(BadArgument, match="World bare has no mesh"):
        VectorizedGround({"bare": World("bare", WORLDS["boxes"].space)}, 1, camera=CAMERA).reset([0], ["bare"], [start])
