"""Rollouts of a policy on a batch of episodes. Start with `collect_rollout`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor

from itinera.policies.base import Policy, PolicyOutput, select_rows
from itinera.policies.observation import BatchObservation
from itinera.training.dataset import Batch
from itinera.training.experts import Expert
from itinera.training.vector_env import BatchedGraphEnv, EnvState

SHRINK = 0.75  # the batch is compacted when a smaller share of it is still active


@dataclass(frozen=True, eq=False)
class RolloutStep:
    """One step of the agents that are still active."""

    rows: Tensor  # (n,) their rows in the batch
    node: Tensor  # (n,)
    output: PolicyOutput
    expert_action: Tensor  # (n,) -1 for none
    action: Tensor  # (n,)


@dataclass(frozen=True, eq=False)
class BatchRollout:
    """What a batch of agents did."""

    batch: Batch
    steps: tuple[RolloutStep, ...]
    path: Tensor  # (batch, steps + 1) nodes, padded with the last
    moves: Tensor  # (batch,) number of moves
    stopped: Tensor  # (batch,) whether the agent chose STOP

    @property
    def num_actions(self) -> int:
        """The number of actions of all agents together."""
        return sum(len(step.rows) for step in self.steps)


ActionSelector: TypeAlias = Callable[[PolicyOutput, Tensor, Tensor], Tensor]
"""(n,) the actions to take, from the policy's output, the expert's actions (n,) and the rows in the batch (n,)."""


def greedy(output: PolicyOutput, expert_action: Tensor, rows: Tensor) -> Tensor:
    """The most probable actions (student forcing)."""
    return output.logits.argmax(dim=1)


def teacher_forcing(output: PolicyOutput, expert_action: Tensor, rows: Tensor) -> Tensor:
    """The expert's actions."""
    return expert_action


def sample(rng: torch.Generator) -> ActionSelector:
    """A selector that samples actions from the policy."""

    def select(output: PolicyOutput, expert_action: Tensor, rows: Tensor) -> Tensor:
        # Drawn where the generator is, so that the draws do not depend on the device of the policy.
        probabilities = output.logits.detach().softmax(dim=1).to(rng.device)
        return torch.multinomial(probabilities, 1, generator=rng).squeeze(1).to(output.logits.device)

    return select


def draw_uniform(shape: Sequence[int], rng: torch.Generator, device: torch.device) -> Tensor:
    """Uniform numbers from [0, 1), drawn where the generator is, so that they are the same for every device."""
    return torch.rand(tuple(shape), generator=rng, device=rng.device).to(device)


def mixed_forcing(forced: Tensor, unforced: ActionSelector) -> ActionSelector:
    """A selector of expert actions for the agents marked in `forced` (batch,), and of `unforced` for the others.

    Where the expert has no action, it is that of `unforced` too.
    """

    def select(output: PolicyOutput, expert_action: Tensor, rows: Tensor) -> Tensor:
        follows = forced[rows] & (expert_action >= 0)
        return torch.where(follows, expert_action, unforced(output, expert_action, rows))

    return select


def collect_rollout(
    policy: Policy[Any],
    env: BatchedGraphEnv,
    batch: Batch,
    *,
    select_action: ActionSelector,
    expert: Expert,
    max_steps: int,
) -> BatchRollout:
    """The rollout of a policy on a batch of episodes, until all agents have stopped or made `max_steps` steps."""
    policy_state = policy.encode_instruction(batch.words, batch.lengths)
    env_state = env.reset(batch.start, batch.view)
    rows = torch.arange(batch.size, device=env.device)
    steps, places = list[RolloutStep](), [batch.start]
    moves = torch.zeros(batch.size, dtype=torch.int64, device=env.device)
    stopped = torch.zeros(batch.size, dtype=torch.bool, device=env.device)
    done = torch.zeros(batch.size, dtype=torch.bool, device=env.device)  # of the agents in `rows`
    for _ in range(max_steps):
        observation = env.observe(env_state)
        policy_state, output = policy(policy_state, observation)
        expert_action = _available(expert(env, batch, env_state, rows), observation)
        action = select_action(output, expert_action, rows)
        active = ~done
        steps.append(_make_step(rows, env_state, output, expert_action, action, active))
        stopping = active & (action == 0)
        stopped[rows[stopping]] = True
        done = done | stopping
        if bool(done.all()):
            break
        env_state = env.step(env_state, observation, torch.where(done, 1, action))  # agents that are done go anywhere
        moving = ~done
        moves[rows[moving]] += 1
        places.append(places[-1].clone())
        places[-1][rows[moving]] = env_state.node[moving]
        if float(moving.sum()) < SHRINK * len(rows):
            index = moving.nonzero().squeeze(1)
            policy_state, env_state = select_rows(policy_state, index), select_rows(env_state, index)
            rows, done = rows[index], done[index]
    return BatchRollout(batch, tuple(steps), torch.stack(places, dim=1), moves, stopped)


def _available(expert_action: Tensor, observation: BatchObservation) -> Tensor:
    """(n,) the expert's actions; -1 for those whose candidate is missing from the observation."""
    stop = torch.ones(len(expert_action), 1, dtype=torch.bool, device=expert_action.device)  # always exists
    exists = torch.cat([stop, observation.mask], dim=1)
    column = expert_action.clamp(0, exists.shape[1] - 1)
    return torch.where(exists.gather(1, column[:, None]).squeeze(1), expert_action, -1)


def _make_step(
    rows: Tensor, state: EnvState, output: PolicyOutput, expert_action: Tensor, action: Tensor, active: Tensor
) -> RolloutStep:
    if bool(active.all()):
        return RolloutStep(rows, state.node, output, expert_action, action)
    index = active.nonzero().squeeze(1)
    return RolloutStep(rows[index], state.node[index], select_rows(output, index), expert_action[index], action[index])
