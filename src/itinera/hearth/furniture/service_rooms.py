"""How rooms one passes through or works in are furnished: halls, kitchens, laundries, garages."""

from __future__ import annotations

import numpy as np

from itinera.hearth.furniture import appliances, decor, groups, leisure, seating, storage, tables
from itinera.hearth.furniture.groups import topped
from itinera.hearth.furniture.interior import FRONT, Interior, Part, Placed
from itinera.hearth.furniture.kitchen_counters import fit_kitchen
from itinera.hearth.furniture.model import Kind
from itinera.hearth.furniture.placement import amid_a_wall, anywhere, central, in_a_corner, stand


def entry(room: Interior) -> None:
    """A console table with a mirror, a coat rack, a bench or shoes."""
    top = room.make(decor.VASE if room.chance(0.5) else decor.TABLE_LAMP)
    console = room.place([topped(room.make(tables.CONSOLE_TABLE), top, front=0.9)], amid_a_wall(room))
    if console and room.chance(0.7):
        _above(room, console[0], decor.ROUND_MIRROR, 1.3)
    stand(room, storage.COAT_RACK, prefer=in_a_corner(room))
    if room.area > 5:
        stand(room, seating.BENCH if room.chance(0.6) else storage.SHOE_RACK, front=0.8)
    if room.area > 9 and room.chance(0.4):
        stand(room, decor.STATUE, prefer=in_a_corner(room))
    if room.area > 8 and room.chance(0.6):
        x, y = room.centre
        room.lay(room.make(decor.round_rug(1.4) if room.chance(0.5) else decor.rug(1.6, 1.1)), float(x), float(y), 0.0)


def hall(room: Interior) -> None:
    """What leaves the way free: a console table, a bench, low shelves."""
    for _ in range(1 + int(room.area > 12)):
        pick = room.pick(("console", "bench", "shelf", "cabinet"))
        if pick == "console":
            top = room.make(decor.VASE if room.chance(0.5) else decor.TABLE_LAMP)
            console = room.place([topped(room.make(tables.CONSOLE_TABLE), top, front=0.85)], amid_a_wall(room))
            if console and room.chance(0.5):
                _above(room, console[0], decor.ROUND_MIRROR, 1.3)
        else:
            kinds = {"bench": seating.BENCH, "shelf": storage.BOOKSHELF, "cabinet": storage.CABINET}
            stand(room, kinds[pick], front=0.85)
    if room.chance(0.4):
        stand(room, storage.COAT_RACK if room.chance(0.5) else decor.STATUE, front=0.8, prefer=in_a_corner(room))
    if room.chance(0.5):
        _runner(room)


def _runner(room: Interior) -> None:
    """A long narrow rug along a hall."""
    long = 0 if np.ptp(room.outline[:, 0]) > np.ptp(room.outline[:, 1]) else 1
    x, y = room.centre
    for length in (3.0, 2.0):
        if room.lay(room.make(decor.rug(length, 0.8)), float(x), float(y), np.pi / 2 if long == 0 else 0.0):
            return


def _above(room: Interior, thing: Placed, kind: Kind, low: float) -> None:
    """Hang something on the wall right behind a thing."""
    hung = room.make(kind)
    quarter = round(thing.heading / (np.pi / 2)) % 4
    back = thing.model.size[1] / 2 + 0.02 - 0.004 - hung.size[1] / 2
    x, y = np.array((thing.x, thing.y)) - back * FRONT[quarter]
    one = Placed(hung, round(float(x), 4), round(float(y), 4), low, thing.heading, blocks=False)
    if not room.hits(one.box):
        room.add(one)


def stairs(room: Interior) -> None:
    """At most a console table or a bench beside the flight."""
    if room.chance(0.5):
        stand(room, tables.CONSOLE_TABLE if room.chance(0.5) else seating.BENCH, front=0.9)


def kitchen(room: Interior) -> None:
    """Counters with sink and stove, a refrigerator, an island with stools or a table."""
    fit_kitchen(room)
    if room.area > 16:
        island = room.place(groups.islands(room), central(room), spots=room.in_the_open)
        if not island or room.area > 30:
            room.place(groups.dining(room, (4, 2)), anywhere(room), spots=room.in_the_open)
    elif room.area > 11:
        room.place(groups.dining(room, (4, 2)), central(room), spots=room.in_the_open)
    stand(room, appliances.BIN, front=0.3, prefer=in_a_corner(room))
    if room.chance(0.5):
        stand(room, storage.CABINET, prefer=in_a_corner(room))


def laundry(room: Interior) -> None:
    """A washing machine and a dryer, a basket, shelves."""
    room.place(groups.laundry(room), in_a_corner(room))
    counter = appliances.counter(1.0)
    if room.chance(0.6):
        room.place([topped(room.make(counter), room.make(decor.SMALL_PLANT))], anywhere(room))
    stand(room, storage.BASKET, front=0.3, prefer=in_a_corner(room))
    stand(room, storage.SHELVES)
    if room.area > 6:
        stand(room, appliances.IRONING_BOARD if room.chance(0.6) else storage.CABINET)
    if room.chance(0.4):
        stand(room, storage.SHOE_RACK)


def garage(room: Interior) -> None:
    """A car where there is room, a workbench, shelves, a bicycle."""
    car = room.make(leisure.CAR)
    base = groups.group([Part(car, 0.0, car.size[1] / 2)], front=0.5, sides=0.5, back=0.4)
    if room.area > 18:
        room.place([base], central(room), spots=room.in_the_open)
    stand(room, tables.WORKBENCH, storage.SHELVES, storage.SHELVES)
    stand(room, leisure.BICYCLE, storage.BOX, storage.CABINET, front=0.3)
    if room.chance(0.5):
        stand(room, storage.BOX, front=0.3, prefer=in_a_corner(room))


def utility_room(room: Interior) -> None:
    """A water heater, shelves, a workbench."""
    stand(room, appliances.BOILER, prefer=in_a_corner(room))
    stand(room, storage.SHELVES, tables.WORKBENCH, storage.SHELVES, storage.CABINET)
    stand(room, storage.BOX, front=0.3, prefer=in_a_corner(room))
