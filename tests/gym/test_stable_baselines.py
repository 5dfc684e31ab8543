"""The vector environment in the hands of other libraries: Stable-Baselines3, and a single file in CleanRL's style."""

from __future__ import annotations

import runpy
import sys
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor

from gym.playing import GROUNDS, on_ground
from itinera.errors import MissingPackage
from itinera.gym.stable_baselines import PointNavVecEnv
from itinera.tasks.protocol import POINTNAV

EXAMPLES = Path(__file__).parents[2] / "examples"
TASKS = on_ground((1.0, 5.0), (8.0, 3.0), (2.0, 2.1))


def make(num_envs=3, **more):
    given = {"tasks": TASKS, "worlds": GROUNDS, "camera": None, "protocol": replace(POINTNAV, step_limit=6)}
    return PointNavVecEnv(gymnasium.make_vec("itinera/PointNav-v0", num_envs=num_envs, **given | more))


def test_an_ended_episode_gives_its_last_observation_return_and_scores():
    envs = make(num_envs=1)
    envs.seed(0)
    envs.reset()
    found = []
    for step in range(1, 13):
        _, rewards, ended, (info,) = envs.step(np.array([1]))
        found.append(float(rewards[0]))
        assert ended[0] == (step % 6 == 0)
        if ended[0]:
            assert info["TimeLimit.truncated"]
            assert info["terminal_observation"] in envs.observation_space
            assert info["episode"]["l"] == info["episode"]["steps"] == 6
            assert info["episode"]["r"] == pytest.approx(sum(found), abs=1e-6)
            assert not info["episode"]["success"]
            found = []
        else:
            assert info == {}
    _, _, ended, (info,) = envs.step(np.array([0]))
    assert ended[0]
    assert not info["TimeLimit.truncated"]


def test_seeds_attributes_and_methods_reach_the_environment():
    envs, others = make(), make()
    for one in (envs, others):
        one.seed(5)
    np.testing.assert_array_equal(envs.reset()["pointgoal"], others.reset()["pointgoal"])
    assert envs.get_attr("num_envs") == [3, 3, 3]
    envs.set_attr("mark", 7)
    assert envs.get_attr("mark", indices=[1]) == [7]
    assert len(envs.env_method("close", indices=0)) == 1
    assert envs.env_is_wrapped(gymnasium.Wrapper) == [False] * 3
    assert envs.env_is_wrapped(Monitor, indices=[0]) == [True]
    assert envs.get_images() == [None] * 3
    assert envs.render_mode is None
    envs.close()


def test_ppo_learns_and_is_evaluated():
    model = PPO("MultiInputPolicy", make(), n_steps=16, batch_size=48, n_epochs=1, seed=0, device="cpu")
    model.learn(96)
    assert model.num_timesteps == 96
    assert len(model.ep_info_buffer) > 0
    mean, _ = evaluate_policy(model, make(), n_eval_episodes=3)
    assert np.isfinite(mean)


@pytest.mark.parametrize("name", ["sb3_pointnav", "cleanrl_style_pointnav"])
def test_the_examples_run(name, capsys):
    rates = runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](["--steps", "2048", "--num-envs", "8"])
    assert rates
    assert all(0.0 <= rate <= 1.0 for rate in rates)
    assert capsys.readouterr().out or name.startswith("cleanrl")


@pytest.mark.slow
def test_the_single_file_learns():
    rates = runpy.run_path(str(EXAMPLES / "cleanrl_style_pointnav.py"))["main"](["--steps", "120000"])
    assert np.mean(rates[:4]) < 0.2 < 0.4 < np.mean(rates[-8:])


def test_without_stable_baselines_the_package_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "itinera.gym.stable_baselines", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == "stable_baselines3"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPackage, match="pip install stable-baselines3"):
        __import__("itinera.gym.stable_baselines")
