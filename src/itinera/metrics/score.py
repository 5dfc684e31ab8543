"""Scoring: predictions and tasks in, a table with a row per episode (and per tour) out. Start with `score`.

Means and intervals are those of `ScoreTable`; this module does not average.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from itinera.metrics.attempts import Attempts
from itinera.metrics.matching import match
from itinera.metrics.suites import SUITES, Metric, Suite, default_suite
from itinera.metrics.tours import TourGroups
from itinera.records.predictions import Predictions
from itinera.records.scores import EpisodeInfo, ScoreTable, TourTable
from itinera.tasks import Split
from itinera.tasks.protocol import PROTOCOLS, Protocol
from itinera.worlds import Array, World


def score(
    predictions: Predictions,
    split: Split,
    worlds: Mapping[str, World],
    suite: Suite | None = None,
    *,
    protocol: Protocol | None = None,
    missing: Literal["fail", "zero"] = "fail",
    repeats: Literal["keep", "drop"] = "keep",
    progress: Callable[[int], None] | None = None,
) -> ScoreTable:
    """The scores of predictions on a split: a row per episode, in the split's order.

    `missing="zero"` counts an episode without a trajectory as a failure that stays at its start. `repeats="drop"`
    leaves out places that equal the one before, such as turns in place. `itinera.score` also takes names and files.
    """
    protocol = protocol or PROTOCOLS[split.protocol]  # never that of the predictions: the tasks decide
    suite = suite or SUITES[default_suite(protocol)](protocol)
    suite = replace(suite, rules=replace(suite.rules, repeats=repeats))  # so that the fingerprint includes it
    groups = match(predictions, split, worlds, missing=missing, rules=suite.rules, reference=suite.needs_reference)
    if suite.add_targets is not None:
        groups = suite.add_targets(groups, split, predictions, worlds)
    return score_attempts(groups, split, suite, protocol, progress=progress)


def score_attempts(
    groups: Iterable[Attempts],
    split: Split,
    suite: Suite,
    protocol: Protocol,
    *,
    progress: Callable[[int], None] | None = None,
) -> ScoreTable:
    """The scores of attempts already matched; `progress` is called with the number of episodes just done."""
    count = len(split.episodes)
    values = {metric.name: np.full(count, np.nan) for metric in suite.metrics}
    weights = {metric.name: np.zeros(count) for metric in suite.metrics if metric.weight is not None}
    tours = {metric.name: np.full(len(split.tours), np.nan) for metric in suite.tour_metrics}
    positions = {name: (t, k) for t, tour in enumerate(split.tours) for k, name in enumerate(tour.episode_ids)}
    missing = np.zeros(count, dtype=bool)
    info = _empty_info(split, positions)
    for group in groups:
        missing[group.rows] = group.missing
        tour, order = _tour_order(group, positions)
        starts = np.concatenate(([True], (tour[order][1:] != tour[order][:-1]) | (tour[order][1:] < 0)))
        for members, attempts in group.chunks(order, starts):
            for metric in suite.metrics:
                values[metric.name][attempts.rows] = _measure(metric, attempts)
                if metric.weight is not None:
                    weights[metric.name][attempts.rows] = metric.weight(attempts)
            _score_tours(suite, attempts, tour[members], tours)
            info.goal_distances[attempts.rows] = attempts.shortest
            if suite.needs_reference:
                info.reference_lengths[attempts.rows] = attempts.reference_lengths
            if progress is not None:
                progress(len(members))
    return ScoreTable(
        episode_ids=tuple(split.by_id),
        world_ids=tuple(map(attrgetter("world_id"), split.episodes)),
        path_ids=tuple(map(attrgetter("path_id"), split.episodes)),
        columns=tuple(metric.column for metric in suite.metrics),
        values=values,
        suite=suite.name,
        fingerprint=suite.fingerprint,
        protocol=protocol,
        missing=missing,
        tours=_tour_table(split, suite, tours) if split.tours and suite.tour_metrics else None,
        episode_info=info,
        weights=weights,
        part=split.part,
    )


def _empty_info(split: Split, positions: Mapping[str, tuple[int, int]]) -> EpisodeInfo:
    """The episodes' tours, with distances and lengths still to be filled in."""
    count = len(split.episodes)
    tour_ids, tour_positions = [""] * count, np.full(count, -1)
    for i, episode in enumerate(split.episodes if positions else ()):
        if episode.id in positions:
            tour, tour_positions[i] = positions[episode.id]
            tour_ids[i] = split.tours[tour].id
    return EpisodeInfo(np.full(count, np.nan), np.full(count, np.nan), tuple(tour_ids), tour_positions)


def _measure(metric: Metric, attempts: Attempts) -> Array:
    values = metric.measure(attempts)
    # A missing trajectory counts as staying at the start: PL 0, NE the full distance, every rate 0.
    zero = metric.column.better == "higher" and attempts.missing.any()
    return np.where(attempts.missing, 0.0, values) if zero else values


def _tour_order(
    group: Attempts, positions: Mapping[str, tuple[int, int]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The tour of each attempt (-1 for none) and an order in which the attempts of a tour are consecutive."""
    if not positions:
        return np.full(len(group), -1), np.arange(len(group))
    pairs = np.array([positions.get(name, (-1, i)) for i, name in enumerate(group.episode_ids)], dtype=np.int64)
    return pairs[:, 0], np.lexsort((pairs[:, 1], pairs[:, 0]))


def _score_tours(suite: Suite, attempts: Attempts, tour: NDArray[np.int64], tours: Mapping[str, Array]) -> None:
    on_tour = np.flatnonzero(tour >= 0)
    if not len(on_tour) or not suite.tour_metrics:
        return
    if len(on_tour) < len(tour):
        attempts = attempts.take(on_tour)
    rows, index = np.unique(tour[on_tour], return_inverse=True)
    groups = TourGroups(index.astype(np.int64), attempts.missing)
    for metric in suite.tour_metrics:
        tours[metric.name][rows] = metric.measure(attempts, groups)


def _tour_table(split: Split, suite: Suite, values: Mapping[str, Array]) -> TourTable:
    episodes = np.array([len(tour.episode_ids) for tour in split.tours], dtype=np.float64)
    weights = {"episodes": episodes, "changes": episodes - 1, "tours": np.ones(len(episodes))}
    return TourTable(
        tour_ids=tuple(tour.id for tour in split.tours),
        world_ids=tuple(tour.world_id for tour in split.tours),
        columns=tuple(metric.column for metric in suite.tour_metrics),
        values=values,
        weights={m.name: weights[m.weight] for m in suite.tour_metrics},
    )
