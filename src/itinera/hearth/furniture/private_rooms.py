"""Programs of private rooms: bedrooms, bathrooms, closets, gyms."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np

from itinera.hearth.furniture import (
    appliances,
    bathroom_fixtures,
    decor,
    groups,
    leisure,
    seating,
    seating_groups,
    storage,
)
from itinera.hearth.furniture.groups import single_object, with_objects_on_top
from itinera.hearth.furniture.interior import Interior, PlacedModel
from itinera.hearth.furniture.living_rooms import add_reading_corner
from itinera.hearth.furniture.model import FurnitureKind
from itinera.hearth.furniture.placement import (
    as_ordered,
    no_preference,
    place_along_walls,
    poses_facing,
    prefer_away_from_doors,
    prefer_corner,
    prefer_facing,
    prefer_far_corner,
    prefer_wall_middle,
)

BELOW_WINDOWS = 0.4  # metres, height of furniture that may stand in front of any window


def bedroom(room: Interior) -> None:
    """Beds, a wardrobe, a dresser, and where there is room a desk, an armchair, a television."""
    beds = chain(
        groups.beds(room, _bed_kinds(room)), groups.beds(room, [seating.SINGLE_BED]), groups.beds_along_wall(room)
    )
    slept_in = room.place(beds, prefer_away_from_doors(room)) or _place_bed_before_window(room)
    across = prefer_facing(slept_in[0]) if slept_in else no_preference(room)
    place_along_walls(room, storage.WARDROBE, prefer=prefer_corner(room))
    if slept_in and slept_in[0].model.shape == "single" and room.area > 14:
        room.place(groups.beds(room, [seating.SINGLE_BED]), prefer_away_from_doors(room))
    lamp = room.make(decor.TABLE_LAMP if room.chance(0.5) else decor.VASE)
    room.place(
        [with_objects_on_top(room.make(storage.DRESSER), lamp)], across if room.chance(0.6) else no_preference(room)
    )
    if room.area > 12 and room.chance(0.45):
        room.place(groups.desks(room), no_preference(room))
    if room.chance(0.4):
        add_reading_corner(room)
    if room.area > 16 and room.chance(0.5):
        place_along_walls(room, storage.TRUNK if room.chance(0.5) else seating.BENCH)
    if slept_in and room.area > 18 and room.chance(0.5):
        poses = poses_facing(room, slept_in[0], 2.0, 6.0)
        room.place(seating_groups.television(room), as_ordered, poses=poses)
    if room.chance(0.35):
        place_along_walls(room, storage.BOOKSHELF)
    if slept_in and room.chance(0.7):
        _add_bedroom_rug(room, slept_in[0])


def _place_bed_before_window(room: Interior) -> list[PlacedModel]:
    """For rooms whose walls are all doors and low windows: at a wall, else anywhere on the floor."""
    beds = list(groups.beds(room, [seating.SINGLE_BED]))
    low = [replace(bed, high=BELOW_WINDOWS) for bed in beds]
    return room.place(low, prefer_away_from_doors(room)) or room.place(
        beds, no_preference(room), poses=room.floor_poses
    )


def _bed_kinds(room: Interior) -> list[FurnitureKind]:
    """The bed kinds to try, by the size of the room."""
    if room.area > 16 and room.chance(0.75):
        return [seating.LARGE_BED if room.chance(0.5) else seating.DOUBLE_BED, seating.DOUBLE_BED]
    if room.area > 10 and room.chance(0.6):
        return [seating.DOUBLE_BED, seating.SINGLE_BED]
    return [seating.BUNK_BED if room.chance(0.4) else seating.SINGLE_BED]


def _add_bedroom_rug(room: Interior, bed: PlacedModel) -> None:
    """Lay a rug under the lower half of a bed, beyond its sides and foot, or else before its foot."""
    front = np.round((np.cos(bed.heading), np.sin(bed.heading)), 6)
    under = room.make(decor.rug(round(bed.model.size[0] + 1.0, 1), 1.6))
    away = bed.model.size[1] / 2 - 0.35
    if not room.lay(under, float(bed.x + front[0] * away), float(bed.y + front[1] * away), bed.heading):
        _add_rug_before(room, bed)


def _add_rug_before(room: Interior, placed: PlacedModel) -> None:
    """Lay a rug in front of an object, if the floor there is free."""
    front = np.round((np.cos(placed.heading), np.sin(placed.heading)), 6)
    wide = round(max(1.2, min(placed.model.size[0], 2.0)), 1)
    rug = room.make(decor.rug(wide, 1.0) if room.chance(0.6) else decor.round_rug(1.4))
    away = placed.model.size[1] / 2 + rug.size[1] / 2 + 0.1
    x, y = round(placed.x + float(front[0]) * away, 2), round(placed.y + float(front[1]) * away, 2)
    room.lay(rug, x, y, placed.heading)


def bathroom(room: Interior) -> None:
    """A toilet, a sink with a mirror, a tub or a shower or both, towels."""
    fittings = [_place_toilet, _place_basin, _place_bath]
    # In tight rooms, the other order may fit everything.
    for put in fittings if room.chance(0.5) else fittings[::-1]:
        put(room)
    for _ in range(1 + (room.area > 6)):
        room.hang(room.make(bathroom_fixtures.TOWEL), 0.8, no_preference(room))
    if room.chance(0.6):
        place_along_walls(room, storage.BASKET, front=0.2, prefer=prefer_corner(room))
    if room.area > 7 and room.chance(0.6):
        place_along_walls(room, storage.CABINET, prefer=prefer_corner(room))
    if room.chance(0.4):
        place_along_walls(room, appliances.BIN, front=0.2, prefer=prefer_corner(room))


def _place_toilet(room: Interior) -> None:
    toilet = room.make(bathroom_fixtures.TOILET)
    room.place(
        [single_object(toilet, front=0.6, sides=0.08), single_object(toilet, front=0.4)], prefer_far_corner(room)
    )


def _place_basin(room: Interior) -> None:
    kinds = [bathroom_fixtures.VANITY, bathroom_fixtures.WASHBASIN]
    if room.area > 9:
        kinds = [bathroom_fixtures.DOUBLE_VANITY, *kinds]
    elif room.area < 6.5:
        kinds = [bathroom_fixtures.WASHBASIN, bathroom_fixtures.SMALL_BASIN]
    room.place(groups.washbasins(room, kinds), prefer_wall_middle(room))


def _place_bath(room: Interior) -> None:
    """Place a tub, a shower, or both where there is room."""
    showers = [
        single_object(room.make(bathroom_fixtures.SHOWER), front=0.45),
        single_object(room.make(bathroom_fixtures.SMALL_SHOWER), front=0.3),
    ]
    tub: list[PlacedModel] = []
    if room.area > 6 or room.chance(0.3):
        tub = room.place(groups.tubs(room), prefer_corner(room))
    if not tub or room.area > 8:
        room.place(showers, prefer_corner(room))


def toilet(room: Interior) -> None:
    """A toilet and a small sink."""
    toilet = room.make(bathroom_fixtures.TOILET)
    room.place([single_object(toilet, front=0.5), single_object(toilet, front=0.3)], prefer_away_from_doors(room))
    room.place(groups.washbasins(room, [bathroom_fixtures.SMALL_BASIN]), no_preference(room))
    room.hang(room.make(bathroom_fixtures.TOWEL), 0.8, no_preference(room))
    place_along_walls(room, appliances.BIN, front=0.1, prefer=prefer_corner(room))


def closet(room: Interior) -> None:
    """Clothes on racks, shelves with boxes, shoes."""
    for kind in (storage.CLOTHES_RAIL, storage.SHELVES, storage.CLOTHES_RAIL, storage.SHOE_RACK, storage.DRESSER):
        place_along_walls(room, kind, front=0.5, prefer=prefer_corner(room))
    if room.chance(0.5):
        place_along_walls(room, storage.BASKET, front=0.2)
    if room.chance(0.6):
        room.hang(room.make(decor.TALL_MIRROR), 0.3, no_preference(room))


def spa(room: Interior) -> None:
    """A hot tub, a shower, a massage table, towels."""
    tub = room.make(bathroom_fixtures.HOT_TUB)
    room.place([single_object(tub, front=0.6)], prefer_corner(room))
    place_along_walls(room, bathroom_fixtures.SHOWER, prefer=prefer_corner(room))
    if room.area > 12:
        place_along_walls(room, seating.MASSAGE_TABLE)
    place_along_walls(room, seating.BENCH, storage.BASKET)
    for _ in range(2):
        room.hang(room.make(bathroom_fixtures.TOWEL), 0.9, no_preference(room))
    if room.area > 14:
        place_along_walls(room, decor.SCREEN)


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
        place_along_walls(room, kind)
    room.hang(room.make(decor.TALL_MIRROR), 0.3, no_preference(room))
    x, y = room.center
    room.lay(room.make(leisure.EXERCISE_MAT), float(x), float(y), 0.0)
    place_along_walls(room, seating.BENCH)
    room.hang(room.make(bathroom_fixtures.TOWEL), 0.9, no_preference(room))
