"""Speed of proven optimal orders, compared with one run of LKH (elkai) on the same scenes, in CPU seconds.

`python benchmarks/tours.py [DATA]` uses the real data pack, from the argument or ITINERA_DATA, or synthetic scenes.
Start-to-start orders, the rule for test splits, are symmetric and harder to prove.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from itinera.errors import MissingExtra
from itinera.formats import matterport, r2r
from itinera.planners.tsp import Ordering, solve_order, solve_order_lkh
from itinera.seeding import generator
from itinera.worlds import Array, NavGraph

SPLITS = ("train", "val_seen", "val_unseen")


@dataclass(frozen=True)
class TimedOrders:
    """The orders of many scenes, and their CPU time."""

    orders: Sequence[Ordering]
    seconds: float  # CPU

    @property
    def cost(self) -> float:
        return sum(order.cost for order in self.orders)

    @property
    def proven(self) -> int:
        return sum(order.proven for order in self.orders)


def real_scenes(data: Path, split: str, *, start_to_start: bool = False) -> list[Array]:
    """Costs between the paths of each scene: from the end, or the start, of one to the start of the next."""
    worlds = matterport.read_worlds(data / "connectivity.tar.xz")
    scenes: dict[str, dict[str, Sequence[str]]] = {}
    for episode in r2r.read_split(data / "r2r" / f"R2R_{split}.json.gz").episodes:
        scenes.setdefault(episode.world_id, {})[episode.path_id or episode.id] = [str(p) for p in episode.reference]
    costs = []
    for scene, by_id in scenes.items():
        graph, paths = worlds[scene].space, list(by_id.values())
        assert isinstance(graph, NavGraph)
        left = [path[0 if start_to_start else -1] for path in paths]
        if len(paths) > 1:
            costs.append(graph.between(left, [path[0] for path in paths]))
    return costs


def synthetic_scenes(*, scenes: int = 20, paths: int = 93, places: int = 90) -> list[Array]:
    """Costs between random points of a plane, with as many paths, ends and starts as a scene of R2R."""
    costs = []
    for scene in range(scenes):
        rng = generator(0, "tours", str(scene))
        points = rng.uniform(0.0, 25.0, (places, 2))
        # Goals are shared by more paths than starts are.
        ends, starts = rng.integers(places // 2, size=paths), rng.integers(places, size=paths)
        costs.append(np.linalg.norm(points[ends][:, None] - points[starts][None], axis=-1))
    return costs


def time_solver(solve: Callable[[Array], Ordering], scenes: Sequence[Array]) -> TimedOrders:
    before = time.process_time()
    orders = [solve(costs) for costs in scenes]
    return TimedOrders(orders, time.process_time() - before)


def report(name: str, scenes: Sequence[Array]) -> None:
    ours = time_solver(solve_order, scenes)
    line = f"{name:<26} {len(scenes):>3} scenes, {ours.proven} proven: {ours.cost:.3f} m in {ours.seconds:.2f} s"
    try:
        theirs = time_solver(solve_order_lkh, scenes)
    except MissingExtra:
        print(f"{line}; LKH is not installed")
        return
    ratio = ours.seconds / theirs.seconds
    print(f"{line}; LKH {theirs.cost:.3f} m in {theirs.seconds:.2f} s; ours / LKH {ratio:.4f}", flush=True)


def main() -> None:
    points = generator(0, "warm-up").random((30, 2))
    solve_order(np.linalg.norm(points[:, None] - points[None], axis=-1))  # hard enough to load every kernel
    place = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("ITINERA_DATA")
    if place is None:
        report("synthetic", synthetic_scenes())
        return
    for split in SPLITS:
        report(split, real_scenes(Path(place), split))
    report("val_unseen, start to start", real_scenes(Path(place), "val_unseen", start_to_start=True))


if __name__ == "__main__":
    main()
