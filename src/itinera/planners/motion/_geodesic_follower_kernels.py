"""A robot that goes down a distance field by turns and steps of fixed size."""

# mypy: allow-untyped-decorators
from __future__ import annotations

import numpy as np
from numba import njit

from itinera.worlds._distance_field_kernels import Records, read_one
from itinera.worlds._surface_kernels import Floats, Ints, Singles, go, widened

STOP, FORWARD, LEFT, RIGHT = 0, 1, 2, 3

_TURNING = 1e-3  # metres; what a turn must gain to be worth it
_PROGRESS = 1e-3  # metres; a step that brings less is no step


@njit(cache=True, nogil=True)
def descend(
    links: Ints,
    slopes: Singles,
    far: Floats,
    turn: Ints,
    turns: Records,
    settings: Floats,
    sliding: bool,
    cells: Ints,
    across: Floats,
    headings: Floats,
    actions: Ints,
    at: int,
) -> tuple[int, bool]:
    """cells, across, headings, actions <- what the robot does from row `at` on; returns its last row and success.

    settings: the size of a cell, the step, the angle of a turn, the radius of the goal; metres and radians. Row k is
    where action k is taken. Row `at` holds where it starts; the last row has no action yet. It ends, in vain, where
    neither one step nor two bring it nearer, or where rows run out.
    """
    angle, radius = settings[2], settings[3]
    while True:
        n, u, v = widened(cells[at]), across[at, 0], across[at, 1]
        left = read_one(links, slopes, far, turn, turns, n, u, v)[0] * settings[0]
        if left <= radius:
            return at, True
        bearing, gain = _best(links, slopes, far, turn, turns, settings, sliding, n, u, v, headings[at], left)
        if gain <= 0.0:
            bearing, gain = _best_of_two(
                links, slopes, far, turn, turns, settings, sliding, n, u, v, headings[at], left
            )
        if gain <= 0.0 or at + abs(bearing) + 1 >= len(cells):
            return at, False
        for _ in range(abs(bearing)):
            actions[at] = LEFT if bearing > 0 else RIGHT
            headings[at + 1] = headings[at] + (angle if bearing > 0 else -angle)
            cells[at + 1], across[at + 1, 0], across[at + 1, 1] = n, u, v
            at += 1
        actions[at] = FORWARD
        headings[at + 1] = headings[at]
        n, u, v = _step(links, slopes, settings, sliding, n, u, v, headings[at])
        cells[at + 1], across[at + 1, 0], across[at + 1, 1] = n, u, v
        at += 1


@njit(cache=True, nogil=True)
def _best(
    links: Ints,
    slopes: Singles,
    far: Floats,
    turn: Ints,
    turns: Records,
    settings: Floats,
    sliding: bool,
    n: int,
    u: float,
    v: float,
    heading: float,
    left: float,
) -> tuple[int, float]:
    """(turns to the left, gain) of the step that leaves least of `left` metres; a gain of 0 if none brings nearer."""
    bearing, gain = 0, 0.0
    for k in range(2 * int(np.ceil(np.pi / settings[2])) + 1):
        aside = _aside(k)
        n1, u1, v1 = _step(links, slopes, settings, sliding, n, u, v, heading + aside * settings[2])
        nearer = left - read_one(links, slopes, far, turn, turns, n1, u1, v1)[0] * settings[0]
        worth = nearer - _TURNING * abs(aside)
        if nearer > _PROGRESS and worth > gain + 1e-9:
            bearing, gain = aside, worth
    return bearing, gain


@njit(cache=True, nogil=True)
def _best_of_two(
    links: Ints,
    slopes: Singles,
    far: Floats,
    turn: Ints,
    turns: Records,
    settings: Floats,
    sliding: bool,
    n: int,
    u: float,
    v: float,
    heading: float,
    left: float,
) -> tuple[int, float]:
    """As `_best`, of the first of two steps: a corner close by may have to be rounded at a distance."""
    bearing, gain = 0, 0.0
    for k in range(2 * int(np.ceil(np.pi / settings[2])) + 1):
        aside = _aside(k)
        ahead = heading + aside * settings[2]
        n1, u1, v1 = _step(links, slopes, settings, sliding, n, u, v, ahead)
        if n1 == n and u1 == u and v1 == v:
            continue
        worth = _best(links, slopes, far, turn, turns, settings, sliding, n1, u1, v1, ahead, left)[1]
        if worth - _TURNING * abs(aside) > gain + 1e-9:
            bearing, gain = aside, worth - _TURNING * abs(aside)
    return bearing, gain


@njit(cache=True, nogil=True)
def _aside(k: int) -> int:
    """No turn first, then one to the left, one to the right, two to the left and so on."""
    return (k + 1) // 2 if k % 2 else -(k // 2)


@njit(cache=True, nogil=True)
def _step(
    links: Ints, slopes: Singles, settings: Floats, sliding: bool, n: int, u: float, v: float, heading: float
) -> tuple[int, float, float]:
    """(cell, u, v) after a step along a heading."""
    far = settings[1] / settings[0]
    return go(links, slopes, n, u, v, far * np.cos(heading), far * np.sin(heading), sliding)
