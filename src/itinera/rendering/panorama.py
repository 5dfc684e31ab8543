"""The 36 views around a viewpoint, numbered as in R2R's panoramas: twelve headings, clockwise from +y, in three rows.

The rows look 30 degrees down, level, and 30 degrees up; view 0 is the first one that looks down.
"""

from __future__ import annotations

import math

import numpy as np

from itinera.worlds.space import Array

VIEWS = 36
TURNS = 12  # views in a row
STEP = math.tau / TURNS  # radians between adjacent views, and between rows
VIEW_WIDTH, VIEW_HEIGHT = 640, 480  # pixels
VIEW_FOV = math.radians(60)  # vertical


def _headings() -> Array:
    sixths = 3 - np.arange(VIEWS) % TURNS
    # The seventh view to the right has heading pi, not -pi.
    turned: Array = np.where(sixths > -6, sixths, sixths + TURNS) * (math.pi / 6)
    return turned


VIEW_HEADINGS = _headings()
"""(36,) the heading of each view, radians counter-clockwise from +x, in (-pi, pi]."""

VIEW_ELEVATIONS = np.array([STEP * (view // TURNS - 1) for view in range(VIEWS)], dtype=np.float64)
"""(36,) the elevation of each view, radians above the horizon."""

VIEW_HEADINGS.flags.writeable = VIEW_ELEVATIONS.flags.writeable = False


def nearest_view(heading: float, elevation: float) -> int:
    """The index of the view nearest to a direction, rounded as in Matterport's simulator.

    Halfway between two headings, the right one is taken; within half a step of the horizon, the level row.

    >>> nearest_view(math.pi / 2, 0.0), nearest_view(0.0, 0.3), nearest_view(math.radians(105), 0.0)
    (12, 27, 12)
    """
    # Rounded, because the last bit of the quotient depends on how the angle was computed.
    turns = math.floor(round((math.pi / 2 - heading) / STEP, 9) + 0.5) % TURNS
    lift = round(elevation / STEP, 9)
    return turns + TURNS * (1 + (lift > 0.5) - (lift < -0.5))
