"""Programs of shared rooms: living, dining, reading, games, work."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from itinera.hearth.furniture import appliances, decor, groups, leisure, seating, seating_groups, storage, tables
from itinera.hearth.furniture.groups import single_object, with_objects_on_top
from itinera.hearth.furniture.interior import FurnitureGroup, Interior, Part, PlacedModel
from itinera.hearth.furniture.model import FurnitureKind
from itinera.hearth.furniture.placement import (
    as_ordered,
    no_preference,
    place_along_walls,
    poses_facing,
    poses_with_open_view,
    prefer_away_from_doors,
    prefer_center,
    prefer_corner,
    prefer_wall_middle,
)

FOCUS_ATTEMPTS = 4  # walls tried for a television or fireplace


def living_room(room: Interior) -> None:
    """One seating group before a television or fireplace; a piano, shelves and more seats where there is room."""
    add_seating(room, television=0.6, fireplace=0.8)
    if room.area > 24 and room.chance(0.4):
        bench = room.make(seating.STOOL)
        piano = room.make(leisure.PIANO)
        base = Part(piano, 0.0, piano.size[1] / 2)
        seat = Part(bench, 0.0, round(piano.size[1] + 0.16, 2), turn=np.pi)
        room.place([groups.group([base, seat], front=0.5)], no_preference(room))
    if room.chance(0.6):
        place_along_walls(room, storage.BOOKSHELF)
    if room.chance(0.5):
        add_reading_corner(room)
    if room.area > 34 and "d" not in room.house_kinds:
        room.place(groups.dining(room, (6, 4)), no_preference(room), poses=room.floor_poses)
    elif room.area > 48:
        _add_second_seating(room)
    if room.area > 40:
        place_along_walls(room, *[room.pick((storage.CABINET, decor.STATUE, storage.TRUNK)) for _ in range(2)])
        add_reading_corner(room)
        _add_column(room)


def _add_column(room: Interior) -> None:
    """In some large rooms, a column that supports the ceiling."""
    if room.chance(0.4):
        column = room.make(decor.column(round(room.room.height - 0.012, 3)))
        alone = groups.group([Part(column, 0.0, column.size[1] / 2)], front=0.6, sides=0.6, back=0.6)
        room.place([alone], no_preference(room), poses=room.floor_poses)


def add_seating(room: Interior, *, television: float, fireplace: float = 0.0, armchairs: int = 2) -> None:
    """Add a sofa group that faces a television, a fireplace or a second sofa, in these fractions of rooms."""
    if room.chance(television) and _add_before_focus(room, _television, armchairs):
        return
    if room.chance(fireplace) and _add_before_focus(room, _fireplace, armchairs):
        return
    if room.area > 20 and room.chance(0.6) and _add_second_seating(room):
        return
    seats = room.place(seating_groups.sofas(room, _sofa_kinds(room), armchairs=armchairs), prefer_away_from_doors(room))
    if seats and room.chance(0.6):
        sideboard = with_objects_on_top(room.make(storage.SIDEBOARD), room.make(decor.VASE))
        room.place([sideboard], as_ordered, poses=poses_facing(room, seats[0], 2.2, 8.0))
    elif not seats:
        _add_second_seating(room)


def _sofa_kinds(room: Interior) -> list[FurnitureKind]:
    big = (seating.CORNER_SOFA, seating.LONG_SOFA, seating.SOFA) if room.area > 26 else (seating.SOFA,)
    return [room.pick(big), seating.SOFA, seating.SMALL_SOFA]


def _television(room: Interior) -> list[FurnitureGroup]:
    return list(seating_groups.television(room))


def _fireplace(room: Interior) -> list[FurnitureGroup]:
    return [single_object(room.make(decor.FIREPLACE), front=1.2)]


def _add_before_focus(
    room: Interior, make_focus: Callable[[Interior], list[FurnitureGroup]], armchairs: int
) -> list[PlacedModel]:
    """Add a television or fireplace with a sofa group that faces it, or nothing if no wall allows both."""
    state = room.mark()
    for attempt in range(FOCUS_ATTEMPTS):
        prefer = prefer_wall_middle(room) if attempt < 2 else no_preference(room)
        focus = room.place(make_focus(room), prefer)
        if focus:
            poses = poses_facing(room, focus[0], 2.3, 5.2, free=True)
            seats = room.place(
                seating_groups.sofas(room, _sofa_kinds(room), armchairs=armchairs), as_ordered, poses=poses
            )
            if seats:
                return seats
        room.undo(state)
    return []


def _add_second_seating(room: Interior) -> list[PlacedModel]:
    """Two sofas, or a sofa and two armchairs, that face each other in the open."""
    kinds = [seating.SOFA, seating.SMALL_SOFA] if room.area > 30 else [seating.SMALL_SOFA]
    return room.place(seating_groups.facing_sofas(room, kinds), prefer_center(room), poses=room.floor_poses)


def add_reading_corner(room: Interior) -> None:
    """Add an armchair with its lamp where it overlooks the room."""
    for turn in np.radians(room.pick(((30, -30, 0), (-30, 30, 0), (15, -15, 0), (-15, 15, 0)))):
        corner = seating_groups.reading_corner(room, float(turn))
        if room.place(corner, prefer_corner(room), poses=poses_with_open_view(room, float(turn))):
            return


def family_room(room: Interior) -> None:
    """A sofa group with a television, perhaps a table, shelves and hobby items."""
    add_seating(room, television=0.75, fireplace=0.5)
    if room.area > 22 and "d" not in room.house_kinds:
        room.place(groups.dining(room, (4, 2)), no_preference(room), poses=room.floor_poses)
    place_along_walls(room, storage.BOOKSHELF)
    if room.chance(0.5):
        place_along_walls(room, leisure.EASEL if room.chance(0.4) else storage.TRUNK)
    if room.area > 26 and room.chance(0.5):
        add_reading_corner(room)


def lounge(room: Interior) -> None:
    """Seats that face each other or a fireplace, and shelves."""
    add_seating(room, television=0.25, fireplace=0.6)
    add_reading_corner(room)
    place_along_walls(room, storage.BOOKSHELF if room.chance(0.5) else storage.SIDEBOARD)
    if room.area > 36:
        _add_second_seating(room)


def tv_room(room: Interior) -> None:
    """A sofa in front of a television."""
    add_seating(room, television=1.0)
    place_along_walls(room, storage.BOOKSHELF)
    if room.area > 20:
        place_along_walls(room, storage.CABINET)


def library(room: Interior) -> None:
    """Bookshelves along the walls, a desk, armchairs with lamps."""
    for _ in range(3 + int(room.area > 14) + int(room.area > 22)):
        place_along_walls(room, storage.BOOKSHELF, prefer=prefer_corner(room))
    room.place(groups.desks(room), no_preference(room))
    for _ in range(1 + int(room.area > 14)):
        add_reading_corner(room)
    if room.area > 18:
        room.place(seating_groups.sofas(room, [seating.SMALL_SOFA], armchairs=0), no_preference(room))
    if room.chance(0.7):
        place_along_walls(room, decor.GLOBE, front=0.3)


def office(room: Interior) -> None:
    """Desks with their chairs, shelves, a filing cabinet, a sofa where there is room."""
    for _ in range(1 + int(room.area > 16)):
        room.place(groups.desks(room), no_preference(room))
    place_along_walls(room, storage.BOOKSHELF, storage.FILING_CABINET)
    if room.area > 12:
        room.place(seating_groups.sofas(room, [seating.SMALL_SOFA], armchairs=0), no_preference(room))
    elif room.area > 8:
        add_reading_corner(room)
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
        add_seating(room, television=0.6, armchairs=1)
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
        room.place(seating_groups.sofas(room, [seating.SMALL_SOFA], armchairs=1), no_preference(room))
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
