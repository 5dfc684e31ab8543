"""Many walkers at once: what they did, and how sure the policy was of it. Start with `roll_out`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import torch
from torch import Tensor

from itinera.policies.base import Policy, Weighed, take
from itinera.training.dataset import Batch
from itinera.training.experts import Teacher
from itinera.training.vector_env import Atlas, Walkers

SHRINK = 0.75  # the share of walkers under way below which the others are left out of the work


@dataclass(frozen=True, eq=False)
class Step:
    """One step of those who were still under way."""

    rows: Tensor  # (n,) which walkers of the batch
    node: Tensor  # (n,) where they were
    weighed: Weighed
    taught: Tensor  # (n,) what the teacher would have done
    action: Tensor  # (n,) what they did


@dataclass(frozen=True, eq=False)
class RollOut:
    """What a batch of walkers did."""

    batch: Batch
    steps: tuple[Step, ...]
    path: Tensor  # (walkers, steps + 1) nodes, the last one repeated
    moves: Tensor  # (walkers,) so many moves
    stopped: Tensor  # (walkers,) whether each stopped by itself

    @property
    def acted(self) -> int:
        """Steps of all walkers together."""
        return sum(len(step.rows) for step in self.steps)


Choose: TypeAlias = Callable[[Weighed, Tensor, Tensor], Tensor]
"""What walkers do, by what the policy weighed, what is taught, and which rows of the batch they are."""


def greedy(weighed: Weighed, taught: Tensor, rows: Tensor) -> Tensor:
    """What the policy likes best (student forcing)."""
    return weighed.logits.argmax(dim=1)


def as_taught(weighed: Weighed, taught: Tensor, rows: Tensor) -> Tensor:
    """What the teacher does (teacher forcing)."""
    return taught


class Sampled:
    """What the policy likes, by chance (sampled forcing)."""

    def __init__(self, rng: torch.Generator) -> None:
        self.rng = rng

    def __call__(self, weighed: Weighed, taught: Tensor, rows: Tensor) -> Tensor:
        likely = weighed.logits.detach().softmax(dim=1)
        return torch.multinomial(likely, 1, generator=self.rng).squeeze(1)


class Mixed:
    """Some walkers do as they are taught from beginning to end, the others what the policy likes, by chance."""

    def __init__(self, taught: Tensor, rng: torch.Generator) -> None:
        self.taught, self.sampled = taught, Sampled(rng)

    def __call__(self, weighed: Weighed, taught: Tensor, rows: Tensor) -> Tensor:
        return torch.where(self.taught[rows], taught, self.sampled(weighed, taught, rows))


def roll_out(
    policy: Policy[Any], atlas: Atlas, batch: Batch, *, choose: Choose, teacher: Teacher, limit: int
) -> RollOut:
    """Let a policy walk a batch of episodes until all have stopped, or after `limit` moves."""
    state = policy.read(batch.words, batch.lengths)
    at = atlas.put(batch.start, batch.view)
    rows = torch.arange(batch.walkers)
    steps, places = list[Step](), [batch.start]
    moves = torch.zeros(batch.walkers, dtype=torch.int64)
    stopped = torch.zeros(batch.walkers, dtype=torch.bool)
    done = torch.zeros(batch.walkers, dtype=torch.bool)  # of those in `rows`
    for _ in range(limit):
        seen = atlas.look(at)
        state, weighed = policy.step(state, seen)
        taught = teacher(atlas, batch, at, rows)
        action = choose(weighed, taught, rows)
        live = ~done
        steps.append(_step(rows, at, weighed, taught, action, live))
        ending = live & (action == 0)
        stopped[rows[ending]] = True
        done = done | ending
        if bool(done.all()):
            break
        at = atlas.move(at, seen, torch.where(done, 1, action))  # those who are done go anywhere; nobody looks
        going = ~done
        moves[rows[going]] += 1
        places.append(places[-1].clone())
        places[-1][rows[going]] = at.node[going]
        if float(going.sum()) < SHRINK * len(rows):
            kept = going.nonzero().squeeze(1)
            state, at, rows, done = take(state, kept), _of(at, kept), rows[kept], done[kept]
    return RollOut(batch, tuple(steps), torch.stack(places, dim=1), moves, stopped)


def _step(rows: Tensor, at: Walkers, weighed: Weighed, taught: Tensor, action: Tensor, live: Tensor) -> Step:
    if bool(live.all()):
        return Step(rows, at.node, weighed, taught, action)
    kept = live.nonzero().squeeze(1)
    weighed = Weighed(weighed.logits.index_select(0, kept), weighed.value.index_select(0, kept))
    return Step(rows[kept], at.node[kept], weighed, taught[kept], action[kept])


def _of(at: Walkers, index: Tensor) -> Walkers:
    return replace(at, **{field.name: getattr(at, field.name).index_select(0, index) for field in fields(at)})
