"""The stage of PointNav against the environment of one robot: the same poses, contacts, rewards and endings."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from itinera.gym import DecayingReward, PointNav, shaped_reward
from itinera.metrics.attempts import Attempts
from itinera.metrics.goal import spl, success
from itinera.simulators.motion import Motion
from itinera.simulators.pointnav.episodes import EpisodeList
from itinera.simulators.pointnav.house_set import PointNavHouses, episode_goals
from itinera.simulators.pointnav.vectorized import VectorizedPointNav
from itinera.simulators.unicycle import point_turn, unicycle_6, unicycle_15
from itinera.tasks import Episode, Instruction, Split
from itinera.tasks.protocol import POINTNAV
from itinera.worlds import Pose, Ragged, World
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room, storeys

BOXES = World("boxes", Surface.from_mesh(room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8))]), **ROBOT))
STAIRS = World("stairs", Surface.from_mesh(storeys(), **ROBOT))
WORLDS = {"boxes": BOXES, "stairs": STAIRS}
LIMIT = 80
PROTOCOL = replace(POINTNAV, step_limit=LIMIT, robot_radius=0.1)


def make_episode(name, world_id, start, heading, goal):
    return Episode(name, world_id, Pose(np.array(start), heading), np.array([goal]), (), Instruction(""))


def make_split():
    """Near goals, goals around corners and up the stairs, and random ones."""
    rng = np.random.default_rng(3)
    made = [
        ("boxes", (1.0, 2.0, 0.0), 0.0, (4.0, 2.0, 0.0)),
        ("boxes", (1.0, 3.5, 0.0), 0.3, (5.0, 3.5, 0.0)),
        ("boxes", (1.0, 3.5, 0.0), 0.3, (1.1, 3.5, 0.0)),
        ("stairs", (1.5, 0.5, 0.0), 0.05, (6.0, 0.5, 2.7)),
        ("stairs", (6.0, 0.5, 2.7), math.pi, (1.5, 0.5, 0.0)),
    ]
    for world_id, world in WORLDS.items():
        for _ in range(4):
            start, goal = world.space.sample(rng, 2)
            made.append((world_id, start, float(rng.uniform(-9.0, 9.0)), goal))
    episodes = [make_episode(str(k), *rest) for k, rest in enumerate(made)]
    return Split("drawn", tuple(episodes), protocol="pointnav")


SPLIT = make_split()
HOUSES = PointNavHouses.load(WORLDS, episode_goals(SPLIT.episodes))
SPEEDS = {
    "steps": None,
    "point-turn": point_turn(wmax=math.radians(30)),
    "unicycle-6": unicycle_6(wmax=math.radians(30)),
    "unicycle-15": unicycle_15(wmax=math.radians(30)),
}


def make_stage(speeds, sliding, num_envs=4, **options):
    options.setdefault("exact_lengths", True)
    motion = Motion.steps(0.25, math.radians(10)) if speeds is None else Motion.speeds(speeds)
    episodes = EpisodeList(HOUSES, SPLIT.episodes, step_limit=LIMIT)
    return VectorizedPointNav(HOUSES, episodes, num_envs, motion=motion, sliding=sliding, **options)


def choose(seen, rng, count):
    """Towards the goal most of the time; STOP at the goal and, rarely, elsewhere."""
    metres, bearing = seen["pointgoal"].T
    actions = np.where(np.abs(bearing) < 0.3, 1 if count < 15 else 10, np.where(bearing > 0, 2, 3))
    wandering = rng.random(len(metres)) < 0.4
    actions[wandering] = rng.integers(1, count, size=wandering.sum())
    actions[(metres < 0.15) | (rng.random(len(metres)) < 0.01)] = 0
    return actions


class Diary:
    """What became of one episode: a row for each action."""

    def __init__(self, seen, pose):
        self.seen, self.poses, self.rows = [seen], [pose], []
        self.ending = None


def drive(stage, seed=0):
    """The diaries of all episodes, by id."""
    rng, diaries = np.random.default_rng(seed), {}
    stage.reset()

    def poses():
        return [(place, heading) for place, heading in zip(stage.positions, stage.headings, strict=True)]

    def observed(k, seen):
        return {name: rows[k].copy() for name, rows in seen.items()}

    open_diaries = [Diary(observed(k, stage.observations), pose) for k, pose in enumerate(poses())]
    names = list(stage._episode_ids)
    while True:
        before = list(names)
        actions = choose(stage.observations, rng, stage.num_actions)
        step = stage.step(actions)
        ended = dict(zip(step.endings.index.tolist(), range(len(step.endings)), strict=True))
        for k, pose in enumerate(poses()):
            diary = open_diaries[k]
            if diary is None:
                assert step.rewards[k] == 0.0
                assert not step.terminated[k]
                continue
            row = ended.get(k)
            final = observed(k if row is None else row, step.observations if row is None else step.final_observations)
            diary.seen.append(final)
            diary.rows.append((int(actions[k]), step.rewards[k], bool(step.terminated[k]), bool(step.truncated[k])))
            if row is None:
                diary.poses.append(pose)
                continue
            diary.ending = {name: getattr(step.endings, name)[row] for name in vars(step.endings)}
            diaries[before[k]] = diary
            names = list(stage._episode_ids)
            open_diaries[k] = None if step.idle[k] else Diary(observed(k, step.observations), pose)
        if step.idle.all():
            return diaries


@pytest.mark.parametrize("sliding", [True, False])
@pytest.mark.parametrize("name", SPEEDS)
def test_every_action_equals_that_of_the_environment(name, sliding):
    stage = make_stage(SPEEDS[name], sliding)
    diaries = drive(stage)
    assert diaries.keys() == SPLIT.by_id.keys()  # each exactly once
    env = PointNav(SPLIT, WORLDS, protocol=replace(PROTOCOL, sliding=sliding), speeds=SPEEDS[name], camera=None)
    ends, hits = [], 0
    for episode_id, diary in diaries.items():
        seen, info = env.reset(options={"episode": episode_id})
        assert_same(diary.seen[0], seen, info)
        for (action, *results), mine in zip(diary.rows, diary.seen[1:], strict=True):
            seen, reward, terminated, truncated, info = env.step(action)
            if action or terminated:
                assert_same(mine, seen, info if action else {"collided": False})
            assert results == [pytest.approx(reward, abs=1e-12), terminated, truncated]
        trajectory = env.last_rollout.trajectories[0]
        moved = len(diary.poses) - 1
        np.testing.assert_array_equal([place for place, _ in diary.poses[: moved + 1]], trajectory.places[: moved + 1])
        np.testing.assert_array_equal([heading for _, heading in diary.poses], trajectory.headings[: moved + 1])
        assert_ending(diary.ending, SPLIT.by_id[episode_id], trajectory)
        ends.append(diary.ending["success"])
        hits += diary.ending["contacts"]
    assert 0 < sum(ends) < len(ends)
    assert hits > 0


def assert_same(mine, seen, info):
    metres, bearing = mine["pointgoal"]
    np.testing.assert_allclose([metres, math.cos(bearing), math.sin(bearing)], seen["pointgoal"], atol=1e-5)
    assert mine["contact"] == info["collided"]


def assert_ending(ending, episode, trajectory):
    """The parts of scores equal those of the metrics."""
    space = WORLDS[episode.world_id].space
    goal = np.asarray(episode.goals)
    attempt = Attempts(
        space,
        path=Ragged.from_rows([space.locate(trajectory.places)]),
        reference=Ragged.from_rows([space.locate(goal)]),
        goals=Ragged.from_rows([space.locate(goal)]),
        stopped=np.array([trajectory.ending.value == "stopped"]),
    )
    rule = {"radius": PROTOCOL.success_radius, "needs_stop": True}
    assert ending["success"] == success(attempt, **rule)[0]
    assert ending["spl"] == pytest.approx(spl(attempt, **rule)[0], abs=1e-9)
    assert ending["lengths"] == pytest.approx(attempt.lengths[0], rel=1e-9)
    assert ending["seconds"] == trajectory.times[-1]
    assert ending["contacts"] == trajectory.collided.sum()
    field = space.field(goal)
    assert ending["start_distances"] == pytest.approx(field.distances(trajectory.places[:1])[0], abs=1e-9)
    assert ending["distances"] == pytest.approx(field.distances(trajectory.places[-1:])[0], abs=1e-9)


def test_decaying_rewards_equal_those_of_environments_that_share_a_count():
    stage = make_stage(SPEEDS["unicycle-6"], True, num_envs=2, decay_steps=50)
    stage.reset()
    reward = DecayingReward(50)
    protocol = replace(PROTOCOL, sliding=True)
    envs = [
        PointNav(SPLIT, WORLDS, protocol=protocol, speeds=SPEEDS["unicycle-6"], camera=None, reward=reward)
        for _ in range(2)
    ]
    for k, env in enumerate(envs):
        env.reset(options={"episode": str(k)})
    for _ in range(40):  # 80 steps: the weight is 0 in the end
        rewards = stage.step([4, 1]).rewards
        assert rewards.tolist() == pytest.approx(
            [env.step(a)[1] for env, a in zip(envs, (4, 1), strict=True)], abs=1e-12
        )
    assert stage.steps_taken == reward.taken == 80


def test_the_shaped_reward_is_the_default():
    stage, env = make_stage(None, False, num_envs=1), PointNav(SPLIT, WORLDS, camera=None, reward=shaped_reward)
    stage.reset()
    env.reset(options={"episode": "0"})
    assert stage.step([1]).rewards[0] == pytest.approx(env.step(1)[1], abs=1e-12)
