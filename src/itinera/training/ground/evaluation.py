"""Scores of policies on the ground: the same rollouts as `itinera run`, scored by the same code as `itinera score`.

All lanes act at once, so an evaluation takes a fraction of the time of a run in one process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from itinera.mapping.config import MapLifetime
from itinera.metrics.score import score
from itinera.policies.ground.base import GroundPolicy
from itinera.records import Predictions
from itinera.records.scores import ScoreTable
from itinera.runs.config import select_protocol
from itinera.seeding import generator
from itinera.stats.intervals import Interval, interval
from itinera.tasks import Protocol, Split
from itinera.training.ground.batches import Texts, make_batch
from itinera.training.ground.experience import Collector, Experience
from itinera.training.ground.lane_agents import Actions, PolicyDecider
from itinera.training.ground.tour_lanes import episode_jobs, tour_jobs

READING_BATCH = 16  # trajectories in a forward pass


def predict(
    policy: GroundPolicy[Any, Any],
    split: Split,
    texts: Texts,
    collector: Collector,
    lifetime: MapLifetime | None,
    *,
    protocol: Protocol | None = None,
) -> Predictions:
    """The predictions of a policy that takes its most probable actions, as `itinera run` makes them.

    On the tours of the split if it has any, in single episodes otherwise; by the protocol of the tasks unless another
    is given.
    """
    protocol = select_protocol(protocol, split)
    jobs = tour_jobs(split) if split.tours else episode_jobs(split)
    # Long tours first, so that no lane is left alone with one at the end.
    order = sorted(range(len(jobs)), key=lambda k: -len(jobs[k].episodes))
    with evaluation_mode(policy):
        decider = PolicyDecider(policy, texts.words, collector.num_lanes, lifetime)
        rollouts = collector.walk([jobs[k] for k in order], decider, protocol=protocol)
    in_order = sorted(zip(order, rollouts, strict=True), key=lambda pair: pair[0])
    return Predictions("", tuple(rollout for _, rollout in in_order), protocol)


def evaluate_on_ground(
    policy: GroundPolicy[Any, Any],
    split: Split,
    texts: Texts,
    collector: Collector,
    lifetime: MapLifetime | None,
    *,
    protocol: Protocol | None = None,
) -> ScoreTable:
    """The scores of a policy on a split, or on its tours."""
    predictions = predict(policy, split, texts, collector, lifetime, protocol=protocol)
    return score(predictions, split, collector.worlds, protocol=predictions.protocol)


@contextmanager
def evaluation_mode(policy: GroundPolicy[Any, Any]) -> Iterator[None]:
    """The policy in evaluation mode, and afterwards in the mode it was in."""
    training = policy.training
    policy.eval()
    try:
        yield
    finally:
        policy.train(training)


def exchange_instructions(split: Split, *, seed: int = 0) -> Split:
    """The split with the instruction of another path of the same house in every episode.

    An agent that reads scores lower on it; one that only looks does not.
    """
    episodes = list(split.episodes)
    for world_id, rows in split.rows_by_world.items():
        paths: dict[str, list[int]] = {}
        for row in rows.tolist():
            episode = split.episodes[row]
            paths.setdefault(episode.path_id or episode.id, []).append(row)
        names = list(paths)
        if len(names) < 2:
            continue
        order = generator(seed, "exchange", world_id).permutation(len(names))
        for k, at in enumerate(order):  # one step along a circle of all paths: nobody keeps their own
            given = paths[names[order[(k + 1) % len(names)]]]
            for number, row in enumerate(paths[names[at]]):
                other = split.episodes[given[number % len(given)]]
                episodes[row] = replace(episodes[row], instruction=other.instruction)
    return replace(split, episodes=tuple(episodes))


@dataclass(frozen=True)
class ReadingGap:
    """The teacher-forced loss of a policy with its own and with another path's instructions."""

    own: float
    other: float
    difference: Interval  # other - own per trajectory, houses being the sample

    @property
    def gap(self) -> float:
        return self.other - self.own


@torch.no_grad()
def measure_reading(
    policy: GroundPolicy[Any, Any],
    split: Split,
    texts: Texts,
    others: Texts,
    experience: Sequence[Experience],
    lifetime: MapLifetime | None,
) -> ReadingGap:
    """The reading gap on trajectories of the expert; `others` are the texts of `exchange_instructions`."""
    losses: dict[str, list[float]] = {"own": [], "other": []}
    worlds: list[str] = []
    device = next(policy.parameters()).device
    with evaluation_mode(policy):
        for first in range(0, len(experience), READING_BATCH):
            part = experience[first : first + READING_BATCH]
            worlds += [split.by_id[one.episode_id].world_id for one in part]
            for name, spoken in (("own", texts), ("other", others)):
                words: list[list[Actions]] = [[spoken.words[one.episode_id]] for one in part]
                batch = make_batch(part, words, lifetime, device=device)
                state = policy.encode_instruction(batch.words, batch.lengths)
                _, output = policy.unroll(state, batch.sequence)
                weighted = torch.nn.functional.cross_entropy(
                    output.logits.transpose(1, 2), batch.labels, reduction="none"
                )
                each = (weighted * batch.weights).sum(dim=1) / batch.weights.sum(dim=1)
                losses[name] += each.tolist()
    own, other = (np.array(losses[name]) for name in ("own", "other"))
    return ReadingGap(float(own.mean()), float(other.mean()), interval(other - own, clusters=worlds))
