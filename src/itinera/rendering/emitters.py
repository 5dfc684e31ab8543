"""The light sources of a mesh: panes of windows and lamps, found by class, material and color."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.worlds.labels import MATERIALS, MPCAT40
from itinera.worlds.mesh import Mesh
from itinera.worlds.space import Array

PANE_SAMPLE = 0.75  # metres between the points that stand for a pane
SHADE_RADIUS = 0.32  # metres around a bulb within which the faces of a lamp glow


@dataclass(frozen=True, eq=False)
class Lamps:
    """The lamps of a mesh."""

    positions: Array  # (m, 3) of the bulbs
    strengths: Array  # (m,)
    glowing_faces: NDArray[np.int64]  # (g,) bulbs and lampshades
    owners: NDArray[np.int64]  # (g,) the lamp of each of them

    def select(self, mask: NDArray[np.bool_]) -> Lamps:
        """The lamps at which the mask (m,) is True."""
        ranks, kept = np.cumsum(mask) - 1, mask[self.owners]
        return Lamps(self.positions[mask], self.strengths[mask], self.glowing_faces[kept], ranks[self.owners[kept]])


def is_pane(mesh: Mesh) -> NDArray[np.bool_]:
    """(f,) whether each face is the glass of a window."""
    window, glass = MPCAT40.index("window"), MATERIALS.index("glass")
    panes: NDArray[np.bool_] = (mesh.classes == window) & (mesh.materials == glass)
    return panes


def sample_panes(mesh: Mesh, normals: Array, panes: NDArray[np.bool_]) -> tuple[Array, Array, Array]:
    """Points (n, 3) on these faces, the normals (n, 3) there, and the area (n,) each point stands for."""
    points, facing, areas = [np.empty((0, 3))], [np.empty((0, 3))], [np.empty(0)]
    for face in np.flatnonzero(panes).tolist():
        a, b, c = mesh.corners[face].astype(np.float64)
        area = 0.5 * math.sqrt(float((np.cross(b - a, c - a) ** 2).sum()))
        rows = max(1, round(math.sqrt(2 * area) / PANE_SAMPLE))
        # The centers of the rows² equal triangles into which the face divides.
        shares = [
            (i + t, j + t) for i in range(rows) for j in range(rows - i) for t in (1 / 3, 2 / 3) if i + j + 2 * t < rows
        ]
        steps = np.array(shares) / rows
        points.append(a + steps[:, :1] * (b - a) + steps[:, 1:] * (c - a))
        facing.append(np.tile(normals[face], (len(steps), 1)))
        areas.append(np.full(len(steps), area / len(steps)))
    return np.concatenate(points), np.concatenate(facing), np.concatenate(areas)


def find_lamps(mesh: Mesh) -> Lamps:
    """One lamp for each object of class lighting, where its brightest faces are."""
    faces = np.flatnonzero((mesh.classes == MPCAT40.index("lighting")) & (mesh.instances > 0))
    if not len(faces):
        return Lamps(np.empty((0, 3)), np.empty(0), faces, faces)
    middles = mesh.corners[faces].astype(np.float64).mean(axis=1)
    brightness = mesh.colors[faces].astype(np.int64) @ np.array([30, 59, 11])
    lamps = np.unique(mesh.instances[faces], return_inverse=True)[1].reshape(-1)
    brightest = np.zeros(lamps.max() + 1, dtype=np.int64)
    np.maximum.at(brightest, lamps, brightness)
    bulbs = brightness >= 0.97 * brightest[lamps]
    counts = np.bincount(lamps[bulbs])
    positions = np.column_stack([np.bincount(lamps[bulbs], middles[bulbs, k]) / counts for k in range(3)]).round(6)
    near = ((middles - positions[lamps]) ** 2).sum(axis=1) < SHADE_RADIUS**2
    return Lamps(positions, np.ones(len(positions)), faces[near], lamps[near])
