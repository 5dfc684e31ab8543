"""RRT*-Unicycle: a tree of poses grown at random towards the fastest path, for any dynamics.

After Yokoyama et al. 2021, Success Weighted by Completion Time. Where the released planner departs from the paper by
mistake (samples beyond their limit, overlooked neighbours, arcs by Euler steps) this follows the paper. Start with
`rrt_star`; `plan_with_trees` optimizes the paths that several trees find. Coordinates are in the map's frame.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from itinera.errors import BadArgument
from itinera.planners.motion._rrt_star_kernels import grow, path_moves
from itinera.planners.motion.dynamics import RADIUS, Drive, Dynamics
from itinera.planners.motion.local_search import optimize_drive
from itinera.seeding import generator
from itinera.worlds import Array
from itinera.worlds.grid import Grid

TREES = 4  # grown by default

_DRAWS = 30  # samples per node wanted, before a tree that does not grow is given up


@dataclass(frozen=True, eq=False)
class Tree:
    """A search tree and the best path in it."""

    places: Array  # (n, 2) metres, the start first
    headings: Array  # (n,) radians
    seconds: Array  # (n,) from the start
    parents: NDArray[np.int64]  # (n,) -1 for the start
    path: NDArray[np.int64]  # (k,) nodes of the best path, the start first; empty if none was found
    drive: Drive | None  # along the best path to the goal
    history: Array  # (m, 2) number of nodes, and seconds of the best path at that time; inf before there is one


def rrt_star(
    grid: Grid,
    start: ArrayLike,
    goal: ArrayLike,
    dynamics: Dynamics,
    *,
    radius: float = RADIUS,
    goal_radius: float = 0.0,
    hints: Array | None = None,
    nodes: int = 2000,
    seed: int = 0,
    released: bool = False,
) -> Tree:
    """The tree of `nodes` nodes from a start pose, and its best path to a goal (x, y), or into a disc around it.

    A fifth of the samples come from the whole floor; the others from discs of 1.5 m around the best path or, before
    there is one, around the hints (k, 2), such as the corners of a shortest path. A new node gets the parent from which
    it is reached first, and becomes the parent of neighbours that are reached sooner through it; these keep their
    heading by a final pivot. Neighbourhoods shrink from 1.5 m as the tree grows. `released` follows the authors' code
    instead: neighbourhoods of 1.5 m throughout, and legs of a pivot and a single arc. For their inflation of obstacles
    see `released_inflation`.
    """
    pose, point = np.asarray(start, dtype=np.float64), np.asarray(goal, dtype=np.float64)
    if pose.shape != (3,) or point.shape != (2,):
        raise BadArgument(f"start must be (x, y, heading) and goal (x, y), not {pose.tolist()} and {point.tolist()}.")
    if nodes < 1:
        raise BadArgument(f"nodes must be at least 1, not {nodes}.")
    free_cells, size = grid.free_cells(radius), grid.resolution
    begin, disc = grid.to_local(pose), np.append(grid.to_local(point), goal_radius)
    known = np.empty((0, 2)) if hints is None else np.asarray(hints, dtype=np.float64).reshape(-1, 2)
    state = generator(seed, "rrt").integers(1, 2**63, size=1, dtype=np.uint64)
    # The goal is a hint too: the tree grows towards it.
    around = np.concatenate((grid.to_local(known), disc[None, :2]))
    floor_cells = _reachable_cells(free_cells, size, begin)
    grown, parents, path, history = grow(
        free_cells, size, begin, disc, around, floor_cells, dynamics.motion, released, state, nodes, _DRAWS * nodes
    )
    drive = None
    if len(path):
        moves = path_moves(grown, path, disc, dynamics.motion, released)
        drive = Drive(pose, moves[(moves != 0).any(axis=1)])
    poses = grid.to_map(grown[:, :3])
    return Tree(poses[:, :2], poses[:, 2], grown[:, 3], parents, path[::-1], drive, history)


def _reachable_cells(free_cells: NDArray[np.bool_], resolution: float, start: Array) -> NDArray[np.int64]:
    """The indices of the cells reachable from the start; only its own cell if that is not free."""
    row, column = (min(max(int(v / resolution), 0), n - 1) for v, n in zip(start[1::-1], free_cells.shape, strict=True))
    components = ndimage.label(free_cells)[0]
    reached = components == components[row, column] if free_cells[row, column] else np.zeros_like(free_cells)
    reached[row, column] = True
    return np.flatnonzero(reached)


def plan_with_trees(
    grid: Grid,
    start: ArrayLike,
    goal: ArrayLike,
    dynamics: Dynamics,
    *,
    radius: float = RADIUS,
    goal_radius: float = 0.0,
    hints: Array | None = None,
    trees: int = TREES,
    nodes: int = 2000,
    seed: int = 0,
) -> Drive | None:
    """The fastest drive of several trees, after local search around their best paths; None if no tree finds a path."""
    found: list[Drive] = []
    for k in range(trees):
        tree = rrt_star(
            grid,
            start,
            goal,
            dynamics,
            radius=radius,
            goal_radius=goal_radius,
            hints=hints,
            nodes=nodes,
            seed=seed + k,
        )
        if tree.drive is not None:
            path = tree.drive.sample(dynamics, step=0.1)[:, :2]
            better = optimize_drive(grid, start, goal, dynamics, path, radius=radius, goal_radius=goal_radius)
            found += [tree.drive] if better is None else [tree.drive, better]
    return min(found, key=lambda drive: drive.duration(dynamics), default=None)


def released_inflation(blocked: NDArray[np.bool_], resolution: float, radius: float) -> NDArray[np.bool_]:
    """The cells where the released planner allows a robot's center: half the radius from walls, free at the border.

    A square whose whole side is the radius must be free of blocked pixels; a side of an even number of pixels reaches
    one further to the left and up. Row 0 has the smallest y, as in `Grid`.
    """
    side = max(1, math.floor(radius / resolution + 1e-9))
    origin = (-1 if side % 2 == 0 else 0, 0)  # their rows run down
    return np.asarray(ndimage.minimum_filter(~np.asarray(blocked, dtype=np.bool_), side, mode="mirror", origin=origin))
