"""Faces that fight for the same pixels: parallel, closer than a millimetre, overlapping, and of different labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itinera.worlds import Array
from itinera.worlds.mesh import Mesh

GAP = 1e-3  # metres between planes
OVERLAP = 1e-5  # square metres


def fighting_faces(mesh: Mesh, *, gap: float = GAP, overlap: float = OVERLAP) -> list[tuple[int, int]]:
    """Pairs of faces of different class or instance that lie in one plane and overlap, whichever way they look."""
    corners = mesh.corners.astype(np.float64)
    pairs = _close_planes(corners, gap)
    first, second = pairs.T
    labels = np.stack([mesh.classes.astype(np.int64), mesh.instances.astype(np.int64)], axis=1)
    low, high = corners.min(axis=1), corners.max(axis=1)
    differ = (labels[first] != labels[second]).any(axis=1)
    meet = ((low[first] <= high[second] + gap) & (low[second] <= high[first] + gap)).all(axis=1)
    return [(int(a), int(b)) for a, b in pairs[differ & meet] if _shared_area(corners[a], corners[b], gap) > overlap]


def _close_planes(corners: Array, gap: float) -> NDArray[np.int64]:
    """(n, 2) pairs of faces whose planes are parallel and about as far from the origin."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sizes = np.linalg.norm(normals, axis=1)
    real = np.flatnonzero(sizes > 1e-9)
    normals = normals[real] / sizes[real, None]
    rounded = np.round(normals, 2)
    leading = rounded[np.arange(len(real)), (rounded != 0).argmax(axis=1)]
    signs = np.sign(leading)
    _, group = np.unique((rounded * signs[:, None] * 100).astype(np.int64), axis=0, return_inverse=True)
    offsets = ((normals * corners[real].mean(axis=1)).sum(axis=1)) * signs
    key = group.ravel() * 1e4 + offsets
    order = np.argsort(key, kind="stable")
    # Directions that round alike are not quite parallel; a wider window, then the exact look below.
    ends = np.searchsorted(key[order], key[order] + 20 * gap, side="right")
    counts = ends - np.arange(len(order)) - 1
    first = np.repeat(np.arange(len(order)), counts)
    second = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts) + first + 1
    return np.sort(np.stack([real[order[first]], real[order[second]]], axis=1), axis=1)


def _shared_area(a: Array, b: Array, gap: float) -> float:
    """Square metres that two triangles share, 0 unless all of one lies within the gap of the other's plane."""
    normal = np.cross(a[1] - a[0], a[2] - a[0])
    normal /= np.linalg.norm(normal)
    if np.abs((b - a[0]) @ normal).max() >= gap:
        return 0.0
    across = (a[1] - a[0]) / np.linalg.norm(a[1] - a[0])
    basis = np.stack([across, np.cross(normal, across)], axis=1)
    clip, piece = (a - a[0]) @ basis, list((b - a[0]) @ basis)
    for start, end in zip(clip, np.roll(clip, -1, axis=0), strict=True):
        piece = _left_of(start, end, piece)
    if len(piece) < 3:
        return 0.0
    x, y = np.array(piece).T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


def _left_of(start: Array, end: Array, polygon: list[Array]) -> list[Array]:
    """The part of a polygon to the left of a line."""
    kept: list[Array] = []
    ahead = end - start
    sides = [float(ahead[0] * (p - start)[1] - ahead[1] * (p - start)[0]) for p in polygon]
    for k, (p, side) in enumerate(zip(polygon, sides, strict=True)):
        q, other = polygon[k - 1], sides[k - 1]
        if (side > 0) != (other > 0):
            kept.append(q + (p - q) * other / (other - side))
        if side > 0:
            kept.append(p)
    return kept
