"""Solids collected into one mesh: boxes, prisms, and the quads of walls. And the objects that they represent.

Corners are rounded to a tenth of a millimetre, so that the last bit of a sine cannot change the bytes of a house.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.worlds import Array
from itinera.worlds.labels import MATERIALS, MPCAT40
from itinera.worlds.mesh import Mesh

Color = tuple[int, int, int]
HALF = 1 << 20


@dataclass(frozen=True, eq=False)
class HouseObject:
    """An object: furniture, a picture, a door, a window, a flight of stairs. Its instance in the mesh is its index."""

    index: int  # from 1, unique in the house
    name: str  # its common name: "coffee table"
    category: str  # one of labels.MPCAT40
    room: int  # the index of its room; for doors and stairs, of the first of the two
    center: Array  # (3,) of its bounding box
    size: Array  # (3,) width (along its own x), depth (its own y) and height
    heading: float  # the direction of its front and its own +y axis, radians from +x
    color: str = ""  # "red"; empty where nobody would mention it
    shape: str = ""  # "round", "long": an adjective that distinguishes it from others of its kind; empty for none
    material: str = ""  # "wooden", "leather": an adjective; empty where nobody would mention it
    blocks: bool = True  # whether it is an obstacle (a rug, a picture and a hanging lamp are not)


class Solids:
    """Collects triangles; each call adds a piece with its category, instance, color and material."""

    def __init__(self) -> None:
        self._corners: list[Array] = []  # each (n, 3, 3)
        self._labels: list[tuple[int, int, int, Color, int]] = []  # faces, class, instance, color, material

    def triangles(
        self, corners: ArrayLike, category: str, instance: int, color: Color, material: str = "plain"
    ) -> None:
        """Add (n, 3, 3) corners as they are, counter-clockwise seen from the front."""
        piece = np.asarray(corners, dtype=np.float64).reshape(-1, 3, 3)
        self._corners.append(piece)
        self._labels.append((len(piece), MPCAT40.index(category), instance, color, MATERIALS.index(material)))

    def polygon(self, corners: ArrayLike, category: str, instance: int, color: Color, material: str = "plain") -> None:
        """Add a flat convex polygon, (k, 3), counter-clockwise seen from the front."""
        points = np.asarray(corners, dtype=np.float64)
        fan = np.stack([np.repeat(points[:1], len(points) - 2, axis=0), points[1:-1], points[2:]], axis=1)
        self.triangles(fan, category, instance, color, material)

    def prism(
        self,
        base: ArrayLike,
        low: float,
        high: float,
        category: str,
        instance: int,
        color: Color,
        material: str = "plain",
    ) -> None:
        """Add an upright prism over a convex base, (k, 2) counter-clockwise."""
        flat = np.asarray(base, dtype=np.float64)
        bottom, top = (np.column_stack([flat, np.full(len(flat), z)]) for z in (low, high))
        after, over = np.roll(bottom, -1, axis=0), np.roll(top, -1, axis=0)
        sides = np.concatenate([np.stack([bottom, after, over], axis=1), np.stack([bottom, over, top], axis=1)])
        self.triangles(sides, category, instance, color, material)
        self.polygon(top, category, instance, color, material)
        self.polygon(bottom[::-1], category, instance, color, material)

    def box(
        self,
        low: Sequence[float],
        high: Sequence[float],
        category: str,
        instance: int,
        color: Color,
        material: str = "plain",
    ) -> None:
        """Add an axis-aligned box."""
        (x0, y0, z0), (x1, y1, z1) = low, high
        self.prism([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], z0, z1, category, instance, color, material)

    def mesh(self) -> Mesh:
        """The mesh of all pieces, with equal corners merged."""
        corners = np.concatenate([np.empty((0, 3, 3)), *self._corners]).reshape(-1, 3)
        tenths = np.round(corners * 1e4).astype(np.int64)
        # Packing three integers into one sorts the same way, ten times faster; 21 bits hold ±104 m.
        assert np.abs(tenths).max(initial=0) < HALF, "A house is at most 100 m wide."
        packed = ((tenths[:, 0] + HALF) << 42) | ((tenths[:, 1] + HALF) << 21) | (tenths[:, 2] + HALF)
        numbers, where = np.unique(packed, return_inverse=True)
        unique = np.stack([numbers >> 42, (numbers >> 21) & (2 * HALF - 1), numbers & (2 * HALF - 1)], axis=1) - HALF
        counts = [n for n, *_ in self._labels]

        def spread(column: int, kind: type) -> NDArray[Any]:
            return np.repeat(np.array([label[column] for label in self._labels], dtype=kind), counts, axis=0)

        return Mesh(
            (unique / 1e4).astype(np.float32),
            where.reshape(-1, 3).astype(np.int32),
            spread(1, np.uint8),
            spread(2, np.int32),
            spread(3, np.uint8).reshape(-1, 3),
            spread(4, np.uint8),
        )
