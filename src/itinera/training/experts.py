"""Experts: the action to imitate at the node where an agent is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor

from itinera.training.dataset import Batch
from itinera.training.vector_env import BatchedGraphEnv, EnvState

Expert: TypeAlias = Callable[[BatchedGraphEnv, Batch, EnvState, Tensor], Tensor]
"""(n,) the action for each agent of a state; the last argument (n,) gives their rows in the batch."""


def shortest_path_expert(env: BatchedGraphEnv, batch: Batch, state: EnvState, rows: Tensor) -> Tensor:
    """Along a shortest path to the goal; STOP there."""
    return env.shortest_path_action(state.node, batch.goal[rows])


def reference_path_expert(env: BatchedGraphEnv, batch: Batch, state: EnvState, rows: Tensor) -> Tensor:
    """Along the reference path: after k moves towards its node k + 1; STOP at its end.

    The number of moves decides which node is next, so that a path that crosses itself is followed. An agent that left
    the path is sent to that node by a shortest path, and finally to the goal.
    """
    path, goal = batch.path[rows], batch.goal[rows]
    column = torch.arange(path.shape[1], device=path.device)
    # A reference may stay in place, an agent cannot: the next node is the first that differs from its own.
    ahead = (column > state.moves[:, None]) & (column < batch.path_lengths[rows, None]) & (path != state.node[:, None])
    target = path.gather(1, ahead.long().argmax(dim=1, keepdim=True)).squeeze(1)
    return env.shortest_path_action(state.node, torch.where(ahead.any(dim=1), target, goal))
