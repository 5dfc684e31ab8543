"""The rules a run is made and judged by: one named, versioned value carried in every result."""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict, dataclass
from types import MappingProxyType

import msgspec


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
    sliding: bool | None = None  # along walls
    robot_radius: float | None = None
    robot_height: float | None = None

    @property
    def digest(self) -> str:
        """A short fingerprint of every field: equal protocols, equal digests."""
        return hashlib.blake2b(msgspec.json.encode(asdict(self), order="sorted"), digest_size=8).hexdigest()


def _on_the_ground(name: str, *, turn_deg: float, sliding: bool, radius: float, height: float) -> Protocol:
    return Protocol(
        name,
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
R2R_CE = _on_the_ground("r2r-ce", turn_deg=15.0, sliding=True, radius=0.10, height=1.5)
RXR_CE = _on_the_ground("rxr-ce", turn_deg=30.0, sliding=False, radius=0.18, height=0.88)

PROTOCOLS = MappingProxyType({p.name: p for p in (R2R, RXR, R4R, NDH, R2R_CE, RXR_CE)})
