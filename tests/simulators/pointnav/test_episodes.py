"""Where episodes come from: drawn within their limits, listed each once, the same for every grouping of robots."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.simulators.motion import Motion
from itinera.simulators.pointnav.episodes import EpisodeList, TrainingStarts
from itinera.simulators.pointnav.house_set import PointNavHouses, episode_goals, sample_goals
from itinera.simulators.pointnav.sensors import DepthSensor, ScanSensor
from itinera.simulators.pointnav.vectorized import VectorizedPointNav
from itinera.simulators.unicycle import unicycle_6
from itinera.tasks import Episode, Instruction
from itinera.tasks.protocol import POINTNAV, R2R
from itinera.worlds import Pose, World
from itinera.worlds.surface import Surface
from text_worlds import STREET, graph
from worlds.rooms import ROBOT, room, storeys

WORLDS = {
    "room": World("room", Surface.from_mesh(room(9, 7, boxes=[((3, 0, 0), (3.4, 5, 2))]), **ROBOT)),
    "stairs": World("stairs", Surface.from_mesh(storeys(), **ROBOT)),
}
GOALS = sample_goals(WORLDS, 3, 7)
HOUSES = PointNavHouses.load(WORLDS, GOALS)


def place(start):
    ground = HOUSES.grounds[HOUSES.house[start.goal]]
    return np.array([*(np.array([start.u, start.v]) * ground.size + ground.origin), ground.heights[start.cell]])


@pytest.mark.parametrize(("least", "most"), [(1.0, 30.0), (0.5, 2.0), (4.0, 5.0)])
def test_starts_are_within_their_distance_and_on_the_floor_of_their_goal(least, most):
    source, rng = TrainingStarts(HOUSES, min_distance=least, max_distance=most), np.random.default_rng(0)
    drawn = [source.draw(rng, 0) for _ in range(200)]
    assert {start.goal for start in drawn} == set(range(6))
    for start in drawn[:15]:
        h = HOUSES.house[start.goal]
        surface, goal = WORLDS[HOUSES.world_ids[h]].space, HOUSES.goals[start.goal]
        distance = surface.field(goal[None]).distances(place(start)[None])[0]
        assert least - 0.06 <= distance <= most + 0.06  # on stairs a cell lies a little above or below its corner
        assert abs(place(start)[2] - goal[2]) <= 0.5
        assert -math.pi < start.heading <= math.pi


def test_step_limits_grow_with_the_distance():
    rng = np.random.default_rng(0)
    fixed = TrainingStarts(HOUSES, step_limit=77)
    assert {fixed.draw(rng, 0).step_limit for _ in range(20)} == {77}
    growing = TrainingStarts(HOUSES, min_distance=2.0, max_distance=2.1, steps_per_metre=10.0, base_steps=5)
    assert {growing.draw(rng, 0).step_limit for _ in range(20)} <= {25, 26}
    bounded = TrainingStarts(HOUSES, min_distance=2.0, step_limit=30, steps_per_metre=10.0, base_steps=20)
    assert {bounded.draw(rng, 0).step_limit for _ in range(20)} == {30}


def test_a_distance_that_no_start_has_is_named():
    source = TrainingStarts(HOUSES, min_distance=100.0, max_distance=200.0)
    with pytest.raises(BadArgument, match="No start lies 100 to 200 m from any"):
        source.draw(np.random.default_rng(0), 0)
    source.max_distance = 50.0
    with pytest.raises(BadArgument, match="min_distance < max_distance"):
        source.draw(np.random.default_rng(0), 0)


def make_stage(num_envs, **more):
    return VectorizedPointNav(HOUSES, TrainingStarts(HOUSES), num_envs, **{"seed": 3, "sliding": True} | more)


def test_what_a_robot_does_depends_on_its_number_and_not_on_how_many_there_are():
    few, many = make_stage(2), make_stage(5)
    few.reset()
    many.reset()
    rng = np.random.default_rng(1)
    for _ in range(120):
        actions = rng.choice(4, size=5, p=[0.1, 0.6, 0.15, 0.15])
        one, other = few.step(actions[:2]), many.step(actions)
        np.testing.assert_array_equal(few.positions, many.positions[:2])
        np.testing.assert_array_equal(few.headings, many.headings[:2])
        np.testing.assert_array_equal(one.rewards, other.rewards[:2])
    others = make_stage(2, seed=4)
    others.reset()
    assert (others.positions != few.positions).any()


def test_robots_count_from_the_first_and_a_reset_with_a_seed_begins_anew():
    several, last = make_stage(3), make_stage(1, first_env=2)
    np.testing.assert_array_equal(several.reset()["pointgoal"][2:], last.reset()["pointgoal"])
    first = several.reset(seed=9)["pointgoal"].copy()
    assert (several.reset()["pointgoal"] != first).any()
    np.testing.assert_array_equal(several.reset(seed=9)["pointgoal"], first)
    np.testing.assert_array_equal(make_stage(3, seed=9).reset()["pointgoal"], first)


def test_goals_are_a_function_of_the_seed_and_the_world():
    assert all(np.array_equal(sample_goals(WORLDS, 3, 7)[name], GOALS[name]) for name in WORLDS)
    alone = sample_goals({"stairs": WORLDS["stairs"]}, 3, 7)["stairs"]
    np.testing.assert_array_equal(alone, GOALS["stairs"])
    assert not np.array_equal(sample_goals(WORLDS, 3, 8)["room"], GOALS["room"])


def listed(count, world_id="room"):
    goals = GOALS[world_id]
    surface = WORLDS[world_id].space
    starts = surface.sample(np.random.default_rng(2), count)
    return [
        Episode(f"{world_id}-{k}", world_id, Pose(start, 0.1 * k), goals[k % 3 : k % 3 + 1], (), Instruction(""))
        for k, start in enumerate(starts)
    ]


@pytest.mark.parametrize("num_envs", [1, 3, 8])
def test_listed_episodes_run_exactly_once_and_robots_then_rest(num_envs):
    episodes = [*listed(4), *listed(3, "stairs")]
    source = EpisodeList(HOUSES, episodes, step_limit=5)
    assert len(source) == 7
    for _ in range(2):  # the second time after a rewind
        stage, ended, steps = VectorizedPointNav(HOUSES, source, num_envs), [], 0
        stage.reset()
        idle = False
        while not idle:
            step = stage.step(np.full(num_envs, 2 if steps % 3 else 1))
            ended += step.endings.episode_ids
            steps, idle = steps + 1, step.idle.all()
            assert (step.rewards[step.idle & ~step.truncated] == 0.0).all()
        assert sorted(ended) == sorted(episode.id for episode in episodes)
        assert steps == 5 * math.ceil(7 / num_envs)
        assert stage.step(np.ones(num_envs, np.int64)).endings.episode_ids == ()
        source.rewind()


def test_the_last_observation_of_an_ended_episode_is_kept():
    stage = VectorizedPointNav(
        HOUSES, EpisodeList(HOUSES, listed(2), step_limit=2), 1, motion=Motion.speeds(unicycle_6())
    )
    stage.reset()
    first = stage.step([4])
    before = first.observations["pointgoal"].copy()
    assert first.observations["velocity"][0] == pytest.approx([0.25, math.radians(10)], abs=1e-6)
    second = stage.step([2])
    assert second.truncated[0]
    assert not second.terminated[0]
    assert second.final_observations["velocity"][0] == pytest.approx([0.0, math.radians(10)], abs=1e-6)
    assert second.final_observations["pointgoal"][0, 1] == pytest.approx(before[0, 1] - math.radians(10), abs=1e-5)
    assert second.observations["velocity"].tolist() == [[0.0, 0.0]]
    assert second.observations["contact"].tolist() == [0.0]


def test_episodes_with_other_goals_or_none_are_refused():
    stranger = replace(listed(1)[0], goals=np.array([[1.0, 1.0, 0.0]]))
    with pytest.raises(BadArgument, match="was not loaded with the houses"):
        EpisodeList(HOUSES, [stranger])
    two = replace(stranger, goals=np.ones((2, 3)))
    for make in (lambda: EpisodeList(HOUSES, [two]), lambda: episode_goals([two])):
        with pytest.raises(BadArgument, match="has 2 goals; a stage needs episodes with one"):
            make()
    assert {name: len(goals) for name, goals in episode_goals(listed(5)).items()} == {"room": 3}


def test_a_stage_takes_the_rules_of_a_protocol():
    protocol = replace(POINTNAV, success_radius=50.0, sliding=True)
    stage = VectorizedPointNav.for_protocol(protocol, HOUSES, TrainingStarts(HOUSES), 1)
    stage.reset()
    assert stage.num_actions == 4
    assert stage.step([0]).endings.success[0]
    drive = VectorizedPointNav.for_protocol(replace(POINTNAV, drive="unicycle-15"), HOUSES, TrainingStarts(HOUSES), 1)
    assert drive.num_actions == 15


WRONG = {
    "robots": (lambda: make_stage(0), "num_envs must be at least 1"),
    "decay": (lambda: make_stage(1, decay_steps=0), "decay_steps must be"),
    "scan": (lambda: make_stage(1, scan=ScanSensor()), "load them with scan=True"),
    "depth": (lambda: make_stage(1, depth=DepthSensor()), "load them with depth=True"),
    "no mesh": (lambda: PointNavHouses.load(WORLDS, GOALS, scan=True), "has no mesh, which the sensors need"),
    "graph": (lambda: PointNavHouses.load({"a": World("a", graph(STREET))}, {"a": GOALS["room"]}), "has no surface"),
    "graph goals": (lambda: sample_goals({"a": World("a", graph(STREET))}, 1, 0), "has no surface"),
    "no goals": (lambda: PointNavHouses.load(WORLDS, {}), "at least one house with a goal"),
    "no limit": (lambda: TrainingStarts(HOUSES, step_limit=0), "step_limit must be"),
    "no listed limit": (lambda: EpisodeList(HOUSES, [], step_limit=0), "step_limit must be"),
    "protocol": (
        lambda: VectorizedPointNav.for_protocol(R2R, HOUSES, TrainingStarts(HOUSES), 1),
        "ends episodes without STOP",
    ),
    "shape": (lambda: make_stage(2).step([1]), r"2 robots need \(2,\) integer actions"),
    "floats": (lambda: make_stage(1).step([1.0]), "integer actions"),
    "action": (lambda: make_stage(1).step([4]), "action must be 0 to 3, not 4"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_is_refused(name):
    make, message = WRONG[name]
    with pytest.raises(BadArgument, match=message):
        make()
