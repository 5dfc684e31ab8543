"""PPO of Stable-Baselines3 on GraphVLN, with and without action masks.

    pip install "itinera[gym]" stable-baselines3 sb3-contrib
    python examples/sb3_ppo.py                    # MaskablePPO in a small built-in house, half a minute
    python examples/sb3_ppo.py --algorithm ppo    # PPO: it must learn which actions exist
    python examples/sb3_ppo.py --tasks R2R_train.json --worlds connectivity/ --steps 500000

It prints the success rate and the return of random actions and of the trained policy, then the scores.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

import itinera
from itinera.gym import TokenizeInstruction
from itinera.records import Predictions


class InstructionFeatures(BaseFeaturesExtractor):
    """The mean word embedding of the instruction, beside the candidates and the orientation."""

    def __init__(self, observation_space: gymnasium.spaces.Dict, word_dim: int = 32) -> None:
        candidates = int(np.prod(observation_space["candidates"].shape))
        super().__init__(observation_space, features_dim=word_dim + candidates + 4)
        num_words = int(observation_space["instruction"].high.max()) + 1
        self.words = nn.Embedding(num_words, word_dim, padding_idx=0)

    def forward(self, observation: dict[str, torch.Tensor]) -> torch.Tensor:
        ids = observation["instruction"].long()  # Stable-Baselines3 passes every Box as floats
        text = self.words(ids).sum(dim=1) / (ids > 0).sum(dim=1, keepdim=True).clamp(min=1)
        return torch.cat([text, observation["candidates"].flatten(1), observation["orientation"]], dim=1)


def play(env: TokenizeInstruction, model: Any, episodes: int, rng: np.random.Generator) -> tuple[Predictions, float]:
    """The predictions of a model, or of random actions, and the mean return; every task is played once."""
    rollouts, returns = {}, []
    observation, _ = env.reset(seed=0)
    for _ in range(episodes):
        episode_return, done = 0.0, False
        while not done:
            masks = env.action_masks()
            if model is None:
                action = rng.choice(np.flatnonzero(masks))
            elif isinstance(model, MaskablePPO):
                action, _ = model.predict(observation, action_masks=masks, deterministic=True)
            else:
                action, _ = model.predict(observation, deterministic=True)
            observation, reward, terminated, truncated, _ = env.step(int(action))
            episode_return += reward
            done = terminated or truncated
        returns.append(episode_return)
        rollout = env.unwrapped.last_rollout
        rollouts[rollout.tour_id] = rollout
        observation, _ = env.reset()
    return Predictions("sb3", tuple(rollouts.values())), float(np.mean(returns))


def main(words: list[str] | None = None) -> dict[str, float]:
    parser = argparse.ArgumentParser(description="PPO of Stable-Baselines3 on GraphVLN.")
    parser.add_argument("--algorithm", choices=("maskable", "ppo"), default="maskable")
    parser.add_argument("--tasks", help="Tasks on graphs. Default: a built-in Hearth house.")
    parser.add_argument("--worlds", help="Connectivity folder or archive, or Hearth season.")
    parser.add_argument("--steps", type=int, default=8192, help="Steps of all environments together.")
    parser.add_argument("--num-envs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(words)

    torch.set_num_threads(1)  # small networks gain nothing from threads
    given: dict[str, Any] = {}
    if options.tasks is not None:
        given = {"tasks": itinera.read_tasks(options.tasks), "worlds": itinera.read_worlds(options.worlds)}
    tokenizer = TokenizeInstruction(gymnasium.make("itinera/GraphVLN-v0", **given)).tokenizer
    wrapper = {"tokenizer": tokenizer, "max_words": 40}
    envs = make_vec_env(
        "itinera/GraphVLN-v0",
        n_envs=options.num_envs,
        seed=options.seed,
        env_kwargs=given,
        wrapper_class=TokenizeInstruction,
        wrapper_kwargs=wrapper,
    )
    algorithm = MaskablePPO if options.algorithm == "maskable" else PPO
    model = algorithm(
        "MultiInputPolicy",
        envs,
        n_steps=128,
        batch_size=128,
        learning_rate=1e-3,
        ent_coef=0.02,
        seed=options.seed,
        policy_kwargs={"features_extractor_class": InstructionFeatures, "net_arch": [64, 64]},
        device="cpu",
    )

    env = TokenizeInstruction(gymnasium.make("itinera/GraphVLN-v0", **given), **wrapper)
    split, worlds = env.unwrapped.task_set.split, env.unwrapped.task_set.worlds
    episodes = len(split.episodes)
    results = {}
    for name, steps in (("random", 0), ("trained", options.steps)):
        if steps:
            model.learn(steps)
        predictions, mean_return = play(env, model if steps else None, episodes, np.random.default_rng(options.seed))
        scores = itinera.score(predictions, split, worlds)
        results[name] = mean_return
        print(f"{name}: return {mean_return:.2f}, SR {100 * scores['SR'].mean():.1f} %")
    print(scores)
    return results


if __name__ == "__main__":
    main()
