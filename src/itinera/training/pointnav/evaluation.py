"""Scores of PointNav policies on listed episodes: all robots act at once, by the most probable or by sampled actions.

Success, path length and seconds are those of the stage, which equal those of `itinera run` and `itinera score`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itinera.errors import BadArgument
from itinera.policies.pointnav.observation import make_tensors
from itinera.policies.pointnav.policy import PointNavPolicy
from itinera.simulators.pointnav.vectorized import Observations, StageStep
from itinera.stats.intervals import Interval, interval
from itinera.tasks.episode import Episode
from itinera.tasks.fastest_times import FastestTimes
from itinera.worlds import Array

RATES = ("SR", "SPL", "SCT")  # printed in percent, and from 0 to 1


@dataclass(frozen=True, eq=False)
class PointNavScores:
    """A row per episode, in the order of the list."""

    episode_ids: tuple[str, ...]
    world_ids: tuple[str, ...]
    columns: dict[str, Array]  # SR, SPL, PL, seconds, steps, contacts, distance, and SCT if there are times

    def mean(self, metric: str) -> float:
        """The mean over all episodes."""
        return float(self.columns[metric].mean())

    def interval(self, metric: str) -> Interval:
        """The mean with its confidence interval, houses being the sample."""
        bounds = (0.0, 1.0) if metric in RATES else None
        return interval(self.columns[metric], clusters=list(self.world_ids), bounds=bounds)

    def format(self, metric: str) -> str:
        """The mean and its interval as text, rates in percent."""
        scale = 100.0 if metric in RATES else 1.0
        found = self.interval(metric)
        return f"{scale * found.mean:.1f} ({scale * found.low:.1f} – {scale * found.high:.1f})"


class ListStage(Protocol):
    """A stage over listed episodes."""

    num_envs: int

    def reset(self) -> Observations: ...

    def step(self, actions: NDArray[np.int64]) -> StageStep: ...


def evaluate_pointnav(
    policy: PointNavPolicy,
    stage: ListStage,
    episodes: Sequence[Episode],
    *,
    gate: float | None = None,
    times: FastestTimes | None = None,
    rng: torch.Generator | None = None,
) -> PointNavScores:
    """The scores of a policy on the episodes that the stage lists; sampled actions with `rng`, else the most probable.

    Beyond `gate` metres from the goal STOP is not chosen. SCT needs the fastest `times` of the episodes, and counts
    their upper bound, the time of a known drive.
    """
    rows = {episode.id: k for k, episode in enumerate(episodes)}
    columns = {name: np.full(len(rows), math.nan) for name in ("SR", "SPL", "PL", "seconds", "steps", "contacts")}
    columns["distance"] = np.full(len(rows), math.nan)
    training = policy.training
    policy.eval()
    for ending in _run(policy, stage, gate, rng):
        endings = ending.endings
        index = [rows[name] for name in endings.episode_ids]
        found = {
            "SR": endings.success, "SPL": endings.spl, "PL": endings.lengths, "seconds": endings.seconds,
            "steps": endings.steps, "contacts": endings.contacts, "distance": endings.distances,
        }  # fmt: skip
        for name, values in found.items():
            columns[name][index] = values
    policy.train(training)
    if np.isnan(columns["SR"]).any():
        missing = next(name for name, k in rows.items() if math.isnan(columns["SR"][k]))
        raise BadArgument(f"Episode {missing} is not among those of the stage.")
    if times is not None:
        columns["SCT"] = _sct(columns, episodes, times)
    return PointNavScores(tuple(rows), tuple(episode.world_id for episode in episodes), columns)


def _run(policy: PointNavPolicy, stage: ListStage, gate: float | None, rng: torch.Generator | None) -> list[StageStep]:
    """The steps at which episodes ended, until the list is done."""
    count = stage.num_envs
    observations: Mapping[str, NDArray[np.float32]] = stage.reset()
    state, actions, starts = policy.start(count), torch.zeros(count, dtype=torch.int64), torch.ones(count)
    ended = []
    with torch.no_grad():
        while True:
            tensors = make_tensors(observations, policy.config.sensor, actions, starts)
            output, state = policy(tensors, state)
            actions = choose_actions(output.logits[0], tensors.pointgoal[0, :, 0], gate, rng)
            step = stage.step(actions.numpy())
            observations = step.observations
            starts = torch.from_numpy((step.terminated | step.truncated).astype(np.float32))
            if len(step.endings.index):
                ended.append(step)
            if step.idle.all():
                return ended


def choose_actions(
    logits: Tensor, distances: Tensor, gate: float | None = None, rng: torch.Generator | None = None
) -> Tensor:
    """(n,) the most probable action of each robot, or a sampled one; not STOP beyond `gate` metres from the goal."""
    if gate is not None:
        logits = torch.cat([logits[:, :1].masked_fill((distances >= gate)[:, None], -math.inf), logits[:, 1:]], dim=1)
    if rng is None:
        return logits.argmax(dim=1)
    return torch.multinomial(logits.softmax(dim=1), 1, generator=rng)[:, 0]


def _sct(columns: Mapping[str, Array], episodes: Sequence[Episode], times: FastestTimes) -> Array:
    fastest = np.array([times.upper[times.rows[episode.id]] for episode in episodes])
    with np.errstate(invalid="ignore"):
        shares = np.where(np.isfinite(fastest), fastest / np.maximum(columns["seconds"], fastest), 0.0)
    found: Array = columns["SR"] * np.nan_to_num(shares)
    return found
