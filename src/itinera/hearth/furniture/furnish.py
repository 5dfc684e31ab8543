"""The furniture of a house: every room by its programme, then light, curtains, plants and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from itinera.hearth.furniture import decor
from itinera.hearth.furniture.groups import solo
from itinera.hearth.furniture.interior import FRONT, Interior, Placed
from itinera.hearth.furniture.placement import anywhere, in_a_corner
from itinera.hearth.furniture.room_programs import NEEDED, PROGRAMMES
from itinera.hearth.geometry.shapes import moved, turned
from itinera.hearth.geometry.solids import Solids
from itinera.hearth.item import Item
from itinera.hearth.layout.plan import Plan, PlannedRoom, Window

# Rooms by Matterport's letter: those nobody hangs pictures or curtains in, and those that get plants and so on.
BARE = frozenset("cgjut")
GREEN = frozenset("bdeflnovihrB")
LAMPLIT = frozenset("blfnviod")
TIMED = frozenset("kldofe")
ATTEMPTS = 6  # to find places for all a room needs
HEADROOM = 2.08  # below whatever hangs from the ceiling


def furnish(plan: Plan, fixtures: Sequence[Item], rng: np.random.Generator, solids: Solids) -> tuple[Item, ...]:
    """The furniture of all rooms, its triangles added to the solids; indices follow those of the fixtures."""
    items: list[Item] = []
    said: dict[str, int] = {}
    for room in plan.rooms:
        interior = _furnished(plan, room, fixtures, rng, said)
        said = interior.said
        for one in interior.placed:
            items.append(_deliver(one, len(fixtures) + len(items) + 1, interior, solids))
    return tuple(items)


def _furnished(
    plan: Plan, room: PlannedRoom, fixtures: Sequence[Item], rng: np.random.Generator, said: dict[str, int]
) -> Interior:
    """The room with its furniture; begun anew a few times where something it needs has found no place."""
    tried: list[Interior] = []
    for _ in range(ATTEMPTS):
        interior = Interior(plan, room, fixtures, rng, dict(said))
        _light(interior)
        PROGRAMMES[room.kind](interior)
        tried.append(interior)
        if not any(_lacking(interior)):
            break
    best = min(tried, key=_lacking)
    _dress(best)
    return best


def _lacking(interior: Interior) -> list[bool]:
    """Of each thing a room needs, the most needed first, whether it is missing."""
    names = {one.model.name for one in interior.placed}
    return [names.isdisjoint(choice) for choice in NEEDED.get(interior.room.kind, ())]


def _deliver(one: Placed, index: int, interior: Interior, solids: Solids) -> Item:
    """The item for a placed model; its triangles go to the solids."""
    low = one.z + interior.room.floor
    whole = np.concatenate([corners for corners, _ in one.model.pieces])
    standing = moved(turned(whole, one.heading - np.pi / 2), one.x, one.y, low)
    done = 0
    for corners, colour in one.model.pieces:
        solids.triangles(standing[done : done + len(corners)], one.model.category, index, colour)
        done += len(corners)
    return Item(
        index,
        one.model.name,
        one.model.category,
        interior.room.index,
        np.round((one.x, one.y, low + one.model.size[2] / 2), 4),
        np.array(one.model.size),
        one.heading,
        one.model.colour,
        one.model.shape,
        one.blocks,
    )


def _light(room: Interior) -> None:
    """Ceiling lamps: one in the middle, more along a long room."""
    high = room.room.height
    drop = round(min(0.7, high - HEADROOM - 0.03), 2)
    plain = room.area < 5 or room.room.kind in BARE
    lamp = room.make(decor.ceiling_lamp(0.1 if plain else drop))
    width, depth = np.ptp(room.outline, axis=0)
    count = 1 if max(width, depth) < 5.5 else 2 if max(width, depth) < 9 else 3
    x, y = room.centre
    for share in [(k + 0.5) / count - 0.5 for k in range(count)]:
        at = (x + share * width, y) if width > depth else (x, y + share * depth)
        z = high - 0.004 - lamp.size[2]
        one = Placed(lamp, round(float(at[0]), 2), round(float(at[1]), 2), round(z, 4), 0.0, blocks=False)
        x0, y0, _, x1, y1, _ = one.box
        if room.contains((x0 - 0.1, y0 - 0.1, x1 + 0.1, y1 + 0.1)) and not room.hits(one.box):
            room.add(one)


def _dress(room: Interior) -> None:
    """Curtains, plants, lamps and pictures, wherever there is room left."""
    if room.room.kind not in BARE:
        _curtains(room)
    if room.room.kind in GREEN and room.area > 7:
        for _ in range(1 + int(room.area > 20) + int(room.area > 36)):
            if room.chance(0.65):
                plant = decor.TALL_PLANT if room.chance(0.5) else decor.PLANT
                room.place([solo(room.make(plant), front=0.1)], in_a_corner(room))
    if room.room.kind in LAMPLIT and room.chance(0.6):
        room.place([solo(room.make(decor.FLOOR_LAMP), front=0.1)], in_a_corner(room))
    if room.room.kind not in BARE:
        _pictures(room)


def _curtains(room: Interior) -> None:
    """Curtains of one colour beside the windows: down to the floor where nothing stands before them."""
    colour = room.make(decor.curtain(1.0, 2.0)).colour
    for k, window in enumerate(room.windows):
        if np.abs(window.normal).min() > 0.01:
            continue  # models hang straight, so slanting walls of a bay go without
        for low in (0.06, round(window.sill - room.room.floor - 0.12, 2)):
            hung = _curtain(room, window, low, colour)
            x0, y0, _, x1, y1, _ = hung.box
            if room.contains((x0 - 0.02, y0 - 0.02, x1 + 0.02, y1 + 0.02)) and not room.hits(hung.box, beside=k):
                room.add(hung)
                break


def _curtain(room: Interior, window: Window, low: float, colour: str) -> Placed:
    """A pair of curtains this high above the floor beside a window."""
    top = min(window.top - room.room.floor + 0.16, room.room.height - 0.05)
    pair = room.make(replace(decor.curtain(window.width, round(top - low, 3)), colours=(colour,)))
    x, y = np.round(window.centre - window.normal * (0.05 + pair.size[1] / 2), 4)
    quarter = int(np.argmax((FRONT * -window.normal).sum(axis=1)))
    return Placed(pair, float(x), float(y), low, quarter * np.pi / 2, blocks=False)


def _pictures(room: Interior) -> None:
    """Pictures at eye height, and by the kind of room a clock, a mirror or a lamp."""
    count = min(4, 1 + int(room.area / 11)) if room.room.kind not in "ak" else int(room.chance(0.5))
    for _ in range(count):
        picture = room.make(decor.PICTURE)
        room.hang(picture, round(1.58 - picture.size[2] / 2, 2), anywhere(room))
    if room.room.kind in TIMED and room.chance(0.5):
        room.hang(room.make(decor.CLOCK), 1.7, anywhere(room))
    if room.room.kind in "be" and room.chance(0.5):
        room.hang(room.make(decor.TALL_MIRROR), 0.3, anywhere(room))
    if room.room.kind in "hls" and room.chance(0.5):
        room.hang(room.make(decor.WALL_LAMP), 1.6, anywhere(room))
