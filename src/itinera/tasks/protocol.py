"""Protocols: the rules of a run and of its scores, one named and versioned value that every result contains."""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType

import msgspec


@dataclass(frozen=True)
class Guidance:
    """The oracle phases of a tour: guidance from the end of an episode to the next start. Metres and radians."""

    to_goal: bool = True  # via the goal if it was missed; False where goals are hidden (the rule of the test split)
    goal_distance: float = 0.5  # guide to the goal from farther away only, by the world's own distance
    exact_start: bool = True  # the next episode begins at its exact pose, not at the pose that guidance reached
    radius: float = 0.25  # continuous: distance at which guidance has reached a goal or a start
    heading_tolerance: float = math.radians(7.5)  # continuous: tolerance of the start's heading, half a turn action
    step_limit: int = 1000  # steps after which guidance gives up


@dataclass(frozen=True)
class Protocol:
    """Success radius, end of an episode and movement of the body. Metres and radians."""

    name: str
    version: int = 1
    success_radius: float = 3.0
    needs_stop: bool = False  # an episode that runs out of steps is never a success
    step_limit: int | None = None
    step_size: float | None = None  # this and the following: continuous movement only
    turn_angle: float | None = None
    tilt_angle: float | None = None  # of the camera, up or down; None: it cannot tilt
    sliding: bool | None = None  # along walls
    robot_radius: float | None = None
    robot_height: float | None = None
    guidance: Guidance | None = None  # on tours; None: the next episode begins at its start without guidance
    drive: str | None = None  # speed actions, at most a step and a turn per second; None: discrete steps and turns

    @property
    def on_ground(self) -> bool:
        """Whether the agent moves by steps and turns or by speeds (continuous), not from node to node."""
        return self.step_size is not None

    @property
    def digest(self) -> str:
        """A short hash of every field: equal protocols, equal digests."""
        fields = asdict(self)
        for added in ("guidance", "tilt_angle", "drive"):
            if fields[added] is None:
                del fields[added]  # results older than the field keep their digest
        return hashlib.blake2b(msgspec.json.encode(fields, order="sorted"), digest_size=8).hexdigest()


R2R = Protocol("r2r", step_limit=15)
RXR = Protocol("rxr", step_limit=20)
R4R = Protocol("r4r", step_limit=30)
NDH = Protocol("ndh", step_limit=80)
R2R_CE = Protocol(
    "r2r-ce",
    needs_stop=True,
    step_limit=500,
    step_size=0.25,
    turn_angle=math.radians(15.0),
    sliding=True,
    robot_radius=0.10,
    robot_height=1.5,
)
RXR_CE = replace(
    R2R_CE,
    name="rxr-ce",
    turn_angle=math.radians(30.0),
    tilt_angle=math.radians(30),
    sliding=False,
    robot_radius=0.18,
    robot_height=0.88,
)
# Habitat's step, turn and height; the radius of the LoCoBot, which stops where it touches a wall.
POINTNAV = replace(
    R2R_CE, name="pointnav", success_radius=0.2, turn_angle=math.radians(10.0), sliding=False, robot_radius=0.20
)

IVLN = replace(R2R, name="ivln", guidance=Guidance())
IVLN_TEST = replace(R2R, name="ivln-test", guidance=Guidance(to_goal=False))
IVLN_CE = replace(R2R_CE, name="ivln-ce", guidance=Guidance(exact_start=False))
IVLN_CE_TEST = replace(R2R_CE, name="ivln-ce-test", guidance=Guidance(exact_start=False, to_goal=False))

PROTOCOLS = MappingProxyType(
    {
        "r2r": R2R,
        "rxr": RXR,
        "r4r": R4R,
        "ndh": NDH,
        "r2r-ce": R2R_CE,
        "rxr-ce": RXR_CE,
        "pointnav": POINTNAV,
        "ivln": IVLN,
        "ivln-test": IVLN_TEST,
        "ivln-ce": IVLN_CE,
        "ivln-ce-test": IVLN_CE_TEST,
    }
)
"""Every protocol by name."""
