"""Blocks of rooms at the end of a hall: living, dining and kitchen, or a bedroom with its bath and closet.

A block is subdivided recursively, in many random ways; the one with the best shapes and adjacencies is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from itinera.hearth.layout.room_grid import Rect

RoomShare = tuple[str, float]  # a kind and its target area, square metres

ADJACENCY_SCORES: Mapping[str, float] = MappingProxyType(
    {"dk": 6, "dl": 3, "df": 1.5, "fk": 1, "fl": 1, "ab": 4, "bc": 4, "dn": 1, "ln": 1, "Bl": 1, "Bf": 1}
)
"""The score for two kinds that share a wall, by their sorted letters."""

TRIES = 10  # for each room of a block


def subdivide_block(
    rng: np.random.Generator,
    block: Rect,
    shares: Sequence[RoomShare],
    doorsteps: Sequence[tuple[Rect, Mapping[str, float]]],
) -> list[tuple[str, Rect]]:
    """The rooms of a block. A doorstep is a rectangle next to it, with the score of each kind that touches it."""
    drawn = [_slice(rng, block, list(rng.permutation(len(shares))), shares) for _ in range(TRIES * len(shares))]
    scores = [_score(rooms, shares, doorsteps) for rooms in drawn]
    return drawn[int(np.argmax(np.round(scores, 6)))]


def _slice(
    rng: np.random.Generator, block: Rect, order: list[int], shares: Sequence[RoomShare]
) -> list[tuple[str, Rect]]:
    if len(order) == 1:
        return [(shares[order[0]][0], block)]
    split = int(rng.integers(1, len(order)))
    first, second = order[:split], order[split:]
    areas = [sum(shares[k][1] for k in part) for part in (first, second)]
    low, high = _split(block, areas[0] / sum(areas), upright=_cuts_upright(rng, block))
    return _slice(rng, low, first, shares) + _slice(rng, high, second, shares)


def _cuts_upright(rng: np.random.Generator, block: Rect) -> bool:
    """Whether to cut with a vertical line: mostly across the longer side."""
    wide, tall = block[2] - block[0], block[3] - block[1]
    return bool((wide > tall) != (rng.random() < 0.25))


def _split(block: Rect, share: float, *, upright: bool) -> tuple[Rect, Rect]:
    x0, y0, x1, y1 = block
    if upright:
        x = x0 + round((x1 - x0) * share)
        return (x0, y0, x, y1), (x, y0, x1, y1)
    y = y0 + round((y1 - y0) * share)
    return (x0, y0, x1, y), (x0, y, x1, y1)


def _score(
    rooms: Sequence[tuple[str, Rect]],
    shares: Sequence[RoomShare],
    doorsteps: Sequence[tuple[Rect, Mapping[str, float]]],
) -> float:
    gained = 0.0
    for k, (kind, rect) in enumerate(rooms):
        wide, tall = sorted((rect[2] - rect[0], rect[3] - rect[1]))
        gained -= 8 * max(0.0, tall / max(wide, 1) - 1.6)
        for other, its_rect in rooms[:k]:
            if shared_length(rect, its_rect) >= 16:
                gained += ADJACENCY_SCORES.get("".join(sorted(kind + other)), 0)
        for step, distance_gains in doorsteps:
            if shared_length(rect, step) >= 14:
                gained += distance_gains.get(kind, 0)
    return gained


def shared_length(a: Rect, b: Rect) -> int:
    """The length of the wall that two rectangles share."""
    if a[2] == b[0] or b[2] == a[0]:
        return max(0, min(a[3], b[3]) - max(a[1], b[1]))
    if a[3] == b[1] or b[3] == a[1]:
        return max(0, min(a[2], b[2]) - max(a[0], b[0]))
    return 0
