"""How well roll-outs went, by the metrics themselves: early scores while training, rows for tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from itinera.errors import NoRoute
from itinera.metrics.attempts import Attempts
from itinera.metrics.efficiency import path_length, spl
from itinera.metrics.fidelity import cls, ndtw
from itinera.metrics.reaching import navigation_error, success
from itinera.policies.base import Policy
from itinera.stats.intervals import Interval, interval
from itinera.training.dataset import Lessons
from itinera.training.experts import to_goal
from itinera.training.rollout import Choose, RollOut, greedy, roll_out
from itinera.training.vector_env import Atlas
from itinera.worlds import Array, Place, Places, Ragged

AT_ONCE = 256  # walkers
RADIUS = 3.0  # metres
SHARES = ("SR", "SPL", "CLS", "nDTW")  # between 0 and 1


class AtlasSpace:
    """All worlds of an atlas as one space, so that walkers in many of them are measured at once."""

    def __init__(self, atlas: Atlas) -> None:
        self._block, self._far = atlas.block.numpy(), atlas.far.numpy()
        self._first, self._beyond, self._onward = atlas.first.numpy(), atlas.beyond.numpy(), atlas.onward.numpy()

    def _metres(self, pairs: NDArray[np.int64]) -> Array:
        metres: Array = self._far[pairs]
        return metres

    def locate(self, places: Places) -> NDArray[Any]:
        return np.asarray(places)

    def between(self, a: Places, b: Places) -> Array:
        return self._metres(self._block[self.locate(a)][:, None] + self.locate(b))

    def along(self, places: Places) -> Array:
        at = self.locate(places)
        return self._metres(self._block[at[:-1]] + at[1:])

    def route(self, start: Place, goal: Place) -> Places:
        at, end = int(start), int(goal)  # nodes are numbers here
        if not np.isfinite(self._far[self._block[at] + end]):
            raise NoRoute(f"No way leads from node {start} to {goal}.")
        way = [at]
        while at != end:
            at = int(self._beyond[self._first[at] + self._onward[self._block[at] + end] - 1])
            way.append(at)
        return np.array(way)

    def blocks(self, a: Ragged, b: Ragged) -> Array:
        each = np.repeat(b.counts, a.counts)  # columns of each row of each block
        rows = np.repeat(self._block[a.values], each)
        first = np.repeat(np.repeat(b.starts[:-1], a.counts), each)
        column = np.arange(len(rows)) - np.repeat(np.cumsum(each) - each, each)
        return self._metres(rows + b.values[first + column])

    def steps(self, rows: Ragged) -> Array:
        joints = rows.joints
        return self._metres(self._block[rows.values[joints]] + rows.values[joints + 1])


def attempts_of(atlas: Atlas, walked: RollOut) -> Attempts:
    """What was walked beside what was asked."""
    batch, n = walked.batch, walked.batch.walkers
    unknown = np.full(n, np.nan)
    return Attempts(
        AtlasSpace(atlas),
        walked=_ragged(walked.path, walked.moves + 1),
        reference=_ragged(batch.path, batch.path_lengths),
        goals=Ragged.from_counts(batch.goal.numpy(), np.ones(n, dtype=np.int64)),
        stopped=walked.stopped.numpy(),
        stated=unknown,
        durations=unknown,
    )


def _ragged(table: torch.Tensor, counts: torch.Tensor) -> Ragged:
    kept = torch.arange(table.shape[1]) < counts[:, None]
    return Ragged.from_counts(table[kept].numpy(), counts.numpy())


@dataclass(frozen=True, eq=False)
class Scores:
    """A row for each lesson, in their order."""

    columns: dict[str, Array]  # PL, NE, SR, SPL, CLS, nDTW, each (lessons,)
    worlds: Sequence[str]  # (lessons,) of each
    paths: tuple[tuple[int, ...], ...]  # the nodes each walked
    stopped: NDArray[np.bool_]

    def mean(self, metric: str) -> float:
        return float(self.columns[metric].mean())

    def interval(self, metric: str) -> Interval:
        """The mean with its interval over worlds."""
        bounds = (0.0, 1.0) if metric in SHARES else None
        return interval(self.columns[metric], clusters=list(self.worlds), bounds=bounds)


def evaluate(policy: Policy[Any], atlas: Atlas, lessons: Lessons, *, limit: int, choose: Choose = greedy) -> Scores:
    """How a policy does on lessons: the likeliest action at every step unless another choice is given.

    Nothing is dropped out meanwhile, and one that is being trained goes on as it was.
    """
    columns: dict[str, Array] = {}
    paths: list[tuple[int, ...]] = [()] * len(lessons)
    stopped = np.zeros(len(lessons), dtype=bool)
    with torch.no_grad(), _at_rest(policy):
        for batch in lessons.in_order(AT_ONCE):
            walked = roll_out(policy, atlas, batch, choose=choose, teacher=to_goal, limit=limit)
            rows = batch.numbers.numpy()
            for name, values in measured(attempts_of(atlas, walked)).items():
                columns.setdefault(name, np.empty(len(lessons)))[rows] = values
            stopped[rows] = walked.stopped.numpy()
            for row, path, moves in zip(rows, walked.path.tolist(), walked.moves.tolist(), strict=True):
                paths[row] = tuple(path[: moves + 1])
    return Scores(columns, [episode.world_id for episode in lessons.episodes], tuple(paths), stopped)


@contextmanager
def _at_rest(policy: Policy[Any]) -> Iterator[None]:
    """Out of training for so long."""
    training = bool(getattr(policy, "training", False))
    if training:
        policy.eval()  # type: ignore[attr-defined]
    try:
        yield
    finally:
        if training:
            policy.train()  # type: ignore[attr-defined]


def measured(attempts: Attempts) -> dict[str, Array]:
    """The metrics of Stay on the Path, and nDTW."""
    return {
        "PL": path_length(attempts),
        "NE": navigation_error(attempts),
        "SR": success(attempts, radius=RADIUS),
        "SPL": spl(attempts, radius=RADIUS),
        "CLS": cls(attempts, threshold=RADIUS),
        "nDTW": ndtw(attempts, threshold=RADIUS),
    }
