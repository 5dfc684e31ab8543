"""Evaluation of policies by the metrics themselves: scores during training, and the rows of tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from itinera.errors import NoRoute
from itinera.metrics.attempts import Attempts
from itinera.metrics.fidelity import cls, ndtw
from itinera.metrics.goal import navigation_error, oracle_success, path_length, spl, success
from itinera.policies.base import Policy
from itinera.stats.intervals import Interval, interval
from itinera.training.dataset import EpisodeDataset
from itinera.training.experts import shortest_path_expert
from itinera.training.rollout import ActionSelector, BatchRollout, collect_rollout, greedy
from itinera.training.vector_env import BatchedGraphEnv
from itinera.worlds import Array, Place, Places, Ragged

BATCH_SIZE = 256
RADIUS = 3.0  # metres
UNIT_METRICS = ("SR", "OSR", "SPL", "CLS", "nDTW", "t-nDTW")  # whose intervals are bounded by 0 and 1
METRE_METRICS = ("PL", "NE")  # all others are printed in percent


class BatchedGraphSpace:
    """All worlds of an environment as one space whose places are node numbers, so that batches are measured at once."""

    def __init__(self, env: BatchedGraphEnv) -> None:
        tables = (env.distance_row, env.distances, env.first_edge, env.edge_target, env.next_action)
        self._row, self._distances, self._first_edge, self._edge_target, self._next_action = (
            table.numpy(force=True) for table in tables
        )

    def _look_up(self, pairs: NDArray[np.int64]) -> Array:
        metres: Array = self._distances[pairs]
        return metres

    def locate(self, places: Places) -> NDArray[Any]:
        return np.asarray(places)

    def between(self, a: Places, b: Places) -> Array:
        return self._look_up(self._row[self.locate(a)][:, None] + self.locate(b))

    def along(self, places: Places) -> Array:
        nodes = self.locate(places)
        return self._look_up(self._row[nodes[:-1]] + nodes[1:])

    def route(self, start: Place, goal: Place) -> Places:
        node, end = int(start), int(goal)
        if not np.isfinite(self._distances[self._row[node] + end]):
            raise NoRoute(f"No path leads from node {start} to node {goal}.")
        path = [node]
        while node != end:
            node = int(self._edge_target[self._first_edge[node] + self._next_action[self._row[node] + end] - 1])
            path.append(node)
        return np.array(path)

    def blocks(self, a: Ragged, b: Ragged) -> Array:
        widths = np.repeat(b.counts, a.counts)  # columns of each row of each block
        rows = np.repeat(self._row[a.values], widths)
        first = np.repeat(np.repeat(b.starts[:-1], a.counts), widths)
        column = np.arange(len(rows)) - np.repeat(np.cumsum(widths) - widths, widths)
        return self._look_up(rows + b.values[first + column])

    def steps(self, rows: Ragged) -> Array:
        joints = rows.joints
        return self._look_up(self._row[rows.values[joints]] + rows.values[joints + 1])


def rollout_attempts(env: BatchedGraphEnv, rollout: BatchRollout) -> Attempts:
    """The paths of a rollout beside their episodes, for the metrics."""
    batch = rollout.batch
    return Attempts(
        BatchedGraphSpace(env),
        path=_to_ragged(rollout.path, rollout.moves + 1),
        reference=_to_ragged(batch.path, batch.path_lengths),
        goals=Ragged.from_counts(batch.goal.numpy(force=True), np.ones(batch.size, dtype=np.int64)),
        stopped=rollout.stopped.numpy(force=True),
    )


def _to_ragged(table: torch.Tensor, counts: torch.Tensor) -> Ragged:
    mask = torch.arange(table.shape[1], device=table.device) < counts[:, None]
    return Ragged.from_counts(table[mask].numpy(force=True), counts.numpy(force=True))


@dataclass(frozen=True, eq=False)
class EvaluationScores:
    """A row per episode of a dataset, in its order."""

    columns: dict[str, Array]  # PL, NE, SR, OSR, SPL, CLS, nDTW, each (episodes,)
    worlds: Sequence[str]  # (episodes,) world ids
    paths: tuple[tuple[int, ...], ...]  # node numbers
    stopped: NDArray[np.bool_]

    def mean(self, metric: str) -> float:
        return float(self.columns[metric].mean())

    def interval(self, metric: str) -> Interval:
        """The mean with its confidence interval, worlds being the sample."""
        bounds = (0.0, 1.0) if metric in UNIT_METRICS else None
        return interval(self.columns[metric], clusters=list(self.worlds), bounds=bounds)

    def format(self, metric: str) -> str:
        """The mean and its interval as text, rates in percent: "56.9 (52.3 – 61.4)"."""
        scale = display_scale(metric)
        found = self.interval(metric)
        return f"{scale * found.mean:.1f} ({scale * found.low:.1f} – {scale * found.high:.1f})"


def display_scale(metric: str) -> float:
    """1 for lengths in metres, 100 for all other metrics, which are printed in percent."""
    return 1.0 if metric in METRE_METRICS else 100.0


def average_seeds(scores: Sequence[EvaluationScores]) -> EvaluationScores:
    """The mean over seeds of every column; paths are those of the first seed."""
    names = scores[0].columns
    return replace(scores[0], columns={name: np.mean([s.columns[name] for s in scores], axis=0) for name in names})


def evaluate(
    policy: Policy[Any],
    env: BatchedGraphEnv,
    dataset: EpisodeDataset,
    *,
    max_steps: int,
    select_action: ActionSelector = greedy,
) -> EvaluationScores:
    """The scores of a policy on a dataset, by default with the most probable action at every step.

    The policy is in evaluation mode meanwhile, and then in the mode it was in.
    """
    columns: dict[str, Array] = {}
    paths: list[tuple[int, ...]] = [()] * len(dataset)
    stopped = np.zeros(len(dataset), dtype=bool)
    with torch.no_grad(), _evaluation_mode(policy):
        for batch in dataset.batches(BATCH_SIZE):
            rollout = collect_rollout(
                policy, env, batch, select_action=select_action, expert=shortest_path_expert, max_steps=max_steps
            )
            rows = batch.index.numpy(force=True)
            for name, values in compute_metrics(rollout_attempts(env, rollout)).items():
                columns.setdefault(name, np.empty(len(dataset)))[rows] = values
            stopped[rows] = rollout.stopped.numpy(force=True)
            for row, path, moves in zip(rows, rollout.path.tolist(), rollout.moves.tolist(), strict=True):
                paths[row] = tuple(path[: moves + 1])
    return EvaluationScores(columns, [episode.world_id for episode in dataset.episodes], tuple(paths), stopped)


@contextmanager
def _evaluation_mode(policy: Policy[Any]) -> Iterator[None]:
    training = policy.training
    policy.eval()
    try:
        yield
    finally:
        policy.train(training)


def compute_metrics(attempts: Attempts) -> dict[str, Array]:
    """The metrics of Stay on the Path's tables, oracle success and nDTW."""
    return {
        "PL": path_length(attempts),
        "NE": navigation_error(attempts),
        "SR": success(attempts, radius=RADIUS),
        "OSR": oracle_success(attempts, radius=RADIUS),
        "SPL": spl(attempts, radius=RADIUS),
        "CLS": cls(attempts, threshold=RADIUS),
        "nDTW": ndtw(attempts, threshold=RADIUS),
    }
