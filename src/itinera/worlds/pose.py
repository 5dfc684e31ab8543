"""A place and a viewing direction."""

from __future__ import annotations

from dataclasses import dataclass

from itinera.worlds.space import Place


@dataclass(frozen=True, eq=False)
class Pose:
    """A place with a heading (counter-clockwise from +x) and an elevation (above the horizon), radians."""

    place: Place
    heading: float = 0.0
    elevation: float = 0.0
