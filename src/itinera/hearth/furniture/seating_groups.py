"""Seating groups: sofas around a coffee table, sofas that face each other, an armchair with its lamp, a television.

Each function yields the groups to try, the largest first. Frame as in `interior.py`: back along y = 0, facing +y.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from itinera.hearth.furniture import appliances, decor, seating, storage, tables
from itinera.hearth.furniture.groups import group, half_extent, place_on, with_objects_on_top
from itinera.hearth.furniture.interior import OFF_RUG, FurnitureGroup, Interior, Part
from itinera.hearth.furniture.model import FurnitureKind
from itinera.hearth.geometry.shapes import rounded_cos_sin

KNEES = 0.38  # metres between a seat and its coffee table


def sofas(room: Interior, kinds: Sequence[FurnitureKind], *, armchairs: int) -> Iterator[FurnitureGroup]:
    """A sofa with coffee table, rug, armchairs and a side table; then simpler groups, at last a sofa alone."""
    alone: list[FurnitureGroup] = []
    for kind in kinds:
        scene, table = _sofa_and_table(room, kind)
        full = [*scene, *_armchairs(room, table, armchairs)]
        side = Part(room.make(tables.SIDE_TABLE), round(-scene[0].model.size[0] / 2 - 0.3, 2), 0.3)
        yield group([*full, side, place_on(side, room.make(decor.TABLE_LAMP))], front=0.4)
        yield group(full, front=0.4)
        yield group(scene, front=0.5)
        alone.append(group([part for part in scene if part.y <= table.y - 0.5], front=0.6))
    yield from alone


def facing_sofas(room: Interior, kinds: Sequence[FurnitureKind]) -> Iterator[FurnitureGroup]:
    """Two equal sofas with a coffee table between them, or a sofa and two armchairs that face it; free on all sides."""
    for kind in kinds:
        scene, table = _sofa_and_table(room, kind)
        depth = round(2 * table.y, 3)
        sofa = scene[0].model
        carpet = room.make(decor.rug(round(sofa.size[0] + 0.2, 1), round(depth - 1.0, 1)))
        scene = [part for part in scene if part.model.name != "rug"] + [Part(carpet, 0.0, table.y, OFF_RUG)]
        opposite = Part(sofa, 0.0, round(depth - sofa.size[1] / 2, 3), turn=np.pi)
        cushions = [part for part in scene if part.model.name == "cushion"]
        mirrored = [Part(p.model, -p.x, round(depth - p.y, 3), p.z, np.pi) for p in cushions]
        yield group([*scene, opposite, *mirrored], front=0.5, sides=0.5, back=0.5)
        chair = room.make(seating.ARMCHAIR)
        apart = round(half_extent(chair, np.pi)[0] + 0.12, 2)
        beyond = round(table.y + table.model.size[1] / 2 + KNEES + chair.size[1] / 2, 3)
        pair = [Part(chair, x, beyond, turn=np.pi) for x in (-apart, apart)]
        yield group([*scene, *pair], front=0.5, sides=0.4, back=0.5)


def _sofa_and_table(room: Interior, kind: FurnitureKind) -> tuple[list[Part], Part]:
    """A sofa with its cushions, rug and coffee table, and the part that is the coffee table."""
    sofa, table = room.make(kind), room.make(room.pick(tables.COFFEE_TABLES))
    wide, deep, _ = sofa.size
    base = Part(sofa, 0.0, deep / 2)
    # The seats of a corner sofa can be reached from its long arm, so less space is needed.
    before = Part(table, 0.0, round(deep + (0.2 if sofa.shape == "corner" else KNEES) + table.size[1] / 2, 3))
    length = round(before.y + table.size[1] / 2 + 0.3 - deep * 0.6, 1)
    carpet = room.make(decor.rug(round(min(wide + 0.3, 3.2), 1), max(1.4, length)))
    rug = Part(carpet, 0.0, round(deep * 0.6 + carpet.size[1] / 2, 2), OFF_RUG)
    return [base, *_cushions(room, base), rug, before, *_on_coffee_table(room, before)], before


def _cushions(room: Interior, sofa: Part) -> list[Part]:
    wide, deep, _ = sofa.model.size
    cushion = room.make(seating.CUSHION)
    at = 0.46 - deep / 2
    spots = [x for x in (-wide / 2 + 0.42, wide / 2 - 0.42) if room.chance(0.75)]
    return [place_on(sofa, cushion, round(x, 3), round(at, 3)) for x in spots]


def _on_coffee_table(room: Interior, table: Part) -> list[Part]:
    kind = room.pick((decor.BOOKS, decor.VASE, decor.CANDLES, decor.SMALL_PLANT, appliances.FRUIT_BOWL))
    return [place_on(table, room.make(kind))] if room.chance(0.8) else []


def _armchairs(room: Interior, table: Part, count: int) -> list[Part]:
    """Armchairs beside the coffee table, facing it."""
    if count == 0:
        return []
    chair = room.make(seating.ARMCHAIR)
    lean = np.radians(room.pick((0, 0, 15, -15)))
    out = round(max(table.model.size[0] / 2, 0.5) + 0.5 + half_extent(chair, np.pi / 2 + lean)[0], 2)
    right = Part(chair, out, table.y + 0.12, turn=np.pi / 2 + lean)
    left = Part(chair, -out, table.y + 0.12, turn=-np.pi / 2 - lean)
    return [right, left][:count]


def television(room: Interior) -> Iterator[FurnitureGroup]:
    """A television on its stand."""
    stand, screen = room.make(storage.TV_STAND), room.make(decor.TV)
    yield with_objects_on_top(stand, screen, front=0.8)


def reading_corner(room: Interior, turn: float) -> Iterator[FurnitureGroup]:
    """An armchair turned from the wall by an angle, with a lamp beside it and perhaps an ottoman in front."""
    chair, lamp = room.make(seating.ARMCHAIR), room.make(decor.FLOOR_LAMP)
    across, along = half_extent(chair, turn)
    seat = Part(chair, 0.0, round(along, 2), turn=turn)
    side = round(across + 0.26, 2) * (1 if turn < 0 else -1)
    light = Part(lamp, side, 0.24)
    if room.chance(0.35):
        stool = room.make(seating.OTTOMAN)
        away = chair.size[1] / 2 + stool.size[1] / 2 + 0.14
        cos, sin = rounded_cos_sin(turn)
        yield group([seat, light, Part(stool, round(-sin * away, 3), round(seat.y + cos * away, 3), turn=turn)])
    yield group([seat, light], front=0.5)
    yield group([Part(chair, 0.0, round(along, 2), turn=turn), Part(lamp, -side, 0.24)], front=0.5)
