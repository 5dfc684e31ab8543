"""Pragmatic inference: a follower proposes paths, a speaker says how well the instruction fits each, both decide.

The follower proposes by state-factored search: of all that it could do from where it has been, it tries the likeliest
next, wherever that is. An agent who does so in a place it does not know walks there, so what is found here is not what
an ordinary agent under the rules of a benchmark could do: it is an evaluation, and it tells beside the scores of the
paths chosen how many metres of exploration they took. Start with `proposed`, then `settled`.

Reference: Fried et al. 2018, Speaker-Follower Models for Vision-and-Language Navigation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np
import torch
from torch import Tensor

from itinera.metrics.attempts import Attempts
from itinera.policies.base import Policy, take
from itinera.policies.speaker import Speaker
from itinera.training.back_translation import route_of
from itinera.training.dataset import Batch, Lessons
from itinera.training.evaluation import AtlasSpace, Scores, measured
from itinera.training.vector_env import Atlas, Walkers
from itinera.worlds import Array, Ragged

AT_ONCE = 64  # episodes searched together
TOLD_AT_ONCE = 512  # paths told together


@dataclass(frozen=True, eq=False)
class Proposals:
    """Paths a follower proposes for one episode, the likeliest first, and what it took to find them."""

    paths: tuple[tuple[int, ...], ...]  # nodes of each, from the start
    follower: Array  # (paths,) the log-probability of walking and stopping so
    speaker: Array  # (paths,) the log-probability of telling it in the words of the instruction
    tried: tuple[int, ...]  # nodes where it looked for what to do next, in this order


def proposed(
    policy: Policy[Any], speaker: Speaker, atlas: Atlas, lessons: Lessons, *, limit: int, count: int = 40
) -> list[Proposals]:
    """For every lesson up to so many paths of `limit` moves at most, with what follower and speaker think of them.

    Of paths that end at one place in one view only the likeliest is proposed. Both must have been made with one
    vocabulary, and what the policy keeps in mind must not grow from step to step.
    """
    each: list[Proposals] = []
    with torch.no_grad():
        for first in range(0, len(lessons), AT_ONCE):
            batch = lessons.batch(range(first, min(first + AT_ONCE, len(lessons))))
            found = _searched(policy, atlas, batch, limit=limit, count=count)
            each += _judged(speaker, atlas, batch, found)
    return each


@dataclass(frozen=True, eq=False)
class Settled:
    """The paths chosen among proposals."""

    scores: Scores
    explored: Array  # (lessons,) metres from each place tried to the next, and at last to where the chosen path ends


def settled(atlas: Atlas, lessons: Lessons, proposals: Sequence[Proposals], *, speaker: float = 0.95) -> Settled:
    """The path that follower and speaker like best together, where the `speaker` has this weight.

    A weight of 0 takes what the follower likes best of all it found; choose the weight on other lessons. Scores are
    log-probabilities as they are; the authors' code, whose weight is 0.95, divides each by their standard
    deviation over all proposals. Exploration is measured along shortest ways, which an agent that does not know them
    could not all walk: it is at least so long.
    """
    chosen = [each.paths[int(np.argmax((1 - speaker) * each.follower + speaker * each.speaker))] for each in proposals]
    batch = lessons.batch(range(len(lessons)))
    space = AtlasSpace(atlas)
    walked = Ragged.from_counts(np.concatenate(chosen), np.array([len(path) for path in chosen]))
    reference = Ragged.from_counts(np.concatenate(lessons.paths), batch.path_lengths.numpy())
    goals = Ragged.from_counts(batch.goal.numpy(), np.ones(len(lessons), dtype=np.int64))
    stopped, unknown = np.ones(len(lessons), dtype=bool), np.full(len(lessons), np.nan)
    columns = measured(Attempts(space, walked, reference, goals, stopped, unknown, unknown))
    worlds = [episode.world_id for episode in lessons.episodes]
    went = [space.along(np.array([*each.tried, path[-1]])).sum() for each, path in zip(proposals, chosen, strict=True)]
    return Settled(Scores(columns, worlds, tuple(chosen), stopped), np.array(went))


@dataclass(frozen=True, eq=False)
class _Tried:
    """A step of the search: for each of some episodes one place was tried."""

    changed: dict[str, Tensor]  # (n, …) what the policy has in mind since it looked there, apart from what stays
    candidates: Tensor  # (rows, size) what it saw along the ways
    geometry: Tensor  # (rows, GEOMETRY)


@dataclass(frozen=True)
class _Idea:
    """Something that could be done."""

    path: tuple[int, ...]  # nodes, the one it leads to last
    view: int  # one is turned to there
    stops: bool = False  # ends there
    step: int = -1  # of the search, at which it came up; -1 before the first
    at: int = 0  # which of the places tried then
    row: int = 0  # which of the ways seen then


class _Search:
    """The search for one episode: ideas wait, the likeliest is tried; of those that lead to a state only the first."""

    def __init__(self, start: int, view: int, *, count: int, limit: int) -> None:
        # A heap of costs, which are minus log-probabilities; numbers that break ties; and ideas.
        self.waiting: list[tuple[float, int, _Idea]] = [(0.0, 0, _Idea((start,), view))]
        self.known: set[tuple[int, int, bool]] = set()
        self.finished: list[tuple[float, tuple[int, ...]]] = []
        self.tried: list[int] = []
        self.count, self.limit, self.made = count, limit, 1

    def likeliest(self) -> tuple[float, _Idea] | None:
        """The cost and the idea to try next; those that stop are finished. None when there is nothing left to do."""
        while self.waiting and len(self.finished) < self.count:
            cost, _, idea = heappop(self.waiting)
            if self._is_new(idea):
                self.known.add(_state(idea))
                if not idea.stops:
                    self.tried.append(idea.path[-1])
                    return cost, idea
                self.finished.append((-cost, idea.path))
        return None

    def add(self, cost: float, idea: _Idea) -> None:
        if self._is_new(idea) and len(idea.path) - 1 <= self.limit:
            heappush(self.waiting, (cost, self.made, idea))
            self.made += 1

    def _is_new(self, idea: _Idea) -> bool:
        return _state(idea) not in self.known


def _state(idea: _Idea) -> tuple[int, int, bool]:
    return idea.path[-1], idea.view, idea.stops


def _searched(policy: Policy[Any], atlas: Atlas, batch: Batch, *, limit: int, count: int) -> list[_Search]:
    """The searches for a batch of episodes, all of them a step at a time."""
    starts = zip(batch.start.tolist(), batch.view.tolist(), strict=True)
    searches = [_Search(start, view, count=count, limit=limit) for start, view in starts]
    first = policy.read(batch.words, batch.lengths)
    steps: list[_Tried] = []
    while found := [(k, *next_) for k, search in enumerate(searches) if (next_ := search.likeliest()) is not None]:
        ideas = [idea for _, _, idea in found]
        before = _in_mind(take(first, torch.tensor([k for k, _, _ in found])), steps, ideas)
        seen = atlas.look(_walkers(atlas, steps, ideas))
        after, weighed = policy.step(before, seen)
        costs = (-weighed.logits.double().log_softmax(dim=1)).tolist()
        slots = seen.slots.tolist()
        for at, (k, so_far, idea) in enumerate(found):
            searches[k].add(so_far + costs[at][0], replace(idea, stops=True))
            for way, (beyond, view) in enumerate(_ways(atlas, idea.path[-1])):
                more = _Idea((*idea.path, beyond), view, step=len(steps), at=at, row=slots[at][way])
                searches[k].add(so_far + costs[at][1 + way], more)
        steps.append(_Tried(_changes(before, after), seen.candidates, seen.geometry))
    return searches


def _ways(atlas: Atlas, node: int) -> Iterator[tuple[int, int]]:
    """Where each way on from a node leads, and the view one is turned to then."""
    first = int(atlas.first[node])
    candidates = slice(first, first + int(atlas.degree[node]))
    return zip(atlas.beyond[candidates].tolist(), atlas.view[candidates].tolist(), strict=True)


def _changes(before: Any, after: Any) -> dict[str, Tensor]:
    """What a step put in the place of something else; the words that were read, for one, stay."""
    now = {field.name: getattr(after, field.name) for field in fields(after)}
    return {
        name: value for name, value in now.items() if isinstance(value, Tensor) and value is not getattr(before, name)
    }


def _in_mind(first: Any, steps: Sequence[_Tried], ideas: Sequence[_Idea]) -> Any:
    """What the policy had in mind when each idea came up; `first` is what it had at the start."""
    names = steps[0].changed if steps else ()

    def recalled(name: str, k: int, idea: _Idea) -> Tensor:
        value: Tensor = getattr(first, name)[k] if idea.step < 0 else steps[idea.step].changed[name][idea.at]
        return value

    return replace(
        first, **{name: torch.stack([recalled(name, k, idea) for k, idea in enumerate(ideas)]) for name in names}
    )


def _walkers(atlas: Atlas, steps: Sequence[_Tried], ideas: Sequence[_Idea]) -> Walkers:
    """Those who have done what each idea says."""
    at = atlas.put(torch.tensor([idea.path[-1] for idea in ideas]), torch.tensor([idea.view for idea in ideas]))
    longest = max(len(idea.path) for idea in ideas)
    for k, idea in enumerate(ideas):
        if idea.step >= 0:
            at.taken[k], at.taken_geometry[k] = (
                steps[idea.step].candidates[idea.row],
                steps[idea.step].geometry[idea.row],
            )
    return replace(
        at,
        before=torch.tensor([idea.path[-2] if len(idea.path) > 1 else -1 for idea in ideas]),
        visited=torch.tensor([[*idea.path[:-1], *[-1] * (longest + 1 - len(idea.path))] for idea in ideas]),
        moves=torch.tensor([len(idea.path) - 1 for idea in ideas]),
    )


def _judged(speaker: Speaker, atlas: Atlas, batch: Batch, searches: Sequence[_Search]) -> list[Proposals]:
    """What was found, with what the speaker thinks of it."""
    paths = [path for search in searches for _, path in search.finished]
    who = torch.repeat_interleave(torch.tensor([len(search.finished) for search in searches]))
    likely = [
        _likely(speaker, atlas, batch, paths[k : k + TOLD_AT_ONCE], who[k : k + TOLD_AT_ONCE])
        for k in range(0, len(paths), TOLD_AT_ONCE)
    ]
    told = np.split(torch.cat(likely).numpy(), np.cumsum([len(search.finished) for search in searches])[:-1])
    return [
        Proposals(
            tuple(path for _, path in search.finished),
            np.array([likely for likely, _ in search.finished]),
            speaks,
            tuple(search.tried),
        )
        for search, speaks in zip(searches, told, strict=True)
    ]


def _likely(speaker: Speaker, atlas: Atlas, batch: Batch, paths: Sequence[tuple[int, ...]], who: Tensor) -> Tensor:
    """(paths,) the log-probability that the speaker tells each path in the words of the episode it was found for."""
    counts = torch.tensor([len(path) for path in paths])
    longest = int(counts.max())
    table = torch.tensor([[*path, *[path[-1]] * (longest - len(path))] for path in paths])
    memory = speaker.remember(route_of(atlas, table, counts, batch.view[who]))
    return -speaker.surprise(memory, batch.words[who], batch.lengths[who]).double().sum(dim=1)
