"""The furniture of a house: every room by its program, then lamps, curtains, plants and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from itinera.hearth.furniture import decor
from itinera.hearth.furniture.clutter import add_clutter
from itinera.hearth.furniture.groups import single_object
from itinera.hearth.furniture.interior import FRONT, Interior, PlacedModel
from itinera.hearth.furniture.placement import no_preference, prefer_corner
from itinera.hearth.furniture.room_programs import REQUIREMENTS, ROOM_PROGRAMS
from itinera.hearth.geometry.shapes import rotate, translate
from itinera.hearth.geometry.solids import HouseObject, Solids
from itinera.hearth.layout.plan import FloorPlan, PlannedRoom, Window
from itinera.hearth.palette import HouseScheme, draw_scheme

# Rooms by Matterport's letter: those without pictures and curtains, and those with plants, floor lamps and clocks.
UNDECORATED = frozenset("cgjutpxy")
WITH_PLANTS = frozenset("bdeflnovihrB")
WITH_FLOOR_LAMP = frozenset("blfnviod")
WITH_CLOCK = frozenset("kldofe")
ATTEMPTS = 6  # to place everything a room requires
HEADROOM = 2.08  # metres below objects that hang from the ceiling
FLAT_DROP = 0.1  # metres from the ceiling to the lowest point of a flat lamp


def furnish(
    plan: FloorPlan,
    fixtures: Sequence[HouseObject],
    rng: np.random.Generator,
    solids: Solids,
    *,
    clutter: float = 1.0,
) -> tuple[HouseObject, ...]:
    """The furniture of all rooms, then small things; adds their triangles to the solids.

    Indices continue those of the fixtures. `clutter` scales the number of small things and changes nothing else.
    """
    items: list[HouseObject] = []
    interiors: list[Interior] = []
    description_counts: dict[str, int] = {}
    scheme = draw_scheme(rng)
    for room in plan.rooms:
        interior = _furnish_room(plan, room, fixtures, rng, scheme, description_counts)
        description_counts = interior.description_counts
        interiors.append(interior)
        items += _add_objects(interior.placed, len(fixtures) + len(items) + 1, interior, solids)
    # A generator of its own, so that the furniture does not depend on the clutter.
    small = np.random.default_rng(int(rng.integers(2**62)))
    for interior in interiors if clutter > 0 else []:
        done = len(interior.placed)
        interior.rng = small
        add_clutter(interior, clutter)
        items += _add_objects(interior.placed[done:], len(fixtures) + len(items) + 1, interior, solids)
    return tuple(items)


def _add_objects(placed: Sequence[PlacedModel], first: int, interior: Interior, solids: Solids) -> list[HouseObject]:
    return [_add_object(one, first + k, interior, solids) for k, one in enumerate(placed)]


def _furnish_room(
    plan: FloorPlan,
    room: PlannedRoom,
    fixtures: Sequence[HouseObject],
    rng: np.random.Generator,
    scheme: HouseScheme,
    description_counts: dict[str, int],
) -> Interior:
    """The furnished room; restarted a few times if a required object does not fit."""
    tried: list[Interior] = []
    for _ in range(ATTEMPTS):
        interior = Interior(plan, room, fixtures, rng, scheme, dict(description_counts))
        _add_lamps(interior)
        ROOM_PROGRAMS[room.kind](interior)
        tried.append(interior)
        if not any(_missing_requirements(interior)):
            break
    best = min(tried, key=_missing_requirements)
    _decorate(best)
    return best


def _missing_requirements(interior: Interior) -> list[bool]:
    """For each requirement of a room, the most important first, whether it is missing."""
    names = {one.model.name for one in interior.placed}
    return [names.isdisjoint(choice) for choice in REQUIREMENTS.get(interior.room.kind, ())]


def _add_object(one: PlacedModel, index: int, interior: Interior, solids: Solids) -> HouseObject:
    """The object for a placed model; adds its triangles to the solids."""
    low = one.z + interior.room.floor
    whole = np.concatenate([corners for corners, _ in one.model.pieces])
    standing = translate(rotate(whole, one.heading - np.pi / 2), one.x, one.y, low)
    done = 0
    for corners, paint in one.model.pieces:
        piece = standing[done : done + len(corners)]
        solids.triangles(piece, one.model.category, index, (paint.red, paint.green, paint.blue), paint.material)
        done += len(corners)
    return HouseObject(
        index,
        one.model.name,
        one.model.category,
        interior.room.index,
        np.round((one.x, one.y, low + one.model.size[2] / 2), 4),
        np.array(one.model.size),
        one.heading,
        one.model.color,
        one.model.shape,
        one.model.material,
        one.blocks,
    )


def _add_lamps(room: Interior) -> None:
    """Add ceiling lamps: one in the middle, more along a long room; none outdoors."""
    if room.outdoor:
        return
    high = room.room.height
    drop = round(min(0.7, high - HEADROOM - 0.03), 2)
    plain = room.area < 5 or room.room.kind in UNDECORATED
    lamp = room.make(decor.ceiling_lamp(FLAT_DROP if plain else drop))
    width, depth = np.ptp(room.outline, axis=0)
    count = 1 if max(width, depth) < 5.5 else 2 if max(width, depth) < 9 else 3
    x, y = room.center
    for share in [(k + 0.5) / count - 0.5 for k in range(count)]:
        at = (x + share * width, y) if width > depth else (x, y + share * depth)
        z = high - 0.004 - lamp.size[2]
        one = PlacedModel(lamp, round(float(at[0]), 2), round(float(at[1]), 2), round(z, 4), 0.0, blocks=False)
        x0, y0, _, x1, y1, _ = one.box
        if room.contains((x0 - 0.1, y0 - 0.1, x1 + 0.1, y1 + 0.1)) and not room.intersects(one.box):
            room.add(one)
    if not room.placed:
        _add_flat_lamp(room)


def _add_flat_lamp(room: Interior) -> None:
    """Add a lamp wherever the ceiling is free, for bent halls and stairwells; failing that, one on a wall."""
    if room.hang_from_ceiling(room.make(decor.ceiling_lamp(FLAT_DROP))) is None:
        room.hang(room.make(decor.WALL_LAMP), 1.6, no_preference(room))


def _decorate(room: Interior) -> None:
    """Add curtains, plants, lamps and pictures, wherever there is room left; nothing outdoors."""
    if room.outdoor:
        return
    if room.room.kind not in UNDECORATED:
        _add_curtains(room)
    if room.room.kind in WITH_PLANTS and room.area > 7:
        for _ in range(1 + int(room.area > 20) + int(room.area > 36)):
            if room.chance(0.65):
                plant = decor.TALL_PLANT if room.chance(0.5) else decor.PLANT
                room.place([single_object(room.make(plant), front=0.1)], prefer_corner(room))
    if room.room.kind in WITH_FLOOR_LAMP and room.chance(0.6):
        room.place([single_object(room.make(decor.FLOOR_LAMP), front=0.1)], prefer_corner(room))
    if room.room.kind not in UNDECORATED:
        _add_pictures(room)


def _add_curtains(room: Interior) -> None:
    """Add curtains of one color beside the windows: down to the floor where nothing is in front of them."""
    color = room.make(decor.curtain(1.0, 2.0)).color
    for k, window in enumerate(room.windows):
        if np.abs(window.normal).min() > 0.01:
            continue  # models hang straight, so the slanted walls of a bay have none
        for low in (0.06, round(window.sill - room.room.floor - 0.12, 2)):
            hung = _make_curtain(room, window, low, color)
            x0, y0, _, x1, y1, _ = hung.box
            fits = room.contains((x0 - 0.02, y0 - 0.02, x1 + 0.02, y1 + 0.02)) and not room.intersects(
                hung.box, beside=k
            )
            if fits and room.add_if_passable(hung):
                break


def _make_curtain(room: Interior, window: Window, low: float, color: str) -> PlacedModel:
    """A pair of curtains beside a window, at this height above the floor."""
    top = min(window.top - room.room.floor + 0.16, room.room.height - 0.05)
    pair = room.make(replace(decor.curtain(window.width, round(top - low, 3)), colors=(color,)))
    x, y = np.round(window.center - window.normal * (0.05 + pair.size[1] / 2), 4)
    quarter = int(np.argmax((FRONT * -window.normal).sum(axis=1)))
    return PlacedModel(pair, float(x), float(y), low, quarter * np.pi / 2, blocks=False)


def _add_pictures(room: Interior) -> None:
    """Add pictures at eye height and, by the kind of room, a clock, a mirror or a lamp."""
    count = min(4, 1 + int(room.area / 11)) if room.room.kind not in "ak" else int(room.chance(0.5))
    for _ in range(count):
        picture = room.make(decor.PICTURE)
        room.hang(picture, round(1.58 - picture.size[2] / 2, 2), no_preference(room))
    if room.room.kind in WITH_CLOCK and room.chance(0.5):
        room.hang(room.make(decor.CLOCK), 1.7, no_preference(room))
    if room.room.kind in "be" and room.chance(0.5):
        room.hang(room.make(decor.TALL_MIRROR), 0.3, no_preference(room))
    if room.room.kind in "hls" and room.chance(0.5):
        room.hang(room.make(decor.WALL_LAMP), 1.6, no_preference(room))
