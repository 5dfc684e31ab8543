"""A storey: a hall with rooms along both sides, blocks of rooms across its ends, and perhaps a wing.

The ground floor has the entry, the public rooms and, in a house of several storeys, the stairs; upper floors lie above
it with the stairs in the same place. The hall runs along x from 0, with the front of the house towards smaller y.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from itinera.hearth.layout.room_blocks import RoomShare, subdivide_block
from itinera.hearth.layout.room_grid import NO_ROOM, InvalidLayout, Rect, RoomSketch, RowFrame
from itinera.hearth.layout.slots import (
    BEDROOMS,
    DOWNSTAIRS_ONLY,
    LEISURE,
    SERVICE,
    Slot,
    draw_slot,
    fill_hall,
    single_room,
)

ENTRY = single_room("e", (12, 21), (26, 40))
KITCHEN = single_room("k", (22, 32), (36, 62))
UPPER_ROOMS = 8  # about as many rooms as are left for each upper floor
MAX_HALL = 136  # length of a hall, decimetres
STAIRWELLS = ((24, 27, 58, 61), (23, 25, 50, 56), (34, 38, 50, 56))
"""Least and most width along the hall, and depth, of the stairwells of straight, U-shaped and L-shaped stairs."""

GROUND = (*BEDROOMS, *SERVICE, *LEISURE, *DOWNSTAIRS_ONLY)
UPPER = (*BEDROOMS, *SERVICE, *LEISURE)

Row = list[tuple[Slot, int]]


@dataclass(frozen=True)
class Spine:
    """The measures of the ground floor that the upper floor needs."""

    width: int  # of the hall
    front: int  # depth of the row in front, with the stairs
    back: int  # depth of the row behind
    ends: tuple[int, int]  # the extent of the house along the hall
    stairs: tuple[int, int]  # their extent along the hall


@dataclass(frozen=True)
class HallStyle:
    """The proportions of a house along one hall."""

    widths: tuple[int, int]  # of the hall
    extension: tuple[int, int]  # length of the hall beyond the entry and the stairs
    wing: float  # probability of a wing across the hall
    depths: tuple[int, int] = (48, 60)  # of the rows of rooms


@dataclass
class StoreySketch:
    """The rooms of a storey, as they are added."""

    rng: np.random.Generator
    hall: list[Rect]
    rooms: list[RoomSketch] = field(default_factory=list)  # all but the hall, which is added last
    taken: list[str] = field(default_factory=list)  # kinds that are used or reserved

    def add(self, kind: str, rect: Rect, owner: int = NO_ROOM) -> None:
        self.rooms.append(RoomSketch(kind, (rect,), owner))

    def add_row(self, frame: RowFrame, start: int, depth: int, row: Row) -> int:
        """Add slots one after the other; returns the end of the last one."""
        for slot, length in row:
            self.rooms += draw_slot(self.rng, slot, frame, start, length, depth, len(self.rooms))
            start += length
        return start

    def fill(self, frame: RowFrame, start: int, end: int, depth: int, menu: Sequence[Slot]) -> None:
        self.add_row(frame, start, depth, fill_hall(self.rng, end - start, depth, menu, self.taken))

    def all_rooms(self) -> list[RoomSketch]:
        return [*self.rooms, RoomSketch("h", tuple(self.hall))]


def randint(rng: np.random.Generator, low: int, high: int) -> int:
    """A random integer from low to high, both inclusive."""
    return int(rng.integers(low, high + 1))


def sketch_ground_floor(
    rng: np.random.Generator, style: HallStyle, *, rooms: int, upper_floors: int
) -> tuple[list[RoomSketch], Spine]:
    """The rooms of a ground floor, for a house of about `rooms` rooms."""
    stairs = upper_floors > 0
    width = randint(rng, *style.widths)
    well = STAIRWELLS[int(rng.choice(3, p=(0.2, 0.4, 0.4)))]
    front, back = randint(rng, *(well[2:] if stairs else style.depths)), randint(rng, *style.depths)
    sketch = StoreySketch(rng, [], taken=list("ekdl"))
    shares = _public_shares(rng)
    sketch.taken += [kind for kind, _ in shares if kind not in "kdl"]
    in_front, behind = RowFrame((0, 0), (1, 0), (0, -1)), RowFrame((0, width), (1, 0), (0, 1))
    entry, stairs_at, used = _front_rooms(sketch, in_front, front, well if stairs else None)
    wing = bool(rng.random() < style.wing)
    length = max(used + _hall_extension(rng, style), 60)
    if length > MAX_HALL:
        raise InvalidLayout("the hall is too long")
    sketch.hall.append((0, 0, length, width))
    wing_in_front = wing and not stairs and bool(rng.random() < 0.5)
    _finish_row(sketch, in_front, used, length, front, wing=wing_in_front, room_width=width)
    kitchen_in_row = "k" not in [kind for kind, _ in shares]
    used = sketch.add_row(behind, 0, back, [(KITCHEN, draw_length(rng, KITCHEN, back))] if kitchen_in_row else [])
    _finish_row(sketch, behind, used, length, back, wing=wing and not wing_in_front, room_width=width)
    missing = rooms - len(sketch.rooms) - len(shares) - 1 - UPPER_ROOMS * upper_floors
    if not -1 <= missing <= 4:
        raise InvalidLayout("too few or too many rooms")
    _public_block(sketch, shares, width, front, back, entry)
    if missing >= 2:
        _own_bath_block(sketch, length, width, front, back, outwards=1)
    return sketch.all_rooms(), Spine(width, front, back, _ends(sketch), stairs_at)


def _hall_extension(rng: np.random.Generator, style: HallStyle) -> int:
    """The length of the hall beyond the entry and the stairs."""
    return 0 if rng.random() < 0.2 else randint(rng, *style.extension)


def _public_shares(rng: np.random.Generator) -> list[RoomShare]:
    """The rooms at the public end of the hall and their target areas, square metres."""
    shares: list[RoomShare] = [("l", float(rng.uniform(48, 65)))]
    if rng.random() < 0.9:
        shares.append(("d", float(rng.uniform(25, 33))))
    if rng.random() < 0.6:
        shares.append(("k", float(rng.uniform(25, 33))))
    more = float(rng.random())
    if more < 0.45:
        shares.append(("f", float(rng.uniform(37, 50))))
    elif more < 0.6:
        shares.append(("n", float(rng.uniform(26, 35))))
    return shares


def _front_rooms(
    sketch: StoreySketch, frame: RowFrame, depth: int, well: tuple[int, int, int, int] | None
) -> tuple[Rect, tuple[int, int], int]:
    """The rectangle of the entry, the extent of the stairs, and how much of the row is used."""
    rng = sketch.rng
    start = 0
    if rng.random() < 0.25:
        start = sketch.add_row(frame, 0, depth, fill_hall(rng, randint(rng, 34, 56), depth, LEISURE, sketch.taken))
    # Entries are often recessed, sometimes brought forward.
    entry_depth = min(60, depth + int(rng.choice([0, 0, -10, -12])))
    length = draw_length(rng, ENTRY, entry_depth)
    entry = (start, 0, start + length, entry_depth)
    sketch.add("e", frame.place(entry))
    start += length
    if well is None:
        return frame.place(entry), (0, 0), start
    end = start + randint(rng, *well[:2])
    sketch.add("s", frame.place((start, 0, end, depth)))
    return frame.place(entry), (start, end), end


def _finish_row(
    sketch: StoreySketch, frame: RowFrame, start: int, end: int, depth: int, *, wing: bool, room_width: int
) -> None:
    """Add rooms from `start` to the end of the hall, with a wing at its end if asked."""
    rng = sketch.rng
    if not wing:
        sketch.fill(frame, start, end, depth, GROUND)
        return
    width = randint(rng, 15, 19)
    sketch.fill(frame, start, end - width, depth, GROUND)
    _wing(sketch, frame, end - width, width, depth, longest=MAX_HALL - depth - room_width)


def _wing(sketch: StoreySketch, frame: RowFrame, at: int, width: int, depth: int, *, longest: int) -> None:
    """Add a branch of the hall through a row and beyond, with rooms along one or both of its sides."""
    rng = sketch.rng
    long = randint(rng, 42, min(longest, 80))
    sketch.hall.append(frame.place((at, 0, at + width, depth + long)))
    (ox, oy), (ax, ay), away = frame.origin, frame.along, frame.away
    sides = [(at, (-ax, -ay)), (at + width, (ax, ay))]
    only = 1 if rng.random() < 0.4 else None
    for which, (s, outwards) in enumerate(sides):
        if only in (None, which):
            origin = ox + s * ax + depth * away[0], oy + s * ay + depth * away[1]
            sketch.fill(RowFrame(origin, away, outwards), 0, long, randint(rng, 46, 56), UPPER)


def _public_block(
    sketch: StoreySketch, shares: list[RoomShare], width: int, front: int, back: int, entry: Rect
) -> None:
    """Add the public rooms across the near end of the hall."""
    rng = sketch.rng
    low = -front - int(rng.choice([0, 0, 0, 14, -12]))
    high = width + back + int(rng.choice([0, 0, 0, 14, -12]))
    long = round(sum(area for _, area in shares) * 100 / (high - low))
    hall_gains = {"l": 4.0, "d": 3.0, "f": 2.0, "k": 0.5, "n": 2.0}
    steps: list[tuple[Rect, Mapping[str, float]]] = [((0, 0, 1, width), hall_gains)]
    if entry[0] == 0:
        steps.append((entry, {"l": 2.0, "d": 1.0, "f": 0.5}))
    if "k" not in [kind for kind, _ in shares]:
        steps.append(((0, width, 1, width + back), {"d": 8.0, "f": 1.0}))
    for kind, rect in subdivide_block(rng, (-long, low, 0, high), shares, steps):
        sketch.add(kind, rect)


def _own_bath_block(sketch: StoreySketch, at: int, width: int, front: int, back: int, *, outwards: int) -> None:
    """Add a large bedroom with its bath and closet across the end of a hall."""
    rng = sketch.rng
    low, high = -front + int(rng.choice([0, 0, 0, 12])), width + back - int(rng.choice([0, 0, 0, 12]))
    shares: list[RoomShare] = [
        ("b", float(rng.uniform(23, 30))),
        ("a", float(rng.uniform(8, 12))),
        ("c", float(rng.uniform(5, 8))),
    ]
    long = max(38, round(sum(area for _, area in shares) * 100 / (high - low)))
    block = (at, low, at + long, high) if outwards > 0 else (at - long, low, at, high)
    step = (at - 1, 0, at, width) if outwards > 0 else (at, 0, at + 1, width)
    rooms = subdivide_block(rng, block, shares, [(step, {"b": 20.0})])
    bedroom = len(sketch.rooms) + [kind for kind, _ in rooms].index("b")
    for kind, rect in rooms:
        sketch.add(kind, rect, bedroom if kind in "ac" else NO_ROOM)


def _ends(sketch: StoreySketch) -> tuple[int, int]:
    rects = [rect for room in sketch.rooms for rect in room.rects] + sketch.hall
    return min(rect[0] for rect in rects), max(rect[2] for rect in rects)


def sketch_upper_floor(
    rng: np.random.Generator, spine: Spine, below: Sequence[str], *, rooms: int
) -> tuple[list[RoomSketch], Spine]:
    """About `rooms` rooms on an upper floor, around the same stairs; `below` are the kinds the house has already."""
    start, end = spine.stairs
    low, high = start - _upper_extension(rng, start - spine.ends[0]), end + _upper_extension(rng, spine.ends[1] - end)
    if high - low > MAX_HALL:
        raise InvalidLayout("the hall is too long")
    width, front, back = spine.width, spine.front, spine.back
    sketch = StoreySketch(
        rng, [(low, 0, high, width)], taken=[*(kind for kind in below if kind not in "bac"), *"ekdlug"]
    )
    in_front, behind = RowFrame((0, 0), (1, 0), (0, -1)), RowFrame((0, width), (1, 0), (0, 1))
    sketch.add("s", in_front.place((start, 0, end, front)))
    sketch.fill(in_front, low, start, front, UPPER)
    sketch.fill(in_front, end, high, front, UPPER)
    sketch.fill(behind, low, high, back, UPPER)
    missing = rooms - len(sketch.rooms) - 1
    if not -1 <= missing <= 4:
        raise InvalidLayout("too few or too many rooms")
    if missing >= 2 and spine.ends[1] - high >= 36:
        _own_bath_block(sketch, high, width, front, back, outwards=1)
    elif missing >= 2 and low - spine.ends[0] >= 36:
        _own_bath_block(sketch, low, width, front, back, outwards=-1)
    return sketch.all_rooms(), replace(spine, ends=_ends(sketch))


def _upper_extension(rng: np.random.Generator, most: int) -> int:
    """The length of the upper floor beside the stairs: often up to the facade below."""
    if most < 34 or rng.random() < 0.1:
        return 0
    return most if most <= 75 and rng.random() < 0.5 else randint(rng, 34, min(most, 75))


def draw_length(rng: np.random.Generator, slot: Slot, depth: int) -> int:
    """A random length for a slot of this depth."""
    low, high = slot.span(depth)
    if low > high:
        raise InvalidLayout(f"no {slot.kinds} is {depth} deep")
    return randint(rng, low, high)
