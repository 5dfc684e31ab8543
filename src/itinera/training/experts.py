"""Teachers: what should be done where a walker is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor

from itinera.training.dataset import Batch
from itinera.training.vector_env import Atlas, Walkers

Teacher: TypeAlias = Callable[[Atlas, Batch, Walkers, Tensor], Tensor]
"""The action for each of the walkers, who are these rows of the batch."""


def to_goal(atlas: Atlas, batch: Batch, at: Walkers, rows: Tensor) -> Tensor:
    """By a shortest way to the goal, and STOP there."""
    return atlas.action_to(at.node, batch.goal[rows])


def along_path(atlas: Atlas, batch: Batch, at: Walkers, rows: Tensor) -> Tensor:
    """Along the reference: to its node after so many moves, STOP when it has ended.

    A walker who left it is led by a shortest way to the node that is next by the number of moves, the goal at last, so
    that a path which crosses itself is walked as it is told.
    """
    path, goal = batch.path[rows], batch.goal[rows]
    column = torch.arange(path.shape[1])
    # Where the reference stays in place, the node after that is next: nobody can wait.
    ahead = (column > at.moves[:, None]) & (column < batch.path_lengths[rows, None]) & (path != at.node[:, None])
    there = path.gather(1, ahead.long().argmax(dim=1, keepdim=True)).squeeze(1)
    return atlas.action_to(at.node, torch.where(ahead.any(dim=1), there, goal))
