"""Simple polygons: area and triangulation."""

from __future__ import annotations

import numpy as np

from itinera.worlds import Array

Point = tuple[float, float]


def area(outline: Array) -> float:
    """Signed area, square metres; negative for clockwise corners."""
    x, y = outline.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def triangulate(outline: Array) -> Array:
    """Counter-clockwise triangles, (k - 2, 3, 2), that cover a simple counter-clockwise polygon of k corners.

    Ear clipping, the fattest ear first, which avoids needles.
    """
    ring = [(float(x), float(y)) for x, y in outline]
    triangles = []
    while len(ring) > 3:
        ears = [(_fatness(*_ear(ring, k)), -k) for k in range(len(ring)) if _may_cut(ring, k)]
        k = -max(ears)[1]
        triangles.append(_ear(ring, k))
        del ring[k]
    return np.array([*triangles, ring])


def _ear(ring: list[Point], k: int) -> tuple[Point, Point, Point]:
    return ring[k - 1], ring[k], ring[(k + 1) % len(ring)]


def _cross(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _may_cut(ring: list[Point], k: int) -> bool:
    """Whether the corner is convex and no other corner lies in its triangle."""
    a, b, c = _ear(ring, k)
    if _cross(a, b, c) < 1e-9:
        return False
    others = (p for p in ring if p not in (a, b, c))
    return not any(min(_cross(a, b, p), _cross(b, c, p), _cross(c, a, p)) >= -1e-9 for p in others)


def _fatness(a: Point, b: Point, c: Point) -> float:
    """Twice the area over the squared longest side, rounded so that equal shapes tie."""
    longest = max((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 for p, q in ((a, b), (b, c), (c, a)))
    return round(_cross(a, b, c) / longest, 6)
