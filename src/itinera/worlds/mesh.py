"""Labeled triangle meshes: the geometry of a scene, with the class, instance, color and material of each face."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.worlds.space import Array


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh, z up, metres. Seen from the front, the corners of a face run counter-clockwise."""

    vertices: NDArray[np.float32]  # (v, 3)
    faces: NDArray[np.int32]  # (f, 3) vertex indices
    classes: NDArray[np.uint8]  # (f,) indices into labels.MPCAT40; 0 where unknown
    instances: NDArray[np.int32]  # (f,) the object a face belongs to, from 1; 0 is the building itself
    colors: NDArray[np.uint8]  # (f, 3) red, green, blue
    materials: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))  # (f,) of labels.MATERIALS

    def __post_init__(self) -> None:
        if len(self.materials) == 0:  # all plain
            object.__setattr__(self, "materials", np.zeros(len(self.faces), np.uint8))
        shapes = {
            "vertices": (np.float32, (-1, 3)),
            "faces": (np.int32, (-1, 3)),
            "classes": (np.uint8, (-1,)),
            "instances": (np.int32, (-1,)),
            "colors": (np.uint8, (-1, 3)),
            "materials": (np.uint8, (-1,)),
        }
        for name, (kind, shape) in shapes.items():
            array = np.ascontiguousarray(getattr(self, name), dtype=kind).reshape(shape)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        labels = self.classes, self.instances, self.colors, self.materials
        if any(len(of_faces) != len(self.faces) for of_faces in labels):
            raise BadArgument("A mesh needs one class, one instance, one color and one material for each face.")
        if self.faces.size and not (self.faces.min() >= 0 and self.faces.max() < len(self.vertices)):
            raise BadArgument(f"A face refers to a vertex index outside 0 … {len(self.vertices) - 1}.")
        if not np.isfinite(self.vertices).all():
            raise BadArgument("A vertex is not finite.")

    @classmethod
    def from_triangles(cls, vertices: Array, faces: NDArray[np.int32]) -> Mesh:
        """A mesh without labels: gray, with class and instance 0."""
        n = len(faces)
        grey = np.full((n, 3), 180, dtype=np.uint8)
        return cls(np.asarray(vertices, np.float32), faces, np.zeros(n, np.uint8), np.zeros(n, np.int32), grey)

    @property
    def corners(self) -> NDArray[np.float32]:
        """(f, 3, 3) the corners of each face."""
        return self.vertices[self.faces]
