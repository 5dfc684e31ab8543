"""The sensors of a PointNav robot: an ideal laser scan, and a depth camera whose images may be pooled."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from itinera.errors import BadArgument
from itinera.rendering.camera import Camera
from itinera.worlds import Array

MAX_RANGE = 10.0  # metres, at which scans and depth images are clipped, as Habitat's are


@dataclass(frozen=True)
class ScanSensor:
    """An ideal laser scan: the distance along each ray to whatever would stop a robot without width.

    Rays go counter-clockwise from the robot's right, at the centers of equal parts of the field of view. A ray stays on
    the storey of the robot and its stairs, which are ramps. It ends at their far end, and where the floor drops, as at
    a wall.
    """

    rays: int = 32
    fov: float = math.radians(90.0)
    max_range: float = MAX_RANGE  # metres

    def __post_init__(self) -> None:
        if not self.rays >= 1:
            raise BadArgument(f"rays must be at least 1, not {self.rays}.")
        if not (0.0 < self.fov <= math.tau and 0.0 < self.max_range < math.inf):
            raise BadArgument(
                f"fov must be above 0 and at most 2 pi, max_range above 0, not {self.fov}, {self.max_range}."
            )

    @property
    def angles(self) -> Array:
        """(rays,) radians to the left of the heading."""
        angles: Array = (np.arange(self.rays, dtype=np.float64) + 0.5) * (self.fov / self.rays) - 0.5 * self.fov
        return angles


@dataclass(frozen=True)
class DepthSensor:
    """A depth camera: metres along its axis, clipped at `max_range`; each pooled pixel is the least of its block."""

    camera: Camera = field(default_factory=lambda: Camera(64, 64, math.radians(90.0)))
    height: float = 1.25  # metres above the floor
    elevation: float = 0.0  # radians above the horizon
    pool: tuple[int, int] = (1, 1)  # rows and columns of a block
    max_range: float = MAX_RANGE  # metres

    def __post_init__(self) -> None:
        rows, columns = self.pool
        if rows < 1 or columns < 1 or self.camera.height % rows or self.camera.width % columns:
            size = f"{self.camera.height} x {self.camera.width}"
            raise BadArgument(f"pool must divide the rows and columns of {size} pixels, not {self.pool}.")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of an observation."""
        return self.camera.height // self.pool[0], self.camera.width // self.pool[1]
