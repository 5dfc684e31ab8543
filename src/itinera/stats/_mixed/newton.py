"""The minimum of a smooth function of a few variables, by Newton's method on batches of points.

Designed for likelihoods that cost little more for fifty points than for one: value, slope and curvature at a point are
then one evaluation, and ten or so steps do where quasi-Newton methods of scipy take forty. Start with `minimize`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from itinera.stats._validation import Floats

Batch: TypeAlias = Callable[[Floats], Floats]  # from points (k, n) to one value each, (k,), or one array each, (k, …)

_STRETCHES = np.array([4.0, 2.0, 1.0, 0.5, 0.25, 0.1, 0.03, 0.01])[:, None]  # of Newton's step; the best one is taken


@dataclass(frozen=True)
class Minimum:
    """The minimum of a function, and whether the search for it converged."""

    point: Floats  # (n,)
    value: float
    converged: bool


def minimize(function: Batch, start: Floats, *, tolerance: float = 1e-9, most_steps: int = 100) -> Minimum:
    """The local minimum reached from `start`: no step is expected to lower the function by more than `tolerance`."""
    point = start
    for _ in range(most_steps):
        value, slope, bend = derivatives(function, point)
        # In units of each coordinate's own size, a large one with little curvature is not taken for a flat direction.
        size = np.maximum(np.abs(point), 1.0)
        slope, bend = slope * size, bend * np.outer(size, size)
        eigenvalues, directions = np.linalg.eigh(bend)
        # Curvature counts by its size alone, so that saddles repel; a flat direction must not make the step endless.
        stiffness = np.maximum(np.abs(eigenvalues), 1e-6 * max(1.0, np.abs(eigenvalues).max()))
        step = -directions @ (directions.T @ slope / stiffness)
        gain = float(-slope @ step)
        step = step * size
        if gain > tolerance:
            longest = 2 * max(0.5, float(np.abs(point).max()))
            tried = point + _STRETCHES * step * min(1.0, longest / float(np.abs(step).max()))
        elif eigenvalues[0] < 0:
            # At rest, but on a saddle or on what rounding makes of a flat place: down either side, if it goes down.
            tried = point + np.concatenate([_STRETCHES, -_STRETCHES]) * directions[:, 0] * size
        else:
            return Minimum(point, float(value), True)
        heights = function(tried)
        heights[~np.isfinite(heights)] = np.inf
        best = int(heights.argmin())
        if not heights[best] < value - tolerance:
            # Nothing lower within reach of rounding: at rest, unless the slope still promises a real gain.
            return Minimum(point, float(value), gain <= 1e-5)
        point = tried[best]
    return Minimum(point, float(function(point[None])[0]), False)


def derivatives(function: Batch, point: Floats) -> tuple[Floats, Floats, Floats]:
    """The value at a point, its slope (…, n) and its curvature (…, n, n), by central differences in one batch."""
    count = len(point)
    reach = 1e-3 * np.maximum(np.abs(point), 0.02)
    steps = np.diag(reach)
    ahead, behind = np.triu_indices(count, 1)
    across = steps[ahead] + steps[behind]
    values = function(point + np.concatenate([np.zeros((1, count)), steps, -steps, across, -across]))
    here, up, down, both, neither = np.split(values, np.cumsum([1, count, count, len(ahead)]))
    slope = np.moveaxis(up - down, 0, -1) / (2 * reach)
    bend = np.empty((*here.shape[1:], count, count))
    bend[..., range(count), range(count)] = np.moveaxis(up - 2 * here + down, 0, -1) / reach**2
    mixed = both - up[ahead] - up[behind] + 2 * here - down[ahead] - down[behind] + neither
    bend[..., ahead, behind] = bend[..., behind, ahead] = np.moveaxis(mixed, 0, -1) / (2 * reach[ahead] * reach[behind])
    return here[0], slope, bend
