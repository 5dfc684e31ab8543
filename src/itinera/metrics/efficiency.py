"""How much way and time did it take? One number per attempt."""

from __future__ import annotations

from typing import Literal

import numpy as np

from itinera.metrics.attempts import Attempts
from itinera.metrics.reaching import success
from itinera.worlds import Array


def path_length(attempts: Attempts, *, straight: bool = False, undefined_off_edges: bool = False) -> Array:
    """Metres walked (PL). A jump between nodes no edge joins is as long as the shortest way between them.

    `straight` adds straight lines instead; `undefined_off_edges` gives NaN where a step follows no edge (staying in
    place included), where some released code fails.
    """
    lengths = attempts.straight.lengths if straight else attempts.lengths
    return np.where(attempts.jumps, np.nan, lengths) if undefined_off_edges else lengths


def steps(attempts: Attempts) -> Array:
    """Moves logged: one fewer than places, repeats counted."""
    return (attempts.walked.counts - 1).astype(float)


def spl(
    attempts: Attempts,
    *,
    radius: float,
    inclusive: bool = True,
    needs_stop: bool = False,
    optimum: Literal["shortest", "reference", "stated"] = "shortest",
    straight: bool = False,
    floor: float = 0.0,
    standing_still: float = 1.0,
) -> Array:
    """Success weighted by path length: 1 for the shortest successful path, 0 for any failure.

    `optimum` is what the path is compared with: the distance from start to goal, the length of the reference, or the
    distance the tasks file states (the measured one where it states none). `floor` is the least denominator.
    Where optimum and path are both 0, the agent that stood still on its goal gets `standing_still`: 1 by our
    definition; some released code gives 0 or fails (NaN).
    Reference: Anderson et al. 2018, On Evaluation of Embodied Navigation Agents.
    """
    arrived = success(attempts, radius=radius, inclusive=inclusive, needs_stop=needs_stop) > 0
    best = _optimum(attempts, optimum)
    best = np.where(arrived & np.isfinite(best), best, 0.0)  # who jumped to a goal no way leads to earns nothing
    walked = path_length(attempts, straight=straight)
    return np.where(arrived, ratio(best, np.maximum(np.maximum(walked, best), floor), standing_still), 0.0)


def _optimum(attempts: Attempts, kind: Literal["shortest", "reference", "stated"]) -> Array:
    if kind == "reference":
        return attempts.reference_lengths
    if kind == "stated":
        return np.where(np.isnan(attempts.stated), attempts.shortest, attempts.stated)
    return attempts.shortest


def sct(succeeded: Array, completion: Array, fastest: Array) -> Array:
    """Success weighted by completion time: 1 for a success in the fastest possible time, 0 for any failure.

    Seconds. Where both times are 0 the agent was at its goal from the start: 1.
    Reference: Yokoyama et al. 2021, Success Weighted by Completion Time.

    >>> sct(np.array([1.0, 1.0, 0.0]), np.array([20.0, 8.0, 5.0]), np.array([10.0, 10.0, 5.0]))
    array([0.5, 1. , 0. ])
    """
    share = ratio(np.asarray(fastest, dtype=float), np.maximum(completion, fastest), 1.0)
    return np.where(np.asarray(succeeded) > 0, share, 0.0)


def ratio(part: Array, whole: Array, where_both_zero: float) -> Array:
    """part / whole with a stated value for 0 / 0."""
    out = np.full(np.shape(whole), where_both_zero, dtype=float)
    np.divide(part, whole, out=out, where=whole != 0)
    return out
