"""The four environments as a trainer meets them: by name, checked by Gymnasium, in vectors, from files."""

from __future__ import annotations

import sys
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import tiny
from gym.playing import GROUNDS, HALL, HOUSE, WORLDS, on_graph, on_ground
from itinera.errors import BadArgument, MissingExtra
from itinera.formats import scenes
from itinera.gym import DecayingReward, PointNav, TourVLN, fidelity_oriented_reward, hearth_task_set
from itinera.rendering.camera import Camera
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.unicycle import point_turn, unicycle_6, unicycle_15
from itinera.simulators.view_features import rendered_views
from itinera.tasks.protocol import R2R

GRAPH, GROUND = on_graph("abc", "ef", "ab", tours=["012"]), on_ground((1.0, 5.0), (8.0, 3.0), tours=["01"])
SMALL = CameraSensor(Camera(16, 12, 1.5), channels=("rgb", "depth", "classes", "instances"))

VIEWS = rendered_views(WORLDS, {"house": HALL.mesh})

GIVEN = {
    "graph": ("itinera/GraphVLN-v0", {"tasks": GRAPH, "worlds": WORLDS}),
    "views": ("itinera/GraphVLN-v0", {"tasks": GRAPH, "worlds": WORLDS, "views": VIEWS}),
    "ground": ("itinera/GroundVLN-v0", {"tasks": GROUND, "worlds": GROUNDS}),
    "all channels": ("itinera/GroundVLN-v0", {"tasks": GROUND, "worlds": GROUNDS, "camera": SMALL}),
    "panorama": ("itinera/GroundVLN-v0", {"tasks": GROUND, "worlds": GROUNDS, "camera": replace(SMALL, panorama=True)}),
    "blind": ("itinera/GroundVLN-v0", {"tasks": GROUND, "worlds": GROUNDS, "camera": None, "protocol": "rxr-ce"}),
    "point": ("itinera/PointNav-v0", {"tasks": GROUND, "worlds": GROUNDS}),
    "unicycle": ("itinera/PointNav-v0", {"tasks": GROUND, "worlds": GROUNDS, "speeds": unicycle_15()}),
    "tour": ("itinera/Tour-v0", {"tasks": GRAPH, "worlds": WORLDS}),
    "tour on the ground": ("itinera/Tour-v0", {"tasks": GROUND, "worlds": GROUNDS, "protocol": "ivln-ce"}),
}  # fmt: skip


@pytest.mark.parametrize("name", GIVEN)
def test_gymnasium_finds_nothing_wrong(name):
    env_id, given = GIVEN[name]
    check_env(gymnasium.make(env_id, **given).unwrapped)


@pytest.mark.parametrize("name", GIVEN)
def test_what_is_shown_is_in_the_space_and_every_step_is_repeatable(name):
    env_id, given = GIVEN[name]
    first, again = (gymnasium.make(env_id, **given) for _ in range(2))
    rng = np.random.default_rng(1)
    (seen, info), (other, _) = first.reset(seed=2), again.reset(seed=2)
    for _ in range(60):
        assert seen in first.observation_space
        assert all(np.array_equal(seen[key], other[key]) for key in seen)
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        (seen, reward, *over, info), (other, *_) = first.step(action), again.step(action)
        assert np.isfinite(reward)
        if any(over):
            (seen, info), (other, _) = first.reset(), again.reset()


@pytest.mark.parametrize("env_id", ["GraphVLN", "GroundVLN", "PointNav", "Tour"])
def test_with_nothing_given_a_small_house_is_built(env_id):
    env = gymnasium.make(f"itinera/{env_id}-v0", render_mode="rgb_array")
    seen, info = env.reset(seed=0)
    assert seen in env.observation_space
    for _ in range(3):
        *_, terminated, truncated, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
        if terminated or truncated:
            break
    picture = env.render()
    assert (picture.shape, picture.dtype) == ((240, 320, 3), np.uint8)
    assert picture.std() > 1
    assert env.unwrapped.render_mode == "rgb_array"


def test_the_small_house_is_told_in_words_and_toured():
    place = hearth_task_set("tours", protocol=R2R)
    assert len(place.split.episodes) == 30
    assert [len(tour.episode_ids) for tour in place.split.tours] == [10, 10, 10]
    assert all(episode.instruction.text for episode in place.split.episodes)
    assert hearth_task_set("tours", protocol=R2R).worlds == place.worlds  # made once


# In vectors


@pytest.mark.parametrize("name", GIVEN)
def test_vectors_step_and_begin_anew(name):
    env_id, given = GIVEN[name]
    envs = gymnasium.make_vec(env_id, num_envs=3, vectorization_mode="sync", **given)
    seen, info = envs.reset(seed=7)
    assert info["action_mask"].shape == (3, envs.single_action_space.n)
    ended = 0
    for step in range(12):
        actions = np.zeros(3, dtype=np.int64) if step % 3 == 0 else np.ones(3, dtype=np.int64)
        seen, rewards, terminated, truncated, info = envs.step(actions)
        assert rewards.shape == (3,)
        ended += int((terminated | truncated).sum())
    assert ended >= 3
    assert seen in envs.observation_space
    assert all(walk.trajectories for walk in envs.get_attr("last_rollout"))
    envs.close()


def test_the_envs_of_a_vector_play_in_orders_of_their_own():
    split = on_graph(*["abc"] * 20)
    envs = gymnasium.make_vec("itinera/GraphVLN-v0", num_envs=2, tasks=split, worlds=WORLDS)
    orders = []
    for _ in range(2):
        found = [envs.reset(seed=7)[1]["episode_id"].tolist()] + [
            envs.reset()[1]["episode_id"].tolist() for _ in range(9)
        ]
        orders.append(found)
    assert orders[0] == orders[1]
    assert [a for a, _ in orders[0]] != [b for _, b in orders[0]]


def test_a_decaying_reward_counts_the_steps_of_all_who_share_it():
    reward = DecayingReward(100)
    envs = gymnasium.make_vec("itinera/GraphVLN-v0", num_envs=3, tasks=GRAPH, worlds=WORLDS, reward=reward)
    envs.reset(seed=0)
    envs.step(np.ones(3, dtype=np.int64))
    assert reward.taken == 3


@pytest.mark.slow
def test_vectors_step_in_processes_of_their_own():
    given = {"num_envs": 2, "tasks": GRAPH, "worlds": WORLDS, "reward": fidelity_oriented_reward}
    alike = gymnasium.make_vec("itinera/Tour-v0", **given)
    apart = {"shared_memory": False, "context": "spawn"}
    envs = gymnasium.make_vec("itinera/Tour-v0", vectorization_mode="async", vector_kwargs=apart, **given)
    seen, _ = envs.reset(seed=0)
    expected, _ = alike.reset(seed=0)
    for action in (1, 0, 1, 0, 0, 0, 1):
        assert seen["instruction"] == expected["instruction"]
        np.testing.assert_array_equal(seen["candidates"], expected["candidates"])
        actions = np.full(2, action)
        (seen, got, *_), (expected, ours, *_) = envs.step(actions), alike.step(actions)
        assert got.tolist() == ours.tolist()
    envs.close()


def test_instructions_are_kept_out_of_shared_memory():
    with pytest.raises(BadArgument, match="shared_memory"):
        gymnasium.make_vec("itinera/GraphVLN-v0", vectorization_mode="async", tasks=GRAPH, worlds=WORLDS)


# What can be given


def test_tasks_worlds_and_tours_are_read_from_files(tmp_path):
    files = tiny.on_graphs(tmp_path)
    env = gymnasium.make("itinera/GraphVLN-v0", tasks=str(files.tasks), worlds=files.worlds)
    assert env.reset(seed=0, options={"episode": "2_0"})[0]["instruction"] == "go to e "
    env = gymnasium.make("itinera/Tour-v0", tasks=files.tasks, worlds=str(files.worlds), tours=files.tours)
    assert env.reset(seed=0, options={"tour": "0"})[1]["episode_id"] == "1_0"


@pytest.mark.real
def test_real_r2r_is_played(data):
    given = {"tasks": data / "r2r/R2R_val_unseen.json.gz", "worlds": data / "connectivity.tar.xz"}
    env = gymnasium.make("itinera/GraphVLN-v0", **given, reward=fidelity_oriented_reward)
    seen, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(500):
        assert seen in env.observation_space
        seen, reward, *over, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
        assert 0 <= reward <= 2
        if any(over):
            seen, info = env.reset()


def test_scenes_are_read_from_a_folder(tmp_path):
    scenes.write_scene(tmp_path / "house.glb", HALL.mesh)
    env = PointNav(GROUND, tmp_path, camera=None)
    seen, _ = env.reset(seed=0)
    assert seen in env.observation_space


@pytest.mark.parametrize(("speeds", "count"), [(None, 4), (point_turn(), 4), (unicycle_6(), 6), (unicycle_15(), 15)])
def test_the_actions_are_those_of_the_speeds(speeds, count):
    env = PointNav(GROUND, GROUNDS, speeds=speeds, camera=None)
    assert env.action_space.n == count
    _, info = env.reset(seed=0)
    assert info["action_mask"].tolist() == [1] * count


WRONG = {
    "tasks alone": (lambda: gymnasium.make("itinera/GraphVLN-v0", tasks=GRAPH), "Give both tasks and worlds"),
    "tours alone": (lambda: TourVLN(tours="tours.json"), "Give both tasks and worlds"),
    "no tours": (lambda: TourVLN(on_graph("abc"), WORLDS), "drawn has no tours"),
    "no episodes": (lambda: TourVLN(on_graph(), WORLDS), "drawn contains no episodes"),
    "other kind": (lambda: PointNav(GRAPH, WORLDS), "drawn has episodes on graphs, but protocol pointnav"),
    "other protocol": (lambda: PointNav(GROUND, GROUNDS, protocol="r2r"), "use itinera/GraphVLN-v0"),
    "no such protocol": (lambda: PointNav(GROUND, GROUNDS, protocol="pointnaw"), "Did you mean pointnav?"),
    "no such world": (lambda: TourVLN(GRAPH, {"hut": HOUSE}), "World house of drawn is not among the worlds"),
    "no scenes": (lambda: PointNav(GROUND, "."), "give a folder of scenes"),
    "render mode": (lambda: TourVLN(GRAPH, WORLDS, render_mode="ansi"), "must be None or rgb_array, not 'ansi'"),
    "no room": (lambda: TourVLN(GRAPH, WORLDS, max_candidates=0), "max_candidates must be"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_refused_with_a_remedy(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make, said = WRONG[name]
    with pytest.raises(BadArgument, match=said):
        make()


def test_without_gymnasium_the_extra_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("itinera.gym")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "gymnasium"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r'need gymnasium\. Install it with: pip install "itinera\[gym\]"'):
        __import__("itinera.gym")
