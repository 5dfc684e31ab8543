"""Metrics of reaching the goal and of the path length and time it took: one number per attempt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from itinera.errors import BadArgument
from itinera.metrics.attempts import Attempts, metric_on_arrays
from itinera.worlds import Array


@metric_on_arrays(needs="goals")
def navigation_error(attempts: Attempts) -> Array:
    """Distance from the end of the path to the nearest goal, metres (NE).

    >>> navigation_error([(0, 0), (3, 0)], goals=(3, 4))
    4.0
    """
    return attempts.goal_distances.lasts().astype(float)


@metric_on_arrays(needs="goals")
def oracle_error(attempts: Attempts) -> Array:
    """Least distance from any place of the path, the start included, to the nearest goal, metres (ONE).

    >>> oracle_error([(0, 0), (3, 0), (9, 0)], goals=(3, 1))
    1.0
    """
    return attempts.goal_distances.minima()


@metric_on_arrays(needs="goals")
def success(attempts: Attempts, *, radius: float, inclusive: bool = True, needs_stop: bool = False) -> Array:
    """1 where the path ends within the radius of a goal, else 0 (SR).

    `inclusive` counts a distance of exactly the radius, as the papers define it; most released code does not.
    `needs_stop` also requires that the agent took STOP.

    >>> success([(0, 0), (3, 0)], goals=(3, 3), radius=3.0)
    1.0
    """
    near = _within(navigation_error(attempts), radius, inclusive)
    return near * attempts.stopped if needs_stop else near


@metric_on_arrays(needs="goals")
def oracle_success(attempts: Attempts, *, radius: float, inclusive: bool = True) -> Array:
    """1 where the path ever comes within the radius of a goal, else 0 (OSR).

    >>> oracle_success([(0, 0), (3, 0), (9, 0)], goals=(3, 1), radius=3.0)
    1.0
    """
    return _within(oracle_error(attempts), radius, inclusive)


def _within(distance: Array, radius: float, inclusive: bool) -> Array:
    return (distance <= radius if inclusive else distance < radius).astype(float)


@metric_on_arrays(needs="path")
def path_length(attempts: Attempts, *, straight: bool = False, undefined_off_edges: bool = False) -> Array:
    """Length of the path, metres (PL). A jump between nodes that no edge joins is as long as the shortest path.

    `straight` sums straight lines instead; `undefined_off_edges` gives NaN where a step follows no edge (staying in
    place included), where some released code fails.

    >>> path_length([(0, 0), (3, 0), (3, 4)])
    7.0
    """
    lengths = attempts.straight.lengths if straight else attempts.lengths
    return np.where(attempts.leaves_edges, np.nan, lengths) if undefined_off_edges else lengths


@metric_on_arrays(needs="path")
def steps(attempts: Attempts) -> Array:
    """Number of moves logged: one fewer than places, repeats included.

    >>> steps([(0, 0), (3, 0), (3, 4)])
    2.0
    """
    return (attempts.path.counts - 1).astype(float)


@metric_on_arrays(needs="goals")
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

    `optimum` is the length the path is compared with: the distance from start to goal, the length of the reference
    path, or the distance the tasks file states (the measured one where it states none). `floor` is the least
    denominator. Where optimum and path are both 0 the agent stayed on its goal and gets `standing_still`: 1 by our
    definition; some released code gives 0 or fails (NaN).
    Reference: Anderson et al. 2018, On Evaluation of Embodied Navigation Agents.

    >>> spl([(0, 0), (3, 0), (3, 4)], goals=(3, 4), radius=3.0)
    0.7142857142857143
    """
    arrived = success(attempts, radius=radius, inclusive=inclusive, needs_stop=needs_stop) > 0
    best = select_optimum(attempts, optimum)
    best = np.where(arrived & np.isfinite(best), best, 0.0)  # a jump to an unreachable goal earns nothing
    length = path_length(attempts, straight=straight)
    return np.where(arrived, ratio(best, np.maximum(np.maximum(length, best), floor), standing_still), 0.0)


def select_optimum(attempts: Attempts, kind: Literal["shortest", "reference", "stated"]) -> Array:
    if kind == "reference":
        if (attempts.reference.counts == 0).any():
            raise BadArgument('optimum="reference" compares with the reference path: give one.')
        return attempts.reference_lengths
    return stated_distance(attempts) if kind == "stated" else attempts.shortest


def stated_distance(attempts: Attempts) -> Array:
    """(n,) metres from start to goal as the tasks file states them, the measured distance where it states none."""
    return np.where(np.isnan(attempts.stated_distances), attempts.shortest, attempts.stated_distances)


def in_plan(attempts: Attempts, *, measure: Callable[[Attempts], Array]) -> Array:
    """(n,) the metric seen from above: straight lines without heights, as some released scorers measure.

    >>> from itinera.metrics.attempts import attempts_from_arrays
    >>> attempts, _ = attempts_from_arrays([[(0, 0, 0), (3, 0, 2)]], goals=[[(3, 4, 0)]])
    >>> in_plan(attempts, measure=navigation_error)
    array([4.])
    """
    return measure(attempts.plan)


@metric_on_arrays(needs="goals")
def soft_spl(
    attempts: Attempts,
    *,
    optimum: Literal["shortest", "stated"] = "shortest",
    straight: bool = False,
    standing_still: float = 1.0,
) -> Array:
    """Progress to the goal weighted by path length (SoftSPL): SPL with max(0, 1 - d(end) / d(start)) for success.

    Neither a radius nor STOP matters. Where start and goal coincide, an agent that stayed gets `standing_still` and
    any other 0; an agent that cannot reach its goal gets 0. `optimum` and `straight` are those of `spl`.
    Reference: Datta et al. 2020, Integrating Egocentric Localization for More Realistic Point-Goal Navigation Agents.

    >>> soft_spl([(0, 0), (3, 0)], goals=(4, 0))
    0.75
    """
    best, left = select_optimum(attempts, optimum), navigation_error(attempts)
    reachable = np.isfinite(best) & np.isfinite(left)
    best, left = np.where(reachable, best, 0.0), np.where(reachable, left, 0.0)
    length = path_length(attempts, straight=straight)
    progress = np.maximum(1.0 - ratio(left, best, 0.0), 0.0)
    return np.where(reachable, progress * ratio(best, np.maximum(length, best), standing_still), 0.0)


@metric_on_arrays(needs="goals")
def goal_progress(attempts: Attempts) -> Array:
    """Reduction of the distance to the nearest goal from the start to the end of the path, metres (GP).

    Negative where the agent ends farther away than it began. From where no path leads to a goal, progress is 0.
    Reference: Thomason et al. 2019, Vision-and-Dialog Navigation.

    >>> goal_progress([(0, 0), (3, 0)], goals=(4, 0))
    3.0
    """
    start, end = attempts.shortest, navigation_error(attempts)
    reachable = np.isfinite(start) & np.isfinite(end)
    return np.where(reachable, np.where(reachable, start, 0.0) - np.where(reachable, end, 0.0), 0.0)


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
    """part / whole with a stated value for 0 / 0.

    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0]), 1.0)
    array([0.5, 1. ])
    """
    out = np.full(np.shape(whole), where_both_zero, dtype=float)
    np.divide(part, whole, out=out, where=whole != 0)
    return out
