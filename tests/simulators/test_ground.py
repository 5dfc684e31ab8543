"""Walking on the ground: a playthrough worked by hand, and the laws of every walk."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.planners.motion.geodesic_follower import follow_geodesic
from itinera.simulators.ground import GroundSimulator
from itinera.tasks import PROTOCOLS
from itinera.worlds import Euclidean, Pose, World
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room, storeys

MESH = room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8))])
HALL = World("hall", Surface.from_mesh(MESH, **ROBOT), mesh=MESH)
STAIRS = World("stairs", Surface.from_mesh(storeys(), **ROBOT))
CELL = 0.05
STOP, FORWARD, LEFT, RIGHT, UP, DOWN = range(6)

quick = settings(max_examples=25, deadline=None)


def at(x: float, y: float, heading_deg: float = 0.0) -> Pose:
    return Pose(np.array([x, y, 0.0]), math.radians(heading_deg))


def test_a_playthrough_worked_by_hand():
    # 1 m before the box, facing it; its side is at x = 2, so the robot's middle comes to 1.9.
    walk = GroundSimulator(turn=math.radians(30), sliding=False)
    shown = [walk.reset(HALL, at(1.2, 2.0))]
    shown += [walk.step(action) for action in (FORWARD, FORWARD, FORWARD, FORWARD, LEFT, LEFT, LEFT, FORWARD, STOP)]
    x = [1.2, 1.45, 1.7, 1.9, 1.9, 1.9, 1.9, 1.9, 1.9, 1.9]
    y = [2.0] * 8 + [2.25] * 2
    np.testing.assert_allclose([o.place[:2] for o in shown], np.column_stack([x, y]), atol=CELL / 2)
    np.testing.assert_allclose([o.place for o in shown[:3]], [(1.2, 2, 0), (1.45, 2, 0), (1.7, 2, 0)], atol=1e-7)
    assert [round(math.degrees(o.heading)) for o in shown] == [0] * 5 + [30, 60, 90, 90, 90]
    assert [o.collided for o in shown] == [False] * 3 + [True] * 2 + [False] * 5
    assert [o.time for o in shown] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 8]
    assert walk.pose.place.tolist() == shown[-1].place.tolist()
    assert (walk.actions, shown[0].world_id, shown[0].frame) == (4, "hall", None)


def test_sliding_goes_on_along_the_wall():
    stuck, slid = (GroundSimulator(sliding=sliding) for sliding in (False, True))
    for walk in (stuck, slid):
        walk.reset(HALL, at(1.89, 1.5, 45))
    np.testing.assert_allclose(stuck.step(FORWARD).place[:2], (1.9, 1.5), atol=CELL)
    seen = slid.step(FORWARD)
    np.testing.assert_allclose(seen.place[:2], (1.9, 1.5 + 0.25 * math.sin(math.pi / 4)), atol=CELL)
    assert seen.collided


@quick
@given(st.integers(0, 10**6), st.lists(st.sampled_from([1, 1, 1, 2, 3]), max_size=60), st.booleans())
@pytest.mark.parametrize("world", [HALL, STAIRS], ids=lambda world: world.id)
def test_nobody_leaves_the_surface_nor_goes_farther_than_a_step(world, seed, actions, sliding):
    rng = np.random.default_rng(seed)
    start = Pose(world.space.sample(rng, 1)[0], float(rng.uniform(-9, 9)))
    walk = GroundSimulator(sliding=sliding)
    shown = [walk.reset(world, start), *map(walk.step, actions)]
    places = np.array([o.place for o in shown])
    np.testing.assert_allclose(world.space.locate(places), places, atol=1e-9)
    gone = np.linalg.norm(np.diff(places[:, :2], axis=0), axis=1)
    assert (gone <= 0.25 + 0.01 * CELL).all()
    forward = np.array(actions) == FORWARD
    assert not gone[~forward].any()
    clear = forward & ~np.array([o.collided for o in shown[1:]], dtype=bool)
    np.testing.assert_allclose(gone[clear], 0.25, atol=1e-7)
    assert all(-math.pi < o.heading <= math.pi for o in shown)


@pytest.mark.parametrize(("name", "turns"), [("r2r-ce", 24), ("rxr-ce", 12), ("pointnav", 36)])
def test_a_full_turn_comes_back_to_the_last_bit(name, turns):
    walk = GroundSimulator.for_protocol(PROTOCOLS[name])
    first = walk.reset(HALL, at(1, 1, 17))
    for action in (LEFT, RIGHT):
        headings = [walk.step(action).heading for _ in range(turns)]
        assert headings[-1] == first.heading
        assert len(set(headings)) == turns


def test_turns_that_never_close_go_on():
    walk = GroundSimulator(turn=1.0)
    walk.reset(HALL, at(1, 1))
    headings = [walk.step(LEFT).heading for _ in range(8)]
    np.testing.assert_allclose(headings, [math.remainder(k, math.tau) for k in range(1, 9)], atol=1e-12)


def test_equal_walks_are_equal():
    actions = np.random.default_rng(3).integers(0, 4, size=300).tolist()
    walk, other = GroundSimulator(), GroundSimulator()
    walks = [[body.reset(HALL, at(1, 1, 40)), *map(body.step, actions)] for body in (walk, other, walk)]
    told = [[(*o.place, o.heading, o.collided, o.time) for o in shown] for shown in walks]
    assert told[0] == told[1] == told[2]


@pytest.mark.parametrize("world", [HALL, STAIRS], ids=lambda world: world.id)
@pytest.mark.parametrize("sliding", [True, False])
def test_the_followers_actions_lead_where_it_foresaw(world, sliding):
    start, goal = world.space.sample(np.random.default_rng(5), 2)
    trail = follow_geodesic(world.space, Pose(start, 0.3), goal, sliding=sliding)
    walk = GroundSimulator(sliding=sliding)
    shown = [walk.reset(world, Pose(start, 0.3)), *map(walk.step, trail.actions[:-1].tolist())]
    np.testing.assert_allclose([o.place for o in shown], trail.positions, atol=1e-6)
    np.testing.assert_allclose([o.heading for o in shown], trail.headings, atol=1e-9)


def test_stairs_are_climbed():
    walk = GroundSimulator()
    seen = walk.reset(STAIRS, at(1.0, 0.5))
    for _ in range(20):
        seen = walk.step(FORWARD)
    assert seen.place[2] == pytest.approx(2.7, abs=0.01)


def test_a_view_tilts_up_and_down_to_the_zenith():
    walk = GroundSimulator.for_protocol(PROTOCOLS["rxr-ce"])
    walk.reset(HALL, at(1, 1))
    tilted = [walk.step(action).elevation for action in (UP, DOWN, DOWN, UP, UP, UP, UP, UP)]
    np.testing.assert_allclose(np.degrees(tilted), [30, 0, -30, 0, 30, 60, 90, 90], atol=1e-9)
    assert (walk.actions, walk.pose.elevation) == (6, math.pi / 2)


@pytest.mark.parametrize("action", [4, -1, 9])
def test_an_unknown_action_is_refused(action):
    walk = GroundSimulator()
    walk.reset(HALL, at(1, 1))
    with pytest.raises(BadArgument, match=f"action must be 0 to 3, not {action}"):
        walk.step(action)


def test_impossible_starts_and_steps_are_refused():
    walk = GroundSimulator()
    with pytest.raises(BadArgument, match="call reset first"):
        walk.step(FORWARD)
    with pytest.raises(BadArgument, match="call reset first"):
        _ = walk.pose
    with pytest.raises(BadArgument, match="has no surface"):
        walk.reset(World("open", Euclidean()), at(1, 1))
    with pytest.raises(BadArgument, match="not the node a"):
        walk.reset(HALL, Pose("a"))
    with pytest.raises(BadArgument, match="must be finite"):
        walk.reset(HALL, at(1, 1, math.nan))
    with pytest.raises(BadArgument, match="is not walkable"):
        walk.reset(HALL, at(50, 1))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"step": 0.0}, "above 0 m"), ({"turn": 7.0}, "turn must be"), ({"tilt": -1.0}, "tilt must be")],
)
def test_bodies_that_cannot_be_are_refused(options, message):
    with pytest.raises(BadArgument, match=message):
        GroundSimulator(**options)


def test_a_protocol_of_graphs_has_no_body():
    with pytest.raises(BadArgument, match="Protocol r2r has no step size and turn angle"):
        GroundSimulator.for_protocol(PROTOCOLS["r2r"])
