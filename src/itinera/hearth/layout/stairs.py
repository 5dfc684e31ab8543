"""Staircases: straight, L-shaped or U-shaped, fitted into the stairwell that a storey reserves for them.

Each is laid out in the frame of its stairwell, `u` from the opening to the hall inwards and `v` across, in metres, and
then converted to the plan's frame. Stairwells on top of each other have the same staircase, so that nobody hits their
head.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from itinera.hearth.layout.plan import Flight, Landing, Passage, PlannedRoom, Staircase
from itinera.hearth.layout.room_grid import InvalidLayout
from itinera.worlds import Array

RISE = 0.187  # of a step, metres, at most
GOING = 0.26, 0.29  # of a step, metres: least and most
WIDTH = 1.05  # of a straight flight, metres
TURNED_WIDTH = 1.0  # of an L-shaped staircase, metres; a U-shaped one fills its stairwell
NEAR, FAR = 0.65, 1.05  # metres of floor before and behind a straight flight, beside which there is a lane
STRIP = 1.05  # metres of floor at the foot and the head of an L-shaped or U-shaped staircase
STRAIGHT_MIN_DEPTH = 5.6  # metres between the walls of the stairwell
L_MIN_WIDTH = 3.0

Spot = tuple[float, float]  # u, v
Course = tuple[list[tuple[Spot, Spot, float, int]], list[tuple[Spot, Spot]]]
"""Flights, as foot, head, width and steps from the lowest; landings, as two opposite corners."""


@dataclass(frozen=True, eq=False)
class _Frame:
    """The frame of a stairwell."""

    origin: Array  # (2,) the corner at u = v = 0
    inward: Array  # (2,) unit vector of u
    across: Array  # (2,) unit vector of v
    depth: float  # extent along u
    width: float  # extent along v

    def point(self, spot: Spot) -> Array:
        return np.round(self.origin + spot[0] * self.inward + spot[1] * self.across, 4)


def plan_staircases(
    rng: np.random.Generator, rooms: Sequence[PlannedRoom], passages: Sequence[Passage]
) -> tuple[Staircase, ...]:
    """The staircases between rooms of kind "s" on top of each other, all of one shape."""
    wells = [room for room in rooms if room.kind == "s"]
    if len(wells) < 2:
        return ()
    frame = _stairwell_frame(wells[0], passages)
    reverse = bool(rng.random() < 0.5)
    steps = math.ceil(round((wells[1].floor - wells[0].floor) / RISE, 6))
    course = _draw_course(frame, steps, reverse=reverse)
    return tuple(_build(low, high, frame, course) for low, high in itertools.pairwise(wells))


def _stairwell_frame(well: PlannedRoom, passages: Sequence[Passage]) -> _Frame:
    """The frame with v = 0 at the wall opposite to where the lane of the opening is."""
    opening = next(p for p in passages if well.index in p.rooms)
    inward = np.round(opening.normal if opening.rooms[1] == well.index else -opening.normal)
    low, high = well.outline.min(axis=0), well.outline.max(axis=0)
    middle = (low + high) / 2
    aside = np.abs(inward[::-1])
    toward = 1.0 if float(aside @ (opening.center - middle)) >= 0 else -1.0
    across = toward * aside
    size = high - low
    depth, width = float(np.abs(inward) @ size), float(aside @ size)
    origin = middle - inward * depth / 2 - across * width / 2
    return _Frame(origin, inward, across, depth, width)


def _draw_course(frame: _Frame, steps: int, *, reverse: bool) -> Course:
    if frame.width >= L_MIN_WIDTH:
        return _l_shaped(frame, steps, reverse=reverse)
    if frame.depth >= STRAIGHT_MIN_DEPTH:
        return _straight(frame, steps, reverse=reverse)
    return _u_shaped(frame, steps)


def _straight(frame: _Frame, steps: int, *, reverse: bool) -> Course:
    """One flight along the wall at v = 0, with a lane beside it."""
    going = _going((frame.depth - NEAR - FAR) / (steps - 1))
    ends = [(NEAR, WIDTH / 2), (round(NEAR + going * (steps - 1), 2), WIDTH / 2)]
    foot, head = ends[::-1] if reverse else ends
    return [(foot, head, WIDTH, steps)], []


def _l_shaped(frame: _Frame, steps: int, *, reverse: bool) -> Course:
    """A flight along the wall at v = 0, a landing in its inner corner, and a flight along the inner wall."""
    wide, corner = TURNED_WIDTH, frame.depth - TURNED_WIDTH
    short = min(1 + int((frame.width - wide - STRIP) / GOING[0]), 6)
    long = steps - short
    beside = wide + (short - 1) * _going((frame.width - wide - STRIP) / (short - 1))
    before = corner - (long - 1) * _going((corner - STRIP) / (long - 1))
    start, turn_in = (round(before, 2), wide / 2), (corner, wide / 2)
    turn_out, end = (frame.depth - wide / 2, wide), (frame.depth - wide / 2, round(beside, 2))
    first, second = (start, turn_in, wide, long), (turn_out, end, wide, short)
    landing = (corner, 0.0), (frame.depth, wide)
    if reverse:
        first, second = (end, turn_out, wide, short), (turn_in, start, wide, long)
    return [first, second], [landing]


def _u_shaped(frame: _Frame, steps: int) -> Course:
    """Two flights side by side and a half landing along the inner wall."""
    wide = round(frame.width / 2, 3)
    first, second = steps - steps // 2, steps // 2
    deep = max(1.0, min(1.2, frame.depth - STRIP - (first - 1) * GOING[1]))
    corner = frame.depth - deep
    going = _going((corner - STRIP) / (first - 1))
    starts = [(round(corner - going * (n - 1), 2), v * wide) for n, v in ((first, 0.5), (second, 1.5))]
    flights = [(starts[0], (corner, wide / 2), wide, first), ((corner, 1.5 * wide), starts[1], wide, second)]
    return flights, [((corner, 0.0), (frame.depth, frame.width))]


def _going(room: float) -> float:
    if room < GOING[0]:
        raise InvalidLayout("the stairs do not fit")
    return min(GOING[1], room)


def _build(low: PlannedRoom, high: PlannedRoom, frame: _Frame, course: Course) -> Staircase:
    """The staircase between two rooms."""
    laid, platforms = course
    rise = (high.floor - low.floor) / sum(steps for *_, steps in laid)
    flights: list[Flight] = []
    landings: list[Landing] = []
    z, climbed = low.floor, 0
    for k, (foot, head, width, steps) in enumerate(laid):
        climbed += steps
        top = high.floor if k == len(laid) - 1 else round(low.floor + rise * climbed, 4)
        flights.append(Flight(np.array([*frame.point(foot), z]), np.array([*frame.point(head), top]), width, steps))
        if k < len(platforms):
            corners = np.array([frame.point(spot) for spot in platforms[k]])
            landings.append(Landing(np.concatenate([corners.min(axis=0), corners.max(axis=0)]), top))
        z = top
    return Staircase((low.index, high.index), tuple(flights), tuple(landings))
