"""The rules a run is made and judged by: one named, versioned value carried in every result."""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType

import msgspec


@dataclass(frozen=True)
class Guidance:
    """How an agent on a tour is led from where an episode ended to where the next begins. Metres and radians."""

    to_goal: bool = True  # past the goal it missed; False where goals are hidden (the test split's rule)
    goal_distance: float = 0.5  # it is led to the goal from farther away only, by the world's own distance
    exact_start: bool = True  # the next episode begins at its very pose, not as the leader left it there
    radius: float = 0.25  # on the ground, how near the leader comes to a goal or a start
    heading_tolerance: float = math.radians(7.5)  # on the ground, half a turn: how near to the start's heading
    step_limit: int = 1000  # steps after which a leader is held to be stuck


@dataclass(frozen=True)
class Protocol:
    """What counts as arriving, when an episode ends, and how the body moves. Metres and radians."""

    name: str
    version: int = 1
    success_radius: float = 3.0
    needs_stop: bool = False  # a walk that ran out of steps is never a success
    step_limit: int | None = None
    step_size: float | None = None  # continuous movement only, as all that follows
    turn_angle: float | None = None
    tilt_angle: float | None = None  # of the view, up or down; None: it cannot
    sliding: bool | None = None  # along walls
    robot_radius: float | None = None
    robot_height: float | None = None
    guidance: Guidance | None = None  # on tours; None: the next episode simply begins at its start
    drive: str | None = None  # a unicycle's actions, speeds up to a step and a turn in a second; None: steps and turns

    @property
    def on_ground(self) -> bool:
        """Whether one walks by steps and turns, or drives, not from node to node."""
        return self.step_size is not None

    @property
    def digest(self) -> str:
        """A short fingerprint of every field: equal protocols, equal digests."""
        fields = asdict(self)
        for later in ("guidance", "tilt_angle", "drive"):
            if fields[later] is None:
                del fields[later]  # so that what was made before there was such a field keeps its fingerprint
        return hashlib.blake2b(msgspec.json.encode(fields, order="sorted"), digest_size=8).hexdigest()


def _on_the_ground(
    name: str, *, turn_deg: float, sliding: bool, robot: tuple[float, float], success: float = 3.0
) -> Protocol:
    radius, height = robot
    return Protocol(
        name,
        success_radius=success,
        needs_stop=True,
        step_limit=500,
        step_size=0.25,
        turn_angle=math.radians(turn_deg),
        sliding=sliding,
        robot_radius=radius,
        robot_height=height,
    )


R2R = Protocol("r2r", step_limit=15)
RXR = Protocol("rxr", step_limit=20)
R4R = Protocol("r4r", step_limit=30)
NDH = Protocol("ndh", step_limit=80)
R2R_CE = _on_the_ground("r2r-ce", turn_deg=15.0, sliding=True, robot=(0.10, 1.5))
RXR_CE = replace(
    _on_the_ground("rxr-ce", turn_deg=30.0, sliding=False, robot=(0.18, 0.88)), tilt_angle=math.radians(30)
)
# Habitat's step, turn and height; the radius of the LoCoBot, which stops where it touches a wall.
POINTNAV = _on_the_ground("pointnav", turn_deg=10.0, sliding=False, robot=(0.20, 1.5), success=0.2)

IVLN = replace(R2R, name="ivln", guidance=Guidance())
IVLN_TEST = replace(R2R, name="ivln-test", guidance=Guidance(to_goal=False))
IVLN_CE = replace(R2R_CE, name="ivln-ce", guidance=Guidance(exact_start=False))
IVLN_CE_TEST = replace(R2R_CE, name="ivln-ce-test", guidance=Guidance(exact_start=False, to_goal=False))

PROTOCOLS = MappingProxyType(
    {p.name: p for p in (R2R, RXR, R4R, NDH, R2R_CE, RXR_CE, POINTNAV, IVLN, IVLN_TEST, IVLN_CE, IVLN_CE_TEST)}
)
