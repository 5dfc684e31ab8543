"""Growing the tree of RRT*-Unicycle.

Nodes are numbers in order of their birth; node 0 is the start. The tree is kept as parent, first child and next
sibling, so that what a rewiring saves reaches all that hangs below; the nodes in a square of the floor are found by a
list per square.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from itinera.planners.motion._local_search_kernels import leg_clear
from itinera.planners.motion._random_kernels import State, uniform
from itinera.planners.motion._steering_kernels import Leg, Motion, fastest_leg, single_arc_leg, wrapped
from itinera.worlds._grid_kernels import point_clear

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

NEAR = 1.5  # metres: the longest leg, the largest neighbourhood, and the disc around the path that is sampled
UNIFORM = 0.2  # of the samples are drawn from the whole floor
EVERY, PART = 50, 20  # nodes between two looks for a better path: so many, or this part of the tree
_SIDE = 0.25  # metres, of the squares in which nodes are listed, at most
_SQUARES = 250_000.0  # about as many as there may be
_SAVED = 1e-3  # seconds: less is no reason to rewire


@njit(cache=True, nogil=True)
def steer(x: float, y: float, heading: float, to_x: float, to_y: float, motion: Motion, single: bool) -> Leg:
    """The leg by which nodes are joined."""
    if single:
        return single_arc_leg(x, y, heading, to_x, to_y, motion)
    return fastest_leg(x, y, heading, to_x, to_y, motion)


@njit(cache=True, nogil=True)
def aim(x: float, y: float, goal: Floats) -> tuple[float, float]:
    """The place in the goal's disc (x, y, radius) that is nearest."""
    dx, dy = x - goal[0], y - goal[1]
    away = math.sqrt(dx * dx + dy * dy)
    share = min(1.0, goal[2] * (1.0 - 1e-9) / away) if away > 0.0 else 0.0
    return goal[0] + share * dx, goal[1] + share * dy


@njit(cache=True, nogil=True)
def grow(
    allowed: Bools,
    resolution: float,
    start: Floats,
    goal: Floats,
    hints: Floats,
    floor: Ints,
    motion: Motion,
    released: bool,
    state: State,
    most: int,
    draws: int,
) -> tuple[Floats, Ints, Ints, Floats]:
    """Nodes (n, 4) as x, y, heading, seconds; their parents; the best path's nodes, last first; its history (m, 2).

    The history is nodes in the tree and seconds of the best path, at every look. Stops after `most` nodes or so many
    draws. Before there is a path, samples are drawn around the hints (k, 2). `floor` lists the cells to sample from.
    """
    height, width = allowed.shape[0] * resolution, allowed.shape[1] * resolution
    area = len(floor) * resolution * resolution
    side = max(min(_SIDE, 0.5 * _shrinking(most, area)), math.sqrt(width * height / _SQUARES))
    heads = np.full((int(height / side) + 1, int(width / side) + 1), -1)
    nodes, links = np.zeros((most, 4)), np.full((6, most), -1)
    parents, child, sibling, after, stack, near = links[0], links[1], links[2], links[3], links[4], links[5]
    path, history, looks = np.empty(0, dtype=np.int64), np.empty((most // EVERY + 2, 2)), 0
    nodes[0, 0], nodes[0, 1], nodes[0, 2] = start[0], start[1], start[2]
    _list(nodes, 0, heads, after, side)
    count, due, spread = 1, 1, area
    for draw in range(draws):
        if count >= due or draw == draws - 1:
            seconds, path = _look(allowed, resolution, nodes, parents, heads, after, side, goal, motion, released)
            history[looks, 0], history[looks, 1] = count, seconds
            looks += 1
            due = min(count + max(EVERY, count // PART), most)
            if len(path):
                spread = min(area, _tube(nodes, path)) / (1.0 - UNIFORM)
        if count == most:
            break
        x, y = _sample(floor, allowed.shape[1], resolution, nodes, path, goal, hints, state)
        nearby = heads[_square(heads, side, x, y)]
        if nearby < 0 or (nodes[nearby, 0] - x) ** 2 + (nodes[nearby, 1] - y) ** 2 > NEAR * NEAR:
            nearby = _nearest(nodes, heads, after, side, x, y)
            x, y = _pulled(nodes[nearby, 0], nodes[nearby, 1], x, y)
        if not point_clear(allowed, resolution, x, y):
            continue
        reach = NEAR if released else min(NEAR, _shrinking(count, spread))
        found = _within(nodes, heads, after, side, x, y, reach, near)
        if found == 0:
            near[0], found = _nearest(nodes, heads, after, side, x, y), 1
        parent, leg = _parent(allowed, resolution, nodes, near[:found], x, y, motion, released)
        if parent < 0:
            continue
        nodes[count, 0], nodes[count, 1] = x, y
        nodes[count, 2], nodes[count, 3] = nodes[parent, 2] + leg[2] + leg[4], nodes[parent, 3] + leg[0]
        _hang(count, parent, parents, child, sibling)
        _list(nodes, count, heads, after, side)
        _rewire(allowed, resolution, nodes, parents, child, sibling, near[:found], count, motion, released, stack)
        count += 1
    return nodes[:count].copy(), parents[:count].copy(), path, history[:looks].copy()


@njit(cache=True, nogil=True)
def _shrinking(count: int, area: float) -> float:
    """The radius of neighbourhoods that keeps RRT* optimal in the limit (Karaman and Frazzoli 2011), metres."""
    return 2.0 * math.sqrt(1.5 * area / math.pi * math.log(count + 1.0) / count)


@njit(cache=True, nogil=True)
def _tube(nodes: Floats, path: Ints) -> float:
    """The area, square metres, that lies near the path: as large as it can be."""
    length = NEAR
    for k in range(len(path) - 1):
        dx, dy = nodes[path[k], 0] - nodes[path[k + 1], 0], nodes[path[k], 1] - nodes[path[k + 1], 1]
        length += math.sqrt(dx * dx + dy * dy)
    return 2.0 * NEAR * length + math.pi * NEAR * NEAR


@njit(cache=True, nogil=True)
def _sample(
    floor: Ints,
    columns: int,
    resolution: float,
    nodes: Floats,
    path: Ints,
    goal: Floats,
    hints: Floats,
    state: State,
) -> tuple[float, float]:
    """A place on the floor, or near the best path, or near the hints while there is none."""
    across, up, pick = uniform(state), uniform(state), uniform(state)
    if uniform(state) < UNIFORM:
        cell = floor[int(pick * len(floor))]
        return (cell % columns + across) * resolution, (cell // columns + up) * resolution
    if len(path):
        # The goal is the last place of the path.
        k = int(pick * (len(path) + 1)) - 1
        x, y = (nodes[path[k], 0], nodes[path[k], 1]) if k >= 0 else (goal[0], goal[1])
    else:
        k = int(pick * len(hints))
        x, y = hints[k, 0], hints[k, 1]
    away, towards = NEAR * math.sqrt(across), 2.0 * math.pi * up
    return x + away * math.cos(towards), y + away * math.sin(towards)


@njit(cache=True, nogil=True)
def _pulled(from_x: float, from_y: float, x: float, y: float) -> tuple[float, float]:
    """The place, or where its line from the nearest node leaves the circle around that node."""
    dx, dy = x - from_x, y - from_y
    far = math.sqrt(dx * dx + dy * dy)
    share = NEAR / far if far > NEAR else 1.0
    return from_x + share * dx, from_y + share * dy


@njit(cache=True, nogil=True)
def _square(heads: Ints, side: float, x: float, y: float) -> tuple[int, int]:
    """Row and column of the square, of the nearest one for places outside."""
    row, column = math.floor(y / side), math.floor(x / side)
    return min(max(row, 0), heads.shape[0] - 1), min(max(column, 0), heads.shape[1] - 1)


@njit(cache=True, nogil=True)
def _list(nodes: Floats, node: int, heads: Ints, after: Ints, side: float) -> None:
    row, column = _square(heads, side, nodes[node, 0], nodes[node, 1])
    after[node] = heads[row, column]
    heads[row, column] = node


@njit(cache=True, nogil=True)
def _within(nodes: Floats, heads: Ints, after: Ints, side: float, x: float, y: float, reach: float, near: Ints) -> int:
    """How many nodes are within reach; near <- which."""
    low_row, low_column = _square(heads, side, x - reach, y - reach)
    high_row, high_column = _square(heads, side, x + reach, y + reach)
    found, squared = 0, reach * reach
    for row in range(low_row, high_row + 1):
        for column in range(low_column, high_column + 1):
            node = heads[row, column]
            while node >= 0:
                if (nodes[node, 0] - x) ** 2 + (nodes[node, 1] - y) ** 2 <= squared:
                    near[found] = node
                    found += 1
                node = after[node]
    return found


@njit(cache=True, nogil=True)
def _nearest(nodes: Floats, heads: Ints, after: Ints, side: float, x: float, y: float) -> int:
    """The nearest node, from the square of the place outwards ring by ring."""
    rows, columns = heads.shape
    row, column = _square(heads, side, x, y)
    best, squared, ring = 0, np.inf, 0
    while squared == np.inf or (ring - 1) * side < math.sqrt(squared):
        if ring > rows + columns:
            break
        for j in range(max(0, row - ring), min(rows, row + ring + 1)):
            step = 1 if j == row - ring or j == row + ring or ring == 0 else 2 * ring
            for i in range(column - ring, column + ring + 1, step):
                node = heads[j, i] if 0 <= i < columns else -1
                while node >= 0:
                    gap = (nodes[node, 0] - x) ** 2 + (nodes[node, 1] - y) ** 2
                    if gap < squared:
                        best, squared = node, gap
                    node = after[node]
        ring += 1
    return best


@njit(cache=True, nogil=True)
def _parent(
    allowed: Bools, resolution: float, nodes: Floats, near: Ints, x: float, y: float, motion: Motion, released: bool
) -> tuple[int, Leg]:
    """The node from which the place is reached first, and the leg; -1 if all legs are blocked."""
    best, soonest, chosen = -1, np.inf, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for node in near:
        from_x, from_y, heading, seconds = nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 3]
        if seconds + math.sqrt((x - from_x) ** 2 + (y - from_y) ** 2) / motion.vmax >= soonest:
            continue
        leg = steer(from_x, from_y, heading, x, y, motion, released)
        if seconds + leg[0] < soonest and leg_clear(allowed, resolution, from_x, from_y, heading, leg):
            best, soonest, chosen = node, seconds + leg[0], leg
    return best, chosen


@njit(cache=True, nogil=True)
def _rewire(
    allowed: Bools,
    resolution: float,
    nodes: Floats,
    parents: Ints,
    child: Ints,
    sibling: Ints,
    near: Ints,
    new: int,
    motion: Motion,
    released: bool,
    stack: Ints,
) -> None:
    """Hang neighbours below the new node where that saves time, the last pivot back to their heading included."""
    x, y, heading, seconds = nodes[new, 0], nodes[new, 1], nodes[new, 2], nodes[new, 3]
    if not motion.pivots:
        return
    for node in near:
        to_x, to_y = nodes[node, 0], nodes[node, 1]
        if seconds + math.sqrt((x - to_x) ** 2 + (y - to_y) ** 2) / motion.vmax >= nodes[node, 3] - _SAVED:
            continue
        leg = steer(x, y, heading, to_x, to_y, motion, released)
        total = seconds + leg[0] + abs(wrapped(nodes[node, 2] - heading - leg[2] - leg[4])) / motion.wmax
        saved = nodes[node, 3] - total
        if saved > _SAVED and leg_clear(allowed, resolution, x, y, heading, leg):
            _unhang(node, parents, child, sibling)
            _hang(node, new, parents, child, sibling)
            _save(nodes, child, sibling, node, saved, stack)


@njit(cache=True, nogil=True)
def _hang(node: int, parent: int, parents: Ints, child: Ints, sibling: Ints) -> None:
    parents[node] = parent
    sibling[node] = child[parent]
    child[parent] = node


@njit(cache=True, nogil=True)
def _unhang(node: int, parents: Ints, child: Ints, sibling: Ints) -> None:
    parent = parents[node]
    if child[parent] == node:
        child[parent] = sibling[node]
        return
    before = child[parent]
    while sibling[before] != node:
        before = sibling[before]
    sibling[before] = sibling[node]


@njit(cache=True, nogil=True)
def _save(nodes: Floats, child: Ints, sibling: Ints, root: int, saved: float, stack: Ints) -> None:
    """Everything from this node downwards is reached so much sooner."""
    stack[0], depth = root, 1
    while depth:
        depth -= 1
        node = stack[depth]
        nodes[node, 3] -= saved
        below = child[node]
        while below >= 0:
            stack[depth] = below
            depth += 1
            below = sibling[below]


@njit(cache=True, nogil=True)
def _look(
    allowed: Bools,
    resolution: float,
    nodes: Floats,
    parents: Ints,
    heads: Ints,
    after: Ints,
    side: float,
    goal: Floats,
    motion: Motion,
    released: bool,
) -> tuple[float, Ints]:
    """Seconds of the best path to the goal, and its nodes from the last to the first."""
    low_row, low_column = _square(heads, side, goal[0] - goal[2] - NEAR, goal[1] - goal[2] - NEAR)
    high_row, high_column = _square(heads, side, goal[0] + goal[2] + NEAR, goal[1] + goal[2] + NEAR)
    best, soonest = -1, np.inf
    for row in range(low_row, high_row + 1):
        for column in range(low_column, high_column + 1):
            node = heads[row, column]
            while node >= 0:
                x, y, heading, seconds = nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 3]
                to_x, to_y = aim(x, y, goal)
                far = math.sqrt((to_x - x) ** 2 + (to_y - y) ** 2)
                if far <= NEAR and seconds + far / motion.vmax < soonest:
                    leg = steer(x, y, heading, to_x, to_y, motion, released)
                    if seconds + leg[0] < soonest and leg_clear(allowed, resolution, x, y, heading, leg):
                        best, soonest = node, seconds + leg[0]
                node = after[node]
    count, node = 0, best
    while node >= 0:
        count, node = count + 1, parents[node]
    path = np.empty(count, dtype=np.int64)
    for k in range(count):
        path[k] = best
        best = parents[best]
    return soonest, path


@njit(cache=True, nogil=True)
def path_moves(nodes: Floats, path: Ints, goal: Floats, motion: Motion, released: bool) -> Floats:
    """The moves (4 n, 2) along the path, given last node first, and on to the goal; unused ones are 0."""
    moves = np.zeros((4 * len(path), 2))
    for k in range(len(path)):
        node, then = path[len(path) - 1 - k], path[max(len(path) - 2 - k, 0)]
        ends = k + 1 == len(path)
        x, y, heading = nodes[node, 0], nodes[node, 1], nodes[node, 2]
        to_x, to_y = aim(x, y, goal) if ends else (nodes[then, 0], nodes[then, 1])
        leg = steer(x, y, heading, to_x, to_y, motion, released)
        moves[4 * k, 0], moves[4 * k, 1] = leg[1], leg[2]
        moves[4 * k + 1, 0], moves[4 * k + 1, 1] = leg[3], leg[4]
        moves[4 * k + 2, 0] = leg[5]
        if not ends:
            moves[4 * k + 3, 1] = wrapped(nodes[then, 2] - heading - leg[2] - leg[4])
    return moves
