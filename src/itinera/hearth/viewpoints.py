"""Viewpoints and the edges between them: the navigation graph of a house, in the manner of Matterport's.

`place_viewpoints` reads as the steps a person with a tripod takes: stairs and doorways first, then the open ground,
then what is still cut off. The edges come last.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from itinera.hearth.build import House
from itinera.hearth.doorway_viewpoints import inner_passages, inside_doors, on_ground, on_stairs, through_doors
from itinera.hearth.layout.plan import Plan
from itinera.hearth.room_lookup import rooms_at
from itinera.hearth.viewpoint_edges import LONGEST, in_sight, largest_part, thin_out, walkable_pairs
from itinera.worlds import Array, NavGraph
from itinera.worlds.surface import Surface

EYE_HEIGHT = 1.5  # metres from the ground to the camera
SPACING = 1.6  # metres between viewpoints on open ground, varied by room and by place
TIGHT, LOOSE = 0.6, 1.8  # of that in the narrowest and on the most open ground
OTHER_ROOM = 0.7  # of that between viewpoints in different rooms
SPOTS = 6000  # places on the ground that are looked at
DIRECTIONS = 12  # in which one looks around
FAR = 3.0  # metres one can walk straight from a spot, in the mean of all directions, that make it as good as can be
ELBOW_ROOM = 0.8  # metres of free ground beyond the robot's own radius that make a spot as open as can be
ROW, SHORT_ROW = 8.0, 1.5  # metres that a row of viewpoints is long at most, and at least
ROW_STRIDE = (0.6, 1.0)  # of the spacing, within a row
ROW_APART = 0.6  # of the spacing, to viewpoints that are there already
ROW_END = 0.2  # metres between the last of a row and where the line ends
SHIFT = 1.0  # metres that a viewpoint may be moved to straighten the ways through it
APART = 0.9  # of its distance from the nearest other that it keeps then
RELAY = 3.5  # metres within which a spot is tried as a link between viewpoints
FLAT = 0.05  # metres that a spot may lie above the floor of its room
RELAYS = 60  # links that are tried to make one whole of all parts
CROWDED = 0.3  # openness below which nobody puts a tripod down without need
WHIM = 0.3  # how far chance outweighs openness


def place_viewpoints(house: House, surface: Surface, rng: np.random.Generator) -> NavGraph:
    """The navigation graph of a house: connected, each edge a straight line one can walk and see along.

    The surface is that of the robot that is to follow the edges. Positions are the camera's, 1.5 m above the ground.
    """
    spots = _look_around(house.plan, surface, rng)
    stands = on_stairs(house.plan.flights, surface)
    stands = inside_doors(house.plan, surface, stands, rng)
    fixed = len(stands)
    stands = _in_rows(house.plan, surface, spots, stands, rng)
    stands = _in_the_open(house.plan, spots, stands, rng)
    stands = _in_every_room(house.plan, spots, stands)
    stands = _without_pockets(house.plan, surface, stands, fixed)
    stands = through_doors(house.plan, surface, stands, rng)
    stands = _joined(surface, spots, stands)
    stands = _settled(surface, spots, stands, fixed)
    eyes = stands + np.array([0.0, 0.0, EYE_HEIGHT])
    visible = in_sight(house.mesh, eyes)
    linked = visible & walkable_pairs(surface, stands)
    kept = largest_part(linked)
    eyes, visible, linked = eyes[kept], visible[np.ix_(kept, kept)], linked[np.ix_(kept, kept)]
    return NavGraph(tuple(_name(house.id, k) for k in range(len(eyes))), eyes, thin_out(eyes, linked), visible)


def _name(house_id: str, number: int) -> str:
    """A name like Matterport's: 32 hexadecimal digits."""
    return hashlib.blake2b(f"{house_id}/{number}".encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, eq=False)
class _Spots:
    """Places on the ground that one could put a tripod on."""

    places: Array  # (n, 3)
    rooms: NDArray[np.int64]  # (n,) the room each is in
    headings: Array  # (n,) the way one can go farthest, radians
    openness: Array  # (n,) 0 in a niche … 1 with free ground and straight ways all around


def _look_around(plan: Plan, surface: Surface, rng: np.random.Generator) -> _Spots:
    places = surface.sample(rng, SPOTS).round(6)
    free = np.empty((len(places), DIRECTIONS))
    headings = np.arange(DIRECTIONS) * (2 * np.pi / DIRECTIONS)
    for k, heading in enumerate(headings):
        ends = surface.advance(places, heading, FAR, sliding=False)
        free[:, k] = np.linalg.norm(ends[:, :2] - places[:, :2], axis=1)
    elbow_room = np.minimum(free, ELBOW_ROOM).mean(axis=1) / ELBOW_ROOM
    outlook = free.mean(axis=1) / FAR
    rooms = rooms_at(plan, places)
    # Not on a low thing that a robot could climb, a treadmill or the tray of a shower.
    floors = np.array([room.floor if room.kind != "s" else np.inf for room in plan.rooms])
    flat = places[:, 2] <= floors[rooms] + FLAT
    openness = ((elbow_room + outlook) / 2).round(6)
    return _Spots(places[flat], rooms[flat], headings[free.round(6).argmax(axis=1)][flat], openness[flat])


def _in_rows(plan: Plan, surface: Surface, spots: _Spots, stands: Array, rng: np.random.Generator) -> Array:
    """The viewpoints with those along the straight lines people walk: on from doorways, along rooms."""
    for start, ahead in [*_door_lines(plan), *_room_lines(plan, spots)]:
        stride = SPACING * rng.uniform(*ROW_STRIDE)
        end = surface.advance(start, math.atan2(ahead[1], ahead[0]), ROW, sliding=False)
        length = round(float(np.linalg.norm(end - start)), 6)
        steps = np.arange(stride, length - ROW_END, stride)
        for stand in on_ground(surface, start + np.outer(steps, [*ahead, 0.0])) if length >= SHORT_ROW else ():
            if np.linalg.norm(stands - stand, axis=1).min() >= ROW_APART * SPACING:
                stands = np.concatenate([stands, stand[None]])
    return stands


def _door_lines(plan: Plan) -> list[tuple[Array, Array]]:
    """Where one comes through each doorway and which way one faces then."""
    middles = [(np.array([*passage.centre, passage.floor]), passage.normal) for passage in inner_passages(plan)]
    return [(middle, side * normal) for middle, normal in middles for side in (-1.0, 1.0)]


def _room_lines(plan: Plan, spots: _Spots) -> list[tuple[Array, Array]]:
    """The most open spot of each room with the way one can go farthest from it, and the way back."""
    lines = []
    for room in plan.rooms:
        within = np.flatnonzero(spots.rooms == room.index)
        if len(within):
            best = within[np.argmax(spots.openness[within])]
            heading = spots.headings[best]
            ahead = np.array([math.cos(heading), math.sin(heading)]).round(9)
            lines += [(spots.places[best], ahead), (spots.places[best], -ahead)]
    return lines


def _in_the_open(plan: Plan, spots: _Spots, stands: Array, rng: np.random.Generator) -> Array:
    """The viewpoints with those on open ground: the best spot first, then the best that is far enough from all."""
    by_room = np.exp(rng.normal(0.0, 0.2, len(plan.rooms)))
    spacing = SPACING * by_room[spots.rooms] * np.exp(rng.normal(0.0, 0.15, len(spots.places)))
    spacing *= TIGHT + (LOOSE - TIGHT) * spots.openness
    liking = (spots.openness + rng.uniform(0.0, WHIM, len(spots.places))).round(9)
    left = spots.openness >= CROWDED
    taken = list(zip(stands, rooms_at(plan, stands), strict=True))
    added: list[Array] = []
    while True:
        for stand, room in taken:
            # Behind a wall a viewpoint counts less: through a door they would still crowd.
            needed = np.where(spots.rooms == room, spacing, OTHER_ROOM * spacing)
            left &= np.linalg.norm(spots.places - stand, axis=1) >= needed
        if not left.any():
            return np.concatenate([stands, *added])
        best = int(np.argmax(np.where(left, liking, -1.0)))
        taken = [(spots.places[best], spots.rooms[best])]
        added.append(spots.places[best : best + 1])


def _in_every_room(plan: Plan, spots: _Spots, stands: Array) -> Array:
    """The viewpoints with one in each room that has none yet, as far as one can enter it."""
    entered = set(rooms_at(plan, stands).tolist())
    for room in plan.rooms:
        within = np.flatnonzero(spots.rooms == room.index)
        if room.index not in entered and len(within):
            best = within[np.argmax(spots.openness[within])]
            stands = np.concatenate([stands, spots.places[best : best + 1]])
    return stands


def _without_pockets(plan: Plan, surface: Surface, stands: Array, fixed: int) -> Array:
    """The viewpoints without those in corners cut off from the rest, where their rooms have others; the first stay."""
    _, part = connected_components(walkable_pairs(surface, stands), directed=False)
    rooms = rooms_at(plan, stands)
    kept = np.isin(part, part[:fixed])
    for k in np.unique(part[~kept]):
        kept[part == k] = not np.isin(rooms[part == k], rooms[kept]).all()
    return stands[kept]


def _joined(surface: Surface, spots: _Spots, stands: Array) -> Array:
    """The viewpoints with those that are still needed to walk from each to all in straight lines.

    First spots from which several parts can be reached, the most parts and the most open one first; where there is no
    such spot, stops along the shortest way.
    """
    reached = _reached(surface, spots.places, stands)
    for _ in range(RELAYS):
        count, part = connected_components(walkable_pairs(surface, stands), directed=False)
        if count == 1:
            return stands
        parts = np.stack([reached[:, part == k].any(axis=1) for k in range(count)], axis=1).sum(axis=1)
        best = int(np.argmax(parts + spots.openness))
        if parts[best] > 1:
            added = spots.places[best : best + 1]
        else:
            added = _stops(surface, stands[part == part[0]], stands[part != part[0]])
        stands = np.concatenate([stands, added])
        reached = np.hstack([reached, _reached(surface, spots.places, added)])
    return stands


def _settled(surface: Surface, spots: _Spots, stands: Array, fixed: int) -> Array:
    """The viewpoints, each moved a little to where the ways through it are shortest; the first stay.

    One that stands beyond a corner makes everybody overshoot and turn back; one that stands beside a line of others
    makes a bend in it. Each keeps its neighbours and most of its distance.
    """
    stands = stands.copy()
    linked = walkable_pairs(surface, stands)
    edges = thin_out(stands, linked)
    for k in range(fixed, len(stands)):
        beside = edges[(edges == k).any(axis=1)].sum(axis=1) - k
        # Ways through it join neighbours that are not linked themselves.
        first, second = np.nonzero(np.triu(~linked[np.ix_(beside, beside)], 1))
        if len(first):
            near = (np.linalg.norm(spots.places - stands[k], axis=1) <= SHIFT) & (spots.openness >= CROWDED)
            choice = np.concatenate([stands[k : k + 1], spots.places[near]])
            fits = _keeps(surface, choice, np.delete(stands, k, axis=0), stands[beside])
            ends = stands[beside[np.concatenate([first, second])]]
            cost = np.linalg.norm(choice[:, None] - ends, axis=2).sum(axis=1)
            stands[k] = choice[np.argmin(np.where(fits, cost, np.inf).round(6))]
    return stands


def _keeps(surface: Surface, choice: Array, others: Array, beside: Array) -> NDArray[np.bool_]:
    """(n,) whether a viewpoint that moves from the first place to each keeps its neighbours and its distance."""
    apart = np.linalg.norm(choice[:, None] - others, axis=2).min(axis=1)
    lengths = np.linalg.norm(choice[:, None] - beside, axis=2)
    starts, ends = np.broadcast_arrays(choice[:, None], beside)
    free = surface.walkable(starts.reshape(-1, 3), ends.reshape(-1, 3)).reshape(lengths.shape)
    fits: NDArray[np.bool_] = (apart >= APART * apart[0]) & (free & (lengths <= LONGEST)).all(axis=1)
    return fits


def _reached(surface: Surface, places: Array, stands: Array) -> NDArray[np.bool_]:
    """(places, stands) whether one can walk straight from a place to a viewpoint that is near."""
    near = np.linalg.norm(places[:, None] - stands, axis=2).round(6) <= RELAY
    first, second = np.nonzero(near)
    near[first, second] = surface.walkable(places[first], stands[second])
    return np.asarray(near)


def _stops(surface: Surface, inside: Array, outside: Array) -> Array:
    """(n, 3) stops on the shortest way from one part of the viewpoints to the other: at its bends and between them."""
    gaps = surface.between(inside, outside).round(6)
    a, b = np.unravel_index(np.argmin(gaps), gaps.shape)
    way = surface.route(inside[a], outside[b])
    parts = [np.linspace(a, b, 1 + math.ceil(np.linalg.norm(b - a) / SPACING))[1:] for a, b in pairwise(way)]
    return on_ground(surface, np.concatenate(parts)[:-1])
