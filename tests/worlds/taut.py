"""Exact shortest ways among convex obstacles, the slow way: a visibility graph, then Dijkstra.

A robot's middle keeps its radius from every obstacle, so obstacles grow by it; a way then bends only at their corners.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import ConvexHull

from itinera.worlds.space import Array

CORNERS = 32  # of the polygon that stands for a circle, around it; at a radius of 0.2 m it is a millimetre too large
HAIR = 1e-7


def grown(polygon: Array, radius: float) -> Array:
    """A convex polygon grown by a radius, counter-clockwise."""
    angles = (np.arange(CORNERS) + 0.5) * 2 * np.pi / CORNERS
    circle = radius / np.cos(np.pi / CORNERS) * np.column_stack([np.cos(angles), np.sin(angles)])
    everything = (polygon[:, None] + circle).reshape(-1, 2)
    return everything[ConvexHull(everything).vertices]


def depths(polygon: Array, points: Array) -> Array:
    """(n, k) how far each point lies inside each side of a convex polygon, metres."""
    sides = np.roll(polygon, -1, axis=0) - polygon
    sides = sides / np.linalg.norm(sides, axis=1, keepdims=True)
    off = points[:, None] - polygon
    return np.asarray(sides[:, 0] * off[..., 1] - sides[:, 1] * off[..., 0])


def inside(polygon: Array, points: Array) -> np.ndarray:
    return (depths(polygon, points) > HAIR).all(axis=1)


def hidden(polygon: Array, a: Array, b: Array) -> np.ndarray:
    """(n,) whether the line from a[i] to b[i] passes through the inside of a convex polygon."""
    start, end = depths(polygon, a) - HAIR, depths(polygon, b) - HAIR
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = start / (start - end)
    enters = np.where(end > start, crossing, 0.0).max(axis=1)
    leaves = np.where(end < start, crossing, 1.0).min(axis=1)
    beside = ((end == start) & (start < 0)).any(axis=1)
    return (np.minimum(leaves, 1.0) > np.maximum(enters, 0.0) + 1e-9) & ~beside


def distances(points: Array, size: Sequence[float], obstacles: Sequence[Array], radius: float) -> Array:
    """(n, n) exact distances between points in a room from (0, 0) to `size`; inf where no way leads."""
    large = [grown(obstacle, radius) if radius else obstacle for obstacle in obstacles]
    places = np.concatenate([points, *large])
    within = (places >= radius - HAIR).all(axis=1) & (places <= np.asarray(size) - radius + HAIR).all(axis=1)
    for polygon in large:
        within &= ~inside(polygon, places)
    within[: len(points)] = True
    places = places[within]
    a, b = np.triu_indices(len(places), 1)
    for polygon in large:
        seen = ~hidden(polygon, places[a], places[b])
        a, b = a[seen], b[seen]
    lengths = np.linalg.norm(places[a] - places[b], axis=1)
    # A length of 0 would be no edge at all.
    graph = coo_array((np.maximum(lengths, 1e-12), (a, b)), shape=(len(places), len(places))).tocsr()
    return np.asarray(dijkstra(graph, directed=False, indices=np.arange(len(points)))[:, : len(points)])
