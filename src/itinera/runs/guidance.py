"""Who leads an agent from episode to episode of a tour: along the graph, or over the ground as the follower goes."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable
from typing import cast

from itinera.agents.path_tracking import Trailing
from itinera.errors import BadArgument, NoRoute
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks.protocol import Guidance, Protocol
from itinera.worlds import NavGraph, Pose, World
from itinera.worlds.surface import Surface

Way = Callable[[Observation], int]  # the action to take from here, STOP when there; raises NoRoute when stuck

LEFT, RIGHT = 2, 3  # on the ground


class Leader(typing.Protocol):
    """Someone who knows the way to a pose; `facing` asks for its heading too, where a body has one to choose."""

    def __call__(self, world: World, target: Pose, *, facing: bool) -> Way: ...


def leader_by(protocol: Protocol) -> Leader:
    """The leader of a protocol's tours, on graphs and on the ground."""

    def lead(world: World, target: Pose, *, facing: bool) -> Way:
        if isinstance(world.space, NavGraph):
            return _along_edges(world.space, cast(str, target.place))
        if isinstance(world.space, Surface):
            return _over_ground(world.space, target, protocol, facing=facing)
        raise BadArgument(f"Nobody can lead through world {world.id}: it is neither a graph nor a walkable surface.")

    return lead


def _along_edges(graph: NavGraph, target: str) -> Way:
    def way(observation: Observation) -> int:
        route = graph.route(observation.place, target)
        if len(route) == 1:
            return STOP
        assert observation.candidates is not None
        return 1 + observation.candidates.nodes.index(route[1])

    return way


def _over_ground(surface: Surface, target: Pose, protocol: Protocol, *, facing: bool) -> Way:
    if protocol.step_size is None or protocol.turn_angle is None:
        raise BadArgument(f"Protocol {protocol.name} has no step and turn, so nobody can be led over the ground by it.")
    guidance = protocol.guidance or Guidance()
    trail = Trailing(surface, target.place, protocol, radius=guidance.radius, limit=guidance.step_limit)

    def way(observation: Observation) -> int:
        action = trail(observation)
        if not trail.reached:
            raise NoRoute("no step leads nearer, or not within the limit.")
        return _turn(observation.heading, target.heading, guidance) if action == STOP and facing else action

    return way


def _turn(heading: float, wanted: float, guidance: Guidance) -> int:
    off = math.remainder(wanted - heading, math.tau)
    if abs(off) <= guidance.heading_tolerance + 1e-9:
        return STOP
    return LEFT if off > 0 else RIGHT
