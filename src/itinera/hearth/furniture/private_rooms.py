"""How rooms for oneself are furnished: sleeping, washing, dressing, exercise."""

from __future__ import annotations

from itertools import chain

import numpy as np

from itinera.hearth.furniture import appliances, bathroom_fixtures, decor, groups, leisure, seating, storage
from itinera.hearth.furniture.groups import solo, topped
from itinera.hearth.furniture.interior import Interior, Placed
from itinera.hearth.furniture.model import Kind
from itinera.hearth.furniture.placement import (
    amid_a_wall,
    anywhere,
    away_and_aside,
    away_from_doors,
    facing,
    in_a_corner,
    stand,
)


def bedroom(room: Interior) -> None:
    """Beds, a wardrobe, a dresser, and where there is room a desk, an armchair, a television."""
    beds = chain(groups.beds(room, _bed_kinds(room)), groups.beds(room, [seating.SINGLE_BED]))
    slept_in = room.place(beds, away_from_doors(room)) or _put_bed_in_the_open(room)
    across = facing(slept_in[0]) if slept_in else anywhere(room)
    stand(room, storage.WARDROBE, prefer=in_a_corner(room))
    if slept_in and slept_in[0].model.shape == "single" and room.area > 14:
        room.place(groups.beds(room, [seating.SINGLE_BED]), away_from_doors(room))
    lamp = room.make(decor.TABLE_LAMP if room.chance(0.5) else decor.VASE)
    room.place([topped(room.make(storage.DRESSER), lamp)], across if room.chance(0.6) else anywhere(room))
    if room.area > 12 and room.chance(0.45):
        room.place(groups.desks(room), anywhere(room))
    if room.chance(0.4):
        room.place(groups.reading_corner(room), in_a_corner(room))
    if room.area > 16 and room.chance(0.5):
        stand(room, storage.TRUNK if room.chance(0.5) else seating.BENCH)
    if room.area > 22 and room.chance(0.5):
        room.place(groups.television(room), across)
    if room.chance(0.35):
        stand(room, storage.BOOKSHELF)
    if slept_in and room.chance(0.7):
        _rug_before(room, slept_in[0])


def _put_bed_in_the_open(room: Interior) -> list[Placed]:
    """For rooms whose walls are all doors and low windows."""
    return room.place(groups.beds(room, [seating.SINGLE_BED]), anywhere(room), spots=room.in_the_open)


def _bed_kinds(room: Interior) -> list[Kind]:
    """Beds to try, by the size of the room."""
    if room.area > 16 and room.chance(0.75):
        return [seating.LARGE_BED if room.chance(0.5) else seating.DOUBLE_BED, seating.DOUBLE_BED]
    if room.area > 10 and room.chance(0.6):
        return [seating.DOUBLE_BED, seating.SINGLE_BED]
    return [seating.BUNK_BED if room.chance(0.4) else seating.SINGLE_BED]


def _rug_before(room: Interior, thing: Placed) -> None:
    """A rug at the foot of a thing, if it lies free."""
    front = np.round((np.cos(thing.heading), np.sin(thing.heading)), 6)
    wide = round(max(1.2, min(thing.model.size[0], 2.0)), 1)
    rug = room.make(decor.rug(wide, 1.0) if room.chance(0.6) else decor.round_rug(1.4))
    away = thing.model.size[1] / 2 + rug.size[1] / 2 + 0.1
    x, y = round(thing.x + float(front[0]) * away, 2), round(thing.y + float(front[1]) * away, 2)
    room.lay(rug, x, y, thing.heading)


def bathroom(room: Interior) -> None:
    """A toilet, a sink with a mirror, a tub or a shower or both, towels."""
    fittings = [_put_toilet, _put_basin, _put_bath]
    # Where space is short, another order may find room for all.
    for put in fittings if room.chance(0.5) else fittings[::-1]:
        put(room)
    for _ in range(1 + (room.area > 6)):
        room.hang(room.make(bathroom_fixtures.TOWEL), 0.8, anywhere(room))
    if room.chance(0.6):
        stand(room, storage.BASKET, front=0.2, prefer=in_a_corner(room))
    if room.area > 7 and room.chance(0.6):
        stand(room, storage.CABINET, prefer=in_a_corner(room))
    if room.chance(0.4):
        stand(room, appliances.BIN, front=0.2, prefer=in_a_corner(room))


def _put_toilet(room: Interior) -> None:
    toilet = room.make(bathroom_fixtures.TOILET)
    room.place([solo(toilet, front=0.6, sides=0.08), solo(toilet, front=0.4)], away_and_aside(room))


def _put_basin(room: Interior) -> None:
    kinds = [bathroom_fixtures.VANITY, bathroom_fixtures.WASHBASIN]
    if room.area > 9:
        kinds = [bathroom_fixtures.DOUBLE_VANITY, *kinds]
    elif room.area < 6.5:
        kinds = [bathroom_fixtures.WASHBASIN, bathroom_fixtures.SMALL_BASIN]
    room.place(groups.washbasins(room, kinds), amid_a_wall(room))


def _put_bath(room: Interior) -> None:
    """A tub, a shower, or where there is room both."""
    showers = [
        solo(room.make(bathroom_fixtures.SHOWER), front=0.45),
        solo(room.make(bathroom_fixtures.SMALL_SHOWER), front=0.3),
    ]
    tub: list[Placed] = []
    if room.area > 6 or room.chance(0.3):
        tub = room.place(groups.tubs(room), in_a_corner(room))
    if not tub or room.area > 8:
        room.place(showers, in_a_corner(room))


def toilet(room: Interior) -> None:
    """A toilet and a small sink."""
    toilet = room.make(bathroom_fixtures.TOILET)
    room.place([solo(toilet, front=0.5), solo(toilet, front=0.3)], away_from_doors(room))
    room.place(groups.washbasins(room, [bathroom_fixtures.SMALL_BASIN]), anywhere(room))
    room.hang(room.make(bathroom_fixtures.TOWEL), 0.8, anywhere(room))
    stand(room, appliances.BIN, front=0.1, prefer=in_a_corner(room))


def closet(room: Interior) -> None:
    """Clothes on racks, shelves with boxes, shoes."""
    for kind in (storage.CLOTHES_RAIL, storage.SHELVES, storage.CLOTHES_RAIL, storage.SHOE_RACK, storage.DRESSER):
        stand(room, kind, front=0.5, prefer=in_a_corner(room))
    if room.chance(0.5):
        stand(room, storage.BASKET, front=0.2)
    if room.chance(0.6):
        room.hang(room.make(decor.TALL_MIRROR), 0.3, anywhere(room))


def spa(room: Interior) -> None:
    """A hot tub, a shower, a massage table, towels."""
    tub = room.make(bathroom_fixtures.HOT_TUB)
    room.place([solo(tub, front=0.6)], in_a_corner(room))
    stand(room, bathroom_fixtures.SHOWER, prefer=in_a_corner(room))
    if room.area > 12:
        stand(room, seating.MASSAGE_TABLE)
    stand(room, seating.BENCH, storage.BASKET)
    for _ in range(2):
        room.hang(room.make(bathroom_fixtures.TOWEL), 0.9, anywhere(room))
    if room.area > 14:
        stand(room, decor.SCREEN)


def gym(room: Interior) -> None:
    """Machines, weights, a mat and a mirror."""
    kinds = [
        leisure.TREADMILL,
        leisure.EXERCISE_BIKE,
        leisure.WEIGHTS_BENCH,
        leisure.DUMBBELLS,
        leisure.PUNCHING_BAG,
    ]
    for kind in kinds[: 3 + int(room.area > 12) + int(room.area > 18)]:
        stand(room, kind)
    room.hang(room.make(decor.TALL_MIRROR), 0.3, anywhere(room))
    x, y = room.centre
    room.lay(room.make(leisure.EXERCISE_MAT), float(x), float(y), 0.0)
    stand(room, seating.BENCH)
    room.hang(room.make(bathroom_fixtures.TOWEL), 0.9, anywhere(room))
