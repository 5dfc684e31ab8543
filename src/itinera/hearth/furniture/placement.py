"""Placement preferences: corners, the middle of walls, away from doors, facing another object.

A preference scores poses; the lowest score is tried first.
"""

from __future__ import annotations

import numpy as np

from itinera.hearth.furniture.groups import single_object
from itinera.hearth.furniture.interior import FRONT, Interior, PlacedModel, PlacementPoses, Preference
from itinera.hearth.furniture.model import FurnitureKind
from itinera.worlds import Array


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


def place_along_walls(
    room: Interior, *kinds: FurnitureKind, front: float = 0.6, prefer: Preference | None = None
) -> None:
    """Place one of each of these kinds against a wall, as far as they fit."""
    for kind in kinds:
        room.place([single_object(room.make(kind), front=front)], prefer or no_preference(room))
