"""PPO in one file, in the style of CleanRL, on PointNav with many robots in one call.

    pip install "itinera[gym,neural]"
    python examples/cleanrl_style_pointnav.py               # a small built-in house, half a minute of one core
    python examples/cleanrl_style_pointnav.py --steps 5000000 --tasks season/pointnav/train/train.json.gz \
        --worlds season

Robots observe a scan and the direction of the goal; starts are drawn without end. An episode that runs out of steps is
bootstrapped from its last observation, which Gymnasium passes as `final_obs`.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from itinera.simulators.pointnav.episodes import TrainingStarts
from itinera.simulators.pointnav.sensors import ScanSensor
from itinera.tasks.protocol import POINTNAV

NUM_STEPS, NUM_EPOCHS, NUM_MINIBATCHES = 64, 4, 4
LEARNING_RATE, DISCOUNT, GAE_LAMBDA, CLIP = 1e-3, 0.99, 0.95, 0.2
ENTROPY_WEIGHT, VALUE_WEIGHT, MAX_GRAD_NORM = 0.01, 0.5, 0.5
NEAR, FARTHEST = 2.0, 30.0  # metres, of the starts in the beginning and in the end


class Agent(nn.Module):
    """A small network on the scan and the goal, with contrast for what is near."""

    def __init__(self, rays: int, num_actions: int, hidden_dim: int = 96) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(2 * rays + 6, hidden_dim), nn.Tanh(), nn.Linear(hidden_dim, hidden_dim), nn.Tanh()
        )
        self.actor, self.critic = nn.Linear(hidden_dim, num_actions), nn.Linear(hidden_dim, 1)

    def forward(self, observation: dict[str, Tensor]) -> tuple[Categorical, Tensor]:
        metres, direction = observation["pointgoal"][:, :1], observation["pointgoal"][:, 1:]
        goal = [metres / 10, torch.exp(-metres), metres.clamp(max=1.0), (metres < 0.2).float(), direction]
        scan = observation["scan"]
        hidden = self.body(torch.cat([*goal, torch.exp(-scan / 0.8), torch.exp(-scan / 3)], dim=1))
        return Categorical(logits=self.actor(hidden)), self.critic(hidden).squeeze(1)


def to_tensors(observation: dict[str, Any]) -> dict[str, Tensor]:
    return {name: torch.as_tensor(value) for name, value in observation.items()}


def stack(observations: list[dict[str, Any]]) -> dict[str, Tensor]:
    return {name: torch.as_tensor(np.stack([one[name] for one in observations])) for name in observations[0]}


def main(words: list[str] | None = None) -> list[float]:
    """The success rate of the episodes of each update."""
    parser = argparse.ArgumentParser(description="PPO in one file on PointNav.")
    parser.add_argument("--tasks", help="PointNav tasks. Default: a built-in Hearth house.")
    parser.add_argument("--worlds", help="Hearth season or folder of scenes.")
    parser.add_argument("--steps", type=int, default=400_000, help="Steps of all robots together.")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(words)

    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    given: dict[str, Any] = {} if options.tasks is None else {"tasks": options.tasks, "worlds": options.worlds}
    envs = gymnasium.make_vec(
        "itinera/PointNav-v0",
        num_envs=options.num_envs,
        protocol=replace(POINTNAV, sliding=True),
        camera=None,
        scan=ScanSensor(32),
        episodes=partial(TrainingStarts, max_distance=NEAR, steps_per_metre=14.0),
        **given,
    )
    agent = Agent(32, int(envs.single_action_space.n))
    optimizer = torch.optim.Adam(agent.parameters(), lr=LEARNING_RATE, eps=1e-5)

    first, _ = envs.reset(seed=options.seed)
    observation = to_tensors(first)
    history = []
    for update in range(options.steps // (NUM_STEPS * options.num_envs)):
        observations, actions, log_probs, rewards, dones, values = [], [], [], [], [], []
        successes: list[bool] = []
        for _ in range(NUM_STEPS):
            with torch.no_grad():
                distribution, value = agent(observation)
                action = distribution.sample()
            found, reward, terminated, truncated, info = envs.step(action.numpy())
            done = terminated | truncated
            if done.any():
                successes += info["final_info"]["success"][done].tolist()
            if truncated.any():
                with torch.no_grad():
                    _, last = agent(stack(info["final_obs"][truncated].tolist()))
                reward[truncated] += DISCOUNT * last.numpy()
            observations.append(observation)
            actions.append(action)
            log_probs.append(distribution.log_prob(action))
            rewards.append(torch.as_tensor(reward, dtype=torch.float32))
            dones.append(torch.as_tensor(done, dtype=torch.float32))
            values.append(value)
            observation = to_tensors(found)

        # Generalized advantage estimation; the reward of a truncated step contains the value that would have followed.
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
        history.append(float(np.mean(successes)) if successes else float("nan"))
        if update % 5 == 4:
            far = f"starts up to {envs.source.max_distance:.1f} m"
            print(f"{(update + 1) * size:,} steps, {far}: SR {100 * history[-1]:.0f} % of {len(successes)} episodes")
        if history[-1] > 0.7:
            envs.source.max_distance = min(1.3 * envs.source.max_distance, FARTHEST)
    envs.close()
    return history


if __name__ == "__main__":
    main()
