"""Programs of rooms without a ceiling: terraces, balconies and gardens. Walls exist only where the house is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from itinera.hearth.furniture import outdoor
from itinera.hearth.furniture.groups import group, single_object
from itinera.hearth.furniture.interior import FurnitureGroup, Interior, Part, PlacedModel, PlacementPoses
from itinera.hearth.furniture.model import FurnitureKind
from itinera.hearth.furniture.placement import as_ordered, no_preference, prefer_center, prefer_corner
from itinera.hearth.geometry.shapes import rounded_cos_sin

HEDGE = 1.6  # metres, length of a piece of hedge
MAX_HEDGES = 4
GARDEN_STEP = 0.4  # metres between the poses tried in a garden


def terrace(room: Interior) -> None:
    """A table with chairs and often a parasol, loungers, a grill, planters along the sides."""
    if room.area > 7:
        room.place(
            _table_sets(room, (6, 4, 2) if room.area > 18 else (4, 2)), prefer_center(room), poses=_anywhere(room)
        )
    else:
        room.place(_table_sets(room, (2,)), no_preference(room), poses=_anywhere(room))
    if room.area > 14:
        _add_loungers(room)
    if room.chance(0.6):
        _along_house(room, outdoor.GRILL, front=0.6)
    if room.chance(0.4):
        _along_house(room, outdoor.GARDEN_BENCH, front=0.6)
    _add_planters(room, 1 + int(room.area / 9))


def balcony(room: Interior) -> None:
    """A small table with two chairs or a lounger, and planters."""
    if not room.place(_table_sets(room, (2,)), no_preference(room), poses=_anywhere(room)):
        chair = single_object(room.make(outdoor.GARDEN_CHAIR), front=0.3)
        room.place([chair], no_preference(room))
    if room.area > 8 and room.chance(0.5):
        _along_house(room, outdoor.LOUNGER, front=0.3)
    _add_planters(room, 1 + int(room.area / 4))


def garden(room: Interior) -> None:
    """Hedges at the border, trees, bushes and flower beds, a shed, a bench, water, and play equipment."""
    if room.area > 30 and room.chance(0.5):
        _in_corner(room, outdoor.SHED, 0.7)
    if room.area > 14 and room.chance(0.6):
        _in_the_open(room, outdoor.POND if room.chance(0.5) else outdoor.FOUNTAIN, 0.5)
    for kind in _play_equipment(room):
        _in_the_open(room, kind, 0.6)
    for _ in range(min(5, 1 + int(room.area / 24))):
        _in_the_open(room, outdoor.TREE, 0.2)
    _add_hedges(room)
    for _ in range(1 + int(room.area > 20)):
        _at_border(room, outdoor.GARDEN_BENCH if room.chance(0.6) else outdoor.FLOWER_BED, 0.5)
        _at_border(room, outdoor.FLOWER_BED, 0.3)
    for _ in range(min(5, 1 + int(room.area / 16))):
        _at_border(room, outdoor.BUSH, 0.1)
    extras = (outdoor.BIRD_BATH, outdoor.FIRE_PIT, outdoor.DOGHOUSE, outdoor.WHEELBARROW, outdoor.GRILL)
    for _ in range(int(room.area > 12) + int(room.area > 40)):
        _at_border(room, room.pick(extras), 0.4)


def _play_equipment(room: Interior) -> list[FurnitureKind]:
    """In some gardens, what children play with."""
    if room.area < 25 or not room.chance(0.45):
        return []
    kinds = (outdoor.SWING, outdoor.SLIDE, outdoor.SANDBOX, outdoor.TRAMPOLINE)
    first = int(room.rng.integers(len(kinds)))
    return [kinds[(first + k) % len(kinds)] for k in range(1 + int(room.area > 60))]


def _table_sets(room: Interior, seats: tuple[int, ...]) -> Iterator[FurnitureGroup]:
    """A garden table with this many chairs around it, then with fewer."""
    chair = room.make(outdoor.GARDEN_CHAIR)
    shaded = room.area > 10 and room.chance(0.55)
    for count in seats:
        table = room.make(
            outdoor.long_garden_table(1.6) if count == 6 else outdoor.garden_table(1.0 if count == 4 else 0.7)
        )
        parts = _chairs_around(table.size[0], table.size[1], chair.size[1], count)
        middle = round(max(-y for _, y, _ in parts) + chair.size[1] / 2 + 0.02, 2)
        placed = [Part(table, 0.0, middle), *(Part(chair, x, round(middle + y, 3), turn=turn) for x, y, turn in parts)]
        if shaded and count > 2:
            placed.append(Part(room.make(outdoor.PARASOL), 0.0, middle))
        for free in (0.5, 0.25, 0.05):
            yield group(placed, front=free, sides=free, back=free)


def _chairs_around(wide: float, deep: float, chair: float, count: int) -> list[tuple[float, float, float]]:
    """Position relative to the table and turn of each chair."""
    if count == 6:
        away = deep / 2 + chair / 2 - 0.12
        return [(x, side * away, np.pi if side > 0 else 0.0) for side in (-1, 1) for x in (-0.53, 0.0, 0.53)]
    away = wide / 2 + chair / 2 - 0.1
    found = []
    for k in range(count):
        cos, sin = rounded_cos_sin(2 * np.pi * k / count)
        found.append((round(-sin * away, 3), round(-cos * away, 3), -2 * np.pi * k / count))
    return found


def _anywhere(room: Interior) -> Callable[[FurnitureGroup], PlacementPoses]:
    step = 0.2 if room.area < 40 else GARDEN_STEP
    return lambda one: room.floor_poses(one, step=step)


def _add_loungers(room: Interior) -> None:
    """Add two equal loungers side by side, at the house if possible."""
    lounger = room.make(outdoor.LOUNGER)
    apart = round(lounger.size[0] / 2 + 0.2, 2)
    pair = [Part(lounger, x, lounger.size[1] / 2) for x in (-apart, apart)]
    tried = [group(pair, front=0.4), single_object(lounger, front=0.4)]
    if not room.place(tried, no_preference(room)):
        room.place(tried, no_preference(room), poses=_anywhere(room))


def _add_planters(room: Interior, count: int) -> None:
    """Add equal planters at the sides."""
    planter = room.make(outdoor.PLANTER)
    for _ in range(min(count, 4)):
        room.place([single_object(planter, front=0.05)], prefer_corner(room), poses=room.edge_poses)


def _add_hedges(room: Interior) -> None:
    """Add pieces of hedge along the sides where no house is."""
    hedge = room.make(outdoor.hedge(HEDGE))
    for _ in range(min(MAX_HEDGES, 1 + int(room.area / 16))):
        if not room.place([single_object(hedge, front=0.1)], as_ordered, poses=lambda one: _border_poses(room, one)):
            return


def _border_poses(room: Interior, one: FurnitureGroup) -> PlacementPoses:
    """Poses along the sides where no house is, those near corners first."""
    poses = room.edge_poses(one)
    along = [(poses.quarters == wall.quarter) & _beside(poses, wall.start, wall.quarter) for wall in room.walls]
    free = ~np.logical_or.reduce([np.zeros(len(poses.quarters), dtype=bool), *along])
    return PlacementPoses(poses.quarters[free], poses.origins[free], poses.corner[free], poses.corner[free])


def _beside(
    poses: PlacementPoses, start: tuple[float, float], quarter: int
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """(n,) whether poses have their backs to the line of a wall."""
    axis = 0 if quarter % 2 == 0 else 1
    near: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.abs(poses.origins[:, axis] - start[axis]) < 0.2
    return near


def _at_border(room: Interior, kind: FurnitureKind, front: float) -> list[PlacedModel]:
    return room.place([single_object(room.make(kind), front=front)], no_preference(room), poses=room.edge_poses)


def _along_house(room: Interior, kind: FurnitureKind, front: float) -> list[PlacedModel]:
    return room.place([single_object(room.make(kind), front=front)], no_preference(room))


def _in_corner(room: Interior, kind: FurnitureKind, front: float) -> list[PlacedModel]:
    return room.place([single_object(room.make(kind), front=front)], prefer_corner(room), poses=room.edge_poses)


def _in_the_open(room: Interior, kind: FurnitureKind, free: float) -> list[PlacedModel]:
    model = room.make(kind)
    alone = group([Part(model, 0.0, model.size[1] / 2)], front=free, sides=free, back=free)
    return room.place([alone], no_preference(room), poses=_anywhere(room))
