"""What an agent on the ground requires of a run, as its model card says, and what a run gives it. No torch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from itinera.errors import BadArgument, Fault
from itinera.mapping.config import MapConfig, MapLifetime
from itinera.policies.segmentation.semantics import TRUE, InferredSemantics, TrueSemantics
from itinera.rendering.camera import Camera
from itinera.simulators.sensors import CameraSensor
from itinera.worlds import World

MAX_PIXELS = 4096  # of a side of a camera
MIN_CELL = 0.01  # metres; smaller cells and columns of a map take too much memory


class PolicySizes(Protocol):
    """What decides whether requirements fit a policy: the attributes of `base.GroundPolicy` with these names."""

    uses_rgb: bool
    uses_map: bool
    uses_names: bool
    depth_size: int
    map_size: int


class GroundRequirements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The camera and the maps that a policy was trained with."""

    width: int  # pixels of the camera, which a policy may see smaller
    height: int
    fov_deg: float = 90.0  # from left to right
    camera_height: float = 1.25  # metres above the floor
    rgb: bool = False  # whether the policy sees color
    map: MapConfig | None = None  # None for a policy without maps
    lifetime: MapLifetime = MapLifetime.EPISODIC  # of the maps
    semantics: str = TRUE  # of the maps: true or inferred
    around: int = 1  # views at evenly spaced bearings, the first one ahead
    names: bool = False  # whether the policy reads the names of instances and rooms

    def camera(self, semantics: str | None = None) -> CameraSensor:
        """The camera, with the channels that the policy and the maps need."""
        optics = Camera(self.width, self.height, math.radians(self.fov_deg))
        channels = {"depth"} | ({"rgb"} if self.rgb else set())
        if self.names:
            channels |= {"classes", "instances"}
        elif self.map is not None:
            source = TrueSemantics if (semantics or self.semantics) == TRUE else InferredSemantics
            channels |= set(source.channels)
        return CameraSensor(optics, self.camera_height, channels=tuple(sorted(channels)), around=self.around)

    def faults(self, policy: PolicySizes) -> Iterator[Fault]:
        """What does not fit a policy, or is no camera at all."""
        if not (1 <= self.width <= MAX_PIXELS and 1 <= self.height <= MAX_PIXELS):
            yield Fault("ground", "is no camera.", f"Its width and height must be from 1 to {MAX_PIXELS} pixels.")
            return
        try:
            self.camera(TRUE)
        except BadArgument as error:
            yield Fault("ground", f"is no camera: {error}")
        size = policy.depth_size
        if self.width % size or self.height % size:
            problem = f"is a camera of {self.width}x{self.height} pixels."
            yield Fault("ground", problem, f"Both must be multiples of {size}, the depth image of the policy.")
        if self.names != policy.uses_names:
            yield Fault("ground.names", f"is {self.names}.", f"This policy needs {policy.uses_names}.")
        if self.around > 1 and (self.map is not None or not self.names):
            yield Fault("ground.around", f"is {self.around}.", "This policy sees one view.")
        if self.rgb != policy.uses_rgb:
            yield Fault("ground.rgb", f"is {self.rgb}.", f"This policy needs {policy.uses_rgb}.")
        if (self.map is not None) != policy.uses_map:
            problem, remedy = ("is missing.", "This policy sees a map.")
            if self.map is not None:
                problem, remedy = ("is set.", "This policy sees no map.")
            yield Fault("ground.map", problem, remedy)
        if self.map is not None and policy.uses_map and self.map.size != policy.map_size:
            problem = f"is {self.map.size} cells."
            yield Fault("ground.map.size", problem, f"This policy sees maps of {policy.map_size} cells.")
        if self.map is not None and min(self.map.column, self.map.cell) < MIN_CELL:
            yield Fault("ground.map", "has cells that are too small.", f"They must be at least {MIN_CELL:g} m wide.")
        if self.map is not None and self.map.camera_height != self.camera_height:
            problem = f"is {self.map.camera_height:g} m."
            yield Fault("ground.map.camera_height", problem, f"The camera is at {self.camera_height:g} m.")

    def describe_camera(self) -> str:
        """The camera in words."""
        size, fov, height = f"{self.width}x{self.height}", f"{self.fov_deg:g}", f"{self.camera_height:g}"
        views = "" if self.around == 1 else f", {self.around} views around"
        return f"a camera of {size} pixels, {fov} degrees wide, {height} m above the floor{views}"


@dataclass(frozen=True, eq=False)
class GroundContext:
    """What a run gives an agent on the ground besides observations. It contains neither tasks nor goals."""

    worlds: Mapping[str, World] = field(default_factory=dict)  # whose storeys maps are divided by, and for known maps
    lifetime: MapLifetime | None = None  # of the maps; None for that of the training
    semantics: str | None = None  # "true", "inferred" or a model file; None for those of the training
    num_actions: int = 4  # of the body; those after the fourth are never chosen
