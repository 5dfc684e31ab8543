"""PPO in one file, in the style of CleanRL, on GraphVLN: read it from top to bottom, change anything.

    pip install "itinera[gym,neural]"
    python examples/cleanrl_style_ppo.py                  # a small built-in house, half a minute
    python examples/cleanrl_style_ppo.py --tasks R2R_train.json --worlds connectivity/ --steps 500000

Instructions are token ids (`TokenizeInstruction`), actions that do not exist get the logit -inf.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import Tensor, nn
from torch.distributions import Categorical

import itinera
from itinera.gym import TokenizeInstruction

NUM_STEPS, NUM_EPOCHS, NUM_MINIBATCHES = 64, 4, 4
LEARNING_RATE, DISCOUNT, GAE_LAMBDA, CLIP = 1e-3, 0.99, 0.95, 0.2
ENTROPY_WEIGHT, VALUE_WEIGHT, MAX_GRAD_NORM = 0.02, 0.5, 0.5


class Agent(nn.Module):
    """Scores each candidate by its geometry and the mean embedding of the instruction."""

    def __init__(self, num_words: int, word_dim: int = 32, hidden_dim: int = 64) -> None:
        super().__init__()
        self.words = nn.Embedding(num_words, word_dim, padding_idx=0)
        self.candidate = nn.Sequential(nn.Linear(6 + word_dim, hidden_dim), nn.Tanh(), nn.Linear(hidden_dim, 1))
        self.critic = nn.Sequential(nn.Linear(4 + word_dim, hidden_dim), nn.Tanh(), nn.Linear(hidden_dim, 1))

    def forward(self, observation: dict[str, Tensor]) -> tuple[Categorical, Tensor]:
        ids, candidates = observation["instruction"], observation["candidates"]
        text = self.words(ids).sum(dim=1) / (ids > 0).sum(dim=1, keepdim=True).clamp(min=1)
        is_stop = torch.zeros(candidates.shape[:2])
        is_stop[:, 0] = 1.0
        rows = [candidates, is_stop[..., None], text[:, None].expand(-1, candidates.shape[1], -1)]
        logits = self.candidate(torch.cat(rows, dim=2)).squeeze(2)
        logits = logits.masked_fill(observation["action_mask"] == 0, -torch.inf)
        value = self.critic(torch.cat([observation["orientation"], text], dim=1)).squeeze(1)
        return Categorical(logits=logits), value


def to_tensors(observation: dict[str, Any]) -> dict[str, Tensor]:
    return {name: torch.as_tensor(value) for name, value in observation.items()}


def main(words: list[str] | None = None) -> list[float]:
    """The mean return of the episodes of each update."""
    parser = argparse.ArgumentParser(description="PPO in one file on GraphVLN.")
    parser.add_argument("--tasks", help="Tasks on graphs. Default: a built-in Hearth house.")
    parser.add_argument("--worlds", help="Connectivity folder or archive, or Hearth season.")
    parser.add_argument("--steps", type=int, default=16384, help="Steps of all environments together.")
    parser.add_argument("--num-envs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(words)

    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    given: dict[str, Any] = {}
    if options.tasks is not None:
        given = {"tasks": itinera.read_tasks(options.tasks), "worlds": itinera.read_worlds(options.worlds)}
    tokenizer = TokenizeInstruction(gymnasium.make("itinera/GraphVLN-v0", **given)).tokenizer
    envs = gymnasium.make_vec(
        "itinera/GraphVLN-v0",
        num_envs=options.num_envs,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},  # the observation after the last step is a first one
        wrappers=[partial(TokenizeInstruction, tokenizer=tokenizer, max_words=40)],
        **given,
    )
    agent = Agent(len(tokenizer))
    optimizer = torch.optim.Adam(agent.parameters(), lr=LEARNING_RATE, eps=1e-5)

    first, _ = envs.reset(seed=options.seed)
    observation = to_tensors(first)
    running, history = np.zeros(options.num_envs), []
    for update in range(options.steps // (NUM_STEPS * options.num_envs)):
        observations, actions, log_probs, rewards, dones, values = [], [], [], [], [], []
        returns: list[float] = []
        for _ in range(NUM_STEPS):
            with torch.no_grad():
                distribution, value = agent(observation)
                action = distribution.sample()
            found, reward, terminated, truncated, _ = envs.step(action.numpy())
            done = terminated | truncated
            running += reward
            returns += running[done].tolist()
            running[done] = 0.0
            observations.append(observation)
            actions.append(action)
            log_probs.append(distribution.log_prob(action))
            rewards.append(torch.as_tensor(reward, dtype=torch.float32))
            dones.append(torch.as_tensor(done, dtype=torch.float32))
            values.append(value)
            observation = to_tensors(found)

        # Generalized advantage estimation; the end of an episode is not bootstrapped across.
        with torch.no_grad():
            _, next_value = agent(observation)
        advantages, advantage = [], torch.zeros(options.num_envs)
        for t in reversed(range(NUM_STEPS)):
            following = next_value if t == NUM_STEPS - 1 else values[t + 1]
            delta = rewards[t] + DISCOUNT * following * (1 - dones[t]) - values[t]
            advantage = delta + DISCOUNT * GAE_LAMBDA * (1 - dones[t]) * advantage
            advantages.append(advantage)

        batch = {name: torch.cat([one[name] for one in observations]) for name in observations[0]}
        batch_actions, batch_log_probs = torch.cat(actions), torch.cat(log_probs)
        batch_advantages = torch.cat(advantages[::-1])
        batch_returns = batch_advantages + torch.cat(values)
        size = len(batch_actions)
        for _ in range(NUM_EPOCHS):
            for rows in np.array_split(rng.permutation(size), NUM_MINIBATCHES):
                index = torch.as_tensor(rows)
                distribution, value = agent({name: part[index] for name, part in batch.items()})
                ratio = (distribution.log_prob(batch_actions[index]) - batch_log_probs[index]).exp()
                normalized = batch_advantages[index]
                normalized = (normalized - normalized.mean()) / (normalized.std() + 1e-8)
                policy_loss = -torch.min(normalized * ratio, normalized * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
                value_loss = 0.5 * (value - batch_returns[index]).square().mean()
                loss = policy_loss + VALUE_WEIGHT * value_loss - ENTROPY_WEIGHT * distribution.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), MAX_GRAD_NORM)
                optimizer.step()
        history.append(float(np.mean(returns)) if returns else float("nan"))
        print(f"update {update + 1}: {len(returns)} episodes, mean return {history[-1]:.2f}")
    envs.close()
    return history


if __name__ == "__main__":
    main()
