"""Details along the walls of a room after its openings are placed: open door leaves, and cut corners.

Both need a free stretch of wall, so they share the list of occupied stretches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from itinera.hearth.layout.plan import OUTSIDE, Passage, Window
from itinera.worlds import Array

Stretch = tuple[Array, Array]  # both ends, (2,) metres, of a section of wall
Stretches = dict[int, list[Stretch]]  # by room

LEAF_BACK, LEAF_FRONT = 0.03, 0.07  # metres between an open leaf and its wall
TOLERANCE = 1e-6  # lengths are whole or half centimetres: closer values are equal on every machine
CUT_KINDS = "ldfbneoi"  # kinds whose corners may be cut
WALKWAYS = "hes"  # kinds where a leaf is placed only if it fits nowhere else


def wall_openings(rooms: Sequence[int], passages: Sequence[Passage], windows: Sequence[Window]) -> Stretches:
    """The stretches of each room's walls that are openings."""
    taken: Stretches = {room: [] for room in rooms}
    for passage in passages:
        for which, room in enumerate(passage.rooms):
            if room != OUTSIDE:
                middle = passage.center + passage.normal * passage.depth * (which - 0.5)
                taken[room].append(_around(middle, passage.normal, passage.width))
    for window in windows:
        taken[window.room].append(_around(window.center, window.normal, window.width))
    return taken


def _around(middle: Array, normal: Array, width: float) -> Stretch:
    along = np.array([-normal[1], normal[0]]) * width / 2
    return middle - along, middle + along


def place_door_leaf(
    rng: np.random.Generator,
    passage: Passage,
    outlines: Mapping[int, Array],
    kinds: Mapping[int, str],
    taken: Stretches,
) -> Passage:
    """The door with its leaf open flat along a wall, if there is room for it; the wall is then taken."""
    if passage.wide or OUTSIDE in passage.rooms:
        return passage
    choices = [(which, hinge) for which in (0, 1) for hinge in (-1, 1)]
    order = rng.permutation(len(choices))
    ranked = sorted((kinds[passage.rooms[choices[k][0]]] in WALKWAYS, i, choices[k]) for i, k in enumerate(order))
    for _, _, (which, hinge) in ranked:
        room = passage.rooms[which]
        into = passage.normal * (2 * which - 1)
        along = hinge * np.array([-passage.normal[1], passage.normal[0]])
        start = passage.center + into * passage.depth / 2 + along * passage.width / 2
        end = start + along * (passage.width + 0.1)
        others = [stretch for stretch in taken[room] if not _touches(stretch, start)]
        if _along_wall(outlines[room], start, end) and not any(_is_near(stretch, start, end) for stretch in others):
            taken[room].append((start, end))
            corners = start + into * LEAF_BACK, start + along * passage.width + into * LEAF_FRONT
            return replace(passage, leaf=np.round([*np.minimum(*corners), *np.maximum(*corners)], 4))
    return passage


def _touches(stretch: Stretch, point: Array) -> bool:
    return min(float(np.abs(end - point).max()) for end in stretch) < 1e-6


def _along_wall(outline: Array, start: Array, end: Array) -> bool:
    """Whether both points lie on the same wall."""
    for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        length = float(np.hypot(*(b - a)))
        ahead = (b - a) / length
        offs = [
            (float(ahead @ (p - a)), float(abs(ahead[0] * (p - a)[1] - ahead[1] * (p - a)[0]))) for p in (start, end)
        ]
        if all(off < 1e-3 and -TOLERANCE <= s <= length + TOLERANCE for s, off in offs):
            return True
    return False


def _is_near(stretch: Stretch, start: Array, end: Array, gap: float = 0.15) -> bool:
    """Whether a stretch comes near an axis-aligned line between two points."""
    low, high = np.minimum(start, end) - gap, np.maximum(start, end) + gap
    s_low, s_high = np.minimum(*stretch), np.maximum(*stretch)
    return bool((s_low <= high - TOLERANCE).all() and (s_high >= low + TOLERANCE).all())


def cut_corners(rng: np.random.Generator, outline: Array, kind: str, taken: Sequence[Stretch]) -> Array:
    """The outline, sometimes with a corner cut where no opening is near."""
    if kind not in CUT_KINDS or rng.random() > 0.2:
        return outline
    size = round(float(rng.uniform(0.45, 0.9)), 2)
    before, after = np.roll(outline, 1, axis=0), np.roll(outline, -1, axis=0)
    fitting = [
        k
        for k, (a, b, c) in enumerate(zip(before, outline, after, strict=True))
        if _is_free_corner(a, b, c, size, taken)
    ]
    if not fitting:
        return outline
    k = fitting[int(rng.integers(len(fitting)))]
    legs = [outline[k] + size * (p - outline[k]) / np.hypot(*(p - outline[k])) for p in (before[k], after[k])]
    return np.concatenate([outline[:k], np.round(legs, 2), outline[k + 1 :]])


def _is_free_corner(a: Array, b: Array, c: Array, size: float, taken: Sequence[Stretch]) -> bool:
    """Whether b is a convex right angle between long walls, with no opening nearby."""
    u, v = b - a, c - b
    turn = u[0] * v[1] - u[1] * v[0]
    if abs(float(u @ v)) > 1e-6 or turn <= 0 or min(np.hypot(*u), np.hypot(*v)) < 2 * size + 1.0 - TOLERANCE:
        return False
    return all(_distance(b, stretch) >= size + 0.25 - TOLERANCE for stretch in taken)


def _distance(point: Array, stretch: Stretch) -> float:
    a, b = stretch
    share = np.clip(((point - a) @ (b - a)) / ((b - a) @ (b - a)), 0.0, 1.0)
    return float(np.hypot(*(a + share * (b - a) - point)))
