"""Drivers: the primitive actions that bring a body on the ground to a waypoint."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol as TypingProtocol

import numpy as np

from itinera.errors import BadArgument
from itinera.simulators.ground import FORWARD, LEFT, RIGHT
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Protocol
from itinera.worlds import Array, World

DRIVERS = ("follower", "straight")  # the names of drivers
Controller = Callable[[Observation], int]  # the next primitive action, STOP at the waypoint


class Driver(TypingProtocol):
    """Makes the controller that brings a body to a place on the ground of a world."""

    def __call__(self, world: World, place: Array) -> Controller: ...


def straight_driver(protocol: Protocol) -> Driver:
    """The driver that heads for the waypoint by odometry and knows no map.

    It turns towards it, steps forward, turns again when the bearing has changed by half a turn action, and ends when a
    step would not lead nearer: at the waypoint, or at what blocks the way.
    """
    step, turn = protocol.step_size, protocol.turn_angle
    if step is None or turn is None:
        raise BadArgument(f"Protocol {protocol.name} has no step size and turn angle, so no waypoint can be reached.")

    def drive(world: World, place: Array) -> Controller:
        nearest = math.inf

        def control(observation: Observation) -> int:
            nonlocal nearest
            dx, dy = (place - np.asarray(observation.place))[:2].tolist()
            distance = math.hypot(dx, dy)
            if distance <= step / 2 or distance >= nearest - step / 10:
                return STOP
            aside = math.remainder(math.atan2(dy, dx) - observation.heading, math.tau)
            if abs(aside) <= turn / 2 + 1e-9:
                nearest = distance
                return FORWARD
            if distance <= step and nearest < math.inf:
                return STOP
            return LEFT if aside > 0 else RIGHT

        return control

    return drive
