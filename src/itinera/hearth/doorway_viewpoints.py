"""Viewpoints in doorways and on stairs, where an agent has only one way to go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from itinera.hearth.layout.plan import OUTSIDE, Flight, FloorPlan, Passage, Staircase
from itinera.worlds import Array
from itinera.worlds.surface import Surface

CLOSE = 0.8  # metres; a doorway with a viewpoint this near needs no other
THRESHOLD = 2.5  # metres from a doorway within which viewpoints on both sides make an edge through it
DOOR_STEP = (0.1, 0.4)  # metres from the middle of a doorway to its viewpoint, on the side of the smaller room
STAIR_STRIDE = 0.9  # metres between viewpoints on stairs, measured horizontally, about
MIN_CLIMB = 0.52  # metres of height between consecutive viewpoints on stairs, at least
SIDESTEP = 0.21  # metres from the middle of a flight to its viewpoints, to either side in turn
STAIR_END = 0.45  # metres from the foot or the head of stairs to a viewpoint
NEARBY = 0.3  # metres that a viewpoint may be moved to reach walkable ground


def stair_viewpoints(staircases: Sequence[Staircase], surface: Surface) -> Array:
    """(n, 3) viewpoints before and behind each flight of stairs and between them, so that edges follow the stairs.

    A quarter landing has one viewpoint, a half landing one at the end of either flight.
    """
    stands: list[Array] = []
    for stairs in staircases:
        for k, flight in enumerate(stairs.flights):
            line = _flight_viewpoints(flight)
            stands += [*(line if k == 0 or stairs.shape == "U" else line[1:])]
    return snap_viewpoints(surface, np.array(stands).reshape(-1, 3))


def _flight_viewpoints(flight: Flight) -> Array:
    """(n, 3) viewpoints before a flight, on it and behind it, a little to its left and right in turn.

    So one can see past each of them, and there are edges that skip one, as between real viewpoints on stairs.
    """
    run, up = flight.head - flight.foot, np.array([*flight.up, 0.0])
    parts = min(round(float(np.hypot(run[0], run[1])) / STAIR_STRIDE), int(run[2] / MIN_CLIMB))
    line = flight.foot + np.linspace(0.0, 1.0, max(1, parts) + 1)[:, None] * run
    line[0] -= STAIR_END * up
    line[-1] += STAIR_END * up
    sides = np.where(np.arange(len(line)) % 2 == 0, SIDESTEP, -SIDESTEP)
    return np.asarray(np.round(line + sides[:, None] * np.array([-up[1], up[0], 0.0]), 6))


def add_door_viewpoints(plan: FloorPlan, surface: Surface, stands: Array, rng: np.random.Generator) -> Array:
    """The viewpoints plus one just inside each doorway, straight in front of it, in the smaller of its two rooms."""
    areas = [_area(room.outline) for room in plan.rooms]
    for passage in inner_passages(plan):
        first, second = passage.rooms
        side = -1.0 if areas[first] <= areas[second] else 1.0
        stands = np.concatenate([stands, _door_viewpoint(surface, stands, passage, side, rng.uniform(*DOOR_STEP))])
    return stands


def add_doorway_links(plan: FloorPlan, surface: Surface, stands: Array, rng: np.random.Generator) -> Array:
    """The viewpoints plus those still needed for an edge through each doorway."""
    for passage in inner_passages(plan):
        back = rng.uniform(*DOOR_STEP)
        for close in (CLOSE, 0.0):
            if not _has_link(surface, stands, passage):
                added = [_door_viewpoint(surface, stands, passage, side, back, close) for side in (-1.0, 1.0)]
                stands = np.concatenate([stands, *added])
    return stands


def _has_link(surface: Surface, stands: Array, passage: Passage) -> bool:
    """Whether a straight walkable line between two viewpoints near a doorway leads through it."""
    before, behind = (_viewpoints_near_door(stands, passage, side, THRESHOLD) for side in (-1.0, 1.0))
    first, second = np.indices((len(before), len(behind))).reshape(2, -1)
    starts, ends = before[first], behind[second]
    through = _passes_opening(passage, starts, ends)
    return bool(surface.walkable(starts[through], ends[through]).any())


def _passes_opening(passage: Passage, starts: Array, ends: Array) -> NDArray[np.bool_]:
    """(n,) which lines between the two sides of a wall pass through the opening."""
    away = [np.abs((points[:, :2] - passage.center) @ passage.normal) for points in (starts, ends)]
    share = (away[0] / (away[0] + away[1]))[:, None]
    crossing = (1 - share) * starts[:, :2] + share * ends[:, :2] - passage.center
    aside = crossing @ np.array([-passage.normal[1], passage.normal[0]])
    return np.asarray(np.abs(aside).round(6) < passage.width / 2)


def inner_passages(plan: FloorPlan) -> list[Passage]:
    return [passage for passage in plan.passages if OUTSIDE not in passage.rooms]


def _area(outline: Array) -> float:
    x, y = outline.T
    return round(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2, 6)


def _viewpoints_near_door(stands: Array, passage: Passage, side: float, reach: float) -> Array:
    """The viewpoints on one side of a doorway, at most `reach` metres from its middle."""
    offsets = stands - np.array([*passage.center, passage.floor])
    before = offsets[:, :2] @ passage.normal * side > 0
    return np.asarray(stands[before & (np.linalg.norm(offsets, axis=1) < reach)])


def _door_viewpoint(
    surface: Surface, stands: Array, passage: Passage, side: float, back: float, close: float = CLOSE
) -> Array:
    """(0 or 1, 3) a viewpoint straight in front of a doorway: none if one is `close` already or there is no room."""
    middle = np.array([*passage.center, passage.floor])
    near = _viewpoints_near_door(stands, passage, side, close + passage.depth / 2)
    if surface.walkable(near, np.broadcast_to(middle, near.shape)).any():
        return np.empty((0, 3))
    # Closer to the door where furniture is in the way.
    steps = back * np.array([1.0, 0.75, 0.5])
    wanted = snap_viewpoints(surface, middle + np.outer(side * steps, [*passage.normal, 0.0]))
    reached = wanted[surface.walkable(wanted, np.broadcast_to(middle, wanted.shape))]
    return reached[:1]


def snap_viewpoints(surface: Surface, places: Array) -> Array:
    """The nearest walkable points, without those that have none nearby."""
    found, gaps = surface.snap(places, reach=NEARBY, island=0)
    kept: Array = found[np.isfinite(gaps)].round(6)
    return kept
