"""Viewpoints and the edges between them: the navigation graph of a house, similar to Matterport's.

`place_viewpoints` follows the steps of a person with a tripod: stairs and doorways first, then open ground, then
whatever is still disconnected. The edges come last.
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
from itinera.hearth.doorway_viewpoints import (
    add_door_viewpoints,
    add_doorway_links,
    inner_passages,
    snap_viewpoints,
    stair_viewpoints,
)
from itinera.hearth.layout.plan import FloorPlan
from itinera.hearth.room_lookup import locate_rooms
from itinera.hearth.viewpoint_edges import MAX_EDGE, largest_component, sparsify_edges, visible_pairs, walkable_pairs
from itinera.worlds import Array, NavGraph
from itinera.worlds.surface import Surface

EYE_HEIGHT = 1.5  # metres from the ground to the camera
SPACING = 1.7  # metres between viewpoints on open ground, varied by room and by place
TIGHT, LOOSE = 0.6, 1.8  # factors on the spacing in the narrowest and on the most open ground
OUTDOOR_SPACING = 1.9  # factor on the spacing outdoors
OTHER_ROOM = 0.7  # factor on the spacing between viewpoints in different rooms
SAMPLES = 4500  # points sampled on the ground
DIRECTIONS = 12  # in which free distances are measured
OPEN_DISTANCE = 3.0  # metres; a mean free distance this long gives the maximum openness
ELBOW_ROOM = 0.8  # metres of free ground beyond the robot's radius that give the maximum openness
MAX_ROW, MIN_ROW = 8.0, 1.5  # metres; the longest and the shortest row of viewpoints
ROW_STRIDE = (0.6, 1.0)  # of the spacing, within a row
ROW_APART = 0.6  # of the spacing, to existing viewpoints
ROW_END = 0.2  # metres between the last viewpoint of a row and the end of its line
SHIFT = 1.0  # metres that a viewpoint may be moved to straighten the paths through it
APART = 0.9  # fraction of its distance from the nearest other viewpoint that it keeps then
RELAY_REACH = 3.5  # metres within which a point is tried as a link between viewpoints
FLAT = 0.05  # metres that a point may lie above the floor of its room
MAX_RELAYS = 60  # links tried to connect all components
MIN_OPENNESS = 0.3  # openness below which no viewpoint is placed unless needed
RANDOMNESS = 0.3  # weight of chance relative to openness


def place_viewpoints(house: House, surface: Surface, rng: np.random.Generator) -> NavGraph:
    """The navigation graph of a house: connected, each edge a straight, walkable line of sight.

    The surface is that of the robot that is to follow the edges. Positions are the camera's, 1.5 m above the ground.
    """
    spots = _sample_ground(house.plan, surface, rng)
    stands = stair_viewpoints(house.plan.staircases, surface)
    stands = add_door_viewpoints(house.plan, surface, stands, rng)
    fixed = len(stands)
    stands = _add_rows(house.plan, surface, spots, stands, rng)
    stands = _add_on_open_ground(house.plan, spots, stands, rng)
    stands = _add_in_empty_rooms(house.plan, spots, stands)
    stands = _drop_pockets(house.plan, surface, stands, fixed)
    stands = add_doorway_links(house.plan, surface, stands, rng)
    stands = _connect(surface, spots, stands)
    stands = _straighten(surface, spots, stands, fixed)
    stands = add_doorway_links(house.plan, surface, stands, rng)
    eyes = stands + np.array([0.0, 0.0, EYE_HEIGHT])
    visible = visible_pairs(house.mesh, eyes)
    linked = visible & walkable_pairs(surface, stands)
    kept = largest_component(linked)
    eyes, visible, linked = eyes[kept], visible[np.ix_(kept, kept)], linked[np.ix_(kept, kept)]
    return NavGraph(
        tuple(_viewpoint_id(house.id, k) for k in range(len(eyes))), eyes, sparsify_edges(eyes, linked), visible
    )


def _viewpoint_id(house_id: str, number: int) -> str:
    """An id like Matterport's: 32 hexadecimal digits."""
    return hashlib.blake2b(f"{house_id}/{number}".encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, eq=False)
class _GroundSamples:
    """Sampled points on the ground where a viewpoint could be placed."""

    places: Array  # (n, 3)
    rooms: NDArray[np.int64]  # (n,) the room of each
    headings: Array  # (n,) the direction with the longest free distance, radians
    openness: Array  # (n,) from 0 in a niche to 1 with free ground and long straight lines all around


def _sample_ground(plan: FloorPlan, surface: Surface, rng: np.random.Generator) -> _GroundSamples:
    places = surface.sample(rng, SAMPLES).round(6)
    free = np.empty((len(places), DIRECTIONS))
    headings = np.arange(DIRECTIONS) * (2 * np.pi / DIRECTIONS)
    for k, heading in enumerate(headings):
        ends = surface.advance(places, heading, OPEN_DISTANCE, sliding=False)
        free[:, k] = np.linalg.norm(ends[:, :2] - places[:, :2], axis=1)
    elbow_room = np.minimum(free, ELBOW_ROOM).mean(axis=1) / ELBOW_ROOM
    outlook = free.mean(axis=1) / OPEN_DISTANCE
    rooms = locate_rooms(plan, places)
    # Not on a low object that a robot could climb, such as a treadmill or a shower tray.
    floors = np.array([room.floor if room.kind != "s" else np.inf for room in plan.rooms])
    flat = places[:, 2] <= floors[rooms] + FLAT
    openness = ((elbow_room + outlook) / 2).round(6)
    return _GroundSamples(places[flat], rooms[flat], headings[free.round(6).argmax(axis=1)][flat], openness[flat])


def _add_rows(
    plan: FloorPlan, surface: Surface, spots: _GroundSamples, stands: Array, rng: np.random.Generator
) -> Array:
    """The viewpoints plus rows of them along straight walking lines: from doorways, and along rooms."""
    for start, ahead in [*_door_lines(plan), *_room_lines(plan, spots)]:
        stride = SPACING * rng.uniform(*ROW_STRIDE)
        end = surface.advance(start, math.atan2(ahead[1], ahead[0]), MAX_ROW, sliding=False)
        length = round(float(np.linalg.norm(end - start)), 6)
        steps = np.arange(stride, length - ROW_END, stride)
        for stand in snap_viewpoints(surface, start + np.outer(steps, [*ahead, 0.0])) if length >= MIN_ROW else ():
            if np.linalg.norm(stands - stand, axis=1).min() >= ROW_APART * SPACING:
                stands = np.concatenate([stands, stand[None]])
    return stands


def _door_lines(plan: FloorPlan) -> list[tuple[Array, Array]]:
    """The point where each doorway is entered and the direction of entry."""
    middles = [(np.array([*passage.center, passage.floor]), passage.normal) for passage in inner_passages(plan)]
    return [(middle, side * normal) for middle, normal in middles for side in (-1.0, 1.0)]


def _room_lines(plan: FloorPlan, spots: _GroundSamples) -> list[tuple[Array, Array]]:
    """The most open point of each room with the direction of its longest free line, and the opposite direction."""
    lines = []
    for room in plan.rooms:
        within = np.flatnonzero(spots.rooms == room.index)
        if len(within):
            best = within[np.argmax(spots.openness[within])]
            heading = spots.headings[best]
            ahead = np.array([math.cos(heading), math.sin(heading)]).round(9)
            lines += [(spots.places[best], ahead), (spots.places[best], -ahead)]
    return lines


def _add_on_open_ground(plan: FloorPlan, spots: _GroundSamples, stands: Array, rng: np.random.Generator) -> Array:
    """The viewpoints plus those on open ground, greedily: the best point, then the best far enough from all others."""
    by_room = np.exp(rng.normal(0.0, 0.2, len(plan.rooms)))
    by_room *= [OUTDOOR_SPACING if room.outdoor else 1.0 for room in plan.rooms]
    spacing = SPACING * by_room[spots.rooms] * np.exp(rng.normal(0.0, 0.15, len(spots.places)))
    spacing *= TIGHT + (LOOSE - TIGHT) * spots.openness
    liking = (spots.openness + rng.uniform(0.0, RANDOMNESS, len(spots.places))).round(9)
    left = spots.openness >= MIN_OPENNESS
    taken = list(zip(stands, locate_rooms(plan, stands), strict=True))
    added: list[Array] = []
    while True:
        for stand, room in taken:
            # Across a wall a smaller spacing is enough.
            needed = np.where(spots.rooms == room, spacing, OTHER_ROOM * spacing)
            left &= np.linalg.norm(spots.places - stand, axis=1) >= needed
        if not left.any():
            return np.concatenate([stands, *added])
        best = int(np.argmax(np.where(left, liking, -1.0)))
        taken = [(spots.places[best], spots.rooms[best])]
        added.append(spots.places[best : best + 1])


def _add_in_empty_rooms(plan: FloorPlan, spots: _GroundSamples, stands: Array) -> Array:
    """The viewpoints plus one in each accessible room that has none yet."""
    entered = set(locate_rooms(plan, stands).tolist())
    for room in plan.rooms:
        within = np.flatnonzero(spots.rooms == room.index)
        if room.index not in entered and len(within):
            best = within[np.argmax(spots.openness[within])]
            stands = np.concatenate([stands, spots.places[best : best + 1]])
    return stands


def _drop_pockets(plan: FloorPlan, surface: Surface, stands: Array, fixed: int) -> Array:
    """The viewpoints without those in disconnected corners of rooms that have others; the first `fixed` stay."""
    _, part = connected_components(walkable_pairs(surface, stands), directed=False)
    rooms = locate_rooms(plan, stands)
    kept = np.isin(part, part[:fixed])
    for k in np.unique(part[~kept]):
        kept[part == k] = not np.isin(rooms[part == k], rooms[kept]).all()
    return stands[kept]


def _connect(surface: Surface, spots: _GroundSamples, stands: Array) -> Array:
    """The viewpoints plus those needed to connect all of them by straight walkable lines.

    Points that connect several components come first, the most components and the most open point first; where there is
    none, points along the shortest path.
    """
    reached = _reachable(surface, spots.places, stands)
    for _ in range(MAX_RELAYS):
        count, part = connected_components(walkable_pairs(surface, stands), directed=False)
        if count == 1:
            return stands
        parts = np.stack([reached[:, part == k].any(axis=1) for k in range(count)], axis=1).sum(axis=1)
        best = int(np.argmax(parts + spots.openness))
        if parts[best] > 1:
            added = spots.places[best : best + 1]
        else:
            added = _route_points(surface, stands[part == part[0]], stands[part != part[0]])
        stands = np.concatenate([stands, added])
        reached = np.hstack([reached, _reachable(surface, spots.places, added)])
    return stands


def _straighten(surface: Surface, spots: _GroundSamples, stands: Array, fixed: int) -> Array:
    """The viewpoints, each moved a little to minimize the paths through it; the first `fixed` stay.

    A viewpoint beyond a corner would make agents overshoot and turn back; one beside a line of others would bend the
    path. Each keeps its neighbors and most of its distance from others.
    """
    stands = stands.copy()
    linked = walkable_pairs(surface, stands)
    edges = sparsify_edges(stands, linked)
    for k in range(fixed, len(stands)):
        beside = edges[(edges == k).any(axis=1)].sum(axis=1) - k
        # Paths through it join neighbors that are not linked themselves.
        first, second = np.nonzero(np.triu(~linked[np.ix_(beside, beside)], 1))
        if len(first):
            near = (np.linalg.norm(spots.places - stands[k], axis=1) <= SHIFT) & (spots.openness >= MIN_OPENNESS)
            choice = np.concatenate([stands[k : k + 1], spots.places[near]])
            fits = _keeps_neighbors(surface, choice, np.delete(stands, k, axis=0), stands[beside])
            ends = stands[beside[np.concatenate([first, second])]]
            cost = np.linalg.norm(choice[:, None] - ends, axis=2).sum(axis=1)
            stands[k] = choice[np.argmin(np.where(fits, cost, np.inf).round(6))]
    return stands


def _keeps_neighbors(surface: Surface, choice: Array, others: Array, beside: Array) -> NDArray[np.bool_]:
    """(n,) whether moving a viewpoint from the first place to each keeps its neighbors and its distance from others."""
    apart = np.linalg.norm(choice[:, None] - others, axis=2).min(axis=1)
    lengths = np.linalg.norm(choice[:, None] - beside, axis=2)
    starts, ends = np.broadcast_arrays(choice[:, None], beside)
    free = surface.walkable(starts.reshape(-1, 3), ends.reshape(-1, 3)).reshape(lengths.shape)
    fits: NDArray[np.bool_] = (apart >= APART * apart[0]) & (free & (lengths <= MAX_EDGE)).all(axis=1)
    return fits


def _reachable(surface: Surface, places: Array, stands: Array) -> NDArray[np.bool_]:
    """(places, viewpoints) whether a straight walkable line joins a place to a nearby viewpoint."""
    near = np.linalg.norm(places[:, None] - stands, axis=2).round(6) <= RELAY_REACH
    first, second = np.nonzero(near)
    near[first, second] = surface.walkable(places[first], stands[second])
    return np.asarray(near)


def _route_points(surface: Surface, inside: Array, outside: Array) -> Array:
    """(n, 3) points on the shortest path from one component to the others: at its turns and between them."""
    gaps = surface.between(inside, outside).round(6)
    a, b = np.unravel_index(np.argmin(gaps), gaps.shape)
    way = surface.route(inside[a], outside[b])
    parts = [np.linspace(a, b, 1 + math.ceil(np.linalg.norm(b - a) / SPACING))[1:] for a, b in pairwise(way)]
    return snap_viewpoints(surface, np.concatenate(parts)[:-1])
