"""Exact collision checks: whether a robot's center stays in free grid cells along lines and circular arcs.

A move has constant curvature: metres driven forward (backward if negative) and radians turned to the left; zero turn
is a straight line, zero metres a rotation in place. The curve is split where it runs parallel to an axis, so that
each piece is monotone in x and y. A piece is then traversed from cell to cell; at each cell, one corner decides on
which side the curve leaves: the sign of `left_offset`, which is the same for lines and arcs of any radius and needs no
roots.

Contact: a point on a border, to within TOUCH metres, belongs to either cell, so a curve may run along a wall and
graze its corners. It may not run between two blocked cells, nor pass a corner where two blocked cells meet
diagonally: that gap is closed, so that connected means connected by the sides of cells. Outside the grid, everything
is blocked.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

TOUCH = 1e-9  # metres: a curve this deep in a blocked cell only touches it
_STRAIGHT = 1e-12  # radians: a turn below rounding error on any map


@njit(cache=True, nogil=True)
def pose_after(x: float, y: float, heading: float, metres: float, turn: float) -> tuple[float, float, float]:
    """The exact pose after one move: x, y, heading."""
    middle = heading + 0.5 * turn
    chord = metres
    if abs(turn) > _STRAIGHT:
        chord = metres * (math.sin(0.5 * turn) / (0.5 * turn))
    return x + chord * math.cos(middle), y + chord * math.sin(middle), heading + turn


@njit(cache=True, nogil=True)
def point_clear(allowed: NDArray[np.bool_], resolution: float, x: float, y: float) -> bool:
    """Whether the robot may be here."""
    return _zone_clear(allowed, x / resolution, y / resolution, TOUCH / resolution)


@njit(cache=True, nogil=True)
def move_clear(
    allowed: NDArray[np.bool_], resolution: float, x: float, y: float, heading: float, metres: float, turn: float
) -> bool:
    """Whether the robot's center stays in free cells along one move."""
    return clear_within(allowed, resolution, TOUCH, x, y, heading, metres, turn)


@njit(cache=True, nogil=True)
def moves_clear(
    allowed: NDArray[np.bool_], resolution: float, pose: NDArray[np.float64], moves: NDArray[np.float64]
) -> int:
    """The index of the first of (n, 2) moves from a pose (3,) that collides; -1 if none does."""
    x, y, heading = pose[0], pose[1], pose[2]
    for k in range(len(moves)):
        if not move_clear(allowed, resolution, x, y, heading, moves[k, 0], moves[k, 1]):
            return k
        x, y, heading = pose_after(x, y, heading, moves[k, 0], moves[k, 1])
    return -1


@njit(cache=True, nogil=True)
def clear_within(
    allowed: NDArray[np.bool_],
    resolution: float,
    touch: float,
    x: float,
    y: float,
    heading: float,
    metres: float,
    turn: float,
) -> bool:
    """Like `move_clear`, with an explicit contact tolerance in metres."""
    # From here on the unit is a cell, and driving backward is driving forward in the opposite direction.
    x, y, length, touch = x / resolution, y / resolution, abs(metres) / resolution, touch / resolution
    if length == 0.0:
        return _zone_clear(allowed, x, y, touch)
    towards = heading if metres > 0.0 else heading + math.pi
    if abs(turn) <= _STRAIGHT:
        towards += 0.5 * turn
        across, up = math.cos(towards), math.sin(towards)
        return _piece_clear(
            allowed, touch, x, y, across, up, 0.0, x, y, x + length * across, y + length * up, across >= 0, up >= 0
        )
    if abs(turn) > 2 * math.pi:  # one full circle covers the curve
        length *= 2 * math.pi / abs(turn)
        turn = math.copysign(2 * math.pi, turn)
    return _arc_clear(allowed, touch, x, y, towards, length, turn)


@njit(cache=True, nogil=True)
def _arc_clear(
    allowed: NDArray[np.bool_], touch: float, x: float, y: float, towards: float, length: float, turn: float
) -> bool:
    """Whether an arc is clear, one quadrant of its direction at a time."""
    across, up, bend = math.cos(towards), math.sin(towards), turn / length
    quarter = 0.5 * math.pi
    sign = 1 if turn > 0 else -1
    quadrant = math.floor(towards / quarter)
    from_x, from_y, turned = x, y, 0.0
    while turned != turn:
        border = (quadrant + (1 if sign > 0 else 0)) * quarter - towards
        turned = border if sign * border < sign * turn else turn
        if sign * turned < 0.0:  # started on the border of a quadrant, up to rounding
            turned = 0.0
        chord = 2.0 * math.sin(0.5 * turned) / bend
        to_x = x + chord * math.cos(towards + 0.5 * turned)
        to_y = y + chord * math.sin(towards + 0.5 * turned)
        facing = quadrant % 4
        if not _piece_clear(
            allowed, touch, x, y, across, up, bend, from_x, from_y, to_x, to_y, facing == 0 or facing == 3, facing < 2
        ):
            return False
        from_x, from_y = to_x, to_y
        quadrant += sign
    return True


@njit(cache=True, nogil=True)
def left_offset(across: float, up: float, bend: float, dx: float, dy: float) -> float:
    """The signed offset of (dx, dy) to the left of the curve that leaves the origin along (across, up), curvature bend.

    Positive to the left and negative to the right of a line, inside and outside of an arc; near the curve it is the
    distance.
    """
    return across * dy - up * dx - 0.5 * bend * (dx * dx + dy * dy)


@njit(cache=True, nogil=True)
def _piece_clear(
    allowed: NDArray[np.bool_],
    touch: float,
    x: float,
    y: float,
    across: float,
    up: float,
    bend: float,
    from_x: float,
    from_y: float,
    to_x: float,
    to_y: float,
    rightward: bool,
    upward: bool,
) -> bool:
    """Whether a piece of a curve that is monotone in x and y is clear between two of its points."""
    rows, columns = allowed.shape
    inside = 0 <= from_x < columns and 0 <= from_y < rows and 0 <= to_x < columns and 0 <= to_y < rows
    if inside and not (_on_corner(from_x, from_y, touch) or _on_corner(to_x, to_y, touch)):
        i, j = _first_blocked(allowed, x, y, across, up, bend, from_x, from_y, to_x, to_y, rightward, upward)
        if allowed[j, i]:
            return True
        if _surely_collides(touch, x, y, across, up, bend, from_x, from_y, to_x, to_y, i, j, rightward == upward):
            return False
    return _piece_touches(allowed, touch, x, y, across, up, bend, from_x, from_y, to_x, to_y, rightward, upward)


@njit(cache=True, nogil=True)
def _on_corner(x: float, y: float, touch: float) -> bool:
    off_x, off_y = x - int(x + 0.5), y - int(y + 0.5)
    return -touch <= off_x <= touch and -touch <= off_y <= touch


@njit(cache=True, nogil=True)
def _first_blocked(
    allowed: NDArray[np.bool_],
    x: float,
    y: float,
    across: float,
    up: float,
    bend: float,
    from_x: float,
    from_y: float,
    to_x: float,
    to_y: float,
    rightward: bool,
    upward: bool,
) -> tuple[int, int]:
    """Column and row of the first blocked cell on a piece, or of its last cell."""
    i, j, last_i, last_j = int(from_x), int(from_y), int(to_x), int(to_y)
    step_i, step_j = (1 if rightward else -1), (1 if upward else -1)
    # Rounding may put an end behind the start.
    last_i = i if (last_i - i) * step_i < 0 else last_i
    last_j = j if (last_j - j) * step_j < 0 else last_j
    # The corner ahead, relative to the start of the curve.
    dx, dy = i + (1 if rightward else 0) - x, j + (1 if upward else 0) - y
    side = step_i * step_j
    while allowed[j, i] and i != last_i and j != last_j:
        if side * left_offset(across, up, bend, dx, dy) > 0.0:
            i += step_i
            dx += step_i
        else:
            j += step_j
            dy += step_j
    while allowed[j, i] and i != last_i:
        i += step_i
    while allowed[j, i] and j != last_j:
        j += step_j
    return i, j


@njit(cache=True, nogil=True)
def _surely_collides(
    touch: float,
    x: float,
    y: float,
    across: float,
    up: float,
    bend: float,
    from_x: float,
    from_y: float,
    to_x: float,
    to_y: float,
    i: int,
    j: int,
    rising: bool,
) -> bool:
    """Whether a piece certainly passes deeper than a touch through a cell: opposite corners lie on its two sides."""
    low_x, high_x = max(i + touch, min(from_x, to_x)), min(i + 1 - touch, max(from_x, to_x))
    low_y, high_y = max(j + touch, min(from_y, to_y)), min(j + 1 - touch, max(from_y, to_y))
    if low_x > high_x or low_y > high_y:
        return False
    if rising:
        low_y, high_y = high_y, low_y
    one = left_offset(across, up, bend, low_x - x, low_y - y)
    other = left_offset(across, up, bend, high_x - x, high_y - y)
    return one * other <= 0.0


@njit(cache=True, nogil=True)
def _piece_touches(
    allowed: NDArray[np.bool_],
    touch: float,
    x: float,
    y: float,
    across: float,
    up: float,
    bend: float,
    from_x: float,
    from_y: float,
    to_x: float,
    to_y: float,
    rightward: bool,
    upward: bool,
) -> bool:
    """Like `_piece_clear`, at borders: whether the piece does no more than touch blocked cells.

    The same traversal over bands instead of cells: an even band is the inside of a column or row, the odd one after it
    is the strip within a touch of the border to the next.
    """
    rows, columns = allowed.shape
    low, right, top = -touch, columns + touch, rows + touch
    if not (low <= from_x <= right and low <= from_y <= top and low <= to_x <= right and low <= to_y <= top):
        return False
    a, b, last_a, last_b = _band(from_x, touch), _band(from_y, touch), _band(to_x, touch), _band(to_y, touch)
    step_a, step_b = (1 if rightward else -1), (1 if upward else -1)
    side = step_a * step_b
    while _bands_clear(allowed, a, b):
        more_a, more_b = (last_a - a) * step_a > 0, (last_b - b) * step_b > 0
        if not (more_a or more_b):
            return True
        if more_a and more_b:
            dx = _band_end(a, touch, rightward) - x
            dy = _band_end(b, touch, upward) - y
            more_a = side * left_offset(across, up, bend, dx, dy) > 0.0
        if more_a:
            a += step_a
        else:
            b += step_b
    return False


@njit(cache=True, nogil=True)
def _band(at: float, touch: float) -> int:
    cell = math.floor(at)
    if at - cell < touch:
        return 2 * cell - 1
    return 2 * cell + 1 if at - cell > 1.0 - touch else 2 * cell


@njit(cache=True, nogil=True)
def _band_end(band: int, touch: float, forward: bool) -> float:
    """The end of a band in the direction of travel."""
    cell = band // 2
    if band % 2 == 0:
        return cell + 1 - touch if forward else cell + touch
    return cell + 1 + touch if forward else cell + 1 - touch


@njit(cache=True, nogil=True)
def _zone_clear(allowed: NDArray[np.bool_], x: float, y: float, touch: float) -> bool:
    rows, columns = allowed.shape
    if not (-touch <= x <= columns + touch and -touch <= y <= rows + touch):
        return False
    return _bands_clear(allowed, _band(x, touch), _band(y, touch))


@njit(cache=True, nogil=True)
def _bands_clear(allowed: NDArray[np.bool_], a: int, b: int) -> bool:
    """Whether the crossing of two bands is free: some cell there is free, and not just two diagonal ones."""
    i, j = a // 2, b // 2
    here = _is_allowed(allowed, j, i)
    if a % 2 == 0 and b % 2 == 0:
        return here
    if b % 2 == 0:
        return here or _is_allowed(allowed, j, i + 1)
    if a % 2 == 0:
        return here or _is_allowed(allowed, j + 1, i)
    beside, above = _is_allowed(allowed, j, i + 1), _is_allowed(allowed, j + 1, i)
    opposite = _is_allowed(allowed, j + 1, i + 1)
    if here == opposite and beside == above:
        return here and beside
    return True


@njit(cache=True, nogil=True)
def _is_allowed(allowed: NDArray[np.bool_], row: int, column: int) -> bool:
    return 0 <= row < allowed.shape[0] and 0 <= column < allowed.shape[1] and bool(allowed[row, column])
