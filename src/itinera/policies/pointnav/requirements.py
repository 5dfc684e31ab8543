"""What a PointNav agent requires of a run, as its model card says: its sensor, and when it may stop. No torch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol

import msgspec

from itinera.errors import BadArgument, Fault
from itinera.rendering.camera import Camera
from itinera.simulators.pointnav.sensors import DepthSensor, ScanSensor
from itinera.simulators.sensors import CameraSensor

MAX_PIXELS = 1024  # of a side of the camera
MAX_RAYS = 4096
POOLED = (4, 64)  # rows and columns of pooled depth
SENSORS = ("none", "scan", "pooled-depth", "depth")


class PointNavSizes(Protocol):
    """What decides whether requirements fit a policy: its configuration."""

    @property
    def sensor(self) -> str: ...

    @property
    def rays(self) -> int: ...

    @property
    def depth_size(self) -> int: ...


class PointNavRequirements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sensor that a policy was trained with."""

    sensor: str = "scan"  # none, scan, pooled-depth or depth
    rays: int = 32  # of a scan
    fov_deg: float = 90.0  # of a scan or a camera
    max_range: float = 10.0  # metres, at which distances are clipped
    size: int = 64  # pixels of a side of the camera
    camera_height: float = 1.25  # metres above the floor
    gate: float | None = None  # metres from the goal beyond which the agent never stops

    @property
    def scan(self) -> ScanSensor | None:
        """The scan sensor, if it has one."""
        if self.sensor != "scan":
            return None
        return ScanSensor(self.rays, math.radians(self.fov_deg), self.max_range)

    @property
    def depth(self) -> DepthSensor | None:
        """The depth sensor of a stage, if it has one."""
        if self.sensor not in ("depth", "pooled-depth"):
            return None
        rows, columns = POOLED
        pool = (self.size // rows, self.size // columns) if self.sensor == "pooled-depth" else (1, 1)
        camera = Camera(self.size, self.size, math.radians(self.fov_deg))
        return DepthSensor(camera, self.camera_height, pool=pool, max_range=self.max_range)

    @property
    def camera(self) -> CameraSensor | None:
        """The same sensor as the camera of a simulator."""
        depth = self.depth
        return None if depth is None else CameraSensor(depth.camera, depth.height, channels=("depth",))

    def faults(self, policy: PointNavSizes) -> Iterator[Fault]:
        """What does not fit a policy, or is no sensor at all."""
        if self.sensor != policy.sensor:
            yield Fault("pointnav.sensor", f"is {self.sensor}.", f"This policy needs {policy.sensor}.")
            return
        if not (1 <= self.rays <= MAX_RAYS and 1 <= self.size <= MAX_PIXELS):
            yield Fault("pointnav", "is no sensor.", f"At most {MAX_RAYS} rays and {MAX_PIXELS} pixels are allowed.")
            return
        if self.sensor == "pooled-depth" and self.size % POOLED[1]:
            yield Fault("pointnav.size", f"is {self.size}.", f"It must be a multiple of {POOLED[1]}.")
            return
        try:
            assert self.scan is None or self.depth is None
        except BadArgument as error:
            yield Fault("pointnav", f"is no sensor: {error}")
        if self.sensor == "scan" and self.rays != policy.rays:
            yield Fault("pointnav.rays", f"is {self.rays}.", f"This policy needs {policy.rays}.")
        if self.sensor == "depth" and self.size != policy.depth_size:
            yield Fault("pointnav.size", f"is {self.size}.", f"This policy needs {policy.depth_size}.")
        if self.gate is not None and not 0 < self.gate < math.inf:
            yield Fault("pointnav.gate", f"is {self.gate:g}.", "It is a distance in metres, above 0.")

    def describe(self) -> str:
        """The sensor in words."""
        if self.sensor == "none":
            return "no sensor"
        if self.sensor == "scan":
            return f"a scan of {self.rays} rays, {self.fov_deg:g} degrees wide"
        pooled = ", pooled" if self.sensor == "pooled-depth" else ""
        return f"a depth camera of {self.size}x{self.size} pixels{pooled}, {self.fov_deg:g} degrees wide"
