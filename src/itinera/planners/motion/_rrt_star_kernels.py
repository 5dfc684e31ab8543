"""Growing the tree of RRT*-Unicycle.

Nodes are numbered in order of creation; node 0 is the start. The tree is stored as parent, first child and next
sibling, so that the time saved by rewiring reaches all descendants. Linked lists hold the nodes of each bin, a square
of the map.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from itinera.planners.motion._steering_kernels import (
    Leg,
    Motion,
    State,
    fastest_leg,
    leg_clear,
    single_arc_leg,
    uniform,
    wrap_angle,
)
from itinera.worlds._grid_kernels import point_clear

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MAX_LEG = 1.5  # metres: the longest leg, the largest neighbourhood, and the radius of sampling around the path
UNIFORM_SHARE = 0.2  # of the samples come from the whole floor
CHECK_EVERY, CHECK_FRACTION = 50, 20  # nodes between two checks for a better path: so many, or this share of the tree
_MAX_BIN = 0.25  # metres, the largest side of a bin
_MAX_BINS = 250_000.0  # approximate limit
_MIN_SAVING = 1e-3  # seconds: smaller savings do not rewire


@njit(cache=True, nogil=True)
def steer(x: float, y: float, heading: float, to_x: float, to_y: float, motion: Motion, single: bool) -> Leg:
    """The leg that joins two nodes."""
    if single:
        return single_arc_leg(x, y, heading, to_x, to_y, motion)
    return fastest_leg(x, y, heading, to_x, to_y, motion)


@njit(cache=True, nogil=True)
def goal_point(x: float, y: float, goal: Floats) -> tuple[float, float]:
    """The nearest point of the goal's disc (x, y, radius)."""
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
    floor_cells: Ints,
    motion: Motion,
    released: bool,
    state: State,
    max_nodes: int,
    max_draws: int,
) -> tuple[Floats, Ints, Ints, Floats]:
    """Nodes (n, 4) as x, y, heading, seconds; their parents; the best path's nodes, last first; its history (m, 2).

    The history holds, at every check, the number of nodes and the seconds of the best path. Growth stops after
    `max_nodes` nodes or `max_draws` samples. Before there is a path, samples are drawn around the hints (k, 2).
    `floor_cells` lists the cells to sample from.
    """
    height, width = allowed.shape[0] * resolution, allowed.shape[1] * resolution
    area = len(floor_cells) * resolution * resolution
    bin_size = max(min(_MAX_BIN, 0.5 * _neighbourhood_radius(max_nodes, area)), math.sqrt(width * height / _MAX_BINS))
    bins = np.full((int(height / bin_size) + 1, int(width / bin_size) + 1), -1)
    nodes, links = np.zeros((max_nodes, 4)), np.full((6, max_nodes), -1)
    parents, child, sibling, next_in_bin, stack, near = links[0], links[1], links[2], links[3], links[4], links[5]
    path, history, checks = np.empty(0, dtype=np.int64), np.empty((max_nodes // CHECK_EVERY + 2, 2)), 0
    nodes[0, 0], nodes[0, 1], nodes[0, 2] = start[0], start[1], start[2]
    _add_to_bin(nodes, 0, bins, next_in_bin, bin_size)
    count, due, sampled_area = 1, 1, area
    for draw in range(max_draws):
        if count >= due or draw == max_draws - 1:
            seconds, path = _best_path(
                allowed, resolution, nodes, parents, bins, next_in_bin, bin_size, goal, motion, released
            )
            history[checks, 0], history[checks, 1] = count, seconds
            checks += 1
            due = min(count + max(CHECK_EVERY, count // CHECK_FRACTION), max_nodes)
            if len(path):
                sampled_area = min(area, _tube(nodes, path)) / (1.0 - UNIFORM_SHARE)
        if count == max_nodes:
            break
        x, y = _sample(floor_cells, allowed.shape[1], resolution, nodes, path, goal, hints, state)
        nearby = bins[_bin(bins, bin_size, x, y)]
        if nearby < 0 or (nodes[nearby, 0] - x) ** 2 + (nodes[nearby, 1] - y) ** 2 > MAX_LEG * MAX_LEG:
            nearby = _nearest(nodes, bins, next_in_bin, bin_size, x, y)
            x, y = _clamp_to(nodes[nearby, 0], nodes[nearby, 1], x, y)
        if not point_clear(allowed, resolution, x, y):
            continue
        reach = MAX_LEG if released else min(MAX_LEG, _neighbourhood_radius(count, sampled_area))
        found = _neighbours(nodes, bins, next_in_bin, bin_size, x, y, reach, near)
        if found == 0:
            near[0], found = _nearest(nodes, bins, next_in_bin, bin_size, x, y), 1
        parent, leg = _choose_parent(allowed, resolution, nodes, near[:found], x, y, motion, released)
        if parent < 0:
            continue
        nodes[count, 0], nodes[count, 1] = x, y
        nodes[count, 2], nodes[count, 3] = nodes[parent, 2] + leg[2] + leg[4], nodes[parent, 3] + leg[0]
        _attach(count, parent, parents, child, sibling)
        _add_to_bin(nodes, count, bins, next_in_bin, bin_size)
        _rewire(allowed, resolution, nodes, parents, child, sibling, near[:found], count, motion, released, stack)
        count += 1
    return nodes[:count].copy(), parents[:count].copy(), path, history[:checks].copy()


@njit(cache=True, nogil=True)
def _neighbourhood_radius(count: int, area: float) -> float:
    """The radius of neighbourhoods, metres, that keeps RRT* asymptotically optimal (Karaman and Frazzoli 2011)."""
    return 2.0 * math.sqrt(1.5 * area / math.pi * math.log(count + 1.0) / count)


@njit(cache=True, nogil=True)
def _tube(nodes: Floats, path: Ints) -> float:
    """An upper bound on the area near the path, square metres."""
    length = MAX_LEG
    for k in range(len(path) - 1):
        dx, dy = nodes[path[k], 0] - nodes[path[k + 1], 0], nodes[path[k], 1] - nodes[path[k + 1], 1]
        length += math.sqrt(dx * dx + dy * dy)
    return 2.0 * MAX_LEG * length + math.pi * MAX_LEG * MAX_LEG


@njit(cache=True, nogil=True)
def _sample(
    floor_cells: Ints,
    columns: int,
    resolution: float,
    nodes: Floats,
    path: Ints,
    goal: Floats,
    hints: Floats,
    state: State,
) -> tuple[float, float]:
    """A point on the floor, or near the best path, or near the hints while there is no path."""
    across, up, pick = uniform(state), uniform(state), uniform(state)
    if uniform(state) < UNIFORM_SHARE:
        cell = floor_cells[int(pick * len(floor_cells))]
        return (cell % columns + across) * resolution, (cell // columns + up) * resolution
    if len(path):
        # The goal is the last point of the path.
        k = int(pick * (len(path) + 1)) - 1
        x, y = (nodes[path[k], 0], nodes[path[k], 1]) if k >= 0 else (goal[0], goal[1])
    else:
        k = int(pick * len(hints))
        x, y = hints[k, 0], hints[k, 1]
    away, towards = MAX_LEG * math.sqrt(across), 2.0 * math.pi * up
    return x + away * math.cos(towards), y + away * math.sin(towards)


@njit(cache=True, nogil=True)
def _clamp_to(from_x: float, from_y: float, x: float, y: float) -> tuple[float, float]:
    """The point, or where its line from the nearest node leaves the circle of MAX_LEG around that node."""
    dx, dy = x - from_x, y - from_y
    distance = math.sqrt(dx * dx + dy * dy)
    share = MAX_LEG / distance if distance > MAX_LEG else 1.0
    return from_x + share * dx, from_y + share * dy


@njit(cache=True, nogil=True)
def _bin(bins: Ints, bin_size: float, x: float, y: float) -> tuple[int, int]:
    """Row and column of a point's bin; of the nearest bin for points outside."""
    row, column = math.floor(y / bin_size), math.floor(x / bin_size)
    return min(max(row, 0), bins.shape[0] - 1), min(max(column, 0), bins.shape[1] - 1)


@njit(cache=True, nogil=True)
def _add_to_bin(nodes: Floats, node: int, bins: Ints, next_in_bin: Ints, bin_size: float) -> None:
    row, column = _bin(bins, bin_size, nodes[node, 0], nodes[node, 1])
    next_in_bin[node] = bins[row, column]
    bins[row, column] = node


@njit(cache=True, nogil=True)
def _neighbours(
    nodes: Floats, bins: Ints, next_in_bin: Ints, bin_size: float, x: float, y: float, reach: float, near: Ints
) -> int:
    """The number of nodes within reach; near <- their numbers."""
    low_row, low_column = _bin(bins, bin_size, x - reach, y - reach)
    high_row, high_column = _bin(bins, bin_size, x + reach, y + reach)
    found, squared = 0, reach * reach
    for row in range(low_row, high_row + 1):
        for column in range(low_column, high_column + 1):
            node = bins[row, column]
            while node >= 0:
                if (nodes[node, 0] - x) ** 2 + (nodes[node, 1] - y) ** 2 <= squared:
                    near[found] = node
                    found += 1
                node = next_in_bin[node]
    return found


@njit(cache=True, nogil=True)
def _nearest(nodes: Floats, bins: Ints, next_in_bin: Ints, bin_size: float, x: float, y: float) -> int:
    """The nearest node, searched from the point's bin outwards ring by ring."""
    rows, columns = bins.shape
    row, column = _bin(bins, bin_size, x, y)
    best, squared, ring = 0, np.inf, 0
    while squared == np.inf or (ring - 1) * bin_size < math.sqrt(squared):
        if ring > rows + columns:
            break
        for j in range(max(0, row - ring), min(rows, row + ring + 1)):
            step = 1 if j == row - ring or j == row + ring or ring == 0 else 2 * ring
            for i in range(column - ring, column + ring + 1, step):
                node = bins[j, i] if 0 <= i < columns else -1
                while node >= 0:
                    gap = (nodes[node, 0] - x) ** 2 + (nodes[node, 1] - y) ** 2
                    if gap < squared:
                        best, squared = node, gap
                    node = next_in_bin[node]
        ring += 1
    return best


@njit(cache=True, nogil=True)
def _choose_parent(
    allowed: Bools, resolution: float, nodes: Floats, near: Ints, x: float, y: float, motion: Motion, released: bool
) -> tuple[int, Leg]:
    """The node from which the point is reached first, and the leg; -1 if all legs collide."""
    best, least, chosen = -1, np.inf, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for node in near:
        from_x, from_y, heading, seconds = nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 3]
        if seconds + math.sqrt((x - from_x) ** 2 + (y - from_y) ** 2) / motion.vmax >= least:
            continue
        leg = steer(from_x, from_y, heading, x, y, motion, released)
        if seconds + leg[0] < least and leg_clear(allowed, resolution, from_x, from_y, heading, leg):
            best, least, chosen = node, seconds + leg[0], leg
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
    """Attach neighbours to the new node where that saves time, including the last pivot back to their heading."""
    x, y, heading, seconds = nodes[new, 0], nodes[new, 1], nodes[new, 2], nodes[new, 3]
    if not motion.can_pivot:
        return
    for node in near:
        to_x, to_y = nodes[node, 0], nodes[node, 1]
        if seconds + math.sqrt((x - to_x) ** 2 + (y - to_y) ** 2) / motion.vmax >= nodes[node, 3] - _MIN_SAVING:
            continue
        leg = steer(x, y, heading, to_x, to_y, motion, released)
        total = seconds + leg[0] + abs(wrap_angle(nodes[node, 2] - heading - leg[2] - leg[4])) / motion.wmax
        saved = nodes[node, 3] - total
        if saved > _MIN_SAVING and leg_clear(allowed, resolution, x, y, heading, leg):
            _detach(node, parents, child, sibling)
            _attach(node, new, parents, child, sibling)
            _propagate(nodes, child, sibling, node, saved, stack)


@njit(cache=True, nogil=True)
def _attach(node: int, parent: int, parents: Ints, child: Ints, sibling: Ints) -> None:
    parents[node] = parent
    sibling[node] = child[parent]
    child[parent] = node


@njit(cache=True, nogil=True)
def _detach(node: int, parents: Ints, child: Ints, sibling: Ints) -> None:
    parent = parents[node]
    if child[parent] == node:
        child[parent] = sibling[node]
        return
    before = child[parent]
    while sibling[before] != node:
        before = sibling[before]
    sibling[before] = sibling[node]


@njit(cache=True, nogil=True)
def _propagate(nodes: Floats, child: Ints, sibling: Ints, root: int, saved: float, stack: Ints) -> None:
    """Subtract the saved seconds from this node and all its descendants."""
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
def _best_path(
    allowed: Bools,
    resolution: float,
    nodes: Floats,
    parents: Ints,
    bins: Ints,
    next_in_bin: Ints,
    bin_size: float,
    goal: Floats,
    motion: Motion,
    released: bool,
) -> tuple[float, Ints]:
    """Seconds of the best path to the goal, and its nodes from last to first."""
    low_row, low_column = _bin(bins, bin_size, goal[0] - goal[2] - MAX_LEG, goal[1] - goal[2] - MAX_LEG)
    high_row, high_column = _bin(bins, bin_size, goal[0] + goal[2] + MAX_LEG, goal[1] + goal[2] + MAX_LEG)
    best, least = -1, np.inf
    for row in range(low_row, high_row + 1):
        for column in range(low_column, high_column + 1):
            node = bins[row, column]
            while node >= 0:
                x, y, heading, seconds = nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 3]
                to_x, to_y = goal_point(x, y, goal)
                distance = math.sqrt((to_x - x) ** 2 + (to_y - y) ** 2)
                if distance <= MAX_LEG and seconds + distance / motion.vmax < least:
                    leg = steer(x, y, heading, to_x, to_y, motion, released)
                    if seconds + leg[0] < least and leg_clear(allowed, resolution, x, y, heading, leg):
                        best, least = node, seconds + leg[0]
                node = next_in_bin[node]
    count, node = 0, best
    while node >= 0:
        count, node = count + 1, parents[node]
    path = np.empty(count, dtype=np.int64)
    for k in range(count):
        path[k] = best
        best = parents[best]
    return least, path


@njit(cache=True, nogil=True)
def path_moves(nodes: Floats, path: Ints, goal: Floats, motion: Motion, released: bool) -> Floats:
    """(4 n, 2) the moves along the path, given last node first, and on to the goal; unused ones are 0."""
    moves = np.zeros((4 * len(path), 2))
    for k in range(len(path)):
        node, then = path[len(path) - 1 - k], path[max(len(path) - 2 - k, 0)]
        ends = k + 1 == len(path)
        x, y, heading = nodes[node, 0], nodes[node, 1], nodes[node, 2]
        to_x, to_y = goal_point(x, y, goal) if ends else (nodes[then, 0], nodes[then, 1])
        leg = steer(x, y, heading, to_x, to_y, motion, released)
        moves[4 * k, 0], moves[4 * k, 1] = leg[1], leg[2]
        moves[4 * k + 1, 0], moves[4 * k + 1, 1] = leg[3], leg[4]
        moves[4 * k + 2, 0] = leg[5]
        if not ends:
            moves[4 * k + 3, 1] = wrap_angle(nodes[then, 2] - heading - leg[2] - leg[4])
    return moves
