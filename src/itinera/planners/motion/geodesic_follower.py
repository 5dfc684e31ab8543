"""The greedy geodesic follower: actions of fixed size that lead a robot along a shortest path.

The expert of continuous navigation: `follow_geodesic` leads to one goal, `follow_waypoints` past the points of a
reference path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.planners.motion._geodesic_follower_kernels import STOP, descend, label_poses
from itinera.worlds import Array, Pose
from itinera.worlds.distance_field import DistanceField, GroundPoints, ground_positions, snap_to_ground
from itinera.worlds.space import Place
from itinera.worlds.surface import Surface


@dataclass(frozen=True, eq=False)
class FollowedPath:
    """The actions of a robot, and the pose at which it took each."""

    positions: Array  # (n, 3) metres, where it took each action
    headings: Array  # (n,) radians in (-pi, pi]
    actions: NDArray[np.int32]  # (n,) 0 stop, 1 forward, 2 left, 3 right; the last is 0
    reached: bool  # whether it stopped within the radius of the goal; otherwise it gave up


def follow_geodesic(
    surface: Surface,
    start: Pose,
    goal: Place | DistanceField,
    *,
    step: float = 0.25,
    turn: float = np.radians(15),
    radius: float = 0.25,
    sliding: bool = True,
    max_actions: int = 1000,
) -> FollowedPath:
    """The path of a robot that repeatedly turns to the heading from which one step brings it nearest to the goal.

    It turns by the shorter side, goes one step, and stops within `radius` metres of the goal, measured over the
    surface. It gives up where no step brings it nearer, and before it would take more than `max_actions` actions.
    The goal may be given as its distance field, which many calls can share.
    """
    return follow_waypoints(
        surface, start, [goal], step=step, turn=turn, radius=radius, sliding=sliding, max_actions=max_actions
    )


def follow_waypoints(
    surface: Surface,
    start: Pose,
    waypoints: Sequence[Place | DistanceField],
    *,
    step: float = 0.25,
    turn: float = np.radians(15),
    radius: float = 0.25,
    sliding: bool = True,
    max_actions: int = 1000,
) -> FollowedPath:
    """The path of a robot that comes within `radius` of each waypoint in order and stops at the last one.

    The dense reference path of an episode is made this way, past each viewpoint of its path. See `follow_geodesic`.
    """
    _check_options(waypoints, step, turn, radius, max_actions)
    begin = snap_to_ground(surface.ground, np.asarray(start.place, dtype=np.float64)[None])
    spots = GroundPoints(np.empty(max_actions, dtype=np.int32), np.empty((max_actions, 2)))
    headings, actions = np.empty(max_actions), np.empty(max_actions, dtype=np.int32)
    spots.cells[0], spots.across[0], headings[0] = begin.cells[0], begin.across[0], start.heading
    settings = np.array([surface.ground.size, step, turn, radius])
    at, reached = 0, True
    for waypoint in waypoints:
        field = _field(surface, waypoint, spots[at : at + 1])
        at, reached = descend(
            surface.ground.links,
            surface.ground.slopes,
            field.cell_distances,
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
    return FollowedPath(ground_positions(surface.ground, spots[: at + 1]), facing, actions[: at + 1], reached)


@dataclass(frozen=True, eq=False)
class ExpertLabels:
    """What `follow_geodesic` would do next at each pose."""

    actions: NDArray[np.int64]  # (n,) 0 stop, 1 forward, 2 left, 3 right
    bearings: NDArray[np.int64]  # (n,) the left turns before the next step; negative to the right, 0 with stop
    distances: Array  # (n,) metres to the goal over the surface; inf where unreachable


def label_actions(
    field: DistanceField,
    positions: Array,
    headings: Array,
    *,
    step: float = 0.25,
    turn: float = np.radians(15),
    radius: float = 0.25,
    sliding: bool = True,
) -> ExpertLabels:
    """The first action of `follow_geodesic` from each position (n, 3) and heading (n,) to the goal of a field."""
    _check_options([field], step, turn, radius, 1)
    spots, ground = snap_to_ground(field.ground, positions), field.ground
    n = len(spots)
    labels = ExpertLabels(np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n))
    label_poses(
        ground.links,
        ground.slopes,
        field.cell_distances,
        field.turn,
        field.turns,
        np.array([ground.size, step, turn, radius]),
        sliding,
        spots.cells,
        spots.across,
        np.ascontiguousarray(headings, dtype=np.float64),
        labels.actions,
        labels.bearings,
        labels.distances,
    )
    return labels


def _field(surface: Surface, goal: Place | DistanceField, here: GroundPoints) -> DistanceField:
    if not isinstance(goal, DistanceField):
        # The field need not reach beyond the robot, which only moves nearer to the goal.
        spot = snap_to_ground(surface.ground, np.asarray(goal, dtype=np.float64)[None])
        return DistanceField.compute(surface.ground, spot, until=here)
    if goal.ground is not surface.ground:
        raise BadArgument("The distance field belongs to another surface.")
    return goal


def _check_options(waypoints: Sequence[object], step: float, turn: float, radius: float, max_actions: int) -> None:
    if not len(waypoints):
        raise BadArgument("follow_waypoints needs at least one waypoint.")
    if not (step > 0 and radius >= 0):
        raise BadArgument(f"step must be above 0 m and radius at least 0 m, not {step} and {radius}.")
    if not 0 < turn <= np.pi:
        raise BadArgument(f"turn must be above 0 and at most pi radians, not {turn}.")
    if max_actions < 1:
        raise BadArgument(f"max_actions must be at least 1, for the stop action, not {max_actions}.")
