"""Evaluation of decision policies: the predictions of a run, made many at a time, and the gap that reading makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from itinera.agents.decisions import Decision
from itinera.metrics.score import score
from itinera.policies.base import select_rows
from itinera.policies.checkpoint import Model
from itinera.policies.ground.decision import DecisionPolicy, decide, make_tensors
from itinera.policies.ground.polar_views import LabelWords, PolarViews
from itinera.records import Ending, Predictions, Rollout, Trajectory
from itinera.records.scores import ScoreTable
from itinera.tasks import PROTOCOLS, Episode, Instruction, Protocol, Split
from itinera.training.dataset import pad_tokens
from itinera.training.ground.decision_batches import RollSampler
from itinera.training.ground.decision_losses import compute_losses, exchange_texts
from itinera.training.ground.decision_rolls import RollState, Sources, in_parts, walk
from itinera.worlds import World


class PolicyWalk:
    """Chooses the decisions of agents by a policy, all of those that are still walking at once."""

    def __init__(self, model: Model, words: LabelWords, instructions: Sequence[Instruction]) -> None:
        policy: DecisionPolicy = model.policy
        tokens = [model.tokenizer.encode(text.text, max_length=model.card.max_words) for text in instructions]
        self._policy, self._words, self._device = policy, words, next(policy.parameters()).device
        table, lengths = (part.to(self._device) for part in pad_tokens(tokens))
        self._rows = list(range(len(tokens)))
        with torch.no_grad():
            self._state = policy.encode_instruction(table, lengths)

    def __call__(
        self, rows: list[int], views: PolarViews, free: NDArray[np.float32], labels: Sequence[Decision]
    ) -> Sequence[Decision]:
        where = {row: k for k, row in enumerate(self._rows)}
        if rows != self._rows:
            self._state = select_rows(self._state, torch.tensor([where[row] for row in rows], device=self._device))
            self._rows = rows
        with torch.no_grad():
            features = self._policy.encode_views(make_tensors(views, self._words).to(self._device))
            self._state, decisions, _ = decide(self._policy, self._state, features)
        return decisions


def predict(
    model: Model,
    world: World,
    words: LabelWords,
    episodes: Sequence[Episode],
    protocol: Protocol,
    *,
    instructions: Sequence[Instruction] | None = None,
    sources: Sources | None = None,
) -> list[Rollout]:
    """The rollouts of a policy in episodes of one house, equal to those of `itinera run`.

    `instructions` are given to the agent instead of the episodes' own.
    """
    texts = [episode.instruction for episode in episodes] if instructions is None else list(instructions)
    limit, found, done = model.policy.config.max_decisions, list[Rollout](), 0
    sources = sources or Sources()
    for part in in_parts(episodes, sources.max_agents):
        chooser = PolicyWalk(model, words, texts[done : done + len(part)])
        agents, _ = walk(world, part, protocol, chooser, sources(world), max_decisions=limit)
        found += [_rollout(agent, protocol) for agent in agents]
        done += len(part)
    return found


def _rollout(agent: RollState, protocol: Protocol) -> Rollout:
    stopped = protocol.step_limit is None or agent.actions < protocol.step_limit
    ending = Ending.STOPPED if stopped else Ending.OUT_OF_STEPS
    trajectory = Trajectory(agent.episode.id, np.array(agent.path), ending=ending)
    return Rollout(agent.episode.id, (trajectory,))


def evaluate_decisions(
    model: Model,
    split: Split,
    worlds: Mapping[str, World],
    words: Callable[[World], LabelWords],
    *,
    instructions: Mapping[str, Instruction] | None = None,
    sources: Sources | None = None,
) -> ScoreTable:
    """The scores of a policy on a split; `instructions`, by episode, are given instead of the episodes' own."""
    protocol = PROTOCOLS[split.protocol]
    training = model.policy.training
    model.policy.eval()
    rollouts = []
    for world_id, rows in split.rows_by_world.items():
        world, episodes = worlds[world_id], [split.episodes[k] for k in rows]
        texts = None if instructions is None else [instructions[episode.id] for episode in episodes]
        rollouts += predict(model, world, words(world), episodes, protocol, instructions=texts, sources=sources)
    model.policy.train(training)
    return score(Predictions(split.name, tuple(rollouts), protocol), split, worlds)


def other_instructions(split: Split) -> dict[str, Instruction]:
    """For each episode the instruction of another path of its world: that of the next path, with the same rank."""
    paths: dict[tuple[str, str], list[Episode]] = {}
    for episode in split.episodes:
        paths.setdefault((episode.world_id, episode.path_id or episode.id), []).append(episode)
    found: dict[str, Instruction] = {}
    for world_id in split.world_ids:
        mine = [rows for (where, _), rows in paths.items() if where == world_id]
        for rows, others in zip(mine, [*mine[1:], mine[0]], strict=True):
            for k, episode in enumerate(rows):
                found[episode.id] = others[k % len(others)].instruction
    return found


@dataclass(frozen=True)
class ReadingGap:
    """Teacher-forced losses with a path's own instructions and with another's, means over decisions."""

    own: float  # windowed
    other: float
    own_hard: float
    other_hard: float

    @property
    def gap(self) -> float:
        return self.other - self.own


def reading_gap(policy: DecisionPolicy, sampler: RollSampler, rows: NDArray[np.int64], size: int = 24) -> ReadingGap:
    """The losses of some rolls of a sampler."""
    training = policy.training
    policy.eval()
    sums = np.zeros(5)
    with torch.no_grad():
        for k in range(0, len(rows), size):
            batch = sampler.batch(rows[k : k + size]).to(next(policy.parameters()).device)
            own, other = compute_losses(policy, batch), compute_losses(policy, exchange_texts(batch))
            values = (own.windowed, other.windowed, own.hard, other.hard, own.mask)
            sums += [float(value.sum()) for value in values]
    policy.train(training)
    return ReadingGap(*(sums[:4] / sums[4]).tolist())
