"""CPU time of RRT*-Unicycle: against the same rules in plain Python, and as the tree grows to 20,000 nodes.

`python benchmarks/planning_rrt.py` makes its own floor of rooms, 10 x 8 m at 5 cm; CPU seconds of one process.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from itinera.planners.motion.dynamics import unicycle
from itinera.planners.motion.local_search import optimize_drive
from itinera.planners.motion.rrt_star import rrt_star
from itinera.seeding import generator
from itinera.worlds.grid import Grid
from timing import cpu

sys.path[:0] = [str(Path(__file__).parents[1] / "tests")]
from planners.plain_rrt import plain_tree  # noqa: E402

RESOLUTION, RADIUS = 0.05, 0.2  # meters
START, GOAL = np.array([1.0, 1.0, math.pi]), np.array([9.0, 7.0])
CORNERS = np.array([[2.5, 3.5], [5.0, 4.3], [7.5, 4.5], [9.0, 7.0]])  # of a path through the doors
NODES = (1000, 2000, 5000, 10_000, 20_000)
PLAIN = 1000  # nodes of the plain tree


def rooms() -> Grid:
    """Six rooms, 10 x 8 m, with doors of one meter."""
    blocked = np.zeros((160, 200), dtype=bool)
    for column in (66, 133):
        blocked[:, column : column + 3] = True
        for row in (30, 110):
            blocked[row : row + 20, column : column + 3] = False
    blocked[78:81] = True
    for column in (25, 95, 165):
        blocked[78:81, column : column + 20] = False
    return Grid(blocked, RESOLUTION)


def growth(grid: Grid) -> Table:
    """Seconds and seconds per 1,000 nodes of trees with a shrinking and with a fixed neighborhood."""
    table = Table("nodes", "shrinking, s", "s per 1,000", "over n log n", "best path, s", "1.5 m throughout, s")
    first = 0.0
    for nodes in NODES:
        grown = rrt_star(grid, START, GOAL, unicycle(), hints=CORNERS, nodes=nodes)
        taken = cpu(lambda n=nodes: rrt_star(grid, START, GOAL, unicycle(), hints=CORNERS, nodes=n), 2)
        first = first or taken / (nodes * math.log(nodes))
        fixed = "-"
        if nodes <= 5000:
            options = {"hints": CORNERS, "nodes": nodes, "released": True}
            fixed = f"{cpu(lambda o=options: rrt_star(grid, START, GOAL, unicycle(), **o)):.3f}"
        relative = taken / (nodes * math.log(nodes)) / first
        table.add_row(
            f"{nodes:,}", f"{taken:.3f}", f"{1000 * taken / nodes:.4f}", f"{relative:.2f}",
            f"{grown.history[-1, 1]:.2f}", fixed,
        )  # fmt: skip
    return table


def ratio(grid: Grid) -> str:
    """The plain tree's time over ours, on trees that are the same."""
    state = int(generator(0, "rrt").integers(1, 2**63, size=1, dtype=np.uint64)[0])
    dynamics, plain = unicycle(), []

    def grow_plain() -> None:
        plain[:] = [
            plain_tree(
                grid.free_cells(RADIUS), RESOLUTION, START, GOAL, [*CORNERS, GOAL],
                vmax=dynamics.vmax, wmax=dynamics.wmax, state=state, most=PLAIN, draws=30 * PLAIN,
            )
        ]  # fmt: skip

    slow = cpu(grow_plain)
    fast = cpu(lambda: rrt_star(grid, START, GOAL, dynamics, hints=CORNERS, nodes=PLAIN), 5)
    ours = rrt_star(grid, START, GOAL, dynamics, hints=CORNERS, nodes=PLAIN)
    same = (ours.parents == plain[0].parents).mean()
    return (
        f"{PLAIN:,} nodes: plain Python {slow:.2f} s, compiled {fast:.4f} s, {slow / fast:.0f} times as fast; "
        f"{same:.1%} of the nodes have the same parent"
    )


def main() -> None:
    grid = rooms()
    for released in (False, True):
        rrt_star(grid, START, GOAL, unicycle(), nodes=10, released=released)  # loads the kernels
    console = Console()
    console.print(ratio(grid), soft_wrap=True)
    console.print(growth(grid))
    tree = rrt_star(grid, START, GOAL, unicycle(), hints=CORNERS, nodes=2000)
    assert tree.drive is not None
    places = tree.drive.sample(unicycle(), step=0.1)[:, :2]
    taken = cpu(lambda: optimize_drive(grid, START, GOAL, unicycle(), places), 5)
    console.print(f"local search around the best path: {1000 * taken:.0f} ms")


if __name__ == "__main__":
    main()
