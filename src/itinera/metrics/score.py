"""Walks beside their tasks in, a table with a row per episode (and per tour) out. Averaging is `summary.py`'s."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from itinera.metrics.attempts import Attempts, chunks
from itinera.metrics.matching import Pairs, pair
from itinera.metrics.suites import ALL_SUITES, Metric, Suite, usual_suite
from itinera.metrics.tours import Legs
from itinera.records.predictions import Predictions
from itinera.records.scores import Asked, ScoreTable, TourTable
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
) -> ScoreTable:
    """The scores of a logbook on a split: a row per episode, in the split's order.

    `missing="zero"` counts an episode without a walk as a failure that never left its start. `repeats="drop"` leaves
    out places that equal the one before, such as turns in place.
    """
    protocol = protocol or predictions.protocol or PROTOCOLS[split.protocol]
    suite = suite or ALL_SUITES[usual_suite(protocol)](protocol)
    suite = replace(suite, rules=replace(suite.rules, repeats=repeats))  # so that the fingerprint tells
    groups = pair(predictions, split, worlds, missing=missing, rules=suite.rules, reference=suite.needs_reference)
    return score_pairs(groups, split, suite, protocol)


def score_pairs(
    groups: Iterable[Pairs],
    split: Split,
    suite: Suite,
    protocol: Protocol,
    *,
    progress: Callable[[int], None] | None = None,
) -> ScoreTable:
    """The scores of attempts already paired; `progress` is told how many more episodes are done."""
    count = len(split.episodes)
    values = {metric.name: np.full(count, np.nan) for metric in suite.metrics}
    tours = {metric.name: np.full(len(split.tours), np.nan) for metric in suite.tour_metrics}
    leg_of = {name: (t, k) for t, tour in enumerate(split.tours) for k, name in enumerate(tour.episode_ids)}
    missing = np.zeros(count, dtype=bool)
    asked = _asked(split, leg_of)
    for group in groups:
        missing[group.rows] = group.missing
        tour, order = _tour_order(group, leg_of)
        starts = np.concatenate(([True], (tour[order][1:] != tour[order][:-1]) | (tour[order][1:] < 0)))
        for members, attempts in chunks(group, order, starts):
            absent = group.missing[members]
            for metric in suite.metrics:
                values[metric.name][group.rows[members]] = _measured(metric, attempts, absent)
            _score_tours(suite, attempts, tour[members], absent, tours)
            asked.distances[group.rows[members]] = attempts.shortest
            if suite.needs_reference:
                asked.lengths[group.rows[members]] = attempts.reference_lengths
            if progress is not None:
                progress(len(members))
    return ScoreTable(
        episode_ids=tuple(split.by_id),
        world_ids=tuple([episode.world_id for episode in split.episodes]),
        path_ids=tuple([episode.path_id for episode in split.episodes]),
        columns=tuple(metric.column for metric in suite.metrics),
        values=values,
        suite=suite.name,
        fingerprint=suite.fingerprint,
        protocol=protocol,
        missing=missing,
        tours=_tour_table(split, suite, tours) if split.tours and suite.tour_metrics else None,
        asked=asked,
    )


def _asked(split: Split, leg_of: Mapping[str, tuple[int, int]]) -> Asked:
    """What the episodes ask, their distances and lengths still to be filled in."""
    legs = [leg_of.get(episode.id, (-1, -1)) for episode in split.episodes]
    return Asked(
        distances=np.full(len(legs), np.nan),
        lengths=np.full(len(legs), np.nan),
        tours=tuple(split.tours[tour].id if tour >= 0 else "" for tour, _ in legs),
        legs=np.array([leg for _, leg in legs], dtype=np.int64),
    )


def _measured(metric: Metric, attempts: Attempts, absent: NDArray[np.bool_]) -> Array:
    values = metric.measure(attempts)
    # Whoever never walked stands at the start: no way gone, the whole distance left, and no credit.
    return np.where(absent, 0.0, values) if metric.column.better == "higher" and absent.any() else values


def _tour_order(group: Pairs, leg_of: Mapping[str, tuple[int, int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The tour of each attempt (-1 for none) and an order in which tours stand together."""
    if not leg_of:
        return np.full(len(group.rows), -1), np.arange(len(group.rows))
    legs = np.array([leg_of.get(episode.id, (-1, i)) for i, episode in enumerate(group.episodes)], dtype=np.int64)
    return legs[:, 0], np.lexsort((legs[:, 1], legs[:, 0]))


def _score_tours(
    suite: Suite, attempts: Attempts, tour: NDArray[np.int64], absent: NDArray[np.bool_], tours: Mapping[str, Array]
) -> None:
    toured = np.flatnonzero(tour >= 0)
    if not len(toured) or not suite.tour_metrics:
        return
    if len(toured) < len(tour):
        attempts = attempts.take(toured)
    which, numbers = np.unique(tour[toured], return_inverse=True)
    legs = Legs(numbers.astype(np.int64), absent[toured])
    for metric in suite.tour_metrics:
        tours[metric.name][which] = metric.measure(attempts, legs)


def _tour_table(split: Split, suite: Suite, values: Mapping[str, Array]) -> TourTable:
    episodes = np.array([len(tour.episode_ids) for tour in split.tours], dtype=np.float64)
    return TourTable(
        tour_ids=tuple(tour.id for tour in split.tours),
        world_ids=tuple(tour.world_id for tour in split.tours),
        columns=tuple(metric.column for metric in suite.tour_metrics),
        values=values,
        weights={m.name: episodes if m.weight == "episodes" else episodes - 1 for m in suite.tour_metrics},
    )
