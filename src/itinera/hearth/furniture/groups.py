"""Furniture groups: a bed with its nightstands, chairs around a table, a sofa with a coffee table.

Each function yields the groups to try, the largest first. Frame as in `interior.py`: back along y = 0, facing +y.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from itinera.hearth.furniture import appliances, bathroom_fixtures, decor, seating, storage, tables
from itinera.hearth.furniture.clearances import half_size
from itinera.hearth.furniture.interior import OFF_FLOOR, OFF_RUG, OFF_TOP, FurnitureGroup, Interior, Part
from itinera.hearth.furniture.model import FurnitureKind, Model
from itinera.hearth.geometry.shapes import rounded_cos_sin
from itinera.hearth.palette import Paint
from itinera.worlds import Array

BESIDE = 0.03  # metres between neighbors
HANGING_HEIGHT = 1.1  # metres; anything higher hangs on the wall


def group(parts: Sequence[Part], *, front: float = 0.6, sides: float = 0.0, back: float = 0.0) -> FurnitureGroup:
    """The group of these parts; its floor is their bounding rectangle, with free floor in front and beside it."""
    standing = [part for part in parts if part.z == OFF_FLOOR or part.z > HANGING_HEIGHT]
    corners: Array = np.array([corner for part in standing for corner in _corners(part)])
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    # Objects on top of others may rise in front of a window.
    high = max(part.z + part.model.size[2] for part in standing)
    floor = (float(x0) - BESIDE, float(min(y0, 0.0)), float(x1) + BESIDE, float(y1))
    access = (floor[0] - sides, floor[1] - back, floor[2] + sides, floor[3] + front)
    return FurnitureGroup(tuple(parts), floor, access, high)


def single_object(model: Model, *, front: float = 0.6, sides: float = 0.0, turn: float = 0.0) -> FurnitureGroup:
    """A group of one object, its back to the wall."""
    half = half_extent(model, turn)[1]
    return group([Part(model, 0.0, round(half, 3), turn=turn)], front=front, sides=sides)


def place_on(base: Part, model: Model, x: float = 0.0, y: float = 0.0, turn: float = 0.0) -> Part:
    """The object on top of a part, with this offset from its center."""
    return Part(model, base.x + x, base.y + y, round(base.z + base.model.top + OFF_TOP, 4), turn)


def half_extent(model: Model, turn: float) -> tuple[float, float]:
    """Half the extent of a model along the group's x and y."""
    return half_size(model.size[0], model.size[1], turn + np.pi / 2)


def _corners(part: Part) -> list[tuple[float, float]]:
    across, along = half_extent(part.model, part.turn)
    return [(part.x - across, part.y - along), (part.x + across, part.y + along)]


def beds(room: Interior, kinds: Sequence[FurnitureKind]) -> Iterator[FurnitureGroup]:
    """A bed of one of these kinds with two nightstands, with one, or alone."""
    stand, lamp = room.make(storage.NIGHTSTAND), room.make(decor.TABLE_LAMP)
    pillow = room.make(seating.PILLOW)
    for kind in kinds:
        bed = _bed_parts(room.make(kind), pillow)
        beside = bed[0].model.size[0] / 2 + 0.05 + stand.size[0] / 2
        left, right = (Part(stand, side * round(beside, 3), stand.size[1] / 2 + 0.01) for side in (-1, 1))
        yield group([*bed, left, place_on(left, lamp), right, place_on(right, lamp)], front=0.5)
        yield group([*bed, left, place_on(left, lamp)], front=0.5)
        yield group([*bed, right, place_on(right, lamp)], front=0.5)
        yield group(bed, front=0.3)


def beds_along_wall(room: Interior) -> Iterator[FurnitureGroup]:
    """A single bed with its long side at a wall, for rooms without a wall free for a headboard."""
    bed, pillow = room.make(seating.LOW_BED), room.make(seating.PILLOW)
    for turn in (np.pi / 2, -np.pi / 2):
        base = Part(bed, 0.0, bed.size[0] / 2, turn=turn)
        head = round((bed.size[1] / 2 - 0.3) * (1 if turn > 0 else -1), 3)
        yield group([base, place_on(base, pillow, head, turn=turn)], front=0.5)


def _bed_parts(bed: Model, pillow: Model) -> list[Part]:
    base = Part(bed, 0.0, bed.size[1] / 2)
    head = -bed.size[1] / 2 + 0.3
    across = (0.0,) if bed.size[0] < 1.3 else (-bed.size[0] / 4, bed.size[0] / 4)
    return [base, *(place_on(base, pillow, round(x, 3), round(head, 3)) for x in across)]


def dining(room: Interior, seats: Sequence[int]) -> Iterator[FurnitureGroup]:
    """A dining table with this many chairs around it, and an object on it."""
    chair, vase = room.make(seating.CHAIR), room.make(room.pick((decor.VASE, appliances.FRUIT_BOWL, decor.CANDLES)))
    rounded = room.chance(0.35)
    for count in seats:
        if count <= 4 and rounded:
            parts = _round_table(room.make(tables.round_dining_table(1.0 if count == 4 else 0.8)), chair, count)
        else:
            wide, deep = {2: (0.8, 0.8), 4: (1.32, 0.9), 6: (1.8, 0.94), 8: (2.2, 1.0), 10: (2.8, 1.1)}[count]
            if count == 4 and room.chance(0.4):
                wide = deep = 1.1
            parts = _long_table(room.make(tables.dining_table(wide, deep)), chair, count)
        parts.append(place_on(parts[0], vase))
        for free in (0.55, 0.3):
            yield group(parts, front=free, sides=free, back=free)


def _round_table(table: Model, chair: Model, count: int) -> list[Part]:
    """The table with chairs around it, their fronts under it."""
    away = table.size[0] / 2 + chair.size[1] / 2 - 0.16
    middle = round(away + chair.size[1] / 2 + 0.02, 2)
    parts = [Part(table, 0.0, middle)]
    for k in range(count):
        turn = 2 * np.pi * k / count
        cos, sin = rounded_cos_sin(turn)
        parts.append(Part(chair, round(-sin * away, 2), round(middle - cos * away, 2), turn=-turn))
    return parts


def _long_table(table: Model, chair: Model, count: int) -> list[Part]:
    """The table with chairs along its sides, and at its ends where it is long enough."""
    wide, deep, _ = table.size
    away = chair.size[1] / 2 - 0.16
    middle = round(deep / 2 + away + chair.size[1] / 2 + 0.02, 2)
    ends = 2 if wide == deep or count in (6, 8, 10) else 0
    each = (count - ends) // 2
    parts = [Part(table, 0.0, middle)]
    for x in _evenly_spaced(wide - 0.24, each):
        parts.append(Part(chair, x, round(middle - deep / 2 - away, 3)))
        parts.append(Part(chair, x, round(middle + deep / 2 + away, 3), turn=np.pi))
    if ends:
        parts.append(Part(chair, round(wide / 2 + away, 3), middle, turn=np.pi / 2))
        parts.append(Part(chair, round(-wide / 2 - away, 3), middle, turn=-np.pi / 2))
    return parts


def _evenly_spaced(width: float, count: int) -> list[float]:
    """The centers of equal parts of a width."""
    return [round(-width / 2 + width / count * (k + 0.5), 3) for k in range(count)]


def desks(room: Interior) -> Iterator[FurnitureGroup]:
    """A desk at the wall with its chair and equipment."""
    desk = room.make(tables.DESK)
    base = Part(desk, 0.0, desk.size[1] / 2)
    chair = room.make(seating.OFFICE_CHAIR)
    seat = Part(chair, tables.DESK_SEAT, round(desk.size[1] + chair.size[1] / 2 - 0.2, 3), turn=np.pi)
    screen = room.make(room.pick((decor.MONITOR, decor.MONITOR, decor.LAPTOP)))
    top = [place_on(base, screen, tables.DESK_SEAT, round(-desk.size[1] / 2 + 0.14 + screen.size[1] / 2, 3))]
    if room.chance(0.6):
        top.append(place_on(base, room.make(decor.TABLE_LAMP), round(desk.size[0] / 2 - 0.18, 2), -0.12))
    if room.chance(0.5):
        top.append(place_on(base, room.make(decor.BOOKS), 0.22, 0.15))
    yield group([base, seat, *top], front=0.5)
    yield group([base, seat, *top], front=0.2)


def with_objects_on_top(base: Model, *models: Model, front: float = 0.6) -> FurnitureGroup:
    """A piece along the wall with objects spread on its top."""
    part = Part(base, 0.0, base.size[1] / 2)
    spread = _evenly_spaced(base.size[0] - 0.1, max(1, len(models)))
    return group([part, *(place_on(part, model, x) for model, x in zip(models, spread, strict=False))], front=front)


def islands(room: Interior, color: str, stone: Paint) -> Iterator[FurnitureGroup]:
    """A kitchen island in the color and stone of the counters, with bar stools along one side."""
    stool = room.make(seating.BAR_STOOL)
    for wide, deep, count in ((2.2, 1.0, 3), (1.6, 0.9, 2)):
        kind = replace(appliances.island(wide, deep, stone), colors=(color,))
        block = Part(room.make(kind), 0.0, deep / 2)
        stools = [Part(stool, x, round(deep + 0.06, 3), turn=np.pi) for x in _evenly_spaced(wide - 0.2, count)]
        bowl = place_on(block, room.make(appliances.FRUIT_BOWL), 0.3, -0.1)
        yield group([block, *stools, bowl], front=0.8, sides=0.8, back=0.9)


def bars(room: Interior) -> Iterator[FurnitureGroup]:
    """A bar with stools in front and bottles on the wall behind."""
    stool, rack = room.make(seating.BAR_STOOL), room.make(storage.WINE_RACK)
    bottles = room.make(appliances.BOTTLES)
    for wide, count in ((2.4, 4), (1.7, 3), (1.2, 2)):
        counter = Part(room.make(appliances.bar_counter(wide)), 0.0, 0.36 + 0.95 + 0.31)
        stools = [
            Part(stool, x, round(counter.y + 0.31 + 0.08, 3), turn=np.pi) for x in _evenly_spaced(wide - 0.2, count)
        ]
        behind = Part(rack, 0.0, rack.size[1] / 2)
        yield group(
            [behind, counter, *stools, place_on(counter, bottles, round(wide / 4, 2), -0.1)], front=0.7, sides=0.6
        )


def washbasins(room: Interior, kinds: Sequence[FurnitureKind]) -> Iterator[FurnitureGroup]:
    """A sink with a mirror above it, or without."""
    for kind in kinds:
        basin = room.make(kind)
        base = Part(basin, 0.0, basin.size[1] / 2)
        mirror = room.make(room.pick((decor.MIRROR, decor.MIRROR, decor.ROUND_MIRROR, decor.OVAL_MIRROR)))
        above = Part(mirror, 0.0, mirror.size[1] / 2 - 0.014, 1.2)
        yield group([base, above], front=0.6)
    for kind in kinds[-1:]:
        yield single_object(room.make(kind), front=0.6)
        yield single_object(room.make(kind), front=0.45)


def laundry(room: Interior) -> Iterator[FurnitureGroup]:
    """A washing machine and a dryer side by side."""
    washer, dryer = room.make(appliances.WASHING_MACHINE), room.make(appliances.DRYER)
    left = Part(washer, -0.32, washer.size[1] / 2)
    yield group([left, Part(dryer, 0.32, dryer.size[1] / 2)], front=0.7)
    yield single_object(washer, front=0.6)


def tubs(room: Interior) -> Iterator[FurnitureGroup]:
    """A bathtub along the wall, with a mat in front."""
    tub, mat = room.make(bathroom_fixtures.BATHTUB), room.make(bathroom_fixtures.BATH_MAT)
    base = Part(tub, 0.0, tub.size[1] / 2)
    laid = Part(mat, 0.0, round(tub.size[1] + 0.3, 2), OFF_RUG)
    yield group([base, laid], front=0.6)
    yield group([base], front=0.5)
