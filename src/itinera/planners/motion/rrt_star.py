"""RRT*-Unicycle: a tree of poses grown at random towards the fastest path, for any dynamics.

After Yokoyama et al. 2021, Success Weighted by Completion Time. Where the released planner departs from the paper by
mistake (samples thrown beyond their mark, neighbours overlooked, arcs by Euler's steps) the paper is followed. Start
with `rrt_star`; `best_of_several` polishes what several trees find.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from itinera.errors import BadArgument
from itinera.planners.motion._rrt_star_kernels import grow, path_moves
from itinera.planners.motion.drive import Drive
from itinera.planners.motion.dynamics import Dynamics
from itinera.planners.motion.local_search import frozen, polish
from itinera.seeding import generator
from itinera.worlds import Array

_DRAWS = 30  # samples drawn for each node wanted, before a tree that does not grow is given up


@dataclass(frozen=True, eq=False)
class Tree:
    """What was grown, and the best path in it."""

    places: Array  # (n, 2) metres, the start first
    headings: Array  # (n,) radians
    seconds: Array  # (n,) from the start
    parents: NDArray[np.int64]  # (n,) -1 for the start
    path: NDArray[np.int64]  # (k,) nodes of the best path, the start first; empty if none was found
    drive: Drive | None  # along the best path and on to the goal
    history: Array  # (m, 2) nodes in the tree, seconds of the best path then; inf before there is one


def rrt_star(
    allowed: NDArray[np.bool_],
    resolution: float,
    dynamics: Dynamics,
    start: Array,
    goal: Array,
    goal_radius: float = 0.0,
    *,
    hints: Array | None = None,
    nodes: int = 2000,
    seed: int = 0,
    released: bool = False,
) -> Tree:
    """The tree of so many nodes from a start pose, and its best path to a goal (x, y), or into a disc around it.

    A fifth of the samples come from the whole floor; the others from discs of 1.5 m around the best path, before there
    is one around the hints (k, 2), say the corners of a shortest path. Each new node hangs below the neighbour from
    which it is reached first, and takes over neighbours that are reached sooner through it; these keep their heading,
    pivoting back to it. Neighbourhoods shrink as the tree grows, from 1.5 m on. `released` has the authors' rules
    instead: neighbourhoods of 1.5 m throughout, and legs of a pivot and a single arc; their `released_inflation` of the
    map is chosen apart.
    """
    begin, disc = np.array(start, dtype=np.float64), np.append(np.asarray(goal, dtype=np.float64), goal_radius)
    if begin.shape != (3,) or disc.shape != (3,):
        raise BadArgument(f"A tree needs a pose (x, y, heading) and a goal (x, y), not {start} and {goal}.")
    if nodes < 1:
        raise BadArgument(f"A tree has at least one node, not {nodes}.")
    cells = frozen(allowed)
    # The goal is a hint of its own: what is grown is grown towards it.
    known = np.empty((0, 2)) if hints is None else np.asarray(hints, dtype=np.float64).reshape(-1, 2)
    seeds = generator(seed, "rrt").integers(1, 2**63, size=1, dtype=np.uint64)
    floor = _floor(cells, resolution, begin)
    around = np.concatenate((known, disc[None, :2]))
    grown, parents, path, history = grow(
        cells, resolution, begin, disc, around, floor, dynamics.motion, released, seeds, nodes, _DRAWS * nodes
    )
    drive = None
    if len(path):
        moves = path_moves(grown, path, disc, dynamics.motion, released)
        drive = Drive(begin, moves[(moves != 0).any(axis=1)])
    return Tree(grown[:, :2], grown[:, 2], grown[:, 3], parents, path[::-1], drive, history)


def _floor(allowed: NDArray[np.bool_], resolution: float, start: Array) -> NDArray[np.int64]:
    """The cells, by number, that can be reached from the start at all, or only its own where that is not allowed."""
    row, column = (min(max(int(v / resolution), 0), n - 1) for v, n in zip(start[1::-1], allowed.shape, strict=True))
    parts = ndimage.label(allowed)[0]
    reached = parts == parts[row, column] if allowed[row, column] else np.zeros_like(allowed)
    reached[row, column] = True
    return np.flatnonzero(reached)


def best_of_several(
    allowed: NDArray[np.bool_],
    resolution: float,
    dynamics: Dynamics,
    start: Array,
    goal: Array,
    goal_radius: float = 0.0,
    *,
    hints: Array | None = None,
    trees: int = 4,
    nodes: int = 2000,
    seed: int = 0,
) -> Drive | None:
    """The fastest drive that several trees and the polish of their best paths give; None if no tree finds a path."""
    found: list[Drive] = []
    for k in range(trees):
        tree = rrt_star(
            allowed, resolution, dynamics, start, goal, goal_radius, hints=hints, nodes=nodes, seed=seed + k
        )
        if tree.drive is not None:
            polished = polish(
                allowed, resolution, dynamics, start, goal, goal_radius, tree.drive.sampled(dynamics, step=0.1)[:, :2]
            )
            found += [tree.drive] if polished is None else [tree.drive, polished]
    return min(found, key=lambda drive: drive.duration(dynamics), default=None)


def released_inflation(blocked: NDArray[np.bool_], resolution: float, radius: float) -> NDArray[np.bool_]:
    """Where the released planner allows a robot's centre: half the radius from walls, and the map's border is no wall.

    A square whose whole side is the radius must be free of blocked pixels; a side of an even number of pixels reaches
    one further to the left and up. Row 0 has the smallest y, as in `Grid`.
    """
    side = max(1, math.floor(radius / resolution + 1e-9))
    origin = (-1 if side % 2 == 0 else 0, 0)  # their rows run down
    return np.asarray(ndimage.minimum_filter(~np.asarray(blocked, dtype=np.bool_), side, mode="mirror", origin=origin))
