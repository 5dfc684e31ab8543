"""Conversion of axes and headings of other formats to ours and back. Ours: z up, headings counter-clockwise from +x."""

from __future__ import annotations

import math
from typing import overload

import numpy as np

from itinera.worlds import Array


@overload
def heading_from_r2r(heading: float) -> float: ...
@overload
def heading_from_r2r(heading: Array) -> Array: ...
def heading_from_r2r(heading: float | Array) -> float | Array:
    """Our heading for R2R's, which is 0 along +y and grows clockwise. Its own inverse, up to whole turns."""
    return math.pi / 2 - heading


@overload
def heading_to_r2r(heading: float) -> float: ...
@overload
def heading_to_r2r(heading: Array) -> Array: ...
def heading_to_r2r(heading: float | Array) -> float | Array:
    """R2R's heading for ours, in [0, 2 pi)."""
    # Twice: a remainder just below a whole turn is rounded up to it.
    turned = (math.pi / 2 - heading) % math.tau % math.tau
    return turned if isinstance(turned, np.ndarray) else float(turned)


def points_from_habitat(points: object) -> Array:
    """(n, 3) our positions for Habitat's, where y is up and -z is our +y."""
    x, y, z = np.asarray(points, dtype=np.float64).reshape(-1, 3).T
    return np.stack([x, -z, y], axis=1)


def points_to_habitat(points: Array) -> Array:
    """(n, 3) Habitat's positions for ours."""
    x, y, z = np.asarray(points, dtype=np.float64).reshape(-1, 3).T
    return np.stack([x, z, -y], axis=1)


@overload
def heading_from_habitat(yaw: float) -> float: ...
@overload
def heading_from_habitat(yaw: Array) -> Array: ...
def heading_from_habitat(yaw: float | Array) -> float | Array:
    """Our heading for Habitat's yaw: left positive, 0 facing -z, which is our +y."""
    return math.pi / 2 + yaw


@overload
def heading_to_habitat(heading: float) -> float: ...
@overload
def heading_to_habitat(heading: Array) -> Array: ...
def heading_to_habitat(heading: float | Array) -> float | Array:
    """Habitat's yaw for our heading, in (-pi, pi]."""
    # Counted down from pi, so that the half-open end of the remainder falls on the side of -pi.
    yaw = math.pi - (1.5 * math.pi - heading) % math.tau % math.tau
    return yaw if isinstance(yaw, np.ndarray) else float(yaw)


def yaw_from_quaternion(rotation: tuple[float, float, float, float]) -> float:
    """The yaw of a Habitat quaternion [x, y, z, w] that turns about +y only."""
    return 2.0 * math.atan2(rotation[1], rotation[3])


def quaternion_from_yaw(yaw: float) -> tuple[float, float, float, float]:
    """The Habitat quaternion [x, y, z, w] of a yaw."""
    return (0.0, math.sin(yaw / 2), 0.0, math.cos(yaw / 2))
