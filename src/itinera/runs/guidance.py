"""The oracle controllers that guide an agent between the episodes of a tour, on graphs and on the ground."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable
from typing import cast

from itinera.agents.path_tracking import PathTracker
from itinera.errors import BadArgument, NoRoute
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks.protocol import Guidance, Protocol
from itinera.worlds import NavGraph, Pose, World
from itinera.worlds.surface import Surface

Controller = Callable[[Observation], int]  # the next action, STOP at the target; raises NoRoute when stuck

LEFT, RIGHT = 2, 3  # on the ground


class Guide(typing.Protocol):
    """Makes the controller that moves a body to a pose; `facing` asks for the heading too, where it can be chosen."""

    def __call__(self, world: World, target: Pose, *, facing: bool) -> Controller: ...


def make_guide(protocol: Protocol) -> Guide:
    """The guide of a protocol's tours, on graphs and on the ground."""

    def guide(world: World, target: Pose, *, facing: bool) -> Controller:
        if isinstance(world.space, NavGraph):
            return _graph_controller(world.space, cast(str, target.place))
        if isinstance(world.space, Surface):
            return _ground_controller(world.space, target, protocol, facing=facing)
        raise BadArgument(
            f"World {world.id} does not support guidance between episodes: it is neither a graph nor a surface."
        )

    return guide


def _graph_controller(graph: NavGraph, target: str) -> Controller:
    def control(observation: Observation) -> int:
        route = graph.route(observation.place, target)
        if len(route) == 1:
            return STOP
        assert observation.candidates is not None
        return 1 + observation.candidates.nodes.index(route[1])

    return control


def _ground_controller(surface: Surface, target: Pose, protocol: Protocol, *, facing: bool) -> Controller:
    if protocol.step_size is None or protocol.turn_angle is None:
        raise BadArgument(f"Protocol {protocol.name} does not support guidance: it has no step size and turn angle.")
    guidance = protocol.guidance or Guidance()
    tracker = PathTracker(surface, target.place, protocol, radius=guidance.radius, limit=guidance.step_limit)

    def control(observation: Observation) -> int:
        action = tracker(observation)
        if not tracker.reached:
            raise NoRoute("no step leads nearer, or not within the limit.")
        return _turn(observation.heading, target.heading, guidance) if action == STOP and facing else action

    return control


def _turn(heading: float, target: float, guidance: Guidance) -> int:
    difference = math.remainder(target - heading, math.tau)
    if abs(difference) <= guidance.heading_tolerance + 1e-9:
        return STOP
    return LEFT if difference > 0 else RIGHT
