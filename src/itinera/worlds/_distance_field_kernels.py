"""Propagation of geodesic distances over the ground (an any-angle wavefront). A path is a chain of straight lines.

As in Theta*, each cell inherits the turning point of a neighbor, so that its distance is one straight line plus the
rest from there. Where an obstacle hides that turning point, a corner of the obstacle becomes a new one, as a taut
string would bend. Distances are in cells.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from itinera.worlds._surface_kernels import COLUMN, ROW, Floats, Ints, Singles, line_length, trace, widened

_OFF = 0.01  # cells; the offset of a turning point from its corner
_GRAIN = 0.25  # cells; bucket width: cells whose distances differ by less are expanded in any order
RING = 1 << 13  # buckets of the circular queue
_SLACK = 0.5  # cells; a neighbor this much farther from the goal may still have the better turning point
_TRIES = 4  # hidden turning points after which a cell goes through the center of a neighbor

_GUESSED, _SEEN, _REACHED = 0, 1, 2  # a cell's turning point is inherited; is in line of sight; and has been propagated
_MIDDLE, _GOAL = -1, -2  # in place of a corner


# The state of each cell. Records keep together in memory what is read together.
WAVE = np.dtype(
    [
        ("far", np.float64),  # its distance; inf at first
        ("turn", np.int32),  # its turning point; -1 at first
        ("state", np.int32),  # guessed, seen or reached
        ("tries", np.int32),  # how many turning points proved to be hidden from it
        ("hidden", np.int32),  # the last of them
        ("hidden_before", np.int32),  # and the one before
        ("own", np.int32),  # the latest turning point that lies in the cell; -1 for none
        ("list", np.int32),  # its bucket; -1 for none
        ("after", np.int32),  # the next cell in the bucket
        ("before", np.int32),  # and the previous one
    ],
    align=True,
)
# The turning points.
TURN = np.dtype(
    [
        ("u", np.float64),
        ("v", np.float64),
        ("far", np.float64),  # the remaining distance
        ("cell", np.int32),
        ("onward", np.int32),  # the next turning point; -1 at a goal
        ("corner", np.int32),  # which corner of its cell
        ("other", np.int32),  # the previous turning point in the same cell; -1 for none
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
    margin: float,
    wave: Records,
    waiting: Ints,
    turns: Records,
) -> tuple[Records, int]:
    """wave <- each cell's distance to the nearest goal and first turning point; inf and -1 where unreachable.

    Returns the turning points, goals first, in an array grown as needed, and their number. If any cell is wanted, the
    wave ends `margin` cells and a little beyond the last of them; farther distances are inf. waiting: RING times -1.
    """
    left = 0
    for n in range(len(wave)):
        wave[n] = wave[0]
        left += wanted[n]
    count = np.zeros(1, dtype=np.int64)
    for g in range(len(goals)):
        turns = _grow(turns, count)
        _add_goal(links, wave, turns, count, waiting, widened(goal_cells[g]), goals[g, 0], goals[g, 1])
    grain, empty, last = 0, 0, np.inf
    while empty < RING and grain <= last:
        n = widened(waiting[grain % RING])
        if n < 0:
            grain += 1
            empty += 1
            continue
        empty = 0
        _dequeue(wave, waiting, n)
        if wave[n].state == _GUESSED:
            if _inferred_visible(links, slopes, wave, turns, n):
                wave[n].state = _SEEN
            else:
                turns = _grow(turns, count)
                _check_sight(links, slopes, wave, turns, count, n)
        if wave[n].turn < 0:
            # No expanded neighbor is in line of sight; another may offer a turning point later.
            continue
        if wave[n].state == _GUESSED or int(wave[n].far / _GRAIN) > grain:
            _enqueue(wave, waiting, n, max(int(wave[n].far / _GRAIN), grain))
            continue
        wave[n].state = _REACHED
        _propagate(links, wave, turns, waiting, n, grain)
        if wanted[n]:
            left -= 1
            if left == 0:
                # One more cell, so that the neighbors of a cell do not depend on which other cells are wanted.
                last = grain + (margin + 1.0) / _GRAIN + 1.0
    for n in range(len(wave)):
        if wave[n].state != _REACHED:
            wave[n].far, wave[n].turn = np.inf, -1
    return turns, widened(count[0])


@njit(cache=True, nogil=True)
def _enqueue(wave: Records, waiting: Ints, n: int, grain: int) -> None:
    """Move a cell into the bucket of this grain."""
    if wave[n].list >= 0:
        _dequeue(wave, waiting, n)
    chosen = grain % RING
    head = widened(waiting[chosen])
    wave[n].after, wave[n].before, wave[n].list = head, -1, chosen
    if head >= 0:
        wave[head].before = n
    waiting[chosen] = n


@njit(cache=True, nogil=True)
def _dequeue(wave: Records, waiting: Ints, n: int) -> None:
    """Remove a cell from its bucket."""
    after, before = widened(wave[n].after), widened(wave[n].before)
    if before >= 0:
        wave[before].after = after
    else:
        waiting[wave[n].list] = after
    if after >= 0:
        wave[after].before = before
    wave[n].list = -1


@njit(cache=True, nogil=True)
def _add_goal(
    links: Ints, wave: Records, turns: Records, count: Longs, waiting: Ints, n: int, u: float, v: float
) -> None:
    """Add a goal: a turning point with no distance left; its cell enters the queue."""
    a = _new_turn(wave, turns, count, n, _GOAL, u, v, 0.0, -1)
    away = _remaining(links, turns, a, n)
    if away < wave[n].far:
        wave[n].far, wave[n].turn = away, a
        _enqueue(wave, waiting, n, int(away / _GRAIN))


@njit(cache=True, nogil=True)
def _new_turn(
    wave: Records, turns: Records, count: Longs, n: int, corner: int, u: float, v: float, far: float, onward: int
) -> int:
    """A new turning point in cell n; the array must have room."""
    a = widened(count[0])
    count[0] += 1
    turns[a].u, turns[a].v, turns[a].far = u, v, far
    turns[a].cell, turns[a].onward = n, onward
    turns[a].corner, turns[a].other = corner, wave[n].own
    wave[n].own = a
    return a


@njit(cache=True, nogil=True)
def _grow(turns: Records, count: Longs) -> Records:
    """The turning points, in an array with room for a few more."""
    n = widened(count[0])
    if n + 8 <= len(turns):
        return turns
    more = np.empty(2 * len(turns), dtype=turns.dtype)
    for a in range(n):
        more[a] = turns[a]
    return more


@njit(cache=True, nogil=True)
def _find_turn(wave: Records, turns: Records, n: int, corner: int) -> int:
    """The turning point at this corner of a cell; -1 for none."""
    a = widened(wave[n].own)
    while a >= 0 and turns[a].corner != corner:
        a = widened(turns[a].other)
    return a


@njit(cache=True, nogil=True)
def _remaining(links: Ints, turns: Records, a: int, n: int) -> float:
    """The distance from the center of cell n through turning point a, assuming line of sight over level ground."""
    du = turns[a].u - links[n, COLUMN] - 0.5
    dv = turns[a].v - links[n, ROW] - 0.5
    return turns[a].far + np.sqrt(du * du + dv * dv)  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def _propagate(links: Ints, wave: Records, turns: Records, waiting: Ints, n: int, grain: int) -> None:
    """Offer the turning point of an expanded cell to its neighbors, where that promises a shorter path."""
    a = widened(wave[n].turn)
    for k in range(8):
        m = widened(links[n, k])
        if m < 0 or wave[m].state == _REACHED or wave[m].turn == a or wave[m].hidden == a or wave[m].hidden_before == a:
            continue
        away = _remaining(links, turns, a, m)
        if away < wave[m].far:
            wave[m].far, wave[m].turn, wave[m].state = away, a, _GUESSED
            _enqueue(wave, waiting, m, max(int(away / _GRAIN), grain))


@njit(cache=True, nogil=True)
def _check_sight(links: Ints, slopes: Singles, wave: Records, turns: Records, count: Longs, n: int) -> None:
    """Check the line of sight from a cell to its inherited turning point; if hidden, find another candidate."""
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
                _offer(links, wave, turns, n, widened(wave[m].turn))
    if wave[n].turn < 0:
        _through_neighbor(links, slopes, wave, turns, count, n)


@njit(cache=True, nogil=True)
def _offer(links: Ints, wave: Records, turns: Records, n: int, a: int) -> None:
    """Let cell n inherit turning point a, unless that is hidden or the current one is better."""
    if a != wave[n].hidden and a != wave[n].hidden_before:
        away = _remaining(links, turns, a, n)
        if away < wave[n].far:
            wave[n].far, wave[n].turn = away, a


@njit(cache=True, nogil=True)
def _inferred_visible(links: Ints, slopes: Singles, wave: Records, turns: Records, n: int) -> bool:
    """Whether cell n sees turning point a over level ground, inferred from the two cells next to its line of sight.

    Both must see it. Their lines are never more than a cell apart, so an obstacle on the line between them would also
    block one of the two. This saves tracing nearly every line.
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
    level = (
        wave[one].far <= _remaining(links, turns, a, one) + 1e-9
        and wave[two].far <= _remaining(links, turns, a, two) + 1e-9
    )
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
    """Route cell n around an end of the border that hides turning point a: direction `side` of cell `stop`."""
    for hand in range(2):
        owner, corner = _border_end(links, stop, side, hand)
        if owner < 0:
            continue
        b = _find_turn(wave, turns, owner, corner)
        if b < 0:
            b = _new_corner(links, slopes, wave, turns, count, owner, corner, a)
        if b >= 0:
            _offer(links, wave, turns, n, b)


@njit(cache=True, nogil=True)
def _border_end(links: Ints, stop: int, side: int, hand: int) -> tuple[int, int]:
    """(cell, corner) at the left (0) or right (1) end of a border; -1 and -1 if there is no way around it.

    A corner can be rounded if the cells on both sides of it exist and the diagonal one does not.
    """
    owner = widened(links[stop, (side + 1) % 4 if hand == 0 else (side + 3) % 4])
    corner = (side + 3) % 4 if hand == 0 else side
    if owner < 0 or links[owner, corner] < 0 or links[owner, (corner + 1) % 4] < 0 or links[owner, 4 + corner] >= 0:
        return -1, -1
    return owner, corner


@njit(cache=True, nogil=True)
def _corner_position(links: Ints, owner: int, corner: int) -> tuple[float, float]:
    """The position of the turning point at a corner of a cell."""
    half = 0.5 - _OFF
    u = links[owner, COLUMN] + 0.5 + (half if corner == 0 or corner == 3 else -half)
    v = links[owner, ROW] + 0.5 + (half if corner == 0 or corner == 1 else -half)
    return u, v


@njit(cache=True, nogil=True)
def _new_corner(
    links: Ints, slopes: Singles, wave: Records, turns: Records, count: Longs, owner: int, corner: int, a: int
) -> int:
    """A new turning point at a corner, connected to point a, to the one after it, or around one more corner.

    -1 where none of them is visible.
    """
    u, v = _corner_position(links, owner, corner)
    best, onward = _shortest_onward(links, slopes, turns, owner, u, v, a)
    if onward < 0:
        end = widened(turns[a].cell)
        stop, side, _, _ = trace(
            links, slopes, owner, u, v, widened(links[end, COLUMN]), widened(links[end, ROW]), turns[a].u, turns[a].v
        )
        for hand in range(2 if side >= 0 else 0):
            other, its = _border_end(links, stop, side, hand)
            b = _find_turn(wave, turns, other, its) if other >= 0 else -1
            if other >= 0 and b < 0:
                u1, v1 = _corner_position(links, other, its)
                far, beyond = _shortest_onward(links, slopes, turns, other, u1, v1, a)
                b = _new_turn(wave, turns, count, other, its, u1, v1, far, beyond) if beyond >= 0 else -1
            if b >= 0:
                length = turns[b].far + line_length(
                    links, slopes, owner, u, v, widened(turns[b].cell), turns[b].u, turns[b].v
                )
                if length < best:
                    best, onward = length, b
    return _new_turn(wave, turns, count, owner, corner, u, v, best, onward) if onward >= 0 else -1


@njit(cache=True, nogil=True)
def _shortest_onward(
    links: Ints, slopes: Singles, turns: Records, n: int, u: float, v: float, a: int
) -> tuple[float, int]:
    """(distance, turning point) through point a or the one after it, whichever is shorter; inf and -1 if hidden."""
    best, seen = np.inf, -1
    for _ in range(2):
        length = turns[a].far + line_length(links, slopes, n, u, v, widened(turns[a].cell), turns[a].u, turns[a].v)
        if length < best:
            best, seen = length, a
        a = widened(turns[a].onward)
        if a < 0:
            break
    return best, seen


@njit(cache=True, nogil=True)
def _through_neighbor(links: Ints, slopes: Singles, wave: Records, turns: Records, count: Longs, n: int) -> None:
    """Route cell n through the center of the expanded neighbor that gives the shortest path, if any."""
    u, v, best = links[n, COLUMN] + 0.5, links[n, ROW] + 0.5, -1
    for k in range(8):
        m = widened(links[n, k])
        if m >= 0 and wave[m].state == _REACHED:
            step = line_length(links, slopes, n, u, v, m, links[m, COLUMN] + 0.5, links[m, ROW] + 0.5)
            if wave[m].far + step < wave[n].far:
                wave[n].far, best = wave[m].far + step, m
    if best < 0:
        return
    a = _find_turn(wave, turns, best, _MIDDLE)
    if a < 0:
        u, v = links[best, COLUMN] + 0.5, links[best, ROW] + 0.5
        a = _new_turn(wave, turns, count, best, _MIDDLE, u, v, wave[best].far, widened(wave[best].turn))
    wave[n].turn, wave[n].state = a, _SEEN


@njit(cache=True, nogil=True)
def read_one(
    links: Ints, slopes: Singles, cell_distances: Floats, turn: Ints, turns: Records, n: int, u: float, v: float
) -> tuple[float, int]:
    """(distance, first turning point) of a point in cell n.

    It uses the turning point of its cell, of a neighbor, or the next one; if none is visible, it goes through the
    center of its cell (-1). Unreachable: inf and -2.
    """
    if cell_distances[n] == np.inf:
        return np.inf, -2
    best, first = np.inf, -1
    traced, before, long_before = -1, -1, -1  # the last turning points whose lines were traced: once is enough
    for k in range(-1, 8):
        m = n if k < 0 else widened(links[n, k])
        if m < 0 or cell_distances[m] > cell_distances[n] + _SLACK:
            continue
        a = widened(turn[m])
        for _ in range(2):
            if a < 0 or a == first:
                break
            du, dv = turns[a].u - u, turns[a].v - v
            new = a != traced and a != before and a != long_before
            if new and turns[a].far + np.sqrt(du * du + dv * dv) < best:
                traced, before, long_before = a, traced, before
                length = turns[a].far + line_length(
                    links, slopes, n, u, v, widened(turns[a].cell), turns[a].u, turns[a].v
                )
                if length < best:
                    best, first = length, a
            a = widened(turns[a].onward)
    if first < 0:
        best = cell_distances[n] + line_length(links, slopes, n, u, v, n, links[n, COLUMN] + 0.5, links[n, ROW] + 0.5)
    return best, first


@njit(cache=True, nogil=True)
def least_distance(
    links: Ints, cell_distances: Floats, turn: Ints, turns: Records, n: int, u: float, v: float
) -> float:
    """A lower bound of the distance that `read_one` returns, without tracing any line."""
    bound = cell_distances[n]
    for k in range(-1, 8):
        m = n if k < 0 else widened(links[n, k])
        if m < 0 or cell_distances[m] > cell_distances[n] + _SLACK:
            continue
        a = widened(turn[m])
        for _ in range(2):
            if a < 0:
                break
            du, dv = turns[a].u - u, turns[a].v - v
            bound = min(bound, turns[a].far + np.sqrt(du * du + dv * dv))
            a = widened(turns[a].onward)
    return bound  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def read_field(
    links: Ints,
    slopes: Singles,
    cell_distances: Floats,
    turn: Ints,
    turns: Records,
    cells: Ints,
    at: Floats,
    out: Floats,
    first: Ints,
) -> None:
    """out, first <- the distance and the first turning point of each point; see `read_one`."""
    for k in range(len(cells)):
        out[k], first[k] = read_one(links, slopes, cell_distances, turn, turns, widened(cells[k]), at[k, 0], at[k, 1])
