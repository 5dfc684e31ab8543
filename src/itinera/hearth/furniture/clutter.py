"""Clutter: small things on tables, counters and shelves, and on the floor along the walls.

`clutter` scales their number: 0 for none, 1 as usual, 2 for a messy house. The furniture of a house is the same for
every value.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from itinera.hearth.furniture import appliances, decor
from itinera.hearth.furniture import belongings as own
from itinera.hearth.furniture import tableware as ware
from itinera.hearth.furniture.clearances import half_size
from itinera.hearth.furniture.groups import single_object
from itinera.hearth.furniture.interior import OFF_TOP, Interior, PlacedModel
from itinera.hearth.furniture.model import FurnitureKind, Model
from itinera.hearth.furniture.placement import no_preference, prefer_corner
from itinera.hearth.geometry.rectangles import rectangles_overlap
from itinera.hearth.geometry.shapes import rounded_cos_sin
from itinera.worlds import Array

Kinds = tuple[FurnitureKind, ...]

DENSITY = 3.6  # things per square metre of a surface at clutter 1
MAX_ON_SURFACE = MappingProxyType({"sofa": 0.5, "bench": 0.7, "stove": 0.8, "sink": 2.0})  # at clutter 1; 5 on others
INSET = 0.03  # metres between a thing and the edge of the surface
SPOTS = 10  # positions tried on a surface
SET_TABLES = 0.35  # share of dining tables that are laid, at clutter 1

_DECORATION: Kinds = (own.PICTURE_FRAME, own.FIGURINE, own.HOURGLASS, decor.CANDLES, decor.VASE, own.RADIO, own.TROPHY)
_KITCHEN: Kinds = (
    *(
        ware.CUTTING_BOARD,
        ware.KNIFE_BLOCK,
        ware.COOKIE_JAR,
        ware.BREAD,
        ware.BOTTLE,
        ware.BOWL,
        ware.CUP,
        ware.PINEAPPLE,
    ),
    *(ware.PAPER_TOWEL, ware.DISH_RACK, ware.SPICE_RACK, ware.TEAPOT, ware.BLENDER, ware.MIXER, appliances.KETTLE),
)
_DINING: Kinds = (ware.NAPKIN_HOLDER, ware.SALT_SHAKER, ware.BOTTLE, ware.BOWL, ware.CAKE, ware.TRAY, decor.CANDLES)

ON_SURFACES: Mapping[str, Kinds] = MappingProxyType(
    {
        "kitchen counter": _KITCHEN,
        "kitchen island": (
            ware.BOWL,
            ware.CUP,
            ware.PLATE,
            ware.BOTTLE,
            ware.CUTTING_BOARD,
            ware.WINE_GLASS,
            ware.TRAY,
        ),
        "stove": (ware.PAN, ware.POT),
        "dining table": _DINING,
        "bar": (ware.BOTTLE, ware.WINE_GLASS, ware.DRINKING_GLASS, ware.BOWL, ware.NAPKIN_HOLDER),
        "coffee table": (
            *(own.REMOTE_CONTROL, own.MAGAZINE, ware.CUP, own.BOOK, own.GAME_CONTROLLER, own.BOARD_GAME, ware.TRAY),
            *(own.TABLET, own.NEWSPAPER, ware.TEAPOT, ware.DRINKING_GLASS, own.PHONE),
        ),
        "side table": (ware.CUP, own.BOOK, own.PHONE, ware.DRINKING_GLASS, own.PICTURE_FRAME),
        "console table": (own.PICTURE_FRAME, own.HAT, own.HANDBAG, ware.BOWL, own.FIGURINE, own.PHONE, own.HOURGLASS),
        "desk": (
            *(own.NOTEBOOK, own.PENCIL_CUP, ware.CUP, own.FOLDERS, own.HEADPHONES, own.BOOK, own.PHONE, own.CAMERA),
            *(own.TABLET, own.PRINTER, own.TYPEWRITER, own.PICTURE_FRAME, own.SPEAKER),
        ),
        "nightstand": (own.ALARM_CLOCK, own.BOOK, ware.DRINKING_GLASS, own.PHONE, own.TISSUE_BOX),
        "dresser": (*_DECORATION, own.PERFUME, own.HAT, own.TEDDY_BEAR, own.SPEAKER, own.HAIR_DRYER),
        "sideboard": (*_DECORATION, ware.TEAPOT, ware.BOTTLE, own.SPEAKER, ware.TRAY),
        "cabinet": (*_DECORATION, own.SPEAKER),
        "bookshelf": (*_DECORATION, own.BOOK, own.CAMERA, own.BOARD_GAME),
        "tv stand": (own.SPEAKER, own.REMOTE_CONTROL, own.GAME_CONTROLLER),
        "filing cabinet": (own.PRINTER, own.FOLDERS, own.TROPHY),
        "piano": (own.PICTURE_FRAME, own.FIGURINE, decor.CANDLES),
        "chest": (own.BLANKET, own.BOOK, own.TEDDY_BEAR),
        "bench": (own.HANDBAG, own.BLANKET, own.HAT),
        "workbench": (own.DRILL, own.TOOLBOX, own.PAINT_CAN, own.RADIO, ware.CUP),
        "washing machine": (own.FOLDED_TOWELS, own.LAUNDRY_BASKET),
        "dryer": (own.FOLDED_TOWELS, own.LAUNDRY_BASKET),
        "sink": (own.TOOTHBRUSH_CUP, own.SOAP_DISPENSER, own.SOAP, own.PERFUME, own.SHAMPOO, own.RUBBER_DUCK),
        "garden table": (ware.CUP, ware.PLATE, ware.BOTTLE, ware.DRINKING_GLASS, own.LANTERN, own.BOOK),
        "shoe rack": (own.HAT, own.HANDBAG),
        "sofa": (own.BLANKET, own.BOOK, own.TEDDY_BEAR, own.GAME_CONTROLLER, own.TABLET),
    }
)
"""What lies on which furniture."""

ON_FLOORS: Mapping[str, Kinds] = MappingProxyType(
    {
        "a": (own.SCALE, own.TOILET_BRUSH, own.TOILET_PAPER, own.LAUNDRY_BASKET, own.LAUNDRY, own.SLIPPERS),
        "b": (
            own.SLIPPERS,
            own.LAUNDRY,
            own.BACKPACK,
            own.SUITCASE,
            own.GUITAR,
            own.SHOE_PAIR,
            own.HANDBAG,
            own.PET_BED,
        ),
        "c": (own.SHOE_PAIR, own.SUITCASE, own.BOOTS, own.BACKPACK, own.VACUUM_CLEANER),
        "d": (own.PET_BED, own.BOTTLE_CRATE, own.BALL),
        "e": (own.SHOE_PAIR, own.BOOTS, own.UMBRELLA_STAND, own.BACKPACK, own.HANDBAG, own.SUITCASE),
        "f": (
            own.TOY_CAR,
            own.TOY_TRAIN,
            own.TOY_BLOCKS,
            own.BALL,
            own.PET_BED,
            own.MAGAZINE_RACK,
            own.GUITAR,
            own.DOLL,
        ),
        "g": (own.TOOLBOX, own.PAINT_CAN, own.BUCKET, own.SKATEBOARD, own.BALL, own.BROOM, own.BOTTLE_CRATE),
        "h": (own.SHOE_PAIR, own.UMBRELLA_STAND, own.BACKPACK, own.VACUUM_CLEANER, own.PET_BED),
        "i": (own.MAGAZINE_RACK, own.SUITCASE, own.PET_BED),
        "j": (own.LAUNDRY_BASKET, own.LAUNDRY, own.BUCKET, own.BROOM, own.VACUUM_CLEANER),
        "k": (own.PET_BOWL, own.BOTTLE_CRATE, own.BROOM, own.PET_BED),
        "l": (own.PET_BED, own.MAGAZINE_RACK, own.GUITAR, own.TOY_CAR, own.TOY_BLOCKS, own.SPEAKER, own.SLIPPERS),
        "n": (own.MAGAZINE_RACK, own.GUITAR, own.PET_BED, own.SPEAKER),
        "o": (own.BACKPACK, own.FOLDERS, own.PRINTER, own.HANDBAG, own.GUITAR),
        "p": (own.LANTERN, own.WATERING_CAN, own.BALL, own.PET_BOWL),
        "r": (own.SKATEBOARD, own.BALL, own.GUITAR, own.BOTTLE_CRATE, own.SPEAKER),
        "s": (own.SHOE_PAIR,),
        "t": (own.TOILET_BRUSH, own.TOILET_PAPER),
        "u": (own.BUCKET, own.BROOM, own.TOOLBOX, own.PAINT_CAN, own.VACUUM_CLEANER),
        "v": (own.TOY_CAR, own.SLIPPERS, own.PET_BED, own.SPEAKER, own.MAGAZINE_RACK),
        "w": (own.YOGA_BALL, own.WATER_BOTTLE, own.BACKPACK, own.SHOE_PAIR),
        "x": (own.GNOME, own.BALL, own.WATERING_CAN, own.LANTERN, own.BUCKET),
        "y": (own.WATERING_CAN, own.LANTERN),
        "B": (own.BOTTLE_CRATE, own.SPEAKER),
        "S": (own.SLIPPERS, own.LAUNDRY_BASKET, own.SCALE),
    }
)
"""What lies on the floor of which rooms."""

TOYS: Kinds = (own.TEDDY_BEAR, own.DOLL, own.TOY_CAR, own.TOY_TRAIN, own.TOY_BLOCKS, own.BALL)
"""On the floors of bedrooms with a single or bunk bed."""


def add_clutter(room: Interior, clutter: float) -> None:
    """Add small things to a furnished room, `clutter` times as many as usual."""
    for base in list(room.placed):
        if base.model.name == "dining table" and room.chance(SET_TABLES * clutter):
            _lay_table(room, base)
        _add_to_surface(room, base, clutter)
    _add_to_floor(room, clutter)


def _add_to_surface(room: Interior, base: PlacedModel, clutter: float) -> None:
    kinds = ON_SURFACES.get(base.model.name, ())
    top = base.model.top
    if not kinds or top <= 0 or base.z > 0.1:
        return
    wide, deep, _ = base.model.size
    wanted = min(wide * deep * DENSITY, MAX_ON_SURFACE.get(base.model.name, 5.0)) * clutter
    order = room.rng.permutation(len(kinds))
    for k in order[: int(wanted + float(room.rng.random()))]:
        _add_on(room, base, room.make(kinds[int(k)]))


def _add_on(room: Interior, base: PlacedModel, model: Model) -> None:
    """Add a thing at a free spot on a surface, if there is one."""
    turn = float(np.radians(room.pick((0, 0, 15, -15, 30, -30))))
    spots = _spots(room, base, half_size(model.size[0], model.size[1], turn + np.pi / 2))
    heading = (base.heading + turn) % (2 * np.pi)
    half = np.array(half_size(model.size[0], model.size[1], heading))
    low = round(base.z + base.model.top + OFF_TOP, 4)
    free = ~_occupied(room, base, np.concatenate([spots - half, spots + half], axis=1), low, low + model.size[2])
    if free.any():
        x, y = spots[int(np.argmax(free))]
        room.add(PlacedModel(model, round(float(x), 3), round(float(y), 3), low, heading, blocks=False))


def _spots(room: Interior, base: PlacedModel, half: tuple[float, float]) -> Array:
    """(n, 2) random positions on a surface from which a thing of half this size does not stick out; n may be 0."""
    wide, deep, _ = base.model.size
    if base.model.shape == "round":
        left = wide / 2 - float(np.hypot(*half)) - INSET
        angle = 2 * np.pi * room.rng.random(SPOTS)
        away = max(0.0, left) * np.sqrt(room.rng.random(SPOTS))
        own_frame = np.stack([np.cos(angle), np.sin(angle)], axis=1) * away[:, None]
    else:
        margin = np.array((wide / 2 - half[0], deep / 2 - half[1])) - INSET
        left = float(margin.min())
        share = room.rng.random((SPOTS, 2)) * 2 - 1
        # Against the wall rather than at the front edge.
        share[:, 1] = np.where(deep < 0.7, -np.abs(share[:, 1]), share[:, 1])
        own_frame = share * np.maximum(0.0, margin)
    cos, sin = rounded_cos_sin(base.heading - np.pi / 2)
    turned = np.round(own_frame, 3) @ np.array([[cos, sin], [-sin, cos]])
    spots: Array = np.round(turned + np.array((base.x, base.y)), 3)
    return spots if left > -INSET else spots[:0]


def _occupied(room: Interior, base: PlacedModel, spots: Array, low: float, high: float) -> NDArray[np.bool_]:
    """(n,) whether rectangles (n, 4) between two heights meet any object but the one they lie on."""
    others: list[tuple[float, ...]] = [
        one.box for one in room.placed if one is not base and one.box[2] < high and one.box[5] > low - 0.001
    ]
    if base.model.size[2] > base.model.top + 0.02:
        others += _raised_parts(base, low)
    boxes = np.array(others, dtype=np.float64).reshape(-1, 6)
    met: NDArray[np.bool_] = np.logical_or.reduce(rectangles_overlap(spots, boxes[:, [0, 1, 3, 4]]), axis=1)
    return met


def _raised_parts(base: PlacedModel, low: float) -> list[tuple[float, ...]]:
    """The boxes of the parts of an object above its surface: the back of a sofa, the tap of a sink."""
    cos, sin = rounded_cos_sin(base.heading - np.pi / 2)
    found: list[tuple[float, ...]] = []
    for corners, _ in base.model.pieces:
        points = corners.reshape(-1, 3)
        if points[:, 2].max() + base.z > low + 0.001:
            x, y = points[:, 0] * cos - points[:, 1] * sin + base.x, points[:, 0] * sin + points[:, 1] * cos + base.y
            found.append((float(x.min()), float(y.min()), 0.0, float(x.max()), float(y.max()), 9.0))
    return found


def _lay_table(room: Interior, table: PlacedModel) -> None:
    """Add a plate and a glass in front of each chair at a table."""
    plate, glass = room.make(ware.PLATE), room.make(ware.DRINKING_GLASS)
    low = round(table.z + table.model.top + OFF_TOP, 4)
    reach = max(table.model.size[:2]) / 2 + 0.5
    for chair in [one for one in room.placed if one.model.name == "chair"]:
        away = np.array((table.x - chair.x, table.y - chair.y))
        if np.abs(away).max() > reach:
            continue
        cos, sin = rounded_cos_sin(chair.heading)
        for model, ahead, side in ((plate, 0.38, 0.0), (glass, 0.5, 0.13)):
            x, y = chair.x + cos * ahead - sin * side, chair.y + sin * ahead + cos * side
            half = max(model.size[:2]) / 2
            spot = np.round([[x - half, y - half, x + half, y + half]], 4)
            if not _occupied(room, table, spot, low, low + model.size[2]).any():
                room.add(PlacedModel(model, round(x, 3), round(y, 3), low, table.heading, blocks=False))


def _add_to_floor(room: Interior, clutter: float) -> None:
    """Add things along the walls, where they do not obstruct."""
    kinds = ON_FLOORS.get(room.room.kind, ())
    shapes = {(one.model.name, one.model.shape) for one in room.placed}
    if room.room.kind == "b" and shapes & {("bed", "single"), ("bunk bed", "tall")}:
        kinds = (*kinds, *TOYS)
    wanted = min(0.5 + room.area / 16, 3.0) * clutter
    order = room.rng.permutation(len(kinds))
    for k in order[: int(wanted + float(room.rng.random()))]:
        model = room.make(kinds[int(k)])
        poses = room.edge_poses if room.outdoor else None
        prefer = prefer_corner(room) if room.chance(0.5) else no_preference(room)
        room.place([single_object(model, front=0.05)], prefer, poses=poses)
