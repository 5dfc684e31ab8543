"""What happens along the walls of a room once its holes are known: door leaves laid back, corners cut off.

Both need a stretch of wall where nothing else is, so they share the list of what is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from itinera.hearth.layout.plan import OUTSIDE, Passage, Window
from itinera.worlds import Array

Stretch = tuple[Array, Array]  # both ends, (2,) metres, of a piece of wall
Stretches = dict[int, list[Stretch]]  # of each room

LEAF_BACK, LEAF_FRONT = 0.03, 0.07  # how far an open leaf stands before its wall
EQUAL = 1e-6  # lengths are whole centimetres or halves: what is closer is the same on every machine
CUT = "ldfbneoi"  # kinds whose corners may be cut off
WALKED = "hes"  # a leaf does not stand there if it can stand elsewhere


def taken_by(rooms: Sequence[int], passages: Sequence[Passage], windows: Sequence[Window]) -> Stretches:
    """The stretches of each room's walls that are holes."""
    taken: Stretches = {room: [] for room in rooms}
    for passage in passages:
        for which, room in enumerate(passage.rooms):
            if room != OUTSIDE:
                middle = passage.centre + passage.normal * passage.depth * (which - 0.5)
                taken[room].append(_around(middle, passage.normal, passage.width))
    for window in windows:
        taken[window.room].append(_around(window.centre, window.normal, window.width))
    return taken


def _around(middle: Array, normal: Array, width: float) -> Stretch:
    along = np.array([-normal[1], normal[0]]) * width / 2
    return middle - along, middle + along


def hang_leaf(
    rng: np.random.Generator,
    passage: Passage,
    outlines: Mapping[int, Array],
    kinds: Mapping[int, str],
    taken: Stretches,
) -> Passage:
    """The door with its leaf open flat before a wall, if there is room for it; the wall is then taken."""
    if passage.wide or OUTSIDE in passage.rooms:
        return passage
    choices = [(which, hinge) for which in (0, 1) for hinge in (-1, 1)]
    order = rng.permutation(len(choices))
    ranked = sorted((kinds[passage.rooms[choices[k][0]]] in WALKED, i, choices[k]) for i, k in enumerate(order))
    for _, _, (which, hinge) in ranked:
        room = passage.rooms[which]
        into = passage.normal * (2 * which - 1)
        along = hinge * np.array([-passage.normal[1], passage.normal[0]])
        start = passage.centre + into * passage.depth / 2 + along * passage.width / 2
        end = start + along * (passage.width + 0.1)
        others = [stretch for stretch in taken[room] if not _touches(stretch, start)]
        if _along_wall(outlines[room], start, end) and not any(_near(stretch, start, end) for stretch in others):
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
        if all(off < 1e-3 and -EQUAL <= s <= length + EQUAL for s, off in offs):
            return True
    return False


def _near(stretch: Stretch, start: Array, end: Array, gap: float = 0.15) -> bool:
    """Whether a stretch comes close to a level or upright line between two points."""
    low, high = np.minimum(start, end) - gap, np.maximum(start, end) + gap
    s_low, s_high = np.minimum(*stretch), np.maximum(*stretch)
    return bool((s_low <= high - EQUAL).all() and (s_high >= low + EQUAL).all())


def cut_corners(rng: np.random.Generator, outline: Array, kind: str, taken: Sequence[Stretch]) -> Array:
    """The outline, sometimes with a corner cut off where no hole is near."""
    if kind not in CUT or rng.random() > 0.2:
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
    """Whether b is a right angle inside the room between long walls, with no hole within reach."""
    u, v = b - a, c - b
    turn = u[0] * v[1] - u[1] * v[0]
    if abs(float(u @ v)) > 1e-6 or turn <= 0 or min(np.hypot(*u), np.hypot(*v)) < 2 * size + 1.0 - EQUAL:
        return False
    return all(_distance(b, stretch) >= size + 0.25 - EQUAL for stretch in taken)


def _distance(point: Array, stretch: Stretch) -> float:
    a, b = stretch
    share = np.clip(((point - a) @ (b - a)) / ((b - a) @ (b - a)), 0.0, 1.0)
    return float(np.hypot(*(a + share * (b - a) - point)))
