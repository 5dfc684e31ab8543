"""Room shapes: notches that give a corner of a room to its neighbor, and checks against slivers.

Works on the label grid, where any shape can be tested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from itinera.hearth.layout.room_grid import InvalidLayout, StoreyLayout, Wall, find_walls

ROOM_AREAS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "a": (4.8, 13.5),
        "t": (2.6, 5.6),
        "c": (2.8, 9.5),
        "j": (6, 19),
        "u": (6, 16),
        "S": (8, 20),
        "b": (13, 31.5),
        "k": (15, 33),
        "d": (15, 33),
        "l": (28, 66),
        "f": (22, 50),
        "n": (17, 36),
        "r": (24, 48),
        "e": (8, 22),
        "o": (10, 26),
        "i": (13, 30),
        "v": (16, 34),
        "w": (16, 34),
        "g": (28, 48),
        "B": (10, 24),
    }
)
"""Minimum and maximum area per kind, square metres, to the center lines of the walls."""

MIN_SQUARES: Mapping[str, int] = MappingProxyType(
    {
        "a": 18,
        "t": 14,
        "c": 14,
        "j": 20,
        "u": 20,
        "e": 21,
        "h": 14,
        "s": 22,
        "b": 29,
        "k": 29,
        "d": 29,
        "l": 38,
        "f": 34,
    }
)
"""Side, decimetres, of a square that must fit into a room of each kind; `DEFAULT_MIN_SQUARE` for the others."""
DEFAULT_MIN_SQUARE = 26
MIN_WIDTH = 14  # decimetres; the minimum width of every part of a room
MAX_ASPECT = 2.2  # maximum aspect ratio between the walls, except for halls and stairwells
WALL = 1.4  # decimetres

NOTCHABLE = "ldkfnboivrw"


def check_shapes(storey: StoreyLayout) -> None:
    """Raise InvalidLayout for a storey with a room too small, too large, too narrow or too long."""
    for index, room in enumerate(storey.rooms):
        if not is_good_shape(storey.labels == index, room.kind):
            raise InvalidLayout(f"a room of kind {room.kind} has a bad shape")


def is_good_shape(mask: NDArray[np.bool_], kind: str) -> bool:
    """Whether a room of this kind may have this shape."""
    mask = _crop(mask)
    low, high = ROOM_AREAS.get(kind, (0.0, 999.0))
    if not low <= np.count_nonzero(mask) / 100 <= high:
        return False
    if kind not in "hs" and max(mask.shape) - WALL > MAX_ASPECT * (min(mask.shape) - WALL):
        return False
    return bool(_fits(mask, MIN_SQUARES.get(kind, DEFAULT_MIN_SQUARE)).any()) and _is_covered(mask, MIN_WIDTH)


def _crop(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    xs, ys = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return mask[xs[0] : xs[-1] + 1, ys[0] : ys[-1] + 1]


def _square_sums(mask: NDArray[np.bool_], side: int) -> NDArray[np.int64]:
    """The number of cells in the mask for each square of this side."""
    if min(mask.shape) < side:
        return np.zeros((0, 0), dtype=np.int64)
    total = np.zeros((mask.shape[0] + 1, mask.shape[1] + 1), dtype=np.int64)
    total[1:, 1:] = mask.cumsum(axis=0, dtype=np.int64).cumsum(axis=1)
    return total[side:, side:] - total[:-side, side:] - total[side:, :-side] + total[:-side, :-side]


def _fits(mask: NDArray[np.bool_], side: int) -> NDArray[np.bool_]:
    return np.equal(_square_sums(mask, side), side * side)


def _is_covered(mask: NDArray[np.bool_], side: int) -> bool:
    """Whether squares of this side inside the mask cover all of it."""
    fits = _fits(mask, side)
    if not fits.any():
        return False
    reached = _square_sums(np.pad(fits, side - 1), side) > 0
    return bool((reached == mask).all())


def check_outside(storey: StoreyLayout, *, min_width: int = 20) -> None:
    """Raise InvalidLayout for a storey with an outside gap between its walls narrower than this."""
    if not _is_covered(storey.labels < 0, min_width):
        raise InvalidLayout("a narrow gap outside")


def notch_rooms(rng: np.random.Generator, storey: StoreyLayout, *, tries: int, max_notches: int) -> StoreyLayout:
    """The storey with a corner of some rooms given to a neighbor, which makes both L-shaped."""
    done = 0
    for _ in range(tries):
        pieces = [wall for wall in find_walls(storey) if wall.length >= 32 and _may_notch(storey, wall)]
        if done == max_notches or not pieces:
            break
        after = _notch(storey, pieces[int(rng.integers(len(pieces)))], rng)
        done += after is not storey
        storey = after
    return storey


def _may_notch(storey: StoreyLayout, wall: Wall) -> bool:
    return min(wall.rooms) >= 0 and all(
        storey.rooms[k].kind in NOTCHABLE and count_corners(storey.labels == k) == 4 for k in wall.rooms
    )


def _notch(storey: StoreyLayout, wall: Wall, rng: np.random.Generator) -> StoreyLayout:
    deep, long = int(rng.integers(8, 19)), int(rng.integers(14, min(34, wall.length - 14) + 1))
    start = wall.low if rng.random() < 0.5 else wall.high - long
    second_loses = bool(rng.random() < 0.5)
    winner, loser = wall.rooms if second_loses else wall.rooms[::-1]
    across = (wall.at, wall.at + deep) if second_loses else (wall.at - deep, wall.at)
    labels = storey.labels.copy()
    grid, corner = (labels, storey.corner) if wall.upright else (labels.T, storey.corner[::-1])
    patch = grid[across[0] - corner[0] : across[1] - corner[0], start - corner[1] : start + long - corner[1]]
    if not (patch == loser).all():
        return storey
    patch[:] = winner
    masks = [(labels == k, storey.rooms[k].kind) for k in wall.rooms]
    good = all(count_corners(mask) == 6 and is_good_shape(mask, kind) for mask, kind in masks)
    return replace(storey, labels=labels) if good else storey


def count_corners(mask: NDArray[np.bool_]) -> int:
    """The number of corners of the outline of a mask."""
    padded = np.pad(_crop(mask), 1).astype(np.int8)
    around = padded[1:, 1:] + padded[:-1, 1:] + padded[1:, :-1] + padded[:-1, :-1]
    return int(np.count_nonzero(around % 2))


def total_area(storeys: Sequence[StoreyLayout]) -> float:
    """Square metres of all rooms, to the center lines of the walls."""
    return sum(float(np.count_nonzero(storey.labels >= 0)) / 100 for storey in storeys)
