"""Protocols: the rules of a run and of its scores, one named and versioned value that every result contains."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Annotated, Any

import msgspec

from itinera.errors import BadArgument, BadFile, Fault

_HALF_TURN = math.radians(7.5)
# Ranges are part of the types: files are decoded by them, and `check_protocol` applies them to objects.
_Length = Annotated[float, msgspec.Meta(gt=0.0, le=1e6)]  # metres, or metres per second
_Angle = Annotated[float, msgspec.Meta(gt=0.0, le=1e3)]  # radians, or radians per second
_Name = Annotated[str, msgspec.Meta(max_length=100, pattern=r"^([!-~]+( [!-~]+)*)?$")]  # none looks like another
_Count = Annotated[int, msgspec.Meta(ge=1, le=10**9)]


@dataclass(frozen=True)
class Guidance:
    """The oracle phases of a tour: guidance from the end of an episode to the next start. Metres and radians."""

    to_goal: bool = True  # via the goal if it was missed; False where goals are hidden (the rule of the test split)
    goal_distance: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] = (
        0.5  # guide to the goal from farther away only, by the world's own distance
    )
    exact_start: bool = True  # the next episode begins at its exact pose, not at the pose that guidance reached
    radius: _Length = 0.25  # continuous: distance at which guidance has reached a goal or a start
    heading_tolerance: _Angle = _HALF_TURN  # continuous: tolerance of the start's heading, half a turn action
    step_limit: _Count = 1000  # steps after which guidance gives up


@dataclass(frozen=True)
class Protocol:
    """Success radius, end of an episode and movement of the body. Metres and radians."""

    name: _Name
    version: _Count = 1
    success_radius: _Length = 3.0
    needs_stop: bool = False  # an episode that runs out of steps is never a success
    step_limit: _Count | None = None
    step_size: _Length | None = None  # this and the following: continuous movement only
    turn_angle: _Angle | None = None
    tilt_angle: _Angle | None = None  # of the camera, up or down; None: it cannot tilt
    sliding: bool | None = None  # along walls
    robot_radius: _Length | None = None
    robot_height: _Length | None = None
    guidance: Guidance | None = None  # on tours; None: the next episode begins at its start without guidance
    drive: str | None = None  # speed actions, at most a step and a turn per second; None: discrete steps and turns

    @property
    def on_ground(self) -> bool:
        """Whether the agent moves by steps and turns or by speeds (continuous), not from node to node."""
        return self.step_size is not None

    @property
    def digest(self) -> str:
        """A short hash of every field: equal protocols, equal digests."""
        values = asdict(self)
        for added in ("guidance", "tilt_angle", "drive"):
            if values[added] is None:
                del values[added]  # results older than the field keep their digest
        return hashlib.blake2b(msgspec.json.encode(values, order="sorted"), digest_size=8).hexdigest()

    @property
    def label(self) -> str:
        """The name as it is printed: alone for exactly the known rules of that name, else with the digest.

        >>> R2R.label, replace(R2R, success_radius=1000.0).label
        ('r2r', 'r2r (modified, 564ecbfa)')
        """
        known = PROTOCOLS.get(self.name)
        if known is None:
            return f"{self.name} ({self.digest[:8]})"
        if known.digest == self.digest:
            return self.name
        same_rules = self.without_motion.digest == known.without_motion.digest
        if same_rules and self == known.without_motion:
            return f"{self.name} (any motion)"
        return f"{self.name} ({self.drive if same_rules and self.drive else 'modified'}, {self.digest[:8]})"

    @property
    def without_motion(self) -> Protocol:
        """The protocol without the settings of how an agent moves, which SCT compares across."""
        return replace(self, step_size=None, turn_angle=None, tilt_angle=None, drive=None)


def check_protocol(protocol: Protocol) -> Protocol:
    """The protocol, if every value is in its range; raises BadArgument."""
    try:
        msgspec.convert(asdict(protocol), Protocol)
    except msgspec.ValidationError as error:
        problem, _, field = str(error).partition(" - at `$.")
        field = field.rstrip("`")
        value: Any = asdict(protocol)
        for part in field.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        raise BadArgument(f"Protocol {protocol.name}: {field} is {value}. {problem}.") from None
    return protocol


def describe_difference(found: Protocol, expected: Protocol) -> str:
    """The values in which a protocol differs from another, for messages.

    >>> describe_difference(replace(R2R, success_radius=1000.0), R2R)
    'success_radius 1000.0 instead of 3.0'
    """
    pairs = [(field.name, getattr(found, field.name), getattr(expected, field.name)) for field in fields(Protocol)]
    return ", ".join(f"{name} {a} instead of {b}" for name, a, b in pairs if a != b)


R2R = Protocol("r2r", step_limit=15)
RXR = Protocol("rxr", step_limit=20)
R4R = Protocol("r4r", step_limit=30)
NDH = Protocol("ndh", step_limit=80)
REVERIE = Protocol("reverie", step_limit=15)
SOON = Protocol("soon", step_limit=20)
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
        "reverie": REVERIE,
        "soon": SOON,
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

TOUR_PROTOCOLS = MappingProxyType({"r2r": "ivln", "reverie": "ivln", "r2r-ce": "ivln-ce"})
"""The protocol that guides through the tours of tasks, by the protocol of the tasks."""


def task_protocols(name: str, *, tours: bool) -> tuple[Protocol, ...]:
    """The protocols that tasks decide on: their own and, with tours, those that guide through them."""
    guided = TOUR_PROTOCOLS.get(name) if tours else None
    return (PROTOCOLS[name], *(() if guided is None else (PROTOCOLS[guided], PROTOCOLS[f"{guided}-test"])))


def select_carried(carried: Protocol, allowed: Sequence[Protocol], source: str) -> Protocol:
    """The allowed protocol that equals the one a file carries, by digest; raises BadFile, which names a way on.

    The tasks decide on the rules, or the caller: a file of predictions may only agree.
    """
    for protocol in allowed:
        if protocol.digest == carried.digest:
            return protocol
    own = allowed[0]
    problem = f"the predictions carry {carried.label}: {describe_difference(carried, own)}. The tasks have {own.label}."
    raise BadFile(source, [Fault("line 1", problem, _name_protocol(carried, own), "protocol")])


def _name_protocol(carried: Protocol, own: Protocol) -> str:
    """How to name the protocol that a file carries, where it has a name."""
    known = PROTOCOLS.get(carried.name)
    if known is not None and known.digest == carried.digest and known.guidance is not None:
        return f"Give the tours of the run: --tours. Or, if these are the rules, name them: --protocol {known.name}."
    if known is not None and known.digest == carried.digest:
        return f"If these are the rules, name them: --protocol {known.name}."
    for base in (own, known):
        if base is None or not carried.on_ground or carried.drive is None or carried.step_size is None:
            continue
        if carried.without_motion.digest == base.without_motion.digest:
            words = f"--drive {carried.drive}" if base is own else f"--protocol {base.name} --drive {carried.drive}"
            if carried.step_size != base.step_size:
                words += f" --vmax {carried.step_size:g}"
            if carried.turn_angle is not None and carried.turn_angle != base.turn_angle:
                words += f" --wmax {math.degrees(carried.turn_angle):g}"
            return f"If these are the rules, name them: {words}."
    return f"Name the protocol to apply: --protocol {own.name}."
