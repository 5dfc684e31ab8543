"""A vertical face, such as a wall seen from its room: rectangles on it, openings in it, boxes fixed to it.

Coordinates are `s` to the right along the face, `z` upwards and `d` out of it towards the viewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from itinera.hearth.geometry.solids import Color, Solids
from itinera.worlds import Array

Hole = tuple[float, float, float, float]  # s0, s1, z0, z1


@dataclass(frozen=True)
class Paint:
    """The labels, color and material of a piece of the mesh."""

    category: str
    instance: int
    color: Color
    material: str = "plain"


@dataclass(frozen=True, eq=False)
class WallFace:
    """A vertical plane through `origin`, seen from the side that `out` points to."""

    solids: Solids
    origin: Array  # (2,)
    out: Array  # (2,) unit vector towards the viewer

    @property
    def along(self) -> Array:
        """(2,) unit vector to the viewer's right."""
        return np.array([-self.out[1], self.out[0]])

    def measure(self, point: Array) -> tuple[float, float]:
        """The s and d of a point of the floor plan."""
        return float((point - self.origin) @ self.along), float((point - self.origin) @ self.out)

    def point(self, s: float, d: float) -> Array:
        """(2,) the point of the floor plan at this s and d."""
        return self.origin + s * self.along + d * self.out

    def quad(self, corners: Sequence[tuple[float, float, float]], paint: Paint) -> None:
        """Add a flat rectangle with corners at (s, z, d), counter-clockwise seen from its front."""
        (x, y), (ox, oy) = self.origin.tolist(), self.out.tolist()
        a, b, c, e = [(x - s * oy + d * ox, y + s * ox + d * oy, z) for s, z, d in corners]
        labels = paint.category, paint.instance, paint.color, paint.material
        self.solids.triangles([(a, b, c), (a, c, e)], *labels)

    def plate(self, s: tuple[float, float], z: tuple[float, float], d: float, paint: Paint) -> None:
        """Add a rectangle parallel to the face."""
        if s[1] - s[0] > 1e-6 and z[1] - z[0] > 1e-6:
            self.quad([(s[0], z[0], d), (s[1], z[0], d), (s[1], z[1], d), (s[0], z[1], d)], paint)

    def side(self, s: float, z: tuple[float, float], d: tuple[float, float], paint: Paint, *, right: bool) -> None:
        """Add a vertical rectangle perpendicular to the face, facing right or left."""
        corners = [(s, z[0], d[0]), (s, z[1], d[0]), (s, z[1], d[1]), (s, z[0], d[1])]
        self.quad(corners if right else corners[::-1], paint)

    def level(self, s: tuple[float, float], z: float, d: tuple[float, float], paint: Paint, *, up: bool) -> None:
        """Add a horizontal rectangle perpendicular to the face, facing up or down."""
        corners = [(s[0], z, d[0]), (s[0], z, d[1]), (s[1], z, d[1]), (s[1], z, d[0])]
        self.quad(corners if up else corners[::-1], paint)

    def block(
        self,
        s: tuple[float, float],
        z: tuple[float, float],
        d: tuple[float, float],
        paint: Paint,
        *,
        sides: str = "lrtb",
    ) -> None:
        """Add a box fixed to the face: its front, and the visible ones of left, right, top, bottom and back (k)."""
        self.plate(s, z, d[1], paint)
        for which, at, right in (("l", s[0], False), ("r", s[1], True)):
            if which in sides:
                self.side(at, z, d, paint, right=right)
        for which, at, up in (("b", z[0], False), ("t", z[1], True)):
            if which in sides:
                self.level(s, at, d, paint, up=up)
        if "k" in sides:
            self.quad([(s[0], z[0], d[0]), (s[0], z[1], d[0]), (s[1], z[1], d[0]), (s[1], z[0], d[0])], paint)

    def wall(self, s: tuple[float, float], z: tuple[float, float], holes: Sequence[Hole], paint: Paint) -> None:
        """Add the face itself, without its openings, which must not overlap along s."""
        start = s[0]
        for s0, s1, z0, z1 in sorted(holes):
            self.plate((start, s0), z, 0.0, paint)
            self.plate((s0, s1), (z[0], z0), 0.0, paint)
            self.plate((s0, s1), (z1, z[1]), 0.0, paint)
            start = s1
        self.plate((start, s[1]), z, 0.0, paint)

    def lining(self, hole: Hole, d: tuple[float, float], paint: Paint, *, sill: Paint) -> None:
        """Add the inner sides of an opening from depth d[0] to d[1]; the lower side is painted as the sill."""
        s0, s1, z0, z1 = hole
        self.side(s0, (z0, z1), d, paint, right=True)
        self.side(s1, (z0, z1), d, paint, right=False)
        self.level((s0, s1), z1, d, paint, up=False)
        self.level((s0, s1), z0, d, sill, up=True)
