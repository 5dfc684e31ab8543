"""Pinhole cameras, and the frames they render."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument

CHANNELS = ("rgb", "depth", "classes", "instances")
MAX_FOV = math.radians(120)  # a wider flat image consists mostly of stretched edges


@dataclass(frozen=True)
class Camera:
    """A pinhole camera with square pixels. Column u of row v looks through the image point (u + 0.5, v + 0.5)."""

    width: int  # pixels
    height: int
    fov: float  # horizontal field of view, radians; the vertical one follows from the aspect ratio
    near: float = 0.05  # metres along the optical axis; nothing nearer is drawn
    far: float = 50.0  # nothing farther is drawn

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise BadArgument(f"An image needs at least one pixel; got {self.width} x {self.height}.")
        if not 0 < self.near < self.far < math.inf:
            raise BadArgument(f"A camera needs 0 < near < far; got near {self.near} m and far {self.far} m.")
        if not 0 < self.fov < math.pi or max(self.fov, self.vertical_fov) > MAX_FOV + 1e-9:
            wide = f"{math.degrees(self.fov):.4g} x {math.degrees(self.vertical_fov):.4g}"
            raise BadArgument(f"A field of view is at most 120 degrees; got {wide}. Combine several views instead.")

    @property
    def focal(self) -> float:
        """Focal length, pixels."""
        # Rounded, because the last bit of a tangent differs between machines.
        return round(0.5 * self.width / math.tan(0.5 * self.fov), 9)

    @property
    def vertical_fov(self) -> float:
        return 2 * math.atan(math.tan(0.5 * self.fov) * self.height / self.width)


@dataclass(frozen=True, eq=False)
class Frame:
    """Rendered channels; for several views with a leading axis. A channel that was not requested has length 0."""

    rgb: NDArray[np.uint8]  # (height, width, 3), black in the background
    depth: NDArray[np.float32]  # (height, width) metres along the optical axis, inf in the background
    classes: NDArray[np.uint8]  # (height, width) indices into labels.MPCAT40, 0 in the background
    instances: NDArray[np.int32]  # (height, width) objects from 1; 0 for the building and the background

    def __getitem__(self, view: int) -> Frame:
        """One of several views, as a view of the same memory."""
        return Frame(*(channel[view] if len(channel) else channel for channel in self.channels))

    @property
    def channels(self) -> tuple[NDArray[Any], ...]:
        return self.rgb, self.depth, self.classes, self.instances


def blank_frames(camera: Camera, count: int, channels: Collection[str] = CHANNELS) -> Frame:
    """Uninitialized memory for `count` views, to be rendered into repeatedly."""
    unknown = sorted(set(channels) - set(CHANNELS))
    if unknown:
        raise BadArgument(f"The channels of a view are {', '.join(CHANNELS)}; got {', '.join(unknown)}.")

    def room(name: str, kind: type, *more: int) -> NDArray[Any]:
        return np.empty((count if name in channels else 0, camera.height, camera.width, *more), dtype=kind)

    return Frame(
        room("rgb", np.uint8, 3), room("depth", np.float32), room("classes", np.uint8), room("instances", np.int32)
    )
