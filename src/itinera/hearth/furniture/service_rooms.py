"""Programs of halls, kitchens, laundries and garages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from itinera.hearth.furniture import appliances, decor, groups, leisure, outdoor, seating, storage, tables
from itinera.hearth.furniture.groups import with_objects_on_top
from itinera.hearth.furniture.interior import FRONT, Interior, Part, PlacedModel, Preference
from itinera.hearth.furniture.kitchen_counters import furnish_kitchen
from itinera.hearth.furniture.model import FurnitureKind
from itinera.hearth.furniture.placement import (
    no_preference,
    place_along_walls,
    prefer_center,
    prefer_corner,
    prefer_wall_middle,
)


def entry(room: Interior) -> None:
    """A console table with a mirror, a coat rack, a bench or shoes."""
    top = room.make(decor.VASE if room.chance(0.5) else decor.TABLE_LAMP)
    console = room.place(
        [with_objects_on_top(room.make(tables.CONSOLE_TABLE), top, front=0.9)], prefer_wall_middle(room)
    )
    if console and room.chance(0.7):
        _hang_behind(room, console[0], decor.ROUND_MIRROR, 1.3)
    place_along_walls(room, storage.COAT_RACK, prefer=prefer_corner(room))
    if room.area > 5:
        place_along_walls(room, seating.BENCH if room.chance(0.6) else storage.SHOE_RACK, front=0.8)
    if room.area > 9 and room.chance(0.4):
        place_along_walls(room, decor.STATUE, prefer=prefer_corner(room))
    if room.area > 8 and room.chance(0.6):
        x, y = room.center
        room.lay(room.make(decor.round_rug(1.4) if room.chance(0.5) else decor.rug(1.6, 1.1)), float(x), float(y), 0.0)


def hall(room: Interior) -> None:
    """Furniture that leaves the hall passable: a console table, a bench, low shelves."""
    for _ in range(1 + int(room.area > 12)):
        pick = room.pick(("console", "bench", "shelf", "cabinet"))
        if pick == "console":
            top = room.make(decor.VASE if room.chance(0.5) else decor.TABLE_LAMP)
            console = room.place(
                [with_objects_on_top(room.make(tables.CONSOLE_TABLE), top, front=0.85)], prefer_wall_middle(room)
            )
            if console and room.chance(0.5):
                _hang_behind(room, console[0], decor.ROUND_MIRROR, 1.3)
        else:
            kinds = {"bench": seating.BENCH, "shelf": storage.BOOKSHELF, "cabinet": storage.CABINET}
            place_along_walls(room, kinds[pick], front=0.85)
    if room.chance(0.4):
        place_along_walls(
            room, storage.COAT_RACK if room.chance(0.5) else decor.STATUE, front=0.8, prefer=prefer_corner(room)
        )
    if room.chance(0.5):
        _add_runner(room)


def _add_runner(room: Interior) -> None:
    """A long narrow rug along a hall."""
    long = 0 if np.ptp(room.outline[:, 0]) > np.ptp(room.outline[:, 1]) else 1
    x, y = room.center
    for length in (3.0, 2.0):
        if room.lay(room.make(decor.rug(length, 0.8)), float(x), float(y), np.pi / 2 if long == 0 else 0.0):
            return


def _hang_behind(room: Interior, placed: PlacedModel, kind: FurnitureKind, low: float) -> None:
    """Hang an object on the wall right behind another."""
    hung = room.make(kind)
    quarter = round(placed.heading / (np.pi / 2)) % 4
    back = placed.model.size[1] / 2 + 0.02 - 0.004 - hung.size[1] / 2
    x, y = np.array((placed.x, placed.y)) - back * FRONT[quarter]
    one = PlacedModel(hung, round(float(x), 4), round(float(y), 4), low, placed.heading, blocks=False)
    if not room.intersects(one.box):
        room.add(one)


def stairs(room: Interior) -> None:
    """At most a console table or a bench beside the flight."""
    if room.chance(0.5):
        place_along_walls(room, tables.CONSOLE_TABLE if room.chance(0.5) else seating.BENCH, front=0.9)


def kitchen(room: Interior) -> None:
    """Counters with sink and stove, a refrigerator, an island with stools or a table."""
    color, stone = furnish_kitchen(room)
    if room.area > 16:
        island = room.place(groups.islands(room, color, stone), prefer_center(room), poses=room.floor_poses)
        if not island or room.area > 30:
            room.place(groups.dining(room, (4, 2)), no_preference(room), poses=room.floor_poses)
    elif room.area > 11:
        room.place(groups.dining(room, (4, 2)), prefer_center(room), poses=room.floor_poses)
    place_along_walls(room, appliances.BIN, front=0.3, prefer=prefer_corner(room))
    if room.chance(0.5):
        place_along_walls(room, replace(storage.CABINET, colors=(color,)), prefer=prefer_corner(room))


def laundry(room: Interior) -> None:
    """A washing machine and a dryer, a basket, shelves."""
    room.place(groups.laundry(room), prefer_corner(room))
    counter = appliances.counter(1.0)
    if room.chance(0.6):
        room.place([with_objects_on_top(room.make(counter), room.make(decor.SMALL_PLANT))], no_preference(room))
    place_along_walls(room, storage.BASKET, front=0.3, prefer=prefer_corner(room))
    place_along_walls(room, storage.SHELVES)
    if room.area > 6:
        place_along_walls(room, appliances.IRONING_BOARD if room.chance(0.6) else storage.CABINET)
    if room.chance(0.4):
        place_along_walls(room, storage.SHOE_RACK)


def garage(room: Interior) -> None:
    """A car where there is room, a workbench, shelves, bicycles, bins, and what else ends up in garages."""
    car = room.make(leisure.CAR)
    base = groups.group([Part(car, 0.0, car.size[1] / 2)], front=0.5, sides=0.5, back=0.4)
    tight = groups.group([Part(car, 0.0, car.size[1] / 2)], front=0.2, sides=0.45, back=0.2)
    if room.area > 14:
        room.place([base, tight], _prefer_lengthwise(room), poses=room.floor_poses)
    place_along_walls(room, tables.WORKBENCH, storage.SHELVES, storage.SHELVES)
    for kind in (outdoor.WHEELED_BIN, outdoor.WHEELED_BIN, leisure.BICYCLE, storage.CABINET):
        place_along_walls(room, kind, front=0.3)
    extras = (
        outdoor.LAWN_MOWER,
        outdoor.LADDER,
        outdoor.SPARE_TIRE,
        outdoor.SURFBOARD,
        outdoor.MOTORCYCLE,
        storage.BOX,
    )
    for _ in range(1 + int(room.area > 22)):
        place_along_walls(room, room.pick(extras), front=0.3, prefer=prefer_corner(room))
    if room.chance(0.5):
        place_along_walls(room, storage.BOX, front=0.3, prefer=prefer_corner(room))


def _prefer_lengthwise(room: Interior) -> Preference:
    """Near the center, the front along the room's longer side: for cars."""
    long = 0 if np.ptp(room.outline[:, 0]) > np.ptp(room.outline[:, 1]) else 1
    return lambda poses: poses.middle + 4.0 * np.abs(FRONT[poses.quarters, 1 - long])


def utility_room(room: Interior) -> None:
    """A water heater, shelves, a workbench."""
    place_along_walls(room, appliances.BOILER, prefer=prefer_corner(room))
    place_along_walls(room, storage.SHELVES, tables.WORKBENCH, storage.SHELVES, storage.CABINET)
    place_along_walls(room, storage.BOX, front=0.3, prefer=prefer_corner(room))
