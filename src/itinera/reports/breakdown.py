"""Where agents do well and where they fail: by scene, by length of the way, along a tour, and by kind of failure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from itinera.records import Column, ScoreTable
from itinera.reports.page.contest import Contest
from itinera.stats import Interval, interval

LENGTHS = 5  # groups of about as many episodes each
LEGS = (0, 1, 2, 3, 5, 8, 12, 20, 35, 60, 100)  # where groups of a tour's episodes begin: finer where memory is young

NOT_ANSWERED = "not answered"
NEVER_LEFT = "never left the start"
NO_STOP = "was there, never said stop"
PASSED = "passed the goal, ended elsewhere"
OUT_OF_STEPS = "ran out of steps"
NEARER = "ended nearer the goal than it began"
NO_NEARER = "ended no nearer the goal"
ELSEWHERE = "ended elsewhere"
KINDS = (NOT_ANSWERED, NEVER_LEFT, NO_STOP, PASSED, OUT_OF_STEPS, NEARER, NO_NEARER, ELSEWHERE)


@dataclass(frozen=True)
class Slice:
    """Some of the episodes, and how every agent does on them."""

    label: str
    episodes: int
    means: tuple[Interval | None, ...]  # by agent; None where undefined


@dataclass(frozen=True)
class Breakdown:
    """A metric over groups of episodes."""

    column: Column
    slices: tuple[Slice, ...]


def by_scene(contest: Contest, column: Column) -> Breakdown:
    """The metric in each scene, the scenes hardest for all agents together first; paths are the sample."""
    values = contest.values(column.name)
    paths = np.unique(np.asarray(contest.tables[0].path_ids), return_inverse=True)[1].reshape(-1)
    distinct = len(set(paths.tolist())) > 1
    bounds = (0.0, 1.0) if column.unit == "" else (0.0, np.inf)
    slices = []
    for number, scene in enumerate(contest.scene_ids):
        rows = contest.scenes == number
        means: list[Interval | None] = []
        for of_agent in values:
            counted = rows & np.isfinite(of_agent)
            clusters = paths[counted] if distinct else None
            found = counted.any()
            means.append(
                interval(of_agent[counted], clusters=clusters, bounds=bounds, level=contest.level) if found else None
            )
        slices.append(Slice(scene, int(rows.sum()), tuple(means)))
    sign = -1.0 if column.better == "lower" else 1.0
    return Breakdown(column, tuple(sorted(slices, key=lambda s: (sign * _together(s), s.label))))


def _together(one: Slice) -> float:
    """The mean over agents; what nobody defines comes last."""
    known = [mean.mean for mean in one.means if mean is not None]
    return round(float(np.mean(known)), 12) if known else np.inf


def by_length(contest: Contest, column: Column) -> Breakdown | None:
    """The metric over groups of ways of similar length; None where no bundle tells lengths."""
    lengths = way_lengths(contest)
    if lengths is None:
        return None
    known = lengths[np.isfinite(lengths)]
    edges = np.unique(np.round(np.quantile(known, np.linspace(0, 1, LENGTHS + 1)[1:-1])))
    edges = edges[(edges > known.min()) & (edges < known.max())]
    groups = np.where(np.isfinite(lengths), np.searchsorted(edges, lengths, side="right"), -1)
    return _sliced(contest, column, groups, _length_labels(edges))


def way_lengths(contest: Contest) -> NDArray[np.float64] | None:
    """(episodes,) metres along the reference, or to the goal where nothing is to be followed; None where not told."""
    if contest.asked is None:
        return None
    asked = contest.asked
    lengths = np.where(np.isnan(asked.lengths), asked.distances, asked.lengths)
    return lengths if np.isfinite(lengths).any() else None


def _length_labels(edges: NDArray[np.float64]) -> list[str]:
    if not len(edges):
        return ["all"]
    between = [f"{low:g} – {high:g} m" for low, high in pairwise(edges)]
    return [f"under {edges[0]:g} m", *between, f"{edges[-1]:g} m and more"]


def by_leg(contest: Contest, column: Column) -> Breakdown | None:
    """The metric against how many episodes of the tour came before; None where there are no tours."""
    legs = None if contest.asked is None else contest.asked.legs
    if legs is None or legs.max(initial=-1) < 1:
        return None
    starts = np.array([start for start in LEGS if start <= legs.max()])
    ends = [*starts[1:], int(legs.max()) + 1]
    groups = np.where(legs >= 0, np.searchsorted(starts, legs, side="right") - 1, -1)
    labels = [
        f"{low + 1}" if high == low + 1 else f"{low + 1} – {high}" for low, high in zip(starts, ends, strict=True)
    ]
    return _sliced(contest, column, groups, labels)


def _sliced(contest: Contest, column: Column, groups: NDArray[np.int64], labels: Sequence[str]) -> Breakdown:
    values = contest.values(column.name)
    slices = []
    for number, label in enumerate(labels):
        rows = groups == number
        if rows.any():
            means = tuple(contest.mean(column, of_agent, rows) for of_agent in values)
            slices.append(Slice(label, int(rows.sum()), means))
    return Breakdown(column, tuple(slices))


def gain_along_tours(contest: Contest, column: Column, agent: int) -> Interval | None:
    """How much better an agent does in the second half of a tour than in the first, tours' differences over scenes."""
    asked = contest.asked
    if asked is None or asked.legs.max(initial=-1) < 1:
        return None
    values = contest.tables[agent][column.name]
    usable = (asked.legs >= 0) & np.isfinite(values)
    tours = np.unique(np.asarray(asked.tours), return_inverse=True)[1].reshape(-1)
    gains, scenes = [], []
    for tour in np.unique(tours[usable]):
        rows = np.flatnonzero(usable & (tours == tour))
        late = asked.legs[rows] > asked.legs[rows].max() / 2
        if late.any() and not late.all():
            gains.append(values[rows][late].mean() - values[rows][~late].mean())
            scenes.append(contest.scenes[rows[0]])
    if not gains:
        return None
    return interval(gains, clusters=scenes, bounds=(-np.inf, np.inf), level=contest.level)


@dataclass(frozen=True)
class Failures:
    """What became of an agent's episodes."""

    succeeded: int
    kinds: dict[str, NDArray[np.int64]]  # kind -> the rows that failed so, farthest from the goal first

    @property
    def total(self) -> int:
        return sum(map(len, self.kinds.values()))


def failures(contest: Contest, agent: int) -> Failures | None:
    """The agent's failures by kind, each counted once, by the first kind that fits; None where success is not told."""
    table = contest.tables[agent]
    if "SR" not in table.values:
        return None
    failed = table["SR"] < 1
    errors = table.values.get("NE", np.zeros(len(table)))
    kinds = {}
    for kind, fits in _fitting(contest, table):
        rows = np.flatnonzero(failed & fits)
        failed = failed & ~fits
        if len(rows):
            kinds[kind] = rows[np.argsort(-np.nan_to_num(errors[rows], posinf=1e9), kind="stable")]
    return Failures(int((table["SR"] >= 1).sum()), kinds)


def _fitting(contest: Contest, table: ScoreTable) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    nowhere = np.full(len(table), np.nan)
    walked, error, steps = (table.values.get(name, nowhere) for name in ("PL", "NE", "steps"))
    begun = nowhere if contest.asked is None else contest.asked.distances
    limit = np.inf if table.protocol.step_limit is None else table.protocol.step_limit
    yield NOT_ANSWERED, table.missing
    yield NEVER_LEFT, walked == 0
    yield NO_STOP, (error <= table.protocol.success_radius) & table.protocol.needs_stop
    yield PASSED, table.values.get("OSR", nowhere) == 1
    yield OUT_OF_STEPS, steps >= limit
    yield NEARER, error < begun - 1e-6
    yield NO_NEARER, error >= begun - 1e-6
    yield ELSEWHERE, np.ones(len(table), dtype=bool)


def nobody_solved(contest: Contest) -> NDArray[np.int64]:
    """The rows no agent succeeded in; empty where success is not told."""
    if "SR" not in contest.columns:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero((contest.values("SR") < 1).all(axis=0))
