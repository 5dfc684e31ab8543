"""Who leads an agent from episode to episode of a tour: along the graph, or over the ground as the follower goes."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable
from typing import cast

import numpy as np

from itinera.errors import BadArgument, NoRoute
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks.protocol import Guidance, Protocol
from itinera.worlds import Array, NavGraph, Pose, World
from itinera.worlds.surface import Surface

Way = Callable[[Observation], int]  # the action to take from here, STOP when there; raises NoRoute when stuck

LEFT, RIGHT = 2, 3  # on the ground
_OFF_TRAIL = 1e-3  # metres from the trail foreseen, from which on a new one is looked for


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
        assert observation.ways is not None
        return 1 + observation.ways.nodes.index(route[1])

    return way


def _over_ground(surface: Surface, target: Pose, protocol: Protocol, *, facing: bool) -> Way:
    if protocol.step_size is None or protocol.turn_angle is None:
        raise BadArgument(f"Protocol {protocol.name} has no step and turn, so nobody can be led over the ground by it.")
    walk = _Trailing(surface, target, protocol)

    def way(observation: Observation) -> int:
        action = walk(observation)
        return _turn(observation.heading, target.heading, walk.guidance) if action == STOP and facing else action

    return way


class _Trailing:
    """A trail that is foreseen once and then walked, as long as the body goes where it was expected."""

    def __init__(self, surface: Surface, target: Pose, protocol: Protocol) -> None:
        self.surface, self.target, self.protocol = surface, target, protocol
        self.guidance = protocol.guidance or Guidance()
        self.positions: Array = np.empty((0, 3))
        self.actions: list[int] = []
        self.at = 0
        self.there = False

    def __call__(self, observation: Observation) -> int:
        if self.there:
            return STOP
        here = np.asarray(observation.place, dtype=np.float64)
        if self.at >= len(self.actions) or np.abs(self.positions[self.at] - here).max() > _OFF_TRAIL:
            self._foresee(observation)
        action = self.actions[self.at]
        self.at += 1
        self.there = action == STOP
        return action

    def _foresee(self, observation: Observation) -> None:
        from itinera.planners.follower import follow  # planners take long to load, and on graphs nobody needs them

        rules = self.protocol
        assert rules.step_size is not None
        assert rules.turn_angle is not None
        trail = follow(
            self.surface,
            Pose(observation.place, observation.heading),
            self.target.place,
            step=rules.step_size,
            turn=rules.turn_angle,
            radius=self.guidance.radius,
            sliding=bool(rules.sliding),
            limit=self.guidance.step_limit,
        )
        if not trail.reached:
            raise NoRoute("no step leads nearer, or not within the limit.")
        self.positions, self.actions, self.at = trail.positions, trail.actions.tolist(), 0


def _turn(heading: float, wanted: float, guidance: Guidance) -> int:
    off = math.remainder(wanted - heading, math.tau)
    if abs(off) <= guidance.heading_tolerance + 1e-9:
        return STOP
    return LEFT if off > 0 else RIGHT
