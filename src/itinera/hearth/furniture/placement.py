"""Where people put things: in corners, amid walls, away from doors, facing one another.

A preference scores spots; the lowest score is tried first.
"""

from __future__ import annotations

import numpy as np

from itinera.hearth.furniture.groups import solo
from itinera.hearth.furniture.interior import FRONT, Interior, Placed, Preference, Spots
from itinera.hearth.furniture.model import Kind
from itinera.worlds import Array


def in_a_corner(room: Interior) -> Preference:
    """Near an end of a wall, no matter which."""
    return lambda spots: spots.corner + 0.4 * room.rng.random(len(spots.corner))


def amid_a_wall(room: Interior) -> Preference:
    """Near the middle of a wall, no matter which."""
    return lambda spots: spots.middle + 0.6 * room.rng.random(len(spots.middle))


def anywhere(room: Interior) -> Preference:
    """No matter where."""
    return lambda spots: room.rng.random(len(spots.middle))


def central(room: Interior) -> Preference:
    """Near the middle of the room, looking along it either way."""

    def score(spots: Spots) -> Array:
        long = 0 if np.ptp(room.outline[:, 0]) > np.ptp(room.outline[:, 1]) else 1
        along: Array = np.abs(FRONT[spots.quarters, long])
        return spots.middle + 0.5 * along

    return score


def away_from_doors(room: Interior) -> Preference:
    """On a wall's middle far from doors: where one puts a bed or a sofa."""
    doors = np.array([passage.centre for passage in room.passages]).reshape(-1, 2)

    def scored(spots: Spots) -> Array:
        if not len(doors):
            return spots.middle
        gaps: Array = np.sqrt(((spots.origins[:, None] - doors) ** 2).sum(axis=2)).min(axis=1)
        score: Array = 0.6 * spots.middle - gaps + 0.8 * room.rng.random(len(gaps))
        return score

    return scored


def away_and_aside(room: Interior) -> Preference:
    """Near a wall's end, far from doors: where one puts a toilet."""
    far = away_from_doors(room)
    return lambda spots: far(spots) - 0.6 * spots.middle + 0.8 * spots.corner


def facing(thing: Placed) -> Preference:
    """Where the thing looks, looking back at it."""
    front = np.round((np.cos(thing.heading), np.sin(thing.heading)), 6)
    side = front[::-1] * (1, -1)

    def scored(spots: Spots) -> Array:
        off = spots.origins - (thing.x, thing.y)
        turned_away = (FRONT[spots.quarters] * front).sum(axis=1) > -0.5
        behind = (off * front).sum(axis=1) < 1.5
        score: Array = np.abs((off * side).sum(axis=1)) + 4.0 * turned_away + 8.0 * behind
        return score

    return scored


def stand(room: Interior, *kinds: Kind, front: float = 0.6, prefer: Preference | None = None) -> None:
    """Stand one of each of these against a wall, as far as they fit."""
    for kind in kinds:
        room.place([solo(room.make(kind), front=front)], prefer or anywhere(room))
