"""Which body walks: the one a protocol speaks of, with what it sees, or one that is driven instead."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import inputs as given
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.hearth.language.scene_description import Outlook
    from itinera.simulators.sensors import CameraSensor
    from itinera.simulators.simulator import Simulator
    from itinera.simulators.unicycle import Speeds
    from itinera.simulators.view_features import ViewSource
    from itinera.tasks import Protocol

DRIVES = ("point-turn", "unicycle-6", "unicycle-15")

_DRIVING = "How it moves on the ground"

Drive = Annotated[
    str | None,
    typer.Option(
        help=f"It holds speeds for a second each, instead of steps and turns: {', '.join(DRIVES)}.",
        autocompletion=lambda: list(DRIVES),
        rich_help_panel=_DRIVING,
    ),
]
Vmax = Annotated[
    float | None,
    typer.Option(help="A drive's highest speed, m/s; the protocol's step in a second.", rich_help_panel=_DRIVING),
]
Wmax = Annotated[
    float | None,
    typer.Option(help="Its highest turning speed, degrees/s; the protocol's turn.", rich_help_panel=_DRIVING),
]


def ground_actions(protocol: Protocol) -> int:
    """How many actions a body on the ground has."""
    return simulator_for(protocol).actions if protocol.on_ground else 0


def simulator_for(
    protocol: Protocol,
    *,
    views: ViewSource | None = None,
    sights: Mapping[str, Mapping[str, Outlook]] | None = None,
    eye: CameraSensor | None = None,
) -> Simulator:
    """The body a protocol speaks of, and what it sees: views and sights on graphs, through an eye on the ground."""
    if not protocol.on_ground:
        from itinera.simulators.graph import GraphSimulator

        return GraphSimulator(views, sights=sights)
    if protocol.drive is not None:
        from itinera.simulators.unicycle import UnicycleSimulator

        return UnicycleSimulator(speeds_of(protocol), sliding=bool(protocol.sliding), eye=eye)
    from itinera.simulators.ground import GroundSimulator

    return GroundSimulator.for_protocol(protocol, eye=eye)


def speeds_of(protocol: Protocol) -> tuple[Speeds, ...]:
    """The speeds a driven body holds for a second each, one pair for each action."""
    from itinera.simulators.unicycle import point_turn, unicycle_6, unicycle_15

    tables = dict(zip(DRIVES, (point_turn, unicycle_6, unicycle_15), strict=True))
    table = tables[given.one_of("--drive", str(protocol.drive), DRIVES)]
    assert protocol.step_size is not None
    assert protocol.turn_angle is not None
    # A step and a turn are what the highest speeds make of a second.
    return table(protocol.step_size, protocol.turn_angle)


def driven(protocol: Protocol, drive: str | None, *, vmax: float | None, wmax: float | None) -> Protocol:
    """The protocol for a body that holds speeds, at most `vmax` metres and `wmax` degrees per second.

    Speeds left out make the protocol's own step and turn in a second.
    """
    if drive is None:
        if vmax is not None or wmax is not None:
            raise BadArgument("--vmax and --wmax are the highest speeds of a drive: give --drive too.")
        return protocol
    given.one_of("--drive", drive, DRIVES)
    if not protocol.on_ground:
        raise BadArgument(f"One drives on the ground, and protocol {protocol.name} is of walks on graphs.")
    if protocol.guidance is not None and drive == "unicycle-15":
        raise BadArgument("Nobody leads a body that drives by unicycle-15 through tours. Give another drive.")
    for name, speed in (("--vmax", vmax), ("--wmax", wmax)):
        if speed is not None and not 0 < speed < math.inf:
            raise BadArgument(f"{name} must be above 0, not {speed}.")
    return replace(
        protocol,
        step_size=protocol.step_size if vmax is None else vmax,
        turn_angle=protocol.turn_angle if wmax is None else math.radians(wmax),
        tilt_angle=None,
        drive=drive,
    )
