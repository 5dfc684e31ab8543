"""Tour metrics: the same attempts, with the tour that each of them belongs to. One number per tour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from itinera.metrics.attempts import Attempts
from itinera.worlds import Array


@dataclass(frozen=True, eq=False)
class TourGroups:
    """The tour of each attempt; the attempts of a tour are consecutive and in order."""

    tour: NDArray[np.int64]  # (n,) 0 … tours - 1, not decreasing
    missing: NDArray[np.bool_]  # (n,) the episode has no trajectory

    @cached_property
    def first(self) -> NDArray[np.bool_]:
        """(n,) whether the attempt is the first of its tour."""
        return np.concatenate(([True], self.tour[1:] != self.tour[:-1])) if len(self.tour) else np.empty(0, dtype=bool)

    @cached_property
    def last(self) -> NDArray[np.bool_]:
        """(n,) whether the attempt is the last of its tour."""
        return np.concatenate((self.tour[1:] != self.tour[:-1], [True])) if len(self.tour) else np.empty(0, dtype=bool)

    def sums(self, values: Array) -> Array:
        """(tours,) the sum of the values (n,) over each tour."""
        return np.bincount(self.tour, weights=values).astype(np.float64)


def tour_ndtw(
    attempts: Attempts,
    tours: TourGroups,
    *,
    threshold: float,
    pinned: bool = False,
    distance: Literal["world", "straight"] = "world",
    repeats: Literal["keep", "drop"] = "keep",
) -> Array:
    """exp(-DTW / (threshold x reference places)) of each tour as one path, episode boundaries respected (t-nDTW).

    Places of different episodes are never aligned, so an alignment passes from one episode to the next only by leaving
    both ends at once: the cost of a tour is the sum of the costs of its episodes. A missing episode costs inf, which
    scores 0. `pinned` is the stricter window of the released code: inside a tour, where an episode ends (starts), its
    last (first) reference place may be aligned only with the agent's last (first); where no alignment is left, the
    score is undefined.
    Reference: Krantz et al. 2022, Iterative Vision-and-Language Navigation.

    >>> from itinera.metrics.attempts import attempts_from_arrays
    >>> path = [(0, 0), (2, 0)]
    >>> attempts, _ = attempts_from_arrays([path, path], [path, path])
    >>> tour_ndtw(attempts, TourGroups(np.array([0, 0]), attempts.missing), threshold=3.0)
    array([1.])
    """
    measured = attempts.straight if distance == "straight" else attempts
    if repeats == "drop":
        measured = measured.without_repeats
    if pinned:
        cost = measured.pinned_warping(~tours.first, ~tours.last)
        cost = np.where(np.isinf(cost) & np.isfinite(measured.warping), np.nan, cost)
    else:
        cost = measured.warping
    cost = np.where(tours.missing, np.inf, cost)
    places = tours.sums(attempts.reference.counts.astype(float))
    return np.exp(-tours.sums(cost) / (threshold * places))


def tour_mean(
    attempts: Attempts,
    tours: TourGroups,
    *,
    measure: Callable[[Attempts], Array],
    weight: Literal["episode", "detour"] = "episode",
) -> Array:
    """The mean of a per-episode metric over each tour (t-SR, t-SPL).

    Episodes weigh alike, or with `"detour"` by max(PL, d) / d with d the distance from start to goal, as IVLN's code
    has it; that is undefined where an episode starts on its goal or cannot reach it.

    >>> from itinera.metrics.attempts import attempts_from_arrays
    >>> from itinera.metrics.goal import path_length
    >>> attempts, _ = attempts_from_arrays([[(0, 0), (2, 0)], [(2, 0), (2, 4)]])
    >>> tour_mean(attempts, TourGroups(np.array([0, 0]), attempts.missing), measure=path_length)
    array([3.])
    """
    values = np.where(tours.missing, 0.0, measure(attempts))
    if weight == "episode":
        weights = np.ones(len(attempts))
    else:
        defined = (attempts.shortest > 0) & np.isfinite(attempts.shortest) & np.isfinite(attempts.lengths)
        near = np.where(defined, attempts.shortest, np.nan)
        weights = np.maximum(attempts.lengths, near) / near
    return tours.sums(values * weights) / tours.sums(weights)
