"""Instructions as token ids, action masks, and the libraries that need them: Stable-Baselines3 and CleanRL's loop."""

from __future__ import annotations

import runpy
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import FlattenObservation
from stable_baselines3.common.env_checker import check_env

import tiny
from gym.playing import GROUNDS, WORLDS, on_graph, on_ground
from itinera.errors import BadArgument
from itinera.gym import TokenizeInstruction
from itinera.policies.tokenizer import PAD, Tokenizer
from itinera.tasks import Instruction
from itinera.tasks.protocol import R2R

GRAPH = on_graph("abc", "ef", "ab", tours=["012"])
EXAMPLES = Path(__file__).parents[2] / "examples"


def make(env_id="itinera/GraphVLN-v0", **more):
    return gymnasium.make(env_id, **({"tasks": GRAPH, "worlds": WORLDS} | more))


def test_an_instruction_becomes_the_ids_of_its_words():
    env = TokenizeInstruction(make(), max_words=6)
    # The instructions are "To c!", "To f!" and "To b!": the most frequent tokens first, ties in alphabetical order.
    assert env.tokenizer.words == ("!", "to", "b", "c", "f")
    observation, _ = env.reset(options={"episode": "0"})
    assert observation["instruction"].tolist() == [4, 6, 3, PAD, PAD, PAD]
    assert observation in env.observation_space
    observation, *_ = env.step(1)
    assert observation["instruction"].tolist() == [4, 6, 3, PAD, PAD, PAD]
    assert TokenizeInstruction(make(), max_words=2).reset(seed=0)[0]["instruction"].shape == (2,)


def test_the_tokenizer_of_training_is_used_elsewhere():
    train = TokenizeInstruction(make(), max_words=4)
    other = on_graph("abcd")
    test = TokenizeInstruction(make(tasks=other), train.tokenizer, max_words=4)
    assert test.observation_space["instruction"] == train.observation_space["instruction"]
    assert test.reset(seed=0)[0]["instruction"].tolist() == [4, 1, 3, PAD]  # "d" is unknown


def test_an_empty_instruction_and_that_of_a_guided_agent_are_padding():
    empty = replace(GRAPH, episodes=tuple(replace(e, instruction=Instruction("")) for e in GRAPH.episodes))
    env = TokenizeInstruction(make(tasks=empty), Tokenizer(("to",)), max_words=3)
    assert env.reset(seed=0)[0]["instruction"].tolist() == [PAD] * 3
    tour = TokenizeInstruction(make("itinera/Tour-v0"), max_words=3)
    tour.reset(seed=0)
    *_, info = tour.step(0)
    assert info["guided_observations"]
    assert all(one["instruction"].tolist() == [PAD] * 3 for one in info["guided_observations"])


@pytest.mark.parametrize("env_id", ["itinera/GraphVLN-v0", "itinera/Tour-v0"])
@pytest.mark.filterwarnings("ignore:Your observation candidates has an unconventional shape")  # advice
def test_stable_baselines_finds_nothing_wrong(env_id):
    check_env(TokenizeInstruction(make(env_id)))
    check_env(FlattenObservation(TokenizeInstruction(make(env_id))))


def test_the_text_itself_is_what_stable_baselines_refuses():
    from stable_baselines3 import PPO

    with pytest.raises((TypeError, NotImplementedError, AssertionError)):
        PPO("MultiInputPolicy", make()).learn(1)


def test_masks_are_those_of_the_observation():
    env = TokenizeInstruction(make())
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.action_masks()
    observation, _ = env.reset(seed=0)
    assert env.action_masks().dtype == bool
    assert env.action_masks().tolist() == (observation["action_mask"] == 1).tolist()
    assert env.unwrapped.action_masks().tolist() == env.action_masks().tolist()
    ground = gymnasium.make("itinera/PointNav-v0", tasks=on_ground((1.0, 5.0)), worlds=GROUNDS)
    ground.reset(seed=0)
    assert ground.unwrapped.action_masks().all()


def test_vectors_of_tokens_fit_into_shared_memory():
    wrappers = [partial(TokenizeInstruction, max_words=5)]
    given = {"tasks": GRAPH, "worlds": WORLDS}
    envs = gymnasium.make_vec("itinera/GraphVLN-v0", num_envs=2, vectorization_mode="async", wrappers=wrappers, **given)
    try:
        first = envs.reset(seed=3)[0]["instruction"]
        texts = set()
        for _ in range(6):
            observation, *_ = envs.step(np.zeros(2, dtype=np.int64))
            texts |= {tuple(row) for row in observation["instruction"].tolist()}
    finally:
        envs.close()
    assert first.shape == (2, 5)
    assert len(texts) == 3  # every instruction was seen


def test_wrong_environments_and_sizes_are_refused():
    ground = gymnasium.make("itinera/PointNav-v0", tasks=on_ground((1.0, 5.0)), worlds=GROUNDS)
    with pytest.raises(BadArgument, match="has no instructions to tokenize"):
        TokenizeInstruction(ground)
    with pytest.raises(BadArgument, match="max_words must be ≥ 1"):
        TokenizeInstruction(make(), max_words=0)


def test_a_protocol_with_impossible_values_is_refused_as_in_a_run():
    with pytest.raises(BadArgument, match="step_limit is -1"):
        make(protocol=replace(R2R, step_limit=-1))


def test_environments_are_registered_whatever_is_imported_first():
    for first in ("import itinera, gymnasium", "import gymnasium, itinera"):
        program = f"{first}; gymnasium.register_envs(itinera.gym); assert 'itinera/Tour-v0' in gymnasium.registry"
        subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("algorithm", ["maskable", "ppo"])
def test_the_example_of_stable_baselines_runs(tmp_path, algorithm, capsys):
    files = tiny.on_graphs(tmp_path)
    main = runpy.run_path(str(EXAMPLES / "sb3_ppo.py"))["main"]
    words = [str(word) for word in (*files.options, "--steps", 512, "--num-envs", 2)]
    results = main(["--algorithm", algorithm, *words])
    assert set(results) == {"random", "trained"}
    assert "trained: return" in capsys.readouterr().out


def test_a_masked_policy_learns_and_never_chooses_what_does_not_exist(tmp_path):
    files = tiny.on_graphs(tmp_path)
    main = runpy.run_path(str(EXAMPLES / "sb3_ppo.py"))["main"]
    results = main([*map(str, files.options), "--steps", "4096", "--num-envs", "4"])
    assert results["trained"] > results["random"]


def test_the_example_in_the_style_of_cleanrl_runs_and_is_repeatable(tmp_path):
    files = tiny.on_graphs(tmp_path)
    main = runpy.run_path(str(EXAMPLES / "cleanrl_style_ppo.py"))["main"]
    words = [str(word) for word in (*files.options, "--steps", 1024, "--num-envs", 4)]
    history = main(words)
    assert len(history) == 4
    assert history == main(words)
