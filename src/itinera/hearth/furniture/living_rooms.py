"""Programs of shared rooms: living, dining, reading, games, work."""

from __future__ import annotations

import numpy as np

from itinera.hearth.furniture import appliances, decor, groups, leisure, seating, storage, tables
from itinera.hearth.furniture.groups import single_object, with_objects_on_top
from itinera.hearth.furniture.interior import Interior, Part, PlacedModel
from itinera.hearth.furniture.placement import (
    no_preference,
    place_along_walls,
    prefer_away_from_doors,
    prefer_center,
    prefer_corner,
    prefer_facing,
    prefer_wall_middle,
)


def living_room(room: Interior) -> None:
    """A sofa group, often a fireplace and a television; a piano, shelves and more seats where there is room."""
    if room.chance(0.6):
        room.place([single_object(room.make(decor.FIREPLACE), front=1.2)], prefer_wall_middle(room))
    _add_sofa_group(room, television=0.75)
    if room.area > 30 and room.chance(0.7):
        _add_second_seating(room)
    if room.area > 24 and room.chance(0.4):
        bench = room.make(seating.STOOL)
        piano = room.make(leisure.PIANO)
        base = Part(piano, 0.0, piano.size[1] / 2)
        seat = Part(bench, 0.0, round(piano.size[1] + 0.16, 2), turn=np.pi)
        room.place([groups.group([base, seat], front=0.5), single_object(piano, front=0.8)], no_preference(room))
    if room.chance(0.6):
        place_along_walls(room, storage.BOOKSHELF)
    if room.chance(0.5):
        room.place(groups.reading_corner(room), prefer_corner(room))
    if room.area > 40:
        place_along_walls(
            room, *[room.pick((storage.CABINET, decor.STATUE, seating.OTTOMAN, storage.TRUNK)) for _ in range(2)]
        )
        room.place(groups.reading_corner(room), prefer_corner(room))
        _add_column(room)
    if room.area > 55 and room.chance(0.5):
        room.place(groups.dining(room, (6, 4)), no_preference(room), poses=room.floor_poses)


def _add_column(room: Interior) -> None:
    """In some large rooms, a column that supports the ceiling."""
    if room.chance(0.4):
        column = room.make(decor.column(round(room.room.height - 0.012, 3)))
        alone = groups.group([Part(column, 0.0, column.size[1] / 2)], front=0.6, sides=0.6, back=0.6)
        room.place([alone], no_preference(room), poses=room.floor_poses)


def _add_sofa_group(room: Interior, *, television: float, armchairs: int = 2) -> None:
    """A sofa group, with a television opposite in a fraction of rooms."""
    big = (seating.CORNER_SOFA, seating.LONG_SOFA, seating.SOFA) if room.area > 26 else (seating.SOFA,)
    kinds = [room.pick(big), seating.SOFA, seating.SMALL_SOFA]
    tried = groups.sofas(room, kinds, armchairs=armchairs)
    seats = room.place(tried, prefer_away_from_doors(room)) or _add_second_seating(room)
    if seats and room.chance(television):
        room.place(groups.television(room), prefer_facing(seats[0]))
    elif seats and room.chance(0.6):
        room.place([with_objects_on_top(room.make(storage.SIDEBOARD), room.make(decor.VASE))], prefer_facing(seats[0]))


def _add_second_seating(room: Interior) -> list[PlacedModel]:
    """A small sofa and armchairs around a table in the open, for large rooms and those without a free wall."""
    tried = groups.sofas(room, [seating.SMALL_SOFA], armchairs=2)
    around = (groups.group(one.parts, front=0.6, sides=0.6, back=0.6) for one in tried)
    return room.place(around, prefer_center(room), poses=room.floor_poses)


def family_room(room: Interior) -> None:
    """A sofa group with a television, perhaps a table, shelves and hobby items."""
    _add_sofa_group(room, television=0.8)
    if room.area > 22:
        room.place(groups.dining(room, (4, 2)), no_preference(room), poses=room.floor_poses)
    place_along_walls(room, storage.BOOKSHELF)
    if room.chance(0.5):
        place_along_walls(room, seating.OTTOMAN, front=0.4)
    if room.chance(0.5):
        place_along_walls(room, leisure.EASEL if room.chance(0.4) else storage.TRUNK)
    if room.chance(0.4):
        room.place([single_object(room.make(decor.FIREPLACE), front=1.0)], prefer_wall_middle(room))


def lounge(room: Interior) -> None:
    """Seats, shelves and a second seating group where there is room."""
    _add_sofa_group(room, television=0.25)
    room.place(groups.reading_corner(room), prefer_corner(room))
    place_along_walls(room, storage.BOOKSHELF if room.chance(0.5) else storage.SIDEBOARD)
    if room.area > 26:
        _add_second_seating(room)


def tv_room(room: Interior) -> None:
    """A sofa in front of a television."""
    _add_sofa_group(room, television=1.0)
    place_along_walls(room, storage.BOOKSHELF)
    if room.area > 20:
        place_along_walls(room, seating.OTTOMAN, storage.CABINET)


def library(room: Interior) -> None:
    """Bookshelves along the walls, a desk, armchairs with lamps."""
    for _ in range(3 + int(room.area > 14) + int(room.area > 22)):
        place_along_walls(room, storage.BOOKSHELF, prefer=prefer_corner(room))
    room.place(groups.desks(room), no_preference(room))
    for _ in range(1 + int(room.area > 14)):
        room.place(groups.reading_corner(room), prefer_corner(room))
    if room.area > 18:
        room.place(groups.sofas(room, [seating.SMALL_SOFA], armchairs=0), no_preference(room))
    if room.chance(0.7):
        place_along_walls(room, decor.GLOBE, front=0.3)


def office(room: Interior) -> None:
    """Desks with their chairs, shelves, a filing cabinet, a sofa where there is room."""
    for _ in range(1 + int(room.area > 16)):
        room.place(groups.desks(room), no_preference(room))
    place_along_walls(room, storage.BOOKSHELF, storage.FILING_CABINET)
    if room.area > 12:
        room.place(groups.sofas(room, [seating.SMALL_SOFA], armchairs=0), no_preference(room))
    elif room.area > 8:
        room.place(groups.reading_corner(room), prefer_corner(room))
    if room.chance(0.6):
        room.hang(room.make(leisure.WHITEBOARD), 1.05, no_preference(room))
    if room.area > 10 and room.chance(0.5):
        place_along_walls(room, storage.CABINET)
    place_along_walls(room, appliances.BIN, front=0.2, prefer=prefer_corner(room))


def games_room(room: Interior) -> None:
    """A pool or ping-pong table, an arcade machine, seats."""
    kind = tables.POOL_TABLE if room.chance(0.6) else tables.TENNIS_TABLE
    table = room.make(kind)
    part = Part(table, 0.0, table.size[1] / 2)
    room.place([groups.group([part], front=0.7, sides=0.7, back=0.7)], prefer_center(room), poses=room.floor_poses)
    if room.area > 16:
        _add_sofa_group(room, television=0.6, armchairs=1)
    place_along_walls(room, leisure.ARCADE, prefer=prefer_corner(room))
    room.hang(room.make(leisure.DART_BOARD), 1.5, no_preference(room))
    if room.chance(0.6):
        place_along_walls(room, storage.CABINET if room.chance(0.5) else storage.BOOKSHELF)
    for _ in range(2):
        place_along_walls(room, seating.STOOL, front=0.3)


def bar(room: Interior) -> None:
    """A bar with stools, bottles behind it, and seats."""
    room.place(groups.bars(room), prefer_wall_middle(room))
    place_along_walls(room, appliances.WINE_FRIDGE, prefer=prefer_corner(room))
    if room.area > 14:
        room.place(groups.sofas(room, [seating.SMALL_SOFA], armchairs=1), no_preference(room))
    if room.area > 22:
        room.place(groups.dining(room, (4, 2)), no_preference(room), poses=room.floor_poses)
    place_along_walls(room, storage.CABINET)


def dining_room(room: Interior) -> None:
    """A table with as many chairs as fit, a sideboard, a cabinet."""
    seats = (10, 8, 6, 4, 2) if room.area > 24 else (8, 6, 4, 2) if room.area > 16 else (6, 4, 2)
    placed = room.place(groups.dining(room, seats), prefer_center(room), poses=room.floor_poses)
    if placed:
        _add_rug_under(room, placed[0])
    room.place(
        [with_objects_on_top(room.make(storage.SIDEBOARD), room.make(decor.VASE), room.make(decor.CANDLES))],
        prefer_wall_middle(room),
    )
    if room.chance(0.6):
        place_along_walls(room, storage.CABINET, prefer=prefer_corner(room))
    if room.chance(0.35):
        place_along_walls(room, storage.WINE_RACK, prefer=prefer_corner(room))
    if room.area > 22 and room.chance(0.3):
        room.place([single_object(room.make(decor.FIREPLACE), front=1.0)], prefer_wall_middle(room))


def _add_rug_under(room: Interior, table: PlacedModel) -> None:
    wide, deep, _ = table.model.size
    if not room.chance(0.6):
        return
    kind = (
        decor.round_rug(wide + 1.2)
        if table.model.shape == "round"
        else decor.rug(round(wide + 1.0, 1), round(deep + 1.0, 1))
    )
    room.lay(room.make(kind), table.x, table.y, table.heading)
