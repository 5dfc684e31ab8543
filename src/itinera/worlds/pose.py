"""A place and the way one faces there."""

from __future__ import annotations

from dataclasses import dataclass

from itinera.worlds.space import Place


@dataclass(frozen=True, eq=False)
class Pose:
    """Where someone stands and looks: heading counter-clockwise from +x, elevation above the horizon, radians."""

    place: Place
    heading: float = 0.0
    elevation: float = 0.0
