"""What fills a place beside a hall: a room alone, or a bedroom with the bath and closet that belong to it.

A slot is drawn in its own frame, `s` along the hall and `t` away from it, in decimetres. `fill` chooses slots for a
stretch of hall so that their lengths add up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from itinera.hearth.layout.room_grid import NOBODY, Frame, Rect, Sketched, Unbuildable

Drawn = list[tuple[str, list[Rect], int]]  # kind, rectangles, and the place in this list of the room it belongs to


@dataclass(frozen=True)
class Slot:
    """Something that can stand beside a hall."""

    kinds: str  # the rooms it brings
    areas: tuple[float, float]  # least and most square metres
    lengths: tuple[int, int]  # least and most along the hall
    draw: Callable[[np.random.Generator, int, int], Drawn]  # from its length and depth
    weight: float = 1.0  # how often it is chosen, beside the others of a menu
    least_depth: int = 0

    def span(self, depth: int) -> tuple[int, int]:
        """The least and most length it can have at this depth; empty (least > most) if it cannot be that deep."""
        if depth < self.least_depth:
            return 1, 0
        least = max(self.lengths[0], int(np.ceil(self.areas[0] * 100 / depth)), -(-depth * 10 // 21))
        return least, min(self.lengths[1], int(self.areas[1] * 100 / depth))


def alone(kind: str, areas: tuple[float, float], lengths: tuple[int, int], weight: float = 1.0) -> Slot:
    """A slot of a single room."""

    def draw(rng: np.random.Generator, length: int, depth: int) -> Drawn:
        return [(kind, [(0, 0, length, depth)], NOBODY)]

    return Slot(kind, areas, lengths, draw, weight)


def _with_closet(rng: np.random.Generator, length: int, depth: int) -> Drawn:
    """A bedroom round its closet in the corner by the hall."""
    wide, deep = int(rng.integers(17, 23)), int(rng.integers(18, 25))
    return [("b", [(wide, 0, length, depth), (0, deep, wide, depth)], NOBODY), ("c", [(0, 0, wide, deep)], 0)]


def _with_side_rooms(rng: np.random.Generator, length: int, depth: int) -> Drawn:
    """A bedroom beside its own bath (at the facade) and closet (by the hall), or the bath open to the hall instead."""
    wide = int(rng.integers(21, 26))
    if rng.random() < 0.6:
        split = int(rng.integers(16, depth - 24))
        closet, bath = (0, 0, wide, split), (0, split, wide, depth)
        own = 0
    else:
        split = int(rng.integers(25, depth - 15))
        bath, closet = (0, 0, wide, split), (0, split, wide, depth)
        own = NOBODY
    return [("b", [(wide, 0, length, depth)], NOBODY), ("a", [bath], own), ("c", [closet], 0)]


def _with_nook(rng: np.random.Generator, length: int, depth: int) -> Drawn:
    """A bedroom entered through a nook between its bath and the next room."""
    nook, deep = int(rng.integers(14, 18)), int(rng.integers(19, 23))
    split = length - int(rng.integers(16, 20))
    rooms: Drawn = [("b", [(0, 0, nook, depth), (nook, deep, length, depth)], NOBODY)]
    if split - nook >= 24:
        return [*rooms, ("a", [(nook, 0, split, deep)], 0), ("c", [(split, 0, length, deep)], 0)]
    return [*rooms, ("a", [(nook, 0, length, deep)], 0)]


def _round_bath(rng: np.random.Generator, length: int, depth: int) -> Drawn:
    """A bedroom that reaches round a bath which opens to the hall."""
    wide, deep = int(rng.integers(22, 27)), int(rng.integers(25, 30))
    return [("b", [(wide, 0, length, depth), (0, deep, wide, depth)], NOBODY), ("a", [(0, 0, wide, deep)], NOBODY)]


def _laundry_and_toilet(rng: np.random.Generator, length: int, depth: int) -> Drawn:
    """A laundry round a toilet by the hall."""
    wide, deep = int(rng.integers(15, 18)), int(rng.integers(19, 23))
    return [("j", [(wide, 0, length, depth), (0, deep, wide, depth)], NOBODY), ("t", [(0, 0, wide, deep)], NOBODY)]


BEDROOMS = (
    alone("b", (20, 31), (36, 62), 1.0),
    Slot("bc", (27, 38), (46, 70), _with_closet, 1.0, 40),
    Slot("bac", (34, 47), (60, 90), _with_side_rooms, 1.4, 44),
    Slot("bac", (32, 45), (50, 80), _with_nook, 0.8, 48),
    Slot("ba", (30, 42), (54, 80), _round_bath, 1.0, 44),
)
SERVICE = (
    Slot("jt", (15, 21), (33, 42), _laundry_and_toilet, 1.0, 40),
    alone("a", (10, 13), (22, 28), 0.6),
    alone("j", (11, 16), (24, 32), 0.5),
    alone("u", (10, 15), (24, 32), 0.3),
)
LEISURE = (
    alone("o", (15, 25), (30, 48), 1.0),
    alone("i", (20, 29), (34, 56), 0.4),
    alone("v", (22, 33), (40, 62), 0.4),
    alone("n", (24, 35), (42, 64), 0.4),
    alone("r", (32, 47), (54, 80), 0.4),
    alone("w", (22, 33), (40, 62), 0.35),
    alone("f", (32, 48), (52, 80), 0.5),
)
DOWNSTAIRS_ONLY = (
    alone("g", (34, 47), (56, 80), 0.6),
    alone("S", (13, 19), (28, 38), 0.15),
    alone("B", (16, 23), (30, 44), 0.2),
)

AT_MOST = dict.fromkeys("ktjugoivnrwfSBde", 1) | {"o": 2, "b": 6, "a": 5, "c": 5}
"""How many of a kind a house may have."""


def fill(
    rng: np.random.Generator, gap: int, depth: int, menu: Sequence[Slot], taken: list[str]
) -> list[tuple[Slot, int]]:
    """Slots and their lengths that fill a stretch of hall exactly; `taken` are the kinds the house has already."""
    if gap == 0:
        return []
    if gap < 0:
        raise Unbuildable("the hall is too short")
    spans = {slot: span for slot in menu if (span := slot.span(depth))[0] <= span[1]}
    for _ in range(40):
        chosen = _some_slots(rng, gap, spans, list(taken))
        if chosen:
            taken.extend("".join(slot.kinds for slot in chosen))
            return list(zip(chosen, _lengths(rng, gap, [spans[slot] for slot in chosen]), strict=True))
    raise Unbuildable("nothing fills this stretch of hall")


def _some_slots(
    rng: np.random.Generator, gap: int, spans: Mapping[Slot, tuple[int, int]], taken: list[str]
) -> list[Slot]:
    """Slots that can together be as long as the gap; none if the dice fell badly."""
    chosen: list[Slot] = []
    least = most = 0
    while most < gap:
        fitting = [slot for slot, (low, _) in spans.items() if low <= gap - least and _allowed(slot, taken)]
        if not fitting:
            return []
        weights = np.cumsum([slot.weight for slot in fitting])
        slot = fitting[int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))]
        chosen.append(slot)
        taken.extend(slot.kinds)
        least, most = least + spans[slot][0], most + spans[slot][1]
    return chosen


def _allowed(slot: Slot, taken: list[str]) -> bool:
    return all(taken.count(kind) < AT_MOST[kind] for kind in slot.kinds)


def _lengths(rng: np.random.Generator, gap: int, spans: list[tuple[int, int]]) -> list[int]:
    """A length within each span, together the gap."""
    lengths = [low for low, _ in spans]
    while (missing := gap - sum(lengths)) > 0:
        open_ones = [k for k, (_, high) in enumerate(spans) if lengths[k] < high]
        k = open_ones[int(rng.integers(len(open_ones)))]
        lengths[k] += min(int(rng.integers(1, 6)), spans[k][1] - lengths[k], missing)
    return lengths


def draw_slot(
    rng: np.random.Generator, slot: Slot, frame: Frame, start: int, length: int, depth: int, first: int
) -> list[Sketched]:
    """The rooms of a slot, drawn from `start` along a row; `first` is the index the first of them gets."""
    flip = bool(rng.random() < 0.5)
    rooms: list[Sketched] = []
    for kind, rects, owner in slot.draw(rng, length, depth):
        placed = tuple(frame.place(_moved(rect, start, length, flip=flip)) for rect in rects)
        rooms.append(Sketched(kind, placed, NOBODY if owner == NOBODY else first + owner))
    return rooms


def _moved(rect: Rect, start: int, length: int, *, flip: bool) -> Rect:
    s0, t0, s1, t1 = rect
    if flip:
        s0, s1 = length - s1, length - s0
    return start + s0, t0, start + s1, t1
