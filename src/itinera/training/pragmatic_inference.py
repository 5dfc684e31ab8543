"""Pragmatic inference: a follower proposes paths, a speaker scores the instruction given each, and both decide.

The follower proposes by state-factored search: it expands the most probable unexpanded action of all places it has
visited. An agent in an unknown scene would have to walk there, so these results are not those of an agent under the
rules of a benchmark. Each score is therefore reported with the metres of exploration it took. Start with
`propose_paths`, then `rerank_paths`.

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
from itinera.policies.base import Policy, select_rows
from itinera.policies.speaker import Speaker
from itinera.training.back_translation import observe_paths
from itinera.training.dataset import Batch, EpisodeDataset
from itinera.training.evaluation import BatchedGraphSpace, EvaluationScores, compute_metrics
from itinera.training.vector_env import BatchedGraphEnv, EnvState
from itinera.worlds import Array, Ragged

SEARCH_BATCH = 64  # episodes searched together
SPEAKER_BATCH = 512  # paths scored together


@dataclass(frozen=True, eq=False)
class Proposals:
    """The paths proposed for one episode, the most probable first, and what it took to find them."""

    paths: tuple[tuple[int, ...], ...]  # node numbers, from the start
    follower: Array  # (paths,) log-probability of the path, its STOP included
    speaker: Array  # (paths,) log-probability of the instruction given the path
    expanded: tuple[int, ...]  # the nodes expanded by the search, in order


def propose_paths(
    policy: Policy[Any],
    speaker: Speaker,
    env: BatchedGraphEnv,
    dataset: EpisodeDataset,
    *,
    max_steps: int,
    count: int = 40,
) -> list[Proposals]:
    """For every episode up to `count` paths of at most `max_steps` moves, scored by follower and speaker.

    Of paths that end at one node facing one view only the most probable is proposed. Both models must share one
    tokenizer, and the tensors of the policy's state must keep their shapes from step to step.
    """
    proposals: list[Proposals] = []
    with torch.no_grad():
        for first in range(0, len(dataset), SEARCH_BATCH):
            batch = dataset.batch(range(first, min(first + SEARCH_BATCH, len(dataset))))
            searches = _search_paths(policy, env, batch, max_steps=max_steps, count=count)
            proposals += _score_proposals(speaker, env, batch, searches)
    return proposals


@dataclass(frozen=True, eq=False)
class RerankedPaths:
    """The paths chosen among proposals."""

    scores: EvaluationScores
    exploration: Array  # (episodes,) metres from each expanded node to the next, and finally to the end of the path


def rerank_paths(
    env: BatchedGraphEnv, dataset: EpisodeDataset, proposals: Sequence[Proposals], *, speaker_weight: float = 0.95
) -> RerankedPaths:
    """The paths with the highest weighted log-probability of follower and speaker.

    A weight of 0 takes the follower's best path; choose the weight on another dataset. Log-probabilities are used as
    they are; the authors' code, whose weight is 0.95, divides each by its standard deviation over all proposals.
    Exploration is measured along shortest paths, which an agent that does not know them could not follow: it is a lower
    bound.
    """
    chosen = [
        each.paths[int(np.argmax((1 - speaker_weight) * each.follower + speaker_weight * each.speaker))]
        for each in proposals
    ]
    batch = dataset.batch(range(len(dataset)))
    space = BatchedGraphSpace(env)
    attempts = Attempts(
        space,
        path=Ragged.from_counts(np.concatenate(chosen), np.array([len(path) for path in chosen])),
        reference=Ragged.from_counts(np.concatenate(dataset.paths), batch.path_lengths.numpy()),
        goals=Ragged.from_counts(batch.goal.numpy(), np.ones(len(dataset), dtype=np.int64)),
    )
    worlds = [episode.world_id for episode in dataset.episodes]
    scores = EvaluationScores(compute_metrics(attempts), worlds, tuple(chosen), attempts.stopped)
    routes = [np.array([*each.expanded, path[-1]]) for each, path in zip(proposals, chosen, strict=True)]
    return RerankedPaths(scores, np.array([space.along(route).sum() for route in routes]))


@dataclass(frozen=True, eq=False)
class _Expansion:
    """A step of the search: one node was expanded for each of some episodes."""

    changed: dict[str, Tensor]  # (n, …) the fields of the policy's state that this step changed
    candidates: Tensor  # (rows, features)
    geometry: Tensor  # (rows, GEOMETRY_DIM)


@dataclass(frozen=True)
class _Hypothesis:
    """A path that could be expanded, or that ends."""

    path: tuple[int, ...]  # nodes
    view: int  # faced at its end
    stops: bool = False
    step: int = -1  # the expansion it comes from; -1 for the start
    position: int = 0  # among the nodes of that expansion
    row: int = 0  # among the candidates of that expansion

    @property
    def state(self) -> tuple[int, int, bool]:
        return self.path[-1], self.view, self.stops


class _Search:
    """The search for one episode: a queue of hypotheses, of which each state is expanded once."""

    def __init__(self, start: int, view: int, *, count: int, max_steps: int) -> None:
        # A heap of negative log-probabilities, numbers that break ties, and hypotheses.
        self.queue: list[tuple[float, int, _Hypothesis]] = [(0.0, 0, _Hypothesis((start,), view))]
        self.closed: set[tuple[int, int, bool]] = set()
        self.finished: list[tuple[float, tuple[int, ...]]] = []
        self.expanded: list[int] = []
        self.count, self.max_steps, self.added = count, max_steps, 1

    def pop(self) -> tuple[float, _Hypothesis] | None:
        """The cost and the hypothesis to expand next; None if the search is over. Those that stop are finished."""
        while self.queue and len(self.finished) < self.count:
            cost, _, hypothesis = heappop(self.queue)
            if hypothesis.state not in self.closed:
                self.closed.add(hypothesis.state)
                if not hypothesis.stops:
                    self.expanded.append(hypothesis.path[-1])
                    return cost, hypothesis
                self.finished.append((-cost, hypothesis.path))
        return None

    def push(self, cost: float, hypothesis: _Hypothesis) -> None:
        if hypothesis.state not in self.closed and len(hypothesis.path) - 1 <= self.max_steps:
            heappush(self.queue, (cost, self.added, hypothesis))
            self.added += 1


def _search_paths(
    policy: Policy[Any], env: BatchedGraphEnv, batch: Batch, *, max_steps: int, count: int
) -> list[_Search]:
    """The searches for a batch of episodes, all advanced together."""
    starts = zip(batch.start.tolist(), batch.view.tolist(), strict=True)
    searches = [_Search(start, view, count=count, max_steps=max_steps) for start, view in starts]
    initial = policy.encode_instruction(batch.words, batch.lengths)
    expansions: list[_Expansion] = []
    while found := [(k, *popped) for k, search in enumerate(searches) if (popped := search.pop()) is not None]:
        hypotheses = [hypothesis for _, _, hypothesis in found]
        initial_rows = select_rows(initial, torch.tensor([k for k, _, _ in found], device=env.device))
        before = _restore_policy_state(initial_rows, expansions, hypotheses)
        observation = env.observe(_restore_env_state(env, expansions, hypotheses))
        after, output = policy(before, observation)
        costs = (-output.logits.double().log_softmax(dim=1)).tolist()
        padded_index = observation.padded_index.tolist()
        for position, (k, cost, hypothesis) in enumerate(found):
            searches[k].push(cost + costs[position][0], replace(hypothesis, stops=True))
            for edge, (target, view) in enumerate(_edges(env, hypothesis.path[-1])):
                path, row = (*hypothesis.path, target), padded_index[position][edge]
                successor = _Hypothesis(path, view, step=len(expansions), position=position, row=row)
                searches[k].push(cost + costs[position][1 + edge], successor)
        expansions.append(_Expansion(_changed_fields(before, after), observation.candidates, observation.geometry))
    return searches


def _edges(env: BatchedGraphEnv, node: int) -> Iterator[tuple[int, int]]:
    """The target of each edge of a node, and the view faced there."""
    first = int(env.first_edge[node])
    edges = slice(first, first + int(env.degree[node]))
    return zip(env.edge_target[edges].tolist(), env.edge_view[edges].tolist(), strict=True)


def _changed_fields(before: Any, after: Any) -> dict[str, Tensor]:
    """The tensors of a state that a step replaced; the encoded instruction, for one, stays."""
    return {
        field.name: value
        for field in fields(after)
        if isinstance(value := getattr(after, field.name), Tensor) and value is not getattr(before, field.name)
    }


def _restore_policy_state(initial: Any, expansions: Sequence[_Expansion], hypotheses: Sequence[_Hypothesis]) -> Any:
    """The policy's state at the end of each hypothesis; `initial` is its state at the start."""
    names = expansions[0].changed if expansions else ()

    def restore(name: str, k: int, hypothesis: _Hypothesis) -> Tensor:
        if hypothesis.step < 0:
            value: Tensor = getattr(initial, name)[k]
            return value
        return expansions[hypothesis.step].changed[name][hypothesis.position]

    return replace(
        initial,
        **{name: torch.stack([restore(name, k, each) for k, each in enumerate(hypotheses)]) for name in names},
    )


def _restore_env_state(
    env: BatchedGraphEnv, expansions: Sequence[_Expansion], hypotheses: Sequence[_Hypothesis]
) -> EnvState:
    """The state of the environment at the end of each hypothesis."""
    state = env.reset(
        torch.tensor([each.path[-1] for each in hypotheses], device=env.device),
        torch.tensor([each.view for each in hypotheses], device=env.device),
    )
    longest = max(len(each.path) for each in hypotheses)
    for k, each in enumerate(hypotheses):
        if each.step >= 0:
            expansion = expansions[each.step]
            state.previous[k] = expansion.candidates[each.row]
            state.previous_geometry[k] = expansion.geometry[each.row]
    previous = [each.path[-2] if len(each.path) > 1 else -1 for each in hypotheses]
    visited = [[*each.path[:-1], *[-1] * (longest + 1 - len(each.path))] for each in hypotheses]
    return replace(
        state,
        previous_node=torch.tensor(previous, device=env.device),
        visited=torch.tensor(visited, device=env.device),
        moves=torch.tensor([len(each.path) - 1 for each in hypotheses], device=env.device),
    )


def _score_proposals(
    speaker: Speaker, env: BatchedGraphEnv, batch: Batch, searches: Sequence[_Search]
) -> list[Proposals]:
    """The finished paths of searches with the speaker's log-probabilities."""
    paths = [path for search in searches for _, path in search.finished]
    counts = [len(search.finished) for search in searches]
    owner_index = torch.repeat_interleave(torch.tensor(counts, device=env.device))
    log_probs = [
        _instruction_log_probs(speaker, env, batch, paths[k : k + SPEAKER_BATCH], owner_index[k : k + SPEAKER_BATCH])
        for k in range(0, len(paths), SPEAKER_BATCH)
    ]
    by_episode = np.split(torch.cat(log_probs).numpy(force=True), np.cumsum(counts)[:-1])
    return [
        Proposals(
            tuple(path for _, path in search.finished),
            np.array([log_prob for log_prob, _ in search.finished]),
            speaker_log_probs,
            tuple(search.expanded),
        )
        for search, speaker_log_probs in zip(searches, by_episode, strict=True)
    ]


def _instruction_log_probs(
    speaker: Speaker, env: BatchedGraphEnv, batch: Batch, paths: Sequence[tuple[int, ...]], owner_index: Tensor
) -> Tensor:
    """(paths,) the log-probability of the instruction of each path's episode, given the path."""
    counts = torch.tensor([len(path) for path in paths], device=env.device)
    longest = int(counts.max())
    table = torch.tensor([[*path, *[path[-1]] * (longest - len(path))] for path in paths], device=env.device)
    state = speaker.encode_paths(observe_paths(env, table, counts, batch.view[owner_index]))
    return -speaker.word_losses(state, batch.words[owner_index], batch.lengths[owner_index]).double().sum(dim=1)
