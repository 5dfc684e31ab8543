"""Metrics of fidelity: how closely a path follows the reference path, not just its end. One number per attempt."""

from __future__ import annotations

from typing import Literal

import numpy as np

from itinera.metrics._kernels import edit_distances
from itinera.metrics.attempts import Attempts, metric_on_arrays
from itinera.metrics.goal import path_length, ratio, success
from itinera.worlds import Array, Ragged


@metric_on_arrays(needs="reference")
def dtw(
    attempts: Attempts,
    *,
    distance: Literal["world", "straight"] = "world",
    repeats: Literal["keep", "drop"] = "keep",
    exact: bool = True,
) -> Array:
    """Distances between path and reference summed along their best alignment, metres (dynamic time warping).

    Alignments advance by one place in either path or in both, every aligned pair weighs 1, and both ends are aligned.
    `distance` is the world's own or the straight line; `repeats="drop"` leaves out places equal to the one before;
    `exact=False` is the coarse-to-fine approximation with radius 1 that some scorers use, by straight lines.

    >>> dtw([(0, 0), (2, 0), (4, 1)], [(0, 0), (2, 0), (4, 0)])
    1.0
    """
    measured = attempts.straight if distance == "straight" else attempts
    if repeats == "drop":
        measured = measured.without_repeats
    return measured.warping if exact else measured.approximate_warping


@metric_on_arrays(needs="reference")
def ndtw(
    attempts: Attempts,
    *,
    threshold: float,
    distance: Literal["world", "straight"] = "world",
    repeats: Literal["keep", "drop"] = "keep",
    exact: bool = True,
) -> Array:
    """exp(-DTW / (threshold x reference places)): 1 for the reference path itself (nDTW).

    Reference: Ilharco et al. 2019, General Evaluation for Instruction Conditioned Navigation.

    >>> ndtw([(0, 0), (2, 0), (4, 0)], [(0, 0), (2, 0), (4, 0)], threshold=3.0)
    1.0
    """
    cost = dtw(attempts, distance=distance, repeats=repeats, exact=exact)
    return np.exp(-cost / (threshold * attempts.reference.counts))


@metric_on_arrays(needs="reference")
def sdtw(
    attempts: Attempts,
    *,
    radius: float,
    inclusive: bool = True,
    needs_stop: bool = False,
    distance: Literal["world", "straight"] = "world",
    repeats: Literal["keep", "drop"] = "keep",
    exact: bool = True,
) -> Array:
    """nDTW where the agent succeeded, else 0 (SDTW). The success radius is also nDTW's threshold.

    >>> sdtw([(0, 0), (9, 0)], [(0, 0), (2, 0)], radius=3.0)
    0.0
    """
    arrived = success(attempts, radius=radius, inclusive=inclusive, needs_stop=needs_stop)
    return arrived * ndtw(attempts, threshold=radius, distance=distance, repeats=repeats, exact=exact)


@metric_on_arrays(needs="reference")
def path_coverage(attempts: Attempts, *, threshold: float) -> Array:
    """Mean over reference places of exp(-distance to the nearest place of the path / threshold) (PC).

    >>> path_coverage([(0, 0), (2, 0)], [(0, 0), (2, 0)], threshold=3.0)
    1.0
    """
    return attempts.coverage(threshold)


@metric_on_arrays(needs="reference")
def length_score(
    attempts: Attempts, *, threshold: float, standing_still: float = 1.0, undefined_off_edges: bool = False
) -> Array:
    """Agreement of the path's length with the length its coverage leads one to expect, 1 if equal (LS).

    Where reference and path both have length 0 the agent rightly stayed: `standing_still`, 1 by our definition;
    released code divides 0 by 0 there (NaN).

    >>> length_score([(0, 0), (2, 0)], [(0, 0), (2, 0)], threshold=3.0)
    1.0
    """
    # A reference path across a gap that nothing connects has no length to live up to.
    reachable = np.where(np.isfinite(attempts.reference_lengths), attempts.reference_lengths, 0.0)
    expected = path_coverage(attempts, threshold=threshold) * reachable
    off = np.abs(expected - path_length(attempts, undefined_off_edges=undefined_off_edges))
    zero = np.where(attempts.reference_lengths == 0, standing_still, 0.0)
    whole = expected + off
    return np.divide(expected, whole, out=zero, where=whole != 0)


@metric_on_arrays(needs="reference")
def cls(
    attempts: Attempts, *, threshold: float, standing_still: float = 1.0, undefined_off_edges: bool = False
) -> Array:
    """Coverage weighted by length score: PC x LS.

    Reference: Jain et al. 2019, Stay on the Path: Instruction Fidelity in Vision-and-Language Navigation.

    >>> cls([(0, 0), (2, 0)], [(0, 0), (2, 0)], threshold=3.0)
    1.0
    """
    score = length_score(
        attempts, threshold=threshold, standing_still=standing_still, undefined_off_edges=undefined_off_edges
    )
    return path_coverage(attempts, threshold=threshold) * score


@metric_on_arrays(needs="reference")
def sed(attempts: Attempts, *, radius: float, inclusive: bool = True, needs_stop: bool = False) -> Array:
    """Success weighted by the edit distance of directed edges: SR (1 - ED / (max(|P|, |R|) - 1)).

    Where the reference is one place: 1 if the agent did not move, else 0.
    Reference: Jain et al. 2019, after Chen et al. 2019 (Touchdown), whose form over nodes is `sed_nodes`.

    >>> sed([(0, 0), (2, 0), (4, 1)], [(0, 0), (2, 0), (4, 0)], radius=3.0)
    0.5
    """
    arrived = success(attempts, radius=radius, inclusive=inclusive, needs_stop=needs_stop)
    path, reference = attempts.place_indices
    longer = np.maximum(path.counts, reference.counts) - 1.0
    score = arrived * (1.0 - ratio(_edits(path, reference, arrived, edges=True), longer, 0.0))
    return np.where(reference.counts == 1, arrived * (attempts.lengths == 0), score)


@metric_on_arrays(needs="reference")
def sed_nodes(attempts: Attempts, *, radius: float, inclusive: bool = True, needs_stop: bool = False) -> Array:
    """Success weighted by the edit distance of places: SR (1 - ED / max(|P|, |R|)) (Touchdown's SED).

    >>> sed_nodes([(0, 0), (4, 1)], [(0, 0), (4, 0)], radius=3.0)
    0.5
    """
    arrived = success(attempts, radius=radius, inclusive=inclusive, needs_stop=needs_stop)
    path, reference = attempts.place_indices
    longer = np.maximum(path.counts, reference.counts)
    return arrived * (1.0 - _edits(path, reference, arrived, edges=False) / longer)


def _edits(a: Ragged, b: Ragged, arrived: Array, *, edges: bool) -> Array:
    """Edit distances where the agent arrived; a failure scores 0 whatever its path, so there they are not computed."""
    out = np.zeros(len(a))
    room = np.empty(b.counts.max(initial=0) + 1, dtype=np.int64)
    edit_distances(a.values, a.starts, b.values, b.starts, arrived > 0, edges, room, out)
    return out
