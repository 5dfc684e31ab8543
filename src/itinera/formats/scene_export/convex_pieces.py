"""A mesh as boxes and convex hulls, for physics engines that collide convex shapes only. No face is left out.

Closed solids are found first: most are boxes, many others are convex. What remains, open sheets such as walls with
doors and solids that are not convex, is cut into convex polygons, each a thin slab behind its surface.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from itinera.formats.scene_export.parts import face_normals
from itinera.worlds import Array
from itinera.worlds.mesh import Mesh

SLAB = 0.02  # metres behind a surface that is not part of a convex solid
FLAT = 3e-4  # metres; corners are rounded to a tenth of a millimetre
MIN_AREA = 1e-9  # square metres; a smaller triangle has no surface


@dataclass(frozen=True, eq=False)
class Box:
    """A box with any orientation."""

    center: Array  # (3,) metres
    axes: Array  # (3, 3) rows are its unit axes, right-handed
    half: Array  # (3,) half its size along each axis


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of points, with volume."""

    points: Array  # (k, 3) metres


@dataclass(frozen=True, eq=False)
class Piece:
    """A convex piece of an object."""

    instance: int
    category: int  # index into labels.MPCAT40
    color: tuple[int, int, int]
    shape: Box | Hull
    faces: tuple[int, ...]  # the faces of the mesh that it represents


def find_pieces(mesh: Mesh) -> list[Piece]:
    """The convex pieces of a mesh, object by object; every face with an area is in one of them."""
    corners = mesh.corners.astype(np.float64)
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals, real = face_normals(mesh.corners), np.linalg.norm(cross, axis=1) / 2 > MIN_AREA
    paint = (mesh.colors.astype(np.int64) * (1 << 16, 1 << 8, 1)).sum(axis=1)
    keys = (mesh.instances.astype(np.int64) << 32) + (mesh.classes.astype(np.int64) << 24) + paint
    pieces = []
    for rows in _connected(mesh.faces, keys):
        first = int(rows[0])
        red, green, blue = mesh.colors[first].tolist()
        for shape, faces in _shapes(mesh, rows, normals, real):
            numbers = tuple(int(face) for face in faces)
            look = (red, green, blue)
            pieces.append(Piece(int(mesh.instances[first]), int(mesh.classes[first]), look, shape, numbers))
    return sorted(pieces, key=lambda piece: (piece.instance, piece.category, piece.faces))


def _connected(faces: NDArray[np.int32], keys: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """The faces of each connected component, where faces with different keys are not connected."""
    number = np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)
    corners, ids = np.unique(faces.astype(np.int64) + number[:, None] * (int(faces.max()) + 1), return_inverse=True)
    ids = ids.reshape(-1, 3)
    links = coo_matrix(
        (np.ones(2 * len(ids), np.int8), (np.r_[ids[:, 0], ids[:, 0]], np.r_[ids[:, 1], ids[:, 2]])),
        shape=(len(corners), len(corners)),
    )
    labels = connected_components(links, directed=False)[1][ids[:, 0]]
    order = np.argsort(labels, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)


def _shapes(
    mesh: Mesh, rows: NDArray[np.int64], normals: Array, real: NDArray[np.bool_]
) -> Iterator[tuple[Box | Hull, Sequence[int]]]:
    """The shapes of a connected component with the faces of each."""
    for solid, closed in _closed_runs(mesh.faces, rows.tolist()):
        faces = [face for face in solid if real[face]]
        points = mesh.vertices[np.unique(mesh.faces[solid])].astype(np.float64)
        box = _as_box(points) if closed and len(points) == 8 else None
        if box is not None:
            yield box, faces
        elif closed and _is_convex(points, mesh.corners[faces].astype(np.float64), normals[faces]):
            yield Hull(points), faces
        else:
            yield from _slabs(mesh, faces, normals)


def _closed_runs(faces: NDArray[np.int32], rows: list[int]) -> Iterator[tuple[list[int], bool]]:
    """Runs of faces that close a solid, in the order in which they were built; the rest at the end, which is open.

    A solid is closed when each of its edges has been walked in both directions. Solids that touch each other share
    corners, so connectivity alone does not separate them.
    """
    run: list[int] = []
    open_edges: Counter[tuple[int, int]] = Counter()
    for row, (a, b, c) in zip(rows, faces[rows].tolist(), strict=True):
        run.append(row)
        for edge in ((a, b), (b, c), (c, a)):
            back = edge[::-1]
            if open_edges[back] > 0:
                open_edges[back] -= 1
                if not open_edges[back]:
                    del open_edges[back]
            else:
                open_edges[edge] += 1
                del open_edges[back]
        if not open_edges:
            yield run, True
            run = []
    if run:
        yield run, False


def _as_box(points: Array) -> Box | None:
    """The box with these eight corners; None if they are not those of a box."""
    away = points[1:] - points[0]
    edges = _perpendicular(away[np.argsort(np.linalg.norm(away, axis=1), kind="stable")])
    if edges is None:
        return None
    # The longest edges are the most exact, because all corners are rounded equally.
    first = edges[2] / np.linalg.norm(edges[2])
    second = edges[1] - (edges[1] @ first) * first
    second = second / np.linalg.norm(second)
    axes = np.array([first, second, np.cross(first, second)])
    center = points.mean(axis=0)
    inside = np.abs((points - center) @ axes.T)
    half = inside.mean(axis=0)
    return Box(center, axes, half) if np.abs(inside - half).max() <= FLAT else None


def _perpendicular(away: Array) -> Array | None:
    """(3, 3) three of these vectors, the shortest ones, that are perpendicular to each other; None without any."""
    chosen: list[Array] = []
    for vector in away:
        length = np.linalg.norm(vector)
        if length > 0 and all(abs(vector @ other) <= FLAT * max(length, np.linalg.norm(other)) for other in chosen):
            chosen.append(vector)
        if len(chosen) == 3:
            return np.array(chosen)
    return None


def _is_convex(points: Array, corners: Array, normals: Array) -> bool:
    """Whether no point is in front of a face, and the points enclose a volume."""
    ahead = points @ normals.T - np.einsum("fi,fi->f", normals, corners[:, 0])
    return bool(ahead.max() <= FLAT and ahead.min() < -FLAT)


def _slabs(mesh: Mesh, faces: Sequence[int], normals: Array) -> Iterator[tuple[Box | Hull, Sequence[int]]]:
    """Thin slabs behind the faces, one for each convex polygon of a plane."""
    planes: dict[tuple[int, ...], list[int]] = {}
    for face in faces:
        offset = float(normals[face] @ mesh.vertices[mesh.faces[face, 0]].astype(np.float64))
        key = (*np.round(normals[face] * 1e3).astype(int).tolist(), round(offset * 1e3))
        planes.setdefault(key, []).append(face)
    for members in planes.values():
        for loop, merged in _convex_polygons(mesh, members, normals[members[0]]):
            outline = mesh.vertices[loop].astype(np.float64)
            behind = outline - SLAB * normals[members[0]]
            points = np.concatenate([outline, behind])
            box = _as_box(points) if len(points) == 8 else None
            yield (box if box is not None else Hull(points)), merged


def _convex_polygons(mesh: Mesh, faces: Sequence[int], normal: Array) -> Iterator[tuple[list[int], list[int]]]:
    """Triangles of one plane joined into convex polygons: the loop of corners, and the faces of each."""
    polygons = {face: ([int(corner) for corner in mesh.faces[face]], [face]) for face in faces}
    owner = {edge: face for face in faces for edge in _edges(polygons[face][0])}
    queue = sorted(edge for edge in owner if edge[::-1] in owner and edge[0] < edge[1])
    for edge in queue:
        one, other = owner.get(edge), owner.get(edge[::-1])
        if one is None or other is None or one == other:
            continue
        loop = _joined(polygons[one][0], polygons[other][0], edge)
        if loop is None or not _turns_left(mesh.vertices[loop].astype(np.float64), normal):
            continue
        polygons[one] = loop, polygons[one][1] + polygons.pop(other)[1]
        owner |= dict.fromkeys(_edges(loop), one)
    for loop, merged in polygons.values():
        yield _without_straight(mesh, loop, normal), merged


def _edges(loop: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(loop, [*loop[1:], loop[0]], strict=True))


def _joined(one: list[int], other: list[int], edge: tuple[int, int]) -> list[int] | None:
    """The loop around two polygons with a common edge; None if they touch elsewhere too."""
    start, end = edge
    i, j = one.index(start), other.index(end)
    if (i + 1) % len(one) != one.index(end) or (j + 1) % len(other) != other.index(start):
        return None
    before = one[i + 1 :] + one[: i + 1]  # from the end of the edge around to its start
    after = other[j + 2 :] + other[:j] if j + 2 <= len(other) else other[1:j]
    loop = before + after
    return loop if len(set(loop)) == len(loop) else None


def _turns_left(outline: Array, normal: Array) -> bool:
    """Whether a polygon, seen from its front, never turns right."""
    along = np.roll(outline, -1, axis=0) - outline
    turns = np.cross(along, np.roll(along, -1, axis=0)) @ normal
    scale = np.linalg.norm(along, axis=1)
    return bool((turns >= -FLAT * np.maximum(scale, np.roll(scale, -1))).all())


def _without_straight(mesh: Mesh, loop: list[int], normal: Array) -> list[int]:
    """The loop without corners at which it does not turn."""
    outline = mesh.vertices[loop].astype(np.float64)
    before, after = outline - np.roll(outline, 1, axis=0), np.roll(outline, -1, axis=0) - outline
    turns = np.cross(before, after) @ normal
    limit = FLAT * np.maximum(np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1))
    kept = [corner for corner, turn, least in zip(loop, turns, limit, strict=True) if turn > least]
    return kept if len(kept) >= 3 else loop
