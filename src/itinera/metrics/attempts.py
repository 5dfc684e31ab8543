"""Attempts: what was walked beside what was asked, with the distances every metric shares.

Batch-first: a metric takes `Attempts` and returns one number per attempt; one attempt is a batch of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from itinera.metrics._kernels import approximate_warping_costs, coverages, warping_costs
from itinera.metrics.matching import Pairs, without_repeats
from itinera.worlds import Array, Euclidean, NavGraph, Ragged, Space
from itinera.worlds.space import blocks, steps


@dataclass(frozen=True, eq=False)
class Attempts:
    """Trajectories beside the episodes they answer, in one world that measures both."""

    space: Space
    walked: Ragged  # places walked in the acting phase, not where the agent was led
    reference: Ragged
    goals: Ragged
    stopped: NDArray[np.bool_]  # (n,) the agent said so, rather than running out of steps
    stated: Array  # (n,) distance from start to goal as the tasks file says, NaN where it does not
    durations: Array  # (n,) seconds from start to end, NaN where not timed

    def __len__(self) -> int:
        return len(self.walked)

    def take(self, rows: NDArray[np.int64]) -> Attempts:
        """These attempts, in this order."""
        return Attempts(
            space=self.space,
            walked=self.walked.take(rows),
            reference=self.reference.take(rows),
            goals=self.goals.take(rows),
            stopped=self.stopped[rows],
            stated=self.stated[rows],
            durations=self.durations[rows],
        )

    @cached_property
    def gaps(self) -> Array:
        """Distances walked x reference, one row-major block per attempt, end to end, metres."""
        return blocks(self.space, self.walked, self.reference)

    @cached_property
    def to_goal(self) -> Ragged:
        """The distance of each walked place from the nearest goal, metres."""
        gaps = blocks(self.space, self.walked, self.goals)
        per_place = np.repeat(self.goals.counts, self.walked.counts)
        if not (per_place == 1).all():
            gaps = np.minimum.reduceat(gaps, np.cumsum(per_place) - per_place)
        return Ragged(gaps, self.walked.starts)

    @cached_property
    def shortest(self) -> Array:
        """(n,) the distance from the start to the nearest goal, metres."""
        return np.asarray(self.to_goal.firsts(), dtype=np.float64)

    @cached_property
    def steps(self) -> Ragged:
        """The length of each step walked, metres."""
        return Ragged.from_counts(steps(self.space, self.walked), self.walked.counts - 1)

    @cached_property
    def lengths(self) -> Array:
        """(n,) metres walked."""
        return self.steps.sums()

    @cached_property
    def reference_lengths(self) -> Array:
        """(n,) metres along the reference."""
        return Ragged.from_counts(steps(self.space, self.reference), self.reference.counts - 1).sums()

    @cached_property
    def jumps(self) -> NDArray[np.bool_]:
        """(n,) whether some step follows no edge; staying in place follows none. Never so off the graph."""
        if not isinstance(self.space, NavGraph):
            return np.zeros(len(self), dtype=bool)
        joints = self.walked.joints
        broken = ~self.space.adjacency[self.walked.values[joints], self.walked.values[joints + 1]]
        return np.bincount(self.walked.owners[joints[broken]], minlength=len(self)) > 0

    @cached_property
    def names(self) -> tuple[Ragged, Ragged]:
        """Walked and reference places as whole numbers, equal where the places are equal."""
        if isinstance(self.space, NavGraph):
            return self.walked, self.reference
        together = np.concatenate([self.walked.values, self.reference.values])
        _, numbers = np.unique(together, axis=0, return_inverse=True)
        numbers = numbers.reshape(-1).astype(np.int64)
        split = len(self.walked.values)
        return Ragged(numbers[:split], self.walked.starts), Ragged(numbers[split:], self.reference.starts)

    @cached_property
    def straight(self) -> Attempts:
        """The same attempts measured in straight lines between positions."""
        if isinstance(self.space, Euclidean):
            return self
        return replace(
            self,
            space=Euclidean(),
            walked=self._points(self.walked),
            reference=self._points(self.reference),
            goals=self._points(self.goals),
        )

    def _points(self, rows: Ragged) -> Ragged:
        points = self.space.positions[rows.values] if isinstance(self.space, NavGraph) else rows.values
        return Ragged(np.ascontiguousarray(points), rows.starts)

    @cached_property
    def without_repeats(self) -> Attempts:
        """The same attempts with each walked place that equals the one before it left out."""
        return replace(self, walked=without_repeats(self.walked))

    @cached_property
    def warping(self) -> Array:
        """(n,) the cost of the best alignment of walked and reference places (DTW), metres."""
        free = np.zeros(len(self), dtype=bool)
        return self.pinned_warping(free, free)

    def pinned_warping(self, first: NDArray[np.bool_], last: NDArray[np.bool_]) -> Array:
        """(n,) as `warping`, where `first` (`last`) holds the first (last) reference place meets only the first (last)
        walked one; inf where no alignment is left."""
        out = np.empty(len(self))
        warping_costs(self.gaps, self.walked.counts, self.reference.counts, first, last, out)
        return out

    def coverage(self, decay: float) -> Array:
        """(n,) the mean over reference places of exp(-distance to the nearest walked place / decay)."""
        if decay not in self._coverages:
            out = np.empty(len(self))
            coverages(self.gaps, self.walked.counts, self.reference.counts, decay, out)
            self._coverages[decay] = out
        return self._coverages[decay]

    @cached_property
    def _coverages(self) -> dict[float, Array]:
        return {}

    @cached_property
    def rough_warping(self) -> Array:
        """(n,) the warping cost in straight lines, approximated from coarse to fine with radius 1 (FastDTW)."""
        flat = self.straight
        out = np.empty(len(self))
        approximate_warping_costs(
            flat.walked.values, flat.walked.starts, flat.reference.values, flat.reference.starts, 1, out
        )
        return out


LARGEST_CHUNK = 4_000_000  # gaps held at once: 32 MB


def chunks(
    pairs: Pairs, order: NDArray[np.int64], breaks: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.int64], Attempts]]:
    """The attempts of one world in this order, cut only where `breaks` allows, so that memory stays bounded.

    Yields positions within the group with their attempts.
    """
    whole = of_pairs(pairs)
    ends = np.cumsum((pairs.walked.counts * pairs.reference.counts)[order])
    if len(order) and ends[-1] <= LARGEST_CHUNK and (order == np.arange(len(order))).all():
        yield order, whole
        return
    begin = 0
    while begin < len(order):
        before = ends[begin - 1] if begin else 0
        most = int(np.searchsorted(ends, before + LARGEST_CHUNK, side="right"))
        end = _last_cut(breaks, begin, most)
        yield order[begin:end], whole.take(order[begin:end])
        begin = end


def _last_cut(breaks: NDArray[np.bool_], begin: int, most: int) -> int:
    """The last cut allowed after `begin` and up to `most`, or else the first one later, or the end."""
    if most >= len(breaks):
        return len(breaks)
    cuts = begin + 1 + np.flatnonzero(breaks[begin + 1 :])
    soon = cuts[cuts <= most]
    return int(soon[-1]) if len(soon) else int(cuts[0]) if len(cuts) else len(breaks)


def of_pairs(pairs: Pairs) -> Attempts:
    """The attempts of one world."""
    return Attempts(
        space=pairs.world.space,
        walked=pairs.walked,
        reference=pairs.reference,
        goals=pairs.goals,
        stopped=pairs.stopped,
        stated=pairs.stated,
        durations=pairs.durations,
    )
