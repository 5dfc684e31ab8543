"""Waves of distance over the ground. A way is a chain of straight lines between turns.

Each cell takes over the turn of a neighbour, so that its distance is one straight line and what is left from there.
Where something hides that turn, a corner of what is in the way becomes a new one: as a thread pulled taut would bend.
Distances are in cells.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from itinera.worlds._surface_kernels import COLUMN, ROW, Floats, Ints, Singles, sight, trace, widened

_OFF = 0.01  # cells; how far a turn keeps from its corner
_GRAIN = 0.25  # cells; places whose distances differ less than this are reached in any order
RING = 1 << 13  # lists of places of one grain, used over and over
_SLACK = 0.5  # cells; a neighbour this much further on may still know the better turn
_TRIES = 4  # hidden turns after which one goes by the middle of a neighbouring cell

_GUESSED, _SEEN, _REACHED = 0, 1, 2  # a cell's turn is out of a neighbour's mouth; is in sight; and is passed on
_MIDDLE, _GOAL = -1, -2  # in place of a corner


# What is known of each cell. Records keep together in memory what is asked for together.
WAVE = np.dtype(
    [
        ("far", np.float64),  # its distance; inf at first
        ("turn", np.int32),  # its turn; -1 at first
        ("state", np.int32),  # guessed, seen or reached
        ("tries", np.int32),  # how many turns turned out to be hidden from it
        ("hidden", np.int32),  # the last of them
        ("hidden_before", np.int32),  # and the one before
        ("own", np.int32),  # the latest turn that lies in the cell; -1 for none
        ("list", np.int32),  # where it waits; -1 for nowhere
        ("after", np.int32),  # who waits behind it there
        ("before", np.int32),  # and before it
    ],
    align=True,
)
# The turns.
TURN = np.dtype(
    [
        ("u", np.float64),
        ("v", np.float64),
        ("far", np.float64),  # the distance left
        ("cell", np.int32),
        ("onward", np.int32),  # the next turn; -1 at a goal
        ("corner", np.int32),  # which corner of its cell
        ("other", np.int32),  # the turn found before in the same cell; -1 for none
    ],
    align=True,
)
Records: TypeAlias = NDArray[Any]
Longs: TypeAlias = NDArray[np.int64]


@njit(cache=True, nogil=True)
def spread(
    links: Ints,
    slopes: Singles,
    goal_cells: Ints,
    goals: Floats,
    wanted: NDArray[np.bool_],
    wave: Records,
    waiting: Ints,
    turns: Records,
) -> tuple[Records, int]:
    """wave <- each cell's distance to the nearest goal, inf beyond reach, and the first turn of its way, -1 there.

    Returns the turns, the goals first, in as much room as they needed, and their number. The wave ends a little beyond
    the last cell that is wanted, if any is; further on, distances are inf. waiting: RING times -1.
    """
    left = 0
    for n in range(len(wave)):
        wave[n] = wave[0]
        left += wanted[n]
    count = np.zeros(1, dtype=np.int64)
    for g in range(len(goals)):
        turns = _roomy(turns, count)
        _set_out(links, wave, turns, count, waiting, widened(goal_cells[g]), goals[g, 0], goals[g, 1])
    grain, empty, last = 0, 0, np.inf
    while empty < RING and grain <= last:
        n = widened(waiting[grain % RING])
        if n < 0:
            grain += 1
            empty += 1
            continue
        empty = 0
        _take(wave, waiting, n)
        if wave[n].state == _GUESSED:
            if _between_seen(links, slopes, wave, turns, n):
                wave[n].state = _SEEN
            else:
                turns = _roomy(turns, count)
                _look(links, slopes, wave, turns, count, n)
        if wave[n].turn < 0:
            # No neighbour reached so far can be walked to; another may tell it of a turn.
            continue
        if wave[n].state == _GUESSED or int(wave[n].far / _GRAIN) > grain:
            _put(wave, waiting, n, max(int(wave[n].far / _GRAIN), grain))
            continue
        wave[n].state = _REACHED
        _pass_on(links, wave, turns, waiting, n, grain)
        if wanted[n]:
            left -= 1
            if left == 0:
                # A cell more, so that what one place asks of its neighbours does not depend on who else is wanted.
                last = grain + 1.0 / _GRAIN + 1.0
    for n in range(len(wave)):
        if wave[n].state != _REACHED:
            wave[n].far, wave[n].turn = np.inf, -1
    return turns, widened(count[0])


@njit(cache=True, nogil=True)
def _put(wave: Records, waiting: Ints, n: int, grain: int) -> None:
    """Let a cell wait in the list of this grain, and in no other."""
    if wave[n].list >= 0:
        _take(wave, waiting, n)
    chosen = grain % RING
    head = widened(waiting[chosen])
    wave[n].after, wave[n].before, wave[n].list = head, -1, chosen
    if head >= 0:
        wave[head].before = n
    waiting[chosen] = n


@njit(cache=True, nogil=True)
def _take(wave: Records, waiting: Ints, n: int) -> None:
    """Take a cell out of its list."""
    after, before = widened(wave[n].after), widened(wave[n].before)
    if before >= 0:
        wave[before].after = after
    else:
        waiting[wave[n].list] = after
    if after >= 0:
        wave[after].before = before
    wave[n].list = -1


@njit(cache=True, nogil=True)
def _set_out(
    links: Ints, wave: Records, turns: Records, count: Longs, waiting: Ints, n: int, u: float, v: float
) -> None:
    """A goal is a turn with nothing left; its cell waits."""
    a = _found(wave, turns, count, n, _GOAL, u, v, 0.0, -1)
    away = _left(links, turns, a, n)
    if away < wave[n].far:
        wave[n].far, wave[n].turn = away, a
        _put(wave, waiting, n, int(away / _GRAIN))


@njit(cache=True, nogil=True)
def _found(
    wave: Records, turns: Records, count: Longs, n: int, corner: int, u: float, v: float, far: float, onward: int
) -> int:
    """A new turn in cell n; there must be room."""
    a = widened(count[0])
    count[0] += 1
    turns[a].u, turns[a].v, turns[a].far = u, v, far
    turns[a].cell, turns[a].onward = n, onward
    turns[a].corner, turns[a].other = corner, wave[n].own
    wave[n].own = a
    return a


@njit(cache=True, nogil=True)
def _roomy(turns: Records, count: Longs) -> Records:
    """The turns with room for a few more."""
    n = widened(count[0])
    if n + 8 <= len(turns):
        return turns
    more = np.empty(2 * len(turns), dtype=turns.dtype)
    for a in range(n):
        more[a] = turns[a]
    return more


@njit(cache=True, nogil=True)
def _known(wave: Records, turns: Records, n: int, corner: int) -> int:
    """The turn at this corner of a cell; -1 where there is none yet."""
    a = widened(wave[n].own)
    while a >= 0 and turns[a].corner != corner:
        a = widened(turns[a].other)
    return a


@njit(cache=True, nogil=True)
def _left(links: Ints, turns: Records, a: int, n: int) -> float:
    """The distance from the middle of cell n by way of turn a, if that is in sight and all is level."""
    du = turns[a].u - links[n, COLUMN] - 0.5
    dv = turns[a].v - links[n, ROW] - 0.5
    return turns[a].far + np.sqrt(du * du + dv * dv)  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def _pass_on(links: Ints, wave: Records, turns: Records, waiting: Ints, n: int, grain: int) -> None:
    """The neighbours of a cell that has been reached take over its turn, where that promises a shorter way."""
    a = widened(wave[n].turn)
    for k in range(8):
        m = widened(links[n, k])
        if m < 0 or wave[m].state == _REACHED or wave[m].turn == a or wave[m].hidden == a or wave[m].hidden_before == a:
            continue
        away = _left(links, turns, a, m)
        if away < wave[m].far:
            wave[m].far, wave[m].turn, wave[m].state = away, a, _GUESSED
            _put(wave, waiting, m, max(int(away / _GRAIN), grain))


@njit(cache=True, nogil=True)
def _look(links: Ints, slopes: Singles, wave: Records, turns: Records, count: Longs, n: int) -> None:
    """Look whether a cell sees the turn it was told; else find it another, to be looked for in its time."""
    a = widened(wave[n].turn)
    u, v, end = links[n, COLUMN] + 0.5, links[n, ROW] + 0.5, widened(turns[a].cell)
    stop, side, _, length = trace(
        links, slopes, n, u, v, widened(links[end, COLUMN]), widened(links[end, ROW]), turns[a].u, turns[a].v
    )
    if side < 0 and stop == end:
        wave[n].far, wave[n].state = turns[a].far + length, _SEEN
        return
    wave[n].hidden_before, wave[n].hidden = wave[n].hidden, a
    wave[n].far, wave[n].turn = np.inf, -1
    wave[n].tries += 1
    if wave[n].tries <= _TRIES:
        if side >= 0:
            _round_corner(links, slopes, wave, turns, count, n, a, stop, side)
        for k in range(8):
            m = widened(links[n, k])
            if m >= 0 and wave[m].state == _REACHED:
                _consider(links, wave, turns, n, widened(wave[m].turn))
    if wave[n].turn < 0:
        _by_neighbour(links, slopes, wave, turns, count, n)


@njit(cache=True, nogil=True)
def _consider(links: Ints, wave: Records, turns: Records, n: int, a: int) -> None:
    """Let cell n take over turn a, unless that is hidden or what it has is better."""
    if a != wave[n].hidden and a != wave[n].hidden_before:
        away = _left(links, turns, a, n)
        if away < wave[n].far:
            wave[n].far, wave[n].turn = away, a


@njit(cache=True, nogil=True)
def _between_seen(links: Ints, slopes: Singles, wave: Records, turns: Records, n: int) -> bool:
    """Whether cell n sees turn a over level ground because both cells do between which its line of sight passes.

    Their two lines are never more than a cell apart, so that what is in the way of the line between is in the way of
    one of them. It saves walking nearly every line.
    """
    a = widened(wave[n].turn)
    du = turns[a].u - links[n, COLUMN] - 0.5
    dv = turns[a].v - links[n, ROW] - 0.5
    ahead = 0 if du > 0 else 2
    aside = 1 if dv > 0 else 3
    if abs(du) < abs(dv):
        ahead, aside = aside, ahead
    if max(abs(du), abs(dv)) < 2.0 or slopes[n, 0] != 0.0 or slopes[n, 1] != 0.0:
        return False
    one = widened(links[n, ahead])
    if one < 0 or wave[one].turn != a or wave[one].state != _REACHED:
        return False
    two = widened(links[one, aside])
    if two < 0 or wave[two].turn != a or wave[two].state != _REACHED:
        return False
    level = wave[one].far <= _left(links, turns, a, one) + 1e-9 and wave[two].far <= _left(links, turns, a, two) + 1e-9
    return bool(level)


@njit(cache=True, nogil=True)
def _round_corner(
    links: Ints,
    slopes: Singles,
    wave: Records,
    turns: Records,
    count: Longs,
    n: int,
    a: int,
    stop: int,
    side: int,
) -> None:
    """Cell n goes round an end of the border that hides turn a from it: `side` of cell `stop`."""
    for hand in range(2):
        owner, corner = _end_of(links, stop, side, hand)
        if owner < 0:
            continue
        b = _known(wave, turns, owner, corner)
        if b < 0:
            b = _new_corner(links, slopes, wave, turns, count, owner, corner, a)
        if b >= 0:
            _consider(links, wave, turns, n, b)


@njit(cache=True, nogil=True)
def _end_of(links: Ints, stop: int, side: int, hand: int) -> tuple[int, int]:
    """(cell, corner) at the left (0) or right (1) end of a border, -1 and -1 where one cannot turn round it.

    Round a corner one can turn if the cells on both sides of it are there and the one across is not.
    """
    owner = widened(links[stop, (side + 1) % 4 if hand == 0 else (side + 3) % 4])
    corner = (side + 3) % 4 if hand == 0 else side
    if owner < 0 or links[owner, corner] < 0 or links[owner, (corner + 1) % 4] < 0 or links[owner, 4 + corner] >= 0:
        return -1, -1
    return owner, corner


@njit(cache=True, nogil=True)
def _place_of(links: Ints, owner: int, corner: int) -> tuple[float, float]:
    """Where one turns at a corner of a cell."""
    half = 0.5 - _OFF
    u = links[owner, COLUMN] + 0.5 + (half if corner == 0 or corner == 3 else -half)
    v = links[owner, ROW] + 0.5 + (half if corner == 0 or corner == 1 else -half)
    return u, v


@njit(cache=True, nogil=True)
def _new_corner(
    links: Ints, slopes: Singles, wave: Records, turns: Records, count: Longs, owner: int, corner: int, a: int
) -> int:
    """A new turn at a corner, from which one goes on to turn a, straight to the one after, or round one more corner.

    -1 where it sees none of them.
    """
    u, v = _place_of(links, owner, corner)
    best, onward = _seen_from(links, slopes, turns, owner, u, v, a)
    if onward < 0:
        end = widened(turns[a].cell)
        stop, side, _, _ = trace(
            links, slopes, owner, u, v, widened(links[end, COLUMN]), widened(links[end, ROW]), turns[a].u, turns[a].v
        )
        for hand in range(2 if side >= 0 else 0):
            other, its = _end_of(links, stop, side, hand)
            b = _known(wave, turns, other, its) if other >= 0 else -1
            if other >= 0 and b < 0:
                u1, v1 = _place_of(links, other, its)
                far, beyond = _seen_from(links, slopes, turns, other, u1, v1, a)
                b = _found(wave, turns, count, other, its, u1, v1, far, beyond) if beyond >= 0 else -1
            if b >= 0:
                length = turns[b].far + sight(
                    links, slopes, owner, u, v, widened(turns[b].cell), turns[b].u, turns[b].v
                )
                if length < best:
                    best, onward = length, b
    return _found(wave, turns, count, owner, corner, u, v, best, onward) if onward >= 0 else -1


@njit(cache=True, nogil=True)
def _seen_from(links: Ints, slopes: Singles, turns: Records, n: int, u: float, v: float, a: int) -> tuple[float, int]:
    """(distance, turn) of a place by way of turn a or the one after it, whichever is shorter; inf and -1 if hidden."""
    best, seen = np.inf, -1
    for _ in range(2):
        length = turns[a].far + sight(links, slopes, n, u, v, widened(turns[a].cell), turns[a].u, turns[a].v)
        if length < best:
            best, seen = length, a
        a = widened(turns[a].onward)
        if a < 0:
            break
    return best, seen


@njit(cache=True, nogil=True)
def _by_neighbour(links: Ints, slopes: Singles, wave: Records, turns: Records, count: Longs, n: int) -> None:
    """Cell n goes by the middle of a neighbour that has been reached, the one that makes its way shortest, if any."""
    u, v, best = links[n, COLUMN] + 0.5, links[n, ROW] + 0.5, -1
    for k in range(8):
        m = widened(links[n, k])
        if m >= 0 and wave[m].state == _REACHED:
            step = sight(links, slopes, n, u, v, m, links[m, COLUMN] + 0.5, links[m, ROW] + 0.5)
            if wave[m].far + step < wave[n].far:
                wave[n].far, best = wave[m].far + step, m
    if best < 0:
        return
    a = _known(wave, turns, best, _MIDDLE)
    if a < 0:
        u, v = links[best, COLUMN] + 0.5, links[best, ROW] + 0.5
        a = _found(wave, turns, count, best, _MIDDLE, u, v, wave[best].far, widened(wave[best].turn))
    wave[n].turn, wave[n].state = a, _SEEN


@njit(cache=True, nogil=True)
def read_one(
    links: Ints, slopes: Singles, far: Floats, turn: Ints, turns: Records, n: int, u: float, v: float
) -> tuple[float, int]:
    """(distance, first turn) of a place in cell n.

    It sees the turn of its cell, of a neighbour, or the one after; if none, it goes by the middle of its cell and the
    turn is -1. Beyond reach: inf and -2.
    """
    if far[n] == np.inf:
        return np.inf, -2
    best, first = np.inf, -1
    for k in range(-1, 8):
        m = n if k < 0 else widened(links[n, k])
        if m < 0 or far[m] > far[n] + _SLACK:
            continue
        a = widened(turn[m])
        for _ in range(2):
            if a < 0 or a == first:
                break
            du, dv = turns[a].u - u, turns[a].v - v
            if turns[a].far + np.sqrt(du * du + dv * dv) < best:
                length = turns[a].far + sight(links, slopes, n, u, v, widened(turns[a].cell), turns[a].u, turns[a].v)
                if length < best:
                    best, first = length, a
            a = widened(turns[a].onward)
    if first < 0:
        best = far[n] + sight(links, slopes, n, u, v, n, links[n, COLUMN] + 0.5, links[n, ROW] + 0.5)
    return best, first


@njit(cache=True, nogil=True)
def read_field(
    links: Ints,
    slopes: Singles,
    far: Floats,
    turn: Ints,
    turns: Records,
    cells: Ints,
    at: Floats,
    out: Floats,
    first: Ints,
) -> None:
    """out, first <- the distance and the first turn of each place; see `read_one`."""
    for k in range(len(cells)):
        out[k], first[k] = read_one(links, slopes, far, turn, turns, widened(cells[k]), at[k, 0], at[k, 1])
