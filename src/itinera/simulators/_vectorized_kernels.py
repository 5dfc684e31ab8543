"""The motion of many bodies on one ground, with the arithmetic of the simulators of one body."""

# mypy: allow-untyped-decorators
from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from itinera.worlds._surface_kernels import COLUMN, ROW, Floats, Ints, Singles, move_body, widened
from itinera.worlds.body_state import UNBLOCKED

Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]

_DIGITS = 1e12  # unit vectors are rounded to 12 digits, as in `ground.unit_vector`
_SPLIT = 134217729.0  # 2 ** 27 + 1, which halves the digits of a number (Veltkamp)
_TAU = math.tau


@njit(cache=True, nogil=True)
def move_bodies(
    links: Ints,
    slopes: Singles,
    heights: Floats,
    origin: Floats,
    size: float,
    sliding: bool,
    chords: Floats,
    pieces: Longs,
    turns: Floats,
    turn: float,
    period: int,
    which: Longs,
    actions: Longs,
    cells: Ints,
    across: Floats,
    starts: Floats,
    turned: Longs,
    headings: Floats,
    places: Floats,
    collided: Bools,
) -> None:
    """cells, across, turned, headings, places, collided <- the bodies `which` after their actions.

    An action moves a body along its chords, then turns it. With a `turn`, headings are whole turns from the one at the
    start, `period` of them in a full circle if above 0; without, each action turns by its own angle.
    """
    for row in range(len(which)):
        collided[row] = not move_one(
            links,
            slopes,
            heights,
            origin,
            size,
            sliding,
            chords,
            pieces,
            turns,
            turn,
            period,
            which[row],
            actions[row],
            cells,
            across,
            starts,
            turned,
            headings,
            places,
        )


@njit(cache=True, nogil=True)
def move_one(
    links: Ints,
    slopes: Singles,
    heights: Floats,
    origin: Floats,
    size: float,
    sliding: bool,
    chords: Floats,
    pieces: Longs,
    turns: Floats,
    turn: float,
    period: int,
    k: int,
    action: int,
    cells: Ints,
    across: Floats,
    starts: Floats,
    turned: Longs,
    headings: Floats,
    places: Floats,
) -> bool:
    """cells, across, turned, headings, places <- body k after its action; whether it hit nothing."""
    n, u, v, clear = widened(cells[k]), across[k, 0], across[k, 1], True
    if pieces[action]:
        along_x, along_y = round_unit(math.cos(headings[k])), round_unit(math.sin(headings[k]))
        for piece in range(pieces[action]):
            ahead, aside = chords[action, piece, 0], chords[action, piece, 1]
            du = (ahead * along_x - aside * along_y) / size
            dv = (ahead * along_y + aside * along_x) / size
            u1, v1 = u + du, v + dv
            n, u, v = move_body(links, slopes, n, u, v, du, dv, sliding)
            passed = abs(u - u1) < UNBLOCKED and abs(v - v1) < UNBLOCKED
            clear = clear and passed
            if not (passed or sliding):
                break
        cells[k], across[k, 0], across[k, 1] = n, u, v
    if turns[action] != 0.0:
        if turn > 0.0:
            turned[k] += int(turns[action])
            if period:
                turned[k] %= period
            headings[k] = wrap(starts[k] + turned[k] * turn)
        else:
            headings[k] = wrap(headings[k] + turns[action])
    place_body(links, slopes, heights, origin, size, k, cells, across, places)
    return clear


@njit(cache=True, nogil=True)
def place_body(
    links: Ints,
    slopes: Singles,
    heights: Floats,
    origin: Floats,
    size: float,
    k: int,
    cells: Ints,
    across: Floats,
    places: Floats,
) -> None:
    """places <- the position of body k, metres, as `BodyState.place`."""
    n, u, v = widened(cells[k]), across[k, 0], across[k, 1]
    z = heights[n]
    along_x, along_y = np.float64(slopes[n, 0]), np.float64(slopes[n, 1])
    if along_x != 0.0 or along_y != 0.0:
        z += (along_x * (u - links[n, COLUMN] - 0.5) + along_y * (v - links[n, ROW] - 0.5)) * size
    places[k, 0], places[k, 1], places[k, 2] = u * size + origin[0], v * size + origin[1], z


@njit(cache=True, nogil=True)
def place_bodies(
    links: Ints,
    slopes: Singles,
    heights: Floats,
    origin: Floats,
    size: float,
    which: Longs,
    cells: Ints,
    across: Floats,
    places: Floats,
) -> None:
    """places <- the positions of the bodies `which`; see `place_body`."""
    for row in range(len(which)):
        place_body(links, slopes, heights, origin, size, which[row], cells, across, places)


@njit(cache=True, nogil=True)
def wrap(angle: float) -> float:
    """The same angle in (-pi, pi], exactly: both steps are free of rounding."""
    turned: float = np.fmod(angle, _TAU)
    if turned > math.pi:
        return turned - _TAU
    return turned if turned > -math.pi else turned + _TAU


@njit(cache=True, nogil=True)
def round_unit(value: float) -> float:
    """The number nearest to a value of at most 1, rounded to 12 digits from its exact value, as Python's `round`."""
    scaled = value * _DIGITS
    nearest = np.rint(scaled)
    # What the multiplication lost decides where the product is close to a half.
    large = _SPLIT * value
    high = large - (large - value)
    low = value - high
    wide = _SPLIT * _DIGITS
    upper = wide - (wide - _DIGITS)
    lower = _DIGITS - upper
    lost = ((high * upper - scaled) + high * lower + low * upper) + low * lower
    rest = (scaled - nearest) + lost
    if rest > 0.5:
        nearest += 1.0
    elif rest < -0.5:
        nearest -= 1.0
    return nearest / _DIGITS  # type: ignore[no-any-return]
