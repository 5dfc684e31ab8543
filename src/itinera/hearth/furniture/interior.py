"""One room while it is being furnished: what stands where, what must stay free, and where the next thing may go.

Things come in groups (a bed with its nightstands) drawn in a frame of their own: y = 0 along their back, x = 0 in its
middle, looking along +y. A group is tried at many spots at once; the best one that fits and leaves the room walkable
is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from itinera.hearth.furniture.clearances import (
    RUG_TOP,
    half_size,
    kept_clear,
    leaf_boxes,
    stair_boxes,
    way_in,
    window_box,
)
from itinera.hearth.furniture.model import Kind, Model, model
from itinera.hearth.furniture.walkable_floor import CELL, REACH, WalkableFloor
from itinera.hearth.geometry.polygons import area
from itinera.hearth.geometry.rectangles import Rectangle, overlap, within
from itinera.hearth.item import Item
from itinera.hearth.layout.plan import Plan, PlannedRoom
from itinera.worlds import Array

T = TypeVar("T")

OFF_FLOOR, OFF_WALL, OFF_TOP, OFF_RUG = 0.006, 0.02, 0.003, 0.003  # gaps, so that no faces of two things coincide
HEAD = 1.6  # what starts above this is no obstacle on the floor
SKIRT = 0.03  # kept from walls by what lies on the floor, for the boards along their foot
FLAT = 0.03  # what is no higher than this is walked over
TRIES = 8  # spots looked at more closely
REACHABLE = 0.42  # share of the bare room's walkable floor that must stay in reach of the doors

FRONT = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])  # where quarter turns look
RIGHT = np.roll(FRONT, 1, axis=0)


@dataclass(frozen=True, eq=False)
class Part:
    """A model within a group."""

    model: Model
    x: float = 0.0
    y: float = 0.0
    z: float = OFF_FLOOR  # of its lowest point above the floor
    turn: float = 0.0  # radians, against the group's own heading


@dataclass(frozen=True, eq=False)
class Group:
    """Things that belong together, and the floor they and their users need."""

    parts: tuple[Part, ...]
    floor: Rectangle  # what they stand on
    access: Rectangle  # what must be free for using them; may be shared with others' access
    high: float  # of the highest of them


@dataclass(frozen=True, eq=False)
class Spots:
    """Where a group might go: n places for its origin, and which way it would look."""

    quarters: NDArray[np.intp]  # (n,) quarter turns from +x
    origins: Array  # (n, 2)
    corner: Array  # (n,) how far the group stays from the nearer end of its wall
    middle: Array  # (n,) how far its middle is from the wall's (or room's) middle


@dataclass(frozen=True, eq=False)
class Placed:
    """A model in its place."""

    model: Model
    x: float
    y: float
    z: float  # of its lowest point, above the room's floor
    heading: float
    blocks: bool

    @cached_property
    def box(self) -> tuple[float, float, float, float, float, float]:
        """Low and high corner of the box along the axes that holds it."""
        half = half_size(self.model.size[0], self.model.size[1], self.heading)
        x, y, z = self.x, self.y, self.z
        return (x - half[0], y - half[1], z, x + half[0], y + half[1], z + self.model.size[2])


@dataclass(frozen=True)
class Wall:
    """A straight piece of a room's outline along an axis, seen from inside."""

    start: tuple[float, float]
    length: float
    quarter: int  # quarter turns from +x to where it looks: into the room


Preference = Callable[[Spots], Array]  # lower is better


class Interior:
    """The room, what is in it, and what must stay free."""

    def __init__(
        self, plan: Plan, room: PlannedRoom, fixtures: Sequence[Item], rng: np.random.Generator, said: dict[str, int]
    ) -> None:
        self.room = room
        self.rng = rng
        self.outline = np.asarray(room.outline, dtype=np.float64)
        self.area = round(area(self.outline), 3)
        self.walls = straight_walls(self.outline)
        self.passages = [p for p in plan.passages if room.index in p.rooms]
        self.windows = [w for w in plan.windows if w.room == room.index]
        self.placed: list[Placed] = []
        self.said = said  # how often each description occurs in the house
        # Windows first, in their order, so that a curtain can leave out its own; see `hits`.
        panes = [window_box(window, room.floor) for window in self.windows]
        self._keep = np.array([*panes, *kept_clear(plan, room, fixtures)], dtype=np.float64).reshape(-1, 6)
        self._access: list[Rectangle] = []
        doors = [p.centre + way_in(p, room.index) * (p.depth / 2 + REACH + CELL) for p in self.passages]
        built_in = np.array([*stair_boxes(plan, room), *leaf_boxes(plan, room)]).reshape(-1, 6)
        self._walk = WalkableFloor(self.outline, doors, built_in, _share_needed(self.area))

    def make(self, kind: Kind) -> Model:
        """A model of this kind, in the colour least heard of: in this room, then in this house."""
        here = [p.model.colour for p in self.placed if p.model.name == kind.name]
        fewest = min(here.count(colour) for colour in kind.colours)
        words = [colour for colour in kind.colours if here.count(colour) == fewest]
        weights = np.array([1.0 / (1 + self.said.get(f"{colour} {kind.name}", 0)) ** 2 for colour in words])
        draw = float(self.rng.random()) * float(weights.sum())
        return model(kind, words[min(int(np.searchsorted(np.cumsum(weights), draw)), len(words) - 1)], self.rng)

    def chance(self, share: float) -> bool:
        """Whether to do something done in this share of cases."""
        return bool(self.rng.random() < share)

    def pick(self, choices: Sequence[T]) -> T:
        """One of these."""
        return choices[int(self.rng.integers(len(choices)))]

    def along_walls(self, group: Group, *, off: float = OFF_WALL) -> Spots:
        """Every spot with the group's back to a wall, at most 10 cm apart."""
        x0, _, x1, _ = group.floor
        quarters, origins, corner, middle = [], [], [], []
        for wall in self.walls:
            first, last = 0.02 - x0, wall.length - x1 - 0.02
            if last < first:
                continue
            steps = np.round(np.append(np.arange(first, last, 0.1), last), 2)
            # Who looks into the room has the wall's start on the left.
            origins.append(np.array(wall.start) + steps[:, None] * RIGHT[wall.quarter] + off * FRONT[wall.quarter])
            quarters.append(np.full(len(steps), wall.quarter))
            corner.append(np.minimum(steps - first, last - steps))
            middle.append(np.abs(steps - wall.length / 2))
        if not origins:
            return Spots(np.zeros(0, np.intp), np.zeros((0, 2)), np.zeros(0), np.zeros(0))
        return Spots(*(np.concatenate(column) for column in (quarters, origins, corner, middle)))

    def runs(self, depth: float, high: float, front: float) -> list[tuple[Wall, float, float]]:
        """Free stretches of wall, (wall, start, length), longest first: this deep and high, with free floor before."""
        found = []
        strip = Group((), (-0.05, 0.0, 0.05, depth), (-0.05, 0.0, 0.05, depth + front), high)
        for wall in self.walls:
            steps = np.round(np.arange(0.07, wall.length - 0.06, 0.1), 2)
            if not len(steps):
                continue
            origins = np.array(wall.start) + steps[:, None] * RIGHT[wall.quarter] + OFF_WALL * FRONT[wall.quarter]
            nothing = np.zeros(len(steps))
            good = self.free(strip, Spots(np.full(len(steps), wall.quarter), origins, nothing, nothing))
            labels, count = ndimage.label(good)
            for label in range(1, count + 1):
                where = steps[labels == label]
                found.append((wall, round(float(where[0]) - 0.05, 2), round(0.1 * len(where), 2)))
        return sorted(found, key=lambda run: -run[2])

    def in_the_open(self, group: Group, *, step: float = 0.2) -> Spots:
        """Spots anywhere, looking any of four ways."""
        low, high = self.outline.min(axis=0), self.outline.max(axis=0)
        xs, ys = (np.arange(np.round(low[k], 1), high[k], step) for k in range(2))
        grid = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1).reshape(-1, 2)
        centre = self.centre
        quarters = np.repeat(np.arange(4), len(grid))
        x0, y0, x1, y1 = group.floor
        shift = (x0 + x1) / 2 * RIGHT[quarters] + (y0 + y1) / 2 * FRONT[quarters]
        middles = np.tile(grid, (4, 1))
        away = np.sqrt(((middles - centre) ** 2).sum(axis=1))
        return Spots(quarters, np.round(middles - shift, 2), np.zeros(len(middles)), away)

    @property
    def centre(self) -> Array:
        """The middle of the walkable floor of the bare room, or of the outline where there is none."""
        return self._walk.middle

    def place(
        self,
        groups: Iterable[Group],
        prefer: Preference,
        *,
        spots: Callable[[Group], Spots] | None = None,
    ) -> list[Placed]:
        """The first of these groups that fits anywhere, put where preferred; nothing if none does."""
        for group in groups:
            found = self._best(group, prefer, (spots or self.along_walls)(group))
            if found is not None:
                return self._settle(group, *found)
        return []

    def _best(self, group: Group, prefer: Preference, spots: Spots) -> tuple[int, Array] | None:
        good = self.free(group, spots)
        if not good.any():
            return None
        scores = np.round(prefer(spots) + 1e-3 * self.rng.random(len(good)), 6)
        order = np.argsort(np.where(good, scores, np.inf), kind="stable")[: int(good.sum())]
        for _ in range(TRIES):
            if not len(order):
                break
            quarter, origin = int(spots.quarters[order[0]]), spots.origins[order[0]]
            if self._walk.stays_open(self._obstacles(group, quarter, origin)):
                return quarter, origin
            # Near to where it blocks the way it does so as well.
            near = np.abs(spots.origins[order] - origin).max(axis=1) < 0.45
            order = order[~(near & (spots.quarters[order] == quarter))]
        return None

    def free(self, group: Group, spots: Spots) -> NDArray[np.bool_]:
        """(n,) whether the group fits there: in the room, off other things and their access, its own access free."""
        floor, access = rectangles(group.floor, spots), rectangles(group.access, spots)
        shared = np.array(self._access, dtype=np.float64).reshape(-1, 4)
        good = ~(
            _hit(floor, RUG_TOP, group.high, self._solid)
            | _hit(access, RUG_TOP, HEAD, self._boxes)
            | overlap(floor, shared).any(axis=1)
        )
        good[good] = within(self.outline, access[good])
        return good

    @property
    def _boxes(self) -> Array:
        """(n, 6) the boxes of all that has been placed."""
        return np.array([one.box for one in self.placed]).reshape(-1, 6)

    @property
    def _solid(self) -> Array:
        """(n, 6) all that a new thing must stay off."""
        return np.concatenate([self._keep, self._boxes])

    def _obstacles(self, group: Group, quarter: int, origin: Array) -> Array:
        boxes = [_settled(part, quarter, origin).box for part in group.parts]
        return np.array([box for box in boxes if box[2] < HEAD and box[5] > FLAT]).reshape(-1, 6)

    def _settle(self, group: Group, quarter: int, origin: Array) -> list[Placed]:
        self._walk.block(self._obstacles(group, quarter, origin))
        here = Spots(np.array([quarter]), origin[None], np.zeros(1), np.zeros(1))
        if group.access != group.floor:
            x0, y0, x1, y1 = (float(v) for v in rectangles(group.access, here)[0])
            self._access.append((x0, y0, x1, y1))
        return [self.add(one) for one in (_settled(part, quarter, origin) for part in group.parts) if self._lies(one)]

    def _lies(self, one: Placed) -> bool:
        """Whether a thing may lie there: one flat on the floor must not lie over another."""
        if one.model.size[2] > FLAT:
            return True
        flat = np.array([p.box for p in self.placed if p.model.size[2] <= FLAT]).reshape(-1, 6)
        x0, y0, _, x1, y1, _ = one.box
        rectangle = np.array([[x0, y0, x1, y1]])
        return (
            self.contains((x0 - SKIRT, y0 - SKIRT, x1 + SKIRT, y1 + SKIRT))
            and not overlap(rectangle, flat[:, [0, 1, 3, 4]]).any()
        )

    def add(self, one: Placed) -> Placed:
        """Put one more thing exactly here, whatever else is there."""
        self.placed.append(one)
        description = f"{one.model.colour} {one.model.name}"
        self.said[description] = self.said.get(description, 0) + 1
        return one

    def hits(self, box: Sequence[float], *, beside: int = -1) -> bool:
        """Whether a box meets what stands here or must stay clear; the window `beside` is not minded."""
        keep = self._keep if beside < 0 else np.delete(self._keep, beside, axis=0)
        solid = np.concatenate([keep, self._boxes])
        return bool(_hit(np.array([[box[0], box[1], box[3], box[4]]]), box[2], box[5], solid)[0])

    def contains(self, rectangle: Rectangle) -> bool:
        """Whether a rectangle lies within the room."""
        return bool(within(self.outline, np.array([rectangle]))[0])

    def hang(self, thing: Model, low: float, prefer: Preference, *, off: float = 0.004) -> Placed | None:
        """The thing hung on a wall with its lowest point this high; None where no wall is free."""
        width, depth, height = thing.size
        around = (-width / 2 - 0.06, 0.0, width / 2 + 0.06, depth)
        group = Group((Part(thing, 0, depth / 2, low),), around, around, low + height)
        spots = self.along_walls(group, off=off)
        if not len(spots.quarters):
            return None
        floor = rectangles(group.floor, spots)
        good = within(self.outline, floor) & ~_hit(floor, low - 0.05, low + height + 0.05, self._solid)
        if not good.any():
            return None
        scores = np.round(prefer(spots) + 1e-3 * self.rng.random(len(good)), 6)
        k = int(np.argsort(np.where(good, scores, np.inf), kind="stable")[0])
        return self.add(_settled(group.parts[0], int(spots.quarters[k]), spots.origins[k]))

    def lay(self, flat: Model, x: float, y: float, heading: float) -> bool:
        """Lay something flat on the floor, if it lies in the room and over nothing else flat; whether it does."""
        one = Placed(flat, round(x, 2), round(y, 2), OFF_RUG, heading, blocks=False)
        if self._lies(one):
            self.add(one)
            return True
        return False

    @property
    def reachable(self) -> float:
        """Share of the bare room's walkable floor that is still in reach of every door; 0 where one is cut off."""
        return self._walk.reachable


def _share_needed(area: float) -> float:
    """How much of the bare walkable floor must stay in reach: in small rooms one turns round on less."""
    return REACHABLE if area > 12 else 0.25 if area > 4 else 0.1


def straight_walls(outline: Array) -> list[Wall]:
    """The sides of a room that run along an axis."""
    walls = []
    for start, end in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        dx, dy = np.round(end - start, 4)
        if (dx == 0) == (dy == 0):
            continue
        # The room lies to the left of a side.
        quarter = {(1, 0): 1, (0, 1): 2, (-1, 0): 3, (0, -1): 0}[int(np.sign(dx)), int(np.sign(dy))]
        walls.append(Wall((float(start[0]), float(start[1])), float(abs(dx) + abs(dy)), quarter))
    return walls


def rectangles(local: Rectangle, spots: Spots) -> Array:
    """(n, 4) a rectangle of the group's frame, at each spot."""
    x0, y0, x1, y1 = local
    right, front = RIGHT[spots.quarters], FRONT[spots.quarters]
    one = spots.origins + x0 * right + y0 * front
    other = spots.origins + x1 * right + y1 * front
    return np.concatenate([np.minimum(one, other), np.maximum(one, other)], axis=1)


def _settled(part: Part, quarter: int, origin: Array) -> Placed:
    x, y = origin + part.x * RIGHT[quarter] + part.y * FRONT[quarter]
    heading = (quarter * np.pi / 2 + part.turn) % (2 * np.pi)
    stands = part.z < 0.05 and part.model.size[2] > FLAT
    return Placed(part.model, round(float(x), 4), round(float(y), 4), part.z, heading, stands)


def _hit(floor: Array, low: float, high: float, solid: Array) -> NDArray[np.bool_]:
    """(n,) whether rectangles with these heights meet any of the boxes (m, 6)."""
    level = solid[(solid[:, 2] < high - 1e-4) & (solid[:, 5] > low + 1e-4)]
    met: NDArray[np.bool_] = np.logical_or.reduce(overlap(floor, level[:, [0, 1, 3, 4]]), axis=1)
    return met
