"""Rooms that are not rectangles: a corner of one is given to its neighbour. And what no room may be: a sliver.

Works on the painted grid, where any shape can be tried and looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from itinera.hearth.layout.room_grid import Storey, Unbuildable, Wall, walls

AREAS: Mapping[str, tuple[float, float]] = MappingProxyType(
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
"""Least and most square metres of a kind, to the middles of the walls."""

CORES: Mapping[str, int] = MappingProxyType(
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
"""Decimetres of the side of a square that must fit into a room of a kind; `CORE` for the others."""
CORE = 26
NARROWEST = 14  # no part of a room is narrower, decimetres
LONGEST = 2.2  # a room's longer side to its shorter between the walls, unless it is a hall or a stairwell
WALL = 1.4  # decimetres

TAKES_PART = "ldkfnboivrw"


def check_shapes(storey: Storey) -> None:
    """Refuse a storey with a room too small, too large, too narrow or too long."""
    for index, room in enumerate(storey.rooms):
        if not is_good_shape(storey.labels == index, room.kind):
            raise Unbuildable(f"a room of kind {room.kind} has a bad shape")


def is_good_shape(mask: NDArray[np.bool_], kind: str) -> bool:
    """Whether a room of this kind may look like this."""
    mask = _cropped(mask)
    low, high = AREAS.get(kind, (0.0, 999.0))
    if not low <= np.count_nonzero(mask) / 100 <= high:
        return False
    if kind not in "hs" and max(mask.shape) - WALL > LONGEST * (min(mask.shape) - WALL):
        return False
    return bool(_fits(mask, CORES.get(kind, CORE)).any()) and _covered(mask, NARROWEST)


def _cropped(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    xs, ys = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return mask[xs[0] : xs[-1] + 1, ys[0] : ys[-1] + 1]


def _sums(mask: NDArray[np.bool_], side: int) -> NDArray[np.int64]:
    """How many cells of each full square of this side are in the mask."""
    if min(mask.shape) < side:
        return np.zeros((0, 0), dtype=np.int64)
    total = np.zeros((mask.shape[0] + 1, mask.shape[1] + 1), dtype=np.int64)
    total[1:, 1:] = mask.cumsum(axis=0, dtype=np.int64).cumsum(axis=1)
    return total[side:, side:] - total[:-side, side:] - total[side:, :-side] + total[:-side, :-side]


def _fits(mask: NDArray[np.bool_], side: int) -> NDArray[np.bool_]:
    return np.equal(_sums(mask, side), side * side)


def _covered(mask: NDArray[np.bool_], side: int) -> bool:
    """Whether squares of this side inside the mask cover all of it."""
    fits = _fits(mask, side)
    if not fits.any():
        return False
    reached = _sums(np.pad(fits, side - 1), side) > 0
    return bool((reached == mask).all())


def check_outside(storey: Storey, *, gap: int = 20) -> None:
    """Refuse a storey with a gap between its walls outside that is narrower than this."""
    if not _covered(storey.labels < 0, gap):
        raise Unbuildable("a narrow gap outside")


def bite(rng: np.random.Generator, storey: Storey, *, tries: int, most: int) -> Storey:
    """The storey with a corner of some rooms given to a neighbour, so that both have the shape of an L."""
    done = 0
    for _ in range(tries):
        pieces = [wall for wall in walls(storey) if wall.length >= 32 and _may_bite(storey, wall)]
        if done == most or not pieces:
            break
        after = _bitten(storey, pieces[int(rng.integers(len(pieces)))], rng)
        done += after is not storey
        storey = after
    return storey


def _may_bite(storey: Storey, wall: Wall) -> bool:
    return min(wall.rooms) >= 0 and all(
        storey.rooms[k].kind in TAKES_PART and corners(storey.labels == k) == 4 for k in wall.rooms
    )


def _bitten(storey: Storey, wall: Wall, rng: np.random.Generator) -> Storey:
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
    good = all(corners(mask) == 6 and is_good_shape(mask, kind) for mask, kind in masks)
    return replace(storey, labels=labels) if good else storey


def corners(mask: NDArray[np.bool_]) -> int:
    """How many corners the outline of a mask has."""
    padded = np.pad(_cropped(mask), 1).astype(np.int8)
    around = padded[1:, 1:] + padded[:-1, 1:] + padded[1:, :-1] + padded[:-1, :-1]
    return int(np.count_nonzero(around % 2))


def total_area(storeys: Sequence[Storey]) -> float:
    """Square metres of all rooms, to the middles of the walls."""
    return sum(float(np.count_nonzero(storey.labels >= 0)) / 100 for storey in storeys)
