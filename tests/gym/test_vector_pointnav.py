"""The vector environment of PointNav: what as many environments of one robot give, in the same-step autoreset mode."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from gym.playing import GROUNDS, on_ground
from itinera.errors import BadArgument
from itinera.gym import DecayingReward, VectorPointNav, goal_oriented_reward
from itinera.rendering.camera import Camera
from itinera.simulators.pointnav.episodes import TrainingStarts
from itinera.simulators.pointnav.sensors import ScanSensor
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.unicycle import unicycle_6
from itinera.tasks.protocol import POINTNAV

TASKS = on_ground((1.0, 5.0), (8.0, 3.0), (2.0, 2.1), (3.0, 11.0))
CAMERA = CameraSensor(Camera(16, 12, 1.5), channels=("depth",))
GIVEN = {"tasks": TASKS, "worlds": GROUNDS, "camera": CAMERA, "protocol": replace(POINTNAV, step_limit=12)}


def make(**more):
    return gymnasium.make_vec("itinera/PointNav-v0", **{"num_envs": 3, **GIVEN, **more})


def make_sync(**more):
    kwargs = {"autoreset_mode": AutoresetMode.SAME_STEP}
    return make(vectorization_mode="sync", vector_kwargs=kwargs, **more)


@pytest.mark.parametrize("more", [{}, {"speeds": unicycle_6()}, {"reward": 90}], ids=["steps", "speeds", "decaying"])
def test_it_equals_as_many_environments_of_one_robot(more):
    rewards = [DecayingReward(more["reward"]) for _ in range(2)] if "reward" in more else []
    pairs = [more | ({"reward": reward} if rewards else {}) for reward in rewards or (None, None)]
    envs, others = make(**pairs[0]), make_sync(**pairs[1])
    assert envs.single_observation_space == others.single_observation_space
    assert envs.observation_space == others.observation_space
    assert envs.action_space == others.action_space
    (seen, info), (other, about) = envs.reset(seed=4), others.reset(seed=4)
    assert info["episode_id"].tolist() == about["episode_id"].tolist()
    rng, endings = np.random.default_rng(0), 0
    for _ in range(40):
        assert_same(seen, other)
        assert envs.observation_space.contains(seen)
        actions = rng.choice(4, size=3, p=[0.08, 0.6, 0.16, 0.16])
        seen, *results, info = envs.step(actions)
        other, *expected, about = others.step(actions)
        for mine, theirs in zip(results, expected, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-12)
        assert info["collided"].tolist() == about["collided"].tolist()
        ended = results[1] | results[2]
        assert info.get("_final_obs", np.zeros(3, bool)).tolist() == ended.tolist()
        for k in np.flatnonzero(ended):
            endings += 1
            assert_same(info["final_obs"][k], about["final_obs"][k])
            for name in ("episode_id", "ending"):
                assert info["final_info"][name][k] == about["final_info"][name][k]
            assert info["final_info"]["_ending"][k]
    assert endings > 9
    if rewards:
        assert rewards[0].taken == rewards[1].taken == 120


def assert_same(mine, theirs):
    assert mine.keys() == theirs.keys()
    for name in mine:
        np.testing.assert_allclose(mine[name], theirs[name], atol=1e-5)


def test_scans_and_pooled_depth_are_in_the_space():
    envs = make(scan=ScanSensor(8, math.pi), pool=(4, 2), num_envs=2)
    seen, _ = envs.reset(seed=0)
    assert {name: values.shape for name, values in seen.items()} == {
        "pointgoal": (2, 3),
        "depth": (2, 3, 8, 1),
        "scan": (2, 8),
    }
    assert envs.observation_space.contains(seen)


def test_the_scores_of_an_episode_come_with_its_end():
    envs = make(num_envs=1, camera=None)
    envs.reset(seed=0)
    found = {}
    while len(found) < len(TASKS.episodes):
        *_, info = envs.step(np.array([0]))
        final = info["final_info"]
        found[final["episode_id"][0]] = {
            name: final[name][0] for name in ("success", "spl", "steps", "distance_to_goal")
        }
    assert found["2"] == {"success": True, "spl": 1.0, "steps": 1, "distance_to_goal": pytest.approx(0.1)}
    assert found["0"] == {"success": False, "spl": 0.0, "steps": 1, "distance_to_goal": pytest.approx(4.0)}


def test_starts_are_drawn_without_end_within_a_distance_that_may_change():
    envs = make(camera=None, episodes=partial(TrainingStarts, max_distance=2.0))
    envs.reset(seed=1)

    def distances():
        return np.concatenate([envs.step(np.zeros(3, np.int64))[-1]["final_info"]["start_distance"] for _ in range(60)])

    near = distances()
    envs.source.max_distance = 9.0
    assert near.min() >= 1.0
    assert near.max() <= 2.0 < distances()[3:].max() <= 9.0


def test_the_same_seed_gives_the_same_episodes_and_a_later_reset_goes_on():
    envs = make(camera=None)
    first = envs.reset(seed=3)[1]["episode_id"].tolist()
    later = [envs.reset()[1]["episode_id"].tolist() for _ in range(3)]
    assert envs.reset(seed=3)[1]["episode_id"].tolist() == first
    assert [envs.reset()[1]["episode_id"].tolist() for _ in range(3)] == later
    assert sorted(row[0] for row in (first, *later)) == ["0", "1", "2", "3"]


def test_goal_tables_are_kept_in_a_folder(tmp_path):
    seen = [make(camera=None, goal_tables=tmp_path).reset(seed=0)[0]["pointgoal"] for _ in range(2)]
    assert [path.name for path in tmp_path.iterdir()] == ["house.goals.npz"]
    np.testing.assert_array_equal(*seen)


WRONG = {
    "colors": ({"camera": CameraSensor(Camera(8, 8, 1.5))}, "observe depth images"),
    "panorama": ({"camera": replace(CAMERA, panorama=True)}, "observe depth images"),
    "reward": ({"reward": goal_oriented_reward}, "have two rewards"),
    "picture": ({"render_mode": "rgb_array"}, "no pictures of many robots"),
    "protocol": ({"protocol": "r2r"}, "use itinera/GraphVLN-v0"),
    "pool": ({"pool": (5, 1)}, "pool must divide"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_many_robots_cannot_do_is_refused_with_a_remedy(name):
    given, message = WRONG[name]
    with pytest.raises(BadArgument, match=message):
        make(**given)


def test_steps_need_a_reset_and_resets_take_no_options():
    envs = VectorPointNav(TASKS, GROUNDS, num_envs=2, camera=None)
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(np.zeros(2, np.int64))
    with pytest.raises(gymnasium.error.ResetNeeded):
        _ = envs.stage
    with pytest.raises(BadArgument, match="no option 'episode'"):
        envs.reset(options={"episode": "0"})
    envs.reset(seed=0)
    with pytest.raises(BadArgument, match="action must be 0 to 3, not 4"):
        envs.step(np.array([0, 4]))
