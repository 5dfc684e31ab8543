"""Slots along a hall: a single room, or a bedroom with its own bath and closet.

A slot is drawn in its own frame, `s` along the hall and `t` away from it, in decimetres. `fill_hall` chooses slots for
a stretch of hall so that their lengths add up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from itinera.hearth.layout.room_grid import NO_ROOM, InvalidLayout, Rect, RoomSketch, RowFrame

SlotRooms = list[tuple[str, list[Rect], int]]  # kind, rectangles, and the index in this list of the owning room


@dataclass(frozen=True)
class Slot:
    """A group of rooms that can be placed along a hall."""

    kinds: str  # the kinds of its rooms
    areas: tuple[float, float]  # minimum and maximum square metres
    lengths: tuple[int, int]  # minimum and maximum along the hall
    draw: Callable[[np.random.Generator, int, int], SlotRooms]  # from its length and depth
    weight: float = 1.0  # relative frequency among the slots of a menu
    least_depth: int = 0

    def span(self, depth: int) -> tuple[int, int]:
        """The minimum and maximum length at this depth; empty (minimum > maximum) if it cannot be that deep."""
        if depth < self.least_depth:
            return 1, 0
        least = max(self.lengths[0], int(np.ceil(self.areas[0] * 100 / depth)), -(-depth * 10 // 21))
        return least, min(self.lengths[1], int(self.areas[1] * 100 / depth))


def single_room(kind: str, areas: tuple[float, float], lengths: tuple[int, int], weight: float = 1.0) -> Slot:
    """A slot of a single room."""

    def draw(rng: np.random.Generator, length: int, depth: int) -> SlotRooms:
        return [(kind, [(0, 0, length, depth)], NO_ROOM)]

    return Slot(kind, areas, lengths, draw, weight)


def _with_closet(rng: np.random.Generator, length: int, depth: int) -> SlotRooms:
    """A bedroom around its closet in the corner by the hall."""
    wide, deep = int(rng.integers(17, 23)), int(rng.integers(18, 25))
    return [("b", [(wide, 0, length, depth), (0, deep, wide, depth)], NO_ROOM), ("c", [(0, 0, wide, deep)], 0)]


def _with_side_rooms(rng: np.random.Generator, length: int, depth: int) -> SlotRooms:
    """A bedroom beside its own bath (at the facade) and closet (by the hall), or with the bath open to the hall."""
    wide = int(rng.integers(21, 26))
    if rng.random() < 0.6:
        split = int(rng.integers(16, depth - 24))
        closet, bath = (0, 0, wide, split), (0, split, wide, depth)
        own = 0
    else:
        split = int(rng.integers(25, depth - 15))
        bath, closet = (0, 0, wide, split), (0, split, wide, depth)
        own = NO_ROOM
    return [("b", [(wide, 0, length, depth)], NO_ROOM), ("a", [bath], own), ("c", [closet], 0)]


def _with_nook(rng: np.random.Generator, length: int, depth: int) -> SlotRooms:
    """A bedroom entered through a nook between its bath and the next room."""
    nook, deep = int(rng.integers(14, 18)), int(rng.integers(19, 23))
    split = length - int(rng.integers(16, 20))
    rooms: SlotRooms = [("b", [(0, 0, nook, depth), (nook, deep, length, depth)], NO_ROOM)]
    if split - nook >= 24:
        return [*rooms, ("a", [(nook, 0, split, deep)], 0), ("c", [(split, 0, length, deep)], 0)]
    return [*rooms, ("a", [(nook, 0, length, deep)], 0)]


def _round_bath(rng: np.random.Generator, length: int, depth: int) -> SlotRooms:
    """A bedroom around a bath that opens to the hall."""
    wide, deep = int(rng.integers(22, 27)), int(rng.integers(25, 30))
    return [("b", [(wide, 0, length, depth), (0, deep, wide, depth)], NO_ROOM), ("a", [(0, 0, wide, deep)], NO_ROOM)]


def _laundry_and_toilet(rng: np.random.Generator, length: int, depth: int) -> SlotRooms:
    """A laundry around a toilet by the hall."""
    wide, deep = int(rng.integers(15, 18)), int(rng.integers(19, 23))
    return [("j", [(wide, 0, length, depth), (0, deep, wide, depth)], NO_ROOM), ("t", [(0, 0, wide, deep)], NO_ROOM)]


BEDROOMS = (
    single_room("b", (20, 31), (36, 62), 1.0),
    Slot("bc", (27, 38), (46, 70), _with_closet, 1.0, 40),
    Slot("bac", (34, 47), (60, 90), _with_side_rooms, 1.4, 44),
    Slot("bac", (32, 45), (50, 80), _with_nook, 0.8, 48),
    Slot("ba", (30, 42), (54, 80), _round_bath, 1.0, 44),
)
SERVICE = (
    Slot("jt", (15, 21), (33, 42), _laundry_and_toilet, 1.0, 40),
    single_room("a", (10, 13), (22, 28), 0.6),
    single_room("j", (11, 16), (24, 32), 0.5),
    single_room("u", (10, 15), (24, 32), 0.3),
)
LEISURE = (
    single_room("o", (15, 25), (30, 48), 1.0),
    single_room("i", (20, 29), (34, 56), 0.4),
    single_room("v", (22, 33), (40, 62), 0.4),
    single_room("n", (24, 35), (42, 64), 0.4),
    single_room("r", (32, 47), (54, 80), 0.4),
    single_room("w", (22, 33), (40, 62), 0.35),
    single_room("f", (32, 48), (52, 80), 0.5),
)
DOWNSTAIRS_ONLY = (
    single_room("g", (28, 44), (52, 80), 3.0),
    single_room("S", (13, 19), (28, 38), 0.15),
    single_room("B", (16, 23), (30, 44), 0.2),
)

FILL_TRIES = 12  # for a stretch of hall; more are dearer than another house
MAX_PER_KIND = dict.fromkeys("ktjugoivnrwfSBde", 1) | {"o": 2, "b": 6, "a": 5, "c": 5}
"""The maximum number of rooms of each kind in a house."""


def fill_hall(
    rng: np.random.Generator, total: int, depth: int, menu: Sequence[Slot], taken: list[str]
) -> list[tuple[Slot, int]]:
    """Slots and their lengths that fill a stretch of hall exactly; `taken` are the kinds the house has already."""
    if total == 0:
        return []
    if total < 0:
        raise InvalidLayout("the hall is too short")
    spans = {slot: span for slot in menu if (span := slot.span(depth))[0] <= span[1]}
    for _ in range(FILL_TRIES):
        chosen = _draw_slots(rng, total, spans, list(taken))
        if chosen:
            taken.extend("".join(slot.kinds for slot in chosen))
            return list(zip(chosen, _lengths(rng, total, [spans[slot] for slot in chosen]), strict=True))
    raise InvalidLayout("no slots fill this stretch of hall")


def _draw_slots(
    rng: np.random.Generator, total: int, spans: Mapping[Slot, tuple[int, int]], taken: list[str]
) -> list[Slot]:
    """Slots that together can be as long as the gap; empty if the draw failed."""
    chosen: list[Slot] = []
    least = most = 0
    while most < total:
        fitting = [slot for slot, (low, _) in spans.items() if low <= total - least and _is_allowed(slot, taken)]
        if not fitting:
            return []
        weights = np.cumsum([slot.weight for slot in fitting])
        slot = fitting[int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))]
        chosen.append(slot)
        taken.extend(slot.kinds)
        least, most = least + spans[slot][0], most + spans[slot][1]
    return chosen


def _is_allowed(slot: Slot, taken: list[str]) -> bool:
    return all(taken.count(kind) < MAX_PER_KIND[kind] for kind in slot.kinds)


def _lengths(rng: np.random.Generator, total: int, spans: list[tuple[int, int]]) -> list[int]:
    """A length within each span; they sum to the gap."""
    lengths = [low for low, _ in spans]
    while (missing := total - sum(lengths)) > 0:
        open_ones = [k for k, (_, high) in enumerate(spans) if lengths[k] < high]
        k = open_ones[int(rng.integers(len(open_ones)))]
        lengths[k] += min(int(rng.integers(1, 6)), spans[k][1] - lengths[k], missing)
    return lengths


def draw_slot(
    rng: np.random.Generator, slot: Slot, frame: RowFrame, start: int, length: int, depth: int, first: int
) -> list[RoomSketch]:
    """The rooms of a slot, placed from `start` along a row; `first` is the index of the first of them."""
    flip = bool(rng.random() < 0.5)
    rooms: list[RoomSketch] = []
    for kind, rects, owner in slot.draw(rng, length, depth):
        placed = tuple(frame.place(_shift(rect, start, length, flip=flip)) for rect in rects)
        rooms.append(RoomSketch(kind, placed, NO_ROOM if owner == NO_ROOM else first + owner))
    return rooms


def _shift(rect: Rect, start: int, length: int, *, flip: bool) -> Rect:
    s0, t0, s1, t1 = rect
    if flip:
        s0, s1 = length - s1, length - s0
    return start + s0, t0, start + s1, t1
