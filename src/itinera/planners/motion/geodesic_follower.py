"""The greedy geodesic follower: how a robot that turns and steps by fixed amounts walks a shortest way.

The expert of continuous navigation: `follow` leads to one goal, `follow_through` past the places of a reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.planners.motion._geodesic_follower_kernels import STOP, descend
from itinera.worlds import Array, Pose
from itinera.worlds.distance_field import DistanceField, Spots, positions, stand
from itinera.worlds.space import Place
from itinera.worlds.surface import Surface


@dataclass(frozen=True, eq=False)
class Trail:
    """What a robot did, action by action, and where."""

    positions: Array  # (n, 3) where each action was taken, metres
    headings: Array  # (n,) which way it looked there, radians in (-pi, pi]
    actions: NDArray[np.int32]  # (n,) 0 stop, 1 forward, 2 left, 3 right; the last is 0
    reached: bool  # whether it stopped within the radius of the goal, rather than having given up


def follow(
    surface: Surface,
    start: Pose,
    goal: Place | DistanceField,
    *,
    step: float = 0.25,
    turn: float = np.radians(15),
    radius: float = 0.25,
    sliding: bool = True,
    limit: int = 1000,
) -> Trail:
    """The trail of a robot that takes, again and again, the heading from which one step brings it nearest to the goal.

    It turns there by the shorter side, goes one step, and stops within `radius` metres of the goal, measured over the
    surface. It gives up where no step brings it nearer, and before it would take more than `limit` actions.
    The goal may be given as its distance field, which many trails can share.
    """
    return follow_through(surface, start, [goal], step=step, turn=turn, radius=radius, sliding=sliding, limit=limit)


def follow_through(
    surface: Surface,
    start: Pose,
    waypoints: Sequence[Place | DistanceField],
    *,
    step: float = 0.25,
    turn: float = np.radians(15),
    radius: float = 0.25,
    sliding: bool = True,
    limit: int = 1000,
) -> Trail:
    """The trail of a robot that comes within `radius` of each waypoint in order and stops at the last; see `follow`.

    So the dense reference of an episode is made: past each viewpoint of its path.
    """
    _check(waypoints, step, turn, radius, limit)
    begin = stand(surface.ground, np.asarray(start.place, dtype=np.float64)[None])
    spots = Spots(np.empty(limit, dtype=np.int32), np.empty((limit, 2)))
    headings, actions = np.empty(limit), np.empty(limit, dtype=np.int32)
    spots.cells[0], spots.across[0], headings[0] = begin.cells[0], begin.across[0], start.heading
    settings = np.array([surface.ground.size, step, turn, radius])
    at, reached = 0, True
    for waypoint in waypoints:
        field = _field(surface, waypoint, spots[at : at + 1])
        at, reached = descend(
            surface.ground.links,
            surface.ground.slopes,
            field.far,
            field.turn,
            field.turns,
            settings,
            sliding,
            spots.cells,
            spots.across,
            headings,
            actions,
            at,
        )
        if not reached:
            break
    actions[at] = STOP
    facing = np.arctan2(np.sin(headings[: at + 1]), np.cos(headings[: at + 1]))
    return Trail(positions(surface.ground, spots[: at + 1]), facing, actions[: at + 1], reached)


def _field(surface: Surface, goal: Place | DistanceField, here: Spots) -> DistanceField:
    if not isinstance(goal, DistanceField):
        # As far as the robot: it only ever goes where it is nearer to the goal.
        spot = stand(surface.ground, np.asarray(goal, dtype=np.float64)[None])
        return DistanceField.towards(surface.ground, spot, until=here)
    if goal.ground is not surface.ground:
        raise BadArgument("The distance field belongs to another surface than the one to walk on.")
    return goal


def _check(waypoints: Sequence[object], step: float, turn: float, radius: float, limit: int) -> None:
    if not len(waypoints):
        raise BadArgument("A robot that is to follow needs at least one waypoint.")
    if not (step > 0 and radius >= 0):
        raise BadArgument(f"A step must be longer than 0 m and a radius not negative, not {step} and {radius}.")
    if not 0 < turn <= np.pi:
        raise BadArgument(f"A turn must lie between 0 and pi radians, not {turn}.")
    if limit < 1:
        raise BadArgument(f"At least one action must be allowed, to stop; the limit is {limit}.")
