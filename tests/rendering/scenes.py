"""Small scenes with materials, for tests of appearance and shading."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from itinera.hearth.geometry.solids import Solids
from itinera.worlds.labels import MATERIALS, MPCAT40
from itinera.worlds.mesh import Mesh


def boxes(*rows: tuple[tuple, tuple, str, int, tuple, str]) -> Mesh:
    """Boxes (low, high, class, instance, color, material); a negative instance turns a box inside out."""
    meshes = []
    for low, high, kind, instance, color, material in rows:
        solids = Solids()
        solids.box(low, high, kind, abs(instance), color)
        mesh = solids.mesh()
        faces = mesh.faces[:, ::-1] if instance < 0 else mesh.faces
        meshes.append(replace(mesh, faces=faces, materials=np.full(len(faces), MATERIALS.index(material), np.uint8)))
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])[:-1]
    arrays = {
        name: np.concatenate([getattr(mesh, name) for mesh in meshes])
        for name in ("vertices", "classes", "instances", "colors", "materials")
    }
    joined = [mesh.faces + start for mesh, start in zip(meshes, starts, strict=True)]
    return Mesh(faces=np.concatenate(joined).astype(np.int32), **arrays)


def two_rooms() -> Mesh:
    """A room with a window and a bench, and behind a wall a dark one with a lamp."""
    mesh = boxes(
        ((-3, -2, 0), (3, 2, 2.5), "wall", -1, (200, 190, 180), "plaster"),
        ((3.2, -2, 0), (8, 2, 2.5), "wall", -2, (200, 190, 180), "brick"),
        ((0.5, 0.5, 0.001), (1.5, 1.2, 0.45), "seating", 3, (180, 40, 40), "fabric"),
        ((-2.99, -1, 0.8), (-2.98, 1, 2.0), "window", 4, (176, 208, 232), "glass"),
        ((5.4, -0.1, 1.9), (5.6, 0.1, 2.1), "lighting", 5, (255, 244, 206), "plain"),
    )
    building = mesh.instances <= 2
    floors = building & (mesh.corners[:, :, 2].max(axis=1) < 0.01)
    materials, classes = mesh.materials.copy(), mesh.classes.copy()
    materials[floors], classes[floors] = MATERIALS.index("planks"), MPCAT40.index("floor")
    return replace(mesh, instances=np.where(building, 0, mesh.instances), materials=materials, classes=classes)
