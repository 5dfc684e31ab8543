"""Batches of axis-aligned rectangles: whether they lie inside a room's outline, and whether they overlap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itinera.worlds import Array

Rectangle = tuple[float, float, float, float]  # low x, low y, high x, high y
TOUCHING = 0.005  # metres; anything nearer counts as touching, so that sides of two objects never coincide


def contains(outline: Array, points: Array) -> NDArray[np.bool_]:
    """(n,) whether points (n, 2) lie in a simple polygon."""
    a, b = outline, _next_corners(outline)
    x, y = points[:, :1], points[:, 1:]
    crosses = (a[:, 1] > y) != (b[:, 1] > y)
    rise = np.where(b[:, 1] == a[:, 1], 1.0, b[:, 1] - a[:, 1])
    left = x < (b[:, 0] - a[:, 0]) * (y - a[:, 1]) / rise + a[:, 0]
    odd: NDArray[np.bool_] = (crosses & left).sum(axis=1) % 2 == 1
    return odd


def distance_to_outline(outline: Array, points: Array) -> Array:
    """(n,) the distance of points (n, 2) from the sides of a polygon."""
    nearest = np.full(len(points), np.inf)
    x, y = points.T
    for (ax, ay), (bx, by) in zip(outline.tolist(), _next_corners(outline).tolist(), strict=True):
        dx, dy = bx - ax, by - ay
        share = np.clip(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy), 0, 1)
        nearest = np.minimum(nearest, (x - ax - share * dx) ** 2 + (y - ay - share * dy) ** 2)
    distance: Array = np.sqrt(nearest)
    return distance


def rectangles_inside(outline: Array, boxes: Array) -> NDArray[np.bool_]:
    """(n,) whether rectangles (n, 4) lie in a simple polygon: no side intersects them, and their center is inside."""
    slim = boxes + np.array((1, 1, -1, -1)) * 1e-4
    entered = _enters(outline, _next_corners(outline) - outline, slim).any(axis=1)
    return ~entered & contains(outline, (boxes[:, :2] + boxes[:, 2:]) / 2)


def _enters(starts: Array, sides: Array, boxes: Array) -> NDArray[np.bool_]:
    """(n, k) which segments intersect which boxes: their intervals within both slabs overlap."""
    shape = len(boxes), len(starts)
    first, last = np.zeros(shape), np.ones(shape)
    for axis in range(2):
        side = sides[:, axis]
        level = np.abs(side) < 1e-9
        low, high = boxes[:, axis, None] - starts[:, axis], boxes[:, axis + 2, None] - starts[:, axis]
        one, other = low / np.where(level, 1.0, side), high / np.where(level, 1.0, side)
        missed = level & ~((low < 0) & (high > 0))
        first = np.where(level, first, np.maximum(first, np.minimum(one, other)))
        last = np.where(missed, -1.0, np.where(level, last, np.minimum(last, np.maximum(one, other))))
    entered: NDArray[np.bool_] = first < last
    return entered


def rectangles_overlap(a: Array, b: Array) -> NDArray[np.bool_]:
    """(n, m) which rectangles of a (n, 4) overlap or nearly touch which of b (m, 4)."""
    across = (a[:, None, 0] < b[:, 2] + TOUCHING) & (a[:, None, 2] > b[:, 0] - TOUCHING)
    along = (a[:, None, 1] < b[:, 3] + TOUCHING) & (a[:, None, 3] > b[:, 1] - TOUCHING)
    both: NDArray[np.bool_] = across & along
    return both


def _next_corners(outline: Array) -> Array:
    """The next corner after each."""
    return np.concatenate([outline[1:], outline[:1]])
