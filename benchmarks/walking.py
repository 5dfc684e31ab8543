"""Speed of the graph simulator: steps per CPU second on the graph of a Hearth house, against plain Python.

`make bench` runs this. The twin follows Matterport3DSimulator's rules one by one, like agents that visit all views at
every step.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "support")]

import matterport_twin  # noqa: E402
from itinera.builders.hearth import build_house_graph  # noqa: E402
from itinera.formats.features import read_features, write_features  # noqa: E402
from itinera.seeding import generator  # noqa: E402
from itinera.simulators.candidates import graph_candidates  # noqa: E402
from itinera.simulators.graph import GraphSimulator  # noqa: E402
from itinera.simulators.view_features import ViewSource, rendered_views  # noqa: E402
from itinera.worlds import NavGraph, Pose, World  # noqa: E402
from timing import cpu  # noqa: E402

STEPS, TWIN_STEPS = 100_000, 300
WIDE = 2048  # ResNet features per view


def steps(world: World, views: ViewSource | None) -> float:
    """Steps per CPU second with random actions; every observation is made."""
    body = GraphSimulator(views)
    start = Pose(_graph(world).nodes[0])
    choices = generator(0, "choices").integers(0, 1 << 20, STEPS).tolist()

    def take_steps() -> None:
        candidates = body.reset(world, start).candidates
        for choice in choices:
            assert candidates is not None
            candidates = body.step(1 + choice % len(candidates.nodes)).candidates

    take_steps()  # loads the views of every node
    return STEPS / cpu(take_steps, 5)


def twin_steps(world: World) -> float:
    """Steps per CPU second of the plain Python twin."""
    graph = _graph(world)
    simulator = matterport_twin.Simulator(graph)
    choices = generator(0, "choices").integers(0, 1 << 20, TWIN_STEPS).tolist()

    def take_steps() -> None:
        simulator.new_episode(graph.nodes[0], 0.0, 0.0)
        for choice in choices:
            found = matterport_twin.candidates(simulator)
            matterport_twin.choose(simulator, found[choice % len(found)])

    return TWIN_STEPS / cpu(take_steps, 2)


def _graph(world: World) -> NavGraph:
    assert isinstance(world.space, NavGraph)
    return world.space


def main() -> None:
    house, graph = build_house_graph(1, 0)
    world = World(house.id, graph)
    twin = twin_steps(world)
    rendered = rendered_views({world.id: world}, {world.id: house.mesh})
    rendered.at(world.id, graph.nodes[0])  # compiled
    rng = generator(0, "features")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "features.tsv"
        random = ((world.id, node, rng.random((36, WIDE), dtype=np.float32)) for node in graph.nodes)
        write_features(file, random)
        rows = [
            ("graph, no features", steps(world, None), "≥ 100,000/s"),
            ("graph, rendered summaries", steps(world, rendered), "≥ 20,000/s"),
            (f"graph, {WIDE:,} features per view from a file", steps(world, read_features(file)), "≥ 20,000/s"),
            ("graph, plain Python", twin, ""),
        ]
    table = Table("simulator", "steps / CPU second", "against plain Python", "target", title="Graph simulator")
    for what, rate, wanted in rows:
        table.add_row(what, f"{rate:,.0f}", f"{rate / twin:,.0f}×", wanted)
    console = Console(width=110)
    console.print(table)
    fresh = rendered_views({world.id: world}, {world.id: house.mesh})
    tables = cpu(lambda: graph_candidates(graph), 5)
    summaries = cpu(lambda: fresh.at(world.id, graph.nodes[0]), 1)
    console.print(f"{len(graph.nodes)} nodes: candidates {1000 * tables:.1f} ms, rendered views {summaries:.2f} s.")


if __name__ == "__main__":
    main()
