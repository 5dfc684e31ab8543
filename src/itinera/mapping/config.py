"""The numbers of a map, and how long a map lives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from itinera.errors import BadArgument

MAX_LABEL = 65535
VARIANTS = ("columns", "released")


class MapLifetime(Enum):
    """When a map is cleared, and where it comes from."""

    EPISODIC = "episodic"  # built from the observations of one episode
    ITERATIVE = "iterative"  # built from all observations of a tour, guided phases included
    KNOWN = "known"  # loaded at the beginning of a tour from the mesh of the scene, and never changed


@dataclass(frozen=True)
class MapConfig:
    """The numbers of paper and released code of Iterative VLN (MAP-CMA), except where a comment says otherwise.

    Bands are metres above the camera. With the camera 1.25 m above the floor, points 0.25 to 1.75 m above the floor
    enter the map, and those up to 2 m are read.
    """

    cell: float = 0.1  # metres along the side of a cell of the egocentric map
    size: int = 64  # cells along each side of it; the agent is in cell (size / 2, size / 2), ahead are lower rows
    column: float = 0.05  # metres along the side of a column of the stored map
    insertion: tuple[float, float] = (-1.0, 0.5)
    readout: tuple[float, float] = (-1.25, 0.75)
    depth: tuple[float, float] = (0.1, 9.9)  # metres along the optical axis between which a pixel counts
    camera_height: float = 1.25  # metres above the floor, by which storeys are divided; ours
    variant: str = "columns"  # "released": the point cloud of the released code with its fault, see point_cloud.py

    def __post_init__(self) -> None:
        for name in ("cell", "column", "camera_height"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise BadArgument(f"{name} of a map must be above 0 m, not {value}.")
        if not 2 <= self.size <= 1024 or self.size % 2:
            raise BadArgument(f"size of a map must be an even number of cells from 2 to 1024, not {self.size}.")
        for name in ("insertion", "readout", "depth"):
            low, high = getattr(self, name)
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise BadArgument(f"{name} of a map must be two increasing numbers of metres, not {low} and {high}.")
        if self.depth[0] < 0:
            raise BadArgument(f"depth of a map must not be negative, not {self.depth[0]}.")
        if self.variant not in VARIANTS:
            raise BadArgument(f"variant of a map must be one of {', '.join(VARIANTS)}, not {self.variant!r}.")

    @property
    def reach(self) -> float:
        """Half of the side of the egocentric map, metres."""
        return 0.5 * self.size * self.cell
