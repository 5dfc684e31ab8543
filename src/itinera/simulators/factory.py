"""The simulator of a protocol, and protocols with a drive: a body that holds speeds instead of taking steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from itinera.errors import BadArgument, validate_choice

if TYPE_CHECKING:
    from itinera.simulators.pointnav.sensors import ScanSensor
    from itinera.simulators.sensors import CameraSensor
    from itinera.simulators.simulator import Simulator
    from itinera.simulators.unicycle import Speeds
    from itinera.simulators.view_features import ViewSource
    from itinera.tasks import Protocol

DRIVES = ("point-turn", "unicycle-6", "unicycle-15")


def make_simulator(
    protocol: Protocol,
    *,
    views: ViewSource | None = None,
    descriptions: Mapping[str, Mapping[str, Any]] | None = None,
    camera: CameraSensor | None = None,
    scan: ScanSensor | None = None,
) -> Simulator:
    """The simulator of a protocol: views and scene descriptions are for graphs, a camera and a scan for the ground."""
    if not protocol.on_ground:
        from itinera.simulators.graph import GraphSimulator

        return GraphSimulator(views, descriptions=descriptions)
    if protocol.drive is not None:
        from itinera.simulators.unicycle import UnicycleSimulator

        return UnicycleSimulator(make_speeds(protocol), sliding=bool(protocol.sliding), camera=camera, scan=scan)
    from itinera.simulators.ground import GroundSimulator

    return GroundSimulator.for_protocol(protocol, camera=camera, scan=scan)


def count_ground_actions(protocol: Protocol) -> int:
    """The number of actions of a protocol's body on the ground; 0 for graphs, where it depends on the node."""
    return make_simulator(protocol).actions if protocol.on_ground else 0


def make_speeds(protocol: Protocol) -> tuple[Speeds, ...]:
    """The speeds that a driven body holds for a second each, one pair per action."""
    from itinera.simulators.unicycle import point_turn, unicycle_6, unicycle_15

    tables = dict(zip(DRIVES, (point_turn, unicycle_6, unicycle_15), strict=True))
    table = tables[validate_choice("drive", str(protocol.drive), DRIVES)]
    assert protocol.step_size is not None
    assert protocol.turn_angle is not None
    # A step and a turn are what the highest speeds make of a second.
    return table(protocol.step_size, protocol.turn_angle)


def apply_drive(
    protocol: Protocol, drive: str | None, *, vmax: float | None = None, wmax: float | None = None
) -> Protocol:
    """The protocol for a body that holds speeds, at most `vmax` m/s and `wmax` rad/s.

    Speeds that are left out make the protocol's own step and turn in a second.
    """
    if drive is None:
        if vmax is not None or wmax is not None:
            raise BadArgument("vmax and wmax limit the speeds of a drive: give drive (--drive) too.")
        return protocol
    validate_choice("drive", drive, DRIVES)
    if not protocol.on_ground:
        raise BadArgument(f"A drive needs a protocol on the ground; {protocol.name} is a protocol of graphs.")
    if protocol.guidance is not None and drive == "unicycle-15":
        raise BadArgument(
            "drive unicycle-15 does not support tours (no guidance controller). Use point-turn or unicycle-6."
        )
    for name, speed in (("vmax", vmax), ("wmax", wmax)):
        if speed is not None and not 0 < speed < math.inf:
            raise BadArgument(f"{name} must be above 0 (got {speed:g}).")
    return replace(
        protocol,
        step_size=protocol.step_size if vmax is None else vmax,
        turn_angle=protocol.turn_angle if wmax is None else wmax,
        tilt_angle=None,
        drive=drive,
    )
