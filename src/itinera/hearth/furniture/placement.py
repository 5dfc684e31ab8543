"""Placement preferences: corners, the middle of walls, away from doors, facing another object.

A preference scores poses; the lowest score is tried first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from itinera.hearth.furniture.groups import single_object
from itinera.hearth.furniture.interior import (
    FRONT,
    FurnitureGroup,
    Interior,
    PlacedModel,
    PlacementPoses,
    Preference,
)
from itinera.hearth.furniture.model import FurnitureKind
from itinera.hearth.geometry.rectangles import contains
from itinera.worlds import Array

ACROSS = 0.7  # metres sideways at which an object still faces another
FREE_FARTHEST = 4.2  # metres from a television or fireplace to the back of a sofa that stands in the open
LANE = 0.75  # metres of floor behind a sofa that stands in the open
OPEN_VIEW = 1.5  # metres that an armchair overlooks at least


def prefer_corner(room: Interior) -> Preference:
    """Near an end of any wall."""
    return lambda poses: poses.corner + 0.4 * room.rng.random(len(poses.corner))


def prefer_wall_middle(room: Interior) -> Preference:
    """Near the middle of any wall."""
    return lambda poses: poses.middle + 0.6 * room.rng.random(len(poses.middle))


def no_preference(room: Interior) -> Preference:
    """Anywhere, at random."""
    return lambda poses: room.rng.random(len(poses.middle))


def prefer_center(room: Interior) -> Preference:
    """Near the center of the room, aligned with its longer side."""

    def score(poses: PlacementPoses) -> Array:
        long = 0 if np.ptp(room.outline[:, 0]) > np.ptp(room.outline[:, 1]) else 1
        along: Array = np.abs(FRONT[poses.quarters, long])
        return poses.middle + 0.5 * along

    return score


def prefer_away_from_doors(room: Interior) -> Preference:
    """At the middle of a wall, far from doors: for beds and sofas."""
    doors = np.array([passage.center for passage in room.passages]).reshape(-1, 2)

    def scored(poses: PlacementPoses) -> Array:
        if not len(doors):
            return poses.middle
        gaps: Array = np.sqrt(((poses.origins[:, None] - doors) ** 2).sum(axis=2)).min(axis=1)
        score: Array = 0.6 * poses.middle - gaps + 0.8 * room.rng.random(len(gaps))
        return score

    return scored


def prefer_far_corner(room: Interior) -> Preference:
    """Near the end of a wall, far from doors: for toilets."""
    far = prefer_away_from_doors(room)
    return lambda poses: far(poses) - 0.6 * poses.middle + 0.8 * poses.corner


def prefer_facing(placed: PlacedModel) -> Preference:
    """In front of an object, facing it."""
    front = np.round((np.cos(placed.heading), np.sin(placed.heading)), 6)
    side = front[::-1] * (1, -1)

    def scored(poses: PlacementPoses) -> Array:
        off = poses.origins - (placed.x, placed.y)
        turned_away = (FRONT[poses.quarters] * front).sum(axis=1) > -0.5
        behind = (off * front).sum(axis=1) < 1.5
        score: Array = np.abs((off * side).sum(axis=1)) + 4.0 * turned_away + 8.0 * behind
        return score

    return scored


def poses_facing(
    room: Interior, target: PlacedModel, nearest: float, farthest: float, *, free: bool = False
) -> Callable[[FurnitureGroup], PlacementPoses]:
    """Poses at a wall that face an object, their backs so far from its center; with `free`, also in the open."""
    front, side = _axes(target)
    opposite = (_quarter(target) + 2) % 4

    def poses(group: FurnitureGroup) -> PlacementPoses:
        at_walls = room.wall_poses(group)
        away = at_walls.origins - (target.x, target.y)
        ahead, across = (away * front).sum(axis=1), np.abs((away * side).sum(axis=1))
        good = (at_walls.quarters == opposite) & (ahead > nearest) & (ahead < farthest) & (across < ACROSS)
        found = _select(at_walls, good, across)
        return _join(found, _free_poses(room, target, nearest, min(farthest, FREE_FARTHEST))) if free else found

    return poses


def _free_poses(room: Interior, target: PlacedModel, nearest: float, farthest: float) -> PlacementPoses:
    """Poses on a grid in front of an object, facing it, with a lane behind them."""
    front, side = _axes(target)
    ahead, across = (np.arange(nearest, farthest, 0.1), np.arange(-0.3, 0.31, 0.1))
    grid = np.stack(np.meshgrid(ahead, across, indexing="ij"), axis=-1).reshape(-1, 2)
    origins = np.round((target.x, target.y) + grid[:, :1] * front + grid[:, 1:] * side, 2)
    lane = contains(room.outline, origins + LANE * front)
    quarters = np.full(len(origins), (_quarter(target) + 2) % 4)
    # Worse than any pose at a wall; among these, the nearest is best.
    score = 2.0 + grid[:, 0] + np.abs(grid[:, 1])
    return _select(PlacementPoses(quarters, origins, score, score), lane, score)


def poses_with_open_view(room: Interior, turn: float) -> Callable[[FurnitureGroup], PlacementPoses]:
    """Poses at a wall from which an object, turned by so much, does not face a wall close by."""

    def poses(group: FurnitureGroup) -> PlacementPoses:
        at_walls = room.wall_poses(group)
        headings = at_walls.quarters * (np.pi / 2) + turn
        ways = np.round(np.stack([np.cos(headings), np.sin(headings)], axis=1), 6)
        middles = at_walls.origins + 0.45 * FRONT[at_walls.quarters]
        return _select(at_walls, contains(room.outline, middles + OPEN_VIEW * ways), at_walls.middle)

    return poses


def as_ordered(poses: PlacementPoses) -> Array:
    """The preference that the poses themselves state."""
    return poses.middle


def _quarter(placed: PlacedModel) -> int:
    return round(placed.heading / (np.pi / 2)) % 4


def _axes(placed: PlacedModel) -> tuple[Array, Array]:
    front = FRONT[_quarter(placed)]
    return front, front[::-1] * (1, -1)


def _select(poses: PlacementPoses, good: NDArray[np.bool_], middle: Array) -> PlacementPoses:
    return PlacementPoses(poses.quarters[good], poses.origins[good], poses.corner[good], middle[good])


def _join(one: PlacementPoses, other: PlacementPoses) -> PlacementPoses:
    return PlacementPoses(
        np.concatenate([one.quarters, other.quarters]),
        np.concatenate([one.origins, other.origins]),
        np.concatenate([one.corner, other.corner]),
        np.concatenate([one.middle, other.middle]),
    )


def place_along_walls(
    room: Interior, *kinds: FurnitureKind, front: float = 0.6, prefer: Preference | None = None
) -> None:
    """Place one of each of these kinds against a wall, as far as they fit."""
    for kind in kinds:
        room.place([single_object(room.make(kind), front=front)], prefer or no_preference(room))
