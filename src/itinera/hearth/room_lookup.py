"""The room of a floor plan that contains a point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itinera.hearth.layout.plan import FloorPlan
from itinera.worlds import Array
from itinera.worlds.regions import locate_regions


def locate_rooms(plan: FloorPlan, places: Array) -> NDArray[np.int64]:
    """(n,) the room of each point (n, 3) on the ground, as `locate_regions` finds it."""
    return locate_regions(plan.rooms, places)
