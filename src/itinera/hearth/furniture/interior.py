"""A room while it is being furnished: placed objects, clearances, and poses for the next object.

Objects come in groups (a bed with its nightstands) in a frame of their own: y = 0 along their back, x = 0 in its
middle, facing +y. Many poses of a group are tested at once; the best one that fits and leaves the room walkable is
chosen.
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
    OUTDOOR,
    RUG_TOP,
    clearance_boxes,
    half_size,
    inward_direction,
    leaf_boxes,
    stair_boxes,
    window_box,
)
from itinera.hearth.furniture.model import FurnitureKind, Model, make_model
from itinera.hearth.furniture.walkable_floor import CELL, REACH, WalkableFloor
from itinera.hearth.geometry.polygons import area
from itinera.hearth.geometry.rectangles import Rectangle, contains, rectangles_inside, rectangles_overlap
from itinera.hearth.geometry.solids import HouseObject
from itinera.hearth.layout.plan import FloorPlan, PlannedRoom
from itinera.hearth.palette import FABRICS, HouseScheme, draw
from itinera.worlds import Array

T = TypeVar("T")

OFF_EDGE = 0.11  # metres from the side of an outdoor room, which may have a fence or hedge
OFF_FLOOR, OFF_WALL, OFF_TOP, OFF_RUG = 0.006, 0.02, 0.003, 0.003  # gaps, so that no faces of two objects coincide
HEAD_HEIGHT = 1.6  # metres; anything that starts above this is no obstacle
HEADROOM = 0.005  # metres between objects higher than that and whatever hangs over them
SKIRT = 0.03  # metres between flat objects and walls, for the skirting boards
FLAT_HEIGHT = 0.03  # metres; anything no higher than this can be walked over
BEHIND_WALL = 0.45  # metres beyond the side of an outdoor room where an indoor room begins, at the latest
REPEAT = 0.01  # factor on the frequency of a color that another object of the same name has in the same room
TRIES = 8  # poses checked for walkability
MIN_REACHABLE = 0.42  # fraction of the bare room's walkable floor that must stay reachable from the doors

FRONT = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])  # directions of quarter turns
RIGHT = np.roll(FRONT, 1, axis=0)


@dataclass(frozen=True, eq=False)
class Part:
    """A model within a group."""

    model: Model
    x: float = 0.0
    y: float = 0.0
    z: float = OFF_FLOOR  # lowest point above the floor
    turn: float = 0.0  # radians, relative to the group's heading


@dataclass(frozen=True, eq=False)
class FurnitureGroup:
    """Objects that belong together, and the floor that they and their users need."""

    parts: tuple[Part, ...]
    floor: Rectangle  # the floor they cover
    access: Rectangle  # the floor that must be free to use them; may overlap with the access of others
    high: float  # height of the highest object


@dataclass(frozen=True, eq=False)
class PlacementPoses:
    """Poses to try for a group: n positions of its origin, and its headings."""

    quarters: NDArray[np.intp]  # (n,) quarter turns from +x
    origins: Array  # (n, 2)
    corner: Array  # (n,) distance of the group from the nearer end of its wall
    middle: Array  # (n,) distance of its middle from the middle of the wall (or room)


@dataclass(frozen=True, eq=False)
class PlacedModel:
    """A placed model."""

    model: Model
    x: float
    y: float
    z: float  # lowest point above the room's floor
    heading: float
    blocks: bool

    @cached_property
    def box(self) -> tuple[float, float, float, float, float, float]:
        """Low and high corner of its axis-aligned bounding box."""
        half = half_size(self.model.size[0], self.model.size[1], self.heading)
        x, y, z = self.x, self.y, self.z
        return (x - half[0], y - half[1], z, x + half[0], y + half[1], z + self.model.size[2])


@dataclass(frozen=True)
class StraightWall:
    """An axis-aligned section of a room's outline, seen from inside."""

    start: tuple[float, float]
    length: float
    quarter: int  # quarter turns from +x to its direction: into the room


@dataclass(frozen=True, eq=False)
class RoomState:
    """What `Interior.undo` returns to."""

    placed: int
    access: int
    floor: NDArray[np.bool_]
    descriptions: dict[str, int]


Preference = Callable[[PlacementPoses], Array]  # lower is better


class Interior:
    """A room, the objects in it, and its clearances."""

    def __init__(
        self,
        plan: FloorPlan,
        room: PlannedRoom,
        fixtures: Sequence[HouseObject],
        rng: np.random.Generator,
        scheme: HouseScheme,
        description_counts: dict[str, int],
    ) -> None:
        self.room = room
        self.rng = rng
        self.scheme = scheme
        self.outdoor = room.kind in OUTDOOR
        self.house_kinds = frozenset(other.kind for other in plan.rooms)
        fabric = draw(rng, FABRICS, scheme.color_weights(FABRICS, "fabric", ()))
        self._matching = (scheme.wood, fabric, scheme.accents[int(rng.integers(len(scheme.accents)))])
        self.outline = np.asarray(room.outline, dtype=np.float64)
        self.area = round(area(self.outline), 3)
        self.edges = find_straight_walls(self.outline)
        self.walls = find_house_walls(plan, room, self.edges) if self.outdoor else self.edges
        self.passages = [p for p in plan.passages if room.index in p.rooms]
        self.windows = [w for w in plan.windows if w.room == room.index]
        self.placed: list[PlacedModel] = []
        self.description_counts = description_counts  # how often each description occurs in the house
        # Windows first, in their order, so that a curtain can ignore its own; see `intersects`.
        panes = [window_box(window, room.floor) for window in self.windows]
        self._keep = np.array([*panes, *clearance_boxes(plan, room, fixtures)], dtype=np.float64).reshape(-1, 6)
        self._access: list[Rectangle] = []
        doors = [p.center + inward_direction(p, room.index) * (p.depth / 2 + REACH + CELL) for p in self.passages]
        built_in = np.array([*stair_boxes(plan, room), *leaf_boxes(plan, room)]).reshape(-1, 6)
        self._walk = WalkableFloor(self.outline, doors, built_in, _reachable_share(self.area))

    def make(self, kind: FurnitureKind) -> Model:
        """A model of this kind; its color suits house and room, and distinguishes it from others of its name."""
        material = draw(self.rng, kind.materials, self.scheme.material_weights(kind.materials))
        if material == "glass":
            return make_model(kind, "", self.rng, material=material)
        weights = self.scheme.color_weights(kind.colors, material, self._matching)
        color = draw(
            self.rng, kind.colors, [w * self._novelty(kind.name, c) for w, c in zip(weights, kind.colors, strict=True)]
        )
        return make_model(kind, color, self.rng, material=material, tone=self.scheme.tones.get(color))

    def _novelty(self, name: str, color: str) -> float:
        """A factor that makes a color rare if this room, or the house, has it already on objects of this name."""
        here = sum(one.model.name == name and one.model.color == color for one in self.placed)
        return REPEAT**here / (1.0 + 0.5 * self.description_counts.get(f"{color} {name}", 0))

    def chance(self, share: float) -> bool:
        """True with this probability."""
        return bool(self.rng.random() < share)

    def pick(self, choices: Sequence[T]) -> T:
        """A random element."""
        return choices[int(self.rng.integers(len(choices)))]

    def mark(self) -> RoomState:
        """The present state of the room, for `undo`."""
        return RoomState(len(self.placed), len(self._access), self._walk.state, dict(self.description_counts))

    def undo(self, state: RoomState) -> None:
        """Remove everything placed since this state."""
        del self.placed[state.placed :], self._access[state.access :]
        self._walk.state = state.floor
        self.description_counts = dict(state.descriptions)

    def wall_poses(self, group: FurnitureGroup, *, off: float = OFF_WALL) -> PlacementPoses:
        """All poses with the group's back to a wall, at most 10 cm apart."""
        return self._poses_along(self.walls, group, off)

    def edge_poses(self, group: FurnitureGroup) -> PlacementPoses:
        """All poses with the group's back to a side of the room, a little off it, whether or not there is a wall."""
        return self._poses_along(self.edges, group, OFF_EDGE)

    @staticmethod
    def _poses_along(walls: Sequence[StraightWall], group: FurnitureGroup, off: float) -> PlacementPoses:
        x0, _, x1, _ = group.floor
        quarters, origins, corner, middle = [], [], [], []
        for wall in walls:
            first, last = 0.02 - x0, wall.length - x1 - 0.02
            if last < first:
                continue
            steps = np.round(np.append(np.arange(first, last, 0.1), last), 2)
            # Seen from inside the room, the wall's start is on the left.
            origins.append(np.array(wall.start) + steps[:, None] * RIGHT[wall.quarter] + off * FRONT[wall.quarter])
            quarters.append(np.full(len(steps), wall.quarter))
            corner.append(np.minimum(steps - first, last - steps))
            middle.append(np.abs(steps - wall.length / 2))
        if not origins:
            return PlacementPoses(np.zeros(0, np.intp), np.zeros((0, 2)), np.zeros(0), np.zeros(0))
        return PlacementPoses(*(np.concatenate(column) for column in (quarters, origins, corner, middle)))

    def free_wall_runs(self, depth: float, high: float, front: float) -> list[tuple[StraightWall, float, float]]:
        """Free stretches of wall, (wall, start, length), longest first: so deep and high, with free floor in front."""
        found = []
        strip = FurnitureGroup((), (-0.05, 0.0, 0.05, depth), (-0.05, 0.0, 0.05, depth + front), high)
        for wall in self.walls:
            steps = np.round(np.arange(0.07, wall.length - 0.06, 0.1), 2)
            if not len(steps):
                continue
            origins = np.array(wall.start) + steps[:, None] * RIGHT[wall.quarter] + OFF_WALL * FRONT[wall.quarter]
            nothing = np.zeros(len(steps))
            good = self.fits(strip, PlacementPoses(np.full(len(steps), wall.quarter), origins, nothing, nothing))
            labels, count = ndimage.label(good)
            for label in range(1, count + 1):
                where = steps[labels == label]
                found.append((wall, round(float(where[0]) - 0.05, 2), round(0.1 * len(where), 2)))
        return sorted(found, key=lambda run: -run[2])

    def floor_poses(self, group: FurnitureGroup, *, step: float = 0.2) -> PlacementPoses:
        """Poses anywhere on the floor, with four headings."""
        low, high = self.outline.min(axis=0), self.outline.max(axis=0)
        xs, ys = (np.arange(np.round(low[k], 1), high[k], step) for k in range(2))
        grid = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1).reshape(-1, 2)
        center = self.center
        quarters = np.repeat(np.arange(4), len(grid))
        x0, y0, x1, y1 = group.floor
        shift = (x0 + x1) / 2 * RIGHT[quarters] + (y0 + y1) / 2 * FRONT[quarters]
        middles = np.tile(grid, (4, 1))
        away = np.sqrt(((middles - center) ** 2).sum(axis=1))
        return PlacementPoses(quarters, np.round(middles - shift, 2), np.zeros(len(middles)), away)

    @property
    def center(self) -> Array:
        """The center of the walkable floor of the bare room, or of the outline if there is none."""
        return self._walk.middle

    def place(
        self,
        groups: Iterable[FurnitureGroup],
        prefer: Preference,
        *,
        poses: Callable[[FurnitureGroup], PlacementPoses] | None = None,
    ) -> list[PlacedModel]:
        """Place the first of these groups that fits anywhere, at its preferred pose; returns [] if none fits."""
        for group in groups:
            found = self._best_pose(group, prefer, (poses or self.wall_poses)(group))
            if found is not None:
                return self._place_group(group, *found)
        return []

    def _best_pose(self, group: FurnitureGroup, prefer: Preference, poses: PlacementPoses) -> tuple[int, Array] | None:
        good = self.fits(group, poses)
        if not good.any():
            return None
        scores = np.round(prefer(poses) + 1e-3 * self.rng.random(len(good)), 6)
        order = np.argsort(np.where(good, scores, np.inf), kind="stable")[: int(good.sum())]
        for _ in range(TRIES):
            if not len(order):
                break
            quarter, origin = int(poses.quarters[order[0]]), poses.origins[order[0]]
            if self._walk.stays_open(self._obstacles(group, quarter, origin)):
                return quarter, origin
            # Poses close by would block the room as well.
            near = np.abs(poses.origins[order] - origin).max(axis=1) < 0.45
            order = order[~(near & (poses.quarters[order] == quarter))]
        return None

    def fits(self, group: FurnitureGroup, poses: PlacementPoses) -> NDArray[np.bool_]:
        """(n,) whether the group fits: in the room, clear of other objects and their access, its own access free."""
        floor, access = place_rectangle(group.floor, poses), place_rectangle(group.access, poses)
        shared = np.array(self._access, dtype=np.float64).reshape(-1, 4)
        high = group.high + (HEADROOM if group.high > HEAD_HEIGHT else 0.0)
        good = ~(
            _intersect(floor, RUG_TOP, high, self._solid)
            | _intersect(access, RUG_TOP, HEAD_HEIGHT, self._boxes)
            | rectangles_overlap(floor, shared).any(axis=1)
        )
        good[good] = rectangles_inside(self.outline, access[good])
        return good

    @property
    def _boxes(self) -> Array:
        """(n, 6) the boxes of all placed objects."""
        return np.array([one.box for one in self.placed]).reshape(-1, 6)

    @property
    def _solid(self) -> Array:
        """(n, 6) everything that a new object must not intersect."""
        return np.concatenate([self._keep, self._boxes])

    def _obstacles(self, group: FurnitureGroup, quarter: int, origin: Array) -> Array:
        boxes = [_place_part(part, quarter, origin).box for part in group.parts]
        return np.array([box for box in boxes if box[2] < HEAD_HEIGHT and box[5] > FLAT_HEIGHT]).reshape(-1, 6)

    def _place_group(self, group: FurnitureGroup, quarter: int, origin: Array) -> list[PlacedModel]:
        self._walk.block(self._obstacles(group, quarter, origin))
        here = PlacementPoses(np.array([quarter]), origin[None], np.zeros(1), np.zeros(1))
        if group.access != group.floor:
            x0, y0, x1, y1 = (float(v) for v in place_rectangle(group.access, here)[0])
            self._access.append((x0, y0, x1, y1))
        return [
            self.add(one) for one in (_place_part(part, quarter, origin) for part in group.parts) if self._can_lie(one)
        ]

    def _can_lie(self, one: PlacedModel) -> bool:
        """Whether an object may lie there: flat objects must not overlap."""
        if one.model.size[2] > FLAT_HEIGHT:
            return True
        flat = np.array([p.box for p in self.placed if p.model.size[2] <= FLAT_HEIGHT]).reshape(-1, 6)
        x0, y0, _, x1, y1, _ = one.box
        rectangle = np.array([[x0, y0, x1, y1]])
        return (
            self.contains((x0 - SKIRT, y0 - SKIRT, x1 + SKIRT, y1 + SKIRT))
            and not rectangles_overlap(rectangle, flat[:, [0, 1, 3, 4]]).any()
        )

    def add(self, one: PlacedModel) -> PlacedModel:
        """Add an object exactly here, without checks."""
        self.placed.append(one)
        description = f"{one.model.color} {one.model.name}"
        self.description_counts[description] = self.description_counts.get(description, 0) + 1
        return one

    def add_if_passable(self, one: PlacedModel) -> bool:
        """Add an object exactly here if the room stays walkable; returns whether it does."""
        box = np.array([one.box])
        if not self._walk.stays_open(box):
            return False
        self._walk.block(box)
        self.add(one)
        return True

    def intersects(self, box: Sequence[float], *, beside: int = -1) -> bool:
        """Whether a box intersects an object or a clearance; the window `beside` is ignored."""
        keep = self._keep if beside < 0 else np.delete(self._keep, beside, axis=0)
        solid = np.concatenate([keep, self._boxes])
        return bool(_intersect(np.array([[box[0], box[1], box[3], box[4]]]), box[2], box[5], solid)[0])

    def contains(self, rectangle: Rectangle) -> bool:
        """Whether a rectangle lies inside the room."""
        return bool(rectangles_inside(self.outline, np.array([rectangle]))[0])

    def hang(self, model: Model, low: float, prefer: Preference, *, off: float = 0.004) -> PlacedModel | None:
        """Hang an object on a wall with its lowest point at this height; None if no wall is free, or outdoors."""
        if self.outdoor:
            return None
        width, depth, height = model.size
        around = (-width / 2 - 0.06, 0.0, width / 2 + 0.06, depth)
        group = FurnitureGroup((Part(model, 0, depth / 2, low),), around, around, low + height)
        poses = self.wall_poses(group, off=off)
        if not len(poses.quarters):
            return None
        floor = place_rectangle(group.floor, poses)
        good = rectangles_inside(self.outline, floor) & ~_intersect(floor, low - 0.05, low + height + 0.05, self._solid)
        if not good.any():
            return None
        scores = np.round(prefer(poses) + 1e-3 * self.rng.random(len(good)), 6)
        k = int(np.argsort(np.where(good, scores, np.inf), kind="stable")[0])
        return self.add(_place_part(group.parts[0], int(poses.quarters[k]), poses.origins[k]))

    def hang_from_ceiling(self, model: Model) -> PlacedModel | None:
        """Hang an object from the ceiling, as close to the center as anything permits; None if nothing does."""
        low = round(self.room.height - 0.004 - model.size[2], 4)
        half_width, half_depth = model.size[0] / 2, model.size[1] / 2
        around = (-half_width - 0.1, -half_depth - 0.1, half_width + 0.1, half_depth + 0.1)
        group = FurnitureGroup((Part(model, 0.0, 0.0, low),), around, around, self.room.height)
        poses = self.floor_poses(group, step=0.1)
        floor = place_rectangle(around, poses)
        good = rectangles_inside(self.outline, floor) & ~_intersect(floor, low, self.room.height, self._solid)
        if not good.any():
            return None
        k = int(np.argmin(np.where(good, np.round(poses.middle, 6), np.inf)))
        return self.add(_place_part(group.parts[0], int(poses.quarters[k]), poses.origins[k]))

    def lay(self, flat: Model, x: float, y: float, heading: float) -> bool:
        """Lay a flat object on the floor, if it fits in the room and overlaps no other; returns whether it does."""
        one = PlacedModel(flat, round(x, 2), round(y, 2), OFF_RUG, heading, blocks=False)
        if self._can_lie(one):
            self.add(one)
            return True
        return False

    @property
    def reachable(self) -> float:
        """Fraction of the bare room's walkable floor that is reachable from every door; 0 if a door is cut off."""
        return self._walk.reachable


def _reachable_share(area: float) -> float:
    """The fraction of the bare walkable floor that must stay reachable: less in small rooms."""
    return MIN_REACHABLE if area > 12 else 0.25 if area > 4 else 0.1


def find_straight_walls(outline: Array) -> list[StraightWall]:
    """The axis-aligned sides of a room."""
    walls = []
    for start, end in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        dx, dy = np.round(end - start, 4)
        if (dx == 0) == (dy == 0):
            continue
        # The room lies to the left of a side.
        quarter = {(1, 0): 1, (0, 1): 2, (-1, 0): 3, (0, -1): 0}[int(np.sign(dx)), int(np.sign(dy))]
        walls.append(StraightWall((float(start[0]), float(start[1])), float(abs(dx) + abs(dy)), quarter))
    return walls


def find_house_walls(plan: FloorPlan, room: PlannedRoom, edges: Sequence[StraightWall]) -> list[StraightWall]:
    """The stretches of an outdoor room's sides along which an indoor room of its storey lies."""
    indoor = [r.outline for r in plan.rooms if r.kind not in OUTDOOR and r.storey == room.storey]
    walls = []
    for edge in edges:
        steps = np.round(np.arange(0.05, edge.length, 0.1), 2)
        along = np.array(edge.start) + steps[:, None] * RIGHT[edge.quarter]
        beyond = along - BEHIND_WALL * FRONT[edge.quarter]
        solid = np.logical_or.reduce([contains(np.asarray(outline), beyond) for outline in indoor] or [steps < 0])
        labels, count = ndimage.label(solid)
        for label in range(1, count + 1):
            where = steps[labels == label]
            start = np.round(np.array(edge.start) + (where[0] - 0.05) * RIGHT[edge.quarter], 4)
            walls.append(StraightWall((float(start[0]), float(start[1])), round(0.1 * len(where), 2), edge.quarter))
    return walls


def place_rectangle(local: Rectangle, poses: PlacementPoses) -> Array:
    """(n, 4) a rectangle of the group's frame, at each pose."""
    x0, y0, x1, y1 = local
    right, front = RIGHT[poses.quarters], FRONT[poses.quarters]
    one = poses.origins + x0 * right + y0 * front
    other = poses.origins + x1 * right + y1 * front
    return np.concatenate([np.minimum(one, other), np.maximum(one, other)], axis=1)


def _place_part(part: Part, quarter: int, origin: Array) -> PlacedModel:
    x, y = origin + part.x * RIGHT[quarter] + part.y * FRONT[quarter]
    heading = (quarter * np.pi / 2 + part.turn) % (2 * np.pi)
    stands = part.z < 0.05 and part.model.size[2] > FLAT_HEIGHT
    return PlacedModel(part.model, round(float(x), 4), round(float(y), 4), part.z, heading, stands)


def _intersect(floor: Array, low: float, high: float, solid: Array) -> NDArray[np.bool_]:
    """(n,) whether rectangles with these heights intersect any of the boxes (m, 6)."""
    level = solid[(solid[:, 2] < high - 1e-4) & (solid[:, 5] > low + 1e-4)]
    met: NDArray[np.bool_] = np.logical_or.reduce(rectangles_overlap(floor, level[:, [0, 1, 3, 4]]), axis=1)
    return met
