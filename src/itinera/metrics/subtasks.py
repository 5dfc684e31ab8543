"""Metrics of tasks with several goals: the legs of a tour are the sub-tasks of one task. One number per tour.

A leg that has no trajectory is a failure. Two benchmarks call different numbers CSR: `conditional_success` is
LH-VLN's, `completion_success` OmniNavBench's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np

from itinera.metrics.attempts import Attempts
from itinera.metrics.goal import navigation_error, ratio, stated_distance
from itinera.metrics.tours import TourGroups
from itinera.worlds import Array

Measure = Callable[[Attempts], Array]


def composite_success(attempts: Attempts, tours: TourGroups, *, success: Measure) -> Array:
    """(tours,) 1 where every leg succeeds, else 0: GOAT-Bench's composite success, LH-VLN's SR.

    Reference: Khanna et al. 2024, GOAT-Bench: A Benchmark for Multi-Modal Lifelong Navigation.

    >>> from functools import partial
    >>> from itinera.metrics.attempts import attempts_from_arrays
    >>> from itinera.metrics.goal import success
    >>> attempts, _ = attempts_from_arrays([[(0, 0), (9, 0)], [(9, 0), (9, 1)]], [[(0, 0), (9, 0)], [(9, 0), (9, 9)]])
    >>> tours = TourGroups(np.array([0, 0]), attempts.missing)
    >>> composite_success(attempts, tours, success=partial(success, radius=1.0))
    array([0.])
    """
    failures = tours.sums(1.0 - _leg_successes(attempts, tours, success))
    return np.where(failures == 0, 1.0, 0.0)


def conditional_success(
    attempts: Attempts,
    tours: TourGroups,
    *,
    success: Measure,
    weight: Literal["leg", "distance"] = "leg",
) -> Array:
    """(tours,) success of the legs, each worth more where the leg before succeeded too: LH-VLN's CSR and CGT.

    Σ sᵢ (1 + (N - 1) sᵢ₋₁) / N² over the N legs, with s₀ = 1. With `"distance"`, leg i weighs Pᵢ / P instead of 1 / N,
    Pᵢ being its distance from start to goal as the tasks file states it (measured where it states none) and P their
    sum; legs weigh alike where P is 0 or infinite. The released code takes steps of a demonstration for Pᵢ.
    Reference: Song et al. 2025, Towards Long-Horizon Vision-Language Navigation: Platform, Benchmark and Method.

    >>> from functools import partial
    >>> from itinera.metrics.attempts import attempts_from_arrays
    >>> from itinera.metrics.goal import success
    >>> attempts, _ = attempts_from_arrays([[(0, 0), (9, 0)], [(9, 0), (9, 1)]], [[(0, 0), (9, 0)], [(9, 0), (9, 9)]])
    >>> tours = TourGroups(np.array([0, 0]), attempts.missing)
    >>> conditional_success(attempts, tours, success=partial(success, radius=1.0))
    array([0.5])
    """
    succeeded = _leg_successes(attempts, tours, success)
    before = np.where(tours.first, 1.0, np.concatenate(([1.0], succeeded[:-1])))
    counts = tours.sums(np.ones(len(attempts)))
    worth = succeeded * (1.0 + (counts[tours.tour] - 1.0) * before)
    shares = 1.0 / counts[tours.tour]
    if weight == "distance":
        distances = stated_distance(attempts)
        total = tours.sums(distances)[tours.tour]
        measured = np.isfinite(total) & (total > 0)
        shares = np.where(measured, ratio(np.where(measured, distances, 0.0), total, 0.0), shares)
    return tours.sums(worth * shares) / counts


def target_approach(attempts: Attempts, *, radius: float) -> Array:
    """(n,) 1 - max(NE - radius, 0) / max(NE, d), d the distance from start to goal: LH-VLN's target approach rate.

    1 within the radius, less the farther the leg ends from its goal; 0 where it started on its goal and left it, and
    where no path leads there.
    """
    error, distance = navigation_error(attempts), attempts.shortest
    reachable = np.isfinite(error) & np.isfinite(distance)
    farther = np.where(reachable, np.maximum(error, distance), 1.0)
    share = 1.0 - ratio(np.where(reachable, np.maximum(error - radius, 0.0), 1.0), farther, 0.0)
    return np.where((distance == 0) & (error > 0), 0.0, share)


def completion_success(attempts: Attempts, tours: TourGroups, *, radius: float) -> Array:
    """(tours,) 1 where the path comes within the radius of the goals of all legs in their order, else 0.

    OmniNavBench's CSR: the legs are one path, heights are ignored, and the agent need not announce that it has arrived.
    Each goal must be reached after the one before it, at a later place.
    Reference: Sun et al. 2026, Beyond Isolation: A Unified Benchmark for General-Purpose Navigation.
    """
    return np.array([_in_order(legs, radius) for legs in _goal_distances(attempts, tours)], dtype=np.float64)


def _in_order(legs: Sequence[Array], radius: float) -> bool:
    begin = 0  # the first place that may reach the next goal
    for distances in legs:
        near = np.flatnonzero(distances[begin:] <= radius)
        if not len(near):
            return False
        begin += int(near[0]) + 1
    return True


def soft_success(attempts: Attempts, tours: TourGroups, *, radius: float) -> Array:
    """(tours,) the mean over legs of min(1, radius / least distance of the path to the goal): OmniNavBench's SoftSR.

    The legs are one path, in any order, and heights are ignored.
    """
    nearest = np.array([d.min(initial=np.inf) for legs in _goal_distances(attempts, tours) for d in legs])
    progress = radius / np.maximum(nearest, radius)
    return tours.sums(progress) / tours.sums(np.ones(len(attempts)))


def _leg_successes(attempts: Attempts, tours: TourGroups, success: Measure) -> Array:
    return np.where(tours.missing, 0.0, success(attempts))


def _goal_distances(attempts: Attempts, tours: TourGroups) -> Iterator[list[Array]]:
    """For each tour and leg, the distance of every place of the tour's path to the nearest goal of the leg, in plan.

    A leg without a trajectory has no distances, and no places in the path.
    """
    flat = attempts.plan
    for rows in np.split(np.arange(len(attempts)), np.flatnonzero(tours.first)[1:]):
        path = np.concatenate([np.empty((0, 3)), *(flat.path[k] for k in rows if not tours.missing[k])])
        yield [
            np.empty(0)
            if tours.missing[k]
            else np.linalg.norm(path[:, None] - flat.goals[k][None], axis=-1).min(axis=1)
            for k in rows
        ]
