"""The mapper of the released code in plain Python: a list of points, one step after another, in Habitat's frame.

Written for reading, from the paper and the numbers of the released configuration. It departs from them where
`SemanticMaps` says that it does: a point moves to the center of its column, and every storey has columns of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

CELL, SIZE, COLUMN = 0.1, 64, 0.05
NEAREST, FARTHEST = 0.1, 9.9
INSERTION = (-1.0, 0.5)
READOUT = (-1.25, 0.75)


@dataclass(frozen=True)
class Point:
    """A point in Habitat's frame: x to the right, y up, z backward."""

    x: float
    y: float
    z: float
    label: int
    storey: int


@dataclass
class PointCloudTwin:
    """The map of one agent. `storeys` are the heights at which one storey ends and the next begins."""

    storeys: Sequence[float] = ()
    centered: bool = True  # whether points move to the center of their column
    points: list[Point] = field(default_factory=list)

    def insert(
        self,
        depth: NDArray[np.float32],
        labels: NDArray[np.integer],
        eye: Sequence[float],
        heading: float,
        focal: float,
        elevation: float = 0.0,
    ) -> None:
        """Unproject a view, drop what is too near, far, low or high, and thin the cloud."""
        camera = to_habitat(eye)
        rotation = habitat_rotation(heading, elevation)
        height, width = depth.shape
        for v in range(height):
            for u in range(width):
                away = float(depth[v, u])
                if not NEAREST < away < FARTHEST:
                    continue
                image = np.array([away * (u + 0.5 - width / 2) / focal, away * (v + 0.5 - height / 2) / focal, away])
                x, y, z = camera + rotation @ image
                if camera[1] + INSERTION[0] < y < camera[1] + INSERTION[1]:
                    self.points.append(Point(x, y, z, int(labels[v, u]), self.storey(y)))
        self.thin()

    def storey(self, height: float) -> int:
        return sum(height >= border for border in self.storeys)

    def thin(self) -> None:
        """Keep the highest point of each column; of equally high ones the first."""
        highest: dict[tuple[int, int, int], Point] = {}
        for point in self.points:
            column = (point.storey, round(point.x / COLUMN), round(point.z / COLUMN))
            if column not in highest or np.float32(point.y) > np.float32(highest[column].y):
                highest[column] = point
        self.points = [
            Point(column[1] * COLUMN, float(np.float32(p.y)), column[2] * COLUMN, p.label, p.storey)
            if self.centered
            else p
            for column, p in highest.items()
        ]

    def read(self, eye: Sequence[float], heading: float) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        """The egocentric map; the highest point of a cell wins."""
        occupancy = np.zeros((SIZE, SIZE), dtype=np.uint8)
        labels = np.zeros((SIZE, SIZE), dtype=np.uint16)
        camera, half = to_habitat(eye), SIZE * CELL / 2
        turn = heading - math.pi / 2  # Habitat's heading is 0 along -z, which is +y here
        # From low to high, so that the highest is written last; of equally high ones the one with the lowest y, then x.
        for point in sorted(self.points, key=lambda p: (np.float32(p.y), p.z, -p.x)):
            if not camera[1] + READOUT[0] < point.y < camera[1] + READOUT[1]:
                continue
            dx, dz = point.x - camera[0], point.z - camera[2]
            right = dx * math.cos(turn) - dz * math.sin(turn)
            backward = dx * math.sin(turn) + dz * math.cos(turn)
            column, row = round((right + half) / CELL), round((backward + half) / CELL)
            if 0 <= column < SIZE and 0 <= row < SIZE:
                occupancy[row, column] = 1
                if point.label:
                    labels[row, column] = point.label
        return occupancy, labels


def to_habitat(point: Sequence[float]) -> NDArray[np.float64]:
    """A point of ours, z up, in Habitat's frame."""
    x, y, z = point
    return np.array([x, z, -y])


def habitat_rotation(heading: float, elevation: float) -> NDArray[np.float64]:
    """From image axes (right, down, forward) to Habitat's frame, as the released code writes it."""
    theta, phi = heading - math.pi / 2, elevation + math.pi
    return np.array(
        [
            [math.cos(theta), math.sin(phi) * math.sin(theta), math.cos(phi) * math.sin(theta)],
            [0.0, math.cos(phi), -math.sin(phi)],
            [-math.sin(theta), math.sin(phi) * math.cos(theta), math.cos(phi) * math.cos(theta)],
        ]
    )
