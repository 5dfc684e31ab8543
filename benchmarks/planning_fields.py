"""CPU time of the value field: against a plain Dijkstra search, and its growth with area and headings.

`make bench` runs this. The baseline is the obvious implementation: Dijkstra's algorithm with a heap over the same
lattice, from pose to pose by single steps to the eight adjacent cells and single turns, compiled as well.
"""

from __future__ import annotations

import heapq
import math

import numpy as np
from numba import njit
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from itinera.planners.motion.dynamics import Dynamics, holonomic, point_turn, unicycle
from itinera.planners.motion.local_search import optimize_drive
from itinera.planners.motion.value_field import ValueField, lower_bound
from itinera.seeding import generator
from itinera.worlds import Array
from itinera.worlds.grid import Grid
from timing import cpu

RESOLUTION, HEADINGS = 0.05, 72
GOAL = (2.525, 2.025)


def rooms(width: float = 10.0, height: float = 8.0) -> NDArray[np.bool_]:
    """(rows, columns) the free cells of a floor with walls as obstacles."""
    allowed = np.ones((round(height / RESOLUTION), round(width / RESOLUTION)), dtype=np.bool_)
    columns = allowed.shape[1]
    for n in range(1, round(height / 2.5)):
        at = round(n * 2.5 / RESOLUTION)
        if n % 2:
            allowed[at : at + 12, : columns * 3 // 5] = False
        else:
            allowed[at : at + 12, columns // 3 :] = False
    return allowed


@njit(cache=True, nogil=True)
def ordered(
    allowed: NDArray[np.bool_], resolution: float, row: int, column: int, vmax: float, wmax: float, headings: int
) -> NDArray[np.float32]:
    """Seconds to a cell from all poses (headings, rows, columns), by Dijkstra's algorithm, backwards from the goal.

    From a pose the robot drives to the nearest cell ahead, turning by one heading or not, or pivots by one heading.
    """
    rows, columns = allowed.shape
    seconds = np.full((headings, rows, columns), np.inf, dtype=np.float32)
    queue = [(0.0, 0, 0, 0)]
    queue.pop()
    for k in range(headings):
        seconds[k, row, column] = 0.0
        heapq.heappush(queue, (0.0, k, row, column))
    pivot = 2 * math.pi / headings / wmax
    while queue:
        least, k, r, c = heapq.heappop(queue)
        if least > seconds[k, r, c]:
            continue
        for turn in range(-1, 2):
            before = (k + turn) % headings
            if turn != 0 and least + pivot < seconds[before, r, c]:
                seconds[before, r, c] = least + pivot
                heapq.heappush(queue, (seconds[before, r, c] + 0.0, before, r, c))
            angle = 2 * math.pi * before / headings
            i, j = r - round(math.sin(angle)), c - round(math.cos(angle))
            if not (0 <= i < rows and 0 <= j < columns and allowed[i, j]):
                continue
            took = resolution * math.sqrt((i - r) ** 2 + (j - c) ** 2) / vmax
            through = least + (max(took, pivot) if turn != 0 else took)
            if through < seconds[before, i, j]:
                seconds[before, i, j] = through
                heapq.heappush(queue, (seconds[before, i, j] + 0.0, before, i, j))
    return seconds


def field(allowed: NDArray[np.bool_], dynamics: Dynamics, headings: int = HEADINGS) -> ValueField:
    return ValueField.solve(Grid(~allowed, RESOLUTION), GOAL, dynamics, radius=0.0, headings=headings)


def compare_with_dijkstra(console: Console) -> None:
    allowed, robot = rooms(), unicycle()
    row, column = (int(place / RESOLUTION) for place in reversed(GOAL))
    peer = cpu(lambda: ordered(allowed, RESOLUTION, row, column, robot.vmax, robot.wmax, HEADINGS))
    peer = min(peer, cpu(lambda: ordered(allowed, RESOLUTION, row, column, robot.vmax, robot.wmax, HEADINGS), 2))
    field(allowed, robot)
    ours = cpu(lambda: field(allowed, robot), 5)
    megabytes = field(allowed, robot).seconds.nbytes / 1e6
    console.print(
        f"10 x 8 m, {RESOLUTION * 100:g} cm, {HEADINGS} headings: field {ours:.2f} s, {megabytes:.0f} MB; "
        f"Dijkstra {peer:.2f} s: {peer / ours:.1f} times as long"
    )


def growth(console: Console) -> None:
    table = Table("floor m", "headings", "nodes", "CPU s", "ns a node", title="growth of the field, unicycle at 10 °/s")
    for width, height, headings in ((5, 4, 72), (10, 8, 36), (10, 8, 72), (10, 8, 144), (20, 16, 72)):
        allowed = rooms(width, height)
        took = cpu(lambda allowed=allowed, headings=headings: field(allowed, unicycle(), headings), 3)
        nodes = allowed.sum() * headings
        table.add_row(f"{width} x {height}", str(headings), f"{nodes:,}", f"{took:.2f}", f"{took / nodes * 1e9:.0f}")
    console.print(table)


def paths(console: Console) -> None:
    """The steps after the field: a drive, a lower bound, and the gap between them."""

    def drive_time(robot: Dynamics, times: ValueField, pose: Array) -> float:
        drive = optimize_drive(grid, pose, GOAL, robot, times.rollout(pose), radius=0.0)
        assert drive is not None
        return drive.duration(robot)

    table = Table(
        "dynamics", "field s", "path ms", "bound ms", "gap %", "gap of L/vmax %", title="30 queries, one goal"
    )
    allowed, rng = rooms(), generator(0, "poses")
    grid = Grid(~allowed, RESOLUTION)
    rows, columns = np.nonzero(allowed)
    chosen = rng.integers(len(rows), size=30)
    middles = np.column_stack([columns[chosen] + 0.5, rows[chosen] + 0.5]) * RESOLUTION
    poses = np.column_stack([middles, rng.uniform(0, 2 * math.pi, len(chosen))])
    for name, robot in {
        "unicycle 10 °/s": unicycle(),
        "unicycle 30 °/s": unicycle(wmax=math.radians(30)),
        "point-turn 10 °/s": point_turn(),
        "holonomic": holonomic(),
    }.items():
        times, bound = field(allowed, robot), lower_bound(grid, GOAL, robot, radius=0.0)
        upper = np.array([drive_time(robot, times, pose) for pose in poses])
        lower, least = bound.at(poses), bound.shortest(poses[:, :2]) / robot.vmax
        path = cpu(lambda r=robot, t=times: [drive_time(r, t, pose) for pose in poses], 2) / len(poses)
        proof = cpu(lambda r=robot: lower_bound(grid, GOAL, r, radius=0.0).at(poses), 3)
        gaps = [f"{100 * np.median(1 - bound / upper):.2f}" for bound in (lower, least)]
        solved = cpu(lambda r=robot: field(allowed, r), 3)
        table.add_row(name, f"{solved:.3f}", f"{1000 * path:.0f}", f"{1000 * proof:.0f}", *gaps)
    console.print(table)


if __name__ == "__main__":
    screen = Console()
    compare_with_dijkstra(screen)
    growth(screen)
    paths(screen)
