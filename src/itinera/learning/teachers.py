"""Teachers: what should be done where a walker is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor

from itinera.learning.atlas import Atlas, Walkers
from itinera.learning.lessons import Batch

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
    path, last = batch.path[rows], batch.path_lengths[rows] - 1
    following = torch.minimum(at.moves + 1, last)
    there = path.gather(1, following[:, None]).squeeze(1)
    done = (at.moves >= last) & (at.node == batch.goal[rows])
    action = atlas.action_to(at.node, there)
    # Who stands where it should be one move later waits by going on.
    later = path.gather(1, torch.minimum(at.moves + 2, last)[:, None]).squeeze(1)
    action = torch.where((action == 0) & ~done, atlas.action_to(at.node, later), action)
    return torch.where(done, 0, action)
